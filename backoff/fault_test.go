package backoff_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
)

func TestEveryFaultIsNamedWithItsValueAndWhatIsWanted(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, c := range []struct {
		strategy backoff.Strategy
		want     string
	}{
		{backoff.Constant(-s), "Constant: the first wait is -1s: want 0 or more"},
		{backoff.Linear(-s, -ms), "Linear: the first wait is -1s: want 0 or more\nLinear: the step is -1ms: want 0 or more"},
		{backoff.Fibonacci(-s), "Fibonacci: the first wait is -1s: want 0 or more"},
		{backoff.Decorrelated(-s), "Decorrelated: the first wait is -1s: want 0 or more"},
		{backoff.Exponential(-s, 2), "Exponential: the first wait is -1s: want 0 or more"},
		{backoff.Exponential(s, 0.5), "Exponential: the factor is 0.5: want a finite number of at least 1"},
		{backoff.Exponential(s, 0), "Exponential: the factor is 0: want a finite number of at least 1"},
		{backoff.Exponential(s, -2), "Exponential: the factor is -2: want a finite number of at least 1"},
		{backoff.Exponential(s, math.NaN()), "Exponential: the factor is NaN: want a finite number of at least 1"},
		{backoff.Exponential(s, math.Inf(1)), "Exponential: the factor is +Inf: want a finite number of at least 1"},
		{backoff.Exponential(s, math.Inf(-1)), "Exponential: the factor is -Inf: want a finite number of at least 1"},
		{backoff.List(), "List has no waits: want one or more"},
		{backoff.List(s, -s, -ms), "List: wait 2 is -1s: want 0 or more\nList: wait 3 is -1ms: want 0 or more"},
		{backoff.Func(nil), "Func has a nil function: want one that returns a window"},
		{backoff.Constant(s).Then(-1, backoff.Constant(s)), "Then comes after -1 waits: want 0 or more"},
		{backoff.Constant(s).Cap(-s), "Cap is -1s: want 0 or more"},
		{backoff.Constant(s).Cap(-s).Cap(2 * s), "Cap is -1s: want 0 or more"},
		{backoff.Constant(s).Floor(-s), "Floor is -1s: want 0 or more"},
		{backoff.Constant(s).Floor(-s).Floor(2 * s), "Floor is -1s: want 0 or more"},
		{backoff.Constant(s).Floor(s).Floor(-s), "Floor is -1s: want 0 or more"},
		{backoff.Constant(s).Cap(ms), "Cap is 1ms, below the first wait of Constant, 1s: want a cap of at least that, or a shorter first wait"},
		{backoff.List(s, ms).Cap(ms), "Cap is 1ms, below the first wait of List, 1s: want a cap of at least that, or a shorter first wait"},
		{backoff.Constant(ms).Then(1, backoff.Constant(s)).Cap(ms), "Cap is 1ms, below the first wait of Constant, 1s: want a cap of at least that, or a shorter first wait"},
		{backoff.Constant(ms).Cap(s).Floor(2 * s), "Floor is 2s, above the cap of 1s: want a floor of at most that"},
		{backoff.Constant(ms).Floor(2 * s).Cap(s), "Floor is 2s, above the cap of 1s: want a floor of at most that"},
		{backoff.Constant(ms).Cap(s).Then(1, backoff.Constant(ms)).Floor(2 * s), "Floor is 2s, above the cap of 1s: want a floor of at most that"},
		{backoff.Constant(ms).AdditiveJitter(2 * s).Cap(s), "AdditiveJitter is 2s, above the cap of 1s: want a jitter of at most that"},
		{backoff.Constant(ms).Cap(s).AdditiveJitter(2 * s), "AdditiveJitter is 2s, above the cap of 1s: want a jitter of at most that"},
		{backoff.Constant(ms).Cap(s).Then(1, backoff.Constant(ms)).AdditiveJitter(2 * s), "AdditiveJitter is 2s, above the cap of 1s: want a jitter of at most that"},
		{backoff.Constant(ms).FullJitter().AdditiveJitter(2 * s).Cap(s), "Constant has FullJitter and AdditiveJitter: want one jitter\nAdditiveJitter is 2s, above the cap of 1s: want a jitter of at most that"},
		{backoff.Constant(ms).AdditiveJitter(-s), "AdditiveJitter is -1s: want 0 or more"},
		{backoff.Constant(ms).SpringJitter(-s), "SpringJitter is -1s: want 0 or more"},
		{backoff.Constant(ms).ProportionalJitter(1.5), "ProportionalJitter: the fraction is 1.5: want 0 to 1"},
		{backoff.Constant(ms).ProportionalJitter(-0.5), "ProportionalJitter: the fraction is -0.5: want 0 to 1"},
		{backoff.Constant(ms).ProportionalJitter(math.NaN()), "ProportionalJitter: the fraction is NaN: want 0 to 1"},
		{backoff.Constant(ms).FullJitter().FullJitter(), "Constant has FullJitter and FullJitter: want one jitter"},
		{backoff.Constant(ms).ProportionalJitter(2).AdditiveJitter(-s).EqualJitter(), "ProportionalJitter: the fraction is 2: want 0 to 1\nAdditiveJitter is -1s: want 0 or more\nConstant has ProportionalJitter and AdditiveJitter and EqualJitter: want one jitter"},
		{backoff.Constant(ms).EqualJitter().Then(1, backoff.Constant(ms)).FullJitter(), "Constant has FullJitter and EqualJitter: want one jitter"},
		{backoff.Decorrelated(ms).FullJitter(), "Decorrelated has FullJitter: want no jitter, for it is a window already"},
		{backoff.Func(func(int) (lo, hi time.Duration) { return 0, 0 }).EqualJitter(), "Func has EqualJitter: want no jitter, for it is a window already"},
		{backoff.Constant(ms).Then(1, backoff.Decorrelated(ms)).SpringJitter(ms), "Decorrelated has SpringJitter: want no jitter, for it is a window already"},
		{backoff.Exponential(-s, 0.5).Cap(-ms).Floor(-ms), "Cap is -1ms: want 0 or more\nFloor is -1ms: want 0 or more\nExponential: the first wait is -1s: want 0 or more\nExponential: the factor is 0.5: want a finite number of at least 1"},
	} {
		want := "backoff: " + strings.ReplaceAll(c.want, "\n", "\nbackoff: ")
		require.EqualError(t, c.strategy.Err(), want)
		for _, n := range []int{0, 1, 2, 100} {
			assert.Zero(t, c.strategy.Delay(n, longest, math.MaxUint64), "a faulty strategy waits 0: %s", want)
			lo, hi := c.strategy.Bounds(n)
			assert.Zero(t, lo+hi)
		}
	}
}

func TestSettingsAtTheirLimitsAreNoFaults(t *testing.T) {
	for _, s := range []backoff.Strategy{
		{}, backoff.Constant(0).Cap(0).Floor(0), backoff.Constant(longest).Cap(longest).Floor(longest),
		backoff.Exponential(0, 1), backoff.Exponential(longest, math.MaxFloat64),
		backoff.Constant(1).Cap(2).AdditiveJitter(2), backoff.Constant(1).SpringJitter(longest).Cap(1),
		backoff.Constant(1).ProportionalJitter(0), backoff.Constant(1).ProportionalJitter(1),
		backoff.Constant(1).ProportionalJitter(math.Copysign(0, -1)),
		backoff.Func(func(int) (lo, hi time.Duration) { return longest, longest }).Cap(1),
		backoff.Decorrelated(0).Then(0, backoff.List(0)).Cap(0),
	} {
		require.NoError(t, s.Err())
	}
}
