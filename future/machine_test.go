package future_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

func TestEveryFutureDoesWhatTheDocumentationSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Custom(drawScript).Draw(t, "script")
		rapid.SyncTest(t, func(t *rapid.T) { s.play().check(t) })
	})
}

// A world is a script that is played, and what was seen of it. What is written
// without a lock is put in order by the futures themselves, as -race checks.
type world struct {
	script
	start   time.Time
	tasks   sync.WaitGroup
	ctx     context.Context
	promise *future.Promise[int]
	futures []*future.Future[int] // nil: the call that makes it did not return
	ready   []chan struct{}
	closed  []time.Duration   // when Done was closed
	ran     [][]time.Duration // when each one's function was called
	strange bool              // that of Go was given another context
	reports []string          // of the promise; none where the call did not return
	seen    []seen            // by the awaits
}

type seen struct {
	at     time.Duration
	before bool // there was a result before
	value  int
	err    error
}

func (s script) play() *world {
	n := len(s.derived) + 1
	w := &world{
		script: s, start: time.Now(), ctx: s.ends.context(), futures: make([]*future.Future[int], n), ready: make([]chan struct{}, n),
		closed: make([]time.Duration, n), ran: make([][]time.Duration, n), reports: make([]string, len(s.settles)), seen: make([]seen, len(s.awaits)),
	}
	for i := range w.ready {
		w.ready[i] = make(chan struct{})
	}
	w.keep(0, w.first)
	for i, d := range s.derived {
		w.at(d.at, func() { w.keep(i+1, func() *future.Future[int] { return w.derive(i+1, d) }) })
	}
	for i, a := range s.awaits {
		ctx := a.ends.context()
		w.at(a.at, func() { w.await(ctx, i, a) })
	}
	w.tasks.Wait()
	return w
}

func (w *world) since() time.Duration { return time.Since(w.start) }

func (w *world) at(instant time.Duration, do func()) {
	w.tasks.Go(func() {
		time.Sleep(instant)
		do()
	})
}

func (w *world) keep(i int, made func() *future.Future[int]) {
	defer close(w.ready[i]) // also where it ends the goroutine
	w.futures[i] = made()
	w.tasks.Go(func() {
		<-w.futures[i].Done()
		w.closed[i] = w.since()
	})
}

func (w *world) first() *future.Future[int] {
	switch w.kind {
	case "Go":
		return future.Go(w.ctx, w.work)
	case "Retry":
		return future.Retry(w.ctx, retry.New().MaxRetries(w.retries).Backoff(backoff.Constant(w.wait)), w.work)
	case "Value":
		return future.Value(1)
	case "Failed":
		return future.Failed[int](nil)
	case "zero":
		return new(future.Future[int])
	}
	p, f := future.New[int]()
	w.promise = p
	for i, s := range w.settles {
		w.at(s.at, func() { w.reports[i] = map[bool]string{true: "won", false: "late"}[s.with.settle(p)] })
	}
	return f
}

func (w *world) work(ctx context.Context) (int, error) {
	w.ran[0] = append(w.ran[0], w.since())
	w.strange = w.strange || w.kind == "Go" && ctx != w.ctx
	c := w.call(len(w.ran[0]))
	time.Sleep(c.deaf)
	if c.listens > 0 {
		select {
		case <-ctx.Done():
			return c.does.value, ctx.Err()
		case <-time.After(c.listens):
		}
	}
	return c.does.end()
}

func (w *world) derive(i int, d derivation) *future.Future[int] {
	<-w.ready[d.of]
	f := w.futures[d.of]
	if f == nil {
		runtime.Goexit() // there is nothing to derive from
	}
	ran := func() { w.ran[i] = append(w.ran[i], w.since()) }
	switch d.by {
	case "Map":
		return future.Map(f, func(int) (int, error) { ran(); return d.does.end() })
	case "Recover":
		return future.Recover(f, func(error) (int, error) { ran(); return d.does.end() })
	}
	return future.FlatMap(f, func(int) *future.Future[int] { ran(); return d.flat() })
}

// flat is what the function of FlatMap returns.
func (d derivation) flat() *future.Future[int] {
	switch d.by {
	case "nil":
		return nil
	case "later":
		return future.Go(context.Background(), func(context.Context) (int, error) {
			time.Sleep(d.takes)
			return d.does.end()
		})
	}
	v, err := d.does.end()
	if err != nil {
		return future.Failed[int](err)
	}
	return future.Value(v)
}

func (w *world) await(ctx context.Context, i int, a await) {
	<-w.ready[a.of]
	f := w.futures[a.of]
	if f == nil {
		return
	}
	s := &w.seen[i]
	_, _, s.before = f.Result()
	s.value, s.err = a.wait(ctx, f)
	s.at = w.since()
}

