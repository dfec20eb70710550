// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of colours and of pictures under the root.

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
	"github.com/lucasb-eyer/go-colorful"
	"golang.org/x/image/colornames"
	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
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

var imageServer = group{"image", "Pictures in the working folder", []maker{
	defineAt("image__info", "Tells a picture's format, width and height.", func(at place, in imageIn) (string, error) {
		data, err := at.read(maxFile)
		if err != nil {
			return "", err
		}
		config, format, err := imageConfig(data)
		return fmt.Sprintf("%s, %d × %d pixels, %s", format, config.Width, config.Height, counted(len(data), "byte")), err
	}),
	defineAt("image__average_color", "Computes the average colour of a picture.", func(at place, in imageIn) (string, error) {
		img, err := at.image()
		if err != nil {
			return "", err
		}
		c, _ := colorful.MakeColor(scale(img, 1, 1).At(0, 0))
		return c.Hex() + " " + rgbText(c), nil
	}),
	defineEnhancedAt("image__show", "Shows a picture of the working folder.", func(at place, in imageIn) ([]schema.ToolOutputPart, error) {
		img, err := at.image()
		if err != nil {
			return nil, err
		}
		return picture(fit(img, 1000), at.name)
	}),
	defineEnhancedAt("image__create", "Makes a picture of one colour and saves it.", func(at place, in struct {
		targetIn
		sizeIn
		colorIn
	}) ([]schema.ToolOutputPart, error) {
		img := in.canvas()
		draw.Draw(img, img.Bounds(), image.NewUniform(in.Color), image.Point{}, draw.Src)
		return at.save(img)
	}),
	defineEnhancedAt("image__gradient", "Makes a picture that fades from one colour to another and saves it.", func(at place, in struct {
		targetIn
		sizeIn
		twoColorsIn
	}) ([]schema.ToolOutputPart, error) {
		img := in.canvas()
		for x := range in.Width {
			column := in.mixed(float64(x) / float64(max(1, in.Width-1)))
			draw.Draw(img, image.Rect(x, 0, x+1, in.Height), image.NewUniform(column), image.Point{}, draw.Src)
		}
		return at.save(img)
	}),
	defineEnhancedAt("image__bar_chart", "Draws numbers as a bar chart and saves it as a picture.", func(at place, in chartIn) ([]schema.ToolOutputPart, error) {
		img, height, err := in.chart()
		if err != nil {
			return nil, err
		}
		step := float64(in.Width) / float64(len(in.Numbers))
		for i, n := range in.Numbers {
			bottom, top := height(min(n, 0)), height(max(n, 0))
			left, right := int(float64(i)*step), max(int(float64(i)*step)+1, int(float64(i+1)*step*0.98))
			draw.Draw(img, image.Rect(left, in.Height-1-top, right, in.Height-bottom), image.NewUniform(ink), image.Point{}, draw.Src)
		}
		return at.save(img)
	}),
	defineEnhancedAt("image__line_chart", "Draws numbers as a line chart and saves it as a picture.", func(at place, in chartIn) ([]schema.ToolOutputPart, error) {
		img, height, err := in.chart()
		if err != nil {
			return nil, err
		}
		last := -1
		for x := range in.Width {
			pos := float64(x) / float64(max(1, in.Width-1)) * float64(len(in.Numbers)-1)
			i := min(int(pos), max(0, len(in.Numbers)-2))
			next := min(i+1, len(in.Numbers)-1)
			y := in.Height - 1 - height(in.Numbers[i]+(pos-float64(i))*(in.Numbers[next]-in.Numbers[i]))
			if last < 0 {
				last = y
			}
			for k := min(last, y); k <= max(last, y); k++ {
				img.SetRGBA(x, k, ink)
			}
			last = y
		}
		return at.save(img)
	}),
	defineEnhancedAt("image__resize", "Makes a copy of a picture with another width and height.", func(at place, in struct {
		derivedIn
		sizeIn
	}) ([]schema.ToolOutputPart, error) {
		return at.derive(in.Path, func(img *image.RGBA) (*image.RGBA, error) { return scale(img, in.Width, in.Height), nil })
	}),
	defineEnhancedAt("image__crop", "Cuts a rectangle out of a picture.", func(at place, in struct {
		derivedIn
		sizeIn
		Left int `json:"left" jsonschema:"minimum=0,maximum=10000" jsonschema_description:"Pixels to leave out on the left"`
		Top  int `json:"top" jsonschema:"minimum=0,maximum=10000" jsonschema_description:"Pixels to leave out at the top"`
	}) ([]schema.ToolOutputPart, error) {
		return at.derive(in.Path, func(img *image.RGBA) (*image.RGBA, error) {
			part := image.Rect(in.Left, in.Top, in.Left+in.Width, in.Top+in.Height).Intersect(img.Bounds())
			if part.Empty() {
				return nil, fmt.Errorf("the rectangle lies outside of the picture, which is %d × %d pixels", img.Bounds().Dx(), img.Bounds().Dy())
			}
			out := image.NewRGBA(image.Rect(0, 0, part.Dx(), part.Dy()))
			draw.Draw(out, out.Bounds(), img, part.Min, draw.Src)
			return out, nil
		})
	}),
	defineEnhancedAt("image__rotate", "Turns a copy of a picture by 90, 180 or 270 degrees, or mirrors it.", func(at place, in struct {
		derivedIn
		Turn string `json:"turn" jsonschema:"enum=90,enum=180,enum=270,enum=mirror,enum=flip" jsonschema_description:"Degrees clockwise; mirror swaps left and right, flip swaps top and bottom"`
	}) ([]schema.ToolOutputPart, error) {
		return at.derive(in.Path, func(img *image.RGBA) (*image.RGBA, error) { return turned(img, in.Turn), nil })
	}),
	defineEnhancedAt("image__grayscale", "Makes a grey copy of a picture, or a negative of it.", func(at place, in struct {
		derivedIn
		Negative bool `json:"negative,omitempty" jsonschema_description:"True for a negative in colour instead of grey"`
	}) ([]schema.ToolOutputPart, error) {
		return at.derive(in.Path, func(img *image.RGBA) (*image.RGBA, error) {
			for y := range img.Bounds().Dy() {
				for x := range img.Bounds().Dx() {
					p := img.RGBAAt(x, y)
					grey := color.GrayModel.Convert(p).(color.Gray).Y
					if img.SetRGBA(x, y, color.RGBA{grey, grey, grey, p.A}); in.Negative {
						img.SetRGBA(x, y, color.RGBA{p.A - p.R, p.A - p.G, p.A - p.B, p.A})
					}
				}
			}
			return img, nil
		})
	}),
	defineAt("image__convert", "Saves a copy of a picture in another format: PNG, JPEG or GIF, by the name's extension.",
		func(at place, in derivedIn) (string, error) {
			out, err := at.derive(in.Path, func(img *image.RGBA) (*image.RGBA, error) { return img, nil })
			if err != nil {
				return "", err
			}
			return out[0].Text, nil
		}),
	defineEnhancedStreamAt("image__gallery", "Shows small copies of all pictures in a folder, one after the other.",
		func(at place, in folderIn, emit func(*schema.ToolResult) bool) error {
			shown := 0
			err := at.files(func(file place, _ fs.DirEntry) error {
				if !strings.Contains(" .png .jpg .jpeg .gif ", " "+strings.ToLower(path.Ext(file.name))+" ") {
					return nil
				}
				img, err := file.image()
				if err != nil {
					return nil // not what its name says
				}
				out, err := picture(fit(img, 100), file.name)
				if err != nil {
					return err
				}
				if shown++; !emit(parts(out...)) || shown == 50 {
					return fs.SkipAll
				}
				return nil
			})
			if err == nil && shown == 0 {
				emit(parts(textPart("there are no pictures")))
			}
			return err
		}),
}}

