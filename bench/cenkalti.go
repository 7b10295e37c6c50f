package main

import (
	"context"
	"math"
	"time"

	"github.com/cenkalti/backoff/v7"
)

// A BackOff counts inside: "give each concurrent Retry call its own". So each goroutine has
// one, and uses it again, as Retry resets it.
func cenkalti() library {
	return library{
		name: "cenkalti/backoff", how: "backoff.Retry; options and BackOff made once for a goroutine",
		lasting: backoff.Permanent, after: backoff.RetryAfter,
		build: func(ctx context.Context, p plan) func(op) run {
			once := cenkaltiWaits(p)
			return func(op op) run {
				call := func() (int, error) { return op(ctx) }
				waits := once
				if !p.shared {
					waits = cenkaltiWaits(p)
				}
				options := []backoff.RetryOption{
					backoff.WithBackOff(waits), backoff.WithMaxTries(uint(p.retries) + 1), backoff.WithMaxElapsedTime(p.within),
				}
				return func() (int, error) { return backoff.Retry(ctx, call, options...) }
			}
		},
		written: func(ctx context.Context, op op) (int, error) {
			return backoff.Retry(ctx, func() (int, error) { return op(ctx) },
				backoff.WithMaxTries(6),
				backoff.WithBackOff(&backoff.ExponentialBackOff{
					InitialInterval: 100 * time.Millisecond, Multiplier: 2, MaxInterval: 5 * time.Second, RandomizationFactor: 0.5,
				}))
		},
		drawn: "ExponentialBackOff.NextBackOff; Reset after eight",
		eight: func() func() time.Duration {
			b := cenkaltiWaits(usual)
			return func() (sum time.Duration) {
				b.Reset()
				for range 8 {
					sum += b.NextBackOff()
				}
				return sum
			}
		}(),
		hundredth: func() time.Duration {
			return hundredth(cenkaltiWaits(plan{first: time.Second, factor: 2}).NextBackOff)
		},
	}
}

func cenkaltiWaits(p plan) backoff.BackOff {
	switch {
	case p.first == 0:
		return &backoff.ZeroBackOff{}
	case p.factor == 0:
		return backoff.NewConstantBackOff(p.first)
	}
	b := &backoff.ExponentialBackOff{InitialInterval: p.first, Multiplier: p.factor, MaxInterval: math.MaxInt64}
	if p.limit > 0 {
		b.MaxInterval = p.limit
	}
	if p.jitter {
		b.RandomizationFactor = 0.5
	}
	b.Reset()
	return b
}

// hundredth is what the hundredth call of next returns.
func hundredth(next func() time.Duration) (d time.Duration) {
	for range 100 {
		d = next()
	}
	return d
}
