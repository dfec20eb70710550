// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"slices"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
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
	// Earlier adds up the calls before the first of Calls, which were dropped. If nil,
	// none were.
	Earlier *Totals `json:"earlier,omitempty"`

	key  string // tells conversations of one name apart in a file
	book *book
}

// Run returns a run by its number; one with only that number if it is not kept.
func (c *Conversation) Run(n int) Run {
	if i, known := slices.BinarySearchFunc(c.Runs, n, func(r Run, n int) int { return r.N - n }); known {
		return c.Runs[i]
	}
	return Run{N: n}
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
	// Tokens counts the request.
	Tokens Tokens `json:"tokens"`
	// By is its estimate by category. It must not be changed.
	By map[Category]int `json:"by"`
	// Prefix compares it with the call before.
	Prefix Prefix `json:"prefix"`
	// Hidden counts the tools that are hidden, and the tokens of their definitions.
	Hidden Hidden `json:"hidden"`
	// LeftOut counts what results lack in this window.
	LeftOut LeftOut `json:"left_out"`
	// Without is an estimate, in tokens, of the same call without einolean. If nil, the
	// call would not have been made: it only searched for tools or read content back.
	Without *int `json:"without"`
	// Did lists the tools that the model called.
	Did []ToolUse `json:"did,omitempty"`
	// Answer is the text of the answer, as Config.Texts allows.
	Answer string `json:"answer,omitempty"`
	// Events are those since the call before.
	Events []einolean.Event `json:"events,omitempty"`

	slots, fresh [][2]int32 // of the parts in their order, and of those that are new
	same         int        // how many parts are equal from the start on
	in           *book
}

// Parts returns the parts of the request in the order in which providers read them: tools,
// then messages. It makes a new slice each time, and returns nil if they were dropped.
// They are no field, because the calls of a conversation share most of them;
// [Conversation.WriteJSON] writes them.
func (c *ModelCall) Parts() []Part { return c.in.parts(c, true) }

// NewParts returns those of [ModelCall.Parts] that the call before did not have.
func (c *ModelCall) NewParts() []Part { return c.in.parts(c, false) }

