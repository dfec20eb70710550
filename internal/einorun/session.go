// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einorun

// Sessions of Eino v0.10. Their history is a log of events: a handler's change of the messages
// reaches the next turn only through an event. An event that refers to a message outside the log
// makes the session impossible to rebuild. So this file tracks which messages are in the log.
//
// v0.9 has neither the types of events nor a field for them. So they are filled through reflection;
// internal/dev/einonext tests this file against v0.10.

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/message"
)

// generatedKey is the key that Eino writes into the Extra of a message that the agent generated for
// this run. It is in no log.
const generatedKey = "_eino_adk_runtime_generated_system_message"

// unloggedKey is the run-local value with the ids of messages that may not be in the log. It exists
// from the first model call of a run in a session on, and survives an interrupt.
const unloggedKey = "__einolean_unlogged__"

// variantField is the field of Eino's agent event that carries an event of a session.
const variantField = "SessionEventVariant"

// hasSessions reports whether this version of Eino has sessions, with all fields that this package
// sets. If one is missing, no events are sent.
var hasSessions = sync.OnceValue(func() bool {
	return hasEventFields(reflect.TypeFor[adk.AgentEvent]())
})

// hasEventFields reports whether a type of events has all fields that this package sets.
func hasEventFields(typ reflect.Type) bool {
	for _, name := range []string{variantField, "Event"} {
		f, ok := typ.FieldByName(name)
		if !ok || f.Type.Kind() != reflect.Pointer || f.Type.Elem().Kind() != reflect.Struct {
			return false
		}
		typ = f.Type.Elem()
	}
	kind, ok := typ.FieldByName("Kind")
	if !ok || kind.Type.Kind() != reflect.String {
		return false
	}
	for field, names := range map[string][]string{"MessagesReplaced": nil, "MessageUpdated": {"MessageID", "Message"}, "MessageInserted": {"Message", "BeforeMessageID"}, "MessagesDeleted": {"MessageIDs"}} {
		f, ok := typ.FieldByName(field)
		if !ok || f.Type.Kind() != reflect.Pointer {
			return false
		}
		for _, name := range names {
			if _, ok := f.Type.Elem().FieldByName(name); !ok {
				return false
			}
		}
	}
	return true
}

// agentInput returns the input of a run: a field of its context since v0.10.
func agentInput[M adk.MessageType](rc any) *adk.TypedAgentInput[M] {
	f := reflect.Indirect(reflect.ValueOf(rc)).FieldByName("AgentInput")
	if !f.IsValid() || !f.CanInterface() {
		return nil
	}
	in, _ := f.Interface().(*adk.TypedAgentInput[M])
	return in
}

// loggedSession is the log of a session, as far as a run knows it.
type loggedSession[M adk.MessageType] struct {
	input        map[string]bool // ids of the run's input messages; nil if it resumes after an interrupt
	hasModelCall bool            // there was a model call
	isAbsent     bool            // the run has no session
	// unlogged are ids of messages that may not be in the log: those that stood in the first
	// model call and not in the input. The agent made them for this run, or a handler
	// before ours inserted them.
	unlogged map[string]bool
	appended []M // to the log, by events of the running handler
}

type sessionKey struct{}

// withSession adds a session to the context of a run that may have one.
func withSession[M adk.MessageType](ctx context.Context, rc any) context.Context {
	if !hasSessions() {
		return ctx
	}
	s := &loggedSession[M]{unlogged: map[string]bool{}}
	if in := agentInput[M](rc); in != nil {
		s.input = make(map[string]bool, len(in.Messages))
		for _, m := range in.Messages {
			s.input[idOf(m)] = true
		}
		s.isAbsent = len(in.Messages) == 0 || s.input[""] // in a session, Eino gives each message an id
	}
	return context.WithValue(ctx, sessionKey{}, s)
}

// sessionOf returns the session of a run, or nil, and the messages in the order in which the model
// should read them.
func sessionOf[M adk.MessageType](ctx context.Context, msgs []M) (*loggedSession[M], []M) {
	s, _ := ctx.Value(sessionKey{}).(*loggedSession[M])
	if s == nil || s.isAbsent {
		return nil, msgs
	}
	if !s.hasModelCall {
		s.hasModelCall, s.isAbsent = true, !s.detect(ctx, msgs)
		if !s.isAbsent && s.input != nil {
			msgs = sortResults(msgs)
		}
	}
	if s.isAbsent {
		return nil, msgs
	}
	return s, msgs
}

