// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file holds truths of the servers of files, and that they cannot leave the root.

import (
	"archive/zip"
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFileTruths(t *testing.T) {
	hold(t, []truth{
		{"files__read", args("path", "a.txt"), "alpha\nbeta\ngamma\n"},
		{"files__read", args("path", "/docs/b.txt"), "beta again\n"},
		{"files__read", args("path", "none.txt"), `error: there is no "none.txt"; folder__list and folder__find show what there is`},
		{"files__read", args("path", "docs"), `error: "docs" is no file but a folder`},
		{"files__read_lines", args("path", "a.txt", "start_line", 2, "count", 1), "2: beta\n"},
		{"files__read_lines", args("path", "a.txt", "start_line", 9), `error: "a.txt" has 3 lines`},
		{"files__tail", args("path", "a.txt", "count", 1), "gamma"},
		{"files__count", args("path", "a.txt"), "3 lines, 3 words, 17 characters, 17 bytes"},
		{"files__stat", args("path", "a.txt"), "~type: file\nsize: 17 bytes"},
		{"files__hash", args("path", "docs/b.txt", "algorithm", "crc32"), digest("crc32", "beta again\n")},
		{"folder__list", args(), "a.txt (17 bytes)\ndocs/"},
		{"folder__list", args("path", "docs"), "b.txt (11 bytes)\nc.csv (8 bytes)"},
		{"folder__tree", args(), "a.txt\ndocs/\n  b.txt\n  c.csv\n"},
		{"folder__tree", args("depth", 1), "a.txt\ndocs/\n"},
		{"folder__find", args("pattern", "*.TXT"), "a.txt\ndocs/b.txt"},
		{"folder__search_text", args("text", "beta"), "a.txt:2: beta\ndocs/b.txt:1: beta again"},
		{"folder__search_text", args("text", "BETA", "path", "docs", "ignore_case", true), "docs/b.txt:1: beta again"},
		{"folder__search_text", args("text", "nowhere"), "no file contains it"},
		{"folder__size", args(), "36 bytes in 3 files"},
		{"folder__largest_files", args("count", 1), "17 a.txt"},
		{"folder__recent_files", args(), "~ docs/c.csv"},
		{"folder__count_by_extension", args(), ".txt: 2\n.csv: 1"},
		{"folder__find_duplicates", args(), "no two files are the same"},
	})
}

func TestFilesAreWrittenMovedPackedAndDeleted(t *testing.T) {
	tools, root := library(t)
	for _, step := range []truth{
		{"files__write", args("path", "new/deep/n.txt", "content", "one\n"), "wrote 4 bytes to new/deep/n.txt"},
		{"files__append", args("path", "new/deep/n.txt", "content", "two\n"), "new/deep/n.txt has 8 bytes now"},
		{"files__replace_text", args("path", "new/deep/n.txt", "find", "o", "replace", "0"), "replaced 2 occurrences in new/deep/n.txt"},
		{"files__read", args("path", "new/deep/n.txt"), "0ne\ntw0\n"},
		{"files__copy", args("from_path", "a.txt", "to_path", "copy.txt"), "copied a.txt to copy.txt (17 bytes)"},
		{"files__copy", args("from_path", "a.txt", "to_path", "copy.txt"), `error: "copy.txt" is there already`},
		{"folder__find_duplicates", args(), "a.txt = copy.txt"},
		{"files__move", args("from_path", "copy.txt", "to_path", "x/moved.txt"), "moved copy.txt to x/moved.txt"},
		{"files__move", args("from_path", "x", "to_path", "x/y"), `error: "x" cannot be moved into itself`},
		{"files__compare", args("first_path", "a.txt", "second_path", "docs/b.txt"), "- alpha\n- beta\n- gamma\n+ beta again"},
		{"files__delete", args("path", "x"), "~error:"},
		{"files__delete", args("path", "x/moved.txt"), "deleted x/moved.txt"},
		{"files__delete", args("path", "."), "error: the working folder itself cannot be deleted"},
		{"folder__make", args("path", "empty"), "made empty"},
		{"folder__list", args("path", "empty"), "the folder is empty"},
		{"archive__zip_create", args("archive", "all.zip", "paths", []string{"a.txt", "docs"}), "~packed 3 files into all.zip"},
		{"archive__zip_list", args("archive", "all.zip"), "a.txt (17 bytes)\ndocs/b.txt (11 bytes)\ndocs/c.csv (8 bytes)"},
		{"archive__zip_read", args("archive", "all.zip", "path", "docs/b.txt"), "beta again\n"},
		{"archive__zip_extract", args("archive", "all.zip", "to_path", "unzipped"), "unpacked 3 files into unzipped"},
		{"files__read", args("path", "unzipped/docs/c.csv"), "x,y\n1,2\n"},
		{"archive__tar_create", args("archive", "all.tar.gz", "paths", []string{"docs"}), "~packed 2 files into all.tar.gz"},
		{"archive__tar_list", args("archive", "all.tar.gz"), "docs/b.txt (11 bytes)\ndocs/c.csv (8 bytes)"},
		{"archive__tar_extract", args("archive", "all.tar.gz", "to_path", "untarred"), "unpacked 2 files into untarred"},
		{"files__read", args("path", "untarred/docs/b.txt"), "beta again\n"},
		{"archive__gzip_file", args("path", "untarred/docs/b.txt"), "~untarred/docs/b.txt.gz: 11 bytes became"},
		{"files__delete", args("path", "untarred/docs/b.txt"), "deleted untarred/docs/b.txt"},
		{"archive__gunzip_file", args("path", "untarred/docs/b.txt.gz"), "~11"},
		{"files__read", args("path", "untarred/docs/b.txt"), "beta again\n"},
		{"archive__zip_list", args("archive", "a.txt"), `error: "a.txt" is not a zip archive`},
		{"archive__tar_list", args("archive", "a.txt"), `error: "a.txt" is not a tar archive, or is damaged`},
	} {
		got := call(t, tools[step.tool], step.arguments)
		if part, ok := strings.CutPrefix(step.want, "~"); ok {
			assert.Contains(t, got, part, "%s %s", step.tool, step.arguments)
		} else {
			assert.Equal(t, step.want, got, "%s %s", step.tool, step.arguments)
		}
	}
	data, err := os.ReadFile(filepath.Join(root, "new", "deep", "n.txt"))
	require.NoError(t, err)
	assert.Equal(t, "0ne\ntw0\n", string(data))
}

// pathArguments are the names of arguments that take a path.
var pathArguments = map[string]bool{"path": true, "archive": true, "paths": true, "from_path": true, "to_path": true, "first_path": true, "second_path": true}

// TestNoToolLeavesTheRoot sends every tool for files every way out that there is.
func TestNoToolLeavesTheRoot(t *testing.T) {
	tools, root := library(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("the secret"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "link")))
	require.NoError(t, os.Symlink(secret, filepath.Join(root, "leak.txt")))
	up, err := filepath.Rel(root, secret)
	require.NoError(t, err)
	before := snapshot(t, outside)
	beside := snapshot(t, filepath.Dir(root))
	for _, way := range []string{up, "docs/../" + up, secret, "link/secret.txt", "link/new.txt", "link/sub/new.png", "leak.txt", "..", "../", "../escaped.txt", "../new.zip", "docs/../../escaped.png", "link"} {
		for name, tl := range tools {
			if !regexp.MustCompile(`^(files|folder|archive|image)__`).MatchString(name) {
				continue
			}
			info, _ := tl.Info(t.Context())
			js, err := info.ParamsOneOf.ToJSONSchema()
			require.NoError(t, err)
			for target := range pathArguments {
				if _, ok := js.Properties.Get(target); !ok {
					continue
				}
				in := []any{}
				for pair := js.Properties.Oldest(); pair != nil; pair = pair.Next() {
					in = append(in, pair.Key, sensible(pair.Key, target, way))
				}
				assert.NotContains(t, call(t, tl, args(in...)), "the secret", "%s %v", name, in)
			}
		}
	}
	assert.Equal(t, before, snapshot(t, outside))
	assert.Equal(t, beside, snapshot(t, filepath.Dir(root)), "nothing is made or removed beside the root")
}

