// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// A scenario for each row of docs/differences.md about reduction,
// and for what is on the way to becoming one.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction"
)

// scenario is a piece of work that both packages do. An empty id says that they
// do the same.
type scenario struct {
	id, name string
	plain    func(*testing.T, maker[*schema.Message]) (string, error)
	agentic  func(*testing.T, maker[*schema.AgenticMessage]) (string, error)
}

var scenarios = []scenario{
	{"R-01", "a call id that leaves the root", hostileID[*schema.Message], hostileID[*schema.AgenticMessage]},
	{"R-02", "one call id, two contents", sameID[*schema.Message], sameID[*schema.AgenticMessage]},
	{"R-03", "a plain answer and two passes", plainAnswerTwice[*schema.Message], plainAnswerTwice[*schema.AgenticMessage]},
	{"R-04", "the caller's messages afterwards", callersMessages[*schema.Message], callersMessages[*schema.AgenticMessage]},
	{"R-05", "a history with marks and whole results", marksInEvents[*schema.Message], marksInEvents[*schema.AgenticMessage]},
	{"R-06", "a store that is down", storeDown[*schema.Message], storeDown[*schema.AgenticMessage]},
	{"R-07", "a result a little over the limit", overTheLimit[*schema.Message], overTheLimit[*schema.AgenticMessage]},
	{"R-08", "the tool's own result afterwards", toolsResult[*schema.Message], toolsResult[*schema.AgenticMessage]},
	{"R-09", "a long answer of read_file", longRead[*schema.Message], longRead[*schema.AgenticMessage]},
	{"R-10", "an agent without read tool", noReader[*schema.Message], noReader[*schema.AgenticMessage]},
	{"R-11", "empty call ids", noIDs[*schema.Message], noIDs[*schema.AgenticMessage]},
	{"R-12", "answers of tool_search", searchAnswers[*schema.Message], searchAnswers[*schema.AgenticMessage]},
	{"R-13", "SkipClear with a rewriter", skipClear[*schema.Message], skipClear[*schema.AgenticMessage]},
	{"R-14", "a tool's own backend without a handler", ownBackend[*schema.Message], ownBackend[*schema.AgenticMessage]},
	{"R-15", "a nil message, a nil tool, a negative limit", nils[*schema.Message], nils[*schema.AgenticMessage]},
	{"R-16", "a large schema and a large image", bigSchema[*schema.Message], bigSchema[*schema.AgenticMessage]},
	{"R-17", "results of two bytes", tiny[*schema.Message], tiny[*schema.AgenticMessage]},
	{"R-18", "post-process when nothing changed", postProcess[*schema.Message], postProcess[*schema.AgenticMessage]},
	{"R-19", "a rewriter and a missing result", missingResult[*schema.Message], missingResult[*schema.AgenticMessage]},
	{"R-20", "a file beside a text", fileBesideText[*schema.Message], fileBesideText[*schema.AgenticMessage]},
	{"R-21", "a stream of exactly the limit", exactStream[*schema.Message], exactStream[*schema.AgenticMessage]},
	{"R-23", "the memory that a stream takes", streamMemory[*schema.Message], streamMemory[*schema.AgenticMessage]},
	{"R-24", "a pass that cannot save enough", paths[*schema.Message], paths[*schema.AgenticMessage]},
	{"R-26", "a cut result is cleared", cutThenCleared[*schema.Message], cutThenCleared[*schema.AgenticMessage]},
	{"R-27", "the words of a notice", words[*schema.Message], words[*schema.AgenticMessage]},
	{"R-28", "the end of a stream", streamEnd[*schema.Message], streamEnd[*schema.AgenticMessage]},
	{"R-29", "the file of a result in parts", partsFile[*schema.Message], partsFile[*schema.AgenticMessage]},
	{"R-30", "a path generator that fails, and a stream", pathFails[*schema.Message], pathFails[*schema.AgenticMessage]},
	{"R-31", "the error of a wrong configuration", wrongConfig[*schema.Message], wrongConfig[*schema.AgenticMessage]},
	{"R-32", "the mark of rounds in which nothing is cleared", marksOfExcluded[*schema.Message], marksOfExcluded[*schema.AgenticMessage]},
	{"R-33", "a stream that fails behind the limit", failingStream[*schema.Message], failingStream[*schema.AgenticMessage]},
	{"R-34", "a limit without room for a notice", smallLimit[*schema.Message], smallLimit[*schema.AgenticMessage]},
	{"R-35", "tokens of hexadecimal sums", sums[*schema.Message], sums[*schema.AgenticMessage]},
	{"R-36", "a question that alone exceeds the threshold", longQuestion[*schema.Message], longQuestion[*schema.AgenticMessage]},
	{"X-01", "a handler that does not read its stream", unreadStream[*schema.Message], unreadStream[*schema.AgenticMessage]},
	{"X-02", "a post-process without a context", noContext[*schema.Message], noContext[*schema.AgenticMessage]},
	{"X-07", "two results in one message", nil, twoInOne},
	{"X-11", "a provider that keeps the conversation", keptByProvider[*schema.Message], keptByProvider[*schema.AgenticMessage]},
	{"", "an image within and without text", imageOnly[*schema.Message], imageOnly[*schema.AgenticMessage]},
	{"", "a handler's error", handlerError[*schema.Message], handlerError[*schema.AgenticMessage]},
	{"", "a handler that clears arguments", clearsArguments[*schema.Message], clearsArguments[*schema.AgenticMessage]},
	{"", "no backend", noBackend[*schema.Message], noBackend[*schema.AgenticMessage]},
	{"", "results that are swapped", swapped[*schema.Message], swapped[*schema.AgenticMessage]},
	{"", "an orphan", orphan[*schema.Message], orphan[*schema.AgenticMessage]},
}

