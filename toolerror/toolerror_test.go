// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolerror_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolerror"
)

var errHost = errors.New("host build-7 is not reachable")

// info is that of the only tool here.
func info(name string) *schema.ToolInfo { return &schema.ToolInfo{Name: name, Desc: "fetches a page"} }

// broken is a tool that streams a chunk and then the error.
type broken struct{ err error }

func (broken) Info(context.Context) (*schema.ToolInfo, error) { return info("fetch"), nil }

func (b broken) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return chunks(b.err, "first part"), nil
}

type brokenParts struct{ err error }

func (brokenParts) Info(context.Context) (*schema.ToolInfo, error) { return info("fetch"), nil }

func (b brokenParts) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	return chunks(b.err, &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: "first part"}}}), nil
}

// chunks is a stream that fails and that nobody closes after the error.
func chunks[T any](err error, first T) *schema.StreamReader[T] {
	r, w := schema.Pipe[T](2)
	var none T
	w.Send(first, nil)
	w.Send(none, err)
	return r
}

// run runs an agent that calls fetch once, with toolerror in it.
func run[M adk.MessageType](t *testing.T, streaming bool, config *toolerror.Config, tools ...tool.BaseTool) (*einoleantest.Model[M], *einoleantest.Outcome[M]) {
	t.Helper()
	h, err := toolerror.NewTyped[M](t.Context(), config)
	require.NoError(t, err)
	m := einoleantest.Script[M](einoleantest.Call("fetch", `{}`), einoleantest.Say("done"))
	agent := &adk.TypedChatModelAgentConfig[M]{Model: m, Handlers: []adk.TypedChatModelAgentMiddleware[M]{h}}
	agent.ToolsConfig.Tools = tools
	var options []einoleantest.Option
	if streaming {
		options = append(options, einoleantest.Streaming())
	}
	return m, einoleantest.Run(t, agent, "fetch the page", options...) // it fails the test where the run ends with an error
}

// seen is the result of the call as the model got it.
func seen[M adk.MessageType](t *testing.T, m *einoleantest.Model[M]) string {
	t.Helper()
	requests := m.Requests()
	require.Len(t, requests, 2)
	results := requests[1].Results()
	require.Len(t, results, 1)
	return results[0].Text
}

func TestToolError_ModelReadsErrorAndRunContinues(t *testing.T) {
	fail := func(context.Context, string) (string, error) { return "", errHost }
	panics := func(context.Context, string) (string, error) { panic("no page") }
	for name, form := range adktest.Forms {
		t.Run(name, func(t *testing.T) {
			adktest.Both(t, func(t *testing.T, streaming bool) {
				answers[*schema.Message](t, streaming, adktest.Tool(form, info("fetch"), fail), errHost.Error())
				answers[*schema.Message](t, streaming, adktest.Tool(form, info("fetch"), panics), "panicked: no page")
			}, func(t *testing.T, streaming bool) {
				answers[*schema.AgenticMessage](t, streaming, adktest.Tool(form, info("fetch"), fail), errHost.Error())
				answers[*schema.AgenticMessage](t, streaming, adktest.Tool(form, info("fetch"), panics), "panicked: no page")
			})
		})
	}
}

func answers[M adk.MessageType](t *testing.T, streaming bool, of tool.BaseTool, want string) {
	t.Helper()
	m, out := run[M](t, streaming, nil, of)
	require.Equal(t, "done", out.Answer)
	require.Contains(t, seen(t, m), want)
	require.Contains(t, seen(t, m), "call the tool again")
}

func TestToolError_FailedStreamEndsWithAnswer(t *testing.T) {
	adktest.Both(t, endsWithAnswer[*schema.Message], endsWithAnswer[*schema.AgenticMessage])
}

