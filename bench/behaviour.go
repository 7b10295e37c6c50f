package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// situation is one input, given to every library alike, and what is to be seen of it. It is
// looked at in a bubble of virtual time, so that waits are exact and take none.
type situation struct {
	name, input string
	see         func(library) string
}

const none = "–" // the library has no such thing

var errShutdown = errors.New("shutdown")

// outcome is what a run did.
type outcome struct {
	calls  int
	at     []time.Duration // when, from the start
	lasted time.Duration
	v      int
	err    error
	panics any
}

// try runs op under the plan. It returns nil where the library cannot express that.
func try(ctx context.Context, l library, p plan, op func() (int, error)) *outcome {
	bind := l.build(ctx, p)
	if bind == nil {
		return nil
	}
	return tryBound(bind, op)
}

func tryBound(bind func(op) run, op func() (int, error)) *outcome {
	o, began := &outcome{}, time.Now()
	run := bind(func(context.Context) (int, error) {
		o.calls++
		o.at = append(o.at, time.Since(began))
		return op()
	})
	func() {
		defer func() { o.panics = recover() }()
		o.v, o.err = run()
	}()
	o.lasted = time.Since(began)
	return o
}

func (o *outcome) count() string {
	if o.calls == 1 {
		return fmt.Sprintf("1 call in %v", o.lasted)
	}
	return fmt.Sprintf("%d calls in %v", o.calls, o.lasted)
}

// named is an error that another may match.
type named struct {
	name string
	err  error
}

var (
	lastError = named{"last error", errBusy}
	ctxError  = named{"ctx.Err", context.Canceled}
	deadline  = named{"ctx.Err", context.DeadlineExceeded}
	theCause  = named{"cause", errShutdown}
)

// tell says how often it was called, how long it took and which errors the result matches.
func (o *outcome) tell(of ...named) string {
	switch {
	case o == nil:
		return none
	case o.panics != nil:
		return fmt.Sprintf("**panics** in call %d", o.calls)
	case o.err == nil:
		return fmt.Sprintf("%s; %d, no error", o.count(), o.v)
	case o.err == of[0].err:
		return o.count() + "; the " + of[0].name + " itself"
	}
	var yes, no []string
	for _, n := range of {
		if errors.Is(o.err, n.err) {
			yes = append(yes, n.name)
		} else {
			no = append(no, n.name)
		}
	}
	text := o.count()
	if len(yes) > 0 {
		text += "; matches " + strings.Join(yes, ", ")
	}
	if len(no) > 0 {
		text += "; **not** " + strings.Join(no, ", ")
	}
	return text
}

func busy(l library) func() (int, error) {
	err := mark(l.busy, errBusy)
	return func() (int, error) { return 0, err }
}