// run is what scenarios are made of: a middleware over a log, and what it did.
func (m maker[M]) must(c *reduction.TypedConfig[M]) adk.TypedChatModelAgentMiddleware[M] {
	mw, err := m(c)
	if err != nil {
		panic(err)
	}
	return mw
}

// clear runs the clear phase on a copy of messages.
func (m maker[M]) clear(c *reduction.TypedConfig[M], msgs []M, passes int) (string, error) {
	if c.MaxTokensForClear == 0 {
		c.MaxTokensForClear = 1
	}
	mw, msgs := m.must(c), copyAll(msgs)
	for range passes {
		_, state, err := mw.BeforeModelRewriteState(context.Background(), &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
		if err != nil {
			return "", err
		}
		msgs = state.Messages
	}
	return shownAs(msgs), nil
}

// cut runs the truncation phase in each form.
func (m maker[M]) cut(c *reduction.TypedConfig[M], tc *adk.ToolContext, chunks ...string) (string, error) {
	var b strings.Builder
	for _, f := range forms {
		out, err := f.run(context.Background(), m.must(c), tc, `{}`, chunks)
		fmt.Fprintf(&b, "%s: %s %v\n", f.name, plainly(headless(out)), err)
	}
	return b.String(), nil
}

func big(s string) string { return strings.Repeat(s+" ", 400) }

func hostileID[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	log := &writes{}
	_, err := m.cut(&reduction.TypedConfig[M]{Backend: log, MaxLengthForTrunc: 1000}, &adk.ToolContext{Name: "t", CallID: "../../../etc/authorized_keys"}, big("x"), big("y"))
	return fmt.Sprint(log.paths), err
}

func sameID[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	log := &writes{}
	c := &reduction.TypedConfig[M]{Backend: log, MaxLengthForTrunc: 1000}
	mw := m.must(c)
	for _, s := range []string{"one", "two"} {
		if _, err := runInvokable(context.Background(), mw, callC, `{}`, []string{big(s)}); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(len(log.content)), nil
}

func plainAnswerTwice[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	log := &writes{}
	_, err := m.clear(&reduction.TypedConfig[M]{Backend: log}, append([]M{adktest.Assistant[M]("hello")}, rounds[M](3, 900)...), 3)
	return fmt.Sprint(log.paths), err
}

func callersMessages[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	msgs := rounds[M](3, 900)
	_, _, err := m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxTokensForClear: 1}).BeforeModelRewriteState(context.Background(), &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
	return shownAs(msgs), err
}

func marksInEvents[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	msgs := rounds[M](3, 900)
	for i := 1; i < len(msgs); i += 2 {
		msgs[i] = shapeOf[M]().withExtra(msgs[i], processedKey, true)
	}
	return m.clear(&reduction.TypedConfig[M]{Backend: &writes{}}, msgs, 1)
}

func storeDown[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	c := &reduction.TypedConfig[M]{Backend: &failing{errors.New("down")}, MaxLengthForTrunc: 1000}
	out, err := m.cut(c, callC, big("x"), big("y"))
	if err != nil {
		return "", err
	}
	cleared, err := m.clear(c, rounds[M](3, 900), 1)
	return out + cleared, err
}

func overTheLimit[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	out := ""
	for _, f := range forms {
		s, err := f.run(context.Background(), m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 1000}), callC, `{}`, []string{strings.Repeat("x", 1001)})
		if err != nil {
			return "", err
		}
		out += fmt.Sprint(len(s) <= 1000, " ")
	}
	return out, nil
}

