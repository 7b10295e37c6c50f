package main

import (
	"context"
	"sync/atomic"
	"testing"
)

// workload is one piece of work, and who does it.
type workload struct {
	id, what    string
	contestants []contestant // the one to compare with, mostly written by hand, then dacapo, then its peers
	parallel    bool         // on all cores
	limit       limit
	why         string // should the limit be missed

	calls  int64 // what one run is to do: so many calls of its operation (0: it has none),
	value  int   // this value,
	err    error // and this error
	allocs float64
	most   bool // allocs is a limit, as the scheduler has a say
}

// contestant does the work of a workload.
type contestant struct {
	by, how string
	pattern bool // written by hand too: it is shown, and is no peer
	peer    bool // the first, but a peer too
	// make prepares the work and returns what one goroutine needs to run it. Where calls is
	// not nil, the operations count in it.
	make func(calls *atomic.Int64) (fork func() run)
}

// once is for work that needs no more preparation.
func once(r run) func(*atomic.Int64) func() run {
	return func(*atomic.Int64) func() run { return func() run { return r } }
}

// limit is what the project promises: at most so many times the work by hand, and the best
// peer; 0 is no promise.
type limit struct {
	floor, peer float64
	of          map[string]float64 // against single peers
	value       float64            // of the value itself
}

func workloads() []workload {
	var all []workload
	for _, some := range [][]workload{retries(), waits(), futures(), streams(), parallels(), budgets()} {
		all = append(all, some...)
	}
	return all
}

// cancellable is a context that could end, as most have one.
func cancellable() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	_ = cancel
	return ctx
}

// bench runs a contestant as a benchmark.
func (w workload) bench(b *testing.B, c contestant) {
	fork := c.make(nil)
	b.ReportAllocs()
	if w.parallel {
		b.RunParallel(func(pb *testing.PB) {
			run := fork()
			for pb.Next() {
				_, _ = run()
			}
		})
		return
	}
	run := fork()
	for b.Loop() {
		_, _ = run()
	}
}

// counted counts the calls of op, if that is wanted.
func counted(calls *atomic.Int64, op op) op {
	if calls == nil {
		return op
	}
	return func(ctx context.Context) (int, error) {
		calls.Add(1)
		return op(ctx)
	}
}
