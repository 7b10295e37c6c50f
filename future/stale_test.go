package future_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

var (
	errOld   = errors.New("old")
	errOther = errors.New("other")
)

type contextKey struct{}

// stale is what a run got, and whether another call could have got something else.
type stale struct {
	name string
	// op makes call n. old had failed with errOld before the run.
	op    func(ctx context.Context, n int, old *future.Future[int]) (int, error)
	calls int // where it is stopped; by default after 2
	// is says what the run's error is; by default it is errOld itself.
	is func(error) bool
}

func wrapsOld(err error) bool { return err != errOld && errors.Is(err, errOld) }

// stopped are runs in which every call can only meet the same failure again.
var stopped = []stale{
	{name: "direct", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) { return old.Await(ctx) }},
	{name: "wrapped", is: wrapsOld, op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		v, err := old.Await(ctx)
		return v, fmt.Errorf("loading: %w", err)
	}},
	{name: "with a value", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return old.Await(context.WithValue(ctx, contextKey{}, 1))
	}},
	{name: "with a timeout", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return old.Await(ctx)
	}},
	{name: "mapped", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.Map(old, func(v int) (int, error) { return v, nil }).Await(ctx)
	}},
	{name: "chained", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.FlatMap(future.Value(1), func(int) *future.Future[int] { return old }).Await(ctx)
	}},
	{name: "awaited by an inner future", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.Go(ctx, func(ctx context.Context) (int, error) { return old.Await(ctx) }).Await(ctx)
	}},
	{name: "awaited by an inner future, which wraps it", is: wrapsOld, op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.Go(ctx, func(ctx context.Context) (int, error) {
			v, err := old.Await(ctx)
			return v, fmt.Errorf("loading: %w", err)
		}).Await(ctx)
	}},
	{name: "in All", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		_, err := future.All(ctx, future.Value(1), old)
		return 0, err
	}},
	{name: "in Any", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.Any(ctx, old, future.Map(old, func(v int) (int, error) { return v, nil }))
	}},
	{name: "in RunAny", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.RunAny(ctx, 1, old.Await, old.Await)
	}},
	{name: "in Race", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) { return future.Race(ctx, old) }},
	{name: "in RunAll", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		_, err := future.RunAll(ctx, future.NoLimit, old.Await)
		return 0, err
	}},
	{name: "in a hedged call", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.Hedge(ctx, future.HedgeAfter(time.Second), old.Await).Await(ctx)
	}},
	{name: "marked permanent too", op: func(ctx context.Context, n int, old *future.Future[int]) (int, error) {
		v, err := old.Await(ctx)
		if n > 1 {
			err = retry.Permanent(err)
		}
		return v, err
	}},
	{name: "in an error of the caller's own", is: func(err error) bool { w, ok := err.(wrapper); return ok && errors.Is(w, errOld) }, op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		v, err := old.Await(ctx)
		return v, wrapper{err}
	}},
	{name: "after another failure", calls: 3, op: func(ctx context.Context, n int, old *future.Future[int]) (int, error) {
		if n == 1 {
			return 0, errOther
		}
		return old.Await(ctx)
	}},
	{name: "in an inner run", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return retry.Do(ctx, noWait, old.Await) // two calls for each of ours
	}},
}

// olds had failed long ago, each in its own way.
var olds = []*future.Future[int]{
	future.Failed[int](errors.New("old 0")), future.Failed[int](errors.New("old 1")), future.Failed[int](errors.New("old 2")),
}

type wrapper struct{ error }

func (w wrapper) Unwrap() error { return w.error }

// retried are runs in which another call could meet something else.
var retriedOps = []stale{
	{name: "begun inside", op: func(ctx context.Context, _ int, _ *future.Future[int]) (int, error) {
		return future.Go(ctx, func(context.Context) (int, error) { return 0, errOld }).Await(ctx)
	}},
	{name: "failed from the start, inside", op: func(ctx context.Context, _ int, _ *future.Future[int]) (int, error) {
		return future.Failed[int](errOld).Await(ctx)
	}},
	{name: "fallback with another error", is: func(err error) bool { return err == errOther }, op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		_, _ = old.Await(ctx)
		return 0, errOther
	}},
	{name: "fallback with an equal error", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		_, _ = old.Await(ctx)
		return 0, errOld
	}},
	{name: "recovered by other work", is: func(err error) bool { return err == errOther }, op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.Recover(old, func(error) (int, error) { return 0, errOther }).Await(ctx)
	}},
	{name: "recovered with an equal error", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.Recover(old, func(err error) (int, error) { return 0, err }).Await(ctx)
	}},
	{name: "joined with other work", is: wrapsOld, op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		_, err := old.Await(ctx)
		return 0, errors.Join(err, errOther)
	}},
	{name: "one of several, in Any", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.Any(ctx, future.Failed[int](errOther), old)
	}},
	{name: "one of several, in RunAny", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.RunAny(ctx, 1, func(context.Context) (int, error) { return 0, errOther }, old.Await)
	}},
	{name: "one of several, wrapped, in RunAny", is: wrapsOld, op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.RunAny(ctx, 1, func(context.Context) (int, error) { return 0, errOther }, func(ctx context.Context) (int, error) {
			v, err := old.Await(ctx)
			return v, fmt.Errorf("loading: %w", err)
		})
	}},
	{name: "one of several, hedged", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		tries := 0
		return future.Hedge(ctx, future.HedgeAfter(time.Second), func(ctx context.Context) (int, error) {
			if tries++; tries == 1 {
				return 0, errOther
			}
			return old.Await(ctx)
		}).Await(ctx)
	}},
	{name: "memoised", op: func() func(context.Context, int, *future.Future[int]) (int, error) {
		m := future.NewMemo(func(context.Context) (int, error) { return 0, errOld })
		return func(ctx context.Context, _ int, _ *future.Future[int]) (int, error) { return m.Get(ctx) }
	}()},
	{name: "awaited by a memoised function", op: func(ctx context.Context, _ int, old *future.Future[int]) (int, error) {
		return future.NewMemo(old.Await).Get(ctx)
	}},
	{name: "another old future in each call", is: func(err error) bool { return strings.HasPrefix(err.Error(), "old ") }, op: func(ctx context.Context, n int, _ *future.Future[int]) (int, error) {
		return olds[n%len(olds)].Await(ctx)
	}},
	{name: "gave up waiting", is: func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }, op: func(ctx context.Context, _ int, _ *future.Future[int]) (int, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, never := future.New[int]()
		return never.Await(ctx)
	}},
}

