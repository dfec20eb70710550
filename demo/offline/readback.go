// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

const (
	// longResult is how long a result is, in bytes, that is not answered with whole
	// where something is looked for in it.
	longResult = 2000

	// maxReads is how often one step reads.
	maxReads = 12
)

// readBack answers a step with what it asks for in the result of its own call.
func readBack(s *situation, p *progress) (action, bool) {
	if len(p.calls) == 0 {
		return action{}, false
	}
	last := p.calls[len(p.calls)-1]
	if isError(last.result) {
		return action{}, false
	}
	return s.look(p, last, wants(p.step, last.args, s.toolNamed(last.tool)))
}

func (s *situation) toolNamed(name string) toolView {
	for _, t := range s.visible {
		if t.name == name {
			return t
		}
	}
	return nameOnly(name)
}

// look ends a step with what it wants from a result, reading it back if it must.
// It passes if the result is short, or nothing in it is wanted.
func (s *situation) look(p *progress, a attempt, w wanted) (action, bool) {
	n, kept := s.notice(a.result)
	if w.nothing() || !kept && len(a.result) <= longResult {
		return action{}, false
	}
	var lines []string
	if kept {
		var read map[string]any
		if lines, read = s.recall(n, w); read != nil && p.reads < maxReads {
			return action{call: &Call{s.callID(p), n.reader.name, filling{args: read}.json()}}, true
		}
	} else if lines, _ = w.take(a.result, true); len(lines) == 0 && len(w.data) == 0 {
		return action{}, false
	}
	if p.done = true; len(lines) == 0 {
		lines = []string{say(p.text, "I found nothing of that in the result.", "结果里没有找到。")}
	}
	p.result = strings.Join(lines, "\n")
	return action{}, true
}

// take is what is wanted of a text: lines by position, or those that contain it.
// whole means that the text is the whole result.
func (w wanted) take(text string, whole bool) (lines []string, sure bool) {
	if w.from+w.last == 0 {
		return w.find(text, whole)
	}
	lines = strings.Split(strings.TrimRight(text, "\n"), "\n")
	if w.last > 0 {
		lines = lines[max(0, len(lines)-w.last):]
	} else if whole {
		lines = lines[min(w.from-1, len(lines)):min(w.to, len(lines))]
	}
	return lines, len(lines) > 0
}

// recall finds what is wanted in what is still shown of a result, or in what was
// read of it; read are the arguments of the next call that is needed for it.
func (s *situation) recall(n notice, w wanted) (lines []string, read map[string]any) {
	if lines, sure := w.shown(n); sure {
		return lines, nil
	}
	if n.reader.name == "" {
		return nil, nil
	}
	for _, args := range w.plan(n) {
		for range maxReads {
			answer, done := s.answerTo(n, args)
			if !done {
				return lines, args
			}
			content, next := n.page(answer)
			got, sure := w.take(content, false)
			if sure {
				return got, nil
			}
			if args = next; args == nil {
				break
			}
		}
	}
	return lines, nil
}

// shown looks in the parts of a result that its notice shows.
func (w wanted) shown(n notice) (lines []string, sure bool) {
	switch {
	case len(n.shown) == 0 || w.numbered || w.from > 0:
		return nil, false
	case w.last > 0:
		return w.take(n.shown[len(n.shown)-1], false)
	}
	return w.take(strings.Join(n.shown, "\n"), false)
}

// plan lists the calls of the reader to try, the most precise first.
func (w wanted) plan(n notice) (out []map[string]any) {
	ask := func(param string, value any, more ...any) {
		args := map[string]any{n.reader.pathParam(): n.path, param: value}
		for i := 0; i+1 < len(more); i += 2 {
			if name, _ := more[i].(string); name != "" {
				args[name] = more[i+1]
			}
		}
		out = append(out, args)
	}
	switch limit := n.argument("limit", "count"); {
	case w.last > 0:
		ask(n.argument("tail", "last"), w.last)
	case w.from > 0:
		ask(n.argument("offset", "start", "line"), w.from, limit, w.to-w.from+1)
	case len(w.data) > 0:
		ask(n.argument("pattern", "regex", "regexp"), regexp.QuoteMeta(longest(w.data)))
		ask(n.argument("query", "search", "keywords"), strings.Join(w.data, " "))
	default:
		ask(n.argument("query", "search", "keywords"), strings.Join(w.words, " "))
		ask(n.argument("pattern", "regex", "regexp"), "(?i)"+regexp.QuoteMeta(stem(longest(w.needed))))
	}
	return out
}

func longest(texts []string) (top string) {
	for _, t := range texts {
		if len(t) > len(top) {
			top = t
		}
	}
	return top
}

// answerTo is what the reader answered to these arguments, in whatever order and
// form they were written.
func (s *situation) answerTo(n notice, args map[string]any) (answer string, done bool) {
	want := canonical(filling{args: args}.json())
	for _, r := range s.reads {
		if r.tool == n.reader.name && canonical(r.args) == want {
			answer, done = r.result, true
		}
	}
	return answer, done
}

func canonical(args string) string {
	var values map[string]any
	_ = json.Unmarshal([]byte(args), &values) // what is no JSON is like nothing
	return fmt.Sprint(values)                 // maps are printed in the order of their keys
}
