// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"
	"github.com/stretchr/testify/require"
)

// faults are the sections of internal/dev/UPSTREAM.md. Each says what is wrong, or nothing once it is mended.
var faults = map[string]func(t *testing.T) string{
	"R-03":   clearingDestroysWhatItStored,
	"R-01":   callIDLeavesRoot,
	"R-02":   callIDIsOneFile,
	"TS-09b": claudeRefusesFoundTools,
	"TS-01":  aWrongSearchEndsTheRun,
	"X-12":   claudeLosesAnEmptyResult,
	"X-13":   eventsComeAsToolsEnd,
	"schema": nullTypePanics,
}

func TestUpstream_EinoStillHasEachFault(t *testing.T) {
	for id, show := range faults {
		t.Run(id, func(t *testing.T) {
			wrong := show(t)
			require.NotEmpty(t, wrong, "%s is mended: take it out of internal/dev/UPSTREAM.md, and see whether docs/differences.md still needs its row", id)
			t.Log(wrong)
		})
	}
}

// Each section of the page is short.
func TestUpstream_PageAndTestsListSameFaults(t *testing.T) {
	page, err := os.ReadFile("../UPSTREAM.md")
	require.NoError(t, err)
	sections := regexp.MustCompile(`(?m)^## ([\w-]+): .+$`).FindAllStringSubmatch(string(page), -1)
	var ids []string
	for _, s := range sections {
		ids = append(ids, s[1])
	}
	var tested []string
	for id := range faults {
		tested = append(tested, id)
	}
	slices.Sort(tested)
	slices.Sort(ids)
	require.Equal(t, tested, ids)
	before, _, _ := strings.Cut(string(page), "\n## What einolean relies on")
	for section := range strings.SplitSeq(before, "\n## ") {
		require.LessOrEqual(t, strings.Count(strings.TrimSpace(section), "\n"), 10, section)
	}
}

// A chat of two turns: the first answer is plain text, and every later model call clears again
// what was cleared before.
func clearingDestroysWhatItStored(t *testing.T) string {
	files := stored{}
	reduce, err := reduction.New(t.Context(), &reduction.Config{Backend: files, MaxTokensForClear: 1, MaxLengthForTrunc: 100_000})
	require.NoError(t, err)
	out := run(t, []adk.ChatModelAgentMiddleware{reduce}, []*schema.Message{schema.UserMessage("hello"), schema.AssistantMessage("hello", nil), schema.UserMessage("export")},
		does("c1", "export"), does("c2", "export"), does("c3", "export"), says("done"))
	require.NoError(t, out.err)
	original := exported("c1")
	for _, text := range files {
		if text == original {
			return ""
		}
	}
	return fmt.Sprintf("what c1 returned, %d bytes, is stored as %q", len(original), files["/tmp/clear/c1"])
}

func callIDLeavesRoot(t *testing.T) string {
	files := stored{}
	reduce, err := reduction.New(t.Context(), &reduction.Config{Backend: files, RootDir: "/data/results", SkipClear: true, MaxLengthForTrunc: 1000})
	require.NoError(t, err)
	require.NoError(t, run(t, []adk.ChatModelAgentMiddleware{reduce}, []*schema.Message{schema.UserMessage("export")},
		does("../../outside", "export"), says("done")).err)
	for path := range files {
		if !strings.HasPrefix(path, "/data/results/") {
			return "written outside of /data/results: " + path
		}
	}
	require.NotEmpty(t, files)
	return ""
}

func callIDIsOneFile(t *testing.T) string {
	files := stored{}
	reduce, err := reduction.New(t.Context(), &reduction.Config{Backend: files, SkipClear: true, MaxLengthForTrunc: 1000})
	require.NoError(t, err)
	var notices []string
	for _, user := range []string{"alice", "bob"} { // a model that counts its calls from zero in each conversation
		out := run(t, []adk.ChatModelAgentMiddleware{reduce}, []*schema.Message{schema.UserMessage(user)}, does("call_0", "export", user), says("done"))
		require.NoError(t, out.err)
		notices = append(notices, out.results[0])
	}
	for path, text := range files {
		if strings.Contains(notices[0], path) && text != exported("alice") {
			return "alice's notice leads to " + text[:20]
		}
	}
	return ""
}

