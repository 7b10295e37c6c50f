package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

const ms = time.Millisecond

// A scenario is one row of the table: a run, and what is promised of it.
type scenario struct {
	name     string
	policy   retry.Policy
	shown    string                                                      // the policy in words
	within   func(context.Context) (context.Context, context.CancelFunc) // the caller's context; nil: it never ends
	before   func(context.Context)                                       // what has happened before the run
	op       func(ctx context.Context, call int) (string, error)
	drive    driver // nil: retry.Do
	promised promise
}

// A driver makes a run.
type driver func(ctx context.Context, p retry.Policy, op func(context.Context) (string, error)) (string, error)

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
	tries  bool                            // the calls are tries side by side: no policy decides on them or tells of them
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
			name: "a future as the result", shown: "a future that fails, from a retried function", op: fail,
			drive: func(ctx context.Context, p retry.Policy, op func(context.Context) (string, error)) (string, error) {
				_, err := retry.Do(ctx, p, func(ctx context.Context) (*future.Future[string], error) { return future.Go(ctx, op), nil })
				return "", err
			},
			promised: promise{
				reason: retry.Refused, got: "told what to write instead",
				isGot: func(r record) bool { return r.err == retry.ErrEagerResult },
			},
		},
		failedBefore(),
		{
			name: "a future begun inside", shown: "2 retries, waits of 200ms, a future in each call",
			policy: retry.New().MaxRetries(2).Backoff(backoff.Constant(200 * ms)),
			op: func(ctx context.Context, call int) (string, error) {
				return future.Go(ctx, func(ctx context.Context) (string, error) { return fail(ctx, call) }).Await(ctx)
			},
			promised: promise{
				calls: 3, waits: exactly(200*ms, 200*ms), reason: retry.Exhausted,
				got: "the last error itself", isGot: lastError,
			},
		},
		resubscribed("a lazy source that fails", "2 retries, waits of 200ms, a source run anew", retry.New().MaxRetries(2),
			stream.BeforeFirst[int](), []string{"!", "!", "!"}, "", retry.Exhausted),
		resubscribed("BeforeFirst", "3 retries: not after an element", retry.New(), stream.BeforeFirst[int](), []string{"!", "12!"}, "12", retry.Partial),
		resubscribed("Restart", "3 retries: from the start", retry.New(), stream.Restart[int](), []string{"12!", "123!", "1234"}, "121231234", retry.Succeeded),
		resubscribed("SkipSeen", "3 retries: what was delivered is dropped", retry.New(), stream.SkipSeen[int](), []string{"12!", "123!", "1234"}, "1234", retry.Succeeded),
		resubscribed("Buffered", "3 retries: all of one run", retry.New(), stream.Buffered[int](10), []string{"12!", "123!", "1234"}, "1234", retry.Succeeded),
		resumed(),
		waiting(1000),
		{
			name: "hedged", shown: "a second try after 300ms of a first that takes 1500ms",
			op: func(ctx context.Context, call int) (string, error) {
				if call == 2 {
					time.Sleep(100 * ms)
					return "the second try's", nil
				}
				return obeying(1500*ms)(ctx, call)
			},
			drive: func(ctx context.Context, _ retry.Policy, op func(context.Context) (string, error)) (string, error) {
				return future.Hedge(ctx, future.HedgeAfter(300*ms), op).Await(ctx)
			},
			promised: promise{
				calls: 2, tries: true, lasts: 400 * ms, got: "the second try's",
				isGot: func(r record) bool {
					return r.value == "the second try's" && r.err == nil && r.calls[1].from >= 300*ms && r.calls[0].to < 1500*ms
				},
			},
		},
	}
}

// failedBefore awaits, in a retried function, a future that had failed before the run.
func failedBefore() scenario {
	var old *future.Future[string]
	ran := 0
	return scenario{
		name: "a future that had failed", shown: "wait 200ms, the same future in each call", policy: retry.New().Backoff(backoff.Constant(200 * ms)),
		before: func(ctx context.Context) {
			old = future.Go(ctx, func(context.Context) (string, error) { ran++; return "", errFatal })
			_, _ = old.Await(ctx)
		},
		op: func(ctx context.Context, _ int) (string, error) { return old.Await(ctx) },
		promised: promise{
			calls: 2, waits: exactly(200 * ms), reason: retry.StaleFuture,
			got: "the future's error; it ran once", isGot: func(r record) bool { return r.err == errFatal && ran == 1 },
		},
	}
}

