package retry

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// Failure is all that [Policy.Next] looks at: a call that ended, and where the
// run stands. A negative number reads as 0.
type Failure struct {
	Err      error         // what the call returned
	Retries  int           // retries made before this failure: 0 after the first call
	Prev     time.Duration // the Drawn of the decision before; 0 at first
	Elapsed  time.Duration // since the run began; looked at only under MaxElapsed
	Left     time.Duration // until the context's deadline (Do looks at it only where a wait is due)
	Deadline bool          // the context has a deadline, so Left counts
	Ended    bool          // the context has ended
	Stale    bool          // the call awaited a future that had failed before the call began
	Draw     uint64        // a uniform random word, as rand.Uint64 gives it; with 0 a jittered wait is its least

	began time.Time // of a run that has to know how long it lasts; else zero
	still bool      // of a run without a wait: see Policy.still
	last  bool      // no retry may follow, whatever MaxRetries says: Retries is then the greatest int
}

// tick reads the clock, where the run has one.
func (f *Failure) tick() {
	if !f.began.IsZero() {
		f.Elapsed = time.Since(f.began)
	}
}

// Decision is what [Policy.Next] says of a Failure.
type Decision struct {
	Retry  bool          // make the call again, after Wait
	Wait   time.Duration // the wait before the next call; 0 without Retry
	Drawn  time.Duration // the strategy's part of it: the Prev of the next Failure
	Source Source        // where Wait comes from
	Reason Reason        // why not; 0 with Retry
}

// Next decides what follows a call: whether it is made again, after which wait,
// or why not. It is the one place that decides: everything that retries asks it.
//
// It is pure, but for the policy's own predicates: it reads no clock and no
// random source (also not the policy's Rand), and keeps nothing. The tests stand
// in this order, and the first that holds ends the run:
//
//	no error                                    Succeeded
//	the context has ended                       Cancelled
//	an awaited future had failed before         StaleFuture
//	Permanent; Except, On, If say no            NotRetryable
//	Elapsed has reached MaxElapsed              TimeSpent
//	no retries are left                         Exhausted
//	the hint is above the greatest, HintRefuse  HintTooLong
//	the wait would reach MaxElapsed             TimeWouldExceed
//	the wait would reach the deadline           DeadlineWouldExceed
//
// (What only a run knows can still end it: its limiter, Throttled.)
// A policy with a fault refuses every failure (Refused).
func (p Policy) Next(f Failure) Decision {
	if p.Err() != nil {
		return Decision{Reason: Refused}
	}
	f.Retries, f.Elapsed = max(f.Retries, 0), max(f.Elapsed, 0)
	w, reason := p.decide(nil, &f) //nolint:staticcheck // no context: pure
	if reason != 0 {
		return Decision{Reason: reason}
	}
	return Decision{Retry: true, Wait: w.wait, Drawn: w.drawn, Source: w.source()}
}

// pause is the wait of a decision, and the part of it that the strategy gave.
type pause struct{ wait, drawn time.Duration }

func (w pause) source() Source {
	if w.wait > w.drawn {
		return FromHint
	}
	return FromBackoff
}

// decide is Next for a policy without a fault: it returns the wait before the
// next call, or why there is none. A driver passes its context: the random word,
// the time and the time left are then read here, and only where they count.
//
// (It returns few words, and takes Failure by pointer, because copies of structs
// were most of its cost.)
func (p *Policy) decide(ctx context.Context, f *Failure) (pause, Reason) {
	switch {
	case f.Err == nil:
		return pause{}, Succeeded
	case f.Ended:
		return pause{}, Cancelled
	case f.Stale:
		return pause{}, StaleFuture
	}
	isPermanent, hint := inspect(f.Err)
	if isPermanent || p.more != nil && !p.more.retryable(f.Err) {
		return pause{}, NotRetryable
	}
	if p.has(setMaxElapsed) {
		if f.tick(); f.Elapsed >= p.more.maxElapsed {
			return pause{}, TimeSpent
		}
	}
	if n := p.maxRetries(); f.Retries >= n && (n != Unlimited || f.last) {
		return pause{}, Exhausted
	}
	if f.Retries == 0 && ctx != nil {
		f.still = p.still()
	}
	if f.still && hint == 0 {
		return pause{}, 0 // as the rest would say, sooner
	}
	return p.pause(ctx, f, hint)
}

// retryable reports whether Except, On and If let the error through.
func (s *settings) retryable(err error) bool {
	err = unmarked(err)
	if anyMatches(s.except, err) || len(s.on) > 0 && !anyMatches(s.on, err) {
		return false
	}
	for _, ok := range s.ifs {
		if !ok(err) {
			return false
		}
	}
	return true
}

// pause computes the wait and makes the tests that need it.
func (p *Policy) pause(ctx context.Context, f *Failure, hint time.Duration) (w pause, reason Reason) {
	if hint > 0 {
		if hint, reason = p.admit(hint); reason != 0 {
			return w, reason
		}
	}
	s := p.strategy()
	if ctx != nil && s.Random() {
		f.Draw = p.random()
	}
	w.drawn = s.Delay(f.next(), f.Prev, f.Draw)
	w.wait = w.drawn
	if hint > 0 {
		w.wait = max(w.drawn, p.hinted(f, hint, w.drawn))
	}
	if p.has(setMaxElapsed) && w.wait >= p.more.maxElapsed-f.Elapsed {
		return w, TimeWouldExceed
	}
	if ctx != nil && w.wait > 0 {
		f.look(ctx)
	}
	if f.Deadline && w.wait >= f.Left {
		return w, DeadlineWouldExceed
	}
	return w, 0
}

// hinted is the wait that a hint asks for, with the drawn part of the strategy's added.
func (p *Policy) hinted(f *Failure, hint, drawn time.Duration) time.Duration {
	lo, _ := p.strategy().Bounds(f.next())
	return sum(hint, drawn-lo)
}

// random returns a random word.
func (p *Policy) random() uint64 {
	if p.has(setRand) {
		return p.more.rand()
	}
	return rand.Uint64()
}

// next returns the number of the retry that may follow, from 1.
func (f *Failure) next() int {
	if f.Retries == math.MaxInt {
		return f.Retries
	}
	return f.Retries + 1
}

// look reads the time that is left until the deadline of ctx.
func (f *Failure) look(ctx context.Context) {
	var deadline time.Time
	if deadline, f.Deadline = ctx.Deadline(); f.Deadline {
		f.Left = time.Until(deadline)
	}
}

// sum returns a + b, at most the longest wait. Neither is negative.
func sum(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
