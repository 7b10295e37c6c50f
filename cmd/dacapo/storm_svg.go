package main

import (
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm"
)

// The series of a picture, in the order in which they are drawn.
var stormSeries = []struct {
	name, color string
	of          func(storm.Chart) []float64
}{
	{"attempts", "#c0392b", func(c storm.Chart) []float64 { return c.Attempts }},
	{"offered load", "#888888", func(c storm.Chart) []float64 { return c.Offered }},
	{"goodput", "#27ae60", func(c storm.Chart) []float64 { return c.Goodput }},
}

// picture is where things stand in a picture of charts, one below the other, to one scale.
type picture struct {
	*writer
	height float64 // of a chart
	top    float64 // of the scale of the chart that is being drawn
}

const (
	panelLeft, panelWidth, panelHeight = 60, 720, 140
	panelStep                          = panelHeight + 60
)

// drawStorm draws all charts of a report as a picture.
func drawStorm(w io.Writer, r *storm.Report) error {
	p := &picture{writer: &writer{w: w}, height: panelHeight}
	p.begin(panelLeft+panelWidth+30, panelStep*len(r.Charts)+40)
	for i, s := range stormSeries {
		p.printf(`<text x="%d" y="20" fill="%s">— %s</text>`+"\n", panelLeft+120*i, s.color, s.name)
	}
	p.printf(`<text x="%d" y="20" fill="#666" text-anchor="end">a second, over seconds · %s, seed %d</text>`+"\n", panelLeft+panelWidth, r.Scenario, r.Seed)
	for i, c := range r.Charts {
		p.printf(`<g transform="translate(%d %d)">`+"\n", panelLeft, 60+panelStep*i)
		p.top = scale(c, r.Charts, 4)
		p.panel(c)
		p.printf("</g>\n")
	}
	return p.end()
}

// panel draws one chart: its axes and its lines.
func (p *picture) panel(c storm.Chart) {
	p.printf(`<text x="0" y="-8">%s</text>`+"\n", html.EscapeString(c.Name))
	p.grid(func(v float64) string { return fmt.Sprintf("%.0f", v) })
	lasts := c.Step * time.Duration(len(c.Offered))
	for i := range 10 {
		at := c.From + lasts*time.Duration(i)/9
		p.printf(`<text x="%d" y="%d" fill="#666" text-anchor="middle">%.0f</text>`+"\n", panelWidth*i/9, panelHeight+16, at.Seconds())
	}
	for _, s := range stormSeries {
		p.printf(`<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`+"\n", s.color, p.points(s.of(c)))
	}
}

// points are the points of a line.
func (p *picture) points(series []float64) string {
	var b strings.Builder
	for i, v := range series {
		fmt.Fprintf(&b, "%.1f,%.1f ", (float64(i)+0.5)/float64(len(series))*panelWidth, p.y(v))
	}
	return strings.TrimSpace(b.String())
}

// grid draws the lines of the scale, each with its value.
func (p *picture) grid(text func(v float64) string) {
	for i := range 5 {
		v := p.top * float64(i) / 4
		p.printf(`<line x1="0" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", panelWidth, p.y(v), p.y(v))
		p.printf(`<text x="-6" y="%.1f" fill="#666" text-anchor="end">%s</text>`+"\n", p.y(v)+4, text(v))
	}
}

func (p *picture) y(v float64) float64 { return p.height * (1 - v/p.top) }
