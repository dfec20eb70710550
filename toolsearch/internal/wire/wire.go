// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package wire reads, edits and makes messages as far as tool search is concerned. Nothing else of
// tool search knows how a message shows a search, or what an adapter keeps in one.
package wire

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
)

// View is what a message says about tools, whatever its type.
type View struct {
	Assistant bool // the answer of a model call
	Calls     []Call
	Results   []Result
	Hosted    bool // it may hold what a provider's own search left
}

// Call is a tool call of the model.
type Call struct {
	ID, Name, Args string
	Marked         bool // the provider takes it for a call of its own kind of search tool
}

// Result is the result of a tool call.
type Result struct {
	ID, Name string
	Text     string
	Native   bool     // the result is a list of tools in the provider's own form
	Tools    []string // their names
	Media    []string // the types of its parts that are no text
}

// Text is the text of a message.
type Text struct {
	Text   string
	Only   bool // the message is this one text, and nothing else
	Marked bool // it carries the key of a reminder in Extra
	User   bool // a user wrote it, and no handler
}

// Editor says what becomes of the parts of a message that belong to a provider's own
// tool search.
type Editor interface {
	// Result is asked for each search result in the provider's form. It returns the tools
	// that stay in it, or the text that takes its place.
	Result(id, name string, tools []*schema.ToolInfo) (kept []*schema.ToolInfo, text string)
	// Unmark reports whether a call loses the marks of the provider, which make it a call
	// of a special kind.
	Unmark(id string) bool
	// Hosted reports whether the events of a search that the provider ran may stay, which refer to the
	// tools, or the text in their place: no provider takes an empty message.
	Hosted(tools []string) (text string, stays bool)
}

// The keys of Extra that mark our own messages. The first is Eino's.
const (
	reminderKey = "__toolsearch_reminder__"
	noteKey     = "__einolean_toolsearch_note__"

	messageIDKey = "_eino_msg_id" // Eino's
)

// Keys of Extra that adapters use: with the first, agenticopenai sends a call back as one
// of its search tool, which takes no other kind of result; under the second, claude keeps
// what the provider searched and found.
const (
	openAISearchKey = "openai-tool-search-tool-call"
	claudeEventsKey = "_eino_claude_tool_search_events"
)

// isHandlers reports whether a message has a key with which handlers mark their own
// messages: all of Eino's and ours begin with an underscore. The id that Eino gives every
// message does not count.
func isHandlers(extra map[string]any) bool {
	for key := range extra {
		if strings.HasPrefix(key, "_") && key != messageIDKey {
			return true
		}
	}
	return false
}

// ViewOf is what a message says about tools.
func ViewOf[M adk.MessageType](m M) (v View) {
	v.Assistant = message.Role(m) == schema.Assistant
	v.Hosted = v.Assistant && message.Extra(m)[claudeEventsKey] != nil
	for p := message.Parts(m); p.Next(); {
		switch p.Kind {
		case message.Call:
			v.Calls = append(v.Calls, callOf(p.Part))
		case message.Result:
			v.Results = append(v.Results, resultOf(p.Part))
		case message.ServerCall, message.ServerResult:
			v.Hosted = true
		}
	}
	return v
}

func callOf(p message.Part) Call {
	return Call{ID: p.ID(), Name: p.Name(), Args: p.Text(), Marked: message.IsMarked(p.Extra(), openAISearchKey)}
}

func resultOf(p message.Part) Result {
	r := Result{ID: p.ID(), Name: p.Name()}
	for item := p.Parts(); item.Next(); {
		switch item.Kind {
		case message.Text:
			r.Text += item.Text()
		case message.Tools:
			r.Native = true
			for _, t := range item.Found() {
				r.Tools = append(r.Tools, t.Name)
			}
		case message.Medium:
			r.Media = append(r.Media, item.MediaType())
		}
	}
	return r
}

// CallsOf returns the calls of a message, as Eino's core keeps those of both types while their
// tools run; none of any other value.
func CallsOf(msg any) []Call {
	return ViewOf(message.Plain(msg)).Calls
}

// TextOf is what a message of the user, or one that is marked as a reminder, says.
func TextOf[M adk.MessageType](m M) Text {
	extra, isUser := message.Extra(m), message.Role(m) == schema.User
	s := Text{Marked: message.IsMarked(extra, reminderKey), User: isUser && !isHandlers(extra)}
	if !isUser && !s.Marked {
		return Text{}
	}
	parts, texts := 0, 0
	for p := message.Parts(m); p.Next(); {
		if parts++; p.Kind == message.Text {
			s.Text += p.Text()
			texts++
		}
	}
	s.Only = parts == 1 && texts == 1
	return s
}

// Note makes a message of ours for the model, marked by a key in Extra: Eino's, if it is a reminder of the
// hidden tools.
func Note[M adk.MessageType](text string, isReminder bool) M {
	key := noteKey
	if isReminder {
		key = reminderKey
	}
	return message.WithExtra(message.New[M](schema.User, message.NewText(text)), map[string]any{key: true})
}

