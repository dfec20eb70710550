// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package windowotel reports the contents of each model call's window to
// OpenTelemetry:
//
//	telemetry, err := windowotel.New(windowotel.Config{Provider: "openai"})
//	recorder := window.New(window.Config{OnCall: telemetry.Call})
//	searchConfig := toolsearch.Recommended(tools)
//	searchConfig.OnEvent = einolean.Tee(recorder.Event, telemetry.Event) // in reduction.Config, too
//	// recorder.Handler() is the last of the agent's Handlers
//
// Every model call becomes a span of kind client, named "chat" and the model. Its "gen_ai."
// attributes, and the metrics of that prefix, follow release v0.1.0 of the OpenTelemetry
// semantic conventions for generative AI (github.com/open-telemetry/semantic-conventions-genai).
// The parts of the window are attributes under "einolean.". Eino does not tell handlers which
// provider and model an agent has: name them in [Config]. Metrics count the savings, and what they cost in the provider's cache.
// Attributes of metrics have few values: they hold no names of tools, no IDs of calls and no paths. Only
// einolean.scope has more: one for each scope that was full.
// Texts of messages and results are never reported; queries of searches are, if
// [Config.Content] is set.
package windowotel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/cloudwego/eino/schema"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/window"
)

// scope names this package to OpenTelemetry.
const scope = "github.com/einolean/einolean/window/windowotel"

// Config configures a Telemetry. The zero value reports to the global providers.
type Config struct {
	// Provider is the provider's name in the conventions, such as "openai", "anthropic",
	// "deepseek" or "gcp.gemini". They require it, on spans and on metrics. For several
	// providers, make a Telemetry of each and choose by [window.ModelCall]'s Agent. If
	// empty, it is left out.
	Provider string

	// Model is the model of calls whose options name none. If empty, it is left out.
	Model string

	// TracerProvider makes the spans. If nil, defaults to the global one. A no-op
	// provider switches spans off.
	TracerProvider trace.TracerProvider

	// MeterProvider makes the metrics. If nil, defaults to the global one. A no-op
	// provider switches metrics off.
	MeterProvider metric.MeterProvider

	// Annotate writes the attributes to the span that surrounds the call, and makes no
	// spans and no "gen_ai" metrics of its own. It is for agents whose model calls are
	// already traced.
	Annotate bool

	// Content reports the queries of searches too. They hold the model's words.
	Content bool
}

// Telemetry reports to OpenTelemetry. It is safe for concurrent use.
type Telemetry struct {
	annotate, content bool
	provider, model   string
	tracer            trace.Tracer
	meters            meters
}

// New returns a Telemetry. It fails if metrics cannot be created; the error names each.
func New(c Config) (*Telemetry, error) {
	if c.TracerProvider == nil {
		c.TracerProvider = otel.GetTracerProvider()
	}
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	m, err := newMeters(c.MeterProvider.Meter(scope))
	if err != nil {
		return nil, fmt.Errorf("windowotel: %w", err)
	}
	return &Telemetry{annotate: c.Annotate, content: c.Content, provider: c.Provider, model: c.Model, tracer: c.TracerProvider.Tracer(scope), meters: m}, nil
}

// Call reports a model call: it is the OnCall of a [window.Config].
func (t *Telemetry) Call(ctx context.Context, call *window.ModelCall) {
	who := t.who(call)
	t.meters.call(ctx, call, who, !t.annotate)
	attributes := append(t.attributes(call), who...)
	if t.annotate {
		trace.SpanFromContext(ctx).SetAttributes(attributes...)
		return
	}
	name := chat
	if model := t.modelOf(call); model != "" {
		name += " " + model
	}
	_, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(call.Start), trace.WithAttributes(attributes...))
	if call.Error != "" {
		span.SetStatus(codes.Error, call.Error)
	}
	span.End(trace.WithTimestamp(call.Start.Add(call.Took)))
}

