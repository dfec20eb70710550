// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// maxCalls is how often one step calls tools.
const maxCalls = 3

var (
	quotedWord = regexp.MustCompile("[\"“'`]([^\"”'`]+)[\"”'`]")
	listed     = regexp.MustCompile(`(?i)(?:one of|(?:known|keys|columns|names) are:?|known:|did you mean|nearest(?: are)?:?|such as|use|例如[:：]?)\s+(.+)`)
	separators = regexp.MustCompile(`\s*(?:,|;|\bor\b|\band\b|、)\s*`)
)

// complaint is a call that a tool did not like.
type complaint struct {
	tool   toolView
	param  param  // the one that the answer complains of
	word   string // what it quotes: the parameter's name, or what was sent or a part of it
	args   map[string]any
	answer string
}

// correctCall mends the argument that the last answer complained of with one of the values that
// the answer lists.
func correctCall(s *situation, p *progress) (action, bool) {
	if len(p.calls) == 0 || len(p.calls) >= maxCalls {
		return action{}, false
	}
	c, ok := s.complaint(p.calls[len(p.calls)-1])
	if !ok || !c.mend(p.words) {
		return action{}, false
	}
	return action{call: &Call{s.callID(p), c.tool.name, filling{args: c.args}.json()}}, true
}

// callAnother calls the next best tool where the last one could not be made to work.
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

// blame finds the parameter that the answer names, or whose value it quotes, in
// part or whole: of several, the one with the shortest value.
func (c *complaint) blame() bool {
	for _, m := range quotedWord.FindAllStringSubmatch(c.answer, -1) {
		shortest := -1
		for _, q := range c.tool.params {
			sent, ok := c.args[q.name].(string)
			if ok && strings.Contains(strings.ToLower(sent), strings.ToLower(m[1])) && (shortest < 0 || len(sent) < shortest) {
				c.param, c.word, shortest = q, m[1], len(sent)
			}
		}
		if shortest >= 0 {
			return true
		}
	}
	return false
}

// mend changes the argument, and reports whether it could.
func (c *complaint) mend(words []string) bool {
	was := c.args[c.param.name]
	if option := c.option(was, words); option != "" {
		if sent, ok := was.(string); ok && len(sent) > len(c.word) {
			option = strings.Replace(sent, c.word, option, 1)
		}
		c.args[c.param.name] = option
		return true
	}
	return false
}

// option is the value, of those that the answer lists, which is most like what
// was sent, or like the step's words if nothing was.
func (c *complaint) option(was any, words []string) (option string) {
	m := listed.FindStringSubmatch(c.answer)
	if m == nil || c.param.kind != "string" {
		return ""
	}
	if was != nil {
		words = tokens(c.word)
	}
	top := 0.0
	for _, o := range separators.Split(strings.TrimRight(m[1], ". "), -1) {
		o = strings.Trim(o, "\"“”'`")
		if score := likest(o, words); score > top && o != was {
			top, option = score, o
		}
	}
	return option
}

// likest is how like an option is to any of some words.
func likest(option string, words []string) float64 {
	top := 0.0
	for _, w := range words {
		for _, o := range append(nameWords(option), strings.ToLower(option)) {
			top = max(top, alike(w, o))
		}
	}
	return top
}
