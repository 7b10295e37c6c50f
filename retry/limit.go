package retry

import (
	"context"

	"github.com/dacapo-go/dacapo/internal/loop"
)

// A Limiter refuses retries that are too many, over all the runs that share it: one
// run cannot see that a thousand others retry, too. Package retry/budget has the usual
// one. It must be safe for concurrent use, and not block.
type Limiter interface {
	// Allow is asked before a retry that the policy grants, with the run's context and
	// what the call returned, without a mark of ours around it. What it takes for the
	// retry, in a unit of its own, it returns as paid. Where it refuses, the run ends for
	// Throttled.
	Allow(ctx context.Context, err error) (paid int64, ok bool)

	// Done is told once of every run that made a call, when it ends, however that is.
	// A stream whose Reset says that it has recovered counts as a run that ended then.
	Done(o Outcome)
}

// Outcome is how a run ended, as a [Limiter] is told.
type Outcome struct {
	Reason Reason // why; 0 where the operation, a predicate or a hook panicked or called runtime.Goexit
	Paid   int64  // what Allow took for the last retry; 0 where there was none
	Unmade bool   // that retry was not made: the run ended in the wait before it
}

// Limit has l asked before every retry, also about those of all other runs that it
// limits. It replaces a limiter given before. A Limiter that has a method Err() error
// says with it what is wrong with itself, and the policy has that fault.
func (p Policy) Limit(l Limiter) Policy {
	s := p.settings()
	s.limiter, s.set = l, s.set|setLimit
	p.more = &s
	return p
}

func (p *Policy) limits() bool { return p.has(setLimit) }

// faultOf returns what a limiter says is wrong with itself.
func faultOf(l Limiter) error {
	if judge, ok := l.(interface{ Err() error }); ok {
		return judge.Err()
	}
	return nil
}

// toll returns where it is noted what the run has paid. (Of a driver, that is where it
// outlasts a panic.)
func (r *run) toll() *loop.Toll {
	if r.extra != nil {
		return &r.extra.Toll
	}
	return &r.paid
}

// pay asks the limiter for a retry.
func (r *run) pay(ctx context.Context, p *Policy, err error) bool {
	paid, ok := p.more.limiter.Allow(ctx, unmarked(err))
	if ok {
		t := r.toll()
		t.Paid, t.Unmade = paid, true
	}
	return ok
}

// settle tells the limiter that the run has ended, if it has to be told.
func (r *run) settle(p *Policy, reason Reason) {
	if !p.limits() || r.calls == 0 {
		return
	}
	if t := r.toll(); !t.Settled {
		t.Settled = true
		p.more.limiter.Done(Outcome{Reason: reason, Paid: t.Paid, Unmade: t.Unmade})
	}
}
