package property_test

import (
	"errors"
	"time"

	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/retry"
)

// The generators of scripts. Times come from few values, so that they meet; the
// ends of a run are drawn from the instants of the same run without them.

var (
	firsts = rapid.SampledFrom([]time.Duration{0, 1, 7, 300 * time.Millisecond, time.Second, 2 * time.Second, 10 * time.Second})
	spent  = rapid.SampledFrom([]time.Duration{0, 0, 0, time.Millisecond, time.Second, 3 * time.Second})
	hints  = rapid.SampledFrom([]time.Duration{-time.Second, 0, time.Millisecond, time.Second, 5 * time.Second, 10 * time.Second, 5*time.Minute + 1, never})
	coin   = rapid.Bool()
)

func rarely(t *rapid.T, what string) bool { return one(t, 8, what) }

// one is true once in n times. (IntRange is not: it prefers small numbers.)
func one(t *rapid.T, n int, what string) bool {
	return rapid.SampledFrom(upTo(n)).Draw(t, what) == n
}

func drawLeaf(t *rapid.T) curve {
	kinds := []string{"exp", "decorrelated", "list", "func", "linear", "fibonacci", "constant", ""}
	c := curve{kind: rapid.SampledFrom(kinds).Draw(t, "curve")}
	if c.kind != "" && c.kind != "func" && c.kind != "list" {
		c.first = firsts.Draw(t, "first")
	}
	switch c.kind {
	case "linear":
		c.step = firsts.Draw(t, "step")
	case "exp":
		c.factor = rapid.SampledFrom([]float64{1, 1.5, 2, 3, 10}).Draw(t, "factor")
	case "list":
		c.list = rapid.SliceOfN(firsts, 1, 4).Draw(t, "list")
		c.first = c.list[0]
	case "func":
		for i := range c.spans {
			c.spans[i] = span{firsts.Draw(t, "lo"), firsts.Draw(t, "hi")}
		}
		c.spans[0].lo -= rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "below")
	}
	return c
}

// drawCurve draws a strategy without a fault.
func drawCurve(t *rapid.T) curve {
	c := drawLeaf(t)
	if rarely(t, "joined") {
		c = curve{kind: "then", parts: []curve{drawCurve(t), drawCurve(t)}, after: rapid.IntRange(0, 3).Draw(t, "after")}
	}
	if coin.Draw(t, "capped") {
		c.cap = max(c.greatestFirst(), 1) + firsts.Draw(t, "above the first wait")
	}
	if lowest := c.lowestCap(); rarely(t, "floored") {
		c.floor = min(firsts.Draw(t, "floor"), lowest)
	}
	if c.takesJitter() {
		c.jitter = rapid.SampledFrom([]string{"", "full", "equal", "proportional", "additive", "spring"}).Draw(t, "jitter")
	}
	switch c.jitter {
	case "proportional":
		c.fraction = rapid.SampledFrom([]float64{0.2, 0.5, 1}).Draw(t, "fraction")
	case "additive", "spring":
		c.by = min(firsts.Draw(t, "by")+1, c.lowestCap())
	}
	return c
}

func (c curve) greatestFirst() time.Duration {
	greatest := c.first
	for _, p := range c.parts {
		greatest = max(greatest, p.greatestFirst(), p.floor, p.by)
	}
	return max(greatest, c.floor)
}

func (c curve) lowestCap() time.Duration {
	lowest := c.cap
	if lowest == 0 {
		lowest = never
	}
	for _, p := range c.parts {
		lowest = min(lowest, p.lowestCap())
	}
	return lowest
}

func (c curve) takesJitter() bool {
	if c.kind == "then" && c.jitter == "" {
		return c.parts[0].takesJitter() && c.parts[1].takesJitter()
	}
	return c.jitter == "" && c.kind != "" && c.kind != "then" && c.kind != "decorrelated" && c.kind != "func"
}

// drawTree draws an error.
func drawTree(t *rapid.T, depth int) *tree {
	kinds := []string{"own", "gone", "full", "code", "asking", "cancelled", "deadline", "old 0", "final"}
	if depth > 0 {
		kinds = append([]string{"own", "after", "after", "wrap", "join", "wrap", "permanent"}, kinds...)
	}
	n := &tree{kind: rapid.SampledFrom(kinds).Draw(t, "error")}
	switch n.kind {
	case "asking":
		n.hint, n.some = hints.Draw(t, "hint"), coin.Draw(t, "some")
	case "final":
		n.some = rarely(t, "final")
	case "after":
		n.hint = hints.Draw(t, "hint")
	}
	for range map[string]int{"after": 1, "wrap": 1, "permanent": 1, "join": 2}[n.kind] {
		n.of = append(n.of, drawTree(t, depth-1))
	}
	return n.build()
}

