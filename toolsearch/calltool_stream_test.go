// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Streams, pictures, errors and cancelled contexts behind call_tool, and tools that tell
// callbacks by themselves.

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

// picture returns a text and a picture, in as many pieces.
type picture struct{}

const pictureURL = "https://example.com/a.png"

func (picture) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "draw", Desc: "Draws"}, nil
}

func pictureParts() []*schema.ToolResult {
	url := pictureURL
	return []*schema.ToolResult{textParts("here it is"), {Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{URL: &url}},
	}}}}
}

type drawsAtOnce struct{ picture }

func (drawsAtOnce) InvokableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
	return schema.ConcatToolResults(pictureParts())
}

type drawsInPieces struct{ picture }

func (drawsInPieces) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	return schema.StreamReaderFromArray(pictureParts()), nil
}

func TestPicturesPassThroughCallTool(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		for _, draws := range []tool.BaseTool{drawsAtOnce{}, drawsInPieces{}} {
			s := on[*schema.Message](t, streaming, toolsearch.SearchCall)
			s.cfg.DynamicTools = append(s.cfg.DynamicTools, draws)
			direct := on[*schema.Message](t, streaming, toolsearch.Keyword)
			direct.mine = []tool.BaseTool{draws}

			got := s.begin(do("a", "call_tool", `{"name":"draw"}`), do("b", "call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`))
			want := direct.begin(do("a", "draw", `{}`))
			require.Contains(t, partsOf(got, "a"), pictureURL)
			require.Equal(t, partsOf(want, "a"), partsOf(got, "a"))
			require.Equal(t, `weather__get_forecast got {"city":"Oslo"}`, got.answer(t, "b"))
		}
	}
}

// partsOf is the result of a call as text, with the addresses of pictures.
func partsOf(p played[*schema.Message], id string) string {
	var b strings.Builder
	for _, m := range p.wires[1].Messages {
		if m.ToolCallID != id {
			continue
		}
		for _, part := range m.UserInputMultiContent {
			b.WriteString("[" + part.Text)
			if part.Image != nil && part.Image.URL != nil {
				b.WriteString(*part.Image.URL)
			}
			b.WriteString("]")
		}
	}
	return b.String()
}

// breaks streams one piece, and then an error.
type breaks struct{ err error }

func (breaks) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "breaks", Desc: "Breaks"}, nil
}

func (b breaks) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	r, w := schema.Pipe[string](2)
	w.Send("half of it", nil)
	w.Send("", b.err)
	w.Close()
	return r, nil
}

type enhancedBreaks struct{ breaks }

func (b enhancedBreaks) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	r, w := schema.Pipe[*schema.ToolResult](2)
	w.Send(textParts("half of it"), nil)
	w.Send(nil, b.err)
	w.Close()
	return r, nil
}

func TestStreamsThatBreakBehindCallToolAreErrors(t *testing.T) {
	everywhere(t, streamsBreak[*schema.Message], streamsBreak[*schema.AgenticMessage])
}

func streamsBreak[M adk.MessageType](t *testing.T, streaming bool) {
	broken := errors.New("the line went dead")
	for _, x := range []tool.BaseTool{breaks{broken}, enhancedBreaks{breaks{broken}}} {
		s := on[M](t, streaming, toolsearch.SearchCall)
		s.cfg.DynamicTools = []tool.BaseTool{x}
		require.ErrorIs(t, s.try([]M{adktest.User[M]("please")}, do("a", "call_tool", `{"name":"breaks"}`)).Err, broken)
	}
}

func TestCancelledContextsEndSearchesAndCalls(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, protocol := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.Regexp, toolsearch.SearchLoad, toolsearch.SearchCall} {
		for _, more := range [][]tool.BaseTool{nil, {drawsAtOnce{}}} { // with and without an enhanced call_tool
			h, err := toolsearch.New(context.Background(), &toolsearch.Config{Protocol: protocol, DynamicTools: append(office(), more...)})
			require.NoError(t, err)
			_, rc, err := h.BeforeAgent(ctx, &adk.ChatModelAgentContext{})
			require.NoError(t, err)
			for _, x := range rc.Tools {
				info, err := x.Info(ctx)
				require.NoError(t, err)
				if !strings.Contains(info.Name, "tool") {
					continue
				}
				switch x := x.(type) {
				case tool.InvokableTool:
					_, err = x.InvokableRun(ctx, `{"name":"weather__get_forecast","query":"a"}`)
				case tool.EnhancedInvokableTool:
					_, err = x.InvokableRun(ctx, &schema.ToolArgument{Text: `{"name":"weather__get_forecast"}`})
				}
				require.ErrorIs(t, err, context.Canceled, info.Name)
				switch x := x.(type) {
				case tool.StreamableTool:
					_, err = x.StreamableRun(ctx, `{"name":"weather__get_forecast"}`)
				case tool.EnhancedStreamableTool:
					_, err = x.StreamableRun(ctx, &schema.ToolArgument{Text: `{"name":"weather__get_forecast"}`})
				}
				require.ErrorIs(t, err, context.Canceled, info.Name)
			}
		}
	}
}

// selfMade tells callbacks by itself.
type selfMade struct{}

func (selfMade) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "t", Desc: "d"}, nil
}

func (selfMade) IsCallbacksEnabled() bool { return true }

func (selfMade) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	ctx = callbacks.OnStart(ctx, args)
	callbacks.OnEnd(ctx, "done")
	return "done", nil
}

func TestToolsThatTellCallbacksAreNotToldOfTwice(t *testing.T) {
	const once = "t/selfMade start, t/selfMade end"
	s := on[*schema.Message](t, false, toolsearch.Keyword)
	s.cfg.DynamicTools, s.cfg.AllowUnloadedCalls = []tool.BaseTool{selfMade{}}, true
	require.Equal(t, once, callbacksOf(t, s, do("a", "t", `{}`)))
	s.cfg.AllowUnloadedCalls = false
	require.Equal(t, once, callbacksOf(t, s, do("a", "t", `{}`)), "stopped by the gate")
	s.cfg.Protocol = toolsearch.SearchCall
	require.Equal(t, "call_tool/plainCall start, "+once+", call_tool/plainCall end", callbacksOf(t, s, do("a", "call_tool", `{"name":"t"}`)))
}
