package future_test

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

// The wait before counts for the next.
func TestDecorrelatedWaitsGrow(t *testing.T) {
	strategy := backoff.Decorrelated(time.Second)
	for name, drive := range drivers {
		synctest.Test(t, func(t *testing.T) {
			var want, got []time.Duration
			for n, prev := 1, time.Duration(0); n <= 4; n++ {
				prev = strategy.Delay(n, prev, math.MaxUint64)
				want = append(want, prev)
			}
			p := retry.New().MaxRetries(4).Backoff(strategy).Rand(func() uint64 { return math.MaxUint64 }).Events(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.Scheduled {
					got = append(got, e.Delay)
				}
			})
			_, err := drive(t.Context(), p, failing)
			assert.True(t, err == errBoom, name)
			assert.Equal(t, want, got, name)
			assert.True(t, slices.IsSorted(got) && got[3] > 4*got[0], "%s: they grow", name)
		})
	}
}

// The context of an attempt with a time limit ends as soon as the operation is over, however that ends.
func TestTheContextOfACallEndsWithIt(t *testing.T) {
	for name, drive := range drivers {
		synctest.Test(t, func(t *testing.T) {
			var before []context.Context
			_, err := drive(t.Context(), retry.New().AttemptTimeout(time.Hour), func(ctx context.Context) (int, error) {
				for _, ctx := range before {
					assert.Equal(t, context.Canceled, ctx.Err(), name)
				}
				before = append(before, ctx)
				return 0, errBoom
			})
			assert.True(t, err == errBoom)
			assert.Len(t, before, 4)
			assert.Error(t, before[3].Err(), name)
		})
	}
	for how, c := range crashes {
		synctest.Test(t, func(t *testing.T) {
			var call context.Context
			_, err := future.Retry(t.Context(), retry.New().AttemptTimeout(time.Hour), func(ctx context.Context) (int, error) {
				call = ctx
				c.crash()
				return 1, nil
			}).Await(t.Context())
			assert.Error(t, err, how)
			assert.Equal(t, context.Canceled, call.Err(), how)
		})
	}
}

// The context of a call that is over tells of the attempt that the run is making now.
func TestAnAttemptThatIsOverTellsOfTheCurrentOne(t *testing.T) {
	for name, drive := range drivers {
		synctest.Test(t, func(t *testing.T) {
			var first context.Context
			calls := 0
			_, err := drive(t.Context(), retry.New().AttemptInfo(), func(ctx context.Context) (int, error) {
				if calls++; calls == 1 {
					first = ctx
				}
				got, ok := retry.AttemptFrom(first)
				assert.True(t, ok, name)
				assert.Equal(t, retry.Attempt{Number: calls, RetriesLeft: 4 - calls, Err: map[bool]error{true: errBoom}[calls > 1]}, got, name)
				return 0, errBoom
			})
			assert.True(t, err == errBoom, name)
		})
	}
}

// A run that leaves its context's waits does not take the others with it.
func TestARunThatWakesLeavesTheOthersToTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		began := time.Now()
		waits := func(d time.Duration) retry.Policy { return retry.New().Backoff(backoff.Constant(d)) }
		long := future.Retry(ctx, waits(time.Hour), failing)
		calls := 0
		v, err := future.Retry(ctx, waits(time.Second), func(context.Context) (int, error) {
			if calls++; calls == 2 {
				return 7, nil
			}
			return 0, errBoom
		}).Await(t.Context())
		assert.True(t, v == 7 && err == nil)
		cancel(errOther)
		_, err = long.Await(t.Context())
		assert.ErrorIs(t, err, errOther)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

// endsAsTold is a context that ends, and tells of it, when the test says so.
type endsAsTold struct {
	context.Context
	done chan struct{}
	err  *atomic.Pointer[error]
	hook func(func()) // is given what is registered
	left *atomic.Int32
}

func endingAsTold(hook func(func())) endsAsTold {
	return endsAsTold{context.Background(), make(chan struct{}), new(atomic.Pointer[error]), hook, new(atomic.Int32)}
}

func (c endsAsTold) Done() <-chan struct{} { return c.done }

func (c endsAsTold) Err() error {
	if err := c.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (c endsAsTold) AfterFunc(f func()) (stop func() bool) {
	c.left.Add(1)
	c.hook(f)
	return func() bool { return c.left.Add(-1) >= 0 }
}

// The wait is over before its context has taken the hook: that is taken off all the same.
func TestAHookThatComesTooLateIsTakenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := endingAsTold(func(func()) { time.Sleep(time.Minute) })
		calls := 0
		v, err := future.Retry(ctx, retry.New(), func(context.Context) (int, error) {
			if calls++; calls == 2 {
				return 7, nil
			}
			return 0, errBoom
		}).Await(context.Background())
		assert.True(t, v == 7 && err == nil)
		time.Sleep(time.Hour)
		assert.Zero(t, ctx.left.Load())
	})
}

// denies is a context that never says that it has ended.
type denies struct{ context.Context }

func (denies) Err() error { return nil }

// A context whose channel is closed, and that says it has not ended, ends no run: all go on, side by side.
func TestAContextThatHasNotEndedAfterAllEndsNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		var fs []*future.Future[int]
		for range 3 {
			calls := 0
			fs = append(fs, future.Retry(denies{ctx}, retry.New().Backoff(backoff.Constant(time.Hour)), func(context.Context) (int, error) {
				if calls++; calls == 1 {
					return 0, errBoom
				}
				time.Sleep(time.Minute)
				return 7, nil
			}))
		}
		vs, err := future.All(context.Background(), fs...)
		assert.NoError(t, err)
		assert.Equal(t, []int{7, 7, 7}, vs)
		assert.Equal(t, time.Second+time.Minute, time.Since(began))
	})
}

// The end of the context and that of the wait come at one instant: one of them takes the run, alone.
func TestOnlyOneWakesARun(t *testing.T) {
	for range *interleavings / 50 {
		synctest.Test(t, func(t *testing.T) {
			for range 50 {
				ctx := endingAsTold(nil)
				ctx.hook = func(f func()) {
					time.AfterFunc(time.Second, func() { ctx.err.Store(&context.Canceled); f() })
				}
				var finished atomic.Int32
				p := retry.New().MaxRetries(1).Events(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.Finished {
						finished.Add(1)
						time.Sleep(time.Second)
					}
				})
				_, err := future.Retry(ctx, p, failing).Await(context.Background())
				assert.ErrorIs(t, err, errBoom)
				synctest.Wait()
				assert.Equal(t, int32(1), finished.Load())
			}
		})
	}
}

func TestACrashLeavesNoValue(t *testing.T) {
	for how, c := range crashes {
		calls := 0
		v, err := future.Retry(t.Context(), noWait, func(context.Context) (int, error) {
			if calls++; calls > 1 {
				c.crash()
			}
			return 7, errBoom
		}).Await(t.Context())
		c.check(t, err)
		assert.Zero(t, v, how)
	}
}
