package budget_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

var ErrThrottled = errors.New("throttled")

// A service is down. Without a budget, its clients would send it four times their load.
func Example() {
	toService := budget.New(budget.Default().Max(10))
	policy := retry.New().Backoff(backoff.Strategy{}).Limit(toService)
	calls := 0
	down := func(context.Context) error {
		calls++
		return errBusy
	}
	for range 1000 {
		_ = retry.Run(context.Background(), policy, down)
	}
	fmt.Println(calls, "calls for 1000 requests")

	up := func(context.Context) error { return nil }
	for range 1000 { // and it is up again
		_ = retry.Run(context.Background(), policy, up)
	}
	fmt.Println(toService)
	// Output:
	// 1010 calls for 1000 requests
	// max=10 deposit=0.1: 10.0 tokens
}

func ExampleNew() {
	b := budget.New(budget.Default())
	fmt.Println(b)
	fmt.Println(budget.New(budget.Default().Max(0)))
	// Output:
	// max=100 deposit=0.1: 100.0 tokens
	// budget: Max is 0: want 1 to 1000000
}

func ExampleBudget() {
	b := budget.New(budget.Default().Max(1))
	policy := retry.New().Backoff(backoff.Strategy{}).WrapErrors().Limit(b)
	err := retry.Run(context.Background(), policy, func(context.Context) error { return errBusy })
	failure, _ := errors.AsType[*retry.Error](err)
	fmt.Println(failure.Reason, failure.Attempts, failure.Last)
	// Output: throttled 2 busy
}

func ExampleBudget_Allow() {
	b := budget.New(budget.Default().Max(1))
	for range 2 {
		_, ok := b.Allow(context.Background(), errBusy)
		fmt.Println(ok)
	}
	// Output:
	// true
	// false
}

func ExampleBudget_Done() {
	b := budget.New(budget.Default().Max(1))
	paid, _ := b.Allow(context.Background(), errBusy)
	b.Done(retry.Outcome{Reason: retry.Cancelled, Paid: paid, Unmade: true})
	fmt.Println(b.Snapshot().Tokens)
	// Output: 1
}

// A simulation has a clock of its own.
func ExampleBudget_AllowAt() {
	b := budget.New(budget.Default().Max(1).Floor(2))
	for _, at := range []time.Duration{0, 400 * time.Millisecond, 500 * time.Millisecond} {
		_, ok := b.AllowAt(at, errBusy)
		fmt.Println(at, ok)
	}
	// Output:
	// 0s true
	// 400ms false
	// 500ms true
}

func ExampleBudget_DoneAt() {
	b := budget.New(budget.Default().Max(1).Floor(0.5))
	b.AllowAt(0, errBusy)
	b.DoneAt(time.Second, retry.Outcome{Reason: retry.Succeeded})
	fmt.Println(b.SnapshotAt(time.Second).Tokens)
	// Output: 0.6
}

func ExampleBudget_Snapshot() {
	b := budget.New(budget.Default().Max(2))
	for range 5 {
		b.Allow(context.Background(), errBusy)
	}
	fmt.Printf("%+v\n", b.Snapshot())
	// Output: {Tokens:0 Max:2 Refused:3}
}

func ExampleBudget_SnapshotAt() {
	b := budget.New(budget.Default().Max(5).Floor(1))
	for range 5 {
		b.AllowAt(0, errBusy)
	}
	fmt.Println(b.SnapshotAt(3 * time.Second).Tokens)
	// Output: 3
}

func ExampleBudget_Err() {
	b := budget.New(budget.Default().Deposit(10))
	_, err := retry.Do(context.Background(), retry.New().Limit(b), func(context.Context) (int, error) { return 1, nil })
	fmt.Println(err)
	// Output: retry: Limit: budget: Deposit is 10: want 0 to 1
}

func ExampleSnapshot() {
	b := budget.New(budget.Default())
	s := b.Snapshot()
	fmt.Printf("%.0f%%\n", 100*s.Tokens/float64(s.Max))
	// Output: 100%
}

func ExampleConfig() {
	var zero budget.Config
	fmt.Println(zero)
	// Output: max=100 deposit=0.1
}

