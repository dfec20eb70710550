// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// The client would round numbers, and lose a whole answer for one member that it cannot read. So it
// only gets the frame of an answer, with the key of what the server wrote.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean/internal/jsontext"
)

// wire stands between a server and the client of one session. It keeps what the server answers to
// calls and to lists, as the server wrote it. Nil keeps nothing.
type wire struct {
	mu    sync.Mutex
	asked map[string]string // the methods of requests without an answer, by id
	kept  map[string]kept   // answers that the client has not asked for yet, by id
}

// kept is a result as JSON, or why it cannot be read.
type kept struct {
	result string
	err    error
}

// The methods whose answers are kept.
const (
	methodCall = "tools/call"
	methodList = "tools/list"
)

// keyKept is the key of _meta with the id of an answer that is kept.
const keyKept = "einolean.kept"

func newWire() *wire { return &wire{asked: map[string]string{}, kept: map[string]kept{}} }

// sent notes what the client sends.
func (w *wire) sent(message []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			RequestID json.RawMessage `json:"requestId"`
		} `json:"params"`
	}
	if w == nil || json.Unmarshal(message, &m) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch m.Method {
	case methodCall, methodList:
		w.asked[idOf(string(m.ID))] = m.Method
	case "notifications/cancelled":
		id := idOf(string(m.Params.RequestID))
		delete(w.asked, id)
		delete(w.kept, id)
	}
}

// came takes a message over, and returns what the client reads of it: the frame of an answer that is kept, and all
// else without what is nested too deeply.
func (w *wire) came(message []byte) []byte {
	trimmed := bytes.TrimSpace(message)
	if !w.waits() || len(trimmed) == 0 || !json.Valid(trimmed) {
		return cutDeep(message)
	}
	// A copy would be as large. The message is not changed while the text, or what is kept of it, is used.
	switch text := unsafe.String(unsafe.SliceData(trimmed), len(trimmed)); text[0] {
	case '[':
		batch := []byte{'['}
		for m := range elementsOf(text) {
			if len(batch) > 1 {
				batch = append(batch, ',')
			}
			batch = append(batch, w.came([]byte(m))...)
		}
		return append(batch, ']')
	case '{':
		if id, result := answerIn(text); result != "" {
			if framed := w.keep(id, kept{result: result}); framed != "" {
				return []byte(`{"jsonrpc":"2.0","id":` + id + `,"result":` + framed + `}`)
			}
		}
	}
	return cutDeep(message)
}

// answerIn is the result in a message, and the id of the request; "" if it has none.
func answerIn(message string) (id, result string) {
	for key, value := range membersOf(message) {
		switch key {
		case "id":
			id = value
		case "result":
			result = value
		case "method", "error":
			return "", ""
		}
	}
	return id, result
}

// waits reports whether there are requests whose answers are to be kept.
func (w *wire) waits() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.asked) > 0
}

