package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEventsComeInTheOrderOfTimeAndThenOfAsking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type asked struct{ at, number int }
		var want, got []asked
		s := New(1)
		var ask func(delay int)
		ask = func(delay int) {
			a := asked{int(s.Now()) + delay, len(want)}
			want = append(want, a)
			s.After(time.Duration(delay), func() {
				require.Equal(t, a.at, int(s.Now()))
				got = append(got, a)
				if len(want) < 60 && a.number%3 == 0 { // some events have others follow
					ask(a.number % 5)
					ask(0)
				}
			})
		}
		for _, delay := range rapid.SliceOfN(rapid.IntRange(0, 9), 1, 40).Draw(t, "delays") {
			ask(delay)
		}
		s.RunAll()
		slices.SortStableFunc(want, func(a, b asked) int { return a.at - b.at })
		require.Equal(t, want, got)
	})
}

func TestARunEndsBeforeItsEnd(t *testing.T) {
	s := New(1)
	var got []time.Duration
	for _, d := range []time.Duration{3, 1, 2, -1} {
		s.After(d, func() { got = append(got, s.Now()) })
	}
	s.Run(2)
	assert.Equal(t, []time.Duration{0, 1}, got, "what is due at 2 is not due before it")
	assert.Equal(t, time.Duration(2), s.Now())
	s.Run(10)
	assert.Equal(t, []time.Duration{0, 1, 2, 3}, got)
}

func TestSourcesAreSeededAndDoNotDisturbOneAnother(t *testing.T) {
	a, b := New(7), New(7)
	first := a.Source().Uint64()
	other := b.Source()
	for range 100 {
		other.Uint64()
	}
	assert.Equal(t, a.Source().Uint64(), b.Source().Uint64(), "the second source")
	assert.NotEqual(t, first, New(8).Source().Uint64())
}

// The gaps of a Poisson process of rate r have the mean 1/r and the deviation 1/r.
func TestTheLoadIsPoisson(t *testing.T) {
	s := New(1)
	var seconds [2000]float64
	s.Poisson(100, func() { seconds[s.Now()/time.Second]++ })
	s.Run(time.Duration(len(seconds)) * time.Second)
	mean, square := 0., 0.
	for _, n := range seconds {
		mean += n / float64(len(seconds))
		square += n * n / float64(len(seconds))
	}
	assert.InDelta(t, 100, mean, 1)
	assert.InDelta(t, 100, square-mean*mean, 12, "the variance of counts is their mean")
}
