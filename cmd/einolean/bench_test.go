// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/demo/compare"
	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/internal/dev/race"
)

// standIn is a provider that speaks chat completions, answers with the model that follows rules,
// and fails as providers do.
type standIn struct {
	*httptest.Server
	fails  func(n int) string // how request n, from 1, fails; empty: not at all
	bytes  int                // of a token
	most   int                // tools in a request; 0: any number
	quiet  string             // what usage does not say: "cached", or all of it: "usage"
	listed int                // tools in the last request
	newer  bool               // the limit of an answer must be max_completion_tokens

	mu       sync.Mutex
	requests int
	spent    int64 // tokens as it counts them
	answered int
}

func newStandIn(t *testing.T, fails func(n int) string) *standIn {
	s := &standIn{fails: fails, bytes: 3}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// wireRequest is what adapters send.
type wireRequest struct {
	Stream   bool `json:"stream"`
	Limit    int  `json:"max_tokens"`
	Messages []struct {
		Role       string            `json:"role"`
		Content    string            `json:"content"`
		ToolCallID string            `json:"tool_call_id"`
		ToolCalls  []schema.ToolCall `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name        string             `json:"name"`
			Description string             `json:"description"`
			Parameters  *jsonschema.Schema `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

// answer is what the model that follows rules says.
func (r wireRequest) answer(ctx context.Context) (*schema.Message, error) {
	var in []*schema.Message
	for _, m := range r.Messages {
		in = append(in, &schema.Message{Role: schema.RoleType(m.Role), Content: m.Content, ToolCallID: m.ToolCallID, ToolCalls: m.ToolCalls})
	}
	var tools []*schema.ToolInfo
	for _, t := range r.Tools {
		tools = append(tools, &schema.ToolInfo{Name: t.Function.Name, Desc: t.Function.Description, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(t.Function.Parameters)})
	}
	return offline.New[*schema.Message]().Generate(ctx, in, model.WithTools(tools))
}

// ServeHTTP answers, or fails.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.requests++
	how := s.fails(s.requests)
	s.mu.Unlock()
	var in wireRequest
	if err := json.Unmarshal(body, &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.listed = len(in.Tools)
	s.mu.Unlock()
	switch {
	case s.newer && in.Limit > 0:
		refuse(w, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
		return
	case s.most > 0 && len(in.Tools) > s.most:
		refuse(w, fmt.Sprintf("array too long: at most %d tools", s.most))
		return
	}
	switch how {
	case "400":
		refuse(w, "no such thing")
		return
	case "429", "500", "401", "503":
		code := 0
		_, _ = fmt.Sscan(how, &code)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprint(w, `{"error":{"message":"not now","type":"server_error","code":"x"}}`)
		return
	case "slow":
		<-r.Context().Done()
		return
	case "wrong JSON":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices": "none`)
		return
	}
	said, err := in.answer(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.write(w, in.Stream, how == "torn", said, len(body))
}

// refuse answers that the request is wrong.
func refuse(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error","code":"x"}}`, why)
}

// write sends an answer in one piece or in two, of which a torn one lacks the second.
func (s *standIn) write(w http.ResponseWriter, stream, torn bool, said *schema.Message, size int) {
	calls := []map[string]any{}
	for i, c := range said.ToolCalls {
		calls = append(calls, map[string]any{"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Function.Name, "arguments": c.Function.Arguments}})
	}
	in, out := size/s.bytes, 10+len(said.Content)/3
	s.mu.Lock()
	s.answered++
	s.spent += int64(in + out)
	s.mu.Unlock()
	usage := map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out, "prompt_tokens_details": map[string]any{"cached_tokens": in / 2}}
	switch s.quiet {
	case "cached":
		delete(usage, "prompt_tokens_details")
	case "usage":
		usage = nil
	}
	body := func(field string, message map[string]any, finish any) []byte {
		text, _ := json.Marshal(map[string]any{"id": "1", "object": "chat.completion", "model": "m", "created": 1, "usage": usage,
			"choices": []any{map[string]any{"index": 0, field: message, "finish_reason": finish}}})
		return text
	}
	message := map[string]any{"role": "assistant", "content": said.Content}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		text := body("message", message, "stop")
		if torn {
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			text = text[:len(text)/2]
		}
		_, _ = w.Write(text)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	first := body("delta", message, nil)
	if torn {
		fmt.Fprintf(w, "data: %s\n\n", first[:len(first)/2])
		return
	}
	fmt.Fprintf(w, "data: %s\n\ndata: %s\n\ndata: [DONE]\n\n", first, body("delta", map[string]any{}, "stop"))
}

// compareWith runs the command against a stand-in, in a folder.
func compareWith(t *testing.T, s *standIn, folder string, args ...string) (benchJSON, string, int) {
	t.Helper()
	t.Setenv("OPENAI_API_KEY", "key")
	t.Setenv("ARK_API_KEY", "key")
	before := retryPause
	retryPause = time.Millisecond
	defer func() { retryPause = before }()
	out, messages, code := call(t, "", append([]string{"bench", "--model", "m", "--base-url", s.URL + "/v1", "-o", filepath.Join(folder, "bench.jsonl"), "--json"}, args...)...)
	var got benchJSON
	if code == exitDone {
		require.NoError(t, json.Unmarshal([]byte(out), &got), out)
	}
	return got, messages, code
}

func never(int) string { return "" }

// someTasks are done with a setting and with more than it; they share the same, and the race
// detector sees one of them.
var someTasks = []string{"--arms", map[bool]string{false: "SearchCall", true: "SearchCall, reduced"}[race.Enabled], "--tasks", "single-1", "--tasks", "follow-2", "--tasks", "talk-1", "--tasks", "chain-2"}

// oneAfterAnother is why the race detector watches few benches.
const oneAfterAnother = "a bench does one task after another; other tests fail it, interrupt it and let it go on"

func TestBench_SurvivesEachProviderFailure(t *testing.T) {
	failures := []string{"429", "500", "torn", "wrong JSON", "503"}
	ways := [][]string{{"--api", "openai", "--stream"}, {"--api", "openai"}, {"--api", "ark"}, {"--api", "ark", "--stream"}}
	for _, args := range ways[:race.Cases(len(ways))] {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			all := append(append([]string{}, args...), someTasks...)
			calm := newStandIn(t, never)
			want, messages, code := compareWith(t, calm, t.TempDir(), all...)
			require.Zero(t, code, messages)
			require.True(t, want.Complete)
			for _, arm := range want.Arms {
				require.Equal(t, arm.Done, arm.Right, arm.Losing)
				require.Positive(t, arm.In)
				require.Positive(t, arm.Cached)
				require.Positive(t, arm.Dollars["Anthropic"])
			}
			require.LessOrEqual(t, calm.spent, want.Spent+1)
			rough := newStandIn(t, func(n int) string {
				switch {
				case n == 3:
					return "slow"
				case n%2 == 1:
					return failures[n/2%len(failures)]
				}
				return ""
			})
			// Far more than an answer takes on a busy machine; it is waited for once.
			got, messages, code := compareWith(t, rough, t.TempDir(), append(all, "--timeout", "5s")...)
			require.Zero(t, code, messages)
			for i, arm := range got.Arms {
				require.Equal(t, want.Arms[i].Right, arm.Right, "%s: %v", arm.Arm, arm.Losing)
				require.Equal(t, want.Arms[i].In, arm.In, "only what was answered counts")
			}
			require.Greater(t, rough.requests, calm.requests)
			require.GreaterOrEqual(t, got.Spent, rough.spent, "an answer that was lost is paid as well")
		})
	}
}

func TestBench_StaysWithinBudget(t *testing.T) {
	race.Skip(t, oneAfterAnother)
	for _, budget := range []int64{100, 5_000, 20_000, 60_000} {
		s := newStandIn(t, func(n int) string { return []string{"", "", "torn"}[n%3] })
		s.bytes = 1 // no tokenizer makes more of a text
		folder := t.TempDir()
		got, messages, code := compareWith(t, s, folder, append([]string{"--max-answer", "2048", "--max-tokens", fmt.Sprint(budget)}, someTasks...)...)
		require.Zero(t, code, messages)
		require.False(t, got.Complete)
		require.LessOrEqual(t, s.spent, budget)
		require.Contains(t, messages, "the budget of")
		for _, a := range got.Arms {
			require.InDelta(t, got.Arms[0].Done, a.Done, 1, "what the budget allows is the same tasks for all: %s", a.Arm)
		}
		before := s.requests
		again, _, code := compareWith(t, s, folder, append([]string{"--max-tokens", fmt.Sprint(max(1, got.Spent))}, someTasks...)...)
		require.Zero(t, code)
		require.Equal(t, before, s.requests, "what earlier starts spent counts")
		require.Equal(t, got.Arms, again.Arms)
	}
}

func TestBench_ContinuesAfterInterrupt(t *testing.T) {
	race.Skip(t, oneAfterAnother)
	whole := newStandIn(t, never)
	want, _, code := compareWith(t, whole, t.TempDir(), someTasks...)
	require.Zero(t, code)
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	broken := newStandIn(t, func(n int) string {
		if n == 9 {
			cancel()
			return "slow"
		}
		return ""
	})
	t.Setenv("OPENAI_API_KEY", "key")
	var out, messages bytes.Buffer
	file := filepath.Join(folder, "bench.jsonl")
	code = run(ctx, streams{strings.NewReader(""), &out, &messages}, append([]string{"bench", "--model", "m", "--base-url", broken.URL, "-o", file}, someTasks...))
	require.Equal(t, exitInterrupted, code)
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotEmpty(t, kept)
	require.NoError(t, os.WriteFile(file, append(kept, `{"model":"m","arm":"`...), 0o600), "and the last line is torn")
	rest := newStandIn(t, never)
	got, said, code := compareWith(t, rest, folder, someTasks...)
	require.Zero(t, code, said)
	require.Less(t, rest.requests, whole.requests, "what was done is not done again")
	for i := range want.Arms {
		want.Arms[i].Seconds, got.Arms[i].Seconds = 0, 0
	}
	require.Equal(t, want.Arms, got.Arms)
	before := rest.requests
	_, _, code = compareWith(t, rest, folder, someTasks...)
	require.Zero(t, code)
	require.Equal(t, before, rest.requests, "all is done")
}

func TestBench_DoesNotRetryAuthErrors(t *testing.T) {
	for _, api := range []string{"openai", "ark"} {
		s := newStandIn(t, func(int) string { return "401" })
		_, messages, code := compareWith(t, s, t.TempDir(), append([]string{"--api", api}, someTasks...)...)
		require.Equal(t, exitServer, code, messages)
		require.Equal(t, 1, s.requests, api)
		require.Contains(t, messages, "not now")
	}
}

func TestBench_ContinuesAfterProviderOutage(t *testing.T) {
	folder := t.TempDir()
	args := []string{"--arms", "SearchCall", "--tasks", "single-1", "--tasks", "single-2", "--retries", "2"}
	down := newStandIn(t, func(n int) string {
		if n > 5 {
			return "500"
		}
		return ""
	})
	_, messages, code := compareWith(t, down, folder, args...)
	require.Equal(t, exitServer, code, messages)
	require.Contains(t, messages, "after 3 attempts")
	require.Contains(t, messages, "the same command goes on")
	require.Equal(t, 5+3, down.requests, "it asks for no other task")
	got, messages, code := compareWith(t, newStandIn(t, never), folder, args...)
	require.Zero(t, code, messages)
	for _, arm := range got.Arms {
		require.Equal(t, 2, arm.Right, "no answer is wrong because the provider was away: %v", arm.Losing)
	}
}

func TestBench_RefusedConnectionEndsAfterRetries(t *testing.T) {
	for _, api := range []string{"openai", "ark"} {
		s := newStandIn(t, never)
		s.Close()
		_, messages, code := compareWith(t, s, t.TempDir(), append([]string{"--api", api}, someTasks...)...)
		require.Equal(t, exitServer, code, messages)
		require.Contains(t, messages, "after 3 attempts")
		require.Contains(t, messages, "refused")
	}
}

func TestBench_RefusedRequestCountsAgainstItsArm(t *testing.T) {
	race.Skip(t, oneAfterAnother)
	s := newStandIn(t, never)
	s.most = 32 // fewer than work
	got, messages, code := compareWith(t, s, t.TempDir(), "--arms", "every tool", "--arms", "Recommended, reduced", "--tasks", "single-1", "--tasks", "single-2")
	require.Zero(t, code, messages)
	require.True(t, got.Complete)
	for _, arm := range got.Arms {
		if !strings.HasPrefix(arm.Arm, "every tool") {
			require.Equal(t, 2, arm.Right, arm.Losing)
			continue
		}
		require.Zero(t, arm.Right)
		require.Contains(t, arm.Losing[0], "the provider refused a request")
		require.Contains(t, arm.Losing[0], "at most 32 tools")
		require.Zero(t, arm.In, "what was asked to see whether the model answers is no part of a task")
	}
	for _, api := range []string{"openai", "ark"} {
		all := newStandIn(t, func(int) string { return "400" })
		_, messages, code = compareWith(t, all, t.TempDir(), append([]string{"--api", api}, someTasks...)...)
		require.Equal(t, exitServer, code, "a provider that refuses everything")
		require.Equal(t, 2, all.requests, api)
		require.Contains(t, messages, "no such thing")
	}
}

func TestBench_MaxAnswerAdaptsToNewerModels(t *testing.T) {
	race.Skip(t, oneAfterAnother)
	s := newStandIn(t, never)
	s.newer = true
	got, messages, code := compareWith(t, s, t.TempDir(), someTasks...)
	require.Zero(t, code, messages)
	for _, arm := range got.Arms {
		require.Equal(t, arm.Done, arm.Right, arm.Losing)
	}
}

func TestBench_BudgetHoldsAcrossRestarts(t *testing.T) {
	const budget = 60_000
	folder := t.TempDir()
	t.Setenv("OPENAI_API_KEY", "key")
	s := newStandIn(t, never)
	s.bytes = 1
	stop := func() {}
	s.fails = func(n int) string {
		if n%4 == 0 {
			stop()
		}
		return ""
	}
	var messages bytes.Buffer
	for starts := 0; !strings.Contains(messages.String(), "the budget of"); starts++ {
		require.Less(t, starts, 100, "it ends")
		ctx, cancel := context.WithCancel(t.Context())
		stop = cancel
		run(ctx, streams{strings.NewReader(""), io.Discard, &messages}, append([]string{"bench", "--model", "m", "--base-url", s.URL, "--max-answer", "2048",
			"-o", filepath.Join(folder, "b"), "--max-tokens", fmt.Sprint(budget)}, someTasks...))
		cancel()
	}
	s.Close() // what is under way ends
	require.LessOrEqual(t, s.spent, int64(budget), "what was spent on tasks that were broken off counts as well")
}

func TestBench_UsesListedPricesOfModel(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key")
	s := newStandIn(t, never)
	out, messages, code := call(t, "", "bench", "--model", "gpt-5", "--base-url", s.URL, "-o", filepath.Join(t.TempDir(), "b"), "--arms", "SearchCall, reduced", "--tasks", "single-1", "--json")
	require.Zero(t, code, messages)
	var got benchJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	a := got.Arms[0]
	require.Positive(t, a.Out)
	require.Len(t, a.Dollars, 1)
	require.InDelta(t, (1.25*float64(a.In-a.Cached)+.125*float64(a.Cached)+10*float64(a.Out))/1e6, a.Dollars["gpt-5"], 1e-9, "answers are paid as well")
}

func TestBench_RecordingsCanBeReplayed(t *testing.T) {
	race.Skip(t, oneAfterAnother)
	folder := t.TempDir()
	_, messages, code := compareWith(t, newStandIn(t, never), folder, append([]string{"--recordings", filepath.Join(folder, "calls")}, someTasks...)...)
	require.Zero(t, code, messages)
	files, err := filepath.Glob(filepath.Join(folder, "calls", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	_, messages, code = call(t, "", append([]string{"replay", "--policy", "Eino"}, files...)...)
	require.Zero(t, code, messages)
}

func TestBench_ReportsInvalidFlags(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key")
	for says, args := range map[string][]string{
		"--model is missing":  {},
		"openai or ark":       {"--model", "m", "--api", "telex"},
		"NO_SUCH_KEY is not":  {"--model", "m", "--key", "NO_SUCH_KEY"},
		"no setting has":      {"--model", "m", "--arms", "magic"},
		"no task has":         {"--model", "m", "--tasks", "magic"},
		"are at least 1":      {"--model", "m", "--runs", "0"},
		"it takes no argumen": {"--model", "m", "tools.json"},
	} {
		_, messages, code := call(t, "", append([]string{"bench"}, args...)...)
		require.Equal(t, exitUsage, code, says)
		require.Contains(t, messages, says)
	}
}

func TestBench_ArmsAreChosenByPrintedName(t *testing.T) {
	for asked, want := range map[string][]string{
		"every tool":             {"every tool is listed"},
		"every tool is listed":   {"every tool is listed"},
		"`SearchCall`":           {"`SearchCall`"},
		"searchcall, reduced":    {"`SearchCall`, reduced"},
		"`Recommended`, reduced": {"`Recommended`, reduced"},
		"listed, reduced":        {"every tool is listed, reduced"},
	} {
		c := comparison{arms: []string{asked}}
		arms, tasks, err := c.chosen()
		require.NoError(t, err)
		require.Len(t, tasks, 60)
		var got []string
		for _, a := range arms {
			got = append(got, a.Name)
		}
		require.Equal(t, want, got, asked)
	}
	for _, c := range []comparison{{arms: []string{"SearchCall", "magic"}}, {tasks: []string{"single-1", "magic"}}, {arms: []string{""}}, {tasks: []string{""}}} {
		_, _, err := c.chosen()
		require.ErrorContains(t, err, "has")
	}
	c := comparison{tasks: []string{"single-1"}}
	_, tasks, err := c.chosen()
	require.NoError(t, err)
	require.Len(t, tasks, 1, "and not single-10")
}

func TestBench_MarksEstimatedUsage(t *testing.T) {
	race.Skip(t, oneAfterAnother)
	t.Setenv("OPENAI_API_KEY", "key")
	for _, quiet := range []string{"", "cached", "usage"} {
		s := newStandIn(t, never)
		s.quiet = quiet
		folder := t.TempDir()
		got, messages, code := compareWith(t, s, folder, someTasks...)
		require.Zero(t, code, messages)
		a := got.Arms[0]
		require.Equal(t, quiet != "", a.Estimated)
		require.Equal(t, quiet == "usage", a.Counted)
		require.Greater(t, a.Cached, a.In/4, quiet)
		require.Less(t, a.Cached, a.In, quiet)
		require.Positive(t, a.Out, quiet)
		require.Greater(t, a.In, int64(5_000), quiet)
		require.Positive(t, a.Dollars["Anthropic"], quiet)
		out, messages, code := call(t, "", append([]string{"bench", "--model", "m", "--base-url", s.URL, "-o", filepath.Join(folder, "bench.jsonl")}, someTasks...)...)
		require.Zero(t, code, messages)
		require.Equal(t, quiet != "", strings.Contains(out, " % estimated |"), out)
		require.Equal(t, quiet != "", strings.Contains(out, "the provider reported no cached tokens"), out)
		require.Equal(t, quiet == "usage", strings.Contains(out, "| ~"), out)
		require.Equal(t, quiet == "usage", strings.Contains(out, "reported no usage"), out)
	}
}

func TestBench_PrintsCostBeforeFirstRequest(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key")
	var messages bytes.Buffer
	before := ""
	s := newStandIn(t, func(n int) string {
		if n == 1 {
			before = messages.String()
		}
		return ""
	})
	args := []string{"bench", "--model", "gpt-5", "--base-url", s.URL, "-o", filepath.Join(t.TempDir(), "b"), "--arms", "SearchCall", "--tasks", "single-1", "--tasks", "single-2"}
	require.Zero(t, run(t.Context(), streams{strings.NewReader(""), io.Discard, &messages}, args), messages.String())
	all, err := compare.Measured()
	require.NoError(t, err)
	sum := all["`SearchCall`"]["single-1"]
	sum.Add(all["`SearchCall`"]["single-2"])
	require.Contains(t, before, "2 tasks left to do")
	require.Contains(t, before, plural(sum.Calls, "request"))
	require.Contains(t, before, plural(int(sum.Tokens), "token"))
	require.Contains(t, before, fmt.Sprintf("$%.2f at the prices of gpt-5", 1.25*float64(sum.Tokens)/1e6))
	require.Contains(t, before, "at most 20 requests a task and 2,000,000 tokens in all")
	require.InEpsilon(t, s.requests, sum.Calls, .5, "as many as it says, nearly")
	messages.Reset()
	require.Zero(t, run(t.Context(), streams{strings.NewReader(""), io.Discard, &messages}, args))
	require.Empty(t, messages.String(), "all is done: nothing will cost")
}

func TestMeasured_HasEveryTaskAndArm(t *testing.T) {
	all, err := compare.Measured()
	require.NoError(t, err)
	tasks, err := compare.Tasks()
	require.NoError(t, err)
	for _, a := range compare.All() {
		for _, task := range tasks {
			took := all[a.Name][task.ID]
			require.Positive(t, took.Calls, "%s, %s: make report measures it", a.Name, task.ID)
			require.LessOrEqual(t, took.Calls, 20, "the default of --max-calls")
			require.GreaterOrEqual(t, took.Tokens, took.Cached)
		}
	}
}

// A live model gets the tools that work; the model that follows rules, in a report, gets all of them.
func TestBench_OffersOnlyWorkingTools(t *testing.T) {
	s := newStandIn(t, never)
	got, messages, code := compareWith(t, s, t.TempDir(), "--arms", "every tool is listed", "--tasks", "single-1")
	require.Zero(t, code, messages)
	require.Equal(t, 1, got.Arms[0].Right)
	require.Equal(t, library.Working(), s.listed)

	listed := &toolCounter{}
	bench, err := compare.Direct.Start(t.Context(), listed)
	require.NoError(t, err)
	defer bench.Close()
	_, err = bench.Do(t.Context(), compare.Task{Questions: []compare.Question{{Text: "Hello!"}}})
	require.NoError(t, err)
	require.Greater(t, listed.tools, library.Working())
}

// toolCounter is a model that counts the tools of a request.
type toolCounter struct {
	model.BaseChatModel
	tools int
}

func (c *toolCounter) Generate(_ context.Context, _ []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	c.tools = len(model.GetCommonOptions(&model.Options{}, opts...).Tools)
	return schema.AssistantMessage("Hello.", nil), nil
}

func TestBench_MaxCallsBoundsEachTask(t *testing.T) {
	s := newStandIn(t, never)
	got, messages, code := compareWith(t, s, t.TempDir(), "--arms", "SearchCall", "--tasks", "single-1", "--max-calls", "1")
	require.Zero(t, code, messages)
	require.Equal(t, 1, s.requests)
	require.Contains(t, got.Arms[0].Losing[0], "--max-calls")
}

func TestBench_HidesKeysInURL(t *testing.T) {
	const secret = "hunter2hunter2hunter2"
	for _, api := range []string{"openai", "ark"} {
		for _, how := range []string{"401", "400", "closed"} {
			s := newStandIn(t, func(int) string { return how })
			url := strings.Replace(s.URL, "http://", "http://me:"+secret+"@", 1) + "/" + secret + "/v1?key=" + secret
			if how == "closed" {
				s.Close()
			}
			t.Setenv("OPENAI_API_KEY", "envsecretenvsecret")
			t.Setenv("ARK_API_KEY", "envsecretenvsecret")
			out, messages, code := call(t, "", "bench", "--api", api, "--model", "m", "--base-url", url, "--retries", "0", "-o", filepath.Join(t.TempDir(), "b"), "--arms", "SearchCall", "--tasks", "single-1")
			require.NotZero(t, code)
			require.NotContains(t, out+messages, secret)
			require.NotContains(t, out+messages, "envsecret")
		}
	}
}

func TestBench_PrintsRowsOfBenchmarkTable(t *testing.T) {
	race.Skip(t, oneAfterAnother)
	t.Setenv("OPENAI_API_KEY", "key")
	s := newStandIn(t, never)
	out, messages, code := call(t, "", "bench", "--model", "m", "--base-url", s.URL, "-o", filepath.Join(t.TempDir(), "b"), "--arms", "SearchCall, reduced", "--tasks", "single-1", "--runs", "2")
	require.Zero(t, code, messages)
	require.Contains(t, out, "| `SearchCall`, reduced | 2 of 2 | 1 to 1 |")
	require.Contains(t, out, "2 runs of each task")
}

func TestBench_FailsIfOutputCannotBeWritten(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key")
	s := newStandIn(t, never)
	args := []string{"bench", "--model", "m", "--base-url", s.URL, "-o", filepath.Join(t.TempDir(), "b"), "--arms", "SearchCall, reduced", "--tasks", "single-1"}
	for _, more := range [][]string{{}, {"--json"}} {
		var messages bytes.Buffer
		require.Equal(t, exitMissed, run(context.Background(), streams{strings.NewReader(""), &full{left: 20}, &messages}, append(args, more...)))
		require.Contains(t, messages.String(), "could not be written")
	}
}
