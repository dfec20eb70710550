// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/window"
)

// scene is an agent with both middlewares and a collector.
type scene[M adk.MessageType] struct {
	see   *window.Collector
	agent adktest.Agent[M]
}

const hiddenTools = 40

// newScene makes an agent with hidden tools of which tool_07 returns 9,000 bytes.
func newScene[M adk.MessageType](t *testing.T, streaming bool, c window.Config, m *adktest.Model[M]) scene[M] {
	t.Helper()
	ctx := context.Background()
	see := window.New(c)
	tools := make([]tool.BaseTool, hiddenTools)
	for i := range tools {
		tools[i] = adktest.Simple(fmt.Sprintf("tool_%02d", i), "does the thing of number "+fmt.Sprint(i))
	}
	info, err := tools[7].Info(ctx)
	require.NoError(t, err)
	tools[7] = adktest.Tool(adktest.Invokable, info, func(context.Context, string) (string, error) {
		return strings.Repeat("A line of text.\n", 600), nil
	})
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DynamicTools: tools, OnEvent: see.Event})
	require.NoError(t, err)
	reduce, err := reduction.NewTyped[M](ctx, &reduction.TypedConfig[M]{
		Backend: store.NewMemory(1 << 20), ProvideReadTool: true, MaxLengthForTrunc: 2000, MaxTokensForClear: 400, OnEvent: see.Event,
	})
	require.NoError(t, err)
	return scene[M]{see, adktest.Agent[M]{Model: m, Streaming: streaming, Handlers: adktest.Handlers(search, reduce, window.HandlerFor[M](see)),
		Tools: []tool.BaseTool{adktest.Simple("own", "is the agent's own")}}}
}

// script searches, calls a tool with a large result, reads it back and answers.
func script[M adk.MessageType]() *adktest.Model[M] {
	var read string
	return &adktest.Model[M]{Respond: func(n int, w adktest.Wire[M]) adktest.Turn {
		switch n {
		case 0:
			return adktest.Do(adktest.ToolCall{ID: "s1", Name: "tool_search", Args: `{"query":"select:tool_07"}`})
		case 1:
			return adktest.Do(adktest.ToolCall{ID: "c1", Name: "tool_07", Args: `{"value":"x"}`})
		case 2:
			text := adktest.Text(w.Messages[len(w.Messages)-1])
			_, rest, _ := strings.Cut(text, "saved to: ")
			read, _, _ = strings.Cut(rest, "\n")
			return adktest.Do(adktest.ToolCall{ID: "r1", Name: "read_file", Args: `{"file_path":"` + read + `","limit":3}`})
		case 3:
			return adktest.Do(adktest.ToolCall{ID: "o1", Name: "own", Args: `{"value":"y"}`})
		}
		return adktest.Say("It is done now.")
	}}
}

// only is the one conversation of a collector.
func only(t *testing.T, see *window.Collector) *window.Conversation {
	t.Helper()
	var all []*window.Conversation
	for c := range see.Conversations() {
		all = append(all, c)
	}
	require.Len(t, all, 1)
	return all[0]
}

func TestCollector_RecordsWindowAndOmissions(t *testing.T) {
	adktest.Both(t, showsTheWindow[*schema.Message], showsTheWindow[*schema.AgenticMessage])
}

