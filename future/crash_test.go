package future_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

// TestMain has rapid check more cases than its 100, which are over in a moment.
func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "3000")
	m.Run()
}

var errBoom = errors.New("boom")

// A crash is a way not to return, and what the awaiter is to get.
var crashes = map[string]struct {
	crash func()
	check func(*testing.T, error)
}{
	"panic": {func() { panicHere() }, func(t *testing.T, err error) {
		var p *future.PanicError
		require.ErrorAs(t, err, &p)
		assert.Equal(t, "crashed", p.Value)
		assert.Contains(t, string(p.Stack), "panicHere", "the original stack")
		assert.NoError(t, p.Unwrap())
	}},
	"panic with an error": {func() { panic(errBoom) }, func(t *testing.T, err error) {
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorContains(t, err, "future: the work panicked: boom\n\ngoroutine ")
	}},
	"panic with nil": {func() { panic(nil) }, func(t *testing.T, err error) {
		var p *runtime.PanicNilError
		assert.ErrorAs(t, err, &p)
	}},
	"Goexit": {runtime.Goexit, func(t *testing.T, err error) { assert.ErrorIs(t, err, future.ErrGoexit) }},
}

func panicHere() { panic("crashed") }

// places are where user code runs: each makes a function that crashes there.
var places = map[string]func(crash func()) func(context.Context) (int, error){
	"op": func(crash func()) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { crash(); return 1, nil }
	},
	"Map": func(crash func()) func(context.Context) (int, error) {
		return derived(func(f *future.Future[int]) *future.Future[int] {
			return future.Map(f, func(int) (int, error) { crash(); return 1, nil })
		}, nil)
	},
	"FlatMap": func(crash func()) func(context.Context) (int, error) {
		return derived(func(f *future.Future[int]) *future.Future[int] {
			return future.FlatMap(f, func(int) *future.Future[int] { crash(); return f })
		}, nil)
	},
	"Recover": func(crash func()) func(context.Context) (int, error) {
		return derived(func(f *future.Future[int]) *future.Future[int] {
			return future.Recover(f, func(error) (int, error) { crash(); return 1, nil })
		}, errBoom)
	},
	"hook": func(crash func()) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			return retry.Do(ctx, retry.New().Events(func(context.Context, retry.Event) { crash() }), one)
		}
	},
	"predicate": func(crash func()) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			return retry.Do(ctx, retry.New().If(func(error) bool { crash(); return true }), failing)
		}
	},
}

func one(context.Context) (int, error)     { return 1, nil }
func failing(context.Context) (int, error) { return 0, errBoom }

// derived makes a function that awaits what is derived from a future: from one that is
// settled, and if that is survived, from one that is not.
func derived(derive func(*future.Future[int]) *future.Future[int], fails error) func(context.Context) (int, error) {
	settle := func(p *future.Promise[int]) {
		if fails != nil {
			p.Reject(fails)
		} else {
			p.Resolve(1)
		}
	}
	return func(ctx context.Context) (int, error) {
		late, running := future.New[int]()
		f := derive(running)
		other := derive(running)
		go settle(late)
		_, lateErr := f.Await(ctx)
		_, otherErr := other.Await(ctx)
		early, settled := future.New[int]()
		settle(early)
		_, err := derive(settled).Await(ctx)
		if lateErr == nil || otherErr == nil || err == nil {
			return 0, errors.New("a crash was lost")
		}
		return 0, err
	}
}

// ways are the ways to run a function; each returns what the awaiter gets, and checks
// that others get theirs.
var ways = map[string]func(*testing.T, func(context.Context) (int, error)) error{
	"Go": func(t *testing.T, op func(context.Context) (int, error)) error {
		f := future.Go(t.Context(), op)
		recovered := future.Recover(f, func(error) (int, error) { return 2, nil })
		_, err := f.Await(t.Context())
		v, err2 := recovered.Await(t.Context())
		assert.NoError(t, err2)
		assert.Equal(t, 2, v)
		return err
	},
	"Retry": func(t *testing.T, op func(context.Context) (int, error)) error {
		calls := 0
		_, err := future.Retry(t.Context(), retry.New(), func(ctx context.Context) (int, error) { calls++; return op(ctx) }).Await(t.Context())
		assert.Equal(t, 1, calls, "never retried")
		return err
	},
	"RunAll":      runAllWay(future.NoLimit),
	"RunAll of 1": runAllWay(1),
	"RunAll of 2": runAllWay(2),
	"RunAny":      func(t *testing.T, op func(context.Context) (int, error)) error { return anyWay(t, future.NoLimit, op) },
	"RunAny of 1": func(t *testing.T, op func(context.Context) (int, error)) error { return anyWay(t, 1, op) },
	"RunRace of 1": func(t *testing.T, op func(context.Context) (int, error)) error {
		_, err := future.RunRace(t.Context(), 1, op, one)
		return err
	},
	"Group": func(t *testing.T, op func(context.Context) (int, error)) error {
		g := future.NewGroup[int](t.Context())
		var cause error
		g.Go(func(ctx context.Context) (int, error) {
			g.Go(op)
			<-ctx.Done()
			cause = context.Cause(ctx)
			return 0, nil
		})
		_, err := g.Wait()
		assert.True(t, err == cause, "the others are cancelled and waited for")
		return err
	},
	"Hedge": func(t *testing.T, op func(context.Context) (int, error)) error {
		var tries atomic.Int64
		_, err := future.Hedge(t.Context(), future.HedgeAfter(time.Second).MaxHedges(3), func(ctx context.Context) (int, error) {
			if tries.Add(1) == 1 {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return op(ctx)
		}).Await(t.Context())
		assert.Equal(t, int64(2), tries.Load(), "permanent: no other try")
		return err
	},
	"Memo": func(t *testing.T, op func(context.Context) (int, error)) error {
		runs := 0
		m := future.NewMemo(func(ctx context.Context) (int, error) {
			if runs++; runs > 1 {
				return runs, nil
			}
			time.Sleep(time.Second)
			return op(ctx)
		})
		waiter := future.Go(t.Context(), m.Get)
		_, err := m.Get(t.Context())
		_, err2 := waiter.Await(t.Context())
		assert.Equal(t, err, err2, "every waiter")
		v, err2 := m.Get(t.Context())
		assert.NoError(t, err2)
		assert.Equal(t, 2, v, "a failure is not kept")
		return err
	},
}

func runAllWay(limit int) func(*testing.T, func(context.Context) (int, error)) error {
	return func(t *testing.T, op func(context.Context) (int, error)) error {
		ran := 0
		_, err := future.RunAll(t.Context(), limit, one, op, func(ctx context.Context) (int, error) {
			ran++
			<-ctx.Done()
			return 0, ctx.Err()
		})
		assert.LessOrEqual(t, ran, 1)
		return err
	}
}

// anyWay runs op between others that fail before and after it.
func anyWay(t *testing.T, limit int, op func(context.Context) (int, error)) error {
	ran := 0
	v, err := future.RunAny(t.Context(), limit, op, op, func(context.Context) (int, error) { ran++; time.Sleep(time.Second); return 7, nil })
	assert.NoError(t, err)
	assert.Equal(t, []int{7, 1}, []int{v, ran}, "the loop goes on")
	_, err = future.RunAny(t.Context(), limit, op, op)
	return err
}

func TestWorkThatDoesNotReturnFailsAndDisturbsNobody(t *testing.T) {
	for how, c := range crashes {
		for place, crashing := range places {
			for way, run := range ways {
				t.Run(fmt.Sprintf("%s in %s of %s", how, place, way), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { c.check(t, run(t, crashing(c.crash))) })
				})
			}
		}
	}
}

