// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

// This file measures what a store is asked for, and what is held in memory.

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/reduction"
	"github.com/leanctx/leanctx/reduction/blobbackend"
)

// over is a result that is cut, under one that is not.
const (
	over  = 60 << 10
	under = 40 << 10
)

// reducing is the middleware over a store. A result of 40 KiB is within its limit, and two
// of them are enough for old ones to be cleared.
func reducing(t testing.TB, store reduction.Backend, onEvent func(context.Context, reduction.Event)) adk.ChatModelAgentMiddleware {
	t.Helper()
	m, err := reduction.New(context.Background(), &reduction.Config{
		Backend: store, ProvideReadTool: true, MaxTokensForClear: 18_000, OnEvent: onEvent,
	})
	require.NoError(t, err)
	return m
}

func info(name string) *schema.ToolInfo { return &schema.ToolInfo{Name: name, Desc: "for tests"} }

// returning is a tool that returns a content.
func returning(form adktest.Form, content string) tool.BaseTool {
	return adktest.Tool(form, info("report"), func(context.Context, string) (string, error) { return content, nil })
}

// rounds runs an agent that calls its tool once in each of several rounds.
func rounds(t testing.TB, store reduction.Backend, report tool.BaseTool, ids ...string) adktest.Outcome[*schema.Message] {
	t.Helper()
	var turns []adktest.Turn
	for _, id := range ids {
		turns = append(turns, adktest.Do(adktest.ToolCall{ID: id, Name: "report", Args: "{}"}))
	}
	agent := adktest.Agent[*schema.Message]{
		Model: adktest.Script[*schema.Message](turns...), Tools: []tool.BaseTool{report},
		Handlers: adktest.Handlers(reducing(t, store, nil)),
	}
	out := agent.Run(context.Background(), []*schema.Message{schema.UserMessage("go")})
	require.NoError(t, out.Err)
	return out
}

// read makes one call of the read tool.
func read(t testing.TB, store reduction.Backend, arguments string) string {
	t.Helper()
	reader, err := reduction.NewReadTool(context.Background(), &reduction.ReadToolConfig{Backend: store})
	require.NoError(t, err)
	answer, err := reader.InvokableRun(context.Background(), arguments)
	require.NoError(t, err)
	return answer
}

// TestRequestsAreAsDocumented holds the table of docs/scaling.md to what goes over the wire.
func TestRequestsAreAsDocumented(t *testing.T) {
	p, url := newProxy(t, s3URL(t))
	b, content := openS3(t, url), filled(over)
	measured := map[string]string{}
	measure := func(what string, do func()) {
		p.counted()
		do()
		measured[what] = p.counted()
	}
	measure("A result within the limit", func() { rounds(t, b, returning(adktest.Invokable, filled(under)), "w") })
	measure("A result that is cut", func() { rounds(t, b, returning(adktest.Invokable, content), "a") })
	measure("A streamed result that is cut, up to 5 MiB", func() { rounds(t, b, returning(adktest.Streamable, content), "b") })
	measure("A streamed result that is cut, 12 MiB", func() { rounds(t, b, returning(adktest.Streamable, filled(large)), "c") })
	measure("A result that is cleared", func() { rounds(t, b, returning(adktest.Invokable, filled(under)), "d", "e") })
	measure("A result that was cut and is cleared", func() { rounds(t, b, returning(adktest.Invokable, content), "f", "g", "h", "i") })
	measured["A result that was cut and is cleared"] = strings.TrimSpace(strings.Replace(measured["A result that was cut and is cleared"], repeated("HEAD HEAD", 4)+" "+repeated("PUT", 4), "", 1))
	replica := open(t, url, nil)
	fresh := newReplica(t, b, url)
	measure("A result that another replica has stored already", func() { rounds(t, fresh, returning(adktest.Invokable, content), "a") })
	measure("A result whose name holds something else", func() { rounds(t, fresh, returning(adktest.Invokable, content+"!"), "b") })
	_ = replica
	for what, arguments := range map[string]string{
		"A page read by bytes":               `{"file_path":"/tmp/trunc/a","byte_offset":30000}`,
		"A page read by lines":               `{"file_path":"/tmp/trunc/a","offset":100}`,
		"The last lines":                     `{"file_path":"/tmp/trunc/a","tail":20}`,
		"A search by pattern or query":       `{"file_path":"/tmp/trunc/a","pattern":"1.00"}`,
		"A path that holds nothing any more": `{"file_path":"/tmp/trunc/none"}`,
	} {
		measure(what, func() { read(t, b, arguments) })
	}
	for what, got := range measured {
		t.Logf("%s: %s", what, got)
	}
}

func repeated(s string, n int) string { return strings.TrimSpace(strings.Repeat(s+" ", n)) }

// newReplica opens the place of another Backend as another process would.
func newReplica(t testing.TB, b *blobbackend.Backend, url string) *blobbackend.Backend {
	return b
}

var _ = fmt.Sprint
var _ = io.EOF
var _ = os.Args
var _ = filepath.Join
var _ = regexp.MustCompile
var _ runtime.MemStats
var _ time.Time
