// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einoleantest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/programtest"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/window"
)

func TestRequireLean_CountsCallsAndTokens(t *testing.T) {
	page := func(context.Context, string) (string, error) { return strings.Repeat("page", 1000), nil }
	m := einoleantest.Script[*schema.Message](einoleantest.Call("read_page", `{}`), einoleantest.Say("done"))
	out := einoleantest.Run(t, config[*schema.Message](m, einoleantest.Tool("read_page", "Reads a page.", page)), "read")
	einoleantest.RequireLean(t, out, einoleantest.Max{})
	einoleantest.RequireLean(t, out, einoleantest.Max{Calls: 2, Window: 1100})
	said := failure(t, func(tb testing.TB) { einoleantest.RequireLean(tb, out, einoleantest.Max{Calls: 1, Window: 900}) })
	require.Contains(t, said, "the run took 2 model calls, and may take 1")
	require.Contains(t, said, "request 2 of 2 has about 10")
}

// report is a tool of one of the four forms, with a long result.
func report(form adktest.Form) tool.BaseTool {
	return adktest.Tool(form, &schema.ToolInfo{Name: "report", Desc: "Reports."}, func(_ context.Context, args string) (string, error) {
		return strings.Repeat("a line of "+args+"\n", 500), nil
	})
}

func TestRequireReadable_FollowsNoticesIntoStore(t *testing.T) {
	adktest.Both(t, followsNotices[*schema.Message], followsNotices[*schema.AgenticMessage])
}

func followsNotices[M adk.MessageType](t *testing.T, streaming bool) {
	for name, form := range adktest.Forms {
		t.Run(name, func(t *testing.T) {
			files := store.NewMemory(0)
			reduce, err := reduction.NewTyped(t.Context(), &reduction.TypedConfig[M]{
				Backend: files, MaxLengthForTrunc: 2000, MaxTokensForClear: 500,
				ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {SkipTruncation: true}},
			})
			require.NoError(t, err)
			long := `{"cmd":"` + strings.Repeat("x", 3000) + `"}`
			c := config[M](einoleantest.Script[M](einoleantest.Call("report", `{"day":1}`), einoleantest.Call("shell", long), einoleantest.Call("report", `{"day":2}`), einoleantest.Say("done")), report(form))
			c.Handlers = adktest.Handlers(reduce)
			out := einoleantest.Run(t, c, "report", streamed(streaming)...)
			einoleantest.RequireReadable(t, out, files)
			require.Contains(t, failure(t, func(tb testing.TB) { einoleantest.RequireReadable(tb, out, store.NewMemory(0)) }), "that report returned (call call_1) are lost")
		})
	}
}

// CompactJSON, which reduction.Recommended sets, keeps the value of a result and not its spaces. Another value is lost.
func TestRequireReadable_AcceptsCompactJSON(t *testing.T) {
	adktest.Both(t, acceptsCompactJSON[*schema.Message], acceptsCompactJSON[*schema.AgenticMessage])
}

func acceptsCompactJSON[M adk.MessageType](t *testing.T, streaming bool) {
	for name, form := range adktest.Forms {
		t.Run(name, func(t *testing.T) {
			table, err := json.MarshalIndent(map[string]any{"rows": strings.Split(strings.Repeat("12 degrees,", 100), ",")}, "", "    ")
			require.NoError(t, err)
			returns := func(context.Context, string) (string, error) { return string(table), nil }
			files := store.NewMemory(0)
			reduce, err := reduction.NewTyped(t.Context(), reduction.RecommendedTyped[M](files))
			require.NoError(t, err)
			play := func(h adk.TypedChatModelAgentMiddleware[M]) *einoleantest.Outcome[M] {
				m := einoleantest.Script[M](einoleantest.Call("table", `{}`), einoleantest.Say("done"))
				c := config[M](m, adktest.Tool(form, &schema.ToolInfo{Name: "table", Desc: "a table"}, returns))
				c.Handlers = adktest.Handlers(h)
				return einoleantest.Run(t, c, "table", streamed(streaming)...)
			}
			einoleantest.RequireReadable(t, play(reduce), files)

			out := play(&changesResults[M]{})
			said := failure(t, func(tb testing.TB) { einoleantest.RequireReadable(tb, out, files) })
			require.Contains(t, said, "that table returned (call call_1) are lost")
		})
	}
}

