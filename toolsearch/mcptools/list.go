// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// Pauses for servers whose notices announce nothing new.
const (
	firstNoticePause = 50 * time.Millisecond
	maxNoticePause   = 5 * time.Second
)

// listError is the error of a list that cannot be used although the server answers.
type listError string

// Error says what is wrong with the list.
func (b listError) Error() string { return "the list of tools: " + string(b) }

// isAnswer reports whether an error is the server's answer, rather than that of a broken
// connection.
func isAnswer(err error) bool {
	var bad listError
	return errors.As(err, &bad) || serverError(err) != nil
}

// serverError returns the error that a server answered with; nil if it did not answer.
func serverError(err error) *jsonrpc.Error {
	var answer *jsonrpc.Error
	if !errors.As(err, &answer) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	if isClientCode(answer.Code) {
		return nil
	}
	return answer
}

// isClientCode reports whether a code is the client's own: it is closing, or could not send.
func isClientCode(code int64) bool { return code <= -32003 && code >= -32005 }

// unreadableSchema is the schema of a tool whose definition cannot be read.
type unreadableSchema struct{ error }

// readTool reads the definition of one tool, or returns nil. Numbers in its schemas keep all digits.
func readTool(definition string) *mcp.Tool {
	if definition == "null" {
		return nil
	}
	var t struct {
		mcp.Tool
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema"`
	}
	err := json.Unmarshal([]byte(definition), &t)
	tool := t.Tool
	if err == nil {
		tool.InputSchema, err = decodeExact(t.InputSchema)
	}
	if err == nil {
		tool.OutputSchema, err = decodeExact(t.OutputSchema)
	}
	if err == nil {
		return &tool
	}
	return readParts(definition)
}

// readParts reads what a definition needs, though other members of it cannot be read.
func readParts(definition string) *mcp.Tool {
	var tool mcp.Tool
	members := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(definition), &members) != nil {
		return &mcp.Tool{InputSchema: unreadableSchema{errors.New("it is not an object")}}
	}
	if json.Unmarshal(members["name"], &tool.Name) != nil || tool.Name == "" {
		return &mcp.Tool{InputSchema: unreadableSchema{errNoName}}
	}
	_ = json.Unmarshal(members["description"], &tool.Description) // without it, the tool has none
	_ = json.Unmarshal(members["title"], &tool.Title)
	_ = json.Unmarshal(members["annotations"], &tool.Annotations)
	_ = json.Unmarshal(members["_meta"], &tool.Meta)
	var err error
	if tool.InputSchema, err = decodeExact(members["inputSchema"]); err != nil {
		tool.InputSchema = unreadableSchema{err}
	}
	tool.OutputSchema, _ = decodeExact(members["outputSchema"])
	return &tool
}

// errNoName is why a tool without a name is refused.
var errNoName = errors.New("it has no name")

// decodeExact decodes a schema and keeps its numbers as text.
func decodeExact(schema json.RawMessage) (value any, err error) {
	if len(schema) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// listUpdate makes tools of a list, and collects what is new in it.
type listUpdate struct {
	link             *link
	session          *session
	previous         map[string]*remoteTool
	remotes          map[string]*remoteTool
	tools            []tool.BaseTool
	ownNames         map[string]string // what they are called here, and there
	refusals         map[string]string
	skippedCount     int // tools that were refused
	lastSkipErr      error
	reportedRefusals map[string]string
	addedTools       []*remoteTool

	instructions string // of the server, for the index
}

func (u *listUpdate) add(t *mcp.Tool) {
	l := u.link
	if t == nil || t.Name != "" && !l.server.offers(t.Name) {
		return
	}
	if t.Name == "" {
		err := errNoName
		if unreadable, ok := t.InputSchema.(unreadableSchema); ok {
			err = unreadable.error
		}
		u.refuse("", err)
		return
	}
	if u.remotes[t.Name] != nil {
		u.refuse(t.Name, errors.New("the server lists it twice"))
		return
	}
	remote, err := l.newRemote(t, u.instructions, u.previous[t.Name])
	if err != nil {
		u.refuse(t.Name, err)
		return
	}
	if other, ok := u.ownNames[remote.info.Name]; ok {
		u.refuse(t.Name, fmt.Errorf("tool name %s collides with tool %q", remote.info.Name, other))
		return
	}
	u.ownNames[remote.info.Name] = t.Name
	u.remotes[t.Name] = remote
	u.tools = append(u.tools, remote.tool)
	if remote != u.previous[t.Name] {
		u.addedTools = append(u.addedTools, remote)
	}
}

// refuse reports a tool that cannot be offered, once.
func (u *listUpdate) refuse(name string, err error) {
	err = errors.New(u.link.redact(u.session, err.Error()))
	name = u.link.redact(u.session, name)
	u.refusals[name] = err.Error()
	u.skippedCount++
	u.lastSkipErr = fmt.Errorf("tool %q: %w", name, err)
	if u.reportedRefusals[name] != err.Error() {
		u.link.servers.emit(u.link.ctx, einolean.Event{Kind: einolean.KindToolRefused, Server: u.link.name, Tool: name, Err: err})
	}
}

// maxEventNames is how many names an event holds.
const maxEventNames = 20

// change is the set of added and removed tools so far. A tool with a new definition is both.
func (u *listUpdate) change(before *toolset.Set) *einolean.ToolChange {
	c := &einolean.ToolChange{AddedCount: len(u.addedTools)}
	bytes := 0
	for _, r := range u.addedTools {
		bytes += len(r.definition)
		if len(c.Added) < maxEventNames {
			c.Added = append(c.Added, r.info.Name)
		}
	}
	c.Tokens = int64(bytes / 4)
	for t := range before.All() {
		info, _ := t.Info(u.link.ctx) // that of a remote
		if name := HintsOf(info).Tool; u.remotes[name] == u.previous[name] {
			continue
		}
		if c.RemovedCount++; len(c.Removed) < maxEventNames {
			c.Removed = append(c.Removed, info.Name)
		}
	}
	return c
}

// refuseUnusable refuses the tools that no set can hold, each by itself.
func (u *listUpdate) refuseUnusable() {
	usable := u.tools[:0]
	for _, t := range u.tools {
		_, err := toolset.New(u.link.ctx, t)
		if err == nil {
			usable = append(usable, t)
			continue
		}
		for name, r := range u.remotes {
			if r.tool == t {
				u.refuse(name, err)
				delete(u.remotes, name)
				u.addedTools = slices.DeleteFunc(u.addedTools, func(a *remoteTool) bool { return a == r })
			}
		}
	}
	u.tools = usable
}
