// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/cloudwego/eino/schema"
)

// worker is the agent of an invented run: what it quotes follows from what its tools returned.
type worker struct {
	*rand.Rand
	results    []string   // results, in order
	queryWords [][]string // the words that each was asked for with
	calls      int
}

// call is a call of a tool.
func (w *worker) call(name string, args map[string]any) schema.ToolCall {
	w.calls++
	text, _ := json.Marshal(args)
	return schema.ToolCall{ID: fmt.Sprintf("call_%d", w.calls), Type: "function", Function: schema.FunctionCall{Name: name, Arguments: string(text)}}
}

// addResult notes the result of a call.
func (w *worker) addResult(c schema.ToolCall, result string) {
	const shortest = 4
	var args map[string]any
	_ = json.Unmarshal([]byte(c.Function.Arguments), &args)
	var asked []string
	for _, key := range slices.Sorted(maps.Keys(args)) {
		for _, word := range strings.FieldsFunc(fmt.Sprint(args[key]), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if len(word) >= shortest && key != "draft" && key != "content" {
				asked = append(asked, word)
			}
		}
	}
	w.results, w.queryWords = append(w.results, result), append(w.queryWords, asked)
}

// quoteRemark is what the agent says beside a call: now and then it quotes a result.
func (w *worker) quoteRemark() string {
	if w.IntN(2) == 0 {
		return ""
	}
	if q := w.quote(); q != "" {
		return "I saw this: " + q
	}
	return ""
}

// quote is a line of a result: one with a word of what was asked for, or about an error, if the agent
// meets one soon.
func (w *worker) quote() (found string) {
	const looks = 4
	n := len(w.results)
	if n == 0 {
		return ""
	}
	result := w.resultToQuote(n)
	for range looks {
		l := value(w.pickLine(w.section(jsonUnescaper.Replace(w.results[result]))))
		if l == "" {
			continue
		}
		found = l
		isInLine := func(word string) bool { return strings.Contains(l, word) }
		if isInLine("ERROR") || slices.ContainsFunc(w.queryWords[result], isInLine) {
			break
		}
	}
	return found
}

// resultToQuote is which of n results an agent goes by: often a recent one, and rarely one of the longest.
func (w *worker) resultToQuote(n int) int {
	const small, rarer = 2000., .6
	for {
		back := w.IntN(min(2, n))
		switch p := w.Float64(); {
		case p > .7:
			back = w.IntN(n)
		case p > .4:
			back = w.IntN(min(8, n))
		}
		if size := max(small, float64(len(w.results[n-1-back]))); w.Float64() < math.Pow(small/size, rarer) {
			return n - 1 - back
		}
	}
}

// pickLine picks one that says something.
func (w *worker) pickLine(text string) string {
	lines := strings.Split(text, "\n")
	for range 20 {
		if l := strings.TrimSpace(lines[w.IntN(len(lines))]); len(l) >= 30 && len(l) <= 300 {
			return l
		}
	}
	return ""
}

var member = regexp.MustCompile(`^"[a-z_]+": "?(.*?)"?,?$`)

// value is what a line of JSON says, without its key.
func value(line string) string {
	if m := member.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return line
}

// section is a part of a result that an agent goes by. Half of what recorded agents quote stands in
// the first four kilobytes, each time as long there is a seventh more, and some is at the end.
func (w *worker) section(text string) string {
	const first, window, ends = 500., 600, .15
	at := int(first*math.Pow(max(1, float64(len(text))/first), w.Float64())) - first
	if w.Float64() < ends {
		at = len(text) - at
	}
	from := max(0, min(at, len(text)-window))
	return text[from:min(len(text), from+window)]
}

// jsonUnescaper is how an agent reads a text inside JSON.
var jsonUnescaper = strings.NewReplacer(`\n`, "\n", `\"`, `"`)

// summary quotes several results.
func (w *worker) summary() string {
	out := []string{"Done. What I found:"}
	for range 2 + w.IntN(4) {
		if q := w.quote(); q != "" {
			out = append(out, "- "+q)
		}
	}
	return strings.Join(out, "\n")
}

// pick draws one of several.
func pick[T any](w *worker, from []T) T { return from[w.IntN(len(from))] }

