package future

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/dacapo-go/dacapo/internal/eager"
)

// NoLimit is the limit that does not limit: every function may run at once.
const NoLimit = math.MaxInt

// ErrLost is the cause ([context.Cause]) that ends the context of work whose result
// is no longer needed, because other work was first.
var ErrLost = errors.New("future: other work was first")

// RunAll runs all functions, at most limit at a time, and returns their values in
// the order in which the functions are given; or the first error in time. Without
// functions it returns nil, nil.
//
// RunAll cancels what it started, and waits for it: at the first error it cancels the
// context of the functions that are running, with that error as the cause, starts no
// other and returns when all that it started have ended. Where ctx ends, it starts no
// other either; if a function failed or was not started, the error matches ctx.Err() and
// the cause of ctx, too. A panic is a failure ([*PanicError]), and so is runtime.Goexit
// ([ErrGoexit]).
//
// The functions run on few goroutines, never on the caller's, and may wait for one
// another: as long as the limit allows, another goroutine is ready to run the next
// while one runs. limit is at least 1, or [NoLimit]: a smaller one is an error, and nothing
// runs. RunAll panics if ctx or a function is nil.
func RunAll[T any](ctx context.Context, limit int, ops ...func(context.Context) (T, error)) ([]T, error) {
	if err := checkAll("future.RunAll", ctx, limit, ops); err != nil || len(ops) == 0 {
		return nil, err
	}
	var d decision[T]
	values := make([]T, len(ops))
	cut := run(ctx, limit, ops, func(i int, v T, err error) error {
		if err == nil {
			values[i] = v
			return nil
		}
		d.first(v, cutShort(ctx, err))
		return err
	})
	if cut {
		d.first(d.value, cutShort(ctx, nil))
	}
	if d.err != nil {
		return nil, d.err
	}
	return values, nil
}

// RunAny runs the functions, at most limit at a time, until one succeeds, and returns
// its value. If all fail, it returns the error of the last to fail; without functions,
// [ErrNone].
//
// RunAny cancels what it started, and waits for it: at the first success it cancels
// the context of the functions that are running, with [ErrLost] as the cause, starts
// no other and returns when all that it started have ended. An error that is permanent
// for package retry, a panic too, is a failure like others. The rest is as in RunAll.
func RunAny[T any](ctx context.Context, limit int, ops ...func(context.Context) (T, error)) (T, error) {
	var d decision[T]
	if err := checkAll("future.RunAny", ctx, limit, ops); err != nil || len(ops) == 0 {
		return d.value, orElse(err, ErrNone)
	}
	var mu sync.Mutex
	var last error
	allMarked := true
	cut := run(ctx, limit, ops, func(_ int, v T, err error) error {
		if err == nil {
			d.first(v, nil)
			return ErrLost
		}
		whole, echo, marked := cutShort(ctx, err), isEcho(ctx, err), eager.IsMarked(err)
		mu.Lock()
		defer mu.Unlock()
		allMarked = allMarked && marked
		if last == nil || !echo { // an echo says less than what was before
			last = whole
		}
		return nil
	})
	if d.is {
		return d.value, nil
	}
	if last = eager.Choose(last, allMarked); cut {
		last = cutShort(ctx, last)
	}
	return d.value, last
}

// RunRace runs the functions, at most limit at a time, until one has a result, and
// returns that, value or error; without functions, [ErrNone].
//
// RunRace cancels what it started, and waits for it, as RunAny does. The rest is as in
// RunAll.
func RunRace[T any](ctx context.Context, limit int, ops ...func(context.Context) (T, error)) (T, error) {
	var d decision[T]
	if err := checkAll("future.RunRace", ctx, limit, ops); err != nil || len(ops) == 0 {
		return d.value, orElse(err, ErrNone)
	}
	run(ctx, limit, ops, func(_ int, v T, err error) error {
		if err != nil {
			err = cutShort(ctx, err)
		}
		d.first(v, err)
		return ErrLost
	})
	if !d.is { // none has begun
		return d.value, cutShort(ctx, nil)
	}
	return d.value, d.err
}

// decision is the first of some results.
type decision[T any] struct {
	mu    sync.Mutex
	is    bool
	value T
	err   error
}

func (d *decision[T]) first(v T, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.is {
		d.is, d.value, d.err = true, v, err
	}
}

// A crew runs functions on as few goroutines as it can. A worker enters a function
// only while a stand-by, which has not yet entered one, can take over the rest, or
// when there are as many workers as the limit allows. So a worker can stay in a
// function for ever, and a function that is over in a moment costs no goroutine.
type crew[T any] struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	ops     []func(context.Context) (T, error)
	each    func(i int, v T, err error) (stop error)
	limit   int64
	next    atomic.Int64 // the function to be run next
	workers atomic.Int64 // started, and not replaced
	standBy atomic.Bool  // there is one, or there can be no other
	cut     atomic.Bool  // a function was not run
	wg      sync.WaitGroup
}

// checkAll panics where an argument has no meaning, and returns the fault of the limit.
func checkAll[T any](name string, ctx context.Context, limit int, ops []func(context.Context) (T, error)) error { //nolint:revive // the name leads
	checkOp(ctx, name, false)
	for _, op := range ops {
		checkOp(ctx, name, op == nil)
	}
	if limit < 1 {
		return fmt.Errorf("%s: the limit is %d: want 1 or more, or future.NoLimit", name, limit)
	}
	return nil
}

// run runs the functions and tells each how one ended, until each returns the cause to
// stop for. It reports whether a function was not run, because all had to end.
func run[T any](ctx context.Context, limit int, ops []func(context.Context) (T, error), each func(int, T, error) error) (cut bool) {
	c := &crew[T]{ops: ops, each: each, limit: int64(limit)}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	defer c.cancel(nil)
	c.relieve()
	c.wg.Wait()
	return c.cut.Load()
}

// relieve starts a stand-by, if there is need of one and there can be one.
func (c *crew[T]) relieve() {
	if c.next.Load() >= int64(len(c.ops)) || c.standBy.Load() || !c.standBy.CompareAndSwap(false, true) {
		return
	}
	if c.workers.Add(1) <= c.limit {
		c.wg.Add(1)
		go c.work()
	}
}

// work runs functions until there are no more.
func (c *crew[T]) work() {
	defer c.wg.Done()
	c.standBy.Store(false) // before it takes a function: from here on there is need of another
	var i int
	guard(func() {
		for i = c.take(); i < len(c.ops); i = c.take() {
			c.relieve()
			v, err := c.ops[i](c.ctx)
			c.told(i, v, err)
		}
	}, func(err error) {
		var zero T
		c.told(i, zero, err)
		c.wg.Add(1)
		go c.work() // in the place of this worker
	})
}

// take returns the index of the function to run, or one past the last.
func (c *crew[T]) take() int {
	i := int(c.next.Add(1) - 1)
	if i < len(c.ops) && c.ctx.Err() != nil {
		c.cut.Store(true)
		return len(c.ops)
	}
	return i
}

func (c *crew[T]) told(i int, v T, err error) {
	if stop := c.each(i, v, err); stop != nil {
		stop, _ = eager.Strip(stop)
		c.cancel(stop)
	}
}
