package main

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const planned = "retries=8 backoff=exp(100ms,2).cap(5s).jitter(full)"

func TestAPlanFitsItsColumns(t *testing.T) {
	for _, width := range []int{80, 120} {
		_, out, errs := command("plan", planned, "--width", strconv.Itoa(width))
		assert.Empty(t, errs)
		longest := 0
		for line := range strings.Lines(out) {
			longest = max(longest, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
			assert.False(t, strings.HasSuffix(line, " \n"), "%q", line)
		}
		assert.True(t, width*3/4 < longest && longest <= width, "%d: %d", width, longest)
	}
}

func TestAPlanIsATableAChartAndWarnings(t *testing.T) {
	status, out, _ := command("plan", planned)
	assert.Zero(t, status)
	for _, line := range []string{
		planned,
		"retry  least  median  p95    greatest  least  median  p95    greatest",
		"5s ┤                                               ────────────────",
		"           1       2       3       4       5       6       7       8",
		"At worst 9 calls, and waits of 16.3s in all.",
		"calls for each run     1.01  1.11    2.00   6.13   9.00",
		"! no attempt-timeout: an attempt that hangs is neither ended nor retried.",
	} {
		assert.Contains(t, out, line+"\n")
	}
}

func TestPlansAreSideBySide(t *testing.T) {
	_, out, _ := command("plan", planned, "retries=2 backoff=constant(2s)")
	for _, line := range []string{
		"A  " + planned, "B  retries=2 backoff=constant(2s)",
		"1      50ms    100ms     50ms        2s      2s        2s",
		"B  At worst 3 calls, and waits of 4s in all.",
		"! B  no jitter: callers that fail together come back together, again and again.\n  write backoff=constant(2s).jitter(full)",
	} {
		assert.Contains(t, out, line+"\n")
	}
}

func TestAPlanWithoutRetriesOrWaitsHasNoChart(t *testing.T) {
	_, out, _ := command("plan", "retries=0")
	assert.Contains(t, out, "One call, and no retry.\n")
	assert.NotContains(t, out, "median")
	_, out, _ = command("plan", "backoff=none")
	assert.NotContains(t, out, "The wait before each retry")
}

func TestStrictFailsOnAWarning(t *testing.T) {
	status, out, errs := command("plan", "--strict", planned)
	assert.Equal(t, 1, status)
	assert.NotEmpty(t, out)
	assert.Empty(t, errs)
	status, _, _ = command("plan", "--strict", planned+" attempt-timeout=2s")
	assert.Zero(t, status)
}

func TestAPlanAsJSON(t *testing.T) {
	_, out, _ := command("plan", "--json", planned, "retries=unlimited")
	var plans []struct {
		Policy  string
		Calls   *int
		Wait    float64
		Retries []struct{ Wait, Total struct{ Greatest float64 } }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &plans))
	require.Len(t, plans, 2)
	assert.Equal(t, planned, plans[0].Policy)
	assert.Equal(t, 9, *plans[0].Calls)
	assert.Nil(t, plans[1].Calls)
	assert.Equal(t, 16300., plans[0].Wait)
	assert.Equal(t, 5000., plans[0].Retries[7].Wait.Greatest)
}

func TestAPlansPictureIsXML(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plan.svg")
	status, _, errs := command("plan", planned, "retries=0", "--svg", name)
	require.Zero(t, status, errs)
	assert.Equal(t, 1+2*8, drawn(t, name, "rect"), "the ground, and one for each retry in each panel")
	status, _, errs = command("plan", planned, "--svg", filepath.Join(t.TempDir(), "no", "such"))
	assert.Equal(t, 1, status)
	assert.Contains(t, errs, "no such file")
}

func TestBadUsageOfPlan(t *testing.T) {
	for says, args := range map[string][]string{
		"no policy is given":             nil,
		"7 policies: want at most 6":     strings.Split("a b c d e f g", " "),
		"--rows is 0: want at least 1":   {planned, "--rows", "0"},
		`--failing: "x" is no part`:      {planned, "--failing", "1%,x"},
		`--failing: "101%" is no part`:   {planned, "--failing", "101%"},
		"unknown flag: --policy":         {"--policy", planned},
		"dacapo: the policy: column 9: ": {"retries=x"},
	} {
		status, out, errs := command(append([]string{"plan"}, args...)...)
		assert.Equal(t, 2, status, says)
		assert.Empty(t, out, says)
		assert.Contains(t, errs, says)
		assert.Contains(t, errs, "Try 'dacapo plan --help'.")
	}
}

func TestEachBadPolicyIsPointedAt(t *testing.T) {
	_, _, errs := command("plan", "retries=2 backof=none", "retries=1", "é=1 hints=x")
	assert.Regexp(t, `(?s)\Adacapo: policy A: column 11: .*
    retries=2 backof=none
              \^
policy C: column 1: .*
    é=1 hints=x
    \^
policy C: column 11: .*
    é=1 hints=x
              \^
Try`, errs)
}

func TestEveryCommandHasAManualPage(t *testing.T) {
	for _, name := range []string{"run", "plan", "measure", "storm"} {
		status, out, errs := command("man", name)
		assert.Zero(t, status, errs)
		assert.Contains(t, out, ".SH NAME\ndacapo-"+name+" - ")
		assert.Contains(t, out, ".SH EXAMPLE\n")
	}
	status, _, errs := command("man", "nothing")
	assert.Equal(t, 2, status)
	assert.Contains(t, errs, "nothing is no command")
	status, out, _ := command("--version")
	assert.Zero(t, status)
	assert.True(t, strings.HasPrefix(out, "dacapo version "), out)
}
