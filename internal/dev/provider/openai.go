// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// responses is a request of the Responses API.
type responses struct {
	Model  string          `json:"model"`
	Stream bool            `json:"stream"`
	Input  []item          `json:"input"`
	Tools  []responsesTool `json:"tools"`

	bytes int // of the conversation, without the tools in it
}

// responsesTool is a function, or the search tool.
type responsesTool struct {
	Type         string          `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Parameters   json.RawMessage `json:"parameters"`
	DeferLoading bool            `json:"defer_loading"`
	Execution    string          `json:"execution"`

	raw []byte
}

func (t *responsesTool) UnmarshalJSON(data []byte) error {
	type fields responsesTool
	t.raw = append([]byte(nil), data...)
	return json.Unmarshal(data, (*fields)(t))
}

// item is one item of the conversation. A message has no type.
type item struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Execution string          `json:"execution"`
	Status    string          `json:"status"`
	Tools     []responsesTool `json:"tools"`
	Output    json.RawMessage `json:"output"`
	noTools   bool
}

func (x *item) UnmarshalJSON(data []byte) error {
	type fields item
	if err := json.Unmarshal(data, (*fields)(x)); err != nil {
		return err
	}
	x.noTools = x.Tools == nil
	return nil
}

func readResponses(body []byte) (conversation, error) {
	var q responses
	var parts struct {
		Input json.RawMessage `json:"input"`
	}
	if err := decode(body, &q, &parts); err != nil {
		return nil, err
	}
	q.bytes = len(parts.Input)
	for _, x := range q.Input {
		for _, t := range x.Tools {
			q.bytes -= len(t.raw)
		}
	}
	return &q, nil
}

func (q *responses) facts() Request {
	r := Request{Stream: q.Stream, Prompt: q.bytes}
	for _, t := range q.Tools {
		if t.Type == "tool_search" {
			if r.Search = "hosted"; t.Execution == "client" {
				r.Search = "client"
				r.Teased += len(t.raw)
			}
			continue
		}
		r.Tools = append(r.Tools, Tool{t.Name, t.Description, t.DeferLoading, len(t.raw), t.raw})
	}
	if r.Search == "hosted" { // it shows what it can find
		for _, t := range r.Deferred() {
			r.Teased += len(t.Name) + len(t.Description)
		}
	}
	seen := map[string]bool{}
	for _, x := range q.Input {
		for _, t := range x.Tools {
			if !seen[t.Name] {
				seen[t.Name] = true
				r.Loaded = append(r.Loaded, Tool{t.Name, t.Description, true, len(t.raw), t.raw})
			}
		}
	}
	return r
}

// clientSearch is the name by which scripts call the client's search tool, which has no
// name on the wire.
const clientSearch = "tool_search"

func (q *responses) seesSearch(name string) bool {
	return name == clientSearch && q.facts().Search == "client"
}

// responsesAnswer is a response.
type responsesAnswer struct {
	object object // without output
	output []object
}

func (a responsesAnswer) MarshalJSON() ([]byte, error) {
	return json.Marshal(a.with("completed", a.output))
}

// with is the response at a point of its life.
func (a responsesAnswer) with(status string, output []object) object {
	o := object{"status": status, "output": output}
	for k, v := range a.object {
		o[k] = v
	}
	return o
}

func (q *responses) answer(t Turn, found []Tool, id func(string) string) any {
	in := q.facts().Tokens()
	a := responsesAnswer{object: object{
		"id": id("resp"), "object": "response", "model": q.Model, "created_at": 0, "parallel_tool_calls": true,
		"usage": object{"input_tokens": in, "output_tokens": 10, "total_tokens": in + 10},
	}}
	if t.Search != "" {
		tools := []json.RawMessage{}
		for _, x := range found {
			tools = append(tools, x.raw)
		}
		a.output = append(a.output,
			object{"type": "tool_search_call", "id": id("tsc"), "call_id": nil, "execution": "server", "status": "completed", "arguments": object{"query": t.Search}},
			object{"type": "tool_search_output", "id": id("tso"), "call_id": nil, "execution": "server", "status": "completed", "tools": tools})
	}
	if t.Text != "" {
		a.output = append(a.output, object{"type": "message", "id": id("msg"), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": t.Text, "annotations": []object{}}}})
	}
	for _, c := range t.Calls {
		if q.seesSearch(c.Name) {
			a.output = append(a.output, object{"type": "tool_search_call", "id": id("tsc"), "call_id": id("call"),
				"execution": "client", "status": "completed", "arguments": json.RawMessage(arguments(c))})
			continue
		}
		a.output = append(a.output, object{"type": "function_call", "id": id("fc"), "call_id": id("call"),
			"name": c.Name, "arguments": arguments(c), "status": "completed"})
	}
	return a
}

func (a responsesAnswer) events() []event {
	list := []event{
		{"response.created", object{"response": a.with("in_progress", []object{})}},
		{"response.in_progress", object{"response": a.with("in_progress", []object{})}},
	}
	for i, x := range a.output {
		list = append(list, event{"response.output_item.added", object{"output_index": i, "item": startedItem(x)}})
		list = append(list, middle(i, x)...)
		list = append(list, event{"response.output_item.done", object{"output_index": i, "item": x}})
	}
	return append(list, event{"response.completed", object{"response": a.with("completed", a.output)}})
}

// startedItem is an item before its content has come.
func startedItem(x object) object {
	o := object{}
	for k, v := range x {
		o[k] = v
	}
	o["status"] = "in_progress"
	switch x["type"] {
	case "message":
		o["content"] = []object{}
	case "function_call":
		o["arguments"] = ""
	}
	return o
}

// middle are the events between an item's first and its last.
func middle(i int, x object) (list []event) {
	at := func(more object) object {
		more["output_index"], more["item_id"] = i, x["id"]
		return more
	}
	switch x["type"] {
	case "message":
		part := x["content"].([]object)[0]
		text := part["text"].(string)
		list = append(list, event{"response.content_part.added", at(object{"content_index": 0,
			"part": object{"type": "output_text", "text": "", "annotations": []object{}}})})
		for _, s := range halves(text) {
			list = append(list, event{"response.output_text.delta", at(object{"content_index": 0, "delta": s})})
		}
		return append(list,
			event{"response.output_text.done", at(object{"content_index": 0, "text": text})},
			event{"response.content_part.done", at(object{"content_index": 0, "part": part})})
	case "function_call":
		args := x["arguments"].(string)
		for _, s := range halves(args) {
			list = append(list, event{"response.function_call_arguments.delta", at(object{"delta": s})})
		}
		return append(list, event{"response.function_call_arguments.done", at(object{"arguments": args})})
	}
	return nil
}

var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (q *responses) refusal() string {
	return firstProblem(q, needsInput, needsFunctions, needsUniqueFunctions, needsSearchTool, needsOutputs, needsServerOutputs, needsLoadedOnce)
}

func needsInput(q *responses) string {
	switch {
	case q.Model == "":
		return "Missing required parameter: 'model'."
	case len(q.Input) == 0:
		return "Missing required parameter: 'input'."
	}
	for i, x := range q.Input {
		if problem := needsKnownItem(x); problem != "" {
			return fmt.Sprintf("Invalid 'input[%d]': %s", i, problem)
		}
	}
	return ""
}

// itemChecks say what is wrong with an item, by its type.
var itemChecks = map[string]func(item) string{
	"": needsMessage, "message": needsMessage, "function_call": needsCall, "function_call_output": needsOutput,
	"tool_search_call": needsSearchCall, "tool_search_output": needsSearchOutput,
}

func needsKnownItem(x item) string {
	if check := itemChecks[x.Type]; check != nil {
		return check(x)
	}
	return fmt.Sprintf("unknown type %q.", x.Type)
}

func needsMessage(x item) string {
	if len(x.Content) == 0 || x.Role == "" {
		return "a message needs a role and content."
	}
	return ""
}

func needsCall(x item) string {
	var args string
	if x.CallID == "" || x.Name == "" || json.Unmarshal(x.Arguments, &args) != nil {
		return "a function_call needs call_id, name and arguments."
	}
	return ""
}

func needsOutput(x item) string {
	if x.CallID == "" || len(x.Output) == 0 || string(x.Output) == "[]" {
		return "a function_call_output needs call_id and output."
	}
	return ""
}

func needsSearchCall(x item) string {
	if len(x.Arguments) == 0 {
		return "a tool_search_call needs arguments."
	}
	return needsExecution(x)
}

func needsSearchOutput(x item) string {
	if x.noTools {
		return "a tool_search_output needs tools."
	}
	return needsExecution(x)
}

func needsExecution(x item) string {
	if x.Execution != "client" && x.Execution != "server" {
		return "execution must be 'client' or 'server'."
	}
	if x.Execution == "client" && x.CallID == "" {
		return "a search that the client runs needs call_id."
	}
	return ""
}

func needsFunctions(q *responses) string {
	for i, t := range q.Tools {
		if t.Type == "tool_search" {
			if t.Execution == "client" && (t.Description == "" || !isObject(t.Parameters)) {
				return fmt.Sprintf("Invalid 'tools[%d]': a search that the client runs needs description and parameters.", i)
			}
			continue
		}
		if problem := needsFunction(t); problem != "" {
			return fmt.Sprintf("Invalid 'tools[%d]': %s", i, problem)
		}
	}
	return ""
}

func needsFunction(t responsesTool) string {
	switch {
	case t.Type != "function":
		return fmt.Sprintf("unknown type %q.", t.Type)
	case !functionName.MatchString(t.Name):
		return fmt.Sprintf("name: string does not match pattern %q.", functionName)
	case len(t.Parameters) > 0 && string(t.Parameters) != "null" && !isObject(t.Parameters):
		return "parameters: the schema must be of type object."
	}
	return ""
}

func isObject(schema []byte) bool {
	var s struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object"
}

func needsUniqueFunctions(q *responses) string {
	seen := map[string]bool{}
	for _, t := range q.Tools {
		key := t.Type + " " + t.Name
		if seen[key] {
			return fmt.Sprintf("Invalid 'tools': duplicate tool %q.", key)
		}
		seen[key] = true
	}
	return ""
}

func needsSearchTool(q *responses) string {
	searches := q.facts().Search != ""
	for _, t := range q.Tools {
		if t.DeferLoading && !searches {
			return fmt.Sprintf("Tool %q has defer_loading set, which requires a tool of type 'tool_search'.", t.Name)
		}
	}
	return ""
}

// needsOutputs holds calls and outputs of the client together: each call has one output, of
// its own kind and later.
func needsOutputs(q *responses) string {
	kind, open := map[string]string{}, map[string]bool{}
	for _, x := range q.Input {
		switch {
		case x.Type == "function_call", x.Type == "tool_search_call" && x.Execution == "client":
			if kind[x.CallID] != "" {
				return fmt.Sprintf("Duplicate call_id %s.", x.CallID)
			}
			kind[x.CallID], open[x.CallID] = x.Type, true
		case x.Type == "function_call_output" && kind[x.CallID] != "function_call":
			return fmt.Sprintf("No tool call found for function call output with call_id %s.", x.CallID)
		case x.Type == "tool_search_output" && x.Execution == "client" && kind[x.CallID] != "tool_search_call":
			return fmt.Sprintf("No tool search call found for tool search output with call_id %s.", x.CallID)
		case x.Type == "function_call_output", x.Type == "tool_search_output" && x.Execution == "client":
			if !open[x.CallID] {
				return fmt.Sprintf("Duplicate output for call_id %s.", x.CallID)
			}
			delete(open, x.CallID)
		}
	}
	for id := range open {
		return fmt.Sprintf("No tool output found for function call %s.", id)
	}
	return ""
}

// needsServerOutputs holds calls and outputs of the provider's search together.
func needsServerOutputs(q *responses) string {
	waits := false
	for i, x := range q.Input {
		switch {
		case x.Execution != "server":
		case x.Type == "tool_search_call":
			waits = true
		case !waits:
			return fmt.Sprintf("Invalid 'input[%d]': tool_search_output without tool_search_call.", i)
		default:
			waits = false
		}
	}
	if waits {
		return "tool_search_call without tool_search_output."
	}
	return ""
}

// needsLoadedOnce refuses a function that a search loads although it is listed in full.
func needsLoadedOnce(q *responses) string {
	inFull := map[string]bool{}
	for _, t := range q.Tools {
		inFull[t.Name] = t.Type == "function" && !t.DeferLoading
	}
	for i, x := range q.Input {
		for _, t := range x.Tools {
			if problem := needsFunction(t); problem != "" {
				return fmt.Sprintf("Invalid 'input[%d].tools': %s", i, problem)
			}
			if inFull[t.Name] {
				return fmt.Sprintf("Invalid 'input[%d].tools': duplicate tool %q.", i, t.Name)
			}
		}
	}
	return ""
}
