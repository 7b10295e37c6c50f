package stream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"sync/atomic"

	"github.com/dacapo-go/dacapo/retry"
)

// ErrUsed is the error of the second run of a source that can be run once.
var ErrUsed = errors.New("stream: this source can be run once, and has been: what a channel, an iterator or a reader has given is gone; " +
	"for retries, make a stream with stream.From, which opens the source anew in every run")

// A SingleUse is a source that can be run once: what it gives is gone. It has the sinks
// of a [Stream], and no Retry: its elements cannot be had again. It is retry.Eager.
//
// SingleUse values are made by [FromChan], [FromSeq], [FromSeq2] and [FromLines]. They
// are safe for concurrent use: one run gets the elements, the others [ErrUsed]. The zero
// SingleUse fails with an error that says so.
type SingleUse[T any] struct {
	s *single[T]
}

type single[T any] struct {
	used atomic.Bool
	run  Stream[T]
}

func singleUse[T any](run Stream[T]) SingleUse[T] { return SingleUse[T]{&single[T]{run: run}} }

// FromChan returns the elements received from ch until it is closed. A nil channel is
// an error of the run.
func FromChan[T any](ch <-chan T) SingleUse[T] {
	if ch == nil {
		return singleUse(Failed[T](errors.New("stream.FromChan: nil channel: nothing would ever come")))
	}
	return singleUse(func(ctx context.Context, yield func(T) bool) error {
		for {
			select {
			case v, ok := <-ch:
				if !ok || !yield(v) {
					return nil
				}
			case <-ctx.Done():
				return endedBy(ctx)
			}
		}
	})
}

// FromSeq returns the elements of an iterator in hand. For one that can be opened again,
// use [From].
func FromSeq[T any](seq iter.Seq[T]) SingleUse[T] {
	if seq == nil {
		return singleUse(Failed[T](errors.New("stream.FromSeq: nil iterator")))
	}
	return singleUse(func(_ context.Context, yield func(T) bool) error {
		seq(yield)
		return nil
	})
}

// FromSeq2 is FromSeq for an iterator over values and errors. The first error ends the
// run with it.
func FromSeq2[T any](seq iter.Seq2[T, error]) SingleUse[T] {
	if seq == nil {
		return singleUse(Failed[T](errors.New("stream.FromSeq2: nil iterator")))
	}
	return singleUse(From(func(context.Context) iter.Seq2[T, error] { return seq }))
}

// FromLines returns the lines that r gives, without their ends, "\n" or "\r\n". A line is
// at most 1 MiB; a longer one fails with [bufio.ErrTooLong]. ctx is looked at between
// lines: it does not interrupt a Read.
func FromLines(r io.Reader) SingleUse[string] {
	if r == nil {
		return singleUse(Failed[string](errors.New("stream.FromLines: nil reader")))
	}
	return singleUse(func(ctx context.Context, yield func(string) bool) error {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if ctx.Err() != nil {
				return endedBy(ctx)
			}
			if !yield(lines.Text()) {
				return nil
			}
		}
		return lines.Err()
	})
}

// run is one run of the source.
func (u SingleUse[T]) run(ctx context.Context, yield func(T) bool) error {
	switch {
	case u.s == nil:
		return errZeroSingleUse
	case u.s.used.Swap(true):
		return ErrUsed
	}
	return u.s.run(ctx, yield)
}

var errZeroSingleUse = errors.New("stream: the zero SingleUse: make one with stream.FromChan, stream.FromSeq or stream.FromLines")

// Stream returns the source as a stream, for operators. Its second run, and so its first
// retry, fails with [ErrUsed], which is permanent.
func (u SingleUse[T]) Stream() Stream[T] {
	return func(ctx context.Context, yield func(T) bool) error {
		err := u.run(ctx, yield)
		if err == ErrUsed {
			err = retry.Permanent(err)
		}
		return err
	}
}

// All is as [Stream.All].
func (u SingleUse[T]) All(ctx context.Context) iter.Seq2[T, error] { return Stream[T](u.run).All(ctx) }

// Collect is as [Stream.Collect].
func (u SingleUse[T]) Collect(ctx context.Context) ([]T, error) { return Stream[T](u.run).Collect(ctx) }

// First is as [Stream.First].
func (u SingleUse[T]) First(ctx context.Context) (T, error) { return Stream[T](u.run).First(ctx) }

// ForEach is as [Stream.ForEach].
func (u SingleUse[T]) ForEach(ctx context.Context, fn func(context.Context, T) error) error {
	return Stream[T](u.run).ForEach(ctx, fn)
}

// ToChan is as [Stream.ToChan].
func (u SingleUse[T]) ToChan(ctx context.Context, ch chan<- T) error {
	return Stream[T](u.run).ToChan(ctx, ch)
}

// EagerResult marks the source for package retry, which does not retry a function that
// returns one. It does nothing.
func (u SingleUse[T]) EagerResult() {}
