package backoff_test

import (
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
)

// model is a strategy as the package documentation describes it, in exact
// numbers of any size. It shares no code with the package.
type model struct {
	curve       string
	first, step time.Duration
	factor      float64
	list        []time.Duration
	span        func(n int) (lo, hi time.Duration)
	caps        []time.Duration
	floors      []time.Duration
	jitter      string
	fraction    float64
	extra       time.Duration
	waits       int // Then: how many waits head gives
	head, tail  *model
}

// build makes the real strategy.
func (m model) build() backoff.Strategy {
	s := m.buildCurve()
	switch m.jitter {
	case "full":
		s = s.FullJitter()
	case "equal":
		s = s.EqualJitter()
	case "proportional":
		s = s.ProportionalJitter(m.fraction)
	case "additive":
		s = s.AdditiveJitter(m.extra)
	case "spring":
		s = s.SpringJitter(m.extra)
	}
	for _, c := range m.caps {
		s = s.Cap(c)
	}
	for _, f := range m.floors {
		s = s.Floor(f)
	}
	return s
}

func (m model) buildCurve() backoff.Strategy {
	switch m.curve {
	case "constant":
		return backoff.Constant(m.first)
	case "linear":
		return backoff.Linear(m.first, m.step)
	case "exponential":
		return backoff.Exponential(m.first, m.factor)
	case "fibonacci":
		return backoff.Fibonacci(m.first)
	case "decorrelated":
		return backoff.Decorrelated(m.first)
	case "list":
		return backoff.List(m.list...)
	case "func":
		return backoff.Func(m.span)
	case "then":
		return m.head.build().Then(m.waits, m.tail.build())
	default:
		return backoff.Strategy{}
	}
}

var (
	huge = big.NewInt(math.MaxInt64)
	zero = new(big.Int)
)

func integer(d time.Duration) *big.Int { return big.NewInt(int64(d)) }
func least(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}
func most(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// share returns ⌊e·num/den⌋ for a number given as a fraction.
func share(e *big.Int, x *big.Rat) *big.Int {
	p := new(big.Int).Mul(e, x.Num())
	return p.Quo(p, x.Denom())
}

// start is the curve's first wait.
func (m model) start() time.Duration {
	if m.curve == "list" {
		return m.list[0]
	}
	return m.first
}

// value is the curve's wait n, of any size.
func (m model) value(n int) *big.Int {
	k := big.NewInt(int64(n) - 1)
	switch m.curve {
	case "constant":
		return integer(m.first)
	case "linear":
		return k.Add(k.Mul(k, integer(m.step)), integer(m.first))
	case "exponential":
		return m.power(n - 1)
	case "fibonacci":
		a, b := big.NewInt(0), big.NewInt(1)
		for i := 1; i < n && b.Cmp(huge) <= 0; i++ {
			a, b = b, new(big.Int).Add(a, b)
		}
		return b.Mul(b, integer(m.first))
	case "list":
		return integer(m.list[min(n, len(m.list))-1])
	default:
		return zero
	}
}

// power is ⌊first·factor^k⌋, exactly, or any number above the longest wait where
// it is above that.
func (m model) power(k int) *big.Int {
	if m.first == 0 || m.factor == 1 {
		return integer(m.first)
	}
	const steps = 3000
	exact := func(k int) *big.Int {
		x := new(big.Rat).SetFloat64(m.factor)
		num := new(big.Int).Exp(x.Num(), big.NewInt(int64(k)), nil)
		den := new(big.Int).Exp(x.Denom(), big.NewInt(int64(k)), nil)
		return share(integer(m.first), new(big.Rat).SetFrac(num, den))
	}
	if k <= steps && float64(k)*math.Log2(m.factor) < 70 {
		return exact(k)
	}
	// 400 bits are far more than the result has, however often they are squared.
	p, f := big.NewFloat(1).SetPrec(400), new(big.Float).SetPrec(400).SetFloat64(m.factor)
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			p.Mul(p, f)
		}
		if p.MantExp(nil) > 70 || f.MantExp(nil) > 70 && k > 1 {
			return new(big.Int).Lsh(huge, 1)
		}
		f.Mul(f, f)
	}
	i, _ := p.Mul(p, new(big.Float).SetInt(integer(m.first))).Int(nil)
	return i
}

// inside is the model as a part of a joined strategy, with what that hands down.
func (m model) inside(outer model) model {
	m.caps = slices.Concat(m.caps, outer.caps)
	m.floors = slices.Concat(m.floors, outer.floors)
	if m.jitter == "" {
		m.jitter, m.fraction, m.extra = outer.jitter, outer.fraction, outer.extra
	}
	return m
}

// window is the documented window of wait n after a wait of prev.
func (m model) window(n int, prev time.Duration) (lo, hi *big.Int) {
	n = max(n, 1)
	if m.curve == "then" {
		if n <= m.waits {
			return m.head.inside(m).window(n, prev)
		}
		return m.tail.inside(m).window(n-m.waits, prev)
	}
	ceiling := huge
	for _, c := range m.caps {
		ceiling = least(ceiling, integer(c))
	}
	lo, hi = m.unclipped(n, prev, ceiling)
	lo, hi = least(lo, ceiling), least(hi, ceiling)
	for _, f := range m.floors {
		lo, hi = most(lo, integer(f)), most(hi, integer(f))
	}
	return lo, hi
}

func (m model) unclipped(n int, prev time.Duration, ceiling *big.Int) (lo, hi *big.Int) {
	first := integer(m.start())
	add := func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }
	sub := func(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }
	switch m.curve {
	case "func":
		l, h := m.span(n)
		return integer(max(l, 0)), integer(max(h, l, 0))
	case "decorrelated":
		m.factor = 3
		p := most(first, least(integer(prev), m.power(n-1)))
		return first, new(big.Int).Mul(p, big.NewInt(3))
	}
	e := least(m.value(n), ceiling)
	switch d := integer(m.extra); m.jitter {
	case "full":
		return zero, e
	case "equal":
		return share(e, big.NewRat(1, 2)), e
	case "proportional":
		part := share(e, new(big.Rat).SetFloat64(m.fraction))
		return sub(e, part), add(e, part)
	case "additive":
		lo = least(e, sub(ceiling, d))
		return lo, add(lo, d)
	case "spring":
		if first.Sign() != 0 {
			d = share(d, new(big.Rat).SetFrac(e, first))
		}
		return most(sub(e, d), least(first, e)), add(e, d)
	default:
		return e, e
	}
}

// draw is the documented wait in a window for the random word u.
func draw(lo, hi *big.Int, u uint64) time.Duration {
	d := new(big.Int).Mul(new(big.Int).SetUint64(u), new(big.Int).Sub(hi, lo))
	return time.Duration(d.Add(d.Rsh(d, 64), lo).Int64())
}
