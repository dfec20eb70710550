// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einolean_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/einolean/einolean"
)

// cleared stands in for what a middleware reports: it is passed to OnEvent.
var cleared = einolean.Event{Kind: einolean.KindResultCleared, Tool: "files__read", CallID: "call_1", Output: &einolean.OutputChange{
	Before: einolean.Size{Bytes: 40_000, Tokens: 10_000}, After: einolean.Size{Bytes: 120, Tokens: 30}, Path: "/tmp/clear/call_1"}}

// Logs events with log/slog. Pass the receiver as OnEvent to both middlewares.
func ExampleSlog() {
	onEvent := einolean.Slog(slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	onEvent(context.Background(), cleared)
	// Output:
	// level=INFO msg=result_cleared einolean.tool=files__read einolean.call_id=call_1 einolean.output.before_bytes=40000 einolean.output.before_tokens=10000 einolean.output.after_bytes=120 einolean.output.after_tokens=30 einolean.output.path=/tmp/clear/call_1
}

// Writes events to a file, one JSON object a line, and reads them back.
func ExampleJSONL() {
	var file bytes.Buffer // use os.OpenFile
	onEvent := einolean.JSONL(&file)
	onEvent(context.Background(), cleared)
	for line := range bytes.Lines(file.Bytes()) {
		var e einolean.Event
		if err := json.Unmarshal(line, &e); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e)
	}
	// Output:
	// result cleared files__read: 10,000 → 30 tokens, whole in /tmp/clear/call_1
}

// Passes events to several receivers: here to a log and to a counter of one's own.
func ExampleTee() {
	var file bytes.Buffer
	saved := int64(0)
	onEvent := einolean.Tee(einolean.JSONL(&file), func(_ context.Context, e einolean.Event) {
		if e.Kind == einolean.KindResultCleared {
			saved += e.Output.Before.Tokens - e.Output.After.Tokens
		}
	})
	onEvent(context.Background(), cleared)
	fmt.Println(saved, "tokens;", bytes.Count(file.Bytes(), []byte("\n")), "line")
	// Output:
	// 9970 tokens; 1 line
}

// Tells a wrong configuration from other errors.
func ExampleFieldError() {
	err := fmt.Errorf("starting: %w", &einolean.FieldError{Package: "reduction", Field: "RootDir", Err: errors.New("must be absolute")})
	var wrong *einolean.FieldError
	if errors.As(err, &wrong) {
		fmt.Println("fix", wrong.Field)
	}
	// Output:
	// fix RootDir
}
