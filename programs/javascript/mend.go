// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// What models write instead of JavaScript, and what they are told.

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/einolean/einolean/internal/prompt"
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
	if prompt.Chinese() {
		return chinese()
	}
	return english()
}

// say fills a text: {0} and {1} are the values.
func (w words) say(key string, values ...any) string {
	text := w[key]
	for i, v := range values {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), fmt.Sprint(v))
	}
	return text
}

var (
	modules   = regexp.MustCompile(`(?m)^\s*import\s.*from\s|^\s*import\s*["']|^\s*export\s|\bimport\(|\brequire\(`)
	types     = regexp.MustCompile(`(?m)\b(?:const|let|var)\s+\w+\s*[!?]?\s*:\s*[\w{\[(]|^\s*(?:export\s+)?(?:interface|enum)\s+\w+\s*\{|\b(?:as|satisfies)\s+(?:any|string|number|const|unknown|[A-Z]\w*)\b|[,(]\s*\w+\??\s*:\s*[A-Za-z][\w<>\[\]|]*\s*[,)=]|\)\s*:\s*[\w<>\[\]{}| ]+\s*(?:=>|\{)|^\s*type \w+\s*=|\w<[\w<>\[\], |{}:;]+>\(|\w!\.|\bPromise<|^\s*(?:private|public|readonly|declare)\s+\w|[=(]\s*<\w+(?:\[\])?>\s*[\w(]`)
	taken     = regexp.MustCompile(`\b(?:const|let|class|function)\s+(?:tools|print|stored|console)\b`)
	twice     = regexp.MustCompile(`redeclaration|redefinition|already been declared|duplicate`)
	waits     = regexp.MustCompile(`\bawait\b`)
	forIn     = regexp.MustCompile(`\bfor\s*\(\s*(?:const|let|var)\s+\w+\s+in\b`)
	comment   = regexp.MustCompile(`(?m)^\s*#(?:\s|[^\x00-\x7f])`)
	shorthand = regexp.MustCompile(`\btools[.\w]*\(\s*\{[^{}]*?\b\w+\s*=\s*[^=>\s]`)
	method    = regexp.MustCompile(`\.\s*(\w+)\s*\(`)
	goesOn    = regexp.MustCompile(`[\w)\]"']\s*\n\s*[(\[]`)
	object    = regexp.MustCompile(`\bPromise\.\w+\(\s*\{`)
	yields    = regexp.MustCompile(`\byield\b`)
	bigint    = regexp.MustCompile(`^TypeError: .*(?i:bigint).*(?:number|unary)`)
	undef     = regexp.MustCompile(`^ReferenceError: '?([^'\s]+?)'? is not defined`)
)

// unread is what a program is told that could not be read: where, and what to write instead. reads
// tries whether another program can be read.
func (w words) unread(code, text string, line int, reads func(string) bool) string {
	masked := mask(code)
	mend := w.another(code, masked, text)
	if mend == "" {
		mend = w.wrong(code, masked, reads)
	}
	return w.near(code, text, line) + after("\n", mend)
}

// another is what a program is told that is in another language, or declares what is there.
func (w words) another(code, masked, text string) string {
	switch {
	case isPython(masked):
		return w.say("mend.python", w.translated(code))
	case comment.MatchString(masked):
		return w["mend.comment"]
	case modules.MatchString(masked):
		return w["mend.modules"]
	case taken.MatchString(masked) && twice.MatchString(text):
		return w["mend.taken"]
	case twice.MatchString(text):
		return w["mend.twice"]
	}
	return ""
}

// wrong is what a program is told in which something is wrong.
func (w words) wrong(code, masked string, reads func(string) bool) string {
	if shorthand.MatchString(masked) {
		return w["mend.colon"]
	}
	if b, open := unmatched(masked); b != nil && open {
		return w.say("mend.open", b.mark, b.line)
	} else if b != nil {
		return w.say("mend.close", b.mark, b.line)
	}
	other, head := asyncEverywhere(code, masked)
	switch {
	case head != "" && reads(other):
		return w.say("mend.async", head)
	case types.MatchString(masked):
		return w["mend.types"]
	case yields.MatchString(masked):
		return w["mend.yield"]
	}
	return ""
}

