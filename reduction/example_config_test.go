// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// returned is what an agent does with a tool: the result goes through the middleware.
func returned(mw adk.ChatModelAgentMiddleware, name, result string) string {
	ctx := context.Background()
	endpoint := func(context.Context, string, ...tool.Option) (string, error) { return result, nil }
	wrapped, err := mw.WrapInvokableToolCall(ctx, endpoint, &adk.ToolContext{Name: name, CallID: "call_1"})
	if err != nil {
		log.Fatal(err)
	}
	out, err := wrapped(ctx, "{}")
	if err != nil {
		log.Fatal(err)
	}
	return out
}

// Most agents want the preset. It is a configuration like any other, to be changed before
// it is used.
func ExampleRecommended() {
	config := reduction.Recommended(store.NewMemory(0))
	config.WindowTokens = 200_000 // of the model
	mw, err := reduction.New(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	long := strings.Repeat("a line of a report\n", 5000)
	fmt.Println(len(returned(mw, "report", long)) < len(long)/5)
	// Output: true
}

// A gateway that words its refusals in its own way is one function around ParseOverflow.
func ExampleParseOverflow() {
	config := reduction.Recommended(store.NewMemory(0))
	config.Overflow = func(err error) (tokens int64, ok bool) {
		if strings.Contains(err.Error(), "gateway: context full") {
			return 0, true // it does not say how many tokens it takes
		}
		return reduction.ParseOverflow(err)
	}
	fmt.Println(config.Overflow(errors.New("gateway: context full")))
	fmt.Println(config.Overflow(errors.New("prompt is too long: 208310 tokens > 200000 maximum")))
	fmt.Println(config.Overflow(errors.New("429: 30000 tokens per minute")))
	// Output:
	// 0 true
	// 200000 true
	// 0 false
}

// Settings for single tools take precedence over the general ones.
func ExampleToolReductionConfig() {
	mw, err := reduction.New(context.Background(), &reduction.Config{
		Backend:           store.NewMemory(0),
		MaxLengthForTrunc: 10_000,
		ToolConfig: map[string]*reduction.ToolReductionConfig{
			"list_files":  {MaxLengthForTrunc: 2_000}, // cut sooner
			"read_policy": {SkipTruncation: true},     // never cut
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	result := strings.Repeat("docs/a_file.md\n", 200) // 3,000 bytes
	for _, name := range []string{"search", "list_files", "read_policy"} {
		fmt.Println(name, len(returned(mw, name, result)) < len(result))
	}
	// Output:
	// search false
	// list_files true
	// read_policy false
}

// A handler that has nothing to say about a result leaves it to the middleware.
func Example_useDefault() {
	summary := func(_ context.Context, detail *reduction.ToolDetail) (*reduction.TruncResult, error) {
		text := detail.ToolResult.Parts[0].Text
		if !strings.HasPrefix(text, "ok ") {
			return nil, reduction.UseDefault
		}
		short := *detail.ToolResult
		short.Parts = short.Parts[:1:1]
		short.Parts[0].Text = "All packages passed."
		return &reduction.TruncResult{NeedTrunc: true, ToolResult: &short}, nil
	}
	mw, err := reduction.New(context.Background(), &reduction.Config{
		Backend:           store.NewMemory(0),
		MaxLengthForTrunc: 1_000,
		ToolConfig:        map[string]*reduction.ToolReductionConfig{"go_test": {TruncHandler: summary}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(returned(mw, "go_test", strings.Repeat("ok package\n", 500)))
	failed := returned(mw, "go_test", strings.Repeat("--- FAIL: Test\n", 500))
	fmt.Println(strings.Contains(failed, "All of it is saved to: /tmp/trunc/call_1"))
	// Output:
	// All packages passed.
	// true
}

// What a cut result shows can depend on its kind: of a list of records, a table.
func ExamplePreviewByKind() {
	var records []string
	for i := range 500 {
		records = append(records, fmt.Sprintf(`{"id": %d, "name": "part %d", "currency": "USD", "tags": []}`, i, i))
	}
	fmt.Println(reduction.PreviewByKind(reduction.PreviewRequest{Text: "[" + strings.Join(records, ", ") + "]", MaxBytes: 300}))
	// Output: {"count":500,"same in all":{"currency":"USD"},"columns":["id","name"],"rows":[[0,"part 0"],[1,"part 1"],[2,"part 2"],[3,"part 3"],[4,"part 4"],[5,"part 5"],[6,"part 6"],[7,"part 7"],[8,"part 8"],"… 489 rows",[498,"part 498"],[499,"part 499"]]}
}

// A Preview of one's own, here for one tool: the lines that matter.
func ExamplePreview() {
	var failures reduction.Preview = func(r reduction.PreviewRequest) string {
		var b strings.Builder
		for line := range strings.Lines(r.Text) {
			if strings.HasPrefix(line, "FAIL") && b.Len()+len(line) <= r.MaxBytes {
				b.WriteString(line)
			}
		}
		return b.String()
	}
	mw, err := reduction.New(context.Background(), &reduction.Config{
		Backend:           store.NewMemory(0),
		MaxLengthForTrunc: 1_000,
		ToolConfig:        map[string]*reduction.ToolReductionConfig{"go_test": {Preview: failures}},
	})
	if err != nil {
		log.Fatal(err)
	}
	out := returned(mw, "go_test", strings.Repeat("ok package\n", 500)+"FAIL orders\n"+strings.Repeat("ok package\n", 500))
	fmt.Println(strings.Contains(out, "FAIL orders"), strings.Contains(out, "ok package"))
	// Output: true false
}

// A JSONQuery answers questions about stored JSON. Module reduction/jq has one for the
// language of jq; this one only knows how to count.
func ExampleJSONQuery() {
	var count reduction.JSONQuery = func(_ context.Context, query string, document []byte, _ int) ([]byte, error) {
		var list []json.RawMessage
		if err := json.Unmarshal(document, &list); err != nil || query != "length" {
			return nil, fmt.Errorf("only length of a list is known here, not %q", query)
		}
		return fmt.Append(nil, len(list)), nil
	}
	ctx := context.Background()
	files := store.NewMemory(0)
	if err := files.Create(ctx, "/tmp/trunc/call_1", strings.NewReader(`[{"id":1},{"id":2},{"id":3}]`)); err != nil {
		log.Fatal(err)
	}
	reader, err := reduction.NewReadTool(ctx, &reduction.ReadToolConfig{Backend: files, JSONQuery: count})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := reader.InvokableRun(ctx, `{"file_path":"/tmp/trunc/call_1","jq":"length"}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(answer, "\n3\n"))
	// Output: true
}

// The answer of a forbidden path is that of a missing file.
func ExampleReadToolConfig() {
	ctx := context.Background()
	files := store.NewMemory(0)
	for _, name := range []string{"/tmp/trunc/call_1", "/private/notes"} {
		if err := files.Create(ctx, name, strings.NewReader("the content of a file\n")); err != nil {
			log.Fatal(err)
		}
	}
	reader, err := reduction.NewReadTool(ctx, &reduction.ReadToolConfig{
		Backend: files,
		Allowed: func(filePath string) bool { return strings.HasPrefix(filePath, "/tmp/") },
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"/tmp/trunc/call_1", "/tmp/../private/notes"} {
		answer, err := reader.InvokableRun(ctx, fmt.Sprintf(`{"file_path":%q}`, name))
		fmt.Println(strings.Contains(answer, "the content of a file"), err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

// The preset for agents of the other message type.
func ExampleRecommendedTyped() {
	config := reduction.RecommendedTyped[*schema.AgenticMessage](store.NewMemory(0))
	config.WindowTokens = 200_000 // of the model
	mw, err := reduction.NewTyped(context.Background(), config)
	fmt.Println(mw != nil, err)
	// Output: true <nil>
}

// One tool keeps start and end, as the others show their results by kind.
func ExamplePreviewHeadTail() {
	config := reduction.Recommended(store.NewMemory(0))
	config.ToolConfig = map[string]*reduction.ToolReductionConfig{"essay": {Backend: config.Backend, Preview: reduction.PreviewHeadTail}}
	mw, err := reduction.New(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	text := "Once upon a time.\n" + strings.Repeat("And so on.\n", 5000) + "The end."
	shown := returned(mw, "essay", text)
	fmt.Println(strings.Contains(shown, "Once upon a time."), strings.Contains(shown, "The end."))
	// Output: true true
}
