package main

import (
	"context"
	"sync"
	"sync/atomic"

	avastretry "github.com/avast/retry-go/v5"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"

	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

// locked is a bucket as one writes it by hand.
type locked struct {
	mu          sync.Mutex
	tokens, max float64
}

func (l *locked) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tokens < 1 {
		return false
	}
	l.tokens--
	return true
}

func (l *locked) give(n float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tokens = min(l.tokens+n, l.max)
}

// budgets take what a retry costs and give it back, 5 tokens of 500; and hear of a success
// without a retry, as nearly all are.
func budgets() []workload {
	ctx := context.Background()
	hand := &locked{tokens: 100, max: 100}
	ours := budget.New(budget.AWS().BaseCost(5))
	theirs := avastretry.NewFixedTokenBucketThrottle(avastretry.FixedTokenBucketThrottleConfig{MaxCapacity: 500, ThrottleCost: 5})
	aws := ratelimit.NewTokenRateLimit(500)
	var two atomic.Int64
	yes := func(ok bool) (int, error) {
		if ok {
			return 1, nil
		}
		return 0, errBusy
	}
	return []workload{
		{
			id: "T1", what: "a budget: take what a retry costs, and give it back", value: 1, limit: limit{peer: 0.5},
			why: "Two atomic writes by hand, without a limit, are most of that; a mutex that nobody else wants costs little more.",
			contestants: []contestant{
				{by: "by hand", how: "a mutex and a float", make: once(func() (int, error) { ok := hand.take(); hand.give(1); return yes(ok) })},
				{by: "dacapo", how: "budget.AWS: an atomic integer", make: once(func() (int, error) {
					paid, ok := ours.Allow(ctx, errBusy)
					ours.Done(retry.Outcome{Reason: retry.Succeeded, Paid: paid})
					return yes(ok)
				})},
				{by: "avast/retry-go", how: "NewFixedTokenBucketThrottle", make: once(func() (int, error) {
					ok := theirs.AllowRetry(1, errBusy)
					theirs.OnSuccess(1)
					return yes(ok)
				})},
				{by: "aws-sdk-go-v2", how: "ratelimit.NewTokenRateLimit", make: once(func() (int, error) {
					release, err := aws.GetToken(ctx, 5)
					if err != nil {
						return 0, err
					}
					return 1, release()
				})},
				{by: "two atomic writes", how: "by hand: one to take and one to give, and no limit", pattern: true, make: once(func() (int, error) {
					two.Add(5)
					return int(two.Add(-5)) + 1, nil
				})},
			},
		},
		{
			id: "T2", what: "a budget on success, on all cores", parallel: true, limit: limit{peer: 0.2},
			why: "The peers have a mutex, which costs the more, the more cores want it at once: this is of two cores, and less where others work on them.",
			contestants: []contestant{
				{by: "by hand", how: "a mutex and a float", make: once(func() (int, error) { hand.give(0.1); return 0, nil })},
				{by: "dacapo", how: "budget.AWS", make: once(func() (int, error) { ours.Done(retry.Outcome{Reason: retry.Succeeded}); return 0, nil })},
				{by: "avast/retry-go", how: "NewFixedTokenBucketThrottle", make: once(func() (int, error) { theirs.OnSuccess(0); return 0, nil })},
				{by: "aws-sdk-go-v2", how: "ratelimit.NewTokenRateLimit", make: once(func() (int, error) { return 0, aws.AddTokens(1) })},
			},
		},
	}
}