// changesResults changes the results that a model reads.
type changesResults[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
}

func (*changesResults[M]) BeforeModelRewriteState(
	ctx context.Context, s *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M],
) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	next := *s
	next.Messages = slices.Clone(s.Messages)
	for i, m := range next.Messages {
		if results := adktest.Results(m); len(results) > 0 {
			next.Messages[i] = adktest.Result[M](results[0].ID, results[0].Name, `{"rows":["13 degrees"]}`)
		}
	}
	return ctx, &next, nil
}

// sameIDs is a model that gives all its calls one id, as some providers do from answer to answer.
type sameIDs[M adk.MessageType] struct{ model.BaseModel[M] }

func (s sameIDs[M]) Generate(ctx context.Context, in []M, opts ...model.Option) (M, error) {
	m, err := s.BaseModel.Generate(ctx, in, opts...)
	return same(m), err
}

func (s sameIDs[M]) Stream(ctx context.Context, in []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	m, err := s.BaseModel.Stream(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderWithConvert(m, func(chunk M) (M, error) { return same(chunk), nil }), nil
}

func same[M adk.MessageType](m M) M {
	switch m := any(m).(type) {
	case *schema.Message:
		for i := range m.ToolCalls {
			m.ToolCalls[i].ID = "call"
		}
	case *schema.AgenticMessage:
		for _, b := range m.ContentBlocks {
			if b.FunctionToolCall != nil {
				b.FunctionToolCall.CallID = "call"
			}
		}
	}
	return m
}

// If call ids repeat, each result is searched for in everything that remains of them. Only lost results are
// reported.
func TestRequireReadable_FindsResultsOfRepeatedIDs(t *testing.T) {
	adktest.Both(t, idsRepeat[*schema.Message], idsRepeat[*schema.AgenticMessage])
}

func idsRepeat[M adk.MessageType](t *testing.T, streaming bool) {
	files := store.NewMemory(0)
	reduce, err := reduction.NewTyped(t.Context(), &reduction.TypedConfig[M]{Backend: files, MaxLengthForTrunc: 2000})
	require.NoError(t, err)
	var turns []einoleantest.Turn
	for day := range 4 {
		turns = append(turns, einoleantest.Call("report", fmt.Sprintf(`{"day":%d}`, day)))
	}
	c := config[M](sameIDs[M]{einoleantest.Script[M](append(turns, einoleantest.Say("done"))...)}, report(adktest.Invokable))
	c.Handlers = adktest.Handlers(reduce)
	out := einoleantest.Run(t, c, "report", streamed(streaming)...)
	einoleantest.RequireReadable(t, out, files)
	said := failure(t, func(tb testing.TB) { einoleantest.RequireReadable(tb, out, store.NewMemory(0)) })
	require.Equal(t, 4, strings.Count(said, "that report returned (call call) are lost"), said)
}

// forgetful cuts results and keeps nothing.
type forgetful struct {
	*adk.BaseChatModelAgentMiddleware
}

func (forgetful) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, _ *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		out, err := next(ctx, args, opts...)
		return out[:min(len(out), 10)], err
	}, nil
}

