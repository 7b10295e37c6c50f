package retry

import (
	"context"
	"math"
	"time"

	"github.com/dacapo-go/dacapo/internal/eager"
	"github.com/dacapo-go/dacapo/internal/loop"
)

func init() {
	loop.Driver = new(driver)
	loop.Inspect = func(err error) (own error, isPermanent bool) {
		isPermanent, _ = inspect(err)
		return unmarked(err), isPermanent
	}
}

// driver takes a run step by step, for the packages that wait in their own way.
type driver struct{}

func (*driver) Start(ctx context.Context, policy any, s *loop.State, eager bool) error {
	p := policy.(*Policy)
	var r run
	if p.limits() {
		r.extra = s.Extra()
	}
	err := r.start(ctx, p, eager)
	r.save(s)
	return err
}

func (*driver) Call(ctx context.Context, policy any, s *loop.State) (call context.Context, awaited uint64) {
	if p := policy.(*Policy); p.more != nil || s.Rest != nil { // spares the stack of a first call
		ctx = prepare(ctx, p, s)
	}
	return ctx, eager.Awaited()
}

// prepare begins a call that has somebody to tell, something to say or a time limit.
func prepare(ctx context.Context, p *Policy, s *loop.State) context.Context {
	var r run
	r.load(s)
	ctx = r.begin(ctx, p)
	r.save(s)
	if p.has(setAttemptTimeout) {
		ctx, s.Extra().Cancel = context.WithTimeoutCause(ctx, p.more.attemptTimeout, ErrAttemptTimeout)
	}
	return ctx
}

func (*driver) Return(
	ctx context.Context, policy any, s *loop.State, awaited uint64, err error,
) (wait time.Duration, again bool, end error) {
	p := policy.(*Policy)
	var r run
	r.load(s)
	r.awaited = awaited
	if !r.again(ctx, p, nil, &err) {
		return 0, false, err
	}
	r.save(s)
	return r.wait, true, err
}

func (*driver) Leave(ctx context.Context, policy any, s *loop.State, err error) error {
	p := policy.(*Policy)
	var r run
	r.load(s)
	r.leave(ctx, p, &err, true)
	return err
}

func (*driver) Recovered(policy any, s *loop.State) {
	s.Extra().Base, s.Prev = s.Calls-1, 0
	var r run
	r.load(s)
	r.settle(policy.(*Policy), Succeeded)
	s.Rest.More.Toll = loop.Toll{}
}

func (*driver) Drop(policy any, s *loop.State) {
	var r run
	r.load(s)
	r.settle(policy.(*Policy), 0)
}

func (*driver) Wake(ctx context.Context, policy any, s *loop.State, err error) error {
	p := policy.(*Policy)
	var r run
	r.load(s)
	if ctx.Err() != nil {
		return r.finish(ctx, p, Cancelled, err)
	}
	r.advance(err)
	r.save(s)
	return nil
}

// load takes up a run where it stands.
func (r *run) load(s *loop.State) {
	r.calls, r.last.Retries, r.last.Prev = s.Calls, max(s.Calls-1, 0), s.Prev
	if s.Rest == nil {
		return
	}
	r.earlier.overcome = max(s.Calls-1, 0)
	copy(r.earlier.errs[:], s.Rest.Earlier)
	r.last.Err = r.earlier.last()
	if more := s.Rest.More; more != nil {
		r.last.began, r.suspect, r.epoch = more.Began, more.Suspect, more.Epoch
		r.info, _ = more.Info.(*attemptContext)
		r.last.Retries -= more.Base
		if r.extra = more; more.Last != 0 {
			r.last.Retries, r.last.last = math.MaxInt, true
		}
	}
}

// save writes down where the run stands.
func (r *run) save(s *loop.State) {
	s.Calls, s.Prev = r.calls, r.last.Prev
	if n := min(r.earlier.overcome, len(r.earlier.errs)); n > 0 {
		if s.Rest == nil {
			s.Rest = new(loop.Rest)
		}
		s.Rest.Earlier = append(s.Rest.Earlier[:0], r.earlier.errs[:n]...)
	}
	had := s.Rest != nil && s.Rest.More != nil
	if had || r.info != nil || r.suspect || r.epoch != 0 || !r.last.began.IsZero() {
		more := s.Extra()
		more.Began, more.Suspect, more.Epoch = r.last.began, r.suspect, r.epoch
		if r.info != nil {
			more.Info = r.info
		}
	}
}
