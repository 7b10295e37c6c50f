package backoff_test

import (
	"flag"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
)

const longest = time.Duration(math.MaxInt64)

// TestMain has rapid check more cases than its 100, which are over in a moment.
func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "2000")
	m.Run()
}

// hostile draws durations of every size, the ends included.
func hostile() *rapid.Generator[time.Duration] {
	return rapid.OneOf(
		rapid.SampledFrom([]time.Duration{0, 1, 2, 3, time.Millisecond, time.Second, time.Hour, longest - 1, longest}),
		rapid.Map(rapid.Int64Range(0, 1e10), func(i int64) time.Duration { return time.Duration(i) }),
		rapid.Map(rapid.Int64Range(0, math.MaxInt64), func(i int64) time.Duration { return time.Duration(i) }),
	)
}

func numbers() *rapid.Generator[int] {
	return rapid.OneOf(
		rapid.IntRange(-1, 70),
		rapid.IntRange(1, 3000),
		rapid.SampledFrom([]int{math.MinInt, 0, 1, 2, 63, 64, 65, 92, 93, 94, math.MaxInt32, math.MaxInt - 1, math.MaxInt}),
		rapid.Int(),
	)
}

func factors() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{1, math.Nextafter(1, 2), 1.1, 1.5, math.Nextafter(2, 1), 2, math.Nextafter(2, 3), 3, 10, 1 << 62, 1 << 63, 1e300, math.MaxFloat64}),
		rapid.Float64Range(1, 4),
		rapid.Map(rapid.IntRange(1, 1000), func(i int) float64 { return float64(i) }),
	)
}

func words() *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.SampledFrom([]uint64{0, 1, 1 << 63, math.MaxUint64}), rapid.Uint64())
}

// models draws strategies without a fault, of every curve, setting and depth.
func models(depth int) *rapid.Generator[model] {
	return rapid.Custom(func(t *rapid.T) model {
		curves := []string{"", "constant", "linear", "exponential", "fibonacci", "decorrelated", "list", "func"}
		if depth > 0 {
			curves = append(curves, "then", "then")
		}
		m := model{curve: rapid.SampledFrom(curves).Draw(t, "curve")}
		switch m.curve {
		case "":
		case "list":
			m.list = rapid.SliceOfN(hostile(), 1, 5).Draw(t, "list")
		case "func":
			a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
			m.span = func(n int) (lo, hi time.Duration) { return time.Duration(a + int64(n)), time.Duration(b - int64(n)) }
		case "then":
			head, tail := models(depth-1).Draw(t, "head"), models(depth-1).Draw(t, "tail")
			m.head, m.tail, m.waits = &head, &tail, rapid.IntRange(0, 5).Draw(t, "waits")
		default:
			m.first = hostile().Draw(t, "first")
			m.step = hostile().Draw(t, "step")
			m.factor = factors().Draw(t, "factor")
		}
		return m.settle(t)
	})
}

// settle gives the model a jitter, caps and floors that fit it.
func (m model) settle(t *rapid.T) model {
	if !m.jittered() && rapid.Bool().Draw(t, "jittered") {
		m.jitter = rapid.SampledFrom([]string{"full", "equal", "proportional", "additive", "spring"}).Draw(t, "jitter")
		m.fraction = rapid.OneOf(rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 5e-324, 0.2, 0.5, 1}), rapid.Float64Range(0, 1)).Draw(t, "fraction")
		m.extra = min(hostile().Draw(t, "extra"), m.greatestFloor())
	}
	limits := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(int64(m.smallestCap()), math.MaxInt64).Draw(t, "limit"))
	})
	m.caps = rapid.SliceOfN(limits, 0, 2).Draw(t, "caps")
	if floor := m.greatestFloor(); floor >= 0 {
		m.floors = rapid.SliceOfN(rapid.Map(rapid.Int64Range(0, int64(floor)), func(i int64) time.Duration { return time.Duration(i) }), 0, 2).Draw(t, "floors")
	}
	return m
}

