package future_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"time"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

var errBusy = errors.New("busy")

// price asks a shop for its price.
func price(shop string, takes time.Duration) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		select {
		case <-time.After(takes):
			return len(shop), nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

func refuse(context.Context) (int, error) { return 0, errBusy }

func Example() {
	ctx := context.Background()
	user := future.Go(ctx, func(context.Context) (string, error) { return "Ada", nil })
	cart := future.Go(ctx, func(context.Context) ([]string, error) { return []string{"tea", "milk"}, nil })
	name, err := user.Await(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	items, err := cart.Await(ctx)
	fmt.Println(name, items, err)
	// Output: Ada [tea milk] <nil>
}

func ExampleGo() {
	f := future.Go(context.Background(), func(context.Context) (int, error) { return 6 * 7, nil })
	fmt.Println(f.Await(context.Background()))
	// Output: 42 <nil>
}

// What Go starts is cancelled through its context.
func ExampleGo_cancel() {
	ctx, cancel := context.WithCancelCause(context.Background())
	f := future.Go(ctx, price("shop", time.Hour))
	cancel(errors.New("shutting down"))
	_, err := f.Await(context.Background())
	fmt.Println(err)
	// Output: shutting down
}

func ExampleRetry() {
	calls := 0
	f := future.Retry(context.Background(), noWait, func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", errBusy
		}
		return fmt.Sprintf("call %d", calls), nil
	})
	fmt.Println(f.Await(context.Background()))
	// Output: call 3 <nil>
}

func ExampleNew() {
	promise, f := future.New[string]()
	onMessage := func(text string) { promise.Resolve(text) } // a callback of some library
	go onMessage("hello")
	fmt.Println(f.Await(context.Background()))
	// Output: hello <nil>
}

func ExampleValue() {
	cached := future.Value("from the cache")
	fmt.Println(cached.Await(context.Background()))
	// Output: from the cache <nil>
}

func ExampleFailed() {
	f := future.Failed[int](errBusy)
	fmt.Println(f.Await(context.Background()))
	// Output: 0 busy
}

func ExampleFuture() {
	fetch := func(id int) *future.Future[string] { // a function that starts work says so
		return future.Go(context.Background(), func(context.Context) (string, error) { return fmt.Sprint("user ", id), nil })
	}
	f := fetch(7)
	for range 2 { // many may wait, and more than once
		fmt.Println(f.Await(context.Background()))
	}
	// Output:
	// user 7 <nil>
	// user 7 <nil>
}

func ExampleFuture_Await() {
	_, f := future.New[int]()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err := f.Await(ctx) // the work, whatever it is, goes on
	fmt.Println(err)
	// Output: future: gave up waiting: context deadline exceeded
}

func ExampleFuture_Done() {
	f := future.Value(7)
	select {
	case <-f.Done():
		fmt.Println(f.Result())
	case <-time.After(time.Hour):
	}
	// Output: 7 <nil> true
}

func ExampleFuture_Result() {
	promise, f := future.New[int]()
	_, _, ok := f.Result()
	fmt.Println(ok)
	promise.Resolve(7)
	fmt.Println(f.Result())
	// Output:
	// false
	// 7 <nil> true
}

func ExampleFuture_EagerResult() {
	_, err := retry.Do(context.Background(), noWait, func(ctx context.Context) (*future.Future[int], error) {
		return future.Go(ctx, refuse), nil // has begun: nothing here can be retried
	})
	fmt.Println(errors.Is(err, retry.ErrEagerResult))
	// Output: true
}

func ExamplePromise() {
	promise, f := future.New[int]()
	fmt.Println(promise.Resolve(1), promise.Resolve(2), promise.Reject(errBusy)) // the first wins
	fmt.Println(f.Await(context.Background()))
	// Output:
	// true false false
	// 1 <nil>
}

func ExamplePromise_Resolve() {
	promise, f := future.New[int]()
	fmt.Println(promise.Resolve(7))
	fmt.Println(f.Await(context.Background()))
	// Output:
	// true
	// 7 <nil>
}

func ExamplePromise_Reject() {
	promise, f := future.New[int]()
	promise.Reject(errBusy)
	fmt.Println(f.Await(context.Background()))
	// Output: 0 busy
}

