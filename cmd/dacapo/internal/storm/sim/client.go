package sim

import (
	"math/rand/v2"
	"time"

	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

// A Client does in virtual time what retry.Do does: it makes runs under a policy, whose
// retries a budget may limit. Make one with NewClient; any number of runs share it.
type Client struct {
	sim    *Sim
	policy retry.Policy
	budget *budget.Budget
	random *rand.Rand

	// Law gives the waits in place of the policy's strategy, for comparison; nil for none.
	Law func(prev time.Duration, draw uint64) time.Duration
	// Waits is told every wait; nil for nobody.
	Waits func(time.Duration)
}

// NewClient returns a client with a budget, or without one (nil).
func NewClient(s *Sim, p retry.Policy, b *budget.Budget) *Client {
	return &Client{sim: s, policy: p, budget: b, random: s.Source()}
}

// An Op is one call. It calls end once, with the call's error or nil.
type Op func(end func(error))

// run is one run of a Client.
type run struct {
	*Client
	op      Op
	end     func(retry.Reason)
	began   time.Duration
	retries int
	drawn   time.Duration // the wait before, as the strategy gave it
	owed    retry.Outcome // what the budget is to be told
	waiting bool
	over    bool

	callNow  func() // call and ended: made once for a run, for they are most of what it allocates
	endedNow func(error)
}

// Do begins a run, and tells end how it ended. cancel ends it before, as a context would
// that a caller cancels: at once where it waits, else after the call.
func (c *Client) Do(op Op, end func(retry.Reason)) (cancel func()) {
	r := &run{Client: c, op: op, end: end, began: c.sim.now}
	r.callNow, r.endedNow = r.call, r.ended
	r.call()
	return r.cancel
}

func (r *run) call() {
	if r.over && !r.waiting {
		return // settled in the wait
	}
	r.waiting, r.owed.Unmade = false, false
	r.op(r.endedNow)
}

// ended is what follows a call.
func (r *run) ended(err error) {
	draw := r.random.Uint64()
	d := r.policy.Next(retry.Failure{
		Err: err, Retries: r.retries, Prev: r.drawn, Elapsed: r.sim.now - r.began, Ended: r.over, Draw: draw,
	})
	if d.Retry && r.Law != nil {
		d.Drawn = r.Law(r.drawn, draw)
		d.Wait = d.Drawn
	}
	switch {
	case !d.Retry:
		r.settle(d.Reason)
	case !r.pay(err):
		r.settle(retry.Throttled)
	default:
		r.wait(d)
	}
}

// pay asks the budget for a retry.
func (r *run) pay(err error) bool {
	if r.budget == nil {
		return true
	}
	paid, ok := r.budget.AllowAt(r.sim.now, err)
	if ok {
		r.owed.Paid, r.owed.Unmade = paid, true
	}
	return ok
}

func (r *run) wait(d retry.Decision) {
	if r.Waits != nil {
		r.Waits(d.Wait)
	}
	r.retries++
	r.drawn = d.Drawn
	r.waiting = true
	r.sim.After(d.Wait, r.callNow)
}

func (r *run) cancel() {
	r.over = true
	if r.waiting {
		r.waiting = false
		r.settle(retry.Cancelled)
	}
}

func (r *run) settle(reason retry.Reason) {
	if r.budget != nil {
		r.owed.Reason = reason
		r.budget.DoneAt(r.sim.now, r.owed)
	}
	if r.end != nil {
		r.end(reason)
	}
}
