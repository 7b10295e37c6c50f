package backoff

import (
	"sort"
	"time"
)

// patience is how many different waits Total adds up one by one.
const patience = 1 << 16

// Total returns the window of the sum of the first waits, at most the longest
// Duration: the sums of the lower and of the upper ends of Bounds(1) to
// Bounds(waits). It is 0 for waits of 0 or less.
//
// Waits that stay the same, as at a cap, are one multiplication, so a number of
// waits as great as math.MaxInt is no matter. Only for a curve that still grows
// after 65,536 different waits is the window wider than the sums, never narrower;
// a [Func] is taken to stay as it is from its wait 65,536 on.
func (s Strategy) Total(waits int) (lo, hi time.Duration) {
	if s.faulty {
		return 0, 0
	}
	return s.total(max(waits, 0), settings{cap: longest})
}

func (s *Strategy) total(waits int, outer settings) (lo, hi time.Duration) {
	if waits == 0 {
		return 0, 0
	}
	if s.curve == then {
		set := s.settings().under(outer)
		head := min(waits, s.more.waits)
		lo, hi = s.more.head.total(head, set)
		lo2, hi2 := s.more.tail.total(waits-head, set)
		return sum(lo, lo2), sum(hi, hi2)
	}
	least := func(n int) time.Duration { lo, _ := s.leaf(n, longest, outer); return lo }
	most := func(n int) time.Duration { _, hi := s.leaf(n, longest, outer); return hi }
	return s.add(least, waits, false), s.add(most, waits, true)
}

// settles returns from which wait on the curve does not fall.
func (s *Strategy) settles() int {
	switch s.curve {
	case list:
		return len(s.more.list)
	case function:
		return patience
	default:
		return 1
	}
}

// add returns the sum of wait(1) to wait(n), which are an end of the waits of s.
// Where they go on growing for too long, the rest is taken for as long as its last
// (if up), or as its first, as a Func's always is.
func (s *Strategy) add(wait func(int) time.Duration, n int, up bool) (total time.Duration) {
	settles := s.settles()
	for left, different := n, 0; left > 0 && total < longest; different++ {
		i := n - left + 1
		d, same := wait(i), 1
		switch {
		case i < settles:
		case s.curve == function:
			same = left
		case times(d, left) == longest:
			return longest // the later ones are no shorter
		case different >= settles+patience && up:
			d, same = wait(n), left
		case different >= settles+patience:
			same = left
		default:
			same = run(wait, i, left)
		}
		total = sum(total, times(d, same))
		left -= same
	}
	return total
}

// run returns how many of the next waits from wait(i) on, which do not fall, are
// equal to it.
func run(wait func(int) time.Duration, i, next int) int {
	d, same := wait(i), 1
	for same < next && wait(i+same) == d {
		same += min(same, next-same) // twice as many, at most next
	}
	return sort.Search(same, func(k int) bool { return wait(i+k) != d })
}
