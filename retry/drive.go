package retry

import (
	"context"
	"time"

	"github.com/dacapo-go/dacapo/internal/loop"
)

func init() { loop.Driver = driver{} }

// driver takes a run step by step, for the packages that wait in their own way.
type driver struct{}

func (driver) Start(ctx context.Context, policy any, s *loop.State, eager bool) error {
	p := policy.(*Policy)
	var r run
	r.load(s)
	defer r.save(s)
	return r.start(ctx, p, eager)
}

func (driver) Call(ctx context.Context, policy any, s *loop.State) (context.Context, context.CancelFunc) {
	p := policy.(*Policy)
	var r run
	r.load(s)
	r.emit(ctx, p, Event{Kind: Started})
	call := r.young(r.context(ctx, p))
	r.save(s)
	if !p.has(setAttemptTimeout) {
		return call, nil
	}
	return context.WithTimeoutCause(call, p.more.attemptTimeout, ErrAttemptTimeout)
}

func (driver) Return(ctx context.Context, policy any, s *loop.State, err error) (wait time.Duration, again bool, end error) {
	p := policy.(*Policy)
	var r run
	r.load(s)
	if !r.again(ctx, p, nil, &err) {
		return 0, false, err
	}
	r.save(s)
	return r.wait, true, nil
}

func (driver) Wake(ctx context.Context, policy any, s *loop.State, err error) error {
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

func (driver) Inspect(err error) (own error, permanent bool) {
	permanent, _ = inspect(err)
	return unmarked(err), permanent
}

// load takes up a run where it stands.
func (r *run) load(s *loop.State) {
	r.calls, r.last.Prev = s.Calls, s.Prev
	if rest := s.Rest; rest != nil {
		r.last.began, r.epoch = rest.Began, rest.Epoch
		r.info, _ = rest.Info.(*attemptContext)
		r.earlier = earlier{max(s.Calls-1, 0), rest.Earlier}
		r.last.Err = r.earlier.last()
	}
}

// save writes down where the run stands.
func (r *run) save(s *loop.State) {
	s.Calls, s.Prev = r.calls, r.last.Prev
	if r.calls <= 1 && r.info == nil && r.last.began.IsZero() {
		return
	}
	if s.Rest == nil {
		s.Rest = new(loop.Rest)
	}
	*s.Rest = loop.Rest{Began: r.last.began, Epoch: r.epoch, Earlier: r.earlier.errs}
	if r.info != nil {
		s.Rest.Info = r.info
	}
}
