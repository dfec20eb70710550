// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// A tool returns far more than the conversation should hold. The model sees the
// start and the end of it, and where the rest is.
func ExampleNew() {
	ctx := context.Background()
	files := store.NewMemory(0)
	mw, err := reduction.New(ctx, &reduction.Config{
		Backend:           files,
		MaxLengthForTrunc: 500,
		ProvideReadTool:   true,
	})
	if err != nil {
		log.Fatal(err)
	}
	// In an agent: adk.ChatModelAgentConfig{Handlers: []adk.ChatModelAgentMiddleware{mw}}.
	// Here the tool is called by hand.
	grep := func(context.Context, string, ...tool.Option) (string, error) {
		return strings.Repeat("main.go: a match\n", 500) + "util.go: the last match\n", nil
	}
	wrapped, err := mw.WrapInvokableToolCall(ctx, grep, &adk.ToolContext{Name: "grep", CallID: "call_1"})
	if err != nil {
		log.Fatal(err)
	}
	out, err := wrapped(ctx, `{"pattern":"match"}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(out), "bytes, with the end:", strings.Contains(out, "util.go: the last match"))
	for _, line := range strings.Split(out, "\n")[1:3] {
		fmt.Println(line)
	}
	// Output:
	// 495 bytes, with the end: true
	// This result has 8524 bytes, too many to show here. All of it is saved to: /tmp/trunc/call_1
	// Read it with read_file.
}

// Old results are cleared before a model call, the last round is not.
func ExampleNewTyped() {
	ctx := context.Background()
	mw, err := reduction.NewTyped(ctx, &reduction.TypedConfig[*schema.AgenticMessage]{
		Backend:           store.NewMemory(0),
		MaxTokensForClear: 1500,
		ClearTargetTokens: 1400,
		OnEvent: func(_ context.Context, e einolean.Event) {
			fmt.Println(e)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	var history []*schema.AgenticMessage
	for _, id := range []string{"call_1", "call_2", "call_3"} {
		history = append(history,
			&schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{
				schema.NewContentBlock(&schema.FunctionToolCall{CallID: id, Name: "grep", Arguments: `{}`})}},
			&schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{
				schema.NewContentBlock(&schema.FunctionToolResult{CallID: id, Name: "grep", Content: []*schema.FunctionToolResultContentBlock{
					{Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: strings.Repeat("a match\n", 200)}}}})}},
		)
	}
	_, state, err := mw.BeforeModelRewriteState(ctx, &adk.TypedChatModelAgentState[*schema.AgenticMessage]{Messages: history}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state.Messages[1].ContentBlocks[0].FunctionToolResult.Content[0].Text.Text)
	// Output:
	// result cleared grep: 400 → 30 tokens, whole in /tmp/clear/call_1
	// clear done: 1,911 → 1,326 tokens, 1 of 1 results
	// <persisted-output>Old result (1600 bytes), saved in full to: /tmp/clear/call_1
	// Read it with read_file.</persisted-output>
}

// A read tool can be given to any agent that has the store.
func ExampleNewReadTool() {
	ctx := context.Background()
	files := store.NewMemory(0)
	if err := files.Create(ctx, "/tmp/trunc/call_1", strings.NewReader("one\ntwo\nthree\n")); err != nil {
		log.Fatal(err)
	}
	reader, err := reduction.NewReadTool(ctx, &reduction.ReadToolConfig{Backend: files})
	if err != nil {
		log.Fatal(err)
	}
	page, err := reader.InvokableRun(ctx, `{"file_path":"/tmp/trunc/call_1","offset":2,"limit":1}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(page, "two"), strings.Contains(page, "more follows")) // the line, and that it is not the last
	// Output: true true
}
