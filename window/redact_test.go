// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/inspect"
)

// secret stands in every string of the tests below.
const secret = "sk-hunter2-0123456789"

// marked sets every string below v to one with the secret, also where it would be cut.
func marked(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[einolean.Kind]() {
			return
		}
		v.SetString("a " + secret + " b")
	case reflect.Float64:
		v.SetFloat(math.NaN())
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			marked(v.Index(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		marked(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			marked(v.Field(i))
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(errors.New("failed at " + secret)))
	}
}

// kinds are those that the package declares.
func kinds(t *testing.T) (all []einolean.Kind) {
	text, err := os.ReadFile("../event.go")
	require.NoError(t, err)
	for _, found := range regexp.MustCompile(`(?m)^\tKind\w+ +Kind = "(\w+)"`).FindAllSubmatch(text, -1) {
		all = append(all, einolean.Kind(found[1]))
	}
	require.Contains(t, all, einolean.KindProgramEnded)
	return all
}

// leaking is a model whose answers and errors hold the secret.
type leaking[M adk.MessageType] struct{ answers []M }

func (l *leaking[M]) Generate(context.Context, []M, ...model.Option) (out M, err error) {
	if len(l.answers) == 0 {
		return out, errors.New("the key " + secret + " is not valid")
	}
	out, l.answers = l.answers[0], l.answers[1:]
	return out, nil
}

func (l *leaking[M]) Stream(ctx context.Context, in []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	out, err := l.Generate(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]M{out}), nil
}

//claim:security-67 window-03
func TestRedact_NoSecretIsKeptOrLogged(t *testing.T) {
	adktest.Both(t, redactsAll[*schema.Message], redactsAll[*schema.AgenticMessage])
}

