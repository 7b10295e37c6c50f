package property_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/retry"
)

func TestEveryDriverDoesWhatTheModelOfTheDesignDoes(t *testing.T) {
	_ = os.Getenv("RAPID_CHECKS") // asked for in a test, it is part of what go test's cache looks at
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		rapid.SyncTest(t, func(t *rapid.T) { s.check(t) })
	})
}

// check plays the script with every driver and holds it against the model.
func (s script) check(t require.TestingT) {
	want := s.model()
	if s.backoff != nil {
		require.NoError(t, s.backoff.strategy().Err())
	}
	for _, d := range s.drivers() {
		want.check(t, s, d, s.play(d))
	}
	want.checkDecisions(t, s)
}

func (want told) check(t require.TestingT, s script, d driver, got seen) {
	require.Len(t, got.calls, len(want.calls), "%s: calls", d.name)
	for i, c := range want.calls {
		if !s.info {
			c.left, c.before = 0, nil
		}
		require.True(t, c == got.calls[i], "%s: call is %+v, wants %+v", d.name, got.calls[i], c)
	}
	require.Equal(t, want.end, got.end, "%s: when it returns", d.name)
	require.True(t, got.sound, "%s: contexts and numbers of the calls", d.name)
	if want.reason == retry.Succeeded || !d.mute {
		require.Equal(t, ifElse(d.name == "Run", 0, time.Duration(want.value)), time.Duration(got.value), "%s: value", d.name)
	}
	want.checkError(t, s, d, got.err)
	want.checkEvents(t, d, got)
	require.Len(t, got.asked, len(want.asked), "%s: questions to the limiter", d.name)
	for i, err := range want.asked {
		require.True(t, err == got.asked[i], "%s: the limiter is asked about %v itself, not %v", d.name, err, got.asked[i])
	}
	random := s.backoff != nil && s.backoff.random()
	require.True(t, got.drawn >= want.drawn && (random || got.drawn == 0) && got.drawn <= len(want.calls), "%s: %d words are drawn", d.name, got.drawn)
}

func (want told) checkEvents(t require.TestingT, d driver, got seen) {
	if want.fault && d.refusesEarly {
		require.Empty(t, got.events, d.name)
		return
	}
	require.Len(t, got.events, len(want.events), "%s: events %v", d.name, got.events)
	for i, e := range want.events {
		if e.Kind == retry.Finished {
			e.Err = got.err
		}
		require.True(t, e == got.events[i], "%s: event is %+v, wants %+v", d.name, got.events[i], e)
	}
}

func (want told) checkError(t require.TestingT, s script, d driver, err error) {
	switch {
	case want.fault:
		require.EqualError(t, err, s.limits().Err().Error(), d.name)
	case want.reason == retry.Succeeded:
		require.NoError(t, err, d.name)
	case !want.wrapped:
		require.True(t, err == want.last.err, "%s: %v is %v itself", d.name, err, want.last.err)
	default:
		want.checkWrapped(t, d, err)
	}
}

func (want told) checkWrapped(t require.TestingT, d driver, err error) {
	e, is := err.(*retry.Error)
	require.True(t, is, "%s: %#v is an Error", d.name, err)
	require.Equal(t, want.reason, e.Reason, "%s: reason", d.name)
	require.Equal(t, len(want.calls), e.Attempts, "%s: attempts", d.name)
	require.Equal(t, want.elapsed, e.Elapsed, "%s: elapsed", d.name)
	require.True(t, e.Last == want.last.error(), "%s: last is %v, wants %v", d.name, e.Last, want.last.error())
	require.True(t, e.Cause == want.cause, "%s: cause is %v, wants %v", d.name, e.Cause, want.cause)
	for _, match := range []error{want.last.error(), want.ctxErr, want.cause} {
		require.True(t, match == nil || errors.Is(err, match), "%s: %v matches %v", d.name, err, match)
	}
	require.NotContains(t, err.Error(), "\n")
	require.True(t, strings.HasPrefix(err.Error(), "retry: "), err.Error())
	want.checkEarlier(t, d, e)
}

// What was overcome is told by Earlier, and does not match.
func (want told) checkEarlier(t require.TestingT, d driver, e *retry.Error) {
	require.Len(t, e.Earlier(), len(want.earlier), "%s: earlier errors", d.name)
	for i, err := range e.Earlier() {
		require.True(t, err == want.earlier[i], "%s: earlier error is %v, wants %v", d.name, err, want.earlier[i])
		still := errors.Is(want.last.error(), err) || errors.Is(want.ctxErr, err) || errors.Is(want.cause, err)
		require.Equal(t, still, errors.Is(e, err), "%s: an earlier error, %v, in the tree", d.name, err)
	}
}

// checkDecisions asks Next of every failure of the run.
func (want told) checkDecisions(t require.TestingT, s script) {
	w := world{script: s}
	p := w.policy()
	for _, d := range want.decided {
		if d.decision.Reason == retry.Partial || d == (decided{failure: d.failure}) {
			continue // a driver's own, or of a loop that was left
		}
		got := p.Next(d.failure)
		require.Equal(t, d.decision, got, "of %+v", d.failure)
	}
}
