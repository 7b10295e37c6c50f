package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

func median(vs []float64) float64 {
	vs = slices.Sorted(slices.Values(vs))
	n := len(vs)
	if n == 0 {
		return math.NaN()
	}
	return (vs[(n-1)/2] + vs[n/2]) / 2
}

func (r row) values(at int) []float64 {
	var vs []float64
	for _, s := range r.samples[at] {
		vs = append(vs, s.value)
	}
	return vs
}

func (r row) bytes(at int) float64 {
	return median(each(r.samples[at], func(s sample) float64 { return s.bytes }))
}

func (r row) allocated(at int) float64 {
	return median(each(r.samples[at], func(s sample) float64 { return s.allocs }))
}

func each[A, B any](all []A, fn func(A) B) []B {
	made := make([]B, len(all))
	for i, a := range all {
		made[i] = fn(a)
	}
	return made
}

// ratio is the median of the rounds' ratios: what disturbs one round disturbs both.
func (r row) ratio(at, to int) float64 {
	a, b := r.values(at), r.values(to)
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return median(ratios)
}

// The first contestant is what others are compared with, the second this toolkit.
const byTheHand, ours = 0, 1

// best is the peer with the least median, or -1.
func (r row) best() int {
	best := -1
	for i, c := range r.contestants {
		if peer := i > ours && !c.pattern || c.peer; peer && (best < 0 || median(r.values(i)) < median(r.values(best))) {
			best = i
		}
	}
	return best
}

// verdict is a promise, what was measured, and whether it holds.
type verdict struct {
	what, promised, measured string
	holds                    bool
}

// verdicts are those of a row's limits.
func (r row) verdicts() []verdict {
	var all []verdict
	most := func(what string, measured, limit float64) {
		if limit > 0 {
			all = append(all, verdict{what, "≤ " + plain(limit), number(measured), measured <= limit})
		}
	}
	most("× "+r.contestants[byTheHand].by, r.ratio(ours, byTheHand), r.limit.floor)
	if best := r.best(); best >= 0 {
		most("× best peer ("+r.contestants[best].by+")", r.ratio(ours, best), r.limit.peer)
	}
	for i, c := range r.contestants {
		most("× "+c.by, r.ratio(ours, i), r.limit.of[c.by])
	}
	most(r.unit, median(r.values(ours)), r.limit.value)
	if r.unit == "" && len(r.samples[ours]) > 0 && !strings.HasPrefix(r.id, "R8") && (r.limit.floor > 0 || r.limit.peer > 0) {
		got := math.Round(r.allocated(ours))
		all = append(all, verdict{"allocations", map[bool]string{true: "≤ "}[r.most] + plain(r.allocs), plain(got), got == r.allocs || r.most && got <= r.allocs})
	}
	return all
}

// number is a ratio, or another small number, in about three digits.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.1:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3f", v)
	}
}

func plain(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
}

func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// show is a value with its unit.
func (r row) show(v float64) string {
	switch {
	case r.unit != "":
		return thousands(int(math.Round(v))) + " " + r.unit
	case v < 1e3:
		return number(v) + " ns"
	case v < 1e6:
		return number(v/1e3) + " µs"
	default:
		return number(v/float64(time.Millisecond)) + " ms"
	}
}
