package future_test

import (
	"context"
	"math"
	"math/rand/v2"
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
	"github.com/dacapo-go/dacapo/retry/budget"
)

// The law that its documentation states, for any calls whatever.
func TestAQuantileKeepsTheShareOfLongerCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hundredths := rapid.IntRange(1, 99).Draw(t, "p")
		p := float64(hundredths) / 100
		first := time.Duration(rapid.Int64Range(1e6, 1e10).Draw(t, "first"))
		q := future.NewQuantile(p, first)
		longer, n := 0, 0
		for _, l := range rapid.SliceOfN(rapid.Bool(), 0, 200).Draw(t, "longer") {
			q.Observe(l)
			if n++; l {
				longer++
			}
		}
		want := (1-p)*float64(n) + 16*math.Log(float64(q.Delay())/float64(first))
		// p is used to a millionth, and the delay is whole nanoseconds.
		require.InDelta(t, want, longer, 1e-6*float64(n)+16/float64(q.Delay())+1e-6)
	})
}

func TestAQuantileFindsTheQuantileOfAnyService(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() time.Duration{
		"exponential": func() time.Duration { return time.Duration(1e7 * random.ExpFloat64()) },
		"uniform":     func() time.Duration { return time.Duration(1e8 * random.Float64()) },
		"synthetic":   func() time.Duration { return service(random) },
	} {
		for _, p := range []float64{0.5, 0.95, 0.99} {
			q := future.NewQuantile(p, time.Second)
			learn := func(n int) (longer int) {
				for range n {
					d := draw()
					if d > q.Delay() {
						longer++
						q.Observe(true)
					} else {
						q.Observe(false)
					}
				}
				return longer
			}
			learn(20_000)
			assert.InDelta(t, 1-p, float64(learn(100_000))/100_000, 0.002, "%s p%v: %v", name, p, q)
		}
	}
}

func TestAQuantileIsSafeForConcurrentUse(t *testing.T) {
	q, alone := future.NewQuantile(0.9, time.Second), future.NewQuantile(0.9, time.Second)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := range 100 {
				q.Observe(i%7 == 0)
				q.Delay()
			}
		})
		for i := range 100 {
			alone.Observe(i%7 == 0)
		}
	}
	wg.Wait()
	assert.Equal(t, alone.Delay(), q.Delay())
}

func TestAQuantileStaysAWait(t *testing.T) {
	up, down := future.NewQuantile(0.99, time.Hour), future.NewQuantile(0.01, time.Hour)
	for range 100_000 {
		up.Observe(true)
		down.Observe(false)
	}
	assert.Equal(t, time.Duration(1<<62), up.Delay())
	assert.Equal(t, time.Nanosecond, down.Delay())
}

func TestFaultsOfAQuantileAreTheHedges(t *testing.T) {
	for want, q := range map[string]*future.Quantile{
		"future: HedgeAt has a nil Quantile: want one made by NewQuantile": nil,
		"future: the share of NewQuantile is 0: want one above 0 and below 1, such as 0.95\n" +
			"future: the first delay of NewQuantile is 0s: want more than 0": {},
		"future: the share of NewQuantile is 1: want one above 0 and below 1, such as 0.95":     future.NewQuantile(1, 1),
		"future: the share of NewQuantile is NaN: want one above 0 and below 1, such as 0.95":   future.NewQuantile(math.NaN(), 1),
		"future: the share of NewQuantile is 1e-09: want one above 0 and below 1, such as 0.95": future.NewQuantile(1e-9, 1),
		"future: the first delay of NewQuantile is -1ns: want more than 0":                      future.NewQuantile(0.5, -1),
	} {
		assert.EqualError(t, q.Err(), want)
		assert.Equal(t, want, q.String())
		h := future.HedgeAt(q)
		assert.EqualError(t, h.Err(), want)
		_, err := future.Hedge(t.Context(), h, func(context.Context) (int, error) { return 1, nil }).Await(t.Context())
		assert.EqualError(t, err, want)
	}
	assert.Equal(t, "1 after p95, now 1s each", future.HedgeAt(future.NewQuantile(0.95, time.Second)).String())
}

