// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// maxCalls limits the tool calls of one step.
const maxCalls = 3

var (
	quotedWord = regexp.MustCompile("[\"“'`]([^\"”'`]+)[\"”'`]")
	listed     = regexp.MustCompile(`(?i)(?:one of|(?:known|keys|columns|names) are:?|known:|did you mean|nearest(?: are)?:?|such as|use|例如[:：]?)\s+(.+)`)
	separators = regexp.MustCompile(`\s*(?:,|;|\bor\b|\band\b|、)\s*`)
)

// complaint is a call that a tool rejected.
type complaint struct {
	tool   toolView
	param  param  // the rejected parameter
	word   string // the quoted text: the parameter's name, or all or part of its value
	args   map[string]any
	answer string
}

// correctCall repairs the argument that the last answer rejected with one of the values that the answer lists.
func correctCall(s *situation, p *progress) (action, bool) {
	if len(p.calls) == 0 || len(p.calls) >= maxCalls {
		return action{}, false
	}
	c, ok := s.complaint(p.calls[len(p.calls)-1])
	if !ok || !c.repair(p.words) {
		return action{}, false
	}
	return action{call: &Call{s.callID(p), c.tool.name, filling{args: c.args}.json()}}, true
}

// callAnother calls the next best tool after the last one failed repeatedly.
func callAnother(s *situation, p *progress) (action, bool) {
	if len(p.calls) == 0 || len(p.calls) >= maxCalls {
		return action{}, false
	}
	for _, f := range s.rank(p) {
		tried := slices.ContainsFunc(p.calls, func(old attempt) bool { return old.tool == f.tool.name })
		if !tried && f.score >= goodScore && len(f.filling.missing) == 0 {
			return s.callTool(p, f)
		}
	}
	return action{}, false
}

func (s *situation) complaint(last attempt) (complaint, bool) {
	i := slices.IndexFunc(s.visible, func(t toolView) bool { return t.name == last.tool })
	c := complaint{args: map[string]any{}, answer: last.result}
	if i < 0 || json.Unmarshal([]byte(last.args), &c.args) != nil {
		return c, false
	}
	c.tool = s.visible[i]
	return c, c.blame()
}

// blame finds the parameter that the answer names or whose value it quotes. Of several it chooses the one with
// the shortest value.
func (c *complaint) blame() bool {
	for _, m := range quotedWord.FindAllStringSubmatch(c.answer, -1) {
		shortest := -1
		for _, q := range c.tool.params {
			previous, ok := c.args[q.name].(string)
			if ok && strings.Contains(strings.ToLower(previous), strings.ToLower(m[1])) && (shortest < 0 || len(previous) < shortest) {
				c.param, c.word, shortest = q, m[1], len(previous)
			}
		}
		if shortest >= 0 {
			return true
		}
	}
	return false
}

// repair changes the argument, and reports whether it did.
func (c *complaint) repair(words []string) bool {
	current := c.args[c.param.name]
	if option := c.option(current, words); option != "" {
		if previous, ok := current.(string); ok && len(previous) > len(c.word) {
			option = strings.Replace(previous, c.word, option, 1)
		}
		c.args[c.param.name] = option
		return true
	}
	return false
}

// option returns the listed value that is most similar to the previous value, or else to the words of the step.
func (c *complaint) option(current any, words []string) (option string) {
	m := listed.FindStringSubmatch(c.answer)
	if m == nil || c.param.kind != "string" {
		return ""
	}
	if current != nil {
		words = tokens(c.word)
	}
	top := 0.0
	for _, o := range separators.Split(strings.TrimRight(m[1], ". "), -1) {
		o = strings.Trim(o, "\"“”'`")
		if score := likeness(o, words); score > top && o != current {
			top, option = score, o
		}
	}
	return option
}

// likeness returns the highest similarity of an option to any of the words.
func likeness(option string, words []string) float64 {
	top := 0.0
	for _, w := range words {
		for _, o := range append(nameWords(option), strings.ToLower(option)) {
			top = max(top, similarity(w, o))
		}
	}
	return top
}
