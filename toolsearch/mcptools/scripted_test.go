// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// scripted is a server whose list of tools may be anything. Its tools return their arguments.
type scripted struct {
	tools []string // definitions
}

// server returns a server that is reached in memory.
func (s *scripted) server() Server {
	return Server{Transport: func(context.Context) (mcp.Transport, error) { return s, nil }}
}

// Connect returns a connection.
func (s *scripted) Connect(context.Context) (mcp.Connection, error) {
	return &scriptedConn{script: s, answers: make(chan jsonrpc.Message, 100), closed: make(chan struct{})}, nil
}

type scriptedConn struct {
	script  *scripted
	answers chan jsonrpc.Message
	closed  chan struct{}
	once    sync.Once
}

func (c *scriptedConn) SessionID() string { return "" }

func (c *scriptedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *scriptedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.answers:
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *scriptedConn) Write(_ context.Context, m jsonrpc.Message) error {
	r, is := m.(*jsonrpc.Request)
	if !is || !r.ID.IsValid() {
		return nil
	}
	answer := &jsonrpc.Response{ID: r.ID}
	switch r.Method {
	case "initialize":
		answer.Result = json.RawMessage(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
	case "tools/list":
		answer.Result = json.RawMessage(`{"tools":[` + strings.Join(c.script.tools, ",") + `]}`)
	case "tools/call":
		var params struct {
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := json.Unmarshal(r.Params, &params); err != nil {
			return err
		}
		text, err := json.Marshal(string(params.Arguments))
		if err != nil {
			return err
		}
		answer.Result = json.RawMessage(fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text))
	default:
		answer.Error = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "unknown method"}
	}
	c.answers <- answer
	return nil
}