// part is some lines of a text.
func part(w *worker, text string) string {
	all := strings.SplitAfter(text, "\n")
	from := w.IntN(len(all))
	return strings.Join(all[from:min(len(all), from+20+w.IntN(60))], "")
}

func (w *worker) uniform(low, high float64) float64 { return low + (high-low)*w.Float64() }

var vocabulary = strings.Fields(`account address agent amount answer archive article balance batch branch budget build calendar campaign carrier chart client cluster comment
	company contract country course credit customer database delivery deposit design detail device discount document domain draft driver email engine entry error estimate event
	expense export failure feature figure filter forecast format freight garden group guide harbour history hotel image import incident index invoice island item journey kernel
	ledger letter library license limit link list location machine manager market meeting member message method metric mirror model month movement network node notice number
	office offer option order owner package page panel parcel partner patch payment people permit person phase phone picture plan platform policy port position price printer
	problem process product profile project property purchase quality quarter query question queue quota rate reader reason receipt record region release rental report request
	reserve resource result return review river road route rule sample schedule schema school script season section server service session shelf shipment signal site source stage
	statement station status stock storage street student summary supplier support survey system table target task team template tenant ticket timer token tool topic tower town
	trade train transfer trial trip unit update upload user value vehicle vendor version village visit volume voucher wagon warehouse water weather window winter worker zone`)

// words are n words.
func (w *worker) words(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = pick(w, vocabulary)
	}
	return strings.Join(out, " ")
}

// lines joins what one makes until there are size bytes.
func (w *worker) lines(size int, one func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(one(i))
		b.WriteByte('\n')
	}
	return b.String()
}

func (w *worker) webPage(size int) string {
	return w.lines(size, func(i int) string {
		role := pick(w, []string{"link", "heading", "paragraph", "button", "listitem", "cell", "textbox"})
		return fmt.Sprintf("%s- %s %q [ref=e%d]", strings.Repeat("  ", 1+w.IntN(5)), role, w.words(1+w.IntN(9)), i)
	})
}

// records is JSON, mostly in the MCP result that it comes in.
func (w *worker) records(size int) string {
	type record struct {
		ID      int      `json:"id"`
		Name    string   `json:"name"`
		Owner   string   `json:"owner"`
		URL     string   `json:"url"`
		Updated string   `json:"updated_at"`
		Amount  float64  `json:"amount"`
		Tags    []string `json:"tags"`
		Notes   string   `json:"notes"`
	}
	var all []record
	for n := 0; n < size; n += 330 {
		id := w.IntN(1e6)
		all = append(all, record{id, w.words(3), w.words(2), fmt.Sprintf("https://example.com/%s/%d?a=1&b=2", pick(w, vocabulary), id),
			fmt.Sprintf("2026-%02d-%02dT%02d:%02d:00Z", 1+w.IntN(12), 1+w.IntN(28), w.IntN(24), w.IntN(60)), float64(w.IntN(1e6)) / 100, strings.Fields(w.words(3)), w.words(w.IntN(14))})
	}
	text, _ := json.MarshalIndent(map[string]any{"items": all, "next": nil}, "", "  ")
	return w.inMCPResult(string(text))
}

// inMCPResult is a text in the result of an MCP tool, as agents in Go and Python get it, or as it is.
func (w *worker) inMCPResult(text string) string {
	content := map[string]any{"type": "text", "text": text}
	var of any
	switch w.IntN(5) {
	case 0, 1:
		of = map[string]any{"content": []any{content}}
	case 2:
		content["annotations"] = nil
		of = map[string]any{"meta": nil, "content": []any{content}, "structuredContent": nil, "isError": false}
	case 3:
		content["annotations"] = nil
		of = content
	default:
		return text
	}
	out, _ := json.Marshal(of)
	return string(out)
}

