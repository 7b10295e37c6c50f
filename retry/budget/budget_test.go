package budget_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "2000")
	m.Run()
}

var succeeded = retry.Outcome{Reason: retry.Succeeded}

var (
	zeroWait      = backoff.Strategy{}
	limitedByFull = retry.New().Backoff(zeroWait).Limit(budget.New(budget.Default().Max(1_000_000)))
)

func tokens(b *budget.Budget) float64 { return b.Snapshot().Tokens }

// drain takes all that there is, and returns how many retries that was.
func drain(b *budget.Budget) (n int) {
	for {
		if _, ok := b.Allow(context.Background(), errBusy); !ok {
			return n
		}
		n++
	}
}

func TestFaultsAreNamedAndNothingIsAllowed(t *testing.T) {
	d := budget.Default()
	for want, c := range map[string]budget.Config{
		"budget: Max is 0: want 1 to 1000000":                                                    d.Max(0),
		"budget: Max is 1000001: want 1 to 1000000":                                              d.Max(1_000_001),
		"budget: Deposit is -0.1: want 0 to 1":                                                   d.Deposit(-0.1),
		"budget: Deposit is 1.1: want 0 to 1":                                                    d.Deposit(1.1),
		"budget: Deposit is NaN: want 0 to 1":                                                    d.Deposit(math.NaN()),
		"budget: Deposit is 1e-07: want 0, or 1e-06 or more":                                     d.Deposit(1e-7),
		"budget: Deposit is 1e-06: want 0, or 1e-05 or more":                                     d.Deposit(1e-6).Floor(10_000),
		"budget: Deposit is 0, and there is no Floor: want one above 0, for tokens to come back": d.Deposit(0),
		"budget: Floor is 0: want 0.001 to 10000 a second, or leave it out for none":             d.Floor(0),
		"budget: Floor is -1: want 0.001 to 10000 a second, or leave it out for none":            d.Floor(-1),
		"budget: Floor is NaN: want 0.001 to 10000 a second, or leave it out for none":           d.Floor(math.NaN()),
		"budget: Floor is 10001: want 0.001 to 10000 a second, or leave it out for none":         d.Floor(10_001),
		"budget: BaseCost is -1: want 0 to Max, which is 100":                                    d.BaseCost(-1),
		"budget: BaseCost is 101: want 0 to Max, which is 100":                                   d.BaseCost(101),
		"budget: Cost is 6: want 0 to Max, which is 5":                                           d.Max(5).Cost(retry.Is(errBusy), 6),
		"budget: Cost is -1: want 0 to Max, which is 5":                                          d.Max(5).Cost(retry.Is(errBusy), -1),
		"budget: Cost: a zero Matcher: want one made by Is, As or Match":                         d.Cost(retry.Matcher{}, 1),
		"budget: Max is -1: want 1 to 1000000\nbudget: Deposit is 2: want 0 to 1":                d.Max(-1).Deposit(2),
	} {
		assert.EqualError(t, c.Err(), want)
		b := budget.New(c)
		assert.EqualError(t, b.Err(), want)
		assert.Equal(t, want, b.String())
		_, ok := b.Allow(t.Context(), errBusy)
		assert.False(t, ok, want)
		b.Done(succeeded)
		assert.Equal(t, budget.Snapshot{Refused: 1}, b.Snapshot())
		assert.EqualError(t, retry.New().Limit(b).Err(), "retry: Limit: "+want)
	}
}

// B128: limits are inclusive, as documented.
func TestTheLimitsAreGood(t *testing.T) {
	d := budget.Default()
	for _, c := range []budget.Config{
		d, {}, d.Max(1), d.Max(1000), d.Max(1_000_000), d.Deposit(1), d.Deposit(1e-6), d.Deposit(0).Floor(1), d.Floor(0.001), d.Floor(10_000),
		d.Max(1_000_000).Floor(0.001), d.BaseCost(0), d.BaseCost(100), d.Cost(retry.Is(errBusy), 0), d.Cost(retry.Is(errBusy), 100),
		budget.GRPC(), budget.AWS(), budget.Finagle(),
	} {
		require.NoError(t, c.Err())
		b := budget.New(c)
		assert.InDelta(t, b.Snapshot().Max, tokens(b), 0, "%v begins full", c)
	}
	b := budget.New(d.Max(1_000_000).Floor(0.001))
	assert.Equal(t, 1_000_000, drain(b))
}

