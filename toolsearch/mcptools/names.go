// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// This file names the tools of servers, and holds what servers claim about them.

import (
	"hash/fnv"
	"strings"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxName is how long a tool's name may be for the strictest of the large providers.
const maxName = 64

// toolName is the name of a server's tool. It depends only on the two names. One that had
// to be changed ends in four letters that depend on the original, so that two tools neither
// share a name nor swap names when a third is added.
func toolName(server, tool string, prefix bool) string {
	full := tool
	if prefix {
		full = server + "__" + tool
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, full)
	if name == full && len(name) <= maxName && tool != "" {
		return name
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(server + "\x00" + tool))
	letters := [5]byte{'_'}
	for i, n := 1, sum.Sum32(); i < len(letters); i++ {
		letters[i] = byte('a' + n%26)
		n /= 26
	}
	return name[:min(len(name), maxName-len(letters))] + string(letters[:])
}

// Hints are a server's claims about a tool. Missing claims have the defaults of the MCP
// specification, which assume the worst. Do not rely on the hints of a server that you do
// not trust.
type Hints struct {
	// Server and Tool are the names of the server and of the tool there. If Server is empty,
	// the tool is not from this package, and nothing is known about it.
	Server, Tool string
	// ReadOnly: it changes nothing.
	ReadOnly bool
	// Destructive: it may delete or overwrite, and not only add. False if ReadOnly.
	Destructive bool
	// Idempotent: calling it again with the same arguments changes nothing more. True if
	// ReadOnly.
	Idempotent bool
	// OpenWorld: it reaches beyond a closed domain, as a web search does.
	OpenWorld bool
}

// The keys of ToolInfo.Extra. Their values are texts and booleans, which a checkpoint holds.
const (
	keyServer      = "mcp.server"
	keyTool        = "mcp.tool"
	keyTitle       = "mcp.title"
	keyReadOnly    = "mcp.read_only"
	keyDestructive = "mcp.destructive"
	keyIdempotent  = "mcp.idempotent"
	keyOpenWorld   = "mcp.open_world"
	keyDefer       = "defer_loading" // of toolsearch: false is always visible
)

// HintsOf returns the server's claims about a tool of Servers, for a toolsearch.Filter or
// to ask a person before the tool runs. info may be nil.
func HintsOf(info *schema.ToolInfo) Hints {
	if info == nil {
		return Hints{}
	}
	text := func(key string) string { s, _ := info.Extra[key].(string); return s }
	is := func(key string) bool { b, _ := info.Extra[key].(bool); return b }
	return Hints{
		Server: text(keyServer), Tool: text(keyTool), ReadOnly: is(keyReadOnly), Destructive: is(keyDestructive),
		Idempotent: is(keyIdempotent), OpenWorld: is(keyOpenWorld),
	}
}

// hintsOf fills in what the specification says where the server says nothing.
func hintsOf(server string, t *mcp.Tool) Hints {
	h := Hints{Server: server, Tool: t.Name, Destructive: true, OpenWorld: true}
	if a := t.Annotations; a != nil {
		h.ReadOnly, h.Idempotent = a.ReadOnlyHint, a.IdempotentHint || a.ReadOnlyHint
		h.Destructive = !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
		h.OpenWorld = a.OpenWorldHint == nil || *a.OpenWorldHint
	}
	return h
}

// extra is what ToolInfo.Extra holds of a tool.
func (h Hints) extra(t *mcp.Tool) map[string]any {
	extra := map[string]any{
		keyServer: h.Server, keyTool: h.Tool, keyReadOnly: h.ReadOnly, keyDestructive: h.Destructive,
		keyIdempotent: h.Idempotent, keyOpenWorld: h.OpenWorld,
	}
	title := t.Title
	if title == "" && t.Annotations != nil {
		title = t.Annotations.Title
	}
	if title != "" {
		extra[keyTitle] = title
	}
	return extra
}
