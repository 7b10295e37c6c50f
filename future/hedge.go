package future

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dacapo-go/dacapo/internal/eager"
	"github.com/dacapo-go/dacapo/internal/loop"
	"github.com/dacapo-go/dacapo/retry"
)

// A HedgePolicy says when [Hedge] tries a second time though the first try has not
// ended. It is a small immutable value; refinements return a changed copy. It is
// safe for concurrent use. The zero value makes one try; MaxHedges on it starts all tries
// at once, so begin with [HedgeAfter].
type HedgePolicy struct {
	delay time.Duration
	most  int
}

// HedgeAfter returns the policy that makes one extra try when d has passed without a
// result. A good d is what most calls take and few exceed, such as the 95th
// percentile: then one call in twenty is tried twice (Dean and Barroso, "The Tail at
// Scale", 2013). d is 0 or more; with 0 the tries start together.
func HedgeAfter(d time.Duration) HedgePolicy { return HedgePolicy{d, 1} }

// MaxHedges sets how many extra tries there may be, each d after the one before: 0 or
// more.
func (h HedgePolicy) MaxHedges(n int) HedgePolicy {
	h.most = n
	return h
}

// String returns the policy in words.
func (h HedgePolicy) String() string {
	if h.most == 0 {
		return "no hedges"
	}
	return fmt.Sprintf("%d after %v each", h.most, h.delay)
}

// Err returns every fault of the settings, joined, or nil.
func (h HedgePolicy) Err() error {
	var faults []error
	if h.delay < 0 {
		faults = append(faults, fmt.Errorf("future: the delay of HedgeAfter is %v: want 0 or more", h.delay))
	}
	if h.most < 0 {
		faults = append(faults, fmt.Errorf("future: MaxHedges is %d: want 0 or more", h.most))
	}
	return errors.Join(faults...)
}

// Hedge starts op, and starts it again while it has not ended, as h says: for work
// that is slow now and then, and may run more than once at the same time. The
// future has the value of the first try that succeeds.
//
// Hedge cancels what it started, and waits for it: when a try has succeeded the
// context of the others ends, with [ErrLost] as the cause, and the future settles when
// they have ended. So a try that does not obey its context makes the result late.
//
// If a try fails before the next is due, the next starts at once, without a wait: to go
// on after that, with waits, put retry.Do around it. An error that is permanent (see
// retry.Permanent) ends all, and comes without the mark. If all tries fail, the error is
// that of the last to fail. Where ctx ends, no try starts any more, and the error matches
// ctx.Err() and the cause of ctx, too. A panic is a permanent failure ([*PanicError]), and
// so is runtime.Goexit ([ErrGoexit]).
//
// Each try runs on a goroutine of its own. With a fault in h the future has failed
// with [HedgePolicy.Err], and where T is retry.Eager with retry.ErrEagerResult; op is
// not called then. Hedge panics if ctx or op is nil.
func Hedge[T any](ctx context.Context, h HedgePolicy, op func(context.Context) (T, error)) *Future[T] {
	checkOp(ctx, "future.Hedge", op == nil)
	if err := h.Err(); err != nil {
		return Failed[T](err)
	}
	if eager.Is[T]() {
		return Failed[T](retry.ErrEagerResult)
	}
	f := new(Future[T])
	f.begin()
	go func() {
		r := (&hedging[T]{ctx: ctx, op: op, left: h.most, delay: h.delay}).run()
		f.finish(nil, r.Value, r.Err)
	}()
	return f
}

// hedging is one run of Hedge.
type hedging[T any] struct {
	ctx       context.Context
	op        func(context.Context) (T, error)
	left      int // extra tries that may yet start
	delay     time.Duration
	running   int
	tries     chan tried[T]
	decided   bool
	result    Result[T]
	allMarked bool // every failure so far is older than the attempt it is for
}

// tried is how a try ended.
type tried[T any] struct {
	Result[T]
	permanent bool
}

func (h *hedging[T]) run() Result[T] {
	if h.ctx.Err() != nil {
		return Result[T]{Err: cutShort(h.ctx, nil)}
	}
	ctx, cancel := context.WithCancelCause(h.ctx)
	defer cancel(nil)
	h.tries, h.allMarked = make(chan tried[T]), true
	due := time.NewTimer(h.delay)
	defer due.Stop()
	h.start(ctx)
	for h.running > 0 {
		select {
		case r := <-h.tries:
			h.running--
			if !h.decided {
				h.took(r, cancel)
			}
		case <-due.C:
		}
		if h.left > 0 && !h.decided && h.ctx.Err() == nil { // the caller's: ctx may not have heard yet
			h.left--
			h.start(ctx)
			due.Reset(h.delay)
		}
	}
	if !h.decided {
		h.result.Err = eager.Choose(h.result.Err, h.allMarked)
	}
	return h.result
}

// start starts a try.
func (h *hedging[T]) start(ctx context.Context) {
	h.running++
	go guard(func() {
		v, err := h.op(ctx)
		t := tried[T]{Result: Result[T]{Value: v}}
		t.Err, t.permanent = loop.Inspect(err)
		h.tries <- t
	}, func(err error) { h.tries <- tried[T]{Result[T]{Err: err}, true} })
}

// took takes how a try ended, which can decide the whole.
func (h *hedging[T]) took(r tried[T], cancel context.CancelCauseFunc) {
	h.result, h.decided = r.Result, r.Err == nil || r.permanent
	if r.Err != nil { // guarded, for it asks the user's error what it is
		guard(func() { h.result.Err = cutShort(h.ctx, r.Err) }, func(err error) { h.result.Err = err })
	}
	switch {
	case r.Err == nil:
		cancel(ErrLost)
	case r.permanent:
		cause, _ := eager.Strip(r.Err)
		cancel(cause)
	default:
		h.allMarked = h.allMarked && eager.IsMarked(r.Err)
	}
}
