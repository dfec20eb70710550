// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// What models put around a program, and what is taken off before it runs. Lines keep their numbers.

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
)

var (
	fence   = regexp.MustCompile("(?s)```[a-zA-Z]*[ \t]*\n(.*?)(?:\n?```|$)")
	element = regexp.MustCompile(`(?s)^\s*<(?:code|script|javascript|run_code|tool_code|pre)>(.*?)(?:</[a-z_]+>\s*)?$`)
	wrapper = regexp.MustCompile(`(?s)^\s*(?://[^\n]*\n\s*)*(?:export\s+default\s+)?(?:\(\s*)?async\s*(?:function\s*\w*\s*\(\s*\)|\(\s*\)\s*=>)\s*\{(.*)\}\s*(?:\)\s*\(\s*\))?\s*;?\s*$`)
	exports = regexp.MustCompile(`(?m)^[ \t]*(?:(?:module\.)?exports\b.*|export\s*\{.*\};?|export\s+default\s+\w+\s*;?[ \t]*)$`)
	export  = regexp.MustCompile(`(?m)^([ \t]*)export\s+(?:default\s+)?(const|let|var|async|function|class)\b`)
)

// clean takes off what models put around a program: JSON, a fence with text around it, tags, a
// function that would only be declared, what exports it, and punctuation of Chinese.
func clean(code string) string {
	code = unescaped(code)
	for _, around := range []*regexp.Regexp{fence, element} {
		code = inside(code, around, func(string) bool { return true })
	}
	code = halfWidth(code)
	code = exports.ReplaceAllString(code, "")
	code = inside(code, wrapper, balanced)
	code = export.ReplaceAllString(code, "$1$2")
	if name := uncalled(code, true); name != "" {
		code += "\nawait " + name + "()"
	}
	return exact(code)
}

// unescaped is a program that was written as JSON, escaped twice, or as HTML.
func unescaped(code string) string {
	var wrapped struct{ Code string }
	if json.Unmarshal([]byte(code), &wrapped) == nil && wrapped.Code != "" {
		return wrapped.Code
	}
	masked := mask(code)
	if strings.Contains(masked, `\`) && !strings.Contains(code, "\n") {
		var text string
		if json.Unmarshal([]byte(`"`+code+`"`), &text) == nil {
			return text
		}
	}
	if strings.Contains(masked, "&gt;") || strings.Contains(masked, "&lt;") {
		return html.UnescapeString(code)
	}
	return code
}

// inside is what an expression finds inside of a program, on the lines where it stands.
func inside(code string, around *regexp.Regexp, fits func(string) bool) string {
	at := around.FindStringSubmatchIndex(code)
	if at == nil || !fits(code[at[2]:at[3]]) {
		return code
	}
	return strings.Repeat("\n", strings.Count(code[:at[2]], "\n")) + code[at[2]:at[3]]
}

// balanced reports whether no brace of the text closes one that it does not open: then the text
// is the whole body of one function.
func balanced(code string) bool {
	b, _ := unmatched(mask(code))
	return b == nil
}

var (
	declared = regexp.MustCompile(`(?m)^(?:(?:async\s+)?function\s+(\w+)\s*\(\s*\)|(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:function\b[\s\w]*\(\s*\)|\(\s*\)\s*=>))`)
	mainly   = regexp.MustCompile(`^(main|run|program|execute|solve|start|handler|task|script|process\w*)$`)
)

// uncalled is the function without parameters that a program declares last and never names again,
// "" if there is none; only one whose name says that it is the program itself, if asked for.
func uncalled(code string, onlyMain bool) string {
	masked := mask(code)
	all := declared.FindAllStringSubmatch(masked, -1)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	name := last[1] + last[2]
	if onlyMain && !mainly.MatchString(name) || len(regexp.MustCompile(`\b`+name+`\b`).FindAllString(masked, 2)) > 1 {
		return ""
	}
	return name
}
