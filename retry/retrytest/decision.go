package retrytest

import (
	"fmt"
	"math"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

// laws are those of one decision, in the order in which they are asked.
func (c *claims) laws() []law[failure, decision] {
	return []law[failure, decision]{
		{"a success ends the run", stops(func(f failure) bool { return f.Err == nil })},
		{"nothing follows the end of the context", stops(func(f failure) bool { return f.Ended })},
		{"nothing follows a stale failure", stops(func(f failure) bool { return f.Stale })},
		{"Permanent ends the run", stops(func(f failure) bool { return f.permanent })},
		{"a decision is one thing", oneThing},
		{"no more calls than WorstCase", c.callsBounded},
		{"waits in their bounds", c.waitBounded},
		{"a hint only lengthens", c.hintLengthens},
		{"no wait reaches MaxElapsed", c.withinMaxElapsed},
		{"no wait reaches the deadline", beforeDeadline},
	}
}

// stops is a law by which certain failures end the run.
func stops(certain func(failure) bool) func(failure, decision) string {
	return func(f failure, d decision) string {
		if !certain(f) || !d.Retry {
			return ""
		}
		return fmt.Sprintf("%v says %v", f, d)
	}
}

func oneThing(f failure, d decision) string {
	if d.Retry && d.Reason == 0 || d.Decision == (retry.Decision{Reason: d.Reason}) && d.Reason != 0 {
		return ""
	}
	return fmt.Sprintf("%v says %+v", f, d.Decision)
}

func (c *claims) callsBounded(f failure, d decision) string {
	if !d.Retry || c.calls == retry.Unlimited || f.Retries < c.calls-1 {
		return ""
	}
	return fmt.Sprintf("%v says %v, but WorstCase says %d calls", f, d, c.calls)
}

func (c *claims) waitBounded(f failure, d decision) string {
	const patience = 1000 // retries: for later ones the sums of WorstCase take too long
	if !d.Retry {
		return ""
	}
	if least := c.least(f).Drawn; d.Drawn < least {
		return fmt.Sprintf("%v draws %v, but with Draw: 0x0 it draws %v", f, d.Drawn, least)
	}
	n := max(f.Retries, 0)
	if n >= patience {
		return ""
	}
	if most := c.most(n + 1); d.Drawn > most {
		return fmt.Sprintf("%v draws %v, but WorstCase has %v for retry %d", f, d.Drawn, most, n+1)
	}
	return ""
}

func (c *claims) hintLengthens(f failure, d decision) string {
	switch least := c.least(f).Drawn; {
	case !d.Retry:
	case d.Wait < d.Drawn:
		return fmt.Sprintf("%v waits %v, but draws %v", f, d.Wait, d.Drawn)
	case f.known && d.Wait > max(d.Drawn, plus(f.hint, d.Drawn-least)):
		return fmt.Sprintf("%v waits %v, but draws %v with a hint of %v", f, d.Wait, d.Drawn, f.hint)
	}
	return ""
}

func (c *claims) withinMaxElapsed(f failure, d decision) string {
	if !d.Retry || c.maxElapsed == longest || d.Wait < c.maxElapsed-max(f.Elapsed, 0) {
		return ""
	}
	return fmt.Sprintf("%v says %v, but MaxElapsed is %v", f, d, c.maxElapsed)
}

func beforeDeadline(f failure, d decision) string {
	if !d.Retry || !f.Deadline || d.Wait < f.Left {
		return ""
	}
	return fmt.Sprintf("%v says %v", f, d)
}

// plus returns a + b, at most the longest Duration.
func plus(a, b time.Duration) time.Duration {
	if a > longest-b {
		return longest
	}
	return a + b
}

// retries says which of the errors that are to be retried is not.
func (c *claims) retries() string {
	const name = "retries its errors"
	if c.calls == 1 {
		return ""
	}
	for _, err := range c.errs {
		if f := (failure{Failure: retry.Failure{Err: err}}); !c.ask(f).Retry {
			return broken(name, fmt.Sprintf("%v says %v", f, c.ask(f)))
		}
	}
	if _, ok := c.retried(); !ok {
		return broken(name, "it retries none of those that were tried: want one that it is to retry, as in CheckPolicy(t, p, ErrBusy)")
	}
	return ""
}

// retried returns an error that is retried, after a wait that no hint lengthens.
func (c *claims) retried() (error, bool) {
	for _, e := range c.tries() {
		if d := c.ask(failure{Failure: retry.Failure{Err: e.err}}); d.Retry && d.Source == retry.FromBackoff {
			return e.err, true
		}
	}
	return nil, false
}

// whole plays a run of the greatest waits, and adds up what it does.
func (c *claims) whole() string {
	const patience = 1000
	var calls int
	var wait, sum time.Duration
	if how := try(func() { calls, wait = c.worst() }); how != "" {
		return broken("total", "WorstCase() "+how)
	}
	err, _ := c.retried()
	f := failure{Failure: retry.Failure{Err: err, Draw: math.MaxUint64}}
	for ; f.Retries < patience; f.Retries++ {
		d := c.ask(f)
		if !d.Retry {
			break
		}
		sum, f.Prev = plus(sum, d.Wait), d.Drawn
		f.Elapsed = sum
		if sum > wait {
			return broken("no longer waits than WorstCase", fmt.Sprintf("the greatest waits of %d retries are %v in all, but WorstCase says %v", f.Retries+1, sum, wait))
		}
	}
	if f.Retries >= calls {
		return broken("no more calls than WorstCase", fmt.Sprintf("a run makes %d calls, but WorstCase says %d", f.Retries+1, calls))
	}
	return ""
}
