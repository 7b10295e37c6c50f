package main

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// chart draws, for each workload, how many times the work by hand each contestant takes.
func chart(w io.Writer, rows []row) error {
	p := plot.New()
	p.Title.Text = "Time (R8: bytes, time) against the same by hand = 1"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.X.Label.Text = "× by hand, logarithmic"
	dacapo, others, byHand := plotter.XYs{}, plotter.XYs{}, plotter.XYs{}
	var names []string
	for i := len(rows) - 1; i >= 0; i-- { // the first on top
		r := rows[i]
		if r.unit == "goroutines" {
			continue
		}
		y := float64(len(names))
		names = append(names, r.id)
		for at := range r.contestants {
			point := plotter.XY{X: r.ratio(at, byTheHand), Y: y}
			switch {
			case at == byTheHand || r.contestants[at].pattern:
				byHand = append(byHand, point)
			case at == ours:
				dacapo = append(dacapo, point)
			default:
				others = append(others, point)
			}
		}
	}
	p.NominalY(names...)
	p.Add(plotter.NewGrid())
	for _, s := range []struct {
		name   string
		points plotter.XYs
		style  draw.GlyphStyle
	}{
		{"by hand", byHand, draw.GlyphStyle{Color: color.Gray{120}, Radius: vg.Points(3), Shape: draw.PlusGlyph{}}},
		{"peers", others, draw.GlyphStyle{Color: color.RGBA{R: 214, G: 130, B: 40, A: 255}, Radius: vg.Points(2.5), Shape: draw.RingGlyph{}}},
		{"dacapo", dacapo, draw.GlyphStyle{Color: color.RGBA{R: 20, G: 110, B: 60, A: 255}, Radius: vg.Points(3.5), Shape: draw.CircleGlyph{}}},
	} {
		points, err := plotter.NewScatter(s.points)
		if err != nil {
			return err
		}
		points.GlyphStyle = s.style
		p.Add(points)
		p.Legend.Add(s.name, points)
	}
	canvas := vgsvg.New(vg.Points(720), vg.Points(float64(60+18*len(names))))
	p.Draw(draw.New(canvas))
	_, err := canvas.WriteTo(w)
	return err
}