// wait waits for one future in one of the ways that are alike for one.
func (a await) wait(ctx context.Context, f *future.Future[int]) (v int, err error) {
	switch a.by {
	case "Done":
		<-f.Done()
		v, err, _ = f.Result()
		return v, err
	case "All":
		vs, err := future.All(ctx, f)
		return append(vs, 0)[0], err
	case "Any":
		return future.Any(ctx, f)
	case "Race":
		return future.Race(ctx, f)
	case "AllSettled":
		r := future.AllSettled(ctx, f)[0]
		return r.Value, r.Err
	case "Completed":
		for _, r := range future.Completed(ctx, f) {
			v, err = r.Value, r.Err
		}
		return v, err
	}
	return f.Await(ctx)
}

func (w *world) check(t *rapid.T) {
	want := w.expect(w.winner(t))
	require.False(t, w.strange, "the work has the context that was given")
	for i := range want {
		w.checkFuture(t, i, want[i])
	}
	for i, a := range w.awaits {
		if !want[a.of].lost {
			w.checkAwait(t, a, w.seen[i], want[a.of])
		}
	}
}

// winner is who settled the promise: the first in time, and of the first any one. It alone is told so,
// unless a derived function ended its goroutine: then it is told nothing.
func (w *world) winner(t *rapid.T) (winner settle) {
	if w.kind != "New" {
		return winner
	}
	n, report := 0, ""
	for i, r := range w.reports {
		if r != "late" {
			n, winner, report = n+1, w.settles[i], r
		}
	}
	require.Equal(t, 1, n, "one won: %q", w.reports)
	for _, s := range w.settles {
		require.LessOrEqual(t, winner.at, s.at)
	}
	gone := false
	for i, told := range w.expect(winner)[1:] {
		d := w.derived[i]
		gone = gone || d.does.how == goexits && d.by != "nil" && d.by != "later" && len(told.ran) > 0 && told.ran[0] == winner.at
	}
	require.Equal(t, gone, report == "", "a Goexit ends the goroutine that settles")
	require.False(t, w.promise.Resolve(99), "it is settled")
	require.False(t, w.promise.Reject(errors.New("late")), "it is settled")
	return winner
}

func (w *world) checkFuture(t *rapid.T, i int, want told) {
	require.Equal(t, want.ran, w.ran[i], "calls for future %d", i)
	f := w.futures[i]
	require.Equal(t, want.lost, f == nil, "future %d is lost", i)
	if f == nil {
		return
	}
	require.Equal(t, want.at, w.closed[i], "when future %d was done", i)
	v, err, ok := f.Result()
	require.True(t, ok)
	want.is.check(t, v, err)
	if want.passed {
		_, first, _ := w.futures[w.derived[i-1].of].Result()
		require.True(t, err == first, "%v is the error of its source, %v", err, first)
	}
}

func (o conclusion) check(t *rapid.T, v int, err error) {
	require.Equal(t, o.value, v)
	switch o.how {
	case returns:
		require.True(t, err == o.err, "%v is %v itself", err, o.err)
	case goexits:
		require.True(t, err == future.ErrGoexit, "%v is ErrGoexit", err)
	case says:
		require.ErrorContains(t, err, "future: ")
	case ended:
		for _, match := range o.match {
			require.True(t, match == nil || errors.Is(err, match), "%v is %v", err, match)
		}
	case panics:
		p, ok := err.(*future.PanicError)
		require.True(t, ok, "%T is a PanicError", err)
		require.Equal(t, o.with, p.Value)
		require.Contains(t, string(p.Stack), "conclusion.end", "it tells where")
		cause, _ := o.with.(error)
		require.True(t, p.Unwrap() == cause)
	}
}

func (w *world) checkAwait(t *rapid.T, a await, got seen, want told) {
	v, err, _ := w.futures[a.of].Result()
	require.Equal(t, want.at < a.at, got.before, "a result before it waited")
	// If the context ended, its error comes before one of the result that only repeats it.
	echo := (a.by == "All" || a.by == "Any" || a.by == "Race") && a.ends.at < a.at && errors.Is(err, a.ends.err)
	if !echo && (a.by == "Done" || want.at < max(a.at, a.ends.at)) {
		require.Equal(t, max(a.at, want.at), got.at, "%v has the result", a)
		require.True(t, got.err == err, "%v: %v is %v", a, got.err, err)
		if err == nil || a.by == "Await" || a.by == "Done" {
			require.Equal(t, v, got.value)
		}
		return
	}
	require.Equal(t, max(a.at, a.ends.at), got.at, "%v gives up", a)
	require.ErrorIs(t, got.err, a.ends.err)
	require.ErrorIs(t, got.err, a.ends.cause)
	require.True(t, echo || got.value == 0, "%v: no value", a)
}
