package main

import (
	"context"
	"sync"

	"github.com/sourcegraph/conc/iter"
	concstream "github.com/sourcegraph/conc/stream"

	"github.com/dacapo-go/dacapo/stream"
)

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

func concStream(items []int, n int, fn func(int) int) (sum int) {
	s := concstream.New().WithMaxGoroutines(n)
	for _, v := range items {
		s.Go(func() concstream.Callback {
			u := fn(v)
			return func() { sum += u }
		})
	}
	s.Wait()
	return sum
}

// concMapper has all results in memory before the first is used.
func concMapper(items []int, n int, fn func(int) int) (sum int) {
	for _, v := range (iter.Mapper[int, int]{MaxGoroutines: n}).Map(items, func(v *int) int { return fn(*v) }) {
		sum += v
	}
	return sum
}

// micro takes about a microsecond.
func micro(v int) int {
	for range 1000 {
		v = v*1664525 + 1013904223
	}
	return v
}

func parallels() []workload {
	const workers = 8
	items := million[:10_000]
	ways := func(fn func(int) int, order stream.Order) []contestant {
		s := stream.ParMap(stream.FromSlice(items), workers, order, func(_ context.Context, v int) (int, error) { return fn(v), nil })
		all := []contestant{
			{by: "by hand", how: "a worker pool, without an order", make: once(func() (int, error) { return poolByHand(items, workers, fn), nil })},
			{by: "dacapo", how: "ParMap", make: once(func() (int, error) { return stream.Reduce(context.Background(), s, 0, add) })},
		}
		if order != stream.Ordered {
			return all
		}
		return append(all,
			contestant{by: "conc stream", how: "stream.New, a callback for each", make: once(func() (int, error) { return concStream(items, workers, fn), nil })},
			contestant{by: "conc iter", how: "iter.Mapper.Map of the whole slice", make: once(func() (int, error) { return concMapper(items, workers, fn), nil })})
	}
	sum := func(fn func(int) int) (sum int) {
		for _, v := range items {
			sum += fn(v)
		}
		return sum
	}
	row := func(id, what string, fn func(int) int, order stream.Order) workload {
		return workload{id: id, what: what, value: sum(fn), contestants: ways(fn, order), allocs: 100, most: true}
	}
	return []workload{
		row("S4", "10,000 through ParMap of 8, a microsecond each, in order", micro, stream.Ordered),
		row("S4u", "… in any order", micro, stream.Unordered),
		row("S4n", "… of nothing, in order", square, stream.Ordered),
		row("S4nu", "… of nothing, in any order", square, stream.Unordered),
	}
}
