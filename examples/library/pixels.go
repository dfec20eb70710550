// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file reads, changes and writes pictures.

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// maxPixels is the most that a picture may unfold to.
const maxPixels = 16 << 20

// imageConfig reads the head of a picture, which bounds what reading it costs.
func imageConfig(data []byte) (image.Config, string, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return config, "", fmt.Errorf("the file is no picture in PNG, JPEG or GIF")
	}
	return config, format, nil
}

func readImage(root *os.Root, name string) (*image.RGBA, error) {
	data, err := readFile(root, name, maxFile)
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

// scale averages the pixels that fall together, and repeats where they are too few.
func scale(img *image.RGBA, width, height int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	for y := range height {
		top, bottom := y*h/height, max(y*h/height+1, (y+1)*h/height)
		for x := range width {
			left, right := x*w/width, max(x*w/width+1, (x+1)*w/width)
			out.SetRGBA(x, y, average(img, image.Rect(left, top, right, bottom)))
		}
	}
	return out
}

func average(img *image.RGBA, part image.Rectangle) color.RGBA {
	var r, g, b, a, n int
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			p := img.RGBAAt(x, y)
			r, g, b, a, n = r+int(p.R), g+int(p.G), b+int(p.B), a+int(p.A), n+1
		}
	}
	return color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), uint8(a / n)}
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
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if turn == "90" || turn == "270" {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			tx, ty := x, y
			switch turn {
			case "90":
				tx, ty = h-1-y, x
			case "180":
				tx, ty = w-1-x, h-1-y
			case "270":
				tx, ty = y, w-1-x
			case "mirror":
				tx = w - 1 - x
			case "flip":
				ty = h - 1 - y
			}
			out.SetRGBA(tx, ty, img.RGBAAt(x, y))
		}
	}
	return out
}

func mapped(img *image.RGBA, change func(color.RGBA) color.RGBA) *image.RGBA {
	out := image.NewRGBA(img.Bounds())
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			out.SetRGBA(x, y, change(img.RGBAAt(x, y)))
		}
	}
	return out
}