// Left lists the results that are not whole in this window.
func (c *ModelCall) Left() (all []Left) {
	for _, p := range c.Parts() {
		if p.Left != nil {
			l := *p.Left
			l.Now = p.State == StateNew
			all = append(all, l)
		}
	}
	return all
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

// LeftOut counts what results lack in a window.
type LeftOut struct {
	// Results counts the results that are not whole, those of programs not included.
	Results int `json:"results,omitempty"`
	// Cut, Cleared, Referred and Program are the tokens that they lack, by [Left.Rule].
	Cut      int `json:"cut,omitempty"`
	Cleared  int `json:"cleared,omitempty"`
	Referred int `json:"referred,omitempty"`
	Program  int `json:"program,omitempty"`
}

// Tokens is how many tokens of results are not in the window.
func (l LeftOut) Tokens() int { return l.Cut + l.Cleared + l.Referred + l.Program }

func (l *LeftOut) add(one *Left) {
	missing := one.Before - one.After
	if one.Rule == "program" {
		l.Program += missing
		return
	}
	l.Results++
	switch one.Rule {
	case "cut":
		l.Cut += missing
	case "referred":
		l.Referred += missing
	default:
		l.Cleared += missing
	}
}

// Left is a result that the window holds only in part, or not at all, or the program that
// read results in the model's place.
type Left struct {
	// Rule is "cut", "cleared", "referred", or "program": a program of the model read it.
	Rule string `json:"rule"`
	// Tool and CallID are the call whose result it is.
	Tool   string `json:"tool,omitempty"`
	CallID string `json:"call_id,omitempty"`
	// Before is how many tokens the tool returned, of a program all that its calls returned,
	// and After how many are in the window.
	Before int `json:"before"`
	After  int `json:"after"`
	// Bytes is the size of the whole result. If zero, it is not known.
	Bytes int `json:"bytes,omitempty"`
	// Calls are those that the program made, by tool, and Unknown says that nobody told what
	// it read: Before then is After.
	Calls   []einolean.ProgramCalls `json:"calls,omitempty"`
	Unknown bool                    `json:"unknown,omitempty"`
	// Stored says that the whole result is stored, and Path where, as Config.Texts allows.
	Stored bool   `json:"stored,omitempty"`
	Path   string `json:"path,omitempty"`
	// Now says that the call before had more of it, or was none.
	Now bool `json:"-"`
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
	Text int `json:"text,omitempty"`
	// State compares it with the call before.
	State State `json:"-"`
	// Left is what a result lacks. If nil, the part is no result, or whole. It must not
	// be changed.
	Left *Left `json:"left,omitempty"`
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
	HelpTools     Category = "help_tools"     // of the tools that search, read back and run programs
	LoadedTools   Category = "loaded_tools"   // of hidden tools that were loaded
	System        Category = "system"         // the instruction
	Reminder      Category = "reminder"       // the list of hidden tools
	User          Category = "user"           // what the user said
	Assistant     Category = "assistant"      // what the model said and called
	Found         Category = "found"          // answers of a search
	Result        Category = "result"         // results of tools, whole
	ResultCut     Category = "result_cut"     // cut when they returned
	ResultCleared Category = "result_cleared" // cleared later, or a reference to an equal one
	Program       Category = "program"        // what a program of the model printed
	Page          Category = "page"           // content that was read back
)

// Categories returns all categories in their order. The slice belongs to the caller.
func Categories() []Category {
	return []Category{OwnTools, HelpTools, LoadedTools, System, Reminder, User, Assistant, Found, Result, ResultCut, ResultCleared, Program, Page}
}

// Totals adds up a conversation.
type Totals struct {
	// Calls counts the model calls.
	Calls int `json:"calls"`
	// Helped counts the calls that would not have been made without einolean.
	Helped int `json:"helped"`
	// Sent and Without are sums of estimates, and so comparable.
	Sent    int `json:"sent"`
	Without int `json:"without"`
	// Largest is the largest window, LargestCall the call that had it, and
	// LargestWithout the largest without einolean.
	Largest        int `json:"largest"`
	LargestCall    int `json:"largest_call"`
	LargestWithout int `json:"largest_without"`
	// Same is the sum of the common prefixes.
	Same int `json:"same"`
	// TooLarge counts the calls that would have been larger without einolean than
	// [SmallWindow].
	TooLarge int `json:"too_large"`
	// SentHits is how much of Sent came from the provider's cache, by its report or else
	// as far as the common prefix reaches. WithoutHits is how much of Without could: all
	// of the call before, in favour of doing nothing.
	SentHits    int `json:"sent_hits"`
	WithoutHits int `json:"without_hits"`
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
	// Programs counts the programs, and Unknown those of which nobody told what they read:
	// Without then is the least that it can be. ProgramsRead is what the others read.
	Programs     int `json:"programs,omitempty"`
	Unknown      int `json:"unknown,omitempty"`
	ProgramsRead int `json:"programs_read,omitempty"`
	// Kept says that the provider kept the conversation on its server in some call.
	Kept bool `json:"kept,omitempty"`

	before int // Without of the newest call that has one
}

// SmallWindow is the window of common models, in tokens, by which [Totals.TooLarge]
// counts.
const SmallWindow = 200_000

// Cost returns what the requests cost with einolean and without it, in tokens at the full
// price, if a token from the cache costs hit and one that is written to it costs write.
// Answers are not counted.
func (t Totals) Cost(hit, write float64) (sent, without float64) {
	cost := func(all, hits int) float64 { return float64(hits)*hit + float64(all-hits)*write }
	return cost(t.Sent, t.SentHits), cost(t.Without, t.WithoutHits)
}

// Totals adds the calls up.
func (c *Conversation) Totals() Totals {
	var t Totals
	if c.Earlier != nil {
		t = *c.Earlier
	}
	for _, call := range c.Calls {
		t.add(call)
	}
	if c.book == nil {
		return t
	}
	for i := range c.book.slots {
		var last *Left
		for _, k := range c.book.slots[i].kept {
			if k.Left != nil {
				last = k.Left
			}
		}
		if last == nil {
			continue
		}
		if last.Calls != nil || last.Rule == "program" {
			t.Programs++
			if last.Unknown {
				t.Unknown++
			} else {
				t.ProgramsRead += last.Before
			}
		}
		if last.Rule == "program" {
			continue
		}
		t.Left++
		t.LeftBefore += last.Before
		t.LeftAfter += last.After
		if !last.Stored {
			t.Unreadable++
		}
	}
	return t
}

// add adds a call, except for its results.
func (t *Totals) add(call *ModelCall) {
	t.Calls++
	t.Sent += call.Tokens.Estimated
	t.Same += call.Prefix.Same
	t.Kept = t.Kept || call.Kept
	hits := call.Prefix.Same
	if u := call.Tokens.Reported; u != nil {
		t.ReportedCalls++
		t.Reported += u.PromptTokens
		t.Cached += u.PromptTokenDetails.CachedTokens
		if u.PromptTokens > 0 {
			share := float64(u.PromptTokenDetails.CachedTokens) / float64(u.PromptTokens)
			hits = int(min(1, max(0, share))*float64(call.Tokens.Estimated) + .5)
		}
	}
	t.SentHits += hits
	if call.Tokens.Estimated > t.Largest {
		t.Largest, t.LargestCall = call.Tokens.Estimated, call.N
	}
	if call.Without == nil {
		t.Helped++
		return
	}
	t.Without += *call.Without
	t.WithoutHits += min(t.before, *call.Without)
	t.before = *call.Without
	t.LargestWithout = max(t.LargestWithout, *call.Without)
	if *call.Without > SmallWindow {
		t.TooLarge++
	}
}
