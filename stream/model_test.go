package stream_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

var scripts = flag.Int("scripts", 100_000, "how many scripts the model is held against")

var (
	errBoom    = errors.New("boom")
	errWrapped = fmt.Errorf("wrapped: %w", errBoom)
	errLasting = errors.New("lasting")
	errCleanup = errors.New("clean-up")
	errCause   = errors.New("the cause")
)

const ms = time.Millisecond

// A script is a source, a consumer and a policy. Times are whole milliseconds, but for the
// end of the context, which meets nothing else.
type script struct {
	mode     string
	max      int  // Buffered
	byKey    bool // SkipSeenBy
	through  string
	tries    []try // the last repeats
	rude     int   // how often the source goes on after it was told to stop
	dirty    bool  // the source's clean-up fails after it was told to stop
	stopAt   int   // the element that the consumer takes last; 0: it takes all
	stopBy   string
	slow     time.Duration // the consumer's time for an element
	retries  int
	wait     time.Duration
	cancelAt time.Duration
	reset    reset
	hooked   bool
}

// A try is one run of the source.
type try struct {
	items []int // what it gives; in Resume, how many it gives
	takes time.Duration
	obeys bool // it ends when its context does
	ends  string
}

type reset struct {
	by     string
	n      int
	d      time.Duration
	total  int // -1: none
	most   int // 0: none
	within time.Duration
}

const never = time.Duration(1 << 60)

func drawScript(t *rapid.T) script {
	s := script{
		mode:    rapid.SampledFrom([]string{"BeforeFirst", "Restart", "SkipSeen", "Buffered", "Resume"}).Draw(t, "mode"),
		max:     rapid.IntRange(1, 5).Draw(t, "max"),
		byKey:   rapid.Bool().Draw(t, "by key"),
		through: rapid.SampledFrom([]string{"run", "All", "Take"}).Draw(t, "through"),
		tries:   rapid.SliceOfN(rapid.Custom(drawTry), 1, 5).Draw(t, "tries"),
		rude:    rapid.IntRange(0, 2).Draw(t, "rude"), dirty: rapid.Bool().Draw(t, "dirty"),
		stopAt: max(rapid.IntRange(-4, 6).Draw(t, "stop at"), 0), stopBy: rapid.SampledFrom([]string{"break", "panic", "Goexit"}).Draw(t, "stop by"),
		slow:    time.Duration(rapid.IntRange(0, 2).Draw(t, "slow")) * ms,
		retries: rapid.SampledFrom([]int{0, 1, 2, 3, 8}).Draw(t, "retries"), wait: time.Duration(rapid.IntRange(0, 3).Draw(t, "wait")) * ms,
		cancelAt: never,
		reset:    drawReset(t),
		hooked:   rapid.Bool().Draw(t, "hooked"),
	}
	if rapid.IntRange(0, 3).Draw(t, "cancelled") == 0 {
		s.cancelAt = time.Duration(rapid.IntRange(0, 20).Draw(t, "at"))*ms + ms/2
	}
	if s.mode == "Buffered" && s.reset.by == "elements" {
		s.reset.by = "time"
	}
	if s.mode == "BeforeFirst" {
		s.reset.by = "never"
	}
	if s.mode == "Resume" && s.reset.total < 0 { // which begins anew by itself, and could go on for ever
		s.reset.total = rapid.IntRange(0, 6).Draw(t, "total of Resume")
	}
	if s.through == "Take" {
		s.stopBy = "break"
	}
	return s
}

func drawTry(t *rapid.T) try {
	y := try{
		items: slices.Clone([]int{0, 1, 2, 3, 4, 5}[:rapid.IntRange(0, 6).Draw(t, "items")]),
		takes: time.Duration(rapid.IntRange(0, 2).Draw(t, "takes")) * ms, obeys: rapid.Bool().Draw(t, "obeys"),
		ends: rapid.SampledFrom([]string{"well", "boom", "boom", "boom", "wrapped", "lasting", "panic", "Goexit"}).Draw(t, "ends"),
	}
	if len(y.items) > 0 && rapid.IntRange(0, 4).Draw(t, "another") == 0 {
		y.items[rapid.IntRange(0, len(y.items)-1).Draw(t, "which")] += 100
	}
	return y
}

func drawReset(t *rapid.T) reset {
	r := reset{by: rapid.SampledFrom([]string{"never", "never", "elements", "time"}).Draw(t, "reset"), total: -1}
	r.n, r.d = rapid.IntRange(1, 3).Draw(t, "elements"), time.Duration(rapid.IntRange(1, 4).Draw(t, "healthy"))*ms
	if rapid.Bool().Draw(t, "capped") || r.by != "never" {
		r.total = rapid.IntRange(0, 6).Draw(t, "total")
	}
	if rapid.Bool().Draw(t, "rated") {
		r.most, r.within = rapid.IntRange(1, 3).Draw(t, "most"), time.Duration(rapid.IntRange(1, 5).Draw(t, "within"))*ms
	}
	return r
}

func (s script) try(n int) try { return s.tries[min(n, len(s.tries)-1)] }

func (s script) resets() stream.Reset {
	var r stream.Reset
	switch s.reset.by {
	case "elements":
		r = stream.ResetAfter(s.reset.n)
	case "time":
		r = stream.ResetHealthy(s.reset.d)
	}
	if s.reset.total >= 0 {
		r = r.MaxTotal(s.reset.total)
	}
	if s.reset.most > 0 {
		r = r.MaxWithin(s.reset.most, s.reset.within)
	}
	return r
}

