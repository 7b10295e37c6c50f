package future_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

// A try is what one try of a hedged call does.
type try struct {
	takes time.Duration
	err   error
}

// hedge plays the tries in virtual time: the last repeats. It returns when each began.
func hedge(ctx context.Context, h future.HedgePolicy, tries ...try) (began []time.Duration, v int, err error, took time.Duration) { //nolint:staticcheck // the time comes last
	start := time.Now()
	var mu sync.Mutex
	v, err = future.Hedge(ctx, h, func(ctx context.Context) (int, error) {
		mu.Lock()
		n := len(began)
		began = append(began, time.Since(start))
		mu.Unlock()
		it := tries[min(n, len(tries)-1)]
		select {
		case <-time.After(it.takes):
			return n + 1, it.err
		case <-ctx.Done():
			return n + 1, ctx.Err()
		}
	}).Await(context.Background())
	return began, v, err, time.Since(start)
}

func TestHedge(t *testing.T) {
	const s = time.Second
	final := retry.Permanent(errOther)
	for name, c := range map[string]struct {
		policy future.HedgePolicy
		tries  []try
		began  []time.Duration
		value  int
		err    error
		took   time.Duration
	}{
		"fast enough":                            {future.HedgeAfter(2 * s), []try{{s, nil}}, []time.Duration{0}, 1, nil, s},
		"the second is faster":                   {future.HedgeAfter(2 * s), []try{{9 * s, nil}, {s, nil}}, []time.Duration{0, 2 * s}, 2, nil, 3 * s},
		"the first is faster all the same":       {future.HedgeAfter(2 * s), []try{{3 * s, nil}, {9 * s, nil}}, []time.Duration{0, 2 * s}, 1, nil, 3 * s},
		"an error starts the next at once":       {future.HedgeAfter(5 * s), []try{{s, errBoom}, {s, nil}}, []time.Duration{0, s}, 2, nil, 2 * s},
		"the next is due after that":             {future.HedgeAfter(5 * s).MaxHedges(2), []try{{s, errBoom}, {9 * s, nil}, {s, nil}}, []time.Duration{0, s, 6 * s}, 3, nil, 7 * s},
		"B134: an error does not end the others": {future.HedgeAfter(2 * s), []try{{3 * s, errBoom}, {9 * s, nil}}, []time.Duration{0, 2 * s}, 2, nil, 11 * s},
		"all fail: the last to fail":             {future.HedgeAfter(2 * s), []try{{9 * s, errBoom}, {s, errOther}}, []time.Duration{0, 2 * s}, 1, errBoom, 9 * s},
		"permanent ends all":                     {future.HedgeAfter(2 * s).MaxHedges(5), []try{{9 * s, nil}, {s, final}}, []time.Duration{0, 2 * s}, 2, errOther, 3 * s},
		"B133: without hedges the base is whole": {future.HedgePolicy{}, []try{{9 * s, nil}}, []time.Duration{0}, 1, nil, 9 * s},
		"… and its failure its own":              {future.HedgeAfter(s).MaxHedges(0), []try{{9 * s, errBoom}}, []time.Duration{0}, 1, errBoom, 9 * s},
		"together":                               {future.HedgeAfter(0).MaxHedges(2), []try{{9 * s, nil}, {5 * s, nil}, {7 * s, nil}}, []time.Duration{0, 0, 0}, 2, nil, 5 * s},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, v, err, took := hedge(t.Context(), c.policy, c.tries...)
				assert.Equal(t, c.began, began)
				assert.Equal(t, c.value, v)
				assert.True(t, err == c.err, "%v", err)
				assert.Equal(t, c.took, took)
			})
		})
	}
}

func TestALosingTryIsCancelledAndWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		ended := false
		began := time.Now()
		v, err := future.Hedge(t.Context(), future.HedgeAfter(time.Second), func(ctx context.Context) (int, error) {
			if tries.Add(1) == 2 {
				return 7, nil
			}
			<-ctx.Done()
			assert.Equal(t, future.ErrLost, context.Cause(ctx))
			time.Sleep(time.Second)
			ended = true
			return 0, ctx.Err()
		}).Await(t.Context())
		assert.NoError(t, err)
		assert.Equal(t, 7, v)
		assert.True(t, ended)
		assert.Equal(t, 2*time.Second, time.Since(began))
	})
}

