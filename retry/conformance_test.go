package retry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

// testdata/spring.json holds the behaviours of Spring Framework 7's retry as
// data. Every case is run against this package, future or stream, or is a departure with
// its reason.

// A departure is a case in which this package means to behave otherwise: why, and
// a check of what it does instead.
type departure struct {
	why  string
	ours func(*testing.T, springCase)
}

var departures = map[string]departure{
	"CFG-09": {"there is nothing to conflict: the waits are one setting, and a later Backoff replaces an earlier one", func(t *testing.T, c springCase) {
		p := c.Policy.policy().Backoff(backoff.Fibonacci(time.Second))
		assert.NoError(t, p.Err())
		assert.Equal(t, "retries=3 backoff=fibonacci(1s)", p.String())
	}},
	"DRV-06": {"a time limit of 0 is a fault; without a limit it is left out", func(t *testing.T, c springCase) {
		assert.EqualError(t, c.Policy.policy().Err(), "retry: MaxElapsed is 0s: want more than 0, or leave it out for no limit")
	}},
	"EXP-02": {"waits are exact in nanoseconds, not cut to milliseconds and fed to the next", func(t *testing.T, c springCase) {
		assert.Equal(t, 15187500*time.Microsecond, c.Policy.waits().Delay(6, 0, 0), "15187ms there")
		assert.Equal(t, 22781250*time.Microsecond, c.Policy.waits().Delay(7, 0, 0), "22780ms there")
	}},
	"EXP-04": {"a wait that would reach the budget is not begun: 100 100, not 100 100 100", notBegun(100, 200)},
	"EXP-06": {"a wait that would reach the budget is not begun: 2000, not 2000 4000", notBegun(4000, 2000)},
	"EXP-07": {"a wait that would reach the budget is not begun: 2000 for each, not 2000 4000", notBegun(4000, 2000)},
	"EXP-10": {"a first wait above the cap is a fault, not cut", func(t *testing.T, c springCase) {
		assert.ErrorContains(t, c.Policy.policy().Err(), "Cap is 50ms, below the first wait of Exponential, 1s")
	}},
	"FIX-05": {"a strategy is a value: what changes later is another strategy", func(t *testing.T, c springCase) {
		running := c.Policy.policy()
		changed := running.MaxRetries(2).Backoff(backoff.Constant(200 * time.Millisecond))
		assert.Equal(t, retry.Exhausted, running.Next(retry.Failure{Err: errBoom, Retries: 1}).Reason)
		assert.Equal(t, 200*time.Millisecond, changed.Next(retry.Failure{Err: errBoom, Retries: 1}).Wait)
	}},
	"MTH-10": {"a limit to concurrency is no part of a retry policy", func(t *testing.T, c springCase) {
		assert.Equal(t, "retries=2 backoff=constant(10ms)", c.Policy.policy().String(), "all that there is of it")
	}},
	"RES-10": {"the jitter is the same on every path: a jitter on a wait of 0 is drawn from [0, 10ms)", func(t *testing.T, c springCase) {
		lo, hi := c.Policy.waits().Bounds(1)
		assert.Equal(t, []time.Duration{0, 10 * time.Millisecond}, []time.Duration{lo, hi})
	}},
	"RES-11": {"the jitter is the same on every path: one above the wait widens the window", func(t *testing.T, c springCase) {
		lo, hi := c.Policy.waits().Bounds(1)
		assert.Equal(t, []time.Duration{5 * time.Millisecond, 25 * time.Millisecond}, []time.Duration{lo, hi})
	}},
	"RES-17": {"a budget does not interrupt an attempt, and the source's error is not lost", timeIsABudget(1, 100, retry.TimeSpent)},
	"RES-18": {"a wait that would reach the budget is not begun, and the source's error is not lost", timeIsABudget(1, 0, retry.TimeWouldExceed)},
	"RES-19": {"a budget does not interrupt a retry, and the source's error is not lost", timeIsABudget(2, 100, retry.TimeSpent)},
	"RES-20": {"a budget does not interrupt a retry, and the source's error is not lost", timeIsABudget(3, 100, retry.TimeSpent)},
	"SEED-07": {"a result that has begun is refused before the first call, and not returned as a success", func(t *testing.T, c springCase) {
		op := func(context.Context) (*future.Future[int], error) {
			t.Error("called")
			return future.Failed[int](errBoom), nil
		}
		_, err := retry.Do(t.Context(), c.Policy.policy(), op)
		assert.Equal(t, retry.ErrEagerResult, err)
		_, err = future.Retry(t.Context(), c.Policy.policy(), op).Await(t.Context())
		assert.Equal(t, retry.ErrEagerResult, err)
	}},
}

