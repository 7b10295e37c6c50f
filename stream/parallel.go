package stream

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
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
// the consumer, so s can be n elements ahead of it; when the run ends, those are dropped,
// and from a SingleUse they are lost.
//
// s runs on a goroutine of its own, and the consumer on the caller's. What ParMap started
// it cancels and waits for: when the run ends, for whatever reason, all of it has ended.
// Where fn or s panics, so does the run, with a [*PanicError]; where one calls
// runtime.Goexit, so does the run: once all has ended, and whatever else had ended it. n is
// 1 to 1<<20.
func ParMap[T, U any](s Stream[T], n int, order Order, fn func(context.Context, T) (U, error)) Stream[U] {
	switch {
	case fn == nil:
		return Failed[U](fault("stream.ParMap: nil fn: want a function"))
	case n < 1 || n > most:
		return Failed[U](fault("stream.ParMap: n is %d: want 1 to %d, how many may run at a time", n, most))
	case order > Unordered:
		return Failed[U](fault("stream.ParMap: the order is %v: want Ordered or Unordered", order))
	}
	return func(ctx context.Context, yield func(U) bool) error {
		p := &pool[T, U]{team: newTeam(ctx), s: s, fn: fn, ordered: order == Ordered, places: make(chan struct{}, n), jobs: make(chan job[T]), out: make([]chan outcome[U], n)}
		unordered := make(chan outcome[U], n+1) // and the end
		for i := range p.out {
			if p.out[i] = unordered; p.ordered {
				p.out[i] = make(chan outcome[U], 1)
			}
		}
		return p.run(yield)
	}
}

const most = 1 << 20 // at the same time

// A team is what a run starts: goroutines with one context, and how they ended.
type team struct {
	parent context.Context
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	crash  atomic.Pointer[crash] // the first
}

func newTeam(parent context.Context) *team {
	t := &team{parent: parent}
	t.ctx, t.cancel = context.WithCancel(parent)
	return t
}

// start runs fn on a goroutine. Where fn does not return, the run ends, as fn did.
func (t *team) start(fn func()) {
	t.wg.Go(func() {
		guard(fn, func(c *crash) {
			t.crash.CompareAndSwap(nil, c)
			t.cancel()
		})
	})
}

// stop ends all and waits for it. It passes on a crash.
func (t *team) stop() {
	t.halt()
	t.crash.Load().pass()
}

// halt ends all and waits for it, also where the consumer does not return.
func (t *team) halt() {
	t.cancel()
	t.wg.Wait()
}

// runSource runs a source. Where put told it to end, it reports so, and returns the error
// of the source's clean-up, unless that only repeats that the run has ended. (An error
// after the end of a source that was not told is its own: it ran ahead of the consumer.)
func runSource[T any](t *team, s Stream[T], put func(T) bool) (told bool, err error) {
	err = s.run(t.ctx, func(v T) bool {
		told = told || !put(v)
		return !told
	})
	if told && errors.Is(err, t.ctx.Err()) {
		err = nil
	}
	return told, err
}

// An outcome is what came of an element, or of the whole source.
type outcome[U any] struct {
	v   U
	err error
	end bool // of the source
}

type job[T any] struct {
	v  T
	at int // the place of its result
}

// A pool is one run of ParMap. An element takes one of n places until its result is
// delivered.
type pool[T, U any] struct {
	*team
	s       Stream[T]
	fn      func(context.Context, T) (U, error)
	ordered bool
	places  chan struct{}
	jobs    chan job[T]
	out     []chan outcome[U] // by place; unordered, all are one
	dirt    error             // of the source's clean-up, once all has ended
}

func (p *pool[T, U]) run(yield func(U) bool) error {
	defer p.halt()
	p.start(p.dispatch)
	for k := 0; ; k = (k + 1) % len(p.out) {
		var o outcome[U]
		select {
		case o = <-p.out[k]:
		case <-p.ctx.Done(): // or a crash
			p.stop()
			return endedBy(p.parent)
		}
		switch {
		case o.end || o.err != nil:
			p.stop()
			return o.err
		case !yield(o.v):
			p.stop()
			return p.dirt
		}
		<-p.places
	}
}

// dispatch runs the source, and hands its elements to the workers.
func (p *pool[T, U]) dispatch() {
	defer close(p.jobs)
	k := 0
	told, err := runSource(p.team, p.s, func(v T) bool {
		ok := p.hand(k, v)
		k++
		return ok
	})
	if told {
		p.dirt = err
		return
	}
	// The end is behind the results: by its place, or by all places. An error without an
	// order need not wait.
	places := 1
	if !p.ordered {
		places = len(p.out)
		if err != nil {
			places = 0
		}
	}
	if p.take(places) {
		p.out[k%len(p.out)] <- outcome[U]{end: true, err: err}
	}
}

// hand hands element k to a worker. It reports false if the run ended first.
func (p *pool[T, U]) hand(k int, v T) bool {
	if !p.take(1) {
		return false
	}
	if k < len(p.out) {
		p.start(p.work)
	}
	select {
	case p.jobs <- job[T]{v, k % len(p.out)}:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// take takes places. It reports false if the run ended first.
func (p *pool[T, U]) take(n int) bool {
	for range n {
		select {
		case p.places <- struct{}{}:
		case <-p.ctx.Done():
			return false
		}
	}
	return p.ctx.Err() == nil
}

func (p *pool[T, U]) work() {
	for j := range p.jobs {
		v, err := p.fn(p.ctx, j.v)
		p.out[j.at] <- outcome[U]{v: v, err: err}
	}
}

// Merge returns the stream of the elements of all streams, as they come: each stream runs
// on a goroutine of its own, the consumer on the caller's. The first error ends the run
// with it. What Merge started it cancels and waits for; panics and runtime.Goexit are as
// in [ParMap].
//
// Each stream can be one element ahead of the consumer; when the run ends, those are
// dropped, and from a SingleUse they are lost. After the consumer has stopped, the error of
// a stream is returned only if its yield returned false; any other came after all that was
// wanted. That is so in ParMap, too.
func Merge[T any](all ...Stream[T]) Stream[T] {
	all = slices.Clone(all)
	return func(parent context.Context, yield func(T) bool) error {
		t := newTeam(parent)
		defer t.halt()
		out := make(chan outcome[T])
		dirt := make([]error, len(all))
		for i, s := range all {
			t.start(func() { dirt[i] = merging(t, s, out) })
		}
		for left := len(all); left > 0; {
			var o outcome[T]
			select {
			case o = <-out:
			case <-t.ctx.Done(): // or a crash
				t.stop()
				return endedBy(parent)
			}
			switch {
			case o.err != nil:
				t.stop()
				return o.err
			case o.end:
				left--
			case !yield(o.v):
				t.stop()
				return onlyOne(dirt)
			}
		}
		t.stop()
		return nil
	}
}

// merging runs one of the streams, and hands on its elements and its end. It returns the
// error of its clean-up.
func merging[T any](t *team, s Stream[T], out chan<- outcome[T]) error {
	put := func(o outcome[T]) bool {
		select {
		case out <- o:
			return true
		case <-t.ctx.Done():
			return false
		}
	}
	told, err := runSource(t, s, func(v T) bool { return t.ctx.Err() == nil && put(outcome[T]{v: v}) })
	if told {
		return err
	}
	put(outcome[T]{end: true, err: err})
	return nil
}

// onlyOne joins errors; one alone is itself.
func onlyOne(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
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

// pass does the same on this goroutine.
func (c *crash) pass() {
	switch {
	case c == nil:
	case c.err == nil:
		runtime.Goexit()
	default:
		panic(c.err)
	}
}
