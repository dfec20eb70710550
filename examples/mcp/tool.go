// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file makes an Eino tool of a tool of an MCP server.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// remoteTool is a tool of an MCP server. It is safe for concurrent use.
type remoteTool struct {
	server *server
	name   string // the server's own name for it
	info   *schema.ToolInfo
}

var _ tool.InvokableTool = (*remoteTool)(nil)

// Info describes the tool; its name has the server's as a prefix.
func (t *remoteTool) Info(context.Context) (*schema.ToolInfo, error) { return t.info, nil }

// InvokableRun calls the server. Whatever goes wrong there is an answer for the model, so
// that it can go on without the tool; only a cancelled context is an error.
func (t *remoteTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	session, err := t.server.current()
	if err != nil {
		return "error: " + err.Error(), nil
	}
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: t.name, Arguments: json.RawMessage(args)})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, mcp.ErrConnectionClosed):
		t.server.lost(session, err)
		return fmt.Sprintf("error: the server %q does not answer any more", t.server.name), nil
	case err != nil:
		return "error: " + err.Error(), nil
	}
	return textOf(result), nil
}

// textOf joins the texts of a result. A model that reads images from tools wants an
// EnhancedInvokableTool here, which returns them as parts; many take nothing but text.
func textOf(r *mcp.CallToolResult) string {
	var parts []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("[image %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("[audio %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *mcp.ResourceLink:
			parts = append(parts, fmt.Sprintf("[resource %s %s]", c.Name, c.URI))
		case *mcp.EmbeddedResource:
			parts = append(parts, c.Resource.Text)
		}
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		if data, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(data))
		}
	}
	text := strings.Join(parts, "\n")
	if r.IsError {
		return "error: " + text
	}
	return text
}

func toolInfo(server string, t *mcp.Tool) (*schema.ToolInfo, error) {
	data, err := json.Marshal(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("schema of tool %q: %w", t.Name, err)
	}
	var params jsonschema.Schema
	if err := json.Unmarshal(data, &params); err != nil {
		return nil, fmt.Errorf("schema of tool %q: %w", t.Name, err)
	}
	return &schema.ToolInfo{
		Name:        toolName(server, t.Name),
		Desc:        t.Description,
		ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&params),
	}, nil
}

// maxName is how long a tool's name may be for the strictest of the large providers.
const maxName = 64

// toolName puts the server's name in front and leaves out what providers refuse.
func toolName(server, name string) string {
	full := server + "__" + cleanName(name)
	return full[:min(len(full), maxName)]
}

// cleanName keeps letters, digits, - and _.
func cleanName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, s)
}
