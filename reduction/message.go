// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Messages as plain data, the rounds of calls and results in them, their weight, and copies with edits
// or for callbacks. No function changes a message that it is given. Calls and results of the provider's own tools do not count, but for
// the weight: they belong to the provider.

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
)

const (
	// processedKey marks, in the Extra map of an assistant message, a round that
	// was cleared or rewritten. Eino's package sets the same mark. It also marks a
	// result that a user's handler replaced, which nothing else shows.
	processedKey = "_reduction_mw_processed"

	// oursKey is set beside processedKey by this package: it means that results without their
	// own mark were not replaced then.
	oursKey = "__einolean_reduction__"
)

// call is one tool call of an assistant message.
type call struct {
	index          int // position in its message
	id, name, args string
}

// result is one tool result. A message may carry several.
type result struct {
	index    int // position in its message
	id, name string
	texts    []string // its text parts, in order
	moved    []string // the references to its media
	search   bool     // the answer of a native tool search: never touched
	handled  bool     // a user's handler has replaced it
}

// size is the number of bytes of text.
func (r result) size() (n int) {
	for _, t := range r.texts {
		n += len(t)
	}
	return n
}

// view is the input of decisions: plain data, without a type parameter.
type view struct {
	calls     []call
	results   []result
	processed bool     // cleared or rewritten earlier
	ours      bool     // by this package
	moved     []string // the references to media of the user's
}

// replacement replaces a result.
type replacement struct {
	index int                     // of the result in its message
	text  string                  // replaces all texts, if parts is nil
	parts []schema.ToolOutputPart // replaces everything
	keep  bool                    // replaces nothing: only the mark is set
	mark  bool                    // set processedKey on the result
}

// edit is what changes in one message.
type edit struct {
	mark    bool           // set processedKey and oursKey
	args    map[int]string // new arguments by index of the call
	results []replacement
	media   []*reference // replaced first
}

// marked returns a copy of an Extra map with marks in it.
func marked(extra map[string]any, keys ...string) map[string]any {
	out := make(map[string]any, len(extra)+len(keys))
	maps.Copy(out, extra)
	for _, k := range keys {
		out[k] = true
	}
	return out
}

// viewOf is what a message has to decide on, in the lists of an earlier view that is over.
func viewOf[M adk.MessageType](m M, old view) view {
	role, extra := message.Role(m), message.Extra(m)
	v := view{calls: old.calls[:0], results: old.results[:0], processed: message.IsMarked(extra, processedKey), ours: message.IsMarked(extra, oursKey)}
	for p := message.Parts(m); p.Next(); {
		switch {
		case p.Kind == message.Call && role == schema.Assistant:
			v.calls = append(v.calls, call{index: p.Index, id: p.ID(), name: p.Name(), args: p.Text()})
		case p.Kind == message.Result && role != schema.Assistant:
			v.results = append(v.results, resultIn(p.Part))
		case p.Kind == message.Text && role == schema.User && isMovedMedium(p.Text()):
			v.moved = append(v.moved, p.Text())
		}
	}
	return v
}

func resultIn(p message.Part) result {
	r := result{index: p.Index, id: p.ID(), name: p.Name(), handled: message.IsMarked(p.Extra(), processedKey)}
	for item := p.Parts(); item.Next(); {
		switch {
		case item.Kind == message.Tools:
			r.search = true
		case item.Kind != message.Text:
		case isMovedMedium(item.Text()):
			r.moved = append(r.moved, item.Text())
		default:
			r.texts = append(r.texts, item.Text())
		}
	}
	return r
}

// pair is a call and its result.
type pair struct {
	call   call
	found  bool // there is a result
	at     int  // the message of the result
	result result
}

// round is an assistant message with tool calls, and their results.
type round struct {
	at        int  // the assistant message
	processed bool // cleared or rewritten before
	ours      bool // by this package
	pairs     []pair
}

