package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The loops written by hand: what a careful author writes who needs no more than this one
// case. They are called through a variable, as a library is called with an operation that the
// compiler does not see.

func handLoop(ctx context.Context, retries int, op op) (int, error) {
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		v, err := op(ctx)
		if err == nil || n >= retries {
			return v, err
		}
	}
}

type final struct{ error }

func (f *final) Unwrap() error { return f.error }

// handLoopMarked is handLoop that also looks for a marker through Unwrap.
func handLoopMarked(ctx context.Context, retries int, op op) (int, error) {
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		v, err := op(ctx)
		if err == nil || n >= retries {
			return v, err
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if f, ok := e.(*final); ok {
				return v, f.error
			}
		}
	}
}

// handLoopWaiting is handLoop that waits: one timer, used again.
func handLoopWaiting(ctx context.Context, retries int, wait time.Duration, op op) (int, error) {
	var timer *time.Timer
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		v, err := op(ctx)
		if err == nil || n >= retries {
			return v, err
		}
		if timer == nil {
			timer = time.NewTimer(wait)
			defer timer.Stop()
		} else {
			timer.Reset(wait)
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

var (
	handLoopOf        = handLoop
	handLoopMarkedOf  = handLoopMarked
	handLoopWaitingOf = handLoopWaiting
)

func floor() library {
	return library{
		name: "by hand", how: "the loop that does no more than this case needs",
		lasting: func(err error) error { return &final{err} },
		build: func(ctx context.Context, p plan) func(op) run {
			return func(op op) run {
				switch {
				case p.gone:
					return func() (int, error) { return handLoopMarkedOf(ctx, p.retries, op) }
				case p.first > 0 && p.factor == 0:
					return func() (int, error) { return handLoopWaitingOf(ctx, p.retries, p.first, op) }
				default:
					return func() (int, error) { return handLoopOf(ctx, p.retries, op) }
				}
			}
		},
		written: func(ctx context.Context, op op) (int, error) { return handLoopOf(ctx, 5, op) },
		drawn:   "doubled up to the cap, and rand.Int64N",
		eight: func() (sum time.Duration) {
			for n := 1; n <= 8; n++ {
				sum += handDelayOf(n)
			}
			return sum
		},
	}
}

var handDelayOf = handDelay

// handDelay is an exponential with a cap and full jitter.
func handDelay(n int) time.Duration {
	d := 100 * time.Millisecond
	for range n - 1 {
		if d *= 2; d >= 5*time.Second {
			d = 5 * time.Second
			break
		}
	}
	return time.Duration(rand.Int64N(int64(d)))
}
