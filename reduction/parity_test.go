// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Ordinary histories and results in Eino's package and in ours, and a scenario for each row of docs/differences.md.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	theirs "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/reduction"
)

func TestParity_ClearingOfOrdinaryHistories(t *testing.T) {
	race.Skip(t, "runs two packages over the same histories")
	adktest.EachType(t, testParityClearingOfOrdinaryHistories[*schema.Message], testParityClearingOfOrdinaryHistories[*schema.AgenticMessage])
}

// testParityClearingOfOrdinaryHistories runs both packages over histories that none of Eino's faults
// bears on, pass by pass.
func testParityClearingOfOrdinaryHistories[M adk.MessageType](t *testing.T) {
	for seed := range 2 * histories() {
		g := newGen[M](seed)
		cfg := reduction.TypedConfig[M]{
			MaxTokensForClear: int64(1 + g.IntN(2000)), ClearRetentionSuffixLimit: g.IntN(4),
			ClearExcludeTools: [][]string{nil, {"grep"}}[g.IntN(2)], ClearAtLeastTokens: int64(g.IntN(2) * g.IntN(3000)),
			TokenCounter: func(_ context.Context, msgs []M, _ []*schema.ToolInfo) (n int64, _ error) {
				for _, m := range msgs { // notices differ in length
					n += int64(len(anyNotice.ReplaceAllString(adktest.Text(m), ""))) / 4
				}
				return n, nil
			},
			SkipTruncation: true,
		}
		if g.chance(30) {
			cfg.RootDir = "/data"
		}
		if g.chance(20) {
			cfg.ClearMessageRewriter = func(_ context.Context, call M, results []M) ([]M, error) {
				if len(adktest.Calls(call)) == 1 {
					return []M{adktest.User[M]("a round was here")}, nil
				}
				return append([]M{call}, results...), nil
			}
		}
		var outs, files []string
		seed := g.Uint64()
		for _, make := range []maker[M]{einos[M], ours[M]} {
			store := backend.NewMemory(0)
			cfg.Backend = store
			if seed%5 == 0 {
				cfg.Backend = nil
			}
			mw, err := make(&cfg)
			require.NoError(t, err)
			out, paths := conversation(t, newGen[M](seed), mw)
			outs = append(outs, out)
			kept := ""
			for _, p := range paths {
				kept += p + "\n" + stored(t, store, p) + "\n"
			}
			files = append(files, kept)
		}
		require.Equal(t, outs[0], outs[1], "seed %d", seed)
		require.Equal(t, files[0], files[1], "seed %d", seed)
	}
}

// conversation grows a history and clears it, and renders each step.
func conversation[M adk.MessageType](t *testing.T, g *gen[M], mw adk.TypedChatModelAgentMiddleware[M]) (string, []string) {
	var b strings.Builder
	msgs := []M{adktest.System[M]("be good"), adktest.User[M]("hello")}
	for range 4 + g.IntN(5) { // a model call after each round, as in an agent
		msgs = append(msgs, ordinaryRound(g)...)
		msgs = before(t, mw, message.InCallOrder(copyAll(msgs)))
		b.WriteString(shownAs(msgs))
	}
	var paths []string
	for _, m := range msgs {
		for _, a := range shapeOf[M]().answers(m) {
			if p := anyPath.FindStringSubmatch(a.joined()); p != nil {
				paths = append(paths, p[1])
			}
		}
	}
	return b.String(), paths
}

// ordinaryRound has what most rounds have: fresh ids, every result, in any order.
func ordinaryRound[M adk.MessageType](g *gen[M]) []M {
	var calls []adktest.ToolCall
	var results []M
	for range 1 + g.IntN(4) {
		g.ids++
		c := adktest.ToolCall{ID: fmt.Sprintf("call_%d", g.ids), Name: toolNames[g.IntN(len(toolNames))], Args: `{"q":"x"}`}
		calls = append(calls, c)
		results = append(results, adktest.Result[M](c.ID, c.Name, strings.Repeat(fmt.Sprintf("line of %s\n", c.ID), 20+g.IntN(100))))
	}
	g.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	return append([]M{adktest.Assistant[M]("", calls...)}, results...)
}

