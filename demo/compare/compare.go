// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package compare gives agents with different settings the same 60 tasks over several hundred
// tools, with any model, and says which they did right.
package compare

// The tasks, and the agents that do them.

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/internal/display"
)

//go:embed tasks.jsonl
var tasksText string

// Task is a conversation of one or several questions.
type Task struct {
	ID        string     `json:"id"`
	Kind      string     `json:"kind"`
	Lang      string     `json:"lang"` // "zh", otherwise English
	Questions []Question `json:"questions"`
}

// Question is what is asked, with what is true of a right answer.
type Question struct {
	Text  string            `json:"text"`
	Truth []string          `json:"truth"` // what the answer must hold; computed with the standard library
	Files map[string]string `json:"files"` // what must stand in files then
	None  bool              `json:"none"`  // no tool may be called
}

// Tasks are all tasks. The caller owns the slice.
func Tasks() (all []Task, err error) {
	for dec := json.NewDecoder(strings.NewReader(tasksText)); dec.More(); {
		var t Task
		if err := dec.Decode(&t); err != nil {
			return nil, fmt.Errorf("compare: task %d: %w", len(all)+1, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// maxIterations is how many model calls a run may make.
const maxIterations = 60

// Arm is a setting of an agent.
type Arm struct {
	Name string
	// Set returns the tools that the agent has itself, and its handlers, given the tools of the
	// library. It is called once for each Bench.
	Set func(ctx context.Context, tools []tool.BaseTool) ([]tool.BaseTool, []adk.ChatModelAgentMiddleware, error)
}

// Bench is an agent with one setting, for one task after another. It is not safe for concurrent use.
type Bench struct {
	dir    string
	runner *adk.Runner
	asked  *approvals
}

// Start makes the agent of an arm. Close removes its folder.
func (a Arm) Start(ctx context.Context, chat model.BaseModel[*schema.Message]) (*Bench, error) {
	return a.start(ctx, chat, library.Tools)
}

// StartWorking is Start with only the tools of the library that do what they say. The others answer each call with an
// error: a live model would spend steps on them, which says nothing about the setting.
func (a Arm) StartWorking(ctx context.Context, chat model.BaseModel[*schema.Message]) (*Bench, error) {
	return a.start(ctx, chat, library.WorkingTools)
}

func (a Arm) start(
	ctx context.Context, chat model.BaseModel[*schema.Message], toolsIn func(root string) ([]tool.BaseTool, error),
) (b *Bench, err error) {
	b = &Bench{asked: &approvals{}}
	if b.dir, err = os.MkdirTemp("", "compare-"); err != nil {
		return nil, err
	}
	tools, err := toolsIn(b.dir)
	if err == nil {
		err = b.agent(ctx, a, chat, tools)
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("compare: %s: %w", a.Name, err)
	}
	return b, nil
}

func (b *Bench) agent(ctx context.Context, a Arm, chat model.BaseModel[*schema.Message], tools []tool.BaseTool) error {
	own, handlers, err := a.Set(ctx, tools)
	if err != nil {
		return err
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers with tools", Instruction: "Use tools for whatever they can do. Say so if there is none.",
		Model: chat, Handlers: append(slices.Clone(handlers), b.asked), MaxIterations: maxIterations,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: own}},
	})
	if err != nil {
		return err
	}
	b.runner = adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent})
	return nil
}

// Close removes what the agent wrote.
func (b *Bench) Close() { _ = os.RemoveAll(b.dir) }

// Do has the agent do a task, in a fresh folder. It returns what was wrong, empty if nothing was.
// The error is that of the context, or of the folder; one of the agent is a wrong answer.
func (b *Bench) Do(ctx context.Context, t Task) (wrong string, err error) {
	if err := b.reset(); err != nil {
		return "", err
	}
	var history []*schema.Message
	for _, q := range t.Questions {
		history = append(history, schema.UserMessage(q.Text))
		said, err := lab.Collect(b.runner.Run(ctx, history))
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			return "the run ended: " + err.Error(), nil
		}
		history = append(history, said...)
		if wrong := b.judge(q, said); wrong != "" {
			return wrong, nil
		}
	}
	return "", nil
}

