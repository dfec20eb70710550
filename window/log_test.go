// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window_test

// Logs are read while they are written.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/window"
)

// jsonOf is a conversation as WriteJSON writes it.
func jsonOf(t *testing.T, c *window.Conversation) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, c.WriteJSON(&b))
	return b.String()
}

func TestLog_EqualsCollector(t *testing.T) {
	adktest.Both(t, logs[*schema.Message], logs[*schema.AgenticMessage])
}

func logs[M adk.MessageType](t *testing.T, streaming bool) {
	var log bytes.Buffer
	name := "a"
	s := newScene(t, streaming, window.Config{
		Texts: window.TextsAll, Log: &log, Conversation: func(context.Context) (string, error) { return name, nil },
		OnCall: func(_ context.Context, call *window.ModelCall) {
			all, err := window.ReadJSON(bytes.NewReader(log.Bytes()))
			require.NoError(t, err)
			at := slices.IndexFunc(all, func(c *window.Conversation) bool { return c.ID == call.Conversation })
			require.Equal(t, call.N, all[at].Calls[len(all[at].Calls)-1].N, "a call is in the log as soon as it ended")
		},
	}, script[M]())
	var history []M
	for _, c := range []struct{ name, question string }{{"a", "Do the seventh thing."}, {"b", "What is it?"}, {"a", "Again."}} {
		name = c.name
		s.agent.Model.Reset()
		out := s.agent.Run(context.Background(), append(history, adktest.User[M](c.question)))
		require.NoError(t, out.Err)
		history = append(append(history, adktest.User[M](c.question)), out.Messages...)
	}
	all, err := window.ReadJSON(&log)
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, c := range all {
		require.JSONEq(t, "["+strings.ReplaceAll(strings.TrimSpace(jsonOf(t, s.see.Conversation(c.ID))), "\n", ",")+"]",
			"["+strings.ReplaceAll(strings.TrimSpace(jsonOf(t, c)), "\n", ",")+"]")
	}
}

// failing is a writer of which one write fails half-way.
type failing struct {
	bytes.Buffer
	fails int
}

func (f *failing) Write(p []byte) (int, error) {
	if f.fails--; f.fails == 0 {
		n, _ := f.Buffer.Write(p[:len(p)/2])
		return n, errors.New("the disk is full")
	}
	return f.Buffer.Write(p)
}

type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("no disk") }

