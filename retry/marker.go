package retry

import (
	"reflect"
	"time"
)

// Permanent marks err as one that no retry can help: a run that gets it, at any
// depth of the error, ends at once with reason [NotRetryable]. The caller of the
// run gets err itself, without the mark, where the mark is outermost; below
// other wrapping it stays, and an outer retry sees it too. The marked error has
// the text of err and unwraps to it. Permanent(nil) is nil.
//
// An error type of your own is permanent with a method Permanent() bool that
// returns true; it is not asked of a nil pointer.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

type permanent struct{ error }

func (p *permanent) Unwrap() error { return p.error }

// After marks err with a hint: the next call should be made no sooner than d
// from now, as a server says with Retry-After (RFC 9110, section 10.2.3). How
// far a run follows it is set by [Policy.Hints]. A d of 0 or less is no hint.
// The caller of the run gets err itself, without the mark, where the mark is
// outermost. The marked error has the text of err and unwraps to it.
// After(d, nil) is nil.
//
// An error type of your own gives a hint with a method
// RetryAfter() (time.Duration, bool), where false means none; it is not asked of a
// nil pointer. Of several hints in one error the greatest counts.
func After(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &after{err, d}
}

type after struct {
	error
	wait time.Duration
}

func (a *after) Unwrap() error                     { return a.error }
func (a *after) RetryAfter() (time.Duration, bool) { return a.wait, true }

// unmarked returns err without the marks that are outermost.
func unmarked(err error) error {
	for {
		switch e := err.(type) {
		case *permanent:
			err = e.error
		case *after:
			err = e.error
		default:
			return err
		}
	}
}

// hinter is an error that says when to call again, lasting one that says never.
type (
	hinter  interface{ RetryAfter() (time.Duration, bool) }
	lasting interface{ Permanent() bool }
)

// inspect walks the tree of err once: is a Permanent in it, and which is the
// greatest hint. (errors.As would walk it twice, and allocate; one switch over
// all cases is one look-up an error.)
func inspect(err error) (isPermanent bool, hint time.Duration) {
	switch e := err.(type) {
	case nil:
		return false, 0
	case *permanent:
		return true, 0 // hints no longer matter
	case hinter, lasting, interface{ Unwrap() error }, interface{ Unwrap() []error }:
		return inspectTree(e)
	default:
		return false, 0
	}
}

// inspectTree is inspect for an error that wraps others or speaks for itself. A
// nil pointer does neither.
func inspectTree(err error) (isPermanent bool, hint time.Duration) {
	if isNil(err) {
		return false, 0
	}
	if e, ok := err.(lasting); ok && e.Permanent() {
		return true, 0
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		isPermanent, hint = inspect(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			p, d := inspect(err)
			isPermanent, hint = isPermanent || p, max(hint, d)
		}
	}
	if e, ok := err.(hinter); ok {
		if d, ok := e.RetryAfter(); ok {
			hint = max(hint, d)
		}
	}
	return isPermanent, hint
}

// isNil reports whether err is a nil pointer, whose methods may not be called.
func isNil(err error) bool {
	v := reflect.ValueOf(err)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
