package future_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
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

// A scene is a run, for any driver: what the policy says, what each call does, and
// when the context ends.
type scene struct {
	policy   func(retry.Policy) retry.Policy
	calls    []outcome
	draws    []uint64
	cancelAt time.Duration // 0: never
	deadline time.Duration // 0: none
}

type outcome struct {
	takes time.Duration
	obeys bool
	err   error
}

var policies = []func(retry.Policy) retry.Policy{
	func(p retry.Policy) retry.Policy { return p },
	func(p retry.Policy) retry.Policy { return p.Backoff(backoff.Strategy{}) },
	func(p retry.Policy) retry.Policy {
		return p.Backoff(backoff.Exponential(20*time.Millisecond, 2).Cap(90 * time.Millisecond).FullJitter()).MaxRetries(9)
	},
	func(p retry.Policy) retry.Policy {
		return p.Backoff(backoff.Decorrelated(10 * time.Millisecond)).MaxRetries(6).WrapErrors()
	},
	func(p retry.Policy) retry.Policy { return p.AttemptTimeout(25 * time.Millisecond).AttemptInfo() },
	func(p retry.Policy) retry.Policy {
		return p.MaxElapsed(120 * time.Millisecond).Backoff(backoff.Constant(30 * time.Millisecond))
	},
	func(p retry.Policy) retry.Policy { return p.Hints(retry.HintClamp, 50*time.Millisecond).WrapErrors() },
	func(p retry.Policy) retry.Policy { return p.On(retry.Is(errBoom)).MaxRetries(5) },
	func(p retry.Policy) retry.Policy { return p.MaxRetries(-1) },
}

func scenes() *rapid.Generator[scene] {
	ms := func(t *rapid.T, name string, to int, odd time.Duration) time.Duration {
		return time.Duration(rapid.IntRange(0, to).Draw(t, name))*10*time.Millisecond + odd
	}
	outcomes := rapid.Custom(func(t *rapid.T) outcome {
		errs := []error{nil, errBoom, errBoom, errBoom, errOther, retry.Permanent(errBoom), fmt.Errorf("wrapped: %w", errBoom), retry.After(40*time.Millisecond, errBoom)}
		return outcome{ms(t, "takes", 4, 0), rapid.Bool().Draw(t, "obeys"), rapid.SampledFrom(errs).Draw(t, "err")}
	})
	return rapid.Custom(func(t *rapid.T) scene {
		s := scene{
			policy: rapid.SampledFrom(policies).Draw(t, "policy"),
			calls:  rapid.SliceOfN(outcomes, 1, 8).Draw(t, "calls"),
			draws:  rapid.SliceOfN(rapid.Uint64(), 12, 12).Draw(t, "draws"),
		}
		if rapid.Bool().Draw(t, "cancelled") {
			s.cancelAt = ms(t, "cancel", 30, 1234567)
		}
		if rapid.Bool().Draw(t, "limited") {
			s.deadline = ms(t, "deadline", 30, 2345678)
		}
		return s
	})
}

// play plays the scene with a driver, and returns all that can be seen of it.
func (s scene) play(drive func(context.Context, retry.Policy, func(context.Context) (int, error)) (int, error)) (seen []string) {
	began := time.Now()
	note := func(format string, args ...any) {
		seen = append(seen, fmt.Sprintf("%v ", time.Since(began))+fmt.Sprintf(format, args...))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if s.cancelAt > 0 {
		defer time.AfterFunc(s.cancelAt, func() { cancel(errOther) }).Stop()
	}
	if s.deadline > 0 {
		limited, stop := context.WithTimeoutCause(ctx, s.deadline, errOld)
		defer stop()
		ctx = limited
	}
	draw := 0
	p := s.policy(retry.New()).Rand(func() uint64 { draw++; return s.draws[draw%len(s.draws)] })
	p = p.Events(func(_ context.Context, e retry.Event) { note("%+v %v", e, e.Err == errBoom) })
	n := 0
	v, err := drive(ctx, p, func(ctx context.Context) (int, error) {
		info, ok := retry.AttemptFrom(ctx)
		note("call, %v %v", info, ok)
		c := s.calls[min(n, len(s.calls)-1)]
		n++
		if !c.obeys {
			time.Sleep(c.takes)
			return n, c.err
		}
		select {
		case <-time.After(c.takes):
			return n, c.err
		case <-ctx.Done():
			return n, context.Cause(ctx)
		}
	})
	note("got %d, %T %v %v", v, err, err, err == errBoom)
	if e, ok := err.(*retry.Error); ok {
		note("%v %v %v %v", e.Last, e.Cause, e.Earlier(), e.Elapsed)
	}
	return seen
}

// Retry does what Do does, at the same instants. (Do is held against a model.)
func TestRetryIsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scenes().Draw(t, "scene")
		var do, our []string
		rapid.SyncTest(t, func(*rapid.T) { do = s.play(drivers["Do"]) })
		rapid.SyncTest(t, func(*rapid.T) { our = s.play(drivers["Retry"]) })
		require.Equal(t, do, our)
	})
}

