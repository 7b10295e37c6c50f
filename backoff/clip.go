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
	s.faulty = s.faulty || max < s.need()
	s.fixed = s.fixed && !s.faulty
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
	if uint64(min) > uint64(m.floor) { // a negative one is great, and stays for Err to name
		m.floor = min
	}
	s.faulty = s.faulty || min < 0 || min > s.ceiling()
	s.fixed, s.more = false, m
	return s
}

// need returns the least cap that fits the strategy and its parts: their first
// waits, floors and additive jitters.
func (s *Strategy) need() time.Duration {
	need := max(s.first, 0)
	if s.jitter == additive {
		need = max(need, time.Duration(s.spread))
	}
	if s.more != nil {
		need = max(need, s.more.need, s.more.floor)
	}
	return need
}

// taken returns MaxInt64 less the smallest cap of the strategy and its parts.
func (s *Strategy) taken() uint64 {
	if s.more != nil {
		return max(s.room, s.more.room)
	}
	return s.room
}

// ceiling returns the smallest cap of the strategy and its parts.
func (s *Strategy) ceiling() time.Duration { return time.Duration(math.MaxInt64 - s.taken()) }

// jittered reports whether the strategy, or a part of it, can take no jitter more.
func (s *Strategy) jittered() bool {
	return s.jitter != noJitter || s.more != nil && s.more.jittered
}

func (s Strategy) copyMore() *more {
	if s.more == nil {
		return new(more)
	}
	m := *s.more
	return &m
}
