// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package reference replaces references in the arguments of calls by the stored values: strings that are nothing but a
// notice, or nothing but the path that a notice shows. It has no dependency on the agent;
// content is read through a function that the caller gives.
package reference

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
)

// Targets are the stored values that a conversation shows: for each clean path, how many bytes of JSON the value had in the
// arguments of an earlier call, zero for a result.
type Targets map[string]int

// Lines returns the targets as lines of text, one for each, sorted by path.
func (t Targets) Lines() (lines []string) {
	for _, filePath := range slices.Sorted(maps.Keys(t)) {
		lines = append(lines, strconv.Itoa(t[filePath])+" "+filePath)
	}
	return lines
}

// ParseTargets reverses [Targets.Lines].
func ParseTargets(lines []string) Targets {
	t := make(Targets, len(lines))
	for _, line := range lines {
		bytes, filePath, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(bytes); err == nil {
			t[filePath] = n
		}
	}
	return t
}

// Resolver replaces references. The zero value refuses every notice and resolves no path.
type Resolver struct {
	Targets Targets
	// Read returns the stored content of a target.
	Read func(ctx context.Context, filePath string) (string, error)
	// IsFileName reports whether an argument of a name takes the name of a file.
	IsFileName func(argument string) bool
	// TakesOnlyString says what the tool's schema demands in a place: a string, or any value that is not known to be
	// one. ok is false if the schema does not say.
	TakesOnlyString func(place []string) (onlyString, ok bool)
}

// Refusal is why a call must not run: an argument stands for content that cannot take its place.
type Refusal struct {
	Path string // empty: the content was not stored
	Err  error  // of the store, nil if the content was not looked for
}

// minReference is the length of the shortest text that can hold a reference.
const minReference = 4

// Resolve returns arguments with stored values in place of references. Everything else stays as it is.
func (r Resolver) Resolve(ctx context.Context, args string) (string, *Refusal) {
	if !mayRefer(args) {
		return args, nil
	}
	if !json.Valid([]byte(args)) {
		if n, ok := notice.Whole(args); ok {
			return "", &Refusal{Path: n.Path}
		}
		return args, nil
	}
	var b strings.Builder
	var refusal *Refusal
	end, contents := 0, make(map[string]string)
	eachString(args, func(s stringAt) bool {
		filePath, isPart, ok := r.pathIn(s)
		if !ok {
			return true
		}
		if isPart {
			refusal = &Refusal{Path: filePath}
			return false
		}
		var value string
		if value, refusal = r.value(ctx, filePath, s.place, contents); refusal != nil {
			return false
		}
		b.WriteString(args[end:s.start])
		b.WriteString(value)
		end = s.end
		return true
	})
	if refusal != nil {
		return "", refusal
	}
	if end == 0 {
		return args, nil
	}
	b.WriteString(args[end:])
	return b.String(), nil
}

// mayRefer reports whether arguments may hold a reference: it is quick, and true of all that do.
func mayRefer(args string) bool {
	return len(args) >= minReference && (strings.ContainsAny(args, "/[") || strings.Contains(args, `\u`))
}

// pathIn returns the path that a string refers to, empty for content that was not stored. isPart says that the string
// stands for a part of the file. ok is false if the string is no reference.
func (r Resolver) pathIn(s stringAt) (filePath string, isPart, ok bool) {
	if n, isNotice := notice.Whole(s.text); isNotice {
		return n.Path, notice.IsPage(s.text), true
	}
	if len(s.text) > notice.MaxPath || !strings.Contains(s.text, "/") || r.IsFileName != nil && r.IsFileName(s.key()) {
		return "", false, false
	}
	_, ok = r.Targets[offload.Clean(s.text)]
	return s.text, false, ok
}

// value returns the JSON that takes the place of a reference.
func (r Resolver) value(
	ctx context.Context, filePath string, place []string, contents map[string]string,
) (string, *Refusal) {
	bytes, isKnown := r.Targets[offload.Clean(filePath)]
	if filePath == "" || !isKnown {
		return "", &Refusal{Path: filePath}
	}
	content, isRead := contents[filePath]
	if !isRead {
		var err error
		if content, err = r.Read(ctx, filePath); err == nil && !utf8.ValidString(content) {
			err = errors.New("the content is not UTF-8, which arguments cannot hold")
		}
		if err != nil {
			return "", &Refusal{Path: filePath, Err: err}
		}
		contents[filePath] = content
	}
	if r.isJSON(content, bytes, place) {
		return strings.TrimSpace(content), nil
	}
	return display.Quoted(content), nil
}

// isJSON reports whether content takes the place of a reference as the JSON that it is.
func (r Resolver) isJSON(content string, bytes int, place []string) bool {
	wasJSON := bytes > 0 && bytes == len(content) // the JSON of a string is longer than the string
	text := strings.TrimSpace(content)
	if !wasJSON && (bytes > 0 || !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[")) || !json.Valid([]byte(text)) {
		return false
	}
	if r.TakesOnlyString != nil {
		if onlyString, ok := r.TakesOnlyString(place); ok {
			return !onlyString
		}
	}
	return wasJSON
}

// InArguments calls found with each notice that stands in place of a value in arguments.
func InArguments(args string, found func(n notice.Notice)) {
	if !strings.Contains(args, notice.ArgMark) || !json.Valid([]byte(args)) {
		return
	}
	eachString(args, func(s stringAt) bool {
		if n, ok := notice.Whole(s.text); ok && n.Path != "" {
			found(n)
		}
		return true
	})
}

// Element stands in a place for any element of a list.
const Element = "[]"

// stringAt is a string in JSON.
type stringAt struct {
	text       string
	start, end int      // of its JSON, with the quotes
	place      []string // the keys that lead to it, [Element] for an element of a list
}

// key is the name of the argument that the string or the list around it belongs to.
func (s stringAt) key() string {
	for i := len(s.place) - 1; i >= 0; i-- {
		if s.place[i] != Element {
			return s.place[i]
		}
	}
	return ""
}

// eachString calls visit with each string in valid JSON that is no key, until it returns false.
func eachString(text string, visit func(s stringAt) bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var walk func(place []string) bool
	walk = func(place []string) bool {
		start := len(text) - len(strings.TrimLeft(text[d.InputOffset():], " \t\r\n,:"))
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch token := token.(type) {
		case string:
			return visit(stringAt{token, start, int(d.InputOffset()), place})
		case json.Delim:
			for d.More() {
				key := Element
				if token == '{' {
					name, _ := d.Token()
					key, _ = name.(string)
				}
				if !walk(append(place[:len(place):len(place)], key)) {
					return false
				}
			}
			_, err = d.Token() // the end
			return err == nil
		}
		return true
	}
	walk(nil)
}