var noWait = retry.New().Backoff(backoff.Strategy{})

// drivers are the ways to run; each gives the last reason, too.
var drivers = map[string]func(context.Context, retry.Policy, func(context.Context) (int, error)) (int, error){
	"Do": retry.Do[int],
	"Attempts": func(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (v int, err error) {
		for ctx := range retry.Attempts(ctx, p, &err) {
			v, err = op(ctx)
		}
		return v, err
	},
	"Retry": func(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (int, error) {
		return future.Retry(ctx, p, op).Await(context.Background())
	},
}

func TestARunThatAwaitsAnOldFailureStops(t *testing.T) {
	for name, drive := range drivers {
		for _, c := range slices.Concat(stopped, retriedOps) {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					isStopped := slices.ContainsFunc(stopped, func(s stale) bool { return s.name == c.name })
					old := future.Go(t.Context(), func(context.Context) (int, error) { return 0, errOld })
					_, _ = old.Await(t.Context())
					var events []retry.Event
					p := retry.New().Events(func(_ context.Context, e retry.Event) { events = append(events, e) })
					calls := 0
					_, err := drive(t.Context(), p, func(ctx context.Context) (int, error) {
						calls++
						return c.op(ctx, calls, old)
					})
					want, reason := 4, retry.Exhausted
					if isStopped {
						want, reason = max(2, c.calls), retry.StaleFuture
					}
					assert.Equal(t, want, calls)
					last := events[len(events)-1]
					assert.Equal(t, reason, last.Reason)
					is := c.is
					if is == nil {
						is = func(err error) bool { return err == errOld }
					}
					assert.True(t, is(err), "%v", err)
					for _, e := range events {
						if e.Err != nil {
							assert.True(t, is(e.Err) || e.Err == errOther, "hooks see the error as the caller does: %#v", e.Err)
						}
					}
				})
			})
		}
	}
}

// A future that is still running at the first call, and fails during a later one, is
// found at the call after that.
func TestAFailureDuringACallIsFoundAtTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f := future.New[int]()
		time.AfterFunc(1500*time.Millisecond, func() { p.Reject(errOld) })
		calls := 0
		var events []retry.Event
		policy := retry.New().MaxRetries(9).Events(func(_ context.Context, e retry.Event) { events = append(events, e) })
		_, err := retry.Do(t.Context(), policy, func(ctx context.Context) (int, error) {
			if calls++; calls == 1 {
				return 0, errOther
			}
			return f.Await(ctx) // the second call is in here when it fails
		})
		assert.Equal(t, 3, calls)
		assert.Equal(t, errOld, err)
		assert.Equal(t, retry.StaleFuture, events[len(events)-1].Reason)
	})
}

// What leaves an attempt without being its error has no mark, or one that is taken off.
func TestNoMarkGetsOut(t *testing.T) {
	old := future.Failed[int](errOld)
	calls := 0
	results, err := retry.Do(t.Context(), noWait, func(ctx context.Context) ([]future.Result[int], error) {
		if calls++; calls == 1 {
			_, err := old.Await(ctx)
			return nil, err
		}
		return future.AllSettled(ctx, old), nil
	})
	assert.NoError(t, err)
	assert.True(t, results[0].Err == errOld)

	for ctx, n := range retry.Attempts(t.Context(), noWait, &err) {
		if _, err = old.Await(ctx); n == 2 {
			break
		}
	}
	assert.True(t, err == errOld, "the loop was left")

	cause := make(chan error, 1)
	calls = 0
	_, err = retry.Do(t.Context(), noWait, func(ctx context.Context) ([]int, error) {
		if calls++; calls == 1 {
			_, err := old.Await(ctx)
			return nil, err
		}
		began := make(chan struct{})
		return future.RunAll(ctx, 2, func(ctx context.Context) (int, error) {
			close(began)
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return 0, nil
		}, func(ctx context.Context) (int, error) { <-began; return old.Await(ctx) })
	})
	assert.True(t, err == errOld)
	assert.True(t, <-cause == errOld, "what ends the others")
}