func TestNoBudgetIsAFaultAndNoPanic(t *testing.T) {
	const want = "budget: a nil or zero Budget: want one made by budget.New"
	for _, b := range []*budget.Budget{nil, new(budget.Budget)} {
		assert.EqualError(t, b.Err(), want)
		assert.Equal(t, want, b.String())
		_, err := retry.Do(t.Context(), retry.New().Limit(b), func(context.Context) (int, error) { return 1, nil })
		assert.EqualError(t, err, "retry: Limit: "+want)
	}
	zero := new(budget.Budget)
	_, ok := zero.Allow(t.Context(), errBusy)
	assert.False(t, ok)
	zero.Done(succeeded)
	assert.Equal(t, budget.Snapshot{Refused: 1}, zero.Snapshot())
}

// B124: a bucket that was emptied fills again, whatever its rules.
func TestADrainedBudgetRecovers(t *testing.T) {
	for _, c := range []budget.Config{budget.Default(), budget.GRPC(), budget.AWS(), budget.Finagle()} {
		b := budget.New(c)
		drain(b)
		for range 100_000 {
			b.Done(succeeded)
		}
		assert.InDelta(t, b.Snapshot().Max, tokens(b), 0, "%v", c)
		_, ok := b.Allow(t.Context(), errBusy)
		assert.True(t, ok)
	}
}

// B127: a good day stores no more than the greatest balance.
func TestABurstIsAtMostTheMax(t *testing.T) {
	for c, want := range map[*budget.Config]int{
		new(budget.Default()): 100, new(budget.GRPC()): 4, new(budget.AWS()): 35, new(budget.Default().Max(7)): 7,
	} {
		b := budget.New(*c)
		for range 1_000_000 {
			b.Done(succeeded)
		}
		assert.Equal(t, want, drain(b), "%v", c)
		assert.Equal(t, uint64(1), b.Snapshot().Refused)
	}
}

// B079: an answer that no retry can better, got by a retry, is the service's: the quota of
// the AWS SDKs is given back.
func TestAFinalAnswerAfterARetryGivesTheQuotaBack(t *testing.T) {
	b := budget.New(budget.AWS().Max(14))
	p := retry.New().Backoff(zeroWait).Limit(b)
	for range 1000 {
		calls := 0
		_, err := retry.Do(t.Context(), p, func(context.Context) (int, error) {
			if calls++; calls == 1 {
				return 503, errBusy
			}
			return 404, retry.Permanent(errSlow)
		})
		require.Equal(t, errSlow, err)
	}
	assert.InDelta(t, 14, tokens(b), 0)
}

func TestTheFloorComesWithTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Default().Max(3).Floor(2))
		assert.Equal(t, 3, drain(b))
		time.Sleep(499 * time.Millisecond)
		assert.Equal(t, 0, drain(b))
		time.Sleep(time.Millisecond)
		assert.Equal(t, 1, drain(b))
		b.Done(succeeded)
		assert.InDelta(t, 0.1, tokens(b), 0)
		time.Sleep(time.Hour)
		assert.Equal(t, 3, drain(b), "and no more than Max")
	})
}

// What a thousand runs get out of a budget is what one run would, if it did it all.
func TestABudgetIsSharedExactly(t *testing.T) {
	for _, c := range []budget.Config{budget.Default(), budget.Default().Floor(0.001), budget.AWS().BaseCost(3), budget.GRPC().Max(1000)} {
		b, alone := budget.New(c), budget.New(c)
		made := 0
		for {
			if _, ok := alone.AllowAt(0, errBusy); !ok {
				break
			}
			made++
		}
		var allowed atomic.Int64
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				for range 100 {
					if _, ok := b.AllowAt(0, errBusy); ok {
						allowed.Add(1)
					}
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, made, allowed.Load(), "%v", c)
		assert.EqualValues(t, 6400-made, b.Snapshot().Refused)
		for range 64 {
			wg.Go(func() {
				for range 5 {
					b.DoneAt(0, succeeded)
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
		for range 320 {
			alone.DoneAt(0, succeeded)
		}
		if c.String() != budget.GRPC().Max(1000).String() { // whose refusals paid, too
			assert.InDelta(t, alone.SnapshotAt(0).Tokens, b.SnapshotAt(0).Tokens, 0, "%v", c)
		}
	}
}

// A budget of one token is a lock, as long as no change to it is lost.
func TestNoChangeIsLost(t *testing.T) {
	for _, c := range []budget.Config{budget.Default().Max(1), budget.Default().Max(1).Floor(0.001)} {
		b := budget.New(c)
		const now = time.Hour
		var held, lost atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20_000 {
					if paid, ok := b.AllowAt(now, errBusy); ok {
						if held.Add(1) != 1 {
							lost.Add(1)
						}
						held.Add(-1)
						b.DoneAt(now, retry.Outcome{Paid: paid, Unmade: true})
						b.DoneAt(now, retry.Outcome{Paid: paid}) // nothing, and it is seen that it is full
					}
				}
			})
		}
		wg.Wait()
		assert.Zero(t, lost.Load(), "%v", c)
		assert.InDelta(t, 1, b.SnapshotAt(now).Tokens, 0)
	}
}

func TestEveryDepositCounts(t *testing.T) {
	b := budget.New(budget.Default().Max(100_000))
	require.Equal(t, 100_000, drain(b))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100_000 {
				b.Done(succeeded)
			}
		})
	}
	wg.Wait()
	assert.InDelta(t, 80_000, tokens(b), 0)
}

