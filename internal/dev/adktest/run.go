// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adktest

import (
	"context"
	"runtime"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
)

// Agent says what to run.
type Agent[M adk.MessageType] struct {
	Model     *Model[M]
	Tools     []tool.BaseTool
	Handlers  []adk.TypedChatModelAgentMiddleware[M]
	Streaming bool
	Store     adk.CheckPointStore // nil: no checkpoints
	Max       int                 // iterations; 0: Eino's default
	Configure func(*adk.TypedChatModelAgentConfig[M])
}

// Outcome is the outcome of a run.
type Outcome[M adk.MessageType] struct {
	Messages    []M // of the events, in order, streams joined
	Err         error
	Interrupted *adk.InterruptInfo
}

// Answer is the text of the last message.
func (o Outcome[M]) Answer() string {
	if len(o.Messages) == 0 {
		return ""
	}
	return Text(o.Messages[len(o.Messages)-1])
}

// Runner builds the agent and its runner.
func (a Agent[M]) Runner(ctx context.Context) (*adk.TypedRunner[M], error) {
	cfg := &adk.TypedChatModelAgentConfig[M]{
		Name: "agent", Description: "an agent under test", Model: a.Model, Handlers: a.Handlers, MaxIterations: a.Max,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: a.Tools}},
	}
	if a.Configure != nil {
		a.Configure(cfg)
	}
	agent, err := adk.NewTypedChatModelAgent[M](ctx, cfg)
	if err != nil {
		return nil, err
	}
	return adk.NewTypedRunner[M](adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: a.Streaming, CheckPointStore: a.Store}), nil
}

// Run runs the agent on a history.
func (a Agent[M]) Run(ctx context.Context, history []M, opts ...adk.AgentRunOption) Outcome[M] {
	r, err := a.Runner(ctx)
	if err != nil {
		return Outcome[M]{Err: err}
	}
	return Collect(r.Run(ctx, history, opts...))
}

// Collect reads a run to its end.
func Collect[M adk.MessageType](it *adk.AsyncIterator[*adk.TypedAgentEvent[M]]) (out Outcome[M]) {
	for {
		ev, ok := it.Next()
		if !ok {
			return out
		}
		if ev.Err != nil && out.Err == nil {
			out.Err = ev.Err
		}
		if ev.Action != nil && ev.Action.Interrupted != nil {
			out.Interrupted = ev.Action.Interrupted
		}
		if ev.Output == nil || ev.Output.MessageOutput == nil {
			continue
		}
		m, err := ev.Output.MessageOutput.GetMessage()
		if err != nil {
			if out.Err == nil {
				out.Err = err
			}
			continue
		}
		out.Messages = append(out.Messages, m)
	}
}

// Store is a checkpoint store in memory.
type Store struct {
	mu sync.Mutex
	m  map[string][]byte
}

// Get returns what was set.
func (s *Store) Get(_ context.Context, id string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.m[id]
	return b, ok, nil
}

// Set keeps a checkpoint.
func (s *Store) Set(_ context.Context, id string, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[string][]byte{}
	}
	s.m[id] = b
	return nil
}

// Finalize runs the finalizers of everything that is garbage by now, and of what becomes
// garbage through them. They run one after another, so the last of a round shows that
// the others have run.
func Finalize() {
	for range 4 {
		done := make(chan struct{})
		runtime.SetFinalizer(&struct{ b [64]byte }{}, func(*struct{ b [64]byte }) { close(done) })
		for waiting := true; waiting; {
			runtime.GC()
			select {
			case <-done:
				waiting = false
			default:
				runtime.Gosched()
			}
		}
	}
}
