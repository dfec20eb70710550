// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package windowotel_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/windowotel"
)

// Reports each model call as a span, and what the middlewares do as metrics.
func ExampleNew() {
	spans := tracetest.NewInMemoryExporter() // it stands in for your exporter
	tell, err := windowotel.New(windowotel.Config{
		Provider:       "openai",
		Model:          "gpt-5",
		TracerProvider: trace.NewTracerProvider(trace.WithSyncer(spans)),
	})
	if err != nil {
		log.Fatal(err)
	}
	see := window.New(window.Config{OnCall: tell.Call})
	handler := see.Handler()                       // the last of the agent's Handlers
	onEvent := einolean.Tee(see.Event, tell.Event) // the OnEvent of toolsearch.Config and reduction.Config

	// When a model call ends, the collector does this:
	_, _ = handler, onEvent
	tell.Call(context.Background(), &window.ModelCall{N: 1, Start: time.Now(), Took: time.Second})
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output:
	// chat gpt-5
}
