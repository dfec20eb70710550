// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package leanctxtest_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/leanctxtest"
)

func echo(_ context.Context, args string) (string, error) { return "echo " + args, nil }

// config is an agent with the tool "shell" and perhaps others.
func config[M adk.MessageType](m model.BaseModel[M], tools ...tool.BaseTool) *adk.TypedChatModelAgentConfig[M] {
	tools = append(tools, leanctxtest.Tool("shell", "Runs a command.", echo))
	return &adk.TypedChatModelAgentConfig[M]{Model: m, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}}}
}

func streamed(streaming bool) []leanctxtest.Option {
	if streaming {
		return []leanctxtest.Option{leanctxtest.Streaming()}
	}
	return nil
}

func TestAScriptAnswersTurnByTurn(t *testing.T) {
	adktest.Both(t, answersTurnByTurn[*schema.Message], answersTurnByTurn[*schema.AgenticMessage])
}

func answersTurnByTurn[M adk.MessageType](t *testing.T, streaming bool) {
	m := leanctxtest.Script[M](
		leanctxtest.Call("shell", `{"cmd":"ls"}`).And("shell", `{"cmd":"pwd"}`),
		leanctxtest.Say("now this").And("shell", `{}`),
		leanctxtest.Say("done").WithUsage(schema.TokenUsage{PromptTokens: 7, TotalTokens: 9}),
	)
	c := config[M](m)
	out := leanctxtest.Run(t, c, "list the files", streamed(streaming)...)
	require.Empty(t, c.Name+c.Description, "the configuration is left as it was")
	require.Empty(t, c.Handlers)
	require.Equal(t, "done", out.Answer)
	require.NoError(t, out.Err)
	var dump []string
	for _, message := range out.Messages {
		dump = append(dump, adktest.Dump(message))
	}
	require.ElementsMatch(t, []string{
		"user: list the files",
		`assistant: call(call_1 shell {"cmd":"ls"}) call(call_2 shell {"cmd":"pwd"}) `,
		`tool: result(call_1 shell) echo {"cmd":"ls"}`, `tool: result(call_2 shell) echo {"cmd":"pwd"}`,
		"assistant: call(call_3 shell {}) now this", "tool: result(call_3 shell) echo {}", "assistant: done",
	}, dump)
	requests := m.Requests()
	require.Len(t, requests, 3)
	require.Equal(t, []string{"shell"}, requests[0].ToolNames())
	require.Len(t, requests[1].Messages, 4)
	last, err := m.Generate(t.Context(), nil)
	require.ErrorContains(t, err, "this is request 4, and the script has 3 turns")
	require.Zero(t, last)
}

func TestUsageIsReportedWithTheAnswer(t *testing.T) {
	usage := schema.TokenUsage{PromptTokens: 7, CompletionTokens: 2, TotalTokens: 9}
	turn := leanctxtest.Say("ab").WithUsage(usage)
	ctx := t.Context()
	plain, err := leanctxtest.Script[*schema.Message](turn).Generate(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, &usage, plain.ResponseMeta.Usage)
	stream, err := leanctxtest.Script[*schema.AgenticMessage](turn).Stream(ctx, nil)
	require.NoError(t, err)
	chunks, err := drain(stream)
	require.ErrorIs(t, err, io.EOF)
	require.Len(t, chunks, 2)
	require.Nil(t, chunks[0].ResponseMeta)
	require.Equal(t, &usage, chunks[1].ResponseMeta.TokenUsage)
}

func drain[T any](s *schema.StreamReader[T]) (chunks []T, err error) {
	defer s.Close()
	for {
		chunk, err := s.Recv()
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, chunk)
	}
}

func TestAStreamBreaksOffAfterItsChunks(t *testing.T) {
	gone := errors.New("connection reset")
	for after, want := range []int{0, 1, 2, 2} {
		turn := leanctxtest.Say("a long answer").BreakAfter(after, gone)
		stream, err := leanctxtest.Script[*schema.Message](turn).Stream(t.Context(), nil)
		require.NoError(t, err)
		chunks, err := drain(stream)
		require.Same(t, gone, err)
		require.Len(t, chunks, want, "after %d", after)
		_, err = leanctxtest.Script[*schema.Message](turn).Generate(t.Context(), nil)
		require.Same(t, gone, err)
	}
}

func TestAFailingModelEndsTheRun(t *testing.T) {
	adktest.Both(t, failingModel[*schema.Message], failingModel[*schema.AgenticMessage])
}

