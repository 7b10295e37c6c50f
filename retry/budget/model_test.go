package budget_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

var (
	errBusy = errors.New("busy")
	errSlow = errors.New("slow")
)

// A setup is a budget, and its rules as exact numbers.
type setup struct {
	config             budget.Config
	kind               string
	max, deposit, rate *big.Rat // tokens, tokens, tokens per nanosecond
	base, slow         int64    // what a retry costs
}

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

func setups() *rapid.Generator[setup] {
	return rapid.Custom(func(t *rapid.T) setup {
		kind := rapid.SampledFrom([]string{"default", "grpc", "aws", "finagle"}).Draw(t, "kind")
		c := map[string]func() budget.Config{
			"default": budget.Default, "grpc": budget.GRPC, "aws": budget.AWS, "finagle": budget.Finagle,
		}[kind]()
		s := setup{kind: kind, rate: new(big.Rat)}
		most := rapid.Int64Range(1, 20).Draw(t, "max")
		s.base, s.slow = rapid.Int64Range(0, most).Draw(t, "base"), rapid.Int64Range(0, most).Draw(t, "slow")
		hundredths := rapid.Int64Range(1, 100).Draw(t, "deposit")
		s.max, s.deposit = rat(most, 1), rat(hundredths, 100)
		c = c.Max(int(most)).Deposit(float64(hundredths) / 100).BaseCost(int(s.base))
		if rapid.Bool().Draw(t, "every retry costs the same") {
			s.slow = s.base
		} else {
			c = c.Cost(retry.Is(errSlow), int(s.slow))
		}
		floor := rapid.SampledFrom([]int64{0, 1, 4, 10, 250}).Draw(t, "floor")
		if floor > 0 {
			c, s.rate = c.Floor(float64(floor)), rat(floor, 1e9)
		} else if kind == "finagle" {
			s.rate = rat(10, 1e9)
		}
		s.config = c
		return s
	})
}

// model is the budget in exact arithmetic, from its documentation.
type model struct {
	setup
	tokens *big.Rat
	now    time.Duration
}

func (m *model) add(n *big.Rat) {
	m.tokens.Add(m.tokens, n)
	if m.tokens.Cmp(m.max) > 0 {
		m.tokens.Set(m.max)
	}
	if m.tokens.Sign() < 0 {
		m.tokens.SetInt64(0)
	}
}

func (m *model) tick(d time.Duration) {
	m.now += d
	m.add(new(big.Rat).Mul(m.rate, rat(int64(d), 1)))
}

func (m *model) cost(err error) *big.Rat {
	if errors.Is(err, errSlow) {
		return rat(m.slow, 1)
	}
	return rat(m.base, 1)
}

func (m *model) allow(err error) bool {
	cost := m.cost(err)
	if m.kind == "grpc" {
		m.add(cost.Neg(cost))
		return m.tokens.Cmp(new(big.Rat).Mul(m.max, rat(1, 2))) > 0
	}
	if m.tokens.Cmp(cost) < 0 {
		return false
	}
	m.add(cost.Neg(cost))
	return true
}

// done takes what the run has paid for its last retry, in tokens.
func (m *model) done(reason retry.Reason, paid *big.Rat, unmade bool) {
	if unmade && m.kind != "grpc" {
		m.add(paid)
		paid = new(big.Rat)
	}
	ok := reason == retry.Succeeded
	switch {
	case m.kind == "finagle", m.kind != "aws" && ok:
		m.add(m.deposit)
	case m.kind == "aws" && paid.Sign() > 0 && (ok || reason == retry.NotRetryable):
		m.add(paid)
	case m.kind == "aws" && ok:
		m.add(m.deposit)
	case m.kind == "grpc" && (reason == retry.Exhausted || reason == retry.TimeSpent || reason == retry.HintTooLong ||
		reason == retry.TimeWouldExceed || reason == retry.DeadlineWouldExceed || reason == retry.Partial):
		m.add(rat(-m.base, 1))
	}
}

// inFlight is a run that has asked for retries.
type inFlight struct {
	paid   int64
	tokens *big.Rat
	unmade bool
}

// moment is what has come and gone since the start, at an instant.
type moment struct {
	at            time.Duration
	came, retries *big.Rat
}

func TestABudgetIsWhatExactArithmeticSaysItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := setups().Draw(t, "budget")
		rapid.SyncTest(t, func(t *rapid.T) {
			b := budget.New(s.config)
			require.NoError(t, b.Err())
			(&machine{b: b, model: &model{setup: s, tokens: new(big.Rat).Set(s.max)}, came: new(big.Rat), retries: new(big.Rat)}).run(t)
		})
	})
}

