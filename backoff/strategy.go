package backoff

import (
	"math"
	"math/bits"
	"time"
)

// A Strategy says how long to wait before each retry: a curve over the number
// of the retry, clipped by a cap and a floor and spread by at most one jitter.
//
// It is a small immutable value: every refinement returns a changed copy. It is
// safe for concurrent use, and one value can serve any number of runs at once,
// for it keeps no count. The zero Strategy waits for nothing.
type Strategy struct {
	curve  curve
	jitter jitter
	faulty bool          // judge finds a fault
	random bool          // Delay reads its random word
	fixed  bool          // every wait is first: Delay need not look further
	opaque bool          // it has a Func in it, and so no text
	first  time.Duration // the curve's first wait
	arg    uint64        // Linear: the step; Exponential: the bits of the factor
	room   uint64        // MaxInt64 less the cap, so that the zero Strategy has none
	spread int64         // the jitter's argument: a duration, or minus the bits of a fraction
	more   *more         // what few strategies have
}

// more is the part of a Strategy that few have. It is never changed once a
// Strategy points to it.
type more struct {
	need       time.Duration // of the parts: the least cap that fits them
	room       uint64        // of the parts, as in Strategy: the greatest
	jittered   bool          // a part has a jitter
	floor      time.Duration
	list       []time.Duration                    // List
	span       func(n int) (lo, hi time.Duration) // Func
	waits      int                                // Then: how many are head's
	head, tail Strategy                           // Then
	second     []spreading                        // faults: the jitters after the first
}

// Delay returns the wait before retry n: n = 1 is the wait between the first
// call and the second, and n below 1 counts as 1.
//
// It is pure. u is a uniform random word, as rand.Uint64 gives it: the wait is
// lo + ⌊u·(hi-lo)/2⁶⁴⌋ over the window [lo, hi) that Bounds describes, in whole
// nanoseconds, so u = 0 gives lo and the greatest u gives hi - 1ns. prev is the
// wait that the strategy gave before (0 when there was none); only
// [Decorrelated] reads it. A strategy with a fault (see [Strategy.Err]) waits 0.
func (s Strategy) Delay(n int, prev time.Duration, u uint64) time.Duration {
	if s.fixed {
		return s.first
	}
	return s.delay(n, prev, u)
}

func (s *Strategy) delay(n int, prev time.Duration, u uint64) time.Duration {
	lo, hi := s.window(n, prev)
	drawn, _ := bits.Mul64(u, uint64(hi-lo))
	return lo + time.Duration(drawn)
}

// Bounds returns the window of Delay(n, prev, u) over every prev and u: Delay
// draws from lo (included) to hi (not included), and gives exactly lo where
// lo == hi. A wait that is neither jittered, nor [Decorrelated], nor a [Func]
// has lo == hi.
func (s Strategy) Bounds(n int) (lo, hi time.Duration) {
	return s.window(n, math.MaxInt64)
}

// Random reports whether Delay reads its random word: whether the strategy has
// a jitter, is [Decorrelated] or a [Func], or has such a part.
func (s Strategy) Random() bool { return s.random }

// settings are what a strategy does to its curve, and what a joined strategy
// hands down to its parts.
type settings struct {
	cap, floor time.Duration
	spreading
}

func (s *Strategy) settings() settings {
	set := settings{cap: s.capped(), spreading: spreading{s.jitter, s.spread}}
	if s.more != nil {
		set.floor = s.more.floor
	}
	return set
}

// capped returns the greatest wait; it is negative only as a fault.
func (s *Strategy) capped() time.Duration { return time.Duration(math.MaxInt64 - s.room) }

// under returns the settings of a part inside a strategy that has the outer ones.
func (set settings) under(outer settings) settings {
	set.cap = min(set.cap, outer.cap)
	set.floor = max(set.floor, outer.floor)
	if set.jitter == noJitter {
		set.spreading = outer.spreading
	}
	return set
}

// window is the whole strategy: the waits that Delay(n, prev, u) gives over all u.
func (s *Strategy) window(n int, prev time.Duration) (lo, hi time.Duration) {
	if s.faulty {
		return 0, 0
	}
	n = max(n, 1)
	set := settings{cap: longest}
	for s.curve == then {
		set = s.settings().under(set)
		s, n = s.part(n)
	}
	return s.leaf(n, prev, set)
}

// leaf is the window of a strategy that is not joined, inside the outer settings.
func (s *Strategy) leaf(n int, prev time.Duration, outer settings) (lo, hi time.Duration) {
	set := s.settings().under(outer)
	switch s.curve {
	case decorrelated:
		lo, hi = s.first, grown(s.first, n, prev)
	case function:
		lo, hi = s.more.span(n)
		lo = max(lo, 0)
		hi = max(hi, lo)
	default:
		lo, hi = set.around(min(s.value(n), set.cap), s.first, set.cap)
	}
	return max(min(lo, set.cap), set.floor), max(min(hi, set.cap), set.floor)
}

// part returns the part of a joined strategy that gives wait n, and which of
// its own waits that is.
func (s *Strategy) part(n int) (*Strategy, int) {
	if n <= s.more.waits {
		return &s.more.head, n
	}
	return &s.more.tail, n - s.more.waits
}
