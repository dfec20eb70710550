// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"regexp"
	"strings"
)

// maxBreakpoints is the most places to cache up to in one request.
const maxBreakpoints = 4

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

func (q *messages) refusal() string {
	return firstProblem(q, needsFields, needsToolDefinitions, needsUniqueTools, needsOneToolNotDeferred,
		needsFewBreakpoints, needsContent, needsPairs, needsSearchResults, needsDeclaredReferences, (*messages).checkThoughts)
}

// firstProblem is what the first check finds that finds anything.
func firstProblem[Q any](q Q, checks ...func(Q) string) string {
	for _, check := range checks {
		if problem := check(q); problem != "" {
			return problem
		}
	}
	return ""
}

func needsFields(q *messages) string {
	switch {
	case q.Model == "":
		return "model: Field required"
	case q.MaxTokens <= 0:
		return "max_tokens: Field required"
	case len(q.Messages) == 0:
		return "messages: at least one message is required"
	case q.Messages[0].Role != "user":
		return "messages: first message must use the \"user\" role"
	}
	return ""
}

func needsToolDefinitions(q *messages) string {
	for i, t := range q.Tools {
		switch {
		case t.hosted() && t.Name != "tool_search_tool_bm25" && t.Name != "tool_search_tool_regex":
			return fmt.Sprintf("tools.%d: unknown tool name %q", i, t.Name)
		case t.hosted() && t.DeferLoading:
			return fmt.Sprintf("tools.%d: the tool search tool cannot be deferred", i)
		case t.hosted():
		case t.Type != "" && t.Type != "custom":
			return fmt.Sprintf("tools.%d: unknown tool type %q", i, t.Type)
		case !toolName.MatchString(t.Name):
			return fmt.Sprintf("tools.%d.custom.name: String should match pattern %q", i, toolName)
		case t.InputSchema == nil || t.InputSchema.Type != "object":
			return fmt.Sprintf("tools.%d.custom.input_schema.type: Field required", i)
		case t.DeferLoading && len(t.CacheControl) > 0:
			return fmt.Sprintf("Tool %q cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.", t.Name)
		}
	}
	return ""
}

func needsUniqueTools(q *messages) string {
	seen := map[string]bool{}
	for _, t := range q.Tools {
		if seen[t.Name] {
			return "tools: Tool names must be unique."
		}
		seen[t.Name] = true
	}
	return ""
}

func needsOneToolNotDeferred(q *messages) string {
	for _, t := range q.Tools {
		if !t.DeferLoading {
			return ""
		}
	}
	if len(q.Tools) > 0 {
		return "All tools have defer_loading set. At least one tool must be non-deferred."
	}
	return ""
}

func needsFewBreakpoints(q *messages) string {
	n := 0
	for _, t := range q.Tools {
		if len(t.CacheControl) > 0 {
			n++
		}
	}
	for _, m := range q.Messages {
		for _, b := range m.Content {
			if len(b.CacheControl) > 0 {
				n++
			}
		}
	}
	if n > maxBreakpoints {
		return fmt.Sprintf("A maximum of %d blocks with cache_control may be provided. Found %d.", maxBreakpoints, n)
	}
	return ""
}

func needsContent(q *messages) string {
	for i, m := range q.Messages {
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return fmt.Sprintf("messages.%d.role: unexpected %q", i, m.Role)
		case len(m.Content) == 0:
			return fmt.Sprintf("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		for _, b := range m.Content {
			if problem := needsText(append(content{b}, b.inner()...)); problem != "" {
				return problem
			}
			if b.Type == "tool_result" && string(b.Content) == "[]" {
				return fmt.Sprintf("messages.%d: tool_result: content must not be empty", i)
			}
		}
	}
	return ""
}

// needsText holds for the blocks of a message and for those within a result.
func needsText(blocks content) string {
	for _, b := range blocks {
		switch {
		case b.Type == "text" && b.Text == "":
			return "messages: text content blocks must be non-empty"
		case b.Type == "text" && strings.TrimSpace(b.Text) == "":
			return "messages: text content blocks must contain non-whitespace text"
		}
	}
	return ""
}

// needsPairs holds calls and results of the client's tools together.
func needsPairs(q *messages) string {
	open := map[string]bool{}
	for i, m := range q.Messages {
		for _, b := range m.Content {
			if b.Type != "tool_result" {
				continue
			}
			waits, called := open[b.ToolUseID]
			if !called {
				return fmt.Sprintf("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, b.ToolUseID)
			}
			if !waits {
				return fmt.Sprintf("messages.%d: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", i, b.ToolUseID)
			}
			open[b.ToolUseID] = false
		}
		for id, waits := range open {
			if waits {
				return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i-1, id)
			}
		}
		clear(open)
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				open[b.ID] = true
			}
		}
		if len(open) > 0 && len(q.Tools) == 0 {
			return "Requests which include `tool_use` or `tool_result` blocks must define tools"
		}
	}
	if len(open) > 0 {
		return "messages: the last message must not leave `tool_use` blocks without results"
	}
	return ""
}

// needsSearchResults holds calls and results of the provider's search together.
func needsSearchResults(q *messages) string {
	for i, m := range q.Messages {
		open := ""
		for _, b := range m.Content {
			switch b.Type {
			case "server_tool_use":
				if q.hostedName() == "" {
					return fmt.Sprintf("messages.%d: server tool %q is not declared", i, b.Name)
				}
				open = b.ID
			case "tool_search_tool_result":
				if open == "" || b.ToolUseID != open {
					return fmt.Sprintf("messages.%d: unexpected `tool_search_tool_result` block: %s", i, b.ToolUseID)
				}
				open = ""
			}
		}
		if open != "" {
			return fmt.Sprintf("messages.%d: `tool_search_tool_bm25` tool use with id `%s` was found without a corresponding `tool_search_tool_result` block", i, open)
		}
	}
	return ""
}

func needsDeclaredReferences(q *messages) string {
	deferred := map[string]bool{}
	for _, t := range q.Tools {
		deferred[t.Name] = t.DeferLoading
	}
	for _, m := range q.Messages {
		for _, b := range m.Content {
			for _, name := range b.references() {
				isDeferred, declared := deferred[name]
				if !declared {
					return fmt.Sprintf("Tool reference %q has no corresponding tool definition", name)
				}
				if !isDeferred {
					return fmt.Sprintf("Tool reference %q must be a tool with defer_loading=true", name)
				}
			}
		}
	}
	return ""
}
