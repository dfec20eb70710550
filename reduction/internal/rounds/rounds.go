// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package rounds reads messages as plain data: tool calls, their results, and rounds, each of which is an assistant
// message with calls and the results of these calls. It makes edited copies of messages, and changes no message
// that it is given. Calls and results of the provider's own tools are ignored: they belong to the provider.
package rounds

import (
	"maps"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/reduction/internal/notice"
)

const (
	// ProcessedKey marks, in the Extra map of an assistant message, a round that was cleared or rewritten. Eino's
	// package sets the same mark. It also marks a result that a user's handler replaced, which nothing else shows.
	ProcessedKey = "_reduction_mw_processed"

	// oursKey is set beside ProcessedKey by this package: results without a mark of their own were not replaced
	// by a handler then.
	oursKey = "__einolean_reduction__"
)

// Call is one tool call of an assistant message.
type Call struct {
	Index          int // position in its message
	ID, Name, Args string
}

// Result is one tool result. A message may carry several.
type Result struct {
	Index             int // position in its message
	ID, name          string
	Texts             []string // its text parts, in order
	MediaRefs         []string // the references to its media
	IsToolSearch      bool     // the answer of a provider's tool search: never changed
	ReplacedByHandler bool     // a user's handler has replaced it
}

// Size is the number of bytes of text.
func (r Result) Size() (n int) {
	for _, t := range r.Texts {
		n += len(t)
	}
	return n
}

// View is what a message has to decide on: plain data, without a type parameter.
type View struct {
	Calls         []Call
	Results       []Result
	processed     bool     // cleared or rewritten earlier
	ours          bool     // by this package
	UserMediaRefs []string // the references to media of the user's
}

// Replacement replaces a result.
type Replacement struct {
	Index       int                     // of the result in its message
	Text        string                  // replaces all texts, if Parts is nil
	Parts       []schema.ToolOutputPart // replaces everything
	KeepContent bool                    // replaces nothing: only the mark is set
	Mark        bool                    // set ProcessedKey on the result
}

// Edit is what changes in one message.
type Edit struct {
	Mark    bool           // set ProcessedKey and oursKey
	Args    map[int]string // new arguments by index of the call
	Results []Replacement
	Media   []*Medium // replaced first
}

// withMarks returns a copy of an Extra map with marks in it.
func withMarks(extra map[string]any, keys ...string) map[string]any {
	out := make(map[string]any, len(extra)+len(keys))
	maps.Copy(out, extra)
	for _, k := range keys {
		out[k] = true
	}
	return out
}

// IsMarked reports whether this package has cleared or rewritten the round of a message with calls.
func IsMarked[M adk.MessageType](m M) bool {
	return message.Role(m) == schema.Assistant && message.IsMarked(message.Extra(m), oursKey)
}

// ViewOf returns the view of a message. It reuses the lists of an earlier view, which is no longer valid then.
func ViewOf[M adk.MessageType](m M, old View) View {
	role, extra := message.Role(m), message.Extra(m)
	v := View{Calls: old.Calls[:0], Results: old.Results[:0]}
	v.processed, v.ours = message.IsMarked(extra, ProcessedKey), message.IsMarked(extra, oursKey)
	for p := message.Parts(m); p.Next(); {
		switch {
		case p.Kind == message.Call && role == schema.Assistant:
			v.Calls = append(v.Calls, Call{Index: p.Index, ID: p.ID(), Name: p.Name(), Args: p.Text()})
		case p.Kind == message.Result && role != schema.Assistant:
			v.Results = append(v.Results, ResultIn(p.Part))
		case p.Kind == message.Text && role == schema.User && notice.IsMedium(p.Text()):
			v.UserMediaRefs = append(v.UserMediaRefs, p.Text())
		}
	}
	return v
}

