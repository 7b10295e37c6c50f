package retrytest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Script says what an operation does, call by call: an immutable value, refined from left
// to right. When its steps are used up, the last is repeated. The zero Script succeeds with
// the zero value. A Script is safe for concurrent use.
type Script[T any] struct{ steps []step[T] }

type step[T any] struct {
	name  string
	takes time.Duration
	op    func(context.Context) (T, error)
}

// Value is the script of one call that returns v.
func Value[T any](v T) Script[T] {
	return one(fmt.Sprintf("value(%#v)", v), func(context.Context) (T, error) { return v, nil })
}

// Fail is the script of one call that returns err. With [github.com/dacapo-go/dacapo/retry.Permanent]
// or After it is the last call, or gives a hint.
func Fail[T any](err error) Script[T] {
	return one(fmt.Sprintf("fail(%T %q)", err, err), func(context.Context) (v T, _ error) { return v, err })
}

// Func is the script of one call that runs op: one that panics, waits for its context, or
// looks at it.
func Func[T any](op func(context.Context) (T, error)) Script[T] { return one("func", op) }

func one[T any](name string, op func(context.Context) (T, error)) Script[T] {
	return Script[T]{[]step[T]{{name: name, op: op}}}
}

// Times repeats the script as it is so far: n times in all; 0 leaves nothing of it. It panics
// if n is negative.
func (s Script[T]) Times(n int) Script[T] {
	if n < 0 {
		panic(fmt.Sprintf("retrytest: Times is %d: want 0 or more", n))
	}
	return Script[T]{slices.Repeat(s.steps, n)}
}

// Takes makes every call of the script so far take d. A call whose context ends before that
// returns the context's error then, as an operation should. d of 0 or less is at once.
func (s Script[T]) Takes(d time.Duration) Script[T] {
	s.steps = slices.Clone(s.steps)
	for i := range s.steps {
		s.steps[i].takes = d
	}
	return s
}

// Then goes on with the steps of next.
func (s Script[T]) Then(next Script[T]) Script[T] {
	return Script[T]{slices.Concat(s.steps, next.steps)}
}

// String returns the script in words, such as fail(*errors.errorString "busy"), value(7).
func (s Script[T]) String() string {
	var words []string
	for _, step := range s.steps {
		word := step.name
		if step.takes > 0 {
			word += fmt.Sprintf(" in %v", step.takes)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// GoString returns what String does: it is how rapid shows what was drawn.
func (s Script[T]) GoString() string { return s.String() }

// Operation returns an operation that plays the script from its beginning, and counts its
// own calls.
func (s Script[T]) Operation() *Operation[T] { return &Operation[T]{script: s} }

// An Operation plays a [Script] and keeps a record of its calls: retry.Do takes its method
// Call. It is safe for concurrent use: calls take the steps in the order in which they begin.
type Operation[T any] struct {
	script Script[T]

	mu    sync.Mutex
	calls []Call
}

// A Call is the record of one call.
type Call struct {
	Time  time.Time     // when it began
	Since time.Duration // from the beginning of the first call to the beginning of this one
}

// Call does what the script says of the next call.
func (o *Operation[T]) Call(ctx context.Context) (v T, err error) {
	step, ok := o.begin()
	if !ok {
		return v, nil
	}
	if err := sleep(ctx, step.takes); err != nil {
		return v, err
	}
	return step.op(ctx)
}

// begin notes a call, and returns its step.
func (o *Operation[T]) begin() (next step[T], ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	call := Call{Time: time.Now()}
	if len(o.calls) > 0 {
		call.Since = call.Time.Sub(o.calls[0].Time)
	}
	o.calls = append(o.calls, call)
	steps := o.script.steps
	if len(steps) == 0 {
		return next, false
	}
	return steps[min(len(o.calls), len(steps))-1], true
}

// sleep waits for d, or for the end of ctx, whose error it returns.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Calls returns the record of the calls so far, in the order in which they began.
func (o *Operation[T]) Calls() []Call {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.calls)
}
