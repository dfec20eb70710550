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
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path"
	"strings"

	"github.com/cloudwego/eino/schema"
	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
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
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if turn == "90" || turn == "270" {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	x, y := float64(w), float64(h)
	matrix := map[string]f64.Aff3{"90": {0, -1, y, 1, 0, 0}, "180": {-1, 0, x, 0, -1, y}, "270": {0, 1, 0, -1, 0, x}, "mirror": {-1, 0, x, 0, 1, 0}, "flip": {1, 0, 0, 0, -1, y}}[turn]
	draw.NearestNeighbor.Transform(out, matrix, img, img.Bounds(), draw.Src, nil)
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