// Names of release v0.1.0 of the semantic conventions for generative AI. No Go module has
// constants for them: go.opentelemetry.io/otel/semconv dropped them after v1.41.0.
const (
	operationName   = "gen_ai.operation.name"
	providerName    = "gen_ai.provider.name"
	requestModel    = "gen_ai.request.model"
	requestStream   = "gen_ai.request.stream"
	agentName       = "gen_ai.agent.name"
	conversation    = "gen_ai.conversation.id"
	compacted       = "gen_ai.conversation.compacted"
	inputTokens     = "gen_ai.usage.input_tokens"
	outputTokens    = "gen_ai.usage.output_tokens"
	reasoningTokens = "gen_ai.usage.reasoning.output_tokens"
	cacheRead       = "gen_ai.usage.cache_read.input_tokens"
	cacheWrite      = "gen_ai.usage.cache_write.input_tokens"
	firstChunk      = "gen_ai.response.time_to_first_chunk"
	tokenModality   = "gen_ai.token.modality"
	errorType       = "error.type"
	queryText       = "gen_ai.retrieval.query.text"

	usedInput       = "gen_ai.client.inference.usage.input_tokens"
	usedOutput      = "gen_ai.client.inference.usage.output_tokens"
	usedCacheRead   = "gen_ai.client.inference.usage.cache_read.input_tokens"
	usedCacheWrite  = "gen_ai.client.inference.usage.cache_write.input_tokens"
	usedReasoning   = "gen_ai.client.inference.usage.reasoning.output_tokens"
	operationInput  = "gen_ai.client.inference.operation.input_tokens"
	operationOutput = "gen_ai.client.inference.operation.output_tokens"
	duration        = "gen_ai.client.inference.duration"
	untilFirst      = "gen_ai.client.inference.time_to_first_chunk"
)

// Values of the conventions. Chat is the only operation that is reported. The type of errors is
// unknown, and so is the modality of tokens: Eino's usage has none.
const (
	chat            = "chat"
	otherError      = "_OTHER"
	unknownModality = "unknown"
)

func (t *Telemetry) modelOf(c *window.ModelCall) string { return cmp.Or(c.Model, t.model) }

// who returns the attributes that spans and metrics share: provider, model, agent and error.
func (t *Telemetry) who(c *window.ModelCall) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String(operationName, chat)}
	for _, named := range []struct{ key, value string }{{providerName, t.provider}, {requestModel, t.modelOf(c)}, {agentName, c.Agent}} {
		if named.value != "" {
			all = append(all, attribute.String(named.key, named.value))
		}
	}
	if c.Error != "" {
		all = append(all, attribute.String(errorType, otherError))
	}
	return all
}

// attributes describe a call.
func (t *Telemetry) attributes(c *window.ModelCall) []attribute.KeyValue {
	all := []attribute.KeyValue{
		attribute.Int("einolean.attempt", c.Attempt),
		attribute.Int("einolean.window.tokens", c.Tokens.Estimated),
		attribute.Int("einolean.hidden.tools", c.Hidden.Tools),
		attribute.Int("einolean.hidden.tokens", c.Hidden.Tokens),
		attribute.Int("einolean.left_out.tokens", c.OmittedTokens.Total()),
		attribute.Int("einolean.prefix.tokens", c.Prefix.Same),
		attribute.Int("einolean.prefix.lost_tokens", c.Prefix.Lost),
	}
	if c.Conversation != "" {
		all = append(all, attribute.String(conversation, c.Conversation))
	}
	if c.Stream {
		all = append(all, attribute.Bool(requestStream, true)) // the conventions leave it out otherwise
	}
	if isCompacted(c) {
		all = append(all, attribute.Bool(compacted, true))
	}
	if c.Stream && c.First > 0 {
		all = append(all, attribute.Float64(firstChunk, c.First.Seconds()))
	}
	if c.Without != nil {
		all = append(all, attribute.Int("einolean.without.tokens", *c.Without))
	}
	if c.Prefix.Cause != "" {
		all = append(all, attribute.String("einolean.prefix.cause", c.Prefix.Cause))
	}
	if c.Kept {
		all = append(all, attribute.Bool("einolean.kept", true))
	}
	by := c.By
	for _, category := range window.Categories() {
		if tokens := by[category]; tokens > 0 {
			all = append(all, attribute.Int("einolean.window."+string(category)+".tokens", tokens))
		}
	}
	for _, u := range usageOf(c.Tokens.Reported) {
		all = append(all, attribute.Int(u.attribute, u.tokens))
	}
	return append(all, t.since(c)...)
}

// isCompacted reports whether the request lacks content of earlier requests: results were cleared,
// or replaced by a reference to an equal one. A result that was truncated when it returned was
// never in the conversation as a whole.
func isCompacted(c *window.ModelCall) bool {
	return c.OmittedTokens.Cleared > 0 || c.OmittedTokens.Referred > 0
}

// usage is a count of tokens that the provider reported, by the name of its attribute.
type usage struct {
	attribute string
	tokens    int
}

