package retry

import (
	"context"
	"fmt"
	"sync"
)

// Attempt says which attempt of a run is being made: see [AttemptFrom].
type Attempt struct {
	Number      int   // from 1
	RetriesLeft int   // retries that may follow this attempt; Unlimited where there is no limit
	Err         error // what the attempt before returned, without a mark of ours around it; nil in the first
}

// AttemptInfo makes every attempt's context answer [AttemptFrom], for one
// allocation in a run.
func (p Policy) AttemptInfo() Policy {
	s := p.settings()
	s.set |= setAttemptInfo
	p.more = &s
	return p
}

// AttemptFrom returns the attempt that ctx belongs to: the innermost run's, of
// those under [Policy.AttemptInfo]. It reports false where there is none. It is
// safe for concurrent use; in a goroutine that outlives its attempt it returns
// the run's current one.
func AttemptFrom(ctx context.Context) (Attempt, bool) {
	c, ok := ctx.Value(attemptKey{}).(*attemptContext)
	if !ok {
		return Attempt{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.attempt, true
}

type attemptKey struct{}

// attemptContext is the caller's context with the attempt in it.
type attemptContext struct {
	context.Context

	mu      sync.Mutex
	attempt Attempt
}

func (c *attemptContext) Value(key any) any {
	if key == (attemptKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// String keeps fmt from looking into the fields, which change.
func (c *attemptContext) String() string { return fmt.Sprintf("%v.WithAttemptInfo", c.Context) }

// context returns the context of the current attempt.
func (r *run) context(ctx context.Context, p *Policy) context.Context {
	if !p.has(setAttemptInfo) {
		return ctx
	}
	if r.info == nil {
		r.info = &attemptContext{Context: ctx}
	}
	left := p.maxRetries()
	if left != Unlimited {
		left -= r.last.Retries
	}
	r.info.mu.Lock()
	defer r.info.mu.Unlock()
	r.info.attempt = Attempt{Number: r.calls, RetriesLeft: left, Err: unmarked(r.last.Err)}
	return r.info
}
