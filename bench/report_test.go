package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The rule is strict, so that it is simple: what the README has in its cost tables, it has from
// RESULTS.md, letter for letter.
func TestEachLineOfTheREADMEsCostTablesIsOneOfTheResults(t *testing.T) {
	lines := costLines(read(t, "../README.md"))
	assert.Greater(t, len(lines), 20)
	results := strings.Split(read(t, "RESULTS.md"), "\n")
	for _, line := range lines {
		assert.Contains(t, results, line, "run go run ./bench")
	}
}

func TestTheResultsAreOfAllWorkloads(t *testing.T) {
	results := read(t, "RESULTS.md")
	all := workloads()
	names, _ := starters()
	for _, r := range crowdRows(1_000_000, names) {
		all = append(all, r.workload)
	}
	for _, w := range all {
		assert.Contains(t, results, "\n### "+w.id+": "+w.what+"\n")
		for _, c := range w.contestants {
			assert.Contains(t, results, "\n| "+c.by+" | ")
			assert.Contains(t, results, " | "+c.how+" |\n")
		}
	}
}

// measured is a row of which each contestant has a value a round.
func measured(values ...[]float64) row {
	r := row{workload: workload{id: "X", what: "work", contestants: []contestant{
		{by: "by hand"}, {by: "dacapo"}, {by: "slow"}, {by: "quick"}, {by: "pattern", pattern: true},
	}[:len(values)]}}
	for _, vs := range values {
		r.samples = append(r.samples, each(vs, func(v float64) sample { return sample{value: v, allocs: 2} }))
	}
	return r
}

func TestARatioIsTheMedianOfTheRoundsRatios(t *testing.T) {
	r := measured([]float64{1, 10, 1}, []float64{2, 20, 3}) // the second round was disturbed
	assert.Equal(t, 2.0, r.ratio(ours, byTheHand))
	assert.Equal(t, 2.5, median([]float64{4, 1, 3, 2}))
}

func TestTheBestPeerIsNeitherWrittenByHandNorOurs(t *testing.T) {
	one := func(v float64) []float64 { return []float64{v} }
	r := measured(one(1), one(2), one(9), one(5), one(3))
	assert.Equal(t, "quick", r.contestants[r.best()].by)
	r.contestants[byTheHand].peer = true // errgroup, say
	assert.Equal(t, byTheHand, r.best())
	assert.Equal(t, -1, measured(one(1), one(2)).best())
}

func TestAMissedLimitIsSaidPlainly(t *testing.T) {
	one := func(v float64) []float64 { return []float64{v} }
	r := measured(one(1), one(2), one(4))
	r.limit, r.allocs = limit{floor: 2, peer: 0.4}, 2
	assert.Equal(t, []verdict{
		{"× by hand", "≤ 2", "2.00", true},
		{"× best peer (slow)", "≤ 0.4", "0.50", false},
		{"allocations", "2", "2", true},
	}, r.verdicts())
	var out bytes.Buffer
	report{rows: []row{r}}.print(&out)
	assert.Contains(t, out.String(), "missed: X, × best peer (slow): 0.50, promised ≤ 0.4\n")
	assert.Contains(t, report{rows: []row{r}}.markdown(), "2 of 3 hold. Missed:\n\n- **X**, × best peer (slow): 0.50, promised ≤ 0.4.\n")
}

func TestTheREADMEsLinesOfWhatWasMeasuredAreRefreshedAndNothingElse(t *testing.T) {
	readme := "# A\n\n| X | a |\n\n## Cost\n\nText.\n\n| | work |\n|---|---|\n| X | old |\n| Y | old |\n\n## B\n\n| X | b |\n"
	r := measured([]float64{1}, []float64{2})
	want := strings.Replace(readme, "| X | old |", r.summary(), 1)
	assert.Equal(t, want, refreshed(readme, []row{r}))
	assert.Equal(t, []string{r.summary(), "| Y | old |"}, costLines(want))
	assert.Equal(t, "| X | work | 2.00 ns | 2.00 | – | 2 |", r.summary())
}

func TestEveryRoundHasEachContestantOnceInAnOrderOfItsOwn(t *testing.T) {
	seen := map[[3]int]bool{}
	for round := range 6 {
		order := turn(3, round)
		assert.ElementsMatch(t, []int{0, 1, 2}, order)
		seen[[3]int(order)] = true
	}
	assert.Greater(t, len(seen), 3)
}

func TestAQuickLookWritesNothing(t *testing.T) {
	before := read(t, "../README.md")
	var out bytes.Buffer
	require.NoError(t, command([]string{"-quick", "-only", "^F2c$", "-rounds", "1"}, &out, io.Discard))
	assert.Contains(t, out.String(), "F2c: ")
	assert.Contains(t, out.String(), "Nothing was written")
	assert.Equal(t, before, read(t, "../README.md"))
	assert.ErrorContains(t, command([]string{"-only", "("}, &out, io.Discard), "bench: -only: ")
}
