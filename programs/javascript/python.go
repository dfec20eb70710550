// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Recognizes programs in Python, and translates their first call.

import (
	"regexp"
	"strings"
)

var pythonSyntax = regexp.MustCompile(`(?m)^\s*(?:async\s+)?def \w+\s*\(.*|^\s*(?:async\s+)?for \w+(?:\s*,\s*\w+)* in .*:|^\s*import \w+(?:\.\w+)*(?:\s+as\s+\w+)?\s*$|^\s*from [\w.]+ import\b|\b[fr]["']|^\s*(?:el)?if\s+[^({].*:\s*$|^\s*else:\s*$|\bexcept\b.*:|^\s*try:|^\s*with .* as .*:|^\s*while [^({].*:\s*$|\b(?:True|False|None)\b|\bfor \w+(?:\s*,\s*\w+)* in [^;{}]*[\])}]|\blambda\b.*:|^\s*print\s+[\w"'\[]|\bis not None\b|\bnot in\b|^\s*elif\b`)

// isPython reports whether a masked program that does not compile is Python.
func isPython(masked string) bool { return pythonSyntax.MatchString(masked) }

var (
	pythonCall      = regexp.MustCompile(`(?:\b(\w+)\s*=\s*)?(?:await\s+)?\btools\.(\w+)\(`)
	pythonKeyword   = regexp.MustCompile(`\b(\w+)\s*=\s*`)
	fString         = regexp.MustCompile(`\bf(?:"([^"\n]*)"|'([^'\n]*)')`)
	pythonLoop      = regexp.MustCompile(`\bfor (\w+) in (?:range\(([\w.]+)\)|([\w.]+))`)
	pythonConstants = strings.NewReplacer("True", "true", "False", "false", "None", "null")
)

// translatePython returns the first call of a Python program in JavaScript. A call in a loop
// becomes one call for each element.
func (w texts) translatePython(code string) string {
	masked := mask(code)
	at := pythonCall.FindStringSubmatchIndex(masked)
	if at == nil {
		return w["mend.pythonExample"]
	}
	end := at[1] + closingIndex(masked[at[1]:])
	args := strings.TrimSpace(code[at[1]:end])
	if !strings.HasPrefix(args, "{") {
		args = "{" + convertKeywords(args) + "}"
	}
	name := "r"
	if at[2] >= 0 {
		name = code[at[2]:at[3]]
	}
	call := "tools." + code[at[4]:at[5]] + "(" + pythonConstants.Replace(convertFStrings(args)) + ")"
	if m := pythonLoop.FindStringSubmatch(masked); m != nil && regexp.MustCompile(`\b`+m[1]+`\b`).MatchString(args) {
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

// closingIndex returns the index of the parenthesis that closes the one before a masked text.
func closingIndex(masked string) int {
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

// convertKeywords replaces a=1 by a: 1, outside of strings.
func convertKeywords(args string) string {
	masked := mask(args)
	var b strings.Builder
	kept := 0
	for _, at := range pythonKeyword.FindAllStringSubmatchIndex(masked, -1) {
		if strings.HasPrefix(masked[at[1]:], "=") {
			continue
		}
		b.WriteString(args[kept:at[3]] + ": ")
		kept = at[1]
	}
	return b.String() + args[kept:]
}

// convertFStrings replaces f"a{b}" by `a${b}`.
func convertFStrings(args string) string {
	return fString.ReplaceAllStringFunc(args, func(s string) string {
		return "`" + strings.ReplaceAll(s[2:len(s)-1], "{", "${") + "`"
	})
}
