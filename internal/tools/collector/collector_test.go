// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/toolsearch"
	"github.com/leanctx/leanctx/window"
	"github.com/leanctx/leanctx/window/leanctxotel"
)

// collector is the OTLP receiver of a collector, on loopback, and what reached it.
type collector struct {
	address string
	traces  consumertest.TracesSink
	metrics consumertest.MetricsSink
}

// start starts a collector. A port that was free may be taken by others before it listens there.
func start(t *testing.T) *collector {
	t.Helper()
	c, err := startOnce(t)
	for range 10 {
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
		c, err = startOnce(t)
	}
	require.NoError(t, err)
	return c
}

func startOnce(t *testing.T) (*collector, error) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &collector{address: free.Addr().String()}
	require.NoError(t, free.Close())

	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(map[string]any{
		"protocols": map[string]any{"http": map[string]any{"endpoint": c.address}},
	}).Unmarshal(config))
	settings, host := receivertest.NewNopSettings(factory.Type()), componenttest.NewNopHost()
	traces, err := factory.CreateTraces(t.Context(), settings, config, &c.traces)
	require.NoError(t, err)
	metrics, err := factory.CreateMetrics(t.Context(), settings, config, &c.metrics)
	require.NoError(t, err)
	if err := traces.Start(t.Context(), host); err != nil {
		return nil, err
	}
	require.NoError(t, metrics.Start(t.Context(), host))
	t.Cleanup(func() {
		require.NoError(t, traces.Shutdown(context.Background()))
		require.NoError(t, metrics.Shutdown(context.Background()))
	})
	return c, nil
}

// spans are the attributes of those that arrived, in however many requests.
func (c *collector) spans() (all []map[string]any) {
	for _, request := range c.traces.AllTraces() {
		for _, resource := range request.ResourceSpans().All() {
			for _, scope := range resource.ScopeSpans().All() {
				for _, span := range scope.Spans().All() {
					all = append(all, span.Attributes().AsRaw())
				}
			}
		}
	}
	return all
}

func TestWhatAnAgentDoesReachesACollector(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a receiver of a collector")
	}
	c, ctx := start(t), t.Context()
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(c.address), otlptracehttp.WithInsecure())
	require.NoError(t, err)
	figures, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpoint(c.address), otlpmetrichttp.WithInsecure())
	require.NoError(t, err)
	tracing := trace.NewTracerProvider(trace.WithBatcher(spans))
	metering := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(figures)))

	tell, err := leanctxotel.New(leanctxotel.Config{TracerProvider: tracing, MeterProvider: metering})
	require.NoError(t, err)
	see := window.New(window.Config{OnCall: tell.Call, Conversation: func(context.Context) (string, error) { return "acme/42", nil }})
	weather := leanctxtest.Tool("weather", "Tells what the weather will be.", func(context.Context, string) (string, error) { return "Rain", nil })
	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: []tool.BaseTool{weather}, OnEvent: leanctx.Tee(see.Event, tell.Event)})
	require.NoError(t, err)
	leanctxtest.Run(t, &adk.ChatModelAgentConfig{
		Model: leanctxtest.Script[*schema.Message](
			leanctxtest.Call("tool_search", `{"query":"weather"}`),
			leanctxtest.Call("weather", `{}`).WithUsage(schema.TokenUsage{PromptTokens: 120, CompletionTokens: 7, TotalTokens: 127}),
			leanctxtest.Say("It will rain.")),
		Handlers: []adk.ChatModelAgentMiddleware{search, see.Handler()},
	}, "Will it rain?")
	require.NoError(t, tracing.Shutdown(ctx)) // sends what is left
	require.NoError(t, metering.Shutdown(ctx))

	require.Len(t, c.spans(), 3, "a span for each model call")
	attributes := c.spans()[1]
	require.Equal(t, "chat", attributes["gen_ai.operation.name"])
	require.Equal(t, "acme/42", attributes["gen_ai.conversation.id"])
	require.Equal(t, int64(120), attributes["gen_ai.usage.input_tokens"])
	require.Positive(t, attributes["leanctx.window.loaded_tools.tokens"])
	require.Equal(t, "tools_loaded", attributes["leanctx.prefix.cause"])

	var names []string
	for _, m := range c.metrics.AllMetrics() {
		scopes := m.ResourceMetrics().At(0).ScopeMetrics()
		for i := range scopes.Len() {
			for j := range scopes.At(i).Metrics().Len() {
				names = append(names, scopes.At(i).Metrics().At(j).Name())
			}
		}
	}
	require.Subset(t, names, []string{"leanctx.window.tokens", "leanctx.saved.tokens", "leanctx.search.count", "leanctx.tools.loaded", "leanctx.prefix.lost.tokens", "gen_ai.client.token.usage"})
	require.NotContains(t, strings.Join(names, " "), "weather")
}
