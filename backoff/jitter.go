package backoff

import (
	"math"
	"math/bits"
	"time"
)

// jitter says how a wait is spread over a window.
type jitter uint8

const (
	noJitter jitter = iota
	full
	equal
	proportional
	additive
	spring
	inBuilt // the curve is a window of its own: Decorrelated, Func
)

// spreading is a jitter and its argument.
type spreading struct {
	jitter jitter
	spread int64
}

// FullJitter draws each wait from [0, e), where e is the curve's value: half of
// it on average. It spreads many clients the most and needs the fewest calls
// (Marc Brooker, "Exponential Backoff and Jitter", 2015), at the price that a
// wait can be nearly nothing; [Strategy.Floor] and EqualJitter bound it below.
func (s Strategy) FullJitter() Strategy { return s.with(full, 0) }

// EqualJitter draws each wait from [⌊e/2⌋, e), where e is the curve's value:
// three quarters of it on average, and never less than half of it.
func (s Strategy) EqualJitter() Strategy { return s.with(equal, 0) }

// ProportionalJitter draws each wait from [e-⌊e·fraction⌋, e+⌊e·fraction⌋),
// where e is the curve's value: e on average. fraction is from 0 to 1; gRPC
// uses 0.2 (proposal A6, as changed in 2024). At the cap the window is its lower
// half.
func (s Strategy) ProportionalJitter(fraction float64) Strategy {
	s.faulty = s.faulty || !(fraction >= 0 && fraction <= 1)
	return s.with(proportional, -int64(math.Float64bits(fraction)))
}

// AdditiveJitter draws each wait from [e, e+d), where e is the curve's value: not
// earlier than the curve says, but where the window would pass the cap. There it
// is moved down as a whole, to [cap-d, cap). d is not negative and not above the cap.
func (s Strategy) AdditiveJitter(d time.Duration) Strategy {
	s.faulty = s.faulty || d < 0 || d > s.ceiling()
	return s.with(additive, int64(d))
}

// SpringJitter draws each wait by the law of Spring Framework 7 (its
// ExponentialBackOff with a jitter of d): from [max(e-j, min(first, e)), e+j),
// where e is the curve's value and j = ⌊d·e/first⌋, or d where first is 0; only
// the product is rounded, and to nanoseconds. The first wait, and every wait of a
// constant curve, is only ever lengthened. d is not negative.
func (s Strategy) SpringJitter(d time.Duration) Strategy {
	s.faulty = s.faulty || d < 0
	return s.with(spring, int64(d))
}

// with gives the strategy its one jitter. A second is kept for Err to name.
func (s Strategy) with(j jitter, spread int64) Strategy {
	if s.jitter != noJitter {
		return s.withSecond(spreading{j, spread})
	}
	s.faulty = s.faulty || s.jittered()
	s.jitter, s.spread, s.random, s.fixed = j, spread, true, false
	return s
}

//go:noinline
func (s Strategy) withSecond(j spreading) Strategy {
	m := s.copyMore()
	m.second = append(m.second[:len(m.second):len(m.second)], j)
	s.more, s.faulty = m, true
	return s
}

// around returns the window of the jitter around the curve's value e, which is
// already held to the cap. Only its upper end can still pass the cap.
func (j spreading) around(e, first, cap time.Duration) (lo, hi time.Duration) {
	switch j.jitter {
	case full:
		return 0, e
	case equal:
		return e / 2, e
	case proportional:
		d := part(e, -j.spread)
		return e - d, sum(e, d)
	case additive:
		d := time.Duration(j.spread)
		lo = min(e, cap-d)
		return lo, lo + d
	case spring:
		d := scaled(time.Duration(j.spread), e, first)
		return max(e-d, min(first, e)), sum(e, d)
	default:
		return e, e
	}
}

// part returns ⌊d·fraction⌋ for a fraction from 0 to 1 given by its bits.
func part(d time.Duration, fraction int64) time.Duration {
	const size = 52 // bits of a float64's fraction
	mantissa := uint64(fraction)&(1<<size-1) | 1<<size
	exponent := uint64(fraction) >> size & (1<<11 - 1)
	hi, lo := bits.Mul64(uint64(d), mantissa)
	_, lo = shift(hi, lo, uint(1023+size-exponent))
	return time.Duration(lo)
}

// scaled returns ⌊d·e/first⌋, at most the longest wait, and d where first is 0.
func scaled(d, e, first time.Duration) time.Duration {
	if first == 0 {
		return d
	}
	hi, lo := bits.Mul64(uint64(d), uint64(e))
	if hi >= uint64(first) {
		return longest
	}
	lo, _ = bits.Div64(hi, lo, uint64(first))
	return saturated(0, lo)
}
