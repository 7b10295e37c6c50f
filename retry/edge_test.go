package retry_test

import (
	"context"
	"errors"
	"math"
	"net"
	"net/url"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

func TestTheBudgetCountsTheTimeOfHooksAndPredicates(t *testing.T) {
	slow := map[string]func(retry.Policy) retry.Policy{
		"predicate": func(p retry.Policy) retry.Policy {
			return p.If(func(error) bool { time.Sleep(10 * time.Second); return true })
		},
		"hook": func(p retry.Policy) retry.Policy {
			return p.Events(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.Failed {
					time.Sleep(10 * time.Second)
				}
			})
		},
	}
	for name, slowly := range slow {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			err := retry.Run(t.Context(), slowly(retry.New().MaxElapsed(5*time.Second)).WrapErrors(), func(context.Context) error { calls++; return errBoom })
			assert.Equal(t, 1, calls, name)
			assert.EqualError(t, err, "retry: time spent after 1 attempt in 10s: last error: boom")
		})
	}
}

// large has a size at which an interface of it is an allocation on its own.
type large [200]int

type largeEager struct{ _ large }

func (largeEager) EagerResult() {}

func TestAResultOfAnySizeAllocatesNothing(t *testing.T) {
	op := func(context.Context) (v large, err error) { return v, nil }
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = retry.Do(t.Context(), noWait, op) }))
	bad := func(context.Context) (v large, err error) { return v, errBoom }
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = retry.Do(t.Context(), noWait, bad) }))
}

// refused reports whether Do refuses a result of type T.
func refused[T any](t *testing.T) bool {
	_, err := retry.Do(t.Context(), retry.New(), func(context.Context) (v T, err error) { return v, nil })
	return errors.Is(err, retry.ErrEagerResult)
}

type eagerFunc func()

func (eagerFunc) EagerResult() {}

type eagerPair struct{ _, _ int }

func (eagerPair) EagerResult() {}

type holder struct{ *result }

type field struct{ R *result }

func TestWhichTypesAreEager(t *testing.T) {
	assert.True(t, refused[*result](t))
	assert.True(t, refused[eagerFunc](t))
	assert.True(t, refused[eagerPair](t))
	assert.True(t, refused[*eagerPair](t))
	assert.True(t, refused[largeEager](t))
	assert.True(t, refused[holder](t), "embedded, so its method is the type's")
	assert.False(t, refused[field](t))
	assert.False(t, refused[[]*result](t))
	assert.False(t, refused[retry.Eager](t))
	assert.False(t, refused[any](t))
	assert.False(t, refused[struct{}](t))
	assert.False(t, refused[int](t))
	assert.False(t, refused[large](t))
}

func TestAFuncThatEndsTheContextEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	p := retry.New().Backoff(backoff.Func(func(int) (lo, hi time.Duration) { cancel(); return 0, 0 }))
	err := retry.Run(ctx, p, func(context.Context) error { calls++; return errBoom })
	assert.Equal(t, 1, calls)
	assert.ErrorIs(t, err, context.Canceled)
}

// wrapper is an error whose methods panic on a nil pointer.
type wrapper struct{ cause error }

func (w *wrapper) Error() string                     { return "wrapper" }
func (w *wrapper) Unwrap() error                     { return w.cause }
func (w *wrapper) RetryAfter() (time.Duration, bool) { return 0, w.cause == nil }

func TestANilPointerIsAnErrorLikeAnyOther(t *testing.T) {
	var none *wrapper
	all := retry.Match(func(error) bool { return false })
	for _, err := range []error{none, errors.Join(nil, none), retry.After(0, none)} {
		calls := 0
		got := retry.Run(t.Context(), noWait.Except(all), func(context.Context) error { calls++; return err })
		assert.Equal(t, 4, calls)
		assert.Error(t, got)
	}
}

