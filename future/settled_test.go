package future_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

// A select takes either of two that are ready: a thousand tries find one that does not look again.
func TestAResultThatIsThereBeatsADeadContextEverywhere(t *testing.T) {
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	for range 1000 {
		p, f := future.New[int]()
		done := f.Done()
		require.True(t, p.Resolve(7))
		select {
		case <-done:
		default:
			require.Fail(t, "it is resolved, but not done")
		}
		v, err := f.Await(dead)
		require.True(t, v == 7 && err == nil)
		vs, err := future.All(dead, f, future.Value(8))
		require.True(t, err == nil && vs[0] == 7 && vs[1] == 8)
		v, err = future.Any(dead, future.Failed[int](errLate), f)
		require.True(t, v == 7 && err == nil)
		v, err = future.Race(dead, f)
		require.True(t, v == 7 && err == nil)
		_, other := future.New[int]()
		v, err = future.Any(dead, other, f)
		require.True(t, v == 7 && err == nil)
		v, err = future.Race(dead, other, f)
		require.True(t, v == 7 && err == nil)
		_, err = future.All(dead, other, future.Failed[int](errLate))
		require.True(t, err == errLate)
	}
}

var errLate, errCause = errors.New("late"), errors.New("the caller has left")

// meanwhile is a dead context; something happens as soon as it is asked for its channel.
type meanwhile struct {
	context.Context
	happens func()
}

func (m meanwhile) Done() <-chan struct{} {
	m.happens()
	return m.Context.Done()
}

// The result comes when the wait has begun, so that both are ready: the wait has to look again.
func TestAResultBeatsADeadContextAlsoIfItCameDuringTheWait(t *testing.T) {
	_, never := future.New[int]()
	waits := map[string]func(context.Context, *future.Future[int]) (int, error){
		"Await": func(ctx context.Context, f *future.Future[int]) (int, error) { return f.Await(ctx) },
		"Any":   func(ctx context.Context, f *future.Future[int]) (int, error) { return future.Any(ctx, never, f) },
		"Race":  func(ctx context.Context, f *future.Future[int]) (int, error) { return future.Race(ctx, never, f) },
		"All": func(ctx context.Context, f *future.Future[int]) (int, error) {
			vs, err := future.All(ctx, f)
			return append(vs, 0)[0], err
		},
	}
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	for name, wait := range waits {
		for range 1000 {
			p, f := future.New[int]()
			v, err := wait(meanwhile{dead, func() { p.Resolve(7) }}, f)
			require.True(t, v == 7 && err == nil, "%s: %v", name, err)
		}
	}
}

// B106.
func TestAllWhoWaitGetTheSameError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f := future.New[int]()
		errs := make(chan error)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for i := range 1000 {
			ctx := []context.Context{ctx, context.Background()}[i%2]
			go func() {
				_, err := f.Await(ctx)
				errs <- err
			}()
		}
		synctest.Wait()
		require.True(t, p.Reject(errLate))
		for range 1000 {
			require.True(t, <-errs == errLate)
		}
	})
}

// The bubble that ends with the future still open fails if anyone is left who waits for it.
func TestWhoGivesUpLeavesNoGoroutine(t *testing.T) {
	for _, settles := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p, f := future.New[int]()
			for range 100 {
				ctx := end{1, context.DeadlineExceeded, errCause}.context()
				_, err := f.Await(ctx)
				require.ErrorIs(t, err, errCause)
				_, err = future.All(end{1, context.Canceled, errCause}.context(), f, f)
				require.ErrorIs(t, err, errCause)
				_, err = future.Race(ctx, f, f)
				require.ErrorIs(t, err, errCause)
			}
			if !settles {
				return
			}
			require.True(t, p.Resolve(7))
			v, err := f.Await(context.Background())
			require.True(t, v == 7 && err == nil)
		})
	}
}

func TestARetryThatWaitsHoldsNoGoroutine(t *testing.T) {
	for _, ends := range []end{{}, {forever - 1, context.Canceled, errCause}} {
		synctest.Test(t, func(t *testing.T) {
			f := future.Retry(ends.context(), retry.New(), func(context.Context) (int, error) { return 0, errLate })
			synctest.Wait()
			_, _, ok := f.Result()
			require.False(t, ok)
		})
	}
}

// A wait that is over takes itself off the futures it waited for, some of which settle meanwhile.
func TestAWaitEndsWhileWhatItWaitsForSettles(t *testing.T) {
	for range 1000 {
		p, f := future.New[int]()
		others, fs := make([]*future.Promise[int], 4), []*future.Future[int]{f, nil, nil, nil, nil}
		for i := range others {
			others[i], fs[i+1] = future.New[int]()
		}
		var wg sync.WaitGroup
		for _, p := range append(others, p) {
			wg.Go(func() { p.Resolve(7) })
		}
		for range 3 {
			wg.Go(func() {
				v, err := future.Race(context.Background(), fs...)
				assert.True(t, v == 7 && err == nil)
			})
		}
		wg.Wait()
	}
}

// One goroutine ends all waiting retries of a context, and what is derived from one may end that goroutine.
func TestOneEndOfAContextEndsAllItsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		var fs []*future.Future[int]
		for i := range 10 {
			f := future.Retry(ctx, retry.Standard(), func(context.Context) (int, error) { return i, errLate })
			fs = append(fs, f, future.Recover(f, func(err error) (int, error) {
				if i%2 == 0 {
					runtime.Goexit()
				}
				return i, err
			}))
		}
		synctest.Wait()
		cancel(errCause)
		synctest.Wait()
		for i, f := range fs {
			v, err, ok := f.Result()
			require.True(t, ok, "future %d", i)
			if i%4 == 1 {
				require.True(t, err == future.ErrGoexit)
				continue
			}
			require.Equal(t, i/2, v)
			for _, match := range []error{errLate, errCause, context.Canceled} {
				require.ErrorIs(t, err, match)
			}
		}
	})
}

// A hooks is a context that counts what is registered with it.
type hooks struct {
	context.Context
	done chan struct{}
	n    *atomic.Int32
}

func (h hooks) Done() <-chan struct{} { return h.done }

func (h hooks) AfterFunc(func()) (stop func() bool) {
	h.n.Add(1)
	return func() bool { return h.n.Add(-1) >= 0 }
}

func TestARetryLeavesNothingWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := hooks{context.Background(), make(chan struct{}), new(atomic.Int32)}
		calls := 0
		f := future.Retry(ctx, retry.New(), func(context.Context) (int, error) {
			calls++
			return calls, map[bool]error{true: errLate}[calls < 4]
		})
		synctest.Wait()
		require.Equal(t, int32(1), ctx.n.Load(), "it waits")
		v, err := f.Await(context.Background())
		require.True(t, v == 4 && err == nil)
		require.Zero(t, ctx.n.Load())
	})
}
