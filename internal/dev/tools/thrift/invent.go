// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Runs are invented over made-up systems: web pages, web services, databases, logs, and documents.
// Their results spread evenly, on a logarithmic scale, from 1 to 100 kB.

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// invented are the kinds of work, each on a system of its own, with the number of runs of each.
var invented = []struct {
	name    string
	runs    int
	tasks   int // in one run, at most
	rounds  int // of calls in one task, at most
	returns func(w *worker, size int) string
}{
	{"web", 45, 1, 25, (*worker).webPage},
	{"service", 55, 1, 25, (*worker).records},
	{"desk", 30, 1, 20, (*worker).booking},
	{"database", 25, 1, 20, (*worker).table},
	{"terminal", 35, 1, 40, (*worker).output},
	{"repository", 45, 1, 50, (*worker).source},
	{"documents", 25, 1, 20, (*worker).document},
	{days, 40, 8, 0, nil},
}

const days = "days" // of several tasks

const (
	smallest, largest = 1_000., 100_000. // bytes of a result
	booked            = 4_000.           // of one of a desk
)

// invent makes all invented runs. A seed always gives the same run.
func invent(each func(*run) error) error {
	for k, kind := range invented {
		for i := range kind.runs {
			if err := each(inventOne(k, uint64(i))); err != nil {
				return err
			}
		}
	}
	return nil
}

func inventOne(kind int, seed uint64) *run {
	k := invented[kind]
	w := &worker{Rand: rand.New(rand.NewPCG(seed, uint64(100+kind)))}
	r := &run{Name: fmt.Sprintf("%s-%d", k.name, seed), Kind: k.name}
	r.Messages = append(r.Messages, schema.SystemMessage("You are a careful assistant. Use the tools; say what you found and quote it.\n"+w.document(4_000+w.IntN(20_000))))
	for range 1 + w.IntN(k.tasks) {
		t := task{worker: w, kind: kind}
		if k.returns == nil {
			t.kind = w.IntN(len(invented) - 1)
		}
		r.Messages = t.add(r.Messages)
	}
	return r
}

// task is one question of the user, the calls that it takes, and the answer.
type task struct {
	*worker
	kind  int
	about float64 // bytes of its results
	most  float64
	made  []string // results
}

// size draws one: most results are small, most bytes in few large ones.
func (t *task) size() float64 {
	return smallest * math.Pow(t.most/smallest, math.Pow(t.Float64(), 4))
}

func (t *task) add(msgs []*schema.Message) []*schema.Message {
	k := invented[t.kind]
	msgs = append(msgs, schema.UserMessage(fmt.Sprintf("Look into %s of %s and tell me what matters.", k.name, t.words(4))))
	t.most = largest
	if k.name == "desk" {
		t.most = booked
	}
	t.about = t.size()
	for range 4 + int(math.Exp(t.between(1.5, math.Log(float64(k.rounds))))) {
		var calls []schema.ToolCall
		for range 1 + max(0, t.IntN(6)-4) {
			args := map[string]any{"query": t.words(3), "page": t.IntN(9)}
			if t.IntN(15) == 0 {
				args["draft"] = t.document(1000 + t.IntN(5000))
			}
			calls = append(calls, t.call(k.name+"__"+pick(t.worker, []string{"get", "search", "list"}), args))
		}
		msgs = append(msgs, schema.AssistantMessage(t.thought()+t.remark(), calls))
		for _, c := range calls {
			out := t.result(k.returns)
			t.made = append(t.made, out)
			t.saw(c, out)
			msgs = append(msgs, schema.ToolMessage(out, c.ID, schema.WithToolName(c.Function.Name)))
		}
	}
	return append(msgs, schema.AssistantMessage(t.summary(), nil))
}

// result is what one call returns, now and then what an earlier one did: nothing has changed
// since, or a part of a file is looked at again.
func (t *task) result(returns func(*worker, int) string) string {
	if n := len(t.made); n > 0 {
		switch t.IntN(24) {
		case 0, 1:
			return pick(t.worker, t.made)
		case 2, 3, 4:
			if invented[t.kind].name == "repository" {
				return part(t.worker, pick(t.worker, t.made))
			}
		}
	}
	size := t.about * math.Exp(t.NormFloat64())
	if t.IntN(2) == 0 {
		size = t.size()
	}
	return returns(t.worker, int(max(smallest, min(t.most, size))))
}

// thought is what an agent says before a call.
func (t *task) thought() string {
	return fmt.Sprintf("I look into the %s, since the %s. ", t.words(2), t.words(t.IntN(80)))
}

// part is some lines of a text.
func part(w *worker, text string) string {
	all := strings.SplitAfter(text, "\n")
	from := w.IntN(len(all))
	return strings.Join(all[from:min(len(all), from+20+w.IntN(60))], "")
}

func (w *worker) between(low, high float64) float64 { return low + (high-low)*w.Float64() }

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
	return w.enveloped(string(text))
}

// enveloped is a text in the result of an MCP tool, as agents in Go and Python get it, or as it is.
func (w *worker) enveloped(text string) string {
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