// jittered reports whether a further jitter would be a fault.
func (m model) jittered() bool {
	if m.curve == "then" && (m.head.jittered() || m.tail.jittered()) {
		return true
	}
	return m.jitter != "" || m.curve == "decorrelated" || m.curve == "func"
}

// smallestCap is the smallest cap that is no fault.
func (m model) smallestCap() time.Duration {
	d := m.start()
	if m.jitter == "additive" {
		d = max(d, m.extra)
	}
	if m.curve == "then" {
		d = max(d, m.head.smallestCap(), m.tail.smallestCap())
	}
	for _, f := range m.floors {
		d = max(d, f)
	}
	return d
}

// greatestFloor is the greatest floor that is no fault.
func (m model) greatestFloor() time.Duration {
	d := longest
	for _, c := range m.caps {
		d = min(d, c)
	}
	if m.curve == "then" {
		d = min(d, m.head.greatestFloor(), m.tail.greatestFloor())
	}
	return d
}

// exactly reports whether the documentation promises the curve's value to the
// nanosecond: for a factor that is not whole it may be 1ns less.
func (m model) exactly() bool {
	if m.curve == "then" {
		return m.head.exactly() && m.tail.exactly()
	}
	return m.curve != "exponential" || m.factor == math.Trunc(m.factor)
}

func TestAWindowIsTheDocumentedOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := models(2).Draw(t, "model")
		s := m.build()
		require.NoError(t, s.Err())
		n, prev, u := numbers().Draw(t, "n"), time.Duration(rapid.Int64().Draw(t, "prev")), words().Draw(t, "u")
		if !m.exactly() {
			return
		}
		lo, hi := s.Bounds(n)
		wantLo, wantHi := m.window(n, longest)
		require.Equal(t, wantLo.Int64(), int64(lo), "lo")
		require.Equal(t, wantHi.Int64(), int64(hi), "hi")
		wantLo, wantHi = m.window(n, prev)
		require.Equal(t, draw(wantLo, wantHi, u), s.Delay(n, prev, u))
	})
}

func TestAPowerOfAnyFactorIsExactOrOneNanosecondLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := model{curve: "exponential", first: hostile().Draw(t, "first"), factor: factors().Draw(t, "factor")}
		n := numbers().Draw(t, "n")
		want, _ := m.window(n, 0)
		got := m.build().Delay(n, 0, 0)
		if m.exactly() {
			require.Equal(t, want.Int64(), int64(got))
			return
		}
		require.LessOrEqual(t, int64(got), want.Int64())
		require.GreaterOrEqual(t, int64(got), want.Int64()-1)
	})
}

func TestPowersAtTheEndOfWhatADurationHolds(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		first  time.Duration
		factor float64
		n      int
		want   time.Duration
	}{
		{1, 1 << 62, 2, 1 << 62},
		{1, 1 << 63, 2, longest},
		{2, 1 << 62, 2, longest},
		{1, 3, 40, 4052555153018976267}, // 3^39
		{1, 3, 41, longest},
		{2, 3, 40, 2 * 4052555153018976267},
		{3, 3, 40, longest},
		{longest, math.Nextafter(1, 2), 2, longest},
		{1, 2, 63, 1 << 62},
		{1, 2, 64, longest},
		{3, 2, 62, 3 << 61},
		{3, 2, 63, longest},
		{s, 1.5, 3, 2250 * time.Millisecond},
	} {
		require.Equal(t, c.want, backoff.Exponential(c.first, c.factor).Delay(c.n, 0, 0), "%v %v %v", c.first, c.factor, c.n)
	}
}

