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

// ownHint is an error type with a hint of its own.
type ownHint struct {
	wait  time.Duration
	given bool
}

func (h ownHint) Error() string                     { return "own" }
func (h ownHint) RetryAfter() (time.Duration, bool) { return h.wait, h.given }

// hinted draws an error tree with any hints in it, and the greatest of them.
func hinted(depth int) *rapid.Generator[error] {
	return rapid.Custom(func(t *rapid.T) error {
		wait := time.Duration(rapid.OneOf(
			rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, int64(time.Minute), math.MaxInt64 - 1, math.MaxInt64}), rapid.Int64(),
		).Draw(t, "hint"))
		var none *wrapper
		kinds := []func() error{
			func() error { return errBoom },
			func() error { return ownHint{wait, true} },
			func() error { return ownHint{wait, false} },
			func() error { return none },
		}
		if depth > 0 {
			kinds = append(kinds,
				func() error { return retry.After(wait, hinted(depth-1).Draw(t, "below")) },
				func() error { return fmt.Errorf("wrapped: %w", hinted(depth-1).Draw(t, "below")) },
				func() error {
					return errors.Join(hinted(depth-1).Draw(t, "left"), nil, hinted(depth-1).Draw(t, "right"))
				},
			)
		}
		return kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")]()
	})
}

func TestAHostileHintStaysWithinItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		err := hinted(4).Draw(t, "error")
		limit := time.Duration(rapid.Int64Min(1).Draw(t, "max"))
		s := rapid.SampledFrom([]backoff.Strategy{
			{}, backoff.Constant(time.Second).FullJitter(), backoff.Constant(math.MaxInt64).EqualJitter(), backoff.Decorrelated(time.Minute),
		}).Draw(t, "strategy")
		mode := rapid.SampledFrom([]retry.HintMode{retry.HintRefuse, retry.HintClamp, retry.HintIgnore}).Draw(t, "mode")
		p := retry.New().MaxRetries(retry.Unlimited).Backoff(s).Hints(mode, limit)
		f := retry.Failure{Err: err, Retries: rapid.IntMin(0).Draw(t, "retries"), Draw: rapid.Uint64().Draw(t, "draw")}
		d := p.Next(f)
		lo, hi := s.Bounds(min(f.Retries, math.MaxInt-1) + 1)
		if mode != retry.HintRefuse {
			require.True(t, d.Retry)
		}
		if !d.Retry {
			require.Equal(t, retry.HintTooLong, d.Reason)
			return
		}
		top := limit + (hi - lo)
		if top < 0 {
			top = math.MaxInt64 // saturated
		}
		require.GreaterOrEqual(t, d.Wait, d.Drawn, "a hint only lengthens")
		require.LessOrEqual(t, d.Wait, max(hi, top))
		if mode == retry.HintIgnore {
			require.Equal(t, d.Drawn, d.Wait)
		}
		if d.Source == retry.FromHint {
			require.Greater(t, d.Wait, d.Drawn)
		}
	})
}

func TestOfSeveralHintsTheGreatestCounts(t *testing.T) {
	const s = time.Second
	for _, err := range []error{
		retry.After(9*s, retry.After(2*s, errBoom)),
		retry.After(2*s, retry.After(9*s, errBoom)),
		errors.Join(retry.After(9*s, errBoom), retry.After(2*s, errBoom)),
		errors.Join(retry.After(2*s, errBoom), errOther, fmt.Errorf("wrapped: %w", retry.After(9*s, errBoom))),
		retry.After(-s, errors.Join(ownHint{9 * s, true}, ownHint{99 * s, false}, nil)),
	} {
		assert.Equal(t, 9*s, retry.New().Next(retry.Failure{Err: err}).Wait, "%v", err)
	}
	hidden := errors.Join(retry.After(9*s, errBoom), fmt.Errorf("wrapped: %w", retry.Permanent(errOther)))
	assert.Equal(t, retry.NotRetryable, retry.New().Next(retry.Failure{Err: hidden}).Reason)
}

func TestTheThreeModesOfHints(t *testing.T) {
	const s = time.Second
	p := retry.New().Backoff(backoff.Constant(10 * s).EqualJitter()) // [5s, 10s)
	for _, c := range []struct {
		mode   retry.HintMode
		hint   time.Duration
		want   time.Duration
		source retry.Source
		reason retry.Reason
	}{
		{retry.HintRefuse, 30 * s, 32500 * time.Millisecond, retry.FromHint, 0},
		{retry.HintRefuse, 60 * s, 62500 * time.Millisecond, retry.FromHint, 0},
		{retry.HintRefuse, 60*s + 1, 0, 0, retry.HintTooLong},
		{retry.HintClamp, 90 * s, 62500 * time.Millisecond, retry.FromHint, 0},
		{retry.HintIgnore, 90 * s, 7500 * time.Millisecond, retry.FromBackoff, 0},
		{retry.HintRefuse, 5 * s, 7500 * time.Millisecond, retry.FromBackoff, 0},
		{retry.HintRefuse, 1 * s, 7500 * time.Millisecond, retry.FromBackoff, 0},
		{retry.HintRefuse, 0, 7500 * time.Millisecond, retry.FromBackoff, 0},
		{retry.HintRefuse, -s, 7500 * time.Millisecond, retry.FromBackoff, 0},
	} {
		d := p.Hints(c.mode, 60*s).Next(retry.Failure{Err: retry.After(c.hint, errBoom), Draw: 1 << 63})
		assert.Equal(t, c.want, d.Wait, "%v %v", c.mode, c.hint)
		assert.Equal(t, c.source, d.Source)
		assert.Equal(t, c.reason, d.Reason)
	}
}

