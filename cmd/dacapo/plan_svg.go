package main

import (
	"html"
	"io"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/plan"
	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/show"
)

// planColors are those of the policies: of their medians, and with less weight of their bands.
var planColors = []string{"#1f77b4", "#d35400", "#27ae60", "#8e44ad", "#c0392b", "#7f8c8d"}

const planPanel = 200 // the height of a panel's chart

// drawPlans draws the wait before each retry, and below it all waits so far: a bar from the
// least to the greatest, with a mark for the median and one for the 95th percentile.
func drawPlans(w io.Writer, plans []plan.Plan) error {
	p := &picture{writer: &writer{w: w}, height: planPanel}
	head := 28 + 18*len(plans)
	p.begin(panelLeft+panelWidth+30, head+2*(planPanel+70))
	p.printf(`<text x="%d" y="20" fill="#666">bar: from least to greatest · thick mark: median · thin mark: 95th percentile</text>`+"\n", panelLeft)
	for i, one := range plans {
		p.printf(`<text x="%d" y="%d" fill="%s">■ %s%s</text>`+"\n", panelLeft, 38+18*i, planColors[i], nameOf(plans, i), html.EscapeString(one.Policy))
	}
	p.spreads(head+36, "The wait before each retry", plans, func(r plan.Retry) plan.Spread { return r.Wait })
	p.spreads(head+36+planPanel+70, "All waits so far", plans, func(r plan.Retry) plan.Spread { return r.Total })
	return p.end()
}

// spreads draws a panel.
func (p *picture) spreads(y int, title string, plans []plan.Plan, of func(plan.Retry) plan.Spread) {
	rows := 1
	p.top = 0
	for _, one := range plans {
		rows = max(rows, len(one.Retries))
		for _, r := range one.Retries {
			p.top = max(p.top, of(r).Greatest.Seconds())
		}
	}
	if p.top == 0 {
		p.top = 1
	}
	p.printf(`<g transform="translate(%d %d)">`+"\n", panelLeft, y)
	p.printf(`<text x="0" y="-10">%s</text>`+"\n", title)
	p.grid(show.Seconds)
	cell := panelWidth / float64(rows)
	for n := range rows {
		p.printf(`<text x="%.1f" y="%d" fill="#666" text-anchor="middle">%d</text>`+"\n", (float64(n)+0.5)*cell, planPanel+16, n+1)
	}
	wide := cell * 0.7 / float64(len(plans))
	for i, one := range plans {
		for n, r := range one.Retries {
			p.spread((float64(n)+0.15)*cell+wide*float64(i), wide, of(r), planColors[i])
		}
	}
	p.printf("</g>\n")
}

// spread draws a bar.
func (p *picture) spread(x, wide float64, s plan.Spread, color string) {
	top, bottom := p.y(s.Greatest.Seconds()), p.y(s.Least.Seconds())
	p.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" fill-opacity="0.25"/>`+"\n", x, top, wide, max(bottom-top, 1), color)
	for _, mark := range []struct {
		at   plan.Millis
		wide float64
	}{{s.Median, 3}, {s.P95, 1}} {
		y := p.y(mark.at.Seconds())
		p.printf(`<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="%s" stroke-width="%g"/>`+"\n", x, x+wide, y, y, color, mark.wide)
	}
}
