package property_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/retry"
)

// The laws of a run, each said of what was seen, without the model: what the model
// has wrong it has wrong for every driver alike.

// law checks what was seen of one driver, under drawn scripts.
func law(t *testing.T, holds func(t *rapid.T, s script, got seen)) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		d := rapid.SampledFrom(s.drivers()).Draw(t, "driver")
		if s.faulty && d.refusesEarly {
			t.Skip("there is no run")
		}
		rapid.SyncTest(t, func(t *rapid.T) { holds(t, s, s.play(d)) })
	})
}

func (got seen) of(kind retry.Kind) (all []retry.Event) {
	for _, e := range got.events {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	return all
}

func TestEveryWaitLiesInTheWindowOfItsRetry(t *testing.T) {
	law(t, func(t *rapid.T, s script, got seen) {
		strategy := curve{kind: "constant", first: time.Second}.strategy()
		if s.backoff != nil {
			strategy = s.backoff.strategy()
		}
		for _, e := range got.of(retry.Scheduled) {
			lo, hi := strategy.Bounds(e.Call)
			require.GreaterOrEqual(t, e.Delay, lo)
			if e.Source == retry.FromBackoff {
				require.True(t, e.Delay < hi || e.Delay == lo, "%v in [%v, %v)", e.Delay, lo, hi)
			}
		}
	})
}

func TestOnlyAHintPassesTheCap(t *testing.T) {
	law(t, func(t *rapid.T, s script, got seen) {
		for _, e := range got.of(retry.Scheduled) {
			if e.Source == retry.FromBackoff && s.backoff != nil && s.backoff.cap > 0 {
				require.LessOrEqual(t, e.Delay, s.backoff.cap)
			}
			if e.Source == retry.FromHint {
				require.NotEqual(t, retry.HintIgnore, s.mode)
			}
		}
	})
}

func TestAWaitIsExactlyAsLongAsWasSaid(t *testing.T) {
	law(t, func(t *rapid.T, s script, got seen) {
		for i, e := range got.of(retry.Scheduled) {
			require.Equal(t, got.calls[i].ended, e.Elapsed, "it is said at once")
			if i+1 < len(got.calls) {
				require.Equal(t, got.calls[i+1].at, got.calls[i].ended+e.Delay)
			} else {
				require.LessOrEqual(t, got.end-got.calls[i].ended, e.Delay)
			}
		}
	})
}

func TestThereIsNoWaitAfterTheLastCall(t *testing.T) {
	law(t, func(t *rapid.T, s script, got seen) {
		if n := len(got.calls); n > 0 && got.ctxErr == nil {
			require.Equal(t, got.calls[n-1].ended, got.end)
		}
	})
}

// letters are the kinds of events, in their order of constants.
const letters = "?SFWE"

func TestTheEventsOfARunFollowItsLaws(t *testing.T) {
	grammar := regexp.MustCompile("^(SFW)*(SF?)?E$")
	law(t, func(t *rapid.T, s script, got seen) {
		if !s.hooked {
			require.Empty(t, got.events)
			return
		}
		var word strings.Builder
		for i, e := range got.events {
			word.WriteByte(letters[e.Kind])
			require.True(t, i == 0 || got.events[i-1].Elapsed <= e.Elapsed, "time does not go back")
		}
		require.Regexp(t, grammar, word.String())
		calls := len(got.calls)
		unknown := got.err == nil || s.undecided && s.leaves == calls
		require.Len(t, got.of(retry.Started), calls)
		require.Len(t, got.of(retry.Failed), max(calls-int(ifElse(unknown, 1, 0)), 0))
		extra := len(got.of(retry.Scheduled)) - max(calls-1, 0)
		last := got.events[len(got.events)-1]
		require.Equal(t, calls > 0 && got.events[max(len(got.events)-2, 0)].Kind == retry.Scheduled, extra == 1)
		require.True(t, extra == 0 || last.Reason == retry.Cancelled, "%d more than retries, and %v", extra, last.Reason)
		require.True(t, last.Call == calls && last.Err == got.err, "%+v", last)
	})
}

func TestAFailedOperationNeverYieldsNil(t *testing.T) {
	law(t, func(t *rapid.T, s script, got seen) {
		calls := len(got.calls)
		if s.undecided && s.leaves == calls {
			require.Error(t, got.err)
			return
		}
		require.Equal(t, calls > 0 && got.returned[calls-1] == nil, got.err == nil, "%v", got.err)
		for _, err := range got.returned[:max(calls-1, 0)] {
			require.Error(t, err, "a success ends the run")
		}
	})
}

// unmarked is an error without what package retry or a future put around it.
func unmarked(err error) error {
	for {
		switch fmt.Sprintf("%T", err) {
		case "*retry.permanent", "*retry.after", "*eager.mark":
			err = errors.Unwrap(err)
		default:
			return err
		}
	}
}

func TestTheCallerGetsTheLastErrorItselfOrOneThatMatchesAllThree(t *testing.T) {
	law(t, func(t *rapid.T, s script, got seen) {
		calls := len(got.calls)
		if got.err == nil || s.faulty || s.undecided && s.leaves == calls {
			return
		}
		var last error
		if calls > 0 {
			last = unmarked(got.returned[calls-1])
		}
		e, wrapped := got.err.(*retry.Error)
		if !wrapped {
			require.False(t, s.wrap)
			require.True(t, got.err == last, "%v is %v itself", got.err, last)
			return
		}
		require.True(t, e.Last == last, "%v is %v itself", e.Last, last)
		require.True(t, last == nil || errors.Is(e, last))
		switch e.Reason {
		case retry.Cancelled:
			require.ErrorIs(t, e, got.ctxErr)
			require.ErrorIs(t, e, got.ctxCause)
		case retry.DeadlineWouldExceed:
			require.True(t, got.ctxErr == nil && errors.Is(e, context.DeadlineExceeded))
		default:
			require.True(t, s.wrap)
		}
	})
}

func TestARunWithALivingContextIsNotCancelled(t *testing.T) {
	law(t, func(t *rapid.T, s script, got seen) {
		for _, e := range got.of(retry.Finished) {
			require.True(t, e.Reason != retry.Cancelled || got.ctxErr != nil)
			require.True(t, e.Reason != retry.DeadlineWouldExceed || s.deadline != never)
		}
	})
}

func TestNoWaitIsBegunThatTheBudgetOrTheDeadlineCannotHold(t *testing.T) {
	law(t, func(t *rapid.T, s script, got seen) {
		for _, e := range got.of(retry.Scheduled) {
			require.True(t, s.maxElapsed == 0 || e.Delay < s.maxElapsed-e.Elapsed)
			require.True(t, e.Delay == 0 || s.deadline == never || e.Delay < s.deadline-e.Elapsed)
		}
	})
}

// A budget and a context are looked at between calls, so a run outlives them by
// at most the call that is being made.
func TestARunOutlivesItsLimitsByAtMostOneCall(t *testing.T) {
	law(t, func(t *rapid.T, s script, got seen) {
		budget := ifElse(s.maxElapsed > 0, s.maxElapsed, never)
		last := time.Duration(0)
		for i, c := range got.calls {
			require.True(t, i == 0 || c.at < budget, "a retry begins at %v of %v", c.at, budget)
			require.True(t, c.at < s.deadline && c.at < s.cancelAt, "a call begins at %v", c.at)
			last = c.ended
		}
		require.LessOrEqual(t, got.end, max(last, min(budget, s.deadline, s.cancelAt)))
		if got.ctxErr != nil && s.cancelHook < 0 && !s.cancelsItself() {
			require.LessOrEqual(t, got.end, max(last, min(s.deadline, s.cancelAt)), "it ends at once")
		}
	})
}

func (s script) cancelsItself() bool {
	for _, step := range s.steps {
		if step.cancels {
			return true
		}
	}
	return false
}

func TestACallThatObeysIsOverWhenItsTimeIs(t *testing.T) {
	law(t, func(t *rapid.T, s script, got seen) {
		for i, c := range got.calls {
			if s.attemptTimeout > 0 && i < len(s.steps) && s.steps[i].obeys != "" {
				require.LessOrEqual(t, c.ended-c.at, s.attemptTimeout)
			}
		}
	})
}

func TestTheWorstCaseIsNotPassed(t *testing.T) {
	law(t, func(t *rapid.T, s script, got seen) {
		calls, wait := s.limits().WorstCase()
		require.LessOrEqual(t, len(got.calls), calls)
		var waited time.Duration
		for i, e := range got.of(retry.Scheduled) {
			if e.Source == retry.FromHint {
				return // not counted
			}
			if i+1 < len(got.calls) { // saturating, as the worst case is
				waited += min(e.Delay, never-waited)
			}
		}
		require.LessOrEqual(t, waited, wait)
	})
}
