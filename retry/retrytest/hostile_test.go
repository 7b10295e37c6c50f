package retrytest_test

import (
	"flag"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry/retrytest"
)

// recorder is a test that keeps what it is told.
type recorder struct {
	rapid.TB
	told []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.told = append(r.told, fmt.Sprintf(format, args...))
}

// told returns what a check reports, which is one line at most.
func told(t *testing.T, check func(rapid.TB)) string {
	r := &recorder{TB: t}
	check(r)
	if len(r.told) == 0 {
		return ""
	}
	assert.Len(t, r.told, 1)
	return r.told[0]
}

// strategy is one of functions.
type strategy struct {
	delay  func(n int, prev time.Duration, u uint64) time.Duration
	bounds func(n int) (lo, hi time.Duration)
}

func (s strategy) Delay(n int, prev time.Duration, u uint64) time.Duration {
	return s.delay(n, prev, u)
}
func (s strategy) Bounds(n int) (lo, hi time.Duration) { return s.bounds(n) }

// honest is a strategy that keeps the laws: it draws from [1s, 8s).
func honest() strategy {
	s := backoff.Constant(8 * time.Second).FullJitter().Floor(time.Second)
	return strategy{s.Delay, s.Bounds}
}

// where changes the answers of s to the questions for which certain holds.
func (s strategy) where(certain func(n int, prev time.Duration, u uint64) bool, d time.Duration) strategy {
	delay := s.delay
	s.delay = func(n int, prev time.Duration, u uint64) time.Duration {
		if certain(n, prev, u) {
			return d
		}
		return delay(n, prev, u)
	}
	return s
}

func always(int, time.Duration, uint64) bool { return true }

// hostile are strategies that break a law, and what is said of them.
var hostile = map[string]func() retrytest.Strategy{
	`law "never below its bounds": Delay(n=1, prev=0s, u=0x0) = 999.999999ms, but Bounds(1) = [1s, 8s)`: func() retrytest.Strategy {
		return honest().where(always, time.Second-1)
	},
	`law "never below its bounds": Delay(n=2, prev=7.999999999s, u=0x0) = 0s, but Bounds(2) = [1s, 8s)`: func() retrytest.Strategy {
		return honest().where(func(_ int, prev time.Duration, _ uint64) bool { return prev > 7*time.Second }, 0)
	},
	`law "never above its bounds": Delay(n=1, prev=0s, u=0xffffffffffffffff) = 8s, but Bounds(1) = [1s, 8s)`: func() retrytest.Strategy {
		return honest().where(func(_ int, _ time.Duration, u uint64) bool { return u == math.MaxUint64 }, 8*time.Second)
	},
	`law "never above its bounds": Delay(n=3, prev=1s, u=0x8000000000000000) = 9s, but Bounds(3) = [1s, 8s)`: func() retrytest.Strategy {
		return honest().where(func(n int, _ time.Duration, u uint64) bool { return n >= 3 && u >= 1<<63 }, 9*time.Second)
	},
	`law "never negative": Delay(n=64, prev=1s, u=0x0) = -2562047h47m16.854775808s`: func() retrytest.Strategy {
		return honest().where(func(n int, _ time.Duration, _ uint64) bool { return n >= 64 }, math.MinInt64) // it doubled 1ns too often
	},
	`law "u = 0 gives the lower bound": Delay(n=1, prev=0s, u=0x0) = 2s, but Bounds(1) = [1s, 8s)`: func() retrytest.Strategy {
		return honest().where(func(_ int, _ time.Duration, u uint64) bool { return u == 0 }, 2*time.Second)
	},
	`law "bounds in order": Bounds(1) = [8s, 1s), want 0 <= lo <= hi`: func() retrytest.Strategy {
		s := honest()
		s.bounds = func(int) (lo, hi time.Duration) { return 8 * time.Second, time.Second }
		return s
	},
	`law "bounds in order": Bounds(2) = [-1ns, 8s), want 0 <= lo <= hi`: func() retrytest.Strategy {
		s := honest()
		s.bounds = func(n int) (lo, hi time.Duration) { return 1 - time.Duration(n), 8 * time.Second }
		s.delay = func(int, time.Duration, uint64) time.Duration { return 0 }
		return s
	},
	`law "total": Delay(n=4, prev=1s, u=0x0) panicked: runtime error: index out of range [3] with length 3`: func() retrytest.Strategy {
		s, waits := honest(), []time.Duration{1e9, 1e9, 1e9}
		s.delay = func(n int, _ time.Duration, _ uint64) time.Duration { return waits[n-1] }
		return s
	},
	`law "total": Bounds(1000000) panicked: too many`: func() retrytest.Strategy {
		s := honest()
		s.bounds = func(n int) (lo, hi time.Duration) {
			if n == 1_000_000 {
				panic("too many")
			}
			return honest().bounds(n)
		}
		return s
	},
	`law "pure": Delay(n=1, prev=0s, u=0x0) = 1s, and then 1.000000001s when asked again`: func() retrytest.Strategy {
		s, asked := honest(), atomic.Int64{}
		s.bounds = func(int) (lo, hi time.Duration) { return time.Second, time.Hour }
		s.delay = func(int, time.Duration, uint64) time.Duration { return time.Second + time.Duration(asked.Add(1)-1) }
		return s
	},
	`law "pure": Delay(n=7, prev=1s, u=0x1) = 1s, and then 2s when asked in another order`: func() retrytest.Strategy {
		s, greatest := honest(), atomic.Int64{}
		s.delay = func(n int, _ time.Duration, u uint64) time.Duration {
			greatest.Store(max(greatest.Load(), int64(n)))
			if u != 0 && n == 7 && greatest.Load() > 7 {
				return 2 * time.Second
			}
			return time.Second
		}
		return s
	},
	`law "pure": Bounds(1) = [1s, 8s), and then [1s, 9s) when asked in another order`: func() retrytest.Strategy {
		s, asked := honest(), atomic.Int64{}
		s.bounds = func(int) (lo, hi time.Duration) {
			if asked.Add(1) > 3000 {
				return time.Second, 9 * time.Second
			}
			return time.Second, 8 * time.Second
		}
		return s
	},
	`law "no fault": backoff: Cap is 1s, below the first wait of Constant, 1m0s: want a cap of at least that, or a shorter first wait`: func() retrytest.Strategy {
		return backoff.Constant(time.Minute).Cap(time.Second)
	},
}

