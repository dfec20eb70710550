// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/window"
)

// chat is a conversation whose requests a test makes itself.
type chat struct {
	see     *window.Collector
	ctx     context.Context
	model   model.BaseModel[*schema.Message]
	history []*schema.Message
	results int
}

func newChat(t testing.TB, see *window.Collector) *chat {
	t.Helper()
	h := see.Handler()
	ctx, err := einorun.Begin(context.Background(), h, &einorun.RunContext{})
	require.NoError(t, err)
	m, err := h.WrapModel(ctx, answering{}, nil)
	require.NoError(t, err)
	return &chat{see: see, ctx: ctx, model: m, history: []*schema.Message{schema.SystemMessage("Be brief."), schema.UserMessage("Read all days.")}}
}

// answering is a model that says one thing.
type answering struct{}

func (answering) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return schema.AssistantMessage("done", nil), nil
}

func (answering) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return schema.StreamReaderFromArray([]*schema.Message{schema.AssistantMessage("do", nil), schema.AssistantMessage("ne", nil)}), nil
}

// ask sends the request.
func (c *chat) ask(t testing.TB) {
	t.Helper()
	_, err := c.model.Generate(c.ctx, c.history)
	require.NoError(t, err)
}

// result adds a call and its result of some bytes.
func (c *chat) result(size int) {
	c.results++
	id := fmt.Sprint("c", c.results)
	text := fmt.Sprint("result ", c.results, " ", strings.Repeat("x", max(0, size-12)))
	c.history = append(c.history, schema.AssistantMessage("", []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: "read_day", Arguments: fmt.Sprintf(`{"day":%d}`, c.results)}}}),
		schema.ToolMessage(text, id, schema.WithToolName("read_day")))
}

// clear replaces results that are not replaced yet, but for the newest.
func (c *chat) clear(keep int) {
	history := append([]*schema.Message(nil), c.history...)
	for i, m := range history[:max(0, len(history)-2*keep)] {
		if m == nil || m.Role != schema.Tool || strings.HasPrefix(m.Content, "<persisted-output>") {
			continue
		}
		path := "/tmp/clear/" + m.ToolCallID
		history[i] = schema.ToolMessage(fmt.Sprintf("<persisted-output>An old result of %d bytes was removed and saved to: %s. Read it with read_file.</persisted-output>", len(m.Content), path), m.ToolCallID, schema.WithToolName(m.ToolName))
		c.see.Event(c.ctx, einolean.Event{Kind: einolean.KindResultCleared, CallID: m.ToolCallID, Tool: m.ToolName,
			Output: &einolean.OutputChange{Before: einolean.Size{Bytes: len(m.Content), Tokens: int64(len(m.Content) / 4)}, After: einolean.Size{Bytes: 100, Tokens: 25}, Path: path}})
	}
	c.history = history
}

// talk has a conversation of many calls, of which every 25th clears old results.
func (c *chat) talk(t testing.TB, calls int) {
	t.Helper()
	for i := range calls {
		c.result(3000)
		if i%25 == 24 {
			c.clear(10)
		}
		c.ask(t)
	}
}

func named(name string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return name, nil }
}

//claim:window-02
func TestCollector_KeepsAndLogsTwoThousandCalls(t *testing.T) {
	calls := 2000
	if testing.Short() || race.Enabled { // the work grows with the square, and one goroutine does it all
		calls = 200
	}
	var log bytes.Buffer
	see := window.New(window.Config{Log: &log, Conversation: named("c")})
	newChat(t, see).talk(t, calls)
	require.NoError(t, see.LogError())
	kept, err := see.Kept()
	require.NoError(t, err)
	t.Logf("a log of %.1f MB, %.1f MB in memory", float64(log.Len())/1e6, float64(kept)/1e6)
	require.Less(t, log.Len(), 20_000_000)
	var dump bytes.Buffer
	require.NoError(t, see.WriteJSON(&dump))
	require.Less(t, dump.Len(), 20_000_000)
	for name, file := range map[string]io.Reader{"log": &log, "dump": &dump} {
		all, err := window.ReadJSON(file)
		require.NoError(t, err, name)
		require.Len(t, all, 1)
		require.Len(t, all[0].Calls, calls)
		whole(t, all[0], 100)
		require.Equal(t, see.Conversation("c").Totals(), all[0].Totals(), name)
	}
	c := see.Conversation("c")
	require.Zero(t, c.Dropped)
	whole(t, c, 100)
	require.Equal(t, calls/25*25-10, c.Totals().Omissions)
	last := c.Calls[calls-1]
	require.Len(t, last.Parts(), 2+2*calls)
	require.Len(t, last.NewParts(), 2+25, "the call and its result, and the results that were cleared")
}