// usageOf returns the counts of a report. Details that a provider may not report are left out if
// they are zero.
func usageOf(reported *schema.TokenUsage) []usage {
	if reported == nil {
		return nil
	}
	all := []usage{
		{inputTokens, reported.PromptTokens}, {outputTokens, reported.CompletionTokens},
		{cacheRead, reported.PromptTokenDetails.CachedTokens},
	}
	for _, detail := range []usage{
		{cacheWrite, cacheWritten(reported.PromptTokenDetails)}, {reasoningTokens, reported.CompletionTokensDetails.ReasoningTokens},
	} {
		if detail.tokens > 0 {
			all = append(all, detail)
		}
	}
	return all
}

// cacheWritten is how many tokens the provider wrote to its cache. Eino v0.10.0-alpha.12 has no
// field for it.
func cacheWritten(details schema.PromptTokenDetails) int {
	if written := reflect.ValueOf(details).FieldByName("CacheWriteTokens"); written.IsValid() {
		return int(written.Int())
	}
	return 0
}

// since describes the events since the previous call.
func (t *Telemetry) since(c *window.ModelCall) []attribute.KeyValue {
	var queries []string
	cut, cleared, pages := 0, 0, 0
	for _, e := range c.Events {
		switch e.Kind {
		case einolean.KindToolsSearched, einolean.KindToolsPrefetched:
			if e.Search != nil {
				queries = append(queries, e.Search.Query)
			}
		case einolean.KindResultTruncated:
			cut++
		case einolean.KindResultCleared, einolean.KindResultReferred:
			cleared++
		case einolean.KindResultRead:
			pages++
		}
	}
	all := []attribute.KeyValue{
		attribute.Int("einolean.search.queries", len(queries)), attribute.Int("einolean.results.cut", cut),
		attribute.Int("einolean.results.cleared", cleared), attribute.Int("einolean.pages.read", pages),
	}
	if t.content && len(queries) > 0 {
		all = append(all, attribute.String(queryText, strings.Join(queries, "\n")))
	}
	return all
}

// meters are the metrics.
type meters struct {
	usedInput, usedOutput                             metric.Int64Counter
	usedCacheRead, usedCacheWrite, usedReasoning      metric.Int64Counter
	input, output, window                             metric.Int64Histogram
	took, first, search                               metric.Float64Histogram
	saved, lost, searches, loaded, gated, denied      metric.Int64Counter
	readBacks, readBackTokens, storeFailures, refused metric.Int64Counter
}

// Boundaries of buckets. The first two are those of the conventions.
var (
	tokenBuckets  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	callBuckets   = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	searchBuckets = []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3}
)

func newMeters(m metric.Meter) (meters, error) {
	var all meters
	var failed []error
	counter := func(to *metric.Int64Counter, name, unit, about string) {
		made, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(about))
		*to, failed = made, append(failed, err)
	}
	histogram := func(to *metric.Int64Histogram, name, about string) {
		made, err := m.Int64Histogram(name, metric.WithUnit("{token}"), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(tokenBuckets...))
		*to, failed = made, append(failed, err)
	}
	seconds := func(to *metric.Float64Histogram, name, about string, buckets []float64) {
		made, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(buckets...))
		*to, failed = made, append(failed, err)
	}
	counter(&all.usedInput, usedInput, "{token}", "Input tokens, including those from the cache")
	counter(&all.usedOutput, usedOutput, "{token}", "Output tokens, including those of reasoning")
	counter(&all.usedCacheRead, usedCacheRead, "{token}", "Input tokens that the provider's cache served")
	counter(&all.usedCacheWrite, usedCacheWrite, "{token}", "Input tokens that were written to the provider's cache")
	counter(&all.usedReasoning, usedReasoning, "{token}", "Output tokens of reasoning")
	histogram(&all.input, operationInput, "Input tokens of a model call")
	histogram(&all.output, operationOutput, "Output tokens of a model call")
	seconds(&all.took, duration, "Time of a model call", callBuckets)
	seconds(&all.first, untilFirst, "Time to the first chunk of a streamed answer", callBuckets)
	histogram(&all.window, "einolean.window.tokens", "Estimated tokens of a request, by category")
	counter(&all.saved, "einolean.saved.tokens", "{token}", "Estimated tokens that were not sent, by rule")
	counter(&all.lost, "einolean.prefix.lost.tokens", "{token}", "Estimated tokens that a provider's cache cannot serve any more, by cause")
	seconds(&all.search, "einolean.search.duration", "Time of a search for tools", searchBuckets)
	counter(&all.searches, "einolean.search.count", "{search}", "Searches for tools, by outcome")
	counter(&all.loaded, "einolean.tools.loaded", "{tool}", "Tools that became visible")
	counter(&all.gated, "einolean.tools.gated", "{call}", "Calls of tools that were not loaded")
	counter(&all.denied, "einolean.tools.denied", "{call}", "Calls of tools that the filter denies")
	counter(&all.readBacks, "einolean.read_back.count", "{read}", "Reads of stored results")
	counter(&all.readBackTokens, "einolean.read_back.tokens", "{token}", "Estimated tokens that were read back")
	counter(&all.storeFailures, "einolean.store.failures", "{failure}", "Operations of a store that failed")
	counter(&all.refused, "einolean.tools.refused", "{tool}", "Events about tools that cannot be offered")
	return all, errors.Join(failed...)
}

