package retrytest_test

import (
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

func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(format string, args ...any) { r.told = append(r.told, fmt.Sprintf(format, args...)) }

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

// strategy is one of two functions.
type strategy struct {
	delay  func(n int, prev time.Duration, u uint64) time.Duration
	bounds func(n int) (lo, hi time.Duration)
}

func (s strategy) Delay(n int, prev time.Duration, u uint64) time.Duration { return s.delay(n, prev, u) }
func (s strategy) Bounds(n int) (lo, hi time.Duration)                     { return s.bounds(n) }

// honest is a strategy that keeps the laws: it draws from [1s, 8s).
func honest() strategy {
	s := backoff.Constant(8 * time.Second).FullJitter().Floor(time.Second)
	return strategy{s.Delay, s.Bounds}
}

const top = math.MaxUint64

func TestAHostileStrategyIsToldItsLawAndTheSmallestInput(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(s *strategy)
	}{
		{`law "never below its bounds": Delay(n=1, prev=0s, u=0x0) = 999.999999ms, but Bounds(1) = [1s, 8s)`, func(s *strategy) {
			s.delay = func(n int, prev time.Duration, u uint64) time.Duration { return honest().delay(n, prev, u) - 1 }
		}},
		{`law "never above its bounds": Delay(n=3, prev=1s, u=0x8000000000000000) = 9s, but Bounds(3) = [1s, 8s)`, func(s *strategy) {
			s.delay = func(n int, prev time.Duration, u uint64) time.Duration {
				if n >= 3 && u >= 1<<63 {
					return 9 * time.Second
				}
				return honest().delay(n, prev, u)
			}
		}},
	} {
		s := honest()
		c.spoil(&s)
		assert.Equal(t, "retrytest: "+c.want, told(t, func(t rapid.TB) { retrytest.CheckStrategy(t, s) }))
	}
}

func TestScratchIsFoundWhereItIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var scratch atomic.Int64
		s := honest()
		s.delay = func(n int, _ time.Duration, _ uint64) time.Duration {
			scratch.Store(int64(n))
			time.Sleep(1)
			return time.Second + time.Duration(scratch.Load()-int64(n))
		}
		fmt.Println(told(t, func(t rapid.TB) { retrytest.CheckStrategy(t, s) }))
	})
}

func TestTrial(t *testing.T) {
	retrytest.CheckStrategy(t, honest())
	rapid.Check(t, func(t *rapid.T) {
		retrytest.CheckStrategy(t, retrytest.Strategies().Draw(t, "s"))
	})
}
func TestTrialP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		retrytest.CheckPolicy(t, retrytest.Policies().Draw(t, "s"))
	})
}
