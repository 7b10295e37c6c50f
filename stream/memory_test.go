package stream_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

// depth is the number of frames on the stack.
func depth() int { return runtime.Callers(0, make([]uintptr, 1000)) }

// heapAlloc is the live heap: the least of some readings, for the runtime has its own.
func heapAlloc() int64 {
	least := int64(1 << 60)
	for range 5 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		least = min(least, int64(m.HeapAlloc))
	}
	return least
}

// A million failures in a row, without a wait: the stack is as it was, and the heap.
func TestAMillionFailuresTakeNoRoom(t *testing.T) {
	const failures = 1_000_000
	for name, again := range map[string]func(stream.Stream[int]) stream.Stream[int]{
		"Restart": func(s stream.Stream[int]) stream.Stream[int] {
			return s.Retry(noWait.MaxRetries(retry.Unlimited), stream.Restart[int]())
		},
		"reset": func(s stream.Stream[int]) stream.Stream[int] {
			return s.Retry(noWait, stream.Restart[int]().Reset(stream.ResetAfter(1).MaxTotal(2*failures)))
		},
		"Resume": func(s stream.Stream[int]) stream.Stream[int] {
			return stream.Resume(func(context.Context, int, bool) stream.Stream[int] { return s }, func(v int) (int, bool) { return v, true }, 0, noWait, stream.Reset{})
		},
	} {
		runs := 0
		var depths []int
		var heaps []int64
		_, err := stream.Reduce(t.Context(), again(func(_ context.Context, yield func(int) bool) error {
			if runs++; runs > failures {
				return nil
			}
			if runs%(failures/10) == 0 {
				depths, heaps = append(depths, depth()), append(heaps, heapAlloc())
			}
			yield(runs)
			return errBoom
		}), 0, func(n, _ int) int { return n + 1 })
		assert.NoError(t, err, name)
		assert.Equal(t, slices.Repeat(depths[:1], 10), depths, name)
		// What the runtime makes for itself comes now and then, and is some kilobytes.
		assert.Less(t, heaps[9]-heaps[0], int64(16<<10), "%s: %v", name, heaps)
		least := int64(1024)
		for i := range heaps[1:] {
			least = min(least, heaps[i+1]-heaps[i])
		}
		assert.Less(t, least, int64(100), "%s: less than 1 KB in all: %v", name, heaps)
	}
}

func TestAResetWithACapEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, reset := range map[string]stream.Reset{
			"in all":           stream.ResetAfter(1).MaxTotal(1000),
			"within":           stream.ResetAfter(1).MaxWithin(10, time.Hour),
			"healthy, within":  stream.ResetHealthy(1).MaxWithin(10, time.Hour),
			"healthy, in all ": stream.ResetHealthy(1).MaxTotal(0),
		} {
			runs := 0
			s := stream.Stream[int](func(_ context.Context, yield func(int) bool) error {
				runs++
				yield(1)
				time.Sleep(ms)
				return errBoom
			})
			_, err := s.Retry(retry.New().WrapErrors().Backoff(backoff.Constant(ms)), stream.Restart[int]().Reset(reset)).Collect(t.Context())
			var e *retry.Error
			assert.ErrorAs(t, err, &e, name)
			assert.Equal(t, retry.Exhausted, e.Reason)
			assert.Equal(t, map[string]int{"in all": 1001, "within": 11, "healthy, within": 11, "healthy, in all ": 1}[name], runs, name)
		}
		// As many as may be within the time, for ever.
		runs := 0
		s := stream.Stream[int](func(_ context.Context, yield func(int) bool) error {
			if runs++; runs == 1000 {
				return nil
			}
			yield(1)
			return errBoom
		})
		_, err := s.Retry(retry.New().Backoff(backoff.Constant(time.Second)), stream.Restart[int]().Reset(stream.ResetAfter(1).MaxWithin(10, 10*time.Second))).Collect(t.Context())
		assert.NoError(t, err)
	})
}

func TestAnElementAllocatesNothing(t *testing.T) {
	items := make([]int, 10_000)
	for i := range items {
		items[i] = i
	}
	pipe := stream.Map(stream.FromSlice(items), func(v int) int { return v * v }).Filter(odd)
	key := func(v int) int { return v }
	for name, c := range map[string]struct {
		s    stream.Stream[int]
		most float64 // of a run, however many elements
	}{
		"a pipe":      {pipe, 1}, // the consumer
		"Take":        {pipe.Take(1 << 30), 3},
		"BeforeFirst": {pipe.Retry(retry.New(), stream.BeforeFirst[int]()), 12},
		"Restart":     {pipe.Retry(retry.New(), stream.Restart[int]()), 12},
		"SkipSeenBy":  {pipe.Retry(retry.New(), stream.SkipSeenBy(key)), 16},
		"SkipSeen":    {pipe.Retry(retry.New(), stream.SkipSeen[int]()), 16},
		"Resume":      {stream.Resume(func(context.Context, int, bool) stream.Stream[int] { return pipe }, func(v int) (int, bool) { return v, true }, 0, retry.New(), stream.Reset{}), 16},
		"FlatMap":     {stream.FlatMap(stream.Of(1, 2), func(int) stream.Stream[int] { return pipe }), 8},
		"ParMap":      {stream.ParMap(pipe, 4, stream.Ordered, func(_ context.Context, v int) (int, error) { return v, nil }), 60},
	} {
		sum := 0
		assert.LessOrEqual(t, testing.AllocsPerRun(5, func() { _ = c.s(t.Context(), func(v int) bool { sum += v; return true }) }), c.most, name)
	}
}

// A reset forgets the wait before: the next is as at first.
func TestAResetForgetsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited []time.Duration
		p := retry.New().Backoff(backoff.Decorrelated(time.Second)).Rand(func() uint64 { return math.MaxUint64 }).
			Events(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.Scheduled {
					waited = append(waited, e.Delay.Round(time.Second))
				}
			})
		runs := 0
		s := stream.Stream[int](func(_ context.Context, yield func(int) bool) error {
			if runs++; runs == 3 {
				yield(1)
			}
			return errBoom
		})
		_, err := s.Retry(p, stream.Restart[int]().Reset(stream.ResetAfter(1))).Collect(t.Context())
		assert.True(t, err == errBoom)
		assert.Equal(t, []time.Duration{3 * time.Second, 9 * time.Second, 3 * time.Second, 9 * time.Second, 27 * time.Second}, waited)
	})
}

// The context of a run of the source, and its timer, go with it.
func TestARunOfTheSourceLeavesNothingWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := stream.Failed[int](errBoom).Retry(noWait.MaxRetries(20_000).AttemptTimeout(time.Hour), stream.Restart[int]())
		before := heapAlloc()
		_, err := s.Collect(ctx)
		assert.True(t, err == errBoom)
		assert.Less(t, heapAlloc()-before, int64(1e6))
	})
}
