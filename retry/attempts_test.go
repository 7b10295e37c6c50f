package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
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

// told collects the events of a run.
func collect(into *[]retry.Event) func(context.Context, retry.Event) {
	return func(_ context.Context, e retry.Event) { *into = append(*into, e) }
}

func kinds(events []retry.Event) (all []string) {
	for _, e := range events {
		all = append(all, e.Kind.String())
	}
	return all
}

func TestALoopThatSucceedsEndsWithNil(t *testing.T) {
	var rounds []int
	var err error
	for _, n := range retry.Attempts(t.Context(), noWait, &err) {
		rounds = append(rounds, n)
		if err = errBoom; n == 3 {
			err = nil
		}
	}
	assert.NoError(t, err)
	assert.Equal(t, []int{1, 2, 3}, rounds)
}

func TestADeadContextMakesNoRoundAndStillAnError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCause)
	var err error
	for range retry.Attempts(ctx, noWait, &err) {
		t.Fatal("a round was made")
	}
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, errCause)
	var bad error
	for range retry.Attempts(t.Context(), noWait.MaxRetries(-1), &bad) {
		t.Fatal("a round was made")
	}
	assert.EqualError(t, bad, noWait.MaxRetries(-1).Err().Error())
}

func TestALoopIsCancelledInAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errCause)
		defer cancel()
		time.AfterFunc(200*time.Millisecond, cancel)
		began, rounds := time.Now(), 0
		var err error
		for range retry.Attempts(ctx, retry.New(), &err) {
			rounds++
			err = errBoom
		}
		assert.Equal(t, 1, rounds)
		assert.Equal(t, 200*time.Millisecond, time.Since(began))
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errBoom)
	})
}

func TestLeavingALoopEndsItsRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		body   func(n int, err *error) (leave bool)
		want   error
		reason retry.Reason
		kinds  []string
	}{
		{"with an error", func(_ int, err *error) bool { *err = errOther; return true }, errOther, retry.Abandoned, []string{"started", "failed", "finished"}},
		{"with a marked error", func(_ int, err *error) bool { *err = retry.Permanent(errOther); return true }, errOther, retry.Abandoned, []string{"started", "failed", "finished"}},
		{"with success", func(_ int, err *error) bool { *err = nil; return true }, nil, retry.Succeeded, []string{"started", "finished"}},
		{"before the first call", func(int, *error) bool { return true }, retry.ErrAbandoned, retry.Abandoned, []string{"started", "finished"}},
		{"before the second call", func(n int, err *error) bool {
			if n == 1 {
				*err = errBoom
			}
			return n == 2
		}, errBoom, retry.Abandoned, []string{"started", "failed", "scheduled", "started", "finished"}},
	} {
		var events []retry.Event
		var err error
		for _, n := range retry.Attempts(t.Context(), noWait.Events(collect(&events)), &err) {
			if c.body(n, &err) {
				break
			}
		}
		assert.True(t, err == c.want, "%s: %v", c.name, err)
		assert.Equal(t, c.kinds, kinds(events), c.name)
		for _, e := range events[1:] {
			assert.True(t, e.Kind == retry.Started || e.Err == c.want || e.Err == errBoom, "%s: %v", c.name, e)
		}
		last := events[len(events)-1]
		assert.Equal(t, c.reason, last.Reason, c.name)
		assert.True(t, last.Err == c.want)
	}
}

func TestReturnFromALoopIsAbandonedToo(t *testing.T) {
	var events []retry.Event
	loop := func() (n int, err error) {
		for _, n := range retry.Attempts(t.Context(), noWait.Events(collect(&events)).WrapErrors(), &err) {
			if n == 2 {
				return n, err // the mark is still there
			}
			err = errBoom
		}
		return 0, err
	}
	n, err := loop()
	assert.Equal(t, 2, n)
	var e *retry.Error
	require.ErrorAs(t, err, &e, "err is the variable that the loop works on")
	assert.Equal(t, retry.Abandoned, e.Reason)
	assert.Equal(t, errBoom, e.Last)
	assert.Equal(t, retry.Abandoned, events[len(events)-1].Reason)
}

func TestABodyThatDoesNotSetTheErrorPanics(t *testing.T) {
	var err error
	assert.PanicsWithValue(t, "retry.Attempts: the body of the loop has not set the error: set it in every round, to nil on success, with = and not :=", func() {
		for range retry.Attempts(t.Context(), noWait, &err) {
			_, err := fail(t.Context()) // a new variable, by mistake
			_ = err
		}
	})
	assert.True(t, err == retry.ErrAbandoned, "the mark does not stay: %v", err)
}