func showsTheWindow[M adk.MessageType](t *testing.T, streaming bool) {
	s := newScene[M](t, streaming, window.Config{}, script[M]())
	out := s.agent.Run(context.Background(), []M{adktest.User[M]("Do the seventh thing.")})
	require.NoError(t, out.Err)
	c := only(t, s.see)
	require.Len(t, c.Runs, 1)
	require.Equal(t, "Do the seventh thing.", c.Runs[0].Question)
	require.Len(t, c.Calls, 5)

	first := c.Calls[0].By
	require.Positive(t, first[window.OwnTools])
	require.Positive(t, first[window.HelpTools])
	require.Positive(t, first[window.Reminder])
	require.Positive(t, first[window.User])
	require.Zero(t, first[window.LoadedTools])
	require.Equal(t, hiddenTools, c.Calls[0].Hidden.Tools)
	require.Nil(t, c.Calls[0].Without, "it only searched")
	require.Equal(t, "tool_search", c.Calls[0].Did[0].Tool)

	second := c.Calls[1]
	require.Equal(t, "agent", second.Agent)
	require.Positive(t, second.By[window.LoadedTools])
	require.Positive(t, second.By[window.Found])
	require.Equal(t, hiddenTools-1, second.Hidden.Tools)
	require.Equal(t, "tools_loaded", second.Prefix.Cause)
	require.Positive(t, second.Prefix.Lost)

	third := c.Calls[2]
	require.Positive(t, third.By[window.ResultTruncated])
	require.Len(t, third.Omissions(), 1)
	require.Equal(t, "cut", third.Omissions()[0].Rule)
	require.Contains(t, lackingNow(third), third.Omissions()[0])
	require.NotEmpty(t, third.Omissions()[0].Path)
	whole := tokens.Of(strings.Repeat("A line of text.\n", 600))
	require.InDelta(t, whole, third.Omissions()[0].Before, float64(whole)/10, "in the unit of all other figures")
	require.Nil(t, third.Without, "it only read back")

	fourth := c.Calls[3]
	require.Positive(t, fourth.By[window.Page])
	require.NotNil(t, fourth.Without)
	require.Len(t, fourth.Omissions(), 1)
	require.Equal(t, "cleared", fourth.Omissions()[0].Rule)
	require.Contains(t, lackingNow(fourth), fourth.Omissions()[0])
	require.Equal(t, third.Omissions()[0].Before, fourth.Omissions()[0].Before, "what the tool returned, not what was cut before")
	require.Positive(t, fourth.By[window.ResultCleared])
	require.Empty(t, lackingNow(c.Calls[4]))

	last := c.Calls[4]
	require.Equal(t, "It is done now.", last.Answer)
	require.Equal(t, 2, c.Totals().Helped)
	require.Greater(t, c.Totals().Without, c.Totals().Sent)
}

// lackingNow are the results of a call that the call before had more of.
func lackingNow(c *window.ModelCall) (all []window.Omission) {
	for _, p := range c.NewParts() {
		if p.Omission != nil {
			all = append(all, *p.Omission)
		}
	}
	return all
}