func ExampleDefault() {
	fmt.Println(budget.Default())
	// Output: max=100 deposit=0.1
}

func ExampleGRPC() {
	b := budget.New(budget.GRPC())
	retries := 0
	for {
		if _, ok := b.Allow(context.Background(), errBusy); !ok {
			break
		}
		retries++
	}
	fmt.Println(retries, b)
	// Output: 4 max=10 deposit=0.1, a failure pays: 5.0 tokens
}

func ExampleAWS() {
	b := budget.New(budget.AWS().Cost(retry.Is(ErrThrottled), 5))
	paid, _ := b.Allow(context.Background(), errBusy)
	b.Allow(context.Background(), ErrThrottled)
	fmt.Println(b.Snapshot().Tokens)
	b.Done(retry.Outcome{Reason: retry.Succeeded, Paid: paid})
	fmt.Println(b.Snapshot().Tokens)
	// Output:
	// 481
	// 495
}

func ExampleFinagle() {
	b := budget.New(budget.Finagle())
	for range 100 {
		b.AllowAt(0, errBusy)
	}
	b.DoneAt(0, retry.Outcome{Reason: retry.Exhausted}) // 0.2, though it failed
	fmt.Printf("%.1f\n", b.SnapshotAt(time.Second).Tokens)
	// Output: 10.2
}

func ExampleConfig_Max() {
	fmt.Println(budget.Default().Max(20))
	// Output: max=20 deposit=0.1
}

func ExampleConfig_Deposit() {
	b := budget.New(budget.Default().Max(1).Deposit(0.25))
	b.Allow(context.Background(), errBusy)
	b.Done(retry.Outcome{Reason: retry.Succeeded})
	fmt.Println(b.Snapshot().Tokens)
	// Output: 0.25
}

func ExampleConfig_BaseCost() {
	b := budget.New(budget.Default().BaseCost(14))
	b.Allow(context.Background(), errBusy)
	fmt.Println(b.Snapshot().Tokens)
	// Output: 86
}

func ExampleConfig_Cost() {
	b := budget.New(budget.Default().Cost(retry.Is(ErrThrottled), 5).Cost(retry.As[*time.ParseError](), 0))
	b.Allow(context.Background(), fmt.Errorf("wrapped: %w", ErrThrottled))
	b.Allow(context.Background(), errBusy)
	fmt.Println(b.Snapshot().Tokens)
	// Output: 94
}

func ExampleConfig_Floor() {
	fmt.Println(budget.Default().Floor(0.5)) // a retry every 2s, whatever fails
	// Output: max=100 deposit=0.1 floor=0.5/s
}

func ExampleConfig_Err() {
	fmt.Println(budget.Default().Max(5).BaseCost(9).Err())
	// Output: budget: BaseCost is 9: want 0 to Max, which is 5
}

func ExampleKeyed() {
	var perHost budget.Keyed[string]
	policy := retry.Standard()
	get := func(host string) retry.Policy { return policy.Limit(perHost.For(host)) }
	fmt.Println(get("a.example").Err(), get("b.example").Err())
	// Output: <nil> <nil>
}

func ExampleNewKeyed() {
	perShard := budget.NewKeyed[int](budget.Default().Max(10))
	fmt.Println(perShard.For(7))
	// Output: max=10 deposit=0.1: 10.0 tokens
}

func ExampleKeyed_For() {
	var perHost budget.Keyed[string]
	perHost.For("a.example").Allow(context.Background(), errBusy)
	fmt.Println(perHost.For("a.example").Snapshot().Tokens, perHost.For("b.example").Snapshot().Tokens)
	// Output: 99 100
}

func ExampleKeyed_Delete() {
	var perHost budget.Keyed[string]
	perHost.For("a.example").Allow(context.Background(), errBusy)
	perHost.Delete("a.example")
	fmt.Println(perHost.For("a.example").Snapshot().Tokens)
	// Output: 100
}

func ExampleKeyed_All() {
	var perHost budget.Keyed[string]
	perHost.For("a.example")
	for host, b := range perHost.All() {
		fmt.Println(host, b)
	}
	// Output: a.example max=100 deposit=0.1: 100.0 tokens
}