func drawStep(t *rapid.T) step {
	s := step{takes: spent.Draw(t, "takes"), obeys: rapid.SampledFrom([]string{"", "", "err", "cause"}).Draw(t, "obeys")}
	s.cancels = one(t, 40, "cancels")
	switch rapid.SampledFrom(upTo(12)).Draw(t, "does") {
	case 12: // succeeds
	case 2, 3:
		s.awaits, s.old = "old", rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "which")
	case 4:
		s.awaits, s.fails = "new", leaf(rapid.SampledFrom([]string{"old 0", "gone", "old 1"}).Draw(t, "error"))
	default:
		s.fails = drawTree(t, 2)
	}
	return s
}

var retries = rapid.SampledFrom([]int{5, retry.Unlimited, -1, 7, 2, 1, 0})

// drawScript draws a run in which no two things that matter happen at one instant.
func drawScript(t *rapid.T) script {
	s := script{retries: retries.Draw(t, "retries"), cancelAt: never, cancelHook: -1, deadline: never}
	s.faulty = one(t, 60, "faulty")
	if !rarely(t, "default backoff") {
		c := drawCurve(t)
		s.backoff = &c
	}
	if rarely(t, "attempt timeout") {
		s.attemptTimeout = rapid.SampledFrom([]time.Duration{500*time.Microsecond + 3, 500*time.Millisecond + 3, 2*time.Second + 3}).Draw(t, "of")
	}
	if coin.Draw(t, "hints") {
		s.mode = rapid.SampledFrom([]retry.HintMode{retry.HintRefuse, retry.HintClamp, retry.HintIgnore}).Draw(t, "mode")
		s.maxHint = rapid.SampledFrom([]time.Duration{time.Hour, 5 * time.Second, time.Second, time.Millisecond, never}).Draw(t, "greatest hint")
	}
	if one(t, 4, "On") {
		s.on = rapid.SliceOfN(rapid.SampledFrom(picks), 1, 3).Draw(t, "on")
	}
	if one(t, 4, "Except") {
		s.except = rapid.SliceOfN(rapid.SampledFrom(picks), 1, 2).Draw(t, "except")
	}
	if rarely(t, "If") {
		s.ifs = rapid.SliceOfN(rapid.SampledFrom([]string{"not gone", "not code", "yes", "is code"}), 1, 2).Draw(t, "ifs")
	}
	if rarely(t, "limiter") {
		s.allows = rapid.SliceOfN(rapid.SampledFrom([]bool{true, true, true, false}), 1, 4).Draw(t, "allows")
	}
	s.wrap, s.info, s.hooked = coin.Draw(t, "wrap"), rarely(t, "info"), !rarely(t, "no hook")
	s.steps = rapid.SliceOfN(rapid.Custom(drawStep), rapid.SampledFrom([]int{6, 4, 8, 1, 0}).Draw(t, "at least"), 9).Draw(t, "steps")
	s.words = rapid.SliceOfN(rapid.Uint64(), 1, 9).Draw(t, "words")
	switch rapid.SampledFrom(upTo(8)).Draw(t, "only") {
	case 7: // a loop that is left
		s.leaves, s.undecided = rapid.IntRange(1, 4).Draw(t, "leaves in round"), coin.Draw(t, "undecided")
	case 8: // a stream that fails after its element
		s.partial, s.stops = rapid.IntRange(1, 4).Draw(t, "call that gives"), coin.Draw(t, "stops")
	}
	return s.drawEnds(t)
}

// drawEnds draws what ends the run, near the instants of the run without it.
func (s script) drawEnds(t *rapid.T) script {
	if rarely(t, "max elapsed") {
		s.maxElapsed = max(s.drawInstant(t, "max elapsed"), 1)
	}
	if one(t, 5, "deadline") {
		s.deadline = s.drawInstant(t, "deadline")
		s.late = rapid.SampledFrom([]error{nil, errors.New("too late")}).Draw(t, "late")
	}
	s.by = rapid.SampledFrom([]error{nil, errors.New("no longer wanted")}).Draw(t, "by")
	switch rapid.SampledFrom(upTo(8)).Draw(t, "cancel") {
	case 7:
		s.cancelHook = rapid.IntRange(0, 12).Draw(t, "in hook")
	case 8:
		s.cancelAt = s.drawInstant(t, "cancel")
	}
	for s.model().overlong {
		s.cancelAt = time.Duration(rapid.Int64Range(1, int64(years)).Draw(t, "cancel within years"))
	}
	for s.model().tie {
		s.cancelAt += ifElse(s.cancelAt != never, 1, 0)
		s.deadline += ifElse(s.deadline != never, 2, 0)
	}
	return s
}

func ifElse(cond bool, a, b time.Duration) time.Duration {
	if cond {
		return a
	}
	return b
}

// drawInstant draws an instant of the run, or one nearby.
func (s script) drawInstant(t *rapid.T, what string) time.Duration {
	m := s.model()
	all := []time.Duration{m.end}
	for _, c := range m.calls {
		all = append(all, max(c.at, 1), c.ended, c.ended+time.Millisecond)
	}
	all = append(all, 0)
	at := rapid.SampledFrom(all).Draw(t, what)
	if at < 3 || at > years {
		return min(at, years)
	}
	return at + rapid.SampledFrom([]time.Duration{-1, 0, 1}).Draw(t, "and")
}
