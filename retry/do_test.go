package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

func TestADeadContextMakesNoCall(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCause)
	for _, p := range []retry.Policy{retry.New(), retry.New().WrapErrors()} {
		_, err := retry.Do(ctx, p, func(context.Context) (int, error) { t.Error("called"); return 1, nil })
		e, ok := errors.AsType[*retry.Error](err)
		require.True(t, ok)
		assert.Equal(t, retry.Cancelled, e.Reason)
		assert.Zero(t, e.Attempts)
		assert.NoError(t, e.Last)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errCause)
	}
	_, err := retry.Do(ctx, retry.New(), succeed)
	assert.EqualError(t, err, "retry: cancelled after 0 attempts: context canceled (the caller gave up)")
}

func TestASuccessIsKeptThoughTheContextEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	v, err := retry.Do(ctx, retry.New(), func(context.Context) (string, error) { cancel(); return "kept", nil })
	assert.NoError(t, err)
	assert.Equal(t, "kept", v)
}

func TestAContextThatTheOperationEndsEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	err := retry.Run(ctx, noWait, func(context.Context) error { calls++; cancel(errCause); return errBoom })
	assert.Equal(t, 1, calls)
	for _, want := range []error{errBoom, context.Canceled, errCause} {
		assert.ErrorIs(t, err, want)
	}
}

func TestAHookThatEndsTheContextEndsTheRunBeforeTheNextCall(t *testing.T) {
	for _, kind := range []retry.Kind{retry.Failed, retry.Scheduled} {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := retry.Run(ctx, noWait.Events(func(_ context.Context, e retry.Event) {
			if e.Kind == kind {
				cancel()
			}
		}), func(context.Context) error { calls++; return errBoom })
		assert.Equal(t, 1, calls)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errBoom)
	}
}

// At the instant of a tick that is also the end of the context, either may come
// first; but no call may begin once the end can be seen.
func TestNoCallBeginsAtALaterInstantThanTheEnd(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errCause)
			defer cancel()
			go func() { time.Sleep(3 * time.Second); cancel() }()
			var last time.Time
			end := time.Now().Add(3 * time.Second)
			err := retry.Run(ctx, retry.New().MaxRetries(retry.Unlimited), func(context.Context) error { last = time.Now(); return errBoom })
			assert.False(t, last.After(end))
			assert.Equal(t, end, time.Now())
			assert.ErrorIs(t, err, context.Canceled)
			assert.ErrorIs(t, err, errBoom)
		})
	}
}

func TestAnAttemptTimeoutEndsTheAttemptWithItsCauseAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var contexts []context.Context
		p := retry.New().MaxRetries(1).AttemptTimeout(time.Second)
		err := retry.Run(t.Context(), p, func(ctx context.Context) error {
			contexts = append(contexts, ctx)
			<-ctx.Done()
			assert.ErrorIs(t, context.Cause(ctx), retry.ErrAttemptTimeout)
			assert.ErrorIs(t, context.Cause(ctx), context.DeadlineExceeded)
			return ctx.Err()
		})
		assert.Len(t, contexts, 2)
		assert.True(t, err == context.DeadlineExceeded, "the operation's own error")
		assert.NoError(t, t.Context().Err())

		err = retry.Run(t.Context(), p, func(ctx context.Context) error { contexts[0] = ctx; return nil })
		assert.NoError(t, err)
		assert.ErrorIs(t, contexts[0].Err(), context.Canceled, "ended as soon as the operation returned")
	})
}

func TestThePlainContextIsTheCallersOwn(t *testing.T) {
	_ = retry.Run(t.Context(), retry.New(), func(ctx context.Context) error {
		assert.Same(t, t.Context(), ctx)
		return nil
	})
}

func TestPanicAndGoexitPassThrough(t *testing.T) {
	user := map[string]func(retry.Policy, func()) (retry.Policy, func(context.Context) error){
		"operation": func(p retry.Policy, f func()) (retry.Policy, func(context.Context) error) {
			return p, func(context.Context) error { f(); return nil }
		},
		"later operation": func(p retry.Policy, f func()) (retry.Policy, func(context.Context) error) {
			n := 0
			return p, func(context.Context) error {
				if n++; n == 2 {
					f()
				}
				return errBoom
			}
		},
		"limited operation": func(p retry.Policy, f func()) (retry.Policy, func(context.Context) error) {
			return p.AttemptTimeout(time.Hour), func(context.Context) error { f(); return nil }
		},
		"predicate": func(p retry.Policy, f func()) (retry.Policy, func(context.Context) error) {
			return p.If(func(error) bool { f(); return true }), func(context.Context) error { return errBoom }
		},
		"matcher": func(p retry.Policy, f func()) (retry.Policy, func(context.Context) error) {
			return p.On(retry.Match(func(error) bool { f(); return true })), func(context.Context) error { return errBoom }
		},
		"hook": func(p retry.Policy, f func()) (retry.Policy, func(context.Context) error) {
			return p.Events(func(context.Context, retry.Event) { f() }), func(context.Context) error { return nil }
		},
	}
	for name, make := range user {
		finished := false
		last := func(_ context.Context, e retry.Event) { finished = finished || e.Kind == retry.Finished }
		p, op := make(noWait.Events(last), func() { panic("by the user") })
		assert.PanicsWithValue(t, "by the user", func() { _ = retry.Run(t.Context(), p, op) }, name)
		assert.False(t, finished, name)

		p, op = make(noWait, runtime.Goexit)
		returned := false
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = retry.Run(t.Context(), p, op)
			returned = true
		})
		wg.Wait()
		assert.False(t, returned, name)
	}
}

