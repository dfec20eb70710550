// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Names of tools: sets and lists, as a model writes them and as they are written for a
// model.

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stringSet is a set of names or ids. The zero value is empty.
type stringSet map[string]bool

func (s *stringSet) add(name string) {
	if *s == nil {
		*s = stringSet{}
	}
	(*s)[name] = true
}

// difference is the names of the first list that are not in the second.
func difference(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	in := make(stringSet, len(b))
	for _, name := range b {
		in[name] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return in[name] })
}

func firstName(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// isNamed reports whether a list holds a name. A trailing * in the list matches any rest.
func isNamed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		start, open := strings.CutSuffix(pattern, "*")
		return pattern == name || open && strings.HasPrefix(name, start)
	})
}

// server is the part of an MCP style name (server__tool) before the first double underscore;
// "" without one.
func serverOf(name string) string {
	s, rest, ok := strings.Cut(name, "__")
	if !ok || rest == "" {
		return ""
	}
	return s
}

func byServer(names []string) (groups map[string][]string, order []string) {
	groups = map[string][]string{}
	for _, n := range names {
		s := serverOf(n)
		if groups[s] == nil {
			order = append(order, s)
		}
		groups[s] = append(groups[s], n)
	}
	return groups, order
}

// pickNames takes names in turn from every server, for a fair share of each, and keeps their
// order.
func pickNames(names []string, limit int) []string {
	queues, order := byServer(names)
	picked := map[string]bool{}
	for len(picked) < limit {
		for _, s := range order {
			if q := queues[s]; len(q) > 0 && len(picked) < limit {
				picked[q[0]], queues[s] = true, q[1:]
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !picked[n] })
}

// splitNames splits a list of names. The result is not nil, and holds each name once.
func splitNames(list string, known func(string) bool) []string {
	if name := strings.TrimSpace(list); known(name) {
		return []string{name}
	}
	names := []string{}
	seen := map[string]bool{}
	add := func(name string) {
		if name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); known(part) {
			add(part)
			continue
		}
		for _, word := range strings.FieldsFunc(part, isListSeparator) {
			add(strings.TrimFunc(word, isQuote))
		}
	}
	return names
}

func isListSeparator(r rune) bool {
	return r == ',' || r == ';' || r == '，' || r == '、' || unicode.IsSpace(r)
}

func isQuote(r rune) bool { return strings.ContainsRune("\"'`“”‘’「」[]()", r) }

// escapeName makes a name safe on a line of its own between tags. Names of letters, digits
// and the usual marks stay as they are; unescapeName reverses it.
func escapeName(name string) string {
	isUnsafe := func(c rune) bool { return strings.ContainsRune(`<>\"`, c) || !strconv.IsPrint(c) }
	if utf8.ValidString(name) && !strings.ContainsFunc(name, isUnsafe) {
		return name
	}
	quoted := strconv.QuoteToASCII(name)
	return strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(quoted[1 : len(quoted)-1])
}

// unescapeName reverses escapeName; it leaves a name that was not escaped as it is.
func unescapeName(name string) string {
	if !strings.Contains(name, `\`) {
		return name
	}
	plain, err := strconv.Unquote(`"` + name + `"`)
	if err != nil {
		return name
	}
	return plain
}

// inLine makes names safe in one line, separated by commas.
func inLine(names []string) []string {
	safe := make([]string, len(names))
	for i, name := range names {
		safe[i] = escapeName(name)
		if !strings.Contains(safe[i], ",") {
			continue
		}
		if safe[i] == name {
			quoted := strconv.QuoteToASCII(name)
			safe[i] = quoted[1 : len(quoted)-1]
		}
		safe[i] = strings.ReplaceAll(safe[i], ",", `\u002c`)
	}
	return safe
}

func outOfLine(list string) (names []string) {
	for name := range strings.SplitSeq(list, ",") {
		names = append(names, unescapeName(strings.TrimSpace(name)))
	}
	return names
}