// sensible fills one argument with the way out and the others so that the tool would work.
func sensible(key, target, way string) any {
	switch {
	case key == target && key == "paths":
		return []string{way}
	case key == target:
		return way
	case key == "paths":
		return []string{"docs"}
	case key == "to_path":
		return "to.png"
	case pathArguments[key]:
		return "a.txt"
	}
	return map[string]any{"numbers": []float64{1, 2}, "turn": "90", "left": 0, "top": 0, "width": 4, "height": 4, "color": "red", "first": "red", "second": "blue",
		"pattern": "*", "text": "e", "content": "x", "find": "a", "replace": "b"}[key]
}

// snapshot lists the names in a folder, without going inside, and the contents of its files.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		data, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		out[e.Name()] = string(data)
	}
	return out
}

func TestAnArchiveCannotUnpackItselfOutOfTheRoot(t *testing.T) {
	tools, root := library(t)
	for _, name := range []string{"../evil.txt", "/evil.txt", "a/../../evil.txt"} {
		var data bytes.Buffer
		w := zip.NewWriter(&data)
		entry, err := w.CreateHeader(&zip.FileHeader{Name: name})
		require.NoError(t, err)
		_, err = entry.Write([]byte("evil"))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile(filepath.Join(root, "evil.zip"), data.Bytes(), 0o600))
		got := call(t, tools["archive__zip_extract"], args("archive", "evil.zip", "to_path", "."))
		assert.Contains(t, got, "error:", name)
	}
	assert.NoFileExists(t, filepath.Join(filepath.Dir(root), "evil.txt"))
	assert.NoFileExists(t, filepath.Join(root, "evil.txt"))
}