func redactsAll[M adk.MessageType](t *testing.T, streaming bool) {
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "•••") }
	for name, c := range map[string]window.Config{
		"redacted":            {Redact: redact, Texts: window.TextsAll},
		"redacted, shortened": {Redact: redact},
		"no texts":            {Texts: window.TextsNone},
	} {
		var log bytes.Buffer
		var told []any
		c.Log, c.OnCall = &log, func(_ context.Context, call *window.ModelCall) {
			told = append(told, *call, call.Parts(), call.Omissions())
		}
		see := window.New(c)
		h := window.HandlerFor[M](see)
		ctx, err := einorun.Begin(context.Background(), h, &einorun.RunContext{})
		require.NoError(t, err)
		call := adktest.ToolCall{ID: "id " + secret, Name: "tool " + secret, Args: `{"key":"` + secret + `"}`}
		said, err := adktest.Whole[M](adktest.Turn{Text: "It is " + secret, Calls: []adktest.ToolCall{call}})
		require.NoError(t, err)
		m, err := h.WrapModel(ctx, &leaking[M]{answers: []M{said}}, nil)
		require.NoError(t, err)
		// The secret crosses every length at which something may be cut.
		long := func(n int) string { return strings.Repeat("x", n-len(secret)/2) + secret + " and more" }
		history := []M{adktest.System[M]("Use " + secret), adktest.User[M](long(1000)), said,
			adktest.Result[M](call.ID, call.Name, long(2048)), adktest.Result[M]("other", "tool", long(256)), adktest.User[M](secret),
			adktest.Result[M]("cleared", "tool", "<persisted-output>An old result of 900 bytes was removed and saved to: /tmp/"+secret+". Read it.</persisted-output>")}
		for _, kind := range kinds(t) {
			var e einolean.Event
			marked(reflect.ValueOf(&e).Elem())
			e.Kind = kind
			see.Event(ctx, e)
			require.Contains(t, e.Search.Hits[0].Name, secret, "the event is not changed")
			e.Search.Query = strings.Repeat("q ", 490) + "sk-hunter2-012345678" // cut where it was made
			e.CallID = "other"
			for i := range e.Search.Hits { // words are what an index makes of a query
				e.Search.Hits[i].Terms = []einolean.Term{{Text: "Q"}, {Text: "hunter2"}, {Text: "0123456789"}}
			}
			see.Event(ctx, e)
		}
		tools := model.WithTools([]*schema.ToolInfo{{Name: "tool " + secret, Desc: "does " + secret}})
		for range 2 { // the second one fails
			if streaming {
				if s, err := m.Stream(ctx, history, tools); err == nil {
					for err == nil {
						_, err = s.Recv()
					}
				}
				continue
			}
			_, _ = m.Generate(ctx, history, tools)
		}
		all := only(t, see)
		require.Len(t, all.Calls, 2)
		require.Len(t, all.Calls[0].Events, 2*len(kinds(t)), "numbers that are none cost no event")
		require.NotEmpty(t, all.Calls[1].Error)
		if c.Texts != window.TextsNone {
			require.Equal(t, "Q", all.Calls[0].Events[1].Search.Hits[0].Terms[0].Text, "a word that is no secret stays")
		}
		var file bytes.Buffer
		require.NoError(t, see.WriteJSON(&file))
		var page, lines bytes.Buffer
		require.NoError(t, inspect.Write(&page, all))
		require.NoError(t, inspect.WriteText(&lines, all, inspect.TextOptions{Width: 400}))
		for n := range 2 {
			require.NoError(t, inspect.WriteCall(&lines, all, n+1, inspect.TextOptions{Width: 400}))
		}
		records := map[string]string{"page": page.String()[strings.Index(page.String(), `id="data"`):strings.LastIndex(page.String(), "<script>")], "terminal": lines.String(), "WriteJSON": file.String(), "log": log.String(), "records": fmt.Sprintf("%+v", deep(all)), "OnCall": fmt.Sprintf("%+v", told)}
		for where, text := range records {
			for _, part := range []string{secret, "hunter2", "0123456789", "sk-"} {
				if at := strings.Index(text, part); at >= 0 {
					t.Errorf("%s: %s: %q stands in …%s…", name, where, part, text[max(0, at-80):min(len(text), at+40)])
				}
			}
		}
		require.NoError(t, see.LogError())
		back, err := window.ReadJSON(&log)
		require.NoError(t, err)
		require.Len(t, back[0].Calls, 2)
		parts := all.Calls[0].Parts()
		require.Len(t, parts, 1+1+1+2+4)
		pairs := map[string]int{}
		for _, p := range parts {
			pairs[p.CallID]++
		}
		delete(pairs, "")
		require.Len(t, pairs, 3, "three calls and results stay apart")
		if c.Texts == window.TextsNone {
			require.Empty(t, strings.Join(textsOf(all), ""))
			require.Empty(t, all.Calls[0].Answer+all.Runs[0].Question)
		}
	}
}

// deep is everything that can be reached from a conversation.
func deep(c *window.Conversation) (all []any) {
	all = append(all, c.ID, c.Runs, c.Texts, c.Totals())
	for _, call := range c.Calls {
		text, err := json.Marshal(call)
		all = append(all, *call, string(text), err, call.Parts(), call.Omissions())
		for _, e := range call.Events {
			all = append(all, e.String(), e.Err)
		}
	}
	return all
}

func textsOf(c *window.Conversation) (all []string) {
	for _, text := range c.Texts {
		all = append(all, text)
	}
	return all
}

// TestCollector_CallbacksRunWithoutLock lets every callback use the collector that calls it.
func TestCollector_CallbacksRunWithoutLock(t *testing.T) {
	var see *window.Collector
	var calls atomic.Int64
	use := func() {
		calls.Add(1)
		done := make(chan struct{})
		go func() { // also from another goroutine
			defer close(done)
			for c := range see.Conversations() {
				_ = c.Totals()
			}
			_ = see.LogError()
			_ = see.WriteJSON(&bytes.Buffer{})
		}()
		<-done
	}
	log := writer(func(p []byte) (int, error) { use(); return len(p), nil })
	s := newScene(t, true, window.Config{
		Conversation: func(context.Context) (string, error) { use(); return "c", nil },
		Redact:       func(s string) string { use(); return s },
		OnCall:       func(context.Context, *window.ModelCall) { use() },
		Log:          log,
	}, script[*schema.Message]())
	see = s.see
	ended := make(chan error, 1)
	go func() { ended <- s.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")}).Err }()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("a callback waits for a lock")
	}
	require.Greater(t, calls.Load(), int64(20))
	require.Len(t, see.Conversation("c").Calls, 5)
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// 64 runs take as long as one, measured in the time of a synctest bubble.
func TestRedact_RunsConcurrently(t *testing.T) {
	took := func(runs int) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			see := window.New(window.Config{Redact: func(s string) string { time.Sleep(5 * time.Millisecond); return s }})
			begin := time.Now()
			var all sync.WaitGroup
			for range runs {
				all.Go(func() {
					c := newChat(t, see)
					for range 5 {
						c.result(100)
						c.ask(t)
					}
				})
			}
			all.Wait()
			d = time.Since(begin)
		})
		return d
	}
	one, many := took(1), took(64)
	t.Logf("one run %s, 64 runs %s", one, many)
	require.LessOrEqual(t, many, 12*one)
}

