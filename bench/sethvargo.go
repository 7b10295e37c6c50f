package main

import (
	"context"
	"time"

	"github.com/sethvargo/go-retry"
)

// A Backoff counts inside and cannot be set back: it serves one run, and is made for each.
func sethvargo() library {
	return library{
		name: "sethvargo/go-retry", how: "retry.DoValue; a Backoff for each run, as it counts inside and cannot be set back",
		busy: retry.RetryableError,
		build: func(ctx context.Context, p plan) func(op) run {
			if p.factor != 0 && p.factor != 2 {
				return nil
			}
			once := sethvargoWaits(p)
			return func(op op) run {
				if p.shared {
					return func() (int, error) { return retry.DoValue(ctx, once, op) }
				}
				return func() (int, error) { return retry.DoValue(ctx, sethvargoWaits(p), op) }
			}
		},
		written: func(ctx context.Context, op op) (int, error) {
			b := retry.WithMaxRetries(5, retry.WithFullJitter(retry.WithCappedDuration(5*time.Second, retry.NewExponential(100*time.Millisecond))))
			return retry.DoValue(ctx, b, op)
		},
		drawn: "Backoff.Next; another after eight, as it cannot be set back",
		eight: func() (sum time.Duration) {
			b := retry.WithFullJitter(retry.WithCappedDuration(5*time.Second, retry.NewExponential(100*time.Millisecond)))
			for range 8 {
				d, _ := b.Next()
				sum += d
			}
			return sum
		},
		hundredth: func() time.Duration {
			b := retry.NewExponential(time.Second)
			return hundredth(func() time.Duration { d, _ := b.Next(); return d })
		},
	}
}

func sethvargoWaits(p plan) retry.Backoff {
	var b retry.Backoff
	switch {
	case p.first == 0:
		b = retry.BackoffFunc(func() (time.Duration, bool) { return 0, false })
	case p.factor == 0:
		b = retry.NewConstant(p.first)
	default:
		b = retry.NewExponential(p.first)
	}
	if p.limit > 0 {
		b = retry.WithCappedDuration(p.limit, b)
	}
	if p.jitter {
		b = retry.WithFullJitter(b)
	}
	if p.within > 0 {
		b = retry.WithMaxDuration(p.within, b)
	}
	return retry.WithMaxRetries(uint64(p.retries), b)
}
