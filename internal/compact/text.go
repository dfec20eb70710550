// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package compact

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// worth is the least share of a text that compacting must save: a twentieth.
const worth = 20

// Text returns a shorter form of a text that is a JSON object or list, or of the text in an MCP
// result. It reports false if the text is neither, or would be shorter by less than a
// twentieth. The result of Text stays as it is.
func Text(s string) (string, bool) {
	out := s
	for {
		next, ok := unwrapped(out)
		if !ok {
			break
		}
		out = next
	}
	if MayCompact(out) {
		var w Writer
		w.out = make([]byte, 0, len(out))
		if w.document(out) {
			out = string(w.out)
		}
	}
	if len(s)-len(out) < max(1, len(s)/worth) {
		return s, false
	}
	return out, true
}

// MayCompact reports whether a text begins like an object or a list.
func MayCompact(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ' ', '\n', '\t', '\r':
		case '{', '[':
			return true
		default:
			return false
		}
	}
	return false
}

// maxHead is where in a result its first member stands at the latest: it spares other large
// documents being looked through.
const maxHead = 256

// firstMembers are the names of which the first stands within maxHead.
var firstMembers = []string{`"content"`, `"structuredContent"`, `"_meta"`, `"isError"`}

// unwrapped is the text in an MCP result that has no more than that.
func unwrapped(s string) (string, bool) {
	head := s[:min(len(s), maxHead)]
	if !MayCompact(head) || !slices.ContainsFunc(firstMembers, func(name string) bool { return strings.Contains(head, name) }) {
		return "", false
	}
	w := Writer{out: make([]byte, 0, len(s))}
	if !w.document(s) {
		return "", false
	}
	result, ok := membersOf(string(w.out), "content", "structuredContent", "isError", "_meta")
	if !ok || !empty(result["_meta"]) || result["isError"] == "true" {
		return "", false
	}
	text, ok := onlyText(result["content"])
	return text, ok && repeats(result["structuredContent"], text)
}

// onlyText is the text in a list that has nothing else.
func onlyText(content string) (string, bool) {
	if len(content) < len("[{}]") || content[0] != '[' || valueEnd(content[1:]) != len(content)-len("[]") {
		return "", false
	}
	item, ok := membersOf(content[1:len(content)-1], "type", "text", "annotations", "_meta")
	if !ok || item["type"] != `"text"` || !empty(item["annotations"]) || !empty(item["_meta"]) {
		return "", false
	}
	text, ok := decoded(item["text"])
	return text, ok && text != ""
}

func empty(value string) bool { return value == "" || value == "null" || value == "{}" }

// membersOf are the members of a compact object. It reports false if it is none, or has others
// than the given ones, or one twice.
func membersOf(object string, keys ...string) (map[string]string, bool) {
	if object == "" || object[0] != '{' {
		return nil, false
	}
	out := make(map[string]string, len(keys))
	for rest := object[1:]; rest != "}"; {
		rest = strings.TrimPrefix(rest, ",")
		n := valueEnd(rest)
		key := rest[1 : n-1]
		rest = rest[n+1:] // the colon
		n = valueEnd(rest)
		if _, twice := out[key]; twice || !slices.Contains(keys, key) {
			return nil, false
		}
		out[key], rest = rest[:n], rest[n:]
	}
	return out, true
}

// valueEnd is the length of the compact value that a text begins with.
func valueEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 || i+1 < len(s) && strings.IndexByte(",]}", s[i+1]) < 0 {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(s)
}

// decoded is the text of a compact JSON string. It reports false for what has no exact text.
func decoded(s string) (string, bool) {
	if len(s) < len(`""`) || s[0] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	out := make([]byte, 0, len(s))
	for s != "" {
		n := 0
		for n < len(s) && s[n] != '\\' {
			n++
		}
		if out = append(out, s[:n]...); n == len(s) {
			break
		}
		s = s[n+1:]
		if s[0] == 'u' {
			r, used := escapedRune(s[1:])
			if r == utf8.RuneError {
				return "", false
			}
			out, s = utf8.AppendRune(out, r), s[1+used:]
			continue
		}
		out = append(out, plain[s[0]])
		s = s[1:]
	}
	return string(out), true
}

// plain is the byte that each escape of two bytes stands for.
var plain = [256]byte{'"': '"', '\\': '\\', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escapedRune is the character of the digits of an escape, and of a second one that belongs to
// it.
func escapedRune(s string) (r rune, used int) {
	const digits = long - short
	r = rune4([]byte(s[:digits]))
	if !utf16.IsSurrogate(r) {
		return r, digits
	}
	if len(s) < digits+long || s[digits:digits+short] != `\u` {
		return utf8.RuneError, 0
	}
	return utf16.DecodeRune(r, rune4([]byte(s[digits+short:digits+long]))), digits + long
}

// repeats reports whether a text says all that the structured content does.
func repeats(structured, text string) bool {
	if empty(structured) {
		return true
	}
	var w Writer
	isDocument := w.document(text)
	if isDocument && string(w.out) == structured {
		return true
	}
	members, ok := membersOf(structured, "result")
	if !ok {
		return false
	}
	s, isText := decoded(members["result"])
	return isText && s == text || isDocument && string(w.out) == members["result"]
}
