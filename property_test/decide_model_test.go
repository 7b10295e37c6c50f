package property_test

import (
	"context"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

// decide is the order of the tests after a failed call.
func (r *run) decide(failed *tree) (wait time.Duration, why retry.Reason) {
	d := &r.decided[len(r.decided)-1]
	wait, why = r.judge(failed, &d.failure, &d.decision)
	d.decision.Reason = why
	d.decision.Retry = why == 0
	if why != 0 {
		d.decision = retry.Decision{Reason: why}
		return 0, why
	}
	d.decision.Wait, r.prev = wait, d.decision.Drawn
	if !r.allowed(failed) {
		return 0, retry.Throttled
	}
	r.tell(retry.Event{Kind: retry.Scheduled, Call: len(r.calls), Err: failed.bare().err, Delay: wait, Source: d.decision.Source})
	return wait, 0
}

func (r *run) judge(failed *tree, f *retry.Failure, d *retry.Decision) (wait time.Duration, why retry.Reason) {
	n := len(r.calls) // the number of the retry to come
	f.Err, f.Retries, f.Prev, f.Elapsed, f.Ended = failed.err, n-1, r.prev, r.now, r.dead()
	switch {
	case r.dead():
		return 0, retry.Cancelled
	case f.Stale:
		return 0, retry.StaleFuture
	case failed.permanent() || !r.wanted(failed):
		return 0, retry.NotRetryable
	case r.maxElapsed > 0 && r.now >= r.maxElapsed:
		return 0, retry.TimeSpent
	case r.partial == n:
		return 0, retry.Partial
	case r.retriesLeft() <= 0:
		return 0, retry.Exhausted
	}
	if h := failed.asks(); h > r.longestHint() && r.mode == retry.HintRefuse {
		return 0, retry.HintTooLong
	}
	wait = r.wait(n, failed.asks(), f, d)
	if left := r.deadline - r.now; r.deadline != never && wait > 0 {
		f.Deadline, f.Left = true, left
	}
	switch {
	case r.maxElapsed > 0 && wait >= r.maxElapsed-r.now:
		return 0, retry.TimeWouldExceed
	case f.Deadline && wait >= f.Left:
		r.ctxErr, r.cause = context.DeadlineExceeded, context.DeadlineExceeded
		return 0, retry.DeadlineWouldExceed
	}
	return wait, 0
}

// allowed is the limiter's answer.
func (r *run) allowed(failed *tree) bool {
	if r.allows == nil {
		return true
	}
	r.asked = append(r.asked, failed.bare().err)
	return r.allows[min(len(r.asked), len(r.allows))-1]
}

func (r *run) wanted(failed *tree) bool {
	for _, p := range r.except {
		if p.matches(failed) {
			return false
		}
	}
	let := len(r.on) == 0
	for _, p := range r.on {
		let = let || p.matches(failed)
	}
	for _, q := range r.ifs {
		let = let && says(q, failed)
	}
	return let
}

func (r *run) longestHint() time.Duration {
	if r.maxHint == 0 {
		return 5 * time.Minute
	}
	return r.maxHint
}

// wait is the wait before retry n, of the strategy or of a hint.
func (r *run) wait(n int, hint time.Duration, f *retry.Failure, d *retry.Decision) time.Duration {
	c := curve{kind: "constant", first: time.Second}
	if r.backoff != nil {
		c = *r.backoff
	}
	if c.random() {
		f.Draw = r.words[r.drawn%len(r.words)]
		r.drawn++
	}
	lo, _ := c.window(n, r.prev)
	d.Drawn = c.wait(n, r.prev, f.Draw)
	if hint == 0 || r.mode == retry.HintIgnore {
		return d.Drawn
	}
	asked, above := min(hint, r.longestHint()), d.Drawn-lo
	if asked > never-above {
		asked = never - above
	}
	if asked+above <= d.Drawn {
		return d.Drawn
	}
	d.Source = retry.FromHint
	return asked + above
}
