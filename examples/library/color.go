// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of colours.

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/components/tool"
)

func colorServer() Server {
	return Server{Name: "color", Title: "Colours", Tools: []tool.BaseTool{
		define("color__convert", "Shows a colour as hex code, RGB, HSL and CMYK at once.", colorConvert),
		define("color__hex_to_rgb", "Converts a hex colour code such as #ff8800 to red, green and blue from 0 to 255.", colorHexToRGB),
		define("color__rgb_to_hex", "Converts red, green and blue from 0 to 255 to a hex colour code.", colorRGBToHex),
		define("color__rgb_to_hsl", "Converts red, green and blue to hue, saturation and lightness.", colorRGBToHSL),
		define("color__hsl_to_rgb", "Converts hue, saturation and lightness to red, green, blue and a hex code.", colorHSLToRGB),
		define("color__contrast", "Computes the contrast ratio of two colours and whether it meets the WCAG levels AA and AAA.", colorContrast),
		define("color__mix", "Mixes two colours in a proportion.", colorMix),
		define("color__lighten", "Makes a colour lighter by some percent, or darker by a negative one.", colorLighten),
		define("color__complement", "Finds the complementary colour and the triad of a colour on the colour wheel.", colorComplement),
		define("color__gradient", "Lists the colours of a gradient from one colour to another.", colorGradient),
		define("color__grayscale", "Finds the grey that is as bright as a colour.", colorGray),
		define("color__nearest_name", "Names the CSS colour that is nearest to a colour.", colorName),
	}}
}

type rgb struct{ r, g, b float64 }

func (c rgb) hex() string {
	return fmt.Sprintf("#%02x%02x%02x", channel(c.r), channel(c.g), channel(c.b))
}

func channel(f float64) int { return int(math.Round(min(255, max(0, f)))) }

func (c rgb) String() string {
	return fmt.Sprintf("rgb(%d, %d, %d)", channel(c.r), channel(c.g), channel(c.b))
}

var colorNames = pairs(`black=000000 white=ffffff red=ff0000 lime=00ff00 blue=0000ff yellow=ffff00 cyan=00ffff magenta=ff00ff silver=c0c0c0 gray=808080
maroon=800000 olive=808000 green=008000 purple=800080 teal=008080 navy=000080 orange=ffa500 pink=ffc0cb brown=a52a2a gold=ffd700 coral=ff7f50
salmon=fa8072 tomato=ff6347 crimson=dc143c chocolate=d2691e khaki=f0e68c indigo=4b0082 violet=ee82ee orchid=da70d6 plum=dda0dd lavender=e6e6fa
turquoise=40e0d0 skyblue=87ceeb steelblue=4682b4 royalblue=4169e1 slategray=708090 forestgreen=228b22 seagreen=2e8b57 limegreen=32cd32
tan=d2b48c beige=f5f5dc ivory=fffff0 wheat=f5deb3 sienna=a0522d firebrick=b22222 hotpink=ff69b4 darkorange=ff8c00 midnightblue=191970`)

// parseColor reads a hex code, a CSS name, or "r, g, b".
func parseColor(text string) (rgb, error) {
	key := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), " ", ""))
	if hex, ok := colorNames[key]; ok {
		key = hex
	}
	key = strings.TrimPrefix(key, "#")
	if len(key) == 3 {
		key = string([]byte{key[0], key[0], key[1], key[1], key[2], key[2]})
	}
	if n, err := strconv.ParseUint(key, 16, 32); err == nil && len(key) == 6 {
		return rgb{float64(n >> 16), float64(n >> 8 & 255), float64(n & 255)}, nil
	}
	fields := strings.Split(strings.TrimSuffix(strings.TrimPrefix(key, "rgb("), ")"), ",")
	var c [3]float64
	for i, f := range fields {
		n, err := strconv.ParseUint(f, 10, 8)
		if err != nil || len(fields) != 3 {
			return rgb{}, fmt.Errorf("%q is not a colour; write it as #ff8800, as 255,136,0 or by a CSS name such as orange", text)
		}
		c[i] = float64(n)
	}
	return rgb{c[0], c[1], c[2]}, nil
}