// headless drops what a stream passed on before its notice, which is shorter in
// ours.
func headless(out string) string {
	if i := strings.Index(out, "<persisted-output>"); i >= 0 {
		return out[i:]
	}
	return out
}

// maker makes a middleware of one of the two packages.
type maker[M adk.MessageType] func(c *reduction.TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], error)

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

func ours[M adk.MessageType](c *reduction.TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], error) {
	return reduction.NewTyped(context.Background(), c)
}

// einos also shows that the two packages' types convert into each other.
func einos[M adk.MessageType](c *reduction.TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], error) {
	out := &theirs.TypedConfig[M]{
		Backend: c.Backend, SkipTruncation: c.SkipTruncation, SkipClear: c.SkipClear, ReadFileToolName: c.ReadFileToolName, RootDir: c.RootDir,
		MaxLengthForTrunc: c.MaxLengthForTrunc, TruncExcludeTools: c.TruncExcludeTools, TokenCounter: c.TokenCounter,
		MaxTokensForClear: c.MaxTokensForClear, ClearRetentionSuffixLimit: c.ClearRetentionSuffixLimit, ClearAtLeastTokens: c.ClearAtLeastTokens,
		ClearExcludeTools: c.ClearExcludeTools, ClearMessageRewriter: c.ClearMessageRewriter, ClearPostProcess: c.ClearPostProcess,
	}
	if f := c.GenTruncOffloadFilePath; f != nil {
		out.GenTruncOffloadFilePath = func(ctx context.Context, d *theirs.ToolDetail) (string, error) {
			return f(ctx, (*reduction.ToolDetail)(d))
		}
	}
	if f := c.GenClearOffloadFilePath; f != nil {
		out.GenClearOffloadFilePath = func(ctx context.Context, d *theirs.ToolDetail) (string, error) {
			return f(ctx, (*reduction.ToolDetail)(d))
		}
	}
	for name, own := range c.ToolConfig {
		if out.ToolConfig == nil {
			out.ToolConfig = map[string]*theirs.ToolReductionConfig{}
		}
		out.ToolConfig[name] = einosTool(own)
	}
	return theirs.NewTyped(context.Background(), out)
}

func einosTool(own *reduction.ToolReductionConfig) *theirs.ToolReductionConfig {
	if own == nil {
		return nil
	}
	out := &theirs.ToolReductionConfig{Backend: own.Backend, SkipTruncation: own.SkipTruncation, SkipClear: own.SkipClear}
	if f := own.TruncHandler; f != nil {
		out.TruncHandler = func(ctx context.Context, d *theirs.ToolDetail) (*theirs.TruncResult, error) {
			r, err := f(ctx, (*reduction.ToolDetail)(d))
			return (*theirs.TruncResult)(r), err
		}
	}
	if f := own.ClearHandler; f != nil {
		out.ClearHandler = func(ctx context.Context, d *theirs.ToolDetail) (*theirs.ClearResult, error) {
			r, err := f(ctx, (*reduction.ToolDetail)(d))
			return (*theirs.ClearResult)(r), err
		}
	}
	return out
}

var (
	anyNotice      = regexp.MustCompile(`(?s)\n?<persisted-output>.*?</persisted-output>`)
	anyPath        = regexp.MustCompile(`(?:saved to|saved in full to|Full output saved to): (/[^\s]*?)\.?(?:\s|$)`)
	anyPlaceholder = regexp.MustCompile(`\[(?:Old tool result content cleared|Earlier result removed\. It was not saved\.)\]`)
)

