// Copyright leanctx authors
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
	returns func(w *worker, size int) string
}{
	{"web", 45, 1, (*worker).webPage},
	{"service", 45, 1, (*worker).records},
	{"database", 40, 1, (*worker).table},
	{"logs", 40, 1, (*worker).logs},
	{"documents", 40, 1, (*worker).document},
	{"days", 40, 8, nil},
}

const (
	smallest, largest = 1_000., 100_000. // bytes of a result
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
	r.Messages = append(r.Messages, schema.SystemMessage("You are a careful assistant. Use the tools; say what you found and quote it."))
	for range 1 + w.IntN(k.tasks) {
		of := k
		if of.returns == nil {
			of = invented[w.IntN(len(invented)-1)]
		}
		r.Messages = w.task(r.Messages, of.name, of.returns)
	}
	return r
}

// task is one question of the user, the calls that it takes, and the answer. The sizes of the
// results lie around one that belongs to the task.
func (w *worker) task(msgs []*schema.Message, name string, returns func(*worker, int) string) []*schema.Message {
	msgs = append(msgs, schema.UserMessage(fmt.Sprintf("Look into %s of %s and tell me what matters.", name, w.words(4))))
	u := w.Float64()
	around := smallest * math.Pow(largest/smallest, u*u)
	var made []string
	for range 2 + int(math.Exp(w.between(0, math.Log(25)))) {
		var calls []schema.ToolCall
		for range 1 + max(0, w.IntN(6)-4) {
			args := map[string]any{"query": w.words(3), "page": w.IntN(9)}
			if w.IntN(15) == 0 {
				args["draft"] = w.document(1000 + w.IntN(5000))
			}
			calls = append(calls, w.call(name+"__"+pick(w, []string{"get", "search", "list"}), args))
		}
		msgs = append(msgs, schema.AssistantMessage(w.remark(), calls))
		for _, c := range calls {
			size := around * math.Exp(w.between(-1, 1))
			out := returns(w, int(max(smallest, min(largest, size))))
			if len(made) > 0 && w.IntN(12) == 0 {
				out = pick(w, made) // nothing has changed since
			}
			made, w.seen = append(made, out), append(w.seen, out)
			msgs = append(msgs, schema.ToolMessage(out, c.ID, schema.WithToolName(c.Function.Name)))
		}
	}
	return append(msgs, schema.AssistantMessage(w.summary(), nil))
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

// records is JSON, and half of the time the MCP result that it comes in.
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
	if w.IntN(2) == 0 {
		return string(text)
	}
	text, _ = json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(text)}}})
	return string(text)
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
