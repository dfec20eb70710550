// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

// The agent runs in a process of its own. Its conversation is a directory: the history, written as
// it grows, and what every tool returned, by its hash.

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/reduction/blobbackend"
)

// task is what a process has to do.
type task struct {
	Do      string
	Command []string // for "watch"

	Store, Prefix string   // where results are kept
	Dir           string   // the conversation
	Name          string   // of the process; what its tools return depends on it
	Calls         []string // the tools of a round, all called at once
	Rounds        int      // to add to the conversation
	Stop          string   // where to stop; see job.at
	InRound       int      // in which round to stop
	Wait          bool     // there wait to be told to go on, rather than to be killed
	Ask           bool     // interrupt the second round, to a checkpoint
	Resume        bool     // go on from the checkpoint, not from the history
}

// The files of a conversation.
const (
	historyFile  = "history.jsonl"
	truthFile    = "truth.jsonl"
	readingsFile = "readings-"

	checkpoint = "checkpoint"
)

// record is a line of the history.
type record struct {
	Process string
	Message *schema.Message
}

// fact is what a tool returned, or what was read back.
type fact struct {
	Process, Call string
	Path          string `json:",omitempty"`
	Size          int
	Sum           string
}

func factOf(process, call, content string) fact {
	sum := sha256.Sum256([]byte(content))
	return fact{Process: process, Call: call, Size: len(content), Sum: hex.EncodeToString(sum[:])}
}

// job is a task at work.
type job struct {
	task
	history *os.File
	truth   *os.File
	begun   int // rounds
	reading reading

	mu   sync.Mutex
	more sync.Cond // kept has grown
	kept int       // results in the history
	want int       // results before the round
}

// agent continues a conversation: it reads back every stored result that the conversation
// shows, adds its rounds, and reads back what these stored.
func (t task) agent(ctx context.Context) error {
	store, err := blobbackend.Open(ctx, t.Store, &blobbackend.Options{Prefix: t.Prefix})
	if err != nil {
		return err
	}
	defer store.Close()
	j := &job{task: t}
	j.more.L = &j.mu
	past, err := j.resume()
	if err != nil {
		return err
	}
	reduce, err := reduction.New(ctx, &reduction.Config{
		Backend: store, ProvideReadTool: true, MaxTokensForClear: 2000, OnEvent: j.onEvent,
	})
	if err != nil {
		return err
	}
	agent := adktest.Agent[*schema.Message]{
		Model: &adktest.Model[*schema.Message]{Respond: j.respond}, Tools: j.tools(),
		Handlers: adktest.Handlers(reduce), Streaming: true, Max: 200, Store: checkpoints(t.Dir),
	}
	runner, err := agent.Runner(ctx)
	if err != nil {
		return err
	}
	if err := j.follow(j.run(ctx, runner, past)); err != nil {
		return err
	}
	return writeJSON(filepath.Join(t.Dir, readingsFile+t.Name), j.reading.facts(t.Name))
}

// run begins a run where the conversation is.
func (j *job) run(ctx context.Context, runner *adk.Runner, past []*schema.Message) (*adk.AsyncIterator[*adk.AgentEvent], error) {
	if j.Resume {
		return runner.Resume(ctx, checkpoint)
	}
	next := schema.UserMessage("Go on.")
	return runner.Run(ctx, append(past, next), adk.WithCheckPointID(checkpoint)), j.keep(next)
}

// checkpoints is a store of checkpoints in a directory.
type checkpoints string

