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
	mu          sync.Mutex
	openMethods map[string]string       // the methods of requests without an answer, by id
	results     map[string]storedResult // answers that the client has not asked for yet, by id
}

// storedResult is a result as JSON, or why it cannot be read.
type storedResult struct {
	result string
	err    error
}

// The methods whose answers are kept.
const (
	methodCall = "tools/call"
	methodList = "tools/list"
)

// keyStored is the key of _meta with the id of a stored answer.
const keyStored = "einolean.kept"

func newWire() *wire {
	return &wire{openMethods: map[string]string{}, results: map[string]storedResult{}}
}

// recordSent records a message that the client sends.
func (w *wire) recordSent(message []byte) {
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
		w.openMethods[normalizeID(string(m.ID))] = m.Method
	case "notifications/cancelled":
		id := normalizeID(string(m.Params.RequestID))
		delete(w.openMethods, id)
		delete(w.results, id)
	}
}

// receive takes ownership of a message, and returns what the client reads: the frame of a stored
// answer, or the message without what is nested too deeply.
func (w *wire) receive(message []byte) []byte {
	trimmed := bytes.TrimSpace(message)
	if !w.hasOpenRequests() || len(trimmed) == 0 || !json.Valid(trimmed) {
		return limitDepth(message)
	}
	// A copy would be as large. The message is not changed while the text, or what is kept of it, is used.
	switch text := unsafe.String(unsafe.SliceData(trimmed), len(trimmed)); text[0] {
	case '[':
		batch := []byte{'['}
		for m := range elementsOf(text) {
			if len(batch) > 1 {
				batch = append(batch, ',')
			}
			batch = append(batch, w.receive([]byte(m))...)
		}
		return append(batch, ']')
	case '{':
		if id, result := answerIn(text); result != "" {
			if framed := w.store(id, storedResult{result: result}); framed != "" {
				return []byte(`{"jsonrpc":"2.0","id":` + id + `,"result":` + framed + `}`)
			}
		}
	}
	return limitDepth(message)
}

// answerIn returns the result in a message, and the request ID, or "".
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

// hasOpenRequests reports whether there are requests whose answers are to be stored.
func (w *wire) hasOpenRequests() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.openMethods) > 0
}

// store stores the answer to a request, and returns its frame; "" if the answer is not to be stored.
func (w *wire) store(id string, k storedResult) (frame string) {
	key := normalizeID(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	method := w.openMethods[key]
	if method == "" {
		return ""
	}
	delete(w.openMethods, key)
	w.results[key] = k
	return newFrame(method, key, k.result)
}

// newFrame returns what the client reads of a result. The frame of a list has its cursor and how long
// it is valid.
func newFrame(method, key, result string) string {
	quoted, _ := json.Marshal(key) // a string can always be encoded
	out := `{"_meta":{"` + keyStored + `":` + string(quoted) + `}`
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

// takeResult returns the answer whose frame has this _meta; ok is false if there is none.
func (w *wire) takeResult(meta mcp.Meta) (k storedResult, ok bool) {
	id, _ := meta[keyStored].(string)
	w.mu.Lock()
	defer w.mu.Unlock()
	k, ok = w.results[id]
	delete(w.results, id)
	return k, ok
}

// How much of the start and of the end of a message is looked at to find out what it answers.
const edgeSize = 4 << 10

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
	framed := w.store(id, storedResult{err: errTooLarge})
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

// normalizeID returns an id in one form: a server may answer to 1 with 1.0.
func normalizeID(raw string) string {
	if n, err := strconv.ParseFloat(raw, 64); err == nil {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return raw
}

// tapConn returns a connection whose messages the wire sees. It returns connections of programs and
// over HTTP unchanged: they are tapped already, and the client checks the type of a streamable one.
func (w *wire) tapConn(t mcp.Transport, conn mcp.Connection) mcp.Connection {
	switch t.(type) {
	case *command, *mcp.StreamableClientTransport, *mcp.SSEClientTransport:
		return conn
	}
	if fmt.Sprintf("%T", conn) == "*mcp.streamableClientConn" {
		return conn
	}
	return &tappedConn{conn, w}
}

// tappedConn is a connection whose answers are stored.
type tappedConn struct {
	mcp.Connection
	wire *wire
}

// Write sends a message.
func (c *tappedConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if data, err := jsonrpc.EncodeMessage(m); err == nil {
		c.wire.recordSent(data)
	}
	return c.Connection.Write(ctx, m)
}

// Read returns the next message.
func (c *tappedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	answer, ok := m.(*jsonrpc.Response)
	if err != nil || !ok || answer.Error != nil || !json.Valid(answer.Result) {
		return m, err
	}
	id, err := json.Marshal(answer.ID.Raw())
	if err != nil {
		return m, nil
	}
	if framed := c.wire.store(string(id), storedResult{result: string(answer.Result)}); framed != "" {
		framedAnswer := *answer
		framedAnswer.Result = json.RawMessage(framed)
		return &framedAnswer, nil
	}
	return m, nil
}

// limitDepth removes from a message what is nested too deeply.
func limitDepth(message []byte) []byte {
	var l depthLimiter
	return l.limit(message)
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
