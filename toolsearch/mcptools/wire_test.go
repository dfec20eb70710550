// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// What servers write, from the wire to the model.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/race"
)

// What cannot be read of one tool costs this tool, and not the others of its server.
//
//claim:mcp-35
func TestList_UnreadableDefinitionCostsOnlyItsTool(t *testing.T) {
	f := newFixture()
	for _, name := range []string{"huge_number", "wrong_type", "exact"} {
		f.server.AddTool(&mcp.Tool{Name: name, Description: "of " + name, InputSchema: object(`"x":{"type":"number","maximum":` + map[string]string{"huge_number": "111222", "wrong_type": "5", "exact": "333444"}[name] + `}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("ran"), nil })
	}
	f.server.AddTool(&mcp.Tool{Name: "output", InputSchema: object(""), OutputSchema: object(`"x":{"type":"number","maximum":111222}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("ran"), nil })
	var lists atomic.Int64
	mend := strings.NewReplacer("111222", "1e400", `"of wrong_type"`, "5", "333444", "9223372036854775807", `"tools":[`, `"tools":[null,7,`)
	var events recorder
	s := open(t, map[string]Server{"srv": f.piped(func(data []byte) []byte {
		if bytes.Contains(data, []byte(`"tools":[`)) {
			lists.Add(1)
		}
		return []byte(mend.Replace(string(data)))
	})}, Options{OnEvent: events.record})
	names := namesIn(t, ctx, s)
	require.Contains(t, names, "srv__echo")
	for _, name := range []string{"exact", "huge_number", "wrong_type", "output"} {
		require.Contains(t, names, "srv__"+name, "a flaw costs its keyword")
	}
	refused := map[string]string{}
	for _, e := range events.of(einolean.KindToolRefused) {
		refused[e.Tool] = e.Err.Error()
	}
	require.Len(t, refused, 1)
	require.Contains(t, refused[""], "not an object")
	require.NoError(t, statusOf(s, "srv").Err)
	require.Equal(t, int64(1), lists.Load(), "it is not read again and again")
	info, err := find(t, ctx, s, "srv__exact").Info(ctx)
	require.NoError(t, err)
	schema, err := info.ToJSONSchema()
	require.NoError(t, err)
	x, _ := schema.Properties.Get("x")
	require.Equal(t, "9223372036854775807", string(x.Maximum))
}

// replaced is a client's transport that gives answers with the text RAW another body.
type replaced func(id string) io.Reader

func (f replaced) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || r.Method != http.MethodPost {
		return resp, err
	}
	whole, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.Body = io.NopCloser(bytes.NewReader(whole)); bytes.Contains(whole, []byte(`"RAW"`)) {
		message := whole[bytes.IndexByte(whole, '{'):]
		resp.Header.Set("Content-Type", "application/json")
		resp.Body = io.NopCloser(f(firstID(message)))
	}
	return resp, nil
}

// letters is a text of JSON of n bytes, with an escape in each four.
func letters(n int64) io.Reader { return io.LimitReader(&endless{}, n) }

type endless struct{ at int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = `ab\n`[e.at%4]
		e.at++
	}
	return len(p), nil
}

// peak is the most memory that objects took while f ran, garbage included, beyond what they took before.
func peak(f func()) int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	began, most, done, ended := heap(), int64(0), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			metrics.Read(sample)
			most = max(most, int64(sample[0].Value.Uint64()))
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	<-ended
	return most - began
}

// rawHTTP is a server over HTTP whose tool raw answers with a text of n bytes.
func rawHTTP(t *testing.T, n int64) *Servers {
	f := newFixture()
	f.add(&mcp.Tool{Name: "raw", InputSchema: object("")}, func(context.Context, args) (*mcp.CallToolResult, error) { return text("RAW"), nil })
	client := &http.Client{Transport: replaced(func(id string) io.Reader {
		return io.MultiReader(strings.NewReader(`{"result":{"content":[{"type":"text","text":"`), letters(n), strings.NewReader(`"}]},"id":`+id+`,"jsonrpc":"2.0"}`))
	})}
	return open(t, map[string]Server{"http": {URL: f.web(t, nil).URL}, "stdio": child(t, "letters")}, Options{HTTPClient: client})
}

