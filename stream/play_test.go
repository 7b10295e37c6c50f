package stream_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

// A world is a script that is played.
type world struct {
	script
	open, opened, closed int
	got                  []int
	events               []retry.Event
	late                 bool // something was delivered after the end
	over                 bool
}

// source is one run of the source. In Resume it begins at the cursor.
func (w *world) source(from int) stream.Stream[int] {
	return func(ctx context.Context, yield func(int) bool) error {
		if w.open > 0 {
			panic("two runs at once")
		}
		w.open++
		y := w.try(w.opened)
		w.opened++
		defer func() { w.open, w.closed = w.open-1, w.closed+1 }()
		for i, v := range y.items {
			if w.mode == "Resume" {
				v = from + i
			}
			if y.wait(ctx); y.obeys && ctx.Err() != nil {
				return ctx.Err()
			}
			if !yield(v) {
				for range w.rude {
					if yield(v) {
						panic("told to go on after the stop")
					}
				}
				if w.dirty {
					return errCleanup
				}
				return nil
			}
		}
		err, how := (&model{}).conclude(y)
		switch how {
		case "panic":
			panic(errBoom)
		case "Goexit":
			runtime.Goexit()
		}
		return err
	}
}

// wait takes the source's time for an element, or less if it obeys.
func (y try) wait(ctx context.Context) {
	var ended <-chan struct{}
	if y.obeys {
		ended = ctx.Done()
	}
	select {
	case <-time.After(y.takes):
	case <-ended:
	}
}

func (w *world) stream() stream.Stream[int] {
	p := retry.New().MaxRetries(w.retries).Backoff(backoff.Constant(w.wait))
	if w.hooked {
		p = p.Events(func(_ context.Context, e retry.Event) { w.events = append(w.events, e) })
	}
	id := func(v int) int { return v }
	mode := map[string]stream.Mode[int]{
		"BeforeFirst": stream.BeforeFirst[int](), "Restart": stream.Restart[int](), "SkipSeen": stream.SkipSeen[int](), "Buffered": stream.Buffered[int](w.max),
	}[w.mode]
	if w.mode == "SkipSeen" && w.byKey {
		mode = stream.SkipSeenBy(id)
	}
	if w.mode != "Resume" {
		return w.source(0).Retry(p, mode.Reset(w.resets()))
	}
	return stream.Resume(func(_ context.Context, from int, first bool) stream.Stream[int] {
		if first != (from == -1) {
			panic("first until an element has moved the cursor")
		}
		return w.source(from + 1)
	}, func(v int) (int, bool) { return v, true }, -1, p, w.resets())
}

// take is the consumer of one element. It reports whether it wants more.
func (w *world) take(v int) bool {
	w.late = w.late || w.over
	w.got = append(w.got, v)
	time.Sleep(w.slow)
	if len(w.got) != w.stopAt {
		return true
	}
	w.over = true
	switch w.stopBy {
	case "panic":
		panic(errCause)
	case "Goexit":
		runtime.Goexit()
	}
	return false
}

// consume runs the stream to its end, and says how it ended.
func (w *world) consume(ctx context.Context) (err error, how string) { //nolint:staticcheck // as model.run
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		how = "Goexit"
		defer func() {
			if r := recover(); r != nil {
				how = "panic"
				if r == any(errCause) {
					how = "consumer"
				}
			} else if how == "Goexit" && w.over {
				how = "consumer"
			}
		}()
		err = w.consumeBy(ctx)
		how = "well"
	}()
	<-ended
	w.over = true
	return err, how
}

func (w *world) consumeBy(ctx context.Context) error {
	s := w.stream()
	switch w.through {
	case "All":
		for v, err := range s.All(ctx) {
			if err != nil {
				return err
			}
			if !w.take(v) {
				return nil
			}
		}
		return nil
	case "Take":
		n := 1 << 30
		if w.stopAt > 0 {
			n = w.stopAt
		}
		return s.Take(n)(ctx, w.take)
	}
	return s(ctx, w.take)
}

func TestEveryModeDoesWhatItPromises(t *testing.T) {
	for range max(*scripts/2000, 1) {
		rapid.Check(t, func(t *rapid.T) {
			s := rapid.Custom(drawScript).Draw(t, "script")
			rapid.SyncTest(t, func(t *rapid.T) { s.check(t) })
		})
	}
}

func (s script) check(t *rapid.T) {
	want := (&model{script: s}).expect()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if s.cancelAt != never {
		defer time.AfterFunc(s.cancelAt, func() { cancel(errCause) }).Stop()
	}
	w := &world{script: s}
	began := time.Now()
	err, how := w.consume(ctx)
	require.Equal(t, want.ends, how)
	require.Equal(t, want.delivered, w.got)
	require.Equal(t, want.runs, w.opened, "runs")
	require.Equal(t, w.opened, w.closed, "each run is cleaned up once")
	require.False(t, w.late, "nothing after the end")
	require.Equal(t, want.at, time.Since(began))
	if how != "well" {
		return
	}
	if s.through == "All" && w.stopAt > 0 && len(w.got) == w.stopAt {
		require.NoError(t, err, "the clean-up's error has nowhere to go")
	} else {
		checkError(ctx, t, want, err)
	}
	if s.hooked {
		last := w.events[len(w.events)-1]
		require.Equal(t, retry.Finished, last.Kind)
		require.Equal(t, want.reason, last.Reason)
		require.Equal(t, want.runs, last.Call)
	}
}

func checkError(ctx context.Context, t *rapid.T, want told, err error) {
	own := want.err
	for fmt.Sprintf("%T", own) == "*retry.permanent" { // a mark, which the run takes off
		own = errors.Unwrap(own)
	}
	switch {
	case want.reason == retry.Cancelled:
		require.ErrorIs(t, err, context.Cause(ctx))
		require.ErrorIs(t, err, ctx.Err())
		if own != nil {
			require.ErrorIs(t, err, own)
		}
	case own == nil:
		require.NoError(t, err)
	default:
		require.True(t, err == own, "%v is %v itself", err, own)
	}
}

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "2000")
	m.Run()
}