// keep keeps the answer to a request, and returns its frame; "" if its answer is not to be kept.
func (w *wire) keep(id string, k kept) (frame string) {
	key := idOf(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	method := w.asked[key]
	if method == "" {
		return ""
	}
	delete(w.asked, key)
	w.kept[key] = k
	return frameOf(method, key, k.result)
}

// frameOf is what the client reads of a result: of a list, what tells where it goes on and how long
// it is valid.
func frameOf(method, key, result string) string {
	quoted, _ := json.Marshal(key) // a string can always be encoded
	out := `{"_meta":{"` + keyKept + `":` + string(quoted) + `}`
	if method == methodCall {
		return out + `,"content":[]}`
	}
	if strings.HasPrefix(result, "{") {
		for name, value := range membersOf(result) {
			_, err := strconv.ParseFloat(value, 64)
			if (name == "nextCursor" || name == "cacheScope" || name == "resultType") && value[0] == '"' || name == "ttlMs" && err == nil {
				out += `,"` + name + `":` + value
			}
		}
	}
	return out + `,"tools":[]}`
}

// take returns the answer whose frame has this _meta; ok is false if there is none.
func (w *wire) take(meta mcp.Meta) (k kept, ok bool) {
	id, _ := meta[keyKept].(string)
	w.mu.Lock()
	defer w.mu.Unlock()
	k, ok = w.kept[id]
	delete(w.kept, id)
	return k, ok
}

// How much of the start and of the end of a message is looked at to find out what it answers.
const ends = 4 << 10

// lastID is an id at the end of a message.
var lastID = regexp.MustCompile(`"id"\s*:\s*(-?\d+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// tooLarge returns the frame of an answer that is too large, of which these are the start and the
// end; nil if it is not known what it answers.
func (w *wire) tooLarge(head, tail []byte) []byte {
	id := firstID(head)
	if m := lastID.FindSubmatch(tail); id == "" && m != nil {
		id = string(m[1])
	}
	if w == nil || id == "" {
		return nil
	}
	framed := w.keep(id, kept{err: errTooLarge})
	if framed == "" {
		return nil
	}
	return []byte(`{"jsonrpc":"2.0","id":` + id + `,"result":` + framed + `}`)
}

// firstID is the id at the start of a message, before what is long.
func firstID(head []byte) string {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return ""
		}
		if key == "id" {
			return string(value)
		}
	}
}

// idOf is an id in one form: a server may answer to 1 with 1.0.
func idOf(raw string) string {
	if n, err := strconv.ParseFloat(raw, 64); err == nil {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return raw
}

// tap returns a connection whose messages the wire sees. That of a program, or over HTTP, has shown
// them already; and the client must see a streamable one as what it is.
func (w *wire) tap(t mcp.Transport, conn mcp.Connection) mcp.Connection {
	switch t.(type) {
	case *command, *mcp.StreamableClientTransport, *mcp.SSEClientTransport:
		return conn
	}
	if fmt.Sprintf("%T", conn) == "*mcp.streamableClientConn" {
		return conn
	}
	return &tapped{conn, w}
}

// tapped is a connection whose answers are kept.
type tapped struct {
	mcp.Connection
	wire *wire
}

// Write sends a message.
func (t *tapped) Write(ctx context.Context, m jsonrpc.Message) error {
	if data, err := jsonrpc.EncodeMessage(m); err == nil {
		t.wire.sent(data)
	}
	return t.Connection.Write(ctx, m)
}

// Read returns the next message.
func (t *tapped) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := t.Connection.Read(ctx)
	answer, is := m.(*jsonrpc.Response)
	if err != nil || !is || answer.Error != nil || !json.Valid(answer.Result) {
		return m, err
	}
	id, err := json.Marshal(answer.ID.Raw())
	if err != nil {
		return m, nil
	}
	if framed := t.wire.keep(string(id), kept{result: string(answer.Result)}); framed != "" {
		own := *answer
		own.Result = json.RawMessage(framed)
		return &own, nil
	}
	return m, nil
}

// cutDeep cuts what is nested too deeply from one message.
func cutDeep(message []byte) []byte {
	var l levels
	return l.cut(message)
}

// membersOf are the members of an object of valid JSON, in their order.
func membersOf(object string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := skip(object, 1, " \t\r\n,"); object[i] != '}'; i = skip(object, i, " \t\r\n,") {
			end := jsontext.ValueEnd(object, i)
			key := jsontext.Unescape(object[i+1 : end-1])
			i = skip(object, end, " \t\r\n:")
			end = jsontext.ValueEnd(object, i)
			if !yield(key, object[i:end]) {
				return
			}
			i = end
		}
	}
}

// elementsOf are the elements of a list of valid JSON.
func elementsOf(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := skip(list, 1, " \t\r\n,"); list[i] != ']'; i = skip(list, i, " \t\r\n,") {
			end := jsontext.ValueEnd(list, i)
			if !yield(list[i:end]) {
				return
			}
			i = end
		}
	}
}

// skip is the first offset from i on at which none of the given bytes stands.
func skip(s string, i int, signs string) int {
	for strings.IndexByte(signs, s[i]) >= 0 {
		i++
	}
	return i
}
