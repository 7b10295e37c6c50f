package property_test

// The README's code stands here, so that it compiles, runs and says what the
// README says it does.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
	"github.com/dacapo-go/dacapo/retry/retrytest"
	"github.com/dacapo-go/dacapo/stream"
)

var (
	errBusy       = errors.New("busy")
	errShutdown   = errors.New("shutting down")
	ErrNoSuchUser = errors.New("no such user")
)

type User struct{ Name string }

// users is a service that is busy twice.
type users struct {
	mu    sync.Mutex
	calls int
}

func (u *users) User(context.Context, int) (User, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls++; u.calls < 3 {
		return User{}, errBusy
	}
	return User{"Clara"}, nil
}

func printUser(ctx context.Context, client *users) error {
	policy := retry.New().
		MaxRetries(5).
		Backoff(backoff.Exponential(100*time.Millisecond, 2).Cap(5 * time.Second).FullJitter()).
		Except(retry.Is(ErrNoSuchUser))

	user, err := retry.Do(ctx, policy, func(ctx context.Context) (User, error) {
		return client.User(ctx, 7)
	})
	if err != nil {
		return err // client's own last error, not a wrapper
	}
	fmt.Println(user.Name)
	return nil
}

func TestReadmeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		assert.NoError(t, printUser(t.Context(), new(users)))
		assert.ErrorIs(t, printUser(t.Context(), &users{calls: -9}), errBusy)
	})
}

// twice returns work that fails twice.
func twice() func(context.Context) (string, error) {
	calls := 0
	return func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", errBusy
		}
		return "done", nil
	}
}

func Example_readmeLaw() {
	ctx, policy, work := context.Background(), retry.New().Backoff(backoff.Strategy{}), twice()
	func() {
		_, err := retry.Do(ctx, policy, func(ctx context.Context) (*future.Future[string], error) {
			return future.Go(ctx, work), nil // has begun; fails later
		})
		fmt.Println(errors.Is(err, retry.ErrEagerResult))
	}()
	f := future.Retry(ctx, policy, work) // runs again when it fails
	v, err := f.Await(ctx)
	fmt.Println(v, err)
	// Output:
	// true
	// done <nil>
}

func Example_readmeStale() {
	ctx, work := context.Background(), twice()
	var reason retry.Reason
	calls := 0
	policy := retry.New().Backoff(backoff.Strategy{}).Events(func(_ context.Context, e retry.Event) { calls, reason = e.Call, e.Reason })
	func() {
		started := future.Go(ctx, work)
		_, err := retry.Do(ctx, policy, func(ctx context.Context) (string, error) {
			return started.Await(ctx) // fails as before
		})
		fmt.Println(err, reason)
	}()
	fmt.Println(calls, "calls")
	v, err := retry.Do(ctx, policy, func(ctx context.Context) (string, error) {
		return future.Go(ctx, work).Await(ctx) // or work(ctx)
	})
	fmt.Println(v, err)
	// Output:
	// busy stale future
	// 2 calls
	// done <nil>
}

func printOrders(ctx context.Context, fetchUser func(context.Context) (User, error), count func(context.Context) (int, error)) error {
	user := future.Go(ctx, fetchUser)                    // both run now
	orders := future.Retry(ctx, retry.Standard(), count) // with retries inside
	name := future.Map(user, func(u User) (string, error) { return u.Name, nil })
	n, err := orders.Await(ctx)
	if err != nil {
		return err
	}
	who, err := name.Await(ctx)
	fmt.Println(who, n, err)
	return nil
}

func Example_readmeRunAll() {
	ctx, client, ids := context.Background(), new(users), []int{1, 2, 3}
	policy := retry.New().Backoff(backoff.Strategy{})
	var ops []func(context.Context) (User, error)
	for _, id := range ids {
		ops = append(ops, func(ctx context.Context) (User, error) {
			return retry.Do(ctx, policy, func(ctx context.Context) (User, error) { return client.User(ctx, id) })
		})
	}
	users, err := future.RunAll(ctx, 8, ops...)
	fmt.Println(users, err)
	// Output: [{Clara} {Clara} {Clara}] <nil>
}

func printRows(ctx context.Context, query func(context.Context) iter.Seq2[string, error]) error {
	rows := stream.From(query).Retry(retry.Standard(), stream.SkipSeen[string]())
	for row, err := range rows.All(ctx) {
		if err != nil {
			return err
		}
		fmt.Println(row)
	}
	return nil
}

