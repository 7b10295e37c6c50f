package storm

import (
	"fmt"
	"time"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm/sim"
	"github.com/dacapo-go/dacapo/retry"
)

// layers are services that call one another, and all retry.
func layers() Scenario {
	return Scenario{
		Name:  "layers",
		Short: "three services in a row that all retry: what reaches the last",
		own: variants(
			"no budget", threeRetries,
			"default budget", threeRetries+" budget=default",
			"calls-20%", threeRetries+" budget=calls-20%",
		),
		TakesPolicies: true,
		plays:         playLayers,
	}
}

const depth = 3

func playLayers(p *play) {
	p.About = "Three layers call one another, each under the policy and with a budget of its own; a part of the\ncalls to the last fails. 400 requests a second for 100 s, of which the second half is measured.\ncalls: calls that reach the last, for each request."
	p.Table.Columns = []string{"policy", "calls"}
	for _, v := range p.variants {
		for _, part := range []float64{0.1, 0.3, 0.5, 0.9, 1} {
			p.say("%s: %.0f %% fail", v.Name, 100*part)
			f := figure(layered(v, part, p.seed), "%.3f")
			switch {
			case v.Name == "default budget":
				f = f.most(1.331)
			case v.Name == "no budget" && part == 1:
				f = f.within(64, 0)
			}
			p.row(fmt.Sprintf("%s, %.0f%% fail", v.Name, 100*part), f)
		}
	}
}

// layered returns how many calls reach the last service for each request of the second half.
func layered(v Variant, failing float64, seed uint64) float64 {
	s := sim.New(seed)
	luck := s.Source()
	var chain [depth]*sim.Client
	for i := range chain {
		chain[i] = v.client(s)
	}
	const half = 50 * time.Second
	var requests, calls int
	s.Poisson(400, func() {
		if s.Now() >= 2*half {
			return
		}
		counts := s.Now() >= half
		op := func(end func(error)) {
			if counts {
				calls++
			}
			end(fails(luck, failing))
		}
		if counts {
			requests++
		}
		for _, c := range chain {
			op = through(c, op)
		}
		op(func(error) {})
	})
	s.Run(2*half + time.Minute) // until those of the second half have ended
	return float64(calls) / float64(requests)
}

// through returns op as a layer makes it: with retries.
func through(c *sim.Client, op sim.Op) sim.Op {
	return func(end func(error)) {
		c.Do(op, func(r retry.Reason) {
			if r == retry.Succeeded {
				end(nil)
			} else {
				end(errFailed)
			}
		})
	}
}
