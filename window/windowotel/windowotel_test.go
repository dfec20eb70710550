// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package windowotel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/semconv/v1.40.0/genaiconv"
	api "go.opentelemetry.io/otel/trace"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/windowotel"
)

// lab is a Telemetry whose spans and metrics stay in memory.
type lab struct {
	tell   *windowotel.Telemetry
	spans  *tracetest.InMemoryExporter
	traces *trace.TracerProvider
	reader *metric.ManualReader
}

func newLab(t *testing.T, c windowotel.Config) lab {
	t.Helper()
	l := lab{spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	l.traces = trace.NewTracerProvider(trace.WithSyncer(l.spans))
	c.TracerProvider, c.MeterProvider = l.traces, metric.NewMeterProvider(metric.WithReader(l.reader))
	tell, err := windowotel.New(c)
	require.NoError(t, err)
	l.tell = tell
	return l
}

// sums are the metrics by name and attributes: the sum of a counter or a histogram.
func (l lab) sums(t *testing.T) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, l.reader.Collect(context.Background(), &all))
	got := map[string]float64{}
	key := func(name string, set attribute.Set) string {
		var parts []string
		for _, kv := range set.ToSlice() {
			parts = append(parts, string(kv.Key)+"="+kv.Value.Emit())
		}
		return strings.TrimSpace(name + " " + strings.Join(parts, " "))
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					got[key(m.Name, p.Attributes)] = float64(p.Value)
				}
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					got[key(m.Name, p.Attributes)] = float64(p.Sum)
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					got[key(m.Name, p.Attributes)] = p.Sum
				}
			}
		}
	}
	return got
}

func call() *window.ModelCall {
	without := 50_000
	return &window.ModelCall{
		N: 3, Run: 1, Conversation: "acme/42", Agent: "guide", Model: "small-1", Attempt: 1, Stream: true, First: time.Second / 2, Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Took: 2 * time.Second,
		By:     map[window.Category]int{window.HelpTools: 900, window.Result: 4100},
		Tokens: window.Tokens{Estimated: 5000, Calibrated: 5200, Reported: &schema.TokenUsage{PromptTokens: 5100, CompletionTokens: 30, CompletionTokensDetails: schema.CompletionTokensDetails{ReasoningTokens: 11}, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 800, CacheWriteTokens: 7}}},
		Prefix: window.Prefix{Same: 900, Lost: 3000, Cause: "tools_loaded", Part: 1},
		Hidden: window.Hidden{Tools: 400, Tokens: 36_000}, Without: &without,
		OmittedTokens: window.OmittedTokens{Results: 2, Cleared: 8960, Cut: 1000},
		Events: []einolean.Event{
			{Kind: einolean.KindToolsSearched, Search: &einolean.Search{Query: "convert miles", Took: time.Second, Hits: []einolean.Hit{{Name: "units"}}}},
			{Kind: einolean.KindResultTruncated}, {Kind: einolean.KindResultCleared}, {Kind: einolean.KindResultRead},
		},
	}
}

func TestCall_CreatesSpanBelowCallers(t *testing.T) {
	l := newLab(t, windowotel.Config{Provider: "openai", Model: "another"})
	ctx, parent := l.traces.Tracer("app").Start(context.Background(), "request")
	l.tell.Call(ctx, call())
	failed := call()
	failed.Error = "the call failed"
	l.tell.Call(ctx, failed)
	parent.End()
	spans := l.spans.GetSpans()
	require.Len(t, spans, 3)
	chat := spans[0]
	require.Equal(t, "chat small-1", chat.Name)
	require.Equal(t, api.SpanKindClient, chat.SpanKind)
	require.Equal(t, parent.SpanContext().SpanID(), chat.Parent.SpanID())
	require.Equal(t, 2*time.Second, chat.EndTime.Sub(chat.StartTime))
	got := map[string]any{}
	for _, kv := range chat.Attributes {
		got[string(kv.Key)] = kv.Value.AsInterface()
	}
	for key, want := range map[string]any{
		"gen_ai.request.model": "small-1", "gen_ai.conversation.id": "acme/42", "gen_ai.provider.name": "openai", "gen_ai.agent.name": "guide",
		"gen_ai.request.stream": true, "gen_ai.response.time_to_first_chunk": .5, "gen_ai.usage.reasoning.output_tokens": int64(11),
		"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": int64(5100), "gen_ai.usage.output_tokens": int64(30),
		"gen_ai.usage.cache_read.input_tokens": int64(800), "gen_ai.usage.cache_write.input_tokens": int64(7), "gen_ai.conversation.compacted": true,
		"einolean.window.tokens": int64(5000), "einolean.window.result.tokens": int64(4100), "einolean.window.help_tools.tokens": int64(900),
		"einolean.without.tokens": int64(50_000), "einolean.hidden.tools": int64(400), "einolean.hidden.tokens": int64(36_000), "einolean.left_out.tokens": int64(9960),
		"einolean.prefix.tokens": int64(900), "einolean.prefix.lost_tokens": int64(3000), "einolean.prefix.cause": "tools_loaded", "einolean.attempt": int64(1),
		"einolean.search.queries": int64(1), "einolean.results.cut": int64(1), "einolean.results.cleared": int64(1), "einolean.pages.read": int64(1),
	} {
		require.Equal(t, want, got[key], key)
	}
	require.NotContains(t, got, "gen_ai.retrieval.query.text", "queries are content")
	require.NotContains(t, got, "error.type")
	require.Equal(t, codes.Error, spans[1].Status.Code)
	require.Contains(t, spans[1].Attributes, attribute.String("error.type", "_OTHER"))
}

