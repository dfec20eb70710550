// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// This file makes one session with a server.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
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
	ctx    context.Context // ends with the session
	end    context.CancelCauseFunc
	signed *signed // nil for stdio
	said   *tail
	work   *work

	listChanged bool
	hasTools    bool
	protocol    string

	ttl    atomic.Int64 // milliseconds that the list is valid; 0: until told otherwise
	tokens atomic.Int64
	mu     sync.Mutex
	calls  map[string]*time.Timer // by progress token: when they have taken too long
}

// errEnded is the cause of the end of a session that was ended on purpose.
var errEnded = errors.New("the session was ended")

// valued is a context that also has the values of another one.
type valued struct {
	context.Context
	values context.Context
}

// Value looks at the other context first.
func (v valued) Value(key any) any {
	if found := v.values.Value(key); found != nil {
		return found
	}
	return v.Context.Value(key)
}

// captured remembers the connection that a transport makes, so that it can be ended whatever
// state the client is in.
type captured struct {
	mcp.Transport
	conn mcp.Connection
}

// Connect makes the connection.
func (c *captured) Connect(ctx context.Context) (conn mcp.Connection, err error) {
	c.conn, err = c.Transport.Connect(ctx)
	return c.conn, err
}

func (c *captured) close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

// dial connects to the server. The values of asker are those that Header is asked with.
func (l *link) dial(asker context.Context) (s *session, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("connecting panicked: %v", p)
		}
	}()
	ctx, end := context.WithCancelCause(valued{l.ctx, context.WithoutCancel(asker)})
	s = &session{ctx: ctx, end: end, said: &tail{}, work: &l.s.work, calls: map[string]*time.Timer{}}
	late := time.AfterFunc(l.connectLimit(), func() { end(errNoAnswer) })
	err = s.connect(l)
	if !late.Stop() && err == nil {
		err = errNoAnswer
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		s.close(err)
		return nil, s.explain(err)
	}
	return s, nil
}

// connectLimit is how long one connection may take. A program may have to be installed and
// compiled first, and would never be ready if that was broken off each time.
func (l *link) connectLimit() time.Duration {
	if l.server.Command != "" {
		return l.s.starts
	}
	return l.s.connects
}

func (s *session) connect(l *link) error {
	t, err := l.transport(s)
	if err != nil {
		return err
	}
	s.raw = &captured{Transport: t}
	client := mcp.NewClient(&mcp.Implementation{Name: "leanctx", Version: "1"}, &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { l.noticed(s) },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { s.progress(l, r) },
	})
	client.AddSendingMiddleware(s.noteTTL)
	if s.client, err = client.Connect(s.ctx, s.raw, nil); err != nil {
		return err
	}
	if r := s.client.InitializeResult(); r != nil {
		s.protocol = r.ProtocolVersion
		if c := r.Capabilities; c != nil && c.Tools != nil {
			s.hasTools, s.listChanged = true, c.Tools.ListChanged
		}
	}
	return nil
}

// transport is how the server is reached.
func (l *link) transport(s *session) (mcp.Transport, error) {
	if l.server.Transport != nil {
		t, err := l.server.Transport(s.ctx)
		if err == nil && t == nil {
			err = errors.New("the function Transport returned no transport")
		}
		return t, err
	}
	if l.server.Command != "" {
		return &command{server: l.server, said: s.said, logs: func(line []byte) { l.s.log(l.name, line) }}, nil
	}
	origin, err := url.Parse(l.server.URL)
	if err != nil {
		return nil, err
	}
	s.signed = &signed{origin: origin, fixed: l.server.Headers, ask: l.s.headers(l.name)}
	if err := s.signed.refresh(s.ctx, 0); err != nil {
		return nil, fmt.Errorf("asking Header: %w", err)
	}
	client := s.signed.client(l.s.http)
	if l.server.Type == "sse" {
		return &mcp.SSEClientTransport{Endpoint: l.server.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
	}
	return &mcp.StreamableClientTransport{Endpoint: l.server.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
}

// noteTTL records how long a list is valid, and removes that from the result: the client
// would answer from its own cache for that long, even after a call that changed the list.
func (s *session) noteTTL(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && list != nil && err == nil {
			ttl := min(int64(list.TTLMs), time.Hour.Milliseconds())
			if old := s.ttl.Load(); ttl > 0 && (old == 0 || ttl < old) {
				s.ttl.Store(ttl)
			}
			list.TTLMs = 0
		}
		return res, err
	}
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

// explain adds what is known about the cause to an error.
func (s *session) explain(err error) error {
	if s.wantsSignIn() {
		return errSignIn{err}
	}
	return s.said.explain(err)
}

// wantsSignIn reports whether the server refuses the headers it got last.
func (s *session) wantsSignIn() bool { return s.signed != nil && s.signed.refused.Load() }

// errSignIn is the error of a server that refuses the headers it was sent.
type errSignIn struct{ err error }

// Error says so, and why.
func (e errSignIn) Error() string { return "sign-in needed: " + e.err.Error() }

// Unwrap returns the reason.
func (e errSignIn) Unwrap() error { return e.err }

// call calls a tool. It returns when ctx ends, when the session ends, or with errNoAnswer
// when limit has passed without an answer or a progress notification.
func (s *session) call(ctx context.Context, tool string, args json.RawMessage, limit time.Duration) (*mcp.CallToolResult, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(s.ctx, func() { end(context.Cause(s.ctx)) })()
	late := time.AfterFunc(limit, func() { end(errNoAnswer) })
	defer late.Stop()
	token := strconv.FormatInt(s.tokens.Add(1), 10)
	s.mu.Lock()
	s.calls[token] = late
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.calls, token)
		s.mu.Unlock()
	}()
	params := &mcp.CallToolParams{Name: tool, Arguments: args}
	params.SetProgressToken(token)
	return within(ctx, s.work, func() (*mcp.CallToolResult, error) { return s.client.CallTool(ctx, params) })
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
func (s *session) progress(l *link, r *mcp.ProgressNotificationClientRequest) {
	if r.Params == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if late := s.calls[fmt.Sprint(r.Params.ProgressToken)]; late != nil && late.Stop() {
		late.Reset(l.timeout())
	}
}
