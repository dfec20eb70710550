// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/xml"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReport_BothMiddlewaresSaveTokens(t *testing.T) {
	for name, draw := range map[string]func(context.Context) (figure, error){"toolsearch": toolTokens, "reduction": resultTokens} {
		t.Run(name, func(t *testing.T) {
			f, err := draw(context.Background())
			require.NoError(t, err)
			without, with := f.series[0].values, f.series[1].values
			last := len(with) - 1
			require.Less(t, with[last], without[last]/2, f.table())
		})
	}
}

func TestFigure_SavesSVGForEachTheme(t *testing.T) {
	for name, f := range map[string]figure{
		"lines":    {title: "T <b>", subtitle: "s", xTitle: "x", x: []float64{1, 10, 100}, log: true, format: micros, series: []series{{name: "theirs", values: []float64{1, 20, 3000}}, {name: "ours", values: []float64{1, 2, 2.5}}}},
		"together": {title: "T", subtitle: "s", xTitle: "x", x: []float64{1, 2}, format: tokens, series: []series{{name: "theirs", values: []float64{10, 900}}, {name: "ours", values: []float64{9, 901}}}},
		"rows":     {title: "T", subtitle: "s", xTitle: "x", labels: []string{"left", "right"}, format: share, series: []series{{name: "theirs", values: []float64{.4, .9}}, {name: "ours", values: []float64{1, .2}}}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "f")
			require.NoError(t, f.save(file))
			for _, theme := range themes {
				data, err := os.ReadFile(file + "-" + theme.name + ".svg")
				require.NoError(t, err)
				var parsed any
				require.NoError(t, xml.Unmarshal(data, &parsed))
				require.Contains(t, string(data), ">ours<")
				require.Contains(t, string(data), "<desc>s. theirs")
				require.Contains(t, string(data), theme.ink)
				require.NotContains(t, string(data), "NaN")
				require.NotContains(t, string(data), "<b>")
			}
			require.Contains(t, f.table(), "ours")
		})
	}
}

// The charts in docs/img are those that are drawn now, byte for byte.
//
//claim:bench-01
func TestReport_GoldenCharts(t *testing.T) {
	dir, there := t.TempDir(), filepath.Join("..", "..", "..", "..", "docs", "img")
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		dir = there
	}
	require.NoError(t, report(t.Context(), dir, charts))
	for _, c := range charts {
		for _, theme := range themes {
			file := c.file + "-" + theme.name + ".svg"
			for _, file := range []string{file, filepath.Join("zh", file)} {
				drawn, err := os.ReadFile(filepath.Join(dir, file))
				require.NoError(t, err)
				kept, err := os.ReadFile(filepath.Join(there, file))
				require.NoError(t, err)
				require.Equal(t, string(kept), string(drawn), "%s: EINOLEAN_UPDATE=1 draws it anew", file)
			}
		}
	}
}

// Only names and units are left in Latin letters.
func TestCharts_ChineseOnesHaveNoEnglish(t *testing.T) {
	names := regexp.MustCompile(`Eino v0\.9\.21|Eino|einolean|index\.BM25|toolsearch|reduction|token|recall@5|\b[kM]\b|\b(ms|µs|s)\b`)
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "docs", "img", "zh", "*.svg"))
	require.NoError(t, err)
	require.Len(t, files, 2*(len(charts)+1))
	for _, file := range files {
		drawn, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, text := range regexp.MustCompile(`<(?:text|title|desc)[^>]*>([^<]*)`).FindAllStringSubmatch(string(drawn), -1) {
			require.NotRegexp(t, `[A-Za-z]`, names.ReplaceAllString(html.UnescapeString(text[1]), ""), "%s: phrases.zh.json has no text for this", file)
		}
	}
}

func TestFigure_TranslationKeepsNumbers(t *testing.T) {
	w := phrases{"{0} of {1} tools": "{1} 个工具里的 {0} 个", "%s: from %s to %s": "%s：从 %s 到 %s"}
	f := figure{title: "3 of 1,449 tools", subtitle: "unknown", x: []float64{1, 2}, format: share, series: []series{{name: "a", values: []float64{.25, 1}}}}
	theirs := f.in(w)
	require.Equal(t, "1,449 个工具里的 3 个", theirs.title)
	require.Equal(t, "unknown. a：从 0.25 到 1.00.", theirs.inWords())
	require.Equal(t, "unknown. a: from .25 to 1.00.", f.inWords(), "the figure itself stays")
}

func TestFigure_FormatsTicksLabelsAndNumbers(t *testing.T) {
	require.Equal(t, []float64{0, 500, 1000, 1500}, ticks(80, 1400, false))
	require.Equal(t, []float64{1, 10, 100, 1000}, ticks(3, 900, true))
	require.Equal(t, []float64{10, 100}, ticks(10, 100, true))
	moved := apart([]float64{100, 101, 200}, 30)
	require.GreaterOrEqual(t, moved[1]-moved[0], 29.9)
	require.Equal(t, "1.4 M", tokens(1.41e6))
	require.Equal(t, "8.62 ms", micros(8620))
	require.Equal(t, ".97", share(.974))
}

func TestRecall_IgnoresEnvironment(t *testing.T) {
	t.Setenv("EINOLEAN_DATA", t.TempDir())
	f, err := recall(context.Background())
	require.NoError(t, err)
	require.Len(t, f.labels, len(kinds))
	require.Greater(t, f.series[1].values[0], f.series[0].values[0], "index.BM25 finds more than the specified score")
}

func TestPerQuestion_CountsEachModelCallOnce(t *testing.T) {
	f := perQuestion("T", "both", [][]float64{{1, 2, 3}, {4, 5}}, [][]float64{{10, 20}, {30}})
	require.Equal(t, []float64{1, 2}, f.x)
	require.Equal(t, []series{
		{"without", []float64{30, 60}, "in 3 calls"},
		{"with both", []float64{6, 15}, "in 5 calls"},
	}, f.series)
}

func TestPerCall_RejectsRunsOfDifferentLength(t *testing.T) {
	_, err := perCall("T", "both", []float64{1}, []float64{1, 2})
	require.Error(t, err)
	f, err := perCall("T", "both", []float64{1, 2}, []float64{10, 20})
	require.NoError(t, err)
	require.Equal(t, []series{{name: "without", values: []float64{10, 30}}, {name: "with both", values: []float64{1, 3}}}, f.series)
}

func TestLines_LabelsFitWithEveryFont(t *testing.T) {
	f := figure{title: "t", x: []float64{1, 10}, format: grouped,
		series: []series{{"Eino", []float64{2, 3}, ""}, {"einolean, index.BM25", []float64{1, 2}, ""}}}
	require.LessOrEqual(t, f.end()+14+labelWidth("einolean, index.BM25"), float64(width))
	require.Contains(t, f.svg(themes[0]), `cx="`+short(f.end())+`"`)
	f.series[1].name = "einolean"
	require.Equal(t, 590.0, f.end(), "short labels leave the lines where they were")
}
