package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

const ms = time.Millisecond

// A scenario is one row of the table: a run, and what is promised of it.
type scenario struct {
	name     string
	policy   retry.Policy
	shown    string                                                      // the policy in words
	within   func(context.Context) (context.Context, context.CancelFunc) // the caller's context; nil: it never ends
	op       func(ctx context.Context, call int) (string, error)
	eager    bool // the operation returns an eager result
	promised promise
}

// A promise is what is to come out of a scenario. All of it is judged.
type promise struct {
	calls  int
	waits  []window // of the scheduled waits
	cut    bool     // the last wait is cut short
	reason retry.Reason
	got    string                          // what the caller gets, in words
	isGot  func(r record) bool             // … and in deed
	lasts  time.Duration                   // the least time that the run takes
	each   func(length time.Duration) bool // … and how long each call may take
}

// A window is what a wait is to lie in: [lo, hi), or exactly lo.
type window struct{ lo, hi time.Duration }

func (w window) holds(d time.Duration) bool { return d == w.lo || w.lo < d && d < w.hi }

func exactly(waits ...time.Duration) (all []window) {
	for _, d := range waits {
		all = append(all, window{d, d})
	}
	return all
}

// callError is the error of one call: no two calls return the same.
type callError struct {
	call  int
	cause error
}

func (e *callError) Error() string { return fmt.Sprintf("call %d failed", e.call) }
func (e *callError) Unwrap() error { return e.cause }

var (
	errShutdown = errors.New("shutting down")
	errFatal    = errors.New("no such account")
)

func fail(_ context.Context, call int) (string, error) { return "", &callError{call: call} }

// taking makes calls that fail after d, whatever their context says.
func taking(d time.Duration) func(context.Context, int) (string, error) {
	return func(ctx context.Context, call int) (string, error) {
		time.Sleep(d)
		return fail(ctx, call)
	}
}

// obeying makes calls that fail after d, or as soon as their context ends.
func obeying(d time.Duration) func(context.Context, int) (string, error) {
	return func(ctx context.Context, call int) (string, error) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return fail(ctx, call)
	}
}

// job stands for a future: a result whose work has begun.
type job struct{}

func (*job) EagerResult() {}

func lastError(r record) bool { return r.err != nil && r.err == r.last }

func matches(targets ...error) func(record) bool {
	return func(r record) bool {
		for _, target := range append(targets, r.last) {
			if !errors.Is(r.err, target) {
				return false
			}
		}
		return r.last != nil
	}
}

