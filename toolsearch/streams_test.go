// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Streams of hidden tools.

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/proctest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch"
)

func TestStreams_EndOfOneSourceIsNotTheEnd(t *testing.T) {
	adktest.Both(t, testStreamsEndOfOneSourceIsNotTheEnd[*schema.Message], testStreamsEndOfOneSourceIsNotTheEnd[*schema.AgenticMessage])
}

// testStreamsEndOfOneSourceIsNotTheEnd reads what call_tool makes of the stream. Where the agent streams, it passes
// the ends of the sources on, as a tool of the agent's own does.
func testStreamsEndOfOneSourceIsNotTheEnd[M adk.MessageType](t *testing.T, streaming bool) {
	if streaming && race.Enabled {
		t.Skip("Eino sets a merged stream that it sends as an event while its reader reads it: a race of its own")
	}
	for name, mine := range map[string]tool.BaseTool{"text": streams{"two_parts", merged}, "parts": enhancedStreams{streams{"two_parts", merged}}} {
		t.Run(name, func(t *testing.T) {
			s := newScene[M](t, streaming, toolsearch.SearchCall)
			s.cfg.DynamicTools = []tool.BaseTool{mine}
			agent, m := s.agent(oneCall("a", "call_tool", `{"name":"two_parts","arguments":{}}`))
			r, err := agent.Runner(context.Background())
			require.NoError(t, err)
			it := r.Run(context.Background(), []M{adktest.User[M]("please")})
			for {
				ev, ok := it.Next()
				if !ok {
					break
				}
				require.NoError(t, ev.Err)
			}
			wires := m.Wires()
			require.Len(t, wires, 2)
			got := strings.Join(wires[1].MessagesDump, "\n")
			require.Contains(t, got, "first")
			require.Contains(t, got, "second")
		})
	}
}

// streams is a tool that streams text, and enhancedStreams one that streams parts.
type streams struct {
	name string
	open func() *schema.StreamReader[string]
}

func (s streams) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: s.name, Desc: "Streams"}, nil
}

func (s streams) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return s.open(), nil
}

type enhancedStreams struct{ streams }

func (s enhancedStreams) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	return schema.StreamReaderWithConvert(s.open(), func(text string) (*schema.ToolResult, error) {
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}, nil
	}), nil
}

// merged is a stream of two named ones.
func merged() *schema.StreamReader[string] {
	return schema.MergeNamedStreamReaders(map[string]*schema.StreamReader[string]{
		"one": schema.StreamReaderFromArray([]string{"first "}), "two": schema.StreamReaderFromArray([]string{"second "}),
	})
}

// A stream that is closed twice ends the process in a finalizer, where no test can catch it:
// so the agents run in another process.
func TestStreams_UnreadFailuresEndNoProcess(t *testing.T) {
	if proctest.Alone(t) {
		adktest.Both(t, testStreamsUnreadFailuresEndNoProcess[*schema.Message], testStreamsUnreadFailuresEndNoProcess[*schema.AgenticMessage])
	}
}

func testStreamsUnreadFailuresEndNoProcess[M adk.MessageType](t *testing.T, streaming bool) {
	for _, closed := range []bool{false, true} {
		for _, mine := range []tool.BaseTool{streams{"breaks", fails(closed)}, enhancedStreams{streams{"breaks", fails(closed)}}} {
			for protocol, turns := range map[toolsearch.Protocol][]adktest.Turn{
				toolsearch.SearchCall: {oneCall("a", "call_tool", `{"name":"breaks","arguments":{}}`)},
				toolsearch.Keyword:    {oneCall("s", "tool_search", `{"query":"select:breaks"}`), oneCall("a", "breaks", `{}`)},
			} {
				s := newScene[M](t, streaming, protocol)
				s.cfg.DynamicTools = []tool.BaseTool{mine}
				agent, _ := s.agent(turns...)
				r, err := agent.Runner(context.Background())
				require.NoError(t, err)
				it := r.Run(context.Background(), []M{adktest.User[M]("please")})
				for {
					if _, ok := it.Next(); !ok { // no event is looked at
						break
					}
				}
			}
		}
	}
	for _, c := range given {
		c.SetAutomaticClose() // as Eino does with the streams of events
	}
	given = nil
	collect(t)
}

// given are copies of streams that a tool gave away, as the events of an agent within it.
var given []*schema.StreamReader[string]

// fails is a stream that ends with an error and has a copy elsewhere; closed says that the
// copy was closed before.
func fails(closed bool) func() *schema.StreamReader[string] {
	return func() *schema.StreamReader[string] {
		r, w := schema.Pipe[string](3)
		w.Send("a part", nil)
		w.Send("", errors.New("the connection is gone"))
		w.Close()
		copies := r.Copy(2)
		if closed {
			copies[1].Close()
		}
		given = append(given, copies[1])
		return copies[0]
	}
}

// collect waits until finalizers that were due have run.
func collect(t testing.TB) {
	for range 3 {
		done := make(chan struct{})
		x := &struct{ text string }{strings.Repeat("x", 64)}
		runtime.SetFinalizer(x, func(*struct{ text string }) { close(done) })
		require.Eventually(t, func() bool {
			runtime.GC()
			select {
			case <-done:
				return true
			default:
				return false
			}
		}, finalizing, time.Millisecond)
	}
}

// A tool that closes the stream that it returns, or returns none, ends no process either.
func TestStreams_ClosedByToolAreRead(t *testing.T) {
	for name, open := range map[string]func() *schema.StreamReader[string]{
		"closed": func() *schema.StreamReader[string] {
			r, w := schema.Pipe[string](1)
			w.Send("whole", nil)
			w.Close()
			r.Close()
			return r
		},
		"none": func() *schema.StreamReader[string] { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene[*schema.Message](t, false, toolsearch.SearchCall)
			s.cfg.DynamicTools = []tool.BaseTool{streams{"odd", open}}
			p := s.try([]*schema.Message{schema.UserMessage("please")}, oneCall("a", "call_tool", `{"name":"odd","arguments":{}}`))
			if name == "none" {
				require.ErrorContains(t, p.Err, "returned no stream")
				return
			}
			require.NoError(t, p.Err)
			require.Equal(t, "whole", p.answer(t, "a"))
		})
	}
}
