package future_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/stretchr/testify/assert"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

// The context of work ends with the work, however that ends: nothing stays behind with the one that was given.
func TestTheContextOfWorkEndsWithTheWork(t *testing.T) {
	ways := map[string]func(context.Context, func(context.Context) (int, error)) error{
		"Group": func(ctx context.Context, op func(context.Context) (int, error)) error {
			g := future.NewGroup[int](ctx)
			g.Go(op)
			_, err := g.Wait()
			return err
		},
		"Hedge": func(ctx context.Context, op func(context.Context) (int, error)) error {
			_, err := future.Hedge(ctx, future.HedgePolicy{}, op).Await(ctx)
			return err
		},
		"Memo": func(ctx context.Context, op func(context.Context) (int, error)) error {
			_, err := future.NewMemo(op).Get(ctx)
			return err
		},
	}
	for name, run := range runEach {
		ways["Run"+name] = func(ctx context.Context, op func(context.Context) (int, error)) error {
			_, err := run(ctx, 1, op)
			return err
		}
	}
	for name, run := range ways {
		for _, fails := range []error{nil, errBoom} {
			synctest.Test(t, func(t *testing.T) {
				var own context.Context
				err := run(t.Context(), func(ctx context.Context) (int, error) { own = ctx; return 7, fails })
				assert.True(t, err == fails, name)
				synctest.Wait()
				assert.Equal(t, context.Canceled, own.Err(), name)
			})
		}
	}
}

// A settled future keeps nothing of its work, nor of what it is derived from.
func TestASettledFutureKeepsNothingOfItsWork(t *testing.T) {
	type big struct{ is [1 << 16]byte }
	for name, make := range map[string]func(b *big) any{
		"Retry's op": func(b *big) any {
			f := future.Retry(context.Background(), noWait, func(context.Context) (int, error) { return int(b.is[0]), nil })
			_, _ = f.Await(context.Background())
			return f
		},
		"Retry's context": func(b *big) any {
			f := future.Retry(context.WithValue(context.Background(), contextKey{}, b), noWait, one)
			_, _ = f.Await(context.Background())
			return f
		},
		"Retry's policy": func(b *big) any {
			f := future.Retry(context.Background(), retry.New().If(func(error) bool { return b == nil }), failing)
			_, _ = f.Await(context.Background())
			return f
		},
		"Retry's earlier errors": func(b *big) any {
			calls := 0
			f := future.Retry(context.Background(), noWait, func(context.Context) (int, error) {
				if calls++; calls < 3 {
					return 0, bigError{b}
				}
				return 1, nil
			})
			_, _ = f.Await(context.Background())
			return f
		},
		"Map's function": func(b *big) any {
			return future.Map(future.Value(1), func(int) (int, error) { return int(b.is[0]), nil })
		},
		"Map's source": func(b *big) any { return future.Map(future.Value(b), func(*big) (int, error) { return 1, nil }) },
		"FlatMap's source": func(b *big) any {
			return future.FlatMap(future.Value(b), func(*big) *future.Future[int] { return there })
		},
		"Recover's function": func(b *big) any {
			return future.Recover(future.Failed[int](errBoom), func(error) (int, error) { return int(b.is[0]), nil })
		},
	} {
		b := new(big)
		gone := weak.Make(b)
		f := make(b)
		for range 100 { // a goroutine that has settled it may have to end
			if runtime.GC(); gone.Value() == nil {
				break
			}
			runtime.Gosched()
		}
		assert.Nil(t, gone.Value(), name)
		runtime.KeepAlive(f)
	}
}

// A settled future keeps neither what it waited for nor what was derived from it.
func TestASettledFutureKeepsNoOther(t *testing.T) {
	p, f := future.New[int]()
	derived := future.Map(f, double)
	p.Resolve(1)
	inner := future.Value(2)
	chained := future.FlatMap(f, func(int) *future.Future[int] { return inner })
	for name, gone := range map[string]weak.Pointer[future.Future[int]]{"derived": weak.Make(derived), "inner": weak.Make(inner)} {
		runtime.GC()
		assert.Nil(t, gone.Value(), name)
	}
	runtime.KeepAlive(f)
	runtime.KeepAlive(chained)
}

type bigError struct{ b any }

func (bigError) Error() string { return "big" }

// However long a chain is, and whatever passes through it, its functions are called on a short stack.
func TestAChainIsNotARecursion(t *testing.T) {
	depth := func() int { return runtime.Callers(0, make([]uintptr, 1000)) }
	passes := func(v int) (int, error) { return v, nil }
	for name, link := range map[string]func(f *future.Future[int]) *future.Future[int]{
		"Map": func(f *future.Future[int]) *future.Future[int] { return future.Map(f, passes) },
		"FlatMap": func(f *future.Future[int]) *future.Future[int] {
			return future.FlatMap(f, future.Value[int])
		},
		"Recover of a value": func(f *future.Future[int]) *future.Future[int] {
			return future.Recover(f, func(err error) (int, error) { return 0, err })
		},
		"Recover": func(f *future.Future[int]) *future.Future[int] {
			f = future.Map(f, func(int) (int, error) { return 0, errBoom })
			return future.Recover(f, func(error) (int, error) { return 1, nil })
		},
		"a failure through Map": func(f *future.Future[int]) *future.Future[int] {
			return future.Map(future.Map(f, func(int) (int, error) { return 0, errBoom }), passes)
		},
		"a panic in Map": func(f *future.Future[int]) *future.Future[int] {
			return future.Recover(future.Map(f, func(int) (int, error) { panic(1) }), func(error) (int, error) { return 1, nil })
		},
		"a panic in FlatMap": func(f *future.Future[int]) *future.Future[int] {
			return future.Recover(future.FlatMap(f, func(int) *future.Future[int] { panic(1) }), func(error) (int, error) { return 1, nil })
		},
		"a nil future": func(f *future.Future[int]) *future.Future[int] {
			return future.Recover(future.FlatMap(f, func(int) *future.Future[int] { return nil }), func(error) (int, error) { return 1, nil })
		},
		"a panic in Recover": func(f *future.Future[int]) *future.Future[int] {
			f = future.Recover(future.Map(f, func(int) (int, error) { return 0, errBoom }), func(error) (int, error) { panic(1) })
			return future.Recover(f, func(error) (int, error) { return 1, nil })
		},
	} {
		p, f := future.New[int]()
		for range 100 {
			f = link(f)
		}
		deep := 0
		ok := future.Map(f, func(int) (int, error) { deep = depth(); return 1, nil })
		failed := future.Recover(f, func(error) (int, error) { deep = depth(); return 1, nil })
		p.Resolve(1)
		_, err := future.All(context.Background(), ok, failed)
		_ = err
		assert.Positive(t, deep, name)
		assert.Less(t, deep, 50, name)
	}
}
