// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean/toolsearch/mcptools"
)

// notebook is an MCP server that keeps notes.
type notebook struct {
	mu    sync.Mutex
	notes []string
}

func newNotebook(notes ...string) *notebook { return &notebook{notes: notes} }

func (n *notebook) all() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.notes, ", ")
}

// server is how to reach it: through pipes, in the same process.
func (n *notebook) server() mcptools.Server {
	type none struct{}
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	answer := func(text string) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	}
	mcp.AddTool(s, &mcp.Tool{Name: "list_notes", Description: "Lists all notes.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
			return answer(n.all())
		})
	mcp.AddTool(s, &mcp.Tool{Name: "delete_notes", Description: "Deletes all notes."},
		func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			count := len(n.notes)
			n.notes = nil
			return answer(fmt.Sprintf("deleted %d notes", count))
		})
	return mcptools.Server{Transport: func(ctx context.Context) (mcp.Transport, error) {
		ours, theirs := mcp.NewInMemoryTransports()
		_, err := s.Connect(context.WithoutCancel(ctx), theirs, nil)
		return ours, err
	}}
}

// store keeps runs that wait. Keep them in a database, and they outlive the process.
type store struct {
	mu   sync.Mutex
	runs map[string][]byte
}

func newStore() *store { return &store{runs: map[string][]byte{}} }

// Get returns a run that waits.
func (s *store) Get(_ context.Context, id string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.runs[id]
	return data, ok, nil
}

// Set keeps a run that waits.
func (s *store) Set(_ context.Context, id string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[id] = data
	return nil
}
