// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Questions to a person in the middle of a call.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

const colours = `{"type":"object","properties":{"colour":{"type":"string","enum":["red","blue"]}},"required":["colour"]}`

// asking is a server with a tool that asks for a colour, and notes the answers it gets. An old
// one speaks the version before 2026-07-28.
func asking(old bool) *fixture {
	f := newFixture(&mcp.ServerOptions{Instructions: "Paints things."})
	f.server.AddTool(&mcp.Tool{Name: "paint", Description: "Paints", InputSchema: object(`"text":{"type":"string"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			question := &mcp.ElicitParams{Message: "which colour?", RequestedSchema: schemaOf(colours)}
			var answer *mcp.ElicitResult
			if old {
				var err error
				if answer, err = r.Session.Elicit(ctx, question); err != nil {
					return nil, err
				}
			} else {
				if len(r.Params.InputResponses) == 0 {
					return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": question}, RequestState: "state of " + string(r.Params.Arguments)}, nil
				}
				if r.Params.RequestState != "state of "+string(r.Params.Arguments) {
					return nil, fmt.Errorf("another state: %s", r.Params.RequestState)
				}
				answer = r.Params.InputResponses["q"].(*mcp.ElicitResult)
			}
			f.mu.Lock()
			f.calls = append(f.calls, "painted")
			f.mu.Unlock()
			return text(fmt.Sprintf("%s %v %s", answer.Action, answer.Content["colour"], r.Params.Arguments)), nil
		})
	if old {
		f.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
				if method == "server/discover" {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "unknown"}
				}
				return next(ctx, method, r)
			}
		})
	}
	return f
}

func schemaOf(text string) (v map[string]any) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}

// stateless serves a fixture over HTTP without sessions.
func stateless(t testing.TB, f *fixture) Server {
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return f.server }, &mcp.StreamableHTTPOptions{Stateless: true})
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	return Server{URL: srv.URL}
}

// kept is a store of checkpoints that outlives runners.
type keptCheckpoints struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (k *keptCheckpoints) Get(_ context.Context, id string) ([]byte, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	data, ok := k.all[id]
	return data, ok, nil
}

func (k *keptCheckpoints) Set(_ context.Context, id string, data []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[id] = data
	return nil
}

// process is what one process has: servers, a middleware, an agent and a runner.
func processOf[M adk.MessageType](t *testing.T, server Server, store *keptCheckpoints, c toolsearch.Config, turns ...einoleantest.Turn) *adk.TypedRunner[M] {
	s := open(t, map[string]Server{"srv": server}, Options{Ask: true})
	c.Source = s
	search, err := toolsearch.NewTyped[M](ctx, &c)
	require.NoError(t, err)
	agent, err := adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[M]{Name: "a", Description: "d", Model: einoleantest.Script[M](turns...), Handlers: []adk.TypedChatModelAgentMiddleware[M]{search}})
	require.NoError(t, err)
	return adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, CheckPointStore: store})
}

// follow reads a run to its end, and returns the interrupts in it by the questions.
func follow[M adk.MessageType](t *testing.T, events *adk.AsyncIterator[*adk.TypedAgentEvent[M]]) (ids map[string]Question, said string) {
	t.Helper()
	ids = map[string]Question{}
	for {
		e, ok := events.Next()
		if !ok {
			return ids, said
		}
		require.NoError(t, e.Err)
		if e.Action != nil && e.Action.Interrupted != nil {
			for _, c := range e.Action.Interrupted.InterruptContexts {
				if q, is := c.Info.(Question); is && c.IsRootCause {
					ids[c.ID] = q
				}
			}
		}
		if e.Output != nil && e.Output.MessageOutput != nil {
			m, err := e.Output.MessageOutput.GetMessage()
			require.NoError(t, err)
			said += fmt.Sprint(m) + "\n"
		}
	}
}

// A question interrupts the run; a person answers, and another process goes on. Two at once
// are answered one by one, and each answer reaches the server once.
//
//claim:mcp-48
func TestAsk_AnsweredInAnotherProcess(t *testing.T) {
	t.Run("Message", answersElsewhere[*schema.Message])
	t.Run("AgenticMessage", answersElsewhere[*schema.AgenticMessage])
}

func answersElsewhere[M adk.MessageType](t *testing.T) {
	f := asking(false)
	ways := map[string]Server{"memory": f.inMemory(), "http": stateless(t, f), "stdio": child(t, "asking")}
	for way, server := range ways {
		t.Run(way, func(t *testing.T) {
			store := &keptCheckpoints{all: map[string][]byte{}}
			before := f.called("painted")
			config := toolsearch.Config{AlwaysVisible: []string{"srv__paint"}}
			call := einoleantest.Call("srv__paint", `{"text":"door"}`).And("srv__paint", `{"text":"roof"}`)
			first := processOf[M](t, server, store, config, call)
			events := first.Query(ctx, "paint", adk.WithCheckPointID("c"))
			ids, _ := follow(t, events)
			require.Len(t, ids, 2)
			said, round := "", 0
			for len(ids) > 0 && round < 5 {
				var id string
				for id = range ids {
					require.Equal(t, Question{Server: "srv", Tool: "paint", Message: "which colour?", Schema: ids[id].Schema, Problem: ids[id].Problem}, ids[id])
					require.JSONEq(t, colours, ids[id].Schema)
				}
				answer := Answer{Content: map[string]any{"colour": "red"}}
				if round == 0 {
					answer.Content["colour"] = "loud" // it does not fit, and is asked again
				}
				next := processOf[M](t, server, store, config, einoleantest.Say("done"))
				events, err := next.ResumeWithParams(ctx, "c", &adk.ResumeParams{Targets: map[string]any{id: answer}})
				require.NoError(t, err)
				more := ""
				ids, more = follow(t, events)
				said += more
				if round == 0 {
					require.Contains(t, fmt.Sprint(ids), "colour", "the problem is told")
				}
				round++
			}
			require.Equal(t, 3, round)
			require.Contains(t, said, `accept red {"text":"door"}`)
			require.Contains(t, said, `accept red {"text":"roof"}`)
			require.Contains(t, said, "done")
			if way != "stdio" {
				require.Equal(t, before+2, f.called("painted"), "each answer reaches the server once")
			}
		})
	}
}

// Who answers what, by the version of the server and the options.
//
//claim:mcp-50
func TestElicit_AnswersOrDeclines(t *testing.T) {
	elicit := func(_ context.Context, q Question) (Answer, error) {
		return Answer{Content: map[string]any{"colour": "blue"}}, nil
	}
	broken := func(context.Context, Question) (Answer, error) { return Answer{}, errors.New("nobody is there") }
	misfit := func(context.Context, Question) (Answer, error) {
		return Answer{Content: map[string]any{"colour": "loud"}}, nil
	}
	for what, c := range map[string]struct {
		o    Options
		want string
	}{
		"nobody":    {Options{}, "decline <nil> {}"},
		"Elicit":    {Options{Elicit: elicit}, "accept blue {}"},
		"an error":  {Options{Elicit: broken}, "cancel <nil> {}"},
		"a misfit":  {Options{Elicit: misfit}, "cancel <nil> {}"},
		"a panic":   {Options{Elicit: func(context.Context, Question) (Answer, error) { panic("boom") }}, "cancel <nil> {}"},
		"declines":  {Options{Elicit: func(context.Context, Question) (Answer, error) { return Answer{Action: "decline"}, nil }}, "decline <nil> {}"},
		"bad words": {Options{Elicit: func(context.Context, Question) (Answer, error) { return Answer{Action: "yes"}, nil }}, "cancel <nil> {}"},
	} {
		for _, old := range []bool{false, true} {
			f := asking(old)
			web := stateless(t, f)
			if old { // over HTTP, servers with sessions are older ones
				web = Server{URL: f.web(t, nil).URL}
			}
			s := open(t, map[string]Server{"memory": f.inMemory(), "http": web, "stdio": child(t, map[bool]string{false: "asking", true: "asking old"}[old])}, c.o)
			for _, way := range []string{"memory", "http", "stdio"} {
				require.Equal(t, old, statusOf(s, way).Protocol < "2026", "%s: %s", way, statusOf(s, way).Protocol)
				require.Equal(t, c.want, ask(t, ctx, s, way+"__paint", `{}`), "%s, %s, old %v", what, way, old)
			}
		}
	}
}

// Where several calls are open in a session of an older server, or one goes on there that was
// given up here, nobody knows which one asks.
//
//claim:mcp-52
func TestElicit_DeclinesQuestionsOfParallelCalls(t *testing.T) {
	f := asking(true)
	asked := 0
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{Elicit: func(context.Context, Question) (Answer, error) {
		asked++
		return Answer{Content: map[string]any{"colour": "blue"}}, nil
	}})
	require.Equal(t, "accept blue {}", ask(t, ctx, s, "srv__paint", `{}`))
	waiting, cancel := context.WithCancel(ctx)
	wait := find(t, ctx, s, "srv__wait").(*textTool)
	ended := make(chan error)
	go func() {
		_, err := wait.InvokableRun(waiting, `{}`)
		ended <- err
	}()
	until(t, "it waits", func() bool { return f.called("wait") == 1 })
	require.Equal(t, "decline <nil> {}", ask(t, ctx, s, "srv__paint", `{}`))
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Equal(t, "decline <nil> {}", ask(t, ctx, s, "srv__paint", `{}`), "the server may go on with a call that was given up")
	require.Equal(t, 1, asked)
}

// A person may take longer than a call: its time does not run meanwhile.
//
//claim:mcp-51
func TestElicit_StopsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := asking(true)
		server := f.inMemory()
		server.Timeout = time.Second
		s := open(t, map[string]Server{"srv": server}, Options{Elicit: func(ctx context.Context, _ Question) (Answer, error) {
			select {
			case <-time.After(time.Hour):
			case <-ctx.Done():
			}
			return Answer{Content: map[string]any{"colour": "blue"}}, ctx.Err()
		}})
		require.Equal(t, "accept blue {}", ask(t, ctx, s, "srv__paint", `{}`))
		require.Contains(t, ask(t, ctx, s, "srv__wait", `{}`), "did not answer", "after that it runs again")
	})
}

// A call that carries an answer is not repeated, even if the tool is harmless and the server
// never took it.
func TestAsk_ServerMayAskTenTimes(t *testing.T) {
	f, asked := newFixture(), 0
	f.server.AddTool(&mcp.Tool{Name: "nag", InputSchema: object("")}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Message: "really?", RequestedSchema: schemaOf(`{"type":"object"}`)}}}, nil
	})
	s := open(t, map[string]Server{"srv": stateless(t, f)}, Options{Elicit: func(context.Context, Question) (Answer, error) {
		asked++
		return Answer{}, nil
	}})
	require.Contains(t, ask(t, ctx, s, "srv__nag", `{}`), "asks for the 11th time")
	require.Equal(t, maxRounds, asked)
}

//claim:mcp-49
func TestAsk_CallWithAnAnswerIsNotRepeated(t *testing.T) {
	f := asking(false)
	var answered atomic.Int64
	srv := httptest.NewServer(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			data, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			r.Body = io.NopCloser(bytes.NewReader(data))
			if strings.Contains(string(data), `"inputResponses"`) {
				answered.Add(1)
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	}(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return f.server }, &mcp.StreamableHTTPOptions{Stateless: true})))
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	s := open(t, map[string]Server{"srv": {URL: srv.URL}}, Options{Elicit: func(context.Context, Question) (Answer, error) {
		return Answer{Content: map[string]any{"colour": "blue"}}, nil
	}})
	require.Contains(t, ask(t, ctx, s, "srv__paint", `{}`), "error: ")
	require.Equal(t, int64(1), answered.Load())
}

// What a server says that it is for is in the index of its tools, and what a tool returns in
// its Extra, both within bounds.
//
//claim:mcp-56
func TestServers_KeepInstructionsAndOutputSchemas(t *testing.T) {
	f := newFixture(&mcp.ServerOptions{Instructions: strings.Repeat("Ü", 400)})
	f.server.AddTool(&mcp.Tool{Name: "small", InputSchema: object(""), OutputSchema: object(`"a":{"type":"string"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text(""), nil })
	f.server.AddTool(&mcp.Tool{Name: "large", InputSchema: object(""), OutputSchema: map[string]any{"type": "object", "description": strings.Repeat("x", maxOutput)}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text(""), nil })
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{})
	info, err := find(t, ctx, s, "srv__small").Info(ctx)
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"object","properties":{"a":{"type":"string"}}}`, info.Extra[toolset.OutputSchemaKey].(string))
	require.Equal(t, strings.Repeat("Ü", 250), info.Extra[toolset.PhrasesKey])
	info, err = find(t, ctx, s, "srv__large").Info(ctx)
	require.NoError(t, err)
	require.NotContains(t, info.Extra, toolset.OutputSchemaKey)
}
