package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

var columns = []string{"", "run", "calls", "waits in ms", "the caller got", "reason", "events"}

// row is the record as a line of the table; what is promised comes before the
// slash, what was made or measured behind it.
func (r record) row() []string {
	got := r.promised.got
	if len(r.faults()) > 0 {
		got = r.gotInWords()
	}
	return []string{
		r.verdict(), r.name, fmt.Sprintf("%d / %d", r.promised.calls, len(r.calls)), r.waitsInWords(), got,
		r.promised.ended(r.reason()), r.eventsInWords(),
	}
}

func (r record) gotInWords() string {
	if r.err != nil {
		return r.err.Error()
	}
	return r.value
}

func (r record) waitsInWords() string {
	want, made := r.promised.waits, []string{}
	for _, d := range r.waited() {
		made = append(made, fmt.Sprint(d.Milliseconds()))
	}
	text := "none"
	switch different := slices.Compact(slices.Clone(want)); {
	case len(want) == 0 && len(made) == 0:
		return text
	case len(different) == 1 && len(want) > 1:
		text = fmt.Sprintf("%d × %v", len(want), want[0])
	case len(want) > 0:
		text = strings.Trim(fmt.Sprint(want), "[]")
	}
	text += " / " + strings.Join(made, " ")
	if r.promised.cut {
		text += " (cut)"
	}
	return text
}

func (w window) String() string {
	if w.lo == w.hi {
		return fmt.Sprint(w.lo.Milliseconds())
	}
	return fmt.Sprintf("[%d, %d)", w.lo.Milliseconds(), w.hi.Milliseconds())
}

func (r record) eventsInWords() string {
	return fmt.Sprintf("%d %d %d %d", r.count(retry.Started), r.count(retry.Failed), r.count(retry.Scheduled), r.count(retry.Finished))
}

const legend = "Before the slash: promised; behind it: made or measured. Events: started, failed, scheduled, finished.\n"

// writeTable writes the table and the timelines for a terminal.
func writeTable(w io.Writer, records []record) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	for _, r := range records {
		fmt.Fprintln(t, strings.Join(r.row(), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s\n", legend)
	writeTimelines(w, records)
	_, err := fmt.Fprintf(w, "\n%s", faultsInWords(records))
	return err
}

// writeMarkdown writes the same as a Markdown document.
func writeMarkdown(w io.Writer, records []record) error {
	fmt.Fprintf(w, "|%s|policy|\n|%s---|\n", strings.Join(columns, "|"), strings.Repeat("---|", len(columns)))
	for _, r := range records {
		fmt.Fprintf(w, "|%s|%s|\n", strings.Join(r.row(), "|"), r.shown)
	}
	fmt.Fprintf(w, "\n%s\n```text\n", legend)
	writeTimelines(w, records)
	_, err := fmt.Fprintf(w, "```\n\n%s", faultsInWords(records))
	return err
}

func faultsInWords(records []record) string {
	n := wrong(records)
	if n == 0 {
		return fmt.Sprintf("All %d rows are right.\n", len(records))
	}
	var b strings.Builder
	for _, r := range records {
		for _, f := range r.faults() {
			fmt.Fprintf(&b, "%s: %s: %s\n", r.verdict(), r.name, f)
		}
	}
	fmt.Fprintf(&b, "%d of %d rows are wrong.\n", n, len(records))
	return b.String()
}

// writeTimelines draws every run to one scale: calls, and waits between them.
func writeTimelines(w io.Writer, records []record) {
	const width = 50
	longest := longestRun(records)
	for _, r := range records {
		fmt.Fprintf(w, "%-26s %s  %s\n", r.name, r.timeline(width, longest), r.shown)
	}
	fmt.Fprintf(w, "%-26s 0%*v\n", "█ call  ✓ success  ─ wait", width-1, longest.Round(ms))
}

// timeline draws one run in the given number of characters for the longest run.
func (r record) timeline(width int, longest time.Duration) string {
	line := []rune(strings.Repeat(" ", width))
	cell := func(d time.Duration) int { return int(d * time.Duration(width-1) / longest) }
	draw := func(from, to time.Duration, as rune) { // at least one character
		for i := cell(from); i < max(cell(to), cell(from)+1); i++ {
			line[i] = as
		}
	}
	draw(0, r.lasted, '─')
	for _, c := range r.calls {
		draw(c.from, c.to, '█')
	}
	switch reason := r.reason(); {
	case r.err == nil:
		draw(r.lasted, r.lasted, '✓')
	case reason == retry.Cancelled, reason == retry.Refused:
		draw(r.lasted, r.lasted, '×')
	}
	return string(line)
}

func longestRun(records []record) time.Duration {
	longest := ms
	for _, r := range records {
		longest = max(longest, r.lasted)
	}
	return longest
}

// writeJSON writes all that was promised and measured. Times are in milliseconds.
func writeJSON(w io.Writer, records []record) error {
	type side struct {
		Calls  int      `json:"calls"`
		Waits  []string `json:"waits_ms"`
		Reason string   `json:"reason"`
		Got    string   `json:"got"`
	}
	type row struct {
		Run       string         `json:"run"`
		Policy    string         `json:"policy"`
		Promised  side           `json:"promised"`
		Measured  side           `json:"measured"`
		Scheduled []float64      `json:"scheduled_ms"`
		Calls     [][2]float64   `json:"calls_ms"` // from, to
		Lasted    float64        `json:"lasted_ms"`
		Events    map[string]int `json:"events"`
		Right     bool           `json:"right"`
		Faults    []string       `json:"faults"`
	}
	rows := []row{}
	for _, r := range records {
		j := row{
			Run: r.name, Policy: r.shown, Lasted: inMS(r.lasted), Faults: append([]string{}, r.faults()...), Right: len(r.faults()) == 0,
			Promised:  side{r.promised.calls, []string{}, r.promised.ended(r.promised.reason), r.promised.got},
			Measured:  side{len(r.calls), []string{}, r.promised.ended(r.reason()), r.gotInWords()},
			Scheduled: []float64{}, Calls: [][2]float64{}, Events: map[string]int{},
		}
		for _, w := range r.promised.waits {
			j.Promised.Waits = append(j.Promised.Waits, w.String())
		}
		for _, d := range r.waited() {
			j.Measured.Waits = append(j.Measured.Waits, fmt.Sprintf("%.3f", inMS(d)))
		}
		for _, d := range r.scheduled() {
			j.Scheduled = append(j.Scheduled, inMS(d))
		}
		for _, c := range r.calls {
			j.Calls = append(j.Calls, [2]float64{inMS(c.from), inMS(c.to)})
		}
		for _, k := range []retry.Kind{retry.Started, retry.Failed, retry.Scheduled, retry.Finished} {
			j.Events[k.String()] = r.count(k)
		}
		rows = append(rows, j)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(rows)
}

func inMS(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
