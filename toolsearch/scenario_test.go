// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Helpers: the same agent with Eino's package and with ours, and scenarios that show how the two differ.

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	einosearch "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
)

// allScenarios shows every listed difference at least once.
func allScenarios() []scenario {
	return slices.Concat(
		scenariosM02(), scenariosTS01(), scenariosTS02(), scenariosTS06(), scenariosTS07(),
		scenariosTS08(), scenariosTS10(), scenariosTS11(), scenariosTS12(), scenariosTS13(),
		scenariosTS14(), scenariosTS15(), scenariosTS16(), scenariosTS17(), scenariosTS20(),
		scenariosTS22(), scenariosTS23(), scenariosTS24(), scenariosTS25(), scenariosTS26(),
		scenariosTS27(), scenariosTS28(), scenariosTS29(), scenariosTS30(), scenariosTS31(),
		scenariosTS32(), scenariosTS33(), scenariosTS34(), scenariosTS36(), scenariosX04(), scenariosX05(),
		scenariosX09(), scenariosX11(), scenariosX12(), scenariosX13(),
	)
}

func searchesNatively[M adk.MessageType](args string) func(*testing.T, implementation[M]) string {
	return func(t *testing.T, s implementation[M]) string {
		tr := s.run(userRequest[M](), simpleTools("own"), []adktest.Turn{adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: args})}, s.mustBuildNative(t, simpleTools("get_weather")...))
		if tr.Err != nil {
			return tr.ended()
		}
		return summarizeAnswer(tr.result("1"))
	}
}

func numberedNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("tool_%03d", i))
	}
	return names
}

// searchedHistory is a history of one search, whose result is given.
func searchedHistory[M adk.MessageType](result ...M) []M {
	history := append(userRequest[M](), adktest.Assistant[M]("", searchCall("1", "weather")))
	return append(append(history, result...), adktest.Assistant[M]("done"))
}

func announcedTools[M adk.MessageType](w adktest.Wire[M]) string {
	n, text := reminders(w)
	lines := strings.Split(text, "\n")
	plural := "s"
	if n == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d reminder%s: %s", n, plural, strings.Join(lines[1:len(lines)-1], ","))
}

// storedHistory is the history that an agent's own state makes.
func storedHistory[M adk.MessageType](tr runResult[M]) []M {
	last := tr.wires[len(tr.wires)-1].Messages
	return append(append([]M(nil), last...), tr.Messages[len(tr.Messages)-1], adktest.User[M]("go on"))
}

// interruptOnce is what a tool does that interrupts the run once.
func interruptOnce(ctx context.Context, args string) (string, error) {
	if was, _, _ := tool.GetInterruptState[any](ctx); !was {
		return "", tool.Interrupt(ctx, "wait")
	}
	return "resumed with " + args, nil
}

// interrupts runs an agent until one of its tools interrupts it. The returned function
// makes another agent go on from the checkpoint.
func (s implementation[M]) interrupts(t *testing.T, a adktest.Agent[M], turns ...adktest.Turn) (runResult[M], *adktest.Store, func(adktest.Agent[M]) runResult[M]) {
	t.Helper()
	store, ctx := &adktest.Store{}, context.Background()
	a.Store, a.Streaming, a.Model = store, s.streaming, adktest.Script[M](turns...)
	out := a.Run(ctx, userRequest[M](), adk.WithCheckPointID("c"))
	return runResult[M]{out, a.Model.Wires()}, store, func(b adktest.Agent[M]) runResult[M] {
		b.Store, b.Streaming, b.Model = store, s.streaming, adktest.Script[M]()
		r, err := b.Runner(ctx)
		require.NoError(t, err)
		it, err := r.Resume(ctx, "c")
		require.NoError(t, err)
		return runResult[M]{adktest.Collect(it), b.Model.Wires()}
	}
}

// scenario is something that both packages are put through. What is seen of them is a text.
type scenario struct {
	id, what   string
	plain      func(*testing.T, implementation[*schema.Message]) string
	agentic    func(*testing.T, implementation[*schema.AgenticMessage]) string
	eino, ours string
}