var heads = regexp.MustCompile(`(\basync\b\s*)?(\bfunction\b[^(){}]*\([^()]*\)|\([^()]*\)\s*=>|[A-Za-z_$][\w$]*\s*=>)`)

// asyncEverywhere is a program with all its functions async, and the first head that is new.
func asyncEverywhere(code, masked string) (other, head string) {
	var b strings.Builder
	kept := 0
	for _, at := range heads.FindAllStringSubmatchIndex(masked, -1) {
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

// awaitsFirst reports whether a function that begins here waits before another function begins.
func awaitsFirst(body string) bool {
	await, next := waits.FindStringIndex(body), heads.FindStringIndex(body)
	return await != nil && (next == nil || await[0] < next[0])
}

// mended adds to an error of a running program where it is and what to write instead.
func (w words) mended(code, text string, line int, reads func(string) bool) string {
	if twice.MatchString(text) { // a declaration of the whole script is made when it runs
		return w.unread(code, text, line, reads)
	}
	mend := ""
	switch m := undef.FindStringSubmatch(text); {
	case strings.HasPrefix(text, "SyntaxError"): // JSON.parse
		mend = w["mend.string"]
	case m != nil:
		mend = w.undefined(mask(code), m[1])
	case strings.HasSuffix(text, "is not initialized") && goesOn.MatchString(mask(code)):
		mend = w["mend.goesOn"]
	case bigint.MatchString(text):
		mend = w["mend.bigint"]
	case strings.HasPrefix(text, "TypeError"):
		mend = w.wrongType(mask(code), text, line)
	}
	return w.near(code, text, line) + after("\n", mend)
}

// methods are what other languages, and other libraries, call those of lists and texts.
var methods = map[string]string{
	"length": ".length", "len": ".length", "size": ".length", "count": ".filter(x => ...).length", "sum": ".reduce((a, b) => a + b, 0)", "append": ".push(x)", "add": ".push(x)", "extend": ".push(...list)",
	"first": "[0]", "last": ".at(-1)", "where": ".filter(x => ...)", "select": ".map(x => ...)", "contains": ".includes(x)", "items": " Object.entries(x)", "get": "[key]", "strip": ".trim()", "lower": ".toLowerCase()", "upper": ".toUpperCase()",
	"startswith": ".startsWith(x)", "endswith": ".endsWith(x)", "unique": " [...new Set(list)]", "distinct": " [...new Set(list)]", "groupBy": " Object.groupBy(list, x => key)", "group_by": " Object.groupBy(list, x => key)",
	"sortBy": ".sort((a, b) => a.key - b.key)", "max": " Math.max(...list)", "min": " Math.min(...list)", "json": ", without .json(): a result is a value already", "keys": " Object.keys(x)", "values": " Object.values(x)", "isEmpty": ".length === 0",
}

// wrongType is what to write where a value is not what the program takes it for.
func (w words) wrongType(masked, text string, line int) string {
	lines := strings.Split(masked, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	if object.MatchString(lines[line-1]) && strings.Contains(text, "iterable") {
		return w["mend.list"]
	}
	if around := strings.Join(lines[max(0, line-2):min(len(lines), line+1)], "\n"); goesOn.MatchString(around) {
		return w["mend.goesOn"]
	}
	if strings.HasSuffix(text, "not a function") {
		for _, m := range method.FindAllStringSubmatch(lines[line-1], -1) {
			if methods[m[1]] != "" {
				return w.say("mend.instead", "."+m[1]+"()", strings.TrimSpace(methods[m[1]]))
			}
		}
	}
	return ""
}

// What other languages call things, and things of JavaScript's hosts that have another form here.
var instead = map[string]string{
	"len": "list.length", "str": "String(x)", "int": "Number(x)", "float": "Number(x)", "bool": "Boolean(x)", "abs": "Math.abs(x)", "round": "Math.round(x)",
	"range": "Array.from({length: n}, (_, i) => i)", "sum": "list.reduce((a, b) => a + b, 0)", "sorted": "[...list].sort((a, b) => a - b)", "reversed": "[...list].reverse()",
	"enumerate": "list.entries()", "zip": "a.map((x, i) => [x, b[i]])", "min": "Math.min(...list)", "max": "Math.max(...list)", "any": "list.some(x => ...)", "all": "list.every(x => ...)",
	"list": "[...x]", "dict": "{}", "set": "new Set(x)", "tuple": "[...x]", "isinstance": "typeof x", "type": "typeof x", "map": "list.map(x => ...)", "filter": "list.filter(x => ...)",
	"True": "true", "False": "false", "None": "null", "nil": "null", "json": "JSON.stringify(x)", "math": "Math", "re": "/.../", "datetime": "new Date()", "time": "Date.now()",
	"structuredClone": "JSON.parse(JSON.stringify(x))", "alert": "print(x)", "output": "print(x)", "echo": "print(x)", "println": "print(x)", "puts": "print(x)", "printf": "print(x)", "log": "print(x)", "display": "print(x)",
	"Exception": "catch (e) { ... }", "isEmpty": "list.length === 0", "typeOf": "typeof x", "asyncio": "await Promise.all([...])", "gather": "await Promise.all([...])", "parallel": "await Promise.all([...])",
	"random": "Math.random()", "fmt": "print(x)", "System": "print(x)", "打印": "print(x)", "输出": "print(x)", "collections": "new Map()", "defaultdict": "new Map()", "Counter": "new Map()",
}

// Things that hosts of JavaScript have, and the language has not.
var ofHosts = regexp.MustCompile(`^(URL|URLSearchParams|Intl|Buffer|TextEncoder|TextDecoder|AbortController|AbortSignal|crypto|window|document|localStorage|sessionStorage|navigator|performance|axios|Response|Request|Headers|FormData|Blob|Worker|global|self|module|exports|__dirname|__filename|_|lodash|moment|dayjs|jQuery|\$|Iterator|Temporal|queueMicrotask|SharedArrayBuffer|Atomics|WeakRef|FinalizationRegistry|WebAssembly|std|os|path|util|sys|requests|httpx|np|pd|numpy|pandas|http|https)$`)

// What models call a person who answers, and the place where the tools are.
var (
	asks   = regexp.MustCompile(`^(input|prompt|confirm|readline)$`)
	spaces = regexp.MustCompile(`^(tool\w*|\w*api|functions|mcp|client|agent)$`)
)

// undefined is what to write instead of a name that does not exist.
func (w words) undefined(masked, name string) string {
	quoted := regexp.QuoteMeta(name)
	switch m := regexp.MustCompile(`(?:^|[^\w$.])` + quoted + `\s*\.\s*(\w+)\s*\(`).FindStringSubmatch(masked); {
	case instead[name] != "":
		return w.say("mend.instead", name, instead[name])
	case asks.MatchString(name):
		return w["mend.ask"]
	case ofHosts.MatchString(name):
		return w.say("mend.hosts", name)
	case m != nil && spaces.MatchString(name):
		return w.say("mend.tools", m[1])
	case m != nil:
		return w.say("mend.tools", name+"."+m[1])
	case regexp.MustCompile(`(?:^|[^\w$])` + quoted + `\s*\(`).MatchString(masked):
		return w.say("mend.tools", name)
	case regexp.MustCompile(`\b(?:const|let)\s+` + quoted + `\b`).MatchString(masked):
		return w.say("mend.block", name)
	}
	return ""
}

// near says where an error is: the engine knows where calls are, and other errors nearly.
func (w words) near(code, text string, line int) string {
	const most = 100
	if lines := strings.Split(code, "\n"); line > 0 && line <= len(lines) {
		return text + w.say("near", line, shortened(strings.TrimSpace(lines[line-1]), most))
	}
	return text
}

// shortened cuts a text behind so many characters.
func shortened(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i] + "..."
		}
	}
	return s
}

// after puts a mark before a text, if there is one.
func after(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + text
}
