package main

import (
	"context"
	"math"
	"time"

	"github.com/googleapis/gax-go/v2"
)

// gax has no limit of calls but a Retryer of one's own, which is what this one adds.
type gaxRetryer struct {
	gone, fixed bool
	left        int
	waits       gax.Backoff
}

func (r *gaxRetryer) Retry(err error) (time.Duration, bool) {
	if r.gone && err == errGone || r.left == 0 {
		return 0, false
	}
	r.left--
	if r.fixed {
		return r.waits.Initial, true
	}
	return r.waits.Pause(), true
}

func gaxGo() library {
	return library{
		name: "gax-go", how: "gax.Invoke; WithRetry made once, with a Retryer that counts (gax has no limit of calls)",
		build: func(ctx context.Context, p plan) func(op) run {
			if p.factor != 0 && !p.jitter && !math.IsNaN(p.factor) { // it always jitters, fully
				return nil
			}
			with := []gax.CallOption{gax.WithRetry(func() gax.Retryer {
				return &gaxRetryer{gone: p.gone, fixed: p.factor == 0, left: p.retries, waits: gaxWaits(p)}
			})}
			if p.within > 0 {
				with = append(with, gax.WithTimeout(p.within))
			}
			return func(op op) run {
				var v int
				call := func(ctx context.Context, _ gax.CallSettings) (err error) { v, err = op(ctx); return err }
				return func() (int, error) { err := gax.Invoke(ctx, call, with...); return v, err }
			}
		},
		written: func(ctx context.Context, op op) (v int, err error) {
			err = gax.Invoke(ctx, func(ctx context.Context, _ gax.CallSettings) (err error) { v, err = op(ctx); return err },
				gax.WithRetry(func() gax.Retryer {
					return &gaxRetryer{left: 5, waits: gax.Backoff{Initial: 100 * time.Millisecond, Multiplier: 2, Max: 5 * time.Second}}
				}))
			return v, err
		},
		drawn: "Backoff.Pause; a copy after eight",
		eight: func() (sum time.Duration) {
			waits := gaxWaits(usual)
			for range 8 {
				sum += waits.Pause()
			}
			return sum
		},
		hundredth: func() time.Duration {
			waits := gaxWaits(plan{first: time.Second, factor: 2})
			return hundredth(waits.Pause)
		},
	}
}

func gaxWaits(p plan) gax.Backoff {
	b := gax.Backoff{Initial: p.first, Multiplier: p.factor, Max: p.limit}
	if p.limit == 0 {
		b.Max = math.MaxInt64
	}
	return b
}
