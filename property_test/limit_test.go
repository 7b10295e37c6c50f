package property_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

// register is a limiter that says what it is told to, and notes what it is asked.
type register struct {
	answers []bool // the last repeats
	asked   []error
	done    []retry.Outcome
	heard   func(error) // nil: nobody listens
	crash   func()
}

func (r *register) Allow(_ context.Context, err error) (int64, bool) {
	r.asked = append(r.asked, err)
	if r.heard != nil {
		r.heard(err)
	}
	n := len(r.asked)
	answer := r.answers[min(n, len(r.answers))-1]
	if r.crash != nil {
		r.crash()
	}
	return int64(100 + n), answer
}

func (r *register) Done(o retry.Outcome) { r.done = append(r.done, o) }

// A limited run: what each call returns, what the limiter says, and what becomes of it.
type limitedRun struct {
	retries int
	calls   []error // the last repeats
	answers []bool
	where   place // where something happens, at the call with the number at
	at      int
	goexit  bool
}

// place is where code of the user's does not return, or the context ends.
type place int

const (
	nowhere place = iota
	inCall
	atStarted
	atFailed
	atScheduled
	inPredicate
	inAllow
	endsInCall
	endsInWait
)

var (
	errBoom  = errors.New("boom")
	errFinal = retry.Permanent(errors.New("final"))
)

func limitedRuns() *rapid.Generator[limitedRun] {
	return rapid.Custom(func(t *rapid.T) limitedRun {
		return limitedRun{
			retries: rapid.IntRange(0, 4).Draw(t, "retries"),
			calls:   rapid.SliceOfN(rapid.SampledFrom([]error{errBoom, errBoom, retry.After(1, errBoom), errFinal, nil}), 1, 5).Draw(t, "calls"),
			answers: rapid.SliceOfN(rapid.SampledFrom([]bool{true, true, true, false}), 1, 4).Draw(t, "answers"),
			where:   rapid.Custom(func(t *rapid.T) place { return place(rapid.IntRange(0, int(endsInWait)).Draw(t, "")) }).Draw(t, "where"),
			at:      rapid.IntRange(1, 4).Draw(t, "at"),
			goexit:  rapid.Bool().Draw(t, "goexit"),
		}
	})
}

// expected says what the limiter is to hear.
func (s limitedRun) expected() (asked int, o retry.Outcome) {
	for n := 1; ; n++ {
		here := func(p place) bool { return s.where == p && s.at == n }
		if here(atStarted) {
			return asked, o
		}
		o.Unmade = false
		err := s.calls[min(n, len(s.calls))-1]
		switch {
		case here(inCall):
			return asked, o
		case err == nil:
			o.Reason = retry.Succeeded
			return asked, o
		case here(atFailed):
			return asked, o
		case here(endsInCall):
			o.Reason = retry.Cancelled
			return asked, o
		case errors.Is(err, errFinal):
			o.Reason = retry.NotRetryable
			return asked, o
		case here(inPredicate):
			return asked, o
		case n > s.retries:
			o.Reason = retry.Exhausted
			return asked, o
		}
		asked++
		switch {
		case here(inAllow):
			return asked, o
		case !s.answers[min(asked, len(s.answers))-1]:
			o.Reason = retry.Throttled
			return asked, o
		}
		o.Paid, o.Unmade = int64(100+asked), true
		switch {
		case here(atScheduled):
			return asked, o
		case here(endsInWait):
			o.Reason = retry.Cancelled
			return asked, o
		}
	}
}

// play runs it with a driver. It returns the last original error, and what the caller got.
func (s limitedRun) play(d driver, l *register) (last, got error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	crash := func() {
		if s.goexit {
			runtime.Goexit()
		}
		panic(errBoom)
	}
	calls := 0
	here := func(p place) bool { return s.where == p && s.at == calls }
	l.answers = s.answers
	l.crash = func() {
		if here(inAllow) {
			crash()
		}
	}
	p := retry.New().MaxRetries(s.retries).Backoff(backoff.Constant(time.Second)).Limit(l)
	p = p.If(func(error) bool {
		if here(inPredicate) {
			crash()
		}
		return true
	}).Events(func(_ context.Context, e retry.Event) {
		switch {
		case e.Kind == retry.Started && s.where == atStarted && s.at == e.Call,
			e.Kind == retry.Failed && here(atFailed), e.Kind == retry.Scheduled && here(atScheduled):
			crash()
		case e.Kind == retry.Scheduled && here(endsInWait):
			time.AfterFunc(e.Delay/2, cancel)
		}
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				got = fmt.Errorf("panicked: %v", r)
			}
		}()
		_, got = d.run(ctx, p, func(context.Context) (int, error) {
			calls++
			if here(inCall) {
				crash()
			}
			if here(endsInCall) {
				cancel()
			}
			last = s.calls[min(calls, len(s.calls))-1]
			return 7, last
		})
	})
	wg.Wait()
	return last, got
}

