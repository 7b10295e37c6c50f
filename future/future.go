package future

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dacapo-go/dacapo/internal/eager"
)

// A Future is the result of work that has started: a value and an error that are
// there now, or will be. The work runs exactly once, however many wait for it, and
// a result that is there never changes.
//
// Futures are made by [Go], [Retry], [New], [Value], [Failed], [Map], [FlatMap],
// [Recover] and [Hedge]. All methods are safe for concurrent use. The zero Future
// stands for no work: its result is an error that says so.
//
// A Future implements [github.com/dacapo-go/dacapo/retry.Eager]: retry.Do refuses a
// function that returns one.
type Future[T any] struct {
	state
	value T
}

// state is all of a future but its value.
type state struct {
	phase  atomic.Uint32
	mu     sync.Mutex     // guards phase's change to settled, done and then
	latch  sync.WaitGroup // open once settled: a waiter without a channel is cheaper
	done   chan struct{}  // closed once settled; nil: nobody has asked for it
	then   list[task]     // what is to run once settled
	err    error
	failed uint64 // the epoch of the failure
}

// The phases of a future.
const (
	_ uint32 = iota // the zero Future
	pending
	settled
)

var errZero = errors.New("future: a zero Future stands for no work: make one with future.Go, future.New or future.Value")

// begin makes the future one that is to be settled.
func (s *state) begin() {
	s.phase.Store(pending)
	s.latch.Add(1)
}

func (s *state) isSettled() bool { return s.phase.Load() == settled }

// isPending reports whether the future is to be settled. It is called with the lock
// held, and gives the zero Future its error.
func (s *state) isPending() bool {
	if s.phase.Load() == 0 {
		s.err, s.failed = errZero, eager.Now()
		s.phase.Store(settled)
	}
	return s.phase.Load() == pending
}

// Value returns a future that has succeeded with v.
func Value[T any](v T) *Future[T] {
	f := &Future[T]{value: v}
	f.phase.Store(settled)
	return f
}

// Failed returns a future that has failed with err. Failed(nil) fails with an error that
// says to use [Value].
func Failed[T any](err error) *Future[T] {
	f := new(Future[T])
	f.err, f.failed = eager.Strip(orElse(err, errFailedNil))
	f.phase.Store(settled)
	return f
}

var (
	errFailedNil = errors.New("future: Failed(nil): want an error, or future.Value for a success")
	errRejectNil = errors.New("future: Promise.Reject(nil): want an error, or Resolve for a success")
)

// orElse returns err, or otherwise where that is nil.
func orElse(err, otherwise error) error {
	if err == nil {
		return otherwise
	}
	return err
}

// settle makes v and err the result, which failed in the given epoch, unless there
// is a result already; it reports whether, and returns what is to run then.
func (f *Future[T]) settle(v T, err error, failed uint64) (then list[task], ok bool) {
	f.mu.Lock()
	if !f.isPending() {
		f.mu.Unlock()
		return list[task]{}, false
	}
	f.value, f.err, f.failed = v, err, failed
	then, done := f.then, f.done
	f.then = list[task]{}
	f.phase.Store(settled)
	f.mu.Unlock()
	f.latch.Done()
	if done != nil {
		close(done)
	}
	return then, true
}

// finish settles the future with what its work returned just now, and runs what is
// to run then; on w, if there is one.
func (f *Future[T]) finish(w *work, v T, err error) bool {
	var failed uint64
	if err != nil {
		err, failed = eager.Strip(err)
	}
	then, ok := f.settle(v, err, failed)
	w.run(then)
	return ok
}

// fail is finish without a value.
func (f *Future[T]) fail(w *work, err error) bool {
	var zero T
	return f.finish(w, zero, err)
}

