// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package window

// This file declares the record of a model call and of a conversation.

import (
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
)

// Conversation is the record of one conversation. A [Collector] returns snapshots,
// which belong to the caller and no longer change.
type Conversation struct {
	// ID is what Config.Conversation returned, or a name generated for one run.
	ID string `json:"id"`
	// Runs are the agent's runs, oldest first.
	Runs []Run `json:"runs"`
	// Calls are the model calls, oldest first.
	Calls []*ModelCall `json:"-"`
	// Texts are the recorded texts by [Part.Text], each stored once. Texts that
	// Config.Texts or Config.MaxBytes left out are missing.
	Texts map[int]string `json:"-"`
	// Dropped counts the calls whose parts were dropped; only their figures are left.
	Dropped int `json:"dropped,omitempty"`
}

// Run is one run of an agent, or its continuation after an interrupt.
type Run struct {
	// N counts from 1.
	N int `json:"n"`
	// Start is when it began or resumed.
	Start time.Time `json:"start"`
	// Question is the user's latest message, at most 1,000 bytes of it.
	Question string `json:"question,omitempty"`
}

// ModelCall is one request to a model and its outcome. A failed attempt and its retry
// are two calls.
type ModelCall struct {
	// N counts the calls of the conversation, from 1.
	N int `json:"n"`
	// Run is the N of the [Run] that it belongs to.
	Run int `json:"run"`
	// Conversation is the ID of the [Conversation] that it belongs to.
	Conversation string `json:"conversation,omitempty"`
	// Agent is the name of the agent that made it, if it is known.
	Agent string `json:"agent,omitempty"`
	// Model is the name of the model, if an option of the request gives one.
	Model string `json:"model,omitempty"`
	// Attempt is 1, or more if the same request is sent again.
	Attempt int `json:"attempt"`
	// Start is when it was sent.
	Start time.Time `json:"start"`
	// Took is the time until the end of the answer, and First until its first chunk.
	Took  time.Duration `json:"took_ns"`
	First time.Duration `json:"first_ns"`
	// Stream says that the answer was streamed.
	Stream bool `json:"stream,omitempty"`
	// Error says why it failed: the error's own text only with TextsAll, since that
	// may name machines and files.
	Error string `json:"error,omitempty"`
	// Unfinished says that its answer was not, or not yet, read to the end.
	Unfinished bool `json:"unfinished,omitempty"`
	// Kept says that the provider keeps the conversation on its server: the model sees
	// more than was sent.
	Kept bool `json:"kept,omitempty"`
	// Parts are the parts of the request in the order in which providers read them:
	// tools, then messages.
	Parts []Part `json:"parts"`
	// Tokens counts the request.
	Tokens Tokens `json:"tokens"`
	// Prefix compares it with the call before.
	Prefix Prefix `json:"prefix"`
	// Hidden counts the tools that are hidden, and the tokens of their definitions.
	Hidden Hidden `json:"hidden"`
	// Left lists the results that are not whole in this window.
	Left []Left `json:"left,omitempty"`
	// Without is an estimate, in tokens, of the same call without leanctx. If nil, the
	// call would not have been made: it only searched for tools or read content back.
	Without *int `json:"without"`
	// Did lists the tools that the model called.
	Did []ToolUse `json:"did,omitempty"`
	// Answer is the text of the answer, as Config.Texts allows.
	Answer string `json:"answer,omitempty"`
	// Events are those since the call before.
	Events []leanctx.Event `json:"events,omitempty"`
}

// Tokens counts a request.
type Tokens struct {
	// Estimated is the sum over the parts.
	Estimated int `json:"estimated"`
	// Calibrated is the estimate corrected by what the provider reported of earlier
	// calls of this conversation. Without a report, it equals Estimated.
	Calibrated int `json:"calibrated"`
	// Reported is the provider's own count. If nil, it reported none.
	Reported *schema.TokenUsage `json:"reported,omitempty"`
}

// Prefix compares a request with the previous one of the same agent. A provider's cache
// can serve at most their common prefix.
type Prefix struct {
	// Same is the length of the common prefix, in tokens.
	Same int `json:"same"`
	// Lost is how many tokens of the previous request come after it.
	Lost int `json:"lost,omitempty"`
	// Cause is what ended it: "tools_loaded", "tools_unloaded", "reminder",
	// "result_cut", "result_cleared" or "other". If empty, nothing did.
	Cause string `json:"cause,omitempty"`
	// Part is the index of the first part that differs; -1 if none does.
	Part int `json:"part"`
}

// Hidden counts hidden tools.
type Hidden struct {
	// Tools counts them, and Tokens their definitions.
	Tools  int `json:"tools"`
	Tokens int `json:"tokens"`
}

// Left is a result that the window holds only in part, or not at all.
type Left struct {
	// Rule is "cut", "cleared" or "referred".
	Rule string `json:"rule"`
	// Tool and CallID are the call whose result it is.
	Tool   string `json:"tool,omitempty"`
	CallID string `json:"call_id,omitempty"`
	// Before is how many tokens the tool returned, and After how many are in the window.
	Before int `json:"before"`
	After  int `json:"after"`
	// Path is where the whole result is stored. If empty, it is not stored.
	Path string `json:"path,omitempty"`
	// Now says that this is the first call without the whole result.
	Now bool `json:"now,omitempty"`
	// Text is the key of the whole result in [Conversation.Texts], if an earlier
	// window had it. If zero, none had.
	Text int `json:"text,omitempty"`
}

