package retry

import (
	"errors"
	"fmt"
	"strings"
)

// Err returns every fault of the policy's settings, joined (see [errors.Join]),
// each naming the setting, its value and what is wanted, and those of its
// strategy; nil where there is none. Faults are negative retries, a duration of
// 0 or less, On or Except without a matcher, a matcher without an error or
// function, a nil predicate, hook, random source or limiter, and what a limiter says is
// wrong with itself.
func (p Policy) Err() error {
	if p.plain() && p.backoff.Err() == nil {
		return nil
	}
	return p.faults()
}

func (p *Policy) faults() error {
	var all []error
	add := func(format string, args ...any) { all = append(all, fmt.Errorf("retry: "+format, args...)) }
	if n := p.maxRetries(); n < 0 {
		add("MaxRetries is %d: want 0 or more, or retry.Unlimited for no limit", n)
	}
	if err := p.backoff.Err(); err != nil {
		all = append(all, err)
	}
	if p.more != nil {
		p.more.faults(add)
	}
	return errors.Join(all...)
}

func (s *settings) faults(add func(format string, args ...any)) {
	if s.set&setMaxElapsed != 0 && s.maxElapsed <= 0 {
		add("MaxElapsed is %v: want more than 0, or leave it out for no limit", s.maxElapsed)
	}
	if s.set&setAttemptTimeout != 0 && s.attemptTimeout <= 0 {
		add("AttemptTimeout is %v: want more than 0, or leave it out for no limit", s.attemptTimeout)
	}
	if s.set&setHints != 0 && (s.hintMax < 0 || s.hintMax == 0 && s.hintMode != HintIgnore) {
		add("Hints: the longest wait is %v: want more than 0, or retry.HintIgnore to follow no hint", s.hintMax)
	}
	if s.hintMode > HintIgnore {
		add("Hints: the mode is %d: want HintRefuse, HintClamp or HintIgnore", s.hintMode)
	}
	s.matcherFaults("On", s.on, setOnNothing, add)
	s.matcherFaults("Except", s.except, setExceptNothing, add)
	for _, f := range s.ifs {
		if f == nil {
			add("If has a nil predicate: want a function, or leave If out")
		}
	}
	for _, f := range s.events {
		if f == nil {
			add("Events has a nil hook: want a function, or leave Events out")
		}
	}
	if s.set&setRand != 0 && s.rand == nil {
		add("Rand has a nil source: want a function, or leave Rand out for rand.Uint64")
	}
	if s.set&setLimit != 0 {
		if s.limiter == nil {
			add("Limit has a nil limiter: want one, such as budget.New(budget.Default()), or leave Limit out")
		} else if err := faultOf(s.limiter); err != nil {
			add("Limit: %w", err)
		}
	}
}

func (s *settings) matcherFaults(name string, ms []Matcher, nothing setting, add func(string, ...any)) {
	if s.set&nothing != 0 {
		add("%s has no matcher: want one or more, or leave %s out", name, name)
	}
	for _, m := range ms {
		if err := m.Err(); err != nil {
			add("%s: %s", name, strings.TrimPrefix(err.Error(), "retry: "))
		}
	}
}