// result is an eager result, as a future is.
type result struct{}

func (*result) EagerResult() {}

func TestAnEagerResultIsRefused(t *testing.T) {
	var events []retry.Event
	for _, p := range []retry.Policy{retry.New(), retry.New().WrapErrors()} {
		p = p.Events(func(_ context.Context, e retry.Event) { events = append(events, e) })
		v, err := retry.Do(t.Context(), p, func(context.Context) (*result, error) { t.Error("called"); return &result{}, nil })
		assert.Nil(t, v)
		assert.True(t, err == retry.ErrEagerResult)
	}
	require.Len(t, events, 2)
	assert.Equal(t, retry.Event{Kind: retry.Finished, Err: retry.ErrEagerResult, Reason: retry.Refused, Elapsed: events[0].Elapsed}, events[0])
}

func TestMarksAreRemovedWhereTheyAreOutermost(t *testing.T) {
	inner := fmt.Errorf("inner: %w", retry.Permanent(io.EOF))
	for _, c := range []struct{ returned, want error }{
		{retry.Permanent(errBoom), errBoom},
		{retry.After(time.Hour, errBoom), errBoom},
		{retry.Permanent(retry.After(1, retry.Permanent(errBoom))), errBoom},
		{inner, inner},
		{retry.Permanent(inner), inner},
	} {
		assert.True(t, retry.Run(t.Context(), noWait, func(context.Context) error { return c.returned }) == c.want, "%v", c.returned)
		var e *retry.Error
		require.ErrorAs(t, retry.Run(t.Context(), noWait.WrapErrors(), func(context.Context) error { return c.returned }), &e)
		assert.True(t, e.Last == c.want)
	}
	assert.NoError(t, retry.Permanent(nil))
	assert.NoError(t, retry.After(time.Second, nil))
	assert.EqualError(t, retry.Permanent(errBoom), "boom")
	assert.ErrorIs(t, retry.After(time.Second, errBoom), errBoom)
}

func TestAPermanentBelowWrappingStopsAnOuterRetryToo(t *testing.T) {
	calls := 0
	nested := func(err error) {
		calls = 0
		_ = retry.Run(t.Context(), noWait, func(ctx context.Context) error {
			return retry.Run(ctx, noWait, func(context.Context) error { calls++; return err })
		})
	}
	nested(retry.Permanent(errBoom))
	assert.Equal(t, 4, calls, "an outermost mark speaks to the nearest retry only")
	nested(fmt.Errorf("below: %w", retry.Permanent(errBoom)))
	assert.Equal(t, 1, calls)
}

func TestTheTextOfAnErrorIsOneLineWithNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.New().WrapErrors()
		err := retry.Run(t.Context(), p, func(context.Context) error { return errors.Join(errBoom, errOther) })
		assert.EqualError(t, err, "retry: exhausted after 4 attempts in 3s: last error: boom; other")

		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		err = retry.Run(ctx, p, func(context.Context) error { return errBoom })
		assert.EqualError(t, err, "retry: deadline would be exceeded after 2 attempts in 1s: context deadline exceeded: last error: boom")
		err = retry.Run(t.Context(), p.MaxRetries(0), func(context.Context) error { return errBoom })
		assert.EqualError(t, err, "retry: exhausted after 1 attempt: last error: boom")
	})
}

func TestOnePolicyServesManyRunsAtOnce(t *testing.T) {
	p := retry.New().Backoff(backoff.Exponential(time.Second, 2).Cap(time.Hour)).If(func(error) bool { return true }).WrapErrors()
	synctest.Test(t, func(t *testing.T) {
		var wg sync.WaitGroup
		defer wg.Wait()
		for range 64 {
			wg.Go(func() {
				for range 50 {
					began, calls := time.Now(), 0
					err := retry.Run(t.Context(), p, func(context.Context) error {
						if calls++; calls < 3 {
							return errBoom
						}
						return nil
					})
					assert.NoError(t, err)
					assert.Equal(t, 3*time.Second, time.Since(began), "waits of 1s and 2s")
				}
			})
		}
	})
}

func TestARunStartsItsClockItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.New().MaxElapsed(5 * time.Second)
		time.Sleep(6 * time.Minute)
		calls := 0
		err := retry.Run(t.Context(), p, func(context.Context) error {
			if calls++; calls == 1 {
				return errBoom
			}
			return nil
		})
		assert.NoError(t, err)
		assert.Equal(t, 2, calls)
	})
}

func TestAMillionFailuresKeepNothing(t *testing.T) {
	p := noWait.MaxRetries(1_000_000).WrapErrors()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	err := retry.Run(t.Context(), p, func(context.Context) error { return errBoom })
	runtime.ReadMemStats(&after)
	assert.ErrorIs(t, err, errBoom)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10_000), "bytes in a million calls")
}

func TestRealWaitsShareOneTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		allocs := func(retries int) float64 {
			p := retry.New().MaxRetries(retries).Backoff(backoff.Constant(time.Second))
			return testing.AllocsPerRun(20, func() { _, _ = retry.Do(t.Context(), p, fail) })
		}
		one := allocs(1)
		assert.LessOrEqual(t, one, 3.0)
		assert.Equal(t, one, allocs(50), "a further wait allocates nothing")
	})
}
