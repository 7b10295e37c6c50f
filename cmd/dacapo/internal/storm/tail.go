package storm

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm/sim"
	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry/budget"
)

// tail is a service of which one call in a hundred is slow, and hedges.
func tail() Scenario {
	return Scenario{
		Name:  "tail",
		Short: "a service of which 1 call in 100 is slow: what a hedge costs, and what it saves",
		plays: playTail,
	}
}

// hedging is one row of the scenario.
type hedging struct {
	name    string
	after   time.Duration // the delay; 0: none
	learns  float64       // the quantile that is learned in place of it; 0: none
	budget  bool
	allSlow bool
}

// The delays that 5 % and 1 % of the calls exceed. As 1 % are slow, the latter is anywhere
// from 14 to 100 ms: taken is the least that, rounded to a tenth, 1.0 % exceed (1.049 %).
const (
	p95 = 8450 * time.Microsecond
	p99 = 13500 * time.Microsecond
)

const tailCalls, fanOut = 400_000, 100

var hedgings = []hedging{
	{name: "none"},
	{name: "p95 (8.45ms)", after: p95},
	{name: "p99 (13.5ms)", after: p99},
	{name: "p95, learned", learns: 0.95},
	{name: "p99, learned", learns: 0.99},
	{name: "p95 (8.45ms), all 10 × slower", after: p95, allSlow: true},
	{name: "… with the default budget", after: p95, allSlow: true, budget: true},
	{name: "… p95, learned", learns: 0.95, allSlow: true},
}

func playTail(p *play) {
	p.About = "A service whose calls take about 5 ms, but one in a hundred 100 to 1000 ms: 400,000 calls,\neach with at most one hedge. page: the median of pages that need 100 calls."
	p.Table.Columns = []string{"hedge", "extra load %", "p99.9 ms", "page ms"}
	for _, h := range hedgings {
		p.say("%s", h.name)
		took, extra := h.play(p.seed)
		page := medianPage(took)
		slices.Sort(took)
		p999 := took[len(took)*999/1000]
		p.row(h.name, expectTail(h, figure(100*extra, "%.2f"), figure(inMS(p999), "%.1f"), figure(inMS(page), "%.1f"))...)
	}
}

func expectTail(h hedging, extra, p999, page Figure) []Figure {
	const bucket = 100. * 100 / tailCalls // of the budget, full at first, in percent of the calls
	switch {
	case h == hedging{name: h.name}:
		p999, page = p999.near(907, 0.05), page.near(382, 0.1)
	case h.budget:
		extra = extra.most(10 + bucket)
	case h.allSlow:
	case h.after == p95:
		extra, p999, page = extra.within(4.97, 0.3), p999.near(16, 0.1), page.near(13, 0.1)
	case h.after == p99:
		extra, p999 = extra.within(1, 0.3), p999.near(21, 0.1)
	case h.learns > 0:
		extra = extra.within(100*(1-h.learns), 0.3)
	}
	return []Figure{extra, p999, page}
}

// play returns how long each call took, and the extra tries for each.
func (h hedging) play(seed uint64) (took []time.Duration, extra float64) {
	s := sim.New(seed)
	load, service := s.Source(), s.Source()
	hedger := h.hedger(s)
	tries := 0
	try := func(end func()) {
		tries++
		d := serviceTime(service)
		if h.allSlow {
			d *= 10
		}
		s.After(d, end)
	}
	took = make([]time.Duration, tailCalls)
	var next func(i int)
	next = func(i int) {
		if i == tailCalls {
			return
		}
		began := s.Now()
		hedger.Do(try, func() { took[i] = s.Now() - began })
		s.After(time.Duration(load.ExpFloat64()*float64(ms)), func() { next(i + 1) })
	}
	next(0)
	s.RunAll()
	return took, float64(tries-tailCalls) / tailCalls
}

func (h hedging) hedger(s *sim.Sim) *sim.Hedger {
	d := &sim.Hedger{Sim: s}
	switch {
	case h.learns > 0:
		d.Quantile = future.NewQuantile(h.learns, 10*ms)
		d.Policy = future.HedgeAt(d.Quantile)
	case h.after > 0:
		d.Policy = future.HedgeAfter(h.after)
	}
	if h.budget {
		d.Budget = budget.New(budget.Default())
	}
	return d
}

// serviceTime draws how long a call takes.
func serviceTime(r *rand.Rand) time.Duration {
	if r.IntN(100) == 0 {
		return 100*ms + time.Duration(r.Int64N(int64(900*ms)))
	}
	return time.Duration(5e6 * math.Exp(0.3*r.NormFloat64()))
}

// medianPage returns the median of the slowest of every hundred calls.
func medianPage(took []time.Duration) time.Duration {
	var slowest []time.Duration
	for page := range slices.Chunk(took, fanOut) {
		slowest = append(slowest, slices.Max(page))
	}
	slices.Sort(slowest)
	return slowest[len(slowest)/2]
}

func inMS(d time.Duration) float64 { return d.Seconds() * 1000 }
