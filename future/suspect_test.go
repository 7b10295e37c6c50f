package future_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

// An attempt is suspicious only after one that awaited a failure: where one came between, a third does not stop the run.
func TestOnlyTheAttemptBeforeMakesOneSuspicious(t *testing.T) {
	for name, drive := range drivers {
		for _, p := range []retry.Policy{noWait, retry.New(), retry.New().AttemptInfo()} {
			synctest.Test(t, func(t *testing.T) {
				old := future.Failed[int](errOld)
				calls := 0
				_, err := drive(t.Context(), p.MaxRetries(9), func(ctx context.Context) (int, error) {
					if calls++; calls == 2 {
						return 0, errOther
					}
					return old.Await(ctx)
				})
				assert.Equal(t, 4, calls, name)
				assert.True(t, err == errOld, name)
			})
		}
	}
}

// What others await while a run waits is not held against its next attempt.
func TestAFailureAwaitedDuringAWaitDoesNotCount(t *testing.T) {
	for name, drive := range drivers {
		synctest.Test(t, func(t *testing.T) {
			old := future.Failed[int](errOld)
			time.AfterFunc(time.Second/2, func() { _, _ = old.Await(context.Background()) })
			calls := 0
			_, err := drive(t.Context(), retry.New().MaxRetries(9), func(ctx context.Context) (int, error) {
				if calls++; calls < 3 {
					return 0, errOther
				}
				return old.Await(ctx)
			})
			assert.Equal(t, 4, calls, name)
			assert.True(t, err == errOld, name)
		})
	}
}

// A run inside a suspicious attempt has a result of its own, which is nobody's old failure.
func TestAnInnerRunsOwnResultIsNotStale(t *testing.T) {
	for name, drive := range drivers {
		for _, fails := range []error{errBoom, retry.Permanent(errBoom), nil} {
			synctest.Test(t, func(t *testing.T) {
				old := future.Failed[int](errOld)
				calls := 0
				v, err := drive(t.Context(), noWait, func(ctx context.Context) (int, error) {
					calls++
					if _, err := old.Await(ctx); calls == 1 {
						return 0, err
					}
					v, err := drive(ctx, noWait.AttemptInfo(), func(context.Context) (int, error) { return 7, fails })
					assert.True(t, err == map[bool]error{true: errBoom}[fails != nil], "%s: %#v", name, err)
					return v, err
				})
				assert.Equal(t, 7, v, name)
				assert.Equal(t, map[bool]int{true: 2, false: 4}[fails == nil], calls, name)
				assert.Equal(t, fails != nil, err == errBoom, "%s: %v", name, err)
			})
		}
	}
}

// The mark of an outer attempt does not stop the run inside, which did not await with its own context.
func TestAMarkStopsOnlyTheRunOfItsAttempt(t *testing.T) {
	old := future.Failed[int](errOld)
	var calls []int
	_, err := retry.Do(t.Context(), noWait, func(outer context.Context) (int, error) {
		calls = append(calls, 0)
		return retry.Do(context.Background(), noWait, func(context.Context) (int, error) {
			calls[len(calls)-1]++
			return old.Await(outer)
		})
	})
	assert.True(t, err == errOld)
	assert.Equal(t, []int{4, 4}, calls)
}

// A future that passes on a failure has that one's age: it does not stop an attempt that was running when that failed.
func TestAFailureThatIsPassedOnKeepsItsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, young := future.New[int]()
		var passed *future.Future[int]
		older, calls := future.Failed[int](errOld), 0
		_, err := retry.Do(t.Context(), noWait.MaxRetries(9), func(ctx context.Context) (int, error) {
			switch calls++; calls {
			case 1:
				return older.Await(ctx)
			case 2: // another run opens an epoch and passes on what has failed during this call
				p.Reject(errOld)
				n := 0
				_, _ = retry.Do(t.Context(), noWait, func(ctx context.Context) (int, error) {
					if n++; n == 2 {
						passed = future.Go(ctx, young.Await)
						return passed.Await(ctx)
					}
					return young.Await(ctx)
				})
			}
			return passed.Await(ctx)
		})
		assert.True(t, err == errOld)
		assert.Equal(t, 3, calls)
	})
}

// pointer is an error whose methods cannot be called on nil.
type pointer struct{ error }

func (p *pointer) Unwrap() error { return p.error }