// machine does the same to a budget and to the model. The budget has the bubble's clock, or
// is told the instant.
type machine struct {
	b *budget.Budget
	*model
	runs          []*inFlight
	came, retries *big.Rat
	past          []moment
}

func (m *machine) run(t *rapid.T) {
	t.Repeat(map[string]func(*rapid.T){
		"start":   func(*rapid.T) { m.runs = append(m.runs, &inFlight{tokens: new(big.Rat)}) },
		"allow":   m.allows,
		"success": func(t *rapid.T) { m.ends(t, retry.Succeeded) },
		"failure": func(t *rapid.T) {
			m.ends(t, rapid.SampledFrom([]retry.Reason{
				retry.StaleFuture, retry.NotRetryable, retry.TimeSpent, retry.Exhausted, retry.HintTooLong, retry.TimeWouldExceed,
				retry.DeadlineWouldExceed, retry.Throttled, retry.Abandoned, retry.Partial,
			}).Draw(t, "reason"))
		},
		"cancel": func(t *rapid.T) { m.ends(t, retry.Cancelled) },
		"panic":  func(t *rapid.T) { m.ends(t, 0) },
		"tick": func(t *rapid.T) {
			d := time.Duration(rapid.Int64Range(0, 2e9).Draw(t, "ns"))
			time.Sleep(d)
			m.tick(d)
		},
		"": m.check,
	})
}

// any takes a run, and leaves the others.
func (m *machine) any(t *rapid.T) *inFlight {
	if len(m.runs) == 0 {
		t.Skip()
	}
	i := rapid.IntRange(0, len(m.runs)-1).Draw(t, "run")
	r := m.runs[i]
	m.runs = append(m.runs[:i], m.runs[i+1:]...)
	return r
}

func (m *machine) allows(t *rapid.T) {
	r := m.any(t)
	m.runs = append(m.runs, r)
	err := rapid.SampledFrom([]error{errBusy, errSlow, fmt.Errorf("wrapped: %w", errSlow)}).Draw(t, "err")
	var paid int64
	var ok bool
	if rapid.Bool().Draw(t, "by the clock") {
		paid, ok = m.b.Allow(context.Background(), err)
	} else {
		paid, ok = m.b.AllowAt(m.now, err)
	}
	require.Equal(t, m.allow(err), ok)
	r.unmade = false
	if ok {
		r.paid, r.tokens, r.unmade = paid, m.cost(err), rapid.Bool().Draw(t, "unmade")
		m.retries = new(big.Rat).Add(m.retries, r.tokens)
	}
}

func (m *machine) ends(t *rapid.T, reason retry.Reason) {
	r := m.any(t)
	before := new(big.Rat).Set(m.tokens)
	o := retry.Outcome{Reason: reason, Paid: r.paid, Unmade: r.unmade}
	if rapid.Bool().Draw(t, "by the clock") {
		m.b.Done(o)
	} else {
		m.b.DoneAt(m.now, o)
	}
	m.done(reason, r.tokens, r.unmade)
	if m.tokens.Cmp(before) > 0 {
		m.came = new(big.Rat).Add(m.came, before.Sub(m.tokens, before))
	}
}

func (m *machine) check(t *rapid.T) {
	want, _ := m.tokens.Float64()
	got := m.b.Snapshot()
	require.Equal(t, got, m.b.SnapshotAt(m.now))
	require.Equal(t, want, got.Tokens)
	require.True(t, got.Tokens >= 0 && got.Tokens <= float64(got.Max))
	now := moment{m.now, m.came, m.retries}
	if m.kind != "grpc" { // whose failures pay, not its retries
		for _, then := range m.past {
			requireWithin(t, m.setup, then, now)
		}
	}
	m.past = append(m.past, now)
}

// requireWithin holds the retries between two instants against what may be made: what
// fits in the bucket, and what came meanwhile.
func requireWithin(t *rapid.T, s setup, from, to moment) {
	bound := new(big.Rat).Sub(to.came, from.came)
	bound.Add(bound, s.max)
	bound.Add(bound, new(big.Rat).Mul(s.rate, rat(int64(to.at-from.at), 1)))
	made := new(big.Rat).Sub(to.retries, from.retries)
	require.LessOrEqual(t, made.Cmp(bound), 0, "%v retries, %v allowed", made, bound)
}
