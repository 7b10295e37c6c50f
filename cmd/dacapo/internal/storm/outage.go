package storm

import (
	"math"
	"time"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm/sim"
	"github.com/dacapo-go/dacapo/retry"
)

// outage is a service that is slow for ten seconds, and what becomes of it then (Bronson and
// others, "Metastable Failures in Distributed Systems", 2021).
func outage() Scenario {
	return Scenario{
		Name:  "outage",
		Short: "a service that is slow for 10 s: does it come back?",
		own: highlight(variants(
			"no retries", "retries=0",
			"3 retries", threeRetries,
			"3 retries, budget=default", threeRetries+" budget=default",
			"3 retries, budget=calls-20%", threeRetries+" budget=calls-20%",
			"3 retries, budget=calls-40%", threeRetries+" budget=calls-40%",
		), "3 retries", "3 retries, budget=default"),
		TakesPolicies: true,
		OverTime:      true,
		plays:         playOutage,
	}
}

// slump is what happens to the server.
type slump struct {
	load, capacity float64 // a second
	slow           float64 // the capacity while it lasts
	lasts          time.Duration
	watched        time.Duration // after it
}

const (
	slumpBegins  = 30 * time.Second
	slumpTimeout = 500 * ms // of a call
)

func theSlump() slump {
	return slump{load: 700, capacity: 1000, slow: 400, lasts: 10 * time.Second, watched: 140 * time.Second}
}

func playOutage(p *play) {
	o := theSlump()
	p.About = "A server does 1000 requests a second, in turn, and is offered 700. From 30 s to 40 s it does 400.\nA client waits 0.5 s for each answer. The server does not know, and does all the work that is asked."
	p.Table.Columns = []string{"policy", "back after", "attempts", "lost"}
	p.Notes = "back after: from 40 s until goodput is what is offered. attempts: for each request, after 40 s.\nlost: requests without an answer, after 30 s."
	if p.own {
		p.Notes += " 3 retries: exp(100ms,2).cap(2s).jitter(full)"
	}
	for _, v := range p.variants {
		p.say("%s: 180 s", v.Name)
		c := o.play(v, p.seed)
		back, attempts := expectOutage(v.Name, figure(o.recovery(c), "%.0f s"), figure(o.storm(c), "%.2f"))
		p.row(v.Name, back, attempts, figure(100*o.lost(c), "%.0f%%"))
		p.Charts = append(p.Charts, *c)
	}
}

func expectOutage(name string, back, attempts Figure) (Figure, Figure) {
	switch name {
	case "no retries":
		return back.within(9, 1), attempts
	case "3 retries":
		return back.never(), attempts.within(4, 0.1)
	case "3 retries, budget=default":
		return back.most(9 * 1.15), attempts
	case "3 retries, budget=calls-20%":
		return back.within(26, 3), attempts
	case "3 retries, budget=calls-40%":
		return back.never(), attempts
	}
	return back, attempts
}

// play returns what happens, by the second.
func (o slump) play(v Variant, seed uint64) *Chart {
	s := sim.New(seed)
	end := slumpBegins + o.lasts + o.watched
	c := newChart(v, 0, end, time.Second)
	server, client, timeout := sim.NewServer(s, o.capacity), v.client(s), v.callTimeout(slumpTimeout)
	s.After(slumpBegins, func() { server.SetCapacity(o.slow) })
	s.After(slumpBegins+o.lasts, func() { server.SetCapacity(o.capacity) })
	s.Poisson(o.load, func() {
		c.count(c.Offered, s.Now())
		client.Do(func(end func(error)) {
			c.count(c.Attempts, s.Now())
			call(s, server, timeout, end)
		}, func(r retry.Reason) {
			if r == retry.Succeeded {
				c.count(c.Goodput, s.Now())
			}
		})
	})
	s.Run(end)
	return c
}

// call is a request to the server, that its client gives up after the timeout.
func call(s *sim.Sim, server *sim.Server, timeout time.Duration, end func(error)) {
	open := true
	once := func(err error) {
		if open {
			open = false
			end(err)
		}
	}
	server.Serve(func() { once(nil) })
	s.After(timeout, func() { once(errFailed) })
}

// recovery returns how many seconds after the slump goodput is back: it is at least nine
// tenths of what is offered from there on, for five seconds.
func (o slump) recovery(c *Chart) float64 {
	const steady = 5
	over := int((slumpBegins + o.lasts) / time.Second)
	good := 0
	for i := over; i < len(c.Goodput); i++ {
		good++
		if c.Goodput[i] < 0.9*c.Offered[i] {
			good = 0
		}
		if good == steady {
			return float64(i + 1 - steady - over)
		}
	}
	return math.Inf(1)
}

// storm returns the attempts for each request, after the slump.
func (o slump) storm(c *Chart) float64 {
	over := int((slumpBegins + o.lasts) / time.Second)
	return sum(c.Attempts[over:]) / sum(c.Offered[over:])
}

// lost returns the share of requests that did not succeed, since the slump began.
func (o slump) lost(c *Chart) float64 {
	from := int(slumpBegins / time.Second)
	return max(0, 1-sum(c.Goodput[from:])/sum(c.Offered[from:]))
}

func sum(all []float64) (total float64) {
	for _, x := range all {
		total += x
	}
	return total
}