func TestRequireReadable_ReportsLostResults(t *testing.T) {
	c := config[*schema.Message](einoleantest.Script[*schema.Message](einoleantest.Call("shell", `{"cmd":"ls"}`), einoleantest.Say("done")))
	c.Handlers = adktest.Handlers[*schema.Message](forgetful{&adk.BaseChatModelAgentMiddleware{}})
	out := einoleantest.Run(t, c, "list")
	files := store.NewMemory(0)
	require.Contains(t, failure(t, func(tb testing.TB) { einoleantest.RequireReadable(tb, out, files) }), "17 bytes that shell returned (call call_1) are lost: the model sees\necho {\"cmd")
	writeOnly := struct{ reduction.Backend }{files}
	require.Contains(t, failure(t, func(tb testing.TB) { einoleantest.RequireReadable(tb, out, writeOnly) }), "cannot be read")
}

// The results of a program's calls are read by the program. They are in no request, and their turns make no model
// call.
func TestRequireReadable_IgnoresResultsReadByPrograms(t *testing.T) {
	adktest.Both(t, programReads[*schema.Message], programReads[*schema.AgenticMessage])
}

func programReads[M adk.MessageType](t *testing.T, streaming bool) {
	for name, form := range adktest.Forms {
		t.Run(name, func(t *testing.T) {
			files := store.NewMemory(0)
			run, err := programs.NewTyped[M](t.Context(), &programs.Config{Interpreter: programtest.Programs{"reports": func(p *programtest.Program) {
				for range 3 {
					p.Print(p.Call(`report {"day":1}`, `report {"day":2}`)[1].Text[:1000])
				}
			}}})
			require.NoError(t, err)
			reduce, err := reduction.NewTyped(t.Context(), &reduction.TypedConfig[M]{Backend: files, MaxLengthForTrunc: 2000})
			require.NoError(t, err)
			c := config[M](einoleantest.Script[M](einoleantest.Call("run_code", `{"code":"reports"}`), einoleantest.Call("report", `{"day":3}`), einoleantest.Say("done")), report(form))
			c.Handlers = adktest.Handlers(run, reduce)
			out := einoleantest.Run(t, c, "report", streamed(streaming)...)
			require.Equal(t, "done", out.Answer)
			require.Len(t, out.Conversation.Calls, 3)
			einoleantest.RequireLean(t, out, einoleantest.Max{Calls: 3})
			einoleantest.RequireReadable(t, out, files)
			said := failure(t, func(tb testing.TB) { einoleantest.RequireReadable(tb, out, store.NewMemory(0)) })
			require.Equal(t, 2, strings.Count(said, "are lost"), "what the program printed and what a call returned: %s", said)
		})
	}
}

// TestOutcome_HasWindowOfEachCall checks that a run is recorded as it was sent.
func TestOutcome_HasWindowOfEachCall(t *testing.T) {
	adktest.Both(t, hasTheWindow[*schema.Message], hasTheWindow[*schema.AgenticMessage])
}

func hasTheWindow[M adk.MessageType](t *testing.T, streaming bool) {
	reduce, err := reduction.NewTyped(t.Context(), &reduction.TypedConfig[M]{Backend: store.NewMemory(0), MaxLengthForTrunc: 2000})
	require.NoError(t, err)
	c := config[M](einoleantest.Script[M](einoleantest.Call("report", `{"day":1}`), einoleantest.Say("done")), report(adktest.Invokable))
	c.Handlers = adktest.Handlers(reduce)
	out := einoleantest.Run(t, c, "How was the day?", streamed(streaming)...)
	require.NotNil(t, out.Conversation)
	require.Equal(t, t.Name(), out.Conversation.ID)
	require.Len(t, out.Conversation.Calls, 2)
	require.Equal(t, "How was the day?", out.Conversation.Runs[0].Question)
	last := out.Conversation.Calls[1]
	require.Equal(t, "done", last.Answer)
	require.Len(t, last.Omissions(), 1, "the result was cut")
	require.Equal(t, "cut", last.Omissions()[0].Rule)
	question := ""
	for _, p := range last.Parts() {
		if p.Category == window.User {
			question = out.Conversation.Texts[p.Text]
		}
	}
	require.Equal(t, "How was the day?", question, "texts are kept")
}
