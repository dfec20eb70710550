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
	firstQuiet = 50 * time.Millisecond
	mostQuiet  = 5 * time.Second
)

// badList is the error of a list that cannot be used, though the server answers.
type badList string

// Error says what is wrong with the list.
func (b badList) Error() string { return "the list of tools: " + string(b) }

// isAnswer reports whether an error is the server's answer, rather than that of a broken
// connection.
func isAnswer(err error) bool {
	var bad badList
	return errors.As(err, &bad) || answerOf(err) != nil
}

// answerOf is the error that a server answered with; nil if it did not answer.
func answerOf(err error) *jsonrpc.Error {
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

// unread stands for the schema of a tool whose definition cannot be read.
type unread struct{ error }

// readTool reads the definition of one tool; nil for none. Its schemas keep every digit.
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
	own := t.Tool
	if err == nil {
		own.InputSchema, err = exactly(t.InputSchema)
	}
	if err == nil {
		own.OutputSchema, err = exactly(t.OutputSchema)
	}
	if err == nil {
		return &own
	}
	return readParts(definition)
}

// readParts reads what a definition needs, though other members of it cannot be read.
func readParts(definition string) *mcp.Tool {
	var own mcp.Tool
	members := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(definition), &members) != nil {
		return &mcp.Tool{InputSchema: unread{errors.New("it is not an object")}}
	}
	if json.Unmarshal(members["name"], &own.Name) != nil || own.Name == "" {
		return &mcp.Tool{InputSchema: unread{errNoName}}
	}
	_ = json.Unmarshal(members["description"], &own.Description) // without it, the tool has none
	_ = json.Unmarshal(members["title"], &own.Title)
	_ = json.Unmarshal(members["annotations"], &own.Annotations)
	_ = json.Unmarshal(members["_meta"], &own.Meta)
	var err error
	if own.InputSchema, err = exactly(members["inputSchema"]); err != nil {
		own.InputSchema = unread{err}
	}
	own.OutputSchema, _ = exactly(members["outputSchema"])
	return &own
}

// errNoName is why a tool without a name is refused.
var errNoName = errors.New("it has no name")

// exactly decodes a schema, whose numbers stay texts.
func exactly(schema json.RawMessage) (value any, err error) {
	if len(schema) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// digest makes tools of a list, and reports what is new in it.
type digest struct {
	link    *link
	session *session
	before  map[string]*remote
	known   map[string]*remote
	tools   []tool.BaseTool
	names   map[string]string // what they are called here, and there
	refused map[string]string
	skipped int // tools that were refused
	lastErr error
	told    map[string]string
	added   []*remote

	instructions string // of the server, for the index
}

func (d *digest) add(t *mcp.Tool) {
	l := d.link
	if t == nil || t.Name != "" && !l.server.offers(t.Name) {
		return
	}
	if t.Name == "" {
		err := errNoName
		if why, is := t.InputSchema.(unread); is {
			err = why.error
		}
		d.refuse("", err)
		return
	}
	if d.known[t.Name] != nil {
		d.refuse(t.Name, errors.New("the server lists it twice"))
		return
	}
	made, err := l.newRemote(t, d.instructions, d.before[t.Name])
	if err != nil {
		d.refuse(t.Name, err)
		return
	}
	if other, taken := d.names[made.info.Name]; taken {
		d.refuse(t.Name, fmt.Errorf("it would be called %s, like %q", made.info.Name, other))
		return
	}
	d.names[made.info.Name] = t.Name
	d.known[t.Name] = made
	d.tools = append(d.tools, made.tool)
	if made != d.before[t.Name] {
		d.added = append(d.added, made)
	}
}

// refuse reports a tool that cannot be offered, once.
func (d *digest) refuse(name string, err error) {
	err = errors.New(d.link.redact(d.session, err.Error()))
	name = d.link.redact(d.session, name)
	d.refused[name] = err.Error()
	d.skipped++
	d.lastErr = fmt.Errorf("tool %q: %w", name, err)
	if d.told[name] != err.Error() {
		d.link.s.emit(d.link.ctx, einolean.Event{Kind: einolean.KindToolRefused, Server: d.link.name, Tool: name, Err: err})
	}
}

// mostNames is how many names an event holds.
const mostNames = 20

// change is what was added to the tools so far, and removed. A tool with a new definition is both.
func (d *digest) change(before *toolset.Set) *einolean.ToolChange {
	c := &einolean.ToolChange{AddedCount: len(d.added)}
	bytes := 0
	for _, r := range d.added {
		bytes += len(r.definition)
		if len(c.Added) < mostNames {
			c.Added = append(c.Added, r.info.Name)
		}
	}
	c.Tokens = int64(bytes / 4)
	for t := range before.All() {
		info, _ := t.Info(d.link.ctx) // that of a remote
		if name := HintsOf(info).Tool; d.known[name] == d.before[name] {
			continue
		}
		if c.RemovedCount++; len(c.Removed) < mostNames {
			c.Removed = append(c.Removed, info.Name)
		}
	}
	return c
}

// refuseUnusable refuses the tools that no set can hold, each by itself.
func (d *digest) refuseUnusable() {
	usable := d.tools[:0]
	for _, t := range d.tools {
		_, err := toolset.New(d.link.ctx, t)
		if err == nil {
			usable = append(usable, t)
			continue
		}
		for name, r := range d.known {
			if r.tool == t {
				d.refuse(name, err)
				delete(d.known, name)
				d.added = slices.DeleteFunc(d.added, func(a *remote) bool { return a == r })
			}
		}
	}
	d.tools = usable
}
