package future

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/dacapo-go/dacapo/internal/eager"
	"github.com/dacapo-go/dacapo/retry"
)

// A Memo runs a function when its value is first wanted, and keeps the value. All who
// want it while the function runs share that run, its flight: it never runs twice at
// once. A success is kept for ever, a failure is not: everyone who shared the flight
// gets it, and the next to come tries again.
//
// Memos are made by [NewMemo]; the zero Memo fails. The methods are safe for concurrent
// use. To retry, call retry.Do in the function: those who wait then see only the last
// failure. What is kept is never forgotten: for another value, make another Memo.
type Memo[T any] struct {
	op     func(context.Context) (T, error)
	kept   atomic.Pointer[T]
	mu     sync.Mutex
	flight *flight[T] // nil: none
}

// A flight is one run of the function.
type flight[T any] struct {
	waiters int // guarded by the Memo's mu
	cancel  context.CancelCauseFunc
	landed  chan struct{}
	result  Result[T] // once landed
}

var (
	errOwnMemo  = errors.New("future: Memo.Get was called by the memo's own function: it would wait for itself")
	errZeroMemo = errors.New("future: a zero Memo has no function: make one with future.NewMemo")
)

// NewMemo returns a memo for the value of op. Where T is retry.Eager, Get returns
// retry.ErrEagerResult: a future that fails later would be kept. NewMemo panics if op is
// nil.
func NewMemo[T any](op func(context.Context) (T, error)) *Memo[T] {
	check(op != nil, "future.NewMemo: nil op: want a function")
	return &Memo[T]{op: op}
}

// Get returns the value. It runs the function if that has not succeeded before, or
// joins the run that is in flight.
//
// The context of the function has the values of the first caller's and no deadline. It
// is cancelled when the last waiter leaves, with the cause of that waiter's context. Where
// ctx ends, Get leaves: its error matches ctx.Err(), the cause of ctx and [ErrGaveUp]. A
// value that is there is returned whether or not ctx has ended. A caller that comes after
// the last has left waits for the end of that flight; if it succeeds all the same, it has
// the value.
//
// Where the function panics, the error is a [*PanicError]; where it calls
// runtime.Goexit, it is [ErrGoexit]. Called by the function itself, with its context,
// Get returns an error: it would wait for itself. Get panics if ctx is nil.
func (m *Memo[T]) Get(ctx context.Context) (v T, err error) {
	check(ctx != nil, "future.Memo.Get: nil ctx: want a context, such as context.Background()")
	for {
		if kept := m.kept.Load(); kept != nil {
			return *kept, nil
		}
		if ctx.Err() != nil {
			return v, gaveUp(ctx)
		}
		switch {
		case m.op == nil:
			return v, errZeroMemo
		case eager.Is[T]():
			return v, retry.ErrEagerResult
		case ctx.Value(m) != nil:
			return v, errOwnMemo
		}
		f, mine := m.join(ctx)
		if f == nil {
			continue // it has landed
		}
		select {
		case <-f.landed:
		case <-ctx.Done():
			if mine {
				m.leave(f, context.Cause(ctx))
			}
		}
		select {
		case <-f.landed:
			if mine {
				return f.result.Value, f.result.Err
			}
		default: // ctx has ended
			return v, gaveUp(ctx)
		}
	}
}

// join returns the flight, and whether the caller has a part in it: not in one that
// all have left.
func (m *Memo[T]) join(ctx context.Context) (f *flight[T], mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.kept.Load() != nil:
		return nil, false
	case m.flight == nil:
		m.flight = m.start(ctx)
	case m.flight.waiters == 0:
		return m.flight, false
	}
	m.flight.waiters++
	return m.flight, true
}

// start starts a flight. What its function awaits is not held against an attempt that
// the first caller is making: the next flight can meet something else.
func (m *Memo[T]) start(ctx context.Context) *flight[T] {
	ctx = context.WithValue(context.WithoutCancel(ctx), m, true) // says whose flight it is
	ctx, cancel := context.WithCancelCause(eager.With(ctx, 0))
	f := &flight[T]{cancel: cancel, landed: make(chan struct{})}
	go guard(func() {
		v, err := m.op(ctx)
		m.land(f, v, err)
	}, func(err error) { m.land(f, *new(T), err) })
	return f
}

// leave is a waiter's end. The last to leave cancels the flight.
func (m *Memo[T]) leave(f *flight[T], cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f.waiters--; f.waiters == 0 {
		f.cancel(cause)
	}
}

func (m *Memo[T]) land(f *flight[T], v T, err error) {
	m.mu.Lock()
	if err == nil {
		m.kept.Store(&v)
	}
	m.flight = nil
	f.result.Value = v
	f.result.Err, _ = eager.Strip(err) // a mark is for the attempt that the function was told of
	close(f.landed)
	m.mu.Unlock()
	f.cancel(nil)
}
