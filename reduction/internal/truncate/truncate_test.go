// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/store"
)

// piece is a part of what a tool returns: text, or a medium, which stays.
type piece struct{ text, medium string }

func (p piece) part() schema.ToolOutputPart {
	if p.medium != "" {
		return schema.ToolOutputPart{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{URL: &p.medium}}}
	}
	return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: p.text}
}

func result(pieces ...piece) *schema.ToolResult {
	r := &schema.ToolResult{}
	for _, p := range pieces {
		r.Parts = append(r.Parts, p.part())
	}
	return r
}

// textAndMedia returns the text and the media of results.
func textAndMedia(rs ...*schema.ToolResult) (text string, media []string) {
	for _, r := range rs {
		for _, p := range r.Parts {
			if text += p.Text; p.Image != nil {
				media = append(media, *p.Image.URL)
			}
		}
	}
	return text, media
}

// form calls a tool that returns pieces, through a truncator. It returns the text and the media of the result.
type form = func(
	ctx context.Context, truncator *Truncator, called *adk.ToolContext, args string, pieces []piece,
) (text string, media []string, err error)

// forms are the forms of tools. Only the enhanced ones return media.
var forms = map[string]form{
	"invokable": func(ctx context.Context, truncator *Truncator, called *adk.ToolContext, args string, pieces []piece) (string, []string, error) {
		all, _ := textAndMedia(result(pieces...))
		out, err := WrapInvokable(ctx, truncator, called, func(context.Context, string, ...tool.Option) (string, error) { return all, nil })(ctx, args)
		return out, nil, err
	},
	"streamable": func(ctx context.Context, truncator *Truncator, called *adk.ToolContext, args string, pieces []piece) (string, []string, error) {
		var chunks []string
		for _, p := range pieces {
			if p.medium == "" {
				chunks = append(chunks, p.text)
			}
		}
		out, err := WrapStreamable(ctx, truncator, called, func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
			return schema.StreamReaderFromArray(chunks), nil
		})(ctx, args)
		if err != nil {
			return "", nil, err
		}
		got, err := adktest.Drain(out)
		return strings.Join(got, ""), nil, err
	},
	"enhanced": func(ctx context.Context, truncator *Truncator, called *adk.ToolContext, args string, pieces []piece) (string, []string, error) {
		original := result(pieces...)
		before, _ := json.Marshal(original)
		out, err := WrapInvokable(ctx, truncator, called, func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
			return original, nil
		})(ctx, &schema.ToolArgument{Text: args})
		if err != nil {
			return "", nil, err
		}
		if after, _ := json.Marshal(original); string(after) != string(before) {
			return "", nil, errors.New("the tool's result was changed")
		}
		text, media := textAndMedia(out)
		return text, media, nil
	},
	"enhanced streamable": func(ctx context.Context, truncator *Truncator, called *adk.ToolContext, args string, pieces []piece) (string, []string, error) {
		var chunks []*schema.ToolResult
		for _, p := range pieces {
			chunks = append(chunks, result(p))
		}
		out, err := WrapStreamable(ctx, truncator, called, func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
			return schema.StreamReaderFromArray(chunks), nil
		})(ctx, &schema.ToolArgument{Text: args})
		if err != nil {
			return "", nil, err
		}
		got, err := adktest.Drain(out)
		text, media := textAndMedia(got...)
		return text, media, err
	},
}

// randomPieces returns the pieces of a random result.
func randomPieces(c *rand.Rand) (out []piece) {
	switch c.IntN(5) {
	case 0: // JSON, in chunks
		text := `{ "rows": [` + strings.Repeat(`{ "id":  1,   "name":  "x" }, `, c.IntN(60)) + `{} ] }`
		for text != "" {
			n := min(len(text), 1+c.IntN(200))
			out, text = append(out, piece{text: text[:n]}), text[n:]
		}
		return out
	case 1:
		return []piece{{text: strings.Repeat("\xff\x00 no text ", c.IntN(200))}}
	}
	for range c.IntN(30) {
		if c.IntN(8) == 0 {
			out = append(out, piece{medium: fmt.Sprint("https://example.com/", c.IntN(99))})
		} else {
			out = append(out, piece{text: strings.Repeat([]string{"a line of a log\n", "日本語", "ERROR: no such file\n", "<persisted-output>"}[c.IntN(4)], c.IntN(20))})
		}
	}
	return out
}