// Edit returns a copy in which calls have the ids, names and arguments that the function says; the
// same message if none changes.
func Edit[M adk.MessageType](m M, edit func(Call) Call) M {
	return message.Edit(m, func(p message.Part) (message.Part, bool) {
		if p.Kind != message.Call {
			return p, false
		}
		was := callOf(p)
		now := edit(was)
		if now == was {
			return p, false
		}
		return p.WithCall(now.ID, now.Name, now.Args), true
	})
}

// Rename returns a copy in which calls and results have the names that the function says; the same
// message if none changes.
func Rename[M adk.MessageType](m M, name func(id, name string) string) M {
	return message.Edit(m, func(p message.Part) (message.Part, bool) {
		if p.Kind != message.Call && p.Kind != message.Result {
			return p, false
		}
		was := p.Name()
		now := name(p.ID(), was)
		if now == was {
			return p, false
		}
		if p = p.WithCall(p.ID(), now, p.Text()); p.Kind == message.Result {
			p = p.With(p.Parts().All()...)
		}
		return p, true
	})
}

// rewrite returns a copy in which what belongs to a provider's own search is as the editor wants
// it; the same message if nothing changes.
func rewrite[M adk.MessageType](m M, e Editor) M {
	return message.Edit(withoutHosted(m, e), func(p message.Part) (message.Part, bool) {
		switch {
		case p.Kind == message.Result:
			return rewritten(p, e)
		case p.Kind == message.Call && message.IsMarked(p.Extra(), openAISearchKey) && e.Unmark(p.ID()):
			return p.WithExtra(nil), true // without the id of an item of the special kind
		}
		return p, false
	})
}

// rewritten turns the parts of a result that are in a provider's own form into one part, or text.
func rewritten(p message.Part, e Editor) (with message.Part, changes bool) {
	var tools []*schema.ToolInfo
	var had *schema.ToolSearchResult
	native := 0
	for item := p.Parts(); item.Next(); {
		if item.Kind == message.Tools {
			native++
			tools = append(tools, item.Found()...)
			had, _ = item.Value().(*schema.ToolSearchResult)
		}
	}
	if native == 0 {
		return p, false
	}
	kept, text := e.Result(p.ID(), p.Name(), tools)
	if text == "" && native == 1 && had != nil && slices.Equal(had.Tools, kept) {
		return p, false
	}
	var items []message.Part
	placed := false
	for _, item := range p.Parts().All() {
		switch {
		case item.Kind != message.Tools:
			items = append(items, item)
		case placed:
		case text != "":
			items, placed = append(items, message.NewText(text)), true
		default:
			items, placed = append(items, item.WithValue(&schema.ToolSearchResult{Tools: kept})), true
		}
	}
	return p.With(onlyText(items)...), true
}

// onlyText makes one of parts that are all text: every adapter reads that.
func onlyText(items []message.Part) []message.Part {
	texts := make([]string, len(items))
	for i, item := range items {
		if item.Kind != message.Text {
			return items
		}
		texts[i] = item.Text()
	}
	return []message.Part{message.NewText(strings.Join(texts, "\n"))}
}

// withoutHosted removes what a search left that the provider ran, if it may not stay: all of a
// message, or nothing.
func withoutHosted[M adk.MessageType](m M, e Editor) M {
	extra := message.Extra(m)
	events := extra[claudeEventsKey]
	hosted, names := false, []string{}
	if message.Role(m) == schema.Assistant && events != nil {
		hosted, names = true, referredInEvents(events)
	}
	for p := message.Parts(m); p.Next(); {
		found, is := hostedIn(p.Part)
		if hosted = hosted || is; p.Kind == message.ServerResult {
			names = append(names, found...)
		}
	}
	if !hosted {
		return m
	}
	text, stays := e.Hosted(names)
	if stays {
		return m
	}
	if events != nil {
		extra = maps.Clone(extra)
		delete(extra, claudeEventsKey)
		m = message.WithExtra(m, extra)
	}
	return message.Without(m, func(p message.Part) bool {
		_, is := hostedIn(p)
		return is
	}, text)
}

// Pairs says of each tool call, by id, what it and its result look like.
type Pairs map[string]Pair

// Pair is a call and its result.
type Pair struct {
	Name   string
	Marked bool // the call is one of a provider's own kind of search tool
	Native bool // the result is in a provider's own form
}

// RewriteAll rewrites messages with the editor for their calls. It returns the same slice
// if no message changes.
func RewriteAll[M adk.MessageType](msgs []M, edit func(Pairs) Editor) []M {
	p := Pairs{}
	for _, msg := range msgs {
		v := ViewOf(msg)
		for _, c := range v.Calls {
			p[c.ID] = Pair{Name: c.Name, Marked: c.Marked}
		}
		for _, r := range v.Results {
			x := p[r.ID]
			x.Native = x.Native || r.Native
			p[r.ID] = x
		}
	}
	e := edit(p)
	return Each(msgs, func(msg M) M { return rewrite(msg, e) })
}