func TestLog_WriteErrorDoesNotEndRun(t *testing.T) {
	log := &failing{fails: 3}
	s := newScene(t, true, window.Config{Log: log}, script[*schema.Message]())
	require.NoError(t, s.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")}).Err)
	require.EqualError(t, s.see.LogError(), "window: 1 calls are missing in the log: the disk is full")
	var read []int
	var bad []string
	require.NoError(t, window.FollowJSON(&log.Buffer, func(c *window.Conversation, call *window.ModelCall) error {
		read = append(read, call.N)
		tokens := 0
		for _, p := range call.Parts() {
			require.Contains(t, c.Texts, p.Text)
			tokens += p.Tokens
		}
		require.Equal(t, call.Tokens.Estimated, tokens, "each call is whole, also after the error")
		return nil
	}, func(err error) { bad = append(bad, err.Error()) }))
	require.Equal(t, []int{1, 2, 4, 5}, read)
	require.Len(t, bad, 2)
	require.Contains(t, bad[0], "not whole")
	require.Contains(t, bad[1], "lost 1 calls here")

	s = newScene(t, true, window.Config{Log: panicking{}}, script[*schema.Message]())
	require.NoError(t, s.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")}).Err)
	require.Len(t, only(t, s.see).Calls, 5)
}

func TestOnCall_AbandonedCallIsReportedOnce(t *testing.T) {
	var log bytes.Buffer
	var told []string
	see := window.New(window.Config{Log: &log, OnCall: func(_ context.Context, call *window.ModelCall) {
		told = append(told, fmt.Sprint(call.N, " ", call.Unfinished))
	}})
	h := window.HandlerFor[*schema.Message](see)
	ctx, err := einorun.Begin(context.Background(), h, &einorun.RunContext{})
	require.NoError(t, err)
	watched, err := h.WrapModel(ctx, adktest.Script[*schema.Message](adktest.Say("one two"), adktest.Say("three")), nil)
	require.NoError(t, err)
	slow, err := watched.Stream(ctx, []*schema.Message{schema.UserMessage("a")})
	require.NoError(t, err)
	before := only(t, see).Calls[0]
	_, err = watched.Generate(ctx, []*schema.Message{schema.UserMessage("b")})
	require.NoError(t, err)
	require.Equal(t, []string{"1 true", "2 false"}, told, "the next call shows that nobody reads the first one's answer")
	require.True(t, before.Unfinished)

	for err == nil {
		_, err = slow.Recv()
	}
	require.Len(t, told, 2, "that it was read after all is no second call")
	all, err := window.ReadJSON(&log)
	require.NoError(t, err)
	require.Len(t, all[0].Calls, 2)
	require.False(t, all[0].Calls[0].Unfinished)
	require.Equal(t, "one two", all[0].Calls[0].Answer)
}

func TestLog_SharedByConcurrentRuns(t *testing.T) {
	type key struct{}
	var log bytes.Buffer // without a lock: writes are never concurrent
	see := window.New(window.Config{Texts: window.TextsAll, Log: &log, Conversation: func(ctx context.Context) (string, error) { return ctx.Value(key{}).(string), nil }})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			s := newScene(t, i%2 == 0, window.Config{}, script[*schema.Message]())
			s.agent.Handlers[2] = see.Handler()
			ctx := context.WithValue(context.Background(), key{}, fmt.Sprint("user ", i/4))
			if err := s.agent.Run(ctx, []*schema.Message{schema.UserMessage(fmt.Sprint("I am ", i))}).Err; err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	read, err := window.ReadJSON(&log)
	require.NoError(t, err)
	require.Len(t, read, 4)
	for _, c := range read {
		require.Len(t, c.Runs, 4)
		require.Len(t, c.Calls, 20)
		for i, call := range c.Calls {
			require.Equal(t, i+1, call.N)
			for _, p := range call.Parts() {
				require.Contains(t, c.Texts, p.Text)
			}
		}
	}
}

func TestFollowJSON_StopsAtError(t *testing.T) {
	var log bytes.Buffer
	s := newScene(t, false, window.Config{Log: &log}, script[*schema.Message]())
	require.NoError(t, s.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")}).Err)
	enough, seen := errors.New("enough"), 0
	err := window.FollowJSON(&log, func(c *window.Conversation, call *window.ModelCall) error {
		if seen++; seen == 3 {
			require.Len(t, c.Calls, 3)
			return enough
		}
		return nil
	}, nil)
	require.ErrorIs(t, err, enough)
	require.Equal(t, 3, seen)
	for _, bad := range []string{`{"run":{"n":1}}`, `{"schema":"einolean.window/1","conversation":{"id":"a"}}`, "{}", `{"of":"a"}`, "hello"} {
		_, err := window.ReadJSON(strings.NewReader(bad))
		require.ErrorContains(t, err, "line 1: ", bad)
	}
}

// TestReadJSON_TornLineLosesOnlyThatLine tears every line of a log in turn.
func TestReadJSON_TornLineLosesOnlyThatLine(t *testing.T) {
	race.Skip(t, "one goroutine reads a log a hundred times")
	var log bytes.Buffer
	c := newChat(t, window.New(window.Config{Log: &log, Conversation: named("c")}))
	c.talk(t, 30)
	lines := strings.SplitAfter(strings.TrimSpace(log.String())+"\n", "\n")
	lines = lines[:len(lines)-1]
	whole, err := window.ReadJSON(strings.NewReader(strings.Join(lines, "")))
	require.NoError(t, err)
	want := whole[0]
	for i, line := range lines {
		for _, torn := range []string{line[:len(line)/2] + "\n", line[:len(line)/2], ""} {
			if strings.HasSuffix(torn, "\n") || torn == "" || i == len(lines)-1 {
				checkTorn(t, want, lines, i, torn)
			}
		}
	}
}

func checkTorn(t *testing.T, want *window.Conversation, lines []string, i int, torn string) {
	t.Helper()
	text := strings.Join(lines[:i], "") + torn + strings.Join(lines[i+1:], "")
	all, err := window.ReadJSON(strings.NewReader(text))
	if torn != "" {
		require.ErrorContains(t, err, fmt.Sprintf("line %d: ", i+1))
	}
	require.Len(t, all, 1)
	got, parts := all[0], 0
	require.Equal(t, "c", got.ID)
	isCall := strings.Contains(lines[i], `"call":{`)
	if isCall {
		require.Len(t, got.Calls, len(want.Calls)-1)
	} else {
		require.Len(t, got.Calls, len(want.Calls))
	}
	isPart := strings.Contains(lines[i], `"part":{`)
	for _, call := range got.Calls {
		was := want.Calls[call.N-1]
		require.Equal(t, was.By, call.By)
		require.Equal(t, was.Tokens, call.Tokens)
		missing := 0
		now, then := call.Parts(), was.Parts()
		for j, p := range then {
			if j-missing < len(now) && now[j-missing].Text == p.Text {
				require.Equal(t, p, now[j-missing], "call %d, part %d without line %d", call.N, j, i+1)
				continue
			}
			if j-missing < len(now) && now[j-missing].CallID == p.CallID { // as it was before
				continue
			}
			missing++
		}
		parts = max(parts, missing)
	}
	if !isPart {
		require.Zero(t, parts)
	}
	require.LessOrEqual(t, parts, 1, "line %d costs more than a part", i+1)
}

// shared is a file that several collectors append to, each as a process of its own.
type shared struct {
	mu sync.Mutex
	bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(p)
}

//claim:window-01
func TestLog_ProcessesSharingItStaySeparate(t *testing.T) {
	var log shared
	for range 2 { // a restart
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				c := window.Config{Log: &log}
				if i%2 == 0 {
					c.Conversation = named("acme/42")
				}
				newChat(t, window.New(c)).talk(t, 30)
			})
		}
		all.Wait()
	}
	all, err := window.ReadJSON(&log)
	require.NoError(t, err)
	names := map[string]int{}
	for _, c := range all {
		names[c.ID]++
		require.Len(t, c.Calls, 30)
		require.Len(t, c.Runs, 1)
		whole(t, c, 1)
	}
	require.Equal(t, 8, names["acme/42"], "what each process saw of a conversation")
	require.Len(t, names, 1+8, "conversations without a name have one that nobody else has")
	for name := range names {
		require.Regexp(t, `^(acme/42|run-\d{8}-\d{6}-[A-Z2-7]{12})$`, name)
	}
}

