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
	// longResult is the length in bytes above which a searched result is not quoted in full.
	longResult = 2000

	// maxReads limits the read calls of one step.
	maxReads = 12
)

// readBack answers a step from the result of the call that the step made.
func readBack(s *situation, p *progress) (action, bool) {
	if len(p.calls) == 0 {
		return action{}, false
	}
	last := p.calls[len(p.calls)-1]
	if isError(last.result) {
		return action{}, false
	}
	return s.searchStored(p, last, lookupFor(p.step, last.args, s.toolNamed(last.tool)))
}

func (s *situation) toolNamed(name string) toolView {
	for _, t := range s.visible {
		if t.name == name {
			return t
		}
	}
	return nameOnly(name)
}

// searchStored finishes a step with the matching content of a result, and reads the stored original if
// necessary. It does nothing if the result is short or the step asks for nothing in it.
func (s *situation) searchStored(p *progress, a attempt, w lookup) (action, bool) {
	n, stored := s.notice(a.result)
	if w.isEmpty() || !stored && len(a.result) <= longResult {
		return action{}, false
	}
	var lines []string
	if stored {
		var arguments map[string]any
		if lines, arguments = s.searchAnswers(n, w); arguments != nil && p.readBacks < maxReads {
			return action{call: &Call{s.callID(p), n.reader.name, filling{args: arguments}.json()}}, true
		}
	} else if lines, _ = w.extract(a.result, true); len(lines) == 0 && len(w.data) == 0 {
		return action{}, false
	}
	if p.done = true; len(lines) == 0 {
		lines = []string{localize(p.text, "I found nothing of that in the result.", "结果里没有找到。")}
	}
	p.result = strings.Join(lines, "\n")
	return action{}, true
}

// extract returns the matching parts of a text: lines by position, or lines with the required words. complete
// means that the text is the full result.
func (w lookup) extract(text string, complete bool) (lines []string, sure bool) {
	if w.from+w.last == 0 {
		return w.find(text, complete)
	}
	lines = strings.Split(strings.TrimRight(text, "\n"), "\n")
	if w.last > 0 {
		lines = lines[max(0, len(lines)-w.last):]
	} else if complete {
		lines = lines[min(w.from-1, len(lines)):min(w.to, len(lines))]
	}
	return lines, len(lines) > 0
}

// searchAnswers searches the visible excerpts of a result and the pages read so far. arguments are those of the
// next read call that is needed.
func (s *situation) searchAnswers(n notice, w lookup) (lines []string, arguments map[string]any) {
	if lines, sure := w.extractVisible(n); sure {
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
			extracted, sure := w.extract(content, false)
			if sure {
				return extracted, nil
			}
			if args = next; args == nil {
				break
			}
		}
	}
	return lines, nil
}

// extractVisible searches the excerpts in a notice.
func (w lookup) extractVisible(n notice) (lines []string, sure bool) {
	switch {
	case len(n.visibleParts) == 0 || w.numbered || w.from > 0:
		return nil, false
	case w.last > 0:
		return w.extract(n.visibleParts[len(n.visibleParts)-1], false)
	}
	return w.extract(strings.Join(n.visibleParts, "\n"), false)
}

// plan lists the calls of the reader to try, the most precise first.
func (w lookup) plan(n notice) (out []map[string]any) {
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
		ask(n.argument("pattern", "regex", "regexp"), "(?i)"+regexp.QuoteMeta(stem(longest(w.required))))
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

// answerTo returns the reader's answer to these arguments, regardless of their order and format.
func (s *situation) answerTo(n notice, args map[string]any) (answer string, done bool) {
	want := canonical(filling{args: args}.json())
	for _, r := range s.readBacks {
		if r.tool == n.reader.name && canonical(r.args) == want {
			answer, done = r.result, true
		}
	}
	return answer, done
}

func canonical(args string) string {
	var values map[string]any
	_ = json.Unmarshal([]byte(args), &values) // invalid JSON counts as no arguments
	return fmt.Sprint(values)                 // maps are printed in the order of their keys
}
