// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// This file reads a server's list of tools.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/toolsearch"
)

// Pauses for servers whose notices announce nothing new.
const (
	firstQuiet = 50 * time.Millisecond
	mostQuiet  = 5 * time.Second
)

// list reads the list once.
func (l *link) list() {
	l.mu.Lock()
	s, began := l.session, l.want
	byNotice := !l.byCall
	l.byCall = false
	l.mu.Unlock()
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeoutCause(s.ctx, listLimit, errNoAnswer)
	defer cancel()
	s.ttl.Store(0)
	tools, err := s.list(ctx)
	if err == nil {
		err = l.take(began, byNotice, s, tools)
	}
	switch {
	case err == nil || s.ctx.Err() != nil:
	case isAnswer(err):
		l.listFailed(began, err)
	default:
		l.lost(s, err)
	}
}

// list reads all pages of the list.
func (s *session) list(ctx context.Context) ([]*mcp.Tool, error) {
	var tools []*mcp.Tool
	if !s.hasTools {
		return nil, nil
	}
	params := &mcp.ListToolsParams{}
	seen := map[string]bool{}
	for range maxPages {
		page, err := within(ctx, s.work, func() (*mcp.ListToolsResult, error) { return s.client.ListTools(ctx, params) })
		if err != nil {
			return nil, err
		}
		if tools = append(tools, page.Tools...); len(tools) > mostTools {
			return nil, badList(fmt.Sprintf("it has over %d tools", mostTools))
		}
		if page.NextCursor == "" {
			return tools, nil
		}
		if seen[page.NextCursor] {
			return nil, badList("its pages repeat")
		}
		seen[page.NextCursor] = true
		params = &mcp.ListToolsParams{Cursor: page.NextCursor}
	}
	return nil, badList(fmt.Sprintf("it has over %d pages", maxPages))
}

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
	switch answer.Code {
	case -32003, -32004, -32005: // the client's own: it is closing, or could not send
		return nil
	}
	return answer
}

// listFailed keeps the last list, and tries again later.
func (l *link) listFailed(began int64, err error) {
	l.mu.Lock()
	l.have = began
	l.noticeDue, l.quietUntil = true, time.Now().Add(l.pause())
	l.err = err
	l.tell()
	l.mu.Unlock()
	l.s.emit(l.ctx, leanctx.Event{Kind: leanctx.KindServerListed, Server: l.name, Err: err})
}

// take sets the server's tools from a list.
func (l *link) take(began int64, byNotice bool, s *session, tools []*mcp.Tool) error {
	l.mu.Lock()
	d := digest{link: l, before: l.known, known: map[string]*remote{}, names: map[string]string{}, refused: map[string]string{}, told: l.refused}
	first, set := l.have == 0, l.set
	l.mu.Unlock()
	for _, t := range tools {
		d.add(t)
	}
	next, err := set.Update(l.ctx, d.tools...)
	if err != nil {
		return badList(err.Error())
	}
	change := d.change()
	l.mu.Lock()
	if l.session != s {
		l.mu.Unlock()
		return nil
	}
	l.set, l.known, l.refused, l.have = next, d.known, d.refused, began
	l.failures, l.err = 0, nil
	l.validUntil = time.Time{}
	if ttl := s.ttl.Load(); ttl > 0 {
		l.validUntil = time.Now().Add(time.Duration(ttl) * time.Millisecond)
	}
	switch {
	case next != set:
		l.quiet = 0
	case byNotice:
		l.quiet = min(mostQuiet, max(firstQuiet, 2*l.quiet))
		l.quietUntil = time.Now().Add(l.quiet)
	}
	l.tell()
	l.mu.Unlock()
	if first || next != set {
		l.s.emit(l.ctx, leanctx.Event{Kind: leanctx.KindServerListed, Server: l.name, Tools: change})
	}
	return nil
}

// digest makes tools of a list, and reports what is new in it.
type digest struct {
	link    *link
	before  map[string]*remote
	known   map[string]*remote
	tools   []tool.BaseTool
	names   map[string]string // what they are called here, and there
	refused map[string]string
	told    map[string]string
	added   []*remote
}

func (d *digest) add(t *mcp.Tool) {
	l := d.link
	if t == nil || !l.server.offers(t.Name) {
		return
	}
	if d.known[t.Name] != nil {
		d.refuse(t.Name, errors.New("the server lists it twice"))
		return
	}
	made, err := l.newRemote(t, d.before[t.Name])
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
	d.refused[name] = err.Error()
	if d.told[name] != err.Error() {
		d.link.s.emit(d.link.ctx, leanctx.Event{Kind: leanctx.KindToolRefused, Server: d.link.name, Tool: name, Err: err})
	}
}

// mostNames is how many names an event holds.
const mostNames = 20

// change is what was added and removed. A tool with a new definition is both.
func (d *digest) change() *leanctx.ToolChange {
	c := &leanctx.ToolChange{AddedCount: len(d.added)}
	bytes := 0
	for _, r := range d.added {
		bytes += len(r.definition)
		if len(c.Added) < mostNames {
			c.Added = append(c.Added, r.info.Name)
		}
	}
	c.Tokens = int64(bytes / 4)
	for name, r := range d.before {
		if d.known[name] == r {
			continue
		}
		if c.RemovedCount++; len(c.Removed) < mostNames {
			c.Removed = append(c.Removed, r.info.Name)
		}
	}
	return c
}

// newRemote makes the tool of a definition, or returns the last one if nothing changed.
func (l *link) newRemote(t *mcp.Tool, before *remote) (*remote, error) {
	definition, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	if before != nil && string(before.definition) == string(definition) {
		return before, nil
	}
	if len(definition) > maxDefinition {
		return nil, fmt.Errorf("its definition has %d bytes, over %d", len(definition), maxDefinition)
	}
	params, err := parametersOf(t)
	if err != nil {
		return nil, err
	}
	r := &remote{s: l.s, hints: hintsOf(l.name, t), definition: definition}
	extra := r.hints.extra(t)
	if always, _ := t.Meta["anthropic/alwaysLoad"].(bool); always || matches(l.server.AlwaysVisible, t.Name) {
		extra[keyDefer] = false
	}
	r.info = &schema.ToolInfo{Name: toolName(l.name, t.Name, !l.server.NoPrefix), Desc: t.Description, ParamsOneOf: params, Extra: extra}
	r.tool = &textTool{r}
	if l.s.o.Media {
		r.tool = &mediaTool{r}
	}
	return r, nil
}

// parametersOf reads the schema of a tool's arguments.
func parametersOf(t *mcp.Tool) (*schema.ParamsOneOf, error) {
	if t.InputSchema == nil {
		return schema.NewParamsOneOfByJSONSchema(&jsonschema.Schema{Type: string(schema.Object)}), nil
	}
	object, ok := t.InputSchema.(map[string]any)
	if !ok {
		return nil, errors.New("its schema is not an object")
	}
	if typ, has := object["type"]; has && typ != "object" {
		return nil, fmt.Errorf("its schema has the type %v, not object", typ)
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var params jsonschema.Schema
	if err := json.Unmarshal(data, &params); err != nil {
		return nil, fmt.Errorf("its schema cannot be read: %w", err)
	}
	return schema.NewParamsOneOfByJSONSchema(&params), nil
}

var _ toolsearch.PartialSource = (*Servers)(nil)