func TestCollector_WorksWithoutEvents(t *testing.T) {
	with := newScene(t, true, window.Config{}, script[*schema.Message]())
	blind := newScene(t, true, window.Config{}, script[*schema.Message]())
	for _, s := range []scene[*schema.Message]{with, blind} {
		require.NoError(t, s.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")}).Err)
	}
	deaf := window.New(window.Config{}) // its handler is there, and no OnEvent of it
	blind.agent.Handlers[2] = deaf.Handler()
	blind.agent.Model.Reset()
	require.NoError(t, blind.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")}).Err)
	want, got := only(t, with.see), only(t, deaf)
	require.Len(t, got.Calls, len(want.Calls))
	for i, call := range got.Calls {
		require.Equal(t, want.Calls[i].By, call.By, "call %d", call.N)
		require.Equal(t, want.Calls[i].Hidden, call.Hidden)
		require.Equal(t, want.Calls[i].Without == nil, call.Without == nil)
		require.Len(t, call.Omissions(), len(want.Calls[i].Omissions()))
		for j, l := range call.Omissions() {
			require.Equal(t, want.Calls[i].Omissions()[j].Path, l.Path)
			require.Equal(t, want.Calls[i].Omissions()[j].Rule, l.Rule)
			require.InDelta(t, want.Calls[i].Omissions()[j].Before, l.Before, 2)
		}
	}
}

func TestCollector_RecordsEveryFormOfRunAlike(t *testing.T) {
	var records []string
	record := func(see *window.Collector) {
		c := only(t, see)
		var parts, lefts [][]any
		for _, call := range c.Calls {
			call.Conversation, call.Start, call.Took, call.First, call.Stream, call.Events = "", c.Calls[0].Start, 0, 0, false, nil
			for _, p := range call.Parts() { // a message with a call and no text has one part in both types
				parts = append(parts, []any{p.Category, p.Label, p.CallID, p.Tokens, p.State})
			}
			for _, l := range call.Omissions() {
				l.Text = 0
				lefts = append(lefts, []any{l})
			}
		}
		text, err := json.Marshal([]any{c.Calls, parts, lefts})
		require.NoError(t, err)
		_, text, _ = bytes.Cut(text, []byte(`"took_ns"`))
		records = append(records, strings.ReplaceAll(string(text), c.Calls[0].Start.Format("2006-01-02T15:04:05.999999999Z07:00"), ""))
	}
	for _, streaming := range []bool{false, true} {
		plain := newScene(t, streaming, window.Config{}, script[*schema.Message]())
		require.NoError(t, plain.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")}).Err)
		record(plain.see)
		agentic := newScene(t, streaming, window.Config{}, script[*schema.AgenticMessage]())
		require.NoError(t, agentic.agent.Run(context.Background(), []*schema.AgenticMessage{schema.UserAgenticMessage("Go.")}).Err)
		record(agentic.see)
	}
	for _, r := range records[1:] {
		require.Equal(t, records[0], r)
	}
}

func TestParts_AddUpAndLargestIsTheLargest(t *testing.T) {
	adktest.Both(t, addsUp[*schema.Message], addsUp[*schema.AgenticMessage])
}

func addsUp[M adk.MessageType](t *testing.T, streaming bool) {
	m := script[M]()
	s := newScene(t, streaming, window.Config{Texts: window.TextsAll}, m)
	require.NoError(t, s.agent.Run(context.Background(), []M{adktest.System[M]("Be brief."), adktest.User[M]("Go.")}).Err)
	c := only(t, s.see)
	for n, w := range m.Wires() {
		call := c.Calls[n]
		tokens, bytesOfText := 0, 0
		for _, p := range call.Parts() {
			tokens += p.Tokens
			if p.Text != 0 && p.Category != window.OwnTools && p.Category != window.HelpTools && p.Category != window.LoadedTools {
				require.Len(t, c.Texts[p.Text], p.Bytes)
				bytesOfText += p.Bytes
			}
		}
		require.Equal(t, call.Tokens.Estimated, tokens)
		want := 0
		for _, msg := range w.Messages {
			want += len(adktest.Text(msg))
			for _, tc := range adktest.Calls(msg) {
				want += len(tc.Args)
			}
		}
		require.Equal(t, want, bytesOfText, "every byte of the messages has a part")
		require.LessOrEqual(t, call.Tokens.Estimated, c.Totals().Largest)
	}
}

func TestWriteJSON_RoundTrips(t *testing.T) {
	s := newScene(t, true, window.Config{Conversation: func(context.Context) (string, error) { return "acme/42", nil }}, script[*schema.Message]())
	for range 2 {
		s.agent.Model.Reset()
		require.NoError(t, s.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go </script>\u2028 on.")}).Err)
	}
	var file bytes.Buffer
	require.NoError(t, s.see.WriteJSON(&file))
	back, err := window.ReadJSON(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	require.Len(t, back, 1)
	want, got := s.see.Conversation("acme/42"), back[0]
	require.Len(t, want.Runs, 2)
	require.Equal(t, want.Texts, got.Texts)
	require.Equal(t, want.Totals(), got.Totals())
	var again bytes.Buffer
	require.NoError(t, got.WriteJSON(&again))
	require.Equal(t, file.String(), again.String())

	back, err = window.ReadJSON(io.MultiReader(bytes.NewReader(file.Bytes()), bytes.NewReader(file.Bytes())))
	require.NoError(t, err)
	require.Len(t, back, 1, "the last of several with one ID counts")
	_, err = window.ReadJSON(strings.NewReader("{}\n"))
	require.ErrorContains(t, err, "line 1")
	require.Nil(t, s.see.Conversation("another"))
}

// wordy is a model that reports usage as a provider would count: a little more than
// half a token for each byte pair, and some for each message.
type wordy[M adk.MessageType] struct{ *adktest.Model[M] }

func (w wordy[M]) Generate(ctx context.Context, in []M, opts ...model.Option) (M, error) {
	out, err := w.Model.Generate(ctx, in, opts...)
	if m, ok := any(out).(*schema.Message); ok && err == nil {
		n := 0
		for _, msg := range in {
			n += 6 + len(adktest.Text(msg))*10/37
			for _, c := range adktest.Calls(msg) {
				n += 6 + len(c.Args+c.Name)*10/37
			}
		}
		for _, t := range model.GetCommonOptions(&model.Options{}, opts...).Tools {
			s, _ := t.ToJSONSchema()
			b, _ := json.Marshal(s)
			n += 6 + len(t.Name+t.Desc+string(b))*10/37
		}
		m.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{PromptTokens: n, CompletionTokens: 5, TotalTokens: n + 5}}
	}
	return out, err
}

func TestCalibration_IsAccurateAfterTwoAnswers(t *testing.T) {
	s := newScene(t, false, window.Config{}, script[*schema.Message]())
	scripted := s.agent.Model
	s.agent.Configure = func(c *adk.TypedChatModelAgentConfig[*schema.Message]) { c.Model = wordy[*schema.Message]{scripted} }
	require.NoError(t, s.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")}).Err)
	calls := only(t, s.see).Calls
	for _, call := range calls {
		require.NotNil(t, call.Tokens.Reported)
	}
	for _, call := range calls[2:] {
		require.InEpsilon(t, call.Tokens.Reported.PromptTokens, call.Tokens.Calibrated, .05, "call %d", call.N)
	}
}

// moody fails or breaks its stream where told to.
type moody[M adk.MessageType] struct {
	*adktest.Model[M]
	mu             sync.Mutex
	refuse, breaks int
}

var errMoody = errors.New("the provider is overloaded")

func (m *moody[M]) take(n *int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if *n--; *n == 0 {
		return true
	}
	return false
}

func (m *moody[M]) Generate(ctx context.Context, in []M, opts ...model.Option) (out M, err error) {
	if m.take(&m.refuse) {
		return out, errMoody
	}
	return m.Model.Generate(ctx, in, opts...)
}

func (m *moody[M]) Stream(ctx context.Context, in []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	if m.take(&m.refuse) {
		return nil, errMoody
	}
	out, err := m.Model.Stream(ctx, in, opts...)
	if err != nil || !m.take(&m.breaks) {
		return out, err
	}
	read, write := schema.Pipe[M](4)
	first, _ := out.Recv()
	out.Close()
	write.Send(first, nil)
	write.Send(*new(M), errMoody)
	write.Close()
	return read, nil
}

func TestCollector_RecordsEachAttemptAsCall(t *testing.T) {
	adktest.Both(t, attempts[*schema.Message], attempts[*schema.AgenticMessage])
}

func attempts[M adk.MessageType](t *testing.T, streaming bool) {
	s := newScene(t, streaming, window.Config{Texts: window.TextsAll}, script[M]())
	bad := &moody[M]{Model: s.agent.Model, refuse: 2}
	s.agent.Configure = func(c *adk.TypedChatModelAgentConfig[M]) {
		c.Model = bad
		c.ModelRetryConfig = &adk.TypedModelRetryConfig[M]{MaxRetries: 2}
	}
	require.NoError(t, s.agent.Run(context.Background(), []M{adktest.User[M]("Go.")}).Err)
	calls := only(t, s.see).Calls
	require.Len(t, calls, 6)
	require.Equal(t, errMoody.Error(), calls[1].Error)
	require.Equal(t, 1, calls[1].Attempt)
	require.Equal(t, 2, calls[2].Attempt)
	require.Empty(t, calls[2].Error)
	require.Equal(t, calls[1].Tokens.Estimated, calls[2].Prefix.Same)
	for _, call := range calls {
		require.False(t, call.Unfinished)
	}
}

func TestCollector_MarksBrokenAndClosedStreams(t *testing.T) {
	see := window.New(window.Config{})
	ctx := context.Background()
	h := window.HandlerFor[*schema.Message](see)
	ctx, err := einorun.Begin(ctx, h, &einorun.RunContext{})
	require.NoError(t, err)
	m := &moody[*schema.Message]{Model: adktest.Script[*schema.Message](adktest.Say("one two"), adktest.Say("three four")), breaks: 1}
	watched, err := h.WrapModel(ctx, m, nil)
	require.NoError(t, err)

	broken, err := watched.Stream(ctx, []*schema.Message{schema.UserMessage("a")})
	require.NoError(t, err)
	for err == nil {
		_, err = broken.Recv()
	}
	require.ErrorIs(t, err, errMoody)
	closed, err := watched.Stream(ctx, []*schema.Message{schema.UserMessage("b")})
	require.NoError(t, err)
	_, err = closed.Recv()
	require.NoError(t, err)
	closed.Close()
	_, err = watched.Generate(ctx, []*schema.Message{schema.UserMessage("c")})
	require.NoError(t, err)

	calls := only(t, see).Calls
	require.Len(t, calls, 3)
	require.Equal(t, "the call failed", calls[0].Error, "its text may name what is not to be kept")
	require.True(t, calls[1].Unfinished)
	require.False(t, calls[2].Unfinished)
	require.Equal(t, "done", calls[2].Answer)
}

func TestConfig_PanickingCallbacksAreHarmless(t *testing.T) {
	s := newScene(t, true, window.Config{
		Conversation: func(context.Context) (string, error) { panic("who?") },
		Redact:       func(string) string { panic("secret") },
		OnCall:       func(context.Context, *window.ModelCall) { panic("no") },
	}, script[*schema.Message]())
	require.NoError(t, s.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")}).Err)
	c := only(t, s.see)
	require.Len(t, c.Calls, 5)
	for _, text := range c.Texts {
		require.Empty(t, text, "what cannot be redacted is not kept")
	}
	require.Empty(t, c.Runs[0].Question)
	require.Empty(t, c.Calls[4].Answer)
}

func TestRedact_SeesEveryKeptText(t *testing.T) {
	s := newScene(t, true, window.Config{Texts: window.TextsAll, Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "•••") }}, script[*schema.Message]())
	require.NoError(t, s.agent.Run(context.Background(), []*schema.Message{schema.SystemMessage("hunter2"), schema.UserMessage("It is hunter2.")}).Err)
	var file bytes.Buffer
	require.NoError(t, s.see.WriteJSON(&file))
	require.NotContains(t, file.String(), "hunter2")
	require.Contains(t, file.String(), "It is •••.")
}

func TestTexts_LimitsKeptText(t *testing.T) {
	long := strings.Repeat("日本語 ", 5000)
	for _, c := range []struct {
		texts window.Texts
		want  int
	}{{window.TextsNone, 0}, {window.TextsStart, 2048}, {window.TextsAll, len(long)}} {
		s := newScene(t, false, window.Config{Texts: c.texts}, script[*schema.Message]())
		require.NoError(t, s.agent.Run(context.Background(), []*schema.Message{schema.UserMessage(long)}).Err)
		longest := 0
		for _, text := range only(t, s.see).Texts {
			longest = max(longest, len(text))
		}
		require.InDelta(t, c.want, longest, 3, "texts %d", c.texts)
		for _, call := range only(t, s.see).Calls {
			require.Positive(t, call.Tokens.Estimated)
		}
	}
}

func TestMaxBytes_BoundsManyConversations(t *testing.T) {
	const bound = 1 << 20
	n := 0
	see := window.New(window.Config{MaxBytes: bound, Texts: window.TextsAll, Conversation: func(context.Context) (string, error) {
		n++
		return fmt.Sprint(n), nil
	}})
	h := window.HandlerFor[*schema.Message](see)
	m := adktest.Script[*schema.Message]()
	for i := range 10_000 {
		ctx, err := einorun.Begin(context.Background(), h, &einorun.RunContext{})
		require.NoError(t, err)
		watched, err := h.WrapModel(ctx, m, nil)
		require.NoError(t, err)
		_, err = watched.Generate(ctx, []*schema.Message{schema.UserMessage(fmt.Sprint(strings.Repeat("words ", 200), i))})
		require.NoError(t, err)
		m.Reset()
	}
	conversations, size := 0, 0
	for c := range see.Conversations() {
		conversations++
		for _, text := range c.Texts {
			size += len(text)
		}
	}
	require.LessOrEqual(t, size, bound)
	require.Less(t, conversations, bound/1000)
	require.NotNil(t, see.Conversation("10000"), "the newest stays")
	require.Len(t, see.Conversation("10000").Texts, 1)
}

func TestCollector_SeparatesConcurrentConversations(t *testing.T) {
	type key struct{}
	see := window.New(window.Config{Conversation: func(ctx context.Context) (string, error) { return ctx.Value(key{}).(string), nil }})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := newScene(t, i%2 == 0, window.Config{}, script[*schema.Message]())
			s.agent.Handlers[2] = see.Handler()
			ctx := context.WithValue(context.Background(), key{}, fmt.Sprint("user ", i))
			if err := s.agent.Run(ctx, []*schema.Message{schema.UserMessage(fmt.Sprint("I am ", i))}).Err; err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 8 {
		c := see.Conversation(fmt.Sprint("user ", i))
		require.Len(t, c.Calls, 5)
		require.Equal(t, fmt.Sprint("I am ", i), c.Runs[0].Question)
	}
}

func TestModelCall_KeptMarksConversationsOfProvider(t *testing.T) {
	see := window.New(window.Config{})
	h := window.HandlerFor[*schema.Message](see)
	ctx, _, err := h.BeforeAgent(context.Background(), nil)
	require.NoError(t, err)
	watched, err := h.WrapModel(ctx, adktest.Script[*schema.Message](), nil)
	require.NoError(t, err)
	before := schema.AssistantMessage("hello", nil)
	before.Extra = map[string]any{"ark-response-id": "resp_1", "ark-response-caching": "enabled"}
	for _, in := range [][]*schema.Message{{schema.UserMessage("a")}, {schema.UserMessage("a"), before, schema.UserMessage("b")}} {
		_, err = watched.Generate(ctx, in)
		require.NoError(t, err)
	}
	calls := only(t, see).Calls
	require.False(t, calls[0].Kept)
	require.True(t, calls[1].Kept)
}

func BenchmarkWatchingAnAgent(b *testing.B) {
	history := make([]*schema.Message, 0, 1000)
	for i := range 250 {
		id := fmt.Sprint("call", i)
		history = append(history, schema.UserMessage(strings.Repeat("u", 100)), schema.AssistantMessage("", []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: "t", Arguments: "{}"}}}),
			schema.ToolMessage(strings.Repeat("result ", 600), id), schema.AssistantMessage("Done.", nil))
	}
	see := window.New(window.Config{})
	h := see.Handler()
	ctx, _, _ := h.BeforeAgent(context.Background(), nil)
	m := adktest.Script[*schema.Message]()
	watched, _ := h.WrapModel(ctx, m, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := watched.Generate(ctx, history); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		m.Reset()
		b.StartTimer()
	}
}

func TestParts_MediaIsLabeledByKind(t *testing.T) {
	see := window.New(window.Config{Conversation: named("c")})
	c := newChat(t, see)
	url := "https://example.com/a"
	part := schema.MessagePartCommon{URL: &url}
	c.history = append(c.history, &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{
		{Type: schema.ChatMessagePartTypeText, Text: "look"},
		{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: part}},
		{Type: schema.ChatMessagePartTypeFileURL, File: &schema.MessageInputFile{MessagePartCommon: part}},
	}})
	c.ask(t)
	conversation := see.Conversation("c")
	var labels []string
	for _, p := range conversation.Calls[0].Parts() {
		if p.Category == window.User {
			labels = append(labels, p.Label)
		}
	}
	require.Equal(t, []string{"", "", "image", "file"}, labels)
}

