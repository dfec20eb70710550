// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

const (
	openTag  = "<persisted-output>"
	closeTag = "</persisted-output>"
)

// notice says where the whole of a result is. Its sentences may be in any
// language: a path is a path, and the tool is one that the model sees.
type notice struct {
	path   string
	reader toolView // without a name if the model sees no such tool
	shown  []string // the parts of the result that are still there, in order
}

var (
	storedAt = regexp.MustCompile(`[:：]\s*([^\s,，。；]*/[^\s,，。；]+)`)
	heading  = regexp.MustCompile(`\d.*[:：]\s*$`) // such as: The last 100 bytes:
)

// notice finds the notice that a result is or ends with.
func (s *situation) notice(text string) (n notice, ok bool) {
	inside, ok := strings.CutSuffix(strings.TrimSpace(text), closeTag)
	if !ok {
		return n, false
	}
	head, body, ok := cutLast(inside, openTag)
	lines := strings.Split(strings.Trim(body, "\n"), "\n")
	where := slices.IndexFunc(lines[:min(3, len(lines))], storedAt.MatchString)
	if !ok || where < 0 {
		return n, false
	}
	n.path = strings.TrimRight(storedAt.FindStringSubmatch(lines[where])[1], ".:;")
	said := []int{where, min(where+1, len(lines)-1), len(lines) - 1}
	for _, i := range said {
		if n.reader.name == "" && s.toolIn(lines[i], &n.reader) {
			said[0] = i
		}
	}
	n.add(strings.Split(head, "\n"))
	from := 0
	for i, line := range lines {
		if i == where || i == said[0] || len(line) < 200 && heading.MatchString(line) {
			n.add(lines[from:i])
			from = i + 1
		}
	}
	n.add(lines[from:])
	return n, true
}

func cutLast(text, sep string) (before, after string, ok bool) {
	at := strings.LastIndex(text, sep)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(sep):], true
}

func (n *notice) add(lines []string) {
	if part := strings.Join(lines, "\n"); strings.TrimSpace(part) != "" {
		n.shown = append(n.shown, part)
	}
}

// toolIn finds the tool that a line names.
func (s *situation) toolIn(line string, t *toolView) bool {
	for _, seen := range slices.Concat(s.readers, s.visible) {
		before, after, ok := strings.Cut(line, seen.name)
		if ok && !endsInWord(before) && !startsInWord(after) && seen.pathParam() != "" {
			*t = seen
			return true
		}
	}
	return false
}

var (
	wordEnd   = regexp.MustCompile(`\w$|\w[.-]$`)
	wordStart = regexp.MustCompile(`^\w|^[.-]\w`)
)

func endsInWord(text string) bool   { return wordEnd.MatchString(text[max(0, len(text)-2):]) }
func startsInWord(text string) bool { return wordStart.MatchString(text[:min(2, len(text))]) }

// isRead reports whether a call reads a stored result back.
func (s *situation) isRead(c Call) bool {
	return slices.ContainsFunc(s.readers, func(t toolView) bool { return t.name == c.Name })
}

// page is what an answer of the reader holds of the stored content, and the
// arguments of the page that it says comes next.
func (n notice) page(answer string) (content string, next map[string]any) {
	lines := strings.Split(strings.Trim(answer, "\n"), "\n")
	last := lines[len(lines)-1]
	if at := strings.Index(last, "{"); at >= 0 && strings.Contains(last, n.path) {
		_ = json.Unmarshal([]byte(last[at:]), &next)
	}
	if !strings.HasPrefix(lines[0], "["+n.reader.name+"]") {
		return answer, next
	}
	for _, word := range strings.Fields(lines[0]) {
		if inside := fenced(lines, word); len(inside) > 0 {
			return strings.Join(inside, "\n"), next
		}
	}
	return strings.Join(lines[1:max(1, len(lines)-1)], "\n"), next
}

// fenced are the lines between each two that are equal to a fence.
func fenced(lines []string, fence string) (inside []string) {
	open := false
	for _, line := range lines {
		if line == fence {
			open = !open
		} else if open {
			inside = append(inside, line)
		}
	}
	return inside
}

// argument is the reader's parameter with one of these words in its name; empty
// if it has none. Bytes are not counted in.
func (n notice) argument(words ...string) string {
	for _, p := range n.reader.params {
		if !slices.Contains(p.words, "byte") && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(p.words, w) }) {
			return p.name
		}
	}
	return ""
}
