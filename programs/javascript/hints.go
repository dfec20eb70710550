// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Error texts with hints for common mistakes of models.

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/einolean/einolean/internal/prompt"
)

//go:embed texts
var textFiles embed.FS

// texts are the texts of one language, by key.
type texts map[string]string

var english, chinese = sync.OnceValue(load("en")), sync.OnceValue(load("zh"))

func load(lang string) func() texts {
	return func() (w texts) {
		text, err := textFiles.ReadFile("texts/" + lang + ".json")
		if err == nil {
			err = json.Unmarshal(text, &w)
		}
		if err != nil {
			panic(err) // part of the program
		}
		return w
	}
}

// currentTexts returns the texts in the language of Eino.
func currentTexts() texts {
	if prompt.Chinese() {
		return chinese()
	}
	return english()
}

// format fills a text: {0}, {1} ... are the values.
func (w texts) format(key string, values ...any) string {
	text := w[key]
	for i, v := range values {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), fmt.Sprint(v))
	}
	return text
}

var (
	moduleSyntax       = regexp.MustCompile(`(?m)^\s*import\s.*from\s|^\s*import\s*["']|^\s*export\s|\bimport\(|\brequire\(`)
	typeSyntax         = regexp.MustCompile(`(?m)\b(?:const|let|var)\s+\w+\s*[!?]?\s*:\s*[\w{\[(]|^\s*(?:export\s+)?(?:interface|enum)\s+\w+\s*\{|\b(?:as|satisfies)\s+(?:any|string|number|const|unknown|[A-Z]\w*)\b|[,(]\s*\w+\??\s*:\s*[A-Za-z][\w<>\[\]|]*\s*[,)=]|\)\s*:\s*[\w<>\[\]{}| ]+\s*(?:=>|\{)|^\s*type \w+\s*=|\w<[\w<>\[\], |{}:;]+>\(|\w!\.|\bPromise<|^\s*(?:private|public|readonly|declare)\s+\w|[=(]\s*<\w+(?:\[\])?>\s*[\w(]`)
	redeclaredGlobal   = regexp.MustCompile(`\b(?:const|let|class|function)\s+(?:tools|print|stored|console)\b`)
	redeclaration      = regexp.MustCompile(`redeclaration|redefinition|already been declared|duplicate`)
	awaitKeyword       = regexp.MustCompile(`\bawait\b`)
	forIn              = regexp.MustCompile(`\bfor\s*\(\s*(?:const|let|var)\s+\w+\s+in\b`)
	hashComment        = regexp.MustCompile(`(?m)^\s*#(?:\s|[^\x00-\x7f])`)
	assignmentInObject = regexp.MustCompile(`\btools[.\w]*\(\s*\{[^{}]*?\b\w+\s*=\s*[^=>\s]`)
	methodCall         = regexp.MustCompile(`\.\s*(\w+)\s*\(`)
	continuedLine      = regexp.MustCompile(`[\w)\]"']\s*\n\s*[(\[]`)
	promiseOfObject    = regexp.MustCompile(`\bPromise\.\w+\(\s*\{`)
	yieldKeyword       = regexp.MustCompile(`\byield\b`)
	bigintError        = regexp.MustCompile(`^TypeError: .*(?i:bigint).*(?:number|unary)`)
	undefinedName      = regexp.MustCompile(`^ReferenceError: '?([^'\s]+?)'? is not defined`)
)

// syntaxErrorText returns the error of a program that does not compile: where, and what to write
// instead. compiles reports whether another program compiles.
func (w texts) syntaxErrorText(code, text string, line int, reads func(string) bool) string {
	masked := mask(code)
	mend := w.otherLanguageHint(code, masked, text)
	if mend == "" {
		mend = w.syntaxHint(code, masked, reads)
	}
	return w.withPosition(code, text, line) + prefixed("\n", mend)
}

