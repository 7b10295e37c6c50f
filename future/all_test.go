package future_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

// An item is one future or function among several: when it ends, and how.
type item struct {
	ends time.Duration
	err  error
}

// items draws items of which no two end at the same instant.
func items(least int) *rapid.Generator[[]item] {
	return rapid.Custom(func(t *rapid.T) []item {
		n := rapid.IntRange(least, 8).Draw(t, "n")
		ends := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "order")
		all := make([]item, n)
		for i := range all {
			all[i].ends = time.Duration(ends[i]+1) * time.Second
			if rapid.Bool().Draw(t, "fails") {
				all[i].err = fmt.Errorf("item %d", i)
			}
		}
		return all
	})
}

func (it item) op(i int) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		select {
		case <-time.After(it.ends):
			return i, it.err
		case <-ctx.Done():
			return i, ctx.Err()
		}
	}
}

// firstOf returns the item that ends first, of those that pass; ok is false if there is
// none.
func firstOf(all []item, passes func(item) bool) (first int, ok bool) {
	for i, it := range all {
		if passes(it) && (!ok || it.ends < all[first].ends) {
			first, ok = i, true
		}
	}
	return first, ok
}

func fails(it item) bool    { return it.err != nil }
func succeeds(it item) bool { return it.err == nil }

func latest(all []item) (last int) {
	for i, it := range all {
		if it.ends > all[last].ends {
			last = i
		}
	}
	return last
}

// A choice is a combinator's result, for any of them.
type choice struct {
	values []int
	err    error
	at     time.Duration
}

// expected says what All, Any and Race give.
func expected(name string, all []item) choice {
	var want choice
	var i int
	var ok bool
	switch name {
	case "All":
		if i, ok = firstOf(all, fails); !ok {
			for i := range all {
				want.values = append(want.values, i)
			}
			i = latest(all)
		}
	case "Any":
		if i, ok = firstOf(all, succeeds); ok {
			want.values = []int{i}
		} else {
			i = latest(all)
		}
	case "Race":
		i, _ = firstOf(all, func(item) bool { return true })
		want.values = []int{i}
	}
	if len(all) > 0 {
		want.at = all[i].ends
		want.err = all[i].err
	}
	return want
}

func single(v int, err error) ([]int, error) { return []int{v}, err }

var combine = map[string]func(ctx context.Context, fs ...*future.Future[int]) ([]int, error){
	"All": future.All[int],
	"Any": func(ctx context.Context, fs ...*future.Future[int]) ([]int, error) {
		return single(future.Any(ctx, fs...))
	},
	"Race": func(ctx context.Context, fs ...*future.Future[int]) ([]int, error) {
		return single(future.Race(ctx, fs...))
	},
}

var runEach = map[string]func(ctx context.Context, limit int, ops ...func(context.Context) (int, error)) ([]int, error){
	"All": future.RunAll[int],
	"Any": func(ctx context.Context, limit int, ops ...func(context.Context) (int, error)) ([]int, error) {
		return single(future.RunAny(ctx, limit, ops...))
	},
	"Race": func(ctx context.Context, limit int, ops ...func(context.Context) (int, error)) ([]int, error) {
		return single(future.RunRace(ctx, limit, ops...))
	},
}

func TestCombinatorsGiveTheFirstThatDecides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := items(1).Draw(t, "items")
		name := rapid.SampledFrom([]string{"All", "Any", "Race"}).Draw(t, "name")
		runs := rapid.Bool().Draw(t, "runs")
		rapid.SyncTest(t, func(t *rapid.T) {
			var ops []func(context.Context) (int, error)
			var fs []*future.Future[int]
			for i, it := range all {
				ops = append(ops, it.op(i))
			}
			began := time.Now()
			var got choice
			if runs {
				got.values, got.err = runEach[name](context.Background(), future.NoLimit, ops...)
			} else {
				for _, op := range ops {
					fs = append(fs, future.Go(context.Background(), op))
				}
				got.values, got.err = combine[name](context.Background(), fs...)
			}
			got.at = time.Since(began)
			want := expected(name, all)
			if want.err != nil {
				require.Equal(t, want.err, got.err)
				want.values, want.err, got.values, got.err = nil, nil, nil, nil
			}
			require.Equal(t, want, got)
			future.AllSettled(context.Background(), fs...) // given work goes on
			if !runs {
				require.Equal(t, all[latest(all)].ends, time.Since(began))
			}
		})
	})
}

