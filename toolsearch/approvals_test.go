// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// A handler that asks a person before some tools run, written for Eino, with each protocol.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
)

// approver asks a person before a tool runs whose name begins with "files__".
type approver[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	log *approvalLog
}

// approvalLog is what was asked and what ran, by id of the call, in all processes.
type approvalLog struct {
	mu         sync.Mutex
	asked, ran map[string]int
}

func (l *approvalLog) addAsked(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[id]++
}

func (l *approvalLog) addRun(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran[id]++
}

// approveCall interrupts a call until a person has answered it.
func approveCall[A, T any](
	log *approvalLog, tc *adk.ToolContext, denied func(string) T, next func(context.Context, A, ...tool.Option) (T, error),
) func(context.Context, A, ...tool.Option) (T, error) {
	if !strings.HasPrefix(tc.Name, "files__") {
		return next
	}
	return func(ctx context.Context, args A, opts ...tool.Option) (T, error) {
		wasAsked, _, _ := tool.GetInterruptState[string](ctx)
		isTarget, hasAnswer, answer := tool.GetResumeContext[string](ctx)
		switch {
		case !wasAsked:
			log.addAsked(tc.CallID)
			return *new(T), tool.StatefulInterrupt(ctx, tc.CallID, tc.Name)
		case !isTarget || !hasAnswer:
			return *new(T), tool.StatefulInterrupt(ctx, tc.CallID, tc.Name)
		case answer != "yes":
			return denied("a person refused " + tc.Name), nil
		}
		return next(ctx, args, opts...)
	}
}

func (a approver[M]) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, tc *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return approveCall(a.log, tc, func(text string) string { return text }, next), nil
}

func (a approver[M]) WrapStreamableToolCall(_ context.Context, next adk.StreamableToolCallEndpoint, tc *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return approveCall(a.log, tc, func(text string) *schema.StreamReader[string] {
		return schema.StreamReaderFromArray([]string{text})
	}, next), nil
}

func (a approver[M]) WrapEnhancedInvokableToolCall(_ context.Context, next adk.EnhancedInvokableToolCallEndpoint, tc *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	return approveCall(a.log, tc, textParts, next), nil
}

func (a approver[M]) WrapEnhancedStreamableToolCall(_ context.Context, next adk.EnhancedStreamableToolCallEndpoint, tc *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	return approveCall(a.log, tc, func(text string) *schema.StreamReader[*schema.ToolResult] {
		return schema.StreamReaderFromArray([]*schema.ToolResult{textParts(text)})
	}, next), nil
}

// approvalCase is an agent with many hidden tools, and an answer that calls many of them.
type approvalCase struct {
	protocol      toolsearch.Protocol
	tools, writes int
	isBefore      bool // the approver stands before toolsearch
	isMixed       bool // tools of all forms, and not only plain ones
}

func TestApprovals_EveryWriteIsAsked(t *testing.T) {
	adktest.Both(t, testApprovalsEveryWriteIsAsked[*schema.Message], testApprovalsEveryWriteIsAsked[*schema.AgenticMessage])
}

func testApprovalsEveryWriteIsAsked[M adk.MessageType](t *testing.T, streaming bool) {
	sizes := [][2]int{{100, 60}, {700, 60}}
	if testing.Short() {
		sizes = [][2]int{{20, 10}, {520, 40}}
	}
	for _, size := range sizes {
		for _, protocol := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.Regexp, toolsearch.SearchLoad, toolsearch.SearchCall} {
			for _, isBefore := range []bool{true, false} {
				for _, isMixed := range []bool{true, false} {
					c := approvalCase{protocol, size[0], size[1], isBefore, isMixed}
					t.Run(fmt.Sprintf("%s/%d tools/before %v/mixed %v", protocol, c.tools, isBefore, isMixed), func(t *testing.T) {
						testApprovals[M](t, streaming, c)
					})
				}
			}
		}
	}
}