func TestRetryRefusesAnEagerResult(t *testing.T) {
	_, err := future.Retry(t.Context(), retry.New(), func(context.Context) (*future.Future[int], error) {
		t.Error("called")
		return nil, nil
	}).Await(t.Context())
	assert.Equal(t, retry.ErrEagerResult, err)
	_, err = future.Retry(t.Context(), retry.New(), func(context.Context) (future.Promise[int], error) {
		t.Error("called")
		return future.Promise[int]{}, nil
	}).Await(t.Context())
	assert.Equal(t, retry.ErrEagerResult, err)
}

// Runs that wait under one context, under its children and under none end or go on,
// each as its own context says.
func TestRunsThatWaitSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancelCause(t.Context())
		child, stop := context.WithTimeout(parent, 10*time.Second)
		defer stop()
		free := context.WithoutCancel(parent)
		same := context.WithValue(parent, contextKey{}, 1) // the same channel
		twice := func(ctx context.Context) *future.Future[time.Duration] {
			began, calls := time.Now(), 0
			return future.Retry(ctx, retry.New(), func(context.Context) (time.Duration, error) {
				if calls++; calls < 3 {
					return time.Since(began), errBoom
				}
				return time.Since(began), nil
			})
		}
		var all []*future.Future[time.Duration]
		for range 10 {
			all = append(all, twice(parent), twice(child), twice(free), twice(same))
		}
		time.Sleep(1500 * time.Millisecond)
		cancel(errOther)
		ended := time.Now()
		for i, f := range all {
			if i%4 == 2 {
				continue
			}
			v, err := f.Await(t.Context())
			assert.Equal(t, time.Second, v, "the value of the last call")
			assert.Zero(t, time.Since(ended), "at once")
			for _, want := range []error{context.Canceled, errOther, errBoom} {
				assert.ErrorIs(t, err, want)
			}
		}
		for i := 2; i < len(all); i += 4 {
			v, err := all[i].Await(t.Context())
			assert.NoError(t, err)
			assert.Equal(t, 2*time.Second, v)
		}
	})
}

// pend starts n runs that wait for an hour, so many at a time, and returns them when all
// wait.
func pend(ctx context.Context, n, atOnce int, p retry.Policy) []*future.Future[int] {
	fs := make([]*future.Future[int], n)
	before := runtime.NumGoroutine()
	for i := range fs {
		fs[i] = future.Retry(ctx, p, failing)
		for (i+1)%atOnce == 0 && runtime.NumGoroutine() > before {
			runtime.Gosched()
		}
	}
	return fs
}

func heapAlloc() int64 {
	debug.FreeOSMemory() // collects twice
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

func TestARunThatWaitsHoldsLittleAndNoGoroutine(t *testing.T) {
	const n = 100_000
	p := retry.New().Backoff(backoff.Constant(time.Hour))
	for round := range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		before, goroutines := heapAlloc(), runtime.NumGoroutine()
		fs := pend(ctx, n, 100, p) // few at once: the runtime keeps the memory of every goroutine it has had
		assert.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
		if each := (heapAlloc() - before) / n; round == 1 { // in the first the runtime makes what it keeps
			assert.LessOrEqual(t, each, int64(350))
			t.Logf("%d bytes for each run that waits", each)
		}
		cancel()
		for _, f := range fs {
			_, err := f.Await(context.Background())
			require.ErrorIs(t, err, context.Canceled)
		}
		fs = nil
		if left := heapAlloc() - before; round == 1 {
			assert.Less(t, left/n, int64(120), "nothing is left behind, but what the runtime has not yet let go of stopped timers")
		}
		_ = fs
	}
}
