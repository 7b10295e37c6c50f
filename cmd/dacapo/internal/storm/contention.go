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
	for _, v := range p.variants {
		p.say("%s: 10 and 100 clients, %d times", v.Name, contentionRuns)
		calls10, ms10 := contend(v, 10, p.seed)
		calls100, ms100 := contend(v, 100, p.seed)
		f := []Figure{figure(calls10, "%.1f"), figure(ms10, "%.0f"), figure(calls100, "%.0f"), figure(ms100, "%.0f")}
		if want, ok := expectedContention[v.Name]; ok {
			for i, part := range []float64{0.04, 0.15, 0.04, 0.15} {
				f[i] = f[i].near(want[i], part)
			}
		}
		p.row(v.Name, f...)
	}
}

// contend returns the mean number of calls and the mean time until all clients have written.
func contend(v Variant, clients int, seed uint64) (calls, millis float64) {
	seeds := rand.New(rand.NewPCG(seed, 0))
	for range contentionRuns {
		n, took := contendOnce(v, clients, sim.New(seeds.Uint64()))
		calls += float64(n) / contentionRuns
		millis += took.Seconds() * 1000 / contentionRuns
	}
	return calls, millis
}

// contendOnce plays one run.
func contendOnce(v Variant, clients int, s *sim.Sim) (calls int, took time.Duration) {
	network := s.Source()
	send := func(do func()) {
		s.After(time.Duration(math.Abs(10e6+2e6*network.NormFloat64())), do)
	}
	version := 0
	write := func(read int) error {
		calls++
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
		}, func(retry.Reason) { took = s.Now() })
	}
	s.RunAll()
	return calls, took
}
