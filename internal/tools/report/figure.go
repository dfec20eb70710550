// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file draws: lines or bars, in colours that can be read on white and on black.

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// series is a named row of numbers.
type series struct {
	name   string
	values []float64
}

// figure is a chart as data.
type figure struct {
	title, xTitle, yTitle string
	labels                []string  // of bars
	x                     []float64 // of lines; nil: bars
	log                   bool      // both axes
	series                []series
}

var (
	ink     = color.RGBA{0x80, 0x88, 0x90, 0xff} // grey that stands out on white and on black
	palette = []color.RGBA{{0xe0, 0x6c, 0x30, 0xff}, {0x2f, 0x81, 0xf7, 0xff}, {0x3f, 0xa0, 0x50, 0xff}, {0xa0, 0x60, 0xd0, 0xff}}
)

const (
	width  = 22 * vg.Centimeter
	height = 10 * vg.Centimeter
)

// table is the figure's data as text.
func (f figure) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s", f.xTitle)
	for _, s := range f.series {
		fmt.Fprintf(&b, "%34s", s.name)
	}
	for i := range f.series[0].values {
		label := ""
		if f.x != nil {
			label = fmt.Sprint(f.x[i])
		} else {
			label = f.labels[i]
		}
		fmt.Fprintf(&b, "\n%-28s", label)
		for _, s := range f.series {
			fmt.Fprintf(&b, "%34.6g", s.values[i])
		}
	}
	return b.String() + "\n"
}

// save draws the figure on a transparent ground.
func (f figure) save(file string) error {
	p := plot.New()
	f.style(p)
	if err := f.fill(p); err != nil {
		return err
	}
	canvas := vgsvg.New(width, height)
	margin := vg.Points(10)
	p.Draw(draw.Crop(draw.New(canvas), margin, -2*margin, margin, -margin))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

func (f figure) style(p *plot.Plot) {
	p.BackgroundColor = color.Transparent
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.title, f.xTitle, f.yTitle
	p.Title.TextStyle.Color, p.Title.Padding = ink, vg.Points(8)
	p.Legend.TextStyle.Color, p.Legend.Top, p.Legend.Left = ink, true, true
	p.Legend.XOffs, p.Legend.Padding = vg.Points(8), vg.Points(3)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Label.TextStyle.Color = ink, ink
		a.Tick.Color, a.Tick.Label.Color = ink, ink
	}
	grid := plotter.NewGrid()
	faint := ink
	faint.A = 0x40
	grid.Horizontal.Color, grid.Vertical.Color = faint, color.Transparent
	p.Add(grid)
	if f.log {
		p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
		p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	}
}

func (f figure) fill(p *plot.Plot) error {
	if f.x != nil {
		return f.lines(p)
	}
	each := vg.Points(float64(360) / float64(len(f.labels)*len(f.series)))
	for i, s := range f.series {
		bars, err := plotter.NewBarChart(plotter.Values(s.values), each)
		if err != nil {
			return err
		}
		bars.Color, bars.LineStyle.Width = palette[i%len(palette)], 0
		bars.Offset = each * vg.Length(float64(i)-float64(len(f.series)-1)/2)
		p.Add(bars)
		p.Legend.Add(s.name, bars)
	}
	p.NominalX(f.labels...)
	p.X.Min, p.X.Max = -.5, float64(len(f.labels))-.5
	p.Y.Min = 0
	p.Y.Max *= 1.25 // room for the legend
	return nil
}

func (f figure) lines(p *plot.Plot) error {
	for i, s := range f.series {
		points := make(plotter.XYs, len(s.values))
		for j, v := range s.values {
			points[j] = plotter.XY{X: f.x[j], Y: v}
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = palette[i%len(palette)], vg.Points(2)
		dots.Color, dots.Shape, dots.Radius = palette[i%len(palette)], draw.CircleGlyph{}, vg.Points(2.5)
		p.Add(line, dots)
		p.Legend.Add(s.name, line, dots)
	}
	if !f.log {
		p.Y.Min = 0
		p.Y.Max *= 1.25
	}
	return nil
}
