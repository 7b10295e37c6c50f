package retry_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

var errBusy = errors.New("busy")

// flaky returns an operation that fails the given number of times.
func flaky(failures int, err error) func(context.Context) (string, error) {
	calls := 0
	return func(context.Context) (string, error) {
		if calls++; calls <= failures {
			return "", err
		}
		return fmt.Sprintf("call %d", calls), nil
	}
}

// quick is a policy for examples: it does not wait.
var quick = retry.New().Backoff(backoff.Strategy{})

func Example() {
	policy := retry.New().
		MaxRetries(5).
		Backoff(backoff.Exponential(time.Millisecond, 2).Cap(10 * time.Millisecond).FullJitter())
	v, err := retry.Do(context.Background(), policy, flaky(2, errBusy))
	fmt.Println(v, err)
	// Output: call 3 <nil>
}

// A client for HTTP: a status of 503 or 429 is worth another call, when the server
// says so or the policy does; a 404 is not.
func ExampleDo_http() {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls < 3 {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "hello")
	}))
	defer server.Close()

	get := func(ctx context.Context) (string, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			return "", retry.Permanent(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		defer func() { _ = response.Body.Close() }()
		switch err := errors.New(response.Status); {
		case response.StatusCode == http.StatusServiceUnavailable, response.StatusCode == http.StatusTooManyRequests:
			seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
			return "", retry.After(time.Duration(seconds)*time.Second, err)
		case response.StatusCode >= 300:
			return "", retry.Permanent(err)
		}
		body, err := io.ReadAll(response.Body) // inside: the context may end with the call
		return string(body), err
	}

	policy := retry.Standard().Hints(retry.HintClamp, time.Millisecond) // an example does not wait 30s
	body, err := retry.Do(context.Background(), policy, get)
	fmt.Println(body, err, calls)
	// Output: hello <nil> 3
}

func ExampleDo() {
	v, err := retry.Do(context.Background(), quick, flaky(1, errBusy))
	fmt.Println(v, err)
	v, err = retry.Do(context.Background(), quick, flaky(9, errBusy))
	fmt.Printf("%q %v %v\n", v, err, err == errBusy)
	// Output:
	// call 2 <nil>
	// "" busy true
}

func ExampleRun() {
	calls := 0
	err := retry.Run(context.Background(), quick, func(context.Context) error {
		calls++
		return errBusy
	})
	fmt.Println(calls, err)
	// Output: 4 busy
}

func ExampleNew() {
	d := retry.New().Next(retry.Failure{Err: errBusy})
	fmt.Println(d.Retry, d.Wait)
	// Output: true 1s
}

func ExamplePolicy() {
	base := retry.New().MaxElapsed(time.Minute)
	patient := base.MaxRetries(20) // base is as it was
	failure := retry.Failure{Err: errBusy, Retries: 3}
	fmt.Println(base.Next(failure).Reason)
	fmt.Println(patient.Next(failure).Retry)
	// Output:
	// exhausted
	// true
}

func ExamplePolicy_MaxRetries() {
	_, err := retry.Do(context.Background(), quick.MaxRetries(1), flaky(2, errBusy)) // 2 calls
	fmt.Println(err)
	v, _ := retry.Do(context.Background(), quick.MaxRetries(retry.Unlimited), flaky(1000, errBusy))
	fmt.Println(v)
	// Output:
	// busy
	// call 1001
}

func ExamplePolicy_Backoff() {
	policy := retry.New().Backoff(backoff.Linear(time.Second, time.Second))
	for n := range 3 {
		fmt.Println(policy.Next(retry.Failure{Err: errBusy, Retries: n}).Wait)
	}
	// Output:
	// 1s
	// 2s
	// 3s
}

func ExamplePolicy_MaxElapsed() {
	policy := retry.New().MaxElapsed(10 * time.Second) // waits of 1s
	fmt.Println(policy.Next(retry.Failure{Err: errBusy, Elapsed: 8 * time.Second}).Retry)
	fmt.Println(policy.Next(retry.Failure{Err: errBusy, Elapsed: 9 * time.Second}).Reason)
	fmt.Println(policy.Next(retry.Failure{Err: errBusy, Elapsed: 11 * time.Second}).Reason)
	// Output:
	// true
	// time would be exceeded
	// time spent
}

