// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Removes what models put around a program before it runs. Line numbers stay the same.

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
)

var (
	codeFence       = regexp.MustCompile("(?s)```[a-zA-Z]*[ \t]*\n(.*?)(?:\n?```|$)")
	xmlElement      = regexp.MustCompile(`(?s)^\s*<(?:code|script|javascript|run_code|tool_code|pre)>(.*?)(?:</[a-z_]+>\s*)?$`)
	functionWrapper = regexp.MustCompile(`(?s)^\s*(?://[^\n]*\n\s*)*(?:export\s+default\s+)?(?:\(\s*)?async\s*(?:function\s*\w*\s*\(\s*\)|\(\s*\)\s*=>)\s*\{(.*)\}\s*(?:\)\s*\(\s*\))?\s*;?\s*$`)
	exportStatement = regexp.MustCompile(`(?m)^[ \t]*(?:(?:module\.)?exports\b.*|export\s*\{.*\};?|export\s+default\s+\w+\s*;?[ \t]*)$`)
	exportKeyword   = regexp.MustCompile(`(?m)^([ \t]*)export\s+(?:default\s+)?(const|let|var|async|function|class)\b`)
)

// cleanCode removes JSON, code fences, tags, exports, a function around the program, and Chinese
// punctuation. A main function that is only declared gets a call.
func cleanCode(code string) string {
	code = unescape(code)
	for _, around := range []*regexp.Regexp{codeFence, xmlElement} {
		code = extract(code, around, func(string) bool { return true })
	}
	code = halfWidth(code)
	code = exportStatement.ReplaceAllString(code, "")
	code = extract(code, functionWrapper, isBalanced)
	code = exportKeyword.ReplaceAllString(code, "$1$2")
	if name := uncalledFunction(code, true); name != "" {
		code += "\nawait " + name + "()"
	}
	return exactIntegers(code)
}

// unescape returns a program that was written as JSON, escaped twice, or as HTML.
func unescape(code string) string {
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

// extract returns what an expression captures in a program, on the same lines.
func extract(code string, around *regexp.Regexp, fits func(string) bool) string {
	at := around.FindStringSubmatchIndex(code)
	if at == nil || !fits(code[at[2]:at[3]]) {
		return code
	}
	return strings.Repeat("\n", strings.Count(code[:at[2]], "\n")) + code[at[2]:at[3]]
}

// isBalanced reports whether the braces of a text are balanced: then it is the whole body of one
// function.
func isBalanced(code string) bool {
	b, _ := unmatchedBracket(mask(code))
	return b == nil
}

var (
	declarations = regexp.MustCompile(`(?m)^(?:(?:async\s+)?function\s+(\w+)\s*\(\s*\)|(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:function\b[\s\w]*\(\s*\)|\(\s*\)\s*=>))`)
	mainName     = regexp.MustCompile(`^(main|run|program|execute|solve|start|handler|task|script|process\w*)$`)
)

// uncalledFunction returns the function without parameters that a program declares last and never
// uses, or "". With onlyMain, its name must say that it is the program.
func uncalledFunction(code string, onlyMain bool) string {
	masked := mask(code)
	all := declarations.FindAllStringSubmatch(masked, -1)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	name := last[1] + last[2]
	if onlyMain && !mainName.MatchString(name) || len(regexp.MustCompile(`\b`+name+`\b`).FindAllString(masked, 2)) > 1 {
		return ""
	}
	return name
}