// booking is a small JSON object, as the tools of a desk return it.
func (w *worker) booking(size int) string {
	var legs []any
	for n := 300; n < size; n += 220 {
		legs = append(legs, map[string]any{"flight": fmt.Sprintf("HA%03d", w.IntN(1000)), "from": pick(w, vocabulary), "to": pick(w, vocabulary),
			"date": fmt.Sprintf("2026-%02d-%02d", 1+w.IntN(12), 1+w.IntN(28)), "price": w.IntN(2000), "seats": map[string]any{"economy": w.IntN(20), "business": w.IntN(9)}})
	}
	out := map[string]any{"reservation": fmt.Sprintf("%06X", w.IntN(1<<24)), "passenger": w.words(2), "email": pick(w, vocabulary) + "@example.com", "flights": legs, "payment": fmt.Sprintf("card_%d", w.IntN(1e7))}
	text, _ := json.MarshalIndent(out, "", "  ")
	if w.IntN(2) == 0 {
		text, _ = json.Marshal(out)
	}
	return string(text)
}

// source is a part of a file with numbered lines, the hits of a search, or what the tests say.
func (w *worker) source(size int) string {
	name := func() string { return pick(w, vocabulary) + title(pick(w, vocabulary)) }
	switch w.IntN(5) {
	case 0:
		return w.lines(size/3, func(int) string {
			return fmt.Sprintf("src/main/java/org/example/%s/%s.java:%d:        return %s.%s(%s);", pick(w, vocabulary), title(name()), 1+w.IntN(900), name(), name(), name())
		})
	case 1:
		return w.lines(size/2, func(i int) string {
			if w.IntN(20) == 0 {
				return fmt.Sprintf("[ERROR] %sTest.%s:%d expected:<%d> but was:<%d>", title(name()), name(), 1+w.IntN(300), w.IntN(99), w.IntN(99))
			}
			return fmt.Sprintf("[INFO] Tests run: %d, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.%03d s -- in org.example.%sTest", 1+w.IntN(40), w.IntN(1000), title(name()))
		})
	}
	from := w.IntN(400)
	return w.lines(size, func(i int) string {
		line := ""
		switch w.IntN(8) {
		case 0:
		case 1:
			line = fmt.Sprintf("    public %s %s(%s %s) {", title(name()), name(), title(name()), name())
		case 2:
			line = "    }"
		case 3:
			line = fmt.Sprintf("        // The %s.", w.words(4+w.IntN(6)))
		case 4:
			line = fmt.Sprintf("        if (%s == null || %s.%s() > %d) {", name(), name(), name(), w.IntN(99))
		default:
			line = fmt.Sprintf("        %s %s = this.%s.%s(%s, %q);", title(name()), name(), name(), name(), name(), w.words(2))
		}
		return fmt.Sprintf("%6d\t%s", from+i, line)
	})
}

// output is what a command prints: a log, a listing, or the progress of a build.
func (w *worker) output(size int) string {
	switch w.IntN(3) {
	case 0:
		return w.logs(size)
	case 1:
		return w.lines(size/2, func(int) string {
			return fmt.Sprintf("-rw-r--r-- 1 root root %8d Mar %2d 05:06 %s_%s.%s", w.IntN(1e7), 1+w.IntN(28), pick(w, vocabulary), pick(w, vocabulary), pick(w, []string{"c", "py", "txt", "log", "so"}))
		})
	}
	return w.lines(size, func(i int) string {
		return fmt.Sprintf("[%3d%%] Building C object %s/CMakeFiles/%s.dir/%s_%s.c.o", i%101, pick(w, vocabulary), pick(w, vocabulary), pick(w, vocabulary), pick(w, vocabulary))
	})
}

func (w *worker) table(size int) string {
	return w.lines(size, func(i int) string {
		return fmt.Sprintf("%6d | %-24s | %-12s | %10.2f | 2026-%02d-%02d", 1000+i, w.words(2), pick(w, vocabulary), float64(w.IntN(1e7))/100, 1+w.IntN(12), 1+w.IntN(28))
	})
}

func (w *worker) logs(size int) string {
	return w.lines(size, func(i int) string {
		level := pick(w, []string{"INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"})
		return fmt.Sprintf("2026-03-04T05:%02d:%02d.%03dZ %-5s [%s] %s request_id=%08x took=%dms", i/60%60, i%60, w.IntN(1000), level, pick(w, vocabulary), w.words(5), w.Uint32(), w.IntN(3000))
	})
}

func (w *worker) document(size int) string {
	return w.lines(size, func(i int) string {
		if i%12 == 0 {
			return "## " + w.words(3)
		}
		return "The " + w.words(6+w.IntN(10)) + "."
	})
}

// title begins a word with a capital letter.
func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
