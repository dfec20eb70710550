// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package provider plays the servers of two model providers on loopback: Anthropic's
// Messages API, and OpenAI's Responses and Chat Completions APIs, as far as tools and tool
// search go.
//
// It is strict: what the real server refuses is refused here, with the provider's status
// and error body. It also knows what the model could see, so that a script cannot call a
// tool that no model would know of. The model's answers are written in advance.
package provider

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
)

// API is the wire format of a provider.
type API int

const (
	// Anthropic is the Messages API, at /v1/messages.
	Anthropic API = iota
	// OpenAI is the Responses API, at /responses.
	OpenAI
	// Chat is OpenAI's Chat Completions API, at /chat/completions, which knows no tool search.
	Chat
)

// Turn is what the model does in one answer, in this order.
type Turn struct {
	// Search is what the provider's own search is asked; "" for no search.
	Search string
	// Thinking are blocks of thinking, on Anthropic's API only: the first comes before the
	// text, others after it. A block's text may be empty, or begin with Redacted.
	Thinking []string
	// Text is what the model says.
	Text string
	// Calls are the tools that it calls.
	Calls []Call
	// Status refuses the request with this HTTP status instead, as a provider does that
	// lets nobody in. If zero, it answers.
	Status int
}

// Call is the call of a tool.
type Call struct {
	// Name is the tool.
	Name string
	// Args are its arguments as JSON; "" is {}.
	Args string
	// Unseen lets the model call a tool that it cannot see, as a model does that copies an
	// earlier call.
	Unseen bool
}

// Server is a provider. It is safe for concurrent use, but a script is for one
// conversation.
type Server struct {
	api  API
	http *httptest.Server

	mu             sync.Mutex
	thoughts       Thoughts
	issuedThinking issued
	decide         func(Request) Turn
	turns          []Turn
	requests       []Request
}

// Start starts a server whose model answers with the turns, one after another. Close it.
func Start(api API, turns ...Turn) *Server {
	s := &Server{api: api, turns: turns, issuedThinking: issued{}}
	s.http = httptest.NewServer(s)
	return s
}

// Close stops the server.
func (s *Server) Close() { s.http.Close() }

// URL is where the server is.
func (s *Server) URL() string { return s.http.URL }

// Then adds turns to the script.
func (s *Server) Then(turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, turns...)
}

// Treats says what the model does with its thinking; Unchecked at first.
func (s *Server) Treats(t Thoughts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thoughts = t
}

// Decides lets a function answer in place of the script.
func (s *Server) Decides(f func(Request) Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decide = f
}

// Requests are the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// conversation is a request of one of the APIs.
type conversation interface {
	// refusal is why the provider refuses the request; "" if it does not.
	refusal() string
	// facts is the request for the record.
	facts() Request
	// seesSearch reports whether the model sees a search tool of the client under the name.
	seesSearch(name string) bool
	// answer is the body of the answer; found is what the provider's own search found.
	answer(t Turn, found []Tool, id func(prefix string) string) any
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var turn Turn
	rec := Request{}
	c, status, problem := s.parseRequest(r, body)
	if problem == "" {
		if q, ok := c.(*messages); ok {
			q.issued, q.thoughts, q.beta = s.issuedThinking, s.thoughts, strings.Join(r.Header.Values("anthropic-beta"), ",")
		}
		status, problem = http.StatusBadRequest, c.refusal()
		rec = c.facts()
	}
	rec.Body = body
	if problem == "" {
		turn, status, problem = s.nextTurn(c, rec)
	}
	rec.Refused = problem
	s.requests = append(s.requests, rec)
	if rec.Refused != "" {
		refuse(w, s.api, status, rec.Refused)
		return
	}
	answer := c.answer(turn, search(rec, turn.Search), newID)
	if rec.Stream {
		stream(w, s.api, answer)
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

// doors are where the APIs are, who is let in, and how they read.
var doors = map[API]struct {
	path string
	open func(http.Header) bool
	read func(body []byte) (conversation, error)
}{
	Anthropic: {"/v1/messages", func(h http.Header) bool { return h.Get("x-api-key") != "" && h.Get("anthropic-version") != "" }, readMessages},
	OpenAI:    {"/responses", bearer, readResponses},
	Chat:      {"/chat/completions", bearer, readChat},
}

func bearer(h http.Header) bool { return strings.HasPrefix(h.Get("Authorization"), "Bearer ") }

// parseRequest checks what is the same for all APIs.
func (s *Server) parseRequest(r *http.Request, body []byte) (c conversation, status int, problem string) {
	door := doors[s.api]
	switch {
	case r.URL.Path != door.path:
		return nil, http.StatusNotFound, "no such path: " + r.URL.Path
	case !door.open(r.Header):
		return nil, http.StatusUnauthorized, "no key"
	}
	c, err := door.read(body)
	if err != nil {
		return nil, http.StatusBadRequest, err.Error()
	}
	return c, 0, ""
}

// nextTurn takes a turn from the script, and checks that a model could have taken it.
func (s *Server) nextTurn(c conversation, rec Request) (t Turn, status int, problem string) {
	switch {
	case s.decide != nil:
		t = s.decide(rec)
	case len(s.turns) == 0:
		return t, http.StatusBadRequest, "the script is at its end"
	default:
		t, s.turns = s.turns[0], s.turns[1:]
	}
	if t.Status != 0 {
		return t, t.Status, "nobody is let in"
	}
	if t.Search != "" && rec.Search != "hosted" {
		return t, http.StatusBadRequest, "no model could search: the request declares no hosted search tool"
	}
	rec.Loaded = append(rec.Loaded, search(rec, t.Search)...)
	for _, call := range t.Calls {
		if !call.Unseen && !c.seesSearch(call.Name) && !contains(Names(rec.Visible()), call.Name) {
			return t, http.StatusBadRequest, fmt.Sprintf("no model could call %q: it sees %v", call.Name, Names(rec.Visible()))
		}
	}
	return t, 0, ""
}

// ids counts those of all servers, so that a conversation can move from one to another.
var ids atomic.Int64

func newID(prefix string) string { return fmt.Sprintf("%s_%d", prefix, ids.Add(1)) }

// search is the provider's own search: the deferred tools that hold a word of the query,
// at most five, in the order in which they are declared.
func search(r Request, query string) (found []Tool) {
	for _, t := range r.Deferred() {
		text := strings.ToLower(t.Name + " " + t.Description)
		for _, word := range strings.Fields(strings.ToLower(query)) {
			if strings.Contains(text, word) && len(found) < 5 {
				found = append(found, t)
				break
			}
		}
	}
	return found
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
