package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
)

// sample is one measurement of one contestant: time or bytes, and what was allocated.
type sample struct{ value, bytes, allocs float64 }

// row is a workload and what was measured: for each contestant a sample a round.
type row struct {
	workload
	unit    string // of the value: "" is time in ns, or B
	samples [][]sample
}

// settings are how much is measured.
type settings struct {
	rounds, crowdRounds int
	crowds              []int
	progress            io.Writer
}

// measure runs all contestants of a workload in turn, in every round in another order, so that
// what disturbs the machine disturbs them alike. A round goes through all workloads.
func measure(ws []workload, s settings) []row {
	rows := make([]row, len(ws))
	for i, w := range ws {
		rows[i] = row{workload: w, samples: make([][]sample, len(w.contestants))}
	}
	for round := range s.rounds {
		for i, w := range ws {
			fmt.Fprintf(s.progress, "\r\033[Kround %d of %d: %s, %s", round+1, s.rounds, w.id, w.what)
			for _, at := range turn(len(w.contestants), round) {
				r := testing.Benchmark(func(b *testing.B) { w.bench(b, w.contestants[at]) })
				n := float64(r.N)
				rows[i].samples[at] = append(rows[i].samples[at], sample{float64(r.T) / n, float64(r.MemBytes) / n, float64(r.MemAllocs) / n})
			}
		}
	}
	fmt.Fprintf(s.progress, "\r\033[K")
	return rows
}

// turn is the order of n contestants in a round.
func turn(n, round int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = (i + round) % n
	}
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// measureCrowds measures R8, each contestant in a process of its own: else the goroutines of
// one would leave the runtime with memory that the next finds.
func measureCrowds(s settings) ([]row, error) {
	names, _ := starters()
	var all []row
	for _, n := range s.crowds {
		rows := crowdRows(n, names)
		for round := range s.crowdRounds {
			for _, at := range turn(len(names), round) {
				fmt.Fprintf(s.progress, "\r\033[Kround %d of %d: R8, %s pending runs, %s", round+1, s.crowdRounds, thousands(n), names[at])
				c, err := crowdInChild(names[at], n)
				if err != nil {
					return nil, fmt.Errorf("bench: R8 of %s: %w", names[at], err)
				}
				for i, v := range []float64{c.Bytes, c.Start, c.Cancel, float64(c.Goroutines)} {
					rows[i].samples[at] = append(rows[i].samples[at], sample{value: v})
				}
			}
		}
		all = append(all, rows...)
	}
	fmt.Fprintf(s.progress, "\r\033[K")
	return all, nil
}

func crowdRows(n int, names []string) []row {
	suffix := map[bool]string{true: "m"}[n == 1_000_000]
	many := thousands(n) + " retries that wait"
	rows := []row{
		{workload: workload{id: "R8" + suffix, what: many + ": bytes of each", limit: limit{value: 350, peer: 0.12},
			why: "A run that waits takes 320 B. The rest are goroutines of first calls: on a busy machine many are there at once, and the runtime keeps what describes them."}, unit: "B"},
		{workload: workload{id: "R8" + suffix + "s", what: "… to start each", limit: limit{floor: 0.6, peer: 0.3},
			why: "A first call has a goroutine, as with the peers: it is not to run on the caller. To make and schedule it is a third of the time, the future and " +
				"its timer a fifth, garbage collection a tenth."}},
		{workload: workload{id: "R8" + suffix + "c", what: "… to cancel each", limit: limit{floor: 1, peer: 0.6}}},
		{workload: workload{id: "R8" + suffix + "g", what: "… goroutines in all"}, unit: "goroutines"},
	}
	for i := range rows {
		rows[i].samples = make([][]sample, len(names))
		for _, name := range names {
			how := "a goroutine for each run"
			switch name {
			case "by hand":
				how = "a goroutine, a timer and a select for each"
			case "dacapo":
				how = "future.Retry"
			}
			rows[i].contestants = append(rows[i].contestants, contestant{by: name, how: how})
		}
	}
	return rows
}

const childFlag = "-crowd"

func crowdInChild(name string, n int) (c crowd, err error) {
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	cmd := exec.Command(self, childFlag, name, strconv.Itoa(n))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(out, &c)
}

// child is what the process of one crowd does. It warms up with a few only: the goroutines of
// as many would be there for the taking, though they are part of what the crowd needs.
func child(args []string, out io.Writer) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	_, by := starters()
	measureCrowd(by[args[0]], n/1000)
	return json.NewEncoder(out).Encode(measureCrowd(by[args[0]], n))
}
