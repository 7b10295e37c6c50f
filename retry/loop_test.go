package retry_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

// A script is everything that one run meets: the policy, what each call does,
// and when the caller's context ends. Times are chosen so that no two things of
// different kinds happen at the same instant, where either may come first.
type script struct {
	retries        int
	strategy       backoff.Strategy
	maxElapsed     time.Duration // 0: none
	attemptTimeout time.Duration // 0: none
	maxHint        time.Duration
	mode           retry.HintMode
	onlyBoom, wrap bool
	draws          []uint64
	calls          []outcome // the last repeats
	cancelAt       time.Duration
	deadline       time.Duration
}

// TestMain has rapid check more cases than its 100, which are over in a moment.
func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "2000")
	m.Run()
}

const never = time.Duration(1 << 60)

// outcome is what one call does.
type outcome struct {
	takes time.Duration
	obeys bool // it returns early, with the context's error, when its context ends
	err   error

	permanent bool          // the error has Permanent in its tree
	hint      time.Duration // the greatest hint in its tree
}

var errCause, errDeadlineCause = errors.New("the caller gave up"), errors.New("the caller's time is over")

func outcomes() *rapid.Generator[outcome] {
	return rapid.Custom(func(t *rapid.T) outcome {
		o := outcome{takes: tens(t, "takes", 0, 5), obeys: rapid.Bool().Draw(t, "obeys")}
		switch rapid.IntRange(0, 11).Draw(t, "outcome") {
		case 0:
		case 1:
			o.err, o.permanent = retry.Permanent(errBoom), true
		case 2:
			o.err, o.permanent = fmt.Errorf("wrapped: %w", retry.Permanent(errBoom)), true
		case 3:
			o.err = errOther
		case 4:
			o.err = context.Canceled // from the operation itself
		case 5, 6:
			o.hint = tens(t, "hint", -1, 8)
			o.err = retry.After(o.hint, errBoom)
		case 7:
			o.hint = time.Millisecond + tens(t, "hint", 0, 8)
			o.err = errors.Join(errOther, retry.After(o.hint-1, errBoom), retry.After(o.hint, errBoom), retry.After(-1, errBoom))
		default:
			o.err = errBoom
		}
		return o
	})
}

// tens draws a number of tens of milliseconds.
func tens(t *rapid.T, name string, from, to int) time.Duration {
	return time.Duration(rapid.IntRange(from, to).Draw(t, name)) * 10 * time.Millisecond
}

// sometimes draws a time with its own odd part, or what stands for none.
func sometimes(t *rapid.T, name string, odd, none time.Duration) time.Duration {
	if rapid.IntRange(0, 2).Draw(t, name+" given") > 0 {
		return none
	}
	return tens(t, name, 0, 20) + odd
}

func scripts() *rapid.Generator[script] {
	return rapid.Custom(func(t *rapid.T) script {
		ten := 10 * time.Millisecond
		return script{
			retries: rapid.SampledFrom([]int{0, 1, 2, 3, 6, 30}).Draw(t, "retries"),
			strategy: rapid.SampledFrom([]backoff.Strategy{
				{}, backoff.Constant(ten), backoff.Exponential(ten, 2).Cap(5 * ten), backoff.Exponential(ten, 2).FullJitter(),
				backoff.Exponential(ten, 2).EqualJitter().Cap(4 * ten), backoff.Decorrelated(ten).Cap(9 * ten), backoff.Linear(0, ten).AdditiveJitter(ten),
			}).Draw(t, "strategy"),
			maxElapsed:     sometimes(t, "max elapsed", 1234567, 0),
			attemptTimeout: sometimes(t, "attempt timeout", 1, 0),
			maxHint:        tens(t, "max hint", 1, 6),
			mode:           rapid.SampledFrom([]retry.HintMode{retry.HintRefuse, retry.HintClamp, retry.HintIgnore}).Draw(t, "mode"),
			onlyBoom:       rapid.Bool().Draw(t, "only boom"),
			wrap:           rapid.Bool().Draw(t, "wrap"),
			draws:          rapid.SliceOfN(rapid.Uint64(), 31, 31).Draw(t, "draws"),
			calls:          rapid.SliceOfN(outcomes(), 1, 6).Draw(t, "calls"),
			cancelAt:       sometimes(t, "cancel", 3456789, never),
			deadline:       sometimes(t, "deadline", 5678901, never),
		}
	})
}

