package retry_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

func TestEveryFaultIsNamedAndMakesNoCall(t *testing.T) {
	for _, c := range []struct {
		p    retry.Policy
		want string
	}{
		{retry.New().MaxRetries(-1), "retry: MaxRetries is -1: want 0 or more, or retry.Unlimited for no limit"},
		{retry.New().MaxRetries(-retry.Unlimited - 1), "retry: MaxRetries is -9223372036854775808: want 0 or more, or retry.Unlimited for no limit"},
		{retry.New().MaxElapsed(0), "retry: MaxElapsed is 0s: want more than 0, or leave it out for no limit"},
		{retry.New().MaxElapsed(-time.Second), "retry: MaxElapsed is -1s: want more than 0, or leave it out for no limit"},
		{retry.New().AttemptTimeout(0), "retry: AttemptTimeout is 0s: want more than 0, or leave it out for no limit"},
		{retry.New().AttemptTimeout(-time.Second), "retry: AttemptTimeout is -1s: want more than 0, or leave it out for no limit"},
		{retry.New().Hints(retry.HintClamp, 0), "retry: Hints: the longest wait is 0s: want more than 0, or retry.HintIgnore to follow no hint"},
		{retry.New().Hints(7, time.Second), "retry: Hints: the mode is 7: want HintRefuse, HintClamp or HintIgnore"},
		{retry.New().On(), "retry: On has no matcher: want one or more, or leave On out"},
		{retry.New().Except(), "retry: Except has no matcher: want one or more, or leave Except out"},
		{retry.New().On(retry.Is(nil)), "retry: On: Is has no error, or a nil one: want the errors to match"},
		{retry.New().On(retry.Is(errBoom, nil)), "retry: On: Is has no error, or a nil one: want the errors to match"},
		{retry.New().Except(retry.Is()), "retry: Except: Is has no error, or a nil one: want the errors to match"},
		{retry.New().Except(retry.Match(nil)), "retry: Except: Match has a nil function: want one that picks errors"},
		{retry.New().On(retry.Matcher{}), "retry: On: a zero Matcher: want one made by Is, As or Match"},
		{retry.New().If(nil), "retry: If has a nil predicate: want a function, or leave If out"},
		{retry.New().Events(nil), "retry: Events has a nil hook: want a function, or leave Events out"},
		{retry.New().Rand(nil), "retry: Rand has a nil source: want a function, or leave Rand out for rand.Uint64"},
		{retry.New().Backoff(backoff.Constant(-1)), "backoff: Constant: the first wait is -1ns: want 0 or more"},
		{
			retry.New().On().If(nil).AttemptTimeout(-1).MaxElapsed(-1).Backoff(backoff.Exponential(-1, 0)).MaxRetries(-1),
			"retry: MaxRetries is -1: want 0 or more, or retry.Unlimited for no limit\n" +
				"backoff: Exponential: the first wait is -1ns: want 0 or more\n" +
				"backoff: Exponential: the factor is 0: want a finite number of at least 1\n" +
				"retry: MaxElapsed is -1ns: want more than 0, or leave it out for no limit\n" +
				"retry: AttemptTimeout is -1ns: want more than 0, or leave it out for no limit\n" +
				"retry: On has no matcher: want one or more, or leave On out\n" +
				"retry: If has a nil predicate: want a function, or leave If out",
		},
	} {
		require.EqualError(t, c.p.Err(), strings.ReplaceAll(c.want, "-9223372036854775808", minInt()))
		for _, p := range []retry.Policy{c.p, c.p.WrapErrors()} {
			calls := 0
			_, err := retry.Do(t.Context(), p, func(context.Context) (int, error) { calls++; return 1, nil })
			assert.EqualError(t, err, c.p.Err().Error())
			assert.Zero(t, calls)
		}
	}
}

func minInt() string {
	if retry.Unlimited>>32 == 0 { // 386
		return "-2147483648"
	}
	return "-9223372036854775808"
}

func TestARefusedRunStillTellsItsHooks(t *testing.T) {
	var events []retry.Event
	p := retry.New().MaxRetries(-1).Events(nil).Events(func(_ context.Context, e retry.Event) { events = append(events, e) })
	_, err := retry.Do(t.Context(), p, succeed)
	require.Len(t, events, 1)
	assert.Equal(t, retry.Refused, events[0].Reason)
	assert.Equal(t, err, events[0].Err)
}

func TestMissingArgumentsPanicByName(t *testing.T) {
	var none context.Context
	assert.PanicsWithValue(t, "retry.Do: nil ctx: want a context, such as context.Background()", func() { _, _ = retry.Do(none, retry.New(), succeed) })
	assert.PanicsWithValue(t, "retry.Do: nil op: want a function", func() { _, _ = retry.Do[int](t.Context(), retry.New(), nil) })
	assert.PanicsWithValue(t, "retry.Run: nil ctx: want a context, such as context.Background()", func() {
		_ = retry.Run(none, retry.New(), func(context.Context) error { return nil })
	})
	assert.PanicsWithValue(t, "retry.Run: nil op: want a function", func() { _ = retry.Run(t.Context(), retry.New(), nil) })
}
