package backoff

import (
	"math"
	"time"
)

// Cap holds every wait to at most max. The curve's value is held to it before
// the jitter makes a window of it, and then the window is clipped to it, so a
// wait is never above max, and a jittered one stays spread at it. Of several
// caps the smallest holds. max is not below the curve's first wait.
func (s Strategy) Cap(max time.Duration) Strategy {
	s.suspect = s.suspect || s.wary || max < s.first || int64(max) < s.spread
	s.fixed = s.fixed && !s.suspect
	if room := math.MaxInt64 - uint64(max); room > s.room {
		s.room = room
	}
	return s
}

// Floor holds every wait to at least min: the window is clipped to it, so where
// the whole window lies below min the wait is exactly min. Of several floors the
// greatest holds. min is not above the cap.
func (s Strategy) Floor(min time.Duration) Strategy {
	m := s.copyMore()
	if m.floor >= 0 && (min > m.floor || min < 0) { // a negative one stays, for Err to name
		m.floor = min
	}
	s.suspect = s.suspect || s.wary || min < 0 || min > s.capped()
	s.wary, s.fixed, s.more = true, false, m
	return s
}

func (s Strategy) copyMore() *more {
	if s.more == nil {
		return new(more)
	}
	m := *s.more
	return &m
}