type imageIn struct {
	Path string `json:"path" jsonschema_description:"The picture's path inside the working folder, such as logo.png"`
}

func (in imageIn) path() string { return in.Path }

type targetIn struct {
	To string `json:"to_path" jsonschema_description:"Where to save the new picture, such as out/chart.png; the extension gives the format"`
}

func (in targetIn) path() string { return in.To }

// derivedIn names a picture and the one that is made from it.
type derivedIn struct {
	imageIn
	targetIn
}

func (in derivedIn) path() string { return in.To }

type sizeIn struct {
	Width  int `json:"width,omitempty" jsonschema:"default=320,minimum=1,maximum=2000" jsonschema_description:"The width in pixels"`
	Height int `json:"height,omitempty" jsonschema:"default=200,minimum=1,maximum=2000" jsonschema_description:"The height in pixels"`
}

func (s sizeIn) canvas() *image.RGBA { return image.NewRGBA(image.Rect(0, 0, s.Width, s.Height)) }

// save writes a new picture and shows it.
func (p place) save(img *image.RGBA) ([]schema.ToolOutputPart, error) {
	data, err := encodeImage(img, p.name)
	if err != nil {
		return nil, err
	}
	if err := p.write(data); err != nil {
		return nil, err
	}
	return picture(fit(img, 1000), "saved "+p.name)
}

