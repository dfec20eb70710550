// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/window"
)

// alone is a collector whose only conversation is "c".
func alone() *window.Collector {
	return window.New(window.Config{Texts: window.TextsAll, Conversation: func(context.Context) (string, error) { return "c", nil }})
}

func TestCollector_RecordsEachModelOfFailover(t *testing.T) {
	adktest.Both(t, failsOver[*schema.Message], failsOver[*schema.AgenticMessage])
}

func failsOver[M adk.MessageType](t *testing.T, streaming bool) {
	see := alone()
	bad := &moody[M]{Model: adktest.Script[M](), refuse: 1}
	good := adktest.Script[M](adktest.Say("from the other one"))
	a := adktest.Agent[M]{Streaming: streaming, Handlers: adktest.Handlers(window.HandlerFor[M](see)), Configure: func(c *adk.TypedChatModelAgentConfig[M]) {
		c.Model = bad
		c.ModelFailoverConfig = &adk.ModelFailoverConfig[M]{MaxRetries: 1,
			ShouldFailover: func(context.Context, M, error) bool { return true },
			GetFailoverModel: func(_ context.Context, f *adk.FailoverContext[M]) (model.BaseModel[M], []M, error) {
				if f.FailoverAttempt == 0 {
					return bad, f.InputMessages, nil
				}
				return good, f.InputMessages, nil
			},
		}
	}}
	require.NoError(t, a.Run(context.Background(), []M{adktest.User[M]("Go.")}).Err)
	calls := see.Conversation("c").Calls
	require.Len(t, calls, 2)
	require.Equal(t, errMoody.Error(), calls[0].Error)
	require.Empty(t, calls[1].Error)
	require.Equal(t, "from the other one", calls[1].Answer)
	for _, call := range calls {
		require.False(t, call.Unfinished)
		require.Positive(t, call.Tokens.Estimated)
	}
}

// endless is a model that is at work until it is told to stop.
type endless[M adk.MessageType] struct {
	started chan struct{}
	first   M
}

func (e endless[M]) Generate(ctx context.Context, _ []M, _ ...model.Option) (M, error) {
	close(e.started)
	<-ctx.Done()
	return *new(M), ctx.Err()
}

func (e endless[M]) Stream(ctx context.Context, _ []M, _ ...model.Option) (*schema.StreamReader[M], error) {
	read, write := schema.Pipe[M](1)
	write.Send(e.first, nil)
	go func() {
		defer write.Close()
		close(e.started)
		<-ctx.Done()
		write.Send(*new(M), ctx.Err())
	}()
	return read, nil
}

func TestCollector_ClosesCanceledCall(t *testing.T) {
	adktest.Both(t, cancelled[*schema.Message], cancelled[*schema.AgenticMessage])
}

func cancelled[M adk.MessageType](t *testing.T, streaming bool) {
	see := alone()
	first, err := adktest.Whole[M](adktest.Say("so far"))
	require.NoError(t, err)
	m := endless[M]{make(chan struct{}), first}
	a := adktest.Agent[M]{Streaming: streaming, Handlers: adktest.Handlers(window.HandlerFor[M](see)), Configure: func(c *adk.TypedChatModelAgentConfig[M]) { c.Model = m }}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-m.started
		cancel()
	}()
	out := a.Run(ctx, []M{adktest.User[M]("Go.")})
	require.ErrorIs(t, out.Err, context.Canceled)
	calls := see.Conversation("c").Calls
	require.Len(t, calls, 1)
	require.True(t, calls[0].Error != "" || calls[0].Unfinished, "it is closed with its error, or marked")
	require.Positive(t, calls[0].Tokens.Estimated)

	a.Configure, a.Model = nil, adktest.Script[M](adktest.Say("again"))
	require.NoError(t, a.Run(context.Background(), []M{adktest.User[M]("Go.")}).Err)
	calls = see.Conversation("c").Calls
	require.Len(t, calls, 2)
	require.Equal(t, "again", calls[1].Answer)
	require.False(t, calls[1].Unfinished)
}

func TestConversation_SpansInterruptAndResume(t *testing.T) {
	adktest.Both(t, resumes[*schema.Message], resumes[*schema.AgenticMessage])
}

