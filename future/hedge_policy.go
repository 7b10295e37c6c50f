package future

import (
	"errors"
	"fmt"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

// ErrSlow is what the limiter of a [HedgePolicy] is asked with where a try has not failed,
// but taken too long.
var ErrSlow = errors.New("future: no result within the delay of the hedge")

// A HedgePolicy says when [Hedge] tries a second time though the first try has not
// ended. It is a small immutable value; refinements return a changed copy. It is
// safe for concurrent use. The zero value makes one try; MaxHedges on it starts all tries
// at once, so begin with [HedgeAfter] or [HedgeAt].
type HedgePolicy struct {
	delay    time.Duration
	most     int
	quantile *Quantile // nil: delay is the delay
	learned  bool
	limiter  retry.Limiter
	limited  bool
}

// HedgeAfter returns the policy that makes one extra try when d has passed without a
// result. A good d is what most calls take and few exceed, such as the 95th
// percentile: then one call in twenty is tried twice (Dean and Barroso, "The Tail at
// Scale", 2013). d is 0 or more; with 0 the tries start together.
func HedgeAfter(d time.Duration) HedgePolicy { return HedgePolicy{delay: d, most: 1} }

// HedgeAt returns the policy that makes one extra try when a call takes longer than most
// do: the delay is what q has learned from earlier calls under the same policy, and each
// call adds to that.
func HedgeAt(q *Quantile) HedgePolicy { return HedgePolicy{most: 1, quantile: q, learned: true} }

// MaxHedges sets how many extra tries there may be, each the delay after the one before: 0
// or more.
func (h HedgePolicy) MaxHedges(n int) HedgePolicy {
	h.most = n
	return h
}

// Limit has l asked before every extra try, so that hedges cannot multiply the load of a
// service that has become slow: a budget of package retry/budget, the one of the retries to
// the same service. It is asked with [ErrSlow], or with the error of the try that failed, and
// told at the end with Paid 0: what an extra try took is not given back. The first try is
// not asked about. It replaces a limiter given before; nil is a fault.
func (h HedgePolicy) Limit(l retry.Limiter) HedgePolicy {
	h.limiter, h.limited = l, true
	return h
}

// Next says when the next extra try is due, after extra of them were made or refused: wait
// is counted from the start of the try before (or the refusal), and 0 where a try has failed
// since. ok is false where there is to be none. It is pure, but that it reads what a
// [Quantile] has learned; [Hedge] and simulations decide by it.
func (h HedgePolicy) Next(extra int, failed bool) (wait time.Duration, ok bool) {
	if !failed {
		wait = h.settled().delay
	}
	return wait, extra < h.most
}

// settled is the policy with the delay that has been learned.
func (h HedgePolicy) settled() HedgePolicy {
	if h.learned && h.quantile != nil {
		h.delay, h.learned = h.quantile.Delay(), false
	}
	return h
}

// String returns the policy in words.
func (h HedgePolicy) String() string {
	switch {
	case h.most == 0:
		return "no hedges"
	case h.learned:
		return fmt.Sprintf("%d after %v each", h.most, h.quantile)
	}
	return fmt.Sprintf("%d after %v each", h.most, h.delay)
}

// Err returns every fault of the settings, joined, or nil.
func (h HedgePolicy) Err() error {
	var faults []error
	if h.delay < 0 {
		faults = append(faults, fmt.Errorf("future: the delay of HedgeAfter is %v: want 0 or more", h.delay))
	}
	if h.most < 0 {
		faults = append(faults, fmt.Errorf("future: MaxHedges is %d: want 0 or more", h.most))
	}
	if h.learned {
		faults = append(faults, h.quantile.Err())
	}
	if h.limited {
		faults = append(faults, h.limiterFault())
	}
	return errors.Join(faults...)
}

func (h HedgePolicy) limiterFault() error {
	if h.limiter == nil {
		return errors.New("future: HedgePolicy.Limit has a nil limiter: want one, such as budget.New(budget.Default()), or leave Limit out")
	}
	if judge, ok := h.limiter.(interface{ Err() error }); ok {
		return judge.Err()
	}
	return nil
}