// play checks what is seen on both sides, for both message types, streaming and not.
func (s scenario) play(t *testing.T) {
	t.Helper()
	for _, streaming := range []bool{false, true} {
		if s.plain != nil {
			t.Run(fmt.Sprintf("%s, Message, stream %v", s.what, streaming), func(t *testing.T) {
				require.Equal(t, s.eino, s.plain(t, einoSide[*schema.Message](streaming)), "Eino's package")
				require.Equal(t, s.ours, s.plain(t, ourSide[*schema.Message](streaming)), "ours")
			})
		}
		if s.agentic != nil {
			t.Run(fmt.Sprintf("%s, AgenticMessage, stream %v", s.what, streaming), func(t *testing.T) {
				require.Equal(t, s.eino, s.agentic(t, einoSide[*schema.AgenticMessage](streaming)), "Eino's package")
				require.Equal(t, s.ours, s.agentic(t, ourSide[*schema.AgenticMessage](streaming)), "ours")
			})
		}
	}
}

// differs fails where both packages look the same.
func (s scenario) differs(t *testing.T) {
	if s.plain != nil {
		require.NotEqual(t, s.plain(t, einoSide[*schema.Message](false)), s.plain(t, ourSide[*schema.Message](false)), "the difference is gone: take it off the list")
	}
	if s.agentic != nil {
		require.NotEqual(t, s.agentic(t, einoSide[*schema.AgenticMessage](true)), s.agentic(t, ourSide[*schema.AgenticMessage](true)), "the difference is gone: take it off the list")
	}
}

// playAll plays the scenarios of a row.
func playAll(t *testing.T, row []scenario) {
	t.Helper()
	for _, s := range row {
		s.play(t)
	}
}

// summarizeAnswer says what a model is told in answer to a search, without our wording.
func summarizeAnswer(text string) string {
	var a struct {
		Matches json.RawMessage
		Already json.RawMessage `json:"already_loaded"`
		Hint    string
	}
	if json.Unmarshal([]byte(text), &a) != nil {
		if strings.HasPrefix(text, "[found") || strings.HasPrefix(text, "echo") || strings.HasPrefix(text, "(") {
			return text
		}
		return "a text"
	}
	out := string(a.Matches)
	if a.Already != nil {
		out += " already " + string(a.Already)
	}
	if a.Hint != "" {
		out += " with a hint"
	}
	return out
}

// searchesOnce plays one search with the given arguments, and says how it went.
func searchesOnce[M adk.MessageType](args string, dynamic ...string) func(*testing.T, implementation[M]) string {
	return func(t *testing.T, s implementation[M]) string {
		tr := s.run(userRequest[M](), simpleTools("own"), []adktest.Turn{adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: args})}, s.mustBuild(t, simpleTools(dynamic...)...))
		if tr.Err != nil {
			return tr.ended()
		}
		return summarizeAnswer(tr.result("1"))
	}
}

// errorText is the text of an error, or of its absence.
func errorText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// implementation is one of the two packages, for one message type.
type implementation[M adk.MessageType] struct {
	name      string
	streaming bool
	build     func(tools []tool.BaseTool, native bool) (adk.TypedChatModelAgentMiddleware[M], error)
}

// mustBuild makes a middleware that searches by itself.
func (s implementation[M]) mustBuild(t testing.TB, tools ...tool.BaseTool) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	h, err := s.build(tools, false)
	require.NoError(t, err)
	return h
}

// mustBuildExact makes a middleware that leaves unknown names to Eino.
func (s implementation[M]) mustBuildExact(t testing.TB, tools ...tool.BaseTool) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	if s.name == "eino" {
		return s.mustBuild(t, tools...)
	}
	return newHandler[M](t, &toolsearch.Config{DynamicTools: tools, ExactToolNames: true})
}

// mustBuildNative makes one that leaves the search to the model.
func (s implementation[M]) mustBuildNative(t testing.TB, tools ...tool.BaseTool) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	h, err := s.build(tools, true)
	require.NoError(t, err)
	return h
}

// run runs a scripted agent: handlers and own tools around turns, on a history.
func (s implementation[M]) run(history []M, own []tool.BaseTool, turns []adktest.Turn, h ...adk.TypedChatModelAgentMiddleware[M]) runResult[M] {
	return s.runAgent(adktest.Agent[M]{Tools: own, Handlers: h}, history, turns...)
}

func (s implementation[M]) runAgent(a adktest.Agent[M], history []M, turns ...adktest.Turn) runResult[M] {
	a.Model, a.Streaming = adktest.Script[M](turns...), s.streaming
	out := a.Run(context.Background(), history)
	return runResult[M]{out, a.Model.Wires()}
}

func einoSide[M adk.MessageType](streaming bool) implementation[M] {
	return implementation[M]{"eino", streaming, func(tools []tool.BaseTool, native bool) (adk.TypedChatModelAgentMiddleware[M], error) {
		return einosearch.NewTyped[M](context.Background(), &einosearch.Config{DynamicTools: tools, UseModelToolSearch: native})
	}}
}

