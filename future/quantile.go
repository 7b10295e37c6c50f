package future

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// A Quantile learns which delay a given share of calls stays below, from whether each call
// did: see [HedgeAt]. It follows a service that becomes slower or faster. It is one word that
// every call moves: up where the call took longer, down by less where it did not, so that it
// rests where the share is right (stochastic approximation: Robbins and Monro, 1951; for
// quantiles in constant memory: Ma, Muthukrishnan and Sandler, "Frugal Streaming", 2013). The
// word is the logarithm of the delay, a step is a sixteenth, so with p and the first delay
// as given, after n calls
//
//	calls that took longer = (1-p)·n + 16·ln(delay now / first delay)
//
// whatever the calls were like. That is what makes it right for hedging: the extra load is
// 1-p. A slower service is followed within some 16 calls for a factor of e, a faster one
// within 16/(1-p).
//
// Make one with [NewQuantile]; the zero Quantile is a fault of the policy that has it. It is
// safe for concurrent use, without a lock.
type Quantile struct {
	at    atomic.Int64 // 16·ln(delay/first), in steps of 1/unit
	p     float64
	first time.Duration
}

// quantileUnit is how many units a whole step has: to that precision p is used.
const quantileUnit = 1 << 20

// NewQuantile returns a Quantile for the share p of calls, such as 0.95, whose delay is
// first until it learns better. p is above 0 and below 1; first is above 0.
func NewQuantile(p float64, first time.Duration) *Quantile { return &Quantile{p: p, first: first} }

// Err returns the faults of its settings, joined, or nil. A policy asks for it.
func (q *Quantile) Err() error {
	if q == nil {
		return errors.New("future: HedgeAt has a nil Quantile: want one made by NewQuantile")
	}
	var faults []error
	if up, down := q.steps(); !(q.p > 0 && q.p < 1) || up == 0 || down == 0 {
		faults = append(faults, fmt.Errorf("future: the share of NewQuantile is %v: want one above 0 and below 1, such as 0.95", q.p))
	}
	if q.first <= 0 {
		faults = append(faults, fmt.Errorf("future: the first delay of NewQuantile is %v: want more than 0", q.first))
	}
	return errors.Join(faults...)
}

// steps returns how far a call that takes longer moves the word up, and any other down.
func (q *Quantile) steps() (up, down int64) {
	up = int64(math.Round(q.p * quantileUnit))
	return up, quantileUnit - up
}

// Delay returns the delay that was learned.
func (q *Quantile) Delay() time.Duration {
	d := float64(q.first) * math.Exp(float64(q.at.Load())/(16*quantileUnit))
	return time.Duration(min(max(d, 1), 1<<62))
}

// Observe adds a call: whether it took longer than the Delay of when it began. [Hedge] does
// this for every call whose first try succeeds, or takes longer.
func (q *Quantile) Observe(longer bool) {
	up, down := q.steps()
	if longer {
		q.at.Add(up)
	} else {
		q.at.Add(-down)
	}
}

// String returns the share and the delay, such as "p95, now 20ms".
func (q *Quantile) String() string {
	if err := q.Err(); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("p%v, now %v", 100*q.p, q.Delay())
}