// timeIsABudget checks that a run which has used up its time ends with the error of its
// source, after as many runs and as much time as that takes.
func timeIsABudget(runs int, lasts int64, reason retry.Reason) func(*testing.T, springCase) {
	return func(t *testing.T, c springCase) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			subscriptions, events, last, err := c.subscribe(t, c.Policy.policy())
			assert.Equal(t, runs, subscriptions)
			assert.Equal(t, inMS(lasts), time.Since(began))
			assert.True(t, err == last, "the source's error is not lost")
			assert.Equal(t, reason, events[len(events)-1].Reason)
		})
	}
}

// notBegun checks that the wait, after so much time, is not begun under the
// case's budget, and would be under one that holds it.
func notBegun(wait, elapsed int64) func(*testing.T, springCase) {
	return func(t *testing.T, c springCase) {
		f := retry.Failure{Err: errBoom, Retries: 1, Elapsed: inMS(elapsed)}
		p := c.Policy.policy()
		assert.Equal(t, retry.TimeWouldExceed, p.Next(f).Reason)
		assert.Equal(t, inMS(wait), p.MaxElapsed(inMS(elapsed+wait)+1).Next(f).Wait)
	}
}

type conformance struct {
	ErrorTypes map[string]string `json:"error_types"`
	Cases      []springCase
}

type springCase struct {
	ID, Surface string
	Policy      springPolicy
	Script      []springOutcome
	Expect      springExpectation
}

type springPolicy struct {
	MaxRetries *int     `json:"max_retries"`
	Delay      *int64   `json:"delay_ms"`
	Jitter     *int64   `json:"jitter_ms"`
	Multiplier *float64 `json:"multiplier"`
	MaxDelay   *int64   `json:"max_delay_ms"`
	Timeout    *int64   `json:"timeout_ms"`
	MaxElapsed *int64   `json:"max_elapsed_ms"`
	Includes   []string
	Excludes   []string
	Predicate  string
	Strategy   string
	Backoff    string
}

type springOutcome struct {
	Fail, Message, Cause string
	Takes                int64 `json:"takes_ms"`
}

type springExpectation struct {
	Invocations   *int
	Subscriptions *int
	Delays        []int64    `json:"delays_ms"`
	Bounds        [][2]int64 `json:"bounds_ms"`
	Elapsed       struct {
		Min    *int64
		MaxExc *int64 `json:"max_excl"`
	} `json:"elapsed_ms"`
	Outcome *struct {
		Kind, Reason string
		Retries      int
		LastError    string   `json:"last_error"`
		LastMessage  *string  `json:"last_message"`
		Earlier      []string `json:"earlier_errors"`
	}
	Events       []map[string]any
	MethodEvents []map[string]any `json:"method_events"`
	Next         []any
	Interleaved  [][2]any `json:"next_interleaved"`
	Retryable    [][2]any
	Messages     [][3]any `json:"retryable_with_message"`
	Hooks        []string
	Error        string
}

var springTypes map[string]string // from a type of errors to the wider one

// springKind is a type of errors; a springError is of its own type and all wider.
type springKind string

func (k springKind) Error() string { return string(k) }

