// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package provider

// This file refuses what OpenAI's Responses API refuses.

import (
	"encoding/json"
	"fmt"
	"regexp"
)

var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (q *responses) refusal() string {
	for _, check := range []func(*responses) string{
		needsInput, needsFunctions, needsUniqueFunctions, needsSearchTool, needsOutputs, needsServerOutputs, needsLoadedOnce,
	} {
		if problem := check(q); problem != "" {
			return problem
		}
	}
	return ""
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

func needsKnownItem(x item) string {
	switch x.Type {
	case "", "message":
		if len(x.Content) == 0 || x.Role == "" {
			return "a message needs a role and content."
		}
	case "function_call":
		var args string
		if x.CallID == "" || x.Name == "" || json.Unmarshal(x.Arguments, &args) != nil {
			return "a function_call needs call_id, name and arguments."
		}
	case "function_call_output":
		if x.CallID == "" || len(x.Output) == 0 || string(x.Output) == "[]" {
			return "a function_call_output needs call_id and output."
		}
	case "tool_search_call", "tool_search_output":
		switch {
		case x.Execution != "client" && x.Execution != "server":
			return "execution must be 'client' or 'server'."
		case x.Execution == "client" && x.CallID == "":
			return "a search that the client runs needs call_id."
		case x.Type == "tool_search_output" && x.noTools:
			return "a tool_search_output needs tools."
		case x.Type == "tool_search_call" && len(x.Arguments) == 0:
			return "a tool_search_call needs arguments."
		}
	default:
		return fmt.Sprintf("unknown type %q.", x.Type)
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

// needsLoadedOnce refuses a function that a search loads although it is there in full.
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