// Await waits for the result and returns it, value and error as the work returned
// them. Where ctx ends first, Await gives up: its error matches ctx.Err(), the cause of
// ctx and [ErrGaveUp], and the work goes on. A result that is there is returned whether
// or not ctx has ended. To see how work ends whose own context is ctx, wait with another,
// or the two race. Await panics if ctx is nil.
//
// In a function that package retry runs, await with the context it is given. A run whose
// function fails, for the second time, with the failure of a future that is older than the
// call ends with reason retry.StaleFuture: the next call could only meet it again. There
// the error is within a wrapper, which the run takes off: compare with errors.Is, not with
// == or a type assertion.
func (f *Future[T]) Await(ctx context.Context) (T, error) {
	check(ctx != nil, "future.Future.Await: nil ctx: want a context, such as context.Background()")
	if !f.isSettled() {
		if err := f.wait(ctx); err != nil {
			var zero T
			return zero, err
		}
	}
	if f.err != nil {
		return f.value, eager.Await(ctx, f.failed, f.err)
	}
	return f.value, nil
}

// wait waits until the future is settled. An error says why it is not.
func (s *state) wait(ctx context.Context) error {
	ended := ctx.Done()
	if ended == nil && s.phase.Load() == pending {
		s.latch.Wait()
		return nil
	}
	select {
	case <-s.channel():
		return nil
	case <-ended:
		if s.isSettled() {
			return nil
		}
		return gaveUp(ctx)
	}
}

// channel returns the channel that is closed once the future is settled.
func (s *state) channel() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done = make(chan struct{})
		if !s.isPending() {
			close(s.done)
		}
	}
	return s.done
}

// Done returns a channel that is closed once there is a result, for a select.
// Every call returns the same channel.
func (f *Future[T]) Done() <-chan struct{} { return f.channel() }

// Result returns the result; ok reports whether there is one.
func (f *Future[T]) Result() (v T, err error, ok bool) {
	if !f.isSettled() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.isPending() {
			return v, nil, false
		}
	}
	return f.value, f.err, true
}

// String says what there is: the value, the error, or that the work is running.
func (f *Future[T]) String() string {
	switch v, err, ok := f.Result(); {
	case !ok:
		return "future(running)"
	case err != nil:
		return fmt.Sprintf("future(failed: %v)", err)
	default:
		return fmt.Sprintf("future(%v)", v)
	}
}

// EagerResult marks the future for package retry, which does not retry a function
// that returns one. It does nothing.
func (f *Future[T]) EagerResult() {}

// A Promise settles the future that [New] returned with it. Its methods are safe
// for concurrent use, and the first of all calls wins. A Promise that is dropped
// leaves its future without a result. The zero Promise settles nothing.
type Promise[T any] struct {
	future Future[T]
}

// New returns a future and the promise that settles it, for work that reports in
// some other way than by returning: a callback, a message, an event.
func New[T any]() (*Promise[T], *Future[T]) {
	p := new(Promise[T])
	p.future.begin()
	return p, &p.future
}

// Resolve makes the future succeed with v. It reports false, and changes nothing,
// if there is a result already. What was derived from the future runs before
// Resolve returns, on this goroutine: a function given to [Map] that resolves another
// promise, and so on, is a recursion.
func (p *Promise[T]) Resolve(v T) bool { return p.future.finish(nil, v, nil) }

// Reject makes the future fail with err, as Resolve makes it succeed. Reject(nil) makes it
// fail with an error that says to use Resolve.
func (p *Promise[T]) Reject(err error) bool { return p.future.fail(nil, orElse(err, errRejectNil)) }

// EagerResult marks the promise for package retry, as [Future.EagerResult] does.
func (p *Promise[T]) EagerResult() {}

// check panics where an argument without a meaning was passed.
func check(ok bool, message string) {
	if !ok {
		panic(message)
	}
}

// checkOp panics where work cannot be started.
func checkOp(ctx context.Context, name string, isNil bool) {
	if ctx == nil {
		panic(name + ": nil ctx: want a context, such as context.Background()")
	}
	if isNil {
		panic(name + ": nil op: want a function")
	}
}
