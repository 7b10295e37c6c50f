package backoff_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
)

// show prints the windows of the first waits.
func show(s backoff.Strategy, waits int) {
	var all []string
	for n := 1; n <= waits; n++ {
		lo, hi := s.Bounds(n)
		if lo == hi {
			all = append(all, lo.String())
		} else {
			all = append(all, fmt.Sprintf("[%v, %v)", lo, hi))
		}
	}
	fmt.Println(strings.Join(all, " "))
}

func Example() {
	s := backoff.Exponential(100*time.Millisecond, 2).Cap(500 * time.Millisecond).EqualJitter()
	wait := s.Delay(3, 0, rand.Uint64()) // before the third retry
	fmt.Println(200*time.Millisecond <= wait && wait < 400*time.Millisecond)
	show(s, 5)
	// Output:
	// true
	// [50ms, 100ms) [100ms, 200ms) [200ms, 400ms) [250ms, 500ms) [250ms, 500ms)
}

func ExampleStrategy() {
	var s backoff.Strategy // waits for nothing
	fmt.Println(s.Delay(1, 0, rand.Uint64()))
	// Output: 0s
}

func ExampleStrategy_Delay() {
	s := backoff.Constant(time.Second).FullJitter()
	fmt.Println(s.Delay(1, 0, 0), s.Delay(1, 0, 1<<63), s.Delay(1, 0, math.MaxUint64))
	// Output: 0s 500ms 999.999999ms
}

func ExampleStrategy_Bounds() {
	lo, hi := backoff.Constant(time.Second).ProportionalJitter(0.2).Bounds(1)
	fmt.Println(lo, hi)
	// Output: 800ms 1.2s
}

func ExampleStrategy_Random() {
	s := backoff.Exponential(time.Second, 2)
	fmt.Println(s.Random(), s.FullJitter().Random())
	// Output: false true
}

func ExampleStrategy_Err() {
	fmt.Println(backoff.Exponential(time.Second, 0.5).Cap(100 * time.Millisecond).Err())
	// Output:
	// backoff: Exponential: the factor is 0.5: want a finite number of at least 1
	// backoff: Cap is 100ms, below the first wait of Exponential, 1s: want a cap of at least that, or a shorter first wait
}

func ExampleConstant() {
	show(backoff.Constant(time.Second), 3)
	// Output: 1s 1s 1s
}

func ExampleLinear() {
	show(backoff.Linear(time.Second, 500*time.Millisecond), 4)
	// Output: 1s 1.5s 2s 2.5s
}

func ExampleExponential() {
	show(backoff.Exponential(100*time.Millisecond, 2), 5)
	show(backoff.Exponential(100*time.Millisecond, 1.5), 5)
	// Output:
	// 100ms 200ms 400ms 800ms 1.6s
	// 100ms 150ms 225ms 337.5ms 506.25ms
}

func ExampleFibonacci() {
	show(backoff.Fibonacci(time.Second), 6)
	// Output: 1s 1s 2s 3s 5s 8s
}

func ExampleDecorrelated() {
	show(backoff.Decorrelated(time.Second).Cap(10*time.Second), 4)
	// Output: [1s, 3s) [1s, 9s) [1s, 10s) [1s, 10s)
}

func ExampleList() {
	show(backoff.List(time.Second, 5*time.Second, time.Minute), 4)
	// Output: 1s 5s 1m0s 1m0s
}

func ExampleFunc() {
	quadratic := backoff.Func(func(n int) (lo, hi time.Duration) {
		d := time.Duration(n*n) * time.Second
		return d, d
	})
	show(quadratic.Cap(10*time.Second), 4)
	// Output: 1s 4s 9s 10s
}

func ExampleStrategy_Then() {
	quickly := backoff.Constant(10 * time.Millisecond)
	show(quickly.Then(2, backoff.Exponential(time.Second, 2)).Cap(3*time.Second), 5)
	// Output: 10ms 10ms 1s 2s 3s
}

func ExampleStrategy_Cap() {
	show(backoff.Exponential(time.Second, 2).Cap(3*time.Second).FullJitter(), 4)
	// Output: [0s, 1s) [0s, 2s) [0s, 3s) [0s, 3s)
}

func ExampleStrategy_Floor() {
	show(backoff.Exponential(time.Second, 2).FullJitter().Floor(1500*time.Millisecond), 3)
	// Output: 1.5s [1.5s, 2s) [1.5s, 4s)
}

func ExampleStrategy_FullJitter() {
	show(backoff.Exponential(time.Second, 2).FullJitter(), 3)
	// Output: [0s, 1s) [0s, 2s) [0s, 4s)
}

func ExampleStrategy_EqualJitter() {
	show(backoff.Exponential(time.Second, 2).EqualJitter(), 3)
	// Output: [500ms, 1s) [1s, 2s) [2s, 4s)
}

func ExampleStrategy_ProportionalJitter() {
	show(backoff.Exponential(time.Second, 2).ProportionalJitter(0.1), 3)
	// Output: [900ms, 1.1s) [1.8s, 2.2s) [3.6s, 4.4s)
}

func ExampleStrategy_AdditiveJitter() {
	show(backoff.Exponential(time.Second, 2).Cap(4*time.Second).AdditiveJitter(time.Second), 3)
	// Output: [1s, 2s) [2s, 3s) [3s, 4s)
}

func ExampleStrategy_SpringJitter() {
	show(backoff.Exponential(time.Second, 2).SpringJitter(100*time.Millisecond), 3)
	// Output: [1s, 1.1s) [1.8s, 2.2s) [3.6s, 4.4s)
}

func ExampleStrategy_Total() {
	lo, hi := backoff.Exponential(time.Second, 2).Cap(10 * time.Second).EqualJitter().Total(6)
	fmt.Println(lo, hi) // 1+2+4+8+10+10 seconds, and half of it
	// Output: 17.5s 35s
}

func ExampleParse() {
	s, err := backoff.Parse("exp(100ms,2).cap(300ms).jitter(equal)")
	fmt.Println(s, err)
	show(s, 3)
	_, err = backoff.Parse("exp(100ms).cap(5)")
	fmt.Println(err)
	// Output:
	// exp(100ms,2).cap(300ms).jitter(equal) <nil>
	// [50ms, 100ms) [100ms, 200ms) [150ms, 300ms)
	// backoff: column 1: exp: the number of values is 1: want 2, the first wait and the factor
}

func ExampleParseError() {
	_, err := backoff.Parse("exp(1s,2).cap(5)")
	var e *backoff.ParseError
	if errors.As(err, &e) {
		fmt.Println(e.Column, e.Problem)
	}
	// Output: 15 "5" is no duration: want one such as 1.5s, 100ms or 2m
}

func ExampleStrategy_MarshalText() {
	out, _ := json.Marshal(map[string]backoff.Strategy{"wait": backoff.Fibonacci(time.Second)})
	fmt.Println(string(out))
	// Output: {"wait":"fibonacci(1s)"}
}

func ExampleStrategy_UnmarshalText() {
	var config struct{ Wait backoff.Strategy }
	err := json.Unmarshal([]byte(`{"wait": "list(1s,5s,1m)"}`), &config)
	fmt.Println(config.Wait, err)
	// Output: list(1s,5s,1m) <nil>
}