// resultOf returns the id of the call whose result a message is; "" if it is none.
func resultOf[M adk.MessageType](m M) string {
	for p := message.Parts(m); p.Next(); {
		if p.Kind == message.Result {
			return p.ID()
		}
	}
	return ""
}

// idOf returns the id that Eino gave a message; "" if it has none.
func idOf[M adk.MessageType](m M) string {
	if message.IsNil(m) {
		return ""
	}
	return adk.GetMessageID(m)
}

// sortResults returns messages in which the results of parallel calls are in the order of the
// calls. The log has them in the order in which they ended, but in their own turn the model read
// them in this order.
func sortResults[M adk.MessageType](msgs []M) []M {
	next := slices.Clone(msgs)
	for i, m := range next {
		calls := message.Calls(m)
		if len(calls) < 2 {
			continue
		}
		place := func(m M) int {
			id := resultOf(m)
			return slices.IndexFunc(calls, func(c message.ToolCall) bool { return c.ID == id })
		}
		results := next[i+1:]
		if end := slices.IndexFunc(results, func(m M) bool { return resultOf(m) == "" || place(m) < 0 }); end >= 0 {
			results = results[:end]
		}
		slices.SortStableFunc(results, func(a, b M) int { return place(a) - place(b) })
	}
	return next
}

// detect reports whether the run has a session, and collects the messages that may not be in its
// log.
func (s *loggedSession[M]) detect(ctx context.Context, msgs []M) bool {
	if s.input == nil {
		v, ok, err := adk.GetRunLocalValue(ctx, unloggedKey)
		ids, _ := v.([]string)
		for _, id := range ids {
			s.unlogged[id] = true
		}
		return ok && err == nil
	}
	for _, m := range msgs {
		if id := idOf(m); id != "" && !s.input[id] {
			s.unlogged[id] = true
		}
	}
	s.saveUnlogged(ctx)
	return true
}

func (s *loggedSession[M]) saveUnlogged(ctx context.Context) {
	_ = adk.SetRunLocalValue(ctx, unloggedKey, slices.Sorted(maps.Keys(s.unlogged)))
}

// isLogged reports whether a message is certainly in the log.
func (s *loggedSession[M]) isLogged(m M) bool {
	id := idOf(m)
	return id != "" && !s.unlogged[id] && message.Extra(m)[generatedKey] == nil
}

// isProbablyLogged reports whether a message is probably in the log: handlers mark the messages
// that they insert, and send an event. No event should refer to it.
func (s *loggedSession[M]) isProbablyLogged(m M) bool {
	extra := message.Extra(m)
	return s.unlogged[idOf(m)] && len(extra) > 1 && extra[generatedKey] == nil
}

// SendMessage sends an event with a message that a handler inserts. A session appends the message
// to its log.
func SendMessage[M adk.MessageType](ctx context.Context, event *adk.TypedAgentEvent[M]) error {
	if s, _ := ctx.Value(sessionKey{}).(*loggedSession[M]); s != nil && !s.isAbsent {
		s.appended = append(s.appended, event.Output.MessageOutput.Message)
	}
	return adk.TypedSendEvent(ctx, event)
}

// logChanges sends the events for a handler's changes. It returns the messages with ids, on copies.
func (s *loggedSession[M]) logChanges(ctx context.Context, before, after []M) []M {
	d := s.newDiff(slices.Concat(before, s.appended), after)
	s.appended = nil
	if d.needsReplace {
		msgs := slices.DeleteFunc(slices.Clone(d.after), func(m M) bool { return !s.isLogged(m) && !s.isProbablyLogged(m) })
		for i, m := range msgs {
			delete(s.unlogged, idOf(m))
			msgs[i] = message.Copy(m)
		}
		s.saveUnlogged(ctx)
		send[M](ctx, "messages_replaced", "MessagesReplaced", msgs)
		return d.after
	}
	for _, e := range d.events {
		send[M](ctx, e.kind, e.field, e.content)
	}
	return d.after
}

// diff is the difference between two message lists, as session events.
type diff[M adk.MessageType] struct {
	session      *loggedSession[M]
	before       map[string]M
	afterIDs     map[string]bool
	after        []M
	events       []change
	needsReplace bool // only an event with the whole list can express it
}

