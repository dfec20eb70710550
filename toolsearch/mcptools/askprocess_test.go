// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Questions that are answered in another process of the system.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

const askedVar = "EINOLEAN_TEST_ASKED"

// asked is what a process of an agent is told.
type asked struct {
	URL                string // if empty, the server is a process
	Dir                string // of the checkpoints and the results
	Protocol           toolsearch.Protocol
	Streaming, Agentic bool
	Target, Colour     string // the question to answer; empty: the run begins
}

// asks is what the process tells.
type asks struct {
	IDs       []string
	Said, Err string
}

// agentProcess is an agent that runs until it asks or ends.
func agentProcess() {
	var a asked
	var out asks
	err := json.Unmarshal([]byte(os.Getenv(askedVar)), &a)
	switch {
	case err != nil:
	case a.Agentic:
		out, err = runAsked[*schema.AgenticMessage](a)
	default:
		out, err = runAsked[*schema.Message](a)
	}
	if err != nil {
		out.Err = err.Error()
	}
	data, _ := json.Marshal(out)
	fmt.Println(string(data))
}

func runAsked[M adk.MessageType](a asked) (out asks, err error) {
	ctx := context.Background()
	server := Server{URL: a.URL}
	if a.URL == "" {
		exe, err := os.Executable()
		if err != nil {
			return out, err
		}
		server = Server{Command: exe, Env: map[string]string{stdioMode: "asking"}}
	}
	servers, err := Open(ctx, map[string]Server{"srv": server}, Options{Ask: true})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, servers.Close()) }()
	config := &toolsearch.Config{Source: servers, Protocol: a.Protocol}
	door, roof, name := `{"text":"door"}`, `{"text":"roof"}`, "srv__paint"
	if a.Protocol == toolsearch.SearchCall {
		name = "call_tool"
		door, roof = `{"name":"srv__paint","arguments":`+door+`}`, `{"name":"srv__paint","arguments":`+roof+`}`
	} else {
		config.AlwaysVisible = []string{"srv__paint"}
	}
	search, err := toolsearch.NewTyped[M](ctx, config)
	if err != nil {
		return out, err
	}
	files, err := store.NewDir(filepath.Join(a.Dir, "results"))
	if err != nil {
		return out, err
	}
	reduce, err := reduction.NewTyped(ctx, &reduction.TypedConfig[M]{Backend: files, MaxTokensForClear: 1, ProvideReadTool: true})
	if err != nil {
		return out, err
	}
	script := einoleantest.Script[M](einoleantest.Call(name, door).And(name, roof))
	if a.Target != "" {
		script = einoleantest.Script[M](einoleantest.Say("done"))
	}
	agent, err := adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[M]{
		Name: "a", Description: "d", Model: script, Handlers: []adk.TypedChatModelAgentMiddleware[M]{search, reduce},
	})
	if err != nil {
		return out, err
	}
	runner := adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, CheckPointStore: pointsIn(a.Dir), EnableStreaming: a.Streaming})
	if a.Target == "" {
		return read(runner.Query(ctx, "paint", adk.WithCheckPointID("c")))
	}
	answer := Answer{Content: map[string]any{"colour": a.Colour}}
	events, err := runner.ResumeWithParams(ctx, "c", &adk.ResumeParams{Targets: map[string]any{a.Target: answer}})
	if err != nil {
		return out, err
	}
	return read(events)
}

// read reads a run to its end.
func read[M adk.MessageType](events *adk.AsyncIterator[*adk.TypedAgentEvent[M]]) (out asks, err error) {
	ids := map[string]bool{}
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		err = errors.Join(err, e.Err)
		if e.Action != nil && e.Action.Interrupted != nil {
			for _, c := range e.Action.Interrupted.InterruptContexts {
				if _, is := c.Info.(Question); is && c.IsRootCause {
					ids[c.ID] = true
				}
			}
		}
		if e.Output != nil && e.Output.MessageOutput != nil {
			m, wrong := e.Output.MessageOutput.GetMessage()
			err = errors.Join(err, wrong)
			out.Said += fmt.Sprint(m) + "\n"
		}
	}
	out.IDs = slices.Sorted(maps.Keys(ids))
	return out, err
}

// pointsIn is a directory of checkpoints.
type pointsIn string

func (p pointsIn) Get(_ context.Context, id string) ([]byte, bool, error) {
	data, err := os.ReadFile(filepath.Join(string(p), id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}

func (p pointsIn) Set(_ context.Context, id string, data []byte) error {
	return os.WriteFile(filepath.Join(string(p), id), data, 0o600)
}

// The process that asked has ended when a person answers. Two questions at once are answered one
// by one, by a process each, and no call that has its answer is repeated: also with one tool that
// calls the others, in streaming runs, and with reduction beside it.
//
//claim:mcp-48
func TestAsk_QuestionOutlivesItsProcess(t *testing.T) {
	race.Skip(t, "starts dozens of processes; TestAsk_AnsweredInAnotherProcess shares one")
	n := 0
	for _, protocol := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchCall} {
		for _, agentic := range []bool{false, true} {
			for _, stdio := range []bool{false, true} {
				n++
				a := asked{Protocol: protocol, Agentic: agentic, Streaming: n%2 == 0 == agentic}
				t.Run(fmt.Sprintf("%v/agentic=%v/streaming=%v/stdio=%v", protocol, agentic, a.Streaming, stdio), func(t *testing.T) {
					f := asking(false)
					if !stdio {
						a.URL = stateless(t, f).URL
					}
					outlives(t, a, f)
				})
			}
		}
	}
}

func outlives(t *testing.T, a asked, f *fixture) {
	a.Dir = t.TempDir()
	out := inProcess(t, a)
	require.Len(t, out.IDs, 2)
	var said strings.Builder
	for round, colour := range []string{"red", "blue"} {
		a.Target, a.Colour = out.IDs[0], colour
		next := inProcess(t, a)
		require.Len(t, next.IDs, 1-round, "one question is answered")
		require.NotContains(t, next.IDs, a.Target)
		said.WriteString(next.Said)
		if a.URL != "" {
			require.Equal(t, round+1, f.called("painted"), "an answered call is not repeated")
		}
		out = next
	}
	text := strings.ReplaceAll(said.String(), `\"`, `"`)
	require.Equal(t, 1, strings.Count(text, "accept red"), text)
	require.Equal(t, 1, strings.Count(text, "accept blue"), text)
	require.Contains(t, text, `{"text":"door"}`)
	require.Contains(t, text, `{"text":"roof"}`)
	require.Contains(t, text, "done")
}

// inProcess runs the agent in a process of its own.
func inProcess(t *testing.T, a asked) (out asks) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	data, err := json.Marshal(a)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), stdioMode+"=agent", askedVar+"="+string(data), "GOCOVERDIR="+os.TempDir())
	answer, err := cmd.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(answer, &out), "%s", answer)
	require.Empty(t, out.Err)
	return out
}
