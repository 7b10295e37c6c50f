package storm

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm/sim"
)

var seeds = []uint64{1, 2, 3}

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // as the command does
	os.Exit(m.Run())
}

// everySeed runs a test for each seed, side by side with all others.
func everySeed(t *testing.T, name string, test func(t *testing.T, seed uint64)) {
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
			t.Parallel()
			test(t, seed)
		})
	}
}

func TestEveryScenarioIsAsExpected(t *testing.T) {
	expected := map[string]int{"contention": 28, "overload": 22, "outage": 6, "herd": 12, "layers": 6, "tail": 10}
	for _, s := range Scenarios() {
		everySeed(t, s.Name, func(t *testing.T, seed uint64) {
			r := s.Run(seed, nil, func(string) {})
			n, unmet := r.Expected()
			assert.Empty(t, unmet)
			assert.Equal(t, expected[s.Name], n)
		})
	}
}

func TestWithoutABudgetTheServiceDoesNotComeBack(t *testing.T) {
	everySeed(t, "outage", func(t *testing.T, seed uint64) {
		o := theSlump()
		none := o.play(outage().own[1], seed)
		assert.Equal(t, "3 retries", none.Name)
		for second := 42; second < 180; second++ {
			require.Zero(t, none.Goodput[second], "second %d", second)
		}
		held := o.play(outage().own[2], seed)
		assert.Equal(t, none.Offered, held.Offered, "the load is the same")
		assert.InDelta(t, 100, sum(held.Attempts)-sum(held.Offered), 100*0.5, "hardly more than a full bucket of retries")
		assert.Greater(t, sum(held.Goodput[50:])/sum(held.Offered[50:]), 0.99)
	})
}

var loads = []float64{300, 500, 700, 850, 930}

// A full bucket is at most a hundred more requests, whose work takes the capacity that is
// left.
func TestTheDefaultBudgetRecoversLikeNoRetries(t *testing.T) {
	never, budgeted, unlimited := outage().own[0], outage().own[2], outage().own[1]
	for _, load := range loads {
		for _, lasts := range []time.Duration{1, 5, 20, 60} {
			everySeed(t, fmt.Sprintf("%v a second, %d s", load, lasts), func(t *testing.T, seed uint64) {
				o := slump{load: load, capacity: 1000, slow: 400, lasts: lasts * time.Second}
				if load < 500 {
					o.slow = 0 // or it would not be in trouble
				}
				left := o.capacity - load
				o.watched = 30*time.Second + time.Duration(1.4*(load-o.slow)/left*float64(o.lasts))
				alone, with := o.recovery(o.play(never, seed)), o.recovery(o.play(budgeted, seed))
				assert.LessOrEqual(t, with, 1.15*alone+100/left+1)
				if o.watched = 30 * time.Second; lasts >= 20 && seed == 1 {
					assert.Equal(t, "never", text(o.recovery(o.play(unlimited, seed)), ""), "without a budget")
				}
			})
		}
	}
}

func TestRecoveryIsTheFirstOfFiveGoodSeconds(t *testing.T) {
	o := slump{lasts: 2 * time.Second}
	c := newChart(Variant{}, 0, 50*time.Second, time.Second)
	for i := range c.Offered {
		c.Offered[i], c.Goodput[i] = 100, 90
	}
	assert.Equal(t, 0., o.recovery(c), "at once")
	c.Goodput[32+4] = 89
	assert.Equal(t, 5., o.recovery(c), "four are too few")
	for i := 36; i < 50; i += 5 {
		c.Goodput[i] = 89
	}
	assert.Equal(t, "never", text(o.recovery(c), ""))
	c.Goodput[46] = 90
	assert.Equal(t, 10., o.recovery(c))
}

func TestAWithoutRetriesPolicyMakesOneCallForEachRequest(t *testing.T) {
	t.Parallel()
	v, err := Parse("retries=0")
	require.NoError(t, err)
	attempts, served := overloaded(v, 0.3, 1)
	assert.Equal(t, 1., attempts)
	assert.InDelta(t, 0.7, served, 0.005)
	assert.Equal(t, 1., layered(v, 0.5, 1))
}

func TestTheRowsOfATable(t *testing.T) {
	for _, s := range Scenarios() {
		if s.Name != "outage" && s.Name != "herd" {
			continue
		}
		v, err := Parse("retries=1 backoff=none budget=20% attempt-timeout=9s")
		require.NoError(t, err)
		var said []string
		r := s.Run(1, []Variant{v}, func(what string) { said = append(said, what) })
		require.Len(t, r.Table.Rows, 1)
		assert.Equal(t, v.Text, r.Table.Rows[0].Name)
		assert.Len(t, r.Table.Columns, 1+len(r.Table.Rows[0].Figures))
		assert.Len(t, r.Charts, 1)
		assert.Len(t, said, 1)
		n, _ := r.Expected()
		assert.Zero(t, n, "of a policy that is not its own nothing is expected")
	}
}

func TestTheClientsOfAHerdThatGiveUpDoNotComeBack(t *testing.T) {
	v, err := Parse("retries=3")
	require.NoError(t, err)
	h := stampedeOf(v, 1)
	assert.Zero(t, h.worst)
	assert.InDelta(t, 4, h.calls, 1e-6)
	assert.Zero(t, sum(h.bins[:]))
}

func TestTheTimeoutOfACallIsThatOfThePolicyIfItHasOne(t *testing.T) {
	o := slump{load: 700, capacity: 1000, slow: 0, lasts: 3 * time.Second, watched: 20 * time.Second}
	patient, err := Parse("retries=0 attempt-timeout=1m")
	require.NoError(t, err)
	c := o.play(patient, 1)
	assert.Zero(t, o.lost(c))
	assert.Positive(t, o.lost(o.play(outage().own[0], 1)))
}

// The law of AWS, against what it says: min(cap, uniform(base, 3·prev)).
func TestTheLawForComparisonClipsTheDrawnValue(t *testing.T) {
	const most = ^uint64(0)
	assert.Equal(t, 5*ms, clippedDecorrelated(0, 0))
	assert.Equal(t, 15*ms-1, clippedDecorrelated(0, most), "prev is the base at first")
	assert.Equal(t, 5*ms, clippedDecorrelated(time.Second, 0))
	assert.Equal(t, 2*time.Second, clippedDecorrelated(time.Second, most))
	assert.Equal(t, 5*ms+(6*time.Second-5*ms)/4, clippedDecorrelated(2*time.Second, 1<<62))
}

func TestACallThatTimesOutIsWorkAllTheSame(t *testing.T) {
	s := sim.New(1)
	server := sim.NewServer(s, 1)
	var errs []error
	for range 3 {
		call(s, server, 1500*ms, func(err error) { errs = append(errs, err) })
	}
	s.RunAll()
	assert.Equal(t, []error{nil, errFailed, errFailed}, errs)
	assert.Equal(t, 3*time.Second, s.Now())
}