// change is one event: the field that is set, and its content.
type change struct {
	kind, field string
	content     any
}

// newDiff compares two message lists. Messages without an id get one, on a copy.
func (s *loggedSession[M]) newDiff(before, after []M) *diff[M] {
	d := &diff[M]{session: s, before: make(map[string]M, len(before)), afterIDs: make(map[string]bool, len(after))}
	untouched := make(map[M]bool, len(before))
	for _, m := range before {
		untouched[m] = true
		if id := idOf(m); id != "" {
			_, twice := d.before[id]
			d.needsReplace = d.needsReplace || twice
			d.before[id] = m
		}
	}
	d.after = slices.Clone(after)
	for i, m := range after {
		if !untouched[m] && !message.IsNil(m) && idOf(m) == "" {
			d.after[i] = message.Copy(m)
			adk.EnsureMessageID(d.after[i])
		}
		if id := idOf(d.after[i]); id != "" {
			d.needsReplace = d.needsReplace || d.afterIDs[id]
			d.afterIDs[id] = true
		}
	}
	d.needsReplace = d.needsReplace || d.isReordered(before)
	d.update()
	d.insert()
	d.remove(before)
	return d
}

// isReordered reports whether the messages in both lists have another order.
func (d *diff[M]) isReordered(before []M) bool {
	ids := func(list []M, in func(string) bool) (out []string) {
		for _, m := range list {
			if id := idOf(m); id != "" && in(id) {
				out = append(out, id)
			}
		}
		return out
	}
	return !slices.Equal(ids(before, func(id string) bool { return d.afterIDs[id] }),
		ids(d.after, func(id string) bool { _, ok := d.before[id]; return ok }))
}

func (d *diff[M]) update() {
	for _, m := range d.after {
		id := idOf(m)
		old, known := d.before[id]
		if !known || old == m || reflect.DeepEqual(old, m) {
			continue
		}
		d.needsReplace = d.needsReplace || d.session.isProbablyLogged(old)
		if d.session.isLogged(old) {
			d.events = append(d.events, change{"message_updated", "MessageUpdated", map[string]any{"MessageID": id, "Message": message.Copy(m)}})
		}
	}
}

// insert adds an event for each new message, which places it before the next logged one.
func (d *diff[M]) insert() {
	next, crossesUncertain := "", false // a message that is only probably logged is in between
	var events []change
	for _, m := range slices.Backward(d.after) {
		id := idOf(m)
		if _, known := d.before[id]; known || id == "" {
			switch {
			case d.session.isProbablyLogged(m):
				crossesUncertain = true
			case d.session.isLogged(m):
				next, crossesUncertain = id, false
			}
			continue
		}
		d.needsReplace = d.needsReplace || crossesUncertain
		events = append(events, change{"message_inserted", "MessageInserted", map[string]any{"Message": message.Copy(m), "BeforeMessageID": next}})
		next, crossesUncertain = id, false
	}
	d.events = append(d.events, events...)
}

func (d *diff[M]) remove(before []M) {
	var ids []string
	for _, m := range before {
		id := idOf(m)
		if d.afterIDs[id] {
			continue
		}
		d.needsReplace = d.needsReplace || d.session.isProbablyLogged(m)
		if d.session.isLogged(m) {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		d.events = append(d.events, change{"messages_deleted", "MessagesDeleted", map[string]any{"MessageIDs": ids}})
	}
}

// send sends a session event with one field set: to a list, or to a struct with these fields.
func send[M adk.MessageType](ctx context.Context, kind, field string, content any) {
	event := &adk.TypedAgentEvent[M]{}
	carrier := allocate(reflect.ValueOf(event).Elem().FieldByName(variantField))
	e := allocate(carrier.FieldByName("Event"))
	e.FieldByName("Kind").SetString(kind)
	payload := allocate(e.FieldByName(field))
	if fields, ok := content.(map[string]any); ok {
		for name, v := range fields {
			payload.FieldByName(name).Set(reflect.ValueOf(v))
		}
	} else {
		payload.Set(reflect.ValueOf(content))
	}
	_ = adk.TypedSendEvent(ctx, event) // fails only outside of a run, where nobody listens
}

// allocate sets a pointer to a new value, and returns that value.
func allocate(pointer reflect.Value) reflect.Value {
	pointer.Set(reflect.New(pointer.Type().Elem()))
	return pointer.Elem()
}