type springError struct {
	kind, message string
	cause         error
}

func (e *springError) Error() string { return e.kind + ": " + e.message }
func (e *springError) Unwrap() error { return e.cause }
func (e *springError) Is(target error) bool {
	for kind := e.kind; kind != ""; kind = springTypes[kind] {
		if target == error(springKind(kind)) {
			return true
		}
	}
	return false
}

func (o springOutcome) error() error {
	if o.Fail == "" {
		return nil
	}
	e := &springError{kind: o.Fail, message: o.Message}
	switch {
	case o.Cause != "":
		e.cause = &springError{kind: o.Cause}
	case o.Fail == "interrupted":
		e.cause = context.Canceled
	}
	return e
}

func inMS(ms int64) time.Duration {
	if ms > math.MaxInt64/1_000_000 {
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}

// given returns *p, or the default where it is not given.
func given[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// waits makes the strategy.
func (p springPolicy) waits() backoff.Strategy {
	s := backoff.Constant(inMS(given(p.Delay, 1000)))
	if m := given(p.Multiplier, 1); m != 1 {
		s = backoff.Exponential(inMS(given(p.Delay, 1000)), m)
	}
	if p.MaxDelay != nil {
		s = s.Cap(inMS(*p.MaxDelay))
	}
	if p.Jitter != nil {
		s = s.SpringJitter(inMS(*p.Jitter))
	}
	return s
}

// policy makes the policy.
func (p springPolicy) policy() retry.Policy {
	otherwise := 3
	if p.Strategy != "" {
		otherwise = retry.Unlimited
	}
	r := retry.New().MaxRetries(given(p.MaxRetries, otherwise)).Backoff(p.waits())
	for _, limit := range []*int64{p.Timeout, p.MaxElapsed} {
		if limit != nil {
			r = r.MaxElapsed(inMS(*limit))
		}
	}
	for _, kind := range springKinds(p.Includes) { // in as many calls
		r = r.On(retry.Is(kind))
	}
	if p.Excludes != nil {
		r = r.Except(retry.Is(springKinds(p.Excludes)...))
	}
	switch p.Predicate {
	case "":
	case "never":
		r = r.If(func(error) bool { return false })
	case "not_malformed_input_3":
		r = r.If(func(err error) bool {
			return !errors.Is(err, springKind("malformed_input")) || !strings.HasSuffix(err.Error(), ": 3")
		})
	case "is_number_format", "all_of:is_number_format,message_is_boom":
		r = r.If(func(err error) bool { return errors.Is(err, springKind("number_format")) })
		if strings.HasPrefix(p.Predicate, "all_of:") {
			r = r.If(func(err error) bool { return strings.HasSuffix(err.Error(), ": Boom!") })
		}
	default:
		panic("no such predicate: " + p.Predicate)
	}
	return r
}

func springKinds(names []string) (kinds []error) {
	for _, name := range names {
		kinds = append(kinds, springKind(name))
	}
	return kinds
}

func TestConformanceWithSpring(t *testing.T) {
	text, err := os.ReadFile("testdata/spring.json")
	require.NoError(t, err)
	var all conformance
	require.NoError(t, json.Unmarshal(text, &all))
	springTypes = all.ErrorTypes
	passed, departed := 0, 0
	for _, c := range all.Cases {
		switch check := surfaces[c.Surface]; {
		case departures[c.ID].why != "":
			departed++
			t.Run(c.ID, func(t *testing.T) { departures[c.ID].ours(t, c) })
			t.Logf("%s is a departure: %s", c.ID, departures[c.ID].why)
		case check == nil:
			t.Errorf("%s: nobody runs the surface %s", c.ID, c.Surface)
		default:
			passed++
			t.Run(c.ID, func(t *testing.T) { check(t, c) })
		}
	}
	assert.Len(t, all.Cases, 132)
	assert.Len(t, departures, departed, "every departure is a case")
	t.Logf("%d cases are run, %d are departures", passed, departed)
	assert.Equal(t, []int{116, 16}, []int{passed, departed})
}

var surfaces = map[string]func(*testing.T, springCase){
	"execute": checkRun, "invoke": checkRun, "method": checkRun, "task": checkRun, "method_async": checkRun, "resubscribe": checkResubscribe,
	"backoff": checkNext, "backoff_bounds": checkBounds, "classify": checkNext,
	"config_error": checkFault, "config": checkDefaults, "listener": checkHooks,
}

// checkRun runs the script, as it is and under WrapErrors, on the caller's goroutine and
// as a future.
func checkRun(t *testing.T, c springCase) {
	for i := range 4 {
		wrapped, drive := i%2 == 1, retry.Do[int]
		if i >= 2 {
			drive = func(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (int, error) {
				return future.Retry(ctx, p, op).Await(context.Background())
			}
		}
		synctest.Test(t, func(t *testing.T) {
			p := c.policy(t)
			if wrapped {
				p = p.WrapErrors()
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.Policy.Backoff == "cancels_while_waiting" {
				time.AfterFunc(time.Millisecond, cancel)
			}
			var events []retry.Event
			began, calls := time.Now(), 0
			var last error
			v, err := drive(ctx, p.Events(collect(&events)), func(context.Context) (int, error) {
				o := c.Script[calls]
				calls++
				time.Sleep(inMS(o.Takes))
				last = o.error()
				return calls, last
			})
			assert.Equal(t, calls, v, "the value of the last call")
			if c.Policy.Backoff == "cancels_while_waiting" {
				assert.ErrorIs(t, err, context.Canceled)
			}
			c.checkTimes(t, events, calls, time.Since(began))
			c.checkOutcome(t, events, err, last, wrapped)
			c.checkEvents(t, events)
		})
	}
}

// subscribe runs the script as a source that is run again when it fails.
func (c springCase) subscribe(t *testing.T, p retry.Policy) (subscriptions int, events []retry.Event, last, err error) {
	source := stream.Defer(func(context.Context) (string, error) {
		o := c.Script[min(subscriptions, len(c.Script)-1)]
		subscriptions++
		time.Sleep(inMS(o.Takes))
		last = o.error()
		return "ok", last
	})
	_, err = source.Retry(p.Events(collect(&events)), stream.Restart[string]()).Collect(t.Context())
	return subscriptions, events, last, err
}

// checkResubscribe runs the script as a stream, as it is and under WrapErrors.
func checkResubscribe(t *testing.T, c springCase) {
	runs := *c.Expect.Subscriptions
	c.Expect.Invocations, c.Expect.Outcome.Retries, c.Expect.Outcome.Earlier = &runs, runs-1, []string{} // which are not written down here
	for _, o := range c.Script[:runs-1] {
		c.Expect.Outcome.Earlier = append(c.Expect.Outcome.Earlier, o.Fail)
	}
	for _, wrapped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := c.Policy.policy()
			if wrapped {
				p = p.WrapErrors()
			}
			began := time.Now()
			subscriptions, events, last, err := c.subscribe(t, p)
			c.checkTimes(t, events, subscriptions, time.Since(began))
			c.checkOutcome(t, events, err, last, wrapped)
			c.checkEvents(t, events)
		})
	}
}

// policy is the case's policy, made in the way that the case is about.
func (c springCase) policy(t *testing.T) retry.Policy {
	p := c.Policy.policy()
	switch c.ID {
	case "MTH-07": // a wider policy, replaced whole
		_ = p.Except(retry.Is(springKind("access_denied")))
	case "MTH-08", "MTH-09": // from text
		read, err := retry.Parse(fmt.Sprintf("retries=%d backoff=constant(%dms)", *c.Policy.MaxRetries, *c.Policy.Delay))
		require.NoError(t, err)
		p = read.On(retry.Is(springKinds(c.Policy.Includes)...))
	case "DRV-05": // the wait lasts longer than it should
		p = p.Events(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.Scheduled {
				time.Sleep(200 * time.Millisecond)
			}
		})
	}
	return p
}

