// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"crypto/sha256"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

// inCode are the functions that presets set, as a user writes them.
var inCode = map[string]string{
	"index.BM25":              "index.BM25",
	"reduction.ParseOverflow": "reduction.ParseOverflow",
	"reduction.shortPreview": fmt.Sprintf(
		"func(r reduction.PreviewRequest) string {\n\t\tr.MaxBytes = min(r.MaxBytes, %d)\n\t\treturn reduction.PreviewByKind(r)\n\t}", previewBytes),
}

// previewBytes is the limit of the preview that reduction.Recommended sets.
const previewBytes = 3300

// literal is a configuration as code, with each field that it sets.
func literal(t *testing.T, config reflect.Value, given map[string]string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s{\n", config.Type())
	for i := range config.NumField() {
		f, v := config.Type().Field(i), config.Field(i)
		code, isGiven := given[f.Name]
		switch {
		case !f.IsExported() || v.IsZero() && !isGiven:
			continue
		case isGiven:
		case v.Kind() == reflect.Struct:
			code = literal(t, v, nil)
		case v.Kind() == reflect.Func:
			path := runtime.FuncForPC(v.Pointer()).Name()
			code = inCode[path[strings.LastIndex(path, "/")+1:]]
			require.NotEmpty(t, code, path)
		default:
			code = fmt.Sprintf("%#v", v.Interface())
			if p, ok := v.Interface().(toolsearch.Protocol); ok {
				code = "toolsearch." + p.String()
			}
		}
		fmt.Fprintf(&b, "%s: %s,\n", f.Name, code)
	}
	return b.String() + "}"
}

func preset(t *testing.T, name, of string, config any, given map[string]string) string {
	t.Helper()
	_, fields, found := strings.Cut(literal(t, reflect.ValueOf(config).Elem(), given), "{")
	require.True(t, found)
	text, err := format.Source([]byte(name + " := &" + of + ".Config{" + fields + "\n"))
	require.NoError(t, err)
	return string(text)
}

// The pages show the fields that both Recommended functions set as code to copy, for users who want to keep them
// whatever a later version recommends.
//
//claim:config-01
func TestPreset_GoldenPages(t *testing.T) {
	code := "```go\n" +
		preset(t, "searchConfig", "toolsearch", toolsearch.Recommended(nil), map[string]string{"DynamicTools": "tools"}) +
		preset(t, "reduceConfig", "reduction", reduction.Recommended(store.NewMemory(0)), map[string]string{"Backend": "store"}) +
		"```\n"
	for _, page := range []string{"docs/results.md", "docs/zh/results.md"} {
		text := read(t, page)
		before, rest, found := strings.Cut(text, "<!-- preset -->\n")
		require.True(t, found, page)
		_, after, found := strings.Cut(rest, "<!-- end -->\n")
		require.True(t, found, page)
		want := before + "<!-- preset -->\n" + code + "<!-- end -->\n" + after
		if os.Getenv("EINOLEAN_UPDATE") != "" {
			require.NoError(t, os.WriteFile(filepath.Join(root, page), []byte(want), 0o644))
		}
		require.Equal(t, want, read(t, page), "EINOLEAN_UPDATE=1 rewrites it")
	}
}

// TestPreset_PreviewLimitIsThatOfRecommended compares the limit in the code with the function that it stands for.
func TestPreset_PreviewLimitIsThatOfRecommended(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "%x\n", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	request := reduction.PreviewRequest{Text: text.String(), MaxBytes: 10_000}
	shown := reduction.Recommended(store.NewMemory(0)).Preview(request)
	request.MaxBytes = previewBytes
	require.Equal(t, reduction.PreviewByKind(request), shown)
	request.MaxBytes += 100
	require.NotEqual(t, reduction.PreviewByKind(request), shown)
}
