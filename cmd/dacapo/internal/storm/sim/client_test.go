package sim

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

var (
	errBoom  = errors.New("boom")
	errFinal = retry.Permanent(errBoom)
)

// script is what a run's calls do: the last repeats.
type script []struct {
	Takes int // ms
	Kind  int // 0: success, 1: permanent; else a failure
}

func (s script) call(n int) (time.Duration, error) {
	c := s[min(n, len(s)-1)]
	return time.Duration(c.Takes) * time.Millisecond, []error{nil, errFinal, errBoom, errBoom, errBoom}[c.Kind]
}

// outcome is all that a run did.
type outcome struct {
	calls  []time.Duration // when each began
	ended  time.Duration
	reason retry.Reason
	tokens float64
}

// What the simulator does is what retry.Do does.
func TestAClientDoesWhatDoDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, rules := drawPolicy(t), drawRules(t)
		calls := rapid.SliceOfN(rapid.Make[struct {
			Takes int
			Kind  int
		}](), 1, 6).Draw(t, "calls")
		for i := range calls {
			calls[i].Takes, calls[i].Kind = abs(calls[i].Takes)%1000, abs(calls[i].Kind)%5
		}
		cancelAt := time.Duration(rapid.SampledFrom([]int{1e6, 1e6, 0, 700, 3000}).Draw(t, "cancel"))*time.Millisecond + 1
		simulated := simulate(p, rules, calls, cancelAt)
		rapid.SyncTest(t, func(t *rapid.T) {
			require.Equal(t, really(p, rules, calls, cancelAt), simulated)
		})
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

func drawPolicy(t *rapid.T) retry.Policy {
	p := retry.New().MaxRetries(rapid.IntRange(0, 5).Draw(t, "retries"))
	s := rapid.SampledFrom([]backoff.Strategy{
		{}, backoff.Constant(time.Second), backoff.Exponential(100*time.Millisecond, 2).Cap(time.Second).FullJitter(),
		backoff.Exponential(100*time.Millisecond, 3).EqualJitter(), backoff.Decorrelated(50 * time.Millisecond).Cap(time.Second),
	}).Draw(t, "strategy")
	p = p.Backoff(s)
	if limit := rapid.IntRange(0, 3).Draw(t, "max-elapsed"); limit > 0 {
		p = p.MaxElapsed(time.Duration(limit) * time.Second)
	}
	return p
}

func drawRules(t *rapid.T) budget.Config {
	return rapid.SampledFrom([]budget.Config{
		budget.Default().Max(2), budget.Default().Max(100), budget.GRPC().Max(8), budget.AWS().Max(30), budget.Finagle().Max(1),
	}).Draw(t, "budget")
}

func simulate(p retry.Policy, rules budget.Config, calls script, cancelAt time.Duration) (o outcome) {
	s := New(3)
	b := budget.New(rules)
	c := NewClient(s, p, b)
	cancel := c.Do(func(end func(error)) {
		takes, err := calls.call(len(o.calls))
		o.calls = append(o.calls, s.Now())
		s.After(takes, func() { end(err) })
	}, func(r retry.Reason) { o.ended, o.reason = s.Now(), r })
	s.After(cancelAt, cancel)
	s.RunAll()
	o.tokens = b.SnapshotAt(o.ended).Tokens
	return o
}

func really(p retry.Policy, rules budget.Config, calls script, cancelAt time.Duration) (o outcome) {
	ctx, cancel := context.WithCancel(context.Background())
	defer time.AfterFunc(cancelAt, cancel).Stop()
	b := budget.New(rules)
	began := time.Now()
	source := rand.New(rand.NewPCG(3, 1))
	p = p.Limit(b).Rand(source.Uint64).Events(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.Finished {
			o.reason = e.Reason
		}
	})
	_ = retry.Run(ctx, p, func(context.Context) error {
		takes, err := calls.call(len(o.calls))
		o.calls = append(o.calls, time.Since(began))
		time.Sleep(takes)
		return err
	})
	o.ended, o.tokens = time.Since(began), b.Snapshot().Tokens
	return o
}

