package main

import (
	"context"
	"time"

	"github.com/eapache/go-resiliency/retrier"
)

func eapache() library {
	return library{
		name: "eapache/go-resiliency", how: "retrier.New once; its RunFn",
		build: func(ctx context.Context, p plan) func(op) run {
			if p.within > 0 || p.factor != 0 && p.factor != 2 {
				return nil
			}
			var class retrier.Classifier
			if p.gone {
				class = retrier.BlacklistClassifier{errGone}
			}
			r := retrier.New(eapacheWaits(p), class)
			if p.jitter {
				r.SetJitter(0.5)
			}
			return func(op op) run {
				var v int
				call := func(ctx context.Context, _ int) (err error) { v, err = op(ctx); return err }
				return func() (int, error) { err := r.RunFn(ctx, call); return v, err }
			}
		},
		written: func(ctx context.Context, op op) (v int, err error) {
			r := retrier.New(retrier.LimitedExponentialBackoff(5, 100*time.Millisecond, 5*time.Second), nil)
			r.SetJitter(0.5)
			err = r.RunFn(ctx, func(ctx context.Context, _ int) (err error) { v, err = op(ctx); return err })
			return v, err
		},
		hundredth: func() time.Duration { return retrier.ExponentialBackoff(100, time.Second)[99] },
	}
}

func eapacheWaits(p plan) []time.Duration {
	switch {
	case p.factor == 0:
		return retrier.ConstantBackoff(p.retries, p.first)
	case p.limit > 0:
		return retrier.LimitedExponentialBackoff(p.retries, p.first, p.limit)
	default:
		return retrier.ExponentialBackoff(p.retries, p.first)
	}
}
