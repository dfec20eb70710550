// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file draws charts for the server of pictures.

import (
	"errors"
	"image"
	"image/color"
	"image/draw"
	"math"
	"os"
	"slices"

	"github.com/cloudwego/eino/schema"
)

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

func (f folder) barChart(in chartIn) ([]schema.ToolOutputPart, error) {
	return f.save(in.targetIn, func(*os.Root) (*image.RGBA, error) {
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
		return img, nil
	})
}

func (f folder) lineChart(in chartIn) ([]schema.ToolOutputPart, error) {
	return f.save(in.targetIn, func(*os.Root) (*image.RGBA, error) {
		img, height, err := in.chart()
		if err != nil {
			return nil, err
		}
		last := -1
		for x := range in.Width {
			at := float64(x) / float64(max(1, in.Width-1)) * float64(len(in.Numbers)-1)
			i := min(int(at), max(0, len(in.Numbers)-2))
			next := min(i+1, len(in.Numbers)-1)
			y := in.Height - 1 - height(in.Numbers[i]+(at-float64(i))*(in.Numbers[next]-in.Numbers[i]))
			if last < 0 {
				last = y
			}
			for k := min(last, y); k <= max(last, y); k++ {
				img.SetRGBA(x, k, ink)
			}
			last = y
		}
		return img, nil
	})
}
