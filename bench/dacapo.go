package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

func dacapo() library {
	waits := backoff.Exponential(100*time.Millisecond, 2).Cap(5 * time.Second).FullJitter()
	return library{
		name: "dacapo", how: "retry.Do, one Policy for all",
		lasting: retry.Permanent, after: retry.After,
		build: func(ctx context.Context, p plan) func(op) run {
			policy := policyOf(p)
			return func(op op) run {
				return func() (int, error) { return retry.Do(ctx, policy, op) }
			}
		},
		written: func(ctx context.Context, op op) (int, error) {
			return retry.Do(ctx, retry.New().MaxRetries(5).Backoff(backoff.Exponential(100*time.Millisecond, 2).Cap(5*time.Second).FullJitter()), op)
		},
		drawn: "Strategy.Delay",
		eight: func() (sum time.Duration) {
			for n := 1; n <= 8; n++ {
				sum += waits.Delay(n, 0, rand.Uint64())
			}
			return sum
		},
		hundredth: func() time.Duration { return backoff.Exponential(time.Second, 2).Delay(100, 0, 0) },
	}
}

func policyOf(p plan) retry.Policy {
	var s backoff.Strategy
	switch {
	case p.factor != 0:
		s = backoff.Exponential(p.first, p.factor)
	case p.first > 0:
		s = backoff.Constant(p.first)
	}
	if p.limit > 0 {
		s = s.Cap(p.limit)
	}
	if p.jitter {
		s = s.FullJitter()
	}
	policy := retry.New().MaxRetries(p.retries).Backoff(s)
	if p.within > 0 {
		policy = policy.MaxElapsed(p.within)
	}
	return policy
}
