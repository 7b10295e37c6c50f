package retry

import (
	"context"
	"errors"
	"iter"
)

// ErrAbandoned is the error of a loop over [Attempts] that was left in its first
// round before its body had set the error.
var ErrAbandoned = errors.New("retry: the loop over Attempts was left before its first call had returned")

// errUnset is the mark that the body of a loop has to overwrite.
var errUnset = errors.New("retry: the error of a loop over Attempts was read before the body had set it")

// Attempts is [Do] for code that cannot be a function: a loop whose body makes
// one call a round and sets *err to what it returned.
//
//	var v int
//	var err error
//	for ctx := range retry.Attempts(ctx, p, &err) {
//		v, err = fetch(ctx)
//	}
//
// After a round, a nil *err ends the loop, and an error is decided on as in Do:
// the next round follows after the wait, or the loop ends. At its end *err is
// exactly what Do would have returned, also where no round was made. The loop
// gives each round its context, as Do gives it to op (one of AttemptTimeout ends with
// the round), and the number of the call.
//
// The body has to set *err in every round, to nil on success, and not to read it
// before: it holds a mark until then ([AttemptFrom] knows the error of the round
// before). A body that comes to its end without having set it panics: most often
// it wrote := where = was meant.
//
// Leaving the loop by break or return ends the run for [Abandoned], or
// [Succeeded] where the body had set *err to nil. If the body had not set it,
// *err is from then on the error of the round before, or [ErrAbandoned] in the
// first. What "return err" returns is copied before that, unless err is the
// function's named result: name it, or break and return after the loop. A defer in
// the body runs at the end of the function, as in any loop.
//
// Ranging over the result again is another run. The loop itself allocates
// nothing. It panics if ctx or err is nil.
func Attempts(ctx context.Context, p Policy, err *error) iter.Seq2[context.Context, int] {
	return func(yield func(context.Context, int) bool) { attempts(ctx, p, err, yield) }
}

func attempts(ctx context.Context, p Policy, err *error, yield func(context.Context, int) bool) {
	check(ctx, "retry.Attempts", false)
	if err == nil {
		panic("retry.Attempts: nil err: want a pointer to the error that the loop's body sets")
	}
	var r run
	var a alarm
	if p.limits() {
		defer r.settle(&p, 0) // where the body or a hook does not return
	}
	if *err = r.start(ctx, &p, false); *err != nil {
		return
	}
	before := ErrAbandoned
	for {
		more, set := round(ctx, &p, &r, err, before, yield)
		if !more {
			r.leave(ctx, &p, err, set)
			return
		}
		if !r.again(ctx, &p, &a, err) {
			return
		}
		before = unmarked(*err) // now also without the mark of a stale future
	}
}

// round runs the loop's body once. It reports whether the loop goes on, and
// whether the body has set *err; where it has not, before is left in it.
func round(ctx context.Context, p *Policy, r *run, err *error, before error, yield func(context.Context, int) bool) (more, set bool) {
	*err = errUnset
	defer func() {
		if set = *err != errUnset; !set {
			*err = before
		}
	}()
	more, _ = call(ctx, p, r, func(ctx context.Context) (bool, error) { return yield(ctx, r.calls), nil })
	if more && errors.Is(*err, errUnset) { // also where it was wrapped or joined
		panic("retry.Attempts: the body of the loop has not set the error: set it in every round, to nil on success, with = and not :=")
	}
	return more, set
}

// leave ends a run whose loop was left. Where the body had not set *err, nobody
// knows whether its call failed.
func (r *run) leave(ctx context.Context, p *Policy, err *error, set bool) {
	if r.epoch != 0 {
		r.look(err)
	}
	reason := Succeeded
	if *err != nil {
		reason = Abandoned
	}
	switch {
	case !set:
		r.earlier.overcome = max(r.earlier.overcome-1, 0) // what was overcome is put back
	case *err != nil:
		r.emit(ctx, p, Event{Kind: Failed, Err: unmarked(*err)})
	}
	*err = r.finish(ctx, p, reason, *err)
}