// policy makes the real policy. Its random words are the script's.
func (s script) policy() retry.Policy {
	draw := 0
	p := retry.New().MaxRetries(s.retries).Backoff(s.strategy).Hints(s.mode, s.maxHint).Rand(func() uint64 {
		draw++
		return s.draws[draw-1]
	})
	if s.maxElapsed > 0 {
		p = p.MaxElapsed(s.maxElapsed)
	}
	if s.attemptTimeout > 0 {
		p = p.AttemptTimeout(s.attemptTimeout)
	}
	if s.onlyBoom {
		p = p.On(retry.Is(errBoom, context.DeadlineExceeded))
	}
	if s.wrap {
		p = p.WrapErrors()
	}
	return p
}

func (s script) call(n int) outcome { return s.calls[min(n, len(s.calls))-1] }

// told is the record of one run.
type told struct {
	at     []time.Duration // when each call began
	events []retry.Event
	reason retry.Reason
	end    time.Duration
	last   error // what the last call returned
}

// expect says what the documentation promises for the script, with a clock that
// is a number. It shares no code with the package but for the strategies.
func (s script) expect() (want told) {
	var now, prev time.Duration
	draw := 0
	note := func(e retry.Event) {
		e.Call, e.Elapsed = len(want.at), now
		want.events = append(want.events, e)
	}
	ends := min(s.cancelAt, s.deadline)
	for {
		want.at = append(want.at, now)
		note(retry.Event{Kind: retry.Started})
		var o outcome
		now, o = s.returns(len(want.at), now)
		want.last = o.err
		if want.last != nil {
			note(retry.Event{Kind: retry.Failed, Err: original(want.last)})
		}
		n := len(want.at)
		wait, from, reason := s.judge(o, n, now, ends)
		if reason == 0 {
			u := uint64(0)
			if s.strategy.Random() {
				u = s.draws[draw]
				draw++
			}
			drawn := s.strategy.Delay(n, prev, u)
			lo, _ := s.strategy.Bounds(n)
			prev = drawn
			if wait = wait + drawn - lo; from == retry.FromBackoff || wait <= drawn {
				wait, from = drawn, retry.FromBackoff
			}
			switch {
			case s.maxElapsed > 0 && wait >= s.maxElapsed-now:
				reason = retry.TimeWouldExceed
			case s.deadline != never && wait > 0 && wait >= s.deadline-now:
				reason = retry.DeadlineWouldExceed
			}
		}
		if reason == 0 {
			note(retry.Event{Kind: retry.Scheduled, Err: original(want.last), Delay: wait, Source: from})
			if now+wait < ends {
				now += wait
				continue
			}
			now, reason = ends, retry.Cancelled
		}
		want.reason, want.end = reason, now
		note(retry.Event{Kind: retry.Finished, Reason: reason})
		return want
	}
}

// returns says when call n, begun at now, returns, and what.
func (s script) returns(n int, now time.Duration) (time.Duration, outcome) {
	o, end := s.call(n), now+s.call(n).takes
	if !o.obeys {
		return end, o
	}
	timeout := never
	if s.attemptTimeout > 0 {
		timeout = now + s.attemptTimeout
	}
	switch first := min(end, timeout, s.deadline, s.cancelAt); first {
	case end:
		return end, o
	case s.cancelAt:
		return first, outcome{err: context.Canceled}
	default:
		return first, outcome{err: context.DeadlineExceeded}
	}
}

// judge makes the tests that come before the wait, and returns the hint.
func (s script) judge(o outcome, n int, now, ends time.Duration) (hint time.Duration, from retry.Source, reason retry.Reason) {
	if o.hint > 0 && s.mode != retry.HintIgnore {
		hint, from = o.hint, retry.FromHint
	}
	switch {
	case o.err == nil:
		reason = retry.Succeeded
	case now >= ends:
		reason = retry.Cancelled
	case o.permanent, s.onlyBoom && !errors.Is(o.err, errBoom) && !errors.Is(o.err, context.DeadlineExceeded):
		reason = retry.NotRetryable
	case s.maxElapsed > 0 && now >= s.maxElapsed:
		reason = retry.TimeSpent
	case n > s.retries:
		reason = retry.Exhausted
	case hint > s.maxHint && s.mode == retry.HintRefuse:
		reason = retry.HintTooLong
	}
	return min(hint, s.maxHint), from, reason
}

// context makes the caller's context, and what ends it.
func (s script) context() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	if s.cancelAt != never {
		timer := time.AfterFunc(s.cancelAt, func() { cancel(errCause) })
		context.AfterFunc(ctx, func() { timer.Stop() })
	}
	if s.deadline == never {
		return ctx, func() { cancel(nil) }
	}
	ctx, stop := context.WithDeadlineCause(ctx, time.Now().Add(s.deadline), errDeadlineCause)
	return ctx, func() { stop(); cancel(nil) }
}