func TestDataThatUnpacksToTooMuchIsRefused(t *testing.T) {
	bomb, err := compressors["gzip"](make([]byte, 2*maxAnswer))
	require.NoError(t, err)
	_, err = decompress("gzip", bomb, maxAnswer)
	assert.ErrorContains(t, err, "holds more than")
}

func TestPicturesAreMadeChangedAndShown(t *testing.T) {
	tools, root := library(t)
	for _, step := range []truth{
		{"image__create", args("to_path", "p/red.png", "width", 40, "height", 20, "color", "red"), "saved p/red.png (40 × 20 pixels)\n"},
		{"image__info", args("path", "p/red.png"), "~png, 40 × 20 pixels"},
		{"image__average_color", args("path", "p/red.png"), "#ff0000 rgb(255, 0, 0)"},
		{"image__resize", args("path", "p/red.png", "to_path", "p/small.gif", "width", 10, "height", 5), "saved p/small.gif (10 × 5 pixels)\n"},
		{"image__info", args("path", "p/small.gif"), "~gif, 10 × 5 pixels"},
		{"image__crop", args("path", "p/red.png", "to_path", "p/c.png", "left", 35, "top", 0, "width", 10, "height", 10), "saved p/c.png (5 × 10 pixels)\n"},
		{"image__crop", args("path", "p/red.png", "to_path", "p/c.png", "left", 50, "top", 0), "~outside of the picture, which is 40 × 20"},
		{"image__rotate", args("path", "p/red.png", "to_path", "p/t.png", "turn", "90"), "saved p/t.png (20 × 40 pixels)\n"},
		{"image__grayscale", args("path", "p/red.png", "to_path", "p/n.png", "negative", true), "~saved p/n.png"},
		{"image__average_color", args("path", "p/n.png"), "#00ffff rgb(0, 255, 255)"},
		{"image__convert", args("path", "p/red.png", "to_path", "p/red.jpg"), "saved p/red.jpg (40 × 20 pixels)\n"},
		{"image__convert", args("path", "p/red.png", "to_path", "p/red.bmp"), `error: the name "p/red.bmp" must end in .png, .jpg or .gif`},
		{"image__gradient", args("to_path", "p/g.png", "first", "black", "second", "white", "width", 3, "height", 1), "~saved"},
		{"image__average_color", args("path", "p/g.png"), "~#80808"},
		{"image__bar_chart", args("to_path", "b.png", "numbers", []float64{1, -2, 3}), "saved b.png (320 × 200 pixels)\n"},
		{"image__line_chart", args("to_path", "l.png", "numbers", []float64{1, 5, 2}), "saved l.png (320 × 200 pixels)\n"},
		{"image__show", args("path", "a.txt"), "error: the file is no picture in PNG, JPEG or GIF"},
		{"image__gallery", args("path", "p"), "~p/red.png (40 × 20 pixels)\n"},
		{"image__gallery", args("path", "docs"), "there are no pictures"},
	} {
		got := call(t, tools[step.tool], step.arguments)
		part := strings.TrimPrefix(step.want, "~")
		assert.Contains(t, got, part, "%s %s", step.tool, step.arguments)
	}
	file, err := os.Open(filepath.Join(root, "b.png"))
	require.NoError(t, err)
	defer file.Close()
	chart, err := png.Decode(file)
	require.NoError(t, err)
	assert.Equal(t, ink, chart.At(10, 100), "the first bar, above the line of zero")
	assert.NotEqual(t, ink, chart.At(10, 20), "above the first bar")
}