// derive saves a picture made from another one.
func (p place) derive(from string, change func(*image.RGBA) (*image.RGBA, error)) ([]schema.ToolOutputPart, error) {
	img, err := p.to(from).image()
	if err != nil {
		return nil, inside(err, from)
	}
	out, err := change(img)
	if err != nil {
		return nil, err
	}
	return p.save(out)
}

type chartIn struct {
	targetIn
	sizeIn
	numbersIn
}

// chart gives a white canvas and the height of a number on it, in pixels from the bottom.
func (in chartIn) chart() (*image.RGBA, func(n float64) int, error) {
	low, high := min(0, slices.Min(in.Numbers)), max(0, slices.Max(in.Numbers))
	if len(in.Numbers) > in.Width || math.IsInf(high-low, 0) || high == low {
		return nil, nil, errors.New("the chart needs numbers that differ from zero, not more of them than its width has pixels")
	}
	img := in.canvas()
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	return img, func(n float64) int { return int((n - low) / (high - low) * float64(in.Height-1)) }, nil
}

var ink = color.RGBA{70, 130, 180, 255}

// maxPixels is the most pixels that a picture may have.
const maxPixels = 16 << 20

// imageConfig reads the head of a picture, which bounds what reading it costs.
func imageConfig(data []byte) (image.Config, string, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return config, "", fmt.Errorf("the file is no picture in PNG, JPEG or GIF")
	}
	return config, format, nil
}

func (p place) image() (*image.RGBA, error) {
	data, err := p.read(maxFile)
	if err != nil {
		return nil, err
	}
	config, _, err := imageConfig(data)
	if err != nil {
		return nil, err
	}
	if config.Width < 1 || config.Height < 1 || config.Width > maxPixels/config.Height {
		return nil, fmt.Errorf("the picture is too large: %d × %d pixels", config.Width, config.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the picture is damaged: %w", err)
	}
	out := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Src)
	return out, nil
}

// encodeImage writes a picture in the format of the name's extension.
func encodeImage(img image.Image, name string) ([]byte, error) {
	var out bytes.Buffer
	var err error
	switch strings.ToLower(path.Ext(name)) {
	case ".png":
		err = png.Encode(&out, img)
	case ".jpg", ".jpeg":
		err = jpeg.Encode(&out, img, nil)
	case ".gif":
		err = gif.Encode(&out, img, nil)
	default:
		err = fmt.Errorf("the name %q must end in .png, .jpg or .gif", name)
	}
	return out.Bytes(), err
}

// picture is the answer that shows a picture, with a text for those who cannot see it.
func picture(img *image.RGBA, about string) ([]schema.ToolOutputPart, error) {
	data, err := encodeImage(img, ".png")
	if err != nil {
		return nil, err
	}
	encoded := base64.StdEncoding.EncodeToString(data)
	return []schema.ToolOutputPart{
		textPart(fmt.Sprintf("%s (%d × %d pixels)\n", about, img.Bounds().Dx(), img.Bounds().Dy())),
		{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: &encoded, MIMEType: "image/png"}}},
	}, nil
}

// box averages the pixels that fall together, and repeats where they are too few.
var box = &draw.Kernel{Support: 0.5, At: func(float64) float64 { return 1 }}

func scale(img *image.RGBA, width, height int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	box.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}

// fit makes a picture no larger than some pixels on either side.
func fit(img *image.RGBA, most int) *image.RGBA {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	if w <= most && h <= most {
		return img
	}
	longest := max(w, h)
	return scale(img, max(1, w*most/longest), max(1, h*most/longest))
}

func turned(img *image.RGBA, turn string) *image.RGBA {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	size := either(turn == "90" || turn == "270", image.Rect(0, 0, h, w), image.Rect(0, 0, w, h))
	out := image.NewRGBA(size)
	x, y := float64(w), float64(h)
	matrix := map[string]f64.Aff3{"90": {0, -1, y, 1, 0, 0}, "180": {-1, 0, x, 0, -1, y}, "270": {0, 1, 0, -1, 0, x}, "mirror": {-1, 0, x, 0, 1, 0}, "flip": {1, 0, 0, 0, -1, y}}[turn]
	draw.NearestNeighbor.Transform(out, matrix, img, img.Bounds(), draw.Src, nil)
	return out
}
