package backoff

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Err returns every fault of the strategy's settings, joined (see
// [errors.Join]), each naming the setting, its value and what is wanted; nil
// where there is none. Faults are a negative duration, a factor that is not
// finite or below 1, a fraction outside [0, 1], a cap below the curve's first
// wait, a floor above the cap, an additive jitter above the cap, an empty List,
// a nil Func, a negative number of waits before Then, and a second jitter or one
// on Decorrelated or Func.
func (s Strategy) Err() error {
	if !s.faulty {
		return nil
	}
	return s.judge()
}

// judge names the faults.
func (s *Strategy) judge() error {
	f := faults{known: map[string]bool{}}
	f.strategy(s, settings{cap: longest}, nil)
	return errors.Join(f.errs...)
}

// faults is what judge has found so far.
type faults struct {
	errs  []error
	known map[string]bool // by their text: one fault of a joined strategy can show in each part
}

func (f *faults) add(format string, args ...any) {
	err := fmt.Errorf("backoff: "+format, args...)
	if !f.known[err.Error()] {
		f.known[err.Error()] = true
		f.errs = append(f.errs, err)
	}
}

func (f *faults) negative(d time.Duration, setting string) {
	if d < 0 {
		f.add("%s is %v: want 0 or more", setting, d)
	}
}

// strategy finds the faults of s inside a strategy with the outer settings and
// jitters.
func (f *faults) strategy(s *Strategy, outer settings, jitters []spreading) {
	own := s.settings()
	f.negative(own.cap, "Cap")
	f.negative(own.floor, "Floor")
	jitters = f.jitters(s, jitters)
	all := own.under(outer)
	if s.curve == then {
		if s.more.waits < 0 {
			f.add("Then comes after %d waits: want 0 or more", s.more.waits)
		}
		f.strategy(&s.more.head, all, jitters)
		f.strategy(&s.more.tail, all, jitters)
		return
	}
	f.curve(s)
	f.fit(s, all, jitters)
}

// curve finds the faults of the curve itself.
func (f *faults) curve(s *Strategy) {
	if s.first < 0 && s.curve != list {
		f.add("%v: the first wait is %v: want 0 or more", s.curve, s.first)
	}
	switch s.curve {
	case linear:
		f.negative(time.Duration(s.arg), "Linear: the step")
	case exponential:
		if factor := math.Float64frombits(s.arg); !(factor >= 1 && factor <= math.MaxFloat64) {
			f.add("Exponential: the factor is %v: want a finite number of at least 1", factor)
		}
	case list:
		if len(s.more.list) == 0 {
			f.add("List has no waits: want one or more")
		}
		for i, d := range s.more.list {
			if d < 0 {
				f.add("List: wait %d is %v: want 0 or more", i+1, d)
			}
		}
	case function:
		if s.more.span == nil {
			f.add("Func has a nil function: want one that returns a window")
		}
	}
}

// fit finds where the settings of a part do not fit each other.
func (f *faults) fit(s *Strategy, set settings, jitters []spreading) {
	if set.cap < 0 {
		return // it fits nothing, and is named already
	}
	if set.cap < s.first {
		f.add("Cap is %v, below the first wait of %v, %v: want a cap of at least that, or a shorter first wait", set.cap, s.curve, s.first)
	}
	if set.floor > set.cap {
		f.add("Floor is %v, above the cap of %v: want a floor of at most that", set.floor, set.cap)
	}
	for _, j := range jitters {
		if d := time.Duration(j.spread); j.jitter == additive && d > set.cap {
			f.add("AdditiveJitter is %v, above the cap of %v: want a jitter of at most that", d, set.cap)
		}
	}
}

// jitters finds the faults of the jitters of s inside a strategy that has the
// outer ones, and returns all of them.
func (f *faults) jitters(s *Strategy, outer []spreading) []spreading {
	all := slices.Clip(outer)
	if s.jitter != noJitter && s.jitter != inBuilt {
		all = append(all, spreading{s.jitter, s.spread})
	}
	if s.more != nil {
		all = append(all, s.more.second...)
	}
	var names []string
	for _, j := range all {
		f.spread(j)
		names = append(names, j.jitter.String())
	}
	switch has := strings.Join(names, " and "); {
	case s.jitter == inBuilt && len(all) > 0:
		f.add("%v has %s: want no jitter, for it is a window already", s.curve, has)
	case len(all) > 1 && len(all) > len(outer):
		f.add("%v has %s: want one jitter", s.curve, has)
	}
	return all
}

// spread finds the faults of one jitter's argument.
func (f *faults) spread(j spreading) {
	switch j.jitter {
	case additive, spring:
		f.negative(time.Duration(j.spread), j.jitter.String())
	case proportional:
		if x := math.Float64frombits(uint64(-j.spread)); !(x >= 0 && x <= 1) {
			f.add("ProportionalJitter: the fraction is %v: want 0 to 1", x)
		}
	}
}

func (c curve) String() string {
	return [...]string{"none", "Constant", "Linear", "Exponential", "Fibonacci", "Decorrelated", "List", "Func", "Then"}[c]
}

func (j jitter) String() string {
	return [...]string{"none", "FullJitter", "EqualJitter", "ProportionalJitter", "AdditiveJitter", "SpringJitter", "none"}[j]
}