func TestCompletedYieldsEachFutureOnceAsItCompletes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := items(0).Draw(t, "items")
		ends := time.Duration(rapid.IntRange(-1, 9).Draw(t, "ctx ends"))*time.Second + time.Millisecond
		rapid.SyncTest(t, func(t *rapid.T) {
			ctx, cancel := context.WithTimeout(context.Background(), ends)
			defer cancel()
			var fs []*future.Future[int]
			for i, it := range all {
				fs = append(fs, future.Go(context.Background(), it.op(i)))
			}
			began := time.Now()
			came := map[int]bool{}
			last := time.Duration(0)
			for i, r := range future.Completed(ctx, fs...) {
				require.False(t, came[i], "once")
				came[i] = true
				if all[i].ends < ends {
					require.Equal(t, future.Result[int]{Value: i, Err: all[i].err}, r)
					require.Equal(t, all[i].ends, time.Since(began), "as it completes")
				} else {
					require.ErrorIs(t, r.Err, context.DeadlineExceeded)
					require.Equal(t, max(ends, 0), time.Since(began))
				}
				require.LessOrEqual(t, last, all[i].ends, "in order: %v", all)
				if all[i].ends < ends {
					last = all[i].ends
				}
			}
			require.Len(t, came, len(all))
			future.AllSettled(context.Background(), fs...)
		})
	})
}

func TestNothingGivenIsNothingWaitedFor(t *testing.T) {
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{t.Context(), dead} {
		vs, err := future.All[int](ctx)
		assert.NoError(t, err)
		assert.Nil(t, vs)
		vs, err = future.RunAll[int](ctx, 1)
		assert.NoError(t, err)
		assert.Nil(t, vs)
		assert.Empty(t, future.AllSettled[int](ctx))
		vs, err = future.NewGroup[int](ctx).Wait()
		assert.NoError(t, err)
		assert.Nil(t, vs)
		for _, f := range []func() (int, error){
			func() (int, error) { return future.Any[int](ctx) },
			func() (int, error) { return future.Race[int](ctx) },
			func() (int, error) { return future.RunAny[int](ctx, 1) },
			func() (int, error) { return future.RunRace[int](ctx, 1) },
		} {
			_, err := f()
			assert.Equal(t, future.ErrNone, err)
		}
	}
}

// Where work only repeats that the context has ended, the error has its cause, too; a
// failure of its own is not hidden.
func TestTheContextsCauseComesBeforeItsEcho(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOther)
	echo := fmt.Errorf("reading: %w", context.Canceled)
	for name, c := range combine {
		for _, given := range []error{echo, errBoom} {
			_, err := c(ctx, future.Failed[int](given))
			if given == errBoom {
				assert.True(t, err == errBoom, name)
				continue
			}
			assert.ErrorIs(t, err, errOther, name)
			assert.ErrorIs(t, err, context.Canceled, name)
			assert.ErrorIs(t, err, echo, name)
		}
	}
	live, cancel := context.WithCancelCause(t.Context())
	for name, run := range runEach {
		ctx, cancel := context.WithCancelCause(live)
		_, err := run(ctx, 2, func(ctx context.Context) (int, error) {
			cancel(errOther)
			return 0, fmt.Errorf("%w: %w", errBoom, ctx.Err())
		}, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, fmt.Errorf("%w: %w", errBoom, ctx.Err())
		})
		for _, want := range []error{errOther, context.Canceled, errBoom} {
			assert.ErrorIs(t, err, want, name)
		}
		_, err = run(ctx, 2, one)
		assert.EqualError(t, err, "future: the context ended the work: context canceled (other)", name)
	}
	cancel(nil)
	_, err := future.All(live, future.Failed[int](context.Canceled))
	assert.EqualError(t, err, "future: the context has ended: context canceled")
}