func toolsResult[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	result := resultOf(big("x"))
	run, err := m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 500}).WrapEnhancedInvokableToolCall(context.Background(),
		func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
			return result, nil
		}, callC)
	if err != nil {
		return "", err
	}
	_, err = run(context.Background(), nil)
	return plainly(textsIn(result)), err
}

func longRead[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	return m.cut(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 1000}, &adk.ToolContext{Name: "read_file", CallID: "c"}, big("x"), big("y"))
}

func noReader[M adk.MessageType](t *testing.T, m maker[M]) (string, error) {
	a := adktest.Agent[M]{Model: adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "c1", Name: "shell"})),
		Handlers: adktest.Handlers(m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 1000})),
		Tools:    []tool.BaseTool{adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "shell"}, func(context.Context, string) (string, error) { return big("x") + big("y"), nil })}}
	out := a.Run(context.Background(), []M{adktest.User[M]("hello")})
	return plainly(adktest.Text(out.Messages[1])), out.Err
}

func noIDs[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	msgs := append([]M{adktest.Assistant[M]("", adktest.ToolCall{Name: "a"}, adktest.ToolCall{Name: "b"}), adktest.Result[M]("", "a", big("x")), adktest.Result[M]("", "b", big("y"))}, rounds[M](1, 10)...)
	out, err := m.clear(&reduction.TypedConfig[M]{SkipTruncation: true}, msgs, 1)
	return out, err
}

func searchAnswers[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	s := shapeOf[M]()
	msgs := append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "tool_search"}, adktest.ToolCall{ID: "2", Name: "b"}), s.result("1", "tool_search", part{search: true}), s.result("2", "b", text(big("y")))}, rounds[M](1, 10)...)
	return m.clear(&reduction.TypedConfig[M]{SkipTruncation: true}, msgs, 1)
}

func skipClear[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	return m.clear(&reduction.TypedConfig[M]{SkipTruncation: true, SkipClear: true, ClearMessageRewriter: func(context.Context, M, []M) ([]M, error) { return nil, nil }}, rounds[M](3, 100), 1)
}

func ownBackend[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	general, own := &writes{}, &writes{}
	_, err := m.cut(&reduction.TypedConfig[M]{Backend: general, MaxLengthForTrunc: 1000, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {Backend: own}}}, callC, big("x"), big("y"))
	return fmt.Sprint(len(general.content), len(own.content)), err
}

func nils[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	var none M
	msgs := append([]M{none}, rounds[M](3, 900)...)
	_, err := m.must(&reduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 1}).AfterAgent(context.Background(), nil)
	if err != nil {
		return "", err
	}
	_, state, err := m.must(&reduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 1}).BeforeModelRewriteState(context.Background(),
		&adk.TypedChatModelAgentState[M]{Messages: msgs, ToolInfos: []*schema.ToolInfo{nil}}, nil)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(len(state.Messages)), nil
}

func bigSchema[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	info := &schema.ToolInfo{Name: "t", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": {Type: schema.String, Desc: strings.Repeat("x", 20_000)}})}
	_, state, err := m.must(&reduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 3000}).BeforeModelRewriteState(context.Background(),
		&adk.TypedChatModelAgentState[M]{Messages: rounds[M](2, 4000), ToolInfos: []*schema.ToolInfo{info}}, nil)
	if err != nil {
		return "", err
	}
	return shownAs(state.Messages), nil
}

func sums[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	var msgs []M
	for i, id := range []string{"a", "b", "c"} {
		text := strings.Repeat(fmt.Sprintf("9f86d081884c7d659a2feaa0c55ad01%d\n", i), 250) // 8,250 bytes, some 5,000 tokens
		msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}), adktest.Result[M](id, "shell", text))
	}
	return m.clear(&reduction.TypedConfig[M]{Backend: &writes{}, MaxTokensForClear: 9000}, msgs, 1)
}

func longQuestion[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	msgs := append([]M{adktest.User[M](strings.Repeat("a long question of the user ", 1000))}, rounds[M](2, 600)...)
	return m.clear(&reduction.TypedConfig[M]{Backend: &writes{}, MaxTokensForClear: 3000}, msgs, 1)
}

func tiny[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	return m.clear(&reduction.TypedConfig[M]{Backend: &writes{}}, rounds[M](3, 2), 1)
}