func ExamplePromise_EagerResult() {
	_, err := future.Retry(context.Background(), noWait, func(context.Context) (*future.Promise[int], error) {
		promise, _ := future.New[int]()
		return promise, nil
	}).Await(context.Background())
	fmt.Println(err == retry.ErrEagerResult)
	// Output: true
}

func ExampleMap() {
	f := future.Go(context.Background(), func(context.Context) (string, error) { return "dacapo", nil })
	length := future.Map(f, func(s string) (int, error) { return len(s), nil })
	fmt.Println(length.Await(context.Background()))
	// Output: 6 <nil>
}

func ExampleFlatMap() {
	ctx := context.Background()
	user := future.Go(ctx, func(context.Context) (string, error) { return "Ada", nil })
	orders := future.FlatMap(user, func(name string) *future.Future[int] {
		return future.Go(ctx, func(context.Context) (int, error) { return len(name), nil }) // more work
	})
	fmt.Println(orders.Await(ctx))
	// Output: 3 <nil>
}

func ExampleRecover() {
	f := future.Failed[string](fs.ErrNotExist)
	config := future.Recover(f, func(err error) (string, error) {
		if errors.Is(err, fs.ErrNotExist) {
			return "the default", nil
		}
		return "", err
	})
	fmt.Println(config.Await(context.Background()))
	// Output: the default <nil>
}

func ExampleResult() {
	for _, r := range future.AllSettled(context.Background(), future.Value(1), future.Failed[int](errBusy)) {
		fmt.Println(r.Value, r.Err)
	}
	// Output:
	// 1 <nil>
	// 0 busy
}

func ExampleAll() {
	ctx := context.Background()
	a, b := future.Go(ctx, price("corner shop", 0)), future.Go(ctx, price("mall", 0))
	fmt.Println(future.All(ctx, a, b))
	// Output: [11 4] <nil>
}

func ExampleAllSettled() {
	ctx := context.Background()
	results := future.AllSettled(ctx, future.Go(ctx, price("mall", 0)), future.Go(ctx, refuse))
	fmt.Println(results)
	// Output: [{4 <nil>} {0 busy}]
}

func ExampleAny() {
	ctx := context.Background()
	fmt.Println(future.Any(ctx, future.Go(ctx, refuse), future.Go(ctx, price("mall", 0))))
	fmt.Println(future.Any(ctx, future.Failed[int](errors.New("closed")), future.Failed[int](errBusy)))
	// Output:
	// 4 <nil>
	// 0 busy
}

func ExampleRace() {
	ctx := context.Background()
	_, never := future.New[int]()
	fmt.Println(future.Race(ctx, never, future.Failed[int](errBusy)))
	// Output: 0 busy
}

func ExampleCompleted() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	promise, slow := future.New[string]()
	for i, r := range future.Completed(ctx, slow, future.Value("fast")) {
		fmt.Println(i, r.Value)
		promise.Resolve("slow")
	}
	// Output:
	// 1 fast
	// 0 slow
}

func ExampleRunAll() {
	ctx := context.Background()
	var ops []func(context.Context) (int, error)
	for _, shop := range []string{"corner shop", "mall", "market"} {
		ops = append(ops, price(shop, 0))
	}
	fmt.Println(future.RunAll(ctx, 2, ops...)) // two at a time

	_, err := future.RunAll(ctx, future.NoLimit, price("mall", time.Hour), refuse) // the first is cancelled
	fmt.Println(err)
	// Output:
	// [11 4 6] <nil>
	// busy
}

func ExampleRunAny() {
	ctx := context.Background()
	fmt.Println(future.RunAny(ctx, future.NoLimit, refuse, price("far away", time.Hour), price("mall", 0)))
	// Output: 4 <nil>
}

func ExampleRunRace() {
	ctx := context.Background()
	fmt.Println(future.RunRace(ctx, future.NoLimit, price("far away", time.Hour), refuse))
	// Output: 0 busy
}

func ExampleGroup() {
	g := future.NewGroup[int](context.Background())
	for _, line := range strings.Split("tea\nmilk\nbread", "\n") { // not known at once
		g.Go(func(context.Context) (int, error) { return len(line), nil })
	}
	fmt.Println(g.Wait())
	// Output: [3 4 5] <nil>
}

