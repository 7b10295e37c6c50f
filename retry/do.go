package retry

import (
	"context"
	"time"

	"github.com/dacapo-go/dacapo/internal/eager"
)

// Do calls op until it succeeds, or p, ctx or an error that is not to be retried
// ends the run. It returns what the last call returned, value and error both;
// the error is nil if and only if the last call returned nil.
//
// Where the policy ended the run, the error is op's last error itself, not a
// wrapper (see [Policy.WrapErrors]), without a mark of [Permanent] or [After]
// around it. Where ctx ended it, the error is an [*Error] that matches the last
// error, ctx's error and ctx's cause. Where the next wait would reach ctx's
// deadline, Do does not wait for it: the [*Error] matches the last error and
// [context.DeadlineExceeded], though ctx.Err() may still be nil.
// A success is never dropped, also if ctx ended meanwhile. Where ctx ended before
// the first call, p has a fault or T is [Eager], op is not called.
//
// Do runs op, hooks and predicates on the caller's goroutine; a panic in them, or
// runtime.Goexit, passes through. The context op gets is ctx, unless AttemptTimeout
// or AttemptInfo gives each call its own, or the call before awaited the failure of a
// future: the context then tells futures how old the call is. Do is safe for concurrent use. It
// panics if ctx or op is nil.
func Do[T any](ctx context.Context, p Policy, op func(context.Context) (T, error)) (T, error) {
	check(ctx, "retry.Do", op == nil)
	if !p.plain() || p.backoff.Err() != nil || eager.Is[T]() || ctx.Err() != nil {
		return begin(ctx, p, op)
	}
	awaited := eager.Awaited()
	v, err := op(ctx)
	if err == nil {
		return v, nil
	}
	return goOn(ctx, p, op, &run{calls: 1, awaited: awaited}, v, err)
}

// Run is [Do] for an operation without a value.
func Run(ctx context.Context, p Policy, op func(context.Context) error) error {
	check(ctx, "retry.Run", op == nil)
	_, err := Do(ctx, p, func(ctx context.Context) (struct{}, error) { return struct{}{}, op(ctx) })
	return err
}

// check panics where an argument without a meaning was passed.
func check(ctx context.Context, name string, noOp bool) {
	if ctx == nil {
		panic(name + ": nil ctx: want a context, such as context.Background()")
	}
	if noOp {
		panic(name + ": nil op: want a function")
	}
}

// begin is Do where something has to be judged or prepared before the first call.
//
//go:noinline
func begin[T any](ctx context.Context, p Policy, op func(context.Context) (T, error)) (v T, err error) {
	var r run
	if p.limits() {
		defer r.settle(&p, 0) // where op or a hook does not return
	}
	if err := r.start(ctx, &p, eager.Is[T]()); err != nil {
		return v, err
	}
	v, err = call(ctx, &p, &r, op)
	return goOn(ctx, p, op, &r, v, err)
}

// goOn is Do after the first call.
//
//go:noinline
func goOn[T any](ctx context.Context, p Policy, op func(context.Context) (T, error), r *run, v T, err error) (T, error) {
	var a alarm
	for r.again(ctx, &p, &a, &err) {
		if p.more == nil {
			v, err = op(r.young(ctx))
		} else {
			v, err = call(ctx, &p, r, op)
		}
	}
	return v, err
}

// call makes a call that has somebody to tell, or a time limit.
func call[T any](ctx context.Context, p *Policy, r *run, op func(context.Context) (T, error)) (T, error) {
	ctx = r.begin(ctx, p)
	if !p.has(setAttemptTimeout) {
		return op(ctx)
	}
	return limited(ctx, p.more.attemptTimeout, op)
}

// limited makes a call that ends after d.
func limited[T any](ctx context.Context, d time.Duration, op func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d, ErrAttemptTimeout)
	defer cancel()
	return op(ctx)
}
