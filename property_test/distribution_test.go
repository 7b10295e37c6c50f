package property_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
)

// The distributions of the waits, from random words with fixed seeds: what is red
// here is wrong, and not unlucky. Every wait is taken to its place in the window that
// the documentation gives, which must be uniform: for Decorrelated, whose window depends
// on the wait before, that is the probability integral transform.
//
// The critical values are at a probability of 1e-6 of being passed by a right one.
// Of the greatest distance between the distributions (Kolmogorov, Smirnov) that is
// √(ln(2/1e-6)/2n), by the inequality of Dvoretzky, Kiefer and Wolfowitz with
// Massart's constant ("The Tight Constant in the Dvoretzky–Kiefer–Wolfowitz Inequality",
// 1990), which holds for every n and for discrete laws too. Of means and correlations it
// is the two-sided quantile of the normal distribution, by the central limit theorem.
const quantile = 4.8916

var critical = math.Sqrt(math.Log(2/1e-6) / 2)

var numbers = []int{1, 2, 5, 20, 63, 64, 1e6}

// jittered is a jitter and the window that it makes of e, where the curve begins with
// first and nothing is above top.
type jittered struct {
	name   string
	of     func(backoff.Strategy) backoff.Strategy
	window func(e, first, top float64) (lo, hi float64)
}

// The part of the additive and of the spring jitter is part of them.
const part = 40 * time.Millisecond

var jitters = []jittered{
	{"full", backoff.Strategy.FullJitter, func(e, _, _ float64) (lo, hi float64) { return 0, e }},
	{"equal", backoff.Strategy.EqualJitter, func(e, _, _ float64) (lo, hi float64) { return math.Floor(e / 2), e }},
	{"proportional", func(s backoff.Strategy) backoff.Strategy { return s.ProportionalJitter(0.25) },
		func(e, _, top float64) (lo, hi float64) {
			return e - math.Floor(e/4), min(e+math.Floor(e/4), top)
		}},
	{"additive", func(s backoff.Strategy) backoff.Strategy { return s.AdditiveJitter(part) },
		func(e, _, top float64) (lo, hi float64) {
			hi = min(e+float64(part), top)
			return hi - float64(part), hi
		}},
	{"spring", func(s backoff.Strategy) backoff.Strategy { return s.SpringJitter(part) },
		func(e, first, top float64) (lo, hi float64) {
			j := math.Floor(float64(part) * e / first)
			return max(e-j, min(first, e)), min(e+j, top)
		}},
}

func TestTheWaitsOfEveryJitterAreUniformInTheirWindow(t *testing.T) {
	const first, top = 100 * time.Millisecond, time.Hour
	for _, j := range jitters {
		for _, n := range numbers {
			t.Run(fmt.Sprint(j.name, " ", n), func(t *testing.T) {
				t.Parallel()
				s := j.of(backoff.Exponential(first, 2).Cap(top))
				e := min(math.Ldexp(float64(first), n-1), float64(top))
				lo, hi := j.window(e, float64(first), float64(top))
				checkUniform(t, s, n, time.Duration(lo), time.Duration(hi))
			})
		}
	}
}

// The windows of few whole numbers, and those of nearly all: 16 of them, 2⁶² and 2⁶³-1.
func TestTheWaitsAreUniformInTheSmallestAndTheGreatestWindows(t *testing.T) {
	for n, hi := range map[int]time.Duration{1: 1, 2: 2, 5: 16, 63: 1 << 62, 64: longest, 1e6: longest} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			checkUniform(t, backoff.Exponential(1, 2).FullJitter(), n, 0, hi)
			checkUniform(t, backoff.Exponential(1, 2).EqualJitter(), n, hi/2, hi)
		})
	}
}

func checkUniform(t *testing.T, s backoff.Strategy, n int, lo, hi time.Duration) {
	require.NoError(t, s.Err())
	l, h := s.Bounds(n)
	require.Equal(t, []time.Duration{lo, hi}, []time.Duration{l, h}, "the documented window of %v", s)
	window := func(time.Duration) (time.Duration, time.Duration) { return lo, hi }
	a, b := newClient(s, n, 1, window), newClient(s, n, 2, window)
	checkClients(t, a, b)
}