func resumes[M adk.MessageType](t *testing.T, streaming bool) {
	see, ctx := alone(), context.Background()
	ask := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "ask", Desc: "Asks a person"}, func(ctx context.Context, _ string) (string, error) {
		if was, _, _ := tool.GetInterruptState[string](ctx); !was {
			return "", tool.StatefulInterrupt(ctx, "May I?", "asked")
		}
		return "You may.", nil
	})
	a := adktest.Agent[M]{Streaming: streaming, Store: &adktest.Store{}, Tools: []tool.BaseTool{ask}, Handlers: adktest.Handlers(window.HandlerFor[M](see)),
		Model: adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "a1", Name: "ask", Args: `{}`}), adktest.Say("done"))}
	first := a.Run(ctx, []M{adktest.User[M]("Ask.")}, adk.WithCheckPointID("one"))
	require.NoError(t, first.Err)
	require.NotNil(t, first.Interrupted)
	require.Len(t, see.Conversation("c").Calls, 1)
	require.False(t, see.Conversation("c").Calls[0].Unfinished, "the call ended before the tool asked")

	runner, err := a.Runner(ctx)
	require.NoError(t, err)
	cause := ""
	for _, c := range first.Interrupted.InterruptContexts {
		if c.IsRootCause {
			cause = c.ID
		}
	}
	events, err := runner.ResumeWithParams(ctx, "one", &adk.ResumeParams{Targets: map[string]any{cause: "yes"}})
	require.NoError(t, err)
	require.NoError(t, adktest.Collect(events).Err)
	c := see.Conversation("c")
	require.Len(t, c.Calls, 2)
	require.Equal(t, "done", c.Calls[1].Answer)
	require.Equal(t, c.Calls[0].Tokens.Estimated, c.Calls[1].Prefix.Same, "what was sent before stands in front")
	for _, call := range c.Calls {
		require.False(t, call.Unfinished)
		require.Empty(t, call.Error)
	}
}

// counted is wordy for AgenticMessage.
type counted struct {
	*adktest.Model[*schema.AgenticMessage]
}

func (w counted) Generate(ctx context.Context, in []*schema.AgenticMessage, opts ...model.Option) (*schema.AgenticMessage, error) {
	out, err := w.Model.Generate(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, msg := range in {
		n += 6 + len(adktest.Text(msg))*10/37
		for _, c := range adktest.Calls(msg) {
			n += 6 + len(c.Args+c.Name)*10/37
		}
	}
	for _, t := range model.GetCommonOptions(&model.Options{}, opts...).Tools {
		n += 6 + len(fmt.Sprint(t.Name, t.Desc, schemaText(t)))*10/37
	}
	out.ResponseMeta = &schema.AgenticResponseMeta{TokenUsage: &schema.TokenUsage{PromptTokens: n, CompletionTokens: 5, TotalTokens: n + 5}}
	return out, nil
}

func schemaText(t *schema.ToolInfo) string {
	s, _ := t.ToJSONSchema()
	b, _ := s.MarshalJSON()
	return string(b)
}

func TestCalibration_AppliesToAgenticMessages(t *testing.T) {
	s := newScene(t, false, window.Config{}, script[*schema.AgenticMessage]())
	scripted := s.agent.Model
	s.agent.Configure = func(c *adk.TypedChatModelAgentConfig[*schema.AgenticMessage]) { c.Model = counted{scripted} }
	require.NoError(t, s.agent.Run(context.Background(), []*schema.AgenticMessage{schema.UserAgenticMessage("Go.")}).Err)
	calls := only(t, s.see).Calls
	require.Len(t, calls, 5)
	for _, call := range calls[2:] {
		require.NotNil(t, call.Tokens.Reported)
		require.InEpsilon(t, call.Tokens.Reported.PromptTokens, call.Tokens.Calibrated, .05, "call %d", call.N)
	}
}

// TestRecording_TakesLittleOfAModelCall checks that recording a call with 1,000 messages of 4 KB takes little of
// the 300 ms of a fast model: at most a thirtieth, and a hundredth on an idle machine.
//
//claim:window-04
func TestRecording_TakesLittleOfAModelCall(t *testing.T) {
	race.Skip(t, "the detector is what takes long")
	history := make([]*schema.Message, 0, 1000)
	for i := range 250 {
		id := fmt.Sprint("call", i)
		history = append(history, schema.UserMessage(strings.Repeat("u", 4000)), schema.AssistantMessage(strings.Repeat("a", 4000), []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: "t", Arguments: "{}"}}}),
			schema.ToolMessage(strings.Repeat("result ", 600), id), schema.AssistantMessage(strings.Repeat("d", 4000), nil))
	}
	see := window.New(window.Config{})
	h := see.Handler()
	ctx, _, err := h.BeforeAgent(context.Background(), nil)
	require.NoError(t, err)
	m := adktest.Script[*schema.Message]()
	watched, err := h.WrapModel(ctx, m, nil)
	require.NoError(t, err)
	const most = 300 * time.Millisecond / 30
	fastest := race.Fastest(most, func() {
		m.Reset()
		_, err := watched.Generate(ctx, history)
		require.NoError(t, err)
	})
	t.Logf("recorded in %s", fastest)
	require.Less(t, fastest, most)
}