func situations() []situation {
	constant := plan{retries: 3, first: time.Second}
	return []situation{
		{"cancel in a wait, with a cause", "a wait of 1s, cancelled after 500ms", func(l library) string {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer time.AfterFunc(500*time.Millisecond, func() { cancel(errShutdown) }).Stop()
			return try(ctx, l, constant, busy(l)).tell(lastError, ctxError, theCause)
		}},
		{"the deadline comes before the next call", "a wait of 1s, a deadline in 500ms", func(l library) string {
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			defer cancel()
			return try(ctx, l, constant, busy(l)).tell(lastError, deadline)
		}},
		{"the context is done before", "cancelled with a cause; the work would succeed", func(l library) string {
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(errShutdown)
			o := try(ctx, l, constant, func() (int, error) { return 1, nil })
			text := o.tell(ctxError, theCause)
			if o.calls > 0 {
				text = "**" + strings.Replace(text, " call", " call**", 1)
			}
			return text
		}},
		{"cancelled in the call, which fails", "cancelled with a cause; a wait of 1s would follow", func(l library) string {
			ctx, cancel := context.WithCancelCause(context.Background())
			fail := busy(l)
			return try(ctx, l, constant, func() (int, error) { cancel(errShutdown); return fail() }).tell(lastError, ctxError, theCause)
		}},
		{"cancelled in the call, which succeeds", "the value is 1", func(l library) string {
			ctx, cancel := context.WithCancel(context.Background())
			o := try(ctx, l, constant, func() (int, error) { cancel(); return 1, nil })
			if o.err != nil {
				return "1 call; **the value is lost**"
			}
			return o.tell(ctxError)
		}},
		{"one policy, used again and by two at once", "waits of 1s, 2s, 4s: 4 calls in 7s each", shared},
		{"fails with context.Canceled, its own context alive", "3 retries, waits of 1s", func(l library) string {
			err := mark(l.busy, context.Canceled)
			return try(cancellable(), l, constant, func() (int, error) { return 0, err }).tell(named{"last error", context.Canceled})
		}},
		{"a budget of time ends", "2.5s, waits of 1s, calls of 10ms", func(l library) string {
			p := plan{retries: 10, first: time.Second, within: 2500 * time.Millisecond}
			fail := busy(l)
			return try(cancellable(), l, p, func() (int, error) { time.Sleep(10 * time.Millisecond); return fail() }).tell(lastError)
		}},
		{"asked to wait for longer than allowed", "for 1h, where the run may take 5m", func(l library) string {
			if l.after == nil {
				return none
			}
			p := plan{retries: 3, first: time.Second, within: 5 * time.Minute}
			return try(cancellable(), l, p, func() (int, error) { return 0, l.after(time.Hour, errBusy) }).tell(lastError)
		}},
		{"jitter around a cap", "1s, 2s, 4s… with a cap of 5s, 200 retries", atTheCap},
		{"overflow", "the wait before retry 100 of 1s, 2s, 4s…", overflow},
		{"a factor that is NaN", "3 retries, a first wait of 1s", func(l library) string {
			o := try(cancellable(), l, plan{retries: 3, first: time.Second, factor: math.NaN()}, busy(l))
			if o != nil && o.calls == 0 && o.err != nil {
				return "0 calls; “" + o.err.Error() + "”"
			}
			return o.tell(lastError)
		}},
	}
}

func overflow(l library) (text string) {
	if l.hundredth == nil {
		return none
	}
	defer func() {
		if recover() != nil {
			text = "**panics**"
		}
	}()
	switch d := l.hundredth(); {
	case d == math.MaxInt64:
		return "the greatest Duration"
	case d <= 0:
		return fmt.Sprintf("**%v**", d)
	default:
		return d.String()
	}
}

// shared runs a policy alone, and then twice at once, half a second apart.
func shared(l library) string {
	bind := l.build(cancellable(), plan{retries: 3, first: time.Second, factor: 2, shared: true})
	if bind == nil {
		return none
	}
	alone := tryBound(bind, busy(l))
	var first, second *outcome
	var wg sync.WaitGroup
	wg.Go(func() { first = tryBound(bind, busy(l)) })
	time.Sleep(500 * time.Millisecond)
	wg.Go(func() { second = tryBound(bind, busy(l)) })
	wg.Wait()
	all := []string{alone.count(), first.count(), second.count()}
	if all[0] == all[1] && all[1] == all[2] {
		return all[0] + " each"
	}
	return "**" + strings.Join(all, "; ") + "**"
}

// atTheCap looks at the waits from the tenth on.
func atTheCap(l library) string {
	const limit = 5 * time.Second
	o := try(cancellable(), l, plan{retries: 200, first: time.Second, factor: 2, limit: limit, jitter: true}, busy(l))
	if o == nil {
		return none
	}
	if o.calls <= 200 {
		return fmt.Sprintf("**ends at the cap: %d calls**", o.calls)
	}
	var waits []time.Duration
	for i := 10; i < len(o.at); i++ {
		waits = append(waits, o.at[i]-o.at[i-1])
	}
	switch least, most := slices.Min(waits), slices.Max(waits); {
	case most > limit:
		return "**waits beyond the cap**"
	case least == most:
		return "**all at the cap**"
	default:
		return "spread below the cap"
	}
}

// behaviour is the table of what all libraries do in all situations, in Markdown. bubble runs
// a function in virtual time.
func behaviour(bubble func(func())) string {
	var out strings.Builder
	libraries := libraries()
	out.WriteString("| | " + strings.Join(each(libraries, func(l library) string { return l.name }), " | ") + " |\n")
	out.WriteString("|---" + strings.Repeat("|---", len(libraries)) + "|\n")
	for _, s := range situations() {
		fmt.Fprintf(&out, "| **%s**: %s", s.name, s.input)
		for _, l := range libraries {
			bubble(func() { out.WriteString(" | " + s.see(l)) })
		}
		out.WriteString(" |\n")
	}
	return out.String()
}
