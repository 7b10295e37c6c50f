package retry_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

// The order table: what is true of a failure, in the order in which it ends the
// run. Each row changes a policy and a failure, so that its condition holds and
// no condition of another row changes.
var orderTable = []struct {
	reason retry.Reason
	name   string
	hold   func(p *retry.Policy, f *retry.Failure)
}{
	{retry.Succeeded, "no error", func(_ *retry.Policy, f *retry.Failure) { f.Err = nil }},
	{retry.Cancelled, "context ended", func(_ *retry.Policy, f *retry.Failure) { f.Ended = true }},
	{retry.StaleFuture, "stale future", func(_ *retry.Policy, f *retry.Failure) { f.Stale = true }},
	{retry.NotRetryable, "permanent", func(_ *retry.Policy, f *retry.Failure) { f.Err = wrapped(retry.Permanent(f.Err)) }},
	{retry.NotRetryable, "excepted", func(p *retry.Policy, _ *retry.Failure) { *p = p.Except(retry.Is(errBoom)) }},
	{retry.NotRetryable, "not included", func(p *retry.Policy, _ *retry.Failure) { *p = p.On(retry.Is(errOther)) }},
	{retry.NotRetryable, "predicate", func(p *retry.Policy, _ *retry.Failure) { *p = p.If(func(error) bool { return false }) }},
	{retry.TimeSpent, "elapsed", func(_ *retry.Policy, f *retry.Failure) { f.Elapsed = time.Hour }},
	{retry.Exhausted, "retries used", func(_ *retry.Policy, f *retry.Failure) { f.Retries = 5 }},
	{retry.HintTooLong, "hint", func(_ *retry.Policy, f *retry.Failure) {
		if f.Err != nil {
			f.Err = wrapped(retry.After(2*time.Minute, f.Err))
		}
	}},
	{retry.TimeWouldExceed, "no time for the wait", func(_ *retry.Policy, f *retry.Failure) { f.Elapsed = max(f.Elapsed, time.Hour-time.Second) }},
	{retry.DeadlineWouldExceed, "deadline", func(_ *retry.Policy, f *retry.Failure) { f.Left = time.Second }},
}

var errOther = errors.New("other")

func wrapped(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("wrapped: %w", err)
}

// orderBase is a policy and a failure for which no row of the table holds.
func orderBase() (retry.Policy, retry.Failure) {
	p := retry.New().MaxRetries(5).Backoff(backoff.Constant(time.Second)).MaxElapsed(time.Hour).Hints(retry.HintRefuse, time.Minute)
	return p, retry.Failure{Err: errBoom, Retries: 4, Elapsed: time.Hour - time.Second - 1, Left: time.Second + 1, Deadline: true}
}

func TestTheFirstConditionThatHoldsEndsTheRun(t *testing.T) {
	p, f := orderBase()
	require.Equal(t, retry.Decision{Retry: true, Wait: time.Second, Drawn: time.Second}, p.Next(f))
	rapid.Check(t, func(t *rapid.T) {
		p, f := orderBase()
		want := retry.Reason(0)
		for _, row := range orderTable {
			if rapid.Bool().Draw(t, row.name) {
				row.hold(&p, &f)
				if want == 0 {
					want = row.reason
				}
			}
		}
		d := p.Next(f)
		require.Equal(t, want, d.Reason)
		require.Equal(t, want == 0, d.Retry)
		if !d.Retry {
			require.Zero(t, d.Wait+d.Drawn)
		}
	})
}

func TestEachConditionAloneEndsTheRun(t *testing.T) {
	for _, row := range orderTable {
		p, f := orderBase()
		row.hold(&p, &f)
		assert.Equal(t, retry.Decision{Reason: row.reason}, p.Next(f), row.name)
	}
}

func TestAPolicyWithAFaultRefusesEveryFailure(t *testing.T) {
	assert.Equal(t, retry.Decision{Reason: retry.Refused}, retry.New().MaxRetries(-1).Next(retry.Failure{Err: errBoom}))
}

func TestNextGivesTheWaitOfTheStrategy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := time.Duration(rapid.Int64Range(1, math.MaxInt64/8).Draw(t, "first"))
		s := rapid.SampledFrom([]backoff.Strategy{
			backoff.Exponential(first, 2).FullJitter(), backoff.Decorrelated(first), backoff.Linear(first, 1).SpringJitter(first), {},
		}).Draw(t, "strategy")
		n := rapid.OneOf(rapid.IntRange(-1, 100), rapid.Just(math.MaxInt)).Draw(t, "retries")
		f := retry.Failure{Err: errBoom, Retries: n, Prev: time.Duration(rapid.Int64().Draw(t, "prev")), Draw: rapid.Uint64().Draw(t, "draw")}
		d := retry.New().MaxRetries(retry.Unlimited).Backoff(s).Next(f)
		if n < math.MaxInt {
			n++
		}
		want := s.Delay(n, f.Prev, f.Draw)
		require.Equal(t, retry.Decision{Retry: true, Wait: want, Drawn: want}, d)
	})
}

func TestUnlimitedIsComparedAndNotCountedDown(t *testing.T) {
	f := retry.Failure{Err: errBoom, Retries: math.MaxInt}
	assert.True(t, retry.New().MaxRetries(retry.Unlimited).Next(f).Retry)
	assert.Equal(t, retry.Exhausted, retry.New().MaxRetries(retry.Unlimited-1).Next(f).Reason)
}

func TestTheDefaults(t *testing.T) {
	for _, p := range []retry.Policy{{}, retry.New()} {
		require.NoError(t, p.Err())
		for retries := range 3 {
			assert.Equal(t, retry.Decision{Retry: true, Wait: time.Second, Drawn: time.Second}, p.Next(retry.Failure{Err: errBoom, Retries: retries}))
		}
		assert.Equal(t, retry.Exhausted, p.Next(retry.Failure{Err: errBoom, Retries: 3}).Reason)
		hint := retry.Failure{Err: retry.After(5*time.Minute, errBoom)}
		assert.Equal(t, retry.Decision{Retry: true, Wait: 5 * time.Minute, Drawn: time.Second, Source: retry.FromHint}, p.Next(hint))
		assert.Equal(t, retry.HintTooLong, p.Next(retry.Failure{Err: retry.After(5*time.Minute+1, errBoom)}).Reason)
	}
}

func TestAWaitOfNothingThatIsGivenIsNotTheDefault(t *testing.T) {
	for _, s := range []backoff.Strategy{{}, backoff.Constant(0), backoff.Strategy{}.Cap(time.Second)} {
		d := retry.New().Backoff(s).Next(retry.Failure{Err: errBoom})
		assert.Equal(t, retry.Decision{Retry: true}, d)
	}
}

func TestNothingOverflows(t *testing.T) {
	const longest = time.Duration(math.MaxInt64)
	p := retry.New().Backoff(backoff.Constant(longest))
	assert.Equal(t, longest, p.Next(retry.Failure{Err: errBoom}).Wait)
	assert.Equal(t, retry.TimeWouldExceed, p.MaxElapsed(time.Second).Next(retry.Failure{Err: errBoom, Elapsed: time.Millisecond}).Reason)
	hint := retry.Failure{Err: retry.After(longest, errBoom), Draw: math.MaxUint64}
	jittered := p.Backoff(backoff.Constant(longest).FullJitter()).Hints(retry.HintClamp, longest)
	assert.Equal(t, longest, jittered.Next(hint).Wait)
}