func (c springCase) checkTimes(t *testing.T, events []retry.Event, calls int, elapsed time.Duration) {
	assert.Equal(t, *c.Expect.Invocations, calls)
	scheduled := []int64{}
	for _, e := range events {
		if e.Kind == retry.Scheduled {
			if n := len(scheduled); n < len(c.Expect.Bounds) {
				assert.GreaterOrEqual(t, e.Delay, inMS(c.Expect.Bounds[n][0]))
				assert.Less(t, e.Delay, inMS(c.Expect.Bounds[n][1]))
			}
			scheduled = append(scheduled, e.Delay.Milliseconds())
		}
	}
	if c.Expect.Delays != nil {
		assert.Equal(t, c.Expect.Delays, scheduled)
	}
	assert.GreaterOrEqual(t, elapsed, inMS(given(c.Expect.Elapsed.Min, 0)))
	assert.Less(t, elapsed, inMS(given(c.Expect.Elapsed.MaxExc, math.MaxInt64)))
}

func (c springCase) checkOutcome(t *testing.T, events []retry.Event, err, last error, wrapped bool) {
	want := c.Expect.Outcome
	assert.Equal(t, want.Retries, events[len(events)-1].Call-1)
	if want.Kind == "value" {
		assert.NoError(t, err)
		return
	}
	e, isError := err.(*retry.Error)
	reason := events[len(events)-1].Reason
	assert.Equal(t, c.reason(), reason)
	assert.Equal(t, wrapped || reason == retry.Cancelled, isError)
	if !isError {
		assert.True(t, err == last, "the last error itself")
		return
	}
	assert.True(t, e.Last == last)
	assert.Equal(t, want.LastError, last.(*springError).kind)
	assert.Equal(t, given(want.LastMessage, last.(*springError).message), last.(*springError).message)
	earlier := []string{}
	for _, err := range e.Earlier() {
		earlier = append(earlier, err.(*springError).kind)
	}
	if n := len(want.Earlier); n > 4 { // we keep the first two and the last two
		want.Earlier = slices.Concat(want.Earlier[:2], want.Earlier[n-2:])
	}
	assert.Equal(t, want.Earlier, earlier)
}

