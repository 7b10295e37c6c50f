package retry

import (
	"context"
	"time"

	"github.com/dacapo-go/dacapo/internal/eager"
	"github.com/dacapo-go/dacapo/internal/loop"
)

func init() {
	loop.Driver = driver{}
	loop.Inspect = func(err error) (own error, isPermanent bool) {
		isPermanent, _ = inspect(err)
		return unmarked(err), isPermanent
	}
}

// driver takes a run step by step, for the packages that wait in their own way.
type driver struct{}

func (driver) Start(ctx context.Context, policy any, s *loop.State, eager bool) error {
	p := policy.(*Policy)
	var r run
	err := r.start(ctx, p, eager)
	r.save(s)
	return err
}

func (driver) Call(ctx context.Context, policy any, s *loop.State) loop.Call {
	c := loop.Call{Context: ctx, Awaited: eager.Awaited()}
	if p := policy.(*Policy); p.more != nil || s.Rest != nil { // spares the stack of a first call
		prepare(&c, p, s)
	}
	return c
}

// prepare begins a call that has somebody to tell, something to say or a time limit.
func prepare(c *loop.Call, p *Policy, s *loop.State) {
	var r run
	r.load(s)
	r.emit(c.Context, p, Event{Kind: Started})
	c.Context = r.young(r.context(c.Context, p))
	r.save(s)
	if p.has(setAttemptTimeout) {
		c.Context, c.Cancel = context.WithTimeoutCause(c.Context, p.more.attemptTimeout, ErrAttemptTimeout)
	}
}

func (driver) Return(ctx context.Context, policy any, s *loop.State, c loop.Call, err error) (wait time.Duration, again bool, end error) {
	p := policy.(*Policy)
	var r run
	r.load(s)
	r.awaited = c.Awaited
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

// load takes up a run where it stands.
func (r *run) load(s *loop.State) {
	r.calls, r.last.Prev = s.Calls, s.Prev
	if s.Rest == nil {
		return
	}
	r.earlier.overcome = max(s.Calls-1, 0)
	copy(r.earlier.errs[:], s.Rest.Earlier)
	r.last.Err = r.earlier.last()
	if more := s.Rest.More; more != nil {
		r.last.began, r.suspect, r.epoch = more.Began, more.Suspect, more.Epoch
		r.info, _ = more.Info.(*attemptContext)
	}
}

// save writes down where the run stands.
func (r *run) save(s *loop.State) {
	s.Calls, s.Prev = r.calls, r.last.Prev
	more := r.info != nil || r.suspect || r.epoch != 0 || !r.last.began.IsZero()
	if r.earlier.overcome == 0 && !more {
		return
	}
	if s.Rest == nil {
		s.Rest = new(loop.Rest)
	}
	errs := r.earlier.errs[:min(r.earlier.overcome, len(r.earlier.errs))]
	s.Rest.Earlier = append(s.Rest.Earlier[:0], errs...)
	if s.Rest.More == nil && more {
		s.Rest.More = new(loop.More)
	}
	if s.Rest.More != nil {
		*s.Rest.More = loop.More{Began: r.last.began, Suspect: r.suspect, Epoch: r.epoch}
		if r.info != nil {
			s.Rest.More.Info = r.info
		}
	}
}