// Where nobody awaits a failure, a retry allocates nothing, whatever has failed before.
func TestRetriesOfOthersCostNothing(t *testing.T) {
	_, err := future.Failed[int](errOld).Await(t.Context())
	assert.Error(t, err)
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = retry.Do(t.Context(), noWait, failing) }))
}

// The mark is nobody else's: whoever awaits the same future sees its own error.
func TestTheMarkIsOnlyForTheAttempt(t *testing.T) {
	old := future.Failed[int](errOld)
	inner := func(ctx context.Context) *future.Future[int] {
		return future.Go(ctx, func(ctx context.Context) (int, error) { return old.Await(ctx) })
	}
	calls := 0
	var kept *future.Future[int]
	_, err := retry.Do(t.Context(), noWait, func(ctx context.Context) (int, error) {
		if calls++; calls == 2 {
			kept = inner(ctx)
			_, err := old.Await(ctx)
			assert.NotSame(t, errOld, err, "marked")
			assert.ErrorIs(t, err, errOld)
			assert.EqualError(t, err, "old")
			return kept.Await(ctx)
		}
		return old.Await(ctx)
	})
	assert.Equal(t, errOld, err)
	_, err = kept.Await(t.Context())
	assert.True(t, err == errOld, "the future's own error")
	_, err = old.Await(t.Context())
	assert.True(t, err == errOld)
}

// never a false positive: a run is stopped only if the future whose failure its last
// call returned had failed before that call began.
func TestNoRunIsStoppedThatCouldGoOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Several runs side by side share futures; each call awaits one of them, or one
		// that it begins, directly or through what is derived, and fails with what it got.
		type call struct{ takes, shared, how int }
		runs := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) call {
			return call{rapid.IntRange(0, 3).Draw(t, "takes"), rapid.IntRange(-1, 3).Draw(t, "shared"), rapid.IntRange(0, 5).Draw(t, "how")}
		}), 1, 5), 1, 3).Draw(t, "runs")
		fails := rapid.SliceOfN(rapid.IntRange(0, 12), 4, 4).Draw(t, "fail")
		rapid.SyncTest(t, func(t *rapid.T) {
			began := time.Now()
			shared := make([]*future.Future[int], len(fails))
			// each at an instant at which no call begins
			failedAt := func(i int) time.Duration {
				return time.Duration(fails[i])*time.Second + time.Duration(i+1)*time.Millisecond
			}
			for i := range fails {
				shared[i] = future.Go(context.Background(), func(context.Context) (int, error) {
					time.Sleep(failedAt(i))
					return 0, errOld
				})
			}
			var results []*future.Future[int]
			for _, calls := range runs {
				results = append(results, future.Go(context.Background(), func(context.Context) (int, error) {
					n := 0
					var reason retry.Reason
					var callBegan time.Duration
					policy := retry.New().MaxRetries(len(calls) - 1).Events(func(_ context.Context, e retry.Event) { reason = e.Reason })
					_, err := retry.Do(context.Background(), policy, func(ctx context.Context) (int, error) {
						c := calls[n]
						n++
						callBegan = time.Since(began)
						time.Sleep(time.Duration(c.takes) * 100 * time.Millisecond)
						f := future.Failed[int](errOld)
						if c.shared >= 0 {
							f = shared[c.shared]
						}
						return throughHow(ctx, f, c.how)
					})
					c := calls[n-1]
					stale := c.shared >= 0 && c.how < 4 && n > 1 && failedAt(c.shared) < callBegan
					want := retry.Exhausted
					if stale {
						want = retry.StaleFuture
					}
					require.Equal(t, want, reason, "run %v ended after call %d, begun at %v", calls, n, callBegan)
					require.ErrorIs(t, err, errOld)
					return 0, nil
				}))
			}
			_, err := future.All(context.Background(), results...)
			require.NoError(t, err)
			future.AllSettled(context.Background(), shared...)
		})
	})
}

// throughHow awaits f in one of the ways that pass on its failure, or (from 4) in one
// that puts another failure in its place.
func throughHow(ctx context.Context, f *future.Future[int], how int) (int, error) {
	switch how {
	case 1:
		f = future.Map(f, func(v int) (int, error) { return v, nil })
	case 2:
		f = future.Go(ctx, f.Await)
	case 3:
		v, err := f.Await(ctx)
		return v, fmt.Errorf("wrapped: %w", err)
	case 4:
		f = future.Recover(f, func(err error) (int, error) { return 0, err })
	case 5:
		_, _ = f.Await(ctx)
		return 0, errOld
	}
	return f.Await(ctx)
}
