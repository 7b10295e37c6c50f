package future_test

import (
	"context"
	"errors"
	"runtime"
	"time"

	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

// A script is all that a future, what is derived from it and those who wait
// meet. Instants are tens of milliseconds with an odd part for each kind of
// thing, so that two kinds never meet at one instant, where either may be first.
type script struct {
	kind    string // how the first future is made
	calls   []call // of its function; the last repeats
	retries int
	wait    time.Duration
	settles []settle // of its promise; those of one instant race
	ends    end      // of its context
	derived []derivation
	awaits  []await
}

type (
	call struct {
		deaf, listens time.Duration // it does not look at its context at first, then listens to it
		does          conclusion
	}
	settle struct {
		at   time.Duration
		with conclusion
	}
	derivation struct {
		of    int // 0 is the first future
		at    time.Duration
		by    string // FlatMap, later and nil are FlatMaps, by what their functions return
		does  conclusion
		takes time.Duration // later
	}
	await struct {
		of   int
		at   time.Duration
		by   string
		ends end
	}
	end struct { // of a context, by err: never, cancelled, or by its deadline
		at         time.Duration
		err, cause error
	}
)

// last is when the first future's context ends at the latest.
const forever, last = time.Duration(1 << 60), 10*time.Second + 7*time.Microsecond

func drawScript(t *rapid.T) script {
	s := script{
		kind:    pick(t, "Go", "Go", "Go", "Retry", "Retry", "Retry", "Retry", "New", "New", "New", "Value", "Failed", "zero"),
		calls:   rapid.SliceOfN(rapid.Custom(drawCall), 1, 5).Draw(t, "calls"),
		retries: number(t, 5),
		wait:    instant(t, 0, 3, 0),
		settles: append(rapid.SliceOfN(rapid.Custom(drawSettle), 0, 4).Draw(t, "settles"), settle{at: last}),
		ends:    drawEnd(t, 5),
	}
	if s.ends.err == nil {
		s.ends = end{last, context.Canceled, errors.New("the last instant")}
	}
	ats := []time.Duration{0}
	for range number(t, 7) {
		of := number(t, len(ats))
		// Its odd part is its depth, so it is never made at the instant at which its source is settled.
		ats = append(ats, ats[of]+instant(t, 0, 5, 10))
		s.derived = append(s.derived, derivation{of, ats[len(ats)-1], pick(t, "Map", "Recover", "FlatMap", "later", "nil"), drawConclusion(t), instant(t, 1, 6, 0)})
	}
	for range 1 + number(t, 12) {
		of := number(t, len(ats))
		by := pick(t, "Await", "Await", "Done", "All", "Any", "Race", "AllSettled", "Completed")
		s.awaits = append(s.awaits, await{of, ats[of] + instant(t, 0, 5, 1), by, drawEnd(t, 2)})
	}
	return s
}

// number draws below n, each as likely as the others: rapid's own ranges favour what is small so much
// that most things would be over before they meet.
func number(t *rapid.T, n int) (u int) {
	for range 8 {
		u *= 2
		if rapid.Bool().Draw(t, "bit") {
			u++
		}
	}
	return u * n >> 8
}

func pick[T any](t *rapid.T, from ...T) T { return from[number(t, len(from))] }

// instant draws tens of milliseconds and adds an odd part in microseconds.
func instant(t *rapid.T, from, to, odd int) time.Duration {
	return time.Duration(from+number(t, to-from+1))*10*time.Millisecond + time.Duration(odd)*time.Microsecond
}

func drawCall(t *rapid.T) call {
	return call{instant(t, 0, 6, 0), pick(t, 0, 0, instant(t, 1, 6, 0), forever), drawConclusion(t)}
}

func drawSettle(t *rapid.T) settle {
	return settle{instant(t, 0, 20, 4), pick(t, conclusion{value: 3}, conclusion{value: 4}, conclusion{err: errors.New("rejected")}, conclusion{how: says})}
}

func drawEnd(t *rapid.T, odd int) end {
	cause := errors.New("a cause")
	cancelled, deadline := end{instant(t, 0, 15, odd), context.Canceled, cause}, end{instant(t, 0, 15, odd+1), context.DeadlineExceeded, cause}
	dead := end{-1, pick(t, context.Canceled, context.DeadlineExceeded), cause}
	return pick(t, end{at: forever}, end{at: forever}, dead, cancelled, cancelled, deadline, deadline)
}

// context makes one that ends then, and not sooner: who still waits for it when the bubble ends fails that.
func (e end) context() context.Context {
	if e.err == nil {
		return context.Background()
	}
	if e.err == context.DeadlineExceeded {
		ctx, stop := context.WithDeadlineCause(context.Background(), time.Now().Add(e.at), e.cause)
		time.AfterFunc(forever, stop)
		return ctx
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	if e.at < 0 {
		cancel(e.cause)
	}
	time.AfterFunc(e.at, func() { cancel(e.cause) })
	return ctx
}

// A conclusion is how a function ends, and what its future has.
type conclusion struct {
	how   ending
	value int
	err   error
	with  any     // what it panics with
	match []error // what the error of an ended context matches
}

type ending int

const (
	returns ending = iota
	panics
	goexits
	says  // an error of the package
	ended // by a context
)

func drawConclusion(t *rapid.T) conclusion {
	err := errors.New("failed")
	return pick(t, conclusion{value: 1}, conclusion{value: 2}, conclusion{value: 3}, conclusion{err: err}, conclusion{err: err}, conclusion{value: 3, err: err}, conclusion{value: 4, err: retry.Permanent(err)},
		conclusion{how: panics, with: "boom"}, conclusion{how: panics, with: err}, conclusion{how: panics, with: []int{1}}, conclusion{how: goexits})
}

func (o conclusion) failed() bool { return o.how != returns || o.err != nil }

func (o conclusion) end() (int, error) {
	switch o.how {
	case panics:
		panic(o.with)
	case goexits:
		runtime.Goexit()
	}
	return o.value, o.err
}

func (o conclusion) settle(p *future.Promise[int]) bool {
	if o.failed() {
		return p.Reject(o.err)
	}
	return p.Resolve(o.value)
}

// told is what the documentation promises of a future.
type told struct {
	lost   bool            // the call that makes it does not return
	at     time.Duration   // when it has a result
	ran    []time.Duration // when its function was called
	is     conclusion
	passed bool // it has the very error of its source
}

// expect says it of each future, with a clock that is a number. It shares no code with the package.
func (s script) expect(winner settle) []told {
	want := []told{s.expectFirst(winner)}
	for _, d := range s.derived {
		want = append(want, d.expect(want[d.of]))
	}
	return want
}

func (s script) expectFirst(winner settle) told {
	switch s.kind {
	case "Go":
		at, is := s.call(1).expect(0, s.ends)
		return told{at: at, is: is, ran: []time.Duration{0}}
	case "Retry":
		return s.expectRetry()
	case "New":
		return told{at: winner.at, is: winner.with}
	case "Value":
		return told{is: conclusion{value: 1}}
	}
	return told{is: conclusion{how: says}}
}

func (s script) call(n int) call { return s.calls[min(n, len(s.calls))-1] }

// expect says when a call that begins now ends, and how.
func (c call) expect(now time.Duration, ends end) (time.Duration, conclusion) {
	now += c.deaf
	if heard := max(now, ends.at); c.listens > 0 && heard < now+c.listens {
		return heard, conclusion{value: c.does.value, err: ends.err}
	}
	return now + c.listens, c.does
}

func (s script) expectRetry() (want told) {
	for now := time.Duration(0); now < s.ends.at; now += s.wait {
		want.ran = append(want.ran, now)
		now, want.is = s.call(len(want.ran)).expect(now, s.ends)
		want.at = now
		unmarked, left := errors.Unwrap(want.is.err), s.ends.at-now
		if unmarked != nil {
			want.is.err = unmarked
		}
		switch {
		case want.is.how != returns || want.is.err == nil:
			return want
		case left <= 0: // no other test comes before this one
		case unmarked != nil || len(want.ran) > s.retries:
			return want
		case s.wait >= left && s.ends.err == context.DeadlineExceeded: // it is not waited for
			want.is = conclusion{how: ended, value: want.is.value, match: []error{want.is.err, s.ends.err}}
			return want
		}
	}
	want.at = max(want.at, s.ends.at)
	want.is = conclusion{how: ended, value: want.is.value, match: []error{want.is.err, s.ends.err, s.ends.cause}}
	return want
}

func (d derivation) expect(from told) told {
	want := told{lost: from.lost, at: max(from.at, d.at), is: from.is}
	if from.lost {
		return want
	}
	if from.is.failed() != (d.by == "Recover") {
		if want.passed = from.is.failed(); want.passed {
			want.is.value = 0
		}
		return want
	}
	want.ran, want.is = []time.Duration{want.at}, d.does
	switch {
	case d.by == "nil":
		want.is = conclusion{how: says}
	case d.by == "later":
		want.at += d.takes
	case d.does.how == goexits:
		want.lost = d.at > from.at // so it runs on the goroutine that makes it
	case d.by == "FlatMap" && d.does.err != nil:
		want.is.value = 0 // Failed has none
	}
	return want
}
