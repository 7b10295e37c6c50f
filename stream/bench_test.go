package stream_test

import (
	"context"
	"sync"
	"testing"

	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

// Each case has the same done by hand.

func square(v int) int { return v * v }
func even(v int) bool  { return v%2 == 0 }
func add(a, v int) int { return a + v }

var (
	squareOf, evenOf, addOf = square, even, add // functions that the compiler does not see
	sink                    int
	million                 = func() []int {
		all := make([]int, 1_000_000)
		for i := range all {
			all[i] = i
		}
		return all
	}()
)

func BenchmarkPipe(b *testing.B) {
	ctx := context.Background()
	stored := stream.Map(stream.FromSlice(million), squareOf).Filter(evenOf)
	retried := stored.Retry(retry.New(), stream.Restart[int]())
	skipping := stored.Retry(retry.New(), stream.SkipSeen[int]())
	resumed := stream.Resume(func(context.Context, int, bool) stream.Stream[int] { return stored }, func(v int) (int, bool) { return v, true }, 0, retry.New(), stream.Reset{})
	unretried := func() { sink, _ = stream.Reduce(ctx, stored, 0, addOf) }
	for _, c := range []struct {
		name         string
		hand, dacapo func()
	}{
		{"visible", func() { sink = visibleByHand(million) }, func() { sink = visible(ctx, million) }},
		{"stored", func() {
			sum, square, even, add := 0, squareOf, evenOf, addOf
			for _, v := range million {
				if u := square(v); even(u) {
					sum = add(sum, u)
				}
			}
			sink = sum
		}, func() { sink, _ = stream.Reduce(ctx, stored, 0, addOf) }},
		{"Restart, against stored", unretried, func() { sink, _ = stream.Reduce(ctx, retried, 0, addOf) }},
		{"SkipSeen, against stored", unretried, func() { sink, _ = stream.Reduce(ctx, skipping, 0, addOf) }},
		{"Resume, against stored", unretried, func() { sink, _ = stream.Reduce(ctx, resumed, 0, addOf) }},
	} {
		for _, of := range []struct {
			name string
			do   func()
		}{{"hand", c.hand}, {"dacapo", c.dacapo}} {
			b.Run("case="+c.name+"/of="+of.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					of.do()
				}
			})
		}
	}
}

func visibleByHand(vs []int) (sum int) {
	for _, v := range vs {
		if u := square(v); even(u) {
			sum = add(sum, u)
		}
	}
	return sum
}

// visible is a pipeline that the compiler sees whole.
func visible(ctx context.Context, vs []int) int {
	sum, _ := stream.Reduce(ctx, stream.Map(stream.FromSlice(vs), square).Filter(even), 0, add)
	return sum
}

// poolByHand is a worker pool that keeps no order.
func poolByHand(items []int, n int, fn func(int) int) (sum int) {
	jobs, results := make(chan int), make(chan int, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for v := range jobs {
				results <- fn(v)
			}
		})
	}
	go func() {
		for _, v := range items {
			jobs <- v
		}
		close(jobs)
		wg.Wait()
		close(results)
	}()
	for v := range results {
		sum += v
	}
	return sum
}

func work(v int) int {
	for range 1000 { // about a microsecond
		v = v*1664525 + 1013904223
	}
	return v
}

func BenchmarkParMap(b *testing.B) {
	items := million[:10_000]
	for _, fn := range []struct {
		name string
		do   func(int) int
	}{{"trivial", square}, {"a microsecond", work}} {
		parMap := func(order stream.Order) func() {
			s := stream.ParMap(stream.FromSlice(items), 8, order, func(_ context.Context, v int) (int, error) { return fn.do(v), nil })
			return func() { sink, _ = stream.Reduce(context.Background(), s, 0, add) }
		}
		for _, of := range []struct {
			name string
			do   func()
		}{
			{"hand", func() { sink = poolByHand(items, 8, fn.do) }}, {"ordered", parMap(stream.Ordered)}, {"unordered", parMap(stream.Unordered)},
		} {
			b.Run("case="+fn.name+"/of="+of.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					of.do()
				}
			})
		}
	}
}