//claim:security-69
func TestReadJSON_HostileFilesTakeBoundedWork(t *testing.T) {
	for _, call := range []string{`"slots":[[1,2147483647]]`, `"slots":[[5,1],[-3,-1],[0,0],[2147483647,-2147483648]]`, `"new":[[1,2147483647]],"same":2147483647,"slots":[[1,9],[1,9]]`} {
		text := `{"schema":"einolean.window/2","of":"k","conversation":{"id":"c"}}
{"of":"k","slot":3,"part":{"category":"user","tokens":5,"text":9},"text":"hello"}
{"of":"k","call":{"n":-5,"conversation":"c"},` + call + `}
{"of":"k","call":{"n":9223372036854775807,"conversation":"c"},` + call + `}
{"of":"k","call":null,"slots":[[1,2]]}
{"of":"k","slot":-1,"part":{"category":"nonsense"}}
`
		all, err := window.ReadJSON(strings.NewReader(text))
		require.ErrorContains(t, err, "line 5: ")
		require.Len(t, all[0].Calls, 2)
		for _, c := range all[0].Calls {
			require.LessOrEqual(t, len(c.Parts())+len(c.NewParts()), 4)
		}
		require.NotEmpty(t, jsonOf(t, all[0]))
	}
}

// A line too long for memory is lost, and no other.
//
//claim:security-69
func TestReadJSON_SkipsTooLongLine(t *testing.T) {
	defer window.ReadLinesUpTo(100_000)()
	var log bytes.Buffer
	see := window.New(window.Config{Log: &log, Conversation: named("c"), Texts: window.TextsAll})
	c := newChat(t, see)
	for _, size := range []int{50, 3 << 20, 50} {
		c.result(size)
		c.ask(t)
	}
	all, err := window.ReadJSON(&log)
	require.ErrorContains(t, err, "not whole")
	require.Equal(t, 1, strings.Count(err.Error(), "line "), "%.300s", err)
	require.Len(t, all[0].Calls, 3)
	require.Len(t, all[0].Texts, 2+2*3-1, "the text that was left out, and no other, is missing")
}

// FuzzReadJSON holds that what was read can be written, and read again the same.
func FuzzReadJSON(f *testing.F) {
	var log bytes.Buffer
	c := newChat(f, window.New(window.Config{Log: &log, Conversation: named("c")}))
	c.talk(f, 3)
	f.Add(log.Bytes())
	f.Add([]byte(`{"of":"k","slot":1,"part":{"text":1},"text":"a"}` + "\n" + `{"of":"k","call":{"n":1,"conversation":"c"},"slots":[[1,1]],"same":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, _ := window.ReadJSON(bytes.NewReader(text))
		for _, c := range all {
			written := jsonOf(t, c)
			again, err := window.ReadJSON(strings.NewReader(written))
			require.NoError(t, err)
			require.Len(t, again, 1)
			require.Equal(t, written, jsonOf(t, again[0]))
			require.Equal(t, c.Totals(), again[0].Totals())
		}
	})
}

// TestWriteJSON_ReturnsWriterError lets a writer fail at various bytes.
func TestWriteJSON_ReturnsWriterError(t *testing.T) {
	see := window.New(window.Config{Conversation: named("c")})
	newChat(t, see).talk(t, 4)
	whole := jsonOf(t, see.Conversation("c"))
	full := errors.New("the disk is full")
	for n := 0; n < len(whole); n += 97 {
		var got bytes.Buffer
		err := see.WriteJSON(writer(func(p []byte) (int, error) {
			if room := n - got.Len(); len(p) > room {
				got.Write(p[:room])
				return room, full
			}
			return got.Write(p)
		}))
		require.ErrorIs(t, err, full, "byte %d", n)
		require.True(t, strings.HasPrefix(whole, got.String()))
	}
}

// The error stays short, however many lines cannot be read.
func TestReadJSON_ErrorNamesAtMostTenLines(t *testing.T) {
	_, err := window.ReadJSON(strings.NewReader(strings.Repeat("hello\n", 100_000)))
	require.ErrorContains(t, err, "and 99990 more lines")
	require.Less(t, len(err.Error()), 4000)
	_, err = window.ReadJSON(strings.NewReader(strings.Repeat("hello\n", 10)))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "more lines")
}
