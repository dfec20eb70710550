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

// notice locates the full result. Its text may be in any language: the path and a visible tool identify it.
type notice struct {
	path         string
	reader       toolView // without a name if no such tool is visible
	visibleParts []string // the excerpts of the result in the notice, in order
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
	pathLine := slices.IndexFunc(lines[:min(3, len(lines))], storedAt.MatchString)
	if !ok || pathLine < 0 {
		return n, false
	}
	n.path = strings.TrimRight(storedAt.FindStringSubmatch(lines[pathLine])[1], ".:;")
	candidates := []int{pathLine, min(pathLine+1, len(lines)-1), len(lines) - 1}
	for _, i := range candidates {
		if n.reader.name == "" && s.toolIn(lines[i], &n.reader) {
			candidates[0] = i
		}
	}
	n.add(strings.Split(head, "\n"))
	from := 0
	for i, line := range lines {
		if i == pathLine || i == candidates[0] || len(line) < 200 && heading.MatchString(line) {
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
		n.visibleParts = append(n.visibleParts, part)
	}
}

// toolIn finds the tool that a line names.
func (s *situation) toolIn(line string, t *toolView) bool {
	for _, tool := range slices.Concat(s.readers, s.visible) {
		before, after, ok := strings.Cut(line, tool.name)
		if ok && !endsInWord(before) && !startsInWord(after) && tool.pathParam() != "" {
			*t = tool
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

// isRead reports whether a call reads a stored result.
func (s *situation) isRead(c Call) bool {
	return slices.ContainsFunc(s.readers, func(t toolView) bool { return t.name == c.Name })
}

// page extracts the stored content from an answer of the reader, and the arguments of the next page.
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

// fenced returns the lines between pairs of fence lines.
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

// argument returns the reader's parameter whose name contains one of the words, or "". It ignores parameters
// that count bytes.
func (n notice) argument(words ...string) string {
	for _, p := range n.reader.params {
		if !slices.Contains(p.words, "byte") && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(p.words, w) }) {
			return p.name
		}
	}
	return ""
}
