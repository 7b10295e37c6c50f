package stream

import (
	"context"
	"math/bits"
	"time"

	"github.com/dacapo-go/dacapo/internal/loop"
	"github.com/dacapo-go/dacapo/retry"
)

// Retry returns the stream that runs s again when it fails, as p says; m says what becomes
// of elements that had been delivered. A call of p is a run of s.
//
// Its error is as retry.Do's: the last error of s itself, and where ctx ended or
// WrapErrors asks for it, a [*retry.Error]. A run of s ends, with its context and its
// clean-up, before the wait for the next begins. A consumer that wants no more is no
// failure: s is not run again, and the error is that of its clean-up. A panic of s or of the
// consumer, and runtime.Goexit, pass through.
//
// Each run of the new stream counts for itself. What is kept does not grow with retries or
// elements, but for Buffered's buffer. MaxElapsed is the time of the whole, which no Reset
// begins anew, and AttemptTimeout that of one run of s with the time that its consumer
// takes. A fault in p or m is the error of the run, and s is not run.
func (s Stream[T]) Retry(p retry.Policy, m Mode[T]) Stream[T] {
	if err := joined([]error{p.Err(), m.Err()}); err != nil {
		return Failed[T](err)
	}
	return func(ctx context.Context, yield func(T) bool) error {
		r := rerun{policy: &p, reset: m.reset}
		switch m.kind {
		case skipSeen:
			return r.run(ctx, (&skipping[T]{s: s, yield: yield, hash: m.hash}).attempt)
		case buffered:
			return r.run(ctx, func(ctx context.Context) attempt { return bufferedAttempt(ctx, s, m.max, yield) })
		}
		partial := m.kind == beforeFirst
		return r.run(ctx, func(ctx context.Context) (did attempt) {
			did.err = s.run(ctx, counted(&did.fresh, yield))
			did.gave = did.fresh > 0
			did.partial = partial && did.gave
			return did
		})
	}
}

// counted is yield, but counts the elements delivered in n, and notes in it that yield
// returned false or did not return: n is below 0 then. From then on it returns false.
//
// (The one closure does all that a retry has to know of an element.)
func counted[T any](n *int, yield func(T) bool) func(T) bool {
	return func(v T) bool {
		k := *n
		if k < 0 {
			return false
		}
		*n = ^k
		if !yield(v) {
			return false
		}
		*n = max(k, k+1) // where an int has 32 bits, too
		return true
	}
}

// An attempt is what one run of the source has done.
type attempt struct {
	err     error
	fresh   int  // new elements delivered; below 0: the consumer wants no more
	partial bool // elements are delivered that no retry can deliver again
	moved   bool // an element gave a cursor
	gave    bool // the source gave an element
}

// rerun is what all modes share: one run, with its retries.
type rerun struct {
	policy  *retry.Policy
	reset   Reset
	at      loop.State
	awaited uint64 // see loop.Stepper
	did     attempt
	began   time.Time   // the attempt, where it matters
	total   int         // retries
	recent  []time.Time // a ring of the last retries: see MaxWithin
	oldest  int         // in it
}

// run runs attempts until one is not followed by another.
func (r *rerun) run(ctx context.Context, one func(context.Context) attempt) error {
	if end := loop.Driver.Start(ctx, r.policy, &r.at, false); end != nil {
		return end
	}
	if r.reset.capped&byRate != 0 {
		r.at.Extra().Veto = r.within
	}
	defer loop.Driver.Drop(r.policy, &r.at) // where the source or its consumer does not return
	var timer *time.Timer
	for {
		r.attempt(ctx, one)
		err := r.did.err
		if r.did.fresh < 0 {
			return loop.Driver.Leave(ctx, r.policy, &r.at, err)
		}
		if err != nil && r.recovered() {
			loop.Driver.Recovered(r.policy, &r.at)
		}
		if last := r.last(); last != 0 {
			r.at.Extra().Last = uint8(last)
		}
		wait, again, end := loop.Driver.Return(ctx, r.policy, &r.at, r.awaited, err)
		if !again {
			return end
		}
		r.total++
		timer = waitWith(ctx, timer, wait)
		if end := loop.Driver.Wake(ctx, r.policy, &r.at, end); end != nil {
			return end
		}
	}
}

