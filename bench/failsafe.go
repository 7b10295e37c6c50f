package main

import (
	"context"
	"math"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
)

func failsafeGo() library {
	return library{
		name: "failsafe-go", how: "failsafe.With a RetryPolicy that returns the last failure, and WithContext, once; its Get",
		build: func(ctx context.Context, p plan) func(op) run {
			executor := failsafe.With(failsafePolicy(p)).WithContext(ctx)
			return func(op op) run {
				call := func() (int, error) { return op(ctx) }
				return func() (int, error) { return executor.Get(call) }
			}
		},
		written: func(ctx context.Context, op op) (int, error) {
			policy := retrypolicy.NewBuilder[int]().WithMaxRetries(5).WithBackoff(100*time.Millisecond, 5*time.Second).
				WithJitterFactor(0.5).ReturnLastFailure().Build()
			return failsafe.With(policy).WithContext(ctx).Get(func() (int, error) { return op(ctx) })
		},
	}
}

func failsafePolicy(p plan) retrypolicy.RetryPolicy[int] {
	b := retrypolicy.NewBuilder[int]().WithMaxRetries(p.retries).ReturnLastFailure()
	switch {
	case p.factor != 0 && p.limit > 0:
		b = b.WithBackoffFactor(p.first, p.limit, p.factor)
	case p.factor != 0:
		b = b.WithBackoffFactor(p.first, math.MaxInt64, p.factor)
	case p.first > 0:
		b = b.WithDelay(p.first)
	}
	if p.jitter {
		b = b.WithJitterFactor(0.5)
	}
	if p.within > 0 {
		b = b.WithMaxDuration(p.within)
	}
	if p.gone {
		b = b.AbortOnErrors(errGone)
	}
	return b.Build()
}