func ExampleNewGroup() {
	g := future.NewGroup[int](context.Background())
	g.Go(price("mall", time.Hour)) // is cancelled
	g.Go(refuse)
	fmt.Println(g.Wait())
	// Output: [] busy
}

func ExampleGroup_Go() {
	var g future.Group[int]
	g.Go(func(context.Context) (int, error) { return 1, nil })
	g.Go(func(context.Context) (int, error) { return 2, nil })
	fmt.Println(g.Wait())
	// Output: [1 2] <nil>
}

func ExampleGroup_TryGo() {
	g := future.NewGroup[int](context.Background())
	g.SetLimit(1)
	wait := make(chan struct{})
	g.Go(func(context.Context) (int, error) { <-wait; return 1, nil })
	fmt.Println(g.TryGo(price("mall", 0)))
	close(wait)
	fmt.Println(g.Wait())
	// Output:
	// false
	// [1] <nil>
}

func ExampleGroup_SetLimit() {
	var g future.Group[int]
	g.SetLimit(4) // at a time
	for i := range 8 {
		g.Go(func(context.Context) (int, error) { return i * i, nil })
	}
	fmt.Println(g.Wait())
	// Output: [0 1 4 9 16 25 36 49] <nil>
}

func ExampleGroup_Wait() {
	g := future.NewGroup[int](context.Background())
	g.Go(refuse)
	_, err := g.Wait()
	fmt.Println(err == errBusy)
	// Output: true
}

func ExampleHedge() {
	started := make(chan int, 2)
	f := future.Hedge(context.Background(), future.HedgeAfter(time.Millisecond), func(ctx context.Context) (string, error) {
		started <- 1
		if len(started) == 1 { // the first server hangs
			<-ctx.Done()
			return "", ctx.Err()
		}
		return "from the second server", nil
	})
	fmt.Println(f.Await(context.Background()))
	// Output: from the second server <nil>
}

func ExampleHedgeAfter() {
	policy := future.HedgeAfter(20 * time.Millisecond) // the 95th percentile of the call
	f := future.Hedge(context.Background(), policy, price("mall", 0))
	fmt.Println(f.Await(context.Background()))
	// Output: 4 <nil>
}

func ExampleHedgePolicy() {
	var never future.HedgePolicy
	f := future.Hedge(context.Background(), never, price("mall", time.Millisecond)) // one try
	fmt.Println(f.Await(context.Background()))
	// Output: 4 <nil>
}

func ExampleHedgePolicy_MaxHedges() {
	tries := make(chan int, 9)
	policy := future.HedgeAfter(time.Hour).MaxHedges(2)
	_, err := future.Hedge(context.Background(), policy, func(context.Context) (int, error) {
		tries <- 1
		return 0, errBusy // starts the next at once
	}).Await(context.Background())
	fmt.Println(len(tries), err)
	// Output: 3 busy
}

func ExampleHedgePolicy_Err() {
	fmt.Println(future.HedgeAfter(-time.Second).Err())
	// Output: future: the delay of HedgeAfter is -1s: want 0 or more
}

func ExampleMemo() {
	runs := 0
	settings := future.NewMemo(func(context.Context) (string, error) {
		if runs++; runs == 1 {
			return "", errBusy
		}
		return fmt.Sprintf("loaded by run %d", runs), nil
	})
	for range 3 {
		fmt.Println(settings.Get(context.Background()))
	}
	// Output:
	//  busy
	// loaded by run 2 <nil>
	// loaded by run 2 <nil>
}

// With retries inside, all who wait share them.
func ExampleNewMemo() {
	calls := 0
	load := func(context.Context) (int, error) {
		if calls++; calls < 3 {
			return 0, errBusy
		}
		return calls, nil
	}
	memo := future.NewMemo(func(ctx context.Context) (int, error) { return retry.Do(ctx, noWait, load) })
	fmt.Println(memo.Get(context.Background()))
	// Output: 3 <nil>
}

