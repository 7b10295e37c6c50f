package future

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dacapo-go/dacapo/internal/loop"
)

// A HedgePolicy says when [Hedge] tries a second time though the first try has not
// ended. It is a small immutable value; refinements return a changed copy. It is
// safe for concurrent use. The zero HedgePolicy never does: the work is tried once.
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
// A try that fails before the next is due starts that at once. An error that is
// permanent (see retry.Permanent) ends all. If all tries fail, the error is that of
// the last to fail. Where ctx ends, no other try starts, and that error comes with
// ctx.Err() and the cause of ctx. A panic is a permanent failure ([*PanicError]), and
// so is runtime.Goexit ([ErrGoexit]).
//
// Hedge cancels what it started, and waits for it: when a try has succeeded the
// context of the others ends, with [ErrLost] as the cause, and the future settles when
// they have ended. So a try that does not obey its context makes the result late.
//
// Each try runs on a goroutine of its own. With a fault in h the future has failed
// with [HedgePolicy.Err], and op is not called. Hedge panics if ctx or op is nil.
func Hedge[T any](ctx context.Context, h HedgePolicy, op func(context.Context) (T, error)) *Future[T] {
	checkOp(ctx, "future.Hedge", op == nil)
	if err := h.Err(); err != nil {
		return Failed[T](err)
	}
	f := new(Future[T])
	f.begin()
	go func() {
		r := (&hedging[T]{op: op, left: h.most, delay: h.delay}).run(ctx)
		f.finish(nil, r.Value, r.Err)
	}()
	return f
}

// hedging is one run of Hedge.
type hedging[T any] struct {
	op      func(context.Context) (T, error)
	left    int // extra tries that may yet start
	delay   time.Duration
	running int
	ended   chan Result[T]
	cancel  context.CancelCauseFunc
	decided bool
	result  Result[T]
}

func (h *hedging[T]) run(ctx context.Context) Result[T] {
	if ctx.Err() != nil {
		return Result[T]{Err: cutShort(ctx, nil)}
	}
	tries, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h.cancel, h.ended = cancel, make(chan Result[T])
	due := time.NewTimer(h.delay)
	defer due.Stop()
	h.start(tries)
	for h.running > 0 {
		next := due.C
		if h.left == 0 || h.decided {
			next = nil
		}
		more := true
		select {
		case r := <-h.ended:
			h.running--
			more = h.took(r)
		case <-next:
		}
		if more && h.left > 0 && tries.Err() == nil {
			h.left--
			h.start(tries)
			due.Reset(h.delay)
		}
	}
	if h.result.Err != nil && !h.decided {
		h.result.Err = cutShort(ctx, h.result.Err)
	}
	return h.result
}

// start starts a try.
func (h *hedging[T]) start(ctx context.Context) {
	h.running++
	go guard(func() {
		v, err := h.op(ctx)
		h.ended <- Result[T]{v, err}
	}, func(err error) { h.ended <- Result[T]{Err: err} })
}

// took takes the result of a try, and reports whether another may follow.
func (h *hedging[T]) took(r Result[T]) bool {
	if h.decided {
		return false // a loser's
	}
	own, permanent := loop.Driver.Inspect(r.Err)
	h.result = Result[T]{r.Value, own}
	switch {
	case r.Err == nil:
		h.decided = true
		h.cancel(ErrLost)
	case permanent:
		h.decided = true
		h.cancel(own)
	}
	return !h.decided
}
