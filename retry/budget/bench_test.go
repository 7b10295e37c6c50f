package budget_test

import (
	"context"
	"sync"
	"testing"

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

func BenchmarkTakeAndGive(b *testing.B) {
	b.Run("by=hand", func(b *testing.B) {
		l := &locked{tokens: 100, max: 100}
		for b.Loop() {
			l.take()
			l.give(1)
		}
	})
	b.Run("by=budget", func(b *testing.B) {
		l := budget.New(budget.Default())
		for b.Loop() {
			paid, _ := l.Allow(context.Background(), errBusy)
			l.Done(retry.Outcome{Reason: retry.Cancelled, Paid: paid, Unmade: true})
		}
	})
}

func BenchmarkSuccess(b *testing.B) {
	b.Run("by=hand", func(b *testing.B) {
		l := &locked{tokens: 100, max: 100}
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				l.give(0.1)
			}
		})
	})
	b.Run("by=budget", func(b *testing.B) {
		l := budget.New(budget.Default())
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				l.Done(succeeded)
			}
		})
	})
}