func TestAPictureComesAsAnImagePart(t *testing.T) {
	tools, _ := library(t)
	out, err := tools["image__create"].(tool.EnhancedInvokableTool).InvokableRun(t.Context(), &schema.ToolArgument{Text: args("to_path", "x.png", "color", "blue")})
	require.NoError(t, err)
	require.Len(t, out.Parts, 2)
	require.NotNil(t, out.Parts[1].Image)
	data, err := fromBase64(*out.Parts[1].Image.Base64Data)
	require.NoError(t, err)
	config, err := png.DecodeConfig(bytes.NewReader(data))
	require.NoError(t, err)
	assert.Equal(t, 320, config.Width)
}

func TestAReaderThatLeavesEndsTheStream(t *testing.T) {
	tools, root := library(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, "long.txt"), bytes.Repeat([]byte("line\n"), 10_000), 0o600))
	sr, err := tools["files__read_lines"].(tool.StreamableTool).StreamableRun(t.Context(), args("path", "long.txt", "count", 10_000))
	require.NoError(t, err)
	first, err := sr.Recv()
	require.NoError(t, err)
	assert.Equal(t, "1: line\n", first)
	sr.Close()
}

func TestAllFourFormsOfToolsAreThere(t *testing.T) {
	tools, _ := library(t)
	forms := map[string]int{}
	for _, tl := range tools {
		switch tl.(type) {
		case tool.EnhancedInvokableTool:
			forms["enhanced"]++
		case tool.InvokableTool:
			forms["plain"]++
		case tool.EnhancedStreamableTool:
			forms["enhanced stream"]++
		case tool.StreamableTool:
			forms["stream"]++
		}
	}
	assert.Len(t, forms, 4, forms)
	assert.GreaterOrEqual(t, len(tools), 210)
}

func TestAMissingRootIsReported(t *testing.T) {
	f := folder{filepath.Join(t.TempDir(), "gone")}
	err := f.open(".", func(place) error { return nil })
	assert.ErrorContains(t, err, "cannot be opened")
	assert.NotErrorIs(t, err, fs.ErrNotExist)
}

func TestRecentFilesAreInOrder(t *testing.T) {
	tools, root := library(t)
	require.NoError(t, os.Chtimes(filepath.Join(root, "a.txt"), time.Time{}, time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)))
	assert.Equal(t, "2030-01-02 03:04:05 a.txt", call(t, tools["folder__recent_files"], args("count", 1)))
}

func TestPicturesTurnAndShrinkExactly(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 2, 3))
	for y := range 3 {
		for x := range 2 {
			img.SetRGBA(x, y, color.RGBA{uint8(10*y + x), 0, 0, 255})
		}
	}
	for turn, want := range map[string][][]uint8{
		"90":     {{20, 10, 0}, {21, 11, 1}},
		"180":    {{21, 20}, {11, 10}, {1, 0}},
		"270":    {{1, 11, 21}, {0, 10, 20}},
		"mirror": {{1, 0}, {11, 10}, {21, 20}},
		"flip":   {{20, 21}, {10, 11}, {0, 1}},
	} {
		got := make([][]uint8, len(want))
		out := turned(img, turn)
		for y := range got {
			for x := range want[0] {
				got[y] = append(got[y], out.RGBAAt(x, y).R)
			}
		}
		assert.Equal(t, want, got, turn)
	}
	assert.InDelta(t, 10.5, scale(img, 1, 1).RGBAAt(0, 0).R, 1)
	assert.Equal(t, color.RGBA{20, 0, 0, 255}, scale(img, 4, 6).RGBAAt(1, 5))
}
