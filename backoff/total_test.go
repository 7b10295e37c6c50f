package backoff_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
)

func TestATotalIsTheSumOfTheBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := models(2).Draw(t, "model").build(), rapid.IntRange(-1, 300).Draw(t, "waits")
		lo, hi := s.Total(n)
		sumLo, sumHi := new(big.Int), new(big.Int)
		for i := 1; i <= n; i++ {
			a, b := s.Bounds(i)
			sumLo.Add(sumLo, integer(a))
			sumHi.Add(sumHi, integer(b))
		}
		require.Equal(t, least(sumLo, huge).Int64(), int64(lo))
		require.Equal(t, least(sumHi, huge).Int64(), int64(hi))
	})
}

// However many the waits, and however they grow, a total is soon there.
func TestATotalOfAnyNumberOfWaits(t *testing.T) {
	const s, ns = time.Second, time.Nanosecond
	shared := backoff.Constant(1)
	for range 60 {
		shared = shared.Then(1, shared) // 2^60 parts
	}
	late := make([]time.Duration, 1<<17) // a list that is long, and 0 but for its last but one
	late[1<<17-2] = time.Hour
	falls := backoff.Func(func(n int) (lo, hi time.Duration) { return time.Duration(10 / n), time.Duration(10 / n) })
	for _, c := range []struct {
		strategy backoff.Strategy
		waits    int64
		lo, hi   time.Duration
	}{
		{shared, 3, 3, 3},
		{backoff.List(late...), 1<<17 + 10, time.Hour, time.Hour},
		{falls, 5, 10 + 5 + 3 + 2 + 2, 10 + 5 + 3 + 2 + 2},
		{backoff.Strategy{}, math.MaxInt64, 0, 0},
		{backoff.Constant(s), math.MaxInt64, longest, longest},
		{backoff.Constant(s).FullJitter(), 1 << 30, 0, (1 << 30) * s},
		{backoff.Exponential(s, 2).Cap(4 * s), 1<<30 + 2, (1<<32 + 3) * s, (1<<32 + 3) * s},
		{backoff.Linear(0, 1), math.MaxInt64, longest, longest},
		{backoff.Linear(0, 1), 1001, 500_500, 500_500},
		{backoff.Exponential(ns, math.Nextafter(1, 2)), 1 << 40, 1 << 40, 1 << 40},
		{backoff.Exponential(ns, math.Nextafter(1, 2)), math.MaxInt64, longest, longest},
		{backoff.List(s, 2*s, 0, s), math.MaxInt32, (3 + math.MaxInt32 - 3) * s, (3 + math.MaxInt32 - 3) * s},
		{backoff.List(5, 5, 5, 9, 5, 0), 6, 29, 29}, // a list may fall
		{backoff.List(longest/2, 0), 5, longest / 2, longest / 2},
		{backoff.Func(func(int) (lo, hi time.Duration) { return 0, 1 }), math.MaxInt64, 0, longest},
		{backoff.Decorrelated(s).Cap(3 * s), 1 << 30, (1 << 30) * s, 3 * (1 << 30) * s},
		{backoff.Constant(s).Then(2, backoff.Constant(2*s).Then(3, backoff.Strategy{})), math.MaxInt64, 8 * s, 8 * s},
		{backoff.Constant(-1), 5, 0, 0},
	} {
		if int64(int(c.waits)) != c.waits {
			continue // 32 bits
		}
		lo, hi := c.strategy.Total(int(c.waits))
		assert.Equal(t, c.lo, lo, "%v", c.strategy)
		assert.Equal(t, c.hi, hi, "%v", c.strategy)
	}
}

func TestATotalOfWaitsThatGrowForTooLongIsWiderAndNotNarrower(t *testing.T) {
	const n = 1<<16 + 300
	lo, hi := backoff.Linear(0, 1).Total(n)
	exact := time.Duration(n) * (n - 1) / 2
	assert.LessOrEqual(t, lo, exact)
	assert.GreaterOrEqual(t, hi, exact)
	assert.InEpsilon(t, int64(exact), int64(lo), 0.01)
	assert.InEpsilon(t, int64(exact), int64(hi), 0.01)
}
