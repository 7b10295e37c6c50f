package retry

import (
	"context"
	"math"
	"time"

	"github.com/dacapo-go/dacapo/internal/eager"
	"github.com/dacapo-go/dacapo/internal/loop"
)

// run is where one run stands. It is the loop that all drivers share; they
// differ in how they call and how they wait.
type run struct {
	calls   int     // the number of the last or current call
	last    Failure // the last call's, for Policy.decide
	earlier earlier
	info    *attemptContext // only under AttemptInfo

	awaited uint64 // failures awaited by anyone, when the call began
	suspect bool   // some were during the call: the next could meet a stale future
	epoch   uint64 // of the call, if it could; then of the failure that it met; else 0
	wait    time.Duration

	paid  loop.Toll
	extra *loop.More // of a driver; nil: none
}

// earlier holds the errors that were overcome: the first two and the last two.
type earlier struct {
	overcome int // how many there were
	errs     [4]error
}

func (e *earlier) add(err error) {
	if e.overcome >= len(e.errs) {
		e.errs[2], e.errs[3] = e.errs[3], err
	} else {
		e.errs[e.overcome] = err
	}
	e.overcome++
}

// last is the error of the call before, or nil in the first.
func (e *earlier) last() error {
	if e.overcome == 0 {
		return nil
	}
	return e.errs[min(e.overcome, len(e.errs))-1]
}

// start judges what is to be judged before the first call. An error is what the
// caller gets: no call is to be made.
func (r *run) start(ctx context.Context, p *Policy, isEager bool) error {
	if p.timed() {
		r.last.began = time.Now()
	}
	err := p.Err()
	if err == nil && isEager {
		err = ErrEagerResult
	}
	if err != nil {
		return r.finish(ctx, p, Refused, err)
	}
	if ctx.Err() != nil {
		return r.finish(ctx, p, Cancelled, nil)
	}
	r.calls = 1
	r.awaited = eager.Awaited()
	return nil
}

// again decides what follows a call that returned *err, and waits. It reports
// whether to call again; if not, *err has become what the caller gets. Without an
// alarm it does not wait and go on: the wait is then left in r.wait.
func (r *run) again(ctx context.Context, p *Policy, a *alarm, err *error) bool {
	if p.more == nil && *err == nil {
		return false // nothing to decide, and nobody to tell
	}
	if r.epoch != 0 || r.awaited != eager.Awaited() {
		r.look(err)
	}
	if p.more != nil && *err != nil {
		r.tell(ctx, p, Failed, *err, pause{})
	}
	r.last.Err, r.last.Ended = *err, ctx.Err() != nil
	w, reason := p.decide(ctx, &r.last)
	r.last.Prev = w.drawn
	if reason != 0 {
		if r.last.last && reason == Exhausted {
			reason = Reason(r.extra.Last)
		}
		*err = r.finish(ctx, p, reason, *err)
		return false
	}
	if p.more != nil || a == nil {
		if reason = r.announce(ctx, p, w, *err); reason != 0 {
			*err = r.finish(ctx, p, reason, *err)
			return false
		}
		if a == nil {
			r.wait = w.wait
			return true
		}
	}
	if !r.last.still || w.wait != 0 {
		if !a.wait(ctx, w.wait) {
			*err = r.finish(ctx, p, Cancelled, *err)
			return false
		}
		r.awaited = eager.Awaited() // what was during the wait does not count
	}
	r.advance(*err)
	return true
}

// announce asks who may turn a retry into a stop, and tells of the retry that follows.
func (r *run) announce(ctx context.Context, p *Policy, w pause, err error) Reason {
	if r.extra != nil && r.extra.Veto != nil {
		if reason := Reason(r.extra.Veto(w.wait)); reason != 0 {
			return reason
		}
	}
	if p.limits() && !r.pay(ctx, p, err) {
		return Throttled
	}
	if p.more != nil {
		r.tell(ctx, p, Scheduled, err, w)
	}
	return 0
}

// begin tells of a call that begins, and returns its context.
func (r *run) begin(ctx context.Context, p *Policy) context.Context {
	r.emit(ctx, p, Event{Kind: Started})
	r.toll().Unmade = false
	return r.young(r.context(ctx, p))
}

