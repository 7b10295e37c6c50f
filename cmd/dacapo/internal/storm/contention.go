package storm

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm/sim"
	"github.com/dacapo-go/dacapo/retry"
)

const ms = time.Millisecond

// contention is the simulation of Marc Brooker, "Exponential Backoff and Jitter" (AWS
// Architecture Blog, 2015), with its numbers.
func contention() Scenario {
	const exp = "retries=unlimited backoff=exp(10ms,2).cap(2s)"
	own := variants(
		"none", "retries=unlimited backoff=none",
		"exponential", exp,
		"±20%", exp+".jitter(20%)",
		"±50%", exp+".jitter(50%)",
		"equal", exp+".jitter(equal)",
		"full", exp+".jitter(full)",
		"decorrelated", "retries=unlimited backoff=decorrelated(5ms).cap(2s)",
		"decorrelated (AWS)", "retries=unlimited",
	)
	own[len(own)-1].law = clippedDecorrelated
	return Scenario{
		Name:          "contention",
		Short:         "clients that read and conditionally write one row: how much work each jitter saves",
		own:           own,
		TakesPolicies: true,
		plays:         playContention,
	}
}

// clippedDecorrelated is the law as AWS published it: the drawn value is clipped at the cap,
// where ours clips the window.
func clippedDecorrelated(prev time.Duration, draw uint64) time.Duration {
	const base, longest = 5 * ms, 2 * time.Second
	drawn, _ := bits.Mul64(draw, uint64(3*max(prev, base)-base))
	return min(longest, base+time.Duration(drawn))
}

// expectedContention are the calls and milliseconds that are expected of each of the
// scenario's own variants, with 10 and with 100 clients.
var expectedContention = map[string][4]float64{
	"none":               {50, 377, 2424, 2033},
	"exponential":        {51, 3597, 1854, 63453},
	"±20%":               {43, 974, 838, 9407},
	"±50%":               {39, 622, 733, 6498},
	"equal":              {42, 718, 813, 6616},
	"full":               {39, 458, 796, 4900},
	"decorrelated (AWS)": {38, 436, 1002, 4576},
}

const contentionRuns = 300

func playContention(p *play) {
	p.About = fmt.Sprintf("N clients read one row and write it if it is unchanged, until each has: means of %d runs.\nEvery message takes about 10 ms. calls: writes that were tried. ms: until the last client is done.", contentionRuns)
	p.Table.Columns = []string{"policy", "N=10: calls", "ms", "N=100: calls", "ms"}
	if !p.own { // which may give up
		p.Table.Columns = append(p.Table.Columns, "wrote")
	}
	for _, v := range p.variants {
		p.say("%s: 10 and 100 clients, %d times", v.Name, contentionRuns)
		ten, hundred := contend(v, 10, p.seed), contend(v, 100, p.seed)
		f := []Figure{figure(ten.calls, "%.1f"), figure(ten.ms, "%.0f"), figure(hundred.calls, "%.0f"), figure(hundred.ms, "%.0f")}
		if !p.own {
			f = append(f, figure(100*hundred.wrote, "%.0f%%"))
		}
		if want, ok := expectedContention[v.Name]; ok {
			for i, part := range []float64{0.04, 0.15, 0.04, 0.15} {
				f[i] = f[i].near(want[i], part)
			}
		}
		p.row(v.Name, f...)
	}
}

// contended are means of many runs.
type contended struct {
	calls, ms float64
	wrote     float64 // the share of the clients that succeeded
}

func contend(v Variant, clients int, seed uint64) (all contended) {
	seeds := rand.New(rand.NewPCG(seed, 0))
	for range contentionRuns {
		one := contendOnce(v, clients, sim.New(seeds.Uint64()))
		all.calls += one.calls / contentionRuns
		all.ms += one.ms / contentionRuns
		all.wrote += one.wrote / contentionRuns
	}
	return all
}

// contendOnce plays one run.
func contendOnce(v Variant, clients int, s *sim.Sim) (c contended) {
	network := s.Source()
	send := func(do func()) {
		s.After(time.Duration(math.Abs(10e6+2e6*network.NormFloat64())), do)
	}
	version := 0
	write := func(read int) error {
		c.calls++
		if read != version {
			return errFailed
		}
		version++
		return nil
	}
	client := v.client(s)
	for range clients {
		client.Do(func(end func(error)) {
			send(func() { // to the server, which reads
				read := version
				send(func() { // back
					send(func() { // to the server, which writes
						err := write(read)
						send(func() { end(err) })
					})
				})
			})
		}, func(retry.Reason) { c.ms = inMS(s.Now()) })
	}
	s.RunAll()
	c.wrote = float64(version) / float64(clients)
	return c
}
