package stream

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// Order says in which order [ParMap] delivers.
type Order uint8

// The orders.
const (
	Ordered   Order = iota // as the elements come from the source
	Unordered              // as they are done
)

// String returns the order in a word.
func (o Order) String() string {
	switch o {
	case Ordered:
		return "ordered"
	case Unordered:
		return "unordered"
	}
	return fmt.Sprintf("Order(%d)", uint8(o))
}

// A PanicError is what [ParMap] and [Merge] panic with where a function that they run on
// another goroutine has panicked: the panic passes on to the goroutine that runs the
// stream, with the stack of where it was.
type PanicError struct {
	Value any    // what the function panicked with
	Stack []byte // where, as [runtime/debug.Stack] has it
}

// Error returns the value and the stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("stream: a function panicked: %v\n\n%s", e.Value, e.Stack)
}

// Unwrap returns the value, if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ParMap returns the stream of fn of each element of s, of which up to n run at the same
// time, each on one of n goroutines. In order, the elements before the first error are
// delivered; otherwise the first error in time ends the run. At most n results are kept for
// the consumer.
//
// s runs on a goroutine of its own, and the consumer on the caller's. What ParMap started
// it cancels and waits for: when the run ends, for whatever reason, all of it has ended.
// Where fn or s panics, so does the run, with a [*PanicError]; where one calls
// runtime.Goexit, so does the run. n is at least 1.
func ParMap[T, U any](s Stream[T], n int, order Order, fn func(context.Context, T) (U, error)) Stream[U] {
	switch {
	case fn == nil:
		return Failed[U](errors.New("stream.ParMap: nil fn: want a function"))
	case n < 1:
		return Failed[U](fmt.Errorf("stream.ParMap: the number at the same time is %d: want 1 or more", n))
	case order > Unordered:
		return Failed[U](fmt.Errorf("stream.ParMap: the order is %v: want Ordered or Unordered", order))
	}
	return func(ctx context.Context, yield func(U) bool) error {
		p := &pool[T, U]{s: s, fn: fn, n: n, places: make(chan struct{}, n), jobs: make(chan job[T]), out: make([]chan outcome[U], n), ordered: order == Ordered}
		for i := range p.out {
			if order == Ordered {
				p.out[i] = make(chan outcome[U], 1)
			} else if p.out[i] = p.out[0]; i == 0 {
				p.out[i] = make(chan outcome[U], n)
			}
		}
		return p.run(ctx, yield)
	}
}

// An outcome is what came of an element, or of the whole source.
type outcome[U any] struct {
	v     U
	err   error
	crash *crash
	end   bool // of the source
}

type job[T any] struct {
	v  T
	at int // the place of its result
}

// A pool is one run of ParMap. An element takes one of n places until its result is
// delivered.
type pool[T, U any] struct {
	s       Stream[T]
	fn      func(context.Context, T) (U, error)
	n       int
	ordered bool
	places  chan struct{}
	jobs    chan job[T]
	out     []chan outcome[U] // by place; unordered, all are one
	wg      sync.WaitGroup
	cleanup error // of the source, where it was told to end; once all has ended
}

func (p *pool[T, U]) run(parent context.Context, yield func(U) bool) error {
	ctx, cancel := context.WithCancel(parent)
	defer p.wg.Wait() // also where the consumer does not return
	defer cancel()
	p.wg.Go(func() { p.dispatch(ctx) })
	for k := 0; ; k = (k + 1) % p.n {
		var o outcome[U]
		select {
		case o = <-p.out[k]:
		case <-ctx.Done():
			cancel()
			p.wg.Wait()
			return endedBy(parent)
		}
		<-p.places
		o.crash.pass(func() { cancel(); p.wg.Wait() })
		if o.end || o.err != nil {
			return o.err
		}
		if !yield(o.v) {
			cancel()
			p.wg.Wait()
			return p.cleanup
		}
	}
}

// dispatch runs the source, and hands its elements to the workers.
func (p *pool[T, U]) dispatch(ctx context.Context) {
	k, told := 0, false
	defer close(p.jobs)
	guard(func() {
		err := p.s.run(ctx, func(v T) bool {
			told = told || !p.hand(ctx, k, v)
			k++
			return !told
		})
		if told {
			p.cleanup = dirt(ctx, err)
			return
		}
		p.end(ctx, k, outcome[U]{end: true, err: err})
	}, func(c *crash) { p.end(ctx, k, outcome[U]{crash: c}) })
}

