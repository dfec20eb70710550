// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"slices"
	"strings"
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
	if i, ok := slices.BinarySearchFunc(c.Runs, n, func(r Run, n int) int { return r.N - n }); ok {
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
	// Kept reports that the provider stores the conversation, so the model sees more than this request
	// contains.
	Kept bool `json:"kept,omitempty"`
	// Tokens counts the request.
	Tokens Tokens `json:"tokens"`
	// By is the estimated number of tokens of the request by category. Do not modify it.
	By map[Category]int `json:"by"`
	// Prefix compares it with the call before.
	Prefix Prefix `json:"prefix"`
	// Hidden counts the tools that are hidden, and the tokens of their definitions.
	Hidden Hidden `json:"hidden"`
	// OmittedTokens counts what results lack in this window.
	OmittedTokens OmittedTokens `json:"left_out"`
	// Without is an estimate, in tokens, of the same call without einolean. If nil, the
	// call would not have been made: it only searched for tools or read content back.
	Without *int `json:"without"`
	// Did lists the tools that the model called.
	Did []ToolUse `json:"did,omitempty"`
	// Answer is the text of the answer, as Config.Texts allows.
	Answer string `json:"answer,omitempty"`
	// Events are those since the call before.
	Events []einolean.Event `json:"events,omitempty"`

	callSlots
	in *book
}

// Parts returns the parts of the request in the order in which providers read them: tools,
// then messages. It makes a new slice each time, and returns nil if they were dropped.
// They are no field, because the calls of a conversation share most of them;
// [Conversation.WriteJSON] writes them.
func (c *ModelCall) Parts() []Part { return c.in.parts(c.callSlots, c.N, true) }

// NewParts returns those of [ModelCall.Parts] that the call before did not have.
func (c *ModelCall) NewParts() []Part { return c.in.parts(c.callSlots, c.N, false) }

// Omissions lists the results that are not whole in this window.
func (c *ModelCall) Omissions() (all []Omission) {
	for _, p := range c.Parts() {
		if p.Omission != nil {
			all = append(all, *p.Omission)
		}
	}
	return all
}