func ExamplePolicy_AttemptTimeout() {
	calls := 0
	err := retry.Run(context.Background(), quick.AttemptTimeout(time.Millisecond).MaxRetries(1), func(ctx context.Context) error {
		calls++
		<-ctx.Done() // as a client does that obeys its context
		return context.Cause(ctx)
	})
	fmt.Println(calls, err == retry.ErrAttemptTimeout, errors.Is(err, context.DeadlineExceeded))
	// Output: 2 true true
}

func ExampleErrAttemptTimeout() {
	fmt.Println(retry.ErrAttemptTimeout)
	// Output: retry: the attempt took longer than AttemptTimeout
}

func ExamplePolicy_On() {
	policy := quick.On(retry.Is(errBusy), retry.As[*net.OpError]())
	calls := 0
	err := retry.Run(context.Background(), policy, func(context.Context) error {
		calls++
		return io.ErrUnexpectedEOF
	})
	fmt.Println(calls, err)
	// Output: 1 unexpected EOF
}

func ExamplePolicy_Except() {
	policy := quick.Except(retry.Is(fs.ErrNotExist))
	_, err := os.ReadFile("no/such/file")
	fmt.Println(policy.Next(retry.Failure{Err: err}).Reason)
	fmt.Println(policy.Next(retry.Failure{Err: errBusy}).Retry)
	// Output:
	// not retryable
	// true
}

func ExamplePolicy_If() {
	policy := quick.If(func(err error) bool { return err != io.EOF })
	fmt.Println(policy.Next(retry.Failure{Err: io.EOF}).Retry)
	// Output: false
}

func ExamplePolicy_Events() {
	policy := quick.MaxRetries(1).Events(func(_ context.Context, e retry.Event) {
		switch e.Kind {
		case retry.Scheduled:
			fmt.Printf("call %d failed: %v; next in %v\n", e.Call, e.Err, e.Delay)
		case retry.Finished:
			fmt.Printf("%v after call %d\n", e.Reason, e.Call)
		}
	})
	_ = retry.Run(context.Background(), policy, func(context.Context) error { return errBusy })
	// Output:
	// call 1 failed: busy; next in 0s
	// exhausted after call 2
}

func ExamplePolicy_Rand() {
	middle := func() uint64 { return 1 << 63 }
	policy := retry.New().MaxRetries(1).Backoff(backoff.Constant(8 * time.Nanosecond).FullJitter()).Rand(middle)
	policy = policy.Events(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.Scheduled {
			fmt.Println(e.Delay)
		}
	})
	_ = retry.Run(context.Background(), policy, func(context.Context) error { return errBusy })
	// Output: 4ns
}

func ExamplePolicy_WrapErrors() {
	err := retry.Run(context.Background(), quick.MaxRetries(2).WrapErrors(), func(context.Context) error { return errBusy })
	var e *retry.Error
	if errors.As(err, &e) {
		fmt.Println(e.Reason, e.Attempts, e.Last, errors.Is(err, errBusy))
	}
	// Output: exhausted 3 busy true
}

func ExamplePolicy_Hints() {
	busy := retry.Failure{Err: retry.After(time.Hour, errBusy)}
	fmt.Println(retry.New().Next(busy).Reason)
	fmt.Println(retry.New().Hints(retry.HintClamp, time.Minute).Next(busy).Wait)
	fmt.Println(retry.New().Hints(retry.HintIgnore, time.Minute).Next(busy).Wait)
	// Output:
	// hint too long
	// 1m0s
	// 1s
}

func ExamplePolicy_Err() {
	fmt.Println(retry.New().MaxRetries(-1).MaxElapsed(0).Err())
	// Output:
	// retry: MaxRetries is -1: want 0 or more, or retry.Unlimited for no limit
	// retry: MaxElapsed is 0s: want more than 0, or leave it out for no limit
}

