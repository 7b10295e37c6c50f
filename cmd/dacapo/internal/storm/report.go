package storm

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// A Report is what a scenario measured.
type Report struct {
	Scenario string  `json:"scenario"`
	Seed     uint64  `json:"seed"`
	About    string  `json:"about"` // what was simulated
	Table    Table   `json:"table"`
	Notes    string  `json:"notes,omitempty"`
	Charts   []Chart `json:"charts,omitempty"`
}

// A Table has a name and figures in each row.
type Table struct {
	Columns []string `json:"columns"` // the first is that of the names
	Rows    []Row    `json:"rows"`
}

// A Row is a line of a table.
type Row struct {
	Name    string   `json:"name"`
	Figures []Figure `json:"figures"`
}

// A Figure is what was measured, and what was expected.
type Figure struct {
	Value  float64 // infinite: never
	format string
	want   string // empty where nothing is expected
	lo, hi float64
}

// figure is one of which nothing is expected yet. format is for fmt.
func figure(value float64, format string) Figure { return Figure{Value: value, format: format} }

// near expects the value within a part of want, such as 0.04.
func (f Figure) near(want, part float64) Figure {
	return f.within(want, want*part)
}

// within expects the value within a distance of want.
func (f Figure) within(want, distance float64) Figure {
	f.want, f.lo, f.hi = text(want, f.format), want-distance, want+distance
	return f
}

// most expects a value of at most hi.
func (f Figure) most(hi float64) Figure {
	f.want, f.lo, f.hi = "≤ "+text(hi, f.format), math.Inf(-1), hi
	return f
}

// never expects an infinite value.
func (f Figure) never() Figure {
	f.want, f.lo, f.hi = text(math.Inf(1), f.format), math.MaxFloat64, math.Inf(1)
	return f
}

// Judged reports whether something is expected, and Met whether it is so.
func (f Figure) Judged() bool { return f.want != "" }

// Met reports whether the value is as expected, or nothing is.
func (f Figure) Met() bool { return !f.Judged() || f.Value >= f.lo && f.Value <= f.hi }

// String returns the value.
func (f Figure) String() string { return text(f.Value, f.format) }

// Want returns what is expected.
func (f Figure) Want() string { return f.want }

func text(value float64, format string) string {
	if math.IsInf(value, 0) {
		return "never"
	}
	return fmt.Sprintf(format, value)
}

// MarshalJSON writes an infinite value as null.
func (f Figure) MarshalJSON() ([]byte, error) {
	var j struct {
		Value *float64 `json:"value"`
		Want  string   `json:"want,omitempty"`
		Met   *bool    `json:"met,omitempty"`
	}
	if !math.IsInf(f.Value, 0) {
		j.Value = &f.Value
	}
	if f.Judged() {
		met := f.Met()
		j.Want, j.Met = f.want, &met
	}
	return json.Marshal(j)
}

// A Chart is what happened over time, each point so many a second.
type Chart struct {
	Name     string        `json:"name"`
	Key      bool          `json:"-"`       // one of the few that a terminal shows
	From     time.Duration `json:"from_ns"` // of the first point
	Step     time.Duration `json:"step_ns"` // between points
	Offered  []float64     `json:"offered"` // first tries
	Attempts []float64     `json:"attempts"`
	Goodput  []float64     `json:"goodput"` // runs that succeeded
}

// newChart returns an empty chart of a variant from one instant to another.
func newChart(v Variant, from, to, step time.Duration) *Chart {
	n := int((to - from) / step)
	return &Chart{
		Name: v.Name, Key: v.key, From: from, Step: step,
		Offered: make([]float64, n), Attempts: make([]float64, n), Goodput: make([]float64, n),
	}
}

// count adds one to a series of c at an instant.
func (c *Chart) count(series []float64, now time.Duration) {
	if i := int((now - c.From) / c.Step); now >= c.From && i < len(series) {
		series[i] += float64(time.Second) / float64(c.Step)
	}
}

// Expected returns how many values are expected, and which are not met.
func (r *Report) Expected() (n int, unmet []string) {
	for _, row := range r.Table.Rows {
		for i, f := range row.Figures {
			if f.Judged() {
				n++
			}
			if !f.Met() {
				unmet = append(unmet, fmt.Sprintf("%s: %s: %v, expected %s", row.Name, r.Table.Columns[i+1], f, f.want))
			}
		}
	}
	return n, unmet
}