// The waits of Decorrelated, each drawn from a window that the wait before it makes.
func TestTheWaitsOfDecorrelatedAreUniformGivenTheOneBefore(t *testing.T) {
	const first, top = 100 * time.Millisecond, time.Hour
	for _, n := range numbers {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			greatest := math.Pow(3, float64(min(n, 30)-1)) * float64(first)
			window := func(prev time.Duration) (lo, hi time.Duration) {
				p := max(min(float64(prev), greatest), float64(first))
				return first, time.Duration(min(3*p, float64(top)))
			}
			s := backoff.Decorrelated(first).Cap(top)
			checkClients(t, newClient(s, n, 1, window), newClient(s, n, 2, window))
		})
	}
}

// client draws one wait after the other.
type client struct {
	strategy backoff.Strategy
	n        int
	words    *rand.PCG
	window   func(prev time.Duration) (lo, hi time.Duration)
	prev     time.Duration
	width    uint64 // of the last window
	place    uint64 // of the last wait in it, from its lower end
}

func newClient(s backoff.Strategy, n int, seed uint64, window func(time.Duration) (lo, hi time.Duration)) *client {
	return &client{strategy: s, n: n, words: rand.NewPCG(seed, uint64(n)), window: window}
}

// next draws a wait and returns its place in the window, of 1. It reports false where
// the wait is not in it.
func (c *client) next() (place float64, in bool) {
	lo, hi := c.window(c.prev)
	d := c.strategy.Delay(c.n, c.prev, c.words.Uint64())
	c.prev, c.width, c.place = d, uint64(hi-lo), uint64(d-lo)
	return (float64(c.place) + 0.5) / float64(c.width), d >= lo && d < hi
}

// bin is the one of the bins that the last place is in, in whole numbers.
func (c *client) bin() uint64 {
	high, low := bits.Mul64(c.place, bins)
	bin, _ := bits.Div64(high, low, c.width)
	return bin
}

// bins are of 1/65536 each. The distance of the distributions is looked at between
// them, where it is exact: it is too small by 1/65536 at most, so a right law stays right.
const bins = 1 << 16

func checkClients(t *testing.T, a, b *client) {
	n := draws
	if testing.Short() {
		n /= 10
	}
	var counts [bins]int
	var sum, square, lag, cross, before float64
	for range n {
		x, in := a.next()
		y, also := b.next()
		if !in || !also {
			t.Fatalf("%v: %v or %v is outside its window", a.strategy, a.prev, b.prev)
		}
		counts[a.bin()]++
		x, y = x-0.5, y-0.5
		sum, square, lag, cross = sum+x, square+x*x, lag+x*before, cross+x*y
		before = x
	}
	root := math.Sqrt(float64(n))
	assert.LessOrEqual(t, distance(&counts, n, a.width)*root, critical, "%v: Kolmogorov–Smirnov", a.strategy)
	variance := (1 - 1/float64(a.width)/float64(a.width)) / 12
	assert.LessOrEqual(t, math.Abs(sum), quantile*math.Sqrt(variance)*root, "%v: mean", a.strategy)
	assert.LessOrEqual(t, math.Abs(lag), quantile*variance*root, "%v: correlation of a wait and the next", a.strategy)
	assert.LessOrEqual(t, math.Abs(cross), quantile*variance*root, "%v: correlation of two clients", a.strategy)
	// The fourth moment of a uniform law is 1/80, and 1/180 the variance of the square.
	assert.LessOrEqual(t, math.Abs(square-variance*float64(n)), quantile*root/math.Sqrt(180), "%v: variance", a.strategy)
}

// distance is the greatest one between what was counted and the uniform law on
// width whole numbers.
func distance(counts *[bins]int, n int, width uint64) (greatest float64) {
	seen := 0
	for i, count := range counts {
		seen += count
		high, low := bits.Mul64(uint64(i+1), width)
		low, carry := bits.Add64(low, bins-1, 0)
		below := (high+carry)<<48 | low>>16 // ⌈(i+1)·width/bins⌉ of the numbers are in these bins
		greatest = max(greatest, math.Abs(float64(seen)/float64(n)-float64(below)/float64(width)))
	}
	return greatest
}
