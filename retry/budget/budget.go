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
	fullAt atomic.Int64

	allowed, refused atomic.Uint64

	config   Config
	err      error
	made     time.Time
	unit     int64 // of a token
	capacity int64
	most     int64 // that may be missing after a retry has paid
	deposit  int64
}

// New returns a budget that is full. A fault in c is one of the policies that have it, too:
// see [Budget.Err].
func New(c Config) *Budget {
	b := &Budget{config: c, err: c.Err(), made: time.Now()}
	if b.err != nil {
		return b
	}
	b.unit = int64(c.unit())
	b.capacity = int64(c.tokens()) * b.unit
	b.most = b.capacity
	if c.rule == onFailure {
		b.most = (b.capacity - 1) / 2 // more than half is left
	}
	b.deposit = int64(math.Round(c.fraction() * c.unit()))
	return b
}

var errZero = errors.New("budget: a nil or zero Budget: want one made by budget.New")

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
	return b.AllowAt(b.now(), err)
}

// Done brings what is due at the end of a run. [retry.Policy.Limit] has it told. What was
// paid for a retry that was not made comes back in any case.
func (b *Budget) Done(o retry.Outcome) {
	if due := b.due(o); due < 0 || due > 0 && b.fullAt.Load() != 0 {
		b.add(b.instant(b.now()), due)
	}
}

// AllowAt is Allow at an instant of another clock, which counts from the making of the
// budget: for a simulation. Use one clock for all calls. Where there is no Floor, time does
// not matter.
func (b *Budget) AllowAt(now time.Duration, err error) (paid int64, ok bool) {
	cost := b.cost(err)
	if b.Err() == nil && b.take(b.instant(now), cost) {
		b.allowed.Add(1)
		return cost, true
	}
	b.refused.Add(1)
	return 0, false
}

// DoneAt is Done at an instant of another clock: see [Budget.AllowAt].
func (b *Budget) DoneAt(now time.Duration, o retry.Outcome) { b.add(b.instant(now), b.due(o)) }

// now is the time since the budget was made, if it matters.
func (b *Budget) now() time.Duration {
	if !b.config.has(setFloor) {
		return 0
	}
	return time.Since(b.made)
}

func (b *Budget) instant(now time.Duration) int64 {
	if !b.config.has(setFloor) {
		return 0
	}
	return max(int64(now), 0)
}

// cost returns what a retry after err takes, in units.
func (b *Budget) cost(err error) int64 {
	for _, c := range b.config.costs {
		if c.class.Matches(err) {
			return int64(c.n) * b.unit
		}
	}
	return int64(b.config.baseCost()) * b.unit
}

// take takes what a retry costs, and reports whether it could.
func (b *Budget) take(now, cost int64) bool {
	for {
		fullAt := b.fullAt.Load()
		next := max(fullAt, now) + cost
		ok := next-now <= b.most
		switch {
		case ok:
		case b.config.rule == onFailure: // pays all the same
			next = min(next, now+b.capacity)
		default:
			return false
		}
		if b.fullAt.CompareAndSwap(fullAt, next) {
			return ok
		}
	}
}

// add brings units, or takes them where the number is negative: as many as there are.
func (b *Budget) add(now, units int64) {
	for units != 0 {
		fullAt := b.fullAt.Load()
		next := min(max(fullAt, now)-units, now+b.capacity)
		if next <= now {
			next = 0 // full: nobody need look at the clock to see it
		}
		if next == fullAt || b.fullAt.CompareAndSwap(fullAt, next) {
			return
		}
	}
}

// due returns the units that come at the end of a run; below 0: that go.
func (b *Budget) due(o retry.Outcome) (units int64) {
	made := o.Paid
	if o.Unmade {
		units, made = o.Paid, 0
	}
	succeeded := o.Reason == retry.Succeeded
	switch rule := b.config.rule; {
	case rule == refunds && made > 0 && (succeeded || o.Reason == retry.NotRetryable):
		units += made
	case rule == onFailure && failed(o.Reason):
		units -= b.cost(nil)
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
	Allowed uint64  // retries, since the budget was made
	Refused uint64  // retries, since the budget was made
}

// Snapshot returns the budget's numbers. The tokens are those of one instant; the counts
// may be of a later one.
func (b *Budget) Snapshot() Snapshot { return b.SnapshotAt(b.now()) }

// SnapshotAt is Snapshot at an instant of another clock: see [Budget.AllowAt].
func (b *Budget) SnapshotAt(now time.Duration) Snapshot {
	if b.Err() != nil {
		return Snapshot{Refused: b.refused.Load()}
	}
	at := b.instant(now)
	missing := max(b.fullAt.Load()-at, 0)
	return Snapshot{
		Tokens: float64(b.capacity-missing) / float64(b.unit), Max: b.config.tokens(),
		Allowed: b.allowed.Load(), Refused: b.refused.Load(),
	}
}

// String returns the rules and the balance in words.
func (b *Budget) String() string {
	if err := b.Err(); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%v: %.1f tokens", b.config, b.Snapshot().Tokens)
}