// earlier is the errors before the last, the first two and the last two of them.
func (want told) earlier() []error {
	errs := []error{}
	for _, e := range want.events {
		if e.Kind == retry.Failed {
			errs = append(errs, e.Err)
		}
	}
	errs = errs[:len(errs)-1]
	if n := len(errs); n > 4 {
		errs = append(errs[:2], errs[n-2:]...)
	}
	return errs
}

// drivers are the ways to make a run. Each has to behave alike.
var drivers = map[string]func(context.Context, retry.Policy, func(context.Context) (int, error)) (int, error){
	"Do": retry.Do[int],
	"Attempts": func(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (v int, err error) {
		for ctx, call := range retry.Attempts(ctx, p, &err) {
			if v, err = op(ctx); v != call {
				panic("the loop's number is not the call's")
			}
		}
		return v, err
	},
	"Run": func(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (v int, err error) {
		err = retry.Run(ctx, p, func(ctx context.Context) error {
			v, err = op(ctx)
			return err
		})
		return v, err
	},
}

func TestEveryDriverDoesWhatTheDocumentationSays(t *testing.T) {
	for name, drive := range drivers {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := scripts().Draw(t, "script")
				hooked := rapid.Bool().Draw(t, "hooked")
				rapid.SyncTest(t, func(t *rapid.T) { s.check(t, drive, hooked) })
			})
		})
	}
}

func (s script) check(t *rapid.T, drive func(context.Context, retry.Policy, func(context.Context) (int, error)) (int, error), hooked bool) {
	want := s.expect()
	var got told
	ctx, stop := s.context()
	defer stop()
	began := time.Now()
	p := s.policy()
	if hooked {
		p = p.Events(func(hookCtx context.Context, e retry.Event) {
			require.Equal(t, ctx, hookCtx)
			got.events = append(got.events, e)
		})
	}
	v, err := drive(ctx, p, func(ctx context.Context) (int, error) {
		got.at = append(got.at, time.Since(began))
		n := len(got.at)
		o := s.call(n)
		if !o.obeys {
			time.Sleep(o.takes)
			return n, o.err
		}
		timer := time.NewTimer(o.takes)
		defer timer.Stop()
		select {
		case <-timer.C:
			return n, o.err
		case <-ctx.Done():
			return n, ctx.Err()
		}
	})
	require.Equal(t, want.at, got.at, "when the calls began")
	require.Equal(t, want.end, time.Since(began), "when the run ended")
	require.Equal(t, len(want.at), v, "the value of the last call")
	s.checkError(ctx, t, want, err, hooked)
	if hooked {
		want.events[len(want.events)-1].Err = err
		require.Equal(t, want.events, got.events)
	}
}

// checkError holds the error against what the documentation promises.
func (s script) checkError(ctx context.Context, t *rapid.T, want told, err error, hooked bool) {
	require.Equal(t, want.last == nil, err == nil, "nil if and only if the last call returned nil")
	if err == nil {
		return
	}
	last := original(want.last)
	cut := want.reason == retry.Cancelled || want.reason == retry.DeadlineWouldExceed
	if !s.wrap && !cut {
		require.True(t, err == last, "the last error itself, not %v", err)
		return
	}
	e, ok := err.(*retry.Error)
	require.True(t, ok, "%T is an *Error", err)
	require.Equal(t, want.reason, e.Reason)
	require.Equal(t, len(want.at), e.Attempts)
	require.True(t, e.Last == last)
	require.Equal(t, want.earlier(), e.Earlier())
	require.ErrorIs(t, err, last)
	if hooked || s.wrap || s.maxElapsed > 0 {
		require.Equal(t, want.end, e.Elapsed)
	} else {
		require.Zero(t, e.Elapsed)
	}
	switch want.reason {
	case retry.Cancelled:
		require.ErrorIs(t, err, ctx.Err())
		require.ErrorIs(t, err, context.Cause(ctx))
		require.Equal(t, context.Cause(ctx), e.Cause)
	case retry.DeadlineWouldExceed:
		require.ErrorIs(t, err, context.DeadlineExceeded)
	default:
		require.NoError(t, e.Cause)
	}
}

// original is the error without the marks that the caller does not see.
func original(err error) error {
	for fmt.Sprintf("%T", err) == "*retry.permanent" || fmt.Sprintf("%T", err) == "*retry.after" {
		err = errors.Unwrap(err)
	}
	return err
}
