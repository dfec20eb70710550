// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fingerprint tells browsers and fonts apart: where it is another one, letters differ,
// and a picture is no measure.
const fingerprint = `navigator.userAgent.match(/Chrom\w*\/\d+/)[0] + [getComputedStyle(document.body).fontFamily, "ui-monospace, Menlo, Consolas, monospace"].map(font => {
	const e = document.body.appendChild(document.createElement("span"));
	e.style.cssText = "position:absolute;white-space:pre;font:100px " + font;
	const widths = [400, 600].flatMap(weight => ["Tokens sent", "0123456789,.%", "← → · …"].map(text => { e.style.fontWeight = weight; e.textContent = text; return Math.round(e.getBoundingClientRect().width); }));
	e.remove();
	return " " + widths.join(" ");
}).join(" /") + "\n"`

// TestPage_GoldenPictures compares the page in light, in dark and on a phone with approved pictures, if browser
// and fonts are those that made them. Elsewhere TestPage_TextsAreReadableAndInPlace checks the layout.
func TestPage_GoldenPictures(t *testing.T) {
	const dir, fonts = "testdata/approved", "testdata/approved/fonts.txt"
	b := launch(t)
	file := written(t, plain(28))
	b.open(light, file)
	var here string
	b.eval(fingerprint, &here)
	update := os.Getenv("EINOLEAN_UPDATE") != ""
	if update {
		require.NoError(t, os.WriteFile(fonts, []byte(here), 0o644))
	}
	there, err := os.ReadFile(fonts)
	require.NoError(t, err)
	if here != string(there) {
		t.Skipf("the pictures were made with other fonts or another browser, and are not compared:\nhere  %sthere %s", here, there)
	}
	for _, v := range []view{light, dark, phone} {
		b.open(v, file)
		got, name := b.screenshot(), filepath.Join(dir, v.name+".png")
		if update {
			require.NoError(t, os.WriteFile(name, encoded(t, got), 0o644))
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		want, err := png.Decode(bytes.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, want.Bounds().Size(), got.Bounds().Size(), v.name)
		if share := differing(want, got); share > mayDiffer {
			saved := filepath.Join(os.TempDir(), "einolean-"+v.name+".png")
			require.NoError(t, os.WriteFile(saved, encoded(t, got), 0o600))
			require.Failf(t, "the page looks different", "%s: %.2f %% of it; what it looks like now is in %s; EINOLEAN_UPDATE=1 approves it", v.name, 100*share, saved)
		}
	}
}

func encoded(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	require.NoError(t, e.Encode(&b, img))
	return b.Bytes()
}

const (
	block     = 4    // pixels of a side that are compared as one: edges of letters are smoothed
	tolerance = 16   // of 255, in any channel
	mayDiffer = .002 // share of the blocks
)

// differing is the share of the blocks in which two pictures of one size differ.
func differing(a, b image.Image) float64 {
	x, y := means(a), means(b)
	n := 0
	for i := range x {
		for c := range 3 {
			if d := x[i][c] - y[i][c]; d > tolerance || d < -tolerance {
				n++
				break
			}
		}
	}
	return float64(n) / float64(max(1, len(x)))
}

// means are the mean colours of a picture's blocks.
func means(img image.Image) (all [][3]int) {
	r := img.Bounds()
	flat := image.NewRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
	draw.Draw(flat, flat.Bounds(), img, r.Min, draw.Src)
	for y := 0; y+block <= r.Dy(); y += block {
		for x := 0; x+block <= r.Dx(); x += block {
			var sum [3]int
			for i := range block * block {
				at := flat.PixOffset(x+i%block, y+i/block)
				for c := range sum {
					sum[c] += int(flat.Pix[at+c])
				}
			}
			for c := range sum {
				sum[c] /= block * block
			}
			all = append(all, sum)
		}
	}
	return all
}

func TestDiffering_DetectsMovesAndColors(t *testing.T) {
	const side = 400
	at := func(x0 int) *image.RGBA {
		img := image.NewRGBA(image.Rect(0, 0, side, side))
		draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
		draw.Draw(img, image.Rect(x0, 50, x0+100, 150), image.NewUniform(color.RGBA{45, 91, 227, 255}), image.Point{}, draw.Src)
		return img
	}
	require.Zero(t, differing(at(50), at(50)))
	require.Greater(t, differing(at(50), at(56)), mayDiffer, "a box that moved by six pixels")
	paler := at(50)
	draw.Draw(paler, image.Rect(50, 50, 150, 150), image.NewUniform(color.RGBA{75, 121, 227, 255}), image.Point{}, draw.Src)
	require.Greater(t, differing(at(50), paler), mayDiffer, "another colour")
	smoothed := at(50)
	for y := 50; y < 150; y += 40 {
		smoothed.Set(50, y, color.RGBA{120, 150, 240, 255})
	}
	require.LessOrEqual(t, differing(at(50), smoothed), mayDiffer, "the smoothing of an edge")
}