// whole holds that every call's sums are those of its parts, looking at each step-th.
func whole(t *testing.T, c *window.Conversation, step int) {
	t.Helper()
	for i := 0; i < len(c.Calls); i += step {
		call := c.Calls[i]
		by, lacks, tokens := map[window.Category]int{}, 0, 0
		for _, p := range call.Parts() {
			by[p.Category] += p.Tokens
			tokens += p.Tokens
			if _, kept := c.Texts[p.Text]; !kept {
				t.Fatalf("call %d: no text %d", call.N, p.Text)
			}
			if p.Omission != nil {
				lacks += p.Omission.Before - p.Omission.After
			}
		}
		require.Equal(t, by, call.By, "call %d", call.N)
		require.Equal(t, call.Tokens.Estimated, tokens, "call %d", call.N)
		require.Equal(t, call.OmittedTokens.Total(), lacks, "call %d", call.N)
	}
}

func TestLog_SizeIsLinearInCalls(t *testing.T) {
	race.Skip(t, "one goroutine makes 450 calls")
	size := func(calls int) int {
		var log bytes.Buffer
		newChat(t, window.New(window.Config{Log: &log})).talk(t, calls)
		return log.Len()
	}
	few, many := size(50), size(400)
	require.Less(t, many, 9*few, "8 times the calls")
}

//claim:security-66
func TestMaxBytes_BoundsOneLongConversation(t *testing.T) {
	const bound = 1 << 20
	see := window.New(window.Config{MaxBytes: bound, Conversation: named("c")})
	c := newChat(t, see)
	sent := 0
	for i := range 15_000 {
		c.history = c.history[:2:2]
		c.result(600)
		c.ask(t)
		if i%500 == 0 {
			kept, err := see.Kept()
			require.NoError(t, err)
			require.LessOrEqual(t, kept, int64(bound))
		}
	}
	got := see.Conversation("c")
	require.NotNil(t, got.Earlier)
	require.Equal(t, 15_000, got.Totals().Calls)
	for _, call := range got.Calls {
		sent += call.Tokens.Estimated
		require.NotEmpty(t, call.By, "a bar keeps its colours")
	}
	require.Equal(t, got.Totals().Sent, got.Earlier.Sent+sent)
	require.Equal(t, 15_000, got.Calls[len(got.Calls)-1].N)
	require.NotEmpty(t, got.Calls[len(got.Calls)-1].Parts())
	require.Positive(t, got.Dropped)
	var file bytes.Buffer
	require.NoError(t, got.WriteJSON(&file))
	back, err := window.ReadJSON(&file)
	require.NoError(t, err)
	require.Equal(t, got.Earlier.Calls, back[0].Earlier.Calls)
	require.Equal(t, 15_000, back[0].Totals().Calls)
}

func TestKept_MatchesHeap(t *testing.T) {
	race.Skip(t, "the detector takes memory itself")
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	newChat(t, window.New(window.Config{})).talk(t, 600) // what the process keeps of texts, such as their estimates, is not the collector's
	for _, bound := range []int64{2 << 20, 64 << 20} {
		before := heap()
		see := window.New(window.Config{MaxBytes: bound, Conversation: named("c")})
		c := newChat(t, see)
		c.talk(t, 600)
		c.history, c.model = nil, nil
		took := heap() - before
		kept, err := see.Kept()
		require.NoError(t, err)
		t.Logf("it says %d bytes, the heap grew by %d", kept, took)
		require.LessOrEqual(t, took, bound)
		require.Less(t, took, kept*3/2, "the count is no pretence")
		runtime.KeepAlive(see)
	}
}

// TestKept_IsRightForRandomScripts runs random scripts: many agents and conversations; requests that grow, shrink,
// change in front, repeat or are prefixes of the last one; media, duplicate and missing IDs; events of every kind;
// abandoned streams, and models that fail.
//
//claim:security-66
func TestKept_IsRightForRandomScripts(t *testing.T) {
	for range race.Cases(60) {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 1))
		bound := int64(3000 << r.IntN(9))
		see := window.New(window.Config{MaxBytes: bound, Texts: window.Texts(r.IntN(3)), Conversation: func(context.Context) (string, error) {
			if r.IntN(8) == 0 {
				return "", nil
			}
			return fmt.Sprint("c", r.IntN(4)), nil
		}})
		var chats []*chat
		for range 150 {
			if len(chats) == 0 || r.IntN(12) == 0 {
				chats = append(chats, newChat(t, see))
			}
			step(t, r, chats[r.IntN(len(chats))])
			kept, err := see.Kept()
			require.NoError(t, err, "seed %d", seed)
			require.LessOrEqual(t, kept, max(bound, oneCall), "seed %d", seed)
		}
		for c := range see.Conversations() {
			for _, call := range c.Calls {
				if parts := call.Parts(); parts != nil {
					tokens := 0
					for _, p := range parts {
						tokens += p.Tokens
					}
					require.Equal(t, call.Tokens.Estimated, tokens, "seed %d, call %d", seed, call.N)
				}
			}
		}
	}
}

