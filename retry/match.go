package retry

import (
	"errors"
	"slices"
)

// A Matcher picks errors, for [Policy.On] and [Policy.Except]. It looks at the
// whole tree of an error: at what it wraps and at every error joined in it.
// Make one with [Is], [As] or [Match]; the zero Matcher is a fault.
type Matcher struct {
	match func(error) bool
	fault string // what is wrong with it, for Err
}

// Is matches an error whose tree holds one of the targets, as [errors.Is] does.
// No target, or a nil one, is a fault.
func Is(targets ...error) Matcher {
	m := Matcher{match: func(err error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}}
	targets = slices.Clone(targets)
	if len(targets) == 0 || slices.Contains(targets, nil) {
		m.fault = "Is has no error, or a nil one: want the errors to match"
	}
	return m
}

// As matches an error whose tree holds an E, as [errors.AsType] does.
func As[E error]() Matcher {
	return Matcher{match: func(err error) bool {
		_, ok := errors.AsType[E](err)
		return ok
	}}
}

// Match matches an error for which pred holds, or whose tree holds one: pred is
// asked of the error, then of what it wraps, until it says yes. To ask only of
// the error itself, use [Policy.If]. pred must be safe for concurrent use; a
// nil one is a fault.
func Match(pred func(error) bool) Matcher {
	if pred == nil {
		return Matcher{fault: "Match has a nil function: want one that picks errors"}
	}
	return Matcher{match: func(err error) bool { return inTree(err, pred) }}
}

// inTree reports whether pred holds for an error of the tree of err.
func inTree(err error, pred func(error) bool) bool {
	for err != nil && !pred(err) {
		if isNil(err) {
			return false
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			return slices.ContainsFunc(e.Unwrap(), func(err error) bool { return inTree(err, pred) })
		default:
			return false
		}
	}
	return err != nil
}

// Matches reports whether m matches err. A nil error matches nothing, and a matcher with
// a fault matches none.
func (m Matcher) Matches(err error) bool {
	return err != nil && m.fault == "" && m.match != nil && m.match(err)
}

// Err returns what is wrong with the matcher, or nil.
func (m Matcher) Err() error {
	switch {
	case m.fault != "":
		return errors.New("retry: " + m.fault)
	case m.match == nil:
		return errors.New("retry: a zero Matcher: want one made by Is, As or Match")
	}
	return nil
}

func anyMatches(ms []Matcher, err error) bool {
	for _, m := range ms {
		if m.match(err) {
			return true
		}
	}
	return false
}