// ToolUse is one tool call of an answer.
type ToolUse struct {
	// Tool and CallID are those of the call.
	Tool   string `json:"tool"`
	CallID string `json:"call_id,omitempty"`
	// Arguments are kept as Config.Texts says.
	Arguments string `json:"arguments,omitempty"`
}

// Part is one piece of a request.
type Part struct {
	// Category says what it is.
	Category Category `json:"category"`
	// Label is the tool's name, or what kind of content it is.
	Label string `json:"label,omitempty"`
	// CallID is set for calls and results.
	CallID string `json:"call_id,omitempty"`
	// Bytes is its size, and Tokens an estimate.
	Bytes  int `json:"bytes"`
	Tokens int `json:"tokens"`
	// Text is the key of its text in [Conversation.Texts]. If zero, no text is kept.
	Text int `json:"text"`
	// Since is the N of the earliest call that had this part, and everything before
	// it, unchanged until now.
	Since int `json:"since"`
	// State compares it with the call before.
	State State `json:"state"`

	hash uint64
}

// State compares a part with the call before.
type State string

// The states of a part.
const (
	StateSame  State = "same"  // everything from the start up to it is equal
	StateNew   State = "new"   // it was not in the call before
	StateMoved State = "moved" // it was, but something before it changed
)

// Category says what a part is.
type Category string

// The categories, in the order in which views show them.
const (
	OwnTools      Category = "own_tools"      // definitions of the agent's own tools
	HelpTools     Category = "help_tools"     // of the tools that search and read back
	LoadedTools   Category = "loaded_tools"   // of hidden tools that were loaded
	System        Category = "system"         // the instruction
	Reminder      Category = "reminder"       // the list of hidden tools
	User          Category = "user"           // what the user said
	Assistant     Category = "assistant"      // what the model said and called
	Found         Category = "found"          // answers of a search
	Result        Category = "result"         // results of tools, whole
	ResultCut     Category = "result_cut"     // cut when they returned
	ResultCleared Category = "result_cleared" // cleared later, or a reference to an equal one
	Page          Category = "page"           // content that was read back
)

// Categories returns all categories in their order. The slice belongs to the caller.
func Categories() []Category {
	return []Category{OwnTools, HelpTools, LoadedTools, System, Reminder, User, Assistant, Found, Result, ResultCut, ResultCleared, Page}
}

// Totals adds up a conversation.
type Totals struct {
	// Calls counts the model calls.
	Calls int `json:"calls"`
	// Helped counts the calls that would not have been made without leanctx.
	Helped int `json:"helped"`
	// Sent and Without are sums of estimates, and so comparable.
	Sent    int `json:"sent"`
	Without int `json:"without"`
	// Largest is the largest window, LargestCall the call that had it, and
	// LargestWithout the largest without leanctx.
	Largest        int `json:"largest"`
	LargestCall    int `json:"largest_call"`
	LargestWithout int `json:"largest_without"`
	// Same is the sum of the common prefixes.
	Same int `json:"same"`
	// Reported and Cached are the provider's counts of the prompts. ReportedCalls says
	// how many calls have one.
	Reported      int `json:"reported"`
	Cached        int `json:"cached"`
	ReportedCalls int `json:"reported_calls"`
	// Left counts the results that are not whole, and Unreadable those of them that are
	// not stored; LeftBefore and LeftAfter are their tokens.
	Left       int `json:"left"`
	Unreadable int `json:"unreadable"`
	LeftBefore int `json:"left_before"`
	LeftAfter  int `json:"left_after"`
	// Kept says that the provider kept the conversation on its server in some call.
	Kept bool `json:"kept,omitempty"`
}

// Totals adds the calls up.
func (c *Conversation) Totals() Totals {
	var t Totals
	left := map[string]Left{}
	for _, call := range c.Calls {
		t.Calls++
		t.Sent += call.Tokens.Estimated
		t.Same += call.Prefix.Same
		t.Kept = t.Kept || call.Kept
		if call.Without == nil {
			t.Helped++
		} else {
			t.Without += *call.Without
			t.LargestWithout = max(t.LargestWithout, *call.Without)
		}
		if call.Tokens.Estimated > t.Largest {
			t.Largest, t.LargestCall = call.Tokens.Estimated, call.N
		}
		if u := call.Tokens.Reported; u != nil {
			t.ReportedCalls++
			t.Reported += u.PromptTokens
			t.Cached += u.PromptTokenDetails.CachedTokens
		}
		for _, l := range call.Left {
			left[l.CallID+"\x00"+l.Path] = l
		}
	}
	for _, l := range left {
		t.Left++
		t.LeftBefore += l.Before
		t.LeftAfter += l.After
		if l.Path == "" {
			t.Unreadable++
		}
	}
	return t
}

// By sums the tokens of a call by category.
func (c *ModelCall) By() map[Category]int {
	by := make(map[Category]int, 12)
	for _, p := range c.Parts {
		by[p.Category] += p.Tokens
	}
	return by
}
