package stream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/dacapo-go/dacapo/internal/eager"
	"github.com/dacapo-go/dacapo/retry"
)

// A Stream is a recipe for elements: nothing happens until it is run, and every run
// starts it anew. It is a plain function, so any function of this type is a stream.
//
// A run calls yield for each element, on the goroutine that runs it, until there are
// no more, which is a nil error, or something fails; or yield returns false: the
// consumer wants no more, and the run is to end, with the error of its clean-up if
// that fails. It must not call yield again then, nor after it has returned. It is to end
// when ctx does, with an error: one that ends without an error has completed.
//
// Streams are made by [From], [Of], [FromSlice], [Defer], [Every] and [Failed], changed
// by operators such as [Map], and run by sinks such as [Stream.Collect]. A Stream is
// safe for concurrent use if its function is: what is made here keeps nothing between
// runs. A nil Stream fails with an error that says so.
type Stream[T any] func(ctx context.Context, yield func(T) bool) error

// lasting is an error of use: no retry can help.
type lasting struct{ error }

func (l lasting) Unwrap() error { return l.error }
func (lasting) Permanent() bool { return true }

func fault(format string, args ...any) error { return lasting{fmt.Errorf(format, args...)} }

var errNil = fault("stream: a nil Stream: make one with stream.From, stream.Of or stream.Defer")

// run runs the stream, also where it is nil. (Map and Filter do this in their own lines: else
// the compiler would not see through them.)
func (s Stream[T]) run(ctx context.Context, yield func(T) bool) error {
	if s == nil {
		return errNil
	}
	return s(ctx, yield)
}

// From returns the stream of what open returns, which is called anew in every run. The
// first error of the sequence ends the run with it. A sequence that ends because ctx has
// is to yield ctx's error: one that just ends has completed. A nil open is an error of
// the run.
func From[T any](open func(ctx context.Context) iter.Seq2[T, error]) Stream[T] {
	if open == nil {
		return Failed[T](fault("stream.From: nil open: want a function that opens the source"))
	}
	return func(ctx context.Context, yield func(T) bool) error {
		for v, err := range open(ctx) {
			if err != nil {
				return err
			}
			if !yield(v) {
				break
			}
		}
		return nil
	}
}

// Of returns the stream of the given values.
func Of[T any](vs ...T) Stream[T] { return FromSlice(vs) }

// FromSlice returns the stream of the elements of vs, as they are when it is run. It
// does not look at its context: what has to stop is the consumer.
func FromSlice[T any](vs []T) Stream[T] {
	return func(_ context.Context, yield func(T) bool) error {
		for _, v := range vs {
			if !yield(v) {
				break
			}
		}
		return nil
	}
}

// Defer returns the stream of the one value that op returns, which is called in every
// run: what Reactor calls a Mono. Where T is retry.Eager, the run fails with
// retry.ErrEagerResult, and op is not called.
func Defer[T any](op func(context.Context) (T, error)) Stream[T] {
	switch {
	case op == nil:
		return Failed[T](fault("stream.Defer: nil op: want a function"))
	case eager.Is[T]():
		return Failed[T](retry.ErrEagerResult)
	}
	return func(ctx context.Context, yield func(T) bool) error {
		v, err := op(ctx)
		if err == nil {
			yield(v)
		}
		return err
	}
}

// Failed returns the stream that fails with err in every run. With nil its error is one
// that says to use [Of].
func Failed[T any](err error) Stream[T] {
	if err == nil {
		err = fault("stream: Failed(nil): want an error, or stream.Of for an empty stream")
	}
	return func(context.Context, func(T) bool) error { return err }
}

// Every returns the stream of what op returns when it is called every d: the first time
// at once. While the consumer is slow, ticks are left out, as [time.Ticker] does. An
// error of op ends the run, and so does the end of ctx. d is above 0.
func Every[T any](d time.Duration, op func(context.Context) (T, error)) Stream[T] {
	switch {
	case op == nil:
		return Failed[T](fault("stream.Every: nil op: want a function"))
	case d <= 0:
		return Failed[T](fault("stream.Every: the interval is %v: want more than 0", d))
	case eager.Is[T]():
		return Failed[T](retry.ErrEagerResult)
	}
	return func(ctx context.Context, yield func(T) bool) error {
		ticks := time.NewTicker(d)
		defer ticks.Stop()
		for {
			if ctx.Err() != nil {
				return endedBy(ctx)
			}
			v, err := op(ctx)
			if err != nil {
				return err
			}
			if !yield(v) {
				return nil
			}
			select {
			case <-ticks.C:
			case <-ctx.Done():
			}
		}
	}
}

// All returns the elements for a range loop; if the run fails, the last pair is the zero
// value and the error.
//
//	for v, err := range s.All(ctx) {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// Leaving the loop ends the run; an error of its clean-up has nowhere to go then.
func (s Stream[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		stopped := false
		err := s.run(ctx, until(&stopped, func(v T) bool { return yield(v, nil) }))
		if err != nil && !stopped {
			var zero T
			yield(zero, told(ctx, err))
		}
	}
}

// ended is the error of a run that the end of its context ended: it matches the context's
// error and cause, and what the source made of them, if that says more.
type ended struct{ err, cause, last error }

func endedBy(ctx context.Context) error { return &ended{ctx.Err(), context.Cause(ctx), nil} }

// told returns the error of a run for the caller of a sink: as it is, but where it only
// repeats that ctx has ended, within one that has ctx's cause, too.
func told(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	hasErr, hasCause := errors.Is(err, ctx.Err()), errors.Is(err, context.Cause(ctx))
	if hasErr == hasCause {
		return err
	}
	return &ended{ctx.Err(), context.Cause(ctx), err}
}

func (e *ended) Error() string {
	text := fmt.Sprintf("stream: the context ended the run: %v", e.err)
	if e.cause.Error() != e.err.Error() {
		text += fmt.Sprintf(" (%v)", e.cause)
	}
	if e.last != nil && e.last.Error() != e.err.Error() && e.last.Error() != e.cause.Error() {
		text += fmt.Sprintf(": %v", e.last)
	}
	return text
}

func (e *ended) Unwrap() []error {
	if e.last == nil {
		return []error{e.err, e.cause}
	}
	return []error{e.err, e.cause, e.last}
}