func TestAnErrorMadeByHandHasAText(t *testing.T) {
	e := &retry.Error{Reason: retry.Cancelled, Attempts: 1, Cause: context.Canceled}
	assert.EqualError(t, e, "retry: cancelled after 1 attempt (context canceled)")
	assert.EqualError(t, &retry.Error{}, "retry: going on after 0 attempts")
	assert.Empty(t, (&retry.Error{}).Unwrap())
	assert.Empty(t, (&retry.Error{}).Earlier())
}

func TestNumbersWithoutAWordAreShownAsNumbers(t *testing.T) {
	assert.Equal(t, "Reason(200)", retry.Reason(200).String())
	assert.Equal(t, "Kind(0)", retry.Kind(0).String())
	assert.Equal(t, "Source(2)", retry.Source(2).String())
	assert.Equal(t, "HintMode(3)", retry.HintMode(3).String())
}

func TestNegativeNumbersOfAFailureReadAsZero(t *testing.T) {
	p := retry.New().MaxElapsed(math.MaxInt64)
	assert.True(t, p.Next(retry.Failure{Err: errBoom, Elapsed: -1}).Retry)
	assert.Equal(t, retry.Exhausted, retry.New().MaxRetries(0).Next(retry.Failure{Err: errBoom, Retries: -1}).Reason)
	assert.Equal(t, retry.DeadlineWouldExceed, p.Next(retry.Failure{Err: errBoom, Left: -time.Hour, Deadline: true}).Reason)
}

type apiError struct{ code int }

func (e *apiError) Error() string { return "api" }

func TestPredicatesAndHooksSeeTheErrorWithoutOurMarks(t *testing.T) {
	busy := func(err error) bool { e, ok := err.(*apiError); return ok && e.code == 503 }
	var seen []error
	p := noWait.If(busy).MaxRetries(1).AttemptInfo().Events(func(_ context.Context, e retry.Event) {
		if e.Kind != retry.Started {
			seen = append(seen, e.Err)
		}
	})
	want := &apiError{503}
	err := retry.Run(t.Context(), p.Hints(retry.HintClamp, 1), func(ctx context.Context) error {
		if a, _ := retry.AttemptFrom(ctx); a.Number > 1 {
			seen = append(seen, a.Err)
		}
		return retry.After(1, want)
	})
	require.Len(t, seen, 5, "failed, scheduled, attempt, failed, finished")
	for _, e := range append(seen, err) {
		assert.True(t, e == error(want))
	}
}

func TestTheOrderOfSettingsCostsNothing(t *testing.T) {
	// A strategy without a fault is never judged again: Err neither walks nor allocates.
	shared := backoff.Constant(1)
	for range 200 {
		shared = shared.Then(1, shared) // 2^200 parts
	}
	shared = shared.Cap(5).FullJitter().Floor(1)
	assert.NoError(t, shared.Err())
	assert.Equal(t, time.Duration(1), shared.Delay(1, 0, 0))
	assert.True(t, retry.New().Backoff(shared).Next(retry.Failure{Err: errBoom}).Retry)
}

// quiet is a context that ends without a word: only Err tells.
type quiet struct {
	context.Context
	end time.Time
}

func (q quiet) Err() error {
	if time.Now().Before(q.end) {
		return nil
	}
	return context.Canceled
}

func TestTheContextIsLookedAtAgainAfterAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		err := retry.Run(quiet{context.Background(), time.Now().Add(time.Second / 2)}, retry.New(), func(context.Context) error { calls++; return errBoom })
		assert.Equal(t, 1, calls)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

func TestAnAttemptsTimeoutIsATimeoutToEveryone(t *testing.T) {
	err := error(&url.Error{Op: "Get", URL: "http://localhost", Err: retry.ErrAttemptTimeout}) // as net/http returns it
	var n net.Error
	require.ErrorAs(t, err, &n)
	assert.True(t, n.Timeout())
	assert.True(t, os.IsTimeout(err))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}
