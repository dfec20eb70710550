// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"hash/fnv"
	"strings"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The length of a tool's name that the strictest of the large providers takes.
const (
	minName = 3
	maxName = 64
)

// separator stands between the names of a server and of its tool.
const separator = "__"

// toolName is the name of a server's tool: 3 to 64 letters, digits, - and _, of which the first
// is a letter or _. It depends only on the two names and on those of the other servers with a
// prefix. One that had to be changed ends in four letters that depend on the original, so
// that two tools neither share a name nor swap names when a third is added. None begins with
// the prefix of another server: "hub__x" of the server "git" would be a tool of "git__hub".
func toolName(server, tool string, prefix bool, others []string) string {
	full, ownPrefix := tool, ""
	if prefix {
		ownPrefix = server + separator
		full = ownPrefix + tool
	}
	name := plainName(full)
	for _, other := range others {
		if p := other + separator; other != server && len(p) > len(ownPrefix) && strings.HasPrefix(name, p) {
			part := min(len(ownPrefix), len(name)) // where the tool's begins
			name = name[:part] + strings.ReplaceAll(name[part:], separator, "_")
			if strings.HasPrefix(name, p) { // the prefix does not end in the tool's part
				name = "_" + name
			}
		}
	}
	if name == full && len(name) >= minName && len(name) <= maxName && tool != "" {
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

// plainName replaces what a name may not contain, and begins it with a letter or _.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	if strings.IndexFunc(name, func(r rune) bool { return r != '-' && (r < '0' || r > '9') }) != 0 {
		name = "_" + name
	}
	return name
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

// How many bytes are kept of what a server says.
const (
	maxOutput       = 4 << 10
	maxInstructions = 500 // of what it is for, for the index of its tools
)

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
	flag := func(key string) bool { b, _ := info.Extra[key].(bool); return b }
	return Hints{
		Server: text(keyServer), Tool: text(keyTool), ReadOnly: flag(keyReadOnly), Destructive: flag(keyDestructive),
		Idempotent: flag(keyIdempotent), OpenWorld: flag(keyOpenWorld),
	}
}

// hintsOf applies the defaults of the specification to missing hints.
func hintsOf(server string, t *mcp.Tool) Hints {
	h := Hints{Server: server, Tool: t.Name, Destructive: true, OpenWorld: true}
	if a := t.Annotations; a != nil {
		h.ReadOnly, h.Idempotent = a.ReadOnlyHint, a.IdempotentHint || a.ReadOnlyHint
		h.Destructive = !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
		h.OpenWorld = a.OpenWorldHint == nil || *a.OpenWorldHint
	}
	return h
}

// extra returns the values of ToolInfo.Extra of a tool.
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