func TestTheCapDoesNotLimitAHintButTheBudgetsDo(t *testing.T) {
	const s = time.Second
	p := retry.New().Backoff(backoff.Constant(s).Cap(3 * s))
	f := retry.Failure{Err: retry.After(60*s, errBoom)}
	assert.Equal(t, 60*s, p.Next(f).Wait)
	assert.Equal(t, retry.TimeWouldExceed, p.MaxElapsed(59*s).Next(f).Reason)
	f.Deadline, f.Left = true, 59*s
	assert.Equal(t, retry.DeadlineWouldExceed, p.Next(f).Reason)
}

func TestAHintIsNotFedBackToDecorrelatedWaits(t *testing.T) {
	p := retry.New().MaxRetries(9).Backoff(backoff.Decorrelated(time.Second))
	d := p.Next(retry.Failure{Err: retry.After(time.Minute, errBoom), Draw: 1 << 63})
	assert.Equal(t, 61*time.Second, d.Wait)
	assert.Equal(t, 2*time.Second, d.Drawn, "the Prev of the next failure")
}

// A server tells 10,000 clients to come back after 30s: they come after it, not
// before, and spread over the width of the jitter.
func TestClientsWithTheSameHintSpreadUpwardOnly(t *testing.T) {
	p := retry.New().Backoff(backoff.Constant(10 * time.Second).FullJitter())
	seconds := map[time.Duration]int{}
	for i := range uint64(10_000) {
		d := p.Next(retry.Failure{Err: retry.After(30*time.Second, errBoom), Draw: i * (math.MaxUint64 / 10_000)})
		require.GreaterOrEqual(t, d.Wait, 30*time.Second)
		require.Less(t, d.Wait, 40*time.Second)
		seconds[d.Wait.Truncate(time.Second)]++
	}
	for s := 30 * time.Second; s < 40*time.Second; s += time.Second {
		assert.InDelta(t, 1000, seconds[s], 1)
	}
}

// FuzzHint tries every hint against every limit and jitter.
func FuzzHint(f *testing.F) {
	f.Add(int64(30e9), int64(60e9), int64(1e9), uint64(1<<63), uint8(0))
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), uint64(math.MaxUint64), uint8(1))
	f.Add(int64(math.MinInt64), int64(1), int64(0), uint64(0), uint8(2))
	f.Fuzz(func(t *testing.T, hint, limit, first int64, draw uint64, mode uint8) {
		s := backoff.Constant(time.Duration(first)).FullJitter()
		p := retry.New().Backoff(s).Hints(retry.HintMode(mode), time.Duration(limit))
		d := p.Next(retry.Failure{Err: errors.Join(errBoom, retry.After(time.Duration(hint), errBoom)), Draw: draw})
		switch {
		case p.Err() != nil:
			if d.Reason != retry.Refused {
				t.Fatalf("a faulty policy decides %+v", d)
			}
		case d.Retry && (d.Wait < d.Drawn || d.Wait < 0 || d.Wait > max(sum(time.Duration(limit), time.Duration(first)), time.Duration(first))):
			t.Fatalf("hint %v, limit %v, first %v: %+v", hint, limit, first, d)
		case d.Retry && hint > 0 && hint <= limit && retry.HintMode(mode) != retry.HintIgnore && d.Wait < time.Duration(hint):
			t.Fatalf("hint %v was not followed: %+v", hint, d)
		}
	})
}

func sum(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// lastingError says itself that no retry can help, or that one can.
type lastingError struct{ lasts bool }

func (e *lastingError) Error() string   { return "lasting" }
func (e *lastingError) Permanent() bool { return e.lasts }

func TestAnErrorTypeCanBePermanent(t *testing.T) {
	var none *lastingError
	for err, want := range map[error]retry.Reason{
		&lastingError{true}:  retry.NotRetryable,
		&lastingError{false}: 0,
		none:                 0, // not asked
		fmt.Errorf("wrapped: %w", &lastingError{true}): retry.NotRetryable,
		errors.Join(errBoom, &lastingError{true}):      retry.NotRetryable,
		errors.Join(errBoom, &lastingError{false}):     0,
	} {
		assert.Equal(t, want, retry.New().Next(retry.Failure{Err: err}).Reason)
	}
}