func one(key, value string) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String(key, value))
}

// call counts a model call; ownGenAI also counts what other instrumentations count.
func (m *meters) call(ctx context.Context, c *window.ModelCall, who []attribute.KeyValue, ownGenAI bool) {
	of := metric.WithAttributes() // the agent, if it is known
	if c.Agent != "" {
		of = one(agentName, c.Agent)
	}
	for category, tokens := range c.By {
		m.window.Record(ctx, int64(tokens), of, one("einolean.category", string(category)))
	}
	if c.Without != nil {
		m.saved.Add(ctx, int64(c.Hidden.Tokens), of, one("einolean.rule", "hidden"))
	}
	for rule, tokens := range map[string]int{"cut": c.OmittedTokens.Cut, "cleared": c.OmittedTokens.Cleared,
		"referred": c.OmittedTokens.Referred, "program": c.OmittedTokens.Program} {
		if tokens > 0 {
			m.saved.Add(ctx, int64(tokens), of, one("einolean.rule", rule))
		}
	}
	if c.Prefix.Cause != "" {
		m.lost.Add(ctx, int64(c.Prefix.Lost), of, one("einolean.cause", c.Prefix.Cause))
	}
	if !ownGenAI {
		return
	}
	all := metric.WithAttributes(who...)
	if c.Took > 0 {
		m.took.Record(ctx, c.Took.Seconds(), all)
	}
	if c.Stream && c.First > 0 && c.Error == "" {
		m.first.Record(ctx, c.First.Seconds(), all)
	}
	if u := c.Tokens.Reported; u != nil {
		m.input.Record(ctx, int64(u.PromptTokens), all)
		m.output.Record(ctx, int64(u.CompletionTokens), all)
		counters := map[string]metric.Int64Counter{
			inputTokens: m.usedInput, outputTokens: m.usedOutput, cacheRead: m.usedCacheRead,
			cacheWrite: m.usedCacheWrite, reasoningTokens: m.usedReasoning,
		}
		for _, used := range usageOf(u) {
			counters[used.attribute].Add(ctx, int64(used.tokens), all, one(tokenModality, unknownModality))
		}
	}
}

// Event counts what a middleware did: it is an OnEvent.
func (t *Telemetry) Event(ctx context.Context, e einolean.Event) {
	m := &t.meters
	switch e.Kind {
	case einolean.KindToolsSearched, einolean.KindToolsPrefetched:
		if e.Search != nil {
			m.search.Record(ctx, max(0, e.Search.Took).Seconds())
			m.searches.Add(ctx, 1, one("einolean.outcome", outcome(e.Search)))
		}
	case einolean.KindToolsLoaded:
		if e.Tools != nil && !e.Repeat {
			m.loaded.Add(ctx, int64(e.Tools.AddedCount))
		}
	case einolean.KindCallGated:
		m.gated.Add(ctx, 1)
	case einolean.KindToolsDenied:
		m.denied.Add(ctx, 1)
	case einolean.KindResultRead:
		m.readBacks.Add(ctx, 1)
		if e.Output != nil {
			m.readBackTokens.Add(ctx, e.Output.After.Tokens)
		}
	case einolean.KindStoreFailed:
		if full := (*backend.ScopeFullError)(nil); errors.As(e.Err, &full) {
			m.storeFailures.Add(ctx, 1, one("einolean.scope", full.Scope))
			return
		}
		m.storeFailures.Add(ctx, 1)
	case einolean.KindToolRefused:
		m.refused.Add(ctx, 1)
	}
}

func outcome(s *einolean.Search) string {
	switch {
	case s.Fallback:
		return "fallback"
	case len(s.Hits) == 0:
		return "empty"
	}
	return "found"
}
