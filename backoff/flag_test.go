package backoff

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// anything draws strategies of every kind with any settings, faulty or not.
func anything(depth int) *rapid.Generator[Strategy] {
	return rapid.Custom(func(t *rapid.T) Strategy {
		d := rapid.OneOf(rapid.Int64Range(-2, 5), rapid.Int64())
		wait := func(name string) time.Duration { return time.Duration(d.Draw(t, name)) }
		number := rapid.SampledFrom([]float64{-1, 0, 0.5, 1, 2, math.NaN(), math.Inf(1)})
		curves := []func() Strategy{
			func() Strategy { return Strategy{} },
			func() Strategy { return Constant(wait("wait")) },
			func() Strategy { return Linear(wait("first"), wait("step")) },
			func() Strategy { return Exponential(wait("first"), number.Draw(t, "factor")) },
			func() Strategy { return Fibonacci(wait("first")) },
			func() Strategy { return Decorrelated(wait("first")) },
			func() Strategy { return List(make([]time.Duration, rapid.IntRange(0, 2).Draw(t, "waits"))...) },
			func() Strategy { return List(wait("first"), wait("second")) },
			func() Strategy { return Func(nil) },
			func() Strategy { return Func(func(int) (lo, hi time.Duration) { return 5, -5 }) },
		}
		if depth > 0 {
			curves = append(curves, func() Strategy {
				return anything(depth-1).Draw(t, "head").Then(rapid.IntRange(-1, 2).Draw(t, "waits"), anything(depth-1).Draw(t, "tail"))
			})
		}
		s := curves[rapid.IntRange(0, len(curves)-1).Draw(t, "curve")]()
		for range rapid.IntRange(0, 3).Draw(t, "settings") {
			s = []func() Strategy{
				func() Strategy { return s.Cap(wait("cap")) },
				func() Strategy { return s.Floor(wait("floor")) },
				s.FullJitter,
				func() Strategy { return s.ProportionalJitter(number.Draw(t, "fraction")) },
				func() Strategy { return s.AdditiveJitter(wait("extra")) },
				func() Strategy { return s.SpringJitter(wait("extra")) },
			}[rapid.IntRange(0, 5).Draw(t, "setting")]()
		}
		return s
	})
}

// The refinements keep a flag, and the judge names the faults: the two agree.
func TestTheFlagSaysWhatTheJudgeFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anything(3).Draw(t, "strategy")
		require.Equal(t, s.judge() != nil, s.faulty, "%v", s)
	})
}

// A product keeps the top 128 bits of the exact one.
func TestAProductIsCutAndNotRounded(t *testing.T) {
	word := rapid.OneOf(rapid.SampledFrom([]uint64{0, 1, math.MaxUint64, 1 << 63, 1<<63 - 1}), rapid.Uint64())
	draw := func(t *rapid.T, name string) float {
		return float{hi: word.Draw(t, name+" high") | 1<<63, lo: word.Draw(t, name+" low"), exp: rapid.IntRange(0, 70).Draw(t, name+" exponent")}
	}
	whole := func(f float) *big.Int {
		i := new(big.Int).SetUint64(f.hi)
		return i.Add(i.Lsh(i, 64), new(big.Int).SetUint64(f.lo))
	}
	rapid.Check(t, func(t *rapid.T) {
		f, g := draw(t, "f"), draw(t, "g")
		exact := new(big.Int).Mul(whole(f), whole(g))
		shifted := exact.BitLen() - 128
		p := f.times(g)
		require.Equal(t, exact.Rsh(exact, uint(shifted)), whole(p))
		require.Equal(t, p.exp, f.exp+g.exp+shifted-127)
	})
}
