package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guptarohit/asciigraph"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/plan"
	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/show"
)

// names are those of policies side by side.
var names = []string{"A", "B", "C", "D", "E", "F"}

// writePlans writes plans for a terminal of so many columns.
func writePlans(w io.Writer, plans []plan.Plan, columns int) error {
	out := &writer{w: w}
	table, series := planTable(plans[0]), waitsOf(plans[0])
	out.printf("%s%s\n", nameOf(plans, 0), plans[0].Policy)
	if len(plans) > 1 {
		for i := range plans[1:] {
			out.printf("%s%s\n", nameOf(plans, i+1), plans[i+1].Policy)
		}
		table, series = planTables(plans), mediansOf(plans)
	}
	if series.rows() > 0 {
		out.printf("\n%s", aligned(table))
	}
	if series.rows() > 1 && series.top() > 0 {
		out.printf("\n%s\n%s\n", series.title, series.draw(columns))
	}
	out.printf("\n")
	for i, p := range plans {
		out.printf("%s%s\n", nameOf(plans, i), worst(p))
	}
	out.printf("\n%s", aligned(expectations(plans)))
	writeWarnings(out, plans)
	return out.err
}

// nameOf is what stands before what is said of one of several plans.
func nameOf(plans []plan.Plan, i int) string {
	if len(plans) == 1 {
		return ""
	}
	return names[i] + "  "
}

func planTable(p plan.Plan) [][]string {
	cut := p.Retries != nil && p.Retries[len(p.Retries)-1].Reached < 1
	head := []string{"retry", "least", "median", "p95", "greatest", "least", "median", "p95", "greatest"}
	table := [][]string{{"", "wait", "", "", "", "all waits so far"}, head}
	for _, r := range p.Retries {
		row := []string{strconv.Itoa(r.Number)}
		for _, s := range []plan.Spread{r.Wait, r.Total} {
			row = append(row, s.Least.String(), s.Median.String(), s.P95.String(), s.Greatest.String())
		}
		if cut {
			row = append(row, plan.Number(r.Reached).Percent())
		}
		table = append(table, row)
	}
	if cut {
		table[1] = append(table[1], "runs that have time")
	}
	if p.More {
		table = append(table, []string{"…"})
	}
	return table
}

// planTables is one table for several plans: of each the middle and the end of its waits.
func planTables(plans []plan.Plan) [][]string {
	table, most, more := [][]string{{""}, {"retry"}}, 0, false
	for i, p := range plans {
		most, more = max(most, len(p.Retries)), more || p.More
		table[0] = append(table[0], names[i], "", "all so far")
		table[1] = append(table[1], "median", "greatest", "median")
	}
	for n := range most {
		row := []string{strconv.Itoa(n + 1)}
		for _, p := range plans {
			if n < len(p.Retries) {
				r := p.Retries[n]
				row = append(row, r.Wait.Median.String(), r.Wait.Greatest.String(), r.Total.Median.String())
			} else {
				row = append(row, "", "", "")
			}
		}
		table = append(table, row)
	}
	if more {
		table = append(table, []string{"…"})
	}
	return table
}

func worst(p plan.Plan) string {
	if p.Calls == nil {
		if p.Word("max-elapsed") != "" {
			return fmt.Sprintf("At worst as many calls as there is time for, and waits of %v in all.", p.Wait)
		}
		return "At worst calls without end."
	}
	if *p.Calls == 1 {
		return "One call, and no retry."
	}
	return fmt.Sprintf("At worst %d calls, and waits of %v in all.", *p.Calls, p.Wait)
}

func expectations(plans []plan.Plan) [][]string {
	head := []string{"failure rate of calls"}
	for _, e := range plans[0].Expected {
		head = append(head, plan.Number(e.Failing).Percent())
	}
	table := [][]string{head}
	for i, p := range plans {
		calls, succeed := []string{nameOf(plans, i) + "calls for each run"}, []string{nameOf(plans, i) + "runs that succeed"}
		for _, e := range p.Expected {
			made := "no end"
			if e.Calls != nil {
				made = strconv.FormatFloat(float64(*e.Calls), 'f', 2, 64)
			}
			calls, succeed = append(calls, made), append(succeed, e.Succeeds.Percent())
		}
		table = append(table, calls, succeed)
	}
	return table
}

func writeWarnings(out *writer, plans []plan.Plan) {
	first := true
	for i, p := range plans {
		for _, w := range p.Warnings {
			if first {
				out.printf("\n")
				first = false
			}
			out.printf("! %s%s: %s.\n  %s\n", nameOf(plans, i), w.Name, w.Text, w.Instead)
		}
	}
}

// lines are what a chart of waits shows: a value for each retry.
type lines struct {
	title string
	of    [][]float64
	marks []string
}

func (l lines) rows() (most int) {
	for _, line := range l.of {
		most = max(most, len(line))
	}
	return most
}

func (l lines) top() (top float64) {
	for _, line := range l.of {
		top = max(top, slices.Max(line))
	}
	return top
}

func waitsOf(p plan.Plan) lines {
	l := lines{
		title: "The wait before each retry:  ─ greatest  ● median  · least",
		of:    make([][]float64, 3), marks: []string{"·", "─", "●"},
	}
	for _, r := range p.Retries {
		for i, wait := range []plan.Millis{r.Wait.Least, r.Wait.Greatest, r.Wait.Median} {
			l.of[i] = append(l.of[i], wait.Seconds())
		}
	}
	return l
}

func mediansOf(plans []plan.Plan) lines {
	l := lines{title: "The median wait before each retry:"}
	for i, p := range plans {
		var waits []float64
		for _, r := range p.Retries {
			waits = append(waits, r.Wait.Median.Seconds())
		}
		if len(waits) > 0 {
			l.of, l.marks = append(l.of, waits), append(l.marks, names[i])
		}
	}
	return l
}

const planHeight = 10

// draw draws the lines, from one retry to the next.
func (l lines) draw(columns int) string {
	const labels = 10
	per := min(max((columns-labels)/l.rows(), 1), 12)
	var steps [][]float64
	var marks []asciigraph.CharSet
	for i, line := range l.of {
		var wide []float64
		for _, v := range line {
			for range per {
				wide = append(wide, v)
			}
		}
		steps, marks = append(steps, wide), append(marks, asciigraph.CreateCharSet(l.marks[i]))
	}
	chart := trimmed(asciigraph.PlotMany(steps,
		asciigraph.Height(planHeight), asciigraph.LowerBound(0), asciigraph.UpperBound(l.top()),
		asciigraph.SeriesChars(marks...),
		asciigraph.YAxisValueFormatter(show.Seconds),
	))
	return chart + "\n" + l.axis(chart, per)
}

// axis is the line below a chart: the numbers of the retries, each under its waits.
func (l lines) axis(chart string, per int) string {
	before, _, _ := strings.Cut(chart, "┤")
	line := strings.Repeat(" ", utf8.RuneCountInString(before)+1)
	for n := range l.rows() {
		if number := strconv.Itoa(n + 1); len(number) < per {
			line += fmt.Sprintf("%*s%*s", (per+len(number))/2, number, per-(per+len(number))/2, "")
		}
	}
	return strings.TrimRight(line, " ")
}
