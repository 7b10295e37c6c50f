package backoff

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// curve says how the wait grows with the number of the retry.
type curve uint8

const (
	none curve = iota
	constant
	linear
	exponential
	fibonacci
	decorrelated
	list
	function
	then
)

// Constant waits d before every retry.
func Constant(d time.Duration) Strategy {
	return Strategy{curve: constant, first: d, faulty: d < 0, fixed: d >= 0}
}

// Linear waits first before the first retry and step longer before each
// further one: first + (n-1)·step, at most the greatest Duration.
func Linear(first, step time.Duration) Strategy {
	return Strategy{curve: linear, first: first, arg: uint64(step), faulty: first < 0 || step < 0}
}

// Exponential waits first before the first retry and factor times longer before
// each further one: ⌊first·factor^(n-1)⌋, at most the greatest Duration. factor
// is finite and at least 1.
//
// The power is computed in integers, on a mantissa of 128 bits that is cut, not
// rounded: for a whole factor the wait is exact; for another it is never above
// the exact value, at most 1ns below it, and never falls. Without a cap it
// doubling from 1ms passes an hour at the 23rd retry: most callers set
// [Strategy.Cap] and a jitter.
func Exponential(first time.Duration, factor float64) Strategy {
	return Strategy{
		curve: exponential, first: first, arg: math.Float64bits(factor),
		faulty: first < 0 || !(factor >= 1 && factor <= math.MaxFloat64),
	}
}

// Fibonacci waits first times 1, 1, 2, 3, 5, 8…: each wait is the sum of the
// two before it, at most the greatest Duration. It grows like an exponential
// with a factor of 1.618.
func Fibonacci(first time.Duration) Strategy {
	return Strategy{curve: fibonacci, first: first, faulty: first < 0}
}

// Decorrelated draws each wait from [first, 3·p), where p is the wait before
// it; the first is drawn from [first, 3·first). It is the decorrelated jitter of
// Marc Brooker, "Exponential Backoff and Jitter" (AWS Architecture Blog, 2015),
// with two differences: p is held to [first, first·3^(n-1)], so that Bounds
// holds whatever prev is given, and a cap clips the window instead of the drawn
// value, so that the waits do not pile up at the cap. It is random as it is: a
// further jitter is a fault.
func Decorrelated(first time.Duration) Strategy {
	return Strategy{curve: decorrelated, jitter: inBuilt, random: true, first: first, faulty: first < 0}
}

// List waits the given waits in their order, and repeats the last for every
// further retry. It keeps a copy of its argument.
func List(waits ...time.Duration) Strategy {
	s := Strategy{curve: list, more: &more{list: slices.Clone(waits)}}
	if len(waits) > 0 {
		s.first = waits[0]
	}
	s.faulty = len(waits) == 0 || slices.Min(waits) < 0
	return s
}

// Func waits what span says: exactly lo where lo == hi, else a wait drawn from
// [lo, hi). span gets the number of the retry, 1 or more; it must be pure and
// safe for concurrent use. A negative end reads as 0, and hi below lo as lo.
// Being a window already, it takes a cap and a floor, but no jitter.
func Func(span func(n int) (lo, hi time.Duration)) Strategy {
	return Strategy{curve: function, jitter: inBuilt, random: true, opaque: true, faulty: span == nil, more: &more{span: span}}
}

// Then takes the first waits from s and the rest from next, which starts from
// its own beginning. A cap, floor or jitter given to the joined strategy goes
// to each of its parts. waits is 0 or more.
func (s Strategy) Then(waits int, next Strategy) Strategy {
	return Strategy{
		curve: then, random: s.random || next.random, opaque: s.opaque || next.opaque,
		faulty: s.faulty || next.faulty || waits < 0,
		more: &more{
			waits: waits, head: s, tail: next,
			need: max(s.need(), next.need()), room: max(s.taken(), next.taken()), jittered: s.jittered() || next.jittered(),
		},
	}
}

// value returns wait n, from 1, of a curve that is one value and not a window.
func (s *Strategy) value(n int) time.Duration {
	switch s.curve {
	case constant:
		return s.first
	case linear:
		return sum(s.first, saturated(bits.Mul64(uint64(n-1), s.arg)))
	case exponential:
		return power(s.first, s.arg, n-1)
	case fibonacci:
		return saturated(bits.Mul64(uint64(s.first), fib[min(n, len(fib)-1)]))
	case list:
		return s.more.list[min(n, len(s.more.list))-1]
	default:
		return 0
	}
}