// A page of the read tool may itself be truncated. Then it counts as a truncated result.
func TestParts_TruncatedPageIsTruncatedResult(t *testing.T) {
	for _, last := range []einolean.Kind{einolean.KindResultTruncated, einolean.KindResultRead} {
		see := window.New(window.Config{Conversation: named("c")})
		c := newChat(t, see)
		c.result(40_000)
		c.history[len(c.history)-1].Content = "<persisted-output>\n4000 bytes were saved to: /tmp/trunc/c1. Read it with read_file.\n</persisted-output>"
		for _, kind := range []einolean.Kind{einolean.KindResultTruncated, last} {
			see.Event(c.ctx, einolean.Event{Kind: kind, CallID: "c1", Tool: "read_day",
				Output: &einolean.OutputChange{Before: einolean.Size{Bytes: 36_000, Tokens: 9000}, After: einolean.Size{Tokens: 25}, Path: "/tmp/trunc/c1"}})
		}
		c.ask(t)
		parts := see.Conversation("c").Calls[0].Parts()
		require.Equal(t, window.ResultTruncated, parts[len(parts)-1].Category, last)
		left := see.Conversation("c").Calls[0].Omissions()
		require.Len(t, left, 1, last)
		require.InDelta(t, 36_000*parts[len(parts)-1].Tokens/parts[len(parts)-1].Bytes, left[0].Before, 1, last)
	}
}