func ExamplePolicy_Next() {
	policy := retry.New().Backoff(backoff.Exponential(time.Second, 2).Cap(5 * time.Second).EqualJitter())

	// A job in a queue, which keeps with it how often it was retried and Drawn.
	job := retry.Failure{Err: errBusy}
	for {
		job.Draw = rand.Uint64() // without it a jittered wait is always the least
		d := policy.Next(job)
		if !d.Retry {
			fmt.Println(d.Reason)
			break
		}
		lo, hi := time.Second/2<<job.Retries, time.Second<<job.Retries
		fmt.Println("again in", lo, "to", hi, lo <= d.Wait && d.Wait < hi)
		job.Retries++
		job.Prev = d.Drawn
	}
	// Output:
	// again in 500ms to 1s true
	// again in 1s to 2s true
	// again in 2s to 4s true
	// exhausted
}

func ExampleFailure() {
	d := retry.New().Next(retry.Failure{Err: errBusy, Deadline: true, Left: 500 * time.Millisecond})
	fmt.Println(d.Reason)
	// Output: deadline would be exceeded
}

func ExampleDecision() {
	d := retry.New().Next(retry.Failure{Err: retry.After(3*time.Second, errBusy)})
	fmt.Println(d.Retry, d.Wait, d.Drawn, d.Source)
	// Output: true 3s 1s hint
}

func ExampleEvent() {
	policy := quick.Events(func(_ context.Context, e retry.Event) { fmt.Println(e.Kind, e.Call) })
	_, _ = retry.Do(context.Background(), policy, flaky(1, errBusy))
	// Output:
	// started 1
	// failed 1
	// scheduled 1
	// started 2
	// finished 2
}

func ExamplePermanent() {
	calls := 0
	err := retry.Run(context.Background(), quick, func(context.Context) error {
		calls++
		return retry.Permanent(os.ErrPermission)
	})
	fmt.Println(calls, err == os.ErrPermission)
	// Output: 1 true
}

func ExampleAfter() {
	err := retry.After(30*time.Second, errBusy) // the server said Retry-After: 30
	d := retry.New().Next(retry.Failure{Err: err})
	fmt.Println(d.Wait, d.Source)
	// Output: 30s hint
}

func ExampleIs() {
	policy := quick.On(retry.Is(io.ErrUnexpectedEOF, os.ErrDeadlineExceeded))
	fmt.Println(policy.Next(retry.Failure{Err: fmt.Errorf("reading: %w", io.ErrUnexpectedEOF)}).Retry)
	// Output: true
}

func ExampleAs() {
	policy := quick.On(retry.As[*fs.PathError]())
	_, err := os.ReadFile("no/such/file")
	fmt.Println(policy.Next(retry.Failure{Err: err}).Retry)
	// Output: true
}

func ExampleMatch() {
	timeout := retry.Match(func(err error) bool {
		t, ok := err.(interface{ Timeout() bool })
		return ok && t.Timeout()
	})
	err := errors.Join(errBusy, os.ErrDeadlineExceeded)
	fmt.Println(quick.On(timeout).Next(retry.Failure{Err: err}).Retry)
	// Output: true
}

func ExampleMatcher() {
	transient := []retry.Matcher{retry.Is(errBusy), retry.As[net.Error]()}
	fmt.Println(quick.On(transient...).Next(retry.Failure{Err: errBusy}).Retry)
	// Output: true
}

func ExampleError() {
	ctx, cancel := context.WithCancelCause(context.Background())
	err := retry.Run(ctx, quick, func(context.Context) error {
		cancel(errors.New("shutting down"))
		return errBusy
	})
	fmt.Println(err)
	fmt.Println(errors.Is(err, context.Canceled), errors.Is(err, errBusy))
	// Output:
	// retry: cancelled after 1 attempt: context canceled (shutting down): last error: busy
	// true true
}

// job stands for a future: something that has begun.
type job struct{}

func (job) EagerResult() {}

func ExampleEager() {
	_, err := retry.Do(context.Background(), retry.New(), func(context.Context) (job, error) { return job{}, nil })
	fmt.Println(errors.Is(err, retry.ErrEagerResult))
	// Output: true
}

func ExampleErrEagerResult() {
	_, err := retry.Do(context.Background(), retry.New(), func(context.Context) (job, error) { return job{}, nil })
	fmt.Println(err)
	// Output: retry: the operation returns an eager result, such as a future: its work runs once and cannot be retried; let the operation do the work and return its value (future.Retry starts it now, with retries)
}