func postProcess[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	calls := 0
	_, err := m.clear(&reduction.TypedConfig[M]{Backend: &writes{}, ClearExcludeTools: []string{"shell"}, ClearPostProcess: func(ctx context.Context, _ *adk.TypedChatModelAgentState[M]) context.Context {
		calls++
		return ctx
	}}, rounds[M](3, 900), 1)
	return fmt.Sprint(calls), err
}

func missingResult[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	msgs := append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "a"}, adktest.ToolCall{ID: "2", Name: "a"}), adktest.Result[M]("1", "a", "one"), adktest.User[M]("do not lose me")}, rounds[M](1, 10)...)
	return m.clear(&reduction.TypedConfig[M]{SkipTruncation: true, ClearMessageRewriter: func(context.Context, M, []M) ([]M, error) { return nil, nil }}, msgs, 1)
}

func fileBesideText[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	s := shapeOf[M]()
	msgs := append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "a"}), s.result("1", "a", text(big("x")), part{medium: "file"})}, rounds[M](1, 10)...)
	return m.clear(&reduction.TypedConfig[M]{SkipTruncation: true}, msgs, 1)
}

func exactStream[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	return m.cut(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 1000}, callC, strings.Repeat("x", 500), strings.Repeat("y", 500))
}

func streamMemory[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	mw := m.must(&reduction.TypedConfig[M]{Backend: &drainStore{}})
	src, _ := endless(8 << 20)
	run, err := mw.WrapStreamableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return src, nil }, callC)
	if err != nil {
		return "", err
	}
	out, err := run(context.Background(), `{}`)
	if err != nil {
		return "", err
	}
	runtime.GC()
	start := total()
	_, err = drain(out)
	return fmt.Sprint("bounded: ", total()-start < 4<<20), err
}

func paths[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	calls := 0
	_, err := m.clear(&reduction.TypedConfig[M]{Backend: &writes{}, ClearAtLeastTokens: 1 << 20, GenClearOffloadFilePath: func(context.Context, *reduction.ToolDetail) (string, error) {
		calls++
		return "/x", nil
	}}, rounds[M](3, 900), 1)
	return fmt.Sprint(calls), err
}

func cutThenCleared[M adk.MessageType](t *testing.T, m maker[M]) (string, error) {
	log := &writes{}
	c := &reduction.TypedConfig[M]{Backend: log, MaxLengthForTrunc: 1000}
	cut, err := runInvokable(context.Background(), m.must(c), callC, `{}`, []string{big("x"), big("y")})
	if err != nil {
		return "", err
	}
	return m.clear(c, append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: "c", Name: "shell"}), adktest.Result[M]("c", "shell", cut)}, rounds[M](1, 10)...), 1)
}

func words[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	return runInvokable(context.Background(), m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 1000}), callC, `{}`, []string{big("x"), big("y")})
}

func streamEnd[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	out, err := runStreamable(context.Background(), m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 1000}), callC, `{}`, []string{big("x"), big("y"), "FATAL: the last line"})
	return fmt.Sprint(strings.Contains(out, "FATAL: the last line")), err
}

func partsFile[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	log := &writes{}
	_, err := runEnhanced(context.Background(), m.must(&reduction.TypedConfig[M]{Backend: log, MaxLengthForTrunc: 1000}), callC, `{}`, []string{big("x\n\"y\""), big("z")})
	return log.content["/tmp/trunc/c"], err
}

func pathFails[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	_, err := runStreamable(context.Background(), m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 1000, GenTruncOffloadFilePath: func(context.Context, *reduction.ToolDetail) (string, error) {
		return "", errors.New("no path")
	}}), callC, `{}`, []string{big("x"), big("y")})
	return "", err
}

func wrongConfig[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	_, err := m(&reduction.TypedConfig[M]{MaxLengthForTrunc: -1})
	return "", err
}

func smallLimit[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	_, err := m(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 200})
	return "", err
}

// keptByProvider says which messages of a cleared state can still be built on.
func keptByProvider[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	msgs := rounds[M](3, 900)
	for _, i := range []int{1, 3, 5} {
		if err := json.Unmarshal([]byte(`{"extra":{"ark-response-id":"r","ark-response-cache-expire-at":9999999999}}`), msgs[i]); err != nil {
			return "", err
		}
	}
	_, state, err := m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxTokensForClear: 1}).BeforeModelRewriteState(context.Background(), &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
	if err != nil {
		return "", err
	}
	var kept []int
	for i, msg := range state.Messages {
		if adktest.Extra(msg)["ark-response-id"] != nil {
			kept = append(kept, i)
		}
	}
	return fmt.Sprint(kept), nil
}

