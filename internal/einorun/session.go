// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einorun

// Sessions of Eino v0.10. Their history is a log of events: what a handler changes in the messages
// counts in the next turn only if an event tells it. An event that names a message which is not in
// the log makes the session impossible to rebuild, so this is careful about which ones are.
//
// v0.9 has neither the types of events nor a field for them. So they are filled through reflection;
// internal/dev/einonext holds what is written here against v0.10.

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/message"
)

// Keys that Eino writes into the Extra of messages.
const (
	generatedKey = "_eino_adk_runtime_generated_system_message" // made for this run, and in no log
)

// unloggedKey is the run-local value with the ids of messages that are not in the log for certain.
// It is there from the first model call of a run in a session on, and survives an interrupt.
const unloggedKey = "__einolean_unlogged__"

// variant is the name of the field of an agent's event that carries an event of a session.
const variant = "SessionEventVariant"

// hasSessions reports whether Eino has sessions, and every field in which this package tells them
// something: without one of them, nothing is told.
var hasSessions = sync.OnceValue(func() bool {
	return isWhole(reflect.TypeFor[adk.AgentEvent]())
})

// isWhole reports whether a type of events has the fields that are filled here.
func isWhole(of reflect.Type) bool {
	for _, name := range []string{variant, "Event"} {
		f, ok := of.FieldByName(name)
		if !ok || f.Type.Kind() != reflect.Pointer || f.Type.Elem().Kind() != reflect.Struct {
			return false
		}
		of = f.Type.Elem()
	}
	kind, ok := of.FieldByName("Kind")
	if !ok || kind.Type.Kind() != reflect.String {
		return false
	}
	for field, names := range map[string][]string{"MessagesReplaced": nil, "MessageUpdated": {"MessageID", "Message"}, "MessageInserted": {"Message", "BeforeMessageID"}, "MessagesDeleted": {"MessageIDs"}} {
		f, ok := of.FieldByName(field)
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

// inputOf is the input with which a run begins: a field of its context since v0.10.
func inputOf[M adk.MessageType](rc any) *adk.TypedAgentInput[M] {
	f := reflect.Indirect(reflect.ValueOf(rc)).FieldByName("AgentInput")
	if !f.IsValid() || !f.CanInterface() {
		return nil
	}
	in, _ := f.Interface().(*adk.TypedAgentInput[M])
	return in
}

// session is the log of a session, as far as a run knows it.
type session[M adk.MessageType] struct {
	input map[string]bool // ids of the messages with which the run begins; nil if it goes on after an interrupt
	seen  bool            // there was a model call
	none  bool            // the run has no session
	// unlogged are ids of messages that may not be in the log: those that stood in the first
	// model call and not in the input. The agent made them for this run, or a handler
	// before ours inserted them.
	unlogged map[string]bool
	sent     []M // at the end of the log, by events of the handler that is changing the messages
}

type sessionKey struct{}

// withSession gives a run that begins its session, if it may have one.
func withSession[M adk.MessageType](ctx context.Context, rc any) context.Context {
	if !hasSessions() {
		return ctx
	}
	s := &session[M]{unlogged: map[string]bool{}}
	if in := inputOf[M](rc); in != nil {
		s.input = make(map[string]bool, len(in.Messages))
		for _, m := range in.Messages {
			s.input[idOf(m)] = true
		}
		s.none = len(in.Messages) == 0 || s.input[""] // in a session, Eino gives each message an id
	}
	return context.WithValue(ctx, sessionKey{}, s)
}

// sessionOf returns the session of a run, nil if it has none, and the messages as the model should
// read them.
func sessionOf[M adk.MessageType](ctx context.Context, msgs []M) (*session[M], []M) {
	s, _ := ctx.Value(sessionKey{}).(*session[M])
	if s == nil || s.none {
		return nil, msgs
	}
	if !s.seen {
		s.seen, s.none = true, !s.begin(ctx, msgs)
		if !s.none && s.input != nil {
			msgs = inOrder(msgs)
		}
	}
	if s.none {
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

// inOrder returns messages in which the results of parallel calls stand in the order of the calls.
// The log has them as they ended, but the model read them in this order in their own turn.
func inOrder[M adk.MessageType](msgs []M) []M {
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

// begin reports whether the run has a session, and finds out which messages may not be in its log.
func (s *session[M]) begin(ctx context.Context, msgs []M) bool {
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
	s.keep(ctx)
	return true
}

func (s *session[M]) keep(ctx context.Context) {
	_ = adk.SetRunLocalValue(ctx, unloggedKey, slices.Sorted(maps.Keys(s.unlogged)))
}

// isLogged reports whether a message is in the log for certain.
func (s *session[M]) isLogged(m M) bool {
	id := idOf(m)
	return id != "" && !s.unlogged[id] && message.Extra(m)[generatedKey] == nil
}

// isSupposed reports whether a message is in the log in all likelihood: handlers mark what they
// insert, and tell the log. An event had better not name it.
func (s *session[M]) isProbablyLogged(m M) bool {
	extra := message.Extra(m)
	return s.unlogged[idOf(m)] && len(extra) > 1 && extra[generatedKey] == nil
}

// SendMessage sends an event that has an output: a message which a handler puts into the
// messages. A session logs it, at the end.
func SendMessage[M adk.MessageType](ctx context.Context, event *adk.TypedAgentEvent[M]) error {
	if s, _ := ctx.Value(sessionKey{}).(*session[M]); s != nil && !s.none {
		s.sent = append(s.sent, event.Output.MessageOutput.Message)
	}
	return adk.TypedSendEvent(ctx, event)
}

// tell tells the log how a handler changed the messages. It returns them with ids, on copies.
func (s *session[M]) logChanges(ctx context.Context, before, after []M) []M {
	d := s.diff(slices.Concat(before, s.sent), after)
	s.sent = nil
	if d.whole {
		msgs := slices.DeleteFunc(slices.Clone(d.after), func(m M) bool { return !s.isLogged(m) && !s.isProbablyLogged(m) })
		for i, m := range msgs {
			delete(s.unlogged, idOf(m))
			msgs[i] = message.Copy(m)
		}
		s.keep(ctx)
		send[M](ctx, "messages_replaced", "MessagesReplaced", msgs)
		return d.after
	}
	for _, e := range d.events {
		send[M](ctx, e.kind, e.field, e.content)
	}
	return d.after
}

// diff is what a handler changed, as events.
type diff[M adk.MessageType] struct {
	session *session[M]
	was     map[string]M
	is      map[string]bool
	after   []M
	events  []change
	whole   bool // only the whole list can tell it
}

// change is an event: the field of it that is set, and with what.
type change struct {
	kind, field string
	content     any
}

// diff is what changed, as far as the log is concerned.
func (s *session[M]) diff(before, after []M) *diff[M] {
	d := &diff[M]{session: s, was: make(map[string]M, len(before)), is: make(map[string]bool, len(after))}
	untouched := make(map[M]bool, len(before))
	for _, m := range before {
		untouched[m] = true
		if id := idOf(m); id != "" {
			_, twice := d.was[id]
			d.whole = d.whole || twice
			d.was[id] = m
		}
	}
	d.after = slices.Clone(after)
	for i, m := range after {
		if !untouched[m] && !message.IsNil(m) && idOf(m) == "" {
			d.after[i] = message.Copy(m)
			adk.EnsureMessageID(d.after[i])
		}
		if id := idOf(d.after[i]); id != "" {
			d.whole = d.whole || d.is[id]
			d.is[id] = true
		}
	}
	d.whole = d.whole || d.isReordered(before)
	d.update()
	d.insert()
	d.remove(before)
	return d
}

// isReordered reports whether messages that stayed stand in another order.
func (d *diff[M]) isReordered(before []M) bool {
	ids := func(list []M, in func(string) bool) (out []string) {
		for _, m := range list {
			if id := idOf(m); id != "" && in(id) {
				out = append(out, id)
			}
		}
		return out
	}
	return !slices.Equal(ids(before, func(id string) bool { return d.is[id] }),
		ids(d.after, func(id string) bool { _, ok := d.was[id]; return ok }))
}

func (d *diff[M]) update() {
	for _, m := range d.after {
		id := idOf(m)
		old, known := d.was[id]
		if !known || old == m || reflect.DeepEqual(old, m) {
			continue
		}
		d.whole = d.whole || d.session.isProbablyLogged(old)
		if d.session.isLogged(old) {
			d.events = append(d.events, change{"message_updated", "MessageUpdated", map[string]any{"MessageID": id, "Message": message.Copy(m)}})
		}
	}
}

// insert tells of new messages, each by the next one that is in the log.
func (d *diff[M]) insert() {
	next, over := "", false // over: a supposed message is in between
	var events []change
	for _, m := range slices.Backward(d.after) {
		id := idOf(m)
		if _, known := d.was[id]; known || id == "" {
			switch {
			case d.session.isProbablyLogged(m):
				over = true
			case d.session.isLogged(m):
				next, over = id, false
			}
			continue
		}
		d.whole = d.whole || over
		events = append(events, change{"message_inserted", "MessageInserted", map[string]any{"Message": message.Copy(m), "BeforeMessageID": next}})
		next, over = id, false
	}
	d.events = append(d.events, events...)
}

func (d *diff[M]) remove(before []M) {
	var ids []string
	for _, m := range before {
		id := idOf(m)
		if d.is[id] {
			continue
		}
		d.whole = d.whole || d.session.isProbablyLogged(m)
		if d.session.isLogged(m) {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		d.events = append(d.events, change{"messages_deleted", "MessagesDeleted", map[string]any{"MessageIDs": ids}})
	}
}

// send sends an event with one field set: to a list, or to a struct with these fields.
func send[M adk.MessageType](ctx context.Context, kind, field string, content any) {
	event := &adk.TypedAgentEvent[M]{}
	carrier := made(reflect.ValueOf(event).Elem().FieldByName(variant))
	e := made(carrier.FieldByName("Event"))
	e.FieldByName("Kind").SetString(kind)
	payload := made(e.FieldByName(field))
	if fields, ok := content.(map[string]any); ok {
		for name, v := range fields {
			payload.FieldByName(name).Set(reflect.ValueOf(v))
		}
	} else {
		payload.Set(reflect.ValueOf(content))
	}
	_ = adk.TypedSendEvent(ctx, event) // fails only outside of a run, where nobody listens
}

// made sets a pointer to something new, and returns that.
func made(pointer reflect.Value) reflect.Value {
	pointer.Set(reflect.New(pointer.Type().Elem()))
	return pointer.Elem()
}
