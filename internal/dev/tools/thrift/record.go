// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// run is a recorded conversation.
type run struct {
	Name, Kind string
	Messages   []*schema.Message
}

// job is what a user asks for and the rules by which the agent works on it.
type job struct {
	question string
	work     func(w *worker)
}

// worker is the agent's side of a conversation. What it does next follows from what
// the tools returned.
type worker struct {
	*rand.Rand
	bench *bench
	seen  []string   // results, in order
	asked [][]string // the words that each was asked for with
	calls int
	yield func(*schema.Message) bool
	last  []string
}

// errEnded stops a worker whose run has ended.
var errEnded = errors.New("the run has ended")

// call is a call of a tool.
func (w *worker) call(name string, args map[string]any) schema.ToolCall {
	w.calls++
	text, _ := json.Marshal(args)
	return schema.ToolCall{ID: fmt.Sprintf("call_%d", w.calls), Type: "function", Function: schema.FunctionCall{Name: name, Arguments: string(text)}}
}

// do makes calls at once and returns their results.
func (w *worker) do(text string, calls ...schema.ToolCall) []string {
	if !w.yield(schema.AssistantMessage(text, calls)) {
		panic(errEnded)
	}
	for i, out := range w.last {
		w.saw(calls[i], out)
	}
	return w.last
}

// saw notes the result of a call.
func (w *worker) saw(c schema.ToolCall, result string) {
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
	w.seen, w.asked = append(w.seen, result), append(w.asked, asked)
}

// one makes one call.
func (w *worker) one(name string, args map[string]any) string {
	return w.do(w.remark(), w.call(name, args))[0]
}

// answer ends a job.
func (w *worker) answer(text string) { w.yield(schema.AssistantMessage(text, nil)) }

// remark is what the agent says beside a call: now and then it quotes a result.
func (w *worker) remark() string {
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
	n := len(w.seen)
	if n == 0 {
		return ""
	}
	result := w.evidence(n)
	for range looks {
		l := value(w.line(w.around(unescaped.Replace(w.seen[result]))))
		if l == "" {
			continue
		}
		if found = l; strings.Contains(l, "ERROR") || slices.ContainsFunc(w.asked[result], func(word string) bool { return strings.Contains(l, word) }) {
			break
		}
	}
	return found
}

// evidence is which of n results an agent goes by: often a recent one, and rarely one of the longest.
func (w *worker) evidence(n int) int {
	const small, rarer = 2000., .6
	for {
		back := w.IntN(min(2, n))
		switch p := w.Float64(); {
		case p > .7:
			back = w.IntN(n)
		case p > .4:
			back = w.IntN(min(8, n))
		}
		if size := max(small, float64(len(w.seen[n-1-back]))); w.Float64() < math.Pow(small/size, rarer) {
			return n - 1 - back
		}
	}
}

// line picks one that says something.
func (w *worker) line(text string) string {
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

// around is a part of a result that an agent goes by. Half of what recorded agents quote stands in
// the first four kilobytes, each time as long there is a seventh more, and some is at the end.
func (w *worker) around(text string) string {
	const first, window, ends = 500., 600, .15
	at := int(first*math.Pow(max(1, float64(len(text))/first), w.Float64())) - first
	if w.Float64() < ends {
		at = len(text) - at
	}
	from := max(0, min(at, len(text)-window))
	return text[from:min(len(text), from+window)]
}

// unescaped is how an agent reads a text inside JSON.
var unescaped = strings.NewReplacer(`\n`, "\n", `\"`, `"`)

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

// lines are those of a text that say something.
func lines(text string) (out []string) {
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// rules is a model that does what a worker does.
type rules struct {
	w    *worker
	next func() (*schema.Message, bool)
}

func (r *rules) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	r.w.last = nil
	from := len(in)
	for from > 0 && in[from-1].Role == schema.Tool {
		from--
	}
	for _, m := range in[from:] {
		r.w.last = append(r.w.last, m.Content)
	}
	out, ok := r.next()
	if !ok {
		return schema.AssistantMessage("That is all.", nil), nil
	}
	return out, nil
}

func (r *rules) Stream(ctx context.Context, in []*schema.Message, o ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := r.Generate(ctx, in, o...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

// record lets an agent work on jobs, one question after the other, and fills in the
// messages of r.
func record(ctx context.Context, r *run, w *worker, tools []tool.BaseTool, jobs ...job) (*run, error) {
	m := &rules{w: w}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "agent", Description: "works with tools", Model: m, MaxIterations: 400,
		// One after the other, since events come in the order in which calls end.
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools, ExecuteSequentially: true}},
	})
	if err != nil {
		return nil, err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent})
	history := []*schema.Message{schema.SystemMessage("You are a careful assistant. Use the tools; say what you found and quote it.")}
	for _, j := range jobs {
		next, stop := iter.Pull(func(yield func(*schema.Message) bool) {
			defer func() {
				if v := recover(); v != nil && v != errEnded {
					panic(v)
				}
			}()
			w.yield = yield
			j.work(w)
		})
		m.next = next
		history = append(history, schema.UserMessage(j.question))
		events := runner.Run(ctx, history)
		for {
			e, ok := events.Next()
			if !ok {
				break
			}
			if e.Err != nil {
				stop()
				return nil, fmt.Errorf("%s: %w", r.Name, e.Err)
			}
			if e.Output != nil && e.Output.MessageOutput != nil {
				msg, err := e.Output.MessageOutput.GetMessage()
				if err != nil {
					return nil, err
				}
				history = append(history, msg)
			}
		}
		stop()
	}
	for _, m := range history {
		m.Extra, m.ResponseMeta = nil, nil // Eino numbers messages at random
	}
	r.Messages = history
	return r, nil
}