func marksOfExcluded[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	msgs := rounds[M](3, 900)
	_, state, err := m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxTokensForClear: 1, ClearExcludeTools: []string{"shell"}}).BeforeModelRewriteState(context.Background(), &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(adktest.Extra(state.Messages[1])), nil
}

func failingStream[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	r, w := schema.Pipe[string](10)
	for _, s := range []string{big("x"), big("y"), big("z")} {
		w.Send(s, nil)
	}
	w.Send("", errors.New("broken pipe"))
	w.Close()
	run, err := m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 1000}).WrapStreamableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return r, nil }, callC)
	if err != nil {
		return "", err
	}
	out, err := run(context.Background(), `{}`)
	if err != nil {
		return "", err
	}
	got, err := drain(out)
	return fmt.Sprint(len(strings.Join(got, "")), err), nil
}

func unreadStream[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	r, w := schema.Pipe[string](0)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; i < 10 && !w.Send("chunk", nil); i++ {
		}
		w.Close()
	}()
	mw := m.must(&reduction.TypedConfig[M]{SkipTruncation: true, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {TruncHandler: func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) {
		return nil, errors.New("no")
	}}}})
	run, err := mw.WrapStreamableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return r, nil }, callC)
	if err != nil {
		return "", err
	}
	_, _ = run(context.Background(), `{}`)
	for range 100_000 {
		select {
		case <-stopped:
			return "the tool ended", nil
		default:
			runtime.Gosched()
		}
	}
	return "the tool waits", nil
}

func noContext[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	ctx, _, err := m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxTokensForClear: 1, ClearPostProcess: func(context.Context, *adk.TypedChatModelAgentState[M]) context.Context { return nil }}).BeforeModelRewriteState(
		context.Background(), &adk.TypedChatModelAgentState[M]{Messages: rounds[M](3, 900)}, nil)
	return fmt.Sprint(ctx == nil), err
}

func twoInOne(_ *testing.T, m maker[*schema.AgenticMessage]) (string, error) {
	s := shapeOf[*schema.AgenticMessage]()
	merged, _ := s.merge(s.result("1", "a", text(big("x"))), s.result("2", "a", text(big("y"))))
	return m.clear(&reduction.TypedConfig[*schema.AgenticMessage]{SkipTruncation: true}, append([]*schema.AgenticMessage{
		adktest.Assistant[*schema.AgenticMessage]("", adktest.ToolCall{ID: "1", Name: "a"}, adktest.ToolCall{ID: "2", Name: "a"}), merged,
	}, rounds[*schema.AgenticMessage](1, 10)...), 1)
}

func imageOnly[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	result := &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: &png}}}}}
	run, err := m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 500}).WrapEnhancedInvokableToolCall(context.Background(), func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
		return result, nil
	}, callC)
	if err != nil {
		return "", err
	}
	out, err := run(context.Background(), nil)
	return render(out), err
}

func handlerError[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	return m.clear(&reduction.TypedConfig[M]{SkipTruncation: true, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {ClearHandler: func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) {
		return nil, errors.New("mine")
	}}}}, rounds[M](3, 900), 1)
}

func clearsArguments[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	store := backend.NewMemory(0)
	return m.clear(&reduction.TypedConfig[M]{Backend: store, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {Backend: store, ClearHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.ClearResult, error) {
		return &reduction.ClearResult{NeedClear: true, ToolArgument: &schema.ToolArgument{Text: `{"gone":true}`}, ToolResult: resultOf("short"),
			NeedOffload: true, OffloadFilePath: "/mine/" + d.ToolContext.CallID, OffloadContent: d.ToolArgument.Text + textsIn(d.ToolResult)}, nil
	}}}}, rounds[M](4, 900), 2)
}

func noBackend[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	return m.clear(&reduction.TypedConfig[M]{SkipTruncation: true}, rounds[M](4, 900), 2)
}

func swapped[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	return m.clear(&reduction.TypedConfig[M]{Backend: &writes{}}, append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "a"}, adktest.ToolCall{ID: "2", Name: "b"}),
		adktest.Result[M]("2", "b", big("two")), adktest.Result[M]("1", "a", big("one"))}, rounds[M](1, 10)...), 1)
}

func orphan[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	return m.clear(&reduction.TypedConfig[M]{Backend: &writes{}}, append([]M{adktest.Result[M]("0", "a", big("zero")), adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "a"}),
		adktest.Result[M]("1", "a", big("one")), adktest.Result[M]("2", "b", big("two"))}, rounds[M](1, 10)...), 1)
}