// hsl gives hue in degrees, saturation and lightness in percent.
func (c rgb) hsl() (h, s, l float64) {
	r, g, b := c.r/255, c.g/255, c.b/255
	high, low := max(r, g, b), min(r, g, b)
	d := high - low
	l = (high + low) / 2
	if d == 0 {
		return 0, 0, l * 100
	}
	s = d / (1 - math.Abs(2*l-1))
	switch high {
	case r:
		h = math.Mod((g-b)/d+6, 6)
	case g:
		h = (b-r)/d + 2
	default:
		h = (r-g)/d + 4
	}
	return h * 60, s * 100, l * 100
}

func fromHSL(h, s, l float64) rgb {
	h, s, l = math.Mod(math.Mod(h, 360)+360, 360), s/100, min(1, max(0, l/100))
	part := func(n float64) float64 {
		k := math.Mod(n+h/30, 12)
		return 255 * (l - s*min(l, 1-l)*max(-1, min(k-3, 9-k, 1)))
	}
	return rgb{part(0), part(8), part(4)}
}

func percents(h, s, l float64) string {
	return fmt.Sprintf("hsl(%s, %s%%, %s%%)", plain(math.Round(h*10)/10), plain(math.Round(s*10)/10), plain(math.Round(l*10)/10))
}

func (c rgb) cmyk() string {
	k := 1 - max(c.r, c.g, c.b)/255
	ink := func(v float64) string {
		if k == 1 {
			return "0"
		}
		return plain(math.Round((1 - v/255 - k) / (1 - k) * 100))
	}
	return fmt.Sprintf("cmyk(%s%%, %s%%, %s%%, %s%%)", ink(c.r), ink(c.g), ink(c.b), plain(math.Round(k*100)))
}

type colorIn struct {
	Color string `json:"color" jsonschema_description:"The colour, as #ff8800, as 255,136,0 or by a CSS name such as orange"`
}

// answer reads the colour and writes what show makes of it.
func (in colorIn) answer(show func(rgb) string) (string, error) {
	c, err := parseColor(in.Color)
	if err != nil {
		return "", err
	}
	return show(c), nil
}

func colorConvert(in colorIn) (string, error) {
	return in.answer(func(c rgb) string {
		return strings.Join([]string{c.hex(), c.String(), percents(c.hsl()), c.cmyk()}, "\n")
	})
}

type hexIn struct {
	Hex string `json:"hex" jsonschema_description:"The hex colour code, such as #ff8800 or #f80"`
}

func colorHexToRGB(in hexIn) (string, error) { return colorIn{in.Hex}.answer(rgb.String) }

type rgbIn struct {
	Red   float64 `json:"red" jsonschema:"minimum=0,maximum=255" jsonschema_description:"Red, 0 to 255"`
	Green float64 `json:"green" jsonschema:"minimum=0,maximum=255" jsonschema_description:"Green, 0 to 255"`
	Blue  float64 `json:"blue" jsonschema:"minimum=0,maximum=255" jsonschema_description:"Blue, 0 to 255"`
}

func colorRGBToHex(in rgbIn) (string, error) { return rgb{in.Red, in.Green, in.Blue}.hex(), nil }

func colorRGBToHSL(in rgbIn) (string, error) {
	return percents(rgb{in.Red, in.Green, in.Blue}.hsl()), nil
}

type hslIn struct {
	Hue        float64 `json:"hue" jsonschema:"minimum=0,maximum=360" jsonschema_description:"Hue in degrees, 0 to 360"`
	Saturation float64 `json:"saturation" jsonschema:"minimum=0,maximum=100" jsonschema_description:"Saturation in percent"`
	Lightness  float64 `json:"lightness" jsonschema:"minimum=0,maximum=100" jsonschema_description:"Lightness in percent"`
}