func (c checkpoints) Get(_ context.Context, id string) ([]byte, bool, error) {
	data, err := os.ReadFile(filepath.Join(string(c), id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}

func (c checkpoints) Set(_ context.Context, id string, data []byte) error {
	return os.WriteFile(filepath.Join(string(c), id), data, 0o600)
}

// resume reads what is left of the conversation and drops the round that was cut off.
func (j *job) resume() ([]*schema.Message, error) {
	name := filepath.Join(j.Dir, historyFile)
	past, err := readLines[record](name)
	if err != nil {
		return nil, err
	}
	past = whole(past)
	if err := writeLines(name, past); err != nil {
		return nil, err
	}
	if j.history, err = os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	if j.truth, err = os.OpenFile(filepath.Join(j.Dir, truthFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	var messages []*schema.Message
	for _, r := range past {
		messages = append(messages, r.Message)
		j.count(r.Message)
	}
	return messages, nil
}

// whole is a history without a last round of which results are missing.
func whole(past []record) []record {
	missing, end := map[string]bool{}, len(past)
	for i, r := range past {
		for _, call := range r.Message.ToolCalls {
			missing[call.ID], end = true, i
		}
		delete(missing, r.Message.ToolCallID)
	}
	if len(missing) > 0 {
		return past[:end]
	}
	return past
}

// keep appends a message to the history, and to the disk.
func (j *job) keep(m *schema.Message) error {
	if err := json.NewEncoder(j.history).Encode(record{j.Name, m}); err != nil {
		return err
	}
	j.count(m)
	return j.history.Sync()
}

// count counts the results in the history.
func (j *job) count(m *schema.Message) {
	if m.Role != schema.Tool {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept++
	j.more.Broadcast()
}

// settle waits until the history has everything from before the round.
func (j *job) settle() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.kept < j.want {
		j.more.Wait()
	}
}

// follow keeps the messages of a run.
func (j *job) follow(events *adk.AsyncIterator[*adk.AgentEvent], err error) error {
	if err != nil {
		return err
	}
	for {
		event, ok := events.Next()
		if !ok {
			return nil
		}
		if event.Err != nil {
			return event.Err
		}
		if event.Output == nil || event.Output.MessageOutput == nil {
			continue
		}
		m, err := event.Output.MessageOutput.GetMessage()
		if err != nil {
			return err
		}
		if err := j.keep(m); err != nil {
			return err
		}
	}
}

// at stops the process at a point, if that is the one: to be killed, or to wait until it is
// told to go on.
func (j *job) at(point string) {
	if j.Stop != point || j.begun != j.InRound {
		return
	}
	if !j.Resume {
		j.settle()
	}
	fmt.Println(point)
	if !j.Wait {
		select {}
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

func (j *job) onEvent(_ context.Context, e einolean.Event) {
	switch e.Kind {
	case einolean.KindResultTruncated:
		j.at("cut " + e.Tool)
	case einolean.KindResultCleared:
		j.at("cleared")
	case einolean.KindStoreFailed:
		fmt.Println("not saved:", e.CallID)
	}
}

// respond is the model: it reads until there is nothing to read, and then begins a round.
func (j *job) respond(_ int, w adktest.Wire[*schema.Message]) adktest.Turn {
	calls := 0
	for _, m := range w.Messages {
		calls += len(m.ToolCalls)
	}
	if pages := j.reading.next(w.Messages, calls); len(pages) > 0 {
		return adktest.Do(pages...)
	}
	if j.begun == j.Rounds {
		return adktest.Say("That is all.")
	}
	j.begun++
	j.want = calls
	j.at("model")
	names := j.Calls
	if j.Ask && j.begun == 2 {
		names = append(names, "ask")
	}
	var round []adktest.ToolCall
	for i, name := range names {
		// Some models number the calls of a conversation like this.
		round = append(round, adktest.ToolCall{ID: fmt.Sprintf("functions.%s:%d", name, calls+i), Name: name, Args: "{}"})
	}
	return adktest.Do(round...)
}

// sizes of what the tools return: report and log are cut, note is cleared later.
var sizes = map[string]int{"report": 60 << 10, "log": 150 << 10, "note": 3 << 10}

// uploaded is how much of a stream has to arrive before S3 gets a first part of it.
const uploaded = 6 << 20

func (j *job) tools() []tool.BaseTool {
	say := func(name string) adktest.Func {
		return func(ctx context.Context, _ string) (string, error) { return j.result(ctx, name) }
	}
	return []tool.BaseTool{
		adktest.Tool(adktest.Invokable, info("report"), say("report")),
		adktest.Tool(adktest.Enhanced, info("note"), say("note")),
		adktest.Tool(adktest.Invokable, info("ask"), ask),
		logs{j},
	}
}

// ask interrupts the run, and answers once that is resumed.
func ask(ctx context.Context, _ string) (string, error) {
	if was, _, _ := tool.GetInterruptState[string](ctx); !was {
		return "", tool.StatefulInterrupt(ctx, "may I?", "asked")
	}
	return "you may", nil
}

// result is what a tool returns, which is on record before anybody sees it.
func (j *job) result(ctx context.Context, name string) (string, error) {
	content := contentOf(j.Name, compose.GetToolCallID(ctx), sizes[name])
	if err := json.NewEncoder(j.truth).Encode(factOf(j.Name, compose.GetToolCallID(ctx), content)); err != nil {
		return "", err
	}
	return content, j.truth.Sync()
}

func contentOf(process, call string, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%s %s: line %d of what was found\n", process, call, i)
	}
	return b.String()[:size]
}

// logs is a tool that streams.
type logs struct{ *job }

func (l logs) Info(context.Context) (*schema.ToolInfo, error) { return info("log"), nil }

func (l logs) StreamableRun(ctx context.Context, _ string, _ ...tool.Option) (*schema.StreamReader[string], error) {
	content, err := l.result(ctx, "log")
	if err != nil {
		return nil, err
	}
	r, w := schema.Pipe[string](1)
	go func() {
		defer w.Close()
		send := func(text string) {
			for ; text != ""; text = text[min(len(text), 4096):] {
				if w.Send(text[:min(len(text), 4096)], nil) {
					return
				}
			}
		}
		send(content)
		if !l.Wait && l.Stop == "stream" && l.begun == l.InRound {
			send(strings.Repeat("never to be seen\n", uploaded/16))
		}
		l.at("stream")
	}()
	return r, nil
}
