package property_test

import (
	"math/big"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
)

// curve describes a strategy, and is the slow model of its waits: every window
// in math/big, as the documentation of package backoff words it.
type curve struct {
	kind     string // "" waits for nothing
	first    time.Duration
	step     time.Duration   // linear
	factor   float64         // exp; its few powers here are exact
	list     []time.Duration // list
	spans    [2]span         // func: of odd and of even n
	parts    []curve         // then: two
	after    int             // then: waits of the first part
	cap      time.Duration   // 0: none
	floor    time.Duration
	jitter   string
	by       time.Duration // additive, spring
	fraction float64       // proportional
}

type span struct{ lo, hi time.Duration }

func whole(d time.Duration) *big.Int { return big.NewInt(int64(d)) }

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

// times returns ⌊a·f⌋ for the exact value of f.
func times(a *big.Int, f float64) *big.Int {
	product := new(big.Rat).Mul(new(big.Rat).SetInt(a), new(big.Rat).SetFloat64(f))
	return new(big.Int).Quo(product.Num(), product.Denom())
}

// value is the wait that the curve alone gives.
func (c curve) value(n int) *big.Int {
	switch c.kind {
	case "constant":
		return whole(c.first)
	case "linear":
		return new(big.Int).Add(whole(c.first), new(big.Int).Mul(whole(c.step), big.NewInt(int64(n-1))))
	case "exp":
		return c.power(n - 1)
	case "fibonacci":
		a, b := new(big.Int), whole(c.first)
		for range n - 1 {
			a, b = b, new(big.Int).Add(a, b)
		}
		return b
	case "list":
		return whole(c.list[min(n, len(c.list))-1])
	}
	return new(big.Int)
}

func (c curve) power(n int) *big.Int {
	product, f := new(big.Rat).SetInt(whole(c.first)), new(big.Rat).SetFloat64(c.factor)
	for range n {
		product.Mul(product, f)
	}
	return new(big.Int).Quo(product.Num(), product.Denom())
}

func (c curve) own() time.Duration { // the curve's own first wait
	if c.kind == "list" {
		return c.list[0]
	}
	return c.first
}

// window is where the wait before retry n is drawn from: [lo, hi), or exactly lo.
func (c curve) window(n int, prev time.Duration) (lo, hi time.Duration) {
	if c.kind == "then" {
		return c.part(&n).window(n, prev)
	}
	top := whole(longest)
	if c.cap > 0 {
		top = whole(c.cap)
	}
	l, h := c.spread(n, prev, top)
	l, h = most(least(l, top), whole(c.floor)), most(least(h, top), whole(c.floor))
	return time.Duration(l.Int64()), time.Duration(h.Int64())
}

// part is the part that gives wait n, with the settings of the whole.
func (c curve) part(n *int) curve {
	p := c.parts[0]
	if *n > c.after {
		p, *n = c.parts[1], *n-c.after
	}
	if c.cap > 0 && (p.cap == 0 || c.cap < p.cap) {
		p.cap = c.cap
	}
	p.floor = max(p.floor, c.floor)
	if c.jitter != "" {
		p.jitter, p.by, p.fraction = c.jitter, c.by, c.fraction
	}
	return p
}

// spread is the window before it is clipped.
func (c curve) spread(n int, prev time.Duration, top *big.Int) (lo, hi *big.Int) {
	switch c.kind {
	case "func":
		s := c.spans[n%2]
		return whole(max(s.lo, 0)), whole(max(s.lo, s.hi, 0))
	case "decorrelated":
		greatest := curve{kind: "exp", first: c.first, factor: 3}.value(n)
		p := most(least(whole(prev), greatest), whole(c.first))
		return whole(c.first), p.Mul(p, big.NewInt(3))
	}
	e, add, sub := least(c.value(n), top), new(big.Int).Add, new(big.Int).Sub
	switch c.jitter {
	case "full":
		return new(big.Int), e
	case "equal":
		return new(big.Int).Quo(e, big.NewInt(2)), e
	case "proportional":
		p := times(e, c.fraction)
		return sub(e, p), new(big.Int).Add(e, p)
	case "additive":
		h := least(add(e, whole(c.by)), top)
		return sub(h, whole(c.by)), h
	case "spring":
		j := whole(c.by)
		if c.own() > 0 {
			j.Mul(j, e).Quo(j, whole(c.own()))
		}
		return most(sub(e, j), least(whole(c.own()), e)), add(e, j)
	}
	return e, e
}

// wait is the wait before retry n, by the random word u.
func (c curve) wait(n int, prev time.Duration, u uint64) time.Duration {
	lo, hi := c.window(n, prev)
	part := new(big.Int).Mul(new(big.Int).SetUint64(u), whole(hi-lo))
	return lo + time.Duration(part.Rsh(part, 64).Int64())
}

func (c curve) random() bool {
	for _, p := range c.parts {
		if p.random() {
			return true
		}
	}
	return c.jitter != "" || c.kind == "decorrelated" || c.kind == "func"
}

// strategy is what the description describes.
func (c curve) strategy() backoff.Strategy {
	s := c.bare()
	if c.cap > 0 {
		s = s.Cap(c.cap)
	}
	if c.floor > 0 {
		s = s.Floor(c.floor)
	}
	switch c.jitter {
	case "full":
		return s.FullJitter()
	case "equal":
		return s.EqualJitter()
	case "proportional":
		return s.ProportionalJitter(c.fraction)
	case "additive":
		return s.AdditiveJitter(c.by)
	case "spring":
		return s.SpringJitter(c.by)
	}
	return s
}

func (c curve) bare() backoff.Strategy {
	switch c.kind {
	case "constant":
		return backoff.Constant(c.first)
	case "linear":
		return backoff.Linear(c.first, c.step)
	case "exp":
		return backoff.Exponential(c.first, c.factor)
	case "fibonacci":
		return backoff.Fibonacci(c.first)
	case "decorrelated":
		return backoff.Decorrelated(c.first)
	case "list":
		return backoff.List(c.list...)
	case "func":
		spans := c.spans
		return backoff.Func(func(n int) (lo, hi time.Duration) { return spans[n%2].lo, spans[n%2].hi })
	case "then":
		return c.parts[0].strategy().Then(c.after, c.parts[1].strategy())
	}
	return backoff.Strategy{}
}