func colorHSLToRGB(in hslIn) (string, error) {
	c := fromHSL(in.Hue, in.Saturation, in.Lightness)
	return c.String() + " " + c.hex(), nil
}

type twoColorsIn struct {
	First  string `json:"first" jsonschema_description:"The first colour, as #ff8800 or by a CSS name"`
	Second string `json:"second" jsonschema_description:"The second colour, as #ff8800 or by a CSS name"`
}

func (in twoColorsIn) parse() (a, b rgb, err error) {
	return both(parseColor, in.First, in.Second)
}

// luminance is the relative luminance of WCAG 2.
func (c rgb) luminance() float64 {
	linear := func(v float64) float64 {
		if v /= 255; v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

func colorContrast(in twoColorsIn) (string, error) {
	a, b, err := in.parse()
	if err != nil {
		return "", err
	}
	ratio := (max(a.luminance(), b.luminance()) + 0.05) / (min(a.luminance(), b.luminance()) + 0.05)
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
}

// blend is a at 0 and b at 1.
func blend(a, b rgb, at float64) rgb {
	return rgb{a.r + (b.r-a.r)*at, a.g + (b.g-a.g)*at, a.b + (b.b-a.b)*at}
}

type mixIn struct {
	twoColorsIn
	Percent float64 `json:"percent,omitempty" jsonschema:"default=50,minimum=0,maximum=100" jsonschema_description:"How much of the second colour is in the mix, in percent"`
}

func colorMix(in mixIn) (string, error) {
	a, b, err := in.parse()
	return blend(a, b, in.Percent/100).hex(), err
}

type lightenIn struct {
	colorIn
	Percent float64 `json:"percent" jsonschema:"minimum=-100,maximum=100" jsonschema_description:"Percentage points of lightness to add; negative to darken"`
}

func colorLighten(in lightenIn) (string, error) {
	return in.answer(func(c rgb) string {
		h, s, l := c.hsl()
		return fromHSL(h, s, l+in.Percent).hex()
	})
}

func colorComplement(in colorIn) (string, error) {
	return in.answer(func(c rgb) string {
		h, s, l := c.hsl()
		return fmt.Sprintf("complement %s, triad %s and %s", fromHSL(h+180, s, l).hex(), fromHSL(h+120, s, l).hex(), fromHSL(h+240, s, l).hex())
	})
}

type gradientIn struct {
	twoColorsIn
	Steps int `json:"steps,omitempty" jsonschema:"default=5,minimum=2,maximum=256" jsonschema_description:"How many colours to list, both ends included"`
}

func colorGradient(in gradientIn) (string, error) {
	a, b, err := in.parse()
	var out []string
	for i := range in.Steps {
		out = append(out, blend(a, b, float64(i)/float64(in.Steps-1)).hex())
	}
	return strings.Join(out, " "), err
}

func colorGray(in colorIn) (string, error) {
	return in.answer(func(c rgb) string {
		y := 0.299*c.r + 0.587*c.g + 0.114*c.b
		return rgb{y, y, y}.hex()
	})
}

func colorName(in colorIn) (string, error) {
	return in.answer(func(c rgb) string {
		names := make([]string, 0, len(colorNames))
		for name := range colorNames {
			names = append(names, name)
		}
		distance := func(name string) float64 {
			o, _ := parseColor(name)
			return (c.r-o.r)*(c.r-o.r) + (c.g-o.g)*(c.g-o.g) + (c.b-o.b)*(c.b-o.b)
		}
		sort.Slice(names, func(i, j int) bool {
			if a, b := distance(names[i]), distance(names[j]); a != b {
				return a < b
			}
			return names[i] < names[j]
		})
		return fmt.Sprintf("%s (#%s)", names[0], colorNames[names[0]])
	})
}
