package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/guptarohit/asciigraph"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm"
)

// writeStorm writes a report for a terminal of 100 columns.
func writeStorm(w io.Writer, r *storm.Report) error {
	out := &writer{w: w}
	out.printf("%s\n\n", r.About)
	out.printf("%s", aligned(tableOf(&r.Table)))
	if r.Notes != "" {
		out.printf("%s\n", r.Notes)
	}
	if n, unmet := r.Expected(); n > 0 {
		out.printf("%s\n", verdict(n, unmet))
	}
	writeCharts(out, shown(r.Charts))
	return out.err
}

func verdict(n int, unmet []string) string {
	if len(unmet) == 0 {
		return fmt.Sprintf("All %d values are as expected.", n)
	}
	return fmt.Sprintf("%d of %d values are not as expected:\n  %s", len(unmet), n, strings.Join(unmet, "\n  "))
}

// aligned returns the lines of a table below one another, without spaces at their ends.
func aligned(lines [][]string) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	_ = t.Flush() // into memory
	return trimmed(b.String())
}

// trimmed returns text without spaces at the ends of lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// tableOf returns the lines of a table. Beside a column of which something is expected
// stands what.
func tableOf(t *storm.Table) [][]string {
	lines := [][]string{{t.Columns[0]}}
	for _, row := range t.Rows {
		lines = append(lines, []string{row.Name})
	}
	for i, name := range t.Columns[1:] {
		lines[0] = append(lines[0], name)
		for r, row := range t.Rows {
			lines[r+1] = append(lines[r+1], row.Figures[i].String())
		}
		if !expects(t, i) {
			continue
		}
		lines[0] = append(lines[0], "expected")
		for r, row := range t.Rows {
			lines[r+1] = append(lines[r+1], expected(row.Figures[i]))
		}
	}
	return lines
}

// expects reports whether anything is expected of a column.
func expects(t *storm.Table, column int) bool {
	for _, row := range t.Rows {
		if row.Figures[column].Judged() {
			return true
		}
	}
	return false
}

func expected(f storm.Figure) string {
	if !f.Met() {
		return f.Want() + " !"
	}
	return f.Want()
}

// shown returns the charts that a terminal shows: the key ones, if there are any.
func shown(all []storm.Chart) []storm.Chart {
	var key []storm.Chart
	for _, c := range all {
		if c.Key {
			key = append(key, c)
		}
	}
	if len(key) == 0 {
		return all
	}
	return key
}

const (
	chartWidth  = 90
	chartHeight = 8
)

// writeCharts draws charts, to one scale if it can be.
func writeCharts(out *writer, charts []storm.Chart) {
	if len(charts) == 0 {
		return
	}
	out.printf("\nA second, over seconds:  █ goodput (requests that succeed)  x attempts  · offered load\n")
	for _, c := range charts {
		out.printf("\n%s\n%s\n", c.Name, draw(c, scale(c, charts, chartHeight)))
	}
}

// draw draws one chart.
func draw(c storm.Chart, top float64) string {
	whole := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	till := c.From + c.Step*time.Duration(len(c.Offered))
	graph := asciigraph.PlotMany(
		[][]float64{squeezed(c.Offered), squeezed(c.Attempts), squeezed(c.Goodput)},
		asciigraph.Height(chartHeight), asciigraph.LowerBound(0), asciigraph.UpperBound(top),
		asciigraph.SeriesChars(asciigraph.CreateCharSet("·"), asciigraph.CreateCharSet("x"), asciigraph.CreateCharSet("█")),
		asciigraph.YAxisValueFormatter(whole),
		asciigraph.XAxisRange(c.From.Seconds(), till.Seconds()), asciigraph.XAxisTickCount(10), asciigraph.XAxisValueFormatter(whole),
	)
	return trimmed(graph)
}

// squeezed returns the means of as many stretches as the chart is wide.
func squeezed(all []float64) []float64 {
	per := (len(all) + chartWidth - 1) / chartWidth
	var means []float64
	for i := 0; i < len(all); i += per {
		stretch, total := all[i:min(i+per, len(all))], 0.
		for _, v := range stretch {
			total += v
		}
		means = append(means, total/float64(len(stretch)))
	}
	return means
}

// scale returns the top of the scale of a chart, of so many round steps: that of all charts,
// unless this one would be flat.
func scale(c storm.Chart, all []storm.Chart, steps float64) float64 {
	top, own := greatest(all...), greatest(c)
	if 10*own < top {
		top = own
	}
	return steps * niceStep(top/steps)
}

// greatest returns the greatest value that is drawn.
func greatest(charts ...storm.Chart) float64 {
	top := 1.
	for _, c := range charts {
		for _, series := range [][]float64{c.Offered, c.Attempts, c.Goodput} {
			for _, v := range squeezed(series) {
				top = max(top, v)
			}
		}
	}
	return top
}

// niceStep returns the least number of one digit and zeros that is at least v.
func niceStep(v float64) float64 {
	zeros := math.Pow(10, math.Floor(math.Log10(v)))
	return math.Ceil(v/zeros) * zeros
}

// writeStormJSON writes all that was measured.
func writeStormJSON(w io.Writer, r *storm.Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
