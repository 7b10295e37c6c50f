package future

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dacapo-go/dacapo/internal/eager"
	"github.com/dacapo-go/dacapo/internal/loop"
	"github.com/dacapo-go/dacapo/retry"
)

// Retry starts op, retries it as p says, and returns the future of what retry.Do
// would have returned. So the retries are inside, where the work can run again: the
// future itself, like any, is one result.
//
// A run that waits holds no goroutine: a timer starts the next call, on a goroutine
// of its own. Where ctx ends in a wait, the run ends at once; where it ends during a
// call, when op returns. The error is a [*retry.Error] that matches the last error,
// ctx.Err() and the cause of ctx; await it with another context, to see it. As
// with Do, no call is made where ctx has ended before, p has a fault, or T is
// retry.Eager.
//
// Hooks and predicates of p run on the goroutine of the call. Where ctx ends in a
// wait, one goroutine ends all waiting runs of that context in turn: their hooks, and
// what was derived from their futures, must not hold it up. Where op, a hook or a
// predicate panics, the run ends, and the error is a [*PanicError], whatever op had
// returned; where one calls runtime.Goexit, it is [ErrGoexit]. Hooks hear no more of the
// run then.
//
// Retry panics if ctx or op is nil.
func Retry[T any](ctx context.Context, p retry.Policy, op func(context.Context) (T, error)) *Future[T] {
	checkOp(ctx, "future.Retry", op == nil)
	r := &retried[T]{sleeper: sleeper{ctx: ctx, policy: &p}, op: op}
	r.begin()
	go r.start()
	if starting.Add(1) > 64 {
		runtime.Gosched()
	}
	return &r.Future
}

// starting counts the first calls of all runs that have not come to a wait or an end. Where
// they are many, who starts more lets some of them go first: the runtime keeps what
// describes a goroutine for ever, so that as few as possible are to be there at once.
var starting atomic.Int64

// retried is a run and its future. It is small, because very many can be waiting.
type retried[T any] struct {
	Future[T]
	sleeper
	op func(context.Context) (T, error)
	at loop.State
}

// start is the goroutine of the first call. (It and what it calls are careful with the
// stack: one that outgrows what a goroutine begins with costs more than all else here.)
func (r *retried[T]) start() {
	defer starting.Add(-1)
	r.step(func() {
		if end := loop.Driver.Start(r.ctx, r.policy, &r.at, eager.Is[T]()); end != nil {
			r.end(r.value, end)
			return
		}
		r.calls()
	})
}

// awake goes on when the wait is over, or its context has ended: whichever is first.
func (r *retried[T]) awake() {
	if !r.rise() {
		return
	}
	r.timer.Stop()
	r.step(func() {
		if !r.wakes() {
			return
		}
		select {
		case <-r.ctx.Done(): // it says it has not ended, after all; others wait for this goroutine
			go r.step(r.calls)
		default:
			r.calls()
		}
	})
}

// step takes the run a step further. Where user code does not return, the run ends.
func (r *retried[T]) step(do func()) {
	guard(do, func(err error) {
		defer func() { // also where the limiter, which is told, calls Goexit
			var zero T
			r.end(zero, err)
		}()
		if r.policy != nil {
			guard(func() { loop.Driver.Drop(r.policy, &r.at) }, func(error) {})
		}
	})
}

// calls makes calls until one is followed by a wait, or by none.
func (r *retried[T]) calls() {
	for {
		ctx, awaited := loop.Driver.Call(r.ctx, r.policy, &r.at)
		err := r.call(ctx)
		wait, again, end := loop.Driver.Return(r.ctx, r.policy, &r.at, awaited, err)
		if !again {
			r.end(r.value, end)
			return
		}
		r.err = end // the last error, until there is a result
		if wait > 0 {
			r.sleep(wait)
			return
		}
		if !r.wakes() {
			return
		}
	}
}

func (r *retried[T]) call(ctx context.Context) (err error) {
	if r.at.Rest != nil {
		defer r.at.End()
	}
	r.value, err = r.op(ctx)
	return err
}

// sleep has the run wait.
func (r *retried[T]) sleep(wait time.Duration) {
	var awake func()
	if r.timer == nil {
		awake = r.awake
	}
	r.sleeper.sleep(wait, awake)
}

// wakes ends a wait. It reports whether a call follows; if not, the run has ended.
func (r *retried[T]) wakes() bool {
	end := loop.Driver.Wake(r.ctx, r.policy, &r.at, r.err)
	if end != nil {
		r.end(r.value, end)
	}
	return end == nil
}

// end settles the future, which keeps nothing of the run. (It is settled already where
// what was derived from it ended the goroutine.)
func (r *retried[T]) end(v T, err error) {
	r.op, r.ctx, r.policy, r.timer, r.at = nil, nil, nil, nil, loop.State{}
	r.finish(nil, v, err)
}
