package budget

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dacapo-go/dacapo/retry"
)

// A Config holds the rules of a budget. It is a small immutable value: every refinement
// returns a changed copy. It is safe for concurrent use. The zero Config is [Default].
//
// Refinements store and do not judge: [Config.Err] names every fault, and so does the
// policy that has the budget as its limit.
type Config struct {
	max     int
	deposit float64
	base    int
	floor   float64
	costs   []cost
	rule    rule
	set     setting
}

// setting has a bit for every setting whose zero value is not the default.
type setting uint8

const (
	setMax setting = 1 << iota
	setDeposit
	setBase
	setFloor
)

// cost is what retries of one class of errors cost.
type cost struct {
	class retry.Matcher
	n     int
}

// rule says when tokens are paid and come back.
type rule uint8

const (
	onSuccess  rule = iota // a retry pays, a success deposits
	onEveryRun             // a retry pays, a run deposits
	onFailure              // a failure pays, also one without a retry; above half of Max, retries are free
	refunds                // a success after a retry brings back what that has paid, instead of the deposit
)

const (
	defaultMax     = 100
	defaultDeposit = 0.1

	greatestMax   = 1_000_000
	greatestFloor = 10_000
	leastFloor    = 0.001
)

// Default returns the rules that a new user wants: at most 100 tokens, of which a retry
// takes one and a success brings 0.1.
func Default() Config { return Config{} }

// GRPC returns the rules of gRPC's retry throttling, with the values that its design
// document takes as an example (proposal A6, "Throttling Retry Attempts and Hedged RPCs"):
// of 10 tokens a failure takes one, also one that is not retried, and a success brings
// 0.1. Retries are made while more than half of the tokens are left.
func GRPC() Config { return Config{rule: onFailure}.Max(10).Deposit(0.1) }

// AWS returns the rules of the AWS SDKs' retry quota, with its values of 2026: of 500 tokens
// a retry takes 14. A success after a retry brings back what that retry took, any other
// brings 1. In the SDKs, a retry after a throttling error takes 5: only you know which
// errors those are, so add
//
//	budget.AWS().Cost(retry.Is(ErrThrottled), 5)
//
// The answer that ends a run for [retry.NotRetryable] is the service's, so it brings back
// what the retry took, too.
func AWS() Config { return Config{rule: refunds}.Max(500).BaseCost(14).Deposit(1) }

// Finagle returns the rules of Twitter Finagle's RetryBudget: every run brings 0.2 tokens,
// whether it succeeds or not, and 10 more come every second; a retry takes one. Finagle
// lets a deposit expire after 10 s. Here there is no expiry, but a greatest balance: the
// 100 tokens that 10 s of its least rate bring.
//
// Where all calls fail, this goes on to add a fifth to the load. Default adds nothing then.
func Finagle() Config { return Config{rule: onEveryRun}.Deposit(0.2).Floor(10) }

// Max sets how many tokens there are at most, and at first: the greatest number of
// retries at once. 1 to 1,000,000; the default is 100.
func (c Config) Max(n int) Config {
	c.max, c.set = n, c.set|setMax
	return c
}

// Deposit sets what a success brings, in tokens: 0 to 1; the default is 0.1. So in the
// long run, retries are at most this fraction of successes. It is rounded to a millionth,
// or under Floor to what comes in a nanosecond.
func (c Config) Deposit(fraction float64) Config {
	c.deposit, c.set = fraction, c.set|setDeposit
	return c
}

// BaseCost sets what a retry takes where no Cost says otherwise, in tokens: 0 to Max; the
// default is 1.
func (c Config) BaseCost(n int) Config {
	c.base, c.set = n, c.set|setBase
	return c
}

// Cost sets what a retry takes after an error that m matches, in tokens: 0 to Max. The
// first that matches counts. A hedge asks with future.ErrSlow.
func (c Config) Cost(m retry.Matcher, n int) Config {
	c.costs = append(slices.Clip(c.costs), cost{m, n})
	return c
}

// Floor sets how many tokens come by themselves, in a second: 0.001 to 10,000. The default
// is none. With a floor, a program that makes few calls can retry however many of them
// fail, which harms nobody: take a rate that the service would not notice.
func (c Config) Floor(perSecond float64) Config {
	c.floor, c.set = perSecond, c.set|setFloor
	return c
}

func (c *Config) has(s setting) bool { return c.set&s != 0 }

func (c *Config) tokens() int {
	if c.has(setMax) {
		return c.max
	}
	return defaultMax
}

func (c *Config) fraction() float64 {
	if c.has(setDeposit) {
		return c.deposit
	}
	return defaultDeposit
}

func (c *Config) baseCost() int {
	if c.has(setBase) {
		return c.base
	}
	return 1
}

// unit returns how many units of the balance a token is: millionths, or the nanoseconds
// in which one comes.
func (c *Config) unit() float64 {
	if c.floor > 0 {
		return math.Round(1e9 / c.floor)
	}
	return 1e6
}

// Err returns every fault of the rules, joined (see [errors.Join]), or nil.
func (c Config) Err() error {
	var all []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Errorf("budget: "+format, args...))
		}
	}
	top := c.tokens()
	check(top >= 1 && top <= greatestMax, "Max is %d: want 1 to %d", top, greatestMax)
	f := c.fraction()
	check(f >= 0 && f <= 1, "Deposit is %v: want 0 to 1", f)
	check(!(f > 0 && f <= 1) || math.Round(f*c.unit()) >= 1, "Deposit is %v: want 0, or %v or more", f, 1/c.unit())
	check(!c.has(setFloor) || c.floor >= leastFloor && c.floor <= greatestFloor,
		"Floor is %v: want %v to %v a second, or leave it out for none", c.floor, leastFloor, greatestFloor)
	check(f != 0 || c.has(setFloor), "Deposit is 0, and there is no Floor: want one above 0, for tokens to come back")
	most := max(top, 1) // else that is what is wrong
	base := c.baseCost()
	check(base >= 0 && base <= most, "BaseCost is %d: want 0 to Max, which is %d", base, top)
	for _, k := range c.costs {
		check(k.n >= 0 && k.n <= most, "Cost is %d: want 0 to Max, which is %d", k.n, top)
		if err := k.class.Err(); err != nil {
			check(false, "Cost: %s", strings.TrimPrefix(err.Error(), "retry: "))
		}
	}
	return errors.Join(all...)
}

// String returns the rules in words, such as
//
//	max=100 deposit=0.1
func (c Config) String() string {
	of := [...]string{"", " of every run", ", a failure pays", ", or what the retry took"}[c.rule]
	words := []string{fmt.Sprintf("max=%d deposit=%v%s", c.tokens(), c.fraction(), of)}
	if n := c.baseCost(); n != 1 {
		words = append(words, fmt.Sprintf("cost=%d", n))
	}
	if len(c.costs) > 0 {
		words = append(words, fmt.Sprintf("costs=%d", len(c.costs)))
	}
	if c.has(setFloor) {
		words = append(words, fmt.Sprintf("floor=%v/s", c.floor))
	}
	return strings.Join(words, " ")
}