func TestWrapModel_ReturnsModelError(t *testing.T) {
	see := alone()
	a := adktest.Agent[*schema.Message]{Handlers: adktest.Handlers(see.Handler()), Model: adktest.Script[*schema.Message](adktest.Turn{Err: errMoody})}
	out := a.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")})
	require.True(t, errors.Is(out.Err, errMoody), "the collector passes it on as it is")
	require.Equal(t, errMoody.Error(), see.Conversation("c").Calls[0].Error)
}

func TestModelCall_NamesConversationAndModel(t *testing.T) {
	adktest.Both(t, saysWhose[*schema.Message], saysWhose[*schema.AgenticMessage])
}

func saysWhose[M adk.MessageType](t *testing.T, streaming bool) {
	see := alone()
	a := adktest.Agent[M]{Streaming: streaming, Handlers: adktest.Handlers(window.HandlerFor[M](see)), Model: adktest.Script[M]()}
	require.NoError(t, a.Run(context.Background(), []M{adktest.User[M]("Go.")}, adk.WithChatModelOptions([]model.Option{model.WithModel("small-1")})).Err)
	call := see.Conversation("c").Calls[0]
	require.Equal(t, "c", call.Conversation)
	require.Equal(t, "small-1", call.Model)
}

// odd is a model whose provider reports what it likes.
type odd struct {
	answering
	usage *schema.TokenUsage
}

func (o odd) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	m := schema.AssistantMessage("done", nil)
	m.ResponseMeta = &schema.ResponseMeta{Usage: o.usage}
	return m, nil
}

func TestCalibration_ToleratesImplausibleUsage(t *testing.T) {
	for _, reports := range [][]int{{0, 0, 0, 0}, {-5, 700, -5, 700}, {1, 1 << 60, 1, 1 << 60}, {900, 900, 900, 900}, {3000, 1500, 800, 40}, {1 << 40, 0, -1, 1}} {
		see := window.New(window.Config{Conversation: named("c")})
		c := newChat(t, see)
		for _, n := range reports {
			h := see.Handler()
			m, err := h.WrapModel(c.ctx, odd{usage: &schema.TokenUsage{PromptTokens: n, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 2 * n}}}, nil)
			require.NoError(t, err)
			c.model = m
			c.result(500)
			c.ask(t)
			c.history = c.history[:len(c.history)-1] // shorter again: a prefix of the last request
			c.ask(t)
		}
		got := see.Conversation("c")
		for _, call := range got.Calls {
			require.Positive(t, call.Tokens.Estimated)
			require.Positive(t, call.Tokens.Calibrated, "%v", reports)
		}
		sum := got.Totals()
		require.GreaterOrEqual(t, sum.SentHits, 0)
		require.LessOrEqual(t, sum.SentHits, sum.Sent, "%v: no more comes from a cache than is sent", reports)
		require.LessOrEqual(t, sum.WithoutHits, sum.Without)
		sent, without := sum.Cost(.1, 1.25)
		require.Positive(t, sent)
		require.Positive(t, without)
	}
}
