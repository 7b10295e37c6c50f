package stream

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/internal/eager"
	"github.com/dacapo-go/dacapo/retry"
)

// Map returns the stream of fn of each element of s. Where fn can fail, use [MapErr]; where
// it has to wait, [ParMap] or [RetryEach], which give it a context.
func Map[T, U any](s Stream[T], fn func(T) U) Stream[U] {
	return func(ctx context.Context, yield func(U) bool) error {
		if s == nil {
			return errNil
		}
		return s(ctx, func(v T) bool { return yield(fn(v)) })
	}
}

// MapErr is Map for a function that can fail: its first error ends the run with it, also
// where the clean-up of s fails then.
func MapErr[T, U any](s Stream[T], fn func(T) (U, error)) Stream[U] {
	return func(ctx context.Context, yield func(U) bool) error {
		var failed error
		stopped := false
		err := s.run(ctx, func(v T) bool {
			if stopped {
				return false
			}
			u, err := fn(v)
			if failed = err; err == nil {
				stopped = true // also where yield does not return
				stopped = !yield(u)
				return !stopped
			}
			stopped = true
			return false
		})
		if failed != nil {
			return failed
		}
		return err
	}
}

// Filter returns the stream of the elements for which keep holds.
func (s Stream[T]) Filter(keep func(T) bool) Stream[T] {
	return func(ctx context.Context, yield func(T) bool) error {
		if s == nil {
			return errNil
		}
		return s(ctx, func(v T) bool {
			if keep(v) {
				return yield(v)
			}
			return true
		})
	}
}

// Take returns the stream of the first n elements, or of all if there are fewer. It ends
// the run of s with the last of them. With n of 0 or less s is not run.
func (s Stream[T]) Take(n int) Stream[T] {
	return func(ctx context.Context, yield func(T) bool) error {
		if n <= 0 {
			return nil
		}
		left := n
		return s.run(ctx, func(v T) bool {
			if left <= 0 {
				return false
			}
			more := left - 1
			left = 0 // where yield returns false, or does not return
			if !yield(v) {
				return false
			}
			left = more
			return left > 0
		})
	}
}

// Concat returns the stream of the elements of all streams, one stream after the other.
// The first error ends the run with it.
func Concat[T any](all ...Stream[T]) Stream[T] {
	all = slices.Clone(all)
	return func(ctx context.Context, yield func(T) bool) error {
		stopped := false
		put := until(&stopped, yield)
		for _, s := range all {
			err := s.run(ctx, put)
			if err != nil || stopped {
				return err
			}
		}
		return nil
	}
}

// FlatMap returns the stream of the elements of the streams that fn makes of each element
// of s, one stream after the other. An error of any ends the run with it.
func FlatMap[T, U any](s Stream[T], fn func(T) Stream[U]) Stream[U] {
	return func(ctx context.Context, yield func(U) bool) error {
		var failed error
		stopped := false
		put := until(&stopped, yield)
		err := s.run(ctx, func(v T) bool {
			if stopped || failed != nil {
				return false
			}
			failed = fn(v).run(ctx, put)
			return failed == nil && !stopped
		})
		if failed != nil {
			return failed
		}
		return err
	}
}

// until is yield, but notes that it has returned false, and returns false from then on.
func until[T any](stopped *bool, yield func(T) bool) func(T) bool {
	return func(v T) bool {
		if *stopped {
			return false
		}
		*stopped = true // also where yield does not return
		*stopped = !yield(v)
		return !*stopped
	}
}

// Batch returns the stream of slices of n elements each; the last can be shorter, also
// where s fails then. Elements wait until their slice is full, however long that takes.
// Every slice is a new one, for the consumer to keep. n is at least 1.
func Batch[T any](s Stream[T], n int) Stream[[]T] {
	if n < 1 {
		return Failed[[]T](fault("stream.Batch: the size is %d: want 1 or more", n))
	}
	return func(ctx context.Context, yield func([]T) bool) error {
		var batch []T
		stopped := false
		put := until(&stopped, yield)
		err := s.run(ctx, func(v T) bool {
			if stopped {
				return false
			}
			if batch = append(batch, v); len(batch) < n {
				return true
			}
			full := batch
			batch = nil
			return put(full)
		})
		if len(batch) > 0 && !stopped && !put(batch) {
			return nil // the consumer has what it wanted, before the failure
		}
		return err
	}
}

// Repeat returns the stream that runs s again when it has completed, after a wait that b
// gives (the zero Strategy waits for nothing), until an error ends it, the context or
// the consumer. Completions are counted from 1, for ever: give a strategy that grows a Cap.
func (s Stream[T]) Repeat(b backoff.Strategy) Stream[T] {
	if err := b.Err(); err != nil {
		return Failed[T](lasting{err})
	}
	return func(ctx context.Context, yield func(T) bool) error {
		stopped := false
		put := until(&stopped, yield)
		prev := time.Duration(0)
		var timer *time.Timer
		for n := 1; ; n = max(n, n+1) {
			if err := s.run(ctx, put); err != nil || stopped {
				return err
			}
			prev = b.Delay(n, prev, rand.Uint64())
			if timer = waitWith(ctx, timer, prev); ctx.Err() != nil {
				return endedBy(ctx)
			}
		}
	}
}

// RetryEach returns the stream of fn of each element of s, one at a time, where fn is retried
// for each as p says. For several at a time, call retry.Do in the function of [ParMap]. What is retried is fn, not s: an error that is left ends the run, as retry.Do
// returns it. Where U is retry.Eager the run fails with retry.ErrEagerResult.
func RetryEach[T, U any](s Stream[T], p retry.Policy, fn func(context.Context, T) (U, error)) Stream[U] {
	switch {
	case fn == nil:
		return Failed[U](fault("stream.RetryEach: nil fn: want a function"))
	case p.Err() != nil:
		return Failed[U](lasting{p.Err()})
	case eager.Is[U]():
		return Failed[U](retry.ErrEagerResult)
	}
	return func(ctx context.Context, yield func(U) bool) error {
		return MapErr(s, func(v T) (U, error) {
			return retry.Do(ctx, p, func(ctx context.Context) (U, error) { return fn(ctx, v) })
		})(ctx, yield)
	}
}