// For results of every form: the result is unchanged, or the same JSON in fewer bytes, or within the limit with a
// notice that names a file with all of it. Media stay.
func TestTruncate_StoresOriginalAndKeepsLimit(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, ctx, seen := rand.New(rand.NewPCG(seed, 1)), context.Background(), map[string]int{}
	for n := range 400 {
		memory := backend.NewMemory(0)
		fail := func(backendtest.Call) backendtest.Fault { return backendtest.Fault{Mode: backendtest.Fail} }
		stores := []store.Backend{
			memory, memory, nil,
			backendtest.NewFaulty(memory, nil).WriteOnly(),
			backendtest.NewFaulty(memory, fail).ReadWrite(),
		}
		truncator := newTruncator(stores[c.IntN(len(stores))], 450+c.IntN(2000))
		truncator.Rules.Compact = c.IntN(2) == 0
		if c.IntN(3) == 0 {
			path := []string{"/mine/result", "two\nlines", strings.Repeat("/long", 200)}[c.IntN(3)]
			truncator.Name = func(context.Context, Detail) (string, error) { return path, nil }
		}
		if c.IntN(3) == 0 {
			truncator.Previews = func(string) bool { return true }
			truncator.Preview = func(_ context.Context, _ Detail, text string, room int) string {
				return strings.ToValidUTF8(text[:min(room, len(text))], "")
			}
		}
		var events []einolean.Event
		truncator.Report = func(_ context.Context, e einolean.Event) { events = append(events, e) }
		all := randomPieces(c)
		want, media := textAndMedia(result(all...))
		limit := truncator.Rules.Limit
		for name, run := range forms {
			events = nil
			about := fmt.Sprintf("seed %d, %d, %s: %d bytes, limit %d", seed, n, name, len(want), limit)
			got, left, err := run(ctx, truncator, &adk.ToolContext{Name: "t", CallID: fmt.Sprint("call_", n, len(name))}, `{}`, all)
			require.NoError(t, err, about)
			if strings.HasPrefix(name, "enhanced") {
				require.Equal(t, media, left, about)
			}
			at := slices.IndexFunc(events, func(e einolean.Event) bool { return e.Kind == einolean.KindResultTruncated })
			switch {
			case at >= 0:
				require.LessOrEqual(t, len(got), limit, about)
				require.Less(t, limit, len(want), about)
				require.True(t, !utf8.ValidString(want) || utf8.ValidString(got), about)
				output := events[at].Output
				require.Equal(t, []int{len(want), len(got)}, []int{output.Before.Bytes, output.After.Bytes}, about)
				require.Equal(t, output.Path, notice.Parse(got[strings.LastIndex(got, "<persisted-output>"):]).Path, about)
				require.Equal(t, want, contentOf(t, memory, output.Path), about)
				seen["truncated"]++
			case got == want:
				seen["unchanged"]++
			case slices.ContainsFunc(events, func(e einolean.Event) bool { return e.Kind == einolean.KindResultCompacted }):
				require.JSONEq(t, want, got, about)
				require.Less(t, len(got), len(want), about)
				seen["compact"]++
			default: // a stream of which the start was sent before the store failed
				require.Contains(t, name, "streamable", about)
				require.Contains(t, fmt.Sprint(events), "store failed", about)
				require.LessOrEqual(t, len(got), limit, about)
				seen["not stored"]++
			}
		}
	}
	for _, outcome := range []string{"truncated", "unchanged", "compact", "not stored"} {
		require.Positive(t, seen[outcome], "%s: %v", outcome, seen)
	}
}

func contentOf(t *testing.T, m *backend.Memory, path string) string {
	r, _, err := m.ReadRange(context.Background(), path, 0, -1)
	require.NoError(t, err, "the path %q is shown", path)
	defer r.Close()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(content)
}

// The content of a file is never compacted, whatever its name and however the arguments are written.
func TestNamesFile_RecognizesFileArguments(t *testing.T) {
	for args, want := range map[string]bool{
		`{"path":"package.json"}`: true, `{"path":"SETTINGS.JSON"}`: true, `{"path":"a\u002ejson"}`: true, `{"file_path":"/w/map.geojson"}`: true,
		`{"filePath":"C:\\w\\trace.har"}`: true, `{"filename":"main.tfstate"}`: true, `{"file":"rows.jsonl"}`: true, `{"path":".prettierrc"}`: true,
		`{"path":"composer.lock"}`: true, `{"path":"data.unheard-of"}`: true, `{"paths":["a.txt","b.yaml"]}`: true, `{"uri":"file:///w/a.xyz"}`: true,
		`{"files":[{"path":"notes.md"}]}`: true, `{"command":"cat -n Makefile"}`: true, `{"command":"cd w && type COMPOSER"}`: true,
		`{"command":"jq . < a.json"}`: true, `{"code":"print(open('A.GeoJSON').read())"}`: true, `cat package.json`: true, `{"path":"a.json`: true,
		`{"command":["bash","-c","less .eslintrc"]}`: true, `{"arguments":"{\"path\":\"a.json\"}"}`: true,
		`{}`: false, ``: false, `{"query":"select 1"}`: false, `{"url":"https://example.com/a.json"}`: false, `{"uri":"https://example.com/a.xyz"}`: false,
		`{"command":"kubectl get pods -o json"}`: false, `{"path":"/"}`: false, `{"path":".."}`: false, `{"path":"src/lib"}`: false, `{"repo":"cloudwego/eino","number":7}`: false,
		`{"host":"api.example.com","version":"1.2.3"}`: false, `{"command":"category list src"}`: false, `{"to":"a@example.com"}`: false,
	} {
		require.Equal(t, want, namesFile(args), args)
	}
}

// A result that exceeds the limit slightly is kept if its notice would be more than a third of it. A result that
// exceeds it by more, or that has no preview, is always truncated.
func TestApplyLimit_KeepsResultThatNoticeHardlyShortens(t *testing.T) {
	const limit = 10_000
	for size, test := range map[int]struct {
		previewBytes int
		isKept       bool
	}{10_500: {4_000, true}, 10_501: {1_000, false}, 12_600: {4_500, false}, 40_000: {9_000, false}, 10_502: {0, false}} {
		truncator := newTruncator(backend.NewMemory(0), limit)
		truncator.Previews = func(string) bool { return test.previewBytes > 0 }
		truncator.Preview = func(_ context.Context, _ Detail, text string, room int) string {
			return text[:min(room, test.previewBytes)]
		}
		var events []einolean.Event
		truncator.Report = func(_ context.Context, e einolean.Event) { events = append(events, e) }
		text := strings.Repeat("a line of it\n", size)[:size]
		got, _, err := forms["invokable"](context.Background(), truncator, &adk.ToolContext{Name: "t", CallID: "call_1"}, `{}`, []piece{{text: text}})
		require.NoError(t, err)
		require.Equal(t, test.isKept, got == text, size)
		require.Len(t, events, 1)
		if test.isKept {
			require.Equal(t, einolean.KindResultKept, events[0].Kind)
		}
	}
}
