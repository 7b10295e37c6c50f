package main

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// A condition says that it is not there yet, and keeps the error for itself; an error ends
// the loop.
func k8sWait() library {
	return library{
		name: "apimachinery wait", how: "wait.ExponentialBackoffWithContext, a condition that keeps the last error",
		build: func(ctx context.Context, p plan) func(op) run {
			if p.within > 0 {
				return nil
			}
			b := k8sWaits(p)
			return func(op op) run {
				c := &k8sCondition{op: op, gone: p.gone}
				call := c.try
				return func() (int, error) {
					c.err = nil
					return c.result(ctx, wait.ExponentialBackoffWithContext(ctx, b, call))
				}
			}
		},
		written: func(ctx context.Context, op op) (int, error) {
			c := &k8sCondition{op: op}
			b := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 6, Cap: 5 * time.Second}
			return c.result(ctx, wait.ExponentialBackoffWithContext(ctx, b, c.try))
		},
		drawn: "Backoff.Step; a copy after eight",
		eight: func() (sum time.Duration) {
			b := k8sWaits(usual)
			for range 8 {
				sum += b.Step()
			}
			return sum
		},
		hundredth: func() time.Duration {
			b := k8sWaits(plan{retries: 200, first: time.Second, factor: 2})
			return hundredth(b.Step)
		},
	}
}

type k8sCondition struct {
	op   op
	gone bool
	v    int
	err  error
}

func (c *k8sCondition) try(ctx context.Context) (bool, error) {
	c.v, c.err = c.op(ctx)
	if c.gone && errors.Is(c.err, errGone) {
		return false, c.err
	}
	return c.err == nil, nil
}

func (c *k8sCondition) result(ctx context.Context, ended error) (int, error) {
	if wait.Interrupted(ended) && ctx.Err() == nil { // out of calls
		return c.v, c.err
	}
	return c.v, ended
}

func k8sWaits(p plan) wait.Backoff {
	b := wait.Backoff{Duration: p.first, Factor: p.factor, Cap: p.limit, Steps: p.retries + 1}
	if p.jitter {
		b.Jitter = 1
	}
	return b
}