// The delay is measured in the time of a synctest bubble.
//
//claim:security-68
func TestLog_BlockedWriterLosesCallsWithoutDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var mu sync.Mutex
		free := make(chan struct{})
		writes := 0
		see := window.New(window.Config{Texts: window.TextsAll, Conversation: named("c"), Log: writer(func(p []byte) (int, error) {
			if writes++; writes == 2 {
				<-free
			}
			mu.Lock()
			defer mu.Unlock()
			return log.Write(p)
		})})
		c := newChat(t, see)
		begin := time.Now()
		for range 50 {
			c.result(200_000)
			c.ask(t)
		}
		require.Equal(t, time.Second, time.Since(begin), "one call waits a second, and no other")
		require.ErrorContains(t, see.LogError(), "calls are missing in the log")
		close(free)
		synctest.Wait()
		c.result(10)
		c.ask(t)
		var reported []string
		var read []int
		mu.Lock()
		defer mu.Unlock()
		require.NoError(t, window.FollowJSON(&log, func(c *window.Conversation, call *window.ModelCall) error {
			read = append(read, call.N)
			tokens := 0
			for _, p := range call.Parts() {
				tokens += p.Tokens
			}
			require.Equal(t, call.Tokens.Estimated, tokens, "what is in the log is whole")
			return nil
		}, func(err error) { reported = append(reported, err.Error()) }))
		lost := 51 - len(read)
		require.Positive(t, lost)
		require.Equal(t, 51, read[len(read)-1])
		require.Equal(t, fmt.Sprintf("window: %d calls are missing in the log: the log writer is too slow", lost), see.LogError().Error())
		require.Len(t, reported, 1)
		require.Contains(t, reported[0], fmt.Sprintf("the log lost %d calls here", lost))
	})
}

func TestLog_GoexitInWriteDoesNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writes := 0
		var log bytes.Buffer
		see := window.New(window.Config{Conversation: named("c"), Log: writer(func(p []byte) (int, error) {
			if writes++; writes == 2 {
				runtime.Goexit()
			}
			return log.Write(p)
		})})
		c := newChat(t, see)
		begin := time.Now()
		for range 4 {
			c.result(10)
			c.ask(t)
		}
		require.Zero(t, time.Since(begin))
		require.EqualError(t, see.LogError(), "window: 1 calls are missing in the log: its Write ended the goroutine")
		all, err := window.ReadJSON(&log)
		require.ErrorContains(t, err, "lost 1 calls")
		require.Len(t, all[0].Calls, 3)
	})
}

// A writer that writes only a part and returns no error has lost the rest. The next line starts anew.
func TestLog_ReportsShortWrite(t *testing.T) {
	writes := 0
	var log bytes.Buffer
	see := window.New(window.Config{Conversation: named("c"), Log: writer(func(p []byte) (int, error) {
		if writes++; writes == 2 {
			p = p[:len(p)/2]
		}
		return log.Write(p)
	})})
	c := newChat(t, see)
	for range 4 {
		c.result(10)
		c.ask(t)
	}
	require.EqualError(t, see.LogError(), "window: 1 calls are missing in the log: short write")
	all, err := window.ReadJSON(&log)
	require.ErrorContains(t, err, "lost 1 calls")
	require.Len(t, all[0].Calls, 3)
	require.Equal(t, 4, all[0].Calls[2].N)
}