// plainly takes the wording out of notices: what stays is that there is one, the
// path in it and whether it names the read tool.
func plainly(s string) string {
	s = anyNotice.ReplaceAllStringFunc(s, func(n string) string {
		out := "[notice"
		if m := anyPath.FindStringSubmatch(n); m != nil {
			out += " " + m[1]
		}
		if strings.Contains(n, "read_file") {
			out += " read_file"
		}
		return out + "]"
	})
	return anyPlaceholder.ReplaceAllString(s, "[placeholder]")
}

// shownAs renders messages without the wording of notices.
func shownAs[M adk.MessageType](msgs []M) string {
	var b strings.Builder
	for i, m := range msgs {
		fmt.Fprintf(&b, "%d: %s", i, restOf(m))
		for _, a := range shapeOf[M]().answers(m) {
			for _, t := range a.texts {
				fmt.Fprintf(&b, " | %s", plainly(t))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestParity_TruncationOfOrdinaryResults(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			for _, size := range []int{0, 1, 5000, 9999, 10_001, 30_000} {
				var outs, files []string
				content := strings.Repeat("a line of the result\n", size/21+1)[:size]
				for _, make := range []maker[*schema.Message]{einos[*schema.Message], ours[*schema.Message]} {
					store := backend.NewMemory(0)
					mw, err := make(&reduction.Config{Backend: store, MaxLengthForTrunc: 10_000, TruncExcludeTools: []string{"kept"}})
					require.NoError(t, err)
					for _, name := range []string{"shell", "kept"} {
						out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: name, CallID: "call_1"}, `{}`, []string{content[:size/2], content[size/2:]})
						require.NoError(t, err)
						outs = append(outs, plainly(headless(out)))
					}
					if size > 10_000 {
						files = append(files, stored(t, store, "/tmp/trunc/call_1"))
					}
				}
				if f.name == "enhanced" && size > 10_000 {
					continue // Eino cuts part by part
				}
				require.Equal(t, outs[:2], outs[2:], "%d bytes", size)
				if size > 10_000 && f.name != "enhanced streamable" {
					require.Equal(t, files[0], files[1])
				}
			}
		})
	}
}

// TestParity_EveryDifferenceIsListed runs a scenario for each
// row of the list through both packages.
func TestParity_EveryDifferenceIsListed(t *testing.T) {
	ids := listed(t)
	seen := map[string]bool{}
	for _, s := range scenarios {
		seen[s.id] = true
		t.Run(s.id+" "+s.name, func(t *testing.T) {
			adktest.EachType(t, func(t *testing.T) { compare(t, s.name, s.plain, ids[s.id]) }, func(t *testing.T) { compare(t, s.name, s.agentic, ids[s.id]) })
		})
	}
	for id := range ids {
		require.True(t, seen[id], "%s is listed, and no scenario shows it", id)
	}
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
	{"R-33", "a stream that fails after the limit", failingStream[*schema.Message], failingStream[*schema.AgenticMessage]},
	{"R-34", "a limit without room for a notice", smallLimit[*schema.Message], smallLimit[*schema.AgenticMessage]},
	{"R-35", "tokens of hexadecimal sums", sums[*schema.Message], sums[*schema.AgenticMessage]},
	{"R-36", "a question that alone exceeds the threshold", longQuestion[*schema.Message], longQuestion[*schema.AgenticMessage]},
	{"R-37", "the names in a store that can only write", writeOnlyNames[*schema.Message], writeOnlyNames[*schema.AgenticMessage]},
	{"R-38", "a history of several turns that was kept whole", keptWhole[*schema.Message], keptWhole[*schema.AgenticMessage]},
	{"R-39", "a store that hangs", hangingWrite[*schema.Message], hangingWrite[*schema.AgenticMessage]},
	{"R-40", "a notice as an argument", noticeAsArgument[*schema.Message], noticeAsArgument[*schema.AgenticMessage]},
	{"X-01", "a handler that does not read its stream", unreadStream[*schema.Message], unreadStream[*schema.AgenticMessage]},
	{"X-02", "a post-process without a context", noContext[*schema.Message], noContext[*schema.AgenticMessage]},
	{"X-07", "two results in one message", nil, twoInOne},
	{"X-11", "a provider that keeps the conversation", keptByProvider[*schema.Message], keptByProvider[*schema.AgenticMessage]},
	{"X-12", "a tool that returns nothing", emptyResult[*schema.Message], emptyResult[*schema.AgenticMessage]},
	{"X-13", "results that are swapped", swapped[*schema.Message], swapped[*schema.AgenticMessage]},
	{"", "an image within and without text", imageOnly[*schema.Message], imageOnly[*schema.AgenticMessage]},
	{"", "a handler's error", handlerError[*schema.Message], handlerError[*schema.AgenticMessage]},
	{"", "a handler that clears arguments", clearsArguments[*schema.Message], clearsArguments[*schema.AgenticMessage]},
	{"", "no backend", noBackend[*schema.Message], noBackend[*schema.AgenticMessage]},
	{"", "an orphan", orphan[*schema.Message], orphan[*schema.AgenticMessage]},
}

