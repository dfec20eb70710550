// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of colours.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lucasb-eyer/go-colorful"
	"golang.org/x/image/colornames"
)

var colorServer = group{"color", "Colours", []maker{
	define("color__convert", "Shows a colour as hex code, RGB, HSL and CMYK at once.", func(in colorIn) (string, error) {
		c := in.Color.Color
		return strings.Join([]string{c.Hex(), rgbText(c), hslText(c), cmykText(c)}, "\n"), nil
	}),
	define("color__hex_to_rgb", "Converts a hex colour code such as #ff8800 to red, green and blue from 0 to 255.", func(in struct {
		Hex colour `json:"hex" jsonschema_description:"The hex colour code, such as #ff8800 or #f80"`
	}) (string, error) {
		return rgbText(in.Hex.Color), nil
	}),
	define("color__rgb_to_hex", "Converts red, green and blue from 0 to 255 to a hex colour code.",
		func(in rgbIn) (string, error) { return fromRGB(in.Red, in.Green, in.Blue).Hex(), nil }),
	define("color__rgb_to_hsl", "Converts red, green and blue to hue, saturation and lightness.",
		func(in rgbIn) (string, error) { return hslText(fromRGB(in.Red, in.Green, in.Blue)), nil }),
	define("color__hsl_to_rgb", "Converts hue, saturation and lightness to red, green, blue and a hex code.", func(in struct {
		Hue        float64 `json:"hue" jsonschema:"minimum=0,maximum=360" jsonschema_description:"Hue in degrees, 0 to 360"`
		Saturation float64 `json:"saturation" jsonschema:"minimum=0,maximum=100" jsonschema_description:"Saturation in percent"`
		Lightness  float64 `json:"lightness" jsonschema:"minimum=0,maximum=100" jsonschema_description:"Lightness in percent"`
	}) (string, error) {
		c := fromHSL(in.Hue, in.Saturation/100, in.Lightness/100)
		return rgbText(c) + " " + c.Hex(), nil
	}),
	define("color__contrast", "Computes the contrast ratio of two colours and whether it meets the WCAG levels AA and AAA.",
		func(in twoColorsIn) (string, error) {
			a, b := luminance(in.First.Color), luminance(in.Second.Color)
			ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05)
			level := "fails AA"
			switch {
			case ratio >= 7:
				level = "meets AA and AAA"
			case ratio >= 4.5:
				level = "meets AA, fails AAA"
			case ratio >= 3:
				level = "meets AA for large text only"
			}
			return fmt.Sprintf("contrast %.2f:1, %s", ratio, level), nil
		}),
	define("color__mix", "Mixes two colours in a proportion.", func(in struct {
		twoColorsIn
		Percent float64 `json:"percent,omitempty" jsonschema:"default=50,minimum=0,maximum=100" jsonschema_description:"How much of the second colour is in the mix, in percent"`
	}) (string, error) {
		return in.mixed(in.Percent / 100).Hex(), nil
	}),
	define("color__lighten", "Makes a colour lighter by some percent, or darker by a negative one.", func(in struct {
		colorIn
		Percent float64 `json:"percent" jsonschema:"minimum=-100,maximum=100" jsonschema_description:"Percentage points of lightness to add; negative to darken"`
	}) (string, error) {
		h, s, l := in.Color.Hsl()
		return fromHSL(h, s, l+in.Percent/100).Hex(), nil
	}),
	define("color__complement", "Finds the complementary colour and the triad of a colour on the colour wheel.", func(in colorIn) (string, error) {
		h, s, l := in.Color.Hsl()
		return fmt.Sprintf("complement %s, triad %s and %s", fromHSL(h+180, s, l).Hex(), fromHSL(h+120, s, l).Hex(), fromHSL(h+240, s, l).Hex()), nil
	}),
	define("color__gradient", "Lists the colours of a gradient from one colour to another.", func(in struct {
		twoColorsIn
		Steps int `json:"steps,omitempty" jsonschema:"default=5,minimum=2,maximum=256" jsonschema_description:"How many colours to list, both ends included"`
	}) (string, error) {
		step := func(i int) string { return in.mixed(float64(i) / float64(in.Steps-1)).Hex() }
		return strings.Join(times(in.Steps, step), " "), nil
	}),
	define("color__grayscale", "Finds the grey that is as bright as a colour.", func(in colorIn) (string, error) {
		y := 0.299*in.Color.R + 0.587*in.Color.G + 0.114*in.Color.B
		return colorful.Color{R: y, G: y, B: y}.Hex(), nil
	}),
	define("color__nearest_name", "Names the CSS colour that is nearest to a colour.", func(in colorIn) (string, error) {
		distance := func(name string) float64 {
			named, _ := colorful.MakeColor(colornames.Map[name])
			return in.Color.DistanceRgb(named)
		}
		nearest := slices.MinFunc(colornames.Names, func(a, b string) int { return cmp.Compare(distance(a), distance(b)) })
		named, _ := colorful.MakeColor(colornames.Map[nearest])
		return fmt.Sprintf("%s (%s)", nearest, named.Hex()), nil
	}),
}}