func scenarios() []scenario {
	return []scenario{
		{
			name: "defaults, fails twice", shown: "defaults",
			op: func(ctx context.Context, call int) (string, error) {
				if call < 3 {
					return fail(ctx, call)
				}
				return "the value", nil
			},
			promised: promise{
				calls: 3, waits: exactly(time.Second, time.Second), reason: retry.Succeeded,
				got: "the value", isGot: func(r record) bool { return r.value == "the value" && r.err == nil },
			},
		},
		{
			name: "defaults, always fails", shown: "defaults", op: fail,
			promised: promise{
				calls: 4, waits: exactly(time.Second, time.Second, time.Second), reason: retry.Exhausted,
				got: "the last error itself", isGot: lastError,
			},
		},
		{
			name: "the same, wrapped", shown: "wrap errors", policy: retry.New().WrapErrors(), op: fail,
			promised: promise{
				calls: 4, waits: exactly(time.Second, time.Second, time.Second), reason: retry.Exhausted,
				got: "*Error: 4 attempts, the last error",
				isGot: func(r record) bool {
					e, ok := r.err.(*retry.Error)
					return ok && e.Reason == retry.Exhausted && e.Attempts == 4 && e.Last == r.last && errors.Is(r.err, r.last)
				},
			},
		},
		{
			name: "exponential under a cap", shown: "5 retries, 100ms x2, cap 500ms", op: fail,
			policy: retry.New().MaxRetries(5).Backoff(backoff.Exponential(100*ms, 2).Cap(500 * ms)),
			promised: promise{
				calls: 6, waits: exactly(100*ms, 200*ms, 400*ms, 500*ms, 500*ms), reason: retry.Exhausted,
				got: "the last error itself", isGot: lastError,
			},
		},
		{
			name: "jitter that only adds", shown: "6 retries, 200ms, Spring jitter 100ms", op: fail,
			policy: retry.New().MaxRetries(6).Backoff(backoff.Constant(200 * ms).SpringJitter(100 * ms)),
			promised: promise{
				calls: 7, waits: repeat(6, window{200 * ms, 300 * ms}), reason: retry.Exhausted,
				got: "the last error itself", isGot: lastError,
			},
		},
		{
			name: "error not included", shown: "on another error", op: fail, policy: retry.New().On(retry.Is(errFatal)),
			promised: promise{calls: 1, reason: retry.NotRetryable, got: "the last error itself", isGot: lastError},
		},
		{
			name: "cause included", shown: "2 retries, on the cause",
			policy: retry.New().MaxRetries(2).Backoff(backoff.Constant(200 * ms)).On(retry.Is(io.ErrUnexpectedEOF)),
			op: func(_ context.Context, call int) (string, error) {
				return "", &callError{call, fmt.Errorf("reading: %w", io.ErrUnexpectedEOF)}
			},
			promised: promise{
				calls: 3, waits: exactly(200*ms, 200*ms), reason: retry.Exhausted,
				got: "the last error itself", isGot: lastError,
			},
		},
		{
			name: "a budget is not a timeout", shown: "budget 1s, calls of 300ms, waits of 100ms", op: taking(300 * ms),
			policy: retry.New().MaxElapsed(time.Second).Backoff(backoff.Constant(100 * ms)),
			promised: promise{
				calls: 3, waits: exactly(100*ms, 100*ms), reason: retry.TimeSpent, lasts: 1100 * ms,
				got: "the last error itself", isGot: lastError,
			},
		},
		{
			name: "… nor does it interrupt", shown: "budget 500ms, one call of 1500ms", op: obeying(1500 * ms),
			policy: retry.New().MaxElapsed(500 * ms),
			promised: promise{
				calls: 1, reason: retry.TimeSpent, lasts: 1500 * ms, got: "the last error itself", isGot: lastError,
				each: func(length time.Duration) bool { return length >= 1500*ms },
			},
		},
		{
			name: "what interrupts", shown: "attempt timeout 500ms, 1 retry, wait 100ms", op: obeying(1500 * ms),
			policy: retry.New().AttemptTimeout(500 * ms).MaxRetries(1).Backoff(backoff.Constant(100 * ms)),
			promised: promise{
				calls: 2, waits: exactly(100 * ms), reason: retry.Exhausted, lasts: 1100 * ms,
				got: "the last error itself", isGot: lastError,
				each: func(length time.Duration) bool { return length >= 500*ms && length < 1500*ms },
			},
		},
		{
			name: "events count what they say", shown: "3 retries, waits of 200ms", op: fail,
			policy: retry.New().MaxRetries(3).Backoff(backoff.Constant(200 * ms)),
			promised: promise{
				calls: 4, waits: exactly(200*ms, 200*ms, 200*ms), reason: retry.Exhausted,
				got: "the last error itself", isGot: lastError,
			},
		},
		{
			name: "no time for the wait", shown: "deadline in 300ms, wait 1s", op: fail,
			within: func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 300*ms)
			},
			promised: promise{
				calls: 1, reason: retry.DeadlineWouldExceed, got: "the last error, DeadlineExceeded",
				isGot: matches(context.DeadlineExceeded),
			},
		},
		{
			name: "cancelled while waiting", shown: "cancelled at 200ms, wait 1s", op: fail,
			within: func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancelCause(ctx)
				timer := time.AfterFunc(200*ms, func() { cancel(errShutdown) })
				return ctx, func() { timer.Stop(); cancel(nil) }
			},
			promised: promise{
				calls: 1, waits: exactly(time.Second), cut: true, reason: retry.Cancelled, lasts: 200 * ms,
				got: "the last error, Canceled, its cause", isGot: matches(context.Canceled, errShutdown),
			},
		},
		{
			name: "permanent", shown: "wait 200ms", policy: retry.New().Backoff(backoff.Constant(200 * ms)),
			op: func(ctx context.Context, call int) (string, error) {
				if call == 2 {
					return "", retry.Permanent(errFatal)
				}
				return fail(ctx, call)
			},
			promised: promise{
				calls: 2, waits: exactly(200 * ms), reason: retry.NotRetryable,
				got: "the marked error itself", isGot: func(r record) bool { return r.err == errFatal },
			},
		},
		{
			name: "an eager result", shown: "a future as the result", eager: true,
			promised: promise{
				reason: retry.Refused, got: "told what to write instead",
				isGot: func(r record) bool { return r.err == retry.ErrEagerResult },
			},
		},
	}
}

func repeat(n int, w window) (all []window) {
	for range n {
		all = append(all, w)
	}
	return all
}