// attempt makes one attempt, whose context ends with it.
func (r *rerun) attempt(ctx context.Context, one func(context.Context) attempt) {
	ctx, r.awaited = loop.Driver.Call(ctx, r.policy, &r.at)
	ctx, cancel := context.WithCancel(ctx)
	defer r.at.End()
	defer cancel()
	if r.reset.kind == afterTime {
		r.began = time.Now()
	}
	r.did = one(ctx)
}

// waitWith waits for d or the end of ctx, with the timer of the wait before.
func waitWith(ctx context.Context, timer *time.Timer, d time.Duration) *time.Timer {
	switch {
	case d == 0:
		return timer
	case timer == nil:
		timer = time.NewTimer(d)
	default:
		timer.Reset(d)
	}
	select {
	case <-timer.C:
	case <-ctx.Done():
		timer.Stop()
	}
	return timer
}

// recovered reports whether the source had recovered before it failed.
func (r *rerun) recovered() bool {
	switch r.reset.kind {
	case afterElements:
		return r.did.fresh >= r.reset.n
	case afterTime:
		return r.did.gave && time.Since(r.began) >= r.reset.d
	case onProgress:
		return r.did.moved
	}
	return false
}

// last says for which reason no retry may follow, if the policy grants one; 0: one may.
func (r *rerun) last() retry.Reason {
	switch {
	case r.did.partial:
		return retry.Partial
	case r.reset.capped&byTotal != 0 && r.total >= r.reset.total:
		return retry.Exhausted
	}
	return 0
}

// within is asked before a retry that the policy grants, and counts it if it is within
// MaxWithin.
func (r *rerun) within(wait time.Duration) uint8 {
	at := time.Now().Add(wait)
	if len(r.recent) < r.reset.most {
		r.recent = append(r.recent, at)
		return 0
	}
	oldest := &r.recent[r.oldest]
	if at.Sub(*oldest) < r.reset.within {
		return uint8(retry.Exhausted)
	}
	*oldest = at
	r.oldest = (r.oldest + 1) % len(r.recent)
	return 0
}

// bufferedAttempt makes an attempt of Buffered.
func bufferedAttempt[T any](ctx context.Context, s Stream[T], most int, yield func(T) bool) (did attempt) {
	var buffer []T
	full := false
	did.err = s.run(ctx, func(v T) bool {
		if full = full || len(buffer) == most; full {
			return false
		}
		buffer = append(buffer, v)
		return true
	})
	did.gave = len(buffer) > 0
	switch {
	case full:
		did.err = ErrBuffer
	case did.err == nil:
		deliver := counted(&did.fresh, yield)
		for _, v := range buffer {
			if !deliver(v) {
				break
			}
		}
	}
	return did
}

// skipping is a run of SkipSeen. It knows the elements that were delivered by their number
// and a hash over all of them.
type skipping[T any] struct {
	s     Stream[T]
	yield func(T) bool
	hash  func(T) uint64
	seen  uint64
	of    uint64 // the hash of the elements seen
}

// mix adds an element to the hash of those before it.
func mix(all, one uint64) uint64 {
	return (bits.RotateLeft64(all, 5) ^ one) * 0x9E3779B97F4A7C15 // 2⁶⁴ divided by the golden ratio
}

// attempt makes an attempt: it drops what was seen, and delivers the rest.
func (k *skipping[T]) attempt(ctx context.Context) (did attempt) {
	dropped, hash, diverged := uint64(0), uint64(0), false
	deliver := counted(&did.fresh, k.yield)
	seen := k.seen
	did.err = k.s.run(ctx, func(v T) bool {
		one := k.hash(v)
		switch {
		case diverged:
			return false
		case dropped < seen:
			dropped, hash = dropped+1, mix(hash, one)
			return true
		case hash != k.of && did.fresh == 0:
			diverged = true
			return false
		}
		if !deliver(v) {
			return false
		}
		k.seen, k.of = k.seen+1, mix(k.of, one)
		return true
	})
	if diverged || did.err == nil && did.fresh == 0 && hash != k.of {
		did.err = ErrDiverged
	}
	did.gave = did.fresh > 0
	return did
}