// newCall is a call that an agent sends. The name of its model may be unknown.
func newCall(at time.Time, agent string, model *string, stream, kept bool) *ModelCall {
	c := &ModelCall{Attempt: 1, Start: at, Agent: agent, Stream: stream, Kept: kept}
	if model != nil {
		c.Model = *model
	}
	return c
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

// ToolUse is one tool call of an answer.
type ToolUse struct {
	// Tool and CallID are those of the call.
	Tool   string `json:"tool"`
	CallID string `json:"call_id,omitempty"`
	// Arguments are kept as Config.Texts says.
	Arguments string `json:"arguments,omitempty"`
}

// partMark is what comparing two requests needs of a part.
type partMark struct {
	hash     uint64
	tokens   int32
	category Category
}

// setPlace makes the call the n-th one of a conversation, after some events.
func (c *ModelCall) setPlace(conversation string, n, run int, events []einolean.Event) {
	c.Conversation, c.N, c.Run, c.Events = conversation, n, run, events
}

// setSize notes how large the request is, and how large it would be without einolean: without help
// and with what is hidden and left out.
func (c *ModelCall) setSize(by map[Category]int, estimated, calibrated, help int) {
	c.By, c.Tokens.Estimated, c.Tokens.Calibrated = by, estimated, calibrated
	without := estimated - help + c.Hidden.Tokens + c.OmittedTokens.Total()
	c.Without = &without
}

// compare compares the request with the previous one, by the marks of their parts. It returns the
// hashes of those that the other one had behind what both begin with.
func (c *ModelCall) compare(before *ModelCall, then, now []partMark) (known map[uint64]bool) {
	c.Prefix.Part = -1
	for c.equalParts < min(len(now), len(then)) && now[c.equalParts].hash == then[c.equalParts].hash {
		c.Prefix.Same += int(now[c.equalParts].tokens)
		c.equalParts++
	}
	known = make(map[uint64]bool, len(then)-c.equalParts)
	for _, m := range then[c.equalParts:] {
		known[m.hash] = true
		c.Prefix.Lost += int(m.tokens)
	}
	switch {
	case c.equalParts < len(then) && c.equalParts < len(now):
		c.Prefix.Part, c.Prefix.Cause = c.equalParts, cause(now[c.equalParts].category, then[c.equalParts].category)
	case c.equalParts == len(then) && c.equalParts == len(now) && before.Error != "" && before.Run == c.Run:
		c.Attempt = before.Attempt + 1
	}
	return known
}

// setEnd notes when the answer ended, and when its first chunk came.
func (c *ModelCall) setEnd(at, first time.Time) {
	c.Took = at.Sub(c.Start)
	c.First, c.Unfinished = c.Took, false
	if !first.IsZero() {
		c.First = first.Sub(c.Start)
	}
}

// setAnswer notes what the model said and did.
func (c *ModelCall) setAnswer(text string, uses []ToolUse) {
	if c.Answer = text; len(uses) > 0 {
		c.Did = uses
	}
}

// figures is a copy that has no more than the figures.
func (c *ModelCall) figures() *ModelCall {
	slim := *c
	slim.slots, slim.newSlots, slim.Events, slim.Did, slim.Answer = nil, nil, nil, nil, ""
	return &slim
}

// Approximate bytes of memory, without strings.
const (
	callCost  = 1800
	eventCost = 320
)

// size is about how many bytes the call takes.
func (c *ModelCall) size() int64 {
	n := callCost + len(c.Agent) + len(c.Model) + len(c.Error) + len(c.Answer) + 16*(len(c.slots)+len(c.newSlots))
	for _, d := range c.Did {
		n += 64 + len(d.Tool) + len(d.CallID) + len(d.Arguments)
	}
	size := int64(n)
	for _, e := range c.Events {
		size += eventSize(e)
	}
	return size
}

// eventSize is about how many bytes an event takes.
func eventSize(e einolean.Event) int64 {
	n := eventCost + len(e.Tool) + len(e.CallID) + len(e.Server)
	if e.Err != nil {
		n += len(e.Err.Error())
	}
	if s := e.Search; s != nil {
		n += 96 + len(s.Query) + len(s.Index)
		for _, h := range s.Hits {
			n += 64 + len(h.Name)
			for _, t := range h.Terms {
				n += 64 + len(t.Text) + len(t.Field) + len(t.Relation)
			}
		}
	}
	if t := e.Tools; t != nil {
		n += 128 + len(strings.Join(t.Added, "")) + 16*(len(t.Added)+len(t.Removed)) + len(strings.Join(t.Removed, ""))
	}
	if o := e.Output; o != nil {
		n += 112 + len(o.Path) + len(o.Reason) + len(o.Rule)
	}
	if p := e.Program; p != nil {
		n += 48
		for _, c := range p.Calls {
			n += 40 + len(c.Tool)
		}
	}
	if e.Pass != nil {
		n += 96 + 64*len(e.Pass.Kept)
	}
	return int64(n)
}

// Totals adds up a conversation.
type Totals struct {
	// Calls counts the model calls.
	Calls int `json:"calls"`
	// Helped counts the calls that would not have been made without einolean.
	Helped int `json:"helped"`
	// Sent and Without are totals in estimated tokens.
	Sent    int `json:"sent"`
	Without int `json:"without"`
	// Largest is the largest window, LargestCall the call that had it, and
	// LargestWithout the largest without einolean.
	Largest        int `json:"largest"`
	LargestCall    int `json:"largest_call"`
	LargestWithout int `json:"largest_without"`
	// Same is the sum of the common prefixes.
	Same int `json:"same"`
	// TooLarge counts the calls that would have been larger without einolean than 200,000
	// tokens, the window of common models.
	TooLarge int `json:"too_large"`
	// SentHits is the part of Sent that the provider's cache served, as reported, or else the common
	// prefix. WithoutHits is an upper bound for Without: it assumes that the whole previous request is
	// cached. Both are in tokens.
	SentHits    int `json:"sent_hits"`
	WithoutHits int `json:"without_hits"`
	// Reported and Cached are the provider's counts of the prompts. ReportedCalls says
	// how many calls have one.
	Reported      int `json:"reported"`
	Cached        int `json:"cached"`
	ReportedCalls int `json:"reported_calls"`
	// Omissions counts the results that are not whole, and Unreadable those of them that are
	// not stored; OmittedBefore and OmittedAfter are their tokens.
	Omissions     int `json:"left"`
	Unreadable    int `json:"unreadable"`
	OmittedBefore int `json:"left_before"`
	OmittedAfter  int `json:"left_after"`
	// Programs counts the programs, and Unknown those without an event about what they read; for
	// these, Without is a lower bound. ProgramsRead is the number of tokens that the others read.
	Programs     int `json:"programs,omitempty"`
	Unknown      int `json:"unknown,omitempty"`
	ProgramsRead int `json:"programs_read,omitempty"`
	// Kept says that the provider kept the conversation on its server in some call.
	Kept bool `json:"kept,omitempty"`

	previousWithout int // Without of the newest call that has one
}

// commonWindow is the window of common models, in tokens.
const commonWindow = 200_000

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
	c.book.eachOmission(t.addOmission)
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
	t.WithoutHits += min(t.previousWithout, *call.Without)
	t.previousWithout = *call.Without
	t.LargestWithout = max(t.LargestWithout, *call.Without)
	if *call.Without > commonWindow {
		t.TooLarge++
	}
}

// addOmission adds what a result lacks.
func (t *Totals) addOmission(l *Omission) {
	if l.Calls != nil || l.Rule == "program" {
		t.Programs++
		if l.Unknown {
			t.Unknown++
		} else {
			t.ProgramsRead += l.Before
		}
	}
	if l.Rule == "program" {
		return
	}
	t.Omissions++
	t.OmittedBefore += l.Before
	t.OmittedAfter += l.After
	if !l.Stored {
		t.Unreadable++
	}
}
