// Package plan says what a retry policy does before it does it: its waits, how many calls it
// makes, and what is dangerous about it.
//
// It takes the calls to fail at once, so that the waits are all that takes time. Where a wait
// can be anywhere in a window, all of it as likely, its quantiles are exact, and so are the
// ends of all sums. The quantiles of sums, and of waits that depend on the one before, are
// those of runs played with a fixed seed through [retry.Policy.Next].
package plan

import (
	"math"
	"strings"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

// A Plan is what a policy does.
type Plan struct {
	Policy   string        `json:"policy"`
	Calls    *int          `json:"calls"` // at most; nil: unlimited
	Wait     Millis        `json:"wait"`  // at most, in all; the longest Duration where it has no end
	Retries  []Retry       `json:"retries"`
	More     bool          `json:"more"` // there can be more retries than are here
	Expected []Expectation `json:"expected"`
	Warnings []Warning     `json:"warnings"`

	policy     retry.Policy
	strategy   backoff.Strategy
	retries    int           // retry.Unlimited
	maxElapsed time.Duration // 0: none
}

// A Retry is one of a plan.
type Retry struct {
	Number  int     `json:"retry"`
	Wait    Spread  `json:"wait"`    // before it
	Total   Spread  `json:"total"`   // of all waits so far
	Reached float64 `json:"reached"` // the part of the runs that has time for it
}

// Spread says where a duration is.
type Spread struct {
	Least    Millis `json:"least"`
	Median   Millis `json:"median"`
	P95      Millis `json:"p95"`
	Greatest Millis `json:"greatest"`
}

// Expectation is what comes of calls that fail at random, each by itself.
type Expectation struct {
	Failing  float64 `json:"failing"`  // the part of the calls that fails
	Calls    *Number `json:"calls"`    // for each run, on average; nil: without end
	Succeeds Number  `json:"succeeds"` // the part of the runs
}

// Number is written in four digits.
type Number float64

// Settings are how a plan is made.
type Settings struct {
	Rows    int       // how many retries are shown, at most
	Runs    int       // how many are played, at most
	Failing []float64 // the parts of calls that fail for which there is an Expectation
	Seed    uint64
}

// Of returns the plan of a policy that has no fault.
func Of(p retry.Policy, s Settings) Plan {
	plan := Plan{Policy: p.String(), policy: p}
	plan.strategy, _ = backoff.Parse(plan.Word("backoff"))
	plan.maxElapsed, _ = time.ParseDuration(plan.Word("max-elapsed"))
	calls, wait := p.WorstCase()
	plan.Wait, plan.retries = Millis(wait), calls
	if calls != retry.Unlimited {
		plan.Calls, plan.retries = &calls, calls-1
	}
	played := plan.play(min(s.Rows, plan.retries), s)
	plan.rows(played)
	for _, failing := range s.Failing {
		plan.Expected = append(plan.Expected, plan.expect(failing, played))
	}
	plan.Warnings = plan.warn(played)
	return plan
}

// Word returns the value of a setting, "" where it is not set, which only the policy's text tells.
func (p *Plan) Word(name string) string {
	for word := range strings.FieldsSeq(p.Policy) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}

// rows fills in the retries for which there is time.
func (p *Plan) rows(played *sample) {
	for i := range played.waits {
		if played.reached(i) == 0 {
			return
		}
		p.Retries = append(p.Retries, Retry{Number: i + 1, Wait: p.wait(i+1, played), Total: p.total(i+1, played), Reached: played.reached(i)})
	}
	p.More = len(played.waits) < p.retries && (len(played.counts) > len(played.waits) || p.maxElapsed == 0)
}

// wait returns where the wait before a retry is, in the runs that have time for it.
func (p *Plan) wait(n int, played *sample) Spread {
	lo, hi := p.strategy.Bounds(n)
	s := Spread{Least: Millis(lo), Greatest: Millis(p.inTime(hi))}
	if p.remembers(n) || played.reached(n-1) < 1 {
		s.Median, s.P95 = quantile(played.waits[n-1], 0.5), quantile(played.waits[n-1], 0.95)
	} else {
		const half = 1 << 63
		s.Median, s.P95 = Millis(p.strategy.Delay(n, 0, half)), Millis(p.strategy.Delay(n, 0, half/10*19))
	}
	return s
}

// inTime cuts what max-elapsed does.
func (p *Plan) inTime(d time.Duration) time.Duration {
	if p.maxElapsed > 0 {
		return min(d, p.maxElapsed)
	}
	return d
}

// remembers reports whether a wait depends on the one before.
func (p *Plan) remembers(n int) bool {
	return p.strategy.Delay(n, 0, math.MaxUint64) != p.strategy.Delay(n, math.MaxInt64, math.MaxUint64)
}

func (p *Plan) total(n int, played *sample) Spread {
	if n == 1 {
		return p.wait(n, played)
	}
	lo, hi := p.strategy.Total(n)
	return Spread{Millis(lo), quantile(played.totals[n-1], 0.5), quantile(played.totals[n-1], 0.95), Millis(p.inTime(hi))}
}

// expect adds up the chances that there is a call: of each retry, that all calls before it
// have failed, and that there is time for it.
func (p *Plan) expect(failing float64, played *sample) Expectation {
	e := Expectation{Failing: failing}
	calls, failed, before := 1.0, 0.0, 1.0 // before: that the run has come to this call
	for i := 0; i < p.retries && before > 1e-12; i++ {
		if p.maxElapsed == 0 && i >= len(played.waits) {
			left := p.retries
			if left != retry.Unlimited {
				left -= i
			}
			more := geometric(failing, left)
			calls, before = calls+before*failing*more.sum, before*more.last
			break
		}
		now := before * failing * played.reached(i) / played.reachedBefore(i)
		failed += before*failing - now // there was no time for another
		calls, before = calls+now, now
	}
	e.Succeeds = Number(1 - failed - before*failing)
	if !math.IsInf(calls, 1) && !(failing == 1 && played.endless) {
		e.Calls = new(Number(calls))
	}
	return e
}

// series is 1 + q + q² + … of so many terms, and the last of them by q.
type series struct{ sum, last float64 }

func geometric(q float64, terms int) series {
	n := float64(terms)
	switch {
	case q < 1 && terms == retry.Unlimited:
		return series{1 / (1 - q), 0}
	case q < 1:
		return series{(1 - math.Pow(q, n)) / (1 - q), math.Pow(q, n)}
	case terms == retry.Unlimited:
		return series{math.Inf(1), 1}
	}
	return series{n, 1}
}