func TestAPanicInTheBodyPassesThrough(t *testing.T) {
	var events []retry.Event
	var err error
	p := noWait.AttemptTimeout(time.Hour).Events(collect(&events))
	var inside context.Context
	assert.PanicsWithValue(t, "by the user", func() {
		for ctx := range retry.Attempts(t.Context(), p, &err) {
			inside = ctx
			panic("by the user")
		}
	})
	assert.True(t, err == retry.ErrAbandoned)
	assert.ErrorIs(t, inside.Err(), context.Canceled, "the round's context ended")
	assert.Equal(t, []string{"started"}, kinds(events))

	var wg sync.WaitGroup
	wg.Go(func() {
		for range retry.Attempts(t.Context(), p, &err) {
			err = errBoom
			runtime.Goexit()
		}
		t.Error("came back")
	})
	wg.Wait()
	assert.True(t, err == errBoom)
}

func TestALoopAllocatesNothing(t *testing.T) {
	for name, rounds := range map[string]int{"one": 1, "three": 3, "exhausted": 5} {
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			var err error
			for _, n := range retry.Attempts(t.Context(), noWait, &err) {
				if err = errBoom; n == rounds {
					err = nil
				}
			}
		}), name)
	}
}

func TestTheContextOfARoundIsTheCallersOwn(t *testing.T) {
	var err error
	for ctx := range retry.Attempts(t.Context(), retry.New(), &err) {
		assert.Same(t, t.Context(), ctx)
		err = nil
	}
}

func TestALoopCanBeRangedOverAgain(t *testing.T) {
	var err error
	loop := retry.Attempts(t.Context(), noWait.MaxRetries(1), &err)
	for range 2 {
		rounds := 0
		for range loop {
			rounds++
			err = errBoom
		}
		assert.Equal(t, 2, rounds)
		assert.True(t, err == errBoom)
	}
}

func TestMissingArgumentsOfALoopPanicByName(t *testing.T) {
	var none context.Context
	var err error
	assert.PanicsWithValue(t, "retry.Attempts: nil ctx: want a context, such as context.Background()", func() {
		for range retry.Attempts(none, retry.New(), &err) {
			err = nil
		}
	})
	assert.PanicsWithValue(t, "retry.Attempts: nil err: want a pointer to the error that the loop's body sets", func() {
		for range retry.Attempts(t.Context(), retry.New(), nil) {
			break
		}
	})
}

func TestAttemptInfoAnswersInEveryAttempt(t *testing.T) {
	var seen []retry.Attempt
	p := noWait.MaxRetries(2).AttemptInfo()
	for name, drive := range drivers {
		for _, p := range []retry.Policy{p, p.AttemptTimeout(time.Hour)} {
			seen = nil
			_, err := drive(t.Context(), p, func(ctx context.Context) (int, error) {
				a, ok := retry.AttemptFrom(ctx)
				require.True(t, ok)
				seen = append(seen, a)
				return a.Number, errBoom
			})
			assert.ErrorIs(t, err, errBoom)
			assert.Equal(t, []retry.Attempt{{1, 2, nil}, {2, 1, errBoom}, {3, 0, errBoom}}, seen, name)
		}
	}
	_, _ = retry.Do(t.Context(), noWait.MaxRetries(retry.Unlimited).AttemptInfo(), func(ctx context.Context) (int, error) {
		a, _ := retry.AttemptFrom(ctx)
		assert.Equal(t, retry.Unlimited, a.RetriesLeft)
		if a.Number < 3 {
			return 0, errBoom
		}
		return 0, nil
	})
}

func TestAttemptInfoIsNotThereUnlessAskedFor(t *testing.T) {
	_ = retry.Run(t.Context(), noWait, func(ctx context.Context) error {
		_, ok := retry.AttemptFrom(ctx)
		assert.False(t, ok)
		return nil
	})
}

type key struct{}

func TestAttemptInfoKeepsTheContextsValuesAndNests(t *testing.T) {
	ctx := context.WithValue(t.Context(), key{}, "value")
	_ = retry.Run(ctx, noWait.AttemptInfo().MaxRetries(7), func(ctx context.Context) error {
		assert.Equal(t, "value", ctx.Value(key{}))
		return retry.Run(ctx, noWait.AttemptInfo().MaxRetries(5), func(ctx context.Context) error {
			a, _ := retry.AttemptFrom(ctx)
			assert.Equal(t, 5, a.RetriesLeft, "the innermost run's")
			return nil
		})
	})
}

func TestAttemptInfoIsOneAllocationInARun(t *testing.T) {
	p := noWait.AttemptInfo()
	for _, op := range []func(context.Context) (int, error){succeed, fail} {
		assert.Equal(t, 1.0, testing.AllocsPerRun(100, func() { _, _ = retry.Do(t.Context(), p, op) }))
	}
}

