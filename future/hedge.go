package future

import (
	"context"
	"time"

	"github.com/dacapo-go/dacapo/internal/eager"
	"github.com/dacapo-go/dacapo/internal/loop"
	"github.com/dacapo-go/dacapo/retry"
)

// Hedge starts op, and starts it again while it has not ended, as h says: for work
// that is slow now and then, and may run more than once at the same time. The
// future has the value of the first try that succeeds.
//
// Hedge cancels what it started, and waits for it: when a try has succeeded the
// context of the others ends, with [ErrLost] as the cause, and the future settles when
// they have ended. So a try that does not obey its context makes the result late.
//
// If a try fails before the next is due, the next starts at once, without a wait: to go
// on after that, with waits, put retry.Do around it. An error that is permanent (see
// retry.Permanent) ends all, and comes without the mark. Where the limiter of h refuses an
// extra try, that one is left out, and the others go on. If all tries fail, the error is
// that of the last to fail. Where ctx ends, no try starts any more, and the error matches
// ctx.Err() and the cause of ctx, too. A panic is a permanent failure ([*PanicError]), and
// so is runtime.Goexit ([ErrGoexit]).
//
// Each try runs on a goroutine of its own. With a fault in h the future has failed
// with [HedgePolicy.Err], and where T is retry.Eager with retry.ErrEagerResult; op is
// not called then. Hedge panics if ctx or op is nil.
func Hedge[T any](ctx context.Context, h HedgePolicy, op func(context.Context) (T, error)) *Future[T] {
	checkOp(ctx, "future.Hedge", op == nil)
	if err := h.Err(); err != nil {
		return Failed[T](err)
	}
	if eager.Is[T]() {
		return Failed[T](retry.ErrEagerResult)
	}
	f := new(Future[T])
	f.begin()
	go guard(func() {
		r := (&hedging[T]{ctx: ctx, op: op, policy: h.settled(), allMarked: true}).run()
		f.finish(nil, r.Value, r.Err)
	}, func(err error) {
		var zero T
		f.finish(nil, zero, err)
	})
	return f
}

// hedging is one run of Hedge.
type hedging[T any] struct {
	ctx       context.Context
	op        func(context.Context) (T, error)
	policy    HedgePolicy
	extra     int // tries after the first that were started or refused
	running   int
	tries     chan tried[T]
	due       *time.Timer
	exceeded  bool // the delay, by the first try
	throttled bool
	decided   bool
	reason    retry.Reason // 0: user code did not return
	result    Result[T]
	allMarked bool // every failure so far is older than the attempt it is for
}

// tried is how a try ended.
type tried[T any] struct {
	Result[T]
	permanent bool
	crashed   bool
}

func (h *hedging[T]) run() Result[T] {
	if h.ctx.Err() != nil {
		return Result[T]{Err: cutShort(h.ctx, nil)}
	}
	ctx, cancel := context.WithCancelCause(h.ctx)
	h.tries, h.due = make(chan tried[T]), time.NewTimer(0)
	h.due.Stop()
	defer h.end(cancel)
	h.start(ctx)
	for h.running > 0 {
		select {
		case t := <-h.tries:
			h.running--
			if h.decided {
				continue
			}
			h.took(t, cancel)
			if _, ok := h.policy.Next(h.extra, true); ok {
				h.hedge(ctx, t.Err)
			}
		case <-h.due.C:
			h.learn(true)
			if _, ok := h.policy.Next(h.extra, false); ok {
				h.hedge(ctx, ErrSlow)
			}
		}
	}
	if !h.decided {
		h.reason = h.why()
		h.result.Err = eager.Choose(h.result.Err, h.allMarked)
	}
	return h.result
}

// why says why no try succeeded, of which none was permanent.
func (h *hedging[T]) why() retry.Reason {
	switch {
	case h.ctx.Err() != nil:
		return retry.Cancelled
	case h.throttled:
		return retry.Throttled
	}
	return retry.Exhausted
}

// end ends what runs still, where user code did not return, and tells the limiter.
func (h *hedging[T]) end(cancel context.CancelCauseFunc) {
	cancel(nil)
	h.due.Stop()
	for ; h.running > 0; h.running-- {
		<-h.tries
	}
	if h.policy.limiter != nil {
		h.policy.limiter.Done(retry.Outcome{Reason: h.reason})
	}
}

// start starts a try, and sets the timer for the next.
func (h *hedging[T]) start(ctx context.Context) {
	h.running++
	go guard(func() {
		v, err := h.op(ctx)
		t := tried[T]{Result: Result[T]{Value: v}}
		t.Err, t.permanent = loop.Inspect(err)
		h.tries <- t
	}, func(err error) { h.tries <- tried[T]{Result[T]{Err: err}, true, true} })
	h.wind()
}

// wind sets the timer for the next try.
func (h *hedging[T]) wind() {
	if wait, ok := h.policy.Next(h.extra, false); ok || h.policy.quantile != nil && h.extra == 0 {
		h.due.Reset(wait)
	}
}

// hedge starts an extra try, if it may.
func (h *hedging[T]) hedge(ctx context.Context, err error) {
	if h.decided || h.ctx.Err() != nil { // the caller's: ctx may not have heard yet
		return
	}
	h.extra++
	if l := h.policy.limiter; l != nil {
		if _, ok := l.Allow(h.ctx, err); !ok {
			h.throttled = true
			h.wind()
			return
		}
	}
	h.start(ctx)
}

// learn notes whether the first try took longer than the delay, when that is known.
func (h *hedging[T]) learn(exceeded bool) {
	if h.policy.quantile != nil && h.extra == 0 && !h.exceeded {
		h.exceeded = exceeded
		h.policy.quantile.Observe(exceeded)
	}
}

// took takes how a try ended, which can decide the whole.
func (h *hedging[T]) took(t tried[T], cancel context.CancelCauseFunc) {
	h.result, h.decided = t.Result, t.Err == nil || t.permanent
	if t.Err != nil {
		h.result.Err = cutShort(h.ctx, t.Err)
	}
	switch {
	case t.Err == nil:
		h.learn(false)
		h.reason = retry.Succeeded
		cancel(ErrLost)
	case t.permanent:
		if !t.crashed {
			h.reason = retry.NotRetryable
		}
		cause, _ := eager.Strip(t.Err)
		cancel(cause)
	default:
		h.allMarked = h.allMarked && eager.IsMarked(t.Err)
	}
}
