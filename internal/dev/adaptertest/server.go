// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package adaptertest tests both middlewares with the real adapters of providers
// that keep the conversation on their server.
package adaptertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// Call is a tool call of the model.
type Call struct{ Name, Args string }

// Turn is one answer of the model: text, or calls.
type Turn struct {
	Text  string
	Calls []Call
}

// Item is one item of a conversation.
type Item struct {
	Type      string          `json:"type"` // of a message: "message" or none
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
}

// Seen is what the model was shown in one call.
type Seen struct {
	BuiltOn string   // the response that the request builds on; "" for a whole request
	Sent    int      // items on the wire
	Items   []Item   // the conversation, with what the server kept
	Tools   []string // names
	Answer  string   // the id of the response
}

// Shows reports whether some item holds a text.
func (s Seen) Shows(text string) bool {
	quoted, _ := json.Marshal(text)
	return slices.ContainsFunc(s.Items, func(x Item) bool {
		return contains(x.Content, quoted[1:len(quoted)-1]) || contains(x.Output, quoted[1:len(quoted)-1])
	})
}

// kept is what the server keeps of one response.
type kept struct {
	items []Item
	tools []string
}

// Server is a provider that keeps the conversation up to each response, as Ark and
// OpenAI do behind their Responses APIs. It refuses a request that builds on a
// response which it does not keep, whose calls and results do not pair, or which
// tells Ark of tools that it would ignore.
type Server struct {
	ark  bool
	http *httptest.Server

	mu     sync.Mutex
	answer func(Seen) Turn
	kept   map[string]kept
	seen   []Seen
	ids    int
}

// Start starts a server. answer is the model. Close it.
func Start(ark bool, answer func(Seen) Turn) *Server {
	s := &Server{ark: ark, answer: answer, kept: map[string]kept{}}
	s.http = httptest.NewServer(s)
	return s
}

// Close stops it.
func (s *Server) Close() { s.http.Close() }

// URL is where it is.
func (s *Server) URL() string { return s.http.URL }

// Seen is what the model was shown so far.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

type request struct {
	Previous string `json:"previous_response_id"`
	Input    []Item `json:"input"`
	Tools    []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Store  bool `json:"store"`
	Stream bool `json:"stream"`
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var q request
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	var now Seen
	if err == nil {
		now, err = s.show(q)
	}
	if err != nil {
		write(w, http.StatusBadRequest, object{"error": object{"type": "invalid_request_error", "message": err.Error()}})
		return
	}
	id, output, items := s.respond(s.answer(now))
	now.Answer = id
	s.seen = append(s.seen, now)
	if q.Store {
		s.kept[id] = kept{append(slices.Clone(now.Items), items...), now.Tools}
	}
	response := func(status string, output []object) object {
		return object{"id": id, "object": "response", "model": "loopback", "created_at": 1, "status": status, "output": output,
			"usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
	}
	if q.Stream {
		stream(w, response, output)
		return
	}
	write(w, http.StatusOK, response("completed", output))
}

// show is what the model sees of a request.
func (s *Server) show(q request) (Seen, error) {
	var before kept
	if q.Previous != "" {
		var ok bool
		if before, ok = s.kept[q.Previous]; !ok {
			return Seen{}, fmt.Errorf("previous response %q not found", q.Previous)
		}
	}
	var tools []string
	for _, t := range q.Tools {
		tools = append(tools, t.Name)
	}
	if s.ark && q.Previous != "" {
		if len(tools) > 0 {
			return Seen{}, fmt.Errorf("tools beside previous_response_id")
		}
		tools = before.tools
	}
	now := Seen{BuiltOn: q.Previous, Sent: len(q.Input), Items: append(slices.Clone(before.items), q.Input...), Tools: tools}
	return now, paired(now.Items)
}

// paired checks that each call has its result, and each result its call.
func paired(items []Item) error {
	open := map[string]bool{}
	for _, x := range items {
		switch x.Type {
		case "function_call":
			open[x.CallID] = true
		case "function_call_output":
			if !open[x.CallID] {
				return fmt.Errorf("no call for the output of %q", x.CallID)
			}
			delete(open, x.CallID)
		default:
			if len(open) > 0 {
				return fmt.Errorf("a message between calls and their outputs")
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%d calls without output", len(open))
	}
	return nil
}

// respond makes the output of a response, and what the server keeps of it.
func (s *Server) respond(t Turn) (id string, output []object, items []Item) {
	next := func(prefix string) string { s.ids++; return fmt.Sprintf("%s_%d", prefix, s.ids) }
	if t.Text != "" {
		output = append(output, object{"type": "message", "id": next("msg"), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": t.Text, "annotations": []object{}}}})
		text, _ := json.Marshal(t.Text)
		items = append(items, Item{Type: "message", Role: "assistant", Content: text})
	}
	for _, c := range t.Calls {
		call := next("call")
		output = append(output, object{"type": "function_call", "id": next("fc"), "call_id": call, "name": c.Name, "arguments": c.Args, "status": "completed"})
		items = append(items, Item{Type: "function_call", CallID: call, Name: c.Name, Arguments: c.Args})
	}
	return next("resp"), output, items
}
