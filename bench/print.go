package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// print writes the tables as text.
func (r report) print(out io.Writer) {
	tab := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, w := range r.rows {
		fmt.Fprintf(tab, "\n%s: %s\n\tmedian\tmin – max\tB\tallocations\t× by hand\t× best peer\n", w.id, w.what)
		best := w.best()
		for i, c := range w.contestants {
			vs := w.values(i)
			peer := none
			if best >= 0 {
				peer = number(w.ratio(i, best))
			}
			fmt.Fprintf(tab, "  %s\t%s\t%s – %s\t%.0f\t%.0f\t%s\t%s\n", c.by, w.show(median(vs)), w.show(slices.Min(vs)), w.show(slices.Max(vs)),
				w.bytes(i), w.allocated(i), number(w.ratio(i, byTheHand)), peer)
		}
	}
	_ = tab.Flush()
	fmt.Fprintf(out, "\n%s\n", r.behaviour)
	for _, w := range r.rows {
		for _, v := range w.verdicts() {
			if !v.holds {
				fmt.Fprintf(out, "missed: %s, %s: %s, promised %s\n", w.id, v.what, v.measured, v.promised)
			}
		}
	}
}
