package storm

import (
	"slices"
	"time"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm/sim"
)

// herd is a service that is down for a minute, and all whose clients retry.
func herd() Scenario {
	const exp = "retries=unlimited backoff=exp(100ms,2).cap(10s)"
	return Scenario{
		Name:  "herd",
		Short: "10,000 clients of a service that is down for a minute: how they come back",
		own: highlight(variants(
			"no jitter", exp,
			"full", exp+".jitter(full)",
			"equal", exp+".jitter(equal)",
			"±20%", exp+".jitter(20%)",
			"±50%", exp+".jitter(50%)",
			"+5s", exp+".jitter(+5s)",
			"spring", exp+".jitter(spring,100ms)",
			"decorrelated", "retries=unlimited backoff=decorrelated(100ms).cap(10s)",
		), "no jitter", "full"),
		TakesPolicies: true,
		OverTime:      true,
		plays:         playHerd,
	}
}

const (
	herdSize = 10_000
	herdDown = time.Minute
	herdBin  = 10 * ms
	herdCap  = 10 * time.Second
)

// stampede is how the clients came back.
type stampede struct {
	chart *Chart
	bins  [3 * herdCap / herdBin]float64 // how many came back in each, after recovery
	worst float64                        // the fullest, in times of the mean until the last client is back
	atCap float64                        // the share of the waits that are at the cap, or above
	calls float64                        // of each client
}

func playHerd(p *play) {
	p.About = "10,000 clients fail at 0; the service is back at 60 s. The waits double from 100 ms to 10 s.\nworst: the fullest 10 ms after 60 s, in times of the mean until the last client is back."
	p.Table.Columns = []string{"policy", "worst", "% of waits at the cap", "calls each", "came back"}
	for _, v := range p.variants {
		p.say("%s: 10,000 clients, 60 s", v.Name)
		h := stampedeOf(v, p.seed)
		worst, atCap := figure(h.worst, "%.2f"), figure(100*h.atCap, "%.2f")
		if spreads(v) {
			worst, atCap = worst.most(4), atCap.most(0.1)
		}
		p.Charts = append(p.Charts, *h.chart)
		p.row(v.Name, worst, atCap, figure(h.calls, "%.1f"), figure(100*sum(h.bins[:])/herdSize, "%.0f%%"))
	}
}

// spreads reports whether v is one of the scenario's own, with a jitter. (Decorrelated is a
// curve: once at the cap its mean wait is 3.1 s of at most 10 s, so just after the recovery
// the bins have 3.2 times the mean, before chance is added.)
func spreads(v Variant) bool {
	return slices.Contains([]string{"full", "equal", "±20%", "±50%", "+5s", "spring"}, v.Name)
}

func stampedeOf(v Variant, seed uint64) *stampede {
	s := sim.New(seed)
	h := &stampede{chart: newChart(v, 55*time.Second, 73*time.Second, 200*ms)}
	client := v.client(s)
	var waits, atCap float64
	client.Waits = func(d time.Duration) {
		waits++
		if d >= herdCap {
			atCap++
		}
	}
	for range herdSize {
		client.Do(func(end func(error)) { end(h.call(s.Now())) }, nil)
	}
	s.Run(herdDown + time.Duration(len(h.bins))*herdBin)
	h.atCap = atCap / max(waits, 1)
	last := len(h.bins)
	for last > 1 && h.bins[last-1] == 0 {
		last--
	}
	if worst := slices.Max(h.bins[:]); worst > 0 {
		h.worst = worst / mean(h.bins[:last])
	}
	return h
}

// call is a call at an instant.
func (h *stampede) call(now time.Duration) error {
	h.calls += 1. / herdSize
	h.chart.count(h.chart.Attempts, now)
	if now < herdDown {
		return errFailed
	}
	h.chart.count(h.chart.Goodput, now)
	if i := int((now - herdDown) / herdBin); i < len(h.bins) {
		h.bins[i]++
	}
	return nil
}

func mean(all []float64) float64 { return sum(all) / float64(len(all)) }
