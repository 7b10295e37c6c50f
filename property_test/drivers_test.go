package property_test

import (
	"context"
	"slices"
	"time"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

// seen is what came out of a driver.
type seen struct {
	calls    []callTold
	contexts []context.Context
	value    int
	err      error
	end      time.Duration
	events   []retry.Event
	drawn    int
	asked    []error
	sound    bool // the operation's context and number were what they must be
	returned []error
	ctxErr   error // of the run's context, when the driver returned
	ctxCause error
}

// world plays a script with a driver, inside a bubble.
type world struct {
	script
	seen
	start  time.Time
	cancel context.CancelCauseFunc
	olds   []*future.Future[int]
}

type driver struct {
	name string
	run  func(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (int, error)
	mute bool // it does not return the value of a failed call

	refusesEarly bool // a fault is found when the stream is made: it has no run to tell of
}

var drivers = []driver{
	{name: "Do", run: retry.Do[int]},
	{name: "Run", mute: true, run: func(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (int, error) {
		return 0, retry.Run(ctx, p, func(ctx context.Context) error {
			_, err := op(ctx)
			return err
		})
	}},
	{name: "Attempts", run: func(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (v int, err error) {
		rounds := 0
		for ctx, n := range retry.Attempts(ctx, p, &err) {
			if rounds++; rounds != n {
				panic("a round has another number than its call")
			}
			v, err = op(ctx)
		}
		return v, err
	}},
	{name: "future.Retry", run: func(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (int, error) {
		return future.Retry(ctx, p, op).Await(context.Background())
	}},
	{name: "Stream.Retry of a Defer", mute: true, refusesEarly: true, run: func(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (int, error) {
		return element(ctx, stream.Defer(op).Retry(p, stream.BeforeFirst[int]()))
	}},
	{name: "Stream.Retry of a function", mute: true, refusesEarly: true, run: func(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (int, error) {
		return element(ctx, stream.Stream[int](func(ctx context.Context, yield func(int) bool) error {
			v, err := op(ctx)
			if err == nil {
				yield(v)
			}
			return err
		}).Retry(p, stream.BeforeFirst[int]()))
	}},
}

// drivers are those that the script is for.
func (s script) drivers() []driver {
	switch {
	case s.leaves > 0:
		return []driver{{name: "Attempts, left", run: s.left}}
	case s.partial > 0:
		return []driver{{name: "Stream.Retry of a function that gives and fails", mute: true, refusesEarly: true, run: s.given}}
	}
	return drivers
}

func (s script) left(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (v int, err error) {
	for ctx, n := range retry.Attempts(ctx, p, &err) {
		var e error
		if v, e = op(ctx); n == s.leaves && s.undecided {
			break
		}
		if err = e; n == s.leaves {
			break
		}
	}
	return v, err
}

func (s script) given(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) (int, error) {
	return element(ctx, stream.Stream[int](func(ctx context.Context, yield func(int) bool) error {
		v, err := op(ctx)
		if err == nil || v == s.partial {
			yield(v)
		}
		return err
	}).Retry(p, stream.BeforeFirst[int]()), s.lastWanted()...)
}

func (s script) lastWanted() []int {
	if s.stops {
		return []int{s.partial}
	}
	return nil
}

// element runs a stream of one element. No sink is between: they put the
// context's error before that of the run.
func element(ctx context.Context, s stream.Stream[int], last ...int) (v int, err error) {
	err = s(ctx, func(got int) bool {
		v = got
		return !slices.Contains(last, v)
	})
	return v, err
}

// play runs the script with a driver and returns what came out.
func (s script) play(d driver) seen {
	w := s.world()
	ctx, stop := w.context()
	defer stop()
	return w.playUnder(ctx, w.policy(), d)
}

func (s script) world() *world {
	w := &world{script: s, start: time.Now(), olds: []*future.Future[int]{
		future.Failed[int](errsOfOld[0]), future.Failed[int](errsOfOld[1]), future.Failed[int](errsOfOld[0]),
	}}
	w.sound = true
	return w
}

// playUnder plays it with a context and a policy that others may have, too.
func (w *world) playUnder(ctx context.Context, p retry.Policy, d driver) seen {
	w.value, w.err = d.run(ctx, p, w.op)
	w.end, w.ctxErr, w.ctxCause = w.now(), ctx.Err(), context.Cause(ctx)
	return w.seen
}

func (w *world) now() time.Duration { return time.Since(w.start) }

// context is the run's, with its two ways to end.
func (w *world) context() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	w.cancel = cancel
	if w.cancelAt == 0 {
		cancel(w.by)
	}
	timer := time.AfterFunc(w.cancelAt, func() { cancel(w.by) })
	stop := func() {
		timer.Stop()
		cancel(nil)
	}
	if w.deadline == never {
		return ctx, stop
	}
	ctx, release := context.WithDeadlineCause(ctx, w.start.Add(w.deadline), w.late)
	return ctx, func() {
		release()
		stop()
	}
}

// policy is the script's policy, refined in the order of its fields.
func (w *world) policy() retry.Policy { return w.refine(w.limits()) }

func (w *world) refine(p retry.Policy) retry.Policy {
	p = p.Rand(func() uint64 {
		w.drawn++
		return w.words[(w.drawn-1)%len(w.words)]
	})
	for _, m := range w.on {
		p = p.On(m.matcher())
	}
	for _, m := range w.except {
		p = p.Except(m.matcher())
	}
	for _, q := range w.ifs {
		p = p.If(questions[q])
	}
	if w.allows != nil {
		p = p.Limit(&register{answers: w.allows, heard: func(err error) { w.asked = append(w.asked, err) }})
	}
	if w.wrap {
		p = p.WrapErrors()
	}
	if w.info {
		p = p.AttemptInfo()
	}
	if w.hooked {
		p = p.Events(w.hear)
	}
	return p
}

func (s script) limits() retry.Policy {
	p := retry.New()
	if s.backoff != nil {
		p = p.Backoff(s.backoff.strategy())
	}
	if s.retries >= 0 {
		p = p.MaxRetries(s.retries)
	}
	if s.maxElapsed > 0 {
		p = p.MaxElapsed(s.maxElapsed)
	}
	if s.attemptTimeout > 0 {
		p = p.AttemptTimeout(s.attemptTimeout)
	}
	if s.maxHint > 0 {
		p = p.Hints(s.mode, s.maxHint)
	}
	if s.faulty {
		p = p.MaxRetries(-7)
	}
	return p
}

func (w *world) hear(_ context.Context, e retry.Event) {
	w.events = append(w.events, e)
	if len(w.events)-1 == w.cancelHook && e.Kind != retry.Finished {
		w.cancel(w.by)
	}
}

// op is the operation: it does what its step says.
func (w *world) op(ctx context.Context) (int, error) {
	c := callTold{at: w.now(), number: len(w.calls) + 1}
	if n := len(w.contexts); n > 0 && w.attemptTimeout > 0 && w.contexts[n-1].Err() == nil {
		w.sound = false // the context of an attempt ends with it
	}
	w.contexts = append(w.contexts, ctx)
	if a, ok := retry.AttemptFrom(ctx); ok {
		w.sound = w.sound && a.Number == c.number
		c.left, c.before = a.RetriesLeft, a.Err
	}
	s := step{}
	if c.number <= len(w.steps) {
		s = w.steps[c.number-1]
	}
	err := w.does(ctx, s)
	if s.cancels {
		w.cancel(w.by)
	}
	c.ended = w.now()
	w.calls, w.returned = append(w.calls, c), append(w.returned, err)
	return c.number, err
}

func (w *world) does(ctx context.Context, s step) error {
	if s.obeys != "" {
		if err := sleep(ctx, s.takes); err != nil {
			if s.obeys == "cause" {
				return context.Cause(ctx)
			}
			return err
		}
	} else {
		time.Sleep(s.takes)
	}
	switch {
	case s.awaits == "old":
		_, err := w.olds[s.old].Await(ctx)
		return err
	case s.awaits == "new" && ctx.Err() == nil:
		_, err := future.Go(ctx, func(context.Context) (int, error) { return 0, s.fails.error() }).Await(ctx)
		return err
	}
	return s.fails.error()
}

func (n *tree) error() error {
	if n == nil {
		return nil
	}
	return n.err
}

func sleep(ctx context.Context, d time.Duration) error {
	if d == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