func TestConfig_ModelIsFallback(t *testing.T) {
	l := newLab(t, windowotel.Config{Model: "small-1"})
	c := call()
	c.Model, c.Agent = "", ""
	l.tell.Call(context.Background(), c)
	span := l.spans.GetSpans()[0]
	require.Equal(t, "chat small-1", span.Name)
	require.Contains(t, span.Attributes, attribute.String("gen_ai.request.model", "small-1"))
	for _, kv := range span.Attributes {
		require.NotContains(t, []string{"gen_ai.provider.name", "gen_ai.agent.name"}, string(kv.Key), "what is not known is left out")
	}
}

// TestNames_FollowConventions lists the names of release v0.1.0 of the conventions for generative
// AI; those that the Go constants of earlier conventions have are compared with them.
func TestNames_FollowConventions(t *testing.T) {
	l := newLab(t, windowotel.Config{Provider: "openai", Content: true})
	c := call()
	c.Error = "the call failed"
	l.tell.Call(context.Background(), c)
	known := map[attribute.Key]bool{
		semconv.GenAIOperationNameKey: true, semconv.GenAIProviderNameKey: true, semconv.GenAIRequestModelKey: true, "gen_ai.request.stream": true,
		semconv.GenAIAgentNameKey: true, semconv.GenAIConversationIDKey: true, "gen_ai.conversation.compacted": true,
		semconv.GenAIUsageInputTokensKey: true, semconv.GenAIUsageOutputTokensKey: true, "gen_ai.usage.reasoning.output_tokens": true,
		semconv.GenAIUsageCacheReadInputTokensKey: true, "gen_ai.usage.cache_write.input_tokens": true, "gen_ai.token.modality": true,
		"gen_ai.response.time_to_first_chunk": true, semconv.ErrorTypeKey: true, semconv.GenAIRetrievalQueryTextKey: true,
	}
	metrics := []string{
		"gen_ai.client.inference.duration", "gen_ai.client.inference.operation.input_tokens", "gen_ai.client.inference.operation.output_tokens",
		"gen_ai.client.inference.time_to_first_chunk", "gen_ai.client.inference.usage.cache_read.input_tokens",
		"gen_ai.client.inference.usage.cache_write.input_tokens", "gen_ai.client.inference.usage.input_tokens",
		"gen_ai.client.inference.usage.output_tokens", "gen_ai.client.inference.usage.reasoning.output_tokens",
	}
	l.tell.Call(context.Background(), call())
	used, names := map[attribute.Key]bool{}, map[string]bool{}
	for _, kv := range l.spans.GetSpans()[0].Attributes {
		used[kv.Key] = true
	}
	for name := range l.sums(t) {
		name, attributes, _ := strings.Cut(name, " ")
		names[name] = !strings.HasPrefix(name, "einolean.")
		for _, kv := range strings.Fields(attributes) {
			key, _, _ := strings.Cut(kv, "=")
			used[attribute.Key(key)] = true
		}
	}
	maps.DeleteFunc(used, func(key attribute.Key, _ bool) bool { return strings.HasPrefix(string(key), "einolean.") })
	maps.DeleteFunc(names, func(_ string, ofConventions bool) bool { return !ofConventions })
	require.Equal(t, known, used)
	require.Equal(t, metrics, slices.Sorted(maps.Keys(names)))
	require.Equal(t, "openai", string(genaiconv.ProviderNameOpenAI))
}

