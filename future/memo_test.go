package future_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/future"
)

func TestAMemoKeepsASuccessAndNoFailure(t *testing.T) {
	runs := 0
	m := future.NewMemo(func(context.Context) (int, error) {
		if runs++; runs < 3 {
			return runs, errBoom
		}
		return runs, nil
	})
	for want := 1; want <= 5; want++ { // B104
		v, err := m.Get(t.Context())
		assert.Equal(t, min(want, 3), v)
		assert.Equal(t, want < 3, err == errBoom)
	}
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	v, err := m.Get(dead)
	assert.NoError(t, err, "what is there beats a context that has ended")
	assert.Equal(t, 3, v)
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = m.Get(dead) }))
	_, err = future.NewMemo(one).Get(dead)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestTheFlightHasTheFirstCallersValues(t *testing.T) {
	m := future.NewMemo(func(ctx context.Context) (any, error) { return ctx.Value(contextKey{}), nil })
	v, err := m.Get(context.WithValue(t.Context(), contextKey{}, 7))
	assert.NoError(t, err)
	assert.Equal(t, 7, v)
}

// Who waits for the value, from when and for how long; and flights, each of which takes a
// time, obeys its context or not, and succeeds or not.
func TestAMemoAgainstAModel(t *testing.T) {
	type waiter struct{ comes, stays time.Duration }
	type flight struct {
		takes        time.Duration
		obeys, fails bool
	}
	rapid.Check(t, func(t *rapid.T) {
		waiters := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) waiter {
			return waiter{time.Duration(rapid.IntRange(0, 20).Draw(t, "comes")) * time.Second, time.Duration(rapid.IntRange(0, 9).Draw(t, "stays")) * time.Second}
		}), 1, 8).Draw(t, "waiters")
		for i := range waiters { // each at instants of its own
			waiters[i].comes += time.Duration(i+1) * time.Millisecond
		}
		flights := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) flight {
			return flight{time.Duration(rapid.IntRange(0, 8).Draw(t, "takes"))*time.Second + 100*time.Millisecond, rapid.Bool().Draw(t, "obeys"), rapid.Bool().Draw(t, "fails")}
		}), 9, 9).Draw(t, "flights")
		rapid.SyncTest(t, func(t *rapid.T) {
			start, runs, running := time.Now(), 0, false
			m := future.NewMemo(func(ctx context.Context) (int, error) {
				require.False(t, running, "never twice at once")
				running = true
				defer func() { running = false }()
				f := flights[min(runs, len(flights)-1)]
				runs++
				run := runs
				if f.obeys {
					select {
					case <-time.After(f.takes):
					case <-ctx.Done():
						return 0, context.Cause(ctx)
					}
				} else {
					time.Sleep(f.takes)
				}
				if f.fails {
					return 0, errBoom
				}
				return run, nil
			})
			got := make([]*future.Future[int], len(waiters))
			for i, w := range waiters {
				got[i] = future.Go(context.Background(), func(context.Context) (int, error) {
					time.Sleep(w.comes)
					ctx, cancel := context.WithTimeout(context.Background(), w.stays)
					defer cancel()
					v, err := m.Get(ctx)
					waited := time.Since(start) - w.comes
					require.LessOrEqual(t, waited, w.stays)
					if err != nil && err != errBoom {
						require.ErrorIs(t, err, context.DeadlineExceeded)
						require.Equal(t, w.stays, waited, "no flight that all have left is anybody else's failure")
					}
					return v, err
				})
			}
			value := 0
			for _, r := range future.AllSettled(context.Background(), got...) {
				if r.Err == nil {
					require.True(t, value == 0 || value == r.Value, "one success")
					value = r.Value
				}
			}
			time.Sleep(time.Minute) // the last flight lands
			v, err := m.Get(context.Background())
			if value != 0 {
				require.NoError(t, err)
				require.Equal(t, value, v)
			}
			time.Sleep(time.Minute)
		})
	})
}

func TestTheLastToLeaveCancelsTheFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, runs := time.Now(), 0
		m := future.NewMemo(func(ctx context.Context) (int, error) {
			if runs++; runs > 1 {
				return runs, nil
			}
			<-ctx.Done()
			assert.Equal(t, 3*time.Second, time.Since(start), "when the last has left")
			assert.Equal(t, errOther, context.Cause(ctx), "with the cause of the last")
			time.Sleep(time.Second)
			return 0, ctx.Err()
		})
		for i := range 3 {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Duration(i+1)*time.Second, func() {
				if i == 2 {
					cancel(errOther)
				}
				cancel(nil)
			})
			future.Go(ctx, m.Get)
		}
		time.Sleep(3500 * time.Millisecond)
		v, err := m.Get(t.Context()) // in between: waits for the end of the flight that was left
		assert.NoError(t, err)
		assert.Equal(t, 2, v)
		assert.Equal(t, 4*time.Second, time.Since(start))
	})
}

func TestAMemoThatWouldWaitForItselfSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m, other *future.Memo[int]
		m = future.NewMemo(func(ctx context.Context) (int, error) { return other.Get(ctx) })
		other = future.NewMemo(func(ctx context.Context) (int, error) { return m.Get(ctx) })
		_, err := m.Get(t.Context())
		assert.EqualError(t, err, "future: Memo.Get was called by the memo's own function: it would wait for itself")
	})
}

func TestWhoHasNoTimeStartsNoFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := future.NewMemo(func(context.Context) (int, error) { t.Error("called"); return 1, nil }).Get(dead)
		assert.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
	})
}

// Who only waits for the end of a flight that all have left has no part in it when leaving, nor has who comes then.
func TestAFlightThatAllHaveLeftStaysLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		m := future.NewMemo(func(context.Context) (int, error) {
			if runs++; runs == 1 {
				time.Sleep(time.Minute)
				return 0, errBoom
			}
			return runs, nil
		})
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := m.Get(ctx)
			cancel()
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		}
		v, err := m.Get(t.Context())
		assert.NoError(t, err)
		assert.Equal(t, 2, v)
	})
}

// The flight lands and the context ends when the wait has begun, so that both are ready: the result comes first.
func TestALandedFlightBeatsTheEndOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for i := range 200 {
			fails := []error{nil, errBoom}[i%2]
			ctx, cancel := context.WithCancel(t.Context())
			m := future.NewMemo(func(context.Context) (int, error) { time.Sleep(time.Millisecond); return 7, fails })
			v, err := m.Get(meanwhile{ctx, func() { time.Sleep(2 * time.Millisecond); cancel() }})
			assert.True(t, v == 7 && err == fails, "%v", err)
		}
	})
}

// asks is a context that something happens to when it is first asked whether it has ended.
type asks struct {
	context.Context
	once *sync.Once
	do   func()
}

func (a asks) Err() error {
	a.once.Do(a.do)
	return a.Context.Err()
}

// The flight lands between the look for a value and that for a flight.
func TestASuccessIsNotFlownAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		m := future.NewMemo(func(context.Context) (int, error) { runs++; time.Sleep(time.Second); return runs, nil })
		future.Go(t.Context(), m.Get)
		synctest.Wait()
		v, err := m.Get(asks{t.Context(), new(sync.Once), func() { time.Sleep(time.Minute) }})
		assert.True(t, v == 1 && err == nil)
		assert.Equal(t, 1, runs)
	})
}
