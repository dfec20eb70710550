// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package calltool

import (
	"slices"
	"sync"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/toolnames"
)

// Declared is what the requests of a run declare.
type Declared struct {
	CallTool bool // requests have call_tool
	// IsHidden reports whether a tool is hidden and not in the request's tools. Calls without a record, of such a tool, are
	// shown as calls of call_tool, as providers refuse calls of unknown tools. It is nil if there are none.
	IsHidden func(tool string) bool
}

// Requests shows the messages of a run as the model wrote them. It edits each message once: later requests have the same
// pointers. The zero value is ready for use, also concurrently.
type Requests[M adk.MessageType] struct {
	mu       sync.Mutex
	read     []M    // as they are in the agent
	shown    []M    // as the model sees them
	open     []pair // calls of the last answer whose results have not come
	edited   int    // messages that differ
	callTool bool   // what they were shown with

	// The open calls before each message that has results or calls, to continue after a change in the middle.
	openBefore [][]pair
}

// pair is a call in the agent, and the name that the model sees.
type pair struct{ id, name, shown string }

// Show returns the messages of a request as the model wrote them: the same slice if none differs.
func (r *Requests[M]) Show(msgs []M, declared Declared) []M {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := 0
	if r.callTool == declared.CallTool {
		same = message.CommonPrefix(r.read, msgs)
	}
	var known map[M]M // earlier edits, to show the same pointers after a change in the middle
	if same < len(r.read) {
		known = map[M]M{}
		for i := same; i < len(r.read); i++ {
			if r.read[i] != r.shown[i] {
				known[r.read[i]] = r.shown[i]
				r.edited--
			}
		}
		r.open = r.openBefore[same]
		r.read, r.shown, r.openBefore = r.read[:same:same], r.shown[:same:same], r.openBefore[:same:same]
	}
	r.callTool = declared.CallTool
	for _, m := range msgs[same:] {
		r.openBefore = append(r.openBefore, r.open)
		shown := r.show(m, declared)
		if shown != m {
			r.edited++
			if earlier, ok := known[m]; ok && sameCalls(earlier, shown) {
				shown = earlier
			}
		}
		r.read, r.shown = append(r.read, m), append(r.shown, shown)
	}
	if r.edited == 0 {
		return msgs
	}
	return r.shown[:len(msgs):len(msgs)]
}

// sameCalls reports whether two forms of one message show the same calls and results.
func sameCalls[M adk.MessageType](a, b M) bool {
	if !slices.Equal(message.Calls(a), message.Calls(b)) {
		return false
	}
	return slices.EqualFunc(message.Results(a), message.Results(b), func(a, b message.Part) bool {
		return a.ID() == b.ID() && a.Name() == b.Name()
	})
}

// show returns a message as the model sees it, and notes its calls.
func (r *Requests[M]) show(m M, declared Declared) M {
	records := recordsText(m)
	hasCall, hasResult, throughCallTool := false, false, records != ""
	for p := message.Parts(m); p.Next(); {
		switch p.Kind {
		case message.Call:
			hasCall = true
			throughCallTool = throughCallTool || p.Name() == toolnames.Call || declared.isUndeclared(p.Name())
		case message.Result:
			hasResult = true
		}
	}
	if hasCall {
		r.open = nil
	}
	switch {
	case hasCall && throughCallTool:
		return r.showCalls(m, records, declared)
	case hasCall:
		return m
	case hasResult && len(r.open) > 0:
		return r.showResults(m)
	case records != "":
		return withoutRecords(m)
	}
	return m
}

func (d Declared) isUndeclared(tool string) bool {
	return d.CallTool && d.IsHidden != nil && tool != toolnames.Call && d.IsHidden(tool)
}

// showCalls returns an answer with its calls as the model wrote them.
func (r *Requests[M]) showCalls(m M, records string, declared Declared) M {
	var found []*written
	if records != "" {
		found = recordsOf(records, message.Calls(m))
	}
	i := -1
	next := message.EditCalls(m, func(c message.ToolCall) message.ToolCall {
		i++
		shown := c
		switch {
		case found != nil && found[i] != nil && declared.CallTool:
			shown = found[i].original(c)
		case declared.isUndeclared(c.Name):
			shown = asCallTool(c)
		}
		r.open = append(r.open, pair{c.ID, c.Name, shown.Name})
		return shown
	})
	if records != "" {
		next = withoutRecords(next)
	}
	return next
}

// showResults returns results with the names of their calls. Ids repeat, and some adapters give none: a result belongs to
// the first open call that fits.
func (r *Requests[M]) showResults(m M) M {
	open := slices.Clone(r.open)
	next := message.RenameTools(m, func(id, name string) string {
		at := slices.IndexFunc(open, func(p pair) bool { return p.id == id && (p.name == name || p.shown == name) })
		if at < 0 {
			at = slices.IndexFunc(open, func(p pair) bool { return p.id == id && id != "" })
		}
		if at < 0 {
			return name
		}
		shown := open[at].shown
		open = slices.Delete(open, at, at+1)
		return shown
	})
	r.open = open
	return next
}