// B137: no try starts once the context has ended, also at the instant of the timer.
func TestNoTryStartsAfterTheEndOfTheContext(t *testing.T) {
	for range *interleavings / 50 {
		synctest.Test(t, func(t *testing.T) {
			for i := range 50 {
				at := []time.Duration{-1, 1000, 1500, 2000}[i%4] * time.Millisecond
				ctx, cancel := context.WithCancelCause(t.Context())
				stop := endAt(at, i%5, func() { cancel(errOther) })
				start := time.Now()
				_, err := future.Hedge(ctx, future.HedgeAfter(time.Second).MaxHedges(5), func(ctx context.Context) (int, error) {
					require.LessOrEqual(t, time.Since(start), at)
					<-ctx.Done()
					return 0, fmt.Errorf("%w: %w", errBoom, ctx.Err())
				}).Await(context.Background())
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, errOther)
				require.Equal(t, at > 0, errors.Is(err, errBoom), "what the last try says: %v %v", at, err)
				require.Equal(t, max(at, 0), time.Since(start))
				stop()
			}
		})
	}
}

// Any script of tries against a model.
func TestHedgeAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := time.Duration(rapid.IntRange(1, 5).Draw(t, "delay")) * time.Second
		most := rapid.IntRange(0, 4).Draw(t, "hedges")
		tries := make([]try, most+1)
		for i := range tries { // no two ends at one instant, nor an end at a start
			tries[i].takes = time.Duration(rapid.IntRange(0, 9).Draw(t, "takes"))*time.Second + time.Duration(1<<i)*time.Millisecond
			tries[i].err = rapid.SampledFrom([]error{nil, errBoom, errBoom, retry.Permanent(errOther)}).Draw(t, "err")
		}
		rapid.SyncTest(t, func(t *rapid.T) {
			began, v, err, took := hedge(context.Background(), future.HedgeAfter(delay).MaxHedges(most), tries...)
			wantBegan, wantV, wantErr, wantTook := modelHedge(delay, tries)
			require.Equal(t, wantBegan, began)
			require.Equal(t, wantV, v)
			require.Equal(t, wantErr, err)
			require.Equal(t, wantTook, took)
		})
	})
}

// modelHedge says what Hedge is to do, with a number for a clock.
func modelHedge(delay time.Duration, tries []try) (began []time.Duration, v int, err error, took time.Duration) { //nolint:staticcheck // as hedge
	const never = time.Duration(math.MaxInt64)
	ends := map[int]time.Duration{0: tries[0].takes}
	began, due := []time.Duration{0}, delay
	for {
		next, now := -1, never
		for i, at := range ends {
			if at < now {
				next, now = i, at
			}
		}
		start := len(began) < len(tries) && due <= now
		if start {
			now = due
		} else {
			delete(ends, next)
			switch e := tries[next].err; {
			case e == nil:
				return began, next + 1, nil, now
			case errors.Is(e, errOther):
				return began, next + 1, errOther, now
			case len(began) < len(tries):
				start = true
			case len(ends) == 0:
				return began, next + 1, e, now
			}
		}
		if start {
			ends[len(began)] = now + tries[len(began)].takes
			began = append(began, now)
			due = now + delay
		}
	}
}

// The synthetic service: 99 % of its calls take about 5ms (lognormal), 1 % up to a second.
func service(random *rand.Rand) time.Duration {
	if random.IntN(100) == 0 {
		return 100*time.Millisecond + time.Duration(random.Int64N(int64(900*time.Millisecond)))
	}
	return time.Duration(5e6 * math.Exp(0.3*random.NormFloat64()))
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)))]
}

func TestAHedgeCutsTheTailForATwentiethOfLoad(t *testing.T) {
	const calls = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	alone := make([]time.Duration, calls)
	for i := range alone {
		alone[i] = service(random)
	}
	slices.Sort(alone)
	p95 := quantile(alone, 0.95)
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		var mu sync.Mutex // of random
		hedged := make([]time.Duration, calls)
		for i := range hedged {
			began := time.Now()
			_, err := future.Hedge(t.Context(), future.HedgeAfter(p95), func(ctx context.Context) (int, error) {
				tries.Add(1)
				mu.Lock()
				timer := time.NewTimer(service(random))
				mu.Unlock()
				defer timer.Stop()
				select {
				case <-timer.C:
					return 1, nil
				case <-ctx.Done():
					return 0, ctx.Err()
				}
			}).Await(t.Context())
			require.NoError(t, err)
			hedged[i] = time.Since(began)
		}
		slices.Sort(hedged)
		extra := float64(tries.Load()-calls) / calls
		before, after := quantile(alone, 0.999), quantile(hedged, 0.999)
		t.Logf("p95 %v; extra load %.2f%%; p99.9 %v alone, %v hedged", p95, 100*extra, before, after)
		assert.InDelta(t, 0.05, extra, 0.003)
		assert.Greater(t, before, 850*time.Millisecond)
		assert.Less(t, after, 20*time.Millisecond)
	})
}

// B113: losers that end after the winner leave no goroutine, or the bubble would fail.
func TestHedgeLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			_, err := future.Hedge(t.Context(), future.HedgeAfter(time.Millisecond).MaxHedges(3), func(context.Context) (int, error) {
				time.Sleep(time.Second)
				return 1, nil
			}).Await(t.Context())
			assert.NoError(t, err)
		}
	})
}