func aWrongSearchEndsTheRun(t *testing.T) string {
	for _, arguments := range []string{`{"query":""}`, `{"query":"time","max_results":"5"}`, `{"query":["time"]}`} {
		out := run(t, []adk.ChatModelAgentMiddleware{search(t, false)}, []*schema.Message{schema.UserMessage("what time is it?")},
			calls("s", "tool_search", arguments), says("done"))
		if out.err != nil {
			return out.err.Error()
		}
	}
	return ""
}

func claudeRefusesFoundTools(t *testing.T) string {
	server := claudeServer(t, toolUse("s", "tool_search", `{"query":"time"}`), text("done"))
	out := runOn(t, server.model(t), []adk.ChatModelAgentMiddleware{search(t, true)}, []*schema.Message{schema.UserMessage("what time is it?")})
	if out.err == nil {
		return ""
	}
	require.Equal(t, 1, server.requests(), "the second request never goes out")
	return out.err.Error()
}

func claudeLosesAnEmptyResult(t *testing.T) string {
	server := claudeServer(t, toolUse("g", "grep", `{}`), text("nothing was found"))
	out := runOn(t, server.model(t), nil, []*schema.Message{schema.UserMessage("look")}, fake{"grep", func(string) string { return "" }})
	require.NoError(t, out.err)
	require.Equal(t, 2, server.requests())
	if last := server.request(1); !strings.Contains(last, `"tool_result"`) {
		return "a tool_use without a tool_result: " + last
	}
	return ""
}

// afterEvent is an outer handler that closes sent once the event of a tool was sent.
type afterEvent struct {
	*adk.BaseChatModelAgentMiddleware
	tool string
	sent chan struct{}
}

func (a *afterEvent) WrapInvokableToolCall(_ context.Context, call adk.InvokableToolCallEndpoint, t *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, arguments string, opts ...tool.Option) (string, error) {
		result, err := call(ctx, arguments, opts...)
		if t.Name == a.tool {
			close(a.sent)
		}
		return result, err
	}, nil
}

func eventsComeAsToolsEnd(t *testing.T) string {
	sent := make(chan struct{})
	batch := calls("a", "first", "{}")
	batch.ToolCalls = append(batch.ToolCalls, calls("b", "second", "{}").ToolCalls...)
	handlers := []adk.ChatModelAgentMiddleware{
		&afterEvent{&adk.BaseChatModelAgentMiddleware{}, "second", sent}, adk.NewEventSenderToolWrapper(),
	}
	out := runOn(t, &scripted{answers: []*schema.Message{batch, says("done")}}, handlers,
		[]*schema.Message{schema.UserMessage("both")},
		fake{"first", func(string) string { <-sent; return "first" }}, fake{"second", func(string) string { return "second" }})
	require.NoError(t, out.err)
	if slices.Equal(out.results, []string{"first", "second"}) {
		return ""
	}
	return fmt.Sprintf("calls of first and second, events of %q", out.results)
}

func nullTypePanics(*testing.T) (wrong string) {
	defer func() {
		if r := recover(); r != nil {
			wrong = fmt.Sprint(r)
		}
	}()
	var s jsonschema.Schema
	_ = json.Unmarshal([]byte(`{"type":"object","properties":{"a":{"type":null}}}`), &s)
	return ""
}

func search(t *testing.T, native bool) adk.ChatModelAgentMiddleware {
	t.Helper()
	found, err := toolsearch.New(t.Context(), &toolsearch.Config{DynamicTools: []tool.BaseTool{fake{"time_now", func(string) string { return "noon" }}}, UseModelToolSearch: native})
	require.NoError(t, err)
	return found
}

// stored is a Backend that keeps what was written, by path.
type stored map[string]string

func (s stored) Write(_ context.Context, w *filesystem.WriteRequest) error {
	s[w.FilePath] = w.Content
	return nil
}
