package retry

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// ErrAttemptTimeout is the cause ([context.Cause]) of the context of an attempt
// that [Policy.AttemptTimeout] ended. It matches [context.DeadlineExceeded], and
// is a timeout as that is to net.Error and url.Error.
var ErrAttemptTimeout error = attemptTimeout{}

type attemptTimeout struct{}

func (attemptTimeout) Error() string   { return "retry: the attempt took longer than AttemptTimeout" }
func (attemptTimeout) Unwrap() error   { return context.DeadlineExceeded }
func (attemptTimeout) Timeout() bool   { return true }
func (attemptTimeout) Temporary() bool { return true }

// Error says how a run ended. Do and Run return one where the context ended, or
// its deadline would come before the next call, and, under [Policy.WrapErrors],
// wherever a call was made and failed.
//
// [errors.Is] and [errors.As] find in it the last error of the operation, the
// error of the context and the context's cause. Where the deadline was only to
// come (DeadlineWouldExceed), the context has no error yet: it is
// context.DeadlineExceeded here, and a cause given with the deadline is not known.
type Error struct {
	Reason   Reason
	Attempts int           // calls made
	Elapsed  time.Duration // of the run; 0 where nothing read the clock: WrapErrors, MaxElapsed and Events do
	Last     error         // what the last call returned, without a mark of ours around it; nil: no call was made
	Cause    error         // why the context ended, or will have ended (DeadlineWouldExceed); nil: it had not

	ended   error // the context's error
	earlier earlier
}

// Error returns one line: the reason, the number of attempts, the time, the
// context's error and cause, and the last error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "retry: %v after %d attempt", e.Reason, e.Attempts)
	if e.Attempts != 1 {
		b.WriteByte('s')
	}
	if e.Elapsed > 0 {
		fmt.Fprintf(&b, " in %v", e.Elapsed)
	}
	if e.ended != nil {
		fmt.Fprintf(&b, ": %v", e.ended)
	}
	if e.Cause != nil && (e.ended == nil || e.Cause.Error() != e.ended.Error()) {
		fmt.Fprintf(&b, " (%v)", e.Cause)
	}
	if e.Last != nil {
		fmt.Fprintf(&b, ": last error: %v", e.Last)
	}
	return strings.ReplaceAll(b.String(), "\n", "; ")
}

// Unwrap returns the last error, the context's error and its cause, as far as
// there are any.
func (e *Error) Unwrap() []error {
	var tree []error
	for _, err := range [...]error{e.Last, e.ended, e.Cause} {
		if err != nil {
			tree = append(tree, err)
		}
	}
	return tree
}

// Earlier returns the errors of the calls before the last, in their order and
// without a mark of ours around them: at most the first two and the last two of
// them. They are not in the tree of the error, so that errors.Is does not match a
// failure that was overcome.
func (e *Error) Earlier() []error {
	errs := make([]error, min(e.earlier.overcome, len(e.earlier.errs)))
	for i := range errs {
		errs[i] = unmarked(e.earlier.errs[i])
	}
	return errs
}
