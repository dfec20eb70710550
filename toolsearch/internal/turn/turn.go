// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package turn reads what a conversation says about hidden tools, and decides which of them a model
// call shows. It holds plain data and asks nobody but the functions that it is given: messages become
// [Facts], and these, with the [Record] of the last call, become the next one.
package turn

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bytedance/sonic"

	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// Record is what a run has told and shown the model, as far as its next model call depends on it. It
// is kept as JSON with the run.
type Record struct {
	Began    bool     `json:"began,omitempty"`    // there was a model call
	Visible  []string `json:"visible,omitempty"`  // names of the hidden tools that the last one showed
	Idle     []int    `json:"idle,omitempty"`     // model calls since the last use of each, with UnloadAfter
	All      bool     `json:"all,omitempty"`      // the run hides nothing
	Bound    []string `json:"bound,omitempty"`    // names that slots stood for in the last round of calls
	Reported []string `json:"reported,omitempty"` // what was reported, one line each
}

// Input is all that the tools of a model call depend on.
type Input struct {
	Record Record // of the last model call
	Facts  *Facts
	Pins   []string // tools that are always shown
	All    []string // every tool that may be shown, for a run that hides nothing
	Loads  bool     // the protocol loads tools

	Limits
	Own int // tools of a request that are not hidden; with MaxTools

	Has func(name string) bool // there is such a hidden tool
	May func(name string) bool // a model call may show it
}

// Limits are those of what model calls show.
type Limits struct {
	UnloadAfter int // model calls without use after which a tool is hidden again; 0 is never
	MaxTools    int // in a request; 0 is any number
}

// Turn is which hidden tools a model call shows, and the record of it.
type Turn struct {
	Record Record
	Unused []string // tools that were not used for too long, or longest
}

// Decide decides which tools a model call shows. It changes nothing of its input.
func Decide(in Input) Turn {
	c := chosen{Input: in, done: map[string]bool{}}
	c.choose()
	out := Turn{Record: in.Record, Unused: c.unused}
	var over []string
	if in.MaxTools > 0 && !in.Record.All {
		over = c.leastUsed()
	}
	out.Record.Began, out.Record.Visible, out.Record.Idle = true, make([]string, 0, len(c.show)), nil
	for i, name := range c.show {
		if slices.Contains(over, name) {
			out.Unused = append(out.Unused, name)
			continue
		}
		out.Record.Visible = append(out.Record.Visible, name)
		if in.UnloadAfter > 0 {
			out.Record.Idle = append(out.Record.Idle, c.idle[i])
		}
	}
	return out
}

// chosen are the tools that a model call shows.
type chosen struct {
	Input
	done   map[string]bool // considered
	show   []string
	idle   []int // model calls since the last use of each
	unused []string
}

// choose takes the tools that are always visible, those shown before and still in use, then new ones.
func (c *chosen) choose() {
	if c.Record.All {
		c.show, c.idle = slices.Clone(c.All), make([]int, len(c.All))
		return
	}
	for _, name := range c.Pins {
		if c.done[name] = true; c.May(name) {
			c.show, c.idle = append(c.show, name), append(c.idle, 0)
		}
	}
	if !c.Loads {
		return
	}
	for i, name := range c.Record.Visible {
		since := 0
		if i < len(c.Record.Idle) {
			since = c.Record.Idle[i]
		}
		c.consider(name, since+1)
	}
	for _, name := range c.Facts.Order {
		c.consider(name, 0)
	}
}

// consider adds a tool that is in use; since is the number of model calls since its last use, where
// the conversation does not say so.
func (c *chosen) consider(name string, since int) {
	if c.done[name] || !c.Has(name) {
		return
	}
	c.done[name] = true
	if last, said := c.Facts.Last[name]; said {
		since = c.Facts.ModelCalls - last
	}
	if c.UnloadAfter > 0 && since >= c.UnloadAfter {
		c.unused = append(c.unused, name)
		return
	}
	if c.May(name) {
		c.show, c.idle = append(c.show, name), append(c.idle, since)
	}
}

// leastUsed are the loaded tools that were used longest ago and that make a request longer than the
// provider takes; of those used at the same time the last ones, since a search returns the best first.
func (c *chosen) leastUsed() (names []string) {
	var places []int
	for i, name := range c.show {
		if !slices.Contains(c.Pins, name) {
			places = append(places, i)
		}
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Or(cmp.Compare(c.idle[b], c.idle[a]), cmp.Compare(b, a)) })
	for _, i := range places[:min(max(0, c.Own+len(c.show)-c.MaxTools), len(places))] {
		names = append(names, c.show[i])
	}
	return names
}

// Facts are what a conversation says about hidden tools. The zero value is that of an empty
// conversation.
type Facts struct {
	Version    int // grows with each change of Order
	ModelCalls int
	Order      []string       // names, by first evidence
	Last       map[string]int // name -> model calls before its last evidence

	Native    bool       // some message holds parts of a provider's own search
	Natively  Names      // that results in a provider's own form return
	Textually Names      // that results in words return
	EmptyCall *wire.Call // the newest search, if its answer was empty and in that form

	Started bool // the first model call is over: results that come now are of this run

	former Names       // ids of results that were there before that call
	calls  []wire.Call // of the last assistant message that has any
}

// Names are a set of names or ids. The zero value is empty.
type Names map[string]bool

// Add adds names.
func (s *Names) Add(names ...string) {
	if *s == nil && len(names) > 0 {
		*s = make(Names, len(names))
	}
	for _, name := range names {
		(*s)[name] = true
	}
}

// Difference is the names of the first list that are not in the second.
func Difference(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	var in Names
	in.Add(b...)
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return in[name] })
}