// One of many tasks that are run in turn does not return: the others are run.
func TestTheRestOfALoopGoesOn(t *testing.T) {
	for how, c := range crashes {
		t.Run("continuations/"+how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, f := future.New[int]()
				var all []*future.Future[int]
				for i := range 9 {
					all = append(all, future.Map(f, func(v int) (int, error) {
						if i%3 == 1 {
							c.crash()
						}
						return v, nil
					}))
					all = append(all, future.Map(all[len(all)-1], func(v int) (int, error) { return v, nil }))
				}
				go p.Resolve(1)
				for i, r := range future.AllSettled(t.Context(), all...) {
					if i/2%3 == 1 {
						c.check(t, r.Err)
					} else {
						assert.NoError(t, r.Err)
					}
				}
			})
		})
		for _, kind := range []string{"hook", "continuation"} {
			t.Run("cancelled waits, "+kind+"/"+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					var all, mapped []*future.Future[int]
					for i := range 9 {
						crash := func() {
							if i%3 == 1 {
								c.crash()
							}
						}
						policy := retry.New()
						if kind == "hook" {
							policy = policy.Events(func(_ context.Context, e retry.Event) {
								if e.Kind == retry.Finished {
									crash()
								}
							})
						}
						f := future.Retry(ctx, policy, failing)
						all = append(all, f)
						mapped = append(mapped, future.Recover(f, func(error) (int, error) {
							if kind == "continuation" {
								crash()
							}
							return i, nil
						}))
					}
					time.Sleep(time.Second / 2) // all wait
					cancel()
					for i, r := range future.AllSettled(t.Context(), all...) {
						if i%3 == 1 && kind == "hook" {
							c.check(t, r.Err)
						} else {
							assert.ErrorIs(t, r.Err, context.Canceled)
							assert.ErrorIs(t, r.Err, errBoom)
						}
					}
					for i, r := range future.AllSettled(t.Context(), mapped...) {
						if i%3 == 1 && kind == "continuation" {
							c.check(t, r.Err)
						} else {
							assert.Equal(t, future.Result[int]{Value: i}, r)
						}
					}
				})
			})
		}
	}
}

// A hook or predicate of future.Retry may crash at any event.
func TestACrashInAHookAtAnyEventEndsTheRun(t *testing.T) {
	for how, c := range crashes {
		for n := range 8 { // started failed scheduled, twice, started finished
			t.Run(fmt.Sprintf("%s at event %d", how, n+1), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					calls, events := 0, 0
					p := retry.New().Events(func(context.Context, retry.Event) {
						if events++; events == n+1 {
							c.crash()
						}
					})
					_, err := future.Retry(t.Context(), p, func(context.Context) (int, error) {
						if calls++; calls < 3 {
							return 0, errBoom
						}
						return 1, nil
					}).Await(t.Context())
					c.check(t, err)
					assert.Equal(t, n+1, events, "no event after a crash")
				})
			})
		}
	}
}

func TestAPanicIsNotRetriedThroughAFutureEither(t *testing.T) {
	for how, c := range crashes {
		calls := 0
		_, err := retry.Do(t.Context(), noWait, func(ctx context.Context) (int, error) {
			calls++
			return future.Go(ctx, func(context.Context) (int, error) { c.crash(); return 1, nil }).Await(ctx)
		})
		assert.Equal(t, 1, calls, how)
		c.check(t, err)
		assert.NotContains(t, fmt.Sprintf("%T", err), "retry", "the error itself")
	}
}
