package bench

import (
	"context"
	"errors"
	"testing"

	avast "github.com/avast/retry-go/v5"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"

	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

var errBusy = errors.New("busy")

// Take what a retry costs, and give it back: with 5 tokens of 500, in all of them.
func BenchmarkTakeAndGive(b *testing.B) {
	ctx := context.Background()
	b.Run("by=dacapo", func(b *testing.B) {
		l := budget.New(budget.AWS().BaseCost(5))
		b.ReportAllocs()
		for b.Loop() {
			paid, ok := l.Allow(ctx, errBusy)
			if !ok {
				b.Fatal("refused")
			}
			l.Done(retry.Outcome{Reason: retry.Succeeded, Paid: paid})
		}
	})
	b.Run("by=avast", func(b *testing.B) {
		l := avast.NewFixedTokenBucketThrottle(avast.FixedTokenBucketThrottleConfig{MaxCapacity: 500, ThrottleCost: 5})
		b.ReportAllocs()
		for b.Loop() {
			if !l.AllowRetry(1, errBusy) {
				b.Fatal("refused")
			}
			l.OnSuccess(1)
		}
	})
	b.Run("by=aws", func(b *testing.B) {
		l := ratelimit.NewTokenRateLimit(500)
		b.ReportAllocs()
		for b.Loop() {
			release, err := l.GetToken(ctx, 5)
			if err != nil {
				b.Fatal(err)
			}
			if err := release(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A success without a retry, as nearly all are: alone, and on all cores.
func BenchmarkSuccess(b *testing.B) {
	l := budget.New(budget.AWS().BaseCost(5))
	m := avast.NewFixedTokenBucketThrottle(avast.FixedTokenBucketThrottleConfig{MaxCapacity: 500, ThrottleCost: 5})
	r := ratelimit.NewTokenRateLimit(500)
	for _, by := range []struct {
		name    string
		succeed func()
	}{
		{"dacapo", func() { l.Done(retry.Outcome{Reason: retry.Succeeded}) }},
		{"avast", func() { m.OnSuccess(0) }},
		{"aws", func() { _ = r.AddTokens(1) }},
	} {
		b.Run("cores=one/by="+by.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				by.succeed()
			}
		})
		b.Run("cores=all/by="+by.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					by.succeed()
				}
			})
		})
	}
}