// testApprovals calls all writes in one answer. Half of them is answered in a second process, the others in a third;
// every fifth answer is no.
func testApprovals[M adk.MessageType](t *testing.T, streaming bool, c approvalCase) {
	log := &approvalLog{asked: map[string]int{}, ran: map[string]int{}}
	store := &adktest.Store{}
	process := func(turns ...adktest.Turn) (adktest.Agent[M], *adktest.Model[M]) {
		s := newScene[M](t, streaming, c.protocol)
		s.store, s.cfg.AllowUnloadedCalls, s.cfg.DynamicTools = store, true, c.hiddenTools(log)
		handler := adktest.Handlers[M](approver[M]{log: log})
		if c.isBefore {
			s.around = handler
		} else {
			s.behind = handler
		}
		return s.agent(turns...)
	}
	agent, _ := process(c.answer())
	out := agent.Run(t.Context(), []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
	require.NoError(t, out.Err)
	require.NotNil(t, out.Interrupted)
	require.Empty(t, log.ran, "nothing runs before a person has answered")

	var last sceneResult[M]
	for n := 0; out.Interrupted != nil; n++ {
		require.Less(t, n, 3)
		agent, m := process()
		runner, err := agent.Runner(t.Context())
		require.NoError(t, err)
		events, err := runner.ResumeWithParams(t.Context(), "one", &adk.ResumeParams{Targets: answersTo(out.Interrupted, n == 0)})
		require.NoError(t, err)
		out = adktest.Collect(events)
		require.NoError(t, out.Err)
		last.wires = m.Wires()
	}
	require.Equal(t, "done", out.Answer())

	results := map[string]string{}
	for _, m := range last.wires[0].Messages {
		for _, r := range adktest.Results(m) {
			results[r.ID] = r.Args
		}
	}
	require.Len(t, results, c.writes, "each call has a result")
	for i := range c.writes {
		id := writeID(i)
		switch {
		case log.ran[id] > 0:
			require.Equal(t, 1, log.ran[id], id)
			require.Equal(t, 1, log.asked[id], id)
			require.False(t, isRefused(id), id)
			require.Contains(t, results[id], "wrote", id)
		case isRefused(id) && log.asked[id] > 0:
			require.Equal(t, 1, log.asked[id], id)
			require.Contains(t, results[id], "a person refused", id)
		case c.tools <= 512:
			t.Errorf("%s: asked %d times, and did not run: %s", id, log.asked[id], results[id])
		default: // more tools than there are slots
			require.NotContains(t, results[id], "wrote", id)
		}
	}
	if c.tools <= 512 {
		require.Len(t, log.asked, c.writes)
	}
	t.Logf("%d of %d calls asked, %d ran", len(log.asked), c.writes, len(log.ran))
	requireNoSlots(t, last)
}

func writeID(i int) string { return fmt.Sprintf("w%02d", i) }

// isRefused reports whether the person says no to a call.
func isRefused(id string) bool { return strings.HasSuffix(id, "4") || strings.HasSuffix(id, "9") }

func (c approvalCase) hiddenTools(log *approvalLog) (list []tool.BaseTool) {
	forms := []adktest.Form{adktest.Invokable}
	if c.isMixed {
		forms = []adktest.Form{adktest.Invokable, adktest.Streamable, adktest.Enhanced, adktest.EnhancedStreamable}
	}
	for i := range c.tools {
		info := &schema.ToolInfo{Name: fmt.Sprintf("files__write_%03d", i), Desc: "Writes", ParamsOneOf: schema.NewParamsOneOfByParams(
			map[string]*schema.ParameterInfo{"path": {Type: schema.String, Required: true}})}
		list = append(list, adktest.Tool(forms[i%len(forms)], info, func(ctx context.Context, args string) (string, error) {
			log.addRun(compose.GetToolCallID(ctx))
			return "wrote " + args, nil
		}))
	}
	return list
}

// answer is an answer that calls the writes, in several ways with call_tool.
func (c approvalCase) answer() adktest.Turn {
	var calls []adktest.ToolCall
	for i := range c.writes {
		name, args := fmt.Sprintf("files__write_%03d", i), fmt.Sprintf(`{"path":"/%d"}`, i)
		if c.protocol == toolsearch.SearchCall {
			written := []string{
				`{"name":"%s","arguments":%s}`, `{ "Parameters": %[2]s, "tool": "%[1]s" }`, `{"name":"functions.%s","arguments":%s}`,
				`[{"name":"%s","arguments":%s}]`, `{"name":"call_tool","arguments":{"name":"%s","arguments":%s}}`,
			}
			name, args = "call_tool", fmt.Sprintf(written[i%len(written)], name, args)
		}
		calls = append(calls, adktest.ToolCall{ID: writeID(i), Name: name, Args: args})
	}
	return adktest.Do(calls...)
}

// answersTo is what a person says to the calls that wait: to half of them, or to all.
func answersTo(waiting *adk.InterruptInfo, isHalf bool) map[string]any {
	answers := map[string]any{}
	contexts := slices.DeleteFunc(slices.Clone(waiting.InterruptContexts), func(c *adk.InterruptCtx) bool { return !c.IsRootCause })
	for i, c := range contexts {
		if isHalf && i%2 == 1 {
			continue
		}
		answers[c.ID] = "yes"
		if isRefused(fmt.Sprint(c.Info)) {
			answers[c.ID] = "no"
		}
	}
	return answers
}
