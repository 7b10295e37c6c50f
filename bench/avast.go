package main

import (
	"context"
	"time"

	"github.com/avast/retry-go/v5"
)

func avast() library {
	waits := retry.New(retry.Delay(100*time.Millisecond), retry.MaxDelay(5*time.Second))
	doubling := retry.New(retry.Delay(time.Second))
	return library{
		name: "avast/retry-go", how: "retry.NewWithData once, with LastErrorOnly; its Do",
		lasting: retry.Unrecoverable,
		build: func(ctx context.Context, p plan) func(op) run {
			if p.within > 0 || p.factor != 0 && p.factor != 2 {
				return nil
			}
			options := []retry.Option{
				retry.Context(ctx), retry.Attempts(uint(p.retries) + 1), retry.LastErrorOnly(true),
				retry.Delay(p.first), retry.MaxDelay(p.limit), retry.DelayType(avastWaits(p)),
			}
			retrier := retry.NewWithData[int](options...)
			return func(op op) run {
				call := func() (int, error) { return op(ctx) }
				return func() (int, error) { return retrier.Do(call) }
			}
		},
		written: func(ctx context.Context, op op) (int, error) {
			return retry.NewWithData[int](retry.Context(ctx), retry.Attempts(6), retry.LastErrorOnly(true),
				retry.Delay(100*time.Millisecond), retry.MaxDelay(5*time.Second), retry.DelayType(retry.FullJitterBackoffDelay),
			).Do(func() (int, error) { return op(ctx) })
		},
		drawn: "FullJitterBackoffDelay",
		eight: func() (sum time.Duration) {
			for n := range uint(8) {
				sum += retry.FullJitterBackoffDelay(n, nil, waits)
			}
			return sum
		},
		hundredth: func() time.Duration { return retry.BackOffDelay(100, nil, doubling) },
	}
}

func avastWaits(p plan) retry.DelayTypeFunc {
	switch {
	case p.factor == 0:
		return retry.FixedDelay
	case p.jitter:
		return retry.FullJitterBackoffDelay
	default:
		return retry.BackOffDelay
	}
}
