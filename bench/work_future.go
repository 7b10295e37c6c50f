package main

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/samber/mo"
	"github.com/sourcegraph/conc"
	"golang.org/x/sync/errgroup"

	"github.com/dacapo-go/dacapo/future"
)

// byHand is a future for one waiter, as a careful author writes it.
func byHand(ctx context.Context, op op) (int, error) {
	var wg sync.WaitGroup
	var v int
	var err error
	wg.Add(1)
	go func() {
		v, err = op(ctx)
		wg.Done()
	}()
	wg.Wait()
	return v, err
}

func byHandSelect(ctx context.Context, op op) (int, error) {
	done := make(chan struct{})
	var v int
	var err error
	go func() {
		v, err = op(ctx)
		close(done)
	}()
	select {
	case <-done:
		return v, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func byErrgroup(ctx context.Context, op op) (v int, err error) {
	var g errgroup.Group
	g.Go(func() (err error) { v, err = op(ctx); return err })
	err = g.Wait()
	return v, err
}

func byConc(ctx context.Context, op op) (v int, err error) {
	var wg conc.WaitGroup
	wg.Go(func() { v, err = op(ctx) })
	wg.Wait()
	return v, err
}

// moFuture starts op as a mo.Future. (Its work has no context: it takes that of the closure.)
func moFuture(ctx context.Context, op op) *mo.Future[int] {
	return mo.NewFuture(func(resolve func(int), reject func(error)) {
		v, err := op(ctx)
		if err != nil {
			reject(err)
			return
		}
		resolve(v)
	})
}

// created runs succeed in each way.
func created(ctx context.Context, ways ...created1) []contestant {
	var all []contestant
	for _, w := range ways {
		all = append(all, contestant{by: w.by, how: w.how, make: func(calls *atomic.Int64) func() run {
			op := counted(calls, succeed)
			return func() run { return func() (int, error) { return w.do(ctx, op) } }
		}})
	}
	return all
}

type created1 struct {
	by, how string
	do      func(context.Context, op) (int, error)
}

func goAndAwait(ctx context.Context, op op) (int, error) { return future.Go(ctx, op).Await(ctx) }

func settled() (background, ctx []contestant) {
	var there atomic.Pointer[int]
	one := 1
	there.Store(&one)
	hand := contestant{by: "by hand", how: "an atomic load", make: once(func() (int, error) { return *there.Load(), nil })}
	await := func(ctx context.Context) contestant {
		f := future.Value(1)
		return contestant{by: "dacapo", how: "Await", make: once(func() (int, error) { return f.Await(ctx) })}
	}
	f := moFuture(context.Background(), succeed)
	byMo := contestant{by: "samber/mo", how: "Future.Collect", make: once(f.Collect)}
	return []contestant{hand, await(context.Background()), byMo}, []contestant{hand, await(cancellable())}
}

const waiters = 1000

// awaited has a thousand goroutines wait for one result, and lets it come when all wait.
// start starts the work and returns how to wait for it.
func awaited(start func(op) (await func() (int, error))) func(*atomic.Int64) func() run {
	return func(calls *atomic.Int64) func() run {
		return func() run {
			return func() (int, error) {
				gate := make(chan struct{})
				await := start(counted(calls, func(context.Context) (int, error) { <-gate; return 1, nil }))
				var waiting, done sync.WaitGroup
				var sum atomic.Int64
				waiting.Add(waiters)
				for range waiters {
					done.Go(func() {
						waiting.Done()
						v, _ := await()
						sum.Add(int64(v))
					})
				}
				waiting.Wait()
				close(gate)
				done.Wait()
				return int(sum.Load()), nil
			}
		}
	}
}

func awaiters() []contestant {
	background := context.Background()
	return []contestant{
		{by: "by hand", how: "a goroutine that closes a channel", make: awaited(func(op op) func() (int, error) {
			var v int
			var err error
			done := make(chan struct{})
			go func() { v, err = op(background); close(done) }()
			return func() (int, error) { <-done; return v, err }
		})},
		{by: "dacapo", how: "future.Go, Await", make: awaited(func(op op) func() (int, error) {
			f := future.Go(background, op)
			return func() (int, error) { return f.Await(background) }
		})},
		{by: "samber/mo", how: "mo.NewFuture, Collect", make: awaited(func(op op) func() (int, error) {
			return moFuture(background, op).Collect
		})},
	}
}

func double(v int) (int, error) { return 2 * v, nil }

func tenMaps(f *future.Future[int]) *future.Future[int] {
	for range 10 {
		f = future.Map(f, double)
	}
	return f
}

// tenGoroutines does ten Maps with a goroutine and a channel each.
func tenGoroutines(in chan int) chan int {
	for range 10 {
		from, to := in, make(chan int, 1)
		go func() {
			v, _ := double(<-from)
			to <- v
		}()
		in = to
	}
	return in
}

func tenThens(f *mo.Future[int]) *mo.Future[int] {
	for range 10 {
		f = f.Then(double)
	}
	return f
}

func mapped() (running, done []contestant) {
	background := context.Background()
	running = []contestant{
		{by: "by hand", how: "ten goroutines and channels", make: once(func() (int, error) {
			in := make(chan int, 1)
			out := tenGoroutines(in)
			in <- 1
			return <-out, nil
		})},
		{by: "dacapo", how: "future.New, Map", make: once(func() (int, error) {
			p, f := future.New[int]()
			last := tenMaps(f)
			p.Resolve(1)
			return last.Await(background)
		})},
		{by: "samber/mo", how: "mo.NewFuture, Then", make: once(func() (int, error) {
			in := make(chan int, 1)
			last := tenThens(mo.NewFuture(func(resolve func(int), _ func(error)) { resolve(<-in) }))
			in <- 1
			return last.Collect()
		})},
	}
	one := moFuture(background, succeed)
	_, _ = one.Collect()
	done = []contestant{
		{by: "by hand", how: "ten goroutines and channels", make: once(func() (int, error) {
			in := make(chan int, 1)
			in <- 1
			return <-tenGoroutines(in), nil
		})},
		{by: "dacapo", how: "future.Value, Map", make: once(func() (int, error) { return tenMaps(future.Value(1)).Await(background) })},
		{by: "samber/mo", how: "Then of a future that is there", make: once(func() (int, error) { return tenThens(one).Collect() })},
	}
	return running, done
}

const twoLoads = "Await looks at its arguments, at the phase and at the error; by hand it is one load. Each is below two nanoseconds, so the alignment of both counts."

func futures() []workload {
	plain, ctx := settled()
	running, done := mapped()
	return slices.Concat([]workload{
		{
			id: "F1", what: "start one function and await it: a tie", calls: 1, value: 1, allocs: 2,
			contestants: created(context.Background(),
				created1{"by hand", "a goroutine and a WaitGroup", byHand}, created1{"dacapo", "future.Go, Await", goAndAwait},
				created1{"samber/mo", "mo.NewFuture, Collect", func(ctx context.Context, op op) (int, error) { return moFuture(ctx, op).Collect() }},
				created1{"errgroup", "a zero Group", byErrgroup}, created1{"conc", "a zero WaitGroup", byConc}),
			limit: limit{floor: 1.3, peer: 1.25},
		},
		{
			id: "F1c", what: "… with a context that can end", calls: 1, value: 1, allocs: 3,
			contestants: created(cancellable(),
				created1{"by hand", "a goroutine, a channel and a select", byHandSelect}, created1{"dacapo", "future.Go, Await", goAndAwait}),
		},
		{id: "F2", what: "await a result that is there", value: 1, contestants: plain, limit: limit{floor: 2.2, peer: 0.9}, why: twoLoads},
		{id: "F2c", what: "… with a context that can end", value: 1, contestants: ctx, limit: limit{floor: 2.2}, why: twoLoads},
	}, gatherings(), []workload{
		{
			id: "F4", what: "1,000 goroutines await one result: a tie", calls: 1, value: waiters, contestants: awaiters(),
			allocs: 2*waiters + waiters/2, most: true, limit: limit{floor: 1.05, peer: 1.1},
			why: "Waiters without a channel wait at a WaitGroup, which is cheaper for one, and wakes many one by one: a third of the profile, where the channel " +
				"by hand is a tenth. A channel for the second waiter and later ones was tried: no difference that could be measured.",
		},
		{
			id: "F5", what: "ten Maps of what still runs", value: 1024, contestants: running, allocs: 12, most: true,
			limit: limit{floor: 1.7, peer: 0.5},
		},
		{id: "F5d", what: "ten Maps of what is there", value: 1024, contestants: done, allocs: 11, limit: limit{peer: 0.35}},
	})
}
