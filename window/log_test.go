// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package window_test

// This file reads logs while they are written.

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

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/window"
)

// jsonOf is a conversation as WriteJSON writes it.
func jsonOf(t *testing.T, c *window.Conversation) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, c.WriteJSON(&b))
	return b.String()
}

func TestALogHoldsWhatTheCollectorHas(t *testing.T) {
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

// failing is a writer that fails after some writes.
type failing struct {
	bytes.Buffer
	left int
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		n, _ := f.Buffer.Write(p[:len(p)/2])
		return n, errors.New("the disk is full")
	}
	return f.Buffer.Write(p)
}

type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("no disk") }

func TestALogThatFailsEndsNoRun(t *testing.T) {
	log := &failing{left: 2}
	s := newScene(t, true, window.Config{Log: log}, script[*schema.Message]())
	require.NoError(t, s.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")}).Err)
	require.Equal(t, -1, log.left, "it is left alone after an error")
	var read int
	require.Error(t, window.FollowJSON(&log.Buffer, func(_ *window.Conversation, call *window.ModelCall) error {
		read = call.N
		return nil
	}))
	require.Equal(t, 2, read, "what came before the error can be read")

	s = newScene(t, true, window.Config{Log: panicking{}}, script[*schema.Message]())
	require.NoError(t, s.agent.Run(context.Background(), []*schema.Message{schema.UserMessage("Go.")}).Err)
	require.Len(t, only(t, s.see).Calls, 5)
}

func TestACallThatIsGivenUpIsToldOnce(t *testing.T) {
	var log bytes.Buffer
	var told []string
	see := window.New(window.Config{Log: &log, OnCall: func(_ context.Context, call *window.ModelCall) {
		told = append(told, fmt.Sprint(call.N, " ", call.Unfinished))
	}})
	h := window.HandlerFor[*schema.Message](see)
	ctx, _, err := h.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{})
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

func TestConcurrentRunsShareALog(t *testing.T) {
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
			for _, p := range call.Parts {
				require.Contains(t, c.Texts, p.Text)
			}
		}
	}
}

func TestFollowingEndsWhereItIsToldTo(t *testing.T) {
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
	})
	require.ErrorIs(t, err, enough)
	require.Equal(t, 3, seen)
	for _, bad := range []string{`{"of":"a","run":{"n":1}}`, `{"schema":"leanctx.window/1","conversation":{"id":"a"}}` + "\n{}"} {
		require.Error(t, window.FollowJSON(strings.NewReader(bad), nil))
	}
}
