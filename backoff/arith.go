package backoff

import (
	"math"
	"math/bits"
	"time"
)

const longest = math.MaxInt64 // the greatest time.Duration, about 292 years

// saturated returns the 128-bit product hi·2⁶⁴ + lo, at most the longest wait.
func saturated(hi, lo uint64) time.Duration {
	if hi != 0 || lo > longest {
		return longest
	}
	return time.Duration(lo)
}

// times returns d·n, at most the longest wait. Neither is negative.
func times(d time.Duration, n int) time.Duration {
	return saturated(bits.Mul64(uint64(d), uint64(n)))
}

// sum returns a + b, at most the longest wait. Neither is negative.
func sum(a, b time.Duration) time.Duration {
	return saturated(0, uint64(a)+uint64(b))
}

// fib holds the Fibonacci numbers that fit a Duration, and one more.
var fib = func() (f [94]uint64) {
	f[1] = 1
	for i := 2; i < len(f); i++ {
		f[i] = f[i-1] + f[i-2]
	}
	return f
}()

// grown returns the greatest wait that Decorrelated can give before retry n
// when it gave prev before: three times prev, held to [first, first·3^(n-1)].
func grown(first time.Duration, n int, prev time.Duration) time.Duration {
	three := math.Float64bits(3)
	prev = max(first, min(prev, power(first, three, n-1)))
	return saturated(bits.Mul64(uint64(prev), 3))
}

// power returns ⌊first·factor^k⌋, at most the longest wait, for a factor given
// by its bits, finite and at least 1. It computes no floats, so that the result
// is the same on every machine (Go may fuse a float multiplication and addition).
func power(first time.Duration, factor uint64, k int) time.Duration {
	const two = 1 << 62 // the bits of 2.0
	switch {
	case first == 0 || k == 0:
		return first
	case factor != two:
		return raise(factor, uint(k)).of(first)
	case k < bits.LeadingZeros64(uint64(first)):
		return first << k
	default:
		return longest
	}
}

// float is a number of at least 1: (hi·2⁶⁴ + lo)/2¹²⁷ · 2^exp, with the top bit
// of hi set. Products are cut to its 128 bits, so that they are never too great.
type float struct {
	hi, lo uint64
	exp    int
}

// raise returns factor^k for k > 0, by squaring from the top bit of k on. It
// stops where the power has passed 2⁶³, which no Duration reaches.
//
// Each product loses less than one part in 2¹²⁷ and a square doubles the loss,
// so the power is low by less than k parts in 2¹²⁷. A factor above 1 is at least
// 1 + 2⁻⁵², which is more than that for every int k: a later power is never the
// lower one. And a wait, being below 2⁶³ns, is low by less than 1ns before it is
// rounded down.
func raise(factor uint64, k uint) float {
	const fraction = 52 // bits of a float64's fraction
	f := float{hi: (factor | 1<<fraction) << (63 - fraction), exp: int(factor>>fraction) - 1023}
	p := f
	for bit := bits.Len(k) - 2; bit >= 0 && p.exp < 63; bit-- {
		p = p.times(p)
		if k>>bit&1 == 1 {
			p = p.times(f)
		}
	}
	return p
}

func (f float) times(g float) float {
	p3, a2 := bits.Mul64(f.hi, g.hi)
	b2, b1 := bits.Mul64(f.hi, g.lo)
	c2, c1 := bits.Mul64(f.lo, g.hi)
	d1, _ := bits.Mul64(f.lo, g.lo)
	p1, carry1 := bits.Add64(b1, c1, 0)
	p2, carry2 := bits.Add64(a2, b2, carry1)
	p3 += carry2
	p1, carry1 = bits.Add64(p1, d1, 0)
	p2, carry2 = bits.Add64(p2, c2, carry1)
	p3 += carry2
	if p3>>63 == 1 {
		return float{p3, p2, f.exp + g.exp + 1}
	}
	return float{p3<<1 | p2>>63, p2<<1 | p1>>63, f.exp + g.exp}
}

// of returns ⌊f·d⌋, at most the longest wait, for d > 0.
func (f float) of(d time.Duration) time.Duration {
	if f.exp >= 63 {
		return longest
	}
	top, mid := bits.Mul64(uint64(d), f.hi)
	low, _ := bits.Mul64(uint64(d), f.lo)
	mid, carry := bits.Add64(mid, low, 0)
	top += carry
	return saturated(shift(top, mid, uint(63-f.exp)))
}

// shift returns the 128-bit number hi·2⁶⁴ + lo shifted right by n.
func shift(hi, lo uint64, n uint) (uint64, uint64) {
	if n >= 64 {
		return 0, hi >> (n - 64)
	}
	return hi >> n, hi<<(64-n) | lo>>n
}
