package property_test

import (
	"context"
	"math"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

const (
	never = time.Duration(math.MaxInt64)
	years = never / 64 // a bubble's clock ends in 2262, and some runs are made in it
)

// step is what one call does.
type step struct {
	takes   time.Duration
	obeys   string // "": it looks at no context; else it ends with it and returns its "err" or its "cause"
	awaits  string // "", "old": a future that failed before the run; "new": one begun in the call
	old     int    // which old one
	fails   *tree  // nil: success
	cancels bool   // it ends the run's context before it returns
}

// script is a run: what the policy is, what the calls do, when the context ends.
type script struct {
	faulty         bool
	backoff        *curve // nil: the default
	retries        int    // -1: the default
	maxElapsed     time.Duration
	attemptTimeout time.Duration
	mode           retry.HintMode
	maxHint        time.Duration // 0: the default
	on, except     []pick
	ifs            []string
	allows         []bool // what a limiter says, the last again and again; nil: there is none
	wrap, info     bool
	hooked         bool

	leaves    int  // the round in which a loop over Attempts is left; 0: in none
	undecided bool // before it has set the error
	partial   int  // the run of a stream that gives its element before it fails; 0: none
	stops     bool // after which the consumer wants no more

	steps []step // then success
	words []uint64

	cancelAt   time.Duration // never; 0: before the run
	cancelHook int           // the event in which the hook cancels; -1: none
	by         error         // the cause of a cancel; nil: none is given
	deadline   time.Duration // never; 0: before the run
	late       error         // the cause of the deadline; nil: none is given
}

// told is what must come out.
type told struct {
	calls    []callTold
	reason   retry.Reason
	value    int   // of the last call
	last     *tree // the last call's error, bare; nil: it succeeded, or was not made
	fault    bool
	wrapped  bool // the caller gets an *Error
	ctxErr   error
	cause    error
	elapsed  time.Duration // of the *Error
	earlier  []error
	end      time.Duration // when the driver returns
	events   []retry.Event // the error of Finished is what the caller gets
	drawn    int           // waits that were thought of
	asked    []error       // what the limiter is asked about
	decided  []decided
	tie      bool // two things happen at one instant: either may be first
	overlong bool // it takes years
}

type callTold struct {
	at, ended    time.Duration
	number, left int
	before       error
}

// decided is what Next says of a failure.
type decided struct {
	failure  retry.Failure
	decision retry.Decision
}

// run is the model at work: the design's words, one after the other, with a
// number for a clock.
type run struct {
	script
	told
	now      time.Duration
	prev     time.Duration
	previous *tree // what the call before failed with
	awaited  *tree // and where it awaited that from a future
	bares    []error
}

// model plays the script.
func (s script) model() told {
	r := run{script: s}
	r.play()
	r.end, r.elapsed = r.now, 0
	if s.maxElapsed > 0 || s.hooked || s.wrap {
		r.elapsed = r.now
	}
	r.wrapped = r.reason == retry.Cancelled || r.reason == retry.DeadlineWouldExceed ||
		s.wrap && r.reason != retry.Refused && r.reason != retry.Succeeded
	if n := len(r.bares) - 1; n > 4 {
		r.earlier = append(append(r.earlier, r.bares[:2]...), r.bares[n-2:n]...)
	} else if n > 0 {
		r.earlier = r.bares[:n]
	}
	r.tell(retry.Event{Kind: retry.Finished, Call: len(r.calls), Reason: r.reason})
	return r.told
}

func (r *run) play() {
	if r.faulty {
		r.fault, r.reason = true, retry.Refused
		return
	}
	r.pass(0)
	for !r.dead() {
		failed := r.call()
		if r.enough() && (r.undecided || failed != nil) {
			r.reason, r.ctxErr, r.cause = retry.Abandoned, nil, nil // the context did not end it
			return
		}
		if failed == nil {
			r.last, r.reason = nil, retry.Succeeded
			return
		}
		wait, reason := r.decide(failed)
		if r.reason = reason; reason != 0 {
			return
		}
		if !r.pass(wait) {
			break
		}
		if r.overlong = r.now > years; r.overlong {
			return
		}
	}
	r.reason = retry.Cancelled
}

// enough reports whether the consumer wants no more after this call.
func (r *run) enough() bool {
	return r.leaves == len(r.calls) || r.stops && r.partial == len(r.calls)
}

func (r *run) dead() bool { return r.ctxErr != nil }

func (r *run) ends(err, cause error) {
	if r.dead() {
		return
	}
	if r.ctxErr, r.cause = err, cause; cause == nil {
		r.cause = err
	}
}

// pass lets time pass, or as much of it as the context lives, and reports whether it does.
func (r *run) pass(d time.Duration) bool {
	if r.dead() {
		return false
	}
	until := r.now + d
	if d > never-r.now {
		until = never
	}
	first := min(r.cancelAt, r.deadline)
	if first == never || first > until {
		r.now = until
		return true
	}
	r.tie = r.tie || first == until && d > 0 || r.cancelAt == r.deadline
	r.now = max(first, r.now)
	if first == r.cancelAt {
		r.ends(context.Canceled, r.by)
	} else {
		r.ends(context.DeadlineExceeded, r.late)
	}
	return false
}

// tell reports an event, in which a hook may end the context.
func (r *run) tell(e retry.Event) {
	if !r.hooked {
		return
	}
	e.Elapsed = r.now
	r.events = append(r.events, e)
	if len(r.events)-1 == r.cancelHook && e.Kind != retry.Finished {
		r.ends(context.Canceled, r.by)
	}
}

func (r *run) retriesLeft() int {
	switch r.retries {
	case -1:
		return 3 - (len(r.calls) - 1)
	case retry.Unlimited:
		return retry.Unlimited
	}
	return r.retries - (len(r.calls) - 1)
}

// call makes a call and returns its error, as the operation returned it.
func (r *run) call() *tree {
	number := len(r.calls) + 1
	r.calls = append(r.calls, callTold{number: number})
	c := &r.calls[number-1]
	r.tell(retry.Event{Kind: retry.Started, Call: number})
	c.at, c.left = r.now, r.retriesLeft()
	if r.previous != nil {
		c.before = r.previous.bare().err
	}
	s := step{}
	if number <= len(r.steps) {
		s = r.steps[number-1]
	}
	failed, awaited := r.does(s)
	if s.cancels {
		r.ends(context.Canceled, r.by)
	}
	c.ended, r.value = r.now, number
	if r.leaves == number && r.undecided {
		r.putBack()
		return nil
	}
	stale := awaited && s.awaits == "old" && r.awaited != nil && r.awaited.err == failed.err
	r.previous, r.awaited = failed, nil
	if failed == nil {
		return nil
	}
	if awaited {
		r.awaited = failed
	}
	r.last = failed.bare()
	r.bares = append(r.bares, r.last.err)
	r.tell(retry.Event{Kind: retry.Failed, Call: number, Err: r.last.err})
	r.decided = append(r.decided, decided{failure: retry.Failure{Stale: stale}})
	return failed
}

// putBack gives a loop that was left the error of the round before.
func (r *run) putBack() {
	r.last = known(retry.ErrAbandoned)
	if r.previous != nil {
		r.last = r.previous.bare()
	}
}

// does is the operation: what it returns, and whether a future's failure came to it.
func (r *run) does(s step) (failed *tree, awaited bool) {
	if s.obeys != "" {
		if err, cause := r.interrupted(s.takes); err != nil {
			if s.obeys == "cause" {
				err = cause
			}
			return known(err), false
		}
	} else {
		r.busy(s.takes)
	}
	switch {
	case s.awaits == "old":
		return leaf([]string{"old 0", "old 1", "old 0"}[s.old]), true
	case s.awaits == "new" && !r.dead() && (r.attemptTimeout == 0 || s.takes < r.attemptTimeout):
		return s.fails, s.fails != nil
	}
	return s.fails, false
}

// busy passes the time whatever the context does.
func (r *run) busy(d time.Duration) {
	until := r.now + d
	r.pass(d)
	r.now = until
}

// interrupted passes the time as far as the context of the attempt lives.
func (r *run) interrupted(d time.Duration) (err, cause error) {
	if limit := r.attemptTimeout; limit > 0 && limit < d {
		if r.pass(limit) {
			return context.DeadlineExceeded, retry.ErrAttemptTimeout
		}
		return r.ctxErr, r.cause
	}
	r.pass(d)
	return r.ctxErr, r.cause
}
