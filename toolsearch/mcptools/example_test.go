// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/mcptools"
)

func ExampleReadConfig() {
	dir, err := os.MkdirTemp("", "mcp")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "mcp.json")
	text := `{"mcpServers": {
		// comments are allowed
		"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "${workspaceFolder}"]},
		"search": {"url": "http://localhost:8080/mcp", "headers": {"Authorization": "Bearer ${SEARCH_TOKEN:-none}"}},
	}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	servers, err := mcptools.ReadConfig(file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(servers["files"].Command, servers["search"].Headers["Authorization"])
	// Output: npx Bearer none
}

func ExampleOpen() {
	ctx := context.Background()
	servers, err := mcptools.Open(ctx, map[string]mcptools.Server{
		"files": {Command: "a-program-that-is-not-installed"},
	}, mcptools.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer servers.Close()
	ready, cancel := context.WithTimeout(ctx, 100*time.Millisecond) // as long as a readiness check may take
	defer cancel()
	fmt.Println("ready:", servers.Wait(ready) == nil) // the error names the servers that are not, and why
	for _, s := range servers.Status() {
		fmt.Println(s.Server, s.State)
	}
	search, err := toolsearch.New(ctx, &toolsearch.Config{Source: servers})
	if err != nil {
		log.Fatal(err)
	}
	_ = search // for the Handlers of adk.NewChatModelAgent
	// Output:
	// ready: false
	// files down
}

// Each user has sessions and a token of their own.
func ExampleOptions() {
	type userKey struct{}
	options := mcptools.Options{
		User: func(ctx context.Context) (string, error) {
			user, ok := ctx.Value(userKey{}).(string)
			if !ok {
				return "", fmt.Errorf("nobody is signed in")
			}
			return user, nil
		},
		Header: func(ctx context.Context, server string) (http.Header, error) {
			return http.Header{"Authorization": {fmt.Sprintf("Bearer %s-of-%v", server, ctx.Value(userKey{}))}}, nil
		},
	}
	h, err := options.Header(context.WithValue(context.Background(), userKey{}, "ann"), "search")
	fmt.Println(h.Get("Authorization"), err)
	// Output: Bearer search-of-ann <nil>
}

// The servers get the trace and the tenant that a request belongs to. With Options.Media, the _meta of the results is in
// the Extra of their first parts.
func ExampleOptions_meta() {
	type tenantKey struct{}
	type traceKey struct{}
	options := mcptools.Options{
		Meta: func(ctx context.Context, call mcptools.MetaRequest) (map[string]any, error) {
			if call.List {
				return nil, nil // only calls belong to a tenant
			}
			tenant, ok := ctx.Value(tenantKey{}).(string)
			if !ok {
				return nil, fmt.Errorf("no tenant for %s of %s", call.Tool, call.Server) // the call is not made
			}
			meta := map[string]any{"example.com/tenant": tenant}
			if trace, ok := ctx.Value(traceKey{}).(string); ok {
				meta["traceparent"] = trace
			}
			return meta, nil
		},
	}
	ctx := context.WithValue(context.Background(), tenantKey{}, "acme")
	ctx = context.WithValue(ctx, traceKey{}, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	meta, err := options.Meta(ctx, mcptools.MetaRequest{Server: "search", Tool: "find"})
	fmt.Println(meta["example.com/tenant"], meta["traceparent"], err)
	_, err = options.Meta(context.Background(), mcptools.MetaRequest{Server: "search", Tool: "find"})
	fmt.Println(err)
	// Output:
	// acme 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 <nil>
	// no tenant for find of search
}

// The _meta of a server's result is JSON in the Extra of its first part.
func ExampleResultMetaKey() {
	result := &schema.ToolResult{Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeText, Text: "done", Extra: map[string]any{mcptools.ResultMetaKey: `{"example.com/request":"r1"}`},
	}}}
	if text, ok := result.Parts[0].Extra[mcptools.ResultMetaKey].(string); ok {
		var meta map[string]any
		if err := json.Unmarshal([]byte(text), &meta); err != nil {
			log.Fatal(err)
		}
		fmt.Println(meta["example.com/request"])
	}
	// Output: r1
}

// With Options.Ask, a tool's question interrupts the run. Another process may resume it.
func ExampleAnswer() {
	resume := func(ctx context.Context, runner *adk.Runner, checkpoint string, interrupt *adk.InterruptCtx) (*adk.AsyncIterator[*adk.AgentEvent], error) {
		q := interrupt.Info.(mcptools.Question)
		fmt.Println(q.Server, "asks:", q.Message)
		answer := mcptools.Answer{Content: map[string]any{"colour": "red"}} // as Question.Schema wants it
		return runner.ResumeWithParams(ctx, checkpoint, &adk.ResumeParams{Targets: map[string]any{interrupt.ID: answer}})
	}
	_ = resume
	fmt.Println(mcptools.Options{Ask: true}.Ask)
	// Output: true
}

// Options.Elicit answers older servers while the call waits.
func ExampleQuestion() {
	in := bufio.NewScanner(os.Stdin)
	elicit := func(_ context.Context, q mcptools.Question) (mcptools.Answer, error) {
		fmt.Printf("%s asks: %s\n", q.Server, q.Message)
		if !in.Scan() {
			return mcptools.Answer{Action: "cancel"}, in.Err()
		}
		return mcptools.Answer{Content: map[string]any{"name": in.Text()}}, nil
	}
	options := mcptools.Options{Elicit: elicit}
	fmt.Println(options.Elicit != nil)
	// Output: true
}

func ExampleHintsOf() {
	info := &schema.ToolInfo{Name: "files__delete", Extra: map[string]any{"mcp.server": "files", "mcp.tool": "delete", "mcp.destructive": true}}
	if h := mcptools.HintsOf(info); h.Destructive {
		fmt.Printf("ask before %s of %s\n", h.Tool, h.Server)
	}
	// Output: ask before delete of files
}