func endsWithAnswer[M adk.MessageType](t *testing.T, streaming bool) {
	for _, of := range []tool.BaseTool{broken{errHost}, brokenParts{errHost}} {
		m, out := run[M](t, streaming, nil, of)
		require.Equal(t, "done", out.Answer)
		require.Contains(t, seen(t, m), "first part")
		require.Contains(t, seen(t, m), errHost.Error())
	}
}

// If a finalizer of Eino's closed a stream twice, the process would end.
func TestToolError_UnreadFailedStreamsAreCollected(t *testing.T) {
	h, err := toolerror.New(t.Context(), nil)
	require.NoError(t, err)
	for range 50 {
		m := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "call_1", Name: "fetch", Args: `{}`}))
		r, err := adktest.Agent[*schema.Message]{
			Model: m, Tools: []tool.BaseTool{broken{errHost}}, Handlers: adktest.Handlers(h), Streaming: true,
		}.Runner(t.Context())
		require.NoError(t, err)
		for it := r.Run(t.Context(), []*schema.Message{schema.UserMessage("fetch")}); ; {
			if _, ok := it.Next(); !ok {
				break
			}
		}
		runtime.GC()
	}
	runtime.GC()
}

// graphInterrupts is the error of a graph in a tool that stops before its node.
func graphInterrupts(t *testing.T) error {
	g := compose.NewGraph[string, string]()
	require.NoError(t, g.AddLambdaNode("node", compose.InvokableLambda(func(_ context.Context, s string) (string, error) { return s, nil })))
	require.NoError(t, g.AddEdge(compose.START, "node"))
	require.NoError(t, g.AddEdge("node", compose.END))
	r, err := g.Compile(t.Context(), compose.WithInterruptBeforeNodes([]string{"node"}))
	require.NoError(t, err)
	_, err = r.Invoke(t.Context(), "x")
	_, is := compose.ExtractInterruptInfo(err)
	require.True(t, is, "%v", err)
	return err
}

func TestToolError_PassesControlErrors(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	cases := map[string]struct {
		ctx context.Context
		err error
	}{
		"the interrupt of a graph":        {t.Context(), graphInterrupts(t)},
		"an old interrupt":                {t.Context(), compose.NewInterruptAndRerunErr("wait")},
		"an ended run context":            {ended, errHost},
		"a canceled run":                  {t.Context(), &adk.CancelError{}},
		"a canceled stream":               {t.Context(), adk.ErrStreamCanceled},
		"the limit on iterations":         {t.Context(), adk.ErrExceedMaxIterations},
		"the limit on retries":            {t.Context(), adk.ErrExceedMaxRetries},
		"the limit on steps":              {t.Context(), compose.ErrExceedMaxSteps},
		"an error that the caller passes": {t.Context(), io.ErrUnexpectedEOF},
	}
	h, err := toolerror.New(t.Context(), &toolerror.Config{Pass: func(_ context.Context, _ string, err error) bool {
		return errors.Is(err, io.ErrUnexpectedEOF)
	}})
	require.NoError(t, err)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			call, err := h.WrapInvokableToolCall(c.ctx, func(context.Context, string, ...tool.Option) (string, error) {
				return "", c.err
			}, &adk.ToolContext{Name: "fetch"})
			require.NoError(t, err)
			_, err = call(c.ctx, "{}")
			require.ErrorIs(t, err, c.err)

			stream, err := h.WrapStreamableToolCall(c.ctx, func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
				return chunks(c.err, "first part"), nil
			}, &adk.ToolContext{Name: "fetch"})
			require.NoError(t, err)
			s, err := stream(c.ctx, "{}")
			require.NoError(t, err)
			defer s.Close()
			_, err = s.Recv()
			require.NoError(t, err)
			_, err = s.Recv()
			require.ErrorIs(t, err, c.err)
		})
	}
}

func TestToolError_AnswersTimeoutOfTool(t *testing.T) {
	m, _ := run[*schema.Message](t, false, nil, einoleantest.Tool("fetch", "fetches a page", func(context.Context, string) (string, error) {
		return "", context.DeadlineExceeded
	}))
	require.Contains(t, seen(t, m), "deadline exceeded")
}

