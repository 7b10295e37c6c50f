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

func rarely(t *rapid.T, what string) bool { return rapid.IntRange(0, 7).Draw(t, what) == 7 }

func drawLeaf(t *rapid.T) curve {
	kinds := []string{"", "constant", "linear", "exp", "fibonacci", "decorrelated", "list", "func"}
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
	if c.kind == "then" {
		return c.parts[0].takesJitter() && c.parts[1].takesJitter()
	}
	return c.jitter == "" && c.kind != "" && c.kind != "decorrelated" && c.kind != "func"
}

// drawTree draws an error.
func drawTree(t *rapid.T, depth int) *tree {
	kinds := []string{"own", "own", "gone", "full", "code", "cancelled", "deadline", "old 0", "asking", "final"}
	if depth > 0 {
		kinds = append(kinds, "after", "after", "after", "wrap", "wrap", "join", "permanent")
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
	s.cancels = rapid.IntRange(0, 40).Draw(t, "cancels") == 40
	switch rapid.IntRange(0, 9).Draw(t, "does") {
	case 0: // succeeds
	case 1, 2:
		s.awaits, s.old = "old", rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "which")
	case 3:
		s.awaits, s.fails = "new", leaf(rapid.SampledFrom([]string{"old 0", "gone", "old 1"}).Draw(t, "error"))
	default:
		s.fails = drawTree(t, 2)
	}
	return s
}

var retries = rapid.SampledFrom([]int{-1, 0, 1, 2, 5, retry.Unlimited, retry.Unlimited})

// drawScript draws a run in which no two things that matter happen at one instant.
func drawScript(t *rapid.T) script {
	s := script{retries: retries.Draw(t, "retries"), cancelAt: never, cancelHook: -1, deadline: never}
	s.faulty = rapid.IntRange(0, 60).Draw(t, "faulty") == 60
	if !rarely(t, "default backoff") {
		c := drawCurve(t)
		s.backoff = &c
	}
	if rarely(t, "attempt timeout") {
		s.attemptTimeout = rapid.SampledFrom([]time.Duration{500*time.Microsecond + 3, 500*time.Millisecond + 3, 2*time.Second + 3}).Draw(t, "of")
	}
	if coin.Draw(t, "hints") {
		s.mode = rapid.SampledFrom([]retry.HintMode{retry.HintRefuse, retry.HintClamp, retry.HintIgnore}).Draw(t, "mode")
		s.maxHint = rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 5 * time.Second, time.Hour}).Draw(t, "greatest hint")
	}
	if rarely(t, "On") {
		s.on = rapid.SliceOfN(rapid.SampledFrom(picks), 1, 3).Draw(t, "on")
	}
	if rarely(t, "Except") {
		s.except = rapid.SliceOfN(rapid.SampledFrom(picks), 1, 2).Draw(t, "except")
	}
	if rarely(t, "If") {
		s.ifs = rapid.SliceOfN(rapid.SampledFrom([]string{"is code", "not code", "not gone", "yes"}), 1, 2).Draw(t, "ifs")
	}
	s.wrap, s.info, s.hooked = coin.Draw(t, "wrap"), rarely(t, "info"), !rarely(t, "no hook")
	s.steps = rapid.SliceOfN(rapid.Custom(drawStep), 0, 9).Draw(t, "steps")
	s.words = rapid.SliceOfN(rapid.Uint64(), 1, 9).Draw(t, "words")
	return s.drawEnds(t)
}

// drawEnds draws what ends the run, near the instants of the run without it.
func (s script) drawEnds(t *rapid.T) script {
	if rarely(t, "max elapsed") {
		s.maxElapsed = max(s.drawInstant(t, "max elapsed"), 1)
	}
	if rapid.IntRange(0, 4).Draw(t, "deadline") == 4 {
		s.deadline = s.drawInstant(t, "deadline")
		s.late = rapid.SampledFrom([]error{nil, errors.New("too late")}).Draw(t, "late")
	}
	s.by = rapid.SampledFrom([]error{nil, errors.New("no longer wanted")}).Draw(t, "by")
	switch rapid.IntRange(0, 7).Draw(t, "cancel") {
	case 6:
		s.cancelHook = rapid.IntRange(0, 12).Draw(t, "in hook")
	case 7:
		s.cancelAt = s.drawInstant(t, "cancel")
	}
	for s.model().overlong {
		s.cancelAt = time.Duration(rapid.Int64Range(1, int64(never/8)).Draw(t, "cancel within the century"))
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
	all := []time.Duration{0, time.Second, m.end}
	for _, c := range m.calls {
		all = append(all, c.at, c.ended, c.ended+time.Millisecond)
	}
	at := rapid.SampledFrom(all).Draw(t, what)
	if at < 3 || at > never/8 {
		return max(min(at, never/8), 0)
	}
	return at + rapid.SampledFrom([]time.Duration{-1, 0, 1}).Draw(t, "and")
}
