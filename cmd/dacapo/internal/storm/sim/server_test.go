package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAServerDoesOneAfterAnother(t *testing.T) {
	s := New(1)
	v := NewServer(s, 100)
	done := map[int]time.Duration{}
	serve := func(n int) { v.Serve(func() { done[n] = s.Now() / time.Millisecond }) }
	for n := range 3 {
		serve(n)
	}
	s.After(95*time.Millisecond, func() { serve(3) }) // after a rest
	s.RunAll()
	assert.Equal(t, map[int]time.Duration{0: 10, 1: 20, 2: 30, 3: 105}, done)
}

func TestTheCapacityHoldsFromTheNextRequestOn(t *testing.T) {
	s := New(1)
	v := NewServer(s, 100)
	var done []time.Duration
	for range 4 {
		v.Serve(func() { done = append(done, s.Now()/time.Millisecond) })
	}
	s.After(15*time.Millisecond, func() { v.SetCapacity(0) }) // the second is being served
	s.After(50*time.Millisecond, func() { v.SetCapacity(10) })
	s.After(60*time.Millisecond, func() { v.SetCapacity(1000) })
	s.RunAll()
	assert.Equal(t, []time.Duration{10, 20, 150, 151}, done)
	assert.Zero(t, v.Waiting())
}

// A queue with Poisson arrivals and a constant time of service has the mean wait
// ρ/(2μ(1-ρ)) (Pollaczek and Khinchine).
func TestTheMeanWaitIsThatOfTheFormula(t *testing.T) {
	for _, load := range []float64{300, 700, 900} {
		s := New(1)
		v := NewServer(s, 1000)
		var total, n float64
		s.Poisson(load, func() {
			came := s.Now()
			v.Serve(func() {
				total += (s.Now() - came).Seconds() - 0.001
				n++
			})
		})
		s.Run(1000 * time.Second)
		rho := load / 1000
		assert.InEpsilon(t, rho/(2*1000*(1-rho)), total/n, 0.03, "%v", load)
	}
}

func TestALongQueueIsServedInOrder(t *testing.T) {
	s := New(1)
	v := NewServer(s, 1000)
	const all = 200_000
	served := 0
	for n := range all {
		v.Serve(func() {
			if served == n {
				served++
			}
			if n == 100_000 { // behind what waits
				v.Serve(func() { served++ })
			}
		})
	}
	s.RunAll()
	assert.Equal(t, all+1, served)
	assert.Equal(t, (all+1)*time.Millisecond, s.Now())
}