// reset makes the folder as it was.
func (b *Bench) reset() error {
	*b.asked = approvals{}
	old, err := os.ReadDir(b.dir)
	if err != nil {
		return err
	}
	for _, f := range old {
		if err := os.RemoveAll(filepath.Join(b.dir, f.Name())); err != nil {
			return err
		}
	}
	return lab.WriteFiles(b.dir)
}

// judge says what is wrong with an answer.
func (b *Bench) judge(q Question, said []*schema.Message) string {
	answer := ""
	if len(said) > 0 {
		answer = said[len(said)-1].Content
	}
	// What an answer only repeats of the question does not count, nor how it groups digits.
	answer = strings.ReplaceAll(answer, strings.TrimRight(q.Text, ".?"), "")
	for _, text := range q.Truth {
		if !holds(answer, text) && !holds(ungrouped(answer), text) {
			return fmt.Sprintf("%q is not in the answer %q", text, display.Clip(strings.Join(strings.Fields(answer), " "), 80))
		}
	}
	for name, want := range q.Files {
		text, err := os.ReadFile(filepath.Join(b.dir, name))
		switch {
		case err != nil || strings.TrimSpace(string(text)) != want:
			return fmt.Sprintf("%s does not hold %q", name, want)
		case b.asked.writes == 0:
			return "nobody was asked before it wrote"
		}
	}
	if called := calledTools(said); q.None && len(called) > 0 {
		return "it called " + strings.Join(called, ", ")
	}
	return ""
}

// holds reports whether an answer holds one of the values that are separated by "|": as words of their own, in any case,
// and a decimal number also with other decimals, from two on: it may be rounded or cut off.
func holds(answer, values string) bool {
	for value := range strings.SplitSeq(values, "|") {
		if hasWords(strings.ToLower(answer), strings.ToLower(value)) || hasRounded(answer, value) {
			return true
		}
	}
	return false
}

// hasWords reports whether a text has words that are not a part of longer ones.
func hasWords(text, words string) bool {
	for start := 0; ; {
		at := strings.Index(text[start:], words)
		if at < 0 {
			return false
		}
		at += start
		end := at + len(words)
		isHex := strings.HasSuffix(text[:at], "0x")
		if (isHex || at == 0 || !joins(text[at-1], words[0])) && (end == len(text) || !joins(text[end], words[len(words)-1])) {
			return true
		}
		start = at + 1
	}
}

// joins reports whether two neighboring bytes belong to one word or number.
func joins(a, b byte) bool { return isWordByte(a) && isWordByte(b) }

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

var decimals = regexp.MustCompile(`-?[0-9]+\.([0-9]{2,})`)

// hasRounded reports whether a text has a decimal number, with more decimals or fewer.
func hasRounded(text, number string) bool {
	want, err := strconv.ParseFloat(number, 64)
	if err != nil || !strings.Contains(number, ".") {
		return false
	}
	for _, m := range decimals.FindAllStringSubmatch(text, -1) {
		got, err := strconv.ParseFloat(m[0], 64)
		fewest := min(len(m[1]), len(number)-strings.Index(number, ".")-1)
		if err == nil && math.Abs(got-want) < math.Pow10(-fewest) {
			return true
		}
	}
	return false
}

// ungrouped is a text without commas between digits.
func ungrouped(text string) string {
	var b strings.Builder
	digit := func(i int) bool { return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9' }
	for i := range len(text) {
		if text[i] != ',' || !digit(i-1) || !digit(i+1) {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// calledTools are the tools of the library that were called.
func calledTools(said []*schema.Message) (names []string) {
	for _, m := range said {
		for _, c := range m.ToolCalls {
			name := c.Function.Name
			if name == "call_tool" {
				var through struct {
					Name string `json:"name"`
				}
				_ = json.Unmarshal([]byte(c.Function.Arguments), &through) // a call without a name is none
				name = through.Name
			}
			if strings.Contains(name, "__") {
				names = append(names, name)
			}
		}
	}
	return names
}

// approvals stands for a person who is asked before a tool writes. It knows tools by their names.
type approvals struct {
	adk.BaseChatModelAgentMiddleware
	writes int
}

// WrapInvokableToolCall asks.
func (a *approvals) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, t *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	if t.Name != "files__write" {
		return next, nil
	}
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		a.writes++
		return next(ctx, args, opts...)
	}, nil
}