// moved plays tries under a learned delay, and says how the delay moved.
func moved(t *testing.T, h func(*future.Quantile) future.HedgePolicy, tries ...try) string {
	q := future.NewQuantile(0.5, 2*time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, _, _, _ = hedge(ctx, h(q), tries...)
	switch d := q.Delay(); {
	case d > 2*time.Second:
		return "up"
	case d < 2*time.Second:
		return "down"
	}
	return "not"
}

func TestAHedgeLearnsWhatItKnows(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		want  string
		tries []try
	}{
		"fast":                            {"down", []try{{s, nil}}},
		"slow, and the second wins":       {"up", []try{{9 * s, nil}, {s, nil}}},
		"slow, and the first wins":        {"up", []try{{3 * s, nil}, {9 * s, nil}}},
		"an early failure says nothing":   {"not", []try{{s, errBoom}, {s, nil}}},
		"… also where the second is slow": {"not", []try{{s, errBoom}, {5 * s, nil}}},
		"a late failure was slow":         {"up", []try{{3 * s, errBoom}, {s, nil}}},
		"nor does a final answer":         {"not", []try{{s, retry.Permanent(errBoom)}}},
		"the caller's end is slow":        {"up", []try{{time.Hour, nil}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			assert.Equal(t, c.want, moved(t, future.HedgeAt, c.tries...), name)
		})
		synctest.Test(t, func(t *testing.T) { // it learns, too, where it may not hedge
			none := func(q *future.Quantile) future.HedgePolicy { return future.HedgeAt(q).MaxHedges(0) }
			assert.Equal(t, c.want, moved(t, none, c.tries[0]), name)
			refused := func(q *future.Quantile) future.HedgePolicy { return future.HedgeAt(q).Limit(noToken{}) }
			assert.Equal(t, c.want, moved(t, refused, c.tries[0]), name)
		})
	}
}

type noToken struct{}

func (noToken) Allow(context.Context, error) (int64, bool) { return 0, false }
func (noToken) Done(retry.Outcome)                         {}

func TestTheDelayIsWhatWasLearnedWhenTheCallBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := future.NewQuantile(0.5, time.Second)
		h := future.HedgeAt(q)
		for range 100 {
			d := q.Delay()
			began, _, _, _ := hedge(t.Context(), h, try{time.Hour, nil}, try{0, nil})
			require.Equal(t, []time.Duration{0, d}, began)
		}
		assert.Greater(t, q.Delay(), 20*time.Second)
	})
}

func TestWhatOthersLearnChangesNothingInACallThatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := future.NewQuantile(0.5, 2*time.Second)
		time.AfterFunc(time.Second, func() {
			for range 100 {
				q.Observe(true)
			}
		})
		began, _, _, _ := hedge(t.Context(), future.HedgeAt(q).MaxHedges(3), try{time.Hour, nil})
		assert.Equal(t, []time.Duration{0, 2 * time.Second, 4 * time.Second, 6 * time.Second}, began)
	})
}

// register is a limiter that notes what it is asked and told.
type register struct {
	mu      sync.Mutex
	answers []bool // the last repeats
	asked   []error
	done    []retry.Outcome
}

func (r *register) Allow(_ context.Context, err error) (int64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, err)
	return 7, r.answers[min(len(r.asked), len(r.answers))-1]
}

func (r *register) Done(o retry.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = append(r.done, o)
}

func TestAHedgeAsksItsLimiter(t *testing.T) {
	const s = time.Second
	yes, no := []bool{true}, []bool{false}
	slow := future.ErrSlow
	for name, c := range map[string]struct {
		answers []bool
		policy  future.HedgePolicy
		tries   []try
		began   []time.Duration
		err     error
		asked   []error
		reason  retry.Reason
	}{
		"not where the first is fast":        {no, future.HedgeAfter(2 * s), []try{{s, nil}}, []time.Duration{0}, nil, nil, retry.Succeeded},
		"before a hedge":                     {yes, future.HedgeAfter(2 * s), []try{{9 * s, nil}, {s, nil}}, []time.Duration{0, 2 * s}, nil, []error{slow}, retry.Succeeded},
		"B133: and the base goes on without": {no, future.HedgeAfter(2 * s), []try{{9 * s, nil}}, []time.Duration{0}, nil, []error{slow}, retry.Succeeded},
		"each time, and a refusal is a try":  {[]bool{false, true}, future.HedgeAfter(2 * s).MaxHedges(2), []try{{9 * s, nil}, {s, nil}}, []time.Duration{0, 4 * s}, nil, []error{slow, slow}, retry.Succeeded},
		"with the error after a failure":     {yes, future.HedgeAfter(2 * s), []try{{s, errBoom}, {s, nil}}, []time.Duration{0, s}, nil, []error{errBoom}, retry.Succeeded},
		"whose refusal leaves its error":     {no, future.HedgeAfter(2 * s), []try{{s, errBoom}}, []time.Duration{0}, errBoom, []error{errBoom}, retry.Throttled},
		"not after the last":                 {yes, future.HedgeAfter(2 * s), []try{{s, errBoom}}, []time.Duration{0, s}, errBoom, []error{errBoom}, retry.Exhausted},
		"nor after a final answer":           {yes, future.HedgeAfter(2 * s), []try{{s, retry.Permanent(errBoom)}}, []time.Duration{0}, errBoom, nil, retry.NotRetryable},
		"nor once the caller has gone":       {yes, future.HedgeAfter(time.Hour), []try{{time.Hour, nil}}, []time.Duration{0}, context.DeadlineExceeded, nil, retry.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &register{answers: c.answers}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began, _, err, _ := hedge(ctx, c.policy.Limit(l), c.tries...)
				assert.Equal(t, c.began, began)
				assert.ErrorIs(t, err, c.err)
				assert.Equal(t, c.asked, l.asked)
				assert.Equal(t, []retry.Outcome{{Reason: c.reason}}, l.done)
			})
		})
	}
}

