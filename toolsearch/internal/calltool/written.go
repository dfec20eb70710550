// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package calltool

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/toolnames"
)

// writtenKey is the key, in the Extra of an answer, of how the model wrote its calls. It is in the Extra of the message
// and not in that of the call: applications that store a call as id, name and arguments lose the latter.
const writtenKey = "__einolean_toolsearch_calls__"

// written is how the model wrote a call of call_tool that has another name in the agent. It has what is around the
// arguments, and not the arguments, so that they are not stored twice.
type written struct {
	ID     string `json:"id,omitempty"`
	Tool   string `json:"tool"`             // the name in the agent
	Digest string `json:"digest"`           // of the name and the arguments in the agent
	Before string `json:"before,omitempty"` // the arguments in the agent
	After  string `json:"after,omitempty"`
	Whole  string `json:"whole,omitempty"` // what the model wrote, if the arguments in the agent are no part of it
}

func newWritten(wrote, renamed message.ToolCall) written {
	w := written{ID: wrote.ID, Tool: renamed.Name, Digest: digest(renamed)}
	if i := strings.LastIndex(wrote.Args, renamed.Args); i >= 0 {
		w.Before, w.After = wrote.Args[:i], wrote.Args[i+len(renamed.Args):]
	} else {
		w.Whole = wrote.Args
	}
	return w
}

func digest(c message.ToolCall) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.Name + "\x00" + c.Args)) // which never fails
	return strconv.FormatUint(h.Sum64(), 36)
}

// original returns the call as the model wrote it. If its arguments have changed since, as where they were cleared, it is
// in the usual form.
func (w *written) original(now message.ToolCall) message.ToolCall {
	if w.Digest != digest(now) {
		return asCallTool(now)
	}
	return message.ToolCall{ID: now.ID, Name: toolnames.Call, Args: cmp.Or(w.Whole, w.Before+now.Args+w.After)}
}

// asCallTool returns a call of a tool as a call of call_tool.
func asCallTool(c message.ToolCall) message.ToolCall {
	args := c.Args
	switch {
	case strings.TrimSpace(args) == "":
		args = "{}"
	case !json.Valid([]byte(args)):
		args = quoted(args)
	}
	return message.ToolCall{ID: c.ID, Name: toolnames.Call, Args: `{"name":` + quoted(c.Name) + `,"arguments":` + args + `}`}
}

// Renaming is why a call has another name in the agent than the model wrote.
type Renaming int

// The reasons.
const (
	NotRenamed Renaming = iota
	Repaired            // the name was wrong: the model sees the right one
	Unwrapped           // the call was one of call_tool: the model sees what it wrote
)

// Rename returns an answer with the calls that rename returns, and with a record of how the model wrote those that were
// unwrapped. It is the same answer if no call is renamed.
func Rename[M adk.MessageType](answer M, rename func(message.ToolCall) (message.ToolCall, Renaming)) M {
	if message.IsNil(answer) {
		return answer
	}
	var records []written
	next := message.EditCalls(answer, func(c message.ToolCall) message.ToolCall {
		renamed, why := rename(c)
		switch why {
		case NotRenamed:
			return c
		case Unwrapped:
			records = append(records, newWritten(c, renamed))
		}
		return renamed
	})
	if len(records) == 0 {
		return next
	}
	text, _ := json.Marshal(records) // strings always can be encoded
	return addRecords(next, string(text))
}

// addRecords returns a copy of a message with more records. They are one text, lists one after another, because Eino
// joins the texts of chunks.
func addRecords[M adk.MessageType](m M, records string) M {
	extra := maps.Clone(message.Extra(m))
	if extra == nil {
		extra = map[string]any{}
	}
	before, _ := extra[writtenKey].(string)
	extra[writtenKey] = before + records
	return message.WithExtra(m, extra)
}

func recordsText[M adk.MessageType](m M) string {
	text, _ := message.Extra(m)[writtenKey].(string)
	return text
}

// withoutRecords returns a copy of a message without the records: no provider reads them.
func withoutRecords[M adk.MessageType](m M) M {
	extra := maps.Clone(message.Extra(m))
	if delete(extra, writtenKey); len(extra) == 0 {
		extra = nil
	}
	return message.WithExtra(m, extra)
}

// recordsOf returns the record of each call of an answer, in order; nil for a call that has none.
//
// A call of today may have another id than its record, other arguments, or be gone: handlers edit answers. So the record
// of a call is one that agrees with it in as much as possible.
func recordsOf(text string, calls []message.ToolCall) []*written {
	records := decodeRecords(text)
	found := make([]*written, len(calls))
	agreements := []func(w *written, c message.ToolCall, digest string) bool{
		func(w *written, c message.ToolCall, digest string) bool { return w.Digest == digest && w.ID == c.ID },
		func(w *written, _ message.ToolCall, digest string) bool { return w.Digest == digest },
		func(w *written, c message.ToolCall, _ string) bool { return w.Tool == c.Name && w.ID == c.ID },
		func(w *written, c message.ToolCall, _ string) bool { return w.Tool == c.Name },
	}
	for _, agrees := range agreements {
		for i, c := range calls {
			if found[i] != nil || len(records) == 0 {
				continue
			}
			d := digest(c)
			if at := slices.IndexFunc(records, func(w *written) bool { return agrees(w, c, d) }); at >= 0 {
				found[i] = records[at]
				records = slices.Delete(records, at, at+1)
			}
		}
	}
	return found
}

func decodeRecords(text string) (records []*written) {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var more []*written
		if d.Decode(&more) != nil { // the end, or not ours
			return slices.DeleteFunc(records, func(w *written) bool { return w == nil })
		}
		records = append(records, more...)
	}
}
