// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean/internal/toolschema"
)

// Question is what a tool asks a person in the middle of a call. The texts are the server's.
type Question struct {
	// Server and Tool are the names of the server and of the tool there.
	Server, Tool string
	// Message says what is asked.
	Message string
	// Schema is the JSON schema of the answer's content, an object of simple values. If empty,
	// there is nothing to fill in.
	Schema string
	// URL is a page to open, where the person goes on; "" for a form.
	URL string
	// Problem says what is wrong with the last answer; "" at first.
	Problem string
}

// Answer is what a person says to a Question.
type Answer struct {
	// Action is "accept", "decline" or "cancel". If empty, defaults to "accept".
	Action string
	// Content is what was filled in, if Action is "accept": JSON values that fit
	// Question.Schema.
	Content map[string]any
}

// What a call may ask at most.
const (
	mostRounds    = 10
	mostQuestions = 10
	mostQuestion  = 1 << 20 // bytes of one question
	mostState     = 1 << 20 // bytes of a server's questions and state, which a checkpoint keeps
)

// pending is a call that asks something, as a checkpoint keeps it.
type pending struct {
	Requests string            // of the server, as JSON
	State    string            // that the server wants back
	Answers  map[string]string // as JSON, by request
	Problem  string            // with the last answer
	Rounds   int
	Asked    int           // questions
	Spent    time.Duration // of the call's time

	used bool // the answer that the run was resumed with
}

func init() {
	schema.RegisterName[Question]("_einolean_mcptools_question")
	schema.RegisterName[*pending]("_einolean_mcptools_pending")
}

// take makes the questions of a result those that are to be asked.
func (p *pending) take(r *result) error {
	p.Requests, p.State, p.Answers = r.requests, r.state, nil
	if p.Rounds++; p.Rounds > mostRounds {
		return fmt.Errorf("it asks for the %dth time", p.Rounds)
	}
	if len(p.Requests)+len(p.State) > mostState {
		return fmt.Errorf("what it asks has %d bytes", len(p.Requests)+len(p.State))
	}
	var requests map[string]json.RawMessage
	if p.Requests != "" {
		if err := json.Unmarshal([]byte(p.Requests), &requests); err != nil {
			return err
		}
	}
	if p.Asked += len(requests); p.Asked > mostQuestions {
		return fmt.Errorf("it asks %d questions", p.Asked)
	}
	return nil
}

// responses are the answers, as the server gets them.
func (p *pending) responses() (mcp.InputResponseMap, error) {
	if p.Requests == "" {
		return nil, nil
	}
	all := mcp.InputResponseMap{}
	for id, text := range p.Answers {
		var a mcp.ElicitResult
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return nil, err
		}
		all[id] = &a
	}
	return all, nil
}

// answer asks everything that has no answer yet. The error interrupts the run, or is that of
// ctx; refused says why the questions cannot be asked.
func (p *pending) answer(ctx context.Context, r *remote) (refused, err error) {
	var requests mcp.InputRequestMap
	if err := json.Unmarshal([]byte(p.Requests), &requests); err != nil {
		return err, nil
	}
	for _, id := range slices.Sorted(maps.Keys(requests)) {
		if p.Answers[id] != "" {
			continue
		}
		params, ok := requests[id].(*mcp.ElicitParams)
		if !ok {
			return fmt.Errorf("it asks for something else than a person's answer"), nil
		}
		q := questionOf(r.hints.Server, r.hints.Tool, params)
		if unfit := q.unfit(); unfit != nil {
			return unfit, nil
		}
		a, err := p.ask(ctx, r, q)
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(a)
		if err != nil {
			return err, nil
		}
		if p.Answers == nil {
			p.Answers = map[string]string{}
		}
		p.Answers[id] = string(data)
	}
	return nil, ctx.Err()
}

// ask asks one question, in the way that the options say.
func (p *pending) ask(ctx context.Context, r *remote, q Question) (*mcp.ElicitResult, error) {
	switch {
	case r.s.o.Ask:
		is, has, a := tool.GetResumeContext[Answer](ctx)
		if is && has && !p.used {
			p.used = true
			result, problem := q.result(a)
			if p.Problem = problem; problem == "" {
				return result, nil
			}
		}
		q.Problem = p.Problem
		return nil, tool.StatefulInterrupt(ctx, q, p)
	case r.s.o.Elicit != nil:
		return r.s.elicited(ctx, q), nil
	}
	return &mcp.ElicitResult{Action: "decline"}, nil
}

func questionOf(server, name string, params *mcp.ElicitParams) Question {
	q := Question{Server: server, Tool: name, Message: params.Message, URL: params.URL}
	if params.RequestedSchema != nil {
		if data, err := json.Marshal(params.RequestedSchema); err == nil {
			q.Schema = string(data)
		}
	}
	return q
}

// unfit says why a question is not put to a person; nil if it is.
func (q Question) unfit() error {
	if n := len(q.Message) + len(q.Schema) + len(q.URL); n > mostQuestion {
		return fmt.Errorf("a question of %d bytes", n)
	}
	if q.URL == "" {
		return nil
	}
	if u, err := url.Parse(q.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("it sends a person to what is no web page")
	}
	return nil
}

// result is the answer as the server gets it, or what is wrong with it.
func (q Question) result(a Answer) (result *mcp.ElicitResult, problem string) {
	switch a.Action {
	case "decline", "cancel":
		return &mcp.ElicitResult{Action: a.Action}, ""
	case "", "accept":
	default:
		return nil, fmt.Sprintf("the action %q is not accept, decline or cancel", a.Action)
	}
	if q.Schema == "" {
		return &mcp.ElicitResult{Action: "accept"}, ""
	}
	content := map[string]any{}
	data, err := json.Marshal(a.Content)
	if err == nil && a.Content != nil {
		err = json.Unmarshal(data, &content)
	}
	if err == nil {
		err = toolschema.Compile(q.Schema).Validate(content)
	}
	if err != nil {
		text := err.Error()
		return nil, strings.ToValidUTF8(text[:min(len(text), mostWrong)], "")
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, ""
}
