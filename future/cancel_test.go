package future_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

var interleavings = flag.Int("interleavings", 1000, "how often each cell of the cancellation table is played")

// A run of the table calls an operation that takes 10ms at 0, 30 and 60ms, with waits of
// 20ms. Its context ends at one of these moments; where something else happens at the same
// instant, either can be first.
var moments = map[string]time.Duration{
	"before the start":            -1,
	"as it starts":                0,
	"during an operation":         5 * time.Millisecond,
	"between operation and wait":  10 * time.Millisecond,
	"in a wait":                   20 * time.Millisecond,
	"at the tick of the timer":    30 * time.Millisecond,
	"at success or at exhaustion": 70 * time.Millisecond,
	"during a hook":               72 * time.Millisecond, // the last Failed, or Finished
	"after the end":               100 * time.Millisecond,
}

// endings are what can end the context at an instant. The function returned lets go of
// what is left.
var endings = map[string]func(at time.Duration, yields int) (context.Context, func()){
	"cancel": func(at time.Duration, yields int) (context.Context, func()) {
		ctx, cancel := context.WithCancel(context.Background())
		return ctx, endAt(at, yields, cancel)
	},
	"cancel with a cause": func(at time.Duration, yields int) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(context.Background())
		return ctx, endAt(at, yields, func() { cancel(errOther) })
	},
	"deadline": func(at time.Duration, _ int) (context.Context, func()) {
		ctx, cancel := context.WithDeadlineCause(context.Background(), time.Now().Add(at), errOther)
		return ctx, cancel
	},
	"parent's deadline": func(at time.Duration, _ int) (context.Context, func()) {
		parent, stop := context.WithDeadline(context.Background(), time.Now().Add(at))
		ctx, cancel := context.WithCancel(parent)
		return ctx, func() { cancel(); stop() }
	},
	"attempt timeout": func(time.Duration, int) (context.Context, func()) { // only an attempt's context ends
		ctx, cancel := context.WithCancel(context.Background())
		return ctx, cancel
	},
}

// endAt calls end at an instant, after some yields.
func endAt(at time.Duration, yields int, end func()) func() {
	if at < 0 {
		end()
		return end
	}
	timer := time.AfterFunc(at, func() {
		for range yields {
			runtime.Gosched()
		}
		end()
	})
	return func() { timer.Stop(); end() }
}

// A witness is a context that notes whether it has told anybody that it has ended.
type witness struct {
	context.Context
	told atomic.Bool
}

func (w *witness) Err() error {
	err := w.Context.Err()
	if err != nil {
		w.told.Store(true)
	}
	return err
}

func TestCancellationAtEveryMoment(t *testing.T) {
	for when, at := range moments {
		for how, ending := range endings {
			t.Run(when+"/"+how, func(t *testing.T) {
				for n := 0; n < *interleavings; n += 50 {
					synctest.Test(t, func(t *testing.T) {
						for i := range 50 {
							ctx, stop := ending(at, i%4)
							playCell(ctx, t, cell{at, how == "attempt timeout", i%3 == 0, i%5 > 1, drivers[[]string{"Do", "Retry"}[i%2]]})
							stop()
						}
					})
				}
			})
		}
	}
}

// A cell says what one run of the table is.
type cell struct {
	at       time.Duration
	attempts bool // only an attempt's time ends, after `at`
	succeeds bool // the third call does
	obeys    bool // the operation returns when its context ends
	drive    func(context.Context, retry.Policy, func(context.Context) (int, error)) (int, error)
}

func playCell(ctx context.Context, t *testing.T, c cell) {
	w := &witness{Context: ctx}
	began := time.Now()
	finished, calls := 0, 0
	var reason retry.Reason
	p := retry.New().MaxRetries(2).Backoff(backoff.Constant(20 * time.Millisecond)).Events(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.Finished {
			finished, reason = finished+1, e.Reason
		}
		if e.Call == 3 && (e.Kind == retry.Failed || e.Kind == retry.Finished) {
			time.Sleep(4 * time.Millisecond)
		}
	})
	if c.attempts && c.at > 0 {
		p = p.AttemptTimeout(c.at)
	}
	var last error
	v, err := c.drive(w, p, func(ctx context.Context) (int, error) {
		calls++
		require.False(t, w.told.Load(), "no call begins once the context has told of its end")
		if !c.attempts {
			require.LessOrEqual(t, time.Since(began), max(c.at, 0), "no call begins after the end")
		}
		v, err := c.op(ctx, calls)
		last = err
		return v, err
	})
	require.Equal(t, 1, finished, "one Finished")
	require.Equal(t, calls, v, "the value of the last call")
	require.Equal(t, last == nil && calls > 0, err == nil, "a success is kept, a failure is not lost")
	switch {
	case reason == retry.Cancelled || reason == retry.DeadlineWouldExceed:
		require.False(t, c.attempts)
		if calls > 0 {
			require.ErrorIs(t, err, last)
		}
		if reason == retry.DeadlineWouldExceed { // before the end
			require.ErrorIs(t, err, context.DeadlineExceeded)
			break
		}
		require.ErrorIs(t, err, ctx.Err())
		require.ErrorIs(t, err, context.Cause(ctx))
	case err != nil:
		require.True(t, err == last, "the last error itself: %v", err)
	}
	if end := time.Since(began); c.obeys && reason == retry.Cancelled {
		require.LessOrEqual(t, end, max(c.at, 0)+8*time.Millisecond, "at once, but for the hooks")
	}
}

func (c cell) op(ctx context.Context, n int) (int, error) {
	if c.obeys {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return n, fmt.Errorf("call %d: %w", n, context.Cause(ctx))
		}
	} else {
		time.Sleep(10 * time.Millisecond)
	}
	if n == 3 && c.succeeds {
		return n, nil
	}
	return n, fmt.Errorf("call %d: %w", n, errBoom)
}

// The waiter's own context ends while the work goes on.
func TestAwaitGivesUpAtEveryMoment(t *testing.T) {
	for how, ending := range endings {
		if how == "attempt timeout" {
			continue // no attempt's
		}
		t.Run(how, func(t *testing.T) {
			for n := 0; n < *interleavings; n += 50 {
				synctest.Test(t, func(t *testing.T) {
					for i := range 50 {
						began := time.Now()
						at := []time.Duration{-1, 0, 5, 10, 15}[i%5] * time.Millisecond
						ctx, stop := ending(at, i%4)
						f := future.Go(context.Background(), func(context.Context) (int, error) { time.Sleep(10 * time.Millisecond); return 7, nil })
						v, err := f.Await(ctx)
						switch waited := time.Since(began); {
						case at > 10*time.Millisecond:
							require.NoError(t, err)
							require.Equal(t, 10*time.Millisecond, waited)
						case at < 10*time.Millisecond:
							require.Error(t, err)
							require.Equal(t, max(at, 0), waited)
						}
						if err != nil {
							require.Zero(t, v)
							require.ErrorIs(t, err, ctx.Err())
							require.ErrorIs(t, err, context.Cause(ctx))
						}
						v, err = f.Await(context.Background())
						require.NoError(t, err)
						require.Equal(t, 7, v, "the work went on")
						v, err = f.Await(ctx)
						require.NoError(t, err, "what is there beats a context that has ended")
						require.Equal(t, 7, v)
						stop()
					}
				})
			}
		})
	}
}
