// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file keeps the connections to the servers, and what tools they have.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connectTimeout bounds the wait for one server, and so for all of them.
const connectTimeout = 30 * time.Second

// Servers are connections to MCP servers. It is safe for concurrent use.
type Servers struct {
	all     map[string]*server
	version atomic.Int64 // changes whenever some server's list of tools does
}

// server is one server. A nil session means that it is down.
type server struct {
	name   string
	config ServerConfig

	mu      sync.Mutex
	session *mcp.ClientSession
	tools   []tool.BaseTool
	stale   bool
	down    error
}

// Connect connects to all servers at once. Those that cannot be reached are reported by
// Down, and tried again by Refresh.
func Connect(ctx context.Context, c Config) *Servers {
	s := &Servers{all: map[string]*server{}}
	for name, config := range c.Servers {
		s.all[name] = &server{name: name, config: config, stale: true}
	}
	s.Refresh(ctx)
	return s
}

// Refresh reads again the tools of servers whose list changed, and tries again those that
// are down.
func (s *Servers) Refresh(ctx context.Context) {
	var wg sync.WaitGroup
	for _, v := range s.all {
		wg.Go(func() {
			if v.refresh(ctx, func() { s.version.Add(1) }) {
				s.version.Add(1)
			}
		})
	}
	wg.Wait()
}

// Version is a number that changes whenever the tools may have changed.
func (s *Servers) Version() int64 { return s.version.Load() }

// Tools are the tools of all servers that can be reached, by server and name.
func (s *Servers) Tools() []tool.BaseTool {
	var all []tool.BaseTool
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		v := s.all[name]
		v.mu.Lock()
		all = append(all, v.tools...)
		v.mu.Unlock()
	}
	return all
}

// Down says which servers cannot be reached, and why; nil if none.
func (s *Servers) Down() error {
	var down []error
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		v := s.all[name]
		v.mu.Lock()
		if v.down != nil {
			down = append(down, fmt.Errorf("server %q: %w", name, v.down))
		}
		v.mu.Unlock()
	}
	return errors.Join(down...)
}

// Close ends all connections.
func (s *Servers) Close() {
	for _, v := range s.all {
		v.mu.Lock()
		if v.session != nil {
			_ = v.session.Close()
			v.session = nil
		}
		v.mu.Unlock()
	}
}

// refresh reports whether the tools changed.
func (v *server) refresh(ctx context.Context, changed func()) bool {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.session != nil && !v.stale {
		return false
	}
	before := len(v.tools)
	v.tools, v.down, v.stale = nil, nil, false
	if v.session == nil {
		if v.session, v.down = v.connect(ctx, changed); v.down != nil {
			v.session = nil
			return before > 0
		}
	}
	if v.tools, v.down = v.list(ctx); v.down != nil {
		_ = v.session.Close()
		v.session = nil
	}
	return true
}

func (v *server) connect(ctx context.Context, changed func()) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "leanctx-example", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			go func() { // the handler must not wait for the lock: a refresh may hold it
				v.mu.Lock()
				v.stale = true
				v.mu.Unlock()
				changed()
			}()
		},
	})
	// The session outlives the wait for it: ctx may end the wait, and nothing after it.
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, cancel)
	session, err := client.Connect(whole, v.config.transport(), nil)
	if !release() && err == nil {
		_ = session.Close()
		err = ctx.Err()
	}
	if err != nil {
		cancel()
	}
	return session, err
}

// list reads the server's tools.
func (v *server) list(ctx context.Context) ([]tool.BaseTool, error) {
	var tools []tool.BaseTool
	names := map[string]bool{}
	for t, err := range v.session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("listing tools: %w", err)
		}
		info, err := toolInfo(v.name, t)
		if err != nil {
			return nil, err
		}
		if names[info.Name] {
			continue // two tools that differ only in characters a provider refuses
		}
		names[info.Name] = true
		tools = append(tools, &remoteTool{server: v, name: t.Name, info: info})
	}
	return tools, nil
}

// current is the session, or why there is none.
func (v *server) current() (*mcp.ClientSession, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.session == nil {
		return nil, fmt.Errorf("server %q is not connected", v.name)
	}
	return v.session, nil
}

// lost notes that a connection broke, so that the next Refresh makes a new one.
func (v *server) lost(session *mcp.ClientSession, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.session == session {
		_ = v.session.Close()
		v.session, v.down = nil, err
	}
}
