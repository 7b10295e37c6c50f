package stream_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

func TestParMapRunsSoManyAtATimeAndKeepsTheOrder(t *testing.T) {
	for _, order := range []stream.Order{stream.Ordered, stream.Unordered} {
		synctest.Test(t, func(t *testing.T) {
			var running, most atomic.Int64
			began := time.Now()
			items := make([]int, 100)
			for i := range items {
				items[i] = i
			}
			got, err := stream.ParMap(stream.FromSlice(items), 10, order, func(_ context.Context, v int) (int, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				time.Sleep(time.Second + time.Duration(9-v%10)*ms)
				return v, nil
			}).Collect(t.Context())
			assert.NoError(t, err)
			assert.Equal(t, order == stream.Ordered, slices.IsSorted(got) && slices.Equal(items, got))
			slices.Sort(got)
			assert.Equal(t, items, got)
			assert.LessOrEqual(t, most.Load(), int64(10))
			assert.Less(t, time.Since(began), 11*time.Second)
		})
	}
	assert.Equal(t, "ordered unordered", fmt.Sprint(stream.Ordered, " ", stream.Unordered))
}

// Whoever does not return, and wherever: the run passes it on, and leaves nothing behind.
func TestWhatDoesNotReturnPassesOn(t *testing.T) {
	crashes := map[string]func(){"panic": func() { panic(errBoom) }, "Goexit": runtime.Goexit}
	one := func(_ context.Context, v int) (int, error) { return v, nil }
	source := func(crash func()) stream.Stream[int] {
		return stream.From(func(context.Context) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				if yield(1, nil) {
					crash()
				}
			}
		})
	}
	places := map[string]func(crash func()) stream.Stream[int]{
		"source": source,
		"source of Merge": func(crash func()) stream.Stream[int] {
			return stream.Merge(source(crash), stream.Of(2).Repeat(backoff.Constant(1)))
		},
		"source of ParMap":  func(crash func()) stream.Stream[int] { return stream.ParMap(source(crash), 2, stream.Ordered, one) },
		"source, unordered": func(crash func()) stream.Stream[int] { return stream.ParMap(source(crash), 2, stream.Unordered, one) },
		"fn of ParMap": func(crash func()) stream.Stream[int] {
			return stream.ParMap(stream.Of(1, 2, 3), 2, stream.Ordered, func(_ context.Context, v int) (int, error) { crash(); return v, nil })
		},
		"fn, unordered": func(crash func()) stream.Stream[int] {
			return stream.ParMap(stream.Of(1, 2, 3), 2, stream.Unordered, func(_ context.Context, v int) (int, error) { crash(); return v, nil })
		},
		"Retry": func(crash func()) stream.Stream[int] { return source(crash).Retry(retry.New(), stream.Restart[int]()) },
		"fn of Map": func(crash func()) stream.Stream[int] {
			return stream.Map(stream.Of(1), func(v int) int { crash(); return v })
		},
		"RetryEach": func(crash func()) stream.Stream[int] {
			return stream.RetryEach(stream.Of(1), noWait, func(context.Context, int) (int, error) { crash(); return 1, nil })
		},
	}
	for how, crash := range crashes {
		for place, make := range places {
			t.Run(how+" in "+place, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { assertPasses(t, how, func() { _, _ = make(crash).Collect(t.Context()) }) })
			})
		}
		for name, s := range map[string]stream.Stream[int]{
			"Merge": stream.Merge(stream.Of(1, 2), stream.Of(3).Repeat(backoff.Strategy{})), "ParMap": stream.ParMap(stream.Of(1).Repeat(backoff.Strategy{}), 3, stream.Ordered, one),
			"unordered": stream.ParMap(stream.Of(1).Repeat(backoff.Strategy{}), 3, stream.Unordered, one), "Buffered": stream.Of(1, 2).Retry(retry.New(), stream.Buffered[int](3)),
		} {
			t.Run(how+" in the consumer of "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					assertPasses(t, how, func() { _ = s.ForEach(t.Context(), func(context.Context, int) error { crash(); return nil }) })
				})
			})
		}
	}
}

// assertPasses checks that a panic (or Goexit) passes out of do.
func assertPasses(t *testing.T, how string, do func()) {
	var recovered any
	returned := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recovered = recover() }()
		do()
		returned = true
	}()
	<-done
	assert.False(t, returned)
	if how == "Goexit" {
		assert.Nil(t, recovered)
		return
	}
	err, ok := recovered.(error)
	require.True(t, ok)
	assert.ErrorIs(t, err, errBoom)
	var p *stream.PanicError
	if errors.As(err, &p) {
		assert.Contains(t, string(p.Stack), "parallel_test.go")
		assert.Contains(t, err.Error(), "stream: a function panicked: boom\n\ngoroutine ")
	}
}

func TestMergeTakesAsTheyCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		every := func(d time.Duration, v int) stream.Stream[int] {
			return stream.Every(d, func(context.Context) (int, error) { return v, nil }).Take(3)
		}
		got, err := stream.Merge(every(2*time.Second, 1), stream.Concat(stream.Of(0).Filter(odd), every(3*time.Second+ms, 2))).Collect(t.Context())
		assert.NoError(t, err)
		assert.Len(t, got, 6)
		assert.Equal(t, []int{1, 2, 1, 2}, got[2:])
		_, err = stream.Merge(stream.Of(1).Repeat(backoff.Constant(time.Second)), stream.Failed[int](errBoom)).Collect(t.Context())
		assert.True(t, err == errBoom)
		got, err = stream.Merge[int]().Collect(t.Context())
		assert.NoError(t, err)
		assert.Empty(t, got)
	})
}