func TestWire_LargeResultTakesLittleMemory(t *testing.T) {
	race.Skip(t, "measures memory")
	n := int64(200 << 20)
	if testing.Short() {
		n = 50 << 20
	}
	s := rawHTTP(t, n)
	for _, way := range []string{"http", "stdio"} {
		raw := find(t, ctx, s, way+"__raw").(tool.InvokableTool)
		var answer string
		took := peak(func() {
			var err error
			answer, err = raw.InvokableRun(ctx, fmt.Sprintf(`{"n":%d}`, n))
			require.NoError(t, err)
		})
		require.Equal(t, int(n/4*3), len(answer)) // require.Len would print it
		t.Logf("%s: %d MB for a result of %d MB", way, took>>20, n>>20)
		require.LessOrEqual(t, took, 4*n, way)
	}
}

// A message that is too large costs its call, which is told so, and not the session.
func TestWire_TooLargeMessageIsAnswered(t *testing.T) {
	defer func(most int) { maxMessage = most }(maxMessage)
	maxMessage = 1 << 20
	s := rawHTTP(t, 3<<20)
	for _, way := range []string{"http", "stdio"} {
		answer := ask(t, ctx, s, way+"__raw", `{"n":3000000}`)
		require.Contains(t, answer, "the server's message is over", way)
		require.Contains(t, answer, "check before you repeat it", way)
		require.Equal(t, StateUp, statusOf(s, way).State)
		require.Equal(t, "x", ask(t, ctx, s, way+"__echo", `{"text":"x"}`), way)
	}
}

// In whatever pieces an event comes, and in however many lines of data, the client reads the frame
// of an answer, and every other message as it is.
func TestBody_ReadsEventsInAnyPieces(t *testing.T) {
	stream := ": hello\n\nevent: message\nid: 7\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{\"content\":[],\r\ndata:\"structuredContent\":{\"n\":12345678901234567890}}}\r\n\r\n" +
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\nretry: 5\ndata: not json"
	want := ": hello\n\nevent: message\nid: 7\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"_meta\":{\"einolean.kept\":\"1\"},\"content\":[]}}\n\n" +
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\nretry: 5\ndata: not json\n"
	for _, in := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream)), iotest.DataErrReader(strings.NewReader(stream))} {
		w := newWire()
		w.recordSent([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`))
		got, err := io.ReadAll(newBody(io.NopCloser(in), true, w, nil))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		k, ok := w.takeResult(mcp.Meta{keyStored: "1"})
		require.True(t, ok)
		read, err := readResult(k.result)
		require.NoError(t, err)
		require.Equal(t, `{"n":12345678901234567890}`, read.text())
	}
}

// What a call that was given up gets too late is not kept.
func TestWire_DropsAnswersThatNobodyAwaits(t *testing.T) {
	w := newWire()
	answer := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	require.Equal(t, string(answer), string(w.receive(answer)), "nobody asked")
	for _, late := range []bool{true, false} {
		w.recordSent([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`))
		if !late {
			w.receive(answer)
		}
		w.recordSent([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
		w.receive(answer)
		require.Empty(t, w.results)
		require.Empty(t, w.openMethods)
	}
	w.recordSent([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`))
	require.Contains(t, string(w.receive([]byte(`[{"jsonrpc":"2.0","id":1.0,"result":{"content":[]}},{"jsonrpc":"2.0","method":"x"}]`))), keyStored, "in a batch, with its id as another number")
}

func TestWire_FindsTheIDAtEitherEnd(t *testing.T) {
	for id, message := range map[string][2]string{
		"1":   {`{"jsonrpc":"2.0","id":1,"result":{"content":[{"id":2,"text":"aaa`, `aaa"}]}}`},
		`"x"`: {`{"id":"x","result":{"a`, `a"}`},
		"3":   {`{"result":{"id":9,"content":"aaa`, `aaa"},"jsonrpc":"2.0","id":3}` + "\n"},
		"4":   {`{"result":{"content":"aaa`, `aaa"},"id": 4 , "jsonrpc":"2.0"}`},
		"":    {`{"method":"x","params":{"id":5,"a":"aaa`, `aaa"}}`},
	} {
		w := newWire()
		w.openMethods[normalizeID(id)] = methodCall
		framed := w.tooLarge([]byte(message[0]), []byte(message[1]))
		require.Equal(t, id != "", framed != nil, message)
	}
}
