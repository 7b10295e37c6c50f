package budget

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

// A Budget is a bucket of tokens that retries take and successes bring, by the rules of
// its [Config]. It is a [retry.Limiter]: give it to every policy whose retries go to one
// target. Make one with [New]; the zero Budget is a fault of the policy that has it.
//
// It is safe for concurrent use, has no lock and no goroutine, and looks at the clock only
// where there is a Floor. Every method takes effect at one instant. A success is one load
// while the bucket is full, as it is while all goes well.
type Budget struct {
	// What is missing: the instant at which the bucket will be full, in units since it
	// was made, if nothing happens; any instant that has passed means that it is full. A
	// token is worth the time in which one comes by the Floor. Where there is none, time
	// stands still at 0.
	fullAt  atomic.Int64
	refused atomic.Uint64

	base     int64 // what a retry costs
	limit    int64 // less than this may be missing after a retry has paid
	capacity int64
	deposit  int64
	unit     int64 // of a token
	rule     rule
	timed    bool // there is a Floor
	plain    bool // there is none, every retry costs the same, and only retries pay

	config Config
	made   time.Time
	err    error
}

var errZero = errors.New("budget: a nil or zero Budget: want one made by budget.New")

// New returns a budget that is full. A fault in c is one of the policies that have it, too:
// see [Budget.Err].
func New(c Config) *Budget {
	b := &Budget{config: c, rule: c.rule, timed: c.has(setFloor), made: time.Now(), err: c.Err()}
	if b.err != nil {
		return b
	}
	b.unit = int64(c.unit())
	b.base = int64(c.baseCost()) * b.unit
	b.deposit = int64(math.Round(c.fraction() * c.unit()))
	b.capacity = int64(c.tokens()) * b.unit
	b.limit = b.capacity + 1
	b.plain = !b.timed && c.costs == nil && b.rule != onFailure
	if b.rule == onFailure {
		b.limit = (b.capacity + 1) / 2 // more than half is left
	}
	return b
}

// Err returns the faults of the budget's rules, or nil. A policy asks for it.
func (b *Budget) Err() error {
	if b == nil || b.made.IsZero() {
		return errZero
	}
	return b.err
}

// Allow takes what a retry costs after err, and reports whether it may be made.
// [retry.Policy.Limit] has it asked. The context is not looked at.
func (b *Budget) Allow(_ context.Context, err error) (paid int64, ok bool) {
	fullAt := b.fullAt.Load()
	if next := max(fullAt, 0) + b.base; b.plain && next < b.limit && b.fullAt.CompareAndSwap(fullAt, next) {
		return b.base, true // as allow would say, sooner
	}
	return b.allow(b.now(), err)
}

// Done brings what is due at the end of a run. [retry.Policy.Limit] has it told. What was
// paid for a retry that was not made comes back in any case.
func (b *Budget) Done(o retry.Outcome) {
	if b.fullAt.Load() > 0 || b.rule == onFailure { // or nothing can come
		b.add(b.now(), b.due(o))
	}
}

// AllowAt is Allow at an instant of another clock, which counts from the making of the
// budget: for a simulation. Use one clock for all calls. Where there is no Floor, time does
// not matter.
func (b *Budget) AllowAt(now time.Duration, err error) (paid int64, ok bool) {
	return b.allow(b.instant(now), err)
}

// DoneAt is Done at an instant of another clock: see [Budget.AllowAt].
func (b *Budget) DoneAt(now time.Duration, o retry.Outcome) { b.add(b.instant(now), b.due(o)) }

// now is the instant, if it matters.
func (b *Budget) now() int64 {
	if !b.timed {
		return 0
	}
	return b.instant(time.Since(b.made))
}

func (b *Budget) instant(now time.Duration) int64 {
	if !b.timed {
		return 0
	}
	return max(int64(now), 0)
}

func (b *Budget) allow(now int64, err error) (paid int64, ok bool) {
	cost := b.base
	if b.config.costs != nil {
		cost = b.cost(err)
	}
	if !b.take(now, cost) {
		b.refused.Add(1)
		return 0, false
	}
	if b.rule == onFailure { // the failure paid, not the retry
		return 0, true
	}
	return cost, true
}

// cost returns what a retry after err takes, in units.
func (b *Budget) cost(err error) int64 {
	for _, c := range b.config.costs {
		if c.class.Matches(err) {
			return int64(c.n) * b.unit
		}
	}
	return b.base
}

// take takes what a retry costs, and reports whether it could.
func (b *Budget) take(now, cost int64) bool {
	for {
		fullAt := b.fullAt.Load()
		next := max(fullAt, now) + cost
		ok := next-now < b.limit
		if !ok {
			if b.rule != onFailure {
				return false
			}
			next = min(next, now+b.capacity) // it pays all the same
		}
		if b.fullAt.CompareAndSwap(fullAt, next) {
			return ok
		}
	}
}

// add brings units, or takes them where the number is negative: as many as there are.
func (b *Budget) add(now, units int64) {
	switch fullAt := b.fullAt.Load(); {
	case units < 0:
		b.take(now, -units)
	case units == 0:
	case fullAt > now:
		b.fullAt.Add(-units) // an instant that has passed, perhaps: it is full then
	case fullAt > 0:
		b.fullAt.CompareAndSwap(fullAt, 0) // full: so nobody need look at the clock to see it
	}
}

// due returns the units that come at the end of a run; below 0: that go.
func (b *Budget) due(o retry.Outcome) (units int64) {
	made := o.Paid
	if o.Unmade {
		units, made = o.Paid, 0
	}
	succeeded := o.Reason == retry.Succeeded
	switch rule := b.rule; {
	case rule == refunds && made > 0 && (succeeded || o.Reason == retry.NotRetryable):
		units += made
	case rule == onFailure && failed(o.Reason):
		units -= b.base
	case succeeded || rule == onEveryRun:
		units += b.deposit
	}
	return units
}

// failed reports whether a run ended with a failure that Allow was not asked about, though
// it was one that is retried.
func failed(r retry.Reason) bool {
	switch r {
	case retry.TimeSpent, retry.Exhausted, retry.HintTooLong, retry.TimeWouldExceed, retry.DeadlineWouldExceed, retry.Partial:
		return true
	}
	return false
}

// A Snapshot holds the numbers of a [Budget] at one instant, for metrics.
type Snapshot struct {
	Tokens  float64 // that there are
	Max     int     // that there can be
	Refused uint64  // retries that were, since the budget was made
}

// Snapshot returns the budget's numbers. The count of what was refused may be of a
// later instant than the tokens.
func (b *Budget) Snapshot() Snapshot { return b.snapshot(b.now()) }

// SnapshotAt is Snapshot at an instant of another clock: see [Budget.AllowAt].
func (b *Budget) SnapshotAt(now time.Duration) Snapshot { return b.snapshot(b.instant(now)) }

func (b *Budget) snapshot(now int64) Snapshot {
	s := Snapshot{Refused: b.refused.Load()}
	if b.Err() == nil {
		missing := max(b.fullAt.Load()-now, 0)
		s.Tokens, s.Max = float64(b.capacity-missing)/float64(b.unit), b.config.tokens()
	}
	return s
}

// String returns the rules and the balance in words.
func (b *Budget) String() string {
	if err := b.Err(); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%v: %.1f tokens", b.config, b.Snapshot().Tokens)
}
