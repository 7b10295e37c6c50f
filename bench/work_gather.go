package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/iter"
	"github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	"github.com/dacapo-go/dacapo/future"
)

const many = 10_000

// gather runs all operations, at most limit at a time (0: no limit), and returns the values in
// their order.
type gather func(limit int, ops []op) ([]int, error)

func eachGoroutine(_ int, ops []op) ([]int, error) {
	ctx := context.Background()
	var wg sync.WaitGroup
	values := make([]int, len(ops))
	for i, op := range ops {
		wg.Go(func() { values[i], _ = op(ctx) })
	}
	wg.Wait()
	return values, nil
}

// fewGoroutines is as little as there can be: neither an end at an error, nor help for functions
// that wait for one another.
func fewGoroutines(limit int, ops []op) ([]int, error) {
	ctx := context.Background()
	var wg sync.WaitGroup
	var next atomic.Int64
	values := make([]int, len(ops))
	for range limit {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(ops); i = int(next.Add(1)) - 1 {
				values[i], _ = ops[i](ctx)
			}
		})
	}
	wg.Wait()
	return values, nil
}

func runAll(limit int, ops []op) ([]int, error) {
	if limit == 0 {
		limit = future.NoLimit
	}
	return future.RunAll(context.Background(), limit, ops...)
}

func group(limit int, ops []op) ([]int, error) {
	g, ctx := errgroup.WithContext(context.Background())
	if limit == 0 {
		limit = -1
	}
	g.SetLimit(limit)
	values := make([]int, len(ops))
	for i, op := range ops {
		g.Go(func() (err error) { values[i], err = op(ctx); return err })
	}
	return values, g.Wait()
}

func concPool(limit int, ops []op) ([]int, error) {
	p := pool.New()
	if limit > 0 {
		p = p.WithMaxGoroutines(limit)
	}
	values := make([]int, len(ops))
	c := p.WithContext(context.Background()).WithCancelOnError().WithFirstError()
	for i, op := range ops {
		c.Go(func(ctx context.Context) (err error) { values[i], err = op(ctx); return err })
	}
	return values, c.Wait()
}

// concIter has a goroutine for each worker, which the limit says: without one, as many as
// there are functions.
func concIter(limit int, ops []op) ([]int, error) {
	ctx := context.Background()
	if limit == 0 {
		limit = len(ops)
	}
	return iter.Mapper[op, int]{MaxGoroutines: limit}.MapErr(ops, func(op *op) (int, error) { return (*op)(ctx) })
}

// gathered are all that gather op many times, the first of them the one to compare with.
func gathered(limit int, op op, all ...contestant) []contestant {
	for i := range all {
		do := gathers[all[i].by]
		all[i].make = func(calls *atomic.Int64) func() run {
			ops := repeated(counted(calls, op))
			return func() run {
				return func() (sum int, err error) {
					values, err := do(limit, ops)
					for _, v := range values[:min(len(values), 100)] {
						sum += v
					}
					return sum, err
				}
			}
		}
	}
	return all
}

var (
	gathers = map[string]gather{"by hand": eachGoroutine, "64 goroutines": fewGoroutines, "dacapo": runAll, "errgroup": group, "conc pool": concPool, "conc iter": concIter}

	byEach   = contestant{by: "by hand", how: "a goroutine each, and a WaitGroup"}
	byRunAll = contestant{by: "dacapo", how: "future.RunAll"}
	byGroup  = contestant{by: "errgroup", how: "WithContext, SetLimit, a slice for the values", peer: true}
	byPool   = contestant{by: "conc pool", how: "a pool with a context that ends at the first error, a slice for the values"}
	by64     = contestant{by: "64 goroutines", how: "by hand, with an atomic counter: no end at an error", pattern: true}
	byMapper = contestant{by: "conc iter", how: "iter.Mapper.MapErr: no context, and no end at an error"}
)

func repeated(one op) []op {
	ops := make([]op, many)
	for i := range ops {
		ops[i] = one
	}
	return ops
}

func block(context.Context) (int, error) { time.Sleep(time.Millisecond); return 1, nil }

func gatherings() []workload {
	return []workload{
		{
			id: "F3", what: "gather 10,000 trivial functions, no limit", calls: many, value: 100, allocs: 12, most: true,
			contestants: gathered(0, succeed, byEach, byRunAll, byGroup, byPool, byMapper), limit: limit{floor: 0.06, peer: 0.05},
			why: "What is left is 15 ns a function, of which a quarter is the look at the context before each, which conc iter does not take. To look at its channel " +
				"in place of its error was tried: slower.",
		},
		{
			id: "F3l", what: "… at most 64 at a time", calls: many, value: 100, allocs: 12, most: true,
			contestants: gathered(64, succeed, byGroup, byRunAll, byPool, byMapper, by64), limit: limit{floor: 0.8, peer: 0.05, of: map[string]float64{"errgroup": 0.05, "conc pool": 0.05}},
			why: "conc iter is a fixed number of goroutines and an atomic counter, as the 64 goroutines by hand are: no context, no end at an error, and functions " +
				"that wait for one another hang. errgroup and conc pool have these.",
		},
		{
			id: "F3b", what: "… that block for 1ms each, no limit", calls: many, value: 100, allocs: many, most: true,
			contestants: gathered(0, block, byGroup, byRunAll, byPool, byMapper), limit: limit{floor: 0.8, peer: 0.8},
			why: "Each goroutine is started by the one before it, so that short functions need none; conc iter starts all at once, without a context. Against errgroup " +
				"and conc pool the limit holds.",
		},
	}
}
