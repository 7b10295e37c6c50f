package plan

import (
	"fmt"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/show"
	"github.com/dacapo-go/dacapo/retry"
)

// A Warning is what is dangerous about a policy, and what to write instead.
type Warning struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Instead string `json:"instead"`
}

// String returns the warning in one line.
func (w Warning) String() string { return fmt.Sprintf("%s: %s: %s", w.Name, w.Text, w.Instead) }

// aLot is more than almost anybody means to wait.
const aLot = time.Hour

// warn looks at all that is known to be dangerous. A policy without retries is not.
func (p *Plan) warn(played *sample) (all []Warning) {
	if p.retries == 0 {
		return nil
	}
	add := func(name, text, instead string) { all = append(all, Warning{name, text, instead}) }
	p.warnOfWaits(add)
	if p.retries == retry.Unlimited && p.maxElapsed == 0 {
		add("no end", "what cannot succeed is retried for ever",
			"write max-elapsed=10m or retries=10; many callers of one service want a budget, too, which is not part of the text")
	} else if p.Wait > Millis(aLot) {
		add("long", fmt.Sprintf("the waits can come to %v", p.Wait), "write fewer retries, or max-elapsed="+round(min(aLot, max(time.Duration(p.Wait)/10, time.Minute))))
	}
	timeout, _ := time.ParseDuration(p.Word("attempt-timeout"))
	switch {
	case timeout == 0:
		add("no attempt-timeout", "an attempt that hangs is neither ended nor retried", "write attempt-timeout=10s, unless the calls have a timeout of their own")
	case p.maxElapsed > 0 && timeout >= p.maxElapsed:
		add("attempt-timeout", "one attempt that hangs takes all of max-elapsed, and is not retried", "write attempt-timeout="+round(p.maxElapsed/time.Duration(min(p.retries, 3)+1)))
	}
	if done := len(played.counts); p.maxElapsed > 0 && p.retries != retry.Unlimited && done < p.retries {
		add("never made", fmt.Sprintf("max-elapsed leaves no time for retries after the first %d", done), fmt.Sprintf("write retries=%d, shorter waits or a longer max-elapsed", done))
	}
	return all
}

func (p *Plan) warnOfWaits(add func(name, text, instead string)) {
	last := min(p.retries, 1<<20)
	_, longest := p.strategy.Bounds(last)
	if _, hi := p.strategy.Total(last); hi == 0 {
		add("no wait", "retries that come at once find the service as it was", "write backoff="+backoff.Exponential(100*time.Millisecond, 2).Cap(10*time.Second).FullJitter().String())
		return
	}
	if _, hi := p.strategy.Bounds(1 << 40); hi > 24*time.Hour {
		add("no cap", fmt.Sprintf("the waits grow without an end, here to %v", Millis(longest)), "write backoff="+p.capped().String())
	}
	if s := p.strategy.FullJitter(); !p.strategy.Random() && s.Err() == nil {
		add("no jitter", "callers that fail together come back together, again and again", "write backoff="+s.String())
	}
}

// capped is the strategy with a cap that its first wait does not pass.
func (p *Plan) capped() backoff.Strategy {
	for limit := 10 * time.Second; limit < 24*time.Hour; limit *= 6 {
		if s := p.strategy.Cap(limit); s.Err() == nil {
			return s
		}
	}
	return p.strategy.Cap(24 * time.Hour)
}

// round is the text of a duration of one or two digits.
func round(d time.Duration) string {
	unit := time.Duration(1)
	for _, u := range []time.Duration{time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute} {
		if d >= 2*u {
			unit = u
		}
	}
	return show.Duration(d.Round(unit))
}
