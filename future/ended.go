package future

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ended is the error of what the end of a context kept from a result. It matches the
// context's error and cause, and the error of the work where there is one.
type ended struct {
	what             string
	err, cause, last error
}

func (e *ended) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "future: %s: %v", e.what, e.err)
	if e.cause.Error() != e.err.Error() {
		fmt.Fprintf(&b, " (%v)", e.cause)
	}
	if e.last != nil && e.last.Error() != e.err.Error() {
		fmt.Fprintf(&b, ": last error: %v", e.last)
	}
	return b.String()
}

func (e *ended) Unwrap() []error {
	if e.last == nil {
		return []error{e.err, e.cause}
	}
	return []error{e.err, e.cause, e.last}
}

// ErrGaveUp is matched by the error of who waited for a result until the context ended:
// it tells that from a result that is such an error.
var ErrGaveUp = errors.New("future: gave up waiting")

// gaveUp is the error of a caller that ctx keeps from waiting any longer.
func gaveUp(ctx context.Context) error {
	return &ended{"gave up waiting", ctx.Err(), context.Cause(ctx), nil}
}

// Is matches ErrGaveUp.
func (e *ended) Is(target error) bool { return target == ErrGaveUp && e.what == "gave up waiting" }

// unechoed returns the error of work that others started: as it is, but where it
// repeats that ctx has ended, within one that has ctx's cause, too.
func unechoed(ctx context.Context, err error) error {
	if !isEcho(ctx, err) {
		return err
	}
	return &ended{"the context has ended", ctx.Err(), context.Cause(ctx), err}
}

func isEcho(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// cutShort returns the error of work that ran under ctx: as it is, but once ctx has
// ended within one that has ctx's error and cause, too. Without an error the work was
// kept from beginning.
func cutShort(ctx context.Context, err error) error {
	if ctx.Err() == nil || errors.Is(err, ctx.Err()) && errors.Is(err, context.Cause(ctx)) && err != ctx.Err() {
		return err // as an error of package retry has them
	}
	return &ended{"the context ended the work", ctx.Err(), context.Cause(ctx), err}
}