// ResultIn is the result in a part of a message.
func ResultIn(p message.Part) Result {
	r := Result{Index: p.Index, ID: p.ID(), name: p.Name(), ReplacedByHandler: message.IsMarked(p.Extra(), ProcessedKey)}
	for item := p.Parts(); item.Next(); {
		switch {
		case item.Kind == message.Tools:
			r.IsToolSearch = true
		case item.Kind != message.Text:
		case notice.IsMedium(item.Text()):
			r.MediaRefs = append(r.MediaRefs, item.Text())
		default:
			r.Texts = append(r.Texts, item.Text())
		}
	}
	return r
}

// Pair is a call and its result.
type Pair struct {
	Call         Call
	HasResult    bool // there is a result
	MessageIndex int  // the message of the result
	Result       Result

	textKey uint64 // of the texts of the result; zero: not computed yet
}

// TextKey is the key of the texts of the result, which hash computes once.
func (p *Pair) TextKey(hash func(texts ...string) uint64) uint64 {
	if p.textKey == 0 {
		p.textKey = hash(p.Result.Texts...)
	}
	return p.textKey
}

// Round is an assistant message with tool calls, and their results.
type Round struct {
	MessageIndex int  // the assistant message
	Processed    bool // cleared or rewritten before
	Ours         bool // by this package
	Pairs        []Pair
}