// look is called where the call could have met a stale future, or the next could: some
// failure was awaited. It looks whether the call failed with what such a future gave
// it, and takes the mark that says so off.
func (r *run) look(err *error) {
	now := eager.Awaited()
	r.suspect, r.awaited = r.awaited != now, now
	if r.epoch == 0 {
		return
	}
	own, failed := eager.Find(*err, r.last.Err, r.epoch)
	if failed != 0 {
		own, _ = eager.Find(unmarked(own), r.last.Err, r.epoch)
		r.last.Stale = true
	}
	*err, r.epoch = own, failed
}

// advance goes on to the next call, after one that returned err.
func (r *run) advance(err error) {
	if r.calls < math.MaxInt {
		r.earlier.add(err)
		r.calls++
		r.last.Retries++
	}
	if r.suspect {
		r.suspect, r.epoch = false, eager.Open()
	}
}

// young returns the context of a call that tells futures how young the call is.
func (r *run) young(ctx context.Context) context.Context {
	if r.epoch == 0 {
		return ctx
	}
	return eager.With(ctx, r.epoch)
}

// still reports whether the policy neither waits nor runs code of the user's
// between two calls, so that ctx need be looked at only once there.
func (p *Policy) still() bool { return p.more == nil && p.backoff == noWait }

// finish returns what the caller gets from a run that ended for reason, when the
// last call returned err.
func (r *run) finish(ctx context.Context, p *Policy, reason Reason, err error) error {
	r.last.tick()
	err = r.result(ctx, p, reason, unmarked(err))
	if p.more != nil { // spares the event
		r.settle(p, reason)
		r.emit(ctx, p, Event{Kind: Finished, Err: err, Reason: reason})
	}
	if reason == StaleFuture { // so it may be for a run around this one
		err = eager.Mark(ctx, r.epoch, err)
	}
	return err
}

func (r *run) result(ctx context.Context, p *Policy, reason Reason, last error) error {
	switch {
	case reason == Succeeded || reason == Refused:
		return last
	case reason != Cancelled && reason != DeadlineWouldExceed && !p.has(setWrapErrors):
		return last
	}
	e := &Error{Reason: reason, Attempts: r.calls, Elapsed: r.last.Elapsed, Last: last, earlier: r.earlier}
	switch reason {
	case Cancelled:
		e.ended, e.Cause = ctx.Err(), context.Cause(ctx)
	case DeadlineWouldExceed: // the cause that was given with the deadline cannot be known yet
		e.ended, e.Cause = context.DeadlineExceeded, context.DeadlineExceeded
	}
	return e
}

// tell emits what is said of a failure. (Apart from again, for the size of its frame.)
func (r *run) tell(ctx context.Context, p *Policy, k Kind, err error, w pause) {
	r.emit(ctx, p, Event{Kind: k, Err: unmarked(err), Delay: w.wait, Source: w.source()})
}

// emit reads the clock and hands the event to the policy's hooks, with the call
// and the time.
func (r *run) emit(ctx context.Context, p *Policy, e Event) {
	if p.more == nil {
		return
	}
	r.last.tick()
	e.Call, e.Elapsed = r.calls, r.last.Elapsed
	for _, hook := range p.more.events {
		if hook != nil { // a fault: the run that it belongs to was refused
			hook(ctx, e)
		}
	}
}

// alarm waits. Its timer is made at the first wait and used again. (It is not a
// part of run: a timer that is reset leaks what it stands in to the heap.)
type alarm struct{ timer *time.Timer }

// wait waits for d or the end of ctx, and reports whether ctx still lives.
func (a *alarm) wait(ctx context.Context, d time.Duration) bool {
	switch {
	case d == 0:
		return ctx.Err() == nil
	case a.timer == nil:
		a.timer = time.NewTimer(d)
	default:
		a.timer.Reset(d)
	}
	select {
	case <-a.timer.C:
		return ctx.Err() == nil // also where both were ready
	case <-ctx.Done():
		a.timer.Stop()
		return false
	}
}
