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
	client     *mcp.ClientSession
	transport  *capturingTransport
	wire       *wire
	ctx        context.Context // ends with the session
	cancel     context.CancelCauseFunc
	headers    *headerTransport // nil for stdio
	lastOutput *outputTail
	work       *workGroup
	redact     func(*session, string) string

	listChanged bool
	hasTools    bool
	protocol    string

	instructions string // what the server says that it is for

	ttl              atomic.Int64 // milliseconds that the list is valid; 0: no limit
	tokens           atomic.Int64
	mu               sync.Mutex
	calls            map[string]*openCall // by progress token
	hasAbandonedCall bool                 // a call ended without the server's answer, and may go on there
	pageMemory       map[string]int64     // memory of the pages of lists, by cursor
	listMemory       int64                // of all pages
}

// errEnded is the cause of the end of a session that was ended on purpose.
var errEnded = errors.New("the session was ended")

// valueContext is a context with the values of another context, and none of its own.
type valueContext struct {
	context.Context
	values context.Context
}

// Value looks at the other context.
func (v valueContext) Value(key any) any { return v.values.Value(key) }

// capturingTransport remembers the connection that a transport makes, so that it can be closed in any
// state of the client. It also taps a connection of the user's transport.
type capturingTransport struct {
	mcp.Transport
	conn mcp.Connection
	wire *wire
}

// Connect makes the connection.
func (c *capturingTransport) Connect(ctx context.Context) (conn mcp.Connection, err error) {
	if c.conn, err = c.Transport.Connect(ctx); err != nil {
		return c.conn, err
	}
	return c.wire.tapConn(c.Transport, c.conn), nil
}

func (c *capturingTransport) close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

func (s *session) connect(l *link) error {
	t, err := l.newTransport(s)
	if err != nil {
		return err
	}
	s.transport = &capturingTransport{Transport: t, wire: s.wire}
	client := mcp.NewClient(&mcp.Implementation{Name: "einolean", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}},
		ElicitationHandler:          s.elicitationHandler(l),
		MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { l.handleListChanged(s) },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { s.handleProgress(r) },
	})
	client.AddSendingMiddleware(s.pageMiddleware)
	if s.client, err = client.Connect(s.ctx, s.transport, nil); err != nil {
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

// pageMiddleware checks each page of a list before the client keeps it: see limitMemory. It records
// how long the list is valid, and removes that from the page. Otherwise the client would answer from
// its own cache, even after a call that changed the list.
func (s *session) pageMiddleware(next mcp.MethodHandler) mcp.MethodHandler {
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
			if err = s.readTools(page); err == nil {
				err = s.limitMemory(cursor, page)
			}
		}
		return res, err
	}
}

