// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	theirs "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/toolsearch"
)

// Hiding makes the handler that hides tools. Without New every tool is listed.
type Hiding struct {
	Name string
	New  func(ctx context.Context, tools []tool.BaseTool) (adk.ChatModelAgentMiddleware, error)
}

// Hidings are the ways to hide tools that are compared. The first lists them all.
func Hidings() []Hiding {
	ours := func(name string, config func([]tool.BaseTool) *toolsearch.Config) Hiding {
		return Hiding{name, func(ctx context.Context, tools []tool.BaseTool) (adk.ChatModelAgentMiddleware, error) {
			return toolsearch.New(ctx, config(tools))
		}}
	}
	protocol := func(p toolsearch.Protocol) func([]tool.BaseTool) *toolsearch.Config {
		return func(tools []tool.BaseTool) *toolsearch.Config {
			return &toolsearch.Config{DynamicTools: tools, Protocol: p}
		}
	}
	return []Hiding{
		{"every tool is listed", nil},
		{"toolsearch of Eino", func(ctx context.Context, tools []tool.BaseTool) (adk.ChatModelAgentMiddleware, error) {
			return theirs.New(ctx, &theirs.Config{DynamicTools: tools})
		}},
		ours("toolsearch, Keyword", protocol(toolsearch.Keyword)),
		ours("toolsearch, SearchLoad", protocol(toolsearch.SearchLoad)),
		ours("toolsearch, SearchCall", protocol(toolsearch.SearchCall)),
		ours("toolsearch, Recommended", toolsearch.Recommended),
	}
}

// definition is a tool in a request.
type definition struct {
	name   string
	tokens int64
}

// definitionsOf estimates the tools of a request.
func definitionsOf(infos []*schema.ToolInfo) (all []definition) {
	for _, info := range infos {
		all = append(all, definition{info.Name, ToolTokens(info)})
	}
	return all
}

// ToolTokens estimates the definition of a tool.
func ToolTokens(info *schema.ToolInfo) int64 {
	const around = 8
	n := around + tokens.Estimate(info.Name) + tokens.Estimate(info.Desc)
	if s, err := info.ToJSONSchema(); err == nil && s != nil {
		text, err := json.Marshal(s)
		if err == nil {
			n += tokens.Estimate(string(text))
		}
	}
	return int64(n)
}

// hiddenToolsModel is a conversation that an agent has again. It is the agent's model, which answers what
// was recorded, and searches where it has to.
type hiddenToolsModel struct {
	conversation *Conversation
	script       []*schema.Message // what is left of the answers to one question
	history      []*schema.Message
	definitions  [][]definition
	attempts     map[string]int // how often something was done to see a tool
	n            int
}

// tools are stubs of those that were listed, and of those that were called besides.
func (r *hiddenToolsModel) tools() (hidden, other []tool.BaseTool) {
	known := map[string]bool{}
	for _, info := range r.conversation.infos {
		known[info.Name] = true
		hidden = append(hidden, stub{info})
	}
	for _, m := range r.conversation.msgs {
		for _, tc := range m.ToolCalls {
			if name := tc.Function.Name; name != "" && !known[name] {
				known[name] = true
				other = append(other, stub{&schema.ToolInfo{Name: name}})
			}
		}
	}
	return hidden, other
}

// stub stands for a tool. What it returned is put in once the conversation is over.
type stub struct{ info *schema.ToolInfo }

func (s stub) Info(context.Context) (*schema.ToolInfo, error) { return s.info, nil }

func (s stub) InvokableRun(context.Context, string, ...tool.Option) (string, error) { return "", nil }

// withRecordedResults is the conversation with what the recorded calls returned, whatever the stubs or the
// middleware answered in their place. Calls of one id are told apart by their order.
func (r *hiddenToolsModel) withRecordedResults() []*schema.Message {
	returned := map[string][]*schema.Message{}
	for _, m := range r.conversation.msgs {
		if m.Role == schema.Tool {
			returned[m.ToolCallID] = append(returned[m.ToolCallID], m)
		}
	}
	out := slices.Clone(r.history)
	for i, m := range out {
		if left := returned[m.ToolCallID]; m.Role == schema.Tool && len(left) > 0 {
			out[i], returned[m.ToolCallID] = left[0], left[1:]
		}
	}
	return out
}

