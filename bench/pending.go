package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/dacapo-go/dacapo/future"
)

// crowd is what many runs that wait at the same time cost: for each run, and their goroutines.
type crowd struct {
	Bytes, Start, Cancel float64 // a run: bytes, ns, ns
	Goroutines           int
}

// starter starts n runs that fail once and wait for an hour, and returns when all have begun
// to wait, with how to wait for their end.
type starter func(ctx context.Context, n int) (wait func())

// starters are those that can have many runs at once. Where a library has only a loop, each
// run has a goroutine, as anyone would write it.
func starters() (names []string, by map[string]starter) {
	names = []string{"by hand", "dacapo"}
	by = map[string]starter{"by hand": pendByHand, "dacapo": pendFutures}
	for _, l := range libraries()[1:] {
		names = append(names, l.name)
		by[l.name] = func(ctx context.Context, n int) func() { return pendGoroutines(ctx, l, n) }
	}
	return names, by
}

var hour = plan{retries: 3, first: time.Hour}

func pendFutures(ctx context.Context, n int) func() {
	policy := policyOf(hour)
	fs := make([]*future.Future[int], n)
	before := runtime.NumGoroutine()
	fail := failing(library{})
	for i := range fs {
		fs[i] = future.Retry(ctx, policy, fail)
	}
	for runtime.NumGoroutine() > before {
		runtime.Gosched()
	}
	return func() {
		for _, f := range fs {
			_, _ = f.Await(context.Background())
		}
	}
}

// pendByHand is a goroutine, a timer and a select for each.
func pendByHand(ctx context.Context, n int) func() {
	fail := failing(library{})
	var started, ended sync.WaitGroup
	for range n {
		started.Add(1)
		ended.Go(func() {
			_, _ = fail(ctx)
			timer := time.NewTimer(time.Hour)
			defer timer.Stop()
			started.Done()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		})
	}
	started.Wait()
	return ended.Wait
}

func pendGoroutines(ctx context.Context, l library, n int) func() {
	bind := l.build(ctx, hour)
	fail := failing(l)
	var started, ended sync.WaitGroup
	op := func(ctx context.Context) (int, error) {
		started.Done() // it waits right after this
		return fail(ctx)
	}
	for range n {
		started.Add(1)
		ended.Go(func() { _, _ = bind(op)() })
	}
	started.Wait()
	return ended.Wait
}

func measureCrowd(start starter, n int) (c crowd) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	goroutines, before := runtime.NumGoroutine(), held()
	each := func(since time.Time) float64 { return float64(time.Since(since)) / float64(n) }
	began := time.Now()
	wait := start(ctx, n)
	c.Start = each(began)
	time.Sleep(50 * time.Millisecond) // for those that are still on the way into their wait
	c.Bytes = float64(held()-before) / float64(n)
	c.Goroutines = runtime.NumGoroutine() - goroutines
	began = time.Now()
	cancel()
	wait()
	c.Cancel = each(began)
	return c
}

// held is the memory in use after a collection: the heap, and the stacks of goroutines.
func held() int64 {
	debug.FreeOSMemory() // collects twice
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