func TestANilPointerThatIsAnErrorIsNotLookedInto(t *testing.T) {
	none := error((*pointer)(nil))
	old := future.Failed[int](errOld)
	calls := 0
	_, err := retry.Do(t.Context(), noWait, func(ctx context.Context) (int, error) {
		calls++
		_, _ = old.Await(ctx) // so that the next is suspicious
		return future.Any(ctx, future.Failed[int](none), future.Failed[int](none))
	})
	assert.True(t, err == none)
	assert.Equal(t, 4, calls)
}

// What ends the others has no mark: that is for the attempt alone.
func TestNoMarkGetsOutAsACause(t *testing.T) {
	for _, name := range []string{"Hedge", "Group"} {
		synctest.Test(t, func(t *testing.T) {
			old := future.Failed[int](errOld)
			calls := 0
			var cause error
			_, err := retry.Do(t.Context(), noWait, func(ctx context.Context) (int, error) {
				if calls++; calls == 1 {
					return old.Await(ctx)
				}
				began := make(chan struct{})
				waits := func(ctx context.Context) (int, error) {
					close(began)
					<-ctx.Done()
					cause = context.Cause(ctx)
					return 0, nil
				}
				fails := func(ctx context.Context) (int, error) { <-began; return old.Await(ctx) }
				if name == "Group" {
					g := future.NewGroup[int](ctx)
					g.Go(waits)
					g.Go(fails)
					_, err := g.Wait()
					return 0, err
				}
				tries := make(chan func(context.Context) (int, error), 2)
				tries <- waits
				tries <- func(ctx context.Context) (int, error) {
					_, err := fails(ctx)
					return 0, retry.Permanent(err)
				}
				return future.Hedge(ctx, future.HedgeAfter(time.Second), func(ctx context.Context) (int, error) { return (<-tries)(ctx) }).Await(ctx)
			})
			assert.ErrorIs(t, err, errOld, name)
			assert.True(t, cause == errOld, "%s: %#v", name, cause)
		})
	}
}

// The zero Future has failed when it is first looked at.
func TestAZeroFutureIsAnOldFailure(t *testing.T) {
	for name, drive := range drivers {
		var zero future.Future[int]
		calls := 0
		_, err := drive(t.Context(), noWait, func(ctx context.Context) (int, error) { calls++; return zero.Await(ctx) })
		assert.ErrorContains(t, err, "stands for no work", name)
		assert.Equal(t, 2, calls, name)
	}
}

// A future that is made to fail with what an attempt has got has no mark of that.
func TestNoMarkGetsIntoAFuture(t *testing.T) {
	old := future.Failed[int](errOld)
	calls := 0
	_, err := retry.Do(t.Context(), noWait, func(ctx context.Context) (int, error) {
		calls++
		_, err := old.Await(ctx)
		f := future.Failed[int](err)
		p, g := future.New[int]()
		p.Reject(err)
		for _, f := range []*future.Future[int]{f, g} {
			_, own, _ := f.Result()
			assert.True(t, own == errOld, "%#v", own)
		}
		if calls == 1 {
			return 0, err
		}
		return f.Await(ctx)
	})
	assert.True(t, err == errOld)
	assert.Equal(t, 2, calls)
}

// One of several whose failure another attempt could do without makes the whole one that it could.
func TestAnAlternativeInsideAnAlternativeIsRetried(t *testing.T) {
	old := future.Failed[int](errOld)
	either := func(ctx context.Context) (int, error) { return future.RunAny(ctx, 1, failing, old.Await) }
	for name, op := range map[string]func(context.Context) (int, error){
		"RunAny": func(ctx context.Context) (int, error) { return future.RunAny(ctx, 1, either, old.Await) },
		"Hedge": func(ctx context.Context) (int, error) {
			tries := make(chan func(context.Context) (int, error), 2)
			tries <- either
			tries <- old.Await
			return future.Hedge(ctx, future.HedgeAfter(time.Hour), func(ctx context.Context) (int, error) { return (<-tries)(ctx) }).Await(ctx)
		},
	} {
		calls := 0
		_, err := retry.Do(t.Context(), noWait, func(ctx context.Context) (int, error) { calls++; return op(ctx) })
		assert.ErrorIs(t, err, errOld, name)
		assert.Equal(t, 4, calls, name)
	}
}