// oneCall is what the figures of one call and its conversation take, which stay.
const oneCall = 6000

// step lets something random happen.
func step(t *testing.T, r *rand.Rand, c *chat) {
	switch r.IntN(10) {
	case 0:
		c.history = c.history[:1+r.IntN(len(c.history))]
	case 1:
		c.history = append([]*schema.Message{schema.SystemMessage(fmt.Sprint("It is ", r.IntN(9), " o'clock."))}, c.history[1:]...)
	case 2:
		c.clear(r.IntN(3))
	case 3:
		id := []string{"", "c1", "twice"}[r.IntN(3)]
		c.history = append(c.history, schema.AssistantMessage("hm", []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: "cat", Arguments: `{"file_path":"/tmp/clear/c1"}`}}, {ID: id}}),
			schema.ToolMessage(strings.Repeat("y", r.IntN(4000)), id), schema.ToolMessage("", id))
	case 4:
		url := "https://example.com/a.png"
		c.history = append(c.history, &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{{Type: schema.ChatMessagePartTypeText, Text: "look"},
			{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{URL: &url}}}}}, nil)
	case 5:
		kinds := []einolean.Kind{einolean.KindToolsLoaded, einolean.KindResultTruncated, einolean.KindResultCleared,
			einolean.KindResultReferred, einolean.KindResultRead, einolean.KindCatalogChanged, einolean.KindToolsSearched}
		c.see.Event(c.ctx, einolean.Event{Kind: kinds[r.IntN(len(kinds))], CallID: fmt.Sprint("c", r.IntN(9)), Err: errors.New("broken"), Tools: &einolean.ToolChange{Added: []string{fmt.Sprint("tool", r.IntN(50))}, AddedCount: 1},
			Output: &einolean.OutputChange{Before: einolean.Size{Tokens: int64(r.IntN(4000))}, Path: "/tmp/trunc/" + strings.Repeat("p", r.IntN(400))}, Search: &einolean.Search{Query: strings.Repeat("q ", r.IntN(900)), Hits: make([]einolean.Hit, r.IntN(40))}})
	default:
		c.result(r.IntN(6000))
	}
	tools := model.WithTools([]*schema.ToolInfo{{Name: fmt.Sprint("tool", r.IntN(4)), Desc: "does"}, {Name: "read_day", Desc: strings.Repeat("d", r.IntN(500))}})
	if r.IntN(3) > 0 {
		_, err := c.model.Generate(c.ctx, c.history, tools)
		require.NoError(t, err)
		return
	}
	stream, err := c.model.Stream(c.ctx, c.history, tools)
	require.NoError(t, err)
	for n := r.IntN(4); n > 0 && err == nil; n-- {
		_, err = stream.Recv()
	}
	stream.Close()
}

func TestRecording_IsLinearInClearedResults(t *testing.T) {
	race.Skip(t, "the detector allocates itself")
	// The paths that notices name are looked up, not looked for: a call costs no more
	// for a conversation that has a thousand of them.
	cost := func(clear bool) (allocated float64, fastest time.Duration) {
		see := window.New(window.Config{})
		c := newChat(t, see)
		for range 1000 {
			c.result(400)
		}
		if clear {
			c.clear(0)
		}
		c.ask(t)
		fastest = time.Hour
		allocated = race.Allocations(10, func() {
			begin := time.Now()
			c.ask(t)
			fastest = min(fastest, time.Since(begin))
		})
		return allocated, fastest
	}
	plain, quick := cost(false)
	cleared, slow := cost(true)
	t.Logf("%.0f and %.0f allocations, %s and %s", plain, cleared, quick, slow)
	require.LessOrEqual(t, cleared, 3*plain)
	require.Less(t, slow, 40*quick, "what compares each with each takes more than a hundred times as long")
}

func TestRedact_CalledOncePerText(t *testing.T) {
	seen := map[string]int{}
	see := window.New(window.Config{Redact: func(s string) string { seen[s]++; return s }})
	c := newChat(t, see)
	c.talk(t, 60)
	for text, times := range seen {
		if strings.HasPrefix(text, "result ") || strings.HasPrefix(text, "<persisted") {
			require.Equal(t, 1, times, text[:20])
		}
	}
}

func BenchmarkRecording(b *testing.B) {
	for _, cleared := range []bool{false, true} {
		b.Run(fmt.Sprint("cleared=", cleared), func(b *testing.B) {
			see := window.New(window.Config{})
			c := newChat(b, see)
			for range 1000 {
				c.result(400)
			}
			if cleared {
				c.clear(0)
			}
			c.ask(b)
			b.ReportAllocs()
			for b.Loop() {
				c.ask(b)
			}
		})
	}
}
