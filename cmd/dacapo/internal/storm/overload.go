package storm

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm/sim"
	"github.com/dacapo-go/dacapo/retry"
)

const threeRetries = "retries=3 backoff=exp(100ms,2).cap(2s).jitter(full)"

// overload is a service that fails a part of all calls, for long.
func overload() Scenario {
	return Scenario{
		Name:  "overload",
		Short: "a service that fails a part of its calls: what retries add to its load, and what they save",
		own: variants(
			"no budget", threeRetries,
			"default budget", threeRetries+" budget=default",
			"finagle", threeRetries+" budget=finagle",
			"grpc", threeRetries+" budget=grpc",
			"aws, 2 retries", "retries=2 backoff=exp(100ms,2).cap(2s).jitter(full) budget=aws",
		),
		TakesPolicies: true,
		plays:         playOverload,
	}
}

var failing = []float64{0.1, 0.3, 0.5, 1}

// expectedOverload are the attempts for each first try, and the share of runs that succeed,
// for every failing. It is arithmetic: with a deposit d for each success, r retries for each
// first try and the share s of successes, r = d·s and s = (1+r)·(1-p).
var expectedOverload = map[string]map[float64][2]float64{
	"no budget":      {0.1: {1.111, 1.000}, 0.3: {1.415, 0.992}, 0.5: {1.875, 0.937}, 1: {4, 0}},
	"default budget": {0.1: {1.099, 0.989}, 0.3: {1.075, 0.753}, 0.5: {1.053, 0.526}, 1: {1, 0}},
	"finagle":        {0.5: {1.210, 0.605}},
	"grpc":           {0.5: {1.000, 0.500}},
	"aws, 2 retries": {0.5: {1.071, 0.535}},
}

func playOverload(p *play) {
	p.About = "1000 requests a second for 400 s, of whose calls a part fails; the second half is measured.\nattempts: calls for each request. served: the share of requests that succeed in the end."
	p.Table.Columns = []string{"policy", "attempts", "served"}
	for _, v := range p.variants {
		for _, part := range failing {
			p.say("%s: %.0f %% fail", v.Name, 100*part)
			attempts, served := overloaded(v, part, p.seed)
			f := []Figure{figure(attempts, "%.3f"), figure(served, "%.3f")}
			if want, ok := expectedOverload[v.Name][part]; ok {
				f[0], f[1] = f[0].within(want[0], 0.01), f[1].within(want[1], 0.01)
			}
			p.row(fmt.Sprintf("%s, %.0f%% fail", v.Name, 100*part), f...)
		}
	}
}

// overloaded returns the attempts for each request and the share of requests that succeed,
// in the second half.
func overloaded(v Variant, failing float64, seed uint64) (attempts, served float64) {
	const half = 200 * time.Second
	s := sim.New(seed)
	client, luck := v.client(s), s.Source()
	var offered, tried, succeeded float64
	count := func(n *float64) {
		if s.Now() >= half {
			*n++
		}
	}
	op := func(end func(error)) {
		count(&tried)
		end(fails(luck, failing)) // at once: no figure has to do with how long a call takes
	}
	ended := func(r retry.Reason) {
		if r == retry.Succeeded {
			count(&succeeded)
		}
	}
	s.Poisson(1000, func() {
		count(&offered)
		client.Do(op, ended)
	})
	s.Run(2 * half)
	return tried / offered, succeeded / offered
}

// fails returns an error with a probability.
func fails(luck *rand.Rand, p float64) error {
	if luck.Float64() < p {
		return errFailed
	}
	return nil
}
