// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// What models write around and instead of JavaScript, and what they are told.

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/leanctx/leanctx/internal/language"
)

//go:embed texts
var files embed.FS

// words are the texts of one language.
type words map[string]string

var english, chinese = sync.OnceValue(load("en")), sync.OnceValue(load("zh"))

func load(lang string) func() words {
	return func() (w words) {
		text, err := files.ReadFile("texts/" + lang + ".json")
		if err == nil {
			err = json.Unmarshal(text, &w)
		}
		if err != nil {
			panic(err) // part of the program
		}
		return w
	}
}

// currentWords are those of the language that Eino is set to.
func currentWords() words {
	if language.Chinese() {
		return chinese()
	}
	return english()
}

// say fills a text: {0} is the value.
func (w words) say(key string, value any) string {
	return strings.ReplaceAll(w[key], "{0}", fmt.Sprint(value))
}

var (
	fence   = regexp.MustCompile("(?s)```[a-zA-Z]*[ \t]*\n(.*?)\n?```")
	wrapper = regexp.MustCompile(`(?s)^\s*(?:export\s+default\s+)?(?:\(\s*)?async\s*(?:function\s*\w*\s*\(\s*\)|\(\s*\)\s*=>)\s*\{(.*)\}\s*(?:\)\s*\(\s*\))?\s*;?\s*$`)
)

// clean takes off what models put around a program: a fence with text around it, and a function
// that would only be declared.
func clean(code string) string {
	if m := fence.FindStringSubmatch(code); m != nil {
		code = m[1]
	}
	if m := wrapper.FindStringSubmatch(code); m != nil && balanced(m[1]) {
		code = m[1]
	}
	return code
}

// balanced reports whether no brace of the text closes one that it does not open: then the text
// is the whole body of one function. Braces in strings are counted too, which at worst leaves
// the function where it is.
func balanced(code string) bool {
	depth := 0
	for _, c := range code {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

var (
	python  = regexp.MustCompile(`(?m)^\s*(def \w+\(.*\).*:|for \w+(, *\w+)* in .*:|import \w+\s*$|from \w+ import|print\(f["']|(el)?if [^({].*:\s*$|else:\s*$|async def|except\b.*:|try:|with .* as .*:)|\b(True|False|None)\b`)
	modules = regexp.MustCompile(`(?m)^\s*import\s.*from\s|^\s*import\s*["']|^\s*export\s|\bimport\(`)
	types   = regexp.MustCompile(`(?m)\b(const|let|var)\s+\w+\s*:\s*\w|\binterface\s+\w+\s*\{|\bas\s+(any|string|number|const)\b|\)\s*as\s+\w|\(\w+\s*:\s*\w+|^\s*type \w+\s*=|Promise<`)
	undef   = regexp.MustCompile(`^ReferenceError: '?(\w+)'? is not defined`)
	notFunc = regexp.MustCompile(`^TypeError: .*not a function`)
	// What else a program that cannot be read may hold.
	required = regexp.MustCompile(`\brequire\(`)
	taken    = regexp.MustCompile(`\b(?:const|let|class|function)\s+(?:tools|print|stored|console)\b`)
	waiting  = regexp.MustCompile(`\bawait\s+[\w({[]`)
	twice    = regexp.MustCompile(`redeclaration|redefinition|already been declared|duplicate`)
)

// unread is what a program is told that could not be read: where, and what to write instead.
func (w words) unread(code, text string, line int) string {
	mend := ""
	switch {
	case python.MatchString(code):
		mend = w.say("mend.python", w.translated(code))
	case modules.MatchString(code), required.MatchString(code):
		mend = w["mend.modules"]
	case types.MatchString(code):
		mend = w["mend.types"]
	case taken.MatchString(code) && twice.MatchString(text):
		mend = w["mend.taken"]
	case twice.MatchString(text):
		mend = w["mend.twice"]
	case awaits(code, line):
		mend = w["mend.async"]
	}
	return w.near(text, line) + after("\n", mend)
}

// mended adds to an error of a running program where it is and what to write instead.
func (w words) mended(code, text string, line int) string {
	if twice.MatchString(text) { // a declaration of the whole script is made when it runs
		return w.unread(code, text, line)
	}
	mend := ""
	switch m := undef.FindStringSubmatch(text); {
	case strings.HasPrefix(text, "SyntaxError"): // JSON.parse
		mend = w["mend.string"]
	case notFunc.MatchString(text) && strings.Contains(code, "tools."):
		mend = w["mend.string"]
	case m != nil && regexp.MustCompile(`\b`+m[1]+`\s*\(`).MatchString(code):
		mend = w.say("mend.tools", m[1])
	}
	return w.near(text, line) + after("\n", mend)
}

// near says where an error is: the engine knows where calls are, and other errors nearly.
func (w words) near(text string, line int) string {
	if line > 0 {
		text += w.say("near", line)
	}
	return text
}

// after puts a mark before a text, if there is one.
func after(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + text
}

// awaits reports whether a line that could not be read, or the one before it, waits: in a function
// that is not async, await is a name like any other.
func awaits(code string, line int) bool {
	lines := strings.Split(code, "\n")
	for i := max(0, line-2); i < min(line, len(lines)); i++ {
		if waiting.MatchString(lines[i]) {
			return true
		}
	}
	return false
}

var (
	pythonCall = regexp.MustCompile(`^\s*(?:(\w+)\s*=\s*)?(?:await\s+)?tools\.(\w+)\((.*)\)\s*$`)
	keyword    = regexp.MustCompile(`(\w+)\s*=\s*`)
	constants  = strings.NewReplacer("True", "true", "False", "false", "None", "null")
)

// translated is the first call of a Python program, in JavaScript, if it stands on a line alone.
func (w words) translated(code string) string {
	for line := range strings.Lines(code) {
		m := pythonCall.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		args := m[3]
		if !strings.HasPrefix(args, "{") {
			args = "{" + constants.Replace(keyword.ReplaceAllString(args, "$1: ")) + "}"
		}
		call := "await tools." + m[2] + "(" + args + ");"
		if m[1] != "" {
			call = "const " + m[1] + " = " + call
		}
		return call
	}
	return w["mend.pythonExample"]
}