func ExampleMemo_Get() {
	memo := future.NewMemo(price("mall", time.Millisecond))
	waiters := make([]*future.Future[int], 3)
	for i := range waiters {
		waiters[i] = future.Go(context.Background(), memo.Get) // one flight for all
	}
	fmt.Println(future.All(context.Background(), waiters...))
	// Output: [4 4 4] <nil>
}

func ExamplePanicError() {
	f := future.Go(context.Background(), func(context.Context) (int, error) {
		var prices []int
		return prices[0], nil
	})
	_, err := f.Await(context.Background())
	var p *future.PanicError
	fmt.Println(errors.As(err, &p), p.Value, strings.Contains(string(p.Stack), "ExamplePanicError"))
	var r runtime.Error
	fmt.Println(errors.As(err, &r))
	// Output:
	// true runtime error: index out of range [0] with length 0 true
	// true
}

func ExamplePanicError_Permanent() {
	calls := 0
	_, err := retry.Do(context.Background(), noWait, func(ctx context.Context) (int, error) {
		calls++
		return future.Go(ctx, func(context.Context) (int, error) { panic("a bug") }).Await(ctx)
	})
	var p *future.PanicError
	fmt.Println(calls, errors.As(err, &p)) // not retried
	// Output: 1 true
}

func ExampleHedgeAt() {
	slow := future.NewQuantile(0.95, 50*time.Millisecond) // for all calls to one service
	f := future.Hedge(context.Background(), future.HedgeAt(slow), func(context.Context) (string, error) {
		return "page", nil
	})
	v, _ := f.Await(context.Background())
	fmt.Println(v, slow.Delay() < 50*time.Millisecond)
	// Output: page true
}

func ExampleHedgePolicy_Limit() {
	toService := budget.New(budget.Default()) // the one of its retries
	policy := future.HedgeAfter(20 * time.Millisecond).Limit(toService)
	v, err := future.Hedge(context.Background(), policy, func(context.Context) (int, error) { return 7, nil }).Await(context.Background())
	fmt.Println(v, err, future.HedgeAfter(time.Second).Limit(nil).Err())
	// Output: 7 <nil> future: HedgePolicy.Limit has a nil limiter: want one, such as budget.New(budget.Default()), or leave Limit out
}

func ExampleHedgePolicy_Next() {
	policy := future.HedgeAfter(20 * time.Millisecond)
	fmt.Println(policy.Next(0, false)) // the first try takes long
	fmt.Println(policy.Next(0, true))  // the first try failed
	fmt.Println(policy.Next(1, false)) // there was an extra try
	// Output:
	// 20ms true
	// 0s true
	// 20ms false
}

func ExampleErrSlow() {
	b := budget.New(budget.Default().Cost(retry.Is(future.ErrSlow), 2)) // a hedge costs two
	b.Allow(context.Background(), future.ErrSlow)
	fmt.Println(b.Snapshot().Tokens)
	// Output: 98
}

func ExampleQuantile() {
	q := future.NewQuantile(0.5, time.Second)
	q.Observe(true) // longer than a second
	fmt.Println(q.Delay().Round(time.Millisecond), q)
	// Output: 1.032s p50, now 1.031743407s
}

func ExampleNewQuantile() {
	fmt.Println(future.NewQuantile(0.95, 50*time.Millisecond))
	fmt.Println(future.HedgeAt(future.NewQuantile(95, time.Second)).Err())
	// Output:
	// p95, now 50ms
	// future: the share of NewQuantile is 95: want one above 0 and below 1, such as 0.95
}

func ExampleQuantile_Delay() {
	q := future.NewQuantile(0.95, time.Second)
	for range 1000 {
		q.Observe(false) // all calls are faster
	}
	fmt.Println(q.Delay().Round(time.Millisecond))
	// Output: 44ms
}

func ExampleQuantile_Observe() {
	q := future.NewQuantile(0.99, time.Second)
	for i := range 100 {
		q.Observe(i == 0) // one in a hundred is slower: as it should be
	}
	fmt.Println(q.Delay().Round(time.Millisecond))
	// Output: 1s
}

func ExampleQuantile_Err() {
	fmt.Println(future.NewQuantile(0.95, 0).Err())
	// Output: future: the first delay of NewQuantile is 0s: want more than 0
}