// Messages lists the messages with the round's results, in the order of the history, each once.
func (r Round) Messages() []int {
	var out []int
	for _, p := range r.Pairs {
		if p.HasResult {
			out = append(out, p.MessageIndex)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Split returns the rounds of a history. A result belongs to the newest call of its id that has no result yet; ids
// may repeat, in a round and in a history. A result without an id belongs to the first call of its name in the newest
// round or, if it has no name, to the first call there. A result that matches no call is in no round.
func Split[M adk.MessageType](msgs []M) []Round {
	h := History[M]{pairer: pairer{rounds: make([]Round, 0, len(msgs)/2)}}
	for _, m := range msgs {
		h.Add(m)
	}
	return h.Rounds()
}

// History is the rounds of a history to which messages are added. The zero value has none.
type History[M adk.MessageType] struct {
	pairer   pairer
	messages int
	view     View // of the last message, for its lists
}

// Add adds the next message.
func (h *History[M]) Add(m M) {
	h.view = ViewOf(m, h.view)
	h.pairer.addMessage(h.messages, h.view)
	h.messages++
}

// Rounds are those of the messages so far. They are read only, and change with the next message.
func (h *History[M]) Rounds() []Round { return h.pairer.rounds }

// Reread reads the round of a message with calls again, after messages were edited. Which results belong to which
// calls stays.
func (h *History[M]) Reread(callMessage int, msgs []M) {
	n, found := slices.BinarySearchFunc(h.pairer.rounds, callMessage, func(r Round, i int) int { return r.MessageIndex - i })
	if !found {
		return // media of the user's
	}
	r := &h.pairer.rounds[n]
	v := ViewOf(msgs[callMessage], View{})
	r.Processed, r.Ours = v.processed, v.ours
	for i := range r.Pairs {
		p := &r.Pairs[i]
		if i < len(v.Calls) {
			p.Call = v.Calls[i]
		}
		if !p.HasResult {
			continue
		}
		for part := message.Parts(msgs[p.MessageIndex]); part.Next(); {
			if part.Kind == message.Result && part.Index == p.Result.Index {
				p.Result, p.textKey = ResultIn(part.Part), 0
			}
		}
	}
}

// pairer matches results with their calls, message by message.
type pairer struct {
	rounds []Round

	// byID lists the rounds with calls of an id, oldest first, for results that are not of the newest round. It
	// has the first indexedRounds rounds: none until the first such result, as most histories have none.
	byID          map[string][]int
	indexedRounds int
}

// addMessage adds the next message of the history.
func (p *pairer) addMessage(at int, v View) {
	for _, r := range v.Results {
		p.addResult(at, r)
	}
	if len(v.Calls) == 0 {
		return
	}
	r := Round{MessageIndex: at, Processed: v.processed, Ours: v.ours, Pairs: make([]Pair, len(v.Calls))}
	for i, c := range v.Calls {
		r.Pairs[i].Call = c
	}
	p.rounds = append(p.rounds, r)
}

// addResult adds a result to its call, which is nearly always in the newest round.
func (p *pairer) addResult(at int, r Result) {
	if len(p.rounds) == 0 {
		return
	}
	newest := &p.rounds[len(p.rounds)-1]
	pair := newest.unansweredCall(r, true)
	switch {
	case pair != nil:
	case r.ID != "":
		pair = p.olderCall(r)
	default:
		pair = newest.unansweredCall(r, false)
	}
	if pair != nil {
		pair.HasResult, pair.MessageIndex, pair.Result = true, at, r
	}
}

// olderCall returns the newest call that has the id of a result and no result yet. It drops rounds from the index
// that have none left.
func (p *pairer) olderCall(r Result) *Pair {
	if p.byID == nil {
		p.byID = make(map[string][]int, len(p.rounds))
	}
	for ; p.indexedRounds < len(p.rounds); p.indexedRounds++ {
		for _, pair := range p.rounds[p.indexedRounds].Pairs {
			id := pair.Call.ID
			if rounds := p.byID[id]; len(rounds) == 0 || rounds[len(rounds)-1] != p.indexedRounds {
				p.byID[id] = append(rounds, p.indexedRounds)
			}
		}
	}
	rounds := p.byID[r.ID]
	for len(rounds) > 0 {
		if pair := p.rounds[rounds[len(rounds)-1]].unansweredCall(r, true); pair != nil {
			return pair
		}
		rounds = rounds[:len(rounds)-1]
		p.byID[r.ID] = rounds
	}
	return nil
}

// unansweredCall returns the call of a result among those without one: of the calls with its id, or of all if byID
// is false, the first of its name, or else the first. A result without an id matches no call of another name.
func (r *Round) unansweredCall(result Result, byID bool) *Pair {
	var first *Pair
	for i := range r.Pairs {
		p := &r.Pairs[i]
		if p.HasResult || byID && p.Call.ID != result.ID {
			continue
		}
		if p.Call.Name == result.name {
			return p
		}
		if first == nil && (result.ID != "" || result.name == "") {
			first = p
		}
	}
	return first
}

// SplitRetained returns the rounds before the last retained ones, and the index of the message with which the
// retained ones begin.
func SplitRetained(rounds []Round, retained int) (before []Round, end int) {
	if len(rounds) <= retained {
		return nil, 0
	}
	n := len(rounds) - retained
	return rounds[:n], rounds[n].MessageIndex
}

// NewestResultsIndex is the index behind the model's newest answer. Results from there on were in no request yet.
func NewestResultsIndex[M adk.MessageType](msgs []M) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if message.Role(msgs[i]) == schema.Assistant {
			return i + 1
		}
	}
	return len(msgs)
}

// CallsTools reports whether a message has tool calls.
func CallsTools[M adk.MessageType](m M) bool {
	if message.Role(m) == schema.Assistant {
		for p := message.Parts(m); p.Next(); {
			if p.Kind == message.Call {
				return true
			}
		}
	}
	return false
}

// Medium is an image, audio, a video or a file in a message.
type Medium struct {
	Result    int // index of the result that has it; negative: the user sent it
	partIndex int // index among the parts of the result, or of the message
	Output    *schema.ToolOutputPart
	Text      string // what replaces it
}

// Media lists the media that tools returned and that the user sent.
func Media[M adk.MessageType](m M) (out []*Medium) {
	add := func(result int, p message.Part) {
		if p.Kind != message.Medium {
			return
		}
		if part := p.Output(); message.MediumOf(&part) != nil {
			out = append(out, &Medium{Result: result, partIndex: p.Index, Output: &part})
		}
	}
	role := message.Role(m)
	for p := message.Parts(m); p.Next(); {
		switch {
		case p.Kind == message.Result:
			for item := p.Parts(); item.Next(); {
				add(p.Index, item.Part)
			}
		case role == schema.User:
			add(-1, p.Part)
		}
	}
	return out
}

// ResultAt returns a copy of the result at index, for a user's handler.
func ResultAt[M adk.MessageType](m M, index int) *schema.ToolResult {
	out := &schema.ToolResult{}
	for p := message.Parts(m); p.Next(); {
		if p.Index == index {
			for item := p.Parts(); item.Next(); {
				if item.Kind != message.Other {
					out.Parts = append(out.Parts, item.Output())
				}
			}
		}
	}
	return out
}

// Bytes is the number of bytes of the texts among the parts of a result.
func Bytes(parts []schema.ToolOutputPart) (n int) {
	for i := range parts {
		if parts[i].Type == schema.ToolPartTypeText {
			n += len(parts[i].Text)
		}
	}
	return n
}

// Apply returns an edited copy of a message.
func Apply[M adk.MessageType](m M, e Edit) M {
	next := m
	if len(e.Args)+len(e.Media)+len(e.Results) > 0 {
		next = message.Edit(m, e.editPart)
	}
	switch {
	case e.Mark:
		return message.WithExtra(next, withMarks(message.Extra(next), ProcessedKey, oursKey))
	case next == m:
		return message.Copy(m)
	}
	return next
}

func (e *Edit) editPart(p message.Part) (message.Part, bool) {
	switch p.Kind {
	case message.Call:
		if args, changes := e.Args[p.Index]; changes {
			return p.WithText(args), true
		}
	case message.Medium:
		return e.replaceMedium(p, -1)
	case message.Result:
		return e.editResult(p)
	}
	return p, false
}

// replaceMedium replaces a medium of a result by a text, or one that the user sent, for which result is negative.
func (e *Edit) replaceMedium(p message.Part, result int) (message.Part, bool) {
	for _, m := range e.Media {
		if m.Result == result && m.partIndex == p.Index {
			return p.WithText(m.Text), true
		}
	}
	return p, false
}

// editResult edits a result: first its media.
func (e *Edit) editResult(p message.Part) (message.Part, bool) {
	var items []message.Part
	changes := false
	for item := p.Parts(); item.Next(); {
		next, replaced := e.replaceMedium(item.Part, p.Index)
		items, changes = append(items, next), changes || replaced
	}
	marks := false
	for _, r := range e.Results {
		if r.Index == p.Index {
			items, changes, marks = r.apply(items), changes || !r.KeepContent, marks || r.Mark
		}
	}
	if marks {
		p = p.WithExtra(withMarks(p.Extra(), ProcessedKey))
	}
	if changes {
		p = p.With(items...)
	}
	return p, changes || marks
}

// apply returns the parts of a result after the replacement.
func (r Replacement) apply(items []message.Part) []message.Part {
	if r.KeepContent {
		return items
	}
	if r.Parts == nil {
		return ReplaceTexts(items, func(p *message.Part) bool {
			return p.Kind == message.Text && !notice.IsMedium(p.Text())
		}, func(p *message.Part) { *p = p.WithText(r.Text) })
	}
	out := make([]message.Part, len(r.Parts))
	for i, part := range r.Parts {
		// What was there before has more than a tool's result can express, such as a file's name.
		at := slices.IndexFunc(items, func(p message.Part) bool {
			old := p.Output()
			return message.SameMedium(&old, &part)
		})
		created, ok := message.FromOutput(part)
		switch {
		case at >= 0:
			out[i] = items[at]
		case ok:
			out[i] = created
		default:
			return items
		}
	}
	return out
}

// ReplaceTexts has set change the first text among parts, and drops the other texts. It changes the list.
func ReplaceTexts[P any](parts []P, isText func(*P) bool, set func(*P)) []P {
	out := parts[:0]
	found := false
	for i := range parts {
		if !isText(&parts[i]) {
			out = append(out, parts[i])
			continue
		}
		if !found {
			found = true
			out = append(out, parts[i])
			set(&out[len(out)-1])
		}
	}
	return out
}