func TestAGoroutineThatOutlivesItsAttemptMayAsk(t *testing.T) {
	var wg sync.WaitGroup
	_ = retry.Run(t.Context(), noWait.MaxRetries(50).AttemptInfo(), func(ctx context.Context) error {
		wg.Go(func() {
			a, ok := retry.AttemptFrom(ctx)
			if !ok || a.Number < 1 || a.Number > 51 {
				t.Errorf("%+v", a)
			}
		})
		return errBoom
	})
	wg.Wait()
}

func TestEarlierErrorsAreKeptOutOfTheTree(t *testing.T) {
	errs := make([]error, 7)
	for i := range errs {
		errs[i] = errors.New(string(rune('a' + i)))
	}
	n := 0
	err := retry.Run(t.Context(), noWait.MaxRetries(6).WrapErrors(), func(context.Context) error { n++; return errs[n-1] })
	var e *retry.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, []error{errs[0], errs[1], errs[4], errs[5]}, e.Earlier(), "the first two and the last two before the last")
	assert.ErrorIs(t, err, errs[6])
	for _, overcome := range errs[:6] {
		assert.NotErrorIs(t, err, overcome)
	}
}

func TestTheWorstCase(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		p     retry.Policy
		calls int
		wait  time.Duration
	}{
		{retry.New(), 4, 3 * s},
		{retry.New().MaxRetries(0), 1, 0},
		{retry.New().MaxElapsed(2 * s), 4, 2 * s},
		{retry.Standard(), 4, 700 * time.Millisecond},
		{retry.New().MaxRetries(retry.Unlimited), retry.Unlimited, math.MaxInt64}, // also where an int has 32 bits
		{retry.New().MaxRetries(retry.Unlimited).Backoff(backoff.Constant(1)), retry.Unlimited, math.MaxInt64},
		{retry.New().MaxRetries(retry.Unlimited).Backoff(backoff.List(s, 0)), retry.Unlimited, s},
		{retry.New().MaxRetries(retry.Unlimited - 1).MaxElapsed(time.Hour), retry.Unlimited, time.Hour},
		{retry.New().MaxRetries(retry.Unlimited).MaxElapsed(time.Hour), retry.Unlimited, time.Hour},
		{noWait.MaxRetries(retry.Unlimited), retry.Unlimited, 0},
		{retry.New().MaxRetries(100).Backoff(backoff.Fibonacci(s).Cap(8 * s)), 101, (1 + 1 + 2 + 3 + 5 + 95*8) * s},
		{retry.New().MaxRetries(-1), 0, 0},
	} {
		calls, wait := c.p.WorstCase()
		assert.Equal(t, c.calls, calls, "%v", c.p)
		assert.Equal(t, c.wait, wait, "%v", c.p)
	}
}

func TestTheErrorOfARoundBeforeIsPutBackWithoutOurMark(t *testing.T) {
	leave := map[string]func(round int){
		"break":        func(int) {},
		"panic":        func(int) { panic("by the user") },
		"no error set": func(int) {},
	}
	for name, second := range leave {
		var err error
		func() {
			defer func() { _ = recover() }()
			for _, n := range retry.Attempts(t.Context(), noWait, &err) {
				if n == 1 {
					err = retry.After(1, errBoom)
					continue
				}
				if second(n); name == "break" {
					break
				}
			}
		}()
		assert.True(t, err == errBoom, "%s: %v", name, err)
	}
}

func TestAMarkThatIsJoinedIsNoErrorOfTheBody(t *testing.T) {
	var err error
	assert.Panics(t, func() {
		for range retry.Attempts(t.Context(), noWait, &err) {
			err = errors.Join(err, nil) // a success, meant to be added to err
		}
	})
}

func TestALoopLeftUndecidedNamesOneFailureOnce(t *testing.T) {
	var events []retry.Event
	loop := func() (err error) {
		for _, n := range retry.Attempts(t.Context(), noWait.WrapErrors().Events(collect(&events)), &err) {
			if n == 3 {
				return err
			}
			err = []error{nil, errBoom, retry.After(1, errOther)}[n]
		}
		return err
	}
	var e *retry.Error
	require.ErrorAs(t, loop(), &e)
	assert.Equal(t, errOther, e.Last)
	assert.Equal(t, []error{errBoom}, e.Earlier())
	assert.Equal(t, 3, e.Attempts)
	assert.Equal(t, []string{"started", "failed", "scheduled", "started", "failed", "scheduled", "started", "finished"}, kinds(events))
}

func TestTheContextOfAttemptInfoMayBePrinted(t *testing.T) {
	var wg sync.WaitGroup
	defer wg.Wait()
	_ = retry.Run(context.Background(), noWait.MaxRetries(50).AttemptInfo(), func(ctx context.Context) error {
		wg.Go(func() {
			if text := fmt.Sprintf("%v", ctx); text != "context.Background.WithAttemptInfo" {
				t.Error(text)
			}
		})
		return errBoom
	})
}
