// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Programs in Python: what tells them, and their first call in JavaScript.

import (
	"regexp"
	"strings"
)

var python = regexp.MustCompile(`(?m)^\s*(?:async\s+)?def \w+\s*\(.*|^\s*(?:async\s+)?for \w+(?:\s*,\s*\w+)* in .*:|^\s*import \w+(?:\.\w+)*(?:\s+as\s+\w+)?\s*$|^\s*from [\w.]+ import\b|\b[fr]["']|^\s*(?:el)?if\s+[^({].*:\s*$|^\s*else:\s*$|\bexcept\b.*:|^\s*try:|^\s*with .* as .*:|^\s*while [^({].*:\s*$|\b(?:True|False|None)\b|\bfor \w+(?:\s*,\s*\w+)* in [^;{}]*[\])}]|\blambda\b.*:|^\s*print\s+[\w"'\[]|\bis not None\b|\bnot in\b|^\s*elif\b`)

// isPython reports whether a masked program that cannot be read is one in Python.
func isPython(masked string) bool { return python.MatchString(masked) }

var (
	pythonCall = regexp.MustCompile(`(?:\b(\w+)\s*=\s*)?(?:await\s+)?\btools\.(\w+)\(`)
	keyword    = regexp.MustCompile(`\b(\w+)\s*=\s*`)
	formatted  = regexp.MustCompile(`\bf(?:"([^"\n]*)"|'([^'\n]*)')`)
	loop       = regexp.MustCompile(`\bfor (\w+) in (?:range\(([\w.]+)\)|([\w.]+))`)
	constants  = strings.NewReplacer("True", "true", "False", "false", "None", "null")
)

// translated is the first call of a Python program, in JavaScript: one for each element, if it
// stands in a loop.
func (w words) translated(code string) string {
	masked := mask(code)
	at := pythonCall.FindStringSubmatchIndex(masked)
	if at == nil {
		return w["mend.pythonExample"]
	}
	end := at[1] + closing(masked[at[1]:])
	args := strings.TrimSpace(code[at[1]:end])
	if !strings.HasPrefix(args, "{") {
		args = "{" + keywords(args) + "}"
	}
	name := "r"
	if at[2] >= 0 {
		name = code[at[2]:at[3]]
	}
	call := "tools." + code[at[4]:at[5]] + "(" + constants.Replace(templates(args)) + ")"
	if m := loop.FindStringSubmatch(masked); m != nil && regexp.MustCompile(`\b`+m[1]+`\b`).MatchString(args) {
		list := m[3] + ".map("
		if m[2] != "" {
			list = "Array.from({length: " + m[2] + "}, (_, " + m[1] + ") => " + call + ")"
		} else {
			list += m[1] + " => " + call + ")"
		}
		return "const " + name + " = await Promise.all(" + list + ");"
	}
	return "const " + name + " = await " + call + ";"
}

// closing is where the parenthesis closes in which a masked text begins.
func closing(masked string) int {
	depth := 0
	for i := range len(masked) {
		switch masked[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return len(masked)
}

// keywords writes a=1 as a: 1, outside of texts.
func keywords(args string) string {
	masked := mask(args)
	var b strings.Builder
	kept := 0
	for _, at := range keyword.FindAllStringSubmatchIndex(masked, -1) {
		if strings.HasPrefix(masked[at[1]:], "=") {
			continue
		}
		b.WriteString(args[kept:at[3]] + ": ")
		kept = at[1]
	}
	return b.String() + args[kept:]
}

// templates writes f"a{b}" as `a${b}`.
func templates(args string) string {
	return formatted.ReplaceAllStringFunc(args, func(s string) string {
		return "`" + strings.ReplaceAll(s[2:len(s)-1], "{", "${") + "`"
	})
}