// resubscribed runs a stream whose source gives, in each run, the digits of a text, and
// fails at an exclamation mark.
func resubscribed(name, shown string, p retry.Policy, m stream.Mode[int], runs []string, want string, reason retry.Reason) scenario {
	return streaming(name, shown, p, runs, want, reason, func(p retry.Policy, open func(from int) stream.Stream[int]) stream.Stream[int] {
		return open(0).Retry(p, m)
	})
}

// resumed runs a stream that goes on behind the last element. What a run gives before it
// fails is told by its text.
func resumed() scenario {
	return streaming("Resume", "3 retries: behind the last element", retry.New(), []string{"12!", "3!", "4"}, "1234", retry.Succeeded,
		func(p retry.Policy, open func(from int) stream.Stream[int]) stream.Stream[int] {
			return stream.Resume(func(_ context.Context, from int, _ bool) stream.Stream[int] { return open(from) },
				func(v int) (int, bool) { return v, true }, 0, p, stream.Reset{}.MaxTotal(9))
		})
}

// streaming is a run of a stream: a call is a run of its source, and the value is all that
// arrived.
func streaming(
	name, shown string, p retry.Policy, runs []string, want string, reason retry.Reason,
	over func(p retry.Policy, open func(from int) stream.Stream[int]) stream.Stream[int],
) scenario {
	s := scenario{
		name: name, shown: shown, policy: p.Backoff(backoff.Constant(200 * ms)),
		op: func(ctx context.Context, call int) (string, error) {
			text, fails := strings.CutSuffix(runs[call-1], "!")
			if fails {
				_, err := fail(ctx, call)
				return text, err
			}
			return text, nil
		},
		drive: func(ctx context.Context, p retry.Policy, op func(context.Context) (string, error)) (string, error) {
			all, err := over(p, func(from int) stream.Stream[int] {
				return func(ctx context.Context, yield func(int) bool) error {
					text, err := op(ctx)
					for _, digit := range text {
						if v := int(digit - '0'); v > from && !yield(v) {
							return nil
						}
					}
					return err
				}
			}).Collect(ctx)
			return strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ""), "[]"), err
		},
		promised: promise{
			calls: len(runs), waits: repeat(len(runs)-1, window{200 * ms, 200 * ms}), reason: reason, got: "arrived: " + want,
			isGot: func(r record) bool {
				return r.value == want && (r.err == nil) == (reason == retry.Succeeded) && (r.err == nil || r.err == r.last)
			},
		},
	}
	if want == "" {
		s.promised.got = "the last error itself"
	}
	return s
}

// waiting has n runs wait at the same time, and looks what they hold.
func waiting(n int) scenario {
	held := -1
	return scenario{
		name: "runs that wait", shown: fmt.Sprintf("%d runs as futures, wait 1s", n),
		op: func(ctx context.Context, call int) (string, error) {
			if call == 1 {
				return fail(ctx, call)
			}
			return "the value", nil
		},
		drive: func(ctx context.Context, p retry.Policy, op func(context.Context) (string, error)) (string, error) {
			all := []*future.Future[string]{future.Retry(ctx, p, op)}
			for range n - 1 {
				call := 0
				all = append(all, future.Retry(ctx, retry.New(), func(ctx context.Context) (string, error) {
					if call++; call == 1 {
						return fail(ctx, call)
					}
					return "the value", nil
				}))
			}
			time.Sleep(500 * ms) // all wait
			stacks := make([]byte, 1<<22)
			held = strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "future.(*retried")
			values, err := future.All(ctx, all...)
			if err != nil {
				return "", err
			}
			return values[0], nil
		},
		promised: promise{
			calls: 2, waits: exactly(time.Second), reason: retry.Succeeded, got: "the value; goroutines held: 0",
			isGot: func(r record) bool { return r.value == "the value" && r.err == nil && held == 0 },
		},
	}
}

func repeat(n int, w window) (all []window) {
	for range n {
		all = append(all, w)
	}
	return all
}
