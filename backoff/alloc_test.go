package backoff_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
)

// strategies is one of each curve and setting.
func strategies() []backoff.Strategy {
	const s, ms = time.Second, time.Millisecond
	return []backoff.Strategy{
		{}, backoff.Constant(ms), backoff.Linear(ms, ms), backoff.Exponential(ms, 2), backoff.Exponential(ms, 1.5).Cap(s),
		backoff.Exponential(ms, 2).Cap(s).FullJitter(), backoff.Exponential(ms, 2).Cap(s).EqualJitter(),
		backoff.Exponential(ms, 2).ProportionalJitter(0.2), backoff.Exponential(ms, 2).AdditiveJitter(ms),
		backoff.Exponential(ms, 2).SpringJitter(ms), backoff.Fibonacci(ms).Floor(s), backoff.Decorrelated(ms).Cap(s),
		backoff.List(ms, s), backoff.Func(func(n int) (lo, hi time.Duration) { return ms, s }),
		backoff.Constant(ms).Then(2, backoff.Exponential(ms, 3)).Cap(s).FullJitter(),
	}
}

var sink time.Duration

func TestADelayAllocatesNothing(t *testing.T) {
	for _, s := range strategies() {
		require.Zero(t, testing.AllocsPerRun(100, func() { sink = s.Delay(5, time.Millisecond, rand.Uint64()) }), "%+v", s)
	}
}

func TestAStrategyIsSmall(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(backoff.Strategy{}), uintptr(48))
}

func TestOneStrategyServesManyGoroutines(t *testing.T) {
	for _, s := range strategies() {
		var wg sync.WaitGroup
		want := s.Delay(7, time.Second, 1<<63)
		for range 64 {
			wg.Go(func() {
				for range 50 {
					if d := s.Cap(time.Hour).Delay(7, time.Second, 1<<63); d != want {
						t.Errorf("got %v, want %v", d, want)
					}
				}
			})
		}
		wg.Wait()
	}
}

// loop is what a careful hand writes: an exponential with a cap and full jitter.
func loop(n int) time.Duration {
	d := 100 * time.Millisecond
	for range n - 1 {
		if d *= 2; d >= 5*time.Second {
			d = 5 * time.Second
			break
		}
	}
	return time.Duration(rand.Int64N(int64(d)))
}

// BenchmarkDelay compares one jittered exponential delay, its draw included,
// with the loop written by hand.
func BenchmarkDelay(b *testing.B) {
	s := backoff.Exponential(100*time.Millisecond, 2).Cap(5 * time.Second).FullJitter()
	b.Run("of=hand", func(b *testing.B) {
		for i := range b.N {
			sink = loop(1 + i&7)
		}
	})
	b.Run("of=dacapo", func(b *testing.B) {
		for i := range b.N {
			sink = s.Delay(1+i&7, 0, rand.Uint64())
		}
	})
}