// What the conventions report only where it is so.
func TestCall_LeavesOutWhatDoesNotApply(t *testing.T) {
	for name, c := range map[string]*window.ModelCall{
		"nothing left out":           {Start: time.Now()},
		"truncated when it returned": {Start: time.Now(), OmittedTokens: window.OmittedTokens{Results: 1, Cut: 900}, Tokens: window.Tokens{Reported: &schema.TokenUsage{PromptTokens: 5}}},
	} {
		l := newLab(t, windowotel.Config{})
		l.tell.Call(context.Background(), c)
		for _, kv := range l.spans.GetSpans()[0].Attributes {
			require.NotContains(t, []string{
				"gen_ai.conversation.compacted", "gen_ai.request.stream", "gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.reasoning.output_tokens",
			}, string(kv.Key), name)
		}
	}
	for name, out := range map[string]window.OmittedTokens{"cleared": {Results: 1, Cleared: 900}, "referred": {Results: 1, Referred: 900}} {
		l := newLab(t, windowotel.Config{})
		l.tell.Call(context.Background(), &window.ModelCall{Start: time.Now(), OmittedTokens: out})
		require.Contains(t, l.spans.GetSpans()[0].Attributes, attribute.Bool("gen_ai.conversation.compacted", true), name)
	}
}

func TestAnnotate_WritesToCallersSpan(t *testing.T) {
	l := newLab(t, windowotel.Config{Annotate: true, Content: true})
	ctx, mine := l.traces.Tracer("app").Start(context.Background(), "model")
	l.tell.Call(ctx, call())
	mine.End()
	spans := l.spans.GetSpans()
	require.Len(t, spans, 1)
	require.Contains(t, spans[0].Attributes, attribute.String("gen_ai.retrieval.query.text", "convert miles"))
	for name := range l.sums(t) {
		require.False(t, strings.HasPrefix(name, "gen_ai."), "another instrumentation counts it: %s", name)
	}
}

func TestMetrics_CountSavingsAndCosts(t *testing.T) {
	l := newLab(t, windowotel.Config{Provider: "openai"})
	ctx := context.Background()
	l.tell.Call(ctx, call())
	for _, e := range []einolean.Event{
		{Kind: einolean.KindToolsSearched, Search: &einolean.Search{Took: time.Second, Hits: []einolean.Hit{{}}}},
		{Kind: einolean.KindToolsSearched, Search: &einolean.Search{}},
		{Kind: einolean.KindToolsSearched, Search: &einolean.Search{Fallback: true}},
		{Kind: einolean.KindToolsLoaded, Tools: &einolean.ToolChange{AddedCount: 5}},
		{Kind: einolean.KindToolsLoaded, Repeat: true, Tools: &einolean.ToolChange{AddedCount: 7}},
		{Kind: einolean.KindCallGated, Tool: "secret_tool"}, {Kind: einolean.KindToolsDenied, CallID: "c"},
		{Kind: einolean.KindResultRead, Output: &einolean.OutputChange{After: einolean.Size{Tokens: 64}}}, {Kind: einolean.KindResultRead},
		{Kind: einolean.KindStoreFailed, Err: fmt.Errorf("storing: %w", &backend.ScopeFullError{Scope: "acme/42"})},
		{Kind: einolean.KindStoreFailed}, {Kind: einolean.KindToolRefused}, {Kind: einolean.KindToolsSearched}, {Kind: "unknown"},
	} {
		l.tell.Event(ctx, e)
	}
	got := l.sums(t)
	require.Equal(t, map[string]float64{
		"gen_ai.client.inference.time_to_first_chunk gen_ai.agent.name=guide gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=small-1":                                          .5,
		"gen_ai.client.inference.duration gen_ai.agent.name=guide gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=small-1":                                                     2,
		"gen_ai.client.inference.operation.input_tokens gen_ai.agent.name=guide gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=small-1":                                       5100,
		"gen_ai.client.inference.operation.output_tokens gen_ai.agent.name=guide gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=small-1":                                      30,
		"gen_ai.client.inference.usage.input_tokens gen_ai.agent.name=guide gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=small-1 gen_ai.token.modality=unknown":             5100,
		"gen_ai.client.inference.usage.output_tokens gen_ai.agent.name=guide gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=small-1 gen_ai.token.modality=unknown":            30,
		"gen_ai.client.inference.usage.cache_read.input_tokens gen_ai.agent.name=guide gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=small-1 gen_ai.token.modality=unknown":  800,
		"gen_ai.client.inference.usage.cache_write.input_tokens gen_ai.agent.name=guide gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=small-1 gen_ai.token.modality=unknown": 7,
		"gen_ai.client.inference.usage.reasoning.output_tokens gen_ai.agent.name=guide gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=small-1 gen_ai.token.modality=unknown":  11,
		"einolean.window.tokens einolean.category=help_tools gen_ai.agent.name=guide":                                                                                                                      900,
		"einolean.window.tokens einolean.category=result gen_ai.agent.name=guide":                                                                                                                          4100,
		"einolean.saved.tokens einolean.rule=hidden gen_ai.agent.name=guide":                                                                                                                               36_000,
		"einolean.saved.tokens einolean.rule=cleared gen_ai.agent.name=guide":                                                                                                                              8960,
		"einolean.saved.tokens einolean.rule=cut gen_ai.agent.name=guide":                                                                                                                                  1000,
		"einolean.prefix.lost.tokens einolean.cause=tools_loaded gen_ai.agent.name=guide":                                                                                                                  3000,
		"einolean.search.duration":                        1,
		"einolean.search.count einolean.outcome=found":    1,
		"einolean.search.count einolean.outcome=empty":    1,
		"einolean.search.count einolean.outcome=fallback": 1,
		"einolean.tools.loaded":                           5,
		"einolean.tools.gated":                            1,
		"einolean.tools.denied":                           1,
		"einolean.read_back.count":                        2,
		"einolean.read_back.tokens":                       64,
		"einolean.store.failures":                         1,
		"einolean.store.failures einolean.scope=acme/42":  1,
		"einolean.tools.refused":                          1,
	}, got)
	require.NotContains(t, fmt.Sprint(got), "secret")
}

