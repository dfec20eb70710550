// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einoleantest_test

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

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/internal/dev/adktest"
)

func echo(_ context.Context, args string) (string, error) { return "echo " + args, nil }

// config is an agent with the tool "shell" and perhaps others.
func config[M adk.MessageType](m model.BaseModel[M], tools ...tool.BaseTool) *adk.TypedChatModelAgentConfig[M] {
	tools = append(tools, einoleantest.Tool("shell", "Runs a command.", echo))
	return &adk.TypedChatModelAgentConfig[M]{Model: m, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}}}
}

func streamed(streaming bool) []einoleantest.Option {
	if streaming {
		return []einoleantest.Option{einoleantest.Streaming()}
	}
	return nil
}

func TestScript_AnswersTurnByTurn(t *testing.T) {
	adktest.Both(t, answersTurnByTurn[*schema.Message], answersTurnByTurn[*schema.AgenticMessage])
}

func answersTurnByTurn[M adk.MessageType](t *testing.T, streaming bool) {
	m := einoleantest.Script[M](
		einoleantest.Call("shell", `{"cmd":"ls"}`).And("shell", `{"cmd":"pwd"}`),
		einoleantest.Say("now this").And("shell", `{}`),
		einoleantest.Say("done").WithUsage(schema.TokenUsage{PromptTokens: 7, TotalTokens: 9}),
	)
	c := config[M](m)
	out := einoleantest.Run(t, c, "list the files", streamed(streaming)...)
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
	require.ErrorContains(t, err, "script exhausted: request 4 of 3")
	require.Zero(t, last)
}

func TestWithUsage_ReportsUsageWithAnswer(t *testing.T) {
	usage := schema.TokenUsage{PromptTokens: 7, CompletionTokens: 2, TotalTokens: 9}
	turn := einoleantest.Say("ab").WithUsage(usage)
	ctx := t.Context()
	plain, err := einoleantest.Script[*schema.Message](turn).Generate(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, &usage, plain.ResponseMeta.Usage)
	stream, err := einoleantest.Script[*schema.AgenticMessage](turn).Stream(ctx, nil)
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

func TestBreakAfter_FailsAfterChunks(t *testing.T) {
	gone := errors.New("connection reset")
	for after, want := range []int{0, 1, 2, 2} {
		turn := einoleantest.Say("a long answer").BreakAfter(after, gone)
		stream, err := einoleantest.Script[*schema.Message](turn).Stream(t.Context(), nil)
		require.NoError(t, err)
		chunks, err := drain(stream)
		require.Same(t, gone, err)
		require.Len(t, chunks, want, "after %d", after)
		_, err = einoleantest.Script[*schema.Message](turn).Generate(t.Context(), nil)
		require.Same(t, gone, err)
	}
}

func TestFail_EndsRun(t *testing.T) {
	adktest.Both(t, failingModel[*schema.Message], failingModel[*schema.AgenticMessage])
}

func failingModel[M adk.MessageType](t *testing.T, streaming bool) {
	overloaded := errors.New("overloaded")
	c := config[M](einoleantest.Script[M](einoleantest.Call("shell", `{}`), einoleantest.Fail(overloaded)))
	out := einoleantest.Run(t, c, "go", append(streamed(streaming), einoleantest.MayFail())...)
	require.ErrorIs(t, out.Err, overloaded)
	require.Len(t, out.Messages, 3)

	c.Model = einoleantest.Script[M](einoleantest.Fail(overloaded))
	require.Contains(t, failure(t, func(tb testing.TB) { einoleantest.Run(tb, c, "go") }), "the run ended with: ")
}

func TestRespond_ReceivesRequest(t *testing.T) {
	adktest.Both(t, decidesByRequest[*schema.Message], decidesByRequest[*schema.AgenticMessage])
}

func decidesByRequest[M adk.MessageType](t *testing.T, streaming bool) {
	m := einoleantest.Respond(func(r einoleantest.Request[M]) einoleantest.Turn {
		if len(r.Messages) < 5 {
			return einoleantest.Call("shell", `{}`)
		}
		return einoleantest.Say("enough")
	})
	require.Equal(t, "enough", einoleantest.Run(t, config[M](m), "go", streamed(streaming)...).Answer)
	require.Len(t, m.Requests(), 3)
}

func TestRespond_ServesConcurrentRuns(t *testing.T) {
	m := einoleantest.Respond(func(r einoleantest.Request[*schema.Message]) einoleantest.Turn {
		if len(r.Messages) < 3 {
			return einoleantest.Call("shell", `{}`).And("shell", `{}`)
		}
		return einoleantest.Say("done")
	})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { einoleantest.Run(t, config[*schema.Message](m), "go") })
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

func TestRun_AfterContinuesFromEarlierMessages(t *testing.T) {
	m := einoleantest.Script[*schema.Message](einoleantest.Say("Oslo"), einoleantest.Say("Rain"))
	first := einoleantest.Run(t, config[*schema.Message](m), "Which city?")
	second := einoleantest.Run(t, config[*schema.Message](m), "And the weather?", einoleantest.After(first.Messages...))
	require.Equal(t, "Rain", second.Answer)
	require.Len(t, second.Messages, 4)
	require.Len(t, first.Messages, 2)
	require.Contains(t, failure(t, func(tb testing.TB) {
		einoleantest.Run(tb, config[*schema.Message](m), "x", einoleantest.After(schema.UserAgenticMessage("y")))
	}), "After has messages of type []*schema.AgenticMessage")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopped := einoleantest.Run(t, config[*schema.Message](m), "x", einoleantest.WithContext(ctx), einoleantest.MayFail())
	require.ErrorIs(t, stopped.Err, context.Canceled)
}

func TestRequest_ShowsResultsAndFormatsAsText(t *testing.T) {
	adktest.Both(t, showsResults[*schema.Message], showsResults[*schema.AgenticMessage])
}

func showsResults[M adk.MessageType](t *testing.T, streaming bool) {
	m := einoleantest.Script[M](einoleantest.Call("double", `{"n":2}`).And("double", `{"n":3}`), einoleantest.Say("done"))
	c := &adk.TypedChatModelAgentConfig[M]{Model: m}
	c.ToolsConfig.Tools = []tool.BaseTool{einoleantest.Tool("double", "doubles", func(_ context.Context, args string) (string, error) { return "twice " + args, nil })}
	var options []einoleantest.Option
	if streaming {
		options = append(options, einoleantest.Streaming())
	}
	einoleantest.Run(t, c, "Double 2 and 3.", options...)
	requests := m.Requests()
	require.Empty(t, requests[0].Results())
	require.Equal(t, "user: Double 2 and 3.\n", requests[0].String())
	require.Equal(t, []einoleantest.Result{{Tool: "double", Text: `twice {"n":2}`}, {Tool: "double", Text: `twice {"n":3}`}}, requests[1].Results())
	require.Contains(t, requests[1].String(), `assistant: call(call_1 double {"n":2}) call(call_2 double {"n":3})`)
}
