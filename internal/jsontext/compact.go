// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"slices"
	"strings"
)

// minSavedShare is the least share of a text that compacting must save: a twentieth.
const minSavedShare = 20

// Compact returns a shorter form of a text that is a JSON object or list, or of the text in an MCP
// result. It reports false if the text is neither, or would be shorter by less than a
// twentieth. A tool's transport wraps a result once: if the text in it is an MCP result too, that is
// the document which the tool returned.
func Compact(s string) (string, bool) {
	out := s
	if text, ok := unwrapMCP(s); ok {
		out = text
	}
	if MayCompact(out) {
		var w CompactWriter
		w.out = make([]byte, 0, len(out))
		if w.writeDocument(out) {
			out = string(w.out)
		}
	}
	if len(s)-len(out) < max(1, len(s)/minSavedShare) {
		return s, false
	}
	return out, true
}

// MayCompact reports whether a text begins like an object or a list.
func MayCompact(s string) bool {
	i := Space(s, 0)
	return i < len(s) && (s[i] == '{' || s[i] == '[')
}

// maxHead is where in a result its first member stands at the latest: it spares other large
// documents being looked through.
const maxHead = 256

// members are those of an MCP result, of which the first stands within maxHead.
var members = []string{"content", "structuredContent", "_meta", "isError", "meta", "type", "text", "annotations"}

// noError are the values of isError that mark no error, and none.
var noError = []string{"", "false", "null"}

// unwrapMCP returns the text of an MCP result that has nothing else, or of its only content.
func unwrapMCP(s string) (string, bool) {
	head := s[:min(len(s), maxHead)]
	if !MayCompact(head) || !slices.ContainsFunc(members, func(name string) bool { return strings.Contains(head, `"`+name+`"`) }) {
		return "", false
	}
	w := CompactWriter{out: make([]byte, 0, len(s))}
	if !w.writeDocument(s) {
		return "", false
	}
	whole := string(w.out)
	if c, ok := contentOf(whole); ok {
		return c.text, c.hasMCPMembers || isDocument(c.text)
	}
	result, rest, ok := membersOf(whole, "content", "structuredContent", "isError", "_meta", "meta")
	if !ok || rest != "" || !isMeaningless(result["_meta"]) || !isMeaningless(result["meta"]) || !slices.Contains(noError, result["isError"]) {
		return "", false
	}
	c, ok := contentOf(result["content"])
	return c.text, ok && result["content"][0] == '[' && isRepeated(result["structuredContent"], c.text)
}

// textContent is a text of an MCP result.
type textContent struct {
	text          string
	hasMCPMembers bool // it has members that only MCP gives to a text
}

// contentOf is the text that a compact object is and nothing else, also as the one item of a
// list.
func contentOf(value string) (c textContent, ok bool) {
	end := ""
	if strings.HasPrefix(value, "[") {
		value, end = value[1:], "]"
	}
	item, rest, ok := membersOf(value, "type", "text", "annotations", "_meta", "meta")
	if !ok || rest != end || item["type"] != `"text"` || !isMeaningless(item["annotations"]) || !isMeaningless(item["_meta"]) || !isMeaningless(item["meta"]) {
		return c, false
	}
	c.text, ok = decodeString(item["text"])
	c.hasMCPMembers = len(item) > len([]string{"type", "text"})
	return c, ok && c.text != ""
}

func isDocument(text string) bool {
	var w CompactWriter
	return MayCompact(text) && w.writeDocument(text)
}

// isMeaningless reports whether a member has no information for a model.
func isMeaningless(value string) bool {
	switch value {
	case "", "null", "{}":
		return true
	case `{"_fastmcp":{"wrap_result":true}}`, `{"fastmcp":{"wrap_result":true}}`: // of the structured content, which says so itself
		return true
	}
	return false
}

// membersOf are the members of the object that a compact text begins with, and what follows
// it. It reports false if there is none, or if it has others than the given ones, or one twice.
func membersOf(s string, keys ...string) (out map[string]string, rest string, ok bool) {
	if s == "" || s[0] != '{' {
		return nil, "", false
	}
	out = make(map[string]string, len(keys))
	key, value, at, more := Member(s, 1)
	for ; more; key, value, at, more = Member(s, at) {
		if _, twice := out[key]; twice || !slices.Contains(keys, key) {
			return nil, "", false
		}
		out[key] = value
	}
	return out, s[at+1:], true
}

// decodeString is the text of a compact JSON string. It reports false for what has no exact text.
func decodeString(s string) (string, bool) {
	if len(s) < len(`""`) || s[0] != '"' {
		return "", false
	}
	raw := s[1 : len(s)-1]
	text := Unescape(raw)
	const half = "\ufffd" // what stands for half of a character
	return text, strings.Count(text, half) == strings.Count(raw, half)
}

// isRepeated reports whether a text has all information of the structured content.
func isRepeated(structured, text string) bool {
	if isMeaningless(structured) {
		return true
	}
	var w CompactWriter
	isDocument := w.writeDocument(text)
	if isDocument && string(w.out) == structured {
		return true
	}
	members, _, ok := membersOf(structured, "result")
	if !ok {
		return false
	}
	s, isText := decodeString(members["result"])
	return isText && s == text || isDocument && string(w.out) == members["result"]
}
