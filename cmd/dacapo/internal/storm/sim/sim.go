// Package sim simulates calls, retries and servers in virtual time: no goroutine, no clock,
// and seeded random numbers, so that the same seed gives the same run.
//
// What decides is real: policies, strategies, budgets and hedges are those of the toolkit.
// Only the clock and the server are simulated.
package sim

import (
	"math/rand/v2"
	"time"
)

// A Sim is a clock and what is to happen. Make one with New. It is not safe for concurrent
// use.
type Sim struct {
	seed, sources uint64
	now           time.Duration
	asked         uint64
	events        heap
}

// New returns a simulation at time 0.
func New(seed uint64) *Sim { return &Sim{seed: seed} }

// Source returns a source of random numbers of its own for each part of the simulation: so
// the load is the same, whatever the clients do.
func (s *Sim) Source() *rand.Rand {
	s.sources++
	return rand.New(rand.NewPCG(s.seed, s.sources))
}

// Now returns the time since the start.
func (s *Sim) Now() time.Duration { return s.now }

// After has do called when d has passed. What is due at one instant is called in the order
// in which it was asked for.
func (s *Sim) After(d time.Duration, do func()) {
	s.events.push(event{s.now + max(d, 0), s.asked, do})
	s.asked++
}

// Run lets everything happen that is due before end. Then it is end.
func (s *Sim) Run(end time.Duration) {
	for len(s.events) > 0 && s.events[0].at < end {
		s.step()
	}
	s.now = end
}

// RunAll lets everything happen. Then it is the time of the last event.
func (s *Sim) RunAll() {
	for len(s.events) > 0 {
		s.step()
	}
}

func (s *Sim) step() {
	e := s.events.pop()
	s.now = e.at
	e.do()
}

// Poisson calls do at random instants, so many a second on average: the load of many
// clients that know nothing of one another (an open loop).
func (s *Sim) Poisson(perSecond float64, do func()) {
	source := s.Source()
	gap := func() time.Duration { return time.Duration(source.ExpFloat64() / perSecond * float64(time.Second)) }
	var comes func()
	comes = func() {
		do()
		s.After(gap(), comes)
	}
	s.After(gap(), comes)
}
