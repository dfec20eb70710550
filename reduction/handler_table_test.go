// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// This file tests every answer of a ClearHandler on every shape of a result.

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction"
)

// resultShapes are the ways in which a result can stand in a message.
func resultShapes[M adk.MessageType]() map[string]M {
	s := shapeOf[M]()
	out := map[string]M{
		"text":          s.result("call", "shell", text("the whole text")),
		"several texts": s.result("call", "shell", text("the whole "), text("text")),
		"media":         s.result("call", "shell", part{medium: "image"}, part{medium: "file"}),
		"both":          s.result("call", "shell", text("the whole text"), part{medium: "image"}),
	}
	if old, ok := any(schema.ToolMessage("", "call", schema.WithToolName("shell"))).(M); ok {
		any(old).(*schema.Message).MultiContent = []schema.ChatMessagePart{
			{Type: schema.ChatMessagePartTypeText, Text: "the whole text"},
			{Type: schema.ChatMessagePartTypeImageURL, ImageURL: &schema.ChatMessageImageURL{URL: "https://example.com/a.png"}},
		}
		out["old multipart field"] = old
	}
	return out
}

var newImage = "bmV3"

func imageOf(data *string) schema.ToolOutputPart {
	return schema.ToolOutputPart{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: data, MIMEType: "image/png"}}}
}

// handlerAnswer is what a handler returns, and what the message must then hold.
type handlerAnswer struct {
	result *reduction.ClearResult
	texts  string
	image  bool // only the new image is there
	stays  bool // the result is as it was
	args   string
}

func handlerAnswers() map[string]handlerAnswer {
	instead := func(parts ...schema.ToolOutputPart) *reduction.ClearResult {
		return &reduction.ClearResult{NeedClear: true, ToolResult: &schema.ToolResult{Parts: parts}}
	}
	short := schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: "short"}
	return map[string]handlerAnswer{
		"nil":            {nil, "", false, true, `{}`},
		"keep":           {&reduction.ClearResult{ToolResult: resultOf("ignored")}, "", false, true, `{}`},
		"text":           {instead(short), "short", false, false, `{}`},
		"parts":          {instead(short, imageOf(&newImage)), "short", true, false, `{}`},
		"another image":  {instead(imageOf(&newImage)), "", true, false, `{}`},
		"arguments only": {&reduction.ClearResult{NeedClear: true, ToolArgument: &schema.ToolArgument{Text: `{"new":1}`}}, "", false, true, `{"new":1}`},
		"nothing":        {&reduction.ClearResult{NeedClear: true}, "", false, true, `{}`},
		"no parts":       {&reduction.ClearResult{NeedClear: true, ToolResult: &schema.ToolResult{}}, "", false, true, `{}`},
	}
}

func TestWhatAHandlerReturnsIsAllThatIsLeft(t *testing.T) {
	both(t, handlerTable[*schema.Message], handlerTable[*schema.AgenticMessage])
}

func handlerTable[M adk.MessageType](t *testing.T) {
	s := shapeOf[M]()
	for shapeName, given := range resultShapes[M]() {
		for name, a := range handlerAnswers() {
			what := shapeName + ", " + name
			asked := 0
			mw := typed(t, &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {
				ClearHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.ClearResult, error) {
					asked++
					if shapeName != "media" {
						require.Equal(t, "the whole text", textsIn(d.ToolResult), what)
					}
					require.Equal(t, strings.Contains("media both old multipart field", shapeName), len(d.ToolResult.Parts) > len(s.answers(given)[0].texts) || shapeName == "old multipart field", what)
					return a.result, nil
				},
			}}})
			msgs := append([]M{adktest.User[M]("hello"), adktest.Assistant[M]("", adktest.ToolCall{ID: "call", Name: "shell", Args: `{}`}), s.copy(given)}, rounds[M](1, 10)...)
			unchanged := copyAll(msgs)
			out := before(t, mw, msgs)
			require.Equal(t, unchanged, msgs, "%s: what was given is unchanged", what)
			require.Equal(t, a.args, adktest.Calls(out[1])[0].Args, what)
			if a.stays {
				require.Equal(t, s.answers(given), s.answers(out[2]), what)
				require.Equal(t, s.rest(given), s.rest(out[2]), what)
			} else {
				is := s.answers(out[2])[0]
				require.Equal(t, a.texts, is.joined(), what)
				require.Equal(t, a.image, strings.Contains(render(out[2]), newImage), what)
				for _, gone := range []string{png, "example.com", "the whole", "report.pdf"} {
					require.NotContains(t, render(out[2]), gone, what)
				}
			}
			before(t, mw, resumed(t, out))
			if a.result == nil || !a.result.NeedClear {
				require.Equal(t, 2, asked, "%s: it may decide otherwise next time", what)
				require.Equal(t, unchanged, out, what)
			} else {
				require.Equal(t, 1, asked, "%s: it has decided", what)
			}
		}
	}
}
