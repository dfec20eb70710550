// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// What happens to servers whose user's functions never return as they should.

import (
	"context"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
)

// A function that ends its goroutine, as a test's FailNow does, has failed. The server goes on.
//
//claim:security-52
func TestOptions_GoexitInCallbackBlocksNobody(t *testing.T) {
	var calls atomic.Int32
	once := func() { // and from then on it returns
		if calls.Add(1) == 1 {
			runtime.Goexit()
		}
	}
	f := newFixture()
	transport := func(ctx context.Context) (mcp.Transport, error) {
		once()
		return f.inMemory().Transport(ctx)
	}
	web := Server{URL: f.web(t, nil).URL}
	for name, c := range map[string]struct {
		server Server
		o      Options
	}{
		"OnEvent":   {web, Options{OnEvent: func(context.Context, einolean.Event) { once() }}},
		"Header":    {web, Options{Header: func(context.Context, string) (http.Header, error) { once(); return nil, nil }}},
		"Transport": {Server{Transport: transport}, Options{}},
		"Logs":      {child(t, "noisy"), Options{Logs: func(string, []byte) { once() }}},
	} {
		t.Run(name, func(t *testing.T) {
			calls.Store(0)
			s := open(t, map[string]Server{"srv": c.server}, c.o)
			until(t, "it is up", func() bool { return statusOf(s, "srv").State == StateUp && statusOf(s, "srv").Tools > 0 })
			require.Equal(t, "hello", ask(t, ctx, s, "srv__echo", `{"text":"hello"}`))
			require.Positive(t, calls.Load())
			within, cancel := context.WithTimeout(ctx, 30*time.Second)
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- s.Close() }()
			select {
			case err := <-ended:
				require.NoError(t, err)
			case <-within.Done():
				t.Fatal("Close waits")
			}
		})
	}
}

// A question that nobody answers, since Elicit ended its goroutine, is dismissed at once.
func TestElicit_GoexitDismissesTheQuestion(t *testing.T) {
	s := open(t, map[string]Server{"srv": child(t, "asking old")}, Options{Elicit: func(context.Context, Question) (Answer, error) {
		runtime.Goexit()
		return Answer{}, nil
	}})
	begin := time.Now()
	answer := ask(t, ctx, s, "srv__paint", `{"text":"a"}`)
	require.Contains(t, answer, "cancel")
	require.Less(t, time.Since(begin), defaultTimeout/2)
}

// A function that returns only long after its context has ended does not keep Close waiting.
func TestClose_DoesNotWaitForHungHeader(t *testing.T) {
	free := make(chan struct{})
	defer close(free)
	s := newServers(map[string]Server{"srv": {URL: newFixture().web(t, nil).URL}}, Options{Header: func(context.Context, string) (http.Header, error) {
		<-free
		return nil, nil
	}})
	inside, cancel := context.WithCancel(ctx)
	cancel()
	_, err := s.open(inside)
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() { _ = s.Close(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("Close waits for Header")
	}
}