func TestToolError_InterruptedRunResumes(t *testing.T) {
	adktest.Both(t, resumes[*schema.Message], resumes[*schema.AgenticMessage])
}

func resumes[M adk.MessageType](t *testing.T, streaming bool) {
	ask := func(ctx context.Context, _ string) (string, error) {
		if asked, _, _ := tool.GetInterruptState[any](ctx); !asked {
			return "", tool.Interrupt(ctx, "may I?")
		}
		return "", errHost
	}
	h, err := toolerror.NewTyped[M](t.Context(), nil)
	require.NoError(t, err)
	m := einoleantest.Script[M](einoleantest.Call("fetch", `{}`), einoleantest.Say("done"))
	r, err := adktest.Agent[M]{
		Tools:    []tool.BaseTool{einoleantest.Tool("fetch", "fetches a page", ask)},
		Handlers: adktest.Handlers(h), Streaming: streaming, Store: &adktest.Store{},
		Configure: func(c *adk.TypedChatModelAgentConfig[M]) { c.Model = m },
	}.Runner(t.Context())
	require.NoError(t, err)
	out := adktest.Collect(r.Run(t.Context(), []M{adktest.User[M]("fetch")}, adk.WithCheckPointID("1")))
	require.NoError(t, out.Err)
	require.NotNil(t, out.Interrupted)
	it, err := r.Resume(t.Context(), "1")
	require.NoError(t, err)
	out = adktest.Collect(it)
	require.NoError(t, out.Err)
	require.Equal(t, "done", out.Answer())
	require.Contains(t, seen(t, m), errHost.Error())
}

func TestConfig_TextReplacesError(t *testing.T) {
	fail := einoleantest.Tool("fetch", "fetches a page", func(context.Context, string) (string, error) { return "", errHost })
	m, _ := run[*schema.Message](t, false, &toolerror.Config{Text: func(_ context.Context, name string, err error) string {
		return name + " is out of order"
	}}, fail)
	require.Equal(t, "fetch is out of order", seen(t, m))

	m, _ = run[*schema.Message](t, false, &toolerror.Config{
		Pass: func(context.Context, string, error) bool { panic("Pass is broken") },
		Text: func(context.Context, string, error) string { panic("Text is broken") },
	}, fail)
	require.Contains(t, seen(t, m), errHost.Error())
}

func TestToolError_LongErrorKeepsStartAndEnd(t *testing.T) {
	for _, filler := range []string{"x", "错", "\xff"} {
		long := errors.New("start " + strings.Repeat(filler, 50_000) + " the cause")
		m, _ := run[*schema.Message](t, false, nil, einoleantest.Tool("fetch", "fetches a page", func(context.Context, string) (string, error) {
			return "", long
		}))
		text := seen(t, m)
		require.Less(t, len(text), 4_300)
		require.True(t, utf8.ValidString(text))
		require.Contains(t, text, "start ")
		require.Contains(t, text, " the cause")
	}
}

func TestToolError_AnswerFollowsLanguage(t *testing.T) {
	require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
	defer func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) }()
	m, _ := run[*schema.Message](t, false, nil, broken{errHost})
	require.Contains(t, seen(t, m), "执行失败：host build-7")
}

func TestToolError_SuccessfulResultsAreUnchanged(t *testing.T) {
	for name, form := range adktest.Forms {
		t.Run(name, func(t *testing.T) {
			adktest.Both(t, func(t *testing.T, streaming bool) {
				m, _ := run[*schema.Message](t, streaming, nil, adktest.Tool(form, info("fetch"), nil))
				require.Equal(t, "echo {}", seen(t, m))
			}, func(t *testing.T, streaming bool) {
				m, _ := run[*schema.AgenticMessage](t, streaming, nil, adktest.Tool(form, info("fetch"), nil))
				require.Equal(t, "echo {}", seen(t, m))
			})
		})
	}
}
