package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

// A span is a time from the start of a run.
type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return s.to - s.from }

// A record is what one run of a scenario did.
type record struct {
	scenario
	calls  []span
	events []retry.Event
	value  string
	err    error // what the caller got
	last   error // what the last call returned
	lasted time.Duration
}

// play runs the scenario once, on the wall clock.
func (s scenario) play(ctx context.Context) record {
	r := record{scenario: s}
	if s.before != nil {
		s.before(ctx)
	}
	if s.within != nil {
		var cancel context.CancelFunc
		ctx, cancel = s.within(ctx)
		defer cancel()
	}
	drive := s.drive
	if drive == nil {
		drive = retry.Do[string]
	}
	began := time.Now()
	policy := s.policy.Events(func(_ context.Context, e retry.Event) { r.events = append(r.events, e) })
	var mu sync.Mutex // tries come side by side
	r.value, r.err = drive(ctx, policy, func(ctx context.Context) (string, error) {
		mu.Lock()
		n := len(r.calls)
		r.calls = append(r.calls, span{from: time.Since(began)})
		mu.Unlock()
		v, err := s.op(ctx, n+1)
		mu.Lock()
		defer mu.Unlock()
		r.calls[n].to = time.Since(began)
		r.last = err
		return v, err
	})
	r.lasted = time.Since(began)
	return r
}

// playAll runs all scenarios side by side, and tells how many have ended.
func playAll(ctx context.Context, all []scenario, ended func()) []record {
	records := make([]record, len(all))
	var wg sync.WaitGroup
	for i, s := range all {
		wg.Go(func() {
			records[i] = s.play(ctx)
			ended()
		})
	}
	wg.Wait()
	return records
}

// scheduled returns the waits that the run announced.
func (r record) scheduled() (waits []time.Duration) {
	for _, e := range r.events {
		if e.Kind == retry.Scheduled {
			waits = append(waits, e.Delay)
		}
	}
	return waits
}

// waited returns the waits as they were: from the end of a call to the start of
// the next, or to the end of the run where the wait was cut.
func (r record) waited() (waits []time.Duration) {
	if r.promised.tries {
		return nil
	}
	for i := 1; i < len(r.calls); i++ {
		waits = append(waits, r.calls[i].from-r.calls[i-1].to)
	}
	if r.promised.cut && len(r.calls) > 0 {
		waits = append(waits, r.lasted-r.calls[len(r.calls)-1].to)
	}
	return waits
}

func (r record) reason() retry.Reason {
	if len(r.events) == 0 {
		return 0
	}
	return r.events[len(r.events)-1].Reason
}

// ended is a reason in words: of tries, there is none.
func (p promise) ended(reason retry.Reason) string {
	if p.tries {
		return "first success"
	}
	return reason.String()
}

func (r record) count(k retry.Kind) (n int) {
	for _, e := range r.events {
		if e.Kind == k {
			n++
		}
	}
	return n
}

// faults says what is not as it was promised. Lateness is none.
func (r record) faults() (all []string) {
	check := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	want := r.promised
	check(len(r.calls) == want.calls, "%d calls instead of %d", len(r.calls), want.calls)
	check(r.reason() == want.reason, "ended for %v instead of %v", r.reason(), want.reason)
	check(want.isGot(r), "the caller got %v instead of %s", r.err, want.got)
	check(r.lasted >= want.lasts, "it lasted %v instead of %v or more", r.lasted, want.lasts)
	for i, c := range r.calls {
		check(want.each == nil || want.each(c.length()), "call %d took %v", i+1, c.length())
	}
	return append(append(all, r.waitFaults()...), r.eventFaults()...)
}

// verdict is whether all is as it was promised, in a word.
func (r record) verdict() string {
	if len(r.faults()) > 0 {
		return "WRONG"
	}
	return "right"
}

// wrong counts the records that are not as they were promised.
func wrong(records []record) (n int) {
	for _, r := range records {
		if len(r.faults()) > 0 {
			n++
		}
	}
	return n
}

func (r record) waitFaults() (all []string) {
	scheduled, waited := r.scheduled(), r.waited()
	if len(scheduled) != len(r.promised.waits) || len(waited) != len(scheduled) {
		return []string{fmt.Sprintf("%d waits scheduled and %d made instead of %d", len(scheduled), len(waited), len(r.promised.waits))}
	}
	for i, d := range scheduled {
		if w := r.promised.waits[i]; !w.holds(d) {
			all = append(all, fmt.Sprintf("wait %d is %v instead of [%v, %v)", i+1, d, w.lo, w.hi))
		}
		if cut := r.promised.cut && i == len(scheduled)-1; (waited[i] < d) != cut {
			all = append(all, fmt.Sprintf("wait %d lasted %v instead of %v", i+1, waited[i], d))
		}
	}
	return all
}

// eventFaults holds the events against their laws.
func (r record) eventFaults() (all []string) {
	if r.promised.tries {
		return nil
	}
	failed := len(r.calls)
	if r.err == nil {
		failed--
	}
	for _, law := range []struct {
		kind retry.Kind
		want int
	}{{retry.Started, len(r.calls)}, {retry.Failed, failed}, {retry.Scheduled, len(r.promised.waits)}, {retry.Finished, 1}} {
		if n := r.count(law.kind); n != law.want {
			all = append(all, fmt.Sprintf("%d events %q instead of %d", n, law.kind, law.want))
		}
	}
	if len(r.events) == 0 || r.events[len(r.events)-1].Kind != retry.Finished {
		all = append(all, "the last event is not finished")
	}
	return all
}
