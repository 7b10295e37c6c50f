package retrytest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/retrytest"
)

var (
	ErrBusy       = errors.New("busy")
	ErrNoSuchUser = errors.New("no such user")
)

// policy is the one that the examples test.
var policy = retry.New().
	MaxRetries(4).
	Backoff(backoff.Exponential(100*time.Millisecond, 2).Cap(time.Second).FullJitter()).
	MaxElapsed(10 * time.Second).
	AttemptTimeout(time.Second).
	If(func(err error) bool { return !errors.Is(err, ErrNoSuchUser) })

// The guide: a policy in ten lines. First its own laws; then what your code relies on, whatever
// the operation does, in virtual time. (11s: MaxElapsed is looked at between calls, and the
// last call can take an AttemptTimeout.)
func Example() {
	testMyPolicy := func(t *testing.T) {
		retrytest.CheckPolicy(t, policy, ErrBusy)
		retrytest.Bubble(t, func(t *rapid.T) {
			op := retrytest.Scripts(rapid.String()).Draw(t, "script").Operation()
			began := time.Now()
			_, err := retry.Do(t.Context(), policy, op.Call)
			if took := time.Since(began); took > 11*time.Second || len(op.Calls()) > 5 {
				t.Fatalf("%d calls in %v: %v", len(op.Calls()), took, err)
			}
		})
	}
	fmt.Println(passes(testMyPolicy))
	// Output: true
}

// passes runs a test, as go test does.
func passes(test func(*testing.T)) bool {
	verbose := flag.Lookup("test.v").Value
	defer func(was string) { _ = verbose.Set(was) }(verbose.String())
	_ = verbose.Set("false")
	return testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "Test", F: test}})
}

// printing is a test that prints what it is told, so that an example has it in its output. In
// a test of yours, t is the *testing.T.
type printing struct{ rapid.TB }

func (printing) Helper()                           {}
func (printing) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

var t printing

// tripling is a strategy of one's own, with a mistake in it: its bounds forget that the jitter
// can add a second.
type tripling struct{}

func (tripling) Bounds(n int) (lo, hi time.Duration) {
	d := time.Second
	for range min(n-1, 10) {
		d *= 3
	}
	return d, d + 1
}

func (s tripling) Delay(n int, _ time.Duration, u uint64) time.Duration {
	lo, _ := s.Bounds(n)
	return lo + time.Duration(u%uint64(time.Second))
}

func ExampleStrategy() {
	var s retrytest.Strategy = backoff.Exponential(100*time.Millisecond, 2).FullJitter()
	fmt.Println(s.Bounds(3))
	// Output: 0s 400ms
}

func ExampleCheckStrategy() {
	retrytest.CheckStrategy(t, tripling{})
	// Output: retrytest: law "never above its bounds": Delay(n=1, prev=0s, u=0x1) = 1.000000001s, but Bounds(1) = [1s, 1.000000001s)
}

func ExampleCheckCapped() {
	s := backoff.Exponential(time.Second, 2).FullJitter()
	retrytest.CheckCapped(t, s, 5*time.Second)
	// Output: retrytest: law "never above its cap": Bounds(4) = [0s, 8s), but the cap is 5s
}

// A predicate that counts: which error is retried depends on what was asked before.
func ExampleCheckPolicy() {
	asked := 0
	p := retry.New().If(func(error) bool { asked++; return asked%2 == 1 })
	retrytest.CheckPolicy(t, p)
	// Output: retrytest: law "pure": Next(Failure{Err: *errors.errorString "boom"}) says retry after 1s, and then stop (not retryable) when asked again (policy retries=3 backoff=constant(1s) +If)
}

// A predicate that takes every error for one of its own.
func ExampleCheckPolicy_predicate() {
	p := retry.New().If(func(err error) bool { return err.(interface{ Temporary() bool }).Temporary() })
	retrytest.CheckPolicy(t, p)
	// Output: retrytest: law "total": Next(Failure{Err: *errors.errorString "boom"}) panicked: interface conversion: *errors.errorString is not interface { Temporary() bool }: missing method Temporary (policy retries=3 backoff=constant(1s) +If)
}

// A random source of 32 bits: a jitter takes the high bits of a word, so every wait would be
// the least.
func ExampleCheckPolicy_rand() {
	p := retry.Standard().Rand(func() uint64 { return uint64(rand.Uint32()) })
	retrytest.CheckPolicy(t, p)
	// Output: retrytest: law "whole random words": bit 63 is 0 in each of 64 words from Rand: want 64 random bits, as rand.Uint64 gives them (policy retries=3 backoff=exp(100ms,2).cap(10s).jitter(full) +Rand)
}

func ExampleStrategies() {
	test := func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			s := retrytest.Strategies().Draw(t, "strategy")
			retrytest.CheckStrategy(t, s)
		})
	}
	fmt.Println(passes(test))
	// Output: true
}

// What is drawn is refined like any policy.
func ExamplePolicies() {
	test := func(t *testing.T) {
		retrytest.Bubble(t, func(t *rapid.T) {
			p := retrytest.Policies().Draw(t, "policy").Except(retry.Is(ErrNoSuchUser))
			op := retrytest.Fail[int](ErrNoSuchUser).Operation()
			if _, err := retry.Do(t.Context(), p, op.Call); len(op.Calls()) != 1 || !errors.Is(err, ErrNoSuchUser) {
				t.Fatal(err)
			}
		})
	}
	fmt.Println(passes(test))
	// Output: true
}

