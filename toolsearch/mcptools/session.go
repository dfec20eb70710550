// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is a connection to a server, from the handshake to its end.
type session struct {
	client *mcp.ClientSession
	raw    *captured
	wire   *wire
	ctx    context.Context // ends with the session
	end    context.CancelCauseFunc
	signed *signed // nil for stdio
	said   *tail
	work   *work
	redact func(*session, string) string

	listChanged bool
	hasTools    bool
	protocol    string

	instructions string // what the server says that it is for

	ttl    atomic.Int64 // milliseconds that the list is valid; 0: until told otherwise
	tokens atomic.Int64
	mu     sync.Mutex
	calls  map[string]*openCall // by progress token
	unsure bool                 // a call ended without the server's answer, and may go on there
	pages  map[string]int64     // memory of the pages of lists, by cursor
	listed int64                // of all pages
}

// errEnded is the cause of the end of a session that was ended on purpose.
var errEnded = errors.New("the session was ended")

// valued is a context that has the values of another one, and none of its own.
type valued struct {
	context.Context
	values context.Context
}

// Value looks at the other context.
func (v valued) Value(key any) any { return v.values.Value(key) }

// captured remembers the connection that a transport makes, so that it can be ended whatever
// state the client is in. What comes from a user's transport is kept here.
type captured struct {
	mcp.Transport
	conn mcp.Connection
	wire *wire
}

// Connect makes the connection.
func (c *captured) Connect(ctx context.Context) (conn mcp.Connection, err error) {
	if c.conn, err = c.Transport.Connect(ctx); err != nil {
		return c.conn, err
	}
	return c.wire.tap(c.Transport, c.conn), nil
}

func (c *captured) close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

func (s *session) connect(l *link) error {
	t, err := l.transport(s)
	if err != nil {
		return err
	}
	s.raw = &captured{Transport: t, wire: s.wire}
	client := mcp.NewClient(&mcp.Implementation{Name: "einolean", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}},
		ElicitationHandler:          s.elicit(l),
		MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { l.noticed(s) },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { s.progress(r) },
	})
	client.AddSendingMiddleware(s.receive)
	if s.client, err = client.Connect(s.ctx, s.raw, nil); err != nil {
		return err
	}
	if r := s.client.InitializeResult(); r != nil {
		s.protocol, s.instructions = r.ProtocolVersion, r.Instructions
		if c := r.Capabilities; c != nil && c.Tools != nil {
			s.hasTools, s.listChanged = true, c.Tools.ListChanged
		}
	}
	return nil
}

// receive looks at each page of a list before the client keeps it: see bounded. It also records
// how long the list is valid, and removes that from the page: the client would answer from
// its own cache for that long, even after a call that changed the list.
func (s *session) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if page, ok := res.(*mcp.ListToolsResult); ok && page != nil && err == nil {
			ttl := min(int64(page.TTLMs), time.Hour.Milliseconds())
			if old := s.ttl.Load(); ttl > 0 && (old == 0 || ttl < old) {
				s.ttl.Store(ttl)
			}
			page.TTLMs = 0
			cursor := ""
			if p, ok := req.GetParams().(*mcp.ListToolsParams); ok && p != nil {
				cursor = p.Cursor
			}
			if err = s.read(page); err == nil {
				err = s.bounded(cursor, page)
			}
		}
		return res, err
	}
}

// read puts the tools of a page into it, each read by itself.
func (s *session) read(page *mcp.ListToolsResult) error {
	k, ok := s.wire.take(page.Meta)
	if !ok || k.err != nil {
		return k.err
	}
	page.Meta = nil
	for name, value := range membersOf(k.result) {
		if name != "tools" || value == "null" {
			continue
		}
		if value[0] != '[' {
			return badList("its tools are not a list")
		}
		for definition := range elementsOf(value) {
			page.Tools = append(page.Tools, readTool(definition))
		}
	}
	return nil
}

// errLists is the error of a session whose lists take too much memory. The client keeps the
// pages as long as the session lives.
var errLists = errors.New("the lists of tools take too much memory")