func TestADelayLiesInItsBoundsAndReachesBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := models(2).Draw(t, "model").build()
		n, prev := numbers().Draw(t, "n"), time.Duration(rapid.Int64().Draw(t, "prev"))
		lo, hi := s.Bounds(n)
		require.LessOrEqual(t, time.Duration(0), lo)
		require.LessOrEqual(t, lo, hi)
		d := s.Delay(n, prev, words().Draw(t, "u"))
		require.LessOrEqual(t, lo, d)
		require.True(t, d < hi || lo == hi && d == lo, "%v is not below %v", d, hi)
		require.Equal(t, lo, s.Delay(n, prev, 0))
		require.Equal(t, max(lo, hi-1), s.Delay(n, longest, math.MaxUint64))
		if !s.Random() {
			require.Equal(t, lo, hi)
		}
	})
}

func TestDecorrelatedReachesItsTopAfterTheGreatestEarlierWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := model{curve: "decorrelated", first: hostile().Draw(t, "first")}
		s, n := m.settle(t).build(), rapid.IntRange(2, 100).Draw(t, "n")
		_, before := s.Bounds(n - 1)
		lo, hi := s.Bounds(n)
		require.Equal(t, max(lo, hi-1), s.Delay(n, before, math.MaxUint64))
	})
}

func TestACurveWithoutJitterNeverFallsAndStaysAtTheCap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := model{
			curve: rapid.SampledFrom([]string{"constant", "linear", "exponential", "fibonacci"}).Draw(t, "curve"),
			first: hostile().Draw(t, "first"), step: hostile().Draw(t, "step"), factor: factors().Draw(t, "factor"),
		}
		top := time.Duration(rapid.Int64Range(int64(m.first), math.MaxInt64).Draw(t, "cap"))
		s := m.build().Cap(top)
		n := rapid.OneOf(rapid.IntRange(1, 200), rapid.IntRange(1, math.MaxInt-1)).Draw(t, "n")
		k := rapid.OneOf(rapid.Just(1), rapid.IntRange(1, math.MaxInt-n)).Draw(t, "later by")
		early, late := s.Delay(n, 0, 0), s.Delay(n+k, 0, 0)
		require.LessOrEqual(t, early, late)
		require.LessOrEqual(t, late, top)
	})
}

// alike fails unless both strategies give the same waits.
func alike(t *rapid.T, a, b backoff.Strategy) {
	n, prev, u := numbers().Draw(t, "n"), time.Duration(rapid.Int64().Draw(t, "prev")), words().Draw(t, "u")
	lo, hi := a.Bounds(n)
	lo2, hi2 := b.Bounds(n)
	require.Equal(t, []time.Duration{lo, hi}, []time.Duration{lo2, hi2})
	require.Equal(t, a.Delay(n, prev, u), b.Delay(n, prev, u))
	require.Equal(t, a.Err() == nil, b.Err() == nil)
	require.Equal(t, a.Random(), b.Random())
}

func TestTheOrderOfSettingsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.Int64().Draw(t, "d")) })
		top, low, extra := every.Draw(t, "cap"), every.Draw(t, "floor"), every.Draw(t, "extra")
		x := rapid.Float64Range(-1, 2).Draw(t, "fraction")
		set := map[string]func(backoff.Strategy) backoff.Strategy{
			"cap":   func(s backoff.Strategy) backoff.Strategy { return s.Cap(top) },
			"again": func(s backoff.Strategy) backoff.Strategy { return s.Cap(top / 2) },
			"floor": func(s backoff.Strategy) backoff.Strategy { return s.Floor(low) },
			"more":  func(s backoff.Strategy) backoff.Strategy { return s.Floor(low / 2) },
			"jitter": rapid.SampledFrom([]func(backoff.Strategy) backoff.Strategy{
				backoff.Strategy.FullJitter,
				backoff.Strategy.EqualJitter,
				func(s backoff.Strategy) backoff.Strategy { return s.ProportionalJitter(x) },
				func(s backoff.Strategy) backoff.Strategy { return s.AdditiveJitter(extra) },
				func(s backoff.Strategy) backoff.Strategy { return s.SpringJitter(extra) },
			}).Draw(t, "jitter"),
		}
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"cap", "again", "floor", "more", "jitter"}), 0, 5, rapid.ID[string]).Draw(t, "settings")
		other := rapid.Permutation(names).Draw(t, "other order")
		base := models(1).Draw(t, "model").build()
		a, b := base, base
		for i := range names {
			a, b = set[names[i]](a), set[other[i]](b)
		}
		alike(t, a, b)
	})
}

func TestOfSeveralCapsTheSmallestHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := models(2).Draw(t, "model").build()
		a, b := hostile().Draw(t, "a"), hostile().Draw(t, "b")
		alike(t, s.Cap(a).Cap(b), s.Cap(min(a, b)))
		alike(t, s.Floor(a).Floor(b), s.Floor(max(a, b)))
	})
}

func TestThenIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := models(1).Draw(t, "a").build(), models(1).Draw(t, "b").build(), models(1).Draw(t, "c").build()
		i, k := rapid.IntRange(0, 50).Draw(t, "i"), rapid.IntRange(0, 50).Draw(t, "k")
		alike(t, a.Then(i, b.Then(k, c)), a.Then(i, b).Then(i+k, c))
		alike(t, a.Then(i, b).Cap(longest), a.Cap(longest).Then(i, b.Cap(longest)))
	})
}

func TestSettingsOfAJoinedStrategyGoToEachPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, later := hostile().Draw(t, "a"), hostile().Draw(t, "b")
		top := time.Duration(rapid.Int64Range(int64(max(first, later)), math.MaxInt64).Draw(t, "cap"))
		low := time.Duration(rapid.Int64Range(0, int64(top)).Draw(t, "floor"))
		i := rapid.IntRange(0, 5).Draw(t, "i")
		a, b := backoff.Exponential(first, 2), backoff.Linear(later, 1)
		each := func(s backoff.Strategy) backoff.Strategy { return s.Cap(top).Floor(low).EqualJitter() }
		alike(t, each(a.Then(i, b)), each(a).Then(i, each(b)))
	})
}

func TestAListKeepsItsOwnCopy(t *testing.T) {
	waits := []time.Duration{1, 2, 3}
	s := backoff.List(waits...)
	slices.Reverse(waits)
	require.Equal(t, time.Duration(1), s.Delay(1, 0, 0))
	require.Equal(t, time.Duration(3), s.Delay(4, 0, 0))
}

func TestTheZeroStrategyWaitsForNothing(t *testing.T) {
	var s backoff.Strategy
	require.NoError(t, s.Err())
	require.False(t, s.Random())
	for _, n := range []int{math.MinInt, 0, 1, math.MaxInt} {
		require.Zero(t, s.Delay(n, longest, math.MaxUint64))
	}
}

// The means that the package documentation states, over all random words.
func TestTheMeansAreTheDocumentedOnes(t *testing.T) {
	const e, d = 10 * time.Second, 2 * time.Second
	for mean, s := range map[time.Duration]backoff.Strategy{
		e / 2:     backoff.Constant(e).FullJitter(),
		3 * e / 4: backoff.Constant(e).EqualJitter(),
		e:         backoff.Constant(e).ProportionalJitter(0.3),
		e + d/2:   backoff.Constant(e).AdditiveJitter(d),
		e + d/4:   backoff.Constant(e).SpringJitter(d / 2), // only lengthens
		2 * e:     backoff.Linear(e/2, 3*e/2).SpringJitter(d / 4),
		e / 4:     backoff.Decorrelated(e / 8),
	} {
		const words = 1 << 12
		var sum time.Duration
		for i := range uint64(words) {
			sum += s.Delay(wait(s), 0, i<<52|1<<51)
		}
		require.InDelta(t, int64(mean), int64(sum/words), float64(time.Millisecond), "%v", s)
	}
}

// wait is the wait whose mean is looked at: the second of a curve that grows.
func wait(s backoff.Strategy) int {
	if a, b := s.Delay(1, 0, 0), s.Delay(2, 0, 0); b > a {
		return 2
	}
	return 1
}
