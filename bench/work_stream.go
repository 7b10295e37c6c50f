package main

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/samber/ro"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

func square(v int) int { return v * v }
func even(v int) bool  { return v%2 == 0 }
func add(a, v int) int { return a + v }

const oneMillion = 1_000_000

var (
	squareOf, evenOf, addOf = square, even, add // functions that the compiler does not see
	million                 = func() []int {
		all := make([]int, oneMillion)
		for i := range all {
			all[i] = i
		}
		return all
	}()
)

//go:noinline
func visibleByHand(vs []int) (sum int) {
	for _, v := range vs {
		if u := square(v); even(u) {
			sum = add(sum, u)
		}
	}
	return sum
}

func storedByHand(vs []int) (sum int) {
	square, even, add := squareOf, evenOf, addOf
	for _, v := range vs {
		if u := square(v); even(u) {
			sum = add(sum, u)
		}
	}
	return sum
}

// visible is a pipeline that the compiler sees whole.
//
//go:noinline
func visible(ctx context.Context, vs []int) (int, error) {
	return stream.Reduce(ctx, stream.Map(stream.FromSlice(vs), square).Filter(even), 0, add)
}

// The same with plain iter.Seq2, by hand.

func seqOf(vs []int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for _, v := range vs {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func seqMap(seq iter.Seq2[int, error], fn func(int) int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for v, err := range seq {
			if err == nil {
				v = fn(v)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

func seqFilter(seq iter.Seq2[int, error], keep func(int) bool) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for v, err := range seq {
			if (err != nil || keep(v)) && !yield(v, err) {
				return
			}
		}
	}
}

func seqReduce(seq iter.Seq2[int, error], fn func(int, int) int) (sum int, err error) {
	for v, err := range seq {
		if err != nil {
			return sum, err
		}
		sum = fn(sum, v)
	}
	return sum, nil
}

// seqRetry runs seq again where it fails; what has been delivered comes again.
func seqRetry(seq iter.Seq2[int, error], retries int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for n := 0; ; n++ {
			var failed error
			for v, err := range seq {
				if failed = err; err != nil {
					break
				}
				if !yield(v, nil) {
					return
				}
			}
			if failed == nil {
				return
			}
			if n == retries {
				yield(0, failed)
				return
			}
		}
	}
}

// roSum subscribes to o and returns its last value.
func roSum(o ro.Observable[int]) (sum int, err error) {
	o.Subscribe(ro.NewObserver(func(v int) { sum = v }, func(failed error) { err = failed }, func() {}))
	return sum, err
}

func roPipe(source ro.Observable[int], square func(int) int, even func(int) bool) ro.Observable[int] {
	return ro.Pipe2(source, ro.Map(square), ro.Filter(even))
}

func roReduce(o ro.Observable[int], add func(int, int) int) ro.Observable[int] {
	return ro.Pipe1(o, ro.Reduce(add, 0))
}

func streams() []workload {
	ctx := context.Background()
	noWait := retry.New().Backoff(backoff.Strategy{})
	stored := stream.Map(stream.FromSlice(million), squareOf).Filter(evenOf)
	seqStored := seqFilter(seqMap(seqOf(million), squareOf), evenOf)
	roStored := roPipe(ro.FromSlice(million), squareOf, evenOf)
	reduced := func(s stream.Stream[int]) run { return func() (int, error) { return stream.Reduce(ctx, s, 0, addOf) } }
	roReduced := func(o ro.Observable[int]) run {
		o = roReduce(o, addOf)
		return func() (int, error) { return roSum(o) }
	}
	without := contestant{by: "without Retry", how: "S1s of dacapo", make: once(reduced(stored))}
	resumed := stream.Resume(func(context.Context, int, bool) stream.Stream[int] { return stored },
		func(v int) (int, bool) { return v, true }, 0, noWait, stream.Reset{})
	const sum = 166_666_166_667_000_000
	return []workload{
		{
			id: "S1", what: "map, filter and sum of a million, visible to the compiler", value: sum, limit: limit{floor: 1.15, peer: 0.06},
			why: "The compiler makes the same loop of it, in registers and without a call, but with a branch for the filter where the loop by hand has a " +
				"conditional move. What a branch costs is a matter of where the linker puts it: the same instructions take 1.1 × in the test binary of this package.",
			contestants: []contestant{
				{by: "by hand", how: "the loop", make: once(func() (int, error) { return visibleByHand(million), nil })},
				{by: "dacapo", how: "FromSlice, Map, Filter, Reduce", make: once(func() (int, error) { return visible(ctx, million) })},
				{by: "samber/ro", how: "FromSlice, Map, Filter, Reduce; all are unsafe observables", make: once(func() (int, error) {
					return roSum(roReduce(roPipe(ro.FromSlice(million), square, even), add))
				})},
				{by: "iter.Seq2", how: "functions over iter.Seq2", pattern: true, make: once(func() (int, error) {
					return seqReduce(seqFilter(seqMap(seqOf(million), square), even), add)
				})},
			},
		},
		{
			id: "S1s", what: "… stored: its functions are variables", value: sum, allocs: 2, limit: limit{floor: 2.3, peer: 0.12},
			contestants: []contestant{
				{by: "by hand", how: "a loop over functions in variables", make: once(func() (int, error) { return storedByHand(million), nil })},
				{by: "dacapo", how: "FromSlice, Map, Filter, made once; Reduce", make: once(reduced(stored))},
				{by: "samber/ro", how: "FromSlice, Map, Filter, Reduce, made once; Subscribe", make: once(roReduced(roStored))},
				{by: "iter.Seq2", how: "functions over iter.Seq2, made once", pattern: true, make: once(func() (int, error) { return seqReduce(seqStored, addOf) })},
			},
		},
		{
			id: "S2", what: "… with Retry (Restart) around it, and no failure", value: sum, allocs: 7, most: true, limit: limit{floor: 2, peer: 0.06},
			why: "The stream without Retry is above that already. samber/ro is used with unsafe observables throughout, its fastest.",
			contestants: []contestant{
				without,
				{by: "dacapo", how: "Retry with Restart", make: once(reduced(stored.Retry(noWait, stream.Restart[int]())))},
				{by: "samber/ro", how: "RetryWithConfig", make: once(roReduced(ro.Pipe1(roStored, ro.RetryWithConfig[int](ro.RetryConfig{MaxRetries: 3}))))},
				{by: "iter.Seq2", how: "a retry over iter.Seq2", pattern: true, make: once(func() (int, error) { return seqReduce(seqRetry(seqStored, 3), addOf) })},
			},
		},
		{
			id: "S2r", what: "… with Resume", value: sum, allocs: 12, most: true,
			contestants: []contestant{without, {by: "dacapo", how: "Resume", make: once(reduced(resumed))}},
		},
		{
			id: "S2s", what: "… with SkipSeen, which hashes", value: sum, allocs: 12, most: true,
			contestants: []contestant{without, {by: "dacapo", how: "Retry with SkipSeen", make: once(reduced(stored.Retry(noWait, stream.SkipSeen[int]())))}},
		},
		flaky(ctx, noWait),
	}
}

// flaky is a source of 10,000 that fails twice at element 1,000; what has been delivered comes
// again.
func flaky(ctx context.Context, noWait retry.Policy) workload {
	const first, all = 1000, 10_000
	w := workload{id: "S3", what: "a source of 10,000 that fails twice at element 1,000", calls: 3, allocs: 20, most: true, limit: limit{floor: 1.5, peer: 0.08},
		why: "By hand is nearly as much already. samber/ro is used with unsafe observables, its fastest."}
	for v := range all {
		w.value += v
		if v < first {
			w.value += 2 * v
		}
	}
	source := func(calls *atomic.Int64) func(yield func(int) bool) error {
		n := 0
		return func(yield func(int) bool) error {
			if calls != nil {
				calls.Add(1)
			}
			n++
			for v := range all {
				if v == first && n%3 != 0 {
					return errBusy
				}
				if !yield(v) {
					return nil
				}
			}
			return nil
		}
	}
	way := func(by, how string, pattern bool, make func(source func(yield func(int) bool) error) run) {
		w.contestants = append(w.contestants, contestant{by: by, how: how, pattern: pattern, make: func(calls *atomic.Int64) func() run {
			return func() run { return make(source(calls)) }
		}})
	}
	way("by hand", "a loop over a source with a yield that the compiler does not see", false, func(source func(func(int) bool) error) run {
		return func() (sum int, err error) {
			add := addOf
			for range 4 {
				if err = source(func(v int) bool { sum = add(sum, v); return true }); err == nil {
					break
				}
			}
			return sum, err
		}
	})
	way("dacapo", "Retry with Restart", false, func(source func(func(int) bool) error) run {
		s := stream.Stream[int](func(_ context.Context, yield func(int) bool) error { return source(yield) }).Retry(noWait, stream.Restart[int]())
		return func() (int, error) { return stream.Reduce(ctx, s, 0, addOf) }
	})
	way("samber/ro", "NewUnsafeObservable, RetryWithConfig", false, func(source func(func(int) bool) error) run {
		o := ro.NewUnsafeObservable(func(to ro.Observer[int]) ro.Teardown {
			if err := source(func(v int) bool { to.Next(v); return true }); err != nil {
				to.Error(err)
			} else {
				to.Complete()
			}
			return nil
		})
		o = roReduce(ro.Pipe1(o, ro.RetryWithConfig[int](ro.RetryConfig{MaxRetries: 3})), addOf)
		return func() (int, error) { return roSum(o) }
	})
	way("iter.Seq2", "a retry over iter.Seq2", true, func(source func(func(int) bool) error) run {
		seq := func(yield func(int, error) bool) {
			if err := source(func(v int) bool { return yield(v, nil) }); err != nil {
				yield(0, err)
			}
		}
		return func() (int, error) { return seqReduce(seqRetry(seq, 3), addOf) }
	})
	return w
}
