package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/retry"
)

// inVirtualTime runs the command in a bubble, where the wall clock is exact.
func inVirtualTime(t *testing.T, table []scenario, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	synctest.Test(t, func(*testing.T) { status = run(args, table, &out, &errs) })
	return status, out.String(), errs.String()
}

func TestEveryRowIsRightAndExactInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for _, r := range playAll(t.Context(), scenarios(), func() {}) {
			assert.Empty(t, r.faults(), r.name)
			if !r.promised.cut {
				assert.Equal(t, r.scheduled(), r.waited(), r.name)
			}
		}
		assert.Equal(t, 3*time.Second, time.Since(began), "all side by side")
	})
}

func TestTheCommandSucceedsOnlyIfEveryRowIsRight(t *testing.T) {
	status, out, errs := inVirtualTime(t, scenarios(), "measure")
	assert.Zero(t, status)
	assert.Empty(t, errs)
	assert.Contains(t, out, "All 25 rows are right.")
	assert.Equal(t, 25, strings.Count(out, "\nright  "))
	assert.Contains(t, out, "what interrupts            ████████─████████                                   attempt timeout 500ms, 1 retry, wait 100ms\n")
}

// Each of these changes one promise, as a fault of the core would: the row turns wrong.
func TestWhatIsNotAsPromisedIsWrong(t *testing.T) {
	const row = 3 // exponential under a cap
	for name, change := range map[string]func(*scenario){
		"6 calls instead of 5":                     func(s *scenario) { s.promised.calls = 5 },
		"ended for exhausted instead of cancelled": func(s *scenario) { s.promised.reason = retry.Cancelled },
		"the caller got call 6 failed instead of":  func(s *scenario) { s.promised.isGot = func(record) bool { return false } },
		"wait 3 is 400ms instead of [401ms, 500ms)": func(s *scenario) {
			s.promised.waits[2] = window{401 * ms, 500 * ms}
		},
		"5 waits scheduled and 5 made instead of 0": func(s *scenario) { s.promised.waits = nil },
		"it lasted 1.7s instead of 2s or more":      func(s *scenario) { s.promised.lasts = 2 * time.Second },
		"call 6 took 0s":                            func(s *scenario) { s.promised.each = func(d time.Duration) bool { return d > 0 } },
		"5 waits scheduled and 6 made instead of 5": func(s *scenario) { s.promised.cut = true },
		`5 events "scheduled" instead of 4`:         func(s *scenario) { s.promised.waits = s.promised.waits[1:] },
	} {
		table := scenarios()
		change(&table[row])
		status, out, errs := inVirtualTime(t, table, "measure")
		assert.Equal(t, 1, status, name)
		assert.Contains(t, out, "1 of 25 rows are wrong.")
		assert.Contains(t, errs, "1 of 25 rows are wrong")
		assert.Contains(t, out+" instead of", name)
		assert.Contains(t, out, "\nWRONG  exponential under a cap")
	}
}

func TestEventsAreHeldAgainstTheirLaws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := scenarios()[0].play(t.Context())
		require.Empty(t, r.faults())
		r.events = append(r.events, retry.Event{Kind: retry.Started})
		assert.Contains(t, r.faults(), "the last event is not finished")
		r.events = nil
		assert.Contains(t, r.faults(), `0 events "finished" instead of 1`)
	})
}

func TestMarkdownHasALineForEachRow(t *testing.T) {
	status, out, _ := inVirtualTime(t, scenarios(), "measure", "--markdown")
	assert.Zero(t, status)
	assert.Equal(t, 25, strings.Count(out, "\n|right|"))
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "|") {
			assert.Equal(t, 9, strings.Count(line, "|"), line)
		}
	}
}

func TestJSONHoldsWhatWasMeasured(t *testing.T) {
	status, out, _ := inVirtualTime(t, scenarios(), "measure", "--json")
	assert.Zero(t, status)
	var rows []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &rows))
	require.Len(t, rows, 25)
	capped := rows[3]
	assert.Equal(t, "exponential under a cap", capped["run"])
	assert.Equal(t, []any{100.0, 200.0, 400.0, 500.0, 500.0}, capped["scheduled_ms"])
	assert.Equal(t, true, capped["right"])
	assert.Equal(t, map[string]any{"started": 6.0, "failed": 6.0, "scheduled": 5.0, "finished": 1.0}, capped["events"])
	assert.Equal(t, "call 6 failed", capped["measured"].(map[string]any)["got"])
}

// drawn reads a picture to its end, which has to be XML, and counts the elements of a name.
func drawn(t *testing.T, file, name string) (n int) {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer func() { assert.NoError(t, f.Close()) }()
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if err == io.EOF {
			return n
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == name {
			n++
		}
	}
}

func TestThePictureIsWellFormedAndDrawsEveryCall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "timelines.svg")
	status, _, _ := inVirtualTime(t, scenarios(), "measure", "--svg", file)
	assert.Zero(t, status)
	calls := 0
	for _, s := range scenarios() {
		calls += s.promised.calls
	}
	assert.Equal(t, calls+1, drawn(t, file, "rect"), "a bar for each call, on a background")
}

func TestBadUsageIsSaidAndMeasuresNothing(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"measure", "--wrong"}, "unknown flag: --wrong"},
		{[]string{"measure", "now"}, `unknown command "now" for "dacapo measure"`},
		{[]string{"measure", "--json", "--markdown"}, "if any flags in the group [markdown json] are set none of the others can be"},
		{[]string{"mesure"}, `unknown command "mesure" for "dacapo"`},
	} {
		status, out, errs := inVirtualTime(t, scenarios(), c.args...)
		assert.Equal(t, 2, status)
		assert.Empty(t, out)
		assert.Contains(t, errs, c.want)
	}
	status, _, errs := inVirtualTime(t, scenarios(), "measure", "--svg", filepath.Join(t.TempDir(), "none", "x.svg"))
	assert.Equal(t, 1, status)
	assert.Contains(t, errs, "no such file or directory")
}

// full is a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestAReportThatCannotBeWrittenFails(t *testing.T) {
	for _, flag := range []string{"--markdown=false", "--markdown", "--json"} {
		synctest.Test(t, func(t *testing.T) {
			assert.Equal(t, 1, run([]string{"measure", flag}, scenarios(), full{}, io.Discard))
		})
	}
}