// rgbText writes a colour in red, green and blue from 0 to 255.
func rgbText(c colorful.Color) string {
	r, g, b := c.Clamped().RGB255()
	return fmt.Sprintf("rgb(%d, %d, %d)", r, g, b)
}

// parseColor reads a hex code, a CSS name, or "r, g, b".
func parseColor(text string) (colorful.Color, error) {
	key := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), " ", ""))
	if named, ok := colornames.Map[key]; ok {
		c, _ := colorful.MakeColor(named)
		return c, nil
	}
	if c, err := colorful.Hex("#" + strings.TrimPrefix(key, "#")); err == nil {
		return c, nil
	}
	var r, g, b uint8
	if n, err := fmt.Sscanf(strings.TrimSuffix(strings.TrimPrefix(key, "rgb("), ")")+";", "%d,%d,%d;", &r, &g, &b); err != nil || n != 3 {
		return colorful.Color{}, fmt.Errorf("%q is not a colour; write it as #ff8800, as 255,136,0 or by a CSS name such as orange", text)
	}
	return fromRGB(float64(r), float64(g), float64(b)), nil
}

func fromRGB(r, g, b float64) colorful.Color {
	return colorful.Color{R: r / 255, G: g / 255, B: b / 255}.Clamped()
}

// fromHSL takes any angle, and a lightness that may be out of bounds.
func fromHSL(h, s, l float64) colorful.Color {
	return colorful.Hsl(math.Mod(math.Mod(h, 360)+360, 360), s, min(1, max(0, l))).Clamped()
}

func hslText(c colorful.Color) string {
	h, s, l := c.Hsl()
	return fmt.Sprintf("hsl(%s, %s%%, %s%%)", plain(math.Round(h*10)/10), plain(math.Round(s*1000)/10), plain(math.Round(l*1000)/10))
}

func cmykText(c colorful.Color) string {
	k := 1 - max(c.R, c.G, c.B)
	ink := func(v float64) string {
		if k == 1 {
			return "0"
		}
		return plain(math.Round((1 - v - k) / (1 - k) * 100))
	}
	return fmt.Sprintf("cmyk(%s%%, %s%%, %s%%, %s%%)", ink(c.R), ink(c.G), ink(c.B), plain(math.Round(k*100)))
}

// colour is an argument that is a colour.
type colour struct {
	written
	colorful.Color
}

// UnmarshalJSON reads the colour.
func (c *colour) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &c.written, &c.Color, parseColor)
}

type colorIn struct {
	Color colour `json:"color" jsonschema_description:"The colour, as #ff8800, as 255,136,0 or by a CSS name such as orange"`
}

type rgbIn struct {
	Red   float64 `json:"red" jsonschema:"minimum=0,maximum=255" jsonschema_description:"Red, 0 to 255"`
	Green float64 `json:"green" jsonschema:"minimum=0,maximum=255" jsonschema_description:"Green, 0 to 255"`
	Blue  float64 `json:"blue" jsonschema:"minimum=0,maximum=255" jsonschema_description:"Blue, 0 to 255"`
}

type twoColorsIn struct {
	First  colour `json:"first" jsonschema_description:"The first colour, as #ff8800 or by a CSS name"`
	Second colour `json:"second" jsonschema_description:"The second colour, as #ff8800 or by a CSS name"`
}

// mixed is the colour that a part of the second one makes of the first.
func (in twoColorsIn) mixed(part float64) colorful.Color {
	return in.First.BlendRgb(in.Second.Color, part)
}

// luminance is the relative luminance of WCAG 2.
func luminance(c colorful.Color) float64 {
	r, g, b := c.LinearRgb()
	return 0.2126*r + 0.7152*g + 0.0722*b
}