func TestAHostileStrategyIsToldItsLawAndTheSmallestInput(t *testing.T) {
	for want, s := range hostile {
		assert.Equal(t, "retrytest: "+want, told(t, func(t rapid.TB) { retrytest.CheckStrategy(t, s()) }))
	}
}

func TestAWaitAboveTheCapIsTold(t *testing.T) {
	for want, c := range map[string]struct {
		s   retrytest.Strategy
		cap time.Duration
	}{
		`Bounds(1) = [1s, 8s), but the cap is 7.999999999s`:            {honest(), 8*time.Second - 1},
		`Delay(n=4, prev=4s, u=0x0) = 8s, but the cap is 4s`:           {backoff.Exponential(time.Second, 2).Cap(8 * time.Second), 4 * time.Second},
		`Delay(n=1, prev=0s, u=0x0) = 1s, but the cap is 999.999999ms`: {backoff.Constant(time.Second), time.Second - 1},
	} {
		said := told(t, func(t rapid.TB) { retrytest.CheckCapped(t, c.s, c.cap) })
		assert.Equal(t, `retrytest: law "never above its cap": `+want, said)
	}
	retrytest.CheckCapped(t, honest(), 8*time.Second)
}

// What several goroutines do at once takes no luck to see in a bubble, where each waits at
// the same instant.
func TestScratchThatIsSharedIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var scratch atomic.Int64
		s := honest()
		s.delay = func(n int, _ time.Duration, _ uint64) time.Duration {
			scratch.Store(int64(n))
			time.Sleep(time.Nanosecond)
			if scratch.Load() != int64(n) {
				return 2 * time.Second
			}
			return time.Second
		}
		said := told(t, func(t rapid.TB) { retrytest.CheckStrategy(t, s) })
		assert.Regexp(t, `^retrytest: law "pure": Delay\(n=1, .*\) = 1s, and then 2s when several goroutines ask$`, said)
	})
}

// Only drawn questions find what lies between the fixed ones; rapid makes it small.
func TestWhatOnlyADrawnInputBreaksIsFoundAndMadeSmall(t *testing.T) {
	nofile := flag.Lookup("rapid.nofailfile").Value
	defer func(was string) { _ = nofile.Set(was) }(nofile.String())
	_ = nofile.Set("true")
	s := honest().where(func(n int, _ time.Duration, _ uint64) bool { return n > 300 && n != 1000 && n != 1<<16 && n != 1e6 }, 0)
	said := told(t, func(t rapid.TB) { retrytest.CheckStrategy(t, s) })
	assert.Contains(t, said, `retrytest: law "never below its bounds": Delay(n=301, prev=1s, u=0x0) = 0s, but Bounds(301) = [1s, 8s)`)
}

func TestWhatTheToolkitGivesKeepsItsLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := retrytest.Strategies().Draw(t, "strategy")
		retrytest.CheckStrategy(t, s)
		top := time.Hour + time.Duration(rapid.IntRange(0, 1000).Draw(t, "more"))
		retrytest.CheckCapped(t, s.Cap(top), top)
	})
}

func TestTheExamplesOfPackageBackoffKeepTheirLaws(t *testing.T) {
	const ms = time.Millisecond
	for _, s := range []backoff.Strategy{
		{}, backoff.Constant(ms), backoff.Linear(ms, ms), backoff.Fibonacci(ms), backoff.Decorrelated(ms), backoff.List(3*ms, ms),
		backoff.Exponential(ms, 2), backoff.Exponential(ms, 1.5).EqualJitter(), backoff.Exponential(ms, 10).ProportionalJitter(0.2),
		backoff.Constant(ms).AdditiveJitter(ms), backoff.Linear(ms, ms).SpringJitter(ms),
		backoff.Func(func(n int) (lo, hi time.Duration) { return ms, time.Duration(n) * time.Second }),
		backoff.Constant(ms).Then(3, backoff.Exponential(ms, 2).FullJitter()),
	} {
		retrytest.CheckStrategy(t, s)
		retrytest.CheckCapped(t, s.Cap(time.Second), time.Second)
	}
}
