// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file reads from a conversation which hidden tools the model has loaded or used.

import (
	"strings"

	"github.com/bytedance/sonic"
)

// evidence is what a conversation says about hidden tools. The zero value is that of an
// empty conversation.
type evidence struct {
	modelCalls int
	order      []string       // names, by first evidence
	last       map[string]int // name -> model calls before its last evidence
	calls      []call         // of the last assistant message that has any
	native     bool           // some message holds what belongs to a provider's own search
	natively   set            // names that results in a provider's own form return
	textually  set            // names that results in words return
	emptyCall  *call          // the newest search, if it was answered in that form with nothing
}

// idle is the number of model calls since the last evidence of a tool.
func (v *evidence) idle(name string) int { return v.modelCalls - v.last[name] }

// add reads one more message.
func (v *evidence) add(msg view, r *run) {
	if msg.assistant {
		v.modelCalls++
		v.emptyCall = nil
	}
	if len(msg.calls) > 0 {
		v.calls = msg.calls
	}
	v.native = v.native || msg.hosted
	for _, c := range msg.calls {
		v.native = v.native || c.marked
		v.touch(r.calledTool(c), r)
	}
	for _, res := range msg.results {
		v.addResult(res, r)
	}
}

func (v *evidence) addResult(res result, r *run) {
	if res.native {
		v.native = true
		if len(res.tools) == 0 {
			v.emptyCall = v.callOf(res.id)
		}
		for _, name := range res.tools {
			v.touch(name, r)
			v.natively.add(name)
		}
		return
	}
	c := v.callOf(res.id)
	if res.name == "" && c != nil {
		res.name = c.name
	}
	if r.own[res.name] || r.group.cat.byName[res.name] != nil {
		return
	}
	meta := isMetaTool(res.name)
	// What is left is the result of a search tool, or of one that the agent does not have: an
	// alias of a search tool, if the call was a search.
	if !meta && (c == nil || !searches(c.args)) {
		return
	}
	for _, name := range loadedBy(res.text, meta) {
		v.touch(name, r)
		v.textually.add(name)
	}
}

// searches reports whether arguments are those of a search.
func searches(args string) bool {
	a := decodeArguments(args)
	return len(a.fields) > 0 && len(queriesOf(a))+len(a.texts("regex_pattern")) > 0
}

// set is a set of names. The zero value is empty.
type set map[string]bool

func (s *set) add(name string) {
	if *s == nil {
		*s = set{}
	}
	(*s)[name] = true
}

// calledTool is the name of the tool that a call is for: call_tool has it in its arguments,
// and an alias is known from the call that reached the tool.
func (r *run) calledTool(c call) string {
	if r.group.cat.byName[c.name] != nil || r.own[c.name] {
		return c.name
	}
	if c.name == callToolName {
		return first(decodeArguments(c.args).texts("name"))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reached[c.id]
}

func (v *evidence) callOf(id string) *call {
	for i := range v.calls {
		if v.calls[i].id == id {
			return &v.calls[i]
		}
	}
	return nil
}

func (v *evidence) touch(name string, r *run) {
	if r.group.cat.byName[name] == nil {
		return
	}
	if v.last == nil {
		v.last = map[string]int{}
	}
	if _, known := v.last[name]; !known {
		v.order = append(v.order, name)
	}
	v.last[name] = v.modelCalls
}

// searchAnswer is what the search tools of all protocols answer, and those of Eino.
type searchAnswer struct {
	Matches  []string `json:"matches"`       // Keyword
	Selected []string `json:"selectedTools"` // Regexp
	Loaded   []string `json:"loaded"`        // load_tool
	Already  []string `json:"already_loaded"`
	Tools    []struct {
		Name string `json:"name"`
	} `json:"tools"` // SearchCall
}

// loadedBy returns the names of the tools that a result of a search tool loaded. A result
// under an unknown name must have the form that tool_search has in Eino.
func loadedBy(text string, meta bool) []string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return nil
	}
	var a searchAnswer
	if sonic.ConfigStd.UnmarshalFromString(text, &a) != nil {
		return nil
	}
	names := append(a.Matches, a.Selected...)
	if !meta {
		return names
	}
	names = append(append(names, a.Loaded...), a.Already...)
	for _, t := range a.Tools {
		names = append(names, t.Name)
	}
	return names
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
