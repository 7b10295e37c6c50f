package main

import (
	"fmt"
	"html"
	"io"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

// writeSVG draws the timelines as a picture: a bar for each call, a line for
// each wait, a second a grid line.
func writeSVG(w io.Writer, records []record) error {
	const left, right, top, line, wide = 220, 240, 34, 26, 560
	longest := longestRun(records)
	x := func(d time.Duration) float64 { return left + float64(d)/float64(longest)*wide }
	height := top + line*len(records) + 40
	out := &writer{w: w}
	out.begin(left+wide+right, height)
	for d := time.Duration(0); d <= longest; d += 500 * ms {
		out.printf(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/>`+"\n", x(d), top-8, x(d), height-34)
		out.printf(`<text x="%.1f" y="%d" fill="#666" text-anchor="middle">%.1fs</text>`+"\n", x(d), top-14, d.Seconds())
	}
	for i, r := range records {
		y := top + line*i
		out.printf(`<text x="8" y="%d">%s</text>`+"\n", y+14, html.EscapeString(r.name))
		out.printf(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#999" stroke-width="2"/>`+"\n", x(0), y+10, x(r.lasted), y+10)
		for n, c := range r.calls {
			color := "#c0392b"
			if n == len(r.calls)-1 && r.err == nil {
				color = "#27ae60"
			}
			out.printf(`<rect x="%.1f" y="%d" width="%.1f" height="16" fill="%s"/>`+"\n", x(c.from), y+2, max(4, x(c.to)-x(c.from)), color)
		}
		if r.reason() == retry.Cancelled || r.reason() == retry.Refused {
			out.printf(`<text x="%.1f" y="%d" fill="#c0392b" font-size="16" text-anchor="middle">×</text>`+"\n", x(r.lasted), y+15)
		}
		color := "#27ae60"
		if len(r.faults()) > 0 {
			color = "#c0392b"
		}
		out.printf(`<text x="%d" y="%d" fill="%s">%s: %s</text>`+"\n", left+wide+14, y+14, color, r.verdict(), html.EscapeString(r.promised.ended(r.reason())))
	}
	out.printf(`<text x="8" y="%d" fill="#666">bar: a call (red failed, green succeeded) · line: a wait · ×: ended by the context, or refused</text>`+"\n", height-12)
	return out.end()
}

// writer keeps the first error.
type writer struct {
	w   io.Writer
	err error
}

// begin begins a picture, on a white ground.
func (w *writer) begin(width, height int) {
	w.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	w.printf(`<rect width="100%%" height="100%%" fill="white"/>` + "\n")
}

// end ends a picture, and returns the first error.
func (w *writer) end() error {
	w.printf("</svg>\n")
	return w.err
}

func (w *writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}
