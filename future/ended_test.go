package future_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

// Every branch of an error is looked through for what says never.
func TestAPermanentErrorIsFoundInEveryBranch(t *testing.T) {
	for _, err := range []error{errors.Join(retry.Permanent(errBoom), errOther), errors.Join(errOther, retry.Permanent(errBoom))} {
		calls := 0
		_, _ = retry.Do(t.Context(), noWait, func(context.Context) (int, error) { calls++; return 0, err })
		assert.Equal(t, 1, calls)
	}
}

// Where the context has ended, an error of its own of the work comes with that of the context, and the text has both.
func TestAnErrorAfterTheEndOfTheContextTellsOfBoth(t *testing.T) {
	for name, run := range map[string]func(context.Context, func(context.Context) (int, error)) error{
		"RunAll": func(ctx context.Context, op func(context.Context) (int, error)) error {
			_, err := future.RunAll(ctx, 1, op)
			return err
		},
		"RunRace": func(ctx context.Context, op func(context.Context) (int, error)) error {
			_, err := future.RunRace(ctx, 1, op)
			return err
		},
		"Group": func(ctx context.Context, op func(context.Context) (int, error)) error {
			g := future.NewGroup[int](ctx)
			g.Go(op)
			_, err := g.Wait()
			return err
		},
		"Hedge": func(ctx context.Context, op func(context.Context) (int, error)) error {
			_, err := future.Hedge(ctx, future.HedgePolicy{}, op).Await(context.Background())
			return err
		},
	} {
		for _, fails := range []error{errBoom, retry.Permanent(errBoom)} {
			ctx, cancel := context.WithCancelCause(t.Context())
			err := run(ctx, func(context.Context) (int, error) { cancel(errOther); return 0, fails })
			assert.EqualError(t, err, "future: the context ended the work: context canceled (other): last error: boom", name)
			for _, want := range []error{context.Canceled, errOther, errBoom} {
				assert.ErrorIs(t, err, want, name)
			}
		}
	}
}

// Work that only repeats the cause of the context repeats that the context has ended.
func TestACauseIsAnEcho(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOther)
	for name, c := range combine {
		_, err := c(ctx, future.Failed[int](errOther))
		assert.ErrorIs(t, err, context.Canceled, name)
		assert.ErrorIs(t, err, errOther, name)
	}
}

// What has succeeded has, though the context ended meanwhile.
func TestASuccessAfterTheEndOfTheContextIsOne(t *testing.T) {
	for name, run := range runEach {
		ctx, cancel := context.WithCancel(t.Context())
		vs, err := run(ctx, 1, func(context.Context) (int, error) { cancel(); return 7, nil })
		assert.NoError(t, err, name)
		assert.Equal(t, []int{7}, vs, name)
	}
}

// One function, so that the end of the context keeps none from beginning.
func TestAnEchoOfAllFunctionsHasTheCause(t *testing.T) {
	for name, run := range runEach {
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := run(ctx, 1, func(ctx context.Context) (int, error) { cancel(errOther); return 0, ctx.Err() })
		assert.ErrorIs(t, err, context.Canceled, name)
		assert.ErrorIs(t, err, errOther, name)
	}
}

func TestTheLimitOfAGroupCanBeLifted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := future.NewGroup[int](t.Context())
		g.SetLimit(1)
		g.SetLimit(future.NoLimit)
		for range 3 {
			assert.True(t, g.TryGo(func(context.Context) (int, error) { time.Sleep(time.Second); return 1, nil }))
		}
		_, err := g.Wait()
		assert.NoError(t, err)
	})
}

// A function can be over before TryGo returns.
func TestTryGoHasAPlaceForEveryValue(t *testing.T) {
	g := future.NewGroup[int](t.Context())
	for range 10_000 {
		assert.True(t, g.TryGo(one))
	}
	vs, err := g.Wait()
	assert.NoError(t, err)
	assert.Len(t, vs, 10_000)
	assert.NotContains(t, vs, 0)
}

func TestHedgeRefusesAnEagerResult(t *testing.T) {
	_, err := future.Hedge(t.Context(), future.HedgePolicy{}, func(context.Context) (*future.Future[int], error) {
		t.Error("called")
		return nil, nil
	}).Await(t.Context())
	assert.Equal(t, retry.ErrEagerResult, err)
}

// A function that only repeats that the context has ended does not hide what another had failed with before.
func TestAnEchoDoesNotHideAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := future.RunAny(ctx, 2, failing, func(ctx context.Context) (int, error) {
			time.Sleep(time.Second) // the other has failed
			cancel(errOther)
			return 0, ctx.Err()
		})
		assert.ErrorIs(t, err, errBoom)
	})
}