// Each applies a function to all messages. It returns the same slice if none changes.
func Each[M adk.MessageType](msgs []M, f func(M) M) []M {
	next := msgs
	for i, msg := range msgs {
		other := f(msg)
		if other == msg {
			continue
		}
		if &next[0] == &msgs[0] {
			next = slices.Clone(msgs)
		}
		next[i] = other
	}
	return next
}

// SameList reports whether two slices are one.
func SameList[M adk.MessageType](a, b []M) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Pack returns a copy in which what a provider's own search left can be stored in a checkpoint; the
// same message if nothing changes.
func Pack[M adk.MessageType](m M) M {
	events := message.Extra(m)[claudeEventsKey]
	if text, packs := packed(events); packs && message.Role(m) == schema.Assistant {
		typ := reflect.TypeOf(events)
		claudeEventsType.Store(&typ)
		m = withEvents(m, text)
	}
	return convertHosted(m, packed)
}

// packed is a value as JSON, unless there is none or it is text already.
func packed(v any) (text any, packs bool) {
	if _, is := v.(string); is || v == nil {
		return nil, false
	}
	text, err := sonic.ConfigStd.MarshalToString(v)
	return text, err == nil
}

// Unpack undoes Pack. Of parts it makes a map, which the adapters read as well as their own types.
func Unpack[M adk.MessageType](m M) M {
	typ := claudeEventsType.Load()
	if text, is := message.Extra(m)[claudeEventsKey].(string); is && typ != nil {
		events := reflect.New(*typ)
		if sonic.ConfigStd.UnmarshalFromString(text, events.Interface()) == nil {
			m = withEvents(m, events.Elem().Interface())
		}
	}
	return convertHosted(m, func(v any) (any, bool) {
		var fields map[string]any
		text, is := v.(string)
		return fields, is && sonic.ConfigStd.UnmarshalFromString(text, &fields) == nil
	})
}

func withEvents[M adk.MessageType](m M, events any) M {
	extra := maps.Clone(message.Extra(m))
	extra[claudeEventsKey] = events
	return message.WithExtra(m, extra)
}

// convertHosted returns a copy in which the values of searches that the provider ran are converted;
// the same message if none is.
func convertHosted[M adk.MessageType](m M, convert func(any) (any, bool)) M {
	return message.Edit(m, func(p message.Part) (message.Part, bool) {
		if _, hosted := hostedIn(p); !hosted {
			return p, false
		}
		v, changes := convert(p.Value())
		return p.WithValue(v), changes
	})
}

// claudeEventsType is the type of the claude adapter's value under claudeEventsKey, once one
// has been seen. The adapter accepts no other; without it the events are lost, and the model
// searches again.
var claudeEventsType atomic.Pointer[reflect.Type]

// jsonOf is a value as JSON, or the text that replaces it while a run may stop.
func jsonOf(v any) (string, error) {
	if text, packed := v.(string); packed {
		return text, nil
	}
	return sonic.ConfigStd.MarshalToString(v)
}

// referredInEvents returns the tools that the events of claude's hosted search refer to.
func referredInEvents(events any) []string {
	var list []struct {
		Content struct {
			ToolReferences []struct{ ToolName string }
		}
	}
	names := []string{}
	if text, err := jsonOf(events); err != nil || sonic.ConfigStd.UnmarshalFromString(text, &list) != nil {
		return names
	}
	for _, ev := range list {
		for _, ref := range ev.Content.ToolReferences {
			names = append(names, ref.ToolName)
		}
	}
	return names
}

// hostedIn reports whether a part, whose value is of an adapter's own type, is the call or the result
// of a search that the provider ran, and which tools it refers to.
func hostedIn(p message.Part) (names []string, ok bool) {
	if p.Kind != message.ServerCall && p.Kind != message.ServerResult || p.Value() == nil {
		return nil, false
	}
	var fields map[string]json.RawMessage
	if text, err := jsonOf(p.Value()); err != nil || sonic.ConfigStd.UnmarshalFromString(text, &fields) != nil {
		return nil, false
	}
	for key, value := range fields {
		if strings.HasPrefix(key, "tool_search") {
			names, ok = append(names, referred(value)...), true
		}
	}
	return names, ok
}

// referred returns the tools in a result of agenticopenai's or agenticclaude's hosted search.
func referred(result []byte) (names []string) {
	var r struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		SearchResult struct {
			References []struct {
				Name string `json:"tool_name"`
			} `json:"tool_references"`
		} `json:"search_result"`
	}
	if sonic.ConfigStd.Unmarshal(result, &r) != nil {
		return nil
	}
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	for _, t := range r.SearchResult.References {
		names = append(names, t.Name)
	}
	return names
}