// readTools fills a page with its tools. Each is decoded separately.
func (s *session) readTools(page *mcp.ListToolsResult) error {
	k, ok := s.wire.takeResult(page.Meta)
	if !ok || k.err != nil {
		return k.err
	}
	page.Meta = nil
	for name, value := range membersOf(k.result) {
		if name != "tools" || value == "null" {
			continue
		}
		if value[0] != '[' {
			return listError("its tools are not a list")
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

// limitMemory replaces definitions that are too long. It fails if the remaining ones, with the other
// pages that the client keeps, take too much memory.
func (s *session) limitMemory(cursor string, page *mcp.ListToolsResult) error {
	memoryUsed := int64(0)
	for i, t := range page.Tools {
		if t == nil {
			continue
		}
		bytes, memory := measure([]any{t.Description, t.Title, t.InputSchema, t.OutputSchema, map[string]any(t.Meta)})
		if bytes > maxDefinition {
			page.Tools[i] = &mcp.Tool{Name: t.Name, InputSchema: oversizedSchema(bytes)}
			continue
		}
		memoryUsed += memory
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listMemory += memoryUsed - s.pageMemory[cursor]
	s.pageMemory[cursor] = memoryUsed
	if s.listMemory > maxList {
		page.Tools = nil
		return errLists
	}
	return nil
}

// oversizedSchema stands for the schema of a tool with an oversized definition. Its value is a lower
// bound of the bytes.
type oversizedSchema int64

// measure returns a lower bound of a value's length as JSON, and about how much memory it takes.
func measure(v any) (bytes, memory int64) {
	switch v := v.(type) {
	case string:
		return int64(len(v)) + 2, int64(len(v)) + 16
	case []any:
		bytes, memory = 1, 24
		for _, e := range v {
			b, m := measure(e)
			bytes, memory = bytes+b+1, memory+m+16
		}
		return bytes, memory
	case json.Number:
		return int64(len(v)), int64(len(v)) + 16
	case map[string]any:
		bytes, memory = 1, 48
		for k, e := range v {
			b, m := measure(e)
			bytes, memory = bytes+int64(len(k))+b+4, memory+int64(len(k))+m+64
		}
		return bytes, memory
	}
	return 1, 8
}

// close ends the session and all that belongs to it. It returns when that is done.
func (s *session) close(cause error) {
	s.cancel(cause)
	if s.transport != nil {
		s.transport.close()
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
	return &failure{StateDown, s.redact(s, s.lastOutput.explain(err).Error()), err}
}

// wantsSignIn reports whether the server refuses the headers it got last.
func (s *session) wantsSignIn() bool { return s.headers != nil && s.headers.isRefused.Load() }

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
	ctx       context.Context
	clock     *clock
	questions int // questions
}

// callTool calls a tool. It returns when ctx ends, when the session ends, or with errNoAnswer when the
// clock expires.
func (s *session) callTool(ctx context.Context, params *mcp.CallToolParams, clock *clock) (*result, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(s.ctx, func() { end(context.Cause(s.ctx)) })()
	defer clock.start(func() { end(errNoAnswer) })()
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
	r, err := awaitResult(ctx, s.work, func() (*result, error) { return s.readAnswer(s.client.CallTool(ctx, params)) })
	if err != nil && ctx.Err() != nil {
		s.mu.Lock()
		s.hasAbandonedCall = true
		s.mu.Unlock()
	}
	return r, err
}

// readAnswer reads the result whose frame the client got.
func (s *session) readAnswer(frame *mcp.CallToolResult, err error) (*result, error) {
	if err != nil {
		return nil, err
	}
	k, ok := s.wire.takeResult(frame.Meta)
	if !ok { // the connection is of a kind that shows no messages
		encoded, err := json.Marshal(frame)
		k = storedResult{string(encoded), err}
	}
	if k.err != nil {
		return nil, k.err
	}
	return readResult(k.result)
}

// elicitationHandler answers a question that a server of an older version asks during a call. It asks
// only if exactly one call is open, and stops that call's clock meanwhile.
func (s *session) elicitationHandler(l *link) func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		decline := &mcp.ElicitResult{Action: "decline"}
		q := newQuestion(l.name, "", r.Params)
		if l.servers.options.Elicit == nil || q.validate() != nil {
			return decline, nil
		}
		c := s.soleCall()
		if c == nil {
			return decline, nil
		}
		resume, ok := c.clock.pause()
		if !ok { // it has just ended, or waits for a person already
			return decline, nil
		}
		defer resume()
		return l.servers.elicit(c.ctx, q), nil
	}
}

// soleCall returns the only call that a question can come from; nil if that is uncertain, or if the
// call has asked too many questions.
func (s *session) soleCall() *openCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) != 1 || s.hasAbandonedCall {
		return nil
	}
	for _, c := range s.calls {
		if c.questions++; c.questions <= maxQuestions {
			return c
		}
	}
	return nil
}

// pingLimit is how long a server may take to say that it is there.
const pingLimit = 2 * time.Second

// isUnreadable reports whether a call failed because the client cannot read the server's
// answer. A ping then tells whether the session still works.
func (s *session) isUnreadable(err error) bool {
	var network net.Error
	if s.ctx.Err() != nil || s.wantsSignIn() || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, mcp.ErrConnectionClosed) || strings.Contains(err.Error(), "sending ") {
		return false
	}
	ctx, cancel := context.WithTimeout(s.ctx, pingLimit)
	defer cancel()
	_, err = awaitResult(ctx, s.work, func() (struct{}, error) { return struct{}{}, s.client.Ping(ctx, nil) })
	return err == nil || serverError(err) != nil
}

// awaitResult returns the result of f, or returns when ctx ends: a server that reads nothing can block
// a request for longer.
func awaitResult[T any](ctx context.Context, w *workGroup, f func() (T, error)) (T, error) {
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

// handleProgress gives a call more time.
func (s *session) handleProgress(r *mcp.ProgressNotificationClientRequest) {
	if r.Params == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[fmt.Sprint(r.Params.ProgressToken)]; c != nil {
		c.clock.extend()
	}
}

// listTools reads all pages of the list. Each request has a copy of meta.
func (s *session) listTools(ctx context.Context, meta mcp.Meta) ([]*mcp.Tool, error) {
	var tools []*mcp.Tool
	if !s.hasTools {
		return nil, nil
	}
	params := &mcp.ListToolsParams{Meta: maps.Clone(meta)}
	seen := map[string]bool{}
	for range maxPages {
		page, err := awaitResult(ctx, s.work, func() (*mcp.ListToolsResult, error) { return s.client.ListTools(ctx, params) })
		if err != nil {
			return nil, err
		}
		if tools = append(tools, page.Tools...); len(tools) > maxTools {
			return nil, listError(fmt.Sprintf("it has over %d tools", maxTools))
		}
		if page.NextCursor == "" {
			return tools, nil
		}
		if seen[page.NextCursor] {
			return nil, listError("its pages repeat")
		}
		seen[page.NextCursor] = true
		params = &mcp.ListToolsParams{Cursor: page.NextCursor, Meta: maps.Clone(meta)}
	}
	return nil, listError(fmt.Sprintf("it has over %d pages", maxPages))
}