// told is what is to come out of a script.
type told struct {
	delivered []int
	runs      int
	at        time.Duration
	ends      string // "well", "panic", "Goexit" of the source, or of the "consumer"
	err       error  // matches, and is, unless the context is in it
	reason    retry.Reason
}

// A model plays a script with a number for a clock. It shares no code with the package.
type model struct {
	script
	told
	now     time.Duration
	fresh   int
	gave    bool
	stopped bool
	cursor  int
	moved   bool
	seen    []int
	retried []time.Duration // when retries begin
	since   int             // retries since the last reset
}

// deliver gives the consumer an element, and reports whether it wants more.
func (m *model) deliver(v int) bool {
	m.delivered = append(m.delivered, v)
	m.now += m.slow
	if len(m.delivered) == m.stopAt {
		m.stopped = true
		return false
	}
	m.fresh++
	return true
}

func (m *model) expect() told {
	for {
		if m.now >= m.cancelAt { // before the call
			return m.end(retry.Cancelled, m.err)
		}
		began := m.now
		m.fresh, m.moved, m.gave = 0, false, false
		err, how := m.run(m.try(m.runs))
		m.runs++
		switch {
		case how != "":
			m.ends, m.at = how, m.now
			return m.told
		case m.stopped:
			reason := retry.Succeeded
			if err != nil {
				reason = retry.Abandoned
			}
			return m.end(reason, err)
		case err == nil:
			return m.end(retry.Succeeded, nil)
		}
		if m.recovered(began) {
			m.since = 0
		}
		if reason := m.judge(err); reason != 0 {
			return m.end(reason, err)
		}
		m.retried = append(m.retried, m.now+m.wait)
		m.since++
		if m.now += m.wait; m.now >= m.cancelAt {
			m.now = m.cancelAt
			return m.end(retry.Cancelled, err)
		}
		m.err = err
	}
}

func (m *model) end(reason retry.Reason, err error) told {
	m.at, m.reason, m.err = m.now, reason, err
	if m.ends == "" {
		m.ends = "well"
	}
	return m.told
}

// run is one run of the source: its error, or how it did not return.
func (m *model) run(y try) (error, string) { //nolint:staticcheck // the error is what it returns
	var buffer []int
	skip := 0
	for i, v := range y.items {
		if m.mode == "Resume" {
			v = m.cursor
		}
		if at := m.now + y.takes; y.obeys && m.cancelAt < at {
			m.now = max(m.now, m.cancelAt)
			return context.Canceled, ""
		}
		m.now += y.takes
		m.gave = m.gave || m.mode != "SkipSeen" || i >= len(m.seen)
		told := true
		switch {
		case m.mode == "Buffered":
			if len(buffer) == m.max {
				return retry.Permanent(stream.ErrBuffer), ""
			}
			buffer = append(buffer, v)
		case m.mode == "SkipSeen" && i < len(m.seen):
			if v != m.seen[i] {
				skip = -1
			} else if skip == i {
				skip++
			}
		case m.mode == "SkipSeen" && skip != len(m.seen) && m.fresh == 0:
			return retry.Permanent(stream.ErrDiverged), ""
		default:
			told = m.deliver(v)
		}
		if m.stopped && m.stopBy != "break" {
			return nil, "consumer"
		}
		if m.stopped {
			return m.cleanup(), ""
		}
		if m.mode == "SkipSeen" && i >= len(m.seen) {
			m.seen = append(m.seen, v)
			skip = len(m.seen)
		}
		if m.mode == "Resume" && told {
			m.cursor, m.moved = m.cursor+1, true
		}
	}
	err, how := m.conclude(y)
	if err == nil && how == "" && m.mode == "SkipSeen" && skip != len(m.seen) {
		err = retry.Permanent(stream.ErrDiverged)
	}
	if err == nil && how == "" {
		for _, v := range buffer {
			if !m.deliver(v) {
				if m.stopBy != "break" {
					return nil, "consumer"
				}
				return nil, ""
			}
		}
	}
	return err, how
}

func (m *model) cleanup() error {
	if m.dirty {
		return errCleanup
	}
	return nil
}

func (m *model) conclude(y try) (error, string) { //nolint:staticcheck // as run
	switch y.ends {
	case "boom":
		return errBoom, ""
	case "wrapped":
		return errWrapped, ""
	case "lasting":
		return retry.Permanent(errLasting), ""
	case "panic", "Goexit":
		return nil, y.ends
	}
	return nil, ""
}

func (m *model) recovered(began time.Duration) bool {
	switch m.reset.by {
	case "elements":
		return m.fresh >= m.reset.n
	case "time":
		return m.gave && m.now-began >= m.reset.d
	}
	return m.mode == "Resume" && m.reset.by == "never" && m.moved
}

func (m *model) judge(err error) retry.Reason {
	switch r := m.reset; {
	case m.now >= m.cancelAt:
		return retry.Cancelled
	case errors.Is(err, errLasting), errors.Is(err, stream.ErrBuffer), errors.Is(err, stream.ErrDiverged):
		return retry.NotRetryable
	case m.mode == "BeforeFirst" && m.fresh > 0:
		return retry.Partial
	case m.since >= m.retries:
		return retry.Exhausted
	case r.total >= 0 && len(m.retried) >= r.total:
		return retry.Exhausted
	case r.most > 0 && len(m.retried) >= r.most && m.now+m.wait-m.retried[len(m.retried)-r.most] < r.within:
		return retry.Exhausted
	}
	return 0
}
