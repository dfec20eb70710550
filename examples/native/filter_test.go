// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// What a Filter denies, on the wire of every contract.

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/provider"
	"github.com/einolean/einolean/toolsearch"
)

func TestFilter_DeniedToolsAreNotSent(t *testing.T) {
	on(t, denied[*schema.Message], denied[*schema.AgenticMessage])
}

func denied[M adk.MessageType](t *testing.T, s side, stream bool) {
	for name, no := range map[string]func() (bool, error){
		"no":      func() (bool, error) { return false, nil },
		"error":   func() (bool, error) { return true, errors.New("who are you") },
		"a panic": func() (bool, error) { panic("oh") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newAgent[M](t, s.api, stream, "own")
			cfg := *native(s.contract)
			cfg.Filter = func(_ context.Context, r toolsearch.FilterRequest) (bool, error) {
				if strings.HasPrefix(r.Tool.Name, "mail__") {
					return no()
				}
				return true, nil
			}
			c.search(cfg)
			if s.hosted() {
				c.ask("Mail?", provider.Turn{Search: "mail send", Text: "Nothing."})
			} else {
				c.ask("Mail?", calls(find("mail"), find("send list")), calls(find("select:mail_sned")), says("Nothing."))
			}
			require.NotContains(t, c.wire(0), "mail__")
			c.ask("All the same.", calls(blind("mail__send"), call("own", "")), says("No."))
			require.Equal(t, []string{"own"}, c.ran.list())
			require.NotContains(t, c.wire(0), "Does mail__send", "its description")
		})
	}
}

func TestFilter_DeniedToolDoesNotRun(t *testing.T) {
	on(t, deniedCalls[*schema.Message], deniedCalls[*schema.AgenticMessage])
}

func deniedCalls[M adk.MessageType](t *testing.T, s side, stream bool) {
	c := newAgent[M](t, s.api, stream, "own")
	cfg := *native(s.contract)
	cfg.Filter = func(_ context.Context, r toolsearch.FilterRequest) (bool, error) {
		return r.Phase != toolsearch.PhaseCall, nil
	}
	c.search(cfg)
	if s.hosted() {
		c.ask("Ping?", provider.Turn{Search: "ping", Calls: []provider.Call{call("ping", "")}}, says("No."))
	} else {
		c.ask("Ping?", calls(find("ping")), calls(call("ping", "")), says("No."))
	}
	require.Empty(t, c.ran.list())
}

// A tool that was found and used may be denied for one request and allowed again later. The histories that refer
// to it must not end a run.
func TestFilter_DeniedToolReturnsLater(t *testing.T) {
	on(t, deniedForAWhile[*schema.Message], deniedForAWhile[*schema.AgenticMessage])
}

func deniedForAWhile[M adk.MessageType](t *testing.T, s side, stream bool) {
	for _, phase := range []toolsearch.Phase{toolsearch.PhaseActive, toolsearch.PhaseLoad} {
		t.Run(string(phase), func(t *testing.T) {
			c := newAgent[M](t, s.api, stream, "own")
			var closed atomic.Bool
			cfg := *native(s.contract)
			cfg.Filter = func(_ context.Context, r toolsearch.FilterRequest) (bool, error) {
				return !closed.Load() || r.Tool.Name != "ping" || r.Phase != phase, nil
			}
			c.search(cfg)
			if s.hosted() {
				c.ask("Ping?", provider.Turn{Search: "ping weather", Calls: []provider.Call{call("ping", "")}}, says("Pong."))
			} else {
				c.ask("Ping?", calls(find("ping"), find("weather")), calls(call("ping", "")), says("Pong."))
			}
			closed.Store(true)
			c.ask("Ping?", says("I cannot."))
			require.NotContains(t, provider.Names(c.last().Visible()), "ping")
			require.NotContains(t, string(c.last().Body), "Does ping for you.")
			closed.Store(false)
			c.ask("Ping?", calls(call("ping", "")), says("Pong."))
			require.Equal(t, []string{"ping", "ping"}, c.ran.list())
		})
	}
}
