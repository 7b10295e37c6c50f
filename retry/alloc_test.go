package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

var (
	errBoom = errors.New("boom")
	lasting = retry.Permanent(errBoom)
	noWait  = retry.New().Backoff(backoff.Strategy{})
)

func succeed(context.Context) (int, error) { return 1, nil }
func fail(context.Context) (int, error)    { return 0, errBoom }
func refuse(context.Context) (int, error)  { return 0, lasting }

// thirdTime fails twice, then succeeds, and starts again.
func thirdTime() func(context.Context) (int, error) {
	n := 0
	return func(context.Context) (int, error) {
		if n++; n%3 != 0 {
			return 0, errBoom
		}
		return n, nil
	}
}

// runs are the runs that allocate nothing.
func runs(ctx context.Context) map[string]func() {
	third := thirdTime()
	onBoom := noWait.On(retry.Is(errBoom))
	var sink int
	return map[string]func(){
		"success":          func() { sink, _ = retry.Do(ctx, retry.Policy{}, succeed) },
		"success of Run":   func() { _ = retry.Run(ctx, retry.Policy{}, func(context.Context) error { sink++; return nil }) },
		"two failures":     func() { sink, _ = retry.Do(ctx, noWait, third) },
		"exhausted":        func() { sink, _ = retry.Do(ctx, noWait, fail) },
		"permanent":        func() { sink, _ = retry.Do(ctx, noWait, refuse) },
		"matchers":         func() { sink, _ = retry.Do(ctx, onBoom, fail) },
		"policy at a call": func() { sink, _ = retry.Do(ctx, atTheCall(), succeed) },
		"policy at a failing call": func() {
			sink, _ = retry.Do(ctx, retry.New().MaxRetries(2).Backoff(backoff.Exponential(1, 2).Cap(9).FullJitter().Floor(0)).MaxRetries(0), fail)
		},
		"MaxElapsed at a call": func() { sink, _ = retry.Do(ctx, noWait.MaxElapsed(time.Second), fail) },
		"Hints at a call":      func() { sink, _ = retry.Do(ctx, noWait.Hints(retry.HintClamp, time.Second), fail) },
		"Rand at a call":       func() { sink, _ = retry.Do(ctx, noWait.Rand(func() uint64 { return 0 }), fail) },
	}
}

// atTheCall is inlined into its caller, as a policy written there would be.
func atTheCall() retry.Policy {
	return retry.New().MaxRetries(5).Backoff(backoff.Exponential(100*time.Millisecond, 2).Cap(5 * time.Second).FullJitter())
}

func TestWhatIsPromisedToAllocateNothingAllocatesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, run := range runs(ctx) {
		assert.Zero(t, testing.AllocsPerRun(100, run), name)
	}
	wrap := noWait.WrapErrors()
	assert.Equal(t, 1.0, testing.AllocsPerRun(100, func() { _, _ = retry.Do(ctx, wrap, fail) }), "one *Error")
}

func TestAPolicyIsSmall(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(retry.Policy{}), uintptr(64))
}