func ExampleReason() {
	fmt.Println(retry.Exhausted, "/", retry.NotRetryable, "/", retry.DeadlineWouldExceed)
	// Output: exhausted / not retryable / deadline would be exceeded
}

func ExampleKind() {
	fmt.Println(retry.Started, retry.Failed, retry.Scheduled, retry.Finished)
	// Output: started failed scheduled finished
}

func ExampleSource() {
	hinted := retry.Failure{Err: retry.After(time.Minute, errBusy)}
	fmt.Println(retry.New().Next(hinted).Source, retry.New().Next(retry.Failure{Err: errBusy}).Source)
	// Output: hint backoff
}

func ExampleHintMode() {
	busy := retry.Failure{Err: retry.After(time.Hour, errBusy)}
	for _, mode := range []retry.HintMode{retry.HintRefuse, retry.HintClamp, retry.HintIgnore} {
		d := retry.New().Hints(mode, time.Minute).Next(busy)
		fmt.Println(d.Retry, d.Wait)
	}
	// Output:
	// false 0s
	// true 1m0s
	// true 1s
}

func ExampleAttempts() {
	ctx := context.Background()
	fetch := flaky(2, errBusy)

	var v string
	var err error
	for ctx, call := range retry.Attempts(ctx, quick, &err) {
		v, err = fetch(ctx) // =, not :=
		fmt.Println("call", call, err)
	}
	fmt.Println(v, err)
	// Output:
	// call 1 busy
	// call 2 busy
	// call 3 <nil>
	// call 3 <nil>
}

func ExampleErrAbandoned() {
	var err error
	for range retry.Attempts(context.Background(), quick, &err) {
		break // before anything was called
	}
	fmt.Println(err)
	// Output: retry: the loop over Attempts was left before its first call had returned
}

func ExamplePolicy_AttemptInfo() {
	policy := quick.MaxRetries(2).AttemptInfo()
	_ = retry.Run(context.Background(), policy, func(ctx context.Context) error {
		a, _ := retry.AttemptFrom(ctx)
		fmt.Println("attempt", a.Number, "of", a.Number+a.RetriesLeft)
		return errBusy
	})
	// Output:
	// attempt 1 of 3
	// attempt 2 of 3
	// attempt 3 of 3
}

func ExampleAttemptFrom() {
	_, ok := retry.AttemptFrom(context.Background())
	fmt.Println(ok)
	// Output: false
}

func ExampleAttempt() {
	_ = retry.Run(context.Background(), quick.MaxRetries(1).AttemptInfo(), func(ctx context.Context) error {
		a, _ := retry.AttemptFrom(ctx)
		fmt.Println(a.Number, a.Err)
		return errBusy
	})
	// Output:
	// 1 <nil>
	// 2 busy
}

func ExampleError_Earlier() {
	calls := 0
	err := retry.Run(context.Background(), quick.WrapErrors(), func(context.Context) error {
		calls++
		return fmt.Errorf("call %d: busy", calls)
	})
	var e *retry.Error
	if errors.As(err, &e) {
		fmt.Println(e.Last, e.Earlier())
	}
	// Output: call 4: busy [call 1: busy call 2: busy call 3: busy]
}

func ExampleStandard() {
	fmt.Println(retry.Standard())
	// Output: retries=3 backoff=exp(100ms,2).cap(10s).jitter(full)
}

func ExamplePolicy_WorstCase() {
	calls, wait := retry.New().MaxRetries(10).Backoff(backoff.Exponential(time.Second, 2).Cap(time.Minute)).WorstCase()
	fmt.Println(calls, "calls,", wait, "of waits")
	// Output: 11 calls, 5m3s of waits
}

func ExampleLog() {
	// without the time, so that the output is always the same
	options := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "elapsed" {
			return slog.Attr{}
		}
		return a
	}}
	logger := slog.New(slog.NewTextHandler(os.Stdout, options))
	policy := quick.MaxRetries(1).Events(retry.Log(logger))
	_ = retry.Run(context.Background(), policy, func(context.Context) error { return errBusy })
	// Output:
	// level=INFO msg="retry: scheduled" call=1 error=busy delay=0s source=backoff
	// level=WARN msg="retry: finished" call=2 error=busy reason=exhausted
}