// messages lists the messages with the round's results, in the order of the
// history, each once.
func (r round) messages() []int {
	var out []int
	for _, p := range r.pairs {
		if p.found {
			out = append(out, p.at)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// roundsOf finds the rounds of a history. A result belongs to the newest call of its id that
// has none yet; ids may repeat, in a round and over a conversation. A result without an id
// belongs to a call of the newest round, by its name or else by its position. A result that
// matches no call is in no round.
func roundsOf[M adk.MessageType](msgs []M) []round {
	p := pairer{rounds: make([]round, 0, len(msgs)/2)}
	var v view
	for i, m := range msgs {
		v = viewOf(m, v)
		p.next(i, v)
	}
	return p.rounds
}

type pairer struct {
	rounds []round

	// The rounds with calls of an id, oldest first, for results that are not of the newest round: of
	// the first entered rounds, none until the first such result, as most histories have none.
	byID    map[string][]int
	entered int
}

// next takes the message after those before.
func (p *pairer) next(at int, v view) {
	for _, r := range v.results {
		p.add(at, r)
	}
	if len(v.calls) == 0 {
		return
	}
	r := round{at: at, processed: v.processed, ours: v.ours, pairs: make([]pair, len(v.calls))}
	for i, c := range v.calls {
		r.pairs[i].call = c
	}
	p.rounds = append(p.rounds, r)
}

// add finds the call of a result. Nearly always that is in the newest round.
func (p *pairer) add(at int, r result) {
	if len(p.rounds) == 0 {
		return
	}
	newest := &p.rounds[len(p.rounds)-1]
	to := newest.waiting(r, true)
	switch {
	case to != nil:
	case r.id != "":
		to = p.older(r)
	default:
		to = newest.waiting(r, false)
	}
	if to != nil {
		to.found, to.at, to.result = true, at, r
	}
}

// older finds the newest call that waits for a result with an id. It skips rounds that have
// none left.
func (p *pairer) older(r result) *pair {
	if p.byID == nil {
		p.byID = make(map[string][]int, len(p.rounds))
	}
	for ; p.entered < len(p.rounds); p.entered++ {
		for _, each := range p.rounds[p.entered].pairs {
			if rounds := p.byID[each.call.id]; len(rounds) == 0 || rounds[len(rounds)-1] != p.entered {
				p.byID[each.call.id] = append(rounds, p.entered)
			}
		}
	}
	rounds := p.byID[r.id]
	for len(rounds) > 0 {
		if to := p.rounds[rounds[len(rounds)-1]].waiting(r, true); to != nil {
			return to
		}
		rounds = rounds[:len(rounds)-1]
		p.byID[r.id] = rounds
	}
	return nil
}

// waiting returns the call that waits for a result: among those with its id, or among all if
// its id is lost, the first of its name, or else the first. Without an id, a call of another
// name does not match.
func (r *round) waiting(got result, byID bool) *pair {
	var first *pair
	for i := range r.pairs {
		p := &r.pairs[i]
		if p.found || byID && p.call.id != got.id {
			continue
		}
		if p.call.name == got.name {
			return p
		}
		if first == nil && (got.id != "" || got.name == "") {
			first = p
		}
	}
	return first
}

// outside returns the rounds before the last keep, and where the kept ones begin.
func outside(rounds []round, keep int) (before []round, end int) {
	if len(rounds) <= keep {
		return nil, 0
	}
	n := len(rounds) - keep
	return rounds[:n], rounds[n].at
}

// newest is where the results of the newest round begin.
func newest[M adk.MessageType](msgs []M) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if callsTools(msgs[i]) {
			return i + 1
		}
	}
	return len(msgs)
}

// saidIn returns the text of a message of the user or the model.
func saidIn[M adk.MessageType](m M) (user, model string) {
	var texts []string
	for p := message.Parts(m); p.Next(); {
		if p.Kind == message.Text {
			texts = append(texts, p.Text())
		}
	}
	switch text := strings.Join(texts, "\n"); message.Role(m) {
	case schema.User:
		return text, ""
	case schema.Assistant:
		return "", text
	}
	return "", ""
}

// callsTools reports whether a message has tool calls.
func callsTools[M adk.MessageType](m M) bool {
	if message.Role(m) == schema.Assistant {
		for p := message.Parts(m); p.Next(); {
			if p.Kind == message.Call {
				return true
			}
		}
	}
	return false
}

// eachNoticed calls f with the results that may be notices.
func eachNoticed[M adk.MessageType](msgs []M, f func(result)) {
	for _, m := range msgs {
		for p := message.Parts(m); p.Next(); {
			if p.Kind != message.Result {
				continue
			}
			may := false
			for item := p.Parts(); item.Next(); {
				may = may || endsLikeNotice(item.Text())
			}
			if may {
				f(resultIn(p.Part))
			}
		}
	}
}

// mediaOf lists the media that tools returned and that the user sent, as references without content.
func mediaOf[M adk.MessageType](m M) (out []*reference) {
	add := func(of int, p message.Part) {
		if p.Kind != message.Medium {
			return
		}
		if part := p.Output(); message.MediumOf(&part) != nil {
			out = append(out, &reference{result: of, part: p.Index, medium: &part})
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

// resultAt returns a copy of the result at index, for a user's handler.
func resultAt[M adk.MessageType](m M, index int) *schema.ToolResult {
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

// applied returns a copy with the edit in it.
func applied[M adk.MessageType](m M, e edit) M {
	next := m
	if len(e.args)+len(e.media)+len(e.results) > 0 {
		next = message.Edit(m, e.part)
	}
	switch {
	case e.mark:
		return message.WithExtra(next, marked(message.Extra(next), processedKey, oursKey))
	case next == m:
		return message.Copy(m)
	}
	return next
}

// part edits a part of a message.
func (e *edit) part(p message.Part) (message.Part, bool) {
	switch p.Kind {
	case message.Call:
		if args, changes := e.args[p.Index]; changes {
			return p.WithText(args), true
		}
	case message.Medium:
		return e.move(p, -1)
	case message.Result:
		return e.result(p)
	}
	return p, false
}

// move replaces a medium of a result by a text, or one that the user sent.
func (e *edit) move(p message.Part, of int) (message.Part, bool) {
	for _, moved := range e.media {
		if moved.result == of && moved.part == p.Index {
			return p.WithText(moved.text), true
		}
	}
	return p, false
}

// result edits a result: first its media.
func (e *edit) result(p message.Part) (message.Part, bool) {
	var items []message.Part
	changes := false
	for item := p.Parts(); item.Next(); {
		next, moved := e.move(item.Part, p.Index)
		items, changes = append(items, next), changes || moved
	}
	marks := false
	for _, r := range e.results {
		if r.index == p.Index {
			items, changes, marks = r.in(items), changes || !r.keep, marks || r.mark
		}
	}
	if marks {
		p = p.WithExtra(marked(p.Extra(), processedKey))
	}
	if changes {
		p = p.With(items...)
	}
	return p, changes || marks
}

// in returns the parts of a result after its replacement.
func (r replacement) in(items []message.Part) []message.Part {
	if r.keep {
		return items
	}
	if r.parts == nil {
		return oneText(items, func(p *message.Part) bool {
			return p.Kind == message.Text && !isMovedMedium(p.Text())
		}, func(p *message.Part) { *p = p.WithText(r.text) })
	}
	out := make([]message.Part, len(r.parts))
	for i, part := range r.parts {
		// What was there before has more than a tool's result can express, such as a file's name.
		at := slices.IndexFunc(items, func(p message.Part) bool {
			old := p.Output()
			return message.SameMedium(&old, &part)
		})
		made, ok := message.FromOutput(part)
		switch {
		case at >= 0:
			out[i] = items[at]
		case ok:
			out[i] = made
		default:
			return items
		}
	}
	return out
}

// own returns a copy for a callback that may write to it. Values in Extra, and tools that were
// found, are shared.
func own[T any](v T) T {
	ownParts(reflect.ValueOf(&v).Elem())
	return v
}

// messages is where the types of messages are.
var messages = reflect.TypeFor[schema.Message]().PkgPath()

// ownParts copies what a value points to.
func ownParts(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		of := v.Type().Elem()
		if v.IsNil() || of.PkgPath() != messages && of.PkgPath() != "" || of == reflect.TypeFor[schema.ToolSearchResult]() {
			return
		}
		next := reflect.New(of)
		next.Elem().Set(v.Elem())
		ownParts(next.Elem())
		v.Set(next)
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		next := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(next, v)
		for i := range next.Len() {
			ownParts(next.Index(i))
		}
		v.Set(next)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		next := reflect.MakeMapWithSize(v.Type(), v.Len())
		for entries := v.MapRange(); entries.Next(); {
			next.SetMapIndex(entries.Key(), entries.Value())
		}
		v.Set(next)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				ownParts(field)
			}
		}
	}
}

// weigh adds a message to w without allocating, and returns the tokens that the provider reports
// for the request that it answers; 0 if there is no report.
func weigh[M adk.MessageType](w *weight, m M) (usage int) {
	if message.IsNil(m) {
		return 0
	}
	w.tokens += messageOverhead
	role := message.Role(m)
	if role == schema.Assistant {
		if u := message.Usage(m); u != nil {
			usage = u.PromptTokens
		}
		w.edited = message.IsMarked(message.Extra(m), processedKey)
	}
	for p := message.Parts(m); p.Next(); {
		weighPart(w, &p.Part, role)
	}
	return usage
}

// weighPart weighs what the model reads of a part.
func weighPart(w *weight, p *message.Part, role schema.RoleType) {
	switch p.Kind {
	case message.Result:
		if role == schema.User { // in a message with blocks, which names its tool
			w.text(p.Name())
		}
		for item := p.Parts(); item.Next(); {
			weighItem(w, &item.Part)
		}
	case message.Text:
		if role == schema.User {
			w.result(p.Text())
		} else {
			w.text(p.Text())
		}
	case message.Reasoning:
		w.text(p.Text())
	case message.Call:
		w.call(p.Name(), p.Text())
	case message.Medium:
		w.tokens += mediaTokens
	case message.ServerCall:
		w.call(p.Name(), p.Text())
		weighValue(w, p.Value())
	case message.ServerResult:
		w.text(p.Name())
		w.text(p.Text())
		weighValue(w, p.Value())
	}
}

func weighItem(w *weight, item *message.Part) {
	switch item.Kind {
	case message.Text:
		w.result(item.Text())
	case message.Tools:
		if found, _ := item.Value().(*schema.ToolSearchResult); found != nil {
			w.tools(found.Tools)
		}
	case message.Medium:
		w.tokens += mediaTokens
	}
}

func weighTools(w *weight, items []*schema.MCPListToolsItem) {
	for _, t := range items {
		if t == nil {
			continue
		}
		w.tool(t.Name, t.Description)
		if t.InputSchema != nil {
			w.tokens += w.sizes.of(t.InputSchema, func() int64 { return schemaTokens(schema.NewParamsOneOfByJSONSchema(t.InputSchema)) })
		}
	}
}

// weighValue weighs a value from a component. Only values that are neither text nor bytes
// must be marshalled for that; those that cannot be count as nothing.
func weighValue(w *weight, v any) {
	defer func() { _ = recover() }()
	switch v := v.(type) {
	case nil:
	case string:
		w.text(v)
	case []byte:
		w.bytes(v)
	case json.RawMessage:
		w.bytes(v)
	case []*schema.MCPListToolsItem:
		weighTools(w, v)
	default:
		text, _ := json.Marshal(v)
		w.bytes(text)
	}
}

// oneText lets set change the first text of parts, and drops the others. It changes the parts.
func oneText[P any](parts []P, isText func(*P) bool, set func(*P)) []P {
	out := parts[:0]
	found := false
	for i := range parts {
		is := isText(&parts[i])
		if is && found {
			continue
		}
		out = append(out, parts[i])
		if is {
			found = true
			set(&out[len(out)-1])
		}
	}
	return out
}
