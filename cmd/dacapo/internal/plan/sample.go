package plan

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

// sample is what was seen in runs in which every call failed.
type sample struct {
	waits, totals [][]time.Duration // by retry; sorted
	runs          int
	counts        []int // by retry: how many runs had time for it
	endless       bool  // a run was given up before it ended
}

const (
	mostRetries = 10_000    // of a run that only max-elapsed ends
	mostWork    = 2_000_000 // retries of all runs
)

var errFailing = errors.New("failing")

// play plays runs, and keeps the waits of so many retries. Where there is time for all
// retries it plays no more of them.
func (p *Plan) play(rows int, set Settings) *sample {
	s := &sample{waits: make([][]time.Duration, rows), totals: make([][]time.Duration, rows)}
	retries := rows
	if p.maxElapsed > 0 {
		retries = min(p.retries, mostRetries)
	}
	draw := rand.New(rand.NewPCG(set.Seed, set.Seed))
	for work := 0; s.runs < set.Runs && work < mostWork; s.runs++ {
		if s.runs == 1 && !p.strategy.Random() {
			break // the others are the same
		}
		work += p.run(s, retries, draw)
	}
	for i := range rows {
		slices.Sort(s.waits[i])
		slices.Sort(s.totals[i])
	}
	s.endless = p.maxElapsed > 0 && len(s.counts) == mostRetries && retries < p.retries
	return s
}

// run plays one run, and returns how many retries it had.
func (p *Plan) run(s *sample, retries int, draw *rand.Rand) int {
	f := retry.Failure{Err: errFailing}
	for f.Retries < retries {
		f.Draw = draw.Uint64()
		d := p.policy.Next(f)
		if !d.Retry {
			break
		}
		if f.Prev, f.Elapsed = d.Drawn, f.Elapsed+d.Wait; f.Elapsed < 0 {
			f.Elapsed = 1<<63 - 1
		}
		s.add(f.Retries, d.Wait, f.Elapsed)
		f.Retries++
	}
	return max(f.Retries, 1)
}

func (s *sample) add(i int, wait, total time.Duration) {
	if i == len(s.counts) {
		s.counts = append(s.counts, 0)
	}
	s.counts[i]++
	if i < len(s.waits) {
		s.waits[i] = append(s.waits[i], wait)
		s.totals[i] = append(s.totals[i], total)
	}
}

// reached is the part of the runs that had time for a retry.
func (s *sample) reached(i int) float64 {
	if i >= len(s.counts) {
		return 0
	}
	return float64(s.counts[i]) / float64(s.runs)
}

func (s *sample) reachedBefore(i int) float64 {
	if i == 0 {
		return 1
	}
	return s.reached(i - 1)
}

// quantile returns the least of sorted durations to which a part of them comes.
func quantile(sorted []time.Duration, part float64) Millis {
	i := int(part*float64(len(sorted))+0.999999) - 1
	return Millis(sorted[max(i, 0)])
}
