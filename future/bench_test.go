package future_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

// Each case has the same work done by hand, in as few lines as will do.

// byHand is a future for one waiter, as a careful author writes it.
func byHand(ctx context.Context, op func(context.Context) (int, error)) (int, error) {
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

func byHandSelect(ctx context.Context, op func(context.Context) (int, error)) (int, error) {
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

type benchmark struct {
	name   string
	of     string
	hand   func()
	dacapo func()
}

func (c benchmark) run(b *testing.B) {
	for _, of := range []struct {
		name string
		do   func()
	}{{c.of, c.hand}, {"dacapo", c.dacapo}} {
		b.Run("case="+c.name+"/of="+of.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				of.do()
			}
		})
	}
}

func BenchmarkAwait(b *testing.B) {
	background := context.Background()
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	settled := future.Value(1)
	var there atomic.Pointer[int]
	there.Store(new(int))
	for _, c := range []benchmark{
		{"create", "hand", func() { _, _ = byHand(background, one) }, func() { _, _ = future.Go(background, one).Await(background) }},
		{"create, ctx", "hand", func() { _, _ = byHandSelect(ctx, one) }, func() { _, _ = future.Go(ctx, one).Await(ctx) }},
		{"settled", "hand", func() { _ = *there.Load() }, func() { _, _ = settled.Await(background) }},
		{"settled, ctx", "hand", func() { _ = *there.Load() }, func() { _, _ = settled.Await(ctx) }},
	} {
		c.run(b)
	}
}

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

func BenchmarkMaps(b *testing.B) {
	for _, c := range []benchmark{
		{"ten, running", "hand", func() {
			in := make(chan int, 1)
			out := tenGoroutines(in)
			in <- 1
			<-out
		}, func() {
			p, f := future.New[int]()
			last := tenMaps(f)
			p.Resolve(1)
			_, _ = last.Await(context.Background())
		}},
		{"ten, done", "hand", func() {
			in := make(chan int, 1)
			in <- 1
			<-tenGoroutines(in)
		}, func() { _, _ = tenMaps(future.Value(1)).Await(context.Background()) }},
	} {
		c.run(b)
	}
}

func each(ctx context.Context, ops []func(context.Context) (int, error)) {
	var wg sync.WaitGroup
	values := make([]int, len(ops))
	for i, op := range ops {
		wg.Go(func() { values[i], _ = op(ctx) })
	}
	wg.Wait()
}

func group(ctx context.Context, limit int, ops []func(context.Context) (int, error)) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(limit)
	values := make([]int, len(ops))
	for i, op := range ops {
		g.Go(func() (err error) { values[i], err = op(ctx); return err })
	}
	_ = g.Wait()
}

func BenchmarkRunAll(b *testing.B) {
	ctx := context.Background()
	trivial := repeated(10_000, one)
	sleeping := repeated(10_000, func(context.Context) (int, error) { time.Sleep(time.Millisecond); return 1, nil })
	for _, c := range []benchmark{
		{"trivial", "goroutine", func() { each(ctx, trivial) }, func() { _, _ = future.RunAll(ctx, future.NoLimit, trivial...) }},
		{"trivial, limit 64", "errgroup", func() { group(ctx, 64, trivial) }, func() { _, _ = future.RunAll(ctx, 64, trivial...) }},
		{"block 1ms", "errgroup", func() { group(ctx, -1, sleeping) }, func() { _, _ = future.RunAll(ctx, future.NoLimit, sleeping...) }},
	} {
		c.run(b)
	}
}

// BenchmarkPending starts many runs that wait, and cancels them all.
func BenchmarkPending(b *testing.B) {
	p := retry.New().Backoff(backoff.Constant(time.Hour))
	for _, n := range []int{100_000, 1_000_000} {
		for _, of := range []string{"hand", "dacapo"} {
			b.Run(fmt.Sprintf("n=%d/of=%s", n, of), func(b *testing.B) {
				var start, end time.Duration
				var bytes int64
				for b.Loop() {
					ctx, cancel := context.WithCancel(context.Background())
					before := heapAlloc()
					began := time.Now()
					var wait func()
					if of == "hand" {
						wait = pendByHand(ctx, n)
					} else {
						fs := pend(ctx, n, n, p)
						wait = func() {
							for _, f := range fs {
								_, _ = f.Await(context.Background())
							}
						}
					}
					start += time.Since(began)
					bytes += heapAlloc() - before
					began = time.Now()
					cancel()
					wait()
					end += time.Since(began)
				}
				each := float64(b.N * n)
				b.ReportMetric(float64(start)/each, "start-ns/run")
				b.ReportMetric(float64(end)/each, "cancel-ns/run")
				b.ReportMetric(float64(bytes)/each, "B/run")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// pendByHand has n goroutines that wait for an hour.
func pendByHand(ctx context.Context, n int) (wait func()) {
	var started, ended sync.WaitGroup
	for range n {
		started.Add(1)
		ended.Go(func() {
			_, _ = failing(ctx)
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