func TestAnInstantBeforeTheBeginningIsTheBeginning(t *testing.T) {
	b := budget.New(budget.Default().Max(1).Floor(1))
	_, ok := b.AllowAt(-time.Hour, errBusy)
	assert.True(t, ok)
	_, ok = b.AllowAt(0, errBusy)
	assert.False(t, ok)
	assert.InDelta(t, 0, b.SnapshotAt(-time.Hour).Tokens, 0)
}

func TestKeyedHasOneBudgetForEachTarget(t *testing.T) {
	k := budget.NewKeyed[string](budget.Default().Max(2))
	for round := range 1000 {
		key := fmt.Sprint("a", round)
		var wg sync.WaitGroup
		start := make(chan struct{})
		got := make([]*budget.Budget, 4)
		for i := range got {
			wg.Go(func() {
				<-start
				got[i] = k.For(key)
			})
		}
		close(start)
		wg.Wait()
		for _, b := range got {
			require.True(t, b == got[0])
		}
		k.Delete(key)
	}
	assert.Equal(t, 2, drain(k.For("a")))
	assert.InDelta(t, 2, tokens(k.For("b")), 0)
	seen := map[string]float64{}
	for key, b := range k.All() {
		seen[key] = tokens(b)
	}
	assert.Equal(t, map[string]float64{"a": 0, "b": 2}, seen)
	for range k.All() {
		break
	}
	k.Delete("a")
	assert.InDelta(t, 2, tokens(k.For("a")), 0)
	assert.Equal(t, 100, drain(new(budget.Keyed[int]).For(7)), "the zero Keyed has the default")
}

func TestWhatABudgetDoesAllocatesNothing(t *testing.T) {
	full, b := budget.New(budget.Default()), budget.New(budget.Default().Max(1_000_000).Floor(1).Cost(retry.Is(errSlow), 2))
	for name, do := range map[string]func(){
		"a success of a full one": func() { full.Done(succeeded) },
		"take and give": func() {
			paid, _ := b.Allow(context.Background(), errBusy)
			b.Done(retry.Outcome{Reason: retry.Cancelled, Paid: paid, Unmade: true})
		},
		"snapshot": func() { b.Snapshot() },
		"a limited run": func() {
			_, _ = retry.Do(context.Background(), limitedByFull, func(context.Context) (int, error) { return 1, nil })
		},
		"a limited run with a retry": func() {
			failed := false
			_, _ = retry.Do(context.Background(), limitedByFull, func(context.Context) (int, error) {
				if !failed {
					failed = true
					return 0, errBusy
				}
				return 1, nil
			})
		},
	} {
		assert.Zero(t, testing.AllocsPerRun(100, do), name)
	}
}

func TestStringsAreInWords(t *testing.T) {
	for want, c := range map[string]fmt.Stringer{
		"max=100 deposit=0.1":                               budget.Default(),
		"max=10 deposit=0.1, a failure pays":                budget.GRPC(),
		"max=500 deposit=1, or what the retry took cost=14": budget.AWS(),
		"max=100 deposit=0.2 of every run floor=10/s":       budget.Finagle(),
		"max=5 deposit=0.5 costs=1":                         budget.Default().Max(5).Deposit(0.5).Cost(retry.Is(errBusy), 2),
		"max=100 deposit=0.1: 100.0 tokens":                 budget.New(budget.Default()),
	} {
		assert.Equal(t, want, c.String())
	}
}