// Note says what became of a tool call in this run.
type Note struct {
	Tool    string   // the hidden tool that it reached: it may bear another name
	Loaded  []string // what it loaded, if IsOurs
	IsOurs  bool     // it is one of a search tool of ours
	Refused bool     // it is a call to a tool that the caller may not use
	IsLast  bool     // it is of the last round of calls: ids may repeat from one to the next
}

// IsNothing reports whether nothing is known of a call.
func (n Note) IsNothing() bool { return n.Tool == "" && len(n.Loaded) == 0 && !n.IsOurs && !n.Refused }

// Run is what a run knows of tools and calls, beyond the messages.
type Run struct {
	Has    func(name string) bool                   // there is a hidden tool of the name
	Owns   func(name string) bool                   // the agent has one of its own
	Note   func(id string) Note                     // what became of a call in this run
	ByHand func() bool                              // no call has an id, as where hooks are called outside a run
	Asked  func(lenient.Arguments) (names []string) // what a call of load_tool asks for
	Miss   func(name string)                        // a search returned a tool that there is no more
	Called func(name string)                        // the history calls a name that is of no tool
}

// Anew are the facts before a conversation is read again in the same run.
func (f *Facts) Anew() Facts {
	return Facts{former: f.former, Started: f.Started, Version: f.Version + 1}
}

// Add reads one more message.
func (f *Facts) Add(msg wire.View, r Run) {
	if msg.Assistant {
		f.ModelCalls++
		f.EmptyCall = nil
	}
	if len(msg.Calls) > 0 {
		f.calls = msg.Calls
	}
	f.Native = f.Native || msg.Hosted
	for _, c := range msg.Calls {
		f.Native = f.Native || c.Marked
		if name := written(c); !f.Started && !r.Has(name) && !r.Owns(name) {
			r.Called(name)
		}
		if !r.Note(c.ID).Refused {
			f.Use(called(r, c), r)
		}
	}
	for _, res := range msg.Results {
		f.addResult(res, r)
	}
}

// addResult reads the result of a call. In this run, only answers of our search tools load tools;
// their calls are known by id, whatever name the model used. Among earlier results, as at the start of
// a run and after a resume, those with the name of a search tool count.
func (f *Facts) addResult(res wire.Result, r Run) {
	if !f.Started {
		if f.former == nil {
			f.former = Names{}
		}
		f.former[res.ID] = true
	}
	note := r.Note(res.ID)
	if !note.IsOurs && res.ID != "" && f.Started && !f.former[res.ID] && !r.ByHand() {
		f.Native = f.Native || res.Native
		return
	}
	if res.Native {
		f.Native = true
		if len(res.Tools) == 0 {
			f.EmptyCall = f.callOf(res.ID)
		}
		for _, name := range res.Tools {
			f.load(name, r)
			f.Natively.Add(name)
		}
		return
	}
	names := note.Loaded
	if !note.IsOurs {
		names = f.formerly(res, r)
	}
	for _, name := range names {
		f.load(name, r)
		f.Textually.Add(name)
	}
}

// formerly returns the tools that a result from before this run loaded.
func (f *Facts) formerly(res wire.Result, r Run) []string {
	c := f.callOf(res.ID)
	if res.Name == "" && c != nil {
		res.Name = c.Name
	}
	if r.Owns(res.Name) || !toolnames.IsSearchTool(res.Name) {
		return nil
	}
	names := Loaded(res.Text)
	if names == nil && res.Name == toolnames.Load && c != nil {
		return r.Asked(lenient.Decode(c.Args)) // its answer was cut or cleared
	}
	return names
}

// called is the name of the tool that a call is for: call_tool has it in its arguments, and an alias
// is known from the call that reached the tool.
func called(r Run, c wire.Call) string {
	if r.Has(c.Name) || r.Owns(c.Name) {
		return c.Name
	}
	if c.Name == toolnames.Call {
		return written(c)
	}
	return r.Note(c.ID).Tool
}

// written is the name of the tool that a call names, in the arguments of call_tool or by itself.
func written(c wire.Call) string {
	if c.Name == toolnames.Call {
		return toolnames.Called(lenient.Decode(c.Args))
	}
	return c.Name
}

func (f *Facts) callOf(id string) *wire.Call {
	if i := slices.IndexFunc(f.calls, func(c wire.Call) bool { return c.ID == id }); i >= 0 {
		return &f.calls[i]
	}
	return nil
}

// load is Use for a tool that a search returned.
func (f *Facts) load(name string, r Run) {
	if !r.Has(name) {
		r.Miss(name)
	}
	f.Use(name, r)
}

// Use notes that a hidden tool was loaded or called.
func (f *Facts) Use(name string, r Run) {
	if !r.Has(name) {
		return
	}
	if f.Last == nil {
		f.Last = map[string]int{}
	}
	if _, known := f.Last[name]; !known {
		f.Order = append(f.Order, name)
		f.Version++
	}
	f.Last[name] = f.ModelCalls
}

// Loaded returns the names of the tools that a result of a search tool loaded, in any protocol, or
// with Eino's package; nil if it is no such result.
func Loaded(text string) []string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return nil
	}
	var a struct {
		Matches  []string `json:"matches"`
		Selected []string `json:"selectedTools"`
		Loaded   []string `json:"loaded"`
		Already  []string `json:"already_loaded"`
		Tools    []struct {
			Name string `json:"name"`
			Call string `json:"call"` // a signature loads nothing
		} `json:"tools"`
	}
	if sonic.ConfigStd.UnmarshalFromString(text, &a) != nil {
		return nil
	}
	names := append([]string{}, slices.Concat(a.Matches, a.Selected, a.Loaded, a.Already)...)
	for _, t := range a.Tools {
		if t.Call == "" {
			names = append(names, t.Name)
		}
	}
	return names
}