// hand hands element k to a worker. It reports false if the run ended first.
func (p *pool[T, U]) hand(ctx context.Context, k int, v T) bool {
	if !p.take(ctx, 1) {
		return false
	}
	if k < p.n {
		p.wg.Go(func() { p.work(ctx) })
	}
	select {
	case p.jobs <- job[T]{v, k % p.n}:
		return true
	case <-ctx.Done():
		return false
	}
}

// end hands on that the source has ended, behind the results of its elements.
func (p *pool[T, U]) end(ctx context.Context, k int, o outcome[U]) {
	if p.take(ctx, 1) && (p.ordered || p.take(ctx, p.n-1)) {
		p.out[k%p.n] <- o
	}
}

// take takes places. It reports false if the run ended first.
func (p *pool[T, U]) take(ctx context.Context, n int) bool {
	for range n {
		select {
		case p.places <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
	return ctx.Err() == nil
}

func (p *pool[T, U]) work(ctx context.Context) {
	var at int
	guard(func() {
		for j := range p.jobs {
			at = j.at
			v, err := p.fn(ctx, j.v)
			p.out[at] <- outcome[U]{v: v, err: err}
		}
	}, func(c *crash) { p.out[at] <- outcome[U]{crash: c} })
}

// Merge returns the stream of the elements of all streams, as they come: each stream runs
// on a goroutine of its own, the consumer on the caller's. The first error ends the run
// with it. What Merge started it cancels and waits for; panics and runtime.Goexit are as
// in [ParMap].
func Merge[T any](all ...Stream[T]) Stream[T] {
	return func(parent context.Context, yield func(T) bool) error {
		ctx, cancel := context.WithCancel(parent)
		var wg sync.WaitGroup
		defer wg.Wait() // also where the consumer does not return
		defer cancel()
		out := make(chan outcome[T])
		errs := make([]error, len(all))
		for i, s := range all {
			wg.Go(func() { errs[i] = merging(ctx, s, out) })
		}
		for left := len(all); left > 0; {
			var o outcome[T]
			select {
			case o = <-out:
			case <-ctx.Done():
				cancel()
				wg.Wait()
				return endedBy(parent)
			}
			o.crash.pass(func() { cancel(); wg.Wait() })
			switch {
			case o.err != nil:
				return o.err
			case o.end:
				left--
			case !yield(o.v):
				cancel()
				wg.Wait()
				return errors.Join(errs...)
			}
		}
		return nil
	}
}

// merging runs one of the streams, and hands on its elements and its end. Where it was
// told to end, it returns the error of its clean-up.
func merging[T any](ctx context.Context, s Stream[T], out chan<- outcome[T]) (cleanup error) {
	put := func(o outcome[T]) bool {
		select {
		case out <- o:
			return true
		case <-ctx.Done():
			return false
		}
	}
	told := false
	guard(func() {
		err := s.run(ctx, func(v T) bool {
			told = told || ctx.Err() != nil || !put(outcome[T]{v: v})
			return !told
		})
		if told {
			cleanup = dirt(ctx, err)
			return
		}
		put(outcome[T]{end: true, err: err})
	}, func(c *crash) { put(outcome[T]{crash: c}) })
	return cleanup
}

// dirt returns the error of a source that was told to end, unless it only repeats that.
func dirt(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// A crash is how a function on another goroutine did not return.
type crash struct{ err *PanicError } // nil: Goexit

// guard calls fn. Where fn does not return, crashed is told how.
func guard(fn func(), crashed func(*crash)) {
	returned := false
	defer func() {
		if returned {
			return
		}
		c := new(crash)
		if r := recover(); r != nil {
			c.err = &PanicError{r, debug.Stack()}
		}
		crashed(c)
	}()
	fn()
	returned = true
}

// pass does the same on this goroutine, after clean-up.
func (c *crash) pass(cleanup func()) {
	if c == nil {
		return
	}
	cleanup()
	if c.err == nil {
		runtime.Goexit()
	}
	panic(c.err)
}