// runConversation asks the agent one recorded question after another.
func (r *hiddenToolsModel) runConversation(ctx context.Context, runner *adk.Runner) error {
	msgs := r.conversation.msgs
	for i := 0; i < len(msgs); {
		if m := msgs[i]; m.Role != schema.Assistant && m.Role != schema.Tool {
			r.history = append(r.history, m)
			i++
			continue
		}
		r.script = nil
		for ; i < len(msgs) && (msgs[i].Role == schema.Assistant || msgs[i].Role == schema.Tool); i++ {
			if msgs[i].Role == schema.Assistant {
				r.script = append(r.script, msgs[i])
			}
		}
		if err := r.runQuestion(ctx, runner); err != nil {
			return err
		}
	}
	return nil
}

var errUnrecorded = errors.New("the recording ends here")

// runQuestion runs the agent until it has given all recorded answers to a question.
func (r *hiddenToolsModel) runQuestion(ctx context.Context, runner *adk.Runner) error {
	events := runner.Run(ctx, slices.Clone(r.history))
	for {
		e, ok := events.Next()
		switch {
		case !ok:
			return ctx.Err()
		case e.Err != nil && errors.Is(e.Err, errUnrecorded):
			return nil
		case e.Err != nil:
			return e.Err
		}
	}
}

// Generate answers what was recorded, once the tools for it are in sight.
func (r *hiddenToolsModel) Generate(_ context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	r.history = slices.Clone(in)
	if len(r.script) == 0 {
		return nil, errUnrecorded
	}
	infos := model.GetCommonOptions(&model.Options{}, opts...).Tools
	r.definitions = append(r.definitions, definitionsOf(infos))
	seen := map[string]bool{}
	for _, info := range infos {
		seen[info.Name] = true
	}
	answer := r.searchFor(r.script[0].ToolCalls, seen)
	if answer == nil {
		answer = viaCallTool(r.script[0], seen)
		r.script = r.script[1:]
	}
	r.history = append(r.history, answer)
	return answer, nil
}

// Stream is not asked for.
func (r *hiddenToolsModel) Stream(
	context.Context, []*schema.Message, ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	return nil, errors.New("replay: a rerun does not stream")
}

// searchFor is an answer that looks for tools that are not in sight: first by a search for the words
// of each name, and then by a call. It is nil if nothing is to be done.
func (r *hiddenToolsModel) searchFor(calls []schema.ToolCall, seen map[string]bool) *schema.Message {
	var out []schema.ToolCall
	asked := map[string]bool{}
	for _, tc := range calls {
		name := tc.Function.Name
		if name == "" || seen[name] || asked[name] || !r.isHideable(name) {
			continue
		}
		asked[name] = true
		do, args := "", map[string]any{}
		switch r.attempts[name]++; {
		case r.attempts[name] > 2, r.attempts[name] > 1 && seen["call_tool"]:
			continue
		case seen["search_tools"] && r.attempts[name] == 1:
			do, args["query"] = "search_tools", nameWords(name)
		case seen["load_tool"]:
			do, args["tool_name"] = "load_tool", name
		case r.attempts[name] == 1 && seen["tool_search"]:
			do, args["query"] = "tool_search", nameWords(name)
		default:
			do = name
		}
		text, _ := json.Marshal(args) // strings always can be
		r.n++
		out = append(out, schema.ToolCall{ID: fmt.Sprintf("look_%d", r.n), Type: "function", Function: schema.FunctionCall{Name: do, Arguments: string(text)}})
	}
	if len(out) == 0 {
		return nil
	}
	return schema.AssistantMessage("", out)
}

// isHideable reports whether a tool may be hidden: one that was called without being listed was the
// host's own.
func (r *hiddenToolsModel) isHideable(name string) bool {
	return slices.ContainsFunc(r.conversation.infos, func(info *schema.ToolInfo) bool { return info.Name == name })
}

// nameWords are the words of a tool's name.
func nameWords(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(c rune) bool { return c == '_' || c == '-' || c == '.' || c == '/' }), " ")
}

// viaCallTool is an answer whose calls of tools that are never listed go through call_tool.
func viaCallTool(m *schema.Message, seen map[string]bool) *schema.Message {
	if !seen["call_tool"] {
		return m
	}
	with := *m
	with.ToolCalls = slices.Clone(m.ToolCalls)
	for i, tc := range with.ToolCalls {
		if seen[tc.Function.Name] {
			continue
		}
		args := json.RawMessage(tc.Function.Arguments)
		if !json.Valid(args) {
			args, _ = json.Marshal(tc.Function.Arguments)
		}
		text, _ := json.Marshal(map[string]any{"name": tc.Function.Name, "arguments": args})
		with.ToolCalls[i].Function = schema.FunctionCall{Name: "call_tool", Arguments: string(text)}
	}
	return &with
}