func Example_readmeStreams() {
	opened := 0
	err := printRows(context.Background(), func(context.Context) iter.Seq2[string, error] {
		opened++
		return func(yield func(string, error) bool) {
			if !yield("started", nil) || opened == 1 && !yield("", errBusy) {
				return
			}
			yield("ended", nil)
		}
	})
	fmt.Println(err, opened)
	// Output:
	// started
	// ended
	// <nil> 2
}

// Futures and streams do not know each other: they meet at the shape of an operation.
func Example_readmeFirst() {
	lazy := stream.Of("do", "re", "mi")
	eager := future.Go(context.Background(), lazy.First)
	fmt.Println(eager.Await(context.Background()))
	// Output: do <nil>
}

func Example_readmeFutures() {
	err := printOrders(context.Background(),
		func(context.Context) (User, error) { return User{"Clara"}, nil },
		func(context.Context) (int, error) { return 3, nil })
	fmt.Println(err)
	// Output:
	// Clara 3 <nil>
	// <nil>
}

func Example_readmeWaits() {
	s := backoff.Exponential(time.Second, 2).Cap(5 * time.Second).FullJitter()
	for n := 1; n <= 4; n++ {
		lo, hi := s.Bounds(n)
		fmt.Printf("retry %d waits in [%v, %v)\n", n, lo, hi)
	}
	// Output:
	// retry 1 waits in [0s, 1s)
	// retry 2 waits in [0s, 2s)
	// retry 3 waits in [0s, 4s)
	// retry 4 waits in [0s, 5s)
}

func Example_readmeText() {
	policy, err := retry.Parse("retries=8 backoff=exp(100ms,2).cap(5s).jitter(full) max-elapsed=1m hints=clamp,10s")
	fmt.Println(policy, err)
	calls, wait := policy.WorstCase()
	fmt.Println("at most", calls, "calls and", wait, "of waits")
	_, err = retry.Parse("retries=8 backoff=exp(100ms)")
	fmt.Println(err)
	// Output:
	// retries=8 backoff=exp(100ms,2).cap(5s).jitter(full) max-elapsed=1m hints=clamp,10s <nil>
	// at most 9 calls and 16.3s of waits
	// retry: column 19: exp: the number of values is 1: want 2, the first wait and the factor
}

func Example_readmeLoop() {
	ctx, policy, client := context.Background(), retry.New().Backoff(backoff.Strategy{}), new(users)
	fetch := func(ctx context.Context) (string, error) {
		u, err := client.User(ctx, 7)
		return u.Name, err
	}
	var page string
	var err error
	for ctx := range retry.Attempts(ctx, policy, &err) {
		page, err = fetch(ctx)
	}
	fmt.Println(page, err)
	// Output: Clara <nil>
}

func Example_readmeFaults() {
	fmt.Println(retry.New().MaxRetries(-1).MaxElapsed(0).Err())
	// Output:
	// retry: MaxRetries is -1: want 0 or more, or retry.Unlimited for no limit
	// retry: MaxElapsed is 0s: want more than 0, or leave it out for no limit
}

func Example_readmeErrors() {
	ctx, cancel := context.WithCancelCause(context.Background())
	err := retry.Run(ctx, retry.New(), func(context.Context) error {
		cancel(errShutdown)
		return errBusy
	})
	fmt.Println(errors.Is(err, errBusy), errors.Is(err, context.Canceled), errors.Is(err, errShutdown))
	// Output: true true true
}

var policy = retry.New().
	Backoff(backoff.Exponential(time.Second, 2).Cap(20 * time.Second).FullJitter()).
	AttemptTimeout(5 * time.Second).
	MaxElapsed(30 * time.Second)

func TestMyPolicy(t *testing.T) {
	retrytest.CheckPolicy(t, policy, errBusy) // the laws; and that it retries errBusy
	retrytest.Bubble(t, func(t *rapid.T) {
		op := retrytest.Scripts(rapid.String()).Draw(t, "script").Operation()
		began := time.Now()
		_, err := retry.Do(t.Context(), policy, op.Call)
		if took := time.Since(began); took > 35*time.Second || len(op.Calls()) > 4 {
			t.Fatalf("%d calls in %v: %v", len(op.Calls()), took, err)
		}
	})
}

func Example_readmeBudget() {
	toService := budget.New(budget.Default()) // once: for all calls to it

	policy := retry.Standard().Limit(toService)
	hedged := future.HedgeAt(future.NewQuantile(0.95, 50*time.Millisecond)).Limit(toService)

	fmt.Println(policy.Err(), hedged.Err(), toService)
	// Output: <nil> <nil> max=100 deposit=0.1: 100.0 tokens
}