// unhappy is a model whose errors quote what they should not.
type unhappy struct{ model.BaseChatModel }

func (unhappy) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return nil, errors.New("the key " + secret + " is not valid")
}

const secret = "sk-hunter2-0123456789"

// What Redact hides, and what TextsNone does not keep, is in no span and no metric either.
func TestRedact_KeepsSecretsOutOfSpansAndMetrics(t *testing.T) {
	for what, c := range map[string]window.Config{
		"redacted": {Texts: window.TextsAll, Redact: func(s string) string { return strings.ReplaceAll(s, secret, "•••") }},
		"no texts": {Texts: window.TextsNone},
	} {
		for _, annotate := range []bool{false, true} {
			l := newLab(t, windowotel.Config{Annotate: annotate, Content: true})
			c.OnCall = l.tell.Call
			see := window.New(c)
			ctx, mine := l.traces.Tracer("app").Start(context.Background(), "model")
			ctx, _, err := see.Handler().BeforeAgent(ctx, &adk.ChatModelAgentContext{})
			require.NoError(t, err)
			both := einolean.Tee(see.Event, l.tell.Event)
			for _, kind := range []einolean.Kind{einolean.KindToolsSearched, einolean.KindToolsPrefetched, einolean.KindToolsLoaded, einolean.KindCallGated, einolean.KindToolsDenied,
				einolean.KindResultTruncated, einolean.KindResultRead, einolean.KindStoreFailed, einolean.KindToolRefused, einolean.KindServerDown, einolean.KindProgramEnded} {
				both(ctx, einolean.Event{
					Kind: kind, Tool: secret, CallID: secret, Server: secret, Err: errors.New(secret), Search: &einolean.Search{Query: "use " + secret, Index: secret, Hits: []einolean.Hit{{Name: secret}}},
					Tools: &einolean.ToolChange{Added: []string{secret}, Phase: secret, Reason: secret}, Output: &einolean.OutputChange{Path: secret, Rule: secret, Reason: secret},
					Program: &einolean.Program{Calls: []einolean.ProgramCalls{{Tool: secret}}},
				})
			}
			m, err := see.Handler().WrapModel(ctx, unhappy{}, nil)
			require.NoError(t, err)
			_, err = m.Generate(ctx, []*schema.Message{schema.UserMessage(secret)}, model.WithTools([]*schema.ToolInfo{{Name: secret, Desc: secret}}))
			require.ErrorContains(t, err, secret, "the agent gets the error as it is")
			mine.End()
			got := fmt.Sprintf("%+v", l.spans.GetSpans())
			for _, span := range l.spans.GetSpans() {
				for _, kv := range span.Attributes {
					got += fmt.Sprint("\n", kv.Key, "=", kv.Value.Emit())
				}
			}
			got += fmt.Sprint(l.sums(t))
			require.Contains(t, got, "einolean.search.queries=2")
			require.NotContains(t, got, "hunter2", what)
		}
	}
}

func TestConfig_ZeroUsesGlobalProviders(t *testing.T) {
	tell, err := windowotel.New(windowotel.Config{})
	require.NoError(t, err)
	tell.Call(context.Background(), call())
	tell.Event(context.Background(), einolean.Event{Kind: einolean.KindCallGated})
}
