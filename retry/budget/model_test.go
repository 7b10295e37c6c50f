package budget_test

import (
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
		c = c.Max(int(most)).Deposit(float64(hundredths)/100).BaseCost(int(s.base)).Cost(retry.Is(errSlow), int(s.slow))
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
		b := budget.New(s.config)
		require.NoError(t, b.Err())
		m := &model{setup: s, tokens: new(big.Rat).Set(s.max)}
		var runs []*inFlight
		came, retries := new(big.Rat), new(big.Rat)
		var past []moment
		allow := func(t *rapid.T, r *inFlight) {
			err := rapid.SampledFrom([]error{errBusy, errSlow, fmt.Errorf("wrapped: %w", errSlow)}).Draw(t, "err")
			paid, ok := b.AllowAt(m.now, err)
			require.Equal(t, m.allow(err), ok)
			if ok {
				r.paid, r.tokens, r.unmade = paid, m.cost(err), true
				retries = new(big.Rat).Add(retries, r.tokens)
			}
		}
		end := func(t *rapid.T, reason retry.Reason) {
			if len(runs) == 0 {
				t.Skip()
			}
			i := rapid.IntRange(0, len(runs)-1).Draw(t, "run")
			r := runs[i]
			runs = append(runs[:i], runs[i+1:]...)
			if reason != retry.Cancelled && reason != 0 {
				r.unmade = false
			}
			before := new(big.Rat).Set(m.tokens)
			b.DoneAt(m.now, retry.Outcome{Reason: reason, Paid: r.paid, Unmade: r.unmade})
			m.done(reason, r.tokens, r.unmade)
			if m.tokens.Cmp(before) > 0 {
				came = new(big.Rat).Add(came, before.Sub(m.tokens, before))
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"start": func(*rapid.T) { runs = append(runs, &inFlight{tokens: new(big.Rat)}) },
			"allow": func(t *rapid.T) {
				if len(runs) == 0 {
					t.Skip()
				}
				r := runs[rapid.IntRange(0, len(runs)-1).Draw(t, "run")]
				r.unmade = false
				allow(t, r)
			},
			"success": func(t *rapid.T) { end(t, retry.Succeeded) },
			"failure": func(t *rapid.T) {
				end(t, rapid.SampledFrom([]retry.Reason{
					retry.StaleFuture, retry.NotRetryable, retry.TimeSpent, retry.Exhausted, retry.HintTooLong, retry.TimeWouldExceed,
					retry.DeadlineWouldExceed, retry.Throttled, retry.Abandoned, retry.Partial,
				}).Draw(t, "reason"))
			},
			"cancel": func(t *rapid.T) { end(t, retry.Cancelled) },
			"panic":  func(t *rapid.T) { end(t, 0) },
			"tick":   func(t *rapid.T) { m.tick(time.Duration(rapid.Int64Range(0, 2e9).Draw(t, "ns"))) },
			"": func(t *rapid.T) {
				want, _ := m.tokens.Float64()
				got := b.SnapshotAt(m.now)
				require.Equal(t, want, got.Tokens)
				require.True(t, got.Tokens >= 0 && got.Tokens <= float64(got.Max))
				now := moment{m.now, came, retries}
				if s.kind != "grpc" { // whose failures pay, not its retries
					for _, then := range past {
						requireWithin(t, s, then, now)
					}
				}
				past = append(past, now)
			},
		})
	})
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