func TestARefusalOfTheBudgetEndsARunForThrottled(t *testing.T) {
	s := New(1)
	b := budget.New(budget.Default().Max(2))
	c := NewClient(s, retry.New(), b)
	var reasons []retry.Reason
	calls := 0
	for range 2 {
		c.Do(func(end func(error)) {
			calls++
			end(errBoom)
		}, func(r retry.Reason) { reasons = append(reasons, r) })
		s.RunAll()
	}
	assert.Equal(t, []retry.Reason{retry.Throttled, retry.Throttled}, reasons)
	assert.Equal(t, 4, calls, "two retries in all")
	assert.Equal(t, budget.Snapshot{Max: 2, Refused: 2}, b.SnapshotAt(0))
}

func TestARetryThatIsNotMadeIsGivenBack(t *testing.T) {
	s := New(1)
	b := budget.New(budget.Default().Max(5))
	var reason retry.Reason
	calls := 0
	cancel := NewClient(s, retry.New(), b).Do(func(end func(error)) {
		calls++
		end(errBoom)
	}, func(r retry.Reason) { reason = r })
	assert.Equal(t, 4., b.SnapshotAt(0).Tokens)
	s.After(time.Millisecond, cancel)
	s.RunAll()
	assert.Equal(t, retry.Cancelled, reason)
	assert.Equal(t, 1, calls)
	assert.Equal(t, 5., b.SnapshotAt(0).Tokens)
}

func TestALawStandsInForTheStrategyOnly(t *testing.T) {
	s := New(1)
	c := NewClient(s, retry.New().MaxRetries(2), nil)
	c.Law = func(prev time.Duration, _ uint64) time.Duration { return 2*prev + 1 }
	var waits []time.Duration
	c.Waits = func(d time.Duration) { waits = append(waits, d) }
	c.Do(func(end func(error)) { end(errBoom) }, nil)
	s.RunAll()
	assert.Equal(t, []time.Duration{1, 3}, waits)
	assert.Equal(t, time.Duration(4), s.Now())
}

// What the simulator does is what future.Hedge does.
func TestAHedgerDoesWhatHedgeDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		takes := rapid.SliceOfN(rapid.IntRange(0, 60), 1, 40).Draw(t, "takes") // of 10ms
		most := rapid.IntRange(0, 3).Draw(t, "hedges")
		learns := rapid.Bool().Draw(t, "learns")
		limit := rapid.IntRange(0, 5).Draw(t, "limit")
		make := func() (h Hedger) {
			h.Policy = future.HedgeAfter(103100 * time.Microsecond) // never when a try ends
			if learns {
				h.Quantile = future.NewQuantile(0.7, 93700*time.Microsecond)
				h.Policy = future.HedgeAt(h.Quantile)
			}
			h.Policy = h.Policy.MaxHedges(most)
			if limit > 0 {
				h.Budget = budget.New(budget.Default().Max(limit))
			}
			return h
		}
		simulated, real := make(), make()
		tries, took := simulateHedges(simulated, takes)
		rapid.SyncTest(t, func(t *rapid.T) {
			reallyTries, reallyTook := reallyHedge(real, takes)
			require.Equal(t, reallyTries, tries)
			require.Equal(t, reallyTook, took)
		})
		if limit > 0 {
			require.Equal(t, real.Budget.SnapshotAt(0), simulated.Budget.SnapshotAt(0))
		}
		if learns {
			require.Equal(t, real.Quantile.Delay(), simulated.Quantile.Delay())
		}
	})
}

// spaced keeps tries from ending at one instant.
func spaced(takes []int, n int) time.Duration {
	return time.Duration(takes[n%len(takes)])*10*time.Millisecond + time.Duration(n%977)*time.Nanosecond
}

func simulateHedges(h Hedger, takes []int) (tries int, took []time.Duration) {
	h.Sim = New(1)
	for range takes {
		began := h.Sim.Now()
		h.Do(func(end func()) {
			h.Sim.After(spaced(takes, tries), end)
			tries++
		}, func() { took = append(took, h.Sim.Now()-began) })
		h.Sim.RunAll()
	}
	return tries, took
}

func reallyHedge(h Hedger, takes []int) (_ int, took []time.Duration) {
	var tries atomic.Int64
	if h.Budget != nil {
		h.Policy = h.Policy.Limit(h.Budget)
	}
	for range takes {
		began := time.Now()
		_, _ = future.Hedge(context.Background(), h.Policy, func(ctx context.Context) (int, error) {
			timer := time.NewTimer(spaced(takes, int(tries.Add(1)-1)))
			defer timer.Stop()
			select {
			case <-timer.C:
				return 1, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}).Await(context.Background())
		took = append(took, time.Since(began))
		synctest.Wait()
	}
	return int(tries.Load()), took
}
