// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Benchmarks of the better ranking beside Eino's search.

import (
	"context"
	"fmt"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/toolsearch"
)

// longRequest is a request of 40 words, as people write them.
const longRequest = `{"query":"I would like you to look through all of the tickets which my colleagues have opened since last Monday, ` +
	`find the ones that nobody has answered yet, and then send a short summary of them to the channel of our team"}`

func BenchmarkBM25Search(b *testing.B) {
	bm25 := maker{side: "leanctx", make: func(ctx context.Context, tools []tool.BaseTool) (adk.ChatModelAgentMiddleware, error) {
		return toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools, NewIndex: toolsearch.BM25Index})
	}}
	for _, q := range []struct{ name, args string }{
		{"2words", searches[0].args}, {"40words", longRequest},
	} {
		tools := benchTools(10_000)
		for _, m := range []maker{makers[0], bm25} {
			b.Run(fmt.Sprintf("%s/tools=10000/%s", q.name, m.side), func(b *testing.B) {
				ctx, search := benchSearchTool(b, must(m.make(context.Background(), tools)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := search.InvokableRun(ctx, q.args); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkBM25Index(b *testing.B) {
	var infos []*schema.ToolInfo
	for _, t := range benchTools(10_000) {
		infos = append(infos, must(t.Info(context.Background())))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := toolsearch.BM25Index(context.Background(), infos); err != nil {
			b.Fatal(err)
		}
	}
}