// reason is ours for Spring's, which has one for both "no retries left" and "not
// to be retried".
func (c springCase) reason() retry.Reason {
	switch c.Expect.Outcome.Reason {
	case "interrupted":
		return retry.Cancelled
	case "timeout_exceeded":
		return retry.TimeSpent
	case "timeout_would_exceed":
		return retry.TimeWouldExceed
	}
	failed := c.Script[*c.Expect.Invocations-1].error()
	if c.Policy.policy().Next(retry.Failure{Err: failed, Retries: c.Expect.Outcome.Retries}).Reason == retry.NotRetryable {
		return retry.NotRetryable
	}
	return retry.Exhausted
}

// checkEvents holds our events against Spring's two kinds of listeners.
func (c springCase) checkEvents(t *testing.T, events []retry.Event) {
	var listener, method []map[string]any
	say := func(e string, more ...any) map[string]any {
		m := map[string]any{"e": e}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	for _, e := range events {
		n := float64(e.Call - 1)
		switch {
		case e.Kind == retry.Started && n > 0:
			listener = append(listener, say("before_retry", "retry", n))
		case e.Kind == retry.Failed:
			if n > 0 {
				listener = append(listener, say("retry_failure", "retry", n))
			}
			listener = append(listener, say("attempt", "ok", false, "retry", n))
			method = append(method, say("failure", "n", n+1))
		case e.Kind == retry.Finished && e.Reason == retry.Succeeded:
			if n > 0 {
				listener = append(listener, say("retry_success", "retry", n))
			}
			listener = append(listener, say("attempt", "ok", true, "retry", n))
		case e.Kind == retry.Finished:
			end := map[retry.Reason]string{retry.Cancelled: "interrupted", retry.TimeSpent: "timeout", retry.TimeWouldExceed: "timeout"}[e.Reason]
			if end == "" {
				end = "exhausted"
			}
			listener = append(listener, say(end))
			method = append(method, say("aborted"))
		}
	}
	if c.Expect.Events != nil {
		assert.Equal(t, c.Expect.Events, listener)
	}
	if c.Expect.MethodEvents != nil {
		assert.Equal(t, c.Expect.MethodEvents, append([]map[string]any{}, method...))
	}
}

// checkNext asks for decisions without a run.
func checkNext(t *testing.T, c springCase) {
	p := c.Policy.policy()
	require.NoError(t, p.Err())
	kind := "number_format"
	if c.Policy.Includes != nil {
		kind = c.Policy.Includes[0]
	}
	next := func(retries int) any {
		d := p.Next(retry.Failure{Err: &springError{kind: kind}, Retries: retries})
		if !d.Retry {
			return "STOP"
		}
		return float64(d.Wait.Milliseconds())
	}
	for i, want := range c.Expect.Next {
		assert.Equal(t, want, next(i), "wait %d", i+1)
	}
	counts := map[any]int{}
	for _, step := range c.Expect.Interleaved {
		assert.Equal(t, step[1], next(counts[step[0]]))
		counts[step[0]]++
	}
	for _, r := range c.Expect.Retryable {
		assert.Equal(t, r[1], p.Next(retry.Failure{Err: &springError{kind: r[0].(string)}}).Retry, r[0])
	}
	for _, r := range c.Expect.Messages {
		assert.Equal(t, r[2], p.Next(retry.Failure{Err: &springError{kind: r[0].(string), message: r[1].(string)}}).Retry, r)
	}
	assert.NotEmpty(t, len(c.Expect.Next)+len(c.Expect.Interleaved)+len(c.Expect.Retryable)+len(c.Expect.Messages))
}

func checkBounds(t *testing.T, c springCase) {
	for i, b := range c.Expect.Bounds {
		lo, hi := c.Policy.waits().Bounds(i + 1)
		assert.Equal(t, []time.Duration{inMS(b[0]), inMS(b[1])}, []time.Duration{lo, hi})
	}
	assert.NotEmpty(t, c.Expect.Bounds)
}

// checkFault expects one fault, which names the setting.
func checkFault(t *testing.T, c springCase) {
	name := "Cap is"
	switch p := c.Policy; {
	case p.MaxRetries != nil:
		name = "MaxRetries is"
	case p.Timeout != nil:
		name = "MaxElapsed is"
	case p.Delay != nil:
		name = "the first wait is"
	case p.Jitter != nil:
		name = "SpringJitter is"
	case p.Multiplier != nil:
		name = "the factor is"
	}
	err := c.Policy.policy().Err()
	assert.ErrorContains(t, err, name)
	assert.NotContains(t, fmt.Sprint(err), "\n")
}

func checkDefaults(t *testing.T, c springCase) {
	checkNext(t, c)
	assert.Equal(t, "retries=3 backoff=constant(1s)", retry.New().String())
	calls, wait := retry.New().WorstCase()
	assert.Equal(t, 4, calls)
	assert.Equal(t, 3*time.Second, wait)
}

func checkHooks(t *testing.T, c springCase) {
	var told []int
	p := noWait.MaxRetries(1)
	for i := range 3 {
		p = p.Events(func(context.Context, retry.Event) { told = append(told, i) })
	}
	_, _ = retry.Do(t.Context(), p, fail)
	assert.Equal(t, slices.Repeat([]int{0, 1, 2}, 6), told, "every event, to every hook, in the order of registration")
	assert.Len(t, c.Expect.Hooks, 7)
}
