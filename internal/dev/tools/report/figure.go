// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// The pictures are SVG with the reader's own fonts, one for light and one for dark grounds.

import (
	"fmt"
	"html"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// series is a named row of numbers.
type series struct {
	name   string
	values []float64
	note   string // follows the last value, such as "in 12 calls"
}

// figure is a chart as data.
type figure struct {
	title, subtitle, xTitle string
	labels                  []string  // of rows
	x                       []float64 // of lines; nil: rows with the values of two series
	log                     bool      // both axes
	format                  func(float64) string
	series                  []series // the one to compare with first, ours next
	phrases                 phrases  // its texts are in these; nil: as they are
}

// table is the figure's data as text.
func (f figure) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s", f.xTitle)
	for _, s := range f.series {
		fmt.Fprintf(&b, "%34s", s.name)
	}
	for i := range f.series[0].values {
		fmt.Fprintf(&b, "\n%-28s", f.label(i))
		for _, s := range f.series {
			fmt.Fprintf(&b, "%34.6g", s.values[i])
		}
	}
	return b.String() + "\n"
}

func (f figure) label(i int) string {
	if f.x != nil {
		return fmt.Sprint(f.x[i])
	}
	return f.labels[i]
}

// save writes file, without its ending, once for each theme.
func (f figure) save(file string) error {
	for _, t := range themes {
		if err := os.WriteFile(file+"-"+t.name+".svg", []byte(f.svg(t)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// theme is the colours of a ground.
type theme struct {
	name, ink, soft, grid, ground string
	lines                         []string // of the series
}

var themes = []theme{
	{"light", "#14181f", "#566072", "#e2e6ec", "#ffffff", []string{"#8a94a5", "#2d5be3", "#0a7a4b"}},
	{"dark", "#e9ecf1", "#a3adbb", "#30363d", "#0d1117", []string{"#7f8a9a", "#8aa8ff", "#4fd09a"}},
}

const width = 760

// canvas collects the elements of a picture.
type canvas struct {
	strings.Builder
	theme
}

// spot is a place on the canvas.
type spot struct{ x, y float64 }

// look is how a text looks; its anchor is "start", "middle" or "end".
type look struct {
	size          int
	color, anchor string
	bold          bool
}

func (c *canvas) text(at spot, l look, text string) {
	weight := ""
	if l.bold {
		weight = ` font-weight="600"`
	}
	fmt.Fprintf(c, "<text x=\"%s\" y=\"%s\" font-size=\"%d\" fill=\"%s\" text-anchor=\"%s\"%s>%s</text>\n", short(at.x), short(at.y), l.size, l.color, l.anchor, weight, html.EscapeString(text))
}

func (c *canvas) line(from, to spot, color string, thick float64) {
	fmt.Fprintf(c, "<line x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\" stroke=\"%s\" stroke-width=\"%s\"/>\n", short(from.x), short(from.y), short(to.x), short(to.y), color, short(thick))
}

// short is a number in as few characters as will do.
func short(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// svg is the picture for one theme. Its bytes depend on the data alone.
func (f figure) svg(t theme) string {
	c := &canvas{theme: t}
	c.text(spot{0, 20}, look{17, t.ink, "start", true}, f.title)
	c.text(spot{0, 42}, look{13, t.soft, "start", false}, f.subtitle)
	height := 0.0
	if f.x != nil {
		height = f.lines(c)
	} else {
		height = f.rows(c)
	}
	font := `-apple-system, BlinkMacSystemFont, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif`
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-4 0 %d %s\" width=\"%d\" role=\"img\" font-family=\"%s\">\n<title>%s</title>\n<desc>%s</desc>\n%s</svg>\n",
		width+8, short(height), width+8, font, html.EscapeString(f.title), html.EscapeString(f.inWords()), c.String())
}

// inWords is the data for those who cannot see the picture.
func (f figure) inWords() string {
	var all []string
	for _, s := range f.series {
		if f.x != nil {
			last := len(s.values) - 1
			all = append(all, fmt.Sprintf(f.phrases.say("%s: from %s to %s"), s.name, f.format(s.values[0]), f.format(s.values[last])))
			continue
		}
		for i, v := range s.values {
			all = append(all, fmt.Sprintf(f.phrases.say("%s, %s: %s"), s.name, f.labels[i], f.format(v)))
		}
	}
	return f.subtitle + ". " + strings.Join(all, "; ") + "."
}

// axis maps values to coordinates.
type axis struct {
	from, to, low, high float64
	log                 bool
}

func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log10(v), math.Log10(low), math.Log10(high)
	}
	return a.from + (a.to-a.from)*(v-low)/(high-low)
}

// ticks are round numbers that enclose the axis's values: decades, or steps of 1, 2 or 5.
func ticks(low, high float64, log bool) (all []float64) {
	if log {
		for v := math.Pow(10, math.Floor(math.Log10(low)+1e-9)); ; v *= 10 {
			if all = append(all, v); v >= high*(1-1e-9) {
				return all
			}
		}
	}
	step := math.Pow(10, math.Floor(math.Log10(high/3)))
	for _, by := range []float64{1, 2, 5, 10} {
		if high/(step*by) <= 5 {
			step *= by
			break
		}
	}
	for v := 0.0; ; v += step {
		if all = append(all, v); v >= high {
			return all
		}
	}
}

// lines draws each series as a line that carries its name and last value at its end.
func (f figure) lines(c *canvas) (height float64) {
	const left, top, bottom = 72, 66, 296
	right := f.end()
	low, high := math.Inf(1), 0.0
	for _, s := range f.series {
		for _, v := range s.values {
			low, high = min(low, v), max(high, v)
		}
	}
	marks := ticks(low, high, f.log)
	y := axis{bottom, top, marks[0], marks[len(marks)-1], f.log}
	x := axis{left, right, f.x[0], f.x[len(f.x)-1], f.log}
	for _, v := range marks {
		c.line(spot{left, y.at(v)}, spot{right, y.at(v)}, c.grid, 1)
		c.text(spot{left - 8, y.at(v) + 4}, look{12, c.soft, "end", false}, f.format(v))
	}
	for _, v := range f.marked() {
		c.text(spot{x.at(v), bottom + 20}, look{12, c.soft, "middle", false}, grouped(v))
	}
	c.text(spot{(left + right) / 2, bottom + 40}, look{12, c.soft, "middle", false}, f.xTitle)
	ends := make([]float64, len(f.series))
	for i, s := range f.series {
		var d strings.Builder
		for j, v := range s.values {
			d.WriteString("ML"[min(j, 1):min(j, 1)+1] + short(x.at(f.x[j])) + " " + short(y.at(v)))
		}
		thick := map[bool]float64{true: 2.5, false: 3}[i == 0]
		fmt.Fprintf(c, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n", d.String(), c.theme.lines[i], short(thick))
		ends[i] = y.at(s.values[len(s.values)-1])
		fmt.Fprintf(c, "<circle cx=\"%s\" cy=\"%s\" r=\"4.5\" fill=\"%s\"/>\n", short(right), short(ends[i]), c.theme.lines[i])
	}
	for i, end := range apart(ends, 34) {
		s := f.series[i]
		c.text(spot{right + 14, end}, look{14, c.theme.lines[i], "start", true}, s.name)
		c.text(spot{right + 14, end + 16}, look{13, c.soft, "start", false}, strings.TrimSpace(f.format(s.values[len(s.values)-1])+" "+s.note))
	}
	return bottom + 52
}

// labelWidth is a label's width in the widest of the fonts: a reader may lack the first ones.
func labelWidth(text string) float64 {
	const size, perLetter = 14, .73 // bold letters of DejaVu Sans, in parts of the size
	return size * perLetter * float64(utf8.RuneCountInString(text))
}

// end is where lines end: their labels need the rest of the picture.
func (f figure) end() float64 {
	widest := 0.0
	for _, s := range f.series {
		widest = max(widest, labelWidth(s.name))
	}
	return math.Floor(min(590, width-14-widest))
}

// marked are the values of x that are written below the axis: decades, or at most six.
func (f figure) marked() (all []float64) {
	if f.log {
		for _, v := range f.x {
			if l := math.Log10(v); math.Abs(l-math.Round(l)) < 1e-9 {
				all = append(all, v)
			}
		}
		return all
	}
	step := (len(f.x) + 5) / 6
	for i := 0; i < len(f.x); i += step {
		all = append(all, f.x[i])
	}
	return all
}

// apart moves labels that are closer than gap away from one another.
func apart(ends []float64, gap float64) []float64 {
	moved := append([]float64(nil), ends...)
	for range ends {
		for i := range moved {
			for j := range moved {
				if d := moved[j] - moved[i]; i != j && ends[i] < ends[j] && d < gap {
					moved[i] -= (gap - d) / 2
					moved[j] += (gap - d) / 2
				}
			}
		}
	}
	return moved
}

// rows draws two series as a ring and a dot in each row. What lost is in the bad colour.
func (f figure) rows(c *canvas) (height float64) {
	const left, right, top, step = 210, 690, 92, 34
	x := axis{left, right, 0, 1, false}
	bottom := float64(top + step*len(f.labels) - 8)
	for _, v := range []float64{0, .25, .5, .75, 1} {
		c.line(spot{x.at(v), top - 20}, spot{x.at(v), bottom}, c.grid, 1)
		c.text(spot{x.at(v), bottom + 18}, look{12, c.soft, "middle", false}, f.format(v))
	}
	for i, s := range f.series[:2] {
		cx := float64(left + 170*i)
		c.point(cx, 62, i, c.theme.lines[i])
		c.text(spot{cx + 12, 66}, look{12, c.soft, "start", false}, s.name)
	}
	for i, label := range f.labels {
		y := float64(top + step*i)
		theirs, ours := f.series[0].values[i], f.series[1].values[i]
		color := c.theme.lines[1]
		if ours < theirs {
			color = map[string]string{"light": "#b3361f", "dark": "#ff8f78"}[c.name]
		}
		c.text(spot{0, y + 4}, look{13, c.ink, "start", false}, label)
		fmt.Fprintf(c, "<g opacity=\".35\">")
		c.line(spot{x.at(theirs), y}, spot{x.at(ours), y}, color, 3)
		fmt.Fprintf(c, "</g>\n")
		c.point(x.at(theirs), y, 0, c.theme.lines[0])
		c.point(x.at(ours), y, 1, color)
		side := map[bool]float64{true: -1, false: 1}[theirs <= ours]
		anchor := map[bool]string{true: "end", false: "start"}
		c.text(spot{x.at(theirs) + side*11, y + 4}, look{12, c.soft, anchor[side < 0], false}, f.format(theirs))
		c.text(spot{x.at(ours) - side*11, y + 4}, look{12, c.ink, anchor[side > 0], true}, f.format(ours))
	}
	return bottom + 30
}

// point is a ring for the first series and a dot for the second.
func (c *canvas) point(x, y float64, i int, color string) {
	fill := map[bool]string{true: c.ground, false: color}[i == 0]
	fmt.Fprintf(c, "<circle cx=\"%s\" cy=\"%s\" r=\"5.5\" fill=\"%s\" stroke=\"%s\" stroke-width=\"2.5\"/>\n", short(x), short(y), fill, color)
}

// tokens writes a number of tokens.
func tokens(v float64) string {
	switch {
	case v >= 1e6:
		return short(v/1e6) + " M"
	case v >= 1e3:
		return short(v/1e3) + " k"
	}
	return short(v)
}

// micros writes a time in microseconds.
func micros(v float64) string {
	if v >= 1e6 {
		return strconv.FormatFloat(v/1e6, 'g', 3, 64) + " s"
	}
	if v >= 1000 {
		return strconv.FormatFloat(v/1000, 'g', 3, 64) + " ms"
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " µs"
}

// share writes a number between 0 and 1.
func share(v float64) string { return strings.TrimPrefix(strconv.FormatFloat(v, 'f', 2, 64), "0") }

// grouped is a whole number with a comma between groups of three digits.
func grouped(v float64) string {
	digits := strconv.Itoa(int(v))
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
