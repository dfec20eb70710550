// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolnames

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Lines writes each name on a line of its own, escaped.
func Lines(names []string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString(Escape(n))
		b.WriteByte('\n')
	}
	return b.String()
}

// Match reports whether a list holds a name. A trailing * in the list matches any rest.
func Match(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		start, open := strings.CutSuffix(pattern, "*")
		return pattern == name || open && strings.HasPrefix(name, start)
	})
}

// CountByServer returns a line for each of the first hundred servers with the number of its names.
func CountByServer(names []string) (counts []string) {
	const maxServers = 100 // a line is about four tokens, and a server that the model does not know of is not searched
	groups, order := byServer(names)
	for i, s := range order {
		if i == maxServers {
			counts = append(counts, "…")
			break
		}
		label := Escape(s)
		if s == "" {
			label = "-"
		}
		counts = append(counts, fmt.Sprintf("%s: %d", label, len(groups[s])))
	}
	return counts
}

// Server returns the part of an MCP style name (server__tool) before the first double underscore;
// "" without one.
func Server(name string) string {
	s, rest, ok := strings.Cut(name, "__")
	if !ok || rest == "" {
		return ""
	}
	return s
}

func byServer(names []string) (groups map[string][]string, order []string) {
	groups = map[string][]string{}
	for _, n := range names {
		s := Server(n)
		if groups[s] == nil {
			order = append(order, s)
		}
		groups[s] = append(groups[s], n)
	}
	return groups, order
}

// Pick selects names round-robin from all servers, so that each gets a fair share. The order of the
// names stays.
func Pick(names []string, limit int) []string {
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

// Escape makes a name safe on a line between tags. Names of letters, digits and usual marks stay
// unchanged. Unescape reverses it.
func Escape(name string) string {
	isUnsafe := func(c rune) bool { return strings.ContainsRune(`<>\"`, c) || !strconv.IsPrint(c) }
	if utf8.ValidString(name) && !strings.ContainsFunc(name, isUnsafe) {
		return name
	}
	quoted := strconv.QuoteToASCII(name)
	return strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(quoted[1 : len(quoted)-1])
}

// Unescape reverses Escape. A name that was not escaped stays unchanged.
func Unescape(name string) string {
	if !strings.Contains(name, `\`) {
		return name
	}
	plain, err := strconv.Unquote(`"` + name + `"`)
	if err != nil {
		return name
	}
	return plain
}

// InLine escapes names for a list separated by commas.
func InLine(names []string) []string {
	safe := make([]string, len(names))
	for i, name := range names {
		safe[i] = Escape(name)
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

// OutOfLine parses a list of names that InLine escaped.
func OutOfLine(list string) (names []string) {
	for name := range strings.SplitSeq(list, ",") {
		names = append(names, Unescape(strings.TrimSpace(name)))
	}
	return names
}
