package retry

import (
	"errors"
	"reflect"
	"time"
)

// Permanent marks err as one that no retry can help: a run that gets it, at any
// depth of the error, ends at once with reason [NotRetryable]. The caller of the
// run gets err itself, without the mark, where the mark is outermost; below
// other wrapping it stays, and an outer retry sees it too. The marked error has
// the text of err and unwraps to it. Permanent(nil) is nil.
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
// RetryAfter() (time.Duration, bool), where false means none. Of several hints
// in one error the greatest counts.
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

// hinter is an error that says when to call again.
type hinter interface{ RetryAfter() (time.Duration, bool) }

// inspect walks the tree of err once: is a Permanent in it, and which is the
// greatest hint. (errors.As would walk it twice, and allocate; one switch over
// all cases is one look-up an error.)
func inspect(err error) (isPermanent bool, hint time.Duration) {
	switch e := err.(type) {
	case nil:
		return false, 0
	case *permanent:
		return true, 0 // hints no longer matter
	case hinter:
		isPermanent, hint = inspectBelow(err)
		return isPermanent, max(hint, hintOf(e))
	case interface{ Unwrap() error }:
		return inspect(e.Unwrap())
	case interface{ Unwrap() []error }:
		return inspectAll(e.Unwrap())
	default:
		return false, 0
	}
}

// inspectBelow is inspect for what err wraps.
func inspectBelow(err error) (isPermanent bool, hint time.Duration) {
	if e, ok := err.(interface{ Unwrap() []error }); ok {
		return inspectAll(e.Unwrap())
	}
	return inspect(errors.Unwrap(err))
}

func inspectAll(errs []error) (isPermanent bool, hint time.Duration) {
	for _, err := range errs {
		p, d := inspect(err)
		isPermanent, hint = isPermanent || p, max(hint, d)
	}
	return isPermanent, hint
}

// hintOf returns the hint of one error, at least 0. A nil pointer in it gives none.
func hintOf(e hinter) time.Duration {
	if v := reflect.ValueOf(e); v.Kind() == reflect.Pointer && v.IsNil() {
		return 0
	}
	if d, ok := e.RetryAfter(); ok {
		return max(d, 0)
	}
	return 0
}
