package stream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"sync/atomic"
)

// ErrUsed is the error of the second run of a source that can be run once.
// It is permanent.
var ErrUsed = fault("stream: this source can be run once, and has been: what a channel, an iterator or a reader has given is gone; " +
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
		return singleUse(Failed[T](fault("stream.FromChan: nil channel: nothing would ever come")))
	}
	return singleUse(func(ctx context.Context, yield func(T) bool) error {
		for ctx.Err() == nil {
			select {
			case v, ok := <-ch:
				if !ok || !yield(v) {
					return nil
				}
			case <-ctx.Done():
			}
		}
		return endedBy(ctx)
	})
}

// FromSeq returns the elements of an iterator in hand. For one that can be opened again,
// use [From].
func FromSeq[T any](seq iter.Seq[T]) SingleUse[T] {
	if seq == nil {
		return singleUse(Failed[T](fault("stream.FromSeq: nil iterator")))
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
		return singleUse(Failed[T](fault("stream.FromSeq2: nil iterator")))
	}
	return singleUse(From(func(context.Context) iter.Seq2[T, error] { return seq }))
}

// FromLines returns the lines that r gives, without their ends, "\n" or "\r\n". The last
// need not have an end, unless r fails: what is torn then is no line. A line is at most
// 1 MiB; a longer one fails with [bufio.ErrTooLong], which no retry can help. ctx is looked at between lines: it
// does not interrupt a Read.
func FromLines(r io.Reader) SingleUse[string] {
	if r == nil {
		return singleUse(Failed[string](fault("stream.FromLines: nil reader")))
	}
	return singleUse(func(ctx context.Context, yield func(string) bool) error {
		source := &noting{r: r}
		lines := bufio.NewScanner(source)
		lines.Buffer(nil, 1<<20+2) // and its end
		lines.Split(source.line)
		n := 0
		for ; lines.Scan(); n++ {
			if ctx.Err() != nil {
				return endedBy(ctx)
			}
			if !yield(lines.Text()) {
				return nil
			}
		}
		if errors.Is(lines.Err(), bufio.ErrTooLong) {
			return fault("stream.FromLines: line %d: %w", n+1, bufio.ErrTooLong)
		}
		return lines.Err()
	})
}

// noting is a reader that notes how it failed.
type noting struct {
	r   io.Reader
	err error
}

func (n *noting) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	if err != nil && err != io.EOF {
		n.err = err
	}
	return k, err
}

// line is bufio.ScanLines, but drops what the failure of the reader tore.
func (n *noting) line(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if atEOF && n.err != nil && bytes.IndexByte(data, '\n') < 0 {
		return 0, nil, nil
	}
	return bufio.ScanLines(data, atEOF)
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

var errZeroSingleUse = fault("stream: the zero SingleUse: make one with stream.FromChan, stream.FromSeq or stream.FromLines")

// Stream returns the source as a stream, for operators. Its second run, and so its first
// retry, fails with [ErrUsed], which is permanent.
func (u SingleUse[T]) Stream() Stream[T] { return u.run }

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