// Who gives up leaves nothing in the future, however many have.
func TestGivingUpLeavesNothingInTheFuture(t *testing.T) {
	p, f := future.New[int]()
	before := int64(0)
	for i := range 40_000 {
		if i == 20_000 { // the first make what stays, such as the channel
			before = heapAlloc()
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := future.Any(ctx, f, f)
		require.Error(t, err)
		for range future.Completed(t.Context(), f, future.Value(1), f) {
			break
		}
	}
	assert.Less(t, heapAlloc()-before, int64(1e6))
	p.Resolve(1)
}

func TestBadArgumentsAreNamed(t *testing.T) {
	var none context.Context
	f := future.Value(1)
	for want, do := range map[string]func(){
		"future.Go: nil ctx: want a context, such as context.Background()":           func() { future.Go(none, one) },
		"future.Go: nil op: want a function":                                         func() { future.Go[int](t.Context(), nil) },
		"future.Retry: nil op: want a function":                                      func() { future.Retry[int](t.Context(), noWait, nil) },
		"future.Hedge: nil op: want a function":                                      func() { future.Hedge[int](t.Context(), future.HedgePolicy{}, nil) },
		"future.Map: nil fn: want a function":                                        func() { future.Map[int, int](f, nil) },
		"future.FlatMap: nil fn: want a function":                                    func() { future.FlatMap[int, int](f, nil) },
		"future.Recover: nil fn: want a function":                                    func() { future.Recover(f, nil) },
		"future.RunAll: nil op: want a function":                                     func() { _, _ = future.RunAll(t.Context(), 1, one, nil) },
		"future.RunAny: nil ctx: want a context, such as context.Background()":       func() { _, _ = future.RunAny(none, 1, one) },
		"future.RunRace: nil op: want a function":                                    func() { _, _ = future.RunRace[int](t.Context(), 1, nil) },
		"future.NewGroup: nil ctx: want a context, such as context.Background()":     func() { future.NewGroup[int](none) },
		"future.Group.Go: nil op: want a function":                                   func() { future.NewGroup[int](t.Context()).Go(nil) },
		"future.Group.TryGo: nil op: want a function":                                func() { future.NewGroup[int](t.Context()).TryGo(nil) },
		"future.NewMemo: nil op: want a function":                                    func() { future.NewMemo[int](nil) },
		"future.Memo.Get: nil ctx: want a context, such as context.Background()":     func() { _, _ = future.NewMemo(one).Get(none) },
		"future: nil ctx: want a context, such as context.Background()":              func() { future.Completed(none, f) },
		"future.Future.Await: nil ctx: want a context, such as context.Background()": func() { _, f := future.New[int](); _, _ = f.Await(none) },
	} {
		assert.PanicsWithValue(t, want, do)
	}
	for _, limit := range []int{0, -1} {
		for name, run := range runEach {
			_, err := run(t.Context(), limit, one)
			assert.EqualError(t, err, fmt.Sprintf("future.Run%s: the limit is %d: want 1 or more, or future.NoLimit", name, limit))
		}
		g := future.NewGroup[int](t.Context())
		g.SetLimit(limit)
		g.Go(func(context.Context) (int, error) { t.Error("called"); return 0, nil })
		_, err := g.Wait()
		assert.EqualError(t, err, fmt.Sprintf("future.Group: the limit is %d: want 1 or more, or future.NoLimit", limit))
	}
	_, err := future.Hedge(t.Context(), future.HedgeAfter(-1).MaxHedges(-2), one).Await(t.Context())
	assert.EqualError(t, err, "future: the delay of HedgeAfter is -1ns: want 0 or more\nfuture: MaxHedges is -2: want 0 or more")
}

func TestFuturesSayWhatTheyAre(t *testing.T) {
	p, f := future.New[int]()
	assert.Equal(t, "future(running)", fmt.Sprint(f))
	p.Resolve(7)
	assert.Equal(t, "future(7)", fmt.Sprint(f))
	assert.Equal(t, "future(failed: boom)", future.Failed[int](errBoom).String())
	assert.Equal(t, "no hedges", future.HedgePolicy{}.String())
	assert.Equal(t, "2 after 20ms each", future.HedgeAfter(20*time.Millisecond).MaxHedges(2).String())
}

// Who gave up is told from work that failed like that.
func TestGivingUpIsToldFromAFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, f := future.New[int]()
	_, err := f.Await(ctx)
	assert.ErrorIs(t, err, future.ErrGaveUp)
	_, err = future.NewMemo(one).Get(ctx)
	assert.ErrorIs(t, err, future.ErrGaveUp)
	_, err = future.Failed[int](context.Canceled).Await(ctx)
	assert.NotErrorIs(t, err, future.ErrGaveUp)
	_, err = future.RunAll(ctx, 1, one)
	assert.NotErrorIs(t, err, future.ErrGaveUp)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestZeroAndNilValuesSayWhatToDo(t *testing.T) {
	const zero = "future: a zero Future stands for no work: make one with future.Go, future.New or future.Value"
	for _, ctx := range []context.Context{context.Background(), t.Context()} {
		var f future.Future[int]
		_, err := f.Await(ctx)
		assert.EqualError(t, err, zero)
	}
	var a, b, c future.Future[int]
	_, err := future.Map(&a, func(v int) (int, error) { return v, nil }).Await(t.Context())
	assert.EqualError(t, err, zero)
	_, err, ok := b.Result()
	assert.True(t, ok)
	assert.EqualError(t, err, zero)
	<-c.Done()
	var p future.Promise[int]
	assert.False(t, p.Resolve(1))

	_, err = future.Failed[int](nil).Await(t.Context())
	assert.EqualError(t, err, "future: Failed(nil): want an error, or future.Value for a success")
	_, err = new(future.Memo[int]).Get(t.Context())
	assert.EqualError(t, err, "future: a zero Memo has no function: make one with future.NewMemo")
	_, err = future.NewMemo(func(context.Context) (*future.Future[int], error) { t.Error("called"); return nil, nil }).Get(t.Context())
	assert.Equal(t, retry.ErrEagerResult, err)
	_, err = future.Hedge(t.Context(), future.HedgePolicy{}, func(context.Context) (*future.Future[int], error) { t.Error("called"); return nil, nil }).Await(t.Context())
	assert.Equal(t, retry.ErrEagerResult, err)
	g := future.NewGroup[int](t.Context())
	_, err = g.Wait()
	assert.NoError(t, err)
	g.Go(func(context.Context) (int, error) { t.Error("called"); return 0, nil })
	_, err = g.Wait()
	assert.EqualError(t, err, "future.Group: Go after Wait: a Group serves for one Wait, make another")
	var own *future.Future[int]
	waiting, source := future.New[int]()
	own = future.FlatMap(source, func(int) *future.Future[int] { return own })
	waiting.Resolve(1)
	_, err = own.Await(t.Context())
	assert.ErrorContains(t, err, "which would wait for itself")
	memo := new(*future.Memo[int])
	*memo = future.NewMemo(func(ctx context.Context) (int, error) { return (*memo).Get(ctx) })
	_, err = (*memo).Get(t.Context())
	assert.ErrorContains(t, err, "it would wait for itself")

	q, f := future.New[int]()
	assert.True(t, q.Reject(nil))
	_, err = f.Await(t.Context())
	assert.EqualError(t, err, "future: Promise.Reject(nil): want an error, or Resolve for a success")
	_, err = future.FlatMap(future.Value(1), func(int) *future.Future[int] { return nil }).Await(t.Context())
	assert.True(t, err != nil && errors.Unwrap(err) == nil)
	assert.ErrorContains(t, err, "returned a nil future: return one of")
}