func ExampleParse() {
	policy, err := retry.Parse("retries=5 backoff=exp(100ms,2).cap(5s) max-elapsed=1m")
	fmt.Println(policy, err)
	_, err = retry.Parse("retries=5 backoff=exp(100ms)")
	fmt.Println(err)
	// Output:
	// retries=5 backoff=exp(100ms,2).cap(5s) max-elapsed=1m <nil>
	// retry: column 19: exp: the number of values is 1: want 2, the first wait and the factor
}

func ExampleParseError() {
	_, err := retry.Parse("retries=many")
	var e *retry.ParseError
	if errors.As(err, &e) {
		fmt.Println(e.Column, e.Problem)
	}
	// Output: 9 retries is "many": want a number of at least 0, or unlimited
}

func ExamplePolicy_MarshalText() {
	out, err := json.Marshal(map[string]retry.Policy{"retry": retry.New().MaxRetries(1)})
	fmt.Println(string(out), err)
	_, err = retry.New().If(func(error) bool { return true }).MarshalText()
	fmt.Println(err)
	// Output:
	// {"retry":"retries=1 backoff=constant(1s)"} <nil>
	// retry: no text for If: want it set in the program, after the text is read
}

func ExamplePolicy_UnmarshalText() {
	flags := flag.NewFlagSet("example", flag.ContinueOnError)
	var policy retry.Policy
	flags.TextVar(&policy, "retry", retry.Standard(), "how to retry")
	err := flags.Parse([]string{"-retry", "calls=3 backoff=none"})
	fmt.Println(policy, err)
	// Output: retries=2 backoff=none <nil>
}

func ExamplePolicy_LogValue() {
	options := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	slog.New(slog.NewTextHandler(os.Stdout, options)).Info("starting", "retry", retry.New())
	// Output: level=INFO msg=starting retry="retries=3 backoff=constant(1s)"
}

// perSecond is a limiter of one's own, which takes no notice of how runs end.
type perSecond struct{ left atomic.Int64 }

func (l *perSecond) Allow(context.Context, error) (paid int64, ok bool) {
	return 0, l.left.Add(-1) >= 0
}
func (l *perSecond) Done(retry.Outcome) {}

func ExampleLimiter() {
	few := new(perSecond)
	few.left.Store(1) // and a ticker that sets it, each second
	calls := 0
	err := retry.Run(context.Background(), quick.Limit(few), func(context.Context) error {
		calls++
		return errBusy
	})
	fmt.Println(calls, err)
	// Output: 2 busy
}

func ExamplePolicy_Limit() {
	toDB := budget.New(budget.Default()) // for all calls to it
	policy := quick.WrapErrors().Limit(toDB)
	for range 1000 {
		_ = retry.Run(context.Background(), policy, func(context.Context) error { return errBusy })
	}
	err := retry.Run(context.Background(), policy, func(context.Context) error { return errBusy })
	failure, _ := errors.AsType[*retry.Error](err)
	fmt.Println(failure.Reason, failure.Attempts, failure.Last)
	fmt.Println(quick.Limit(nil).Err())
	// Output:
	// throttled 1 busy
	// retry: Limit has a nil limiter: want one, such as budget.New(budget.Default()), or leave Limit out
}

// ends is a limiter that shows how runs end.
type ends struct{}

func (ends) Allow(context.Context, error) (paid int64, ok bool) { return 5, true }
func (ends) Done(o retry.Outcome)                               { fmt.Printf("%v, paid %d\n", o.Reason, o.Paid) }

func ExampleOutcome() {
	_, _ = retry.Do(context.Background(), quick.Limit(ends{}), flaky(0, errBusy))
	_, _ = retry.Do(context.Background(), quick.Limit(ends{}), flaky(1, errBusy))
	_, _ = retry.Do(context.Background(), quick.Limit(ends{}), flaky(9, errBusy))
	// Output:
	// succeeded, paid 0
	// succeeded, paid 5
	// exhausted, paid 5
}

func ExampleMatcher_Matches() {
	m := retry.Is(io.EOF)
	fmt.Println(m.Matches(fmt.Errorf("read: %w", io.EOF)), m.Matches(errBusy))
	// Output: true false
}

func ExampleMatcher_Err() {
	fmt.Println(retry.Is(nil).Err())
	// Output: retry: Is has no error, or a nil one: want the errors to match
}