func failingModel[M adk.MessageType](t *testing.T, streaming bool) {
	overloaded := errors.New("overloaded")
	c := config[M](leanctxtest.Script[M](leanctxtest.Call("shell", `{}`), leanctxtest.Fail(overloaded)))
	out := leanctxtest.Run(t, c, "go", append(streamed(streaming), leanctxtest.MayFail())...)
	require.ErrorIs(t, out.Err, overloaded)
	require.Len(t, out.Messages, 3)

	c.Model = leanctxtest.Script[M](leanctxtest.Fail(overloaded))
	require.Contains(t, failure(t, func(tb testing.TB) { leanctxtest.Run(tb, c, "go") }), "the run ended with: ")
}

func TestRespondDecidesByTheRequest(t *testing.T) {
	adktest.Both(t, decidesByRequest[*schema.Message], decidesByRequest[*schema.AgenticMessage])
}

func decidesByRequest[M adk.MessageType](t *testing.T, streaming bool) {
	m := leanctxtest.Respond(func(r leanctxtest.Request[M]) leanctxtest.Turn {
		if len(r.Messages) < 5 {
			return leanctxtest.Call("shell", `{}`)
		}
		return leanctxtest.Say("enough")
	})
	require.Equal(t, "enough", leanctxtest.Run(t, config[M](m), "go", streamed(streaming)...).Answer)
	require.Len(t, m.Requests(), 3)
}

func TestAModelServesManyRunsAtOnce(t *testing.T) {
	m := leanctxtest.Respond(func(r leanctxtest.Request[*schema.Message]) leanctxtest.Turn {
		if len(r.Messages) < 3 {
			return leanctxtest.Call("shell", `{}`).And("shell", `{}`)
		}
		return leanctxtest.Say("done")
	})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { leanctxtest.Run(t, config[*schema.Message](m), "go") })
	}
	group.Wait()
	ids := map[string]bool{}
	for _, r := range m.Requests() {
		for _, message := range r.Messages {
			for _, c := range message.ToolCalls {
				ids[c.ID] = true
			}
		}
	}
	require.Len(t, ids, 16, "each call has an id of its own")
}

func TestARunGoesOnFromEarlierMessages(t *testing.T) {
	m := leanctxtest.Script[*schema.Message](leanctxtest.Say("Oslo"), leanctxtest.Say("Rain"))
	first := leanctxtest.Run(t, config[*schema.Message](m), "Which city?")
	second := leanctxtest.Run(t, config[*schema.Message](m), "And the weather?", leanctxtest.After(first.Messages...))
	require.Equal(t, "Rain", second.Answer)
	require.Len(t, second.Messages, 4)
	require.Len(t, first.Messages, 2)
	require.Contains(t, failure(t, func(tb testing.TB) {
		leanctxtest.Run(tb, config[*schema.Message](m), "x", leanctxtest.After(schema.UserAgenticMessage("y")))
	}), "After has messages of type []*schema.AgenticMessage")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopped := leanctxtest.Run(t, config[*schema.Message](m), "x", leanctxtest.WithContext(ctx), leanctxtest.MayFail())
	require.ErrorIs(t, stopped.Err, context.Canceled)
}

func TestARequestShowsResultsAndReadsAsText(t *testing.T) {
	adktest.Both(t, showsResults[*schema.Message], showsResults[*schema.AgenticMessage])
}

func showsResults[M adk.MessageType](t *testing.T, streaming bool) {
	m := leanctxtest.Script[M](leanctxtest.Call("double", `{"n":2}`).And("double", `{"n":3}`), leanctxtest.Say("done"))
	c := &adk.TypedChatModelAgentConfig[M]{Model: m}
	c.ToolsConfig.Tools = []tool.BaseTool{leanctxtest.Tool("double", "doubles", func(_ context.Context, args string) (string, error) { return "twice " + args, nil })}
	var options []leanctxtest.Option
	if streaming {
		options = append(options, leanctxtest.Streaming())
	}
	leanctxtest.Run(t, c, "Double 2 and 3.", options...)
	requests := m.Requests()
	require.Empty(t, requests[0].Results())
	require.Equal(t, "user: Double 2 and 3.\n", requests[0].String())
	require.Equal(t, []leanctxtest.Result{{Tool: "double", CallID: "call_1", Text: `twice {"n":2}`}, {Tool: "double", CallID: "call_2", Text: `twice {"n":3}`}}, requests[1].Results())
	require.Contains(t, requests[1].String(), `assistant: call(call_1 double {"n":2}) call(call_2 double {"n":3})`)
}