func TestCollector_ShowsToolBehindCallTool(t *testing.T) {
	adktest.Both(t, testShowsToolBehindCallTool[*schema.Message], testShowsToolBehindCallTool[*schema.AgenticMessage])
}

func testShowsToolBehindCallTool[M adk.MessageType](t *testing.T, streaming bool) {
	m := adktest.Script[M](
		adktest.Do(adktest.ToolCall{ID: "1", Name: "call_tool", Args: `{"name":"tool_07","arguments":{"value":"x"}}`}),
		adktest.Do(adktest.ToolCall{ID: "2", Name: "own", Args: `{"value":"y"}`}))
	s := newScene[M](t, streaming, window.Config{}, m)
	search, err := toolsearch.NewTyped[M](t.Context(), &toolsearch.Config{
		DynamicTools: []tool.BaseTool{adktest.Simple("tool_07", "does a thing")}, Protocol: toolsearch.SearchCall,
	})
	require.NoError(t, err)
	s.agent.Handlers[0] = search
	require.NoError(t, s.agent.Run(t.Context(), []M{adktest.User[M]("please")}).Err)
	calls := only(t, s.see).Calls
	require.Equal(t, "tool_07", calls[0].Did[0].Tool)
	named := 0
	for _, p := range calls[1].Parts() {
		if p.Category == window.HelpTools {
			continue // the definition of call_tool
		}
		require.NotEqual(t, "call_tool", p.Label)
		if p.Label == "tool_07" {
			named++
		}
	}
	require.Equal(t, 2, named, "the call and its result")
}
