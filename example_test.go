// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package leanctx_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/leanctx/leanctx"
)

// cleared stands in for what a middleware reports: it is passed to OnEvent.
var cleared = leanctx.Event{Kind: leanctx.KindResultCleared, Tool: "files__read", CallID: "call_1", Output: &leanctx.OutputChange{
	Before: leanctx.Size{Bytes: 40_000, Tokens: 10_000}, After: leanctx.Size{Bytes: 120, Tokens: 30}, Path: "/tmp/clear/call_1"}}

// Logs events with log/slog. Pass the receiver as OnEvent to both middlewares.
func ExampleSlog() {
	onEvent := leanctx.Slog(slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	onEvent(context.Background(), cleared)
	// Output:
	// level=INFO msg=result_cleared leanctx.tool=files__read leanctx.call_id=call_1 leanctx.output.before_bytes=40000 leanctx.output.before_tokens=10000 leanctx.output.after_bytes=120 leanctx.output.after_tokens=30 leanctx.output.path=/tmp/clear/call_1
}

// Writes events to a file, one JSON object a line, and reads them back.
func ExampleJSONL() {
	var file bytes.Buffer // use os.OpenFile
	onEvent := leanctx.JSONL(&file)
	onEvent(context.Background(), cleared)
	for line := range bytes.Lines(file.Bytes()) {
		var e leanctx.Event
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
	onEvent := leanctx.Tee(leanctx.JSONL(&file), func(_ context.Context, e leanctx.Event) {
		if e.Kind == leanctx.KindResultCleared {
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
	err := fmt.Errorf("starting: %w", &leanctx.FieldError{Package: "reduction", Field: "RootDir", Err: errors.New("must be absolute")})
	var wrong *leanctx.FieldError
	if errors.As(err, &wrong) {
		fmt.Println("fix", wrong.Field)
	}
	// Output:
	// fix RootDir
}