// bounded replaces definitions that are too long, and fails where those that stay take too
// much memory, together with other pages that the client keeps.
func (s *session) bounded(cursor string, page *mcp.ListToolsResult) error {
	kept := int64(0)
	for i, t := range page.Tools {
		if t == nil {
			continue
		}
		bytes, memory := weigh([]any{t.Description, t.Title, t.InputSchema, t.OutputSchema, map[string]any(t.Meta)})
		if bytes > maxDefinition {
			page.Tools[i] = &mcp.Tool{Name: t.Name, InputSchema: tooLong(bytes)}
			continue
		}
		kept += memory
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed += kept - s.pages[cursor]
	s.pages[cursor] = kept
	if s.listed > maxList {
		page.Tools = nil
		return errLists
	}
	return nil
}

// tooLong stands for the schema of a tool whose definition has so many bytes at least.
type tooLong int64

// weigh returns how long a value is at least as JSON, and about how much memory it takes.
func weigh(v any) (bytes, memory int64) {
	switch v := v.(type) {
	case string:
		return int64(len(v)) + 2, int64(len(v)) + 16
	case []any:
		bytes, memory = 1, 24
		for _, e := range v {
			b, m := weigh(e)
			bytes, memory = bytes+b+1, memory+m+16
		}
		return bytes, memory
	case json.Number:
		return int64(len(v)), int64(len(v)) + 16
	case map[string]any:
		bytes, memory = 1, 48
		for k, e := range v {
			b, m := weigh(e)
			bytes, memory = bytes+int64(len(k))+b+4, memory+int64(len(k))+m+64
		}
		return bytes, memory
	}
	return 1, 8
}

// close ends the session and all that belongs to it. It returns when that is done.
func (s *session) close(cause error) {
	s.end(cause)
	if s.raw != nil {
		s.raw.close()
	}
	if s.client != nil {
		_ = s.client.Close()
	}
}

// explain adds what is known about the cause to an error, and takes secrets from it.
func (s *session) explain(err error) error {
	if s.wantsSignIn() {
		return &failure{StateSignIn, "sign-in needed: " + s.redact(s, err.Error()), err}
	}
	return &failure{StateDown, s.redact(s, s.said.explain(err).Error()), err}
}

// wantsSignIn reports whether the server refuses the headers it got last.
func (s *session) wantsSignIn() bool { return s.signed != nil && s.signed.refused.Load() }

// failure is why a server is in a state. Its text holds no secret; what it wraps may.
type failure struct {
	state State
	text  string
	err   error
}

// Error says what failed.
func (f *failure) Error() string { return f.text }

// Is reports whether the cause is another error. The cause itself is nobody's to print.
func (f *failure) Is(other error) bool { return errors.Is(f.err, other) }

// openCall is a call that has no answer yet.
type openCall struct {
	ctx   context.Context
	clock *clock
	asked int // questions
}

// call calls a tool. It returns when ctx ends, when the session ends, or with errNoAnswer when the
// clock says so.
func (s *session) call(ctx context.Context, params *mcp.CallToolParams, clock *clock) (*result, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(s.ctx, func() { end(context.Cause(s.ctx)) })()
	defer clock.run(func() { end(errNoAnswer) })()
	c := &openCall{ctx: ctx, clock: clock}
	token := strconv.FormatInt(s.tokens.Add(1), 10)
	s.mu.Lock()
	s.calls[token] = c
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.calls, token)
		s.mu.Unlock()
	}()
	params.SetProgressToken(token)
	r, err := within(ctx, s.work, func() (*result, error) { return s.answer(s.client.CallTool(ctx, params)) })
	if err != nil && ctx.Err() != nil {
		s.mu.Lock()
		s.unsure = true
		s.mu.Unlock()
	}
	return r, err
}

// answer reads the result whose frame the client got.
func (s *session) answer(frame *mcp.CallToolResult, err error) (*result, error) {
	if err != nil {
		return nil, err
	}
	k, ok := s.wire.take(frame.Meta)
	if !ok { // the connection is of a kind that shows no messages
		whole, err := json.Marshal(frame)
		k = kept{string(whole), err}
	}
	if k.err != nil {
		return nil, k.err
	}
	return readResult(k.result)
}

// elicit answers a question that a server of an older version asks during a call. Only if
// nothing else can be meant, it is asked for the call that is open, whose time stands still
// meanwhile: a person may take long.
func (s *session) elicit(l *link) func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		decline := &mcp.ElicitResult{Action: "decline"}
		q := questionOf(l.name, "", r.Params)
		if l.s.o.Elicit == nil || q.unfit() != nil {
			return decline, nil
		}
		c := s.asking()
		if c == nil {
			return decline, nil
		}
		resume, ok := c.clock.pause()
		if !ok { // it has just ended, or waits for a person already
			return decline, nil
		}
		defer resume()
		return l.s.elicited(c.ctx, q), nil
	}
}

// asking returns the only call that a question can come from; nil if that is not certain, or if the
// call has asked too much.
func (s *session) asking() *openCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) != 1 || s.unsure {
		return nil
	}
	for _, c := range s.calls {
		if c.asked++; c.asked <= mostQuestions {
			return c
		}
	}
	return nil
}

// pingLimit is how long a server may take to say that it is there.
const pingLimit = 2 * time.Second

// unreadable reports whether a call failed because the client cannot read the server's
// answer. A ping then tells whether the session still works.
func (s *session) unreadable(err error) bool {
	var network net.Error
	if s.ctx.Err() != nil || s.wantsSignIn() || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, mcp.ErrConnectionClosed) || strings.Contains(err.Error(), "sending ") {
		return false
	}
	ctx, cancel := context.WithTimeout(s.ctx, pingLimit)
	defer cancel()
	_, err = within(ctx, s.work, func() (struct{}, error) { return struct{}{}, s.client.Ping(ctx, nil) })
	return err == nil || answerOf(err) != nil
}

// within returns what f returns, or returns when ctx ends: a server that reads nothing can
// block a request for longer.
func within[T any](ctx context.Context, w *work, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	done := make(chan answer, 1)
	if !w.start(func() {
		defer func() {
			if p := recover(); p != nil {
				done <- answer{err: fmt.Errorf("the client panicked: %v", p)}
			}
		}()
		value, err := f()
		done <- answer{value, err}
	}) {
		return none, errClosed
	}
	select {
	case a := <-done:
		if a.err != nil && ctx.Err() != nil {
			return none, context.Cause(ctx)
		}
		return a.value, a.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// progress gives a call more time.
func (s *session) progress(r *mcp.ProgressNotificationClientRequest) {
	if r.Params == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[fmt.Sprint(r.Params.ProgressToken)]; c != nil {
		c.clock.heard()
	}
}

// list reads all pages of the list. Each request has a copy of meta.
func (s *session) list(ctx context.Context, meta mcp.Meta) ([]*mcp.Tool, error) {
	var tools []*mcp.Tool
	if !s.hasTools {
		return nil, nil
	}
	params := &mcp.ListToolsParams{Meta: maps.Clone(meta)}
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
		params = &mcp.ListToolsParams{Cursor: page.NextCursor, Meta: maps.Clone(meta)}
	}
	return nil, badList(fmt.Sprintf("it has over %d pages", maxPages))
}