func ExampleErrors() {
	test := func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			err := retrytest.Errors().Draw(t, "error")
			if again := policy.Next(retry.Failure{Err: err}); !again.Retry && again.Reason == 0 {
				t.Fatal("it stops without a reason")
			}
		})
	}
	fmt.Println(passes(test))
	// Output: true
}

// What an operation does, however it fails, is what the run returns.
func ExampleScripts() {
	test := func(t *testing.T) {
		retrytest.Bubble(t, func(t *rapid.T) {
			script := retrytest.Scripts(rapid.IntRange(1, 9)).Draw(t, "script")
			v, err := retry.Do(t.Context(), policy, script.Operation().Call)
			if (v == 0) == (err == nil) {
				t.Fatal("neither a value nor an error, or both")
			}
		})
	}
	fmt.Println(passes(test))
	// Output: true
}

func ExampleScript() {
	var op retrytest.Script[string]
	op = op.Then(retrytest.Fail[string](ErrBusy).Times(2)).Then(retrytest.Value("hello"))
	fmt.Println(op)
	// Output: fail(*errors.errorString "busy"), fail(*errors.errorString "busy"), value("hello")
}

var quick = retry.New().Backoff(backoff.Strategy{})

func ExampleValue() {
	op := retrytest.Value("hello").Operation()
	fmt.Println(retry.Do(context.Background(), quick, op.Call))
	// Output: hello <nil>
}

func ExampleFail() {
	op := retrytest.Fail[string](retry.Permanent(ErrBusy)).Operation()
	_, err := retry.Do(context.Background(), quick, op.Call)
	fmt.Println(err, len(op.Calls()))
	// Output: busy 1
}

func ExampleFunc() {
	hang := retrytest.Func(func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
	op := hang.Then(retrytest.Value("hello")).Operation()
	fmt.Println(retry.Do(context.Background(), quick.AttemptTimeout(time.Millisecond), op.Call))
	// Output: hello <nil>
}

func ExampleScript_Times() {
	op := retrytest.Fail[int](ErrBusy).Times(2).Then(retrytest.Value(7)).Operation()
	v, err := retry.Do(context.Background(), quick, op.Call)
	fmt.Println(v, err, len(op.Calls()))
	// Output: 7 <nil> 3
}

func ExampleScript_Then() {
	op := retrytest.Fail[int](ErrBusy).Then(retrytest.Value(7)).Operation()
	fmt.Println(retry.Do(context.Background(), quick, op.Call))
	// Output: 7 <nil>
}

func ExampleScript_Takes() {
	op := retrytest.Value("late").Takes(time.Hour).Then(retrytest.Value("at once")).Operation()
	fmt.Println(retry.Do(context.Background(), quick.AttemptTimeout(time.Millisecond), op.Call))
	// Output: at once <nil>
}

func ExampleScript_Operation() {
	script := retrytest.Fail[int](ErrBusy).Then(retrytest.Value(7))
	for range 2 {
		op := script.Operation()
		v, err := retry.Do(context.Background(), quick, op.Call)
		fmt.Println(v, err, len(op.Calls()))
	}
	// Output:
	// 7 <nil> 2
	// 7 <nil> 2
}

func ExampleOperation() {
	var op *retrytest.Operation[int]
	for _, script := range []retrytest.Script[int]{retrytest.Value(7), retrytest.Fail[int](ErrBusy)} {
		op = script.Operation()
		fmt.Println(op.Call(context.Background()))
	}
	// Output:
	// 7 <nil>
	// 0 busy
}

func ExampleOperation_Call() {
	op := retrytest.Fail[int](ErrBusy).Then(retrytest.Value(7)).Operation()
	fmt.Println(op.Call(context.Background()))
	fmt.Println(op.Call(context.Background()))
	fmt.Println(op.Call(context.Background()))
	// Output:
	// 0 busy
	// 7 <nil>
	// 7 <nil>
}

// When the calls began: in a bubble, to the nanosecond.
func ExampleOperation_Calls() {
	test := func(t *testing.T) {
		retrytest.Bubble(t, func(t *rapid.T) {
			op := retrytest.Fail[int](ErrBusy).Takes(time.Second).Operation()
			_, _ = retry.Do(t.Context(), retry.New().MaxRetries(2), op.Call)
			if calls := op.Calls(); calls[1].Since != 2*time.Second || calls[2].Since != 4*time.Second {
				t.Fatal(calls)
			}
		})
	}
	fmt.Println(passes(test))
	// Output: true
}

func ExampleCall() {
	op := retrytest.Value(7).Operation()
	_, _ = op.Call(context.Background())
	first := op.Calls()[0]
	fmt.Println(first.Since, first.Time.IsZero())
	// Output: 0s false
}

func ExampleBubble() {
	test := func(t *testing.T) {
		retrytest.Bubble(t, func(t *rapid.T) {
			wait := rapid.IntRange(1, 24).Draw(t, "hours")
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(wait)*time.Hour)
			defer cancel()
			<-ctx.Done() // takes no time
			if time.Since(began) != time.Duration(wait)*time.Hour {
				t.Fatal("late")
			}
		})
	}
	fmt.Println(passes(test))
	// Output: true
}
