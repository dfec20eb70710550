// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The Config field CompactJSON.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

func TestCompactJSON_EveryForm(t *testing.T) {
	adktest.Both(t, testCompactJSONEveryForm[*schema.Message], testCompactJSONEveryForm[*schema.AgenticMessage])
}

func testCompactJSONEveryForm[M adk.MessageType](t *testing.T, streaming bool) {
	for name, form := range adktest.Forms {
		t.Run(name, func(t *testing.T) {
			files := store.NewMemory(0)
			var mu sync.Mutex // streams are read at the same time
			var kinds []einolean.Kind
			note := func(_ context.Context, e einolean.Event) {
				mu.Lock()
				defer mu.Unlock()
				kinds = append(kinds, e.Kind)
			}
			c := &reduction.TypedConfig[M]{Backend: files, CompactJSON: true, MaxLengthForTrunc: 20_000,
				TruncExcludeTools: []string{"excluded"}, OnEvent: note}
			returns := map[string]string{"records": pretty(20), "mcp": envelope(pretty(20)), "text": "[INFO]   a   log\n[WARN]   line", "excluded": pretty(20), "wide": pretty(150), "long": pretty(1000), "lines": "{ \"a\":   1 }\n{ \"a\":   2 }\n"}
			var tools []tool.BaseTool
			var calls []adktest.ToolCall
			for name, out := range returns {
				calls = append(calls, adktest.ToolCall{ID: "call_" + name, Name: name, Args: `{}`})
				tools = append(tools, adktest.Tool(form, &schema.ToolInfo{Name: name, Desc: "returns"}, func(context.Context, string) (string, error) { return out, nil }))
			}
			model := adktest.Script[M](adktest.Do(calls...), adktest.Do(adktest.ToolCall{ID: "file", Name: "records", Args: `{"path":"package.json"}`}))
			out := adktest.Agent[M]{Model: model, Tools: tools, Streaming: streaming, Handlers: adktest.Handlers(typed(t, c))}.Run(context.Background(), []M{adktest.User[M]("go")})
			require.NoError(t, out.Err)
			got := map[string]string{}
			for _, m := range out.Messages {
				for _, r := range adktest.Results(m) {
					got[r.ID] = r.Args
				}
			}
			require.JSONEq(t, returns["records"], got["call_records"])
			require.Less(t, len(got["call_records"]), len(returns["records"])*2/3)
			require.Contains(t, got["call_records"], "order <7>")
			require.Equal(t, got["call_records"], got["call_mcp"], "or the streamed one, whole, by its end")
			for _, same := range []string{"text", "excluded", "lines"} {
				require.Equal(t, returns[same], got["call_"+same])
			}
			require.Equal(t, returns["records"], got["file"], "the model may want to edit it")
			require.Greater(t, len(returns["wide"]), c.MaxLengthForTrunc)
			require.JSONEq(t, returns["wide"], got["call_wide"], "it need not be cut")
			require.Contains(t, got["call_long"], "persisted-output")
			require.Equal(t, returns["long"], stored(t, files, "/tmp/trunc/call_long"), "as the tool returned it")
			for _, compacted := range []string{"records", "mcp", "wide"} {
				_, _, err := files.ReadRange(context.Background(), "/tmp/trunc/call_"+compacted, 0, -1)
				require.Error(t, err, "of what was only compacted nothing is stored")
			}
			require.Contains(t, kinds, einolean.KindResultCompacted)
		})
	}
}

// pretty is a document of n records, with white space and escapes.
func pretty(n int) string {
	var records []map[string]any
	for i := range n {
		records = append(records, map[string]any{"id": i, "name": fmt.Sprint("order <", i, ">"), "total": json.Number("118.50"), "tags": []string{"paid", "new"}})
	}
	out, _ := json.MarshalIndent(records, "", "    ")
	return string(out)
}

// envelope is a result of one text as the MCP tools of eino-ext return it.
func envelope(text string) string {
	out, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
	return string(out)
}

// A stream that is not cut is compacted as it comes: the reader has nearly everything before
// the end.
func TestCompactJSON_CompactsStreamAsItArrives(t *testing.T) {
	document := pretty(30_000)
	mw := typed(t, &reduction.Config{SkipTruncation: true, CompactJSON: true})
	in, w := schema.Pipe[string](0)
	run, err := mw.WrapStreamableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return in, nil }, &adk.ToolContext{Name: "t", CallID: "c"})
	require.NoError(t, err)
	out, err := run(context.Background(), `{}`)
	require.NoError(t, err)
	var sent atomic.Int64
	go func() {
		for rest := document; rest != ""; {
			n := min(1000, len(rest))
			w.Send(rest[:n], nil)
			rest = rest[n:]
			sent.Add(int64(n))
		}
		w.Close()
	}()
	var got strings.Builder
	first, err := out.Recv()
	require.NoError(t, err)
	got.WriteString(first)
	require.Less(t, sent.Load(), int64(20_000), "it does not wait for the end")
	rest, err := adktest.Drain(out)
	require.NoError(t, err)
	got.WriteString(strings.Join(rest, ""))
	require.JSONEq(t, document, got.String())
	require.Less(t, got.Len(), len(document)*2/3)
}

// Whatever a stream turns out to be, no text is lost.
func TestCompactJSON_KeepsTextThatIsNoDocument(t *testing.T) {
	whole := pretty(300)
	for name, text := range map[string]string{
		"cut off": whole[:len(whole)/2], "followed": whole + "\nand more", "two": whole + "\n" + whole, "escape": whole[:len(whole)-20] + `\u12`, "prose": "some text " + whole, "broken": whole[:9000] + "}" + whole[9000:],
	} {
		for _, skips := range []bool{true, false} {
			c := &reduction.Config{Backend: store.NewMemory(0), SkipTruncation: skips, CompactJSON: true, MaxLengthForTrunc: 200_000}
			var chunks []string
			for rest := text; rest != ""; {
				n := min(700, len(rest))
				chunks, rest = append(chunks, rest[:n]), rest[n:]
			}
			run, err := typed(t, c).WrapStreamableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
				return schema.StreamReaderFromArray(chunks), nil
			}, &adk.ToolContext{Name: "t", CallID: "c"})
			require.NoError(t, err)
			out, err := run(context.Background(), `{}`)
			require.NoError(t, err)
			all, err := adktest.Drain(out)
			require.NoError(t, err)
			got := strings.Join(all, "")
			if !skips {
				require.Equal(t, text, got, name)
				continue
			}
			strip := strings.NewReplacer(" ", "", "\n", "", `\u003c`, "<", `\u003e`, ">")
			require.Equal(t, strip.Replace(text), strip.Replace(got), name)
		}
	}
}