// The limiter is asked once before each retry, and told once how the run ended, whatever
// happens: so no token is lost.
func TestALimiterIsToldOfTheEndOfEveryRun(t *testing.T) {
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := limitedRuns().Draw(t, "run")
				rapid.SyncTest(t, func(t *rapid.T) {
					l := new(register)
					last, got := s.play(d, l)
					asked, outcome := s.expected()
					require.Len(t, l.asked, asked)
					for _, err := range l.asked {
						require.True(t, err == errBoom, "%v", err)
					}
					require.Equal(t, []retry.Outcome{outcome}, l.done)
					if outcome.Reason == retry.Throttled {
						require.ErrorIs(t, last, errBoom)
						require.True(t, got == errBoom, "%v", got)
					}
				})
			})
		})
	}
}

func TestARunThatMadeNoCallIsNoneOfTheLimiters(t *testing.T) {
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	for _, d := range drivers {
		l := &register{answers: []bool{true}}
		_, err := d.run(dead, retry.New().Limit(l), func(context.Context) (int, error) { return 1, nil })
		assert.ErrorIs(t, err, context.Canceled, d.name)
		_, err = d.run(t.Context(), retry.New().MaxRetries(-1).Limit(l), func(context.Context) (int, error) { return 1, nil })
		assert.ErrorContains(t, err, "MaxRetries is -1", d.name)
		assert.Empty(t, l.done, d.name)
	}
}

func TestAThrottledRunSaysSo(t *testing.T) {
	for _, d := range drivers {
		synctest.Test(t, func(t *testing.T) {
			l := &register{answers: []bool{true, false}}
			var events []retry.Event
			p := retry.New().WrapErrors().Limit(l).Events(func(_ context.Context, e retry.Event) { events = append(events, e) })
			_, err := d.run(t.Context(), p, func(context.Context) (int, error) { return 0, errBoom })
			failure, ok := errors.AsType[*retry.Error](err)
			require.True(t, ok, d.name)
			assert.Equal(t, retry.Throttled, failure.Reason, d.name)
			assert.Equal(t, 2, failure.Attempts, d.name)
			assert.True(t, failure.Last == errBoom, d.name)
			var kinds []retry.Kind
			for _, e := range events {
				kinds = append(kinds, e.Kind)
			}
			assert.Equal(t, []retry.Kind{
				retry.Started, retry.Failed, retry.Scheduled, retry.Started, retry.Failed, retry.Finished,
			}, kinds, d.name)
		})
	}
}

// A stream that recovers has succeeded, for the limiter, each time that it does: or one
// that lives long would use up the budget that it brings nothing to.
func TestAStreamThatRecoversIsASuccessForItsLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &register{answers: []bool{true}}
		runs := 0
		s := stream.Stream[int](func(_ context.Context, yield func(int) bool) error {
			if runs++; runs%2 == 0 {
				return errBoom // once without an element
			}
			yield(runs)
			if runs == 7 {
				return nil
			}
			return errBoom
		})
		p := retry.New().MaxRetries(2).Limit(l)
		_, err := s.Retry(p, stream.Restart[int]().Reset(stream.ResetAfter(1))).Collect(t.Context())
		require.NoError(t, err)
		ok := retry.Succeeded
		assert.Equal(t, []retry.Outcome{{Reason: ok}, {Reason: ok, Paid: 102}, {Reason: ok, Paid: 104}, {Reason: ok, Paid: 106}}, l.done)
		assert.Len(t, l.asked, 6)
	})
}