func TestAHedgeThatDoesNotReturnHasNoReason(t *testing.T) {
	for _, work := range crashes {
		synctest.Test(t, func(t *testing.T) {
			l := &register{answers: []bool{true}}
			_, err := future.Hedge(t.Context(), future.HedgeAfter(time.Second).Limit(l), func(context.Context) (int, error) {
				work.crash()
				return 0, nil
			}).Await(t.Context())
			work.check(t, err)
			assert.Equal(t, []retry.Outcome{{}}, l.done)
		})
	}
}

// crashing is a limiter whose own code does not return.
type crashing struct {
	inAllow func()
	inDone  func()
	told    atomic.Int64
}

func (c *crashing) Allow(context.Context, error) (int64, bool) {
	if c.inAllow != nil {
		c.inAllow()
	}
	return 0, true
}

func (c *crashing) Done(retry.Outcome) {
	c.told.Add(1)
	if c.inDone != nil {
		c.inDone()
	}
}

// Nothing of a user's that does not return leaves a future unsettled, or a try behind.
func TestALimiterThatDoesNotReturnEndsWhatItLimits(t *testing.T) {
	for _, crash := range crashes {
		for _, l := range []*crashing{{inAllow: crash.crash}, {inDone: crash.crash}} {
			synctest.Test(t, func(t *testing.T) {
				f := future.Hedge(t.Context(), future.HedgeAfter(time.Second).Limit(l), func(ctx context.Context) (int, error) {
					<-ctx.Done()
					return 0, retry.Permanent(ctx.Err())
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if l.inAllow == nil {
					f = future.Hedge(ctx, future.HedgeAfter(time.Second).Limit(l), func(context.Context) (int, error) { return 1, nil })
				}
				_, err := f.Await(ctx)
				crash.check(t, err)
				assert.EqualValues(t, 1, l.told.Load())
			})
			for _, work := range crashes { // and so where the work does not return, either
				l.told.Store(0)
				synctest.Test(t, func(t *testing.T) {
					_, err := future.Retry(t.Context(), retry.New().Limit(l), func(context.Context) (int, error) {
						work.crash()
						return 0, nil
					}).Await(t.Context())
					work.check(t, err)
					assert.EqualValues(t, 1, l.told.Load())
				})
			}
			l.told.Store(0)
			synctest.Test(t, func(t *testing.T) {
				_, err := future.Retry(t.Context(), retry.New().Limit(l), func(context.Context) (int, error) { return 0, errBoom }).Await(t.Context())
				crash.check(t, err)
				assert.EqualValues(t, 1, l.told.Load())
			})
		}
	}
}

// With all servers slow, hedges are at most what the budget allows.
func TestHedgesStayWithinABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Default().Max(10))
		q := future.NewQuantile(0.95, time.Millisecond)
		var tries atomic.Int64
		const calls = 1000
		for range calls {
			_, err := future.Hedge(t.Context(), future.HedgeAt(q).Limit(b), func(ctx context.Context) (int, error) {
				tries.Add(1)
				select {
				case <-time.After(time.Minute):
					return 1, nil
				case <-ctx.Done():
					return 0, ctx.Err()
				}
			}).Await(t.Context())
			require.NoError(t, err)
		}
		assert.LessOrEqual(t, tries.Load()-calls, int64(10+calls/10))
		assert.Greater(t, q.Delay(), 50*time.Second, "and the delay learns")
	})
}
