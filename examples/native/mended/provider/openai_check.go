// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"encoding/json"
	"fmt"
	"regexp"
)

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
