// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor/batchprocessor"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/windowotel"
)

// collector is the OTLP receiver of a collector, on loopback, and what reached it.
type collector struct {
	address string
	traces  consumertest.TracesSink
	metrics consumertest.MetricsSink
}

// free is an address that no server listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func start(t *testing.T) *collector {
	t.Helper()
	c := &collector{address: free(t)}
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
	require.NoError(t, traces.Start(t.Context(), host))
	require.NoError(t, metrics.Start(t.Context(), host))
	t.Cleanup(func() {
		require.NoError(t, traces.Shutdown(context.Background()))
		require.NoError(t, metrics.Shutdown(context.Background()))
	})
	return c
}

// service is a whole collector: it receives OTLP, batches, and sends what it has to
// another one when stop is called.
func service(t *testing.T, to string) (address string, stop func()) {
	t.Helper()
	address = free(t)
	config := fmt.Sprintf(`yaml:
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
processors: {batch: {timeout: 100ms}}
exporters: {otlp_http: {endpoint: "http://%s", compression: none}}
service:
  telemetry: {metrics: {level: none}, logs: {level: error}}
  pipelines:
    traces: {receivers: [otlp], processors: [batch], exporters: [otlp_http]}
    metrics: {receivers: [otlp], processors: [batch], exporters: [otlp_http]}
`, address, to)
	whole, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo: component.NewDefaultBuildInfo(), DisableGracefulShutdown: true, Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs: []string{config}, ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
		}},
	})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- whole.Run(context.Background()) }()
	require.Eventually(t, func() bool {
		select {
		case err := <-ended:
			require.NoError(t, err)
		default:
		}
		return whole.GetState() == otelcol.StateRunning
	}, time.Minute, 10*time.Millisecond)
	stop = sync.OnceFunc(func() {
		whole.Shutdown()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return address, stop
}

func factories() (f otelcol.Factories, err error) {
	f.Telemetry = otelconftelemetry.NewFactory()
	if f.Receivers, err = otelcol.MakeFactoryMap(otlpreceiver.NewFactory()); err != nil {
		return f, err
	}
	if f.Processors, err = otelcol.MakeFactoryMap(batchprocessor.NewFactory()); err != nil {
		return f, err
	}
	f.Exporters, err = otelcol.MakeFactoryMap(otlphttpexporter.NewFactory())
	return f, err
}

func TestWindowotel_TelemetryReachesReceiver(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a receiver of a collector")
	}
	c := start(t)
	report(t, c.address)
	c.check(t)
}

func TestWindowotel_TelemetryPassesThroughCollector(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a collector")
	}
	c := start(t)
	address, stop := service(t, c.address)
	report(t, address)
	stop() // sends what it has
	c.check(t)
}

// report runs an agent that reports to a collector.
func report(t *testing.T, address string) {
	t.Helper()
	ctx := t.Context()
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(address), otlptracehttp.WithInsecure())
	require.NoError(t, err)
	figures, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpoint(address), otlpmetrichttp.WithInsecure())
	require.NoError(t, err)
	tracing := trace.NewTracerProvider(trace.WithBatcher(spans))
	metering := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(figures)))

	tell, err := windowotel.New(windowotel.Config{Provider: "openai", Model: "small-1", TracerProvider: tracing, MeterProvider: metering})
	require.NoError(t, err)
	see := window.New(window.Config{OnCall: tell.Call, Conversation: func(context.Context) (string, error) { return "acme/42", nil }})
	weather := einoleantest.Tool("weather", "Tells what the weather will be.", func(context.Context, string) (string, error) { return "Rain", nil })
	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: []tool.BaseTool{weather}, OnEvent: einolean.Tee(see.Event, tell.Event)})
	require.NoError(t, err)
	einoleantest.Run(t, &adk.ChatModelAgentConfig{
		Model: einoleantest.Script[*schema.Message](
			einoleantest.Call("tool_search", `{"query":"weather"}`),
			einoleantest.Call("weather", `{}`).WithUsage(schema.TokenUsage{PromptTokens: 120, CompletionTokens: 7, TotalTokens: 127}),
			einoleantest.Say("It will rain.")),
		Handlers: []adk.ChatModelAgentMiddleware{search, see.Handler()},
	}, "Will it rain?")
	require.NoError(t, tracing.Shutdown(ctx)) // sends what is left
	require.NoError(t, metering.Shutdown(ctx))
}

// check examines what was received.
func (c *collector) check(t *testing.T) {
	t.Helper()
	require.Equal(t, 3, c.traces.SpanCount(), "a span for each model call")
	attributes := c.traces.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1).Attributes().AsRaw()
	require.Equal(t, "chat", attributes["gen_ai.operation.name"])
	require.Equal(t, "acme/42", attributes["gen_ai.conversation.id"])
	require.Equal(t, "openai", attributes["gen_ai.provider.name"])
	require.Equal(t, "agent", attributes["gen_ai.agent.name"])
	require.Equal(t, "small-1", attributes["gen_ai.request.model"])
	require.Equal(t, int64(120), attributes["gen_ai.usage.input_tokens"])
	require.Positive(t, attributes["einolean.window.loaded_tools.tokens"])
	require.Equal(t, "tools_loaded", attributes["einolean.prefix.cause"])

	var names []string
	for _, m := range c.metrics.AllMetrics() {
		scopes := m.ResourceMetrics().At(0).ScopeMetrics()
		for i := range scopes.Len() {
			for j := range scopes.At(i).Metrics().Len() {
				names = append(names, scopes.At(i).Metrics().At(j).Name())
			}
		}
	}
	require.Subset(t, names, []string{"einolean.window.tokens", "einolean.saved.tokens", "einolean.search.count",
		"einolean.tools.loaded", "einolean.prefix.lost.tokens", "gen_ai.client.inference.usage.input_tokens"})
	require.NotContains(t, strings.Join(names, " "), "weather")
}
