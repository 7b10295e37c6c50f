package future

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/dacapo-go/dacapo/internal/eager"
)

// A Group runs functions that are not all known at once and collects their values:
// an errgroup.Group (golang.org/x/sync) whose functions return a value, and in which a
// panic or runtime.Goexit is an error. Use [RunAll] where all functions are known.
//
// The zero Group has no limit, and context.Background() for its context. A Group
// cancels what it started, and waits for it: at the first error it cancels the
// context of its functions, with that error as the cause. It serves for one Wait. Its
// methods are safe for concurrent use; call SetLimit before the first Go, and Wait after
// every Go made outside the group's own functions. A function of the group may call Go,
// but blocks for ever if the limit is reached: use TryGo.
type Group[T any] struct {
	group  errgroup.Group
	mu     sync.Mutex
	parent context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	values []T
	err    error
	waited bool
}

var errWaited = errors.New("future.Group: Go after Wait: a Group serves for one Wait, make another")

// NewGroup returns a group whose functions run under ctx. It panics if ctx is nil.
func NewGroup[T any](ctx context.Context) *Group[T] {
	check(ctx != nil, "future.NewGroup: nil ctx: want a context, such as context.Background()")
	return &Group[T]{parent: ctx}
}

// SetLimit sets how many functions may run at a time: at least 1, or [NoLimit]. A
// smaller limit is the error of Wait, and nothing runs. Call it before the first Go.
func (g *Group[T]) SetLimit(n int) {
	if n < 1 {
		g.fail(fmt.Errorf("future.Group: the limit is %d: want 1 or more, or future.NoLimit", n))
		return
	}
	if n == NoLimit {
		n = -1 // errgroup's
	}
	g.group.SetLimit(n)
}

// Go starts op on a goroutine of its own; it waits first, if as many run as the limit
// allows. After the first error, the end of the context or Wait, op is not run. Go panics
// if op is nil.
func (g *Group[T]) Go(op func(context.Context) (T, error)) {
	check(op != nil, "future.Group.Go: nil op: want a function")
	run := g.add(op)
	g.group.Go(run)
}

// TryGo is Go, but where it would wait it reports false and does nothing. (As in Go, true
// does not mean that op runs.)
func (g *Group[T]) TryGo(op func(context.Context) (T, error)) bool {
	check(op != nil, "future.Group.TryGo: nil op: want a function")
	g.mu.Lock()
	defer g.mu.Unlock()
	i := len(g.values)
	if !g.group.TryGo(func() error { g.run(i, op); return nil }) {
		return false
	}
	var zero T
	g.values = append(g.values, zero)
	return true
}

// Wait waits for all functions and returns their values, in the order in which they
// were given to Go; or the first error in time. Without functions it returns nil, nil.
// Where ctx ended and a function failed or was not run, the error matches ctx.Err() and
// the cause of ctx, too.
func (g *Group[T]) Wait() ([]T, error) {
	_ = g.group.Wait() // the errors are in g
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waited = true
	g.context()
	g.cancel(nil)
	if g.err != nil {
		return nil, g.err
	}
	return g.values, nil
}

// add makes a place for op's value, and the function that fills it.
func (g *Group[T]) add(op func(context.Context) (T, error)) func() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := len(g.values)
	var zero T
	g.values = append(g.values, zero)
	return func() error { g.run(i, op); return nil }
}

func (g *Group[T]) run(i int, op func(context.Context) (T, error)) {
	g.mu.Lock()
	ctx, waited := g.context(), g.waited
	g.mu.Unlock()
	if waited {
		g.fail(errWaited)
		return
	}
	if err := ctx.Err(); err != nil {
		g.fail(err)
		return
	}
	guard(func() {
		v, err := op(ctx)
		if err != nil {
			g.fail(err)
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.values[i] = v
	}, g.fail)
}

// fail ends the group, if nothing has yet.
func (g *Group[T]) fail(err error) {
	g.mu.Lock()
	g.context()
	g.mu.Unlock()
	cause, _ := eager.Strip(err)
	err = cutShort(g.parent, err)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
		g.cancel(cause)
	}
}

// context returns the context of the functions. The lock is held.
func (g *Group[T]) context() context.Context {
	if g.ctx == nil {
		if g.parent == nil {
			g.parent = context.Background()
		}
		g.ctx, g.cancel = context.WithCancelCause(g.parent)
	}
	return g.ctx
}