// otherLanguageHint returns the hint for a program in another language, or one that redeclares a
// name.
func (w texts) otherLanguageHint(code, masked, text string) string {
	switch {
	case isPython(masked):
		return w.format("mend.python", w.translatePython(code))
	case hashComment.MatchString(masked):
		return w["mend.comment"]
	case moduleSyntax.MatchString(masked):
		return w["mend.modules"]
	case redeclaredGlobal.MatchString(masked) && redeclaration.MatchString(text):
		return w["mend.taken"]
	case redeclaration.MatchString(text):
		return w["mend.twice"]
	}
	return ""
}

// syntaxHint returns the hint for a syntax error.
func (w texts) syntaxHint(code, masked string, reads func(string) bool) string {
	if assignmentInObject.MatchString(masked) {
		return w["mend.colon"]
	}
	if b, open := unmatchedBracket(masked); b != nil && open {
		return w.format("mend.open", b.mark, b.line)
	} else if b != nil {
		return w.format("mend.close", b.mark, b.line)
	}
	other, head := asyncEverywhere(code, masked)
	switch {
	case head != "" && reads(other):
		return w.format("mend.async", head)
	case typeSyntax.MatchString(masked):
		return w["mend.types"]
	case yieldKeyword.MatchString(masked):
		return w["mend.yield"]
	}
	return ""
}

var functionHead = regexp.MustCompile(`(\basync\b\s*)?(\bfunction\b[^(){}]*\([^()]*\)|\([^()]*\)\s*=>|[A-Za-z_$][\w$]*\s*=>)`)

// asyncEverywhere returns a program in which all functions are async, and the first function that
// this changed and that awaits.
func asyncEverywhere(code, masked string) (other, head string) {
	var b strings.Builder
	kept := 0
	for _, at := range functionHead.FindAllStringSubmatchIndex(masked, -1) {
		if at[2] >= 0 {
			continue
		}
		b.WriteString(code[kept:at[4]] + "async ")
		kept = at[4]
		if body := masked[at[1]:]; head == "" && awaitsFirst(body) {
			head = "async " + code[at[4]:at[5]]
		}
	}
	return b.String() + code[kept:], head
}

// awaitsFirst reports whether a function body awaits before another function begins.
func awaitsFirst(body string) bool {
	await, next := awaitKeyword.FindStringIndex(body), functionHead.FindStringIndex(body)
	return await != nil && (next == nil || await[0] < next[0])
}

// runtimeErrorText returns an error of a running program with its position and a hint.
func (w texts) runtimeErrorText(code, text string, line int, reads func(string) bool) string {
	if redeclaration.MatchString(text) { // a declaration of the whole script is made when it runs
		return w.syntaxErrorText(code, text, line, reads)
	}
	mend := ""
	switch m := undefinedName.FindStringSubmatch(text); {
	case strings.HasPrefix(text, "SyntaxError"): // JSON.parse
		mend = w["mend.string"]
	case m != nil:
		mend = w.undefinedHint(mask(code), m[1])
	case strings.HasSuffix(text, "is not initialized") && continuedLine.MatchString(mask(code)):
		mend = w["mend.goesOn"]
	case bigintError.MatchString(text):
		mend = w["mend.bigint"]
	case strings.HasPrefix(text, "TypeError"):
		mend = w.typeErrorHint(mask(code), text, line)
	}
	return w.withPosition(code, text, line) + prefixed("\n", mend)
}

