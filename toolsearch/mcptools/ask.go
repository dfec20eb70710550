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
	maxRounds        = 10
	maxQuestions     = 10
	maxQuestionBytes = 1 << 20 // bytes of one question
	maxStateBytes    = 1 << 20 // bytes of a server's questions and state, which a checkpoint keeps
)

// pendingCall is a call that asks a person something, in the form that a checkpoint keeps.
type pendingCall struct {
	Requests string            // of the server, as JSON
	State    string            // that the server wants back
	Answers  map[string]string // as JSON, by request
	Problem  string            // with the last answer
	Rounds   int
	Asked    int           // questions
	Spent    time.Duration // of the call's time

	answerUsed bool // the answer that the run was resumed with
}

func init() {
	schema.RegisterName[Question]("_einolean_mcptools_question")
	schema.RegisterName[*pendingCall]("_einolean_mcptools_pending")
}

// setQuestions replaces the open questions by those of a result. The error says which limit they
// exceed.
func (c *pendingCall) setQuestions(r *result) error {
	c.Requests, c.State, c.Answers = r.requests, r.state, nil
	if c.Rounds++; c.Rounds > maxRounds {
		return fmt.Errorf("it asks for the %dth time", c.Rounds)
	}
	if len(c.Requests)+len(c.State) > maxStateBytes {
		return fmt.Errorf("what it asks has %d bytes", len(c.Requests)+len(c.State))
	}
	var requests map[string]json.RawMessage
	if c.Requests != "" {
		if err := json.Unmarshal([]byte(c.Requests), &requests); err != nil {
			return err
		}
	}
	if c.Asked += len(requests); c.Asked > maxQuestions {
		return fmt.Errorf("it asks %d questions", c.Asked)
	}
	return nil
}

// responses are the answers, as the server gets them.
func (c *pendingCall) responses() (mcp.InputResponseMap, error) {
	if c.Requests == "" {
		return nil, nil
	}
	all := mcp.InputResponseMap{}
	for id, text := range c.Answers {
		var a mcp.ElicitResult
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return nil, err
		}
		all[id] = &a
	}
	return all, nil
}

// answerQuestions asks every question that has no answer yet. The error interrupts the run, or is that
// of ctx; refused says why the questions cannot be asked.
func (c *pendingCall) answerQuestions(ctx context.Context, r *remoteTool) (refused, err error) {
	var requests mcp.InputRequestMap
	if err := json.Unmarshal([]byte(c.Requests), &requests); err != nil {
		return err, nil
	}
	for _, id := range slices.Sorted(maps.Keys(requests)) {
		if c.Answers[id] != "" {
			continue
		}
		params, ok := requests[id].(*mcp.ElicitParams)
		if !ok {
			return fmt.Errorf("it asks for something else than a person's answer"), nil
		}
		q := newQuestion(r.hints.Server, r.hints.Tool, params)
		if unfit := q.validate(); unfit != nil {
			return unfit, nil
		}
		a, err := c.askQuestion(ctx, r, q)
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(a)
		if err != nil {
			return err, nil
		}
		if c.Answers == nil {
			c.Answers = map[string]string{}
		}
		c.Answers[id] = string(data)
	}
	return nil, ctx.Err()
}

// askQuestion asks one question, in the way that the options say.
func (c *pendingCall) askQuestion(ctx context.Context, r *remoteTool, q Question) (*mcp.ElicitResult, error) {
	switch {
	case r.servers.options.Ask:
		isTarget, ok, a := tool.GetResumeContext[Answer](ctx)
		if isTarget && ok && !c.answerUsed {
			c.answerUsed = true
			result, problem := q.newElicitResult(a)
			if c.Problem = problem; problem == "" {
				return result, nil
			}
		}
		q.Problem = c.Problem
		return nil, tool.StatefulInterrupt(ctx, q, c)
	case r.servers.options.Elicit != nil:
		return r.servers.elicit(ctx, q), nil
	}
	return &mcp.ElicitResult{Action: "decline"}, nil
}

func newQuestion(server, name string, params *mcp.ElicitParams) Question {
	q := Question{Server: server, Tool: name, Message: params.Message, URL: params.URL}
	if params.RequestedSchema != nil {
		if data, err := json.Marshal(params.RequestedSchema); err == nil {
			q.Schema = string(data)
		}
	}
	return q
}

// validate returns why a question must not be shown to a person; nil if it may be.
func (q Question) validate() error {
	if n := len(q.Message) + len(q.Schema) + len(q.URL); n > maxQuestionBytes {
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

// newElicitResult converts an answer to the form for the server. The error describes an invalid answer.
func (q Question) newElicitResult(a Answer) (result *mcp.ElicitResult, problem string) {
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
	if check := toolschema.Compile(q.Schema); err == nil && check.Validate(content) != nil {
		return nil, toolschema.JoinProblems(check.Problems(content))
	}
	if err != nil {
		text := err.Error()
		return nil, strings.ToValidUTF8(text[:min(len(text), maxMisfitBytes)], "")
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, ""
}
