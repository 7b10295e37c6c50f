package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm"
)

// command runs dacapo.
func command(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(args, nil, &out, &errs)
	return status, out.String(), errs.String()
}

func TestStormAloneListsTheScenarios(t *testing.T) {
	status, out, errs := command("storm")
	assert.Zero(t, status)
	assert.Empty(t, errs)
	assert.Equal(t, 6, strings.Count(out, "\n"))
	for _, name := range []string{"contention", "overload", "outage", "herd", "layers", "tail"} {
		assert.Contains(t, "\n"+out, "\n  "+name+" ")
	}
}

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"storm", "outage"}, {"storm", "herd", "--json"}} {
		one := func(seed string) string {
			picture := filepath.Join(t.TempDir(), "picture.svg")
			status, out, errs := command(append(args, "--seed", seed, "--svg", picture)...)
			require.Zero(t, status, errs)
			assert.Empty(t, errs)
			drawn, err := os.ReadFile(picture)
			require.NoError(t, err)
			return out + string(drawn)
		}
		first := one("1")
		assert.Equal(t, first, one("1"))
		assert.NotEqual(t, first, one("2"))
	}
}

func TestThePictureOfAnOutage(t *testing.T) {
	t.Parallel()
	status, out, _ := command("storm", "outage")
	assert.Zero(t, status)
	assert.Contains(t, out, "\n3 retries                    never       never     4.00      4.00      100%\n")
	assert.Contains(t, out, "\n3 retries, budget=default    9 s         ≤ 10 s    1.00                12%\n")
	assert.Contains(t, out, "\nAll 6 values are as expected.\n")
	_, charts, _ := strings.Cut(out, "expected.\n")
	storms, calm, found := strings.Cut(charts, "\n3 retries, budget=default\n")
	require.True(t, found)
	assert.Contains(t, storms, "2800 ┤               "+strings.Repeat("x", 74)+"\n")
	assert.Contains(t, storms, "   0 ┤               "+strings.Repeat("█", 74)+"\n")
	assert.Contains(t, calm, " 800 ┼███████████████xxxxxxxxx"+strings.Repeat("█", 65)+"\n")
	assert.Less(t, strings.Count(out, "\n"), 45)
	for line := range strings.Lines(out) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 101, line)
		assert.False(t, strings.HasSuffix(line, " \n"), "%q", line)
	}
}

func TestPoliciesSideBySide(t *testing.T) {
	t.Parallel()
	status, out, errs := command("storm", "outage", "--policy", "retries=0", "--policy", "retries=2 backoff=none budget=20%")
	assert.Zero(t, status, errs)
	assert.Contains(t, out, "\nretries=0                          9 s         1.00      12%\n")
	assert.Contains(t, out, "\nretries=2 backoff=none budget=20%  ")
	assert.Equal(t, 2, strings.Count(out, "┼"), "a chart each")
	assert.NotContains(t, out, "expected")
}

func TestABadPolicyIsPointedAt(t *testing.T) {
	status, out, errs := command("storm", "outage", "--policy", "retries=2 budget=huge", "--policy", "x")
	assert.Equal(t, 2, status)
	assert.Empty(t, out)
	assert.Equal(t, `dacapo: --policy: column 18: budget is "huge": want none, default, grpc, aws, finagle, 20%, calls-20% or calls-40%
    retries=2 budget=huge
                     ^
Try 'dacapo storm --help'.
`, errs)
}

func TestBadUsageOfStorm(t *testing.T) {
	for want, args := range map[string][]string{
		`"outrage" is no scenario: want one of` + "\n  contention ": {"outrage"},
		"--policy: tail is about hedges and has no retries":         {"tail", "--policy", "retries=1"},
		"--svg: layers has no picture over time":                    {"layers", "--svg", "x.svg"},
		"accepts at most 1 arg":                                     {"herd", "tail"},
		"invalid syntax":                                            {"herd", "--seed", "x"},
	} {
		status, out, errs := command(append([]string{"storm"}, args...)...)
		assert.Equal(t, 2, status, args)
		assert.Empty(t, out)
		assert.Contains(t, errs, want)
	}
	status, _, errs := command("storm", "herd", "--svg", filepath.Join(t.TempDir(), "not", "there"))
	assert.Equal(t, 1, status, "that is no bad usage")
	assert.Contains(t, errs, "no such file")
}

func TestStormAsJSON(t *testing.T) {
	t.Parallel()
	status, out, _ := command("storm", "outage", "--json", "--policy", "retries=3 backoff=exp(100ms,2)", "--seed", "9")
	require.Zero(t, status)
	var r struct {
		Scenario string
		Seed     int
		Table    struct {
			Columns []string
			Rows    []struct {
				Name    string
				Figures []struct{ Value *float64 }
			}
		}
		Charts []struct {
			Name                       string
			Offered, Attempts, Goodput []float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, "outage", r.Scenario)
	assert.Equal(t, 9, r.Seed)
	assert.Equal(t, []string{"policy", "back after", "attempts", "lost"}, r.Table.Columns)
	require.Len(t, r.Table.Rows, 1)
	assert.Nil(t, r.Table.Rows[0].Figures[0].Value, "never")
	assert.InDelta(t, 4, *r.Table.Rows[0].Figures[1].Value, 0.2)
	require.Len(t, r.Charts, 1)
	assert.Len(t, r.Charts[0].Goodput, 180)
}

func TestThePictureIsXML(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "outage.svg")
	status, _, _ := command("storm", "outage", "--svg", name, "--policy", "retries=1", "--policy", "retries=0 hints=clamp,5s")
	require.Zero(t, status)
	assert.Equal(t, 6, drawn(t, name, "polyline"), "three of each policy")
}

func TestAValueThatIsNotAsExpectedIsMarked(t *testing.T) {
	t.Parallel()
	s, _ := storm.Find("outage")
	r := s.Run(1, nil, func(string) {})
	r.Table.Rows[1].Figures[0].Value = 12
	r.Charts = nil
	var out bytes.Buffer
	require.NoError(t, writeStorm(&out, r))
	assert.Contains(t, out.String(), "\n3 retries                    12 s        never !   4.00      4.00      100%\n")
	assert.Contains(t, out.String(), "\n1 of 6 values are not as expected:\n  3 retries: back after: 12 s, expected never\n")
}

func TestScalesAreOfRoundNumbers(t *testing.T) {
	for v, want := range map[float64]float64{1: 1, 1.01: 2, 9.5: 10, 362: 400, 400: 400, 0.12: 0.2} {
		assert.InDelta(t, want, niceStep(v), 1e-9)
	}
	assert.Equal(t, []float64{1, 2, 3}, squeezed([]float64{1, 2, 3}))
	long := make([]float64, 2*chartWidth+1)
	long[2*chartWidth], long[0] = 9, 3
	short := squeezed(long)
	assert.Len(t, short, 61)
	assert.Equal(t, 1., short[0])
	assert.Equal(t, 9., short[60], "the rest has less in it")
}
