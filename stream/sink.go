package stream

import (
	"context"
	"errors"
)

// ErrEmpty is the error of [Stream.First] where the stream has no element.
var ErrEmpty = errors.New("stream: no first element: the stream is empty")

// Collect runs the stream and returns its elements; if it fails, those that came before,
// and the error.
func (s Stream[T]) Collect(ctx context.Context) ([]T, error) {
	var all []T
	err := s.run(ctx, func(v T) bool {
		all = append(all, v)
		return true
	})
	return all, told(ctx, err)
}

// First runs the stream up to its first element and returns that, or [ErrEmpty]. It has
// the shape of an operation: future.Go(ctx, s.First) starts it now, and retry.Do can
// retry it.
func (s Stream[T]) First(ctx context.Context) (T, error) {
	var first T
	found := false
	err := s.run(ctx, func(v T) bool {
		if !found {
			first, found = v, true
		}
		return false
	})
	if !found && err == nil {
		err = ErrEmpty
	}
	return first, told(ctx, err)
}

// Reduce runs the stream and returns what fn makes of its elements, from left to right and
// from init on; if it fails, what was made before, and the error.
func Reduce[T, A any](ctx context.Context, s Stream[T], init A, fn func(A, T) A) (A, error) {
	if s == nil {
		return init, errNil
	}
	made := init // a variable of its own, and no call of run: so that a visible pipeline becomes a loop
	err := s(ctx, func(v T) bool {
		made = fn(made, v)
		return true
	})
	return made, err
}

// ForEach runs the stream and calls fn for each element. An error of fn ends the run with
// it, also where the clean-up of s fails then.
func (s Stream[T]) ForEach(ctx context.Context, fn func(context.Context, T) error) error {
	var failed error
	err := s.run(ctx, func(v T) bool {
		if failed == nil {
			failed = fn(ctx, v)
		}
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return told(ctx, err)
}

// ToChan runs the stream and sends its elements to ch, which it does not close. The end
// of ctx ends it, also where nobody receives: the element that it was about to send is
// dropped then.
func (s Stream[T]) ToChan(ctx context.Context, ch chan<- T) error {
	if ch == nil {
		return fault("stream.ToChan: nil channel: nobody would ever receive")
	}
	stopped := false
	err := s.run(ctx, func(v T) bool {
		if stopped = stopped || ctx.Err() != nil; stopped {
			return false
		}
		select {
		case ch <- v:
		case <-ctx.Done():
			stopped = true
		}
		return !stopped
	})
	if err == nil && stopped {
		return endedBy(ctx)
	}
	return told(ctx, err)
}
