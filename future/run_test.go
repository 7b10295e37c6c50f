package future_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/future"
)

// Functions that wait for one another, also for later ones, all run.
func TestFunctionsThatWaitForOneAnotherAllRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "order")
		rapid.SyncTest(t, func(t *rapid.T) {
			ended := make([]chan struct{}, n+1)
			for i := range ended {
				ended[i] = make(chan struct{})
			}
			close(ended[n])
			before := n // what the next in order waits for
			ops := make([]func(context.Context) (int, error), n)
			for _, i := range order {
				waitsFor := before
				ops[i] = func(context.Context) (int, error) { <-ended[waitsFor]; close(ended[i]); return i, nil }
				before = i
			}
			vs, err := future.RunAll(context.Background(), future.NoLimit, ops...)
			require.NoError(t, err)
			for i, v := range vs {
				require.Equal(t, i, v)
			}
		})
	})
}

// The first function never leaves its goroutine to others: the second still runs.
func TestAFunctionThatHoldsItsGoroutineKeepsNobodyWaiting(t *testing.T) {
	var ran atomic.Bool
	_, err := future.RunAll(t.Context(), 2, func(context.Context) (int, error) {
		for !ran.Load() {
			runtime.Gosched()
		}
		return 0, nil
	}, func(context.Context) (int, error) { ran.Store(true); return 0, nil })
	assert.NoError(t, err)
}

// repeated returns n functions that are one.
func repeated(n int, op func(context.Context) (int, error)) []func(context.Context) (int, error) {
	ops := make([]func(context.Context) (int, error), n)
	for i := range ops {
		ops[i] = op
	}
	return ops
}

func TestTheLimitIsReachedAndNotPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		began := time.Now()
		_, err := future.RunAll(t.Context(), 10, repeated(100, func(context.Context) (int, error) {
			now := running.Add(1)
			defer running.Add(-1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			time.Sleep(time.Second)
			return 0, nil
		})...)
		assert.NoError(t, err)
		assert.Equal(t, int64(10), most.Load())
		assert.Equal(t, 10*time.Second, time.Since(began))
	})
}

// Whatever the limit and the moment of the failure: nothing begins after it, what runs is
// cancelled with it as the cause and waited for.
func TestTheFirstFailureEndsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, limit := rapid.IntRange(1, 30).Draw(t, "n"), rapid.IntRange(1, 40).Draw(t, "limit")
		bad := rapid.IntRange(0, n-1).Draw(t, "bad")
		rude := rapid.Bool().Draw(t, "rude")
		rapid.SyncTest(t, func(t *rapid.T) {
			began := time.Now()
			var failedAt atomic.Int64
			var begun, ended atomic.Int64
			ops := make([]func(context.Context) (int, error), n)
			for i := range ops {
				ops[i] = func(ctx context.Context) (int, error) {
					begun.Add(1)
					defer ended.Add(1)
					if at := failedAt.Load(); at > 0 {
						require.Equal(t, at, int64(time.Since(began)), "nothing begins after the failure")
					}
					if i == bad {
						time.Sleep(1500 * time.Millisecond)
						failedAt.Store(int64(time.Since(began)))
						return 0, errBoom
					}
					if rude {
						time.Sleep(time.Second)
						return 0, nil
					}
					select {
					case <-time.After(time.Second):
						return 0, nil
					case <-ctx.Done():
						require.Equal(t, errBoom, context.Cause(ctx))
						return 0, ctx.Err()
					}
				}
			}
			vs, err := future.RunAll(context.Background(), limit, ops...)
			require.True(t, err == errBoom)
			require.Nil(t, vs)
			require.Equal(t, begun.Load(), ended.Load(), "waited for")
			if !rude {
				require.Equal(t, failedAt.Load(), int64(time.Since(began)), "at once")
			}
		})
	})
}

func TestTheEndOfTheContextEndsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, run := range runEach {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 1500*time.Millisecond, errOther)
			begun := 0
			_, err := run(ctx, 1, repeated(9, func(ctx context.Context) (int, error) {
				begun++
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					return 0, ctx.Err()
				}
				if name == "All" {
					return 0, nil
				}
				<-ctx.Done()
				return 0, errBoom
			})...)
			cancel()
			assert.ErrorIs(t, err, context.DeadlineExceeded, name)
			assert.ErrorIs(t, err, errOther, name)
			assert.Equal(t, name != "All", errors.Is(err, errBoom), name)
			assert.LessOrEqual(t, begun, 2)
		}
	})
}

func TestLosersLearnThatTheyHaveLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, run := range []func(context.Context, int, ...func(context.Context) (int, error)) (int, error){future.RunAny[int], future.RunRace[int]} {
			lost := make(chan error, 1)
			began := time.Now()
			v, err := run(t.Context(), 2, func(ctx context.Context) (int, error) {
				<-ctx.Done()
				lost <- context.Cause(ctx)
				time.Sleep(time.Second)
				return 0, ctx.Err()
			}, func(context.Context) (int, error) { time.Sleep(time.Second); return 7, nil })
			assert.NoError(t, err)
			assert.Equal(t, 7, v)
			assert.Equal(t, future.ErrLost, <-lost)
			assert.Equal(t, 2*time.Second, time.Since(began), "waited for")
		}
	})
}

func TestTheFunctionsRunOnFewGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	var most atomic.Int64
	_, err := future.RunAll(t.Context(), future.NoLimit, repeated(10_000, func(context.Context) (int, error) {
		if n := int64(runtime.NumGoroutine()); n > most.Load() {
			most.Store(n)
		}
		return 0, nil
	})...)
	assert.NoError(t, err)
	assert.Less(t, most.Load(), int64(before+1000))
}

func TestAGroupCollectsTheValuesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, g := range []*future.Group[int]{future.NewGroup[int](t.Context()), new(future.Group[int])} {
			g.SetLimit(3)
			began := time.Now()
			for i := range 9 {
				g.Go(func(ctx context.Context) (int, error) { time.Sleep(time.Second); return i, ctx.Err() })
			}
			assert.False(t, g.TryGo(one), "as many run as may")
			vs, err := g.Wait()
			assert.NoError(t, err)
			assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, vs)
			assert.Equal(t, 3*time.Second, time.Since(began))
		}
	})
}

func TestAGroupEndsWithItsFirstError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := future.NewGroup[int](t.Context())
		g.SetLimit(future.NoLimit)
		for range 3 {
			assert.True(t, g.TryGo(func(ctx context.Context) (int, error) {
				<-ctx.Done()
				assert.Equal(t, errBoom, context.Cause(ctx))
				return 0, ctx.Err()
			}))
		}
		g.Go(func(context.Context) (int, error) {
			time.Sleep(time.Second)
			return 0, errBoom
		})
		time.Sleep(2 * time.Second)
		g.Go(func(context.Context) (int, error) { t.Error("begun after the failure"); return 0, nil })
		vs, err := g.Wait()
		assert.True(t, err == errBoom)
		assert.Nil(t, vs)
	})
}

func TestAGroupEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		g := future.NewGroup[int](ctx)
		g.Go(func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, errBoom })
		time.AfterFunc(time.Second, func() { cancel(errOther) })
		_, err := g.Wait()
		for _, want := range []error{context.Canceled, errOther, errBoom} {
			assert.ErrorIs(t, err, want)
		}
		g = future.NewGroup[int](ctx)
		g.Go(one)
		_, err = g.Wait()
		assert.ErrorIs(t, err, errOther)
	})
}