// emptyResult is what a model reads of a result that is empty.
func emptyResult[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	msgs := []M{adktest.User[M]("go"), adktest.Assistant[M]("", adktest.ToolCall{ID: "c", Name: "shell"}), adktest.Result[M]("c", "shell", "")}
	script := adktest.Script[M](adktest.Say("ok"))
	wrapped, err := m.must(&reduction.TypedConfig[M]{Backend: &writes{}}).WrapModel(context.Background(), script, nil)
	if err != nil {
		return "", err
	}
	if _, err := wrapped.Generate(context.Background(), msgs); err != nil {
		return "", err
	}
	return adktest.Text(script.Wires()[0].Messages[2]), nil
}

// listed are the ids of the section on reduction in docs/differences.md.
func listed(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../docs/differences.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(text), "\n## reduction\n")
	require.True(t, ok, "no section on reduction")
	section, _, _ = strings.Cut(section, "\n## ")
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ((?:R|X)-\d+) \|`).FindAllStringSubmatch(section, -1) {
		ids[m[1]] = true
	}
	return ids
}

func compare[M adk.MessageType](t *testing.T, name string, run func(*testing.T, maker[M]) (string, error), differs bool) {
	t.Helper()
	if run == nil {
		return
	}
	eino := outcome(func() (string, error) { return run(t, einos[M]) })
	our := outcome(func() (string, error) { return run(t, ours[M]) })
	require.NotContains(t, our, "panic", name)
	if differs {
		require.NotEqual(t, eino, our, "%s: it is on the list, and Eino does the same by now", name)
	} else {
		require.Equal(t, eino, our, "%s: it is not on the list", name)
	}
}

// scenario is a piece of work that both packages do. An empty id says that they
// do the same.
type scenario struct {
	id, name string
	plain    func(*testing.T, maker[*schema.Message]) (string, error)
	agentic  func(*testing.T, maker[*schema.AgenticMessage]) (string, error)
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
		msgs[i] = withExtra(msgs[i], processedKey, true)
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
	_, err = adktest.Drain(out)
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

// smallLimit says what a limit of 10 bytes, as in a test, makes of a result of 50.
func smallLimit[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	mw, err := m(&reduction.TypedConfig[M]{Backend: &writes{}, MaxLengthForTrunc: 10})
	if err != nil {
		return "", err
	}
	out, err := runInvokable(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", 50)})
	return fmt.Sprint(len(out) > 50), err
}

// keptByProvider says which messages of a cleared state can still be built on.
func keptByProvider[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	msgs := rounds[M](3, 900)
	for _, i := range []int{1, 3, 5} {
		if err := json.Unmarshal([]byte(`{"extra":{"ark-response-id":"r","ark-response-cache-expire-at":9999999999}}`), msgs[i]); err != nil {
			return "", err
		}
	}
	ctx, mw, script := context.Background(), m.must(&reduction.TypedConfig[M]{Backend: &writes{}, MaxTokensForClear: 1}), adktest.Script[M](adktest.Say("ok"))
	_, state, err := mw.BeforeModelRewriteState(ctx, &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
	if err != nil {
		return "", err
	}
	wrapped, err := mw.WrapModel(ctx, script, nil)
	if err != nil {
		return "", err
	}
	if _, err := wrapped.Generate(ctx, state.Messages); err != nil {
		return "", err
	}
	var kept []int
	for i, msg := range script.Wires()[0].Messages {
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
	got, err := adktest.Drain(out)
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
	return m.clear(&reduction.TypedConfig[M]{Backend: backend.NewMemory(0)}, append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "a"}, adktest.ToolCall{ID: "2", Name: "b"}),
		adktest.Result[M]("2", "b", big("two")), adktest.Result[M]("1", "a", big("one"))}, rounds[M](1, 10)...), 1)
}

// writeOnlyNames are the files of one result that was cut and of one that was cleared, in a
// store that can only write.
func writeOnlyNames[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	log := &writes{}
	c := &reduction.TypedConfig[M]{Backend: log, MaxLengthForTrunc: 1000}
	if _, err := runInvokable(context.Background(), m.must(c), callC, `{}`, []string{big("x"), big("y")}); err != nil {
		return "", err
	}
	_, err := m.clear(c, rounds[M](2, 900), 1)
	return fmt.Sprint(log.paths), err
}

// keptWhole is a history in which a large result was cleared before the last two came. The rest is short.
func keptWhole[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	msgs := []M{adktest.User[M]("look")}
	for i, size := range []int{9000, 100, 500, 500} {
		id := fmt.Sprint("call_", i)
		msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}),
			adktest.Result[M](id, "shell", strings.Repeat("words of it ", size/12)))
	}
	return m.clear(&reduction.TypedConfig[M]{Backend: backend.NewMemory(0)}, msgs, 1500)
}

// noticeAsArgument is what a call returns that has a notice in place of a value.
func noticeAsArgument[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	const args = `{"text":"<persisted-output>Old result (9 bytes), saved in full to: /tmp/clear/c\nRead it.</persisted-output>"}`
	mw := m.must(&reduction.TypedConfig[M]{Backend: &writes{}})
	return runInvokable(context.Background(), mw, callC, args, []string{"written"})
}

// hangingWrite is how long a tool call waits for a store that answers after an hour.
func hangingWrite[M adk.MessageType](t *testing.T, m maker[M]) (out string, err error) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, err = m.cut(&reduction.TypedConfig[M]{Backend: slowWrites{}, MaxLengthForTrunc: 1000}, callC, big("x"), big("y"))
		out = fmt.Sprint(time.Since(begin))
		time.Sleep(time.Hour)
	})
	return out, err
}

// slowWrites is a store that can only write, and takes an hour for it.
type slowWrites struct{}

func (slowWrites) Write(context.Context, *filesystem.WriteRequest) error {
	time.Sleep(time.Hour)
	return nil
}

func orphan[M adk.MessageType](_ *testing.T, m maker[M]) (string, error) {
	return m.clear(&reduction.TypedConfig[M]{Backend: backend.NewMemory(0)}, append([]M{adktest.Result[M]("0", "a", big("zero")), adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "a"}),
		adktest.Result[M]("1", "a", big("one")), adktest.Result[M]("2", "b", big("two"))}, rounds[M](1, 10)...), 1)
}

// outcome runs f and says what came of it, an error or a panic included.
func outcome(f func() (string, error)) (out string) {
	defer func() {
		if p := recover(); p != nil {
			out = "panic"
		}
	}()
	s, err := f()
	if err != nil {
		return "error: " + err.Error()
	}
	return s
}
