package sim

import (
	"time"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

// A Hedger does in virtual time what future.Hedge does, for operations that do not fail.
type Hedger struct {
	Sim      *Sim
	Policy   future.HedgePolicy
	Quantile *future.Quantile // what Policy has learned; nil where its delay is fixed
	Budget   *budget.Budget   // nil for none
}

// hedged is one hedged call.
type hedged struct {
	*Hedger
	op    func(end func())
	end   func()
	delay time.Duration // as learned when the call began
	extra int
	known bool // whether the first try took longer than the delay
	done  bool
}

// Do begins a call. op is one try; end is told when the first of the tries has ended.
func (h *Hedger) Do(op func(end func()), end func()) {
	c := &hedged{Hedger: h, op: op, end: end}
	c.delay, _ = h.Policy.Next(0, false)
	c.try()
}

func (c *hedged) try() {
	c.wind()
	c.op(c.ended)
}

// wind has due called when the next try is due, or it is known that the first is slow.
func (c *hedged) wind() {
	if c.more() || c.Quantile != nil && c.extra == 0 {
		c.Sim.After(c.delay, c.due)
	}
}

func (c *hedged) more() bool {
	_, ok := c.Policy.Next(c.extra, false)
	return ok
}

// due is when a try has taken as long as the delay.
func (c *hedged) due() {
	if c.done {
		return
	}
	c.learn(true)
	if !c.more() {
		return
	}
	c.extra++
	if c.allowed() {
		c.try()
	} else {
		c.wind()
	}
}

func (c *hedged) allowed() bool {
	if c.Budget == nil {
		return true
	}
	_, ok := c.Budget.AllowAt(c.Sim.now, future.ErrSlow)
	return ok
}

func (c *hedged) ended() {
	if c.done {
		return
	}
	c.done = true
	c.learn(false)
	if c.Budget != nil {
		c.Budget.DoneAt(c.Sim.now, retry.Outcome{Reason: retry.Succeeded})
	}
	c.end()
}

func (c *hedged) learn(longer bool) {
	if c.Quantile != nil && !c.known {
		c.known = true
		c.Quantile.Observe(longer)
	}
}