// methodReplacements are methods of lists and strings in other languages and libraries, with what
// to write instead.
var methodReplacements = map[string]string{
	"length": ".length", "len": ".length", "size": ".length", "count": ".filter(x => ...).length", "sum": ".reduce((a, b) => a + b, 0)", "append": ".push(x)", "add": ".push(x)", "extend": ".push(...list)",
	"first": "[0]", "last": ".at(-1)", "where": ".filter(x => ...)", "select": ".map(x => ...)", "contains": ".includes(x)", "items": " Object.entries(x)", "get": "[key]", "strip": ".trim()", "lower": ".toLowerCase()", "upper": ".toUpperCase()",
	"startswith": ".startsWith(x)", "endswith": ".endsWith(x)", "unique": " [...new Set(list)]", "distinct": " [...new Set(list)]", "groupBy": " Object.groupBy(list, x => key)", "group_by": " Object.groupBy(list, x => key)",
	"sortBy": ".sort((a, b) => a.key - b.key)", "max": " Math.max(...list)", "min": " Math.min(...list)", "json": ", without .json(): a result is a value already", "keys": " Object.keys(x)", "values": " Object.values(x)", "isEmpty": ".length === 0",
}

// typeErrorHint returns the hint for a TypeError.
func (w texts) typeErrorHint(masked, text string, line int) string {
	lines := strings.Split(masked, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	if promiseOfObject.MatchString(lines[line-1]) && strings.Contains(text, "iterable") {
		return w["mend.list"]
	}
	if around := strings.Join(lines[max(0, line-2):min(len(lines), line+1)], "\n"); continuedLine.MatchString(around) {
		return w["mend.goesOn"]
	}
	if strings.HasSuffix(text, "not a function") {
		for _, m := range methodCall.FindAllStringSubmatch(lines[line-1], -1) {
			if methodReplacements[m[1]] != "" {
				return w.format("mend.instead", "."+m[1]+"()", strings.TrimSpace(methodReplacements[m[1]]))
			}
		}
	}
	return ""
}

// replacements are names from other languages and hosts, with what to write instead.
var replacements = map[string]string{
	"len": "list.length", "str": "String(x)", "int": "Number(x)", "float": "Number(x)", "bool": "Boolean(x)", "abs": "Math.abs(x)", "round": "Math.round(x)",
	"range": "Array.from({length: n}, (_, i) => i)", "sum": "list.reduce((a, b) => a + b, 0)", "sorted": "[...list].sort((a, b) => a - b)", "reversed": "[...list].reverse()",
	"enumerate": "list.entries()", "zip": "a.map((x, i) => [x, b[i]])", "min": "Math.min(...list)", "max": "Math.max(...list)", "any": "list.some(x => ...)", "all": "list.every(x => ...)",
	"list": "[...x]", "dict": "{}", "set": "new Set(x)", "tuple": "[...x]", "isinstance": "typeof x", "type": "typeof x", "map": "list.map(x => ...)", "filter": "list.filter(x => ...)",
	"True": "true", "False": "false", "None": "null", "nil": "null", "json": "JSON.stringify(x)", "math": "Math", "re": "/.../", "datetime": "new Date()", "time": "Date.now()",
	"structuredClone": "JSON.parse(JSON.stringify(x))", "alert": "print(x)", "output": "print(x)", "echo": "print(x)", "println": "print(x)", "puts": "print(x)", "printf": "print(x)", "log": "print(x)", "display": "print(x)",
	"Exception": "catch (e) { ... }", "isEmpty": "list.length === 0", "typeOf": "typeof x", "asyncio": "await Promise.all([...])", "gather": "await Promise.all([...])", "parallel": "await Promise.all([...])",
	"random": "Math.random()", "fmt": "print(x)", "System": "print(x)", "打印": "print(x)", "输出": "print(x)", "collections": "new Map()", "defaultdict": "new Map()", "Counter": "new Map()",
}

// hostNames are names that hosts of JavaScript provide, and the language does not.
var hostNames = regexp.MustCompile(`^(URL|URLSearchParams|Intl|Buffer|TextEncoder|TextDecoder|AbortController|AbortSignal|crypto|window|document|localStorage|sessionStorage|navigator|performance|axios|Response|Request|Headers|FormData|Blob|Worker|global|self|module|exports|__dirname|__filename|_|lodash|moment|dayjs|jQuery|\$|Iterator|Temporal|queueMicrotask|SharedArrayBuffer|Atomics|WeakRef|FinalizationRegistry|WebAssembly|std|os|path|util|sys|requests|httpx|np|pd|numpy|pandas|http|https)$`)

// Names for a person who answers, and for the object with the tools.
var (
	personNames    = regexp.MustCompile(`^(input|prompt|confirm|readline)$`)
	toolNamespaces = regexp.MustCompile(`^(tool\w*|\w*api|functions|mcp|client|agent)$`)
)

// undefinedHint returns the hint for a name that does not exist.
func (w texts) undefinedHint(masked, name string) string {
	quoted := regexp.QuoteMeta(name)
	switch m := regexp.MustCompile(`(?:^|[^\w$.])` + quoted + `\s*\.\s*(\w+)\s*\(`).FindStringSubmatch(masked); {
	case replacements[name] != "":
		return w.format("mend.instead", name, replacements[name])
	case personNames.MatchString(name):
		return w["mend.ask"]
	case hostNames.MatchString(name):
		return w.format("mend.hosts", name)
	case m != nil && toolNamespaces.MatchString(name):
		return w.format("mend.tools", m[1])
	case m != nil:
		return w.format("mend.tools", name+"."+m[1])
	case regexp.MustCompile(`(?:^|[^\w$])` + quoted + `\s*\(`).MatchString(masked):
		return w.format("mend.tools", name)
	case regexp.MustCompile(`\b(?:const|let)\s+` + quoted + `\b`).MatchString(masked):
		return w.format("mend.block", name)
	}
	return ""
}

var (
	fieldAccess = regexp.MustCompile(`([\w$]+|[)\]])\s*\??\.\s*([A-Za-z_$][\w$]*)\s*(\()?`)
	// languageFields are fields of values that no tool returned.
	languageFields = regexp.MustCompile(`^(length|size|message|stack|name|errors|status|value|reason|done|index|input|groups|[A-Z_0-9]+)$`)
)

// missingFields returns the fields that a program reads and that are in none of the shapes of its
// results. A field that the program itself writes is none, and a shape that is cut hides fields.
func missingFields(masked, shapes string) string {
	if shapes == "" || strings.Contains(shapes, "...") {
		return ""
	}
	var missing []string
	for at := 0; ; {
		m := fieldAccess.FindStringSubmatchIndex(masked[at:])
		if m == nil {
			return strings.Join(missing, ", ")
		}
		object, field, isCall := masked[at+m[2]:at+m[3]], masked[at+m[4]:at+m[5]], m[6] >= 0
		at += m[4] // the field is the object of the next access
		if isCall || object == "tools" || languageFields.MatchString(field) || slices.Contains(missing, field) {
			continue
		}
		name := regexp.QuoteMeta(field)
		isKnown := regexp.MustCompile(`(?:^|[^\w$])` + name + `:`).MatchString(shapes)
		isWritten := regexp.MustCompile(`(?:^|[^\w$.\s])\s*` + name + `\b|\.\s*` + name + `\s*=[^=>]`).MatchString(masked)
		if !isKnown && !isWritten {
			missing = append(missing, field)
		}
	}
}

// withPosition adds the line to an error. QuickJS knows the lines of calls exactly, and those of
// other errors approximately.
func (w texts) withPosition(code, text string, line int) string {
	const maxRunes = 100
	if lines := strings.Split(code, "\n"); line > 0 && line <= len(lines) {
		return text + w.format("near", line, shorten(strings.TrimSpace(lines[line-1]), maxRunes))
	}
	return text
}

// shorten cuts a text after some characters.
func shorten(s string, maxRunes int) string {
	for i := range s {
		if maxRunes--; maxRunes < 0 {
			return s[:i] + "..."
		}
	}
	return s
}

// prefixed puts a prefix before a text that is not empty.
func prefixed(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + text
}