func ourSide[M adk.MessageType](streaming bool) implementation[M] {
	return implementation[M]{"einolean", streaming, func(tools []tool.BaseTool, native bool) (adk.TypedChatModelAgentMiddleware[M], error) {
		return toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{DynamicTools: tools, UseModelToolSearch: native})
	}}
}

// runResult is one run of an agent, and what came of it.
type runResult[M adk.MessageType] struct {
	adktest.Outcome[M]
	wires []adktest.Wire[M]
}

// ended says how a run ended.
func (tr runResult[M]) ended() string {
	if tr.Err != nil {
		return fmt.Sprintf("an error ends the run after %d requests", len(tr.wires))
	}
	return fmt.Sprintf("an answer after %d requests", len(tr.wires))
}

// tools are the names of the tools that each model call showed.
func (tr runResult[M]) tools() string {
	var b strings.Builder
	for i, w := range tr.wires {
		fmt.Fprintf(&b, "%d:%s", i, strings.Join(w.ToolNames, ","))
		if w.Deferred != nil {
			fmt.Fprintf(&b, " deferred:%s", strings.Join(w.DeferredNames, ","))
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// text is the dump of a whole trial: each request, and how it ended.
func (tr runResult[M]) text() string {
	var b strings.Builder
	for i, w := range tr.wires {
		fmt.Fprintf(&b, "-- request %d: tools %q deferred %q native %v\n", i, w.ToolNames, w.DeferredNames, w.ToolSearch != nil)
		for _, m := range w.MessagesDump {
			b.WriteString(m + "\n")
		}
	}
	fmt.Fprintf(&b, "-- error %v, answer %q", tr.Err, tr.Answer())
	return b.String()
}

// result is the text of the result of a call, from the last request that shows it.
func (tr runResult[M]) result(id string) string {
	for i := len(tr.wires) - 1; i >= 0; i-- {
		for _, m := range tr.wires[i].Messages {
			for _, r := range adktest.Results(m) {
				if r.ID == id {
					return adktest.Text(m)
				}
			}
		}
	}
	return "(no result)"
}

// reminders counts the messages of a request that list tools, and returns the last one.
func reminders[M adk.MessageType](w adktest.Wire[M]) (count int, last string) {
	for _, m := range w.Messages {
		if text := adktest.Text(m); strings.HasPrefix(text, "<available-deferred-tools>") {
			count, last = count+1, text
		}
	}
	return count, last
}

// bothSides runs a check of the two packages for both message types, streaming and not.
func bothSides(t *testing.T, plain func(*testing.T, implementation[*schema.Message], implementation[*schema.Message]), agentic func(*testing.T, implementation[*schema.AgenticMessage], implementation[*schema.AgenticMessage])) {
	t.Helper()
	adktest.Both(t,
		func(t *testing.T, s bool) { plain(t, einoSide[*schema.Message](s), ourSide[*schema.Message](s)) },
		func(t *testing.T, s bool) {
			agentic(t, einoSide[*schema.AgenticMessage](s), ourSide[*schema.AgenticMessage](s))
		})
}

func searchCall(id, query string) adktest.ToolCall {
	return adktest.ToolCall{ID: id, Name: "tool_search", Args: fmt.Sprintf(`{"query":%q}`, query)}
}

func toolCall(id, name string) adktest.ToolCall {
	return adktest.ToolCall{ID: id, Name: name, Args: `{"value":"x"}`}
}

func simpleTools(names ...string) []tool.BaseTool {
	var out []tool.BaseTool
	for _, n := range names {
		out = append(out, adktest.Simple(n, "does "+n))
	}
	return out
}

// userRequest is a history of one question.
func userRequest[M adk.MessageType]() []M { return []M{adktest.User[M]("please")} }

// searchToolOf is the search tool of a middleware, outside of a run.
func searchToolOf[M adk.MessageType](t testing.TB, h adk.TypedChatModelAgentMiddleware[M]) tool.BaseTool {
	t.Helper()
	rc := &einorun.RunContext{}
	_, err := einorun.Begin(context.Background(), h, rc)
	require.NoError(t, err)
	for _, tl := range rc.Tools {
		if info, err := tl.Info(context.Background()); err == nil && info.Name == "tool_search" {
			return tl
		}
	}
	require.Fail(t, "no search tool")
	return nil
}
