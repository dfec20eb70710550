// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Results: the model reads each once.

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
)

// png is the data of a picture of n bytes.
func png(n int) []byte {
	data := make([]byte, n)
	copy(data, "\x89PNG\r\n\x1a\n")
	for i := 8; i < n; i++ {
		data[i] = byte(i * 7)
	}
	return data
}

func indented(v any) string {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(data)
}

// reread is a result as a server sends it.
func reread(r *mcp.CallToolResult) *result {
	whole, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	own, err := readResult(string(whole))
	if err != nil {
		panic(err)
	}
	return own
}

func textOf(r *mcp.CallToolResult) string { return reread(r).text() }

func partsOf(r *mcp.CallToolResult, media bool) []schema.ToolOutputPart {
	return reread(r).parts(media)
}

// twice are results whose structured content is the same value as the contents, as servers return
// them.
func twice() map[string]*mcp.CallToolResult {
	long := bigText(3000)
	person := map[string]any{"name": "Ada \"the\" first", "age": 36.0, "tags": []any{"a<b", "ü\n表"}, "admin": true, "boss": nil}
	picture := png(2000)
	encoded := base64.StdEncoding.EncodeToString(picture)
	return map[string]*mcp.CallToolResult{
		"FastMCP str":          {Content: allText(long), StructuredContent: map[string]any{"result": long}},
		"FastMCP int":          {Content: allText("42"), StructuredContent: map[string]any{"result": 42.0}},
		"FastMCP bool":         {Content: allText("true"), StructuredContent: map[string]any{"result": true}},
		"FastMCP list of str":  {Content: allText("one", "two", long), StructuredContent: map[string]any{"result": []any{"one", "two", long}}},
		"FastMCP list of int":  {Content: allText("1", "22"), StructuredContent: map[string]any{"result": []any{1.0, 22.0}}},
		"FastMCP object":       {Content: allText(indented(person)), StructuredContent: person},
		"FastMCP wrapped":      {Content: allText(indented(person)), StructuredContent: map[string]any{"result": person}},
		"FastMCP list of dict": {Content: allText(indented(person), indented(map[string]any{"name": "B"})), StructuredContent: map[string]any{"result": []any{person, map[string]any{"name": "B"}}}},
		"FastMCP None":         {Content: nil, StructuredContent: nil},
		"filesystem":           {Content: allText(long), StructuredContent: map[string]any{"content": long}},
		"filesystem media": {Content: []mcp.Content{&mcp.ImageContent{Data: picture, MIMEType: "image/png"}},
			StructuredContent: map[string]any{"content": []any{map[string]any{"type": "image", "data": encoded, "mimeType": "image/png"}}}},
		"memory":     {Content: allText(indented([]any{person})), StructuredContent: map[string]any{"entities": []any{person}}},
		"everything": {Content: allText(`{"temperature":33,"conditions":"Cloudy"}`), StructuredContent: map[string]any{"temperature": 33.0, "conditions": "Cloudy"}},
		"a list":     {Content: allText("a", "b", "c"), StructuredContent: []any{"a", "b", "c"}},
		"a text":     {Content: allText(long), StructuredContent: long},
		"a resource": {Content: []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x:/1", Text: long}}}, StructuredContent: map[string]any{"result": long}},
		"notations":  {Content: allText(` {"b": [1.50, 1E2, 0.0], "a": "\u00fc\/"} `), StructuredContent: json.RawMessage(`{"a":"ü/","b":[1.5,100,0]}`)},
		"19 digits":  {Content: allText(`{"id": 1234567890123456789}`), StructuredContent: json.RawMessage(`{"id":1234567890123456789}`)},
	}
}

//claim:mcp-36
func TestResult_OmitsDuplicateStructuredContent(t *testing.T) {
	for what, r := range twice() {
		plain := *r
		plain.StructuredContent = nil
		require.Equal(t, textOf(&plain), textOf(r), what)
		require.Equal(t, partsOf(&plain, true), partsOf(r, true), what)
	}
}

// Words and numbers that stand somewhere in a text are not the values that a server returned.
func TestResult_KeepsDifferentStructuredContent(t *testing.T) {
	for text, structured := range map[string]string{
		"0 warnings":                           `{"balance":0}`,
		"enabled: true, admin: false":          `{"enabled":false,"admin":true}`,
		"Done in 21 ms after 60 retries.":      `{"temperature":21,"humidity":60}`,
		"Cloudy, at 33 degrees":                `{"temperature":33,"conditions":"Cloudy"}`,
		"ann sent it to bob":                   `{"from":"bob","to":"ann"}`,
		"ann":                                  `{"users":["ann"]}`,
		"Entities deleted successfully":        `{"success":true,"message":"Entities deleted successfully"}`,
		"report.txt":                           `{"deleted":"report.txt"}`,
		"0":                                    `{"balance":0}`,
		"found 2 users":                        `{"users":["ann","bob"]}`,
		"done":                                 `{}`,
		"page 1":                               `{"next":"cGFnZSAy"}`,
		`{"id":1234567890123456789}`:           `{"id":1234567890123456788}`,
		`{"a":[1,2]}`:                          `{"a":[2,1]}`,
		`{"a":1e400}`:                          `{"a":1e401}`,
		`{"a":1}`:                              `{"a":"1"}`,
		`{"a":0}`:                              `{"a":-0}`,
		`{"b":2}`:                              `{"b":2,"b":2}`,
		`{"a":"\ud83d"}`:                       `{"a":"\ud83e"}`,
		"not {json":                            `{"result":"not json"}`,
		"":                                     `{"a":1}`,
		"[[" + strings.Repeat("[", 2000) + "]": `[1]`,
	} {
		r, err := readResult(`{"content":[{"type":"text","text":` + display.Quoted(text) + `}],"structuredContent": ` + structured + ` }`)
		require.NoError(t, err)
		require.Equal(t, text+"\n"+structured, r.text())
	}
	require.Equal(t, `{"a":"b"}`, textOf(&mcp.CallToolResult{StructuredContent: map[string]any{"a": "b"}}), "alone")
	require.Equal(t, `{"result":[]}`, textOf(&mcp.CallToolResult{StructuredContent: map[string]any{"result": []any{}}}), "empty and alone")
	require.Equal(t, "a\nb\n"+`{"users":["a","b","c"]}`, textOf(&mcp.CallToolResult{Content: allText("a", "b"), StructuredContent: map[string]any{"users": []any{"a", "b", "c"}}}))
}

// A long value that a text is stands there once, and its member says where.
func TestResult_RefersToLongDuplicateValues(t *testing.T) {
	long := bigText(3000)
	for want, r := range map[string]*mcp.CallToolResult{
		`{"content":"[part 1 above]","totalLines":312}`:    {Content: allText(long), StructuredContent: map[string]any{"content": long, "totalLines": 312.0}},
		`{"a":[{"b":"[part 2 above]"}],"ok":true}`:         {Content: allText("x", long), StructuredContent: map[string]any{"a": []any{map[string]any{"b": long}}, "ok": true}},
		`{"stdout":"[part 1 above]"}`:                      {Content: allText(long), StructuredContent: map[string]any{"stdout": long}},
		`{"items":"[part 1 above]","next":{"page":2}}`:     {Content: allText(indented([]any{long, 22.0})), StructuredContent: map[string]any{"items": []any{long, 22.0}, "next": map[string]any{"page": 2.0}}},
		`{"note":"[part 1 above]","o":"` + long[:6] + `"}`: {Content: allText(long), StructuredContent: map[string]any{"note": "[part 1 above]", "o": long[:6]}},
	} {
		require.Equal(t, textOf(&mcp.CallToolResult{Content: r.Content})+"\n"+want, textOf(r))
	}
	literal := textOf(&mcp.CallToolResult{Content: allText(long), StructuredContent: map[string]any{"a": "[part 1 above]", "b": long}})
	require.Equal(t, 1, strings.Count(literal, display.Quoted(long)[1:len(long)-10]), "a reference that the server wrote would be mistaken for ours")
}

// Whatever is structured and however it is worded, every digit of it reaches the model.
//
//claim:mcp-36
func TestResult_EveryValueReachesTheModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	word := func() string { return fmt.Sprintf("w%d", r.IntN(50)) }
	leaf := func() string {
		switch r.IntN(9) {
		case 0:
			return display.Quoted(word())
		case 1:
			return fmt.Sprint(r.IntN(3))
		case 2:
			return fmt.Sprint(r.Uint64())
		case 3:
			return fmt.Sprintf("%d.%d0e%d", r.IntN(10), r.IntN(100), r.IntN(800)-400)
		case 4:
			return display.Quoted(word() + " \"" + word() + "\"\n" + strings.Repeat(word(), r.IntN(80)))
		case 5:
			return display.Quoted(base64.StdEncoding.EncodeToString(png(r.IntN(400) + 1)))
		case 6:
			return []string{"true", "false", "null"}[r.IntN(3)]
		}
		return `"\ud83d` + word() + `\u00fc"`
	}
	var value func(depth int) string
	value = func(depth int) string {
		n, out := r.IntN(4), []string(nil)
		switch kind := r.IntN(6) - depth; {
		case kind < 2:
			return leaf()
		case kind < 4:
			for range n {
				out = append(out, value(depth+1))
			}
			return "[" + strings.Join(out, ", ") + "]"
		}
		for range n {
			out = append(out, display.Quoted(word())+":"+value(depth+1)) // now and then, a name repeats
		}
		return "{" + strings.Join(out, ",") + "}"
	}
	for range race.Cases(10_000) {
		v := value(0)
		if r.IntN(2) == 0 {
			v = `{"` + []string{"result", "content", "success", "message", "data"}[r.IntN(5)] + `":` + v + `}`
		}
		var texts []string
		for range r.IntN(4) {
			texts = append(texts, []func() string{
				leaf, func() string { return v }, func() string { return strings.Join(leavesIn(v), " and ") },
				func() string { some := leavesIn(v + `,""`); text := some[r.IntN(len(some))]; return text },
				func() string { text, _ := parseString(leaf()); return text },
			}[r.IntN(5)]())
		}
		blocks := make([]string, len(texts))
		for i, text := range texts {
			blocks[i] = `{"type":"text","text":` + display.Quoted(text) + `}`
		}
		read, err := readResult(`{"content":[` + strings.Join(blocks, ",") + `],"structuredContent":` + v + `}`)
		require.NoError(t, err)
		got := read.text()
		for _, text := range texts {
			require.Contains(t, got, text)
		}
		plain := jsontext.Unescape(got)
		if v == "null" {
			continue // there is no structured content
		}
		for _, leaf := range leavesIn(v) {
			text, _ := parseString(leaf)
			require.True(t, strings.Contains(got, leaf) || text != "" && (strings.Contains(got, text) || strings.Contains(plain, text)) || numberIn(got, leaf), "%s is missing in %q, of %s", leaf, got, v)
		}
	}
}

// leavesIn are the texts, numbers and words in JSON, as written.
func leavesIn(v string) (leaves []string) {
	for i := 0; i < len(v); {
		switch c := v[i]; {
		case strings.IndexByte(`[]{}:, `, c) >= 0:
			i++
		default:
			end := jsontext.ValueEnd(v, i)
			if end == len(v) || v[end] != ':' {
				leaves = append(leaves, v[i:end])
			}
			i = end
		}
	}
	return leaves
}

// numberIn reports whether a text has a number in another notation.
func numberIn(text, number string) bool {
	want, ok := hashJSON(number)
	return ok && slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[]{}:\", \n", r) }), func(word string) bool {
		s, is := hashJSON(word)
		return is && s == want
	})
}

// Only the protocol's own blocks are media: a text that looks like the data of media stays.
func TestResult_TextIsNeverMedia(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(png(1000))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	token := base64.StdEncoding.EncodeToString(packed.Bytes())
	require.Greater(t, len(token), 256)
	for _, media := range []bool{false, true} {
		for _, v := range []map[string]any{
			{"next": token}, {"data": "aGVsbG8gd29ybGQ=", "mimeType": "text/plain"}, {"src": "data:image/png;base64," + token}, {"blob": token, "mimeType": "image/png"}, {"list": []any{token}},
		} {
			data, err := json.Marshal(v)
			require.NoError(t, err)
			parts := partsOf(&mcp.CallToolResult{Content: allText("page 1"), StructuredContent: v}, media)
			require.Equal(t, string(data), parts[1].Text)
		}
	}
	require.Equal(t, token, textOf(&mcp.CallToolResult{Content: allText(token)}))
	image := &mcp.ImageContent{Data: png(3000), MIMEType: "image/png"}
	encoded := base64.StdEncoding.EncodeToString(image.Data)
	got := textOf(&mcp.CallToolResult{Content: append(allText("a text"), image), StructuredContent: map[string]any{"data": encoded, "note": "n"}})
	require.Equal(t, "a text\n[image, image/png, 3000 bytes]\n"+`{"data":"[part 2 above]","note":"n"}`, got, "the data of an image is not told again")
}

// Whatever a server calls its media, those that reach a provider are what they are called there, of a kind that
// providers take, and not empty: for another, a provider refuses the conversation from then on. The model reads
// of the others that they are there.
func TestMedia_OnlyAcceptedTypesReachProviders(t *testing.T) {
	kinds := map[string]string{
		"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff\xe0", "image/gif": "GIF89a", "image/webp": "RIFF\x00\x00\x00\x00WEBPVP8 ",
		"image/bmp": "BM\x00\x00", "image/svg+xml": "<svg xmlns='x'/>", "image/tiff": "II*\x00", "application/pdf": "%PDF-1.7", "audio/wave": "RIFF\x00\x00\x00\x00WAVE", "": "",
	}
	taken := []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	for really, head := range kinds {
		for called := range kinds {
			for _, called := range []string{called, strings.ToUpper(called) + "; q=1"} {
				data := base64.StdEncoding.EncodeToString([]byte(head + strings.Repeat("\x01\xfe", 4*len(head))))
				about := fmt.Sprintf("%q, called %q", really, called)
				for _, raw := range []string{
					fmt.Sprintf(`{"type":"image","data":%q,"mimeType":%q}`, data, called), fmt.Sprintf(`{"type":"image","data":%q}`, data),
					fmt.Sprintf(`{"type":"audio","data":%q,"mimeType":%q}`, data, called), fmt.Sprintf(`{"type":"audio","data":%q}`, data),
					fmt.Sprintf(`{"type":"resource","resource":{"uri":"x:/1","blob":%q,"mimeType":%q}}`, data, called),
					fmt.Sprintf(`{"type":"resource","resource":{"uri":"x:/1","blob":%q}}`, data),
				} {
					r, err := readResult(`{"content":[` + raw + `]}`)
					require.NoError(t, err)
					p := r.parts(true)[0]
					var is schema.MessagePartCommon
					switch {
					case p.Image != nil:
						is = p.Image.MessagePartCommon
						require.Contains(t, taken, is.MIMEType, about)
						require.True(t, is.MIMEType == really || !slices.Contains(taken, really), "%s: %s", about, is.MIMEType)
					case p.Audio != nil:
						is = p.Audio.MessagePartCommon
					case p.File != nil:
						is = p.File.MessagePartCommon
						require.NotContains(t, is.MIMEType, "image/", about)
					default:
						require.NotEmpty(t, p.Text, about)
						continue
					}
					require.NotEmpty(t, is.MIMEType, about)
					require.Equal(t, data, *is.Base64Data, about)
					require.NotEmpty(t, data, about)
				}
			}
		}
	}
}

// rawFrame is the result of the tool raw, before it is replaced.
var rawFrame = regexp.MustCompile(`"result":.*"RAW".*\}`)

// raw is a server whose tool answers with a result as it is written, over each way.
func raw(t *testing.T, result string) *Servers {
	t.Helper()
	return rawWith(t, result, Options{})
}

func rawWith(t *testing.T, result string, o Options) *Servers {
	t.Helper()
	f := newFixture()
	f.add(&mcp.Tool{Name: "raw", InputSchema: object("")}, func(context.Context, args) (*mcp.CallToolResult, error) { return text("RAW"), nil })
	replace := func(data []byte) []byte { return rawFrame.ReplaceAllLiteral(data, []byte(`"result":`+result+`}`)) }
	web := f.web(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(rewriting{w, replace}, r) })
	})
	direct := f.inMemory()
	made := direct.Transport
	direct.Transport = func(ctx context.Context) (mcp.Transport, error) {
		inner, err := made(ctx)
		return rewritten{inner, result}, err
	}
	program := child(t, "raw")
	program.Env["MCPTOOLS_TEST_RAW"] = result
	return open(t, map[string]Server{
		"http": {URL: web.URL}, "memory": direct, "stdio": program,
		"own": {Transport: func(context.Context) (mcp.Transport, error) {
			return &mcp.StreamableClientTransport{Endpoint: web.URL}, nil
		}},
	}, o)
}

var rawWays = []string{"http", "memory", "stdio", "own"}

// rewriting changes what a handler writes.
type rewriting struct {
	http.ResponseWriter
	replace func([]byte) []byte
}

func (r rewriting) Write(p []byte) (int, error) {
	_, err := r.ResponseWriter.Write(r.replace(p))
	return len(p), err
}

func (r rewriting) Flush() { r.ResponseWriter.(http.Flusher).Flush() }

// rewritten is a transport that replaces the result of the tool raw.
type rewritten struct {
	mcp.Transport
	result string
}

func (r rewritten) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := r.Transport.Connect(ctx)
	return rewrittenConn{conn, r.result}, err
}

type rewrittenConn struct {
	mcp.Connection
	result string
}

func (r rewrittenConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := r.Connection.Read(ctx)
	if answer, is := m.(*jsonrpc.Response); is && bytes.Contains(answer.Result, []byte(`"RAW"`)) {
		own := *answer
		own.Result = []byte(r.result)
		return &own, err
	}
	return m, err
}

// The client rounds numbers, and reads nothing of a result with one number that it cannot hold.
//
//claim:mcp-39
func TestResult_KeepsEveryDigitOnEveryTransport(t *testing.T) {
	for result, want := range map[string]string{
		`{"content":[],"structuredContent":{"id":1234567890123456789,"x":1e400,"a":1,"a":2}}`:                                                 `{"id":1234567890123456789,"x":1e400,"a":1,"a":2}`,
		`{"content":[{"type":"text","text":"t"}],"_meta":{"x":1e400},"structuredContent":null}`:                                               "t",
		`{"content":[{"type":"text","text":"t","annotations":{"priority":1e400}},{"type":"future","n":1e400},{"type":"text","text":5},null]}`: "t\n" + `{"type":"future","n":1e400}` + "\n" + `{"type":"text","text":5}`,
		`{"content":[{"type":"image","data":"%%%","mimeType":"image/png"}]}`:                                                                  `{"type":"image","data":"%%%","mimeType":"image/png"}`,
		`{"content":"a text","isError":1}`:                                                  `error: "a text"`,
		`{"content":[{"type":"text","text":"no"}],"isError":"true"}`:                        "error: no",
		`{"content":[{"type":"text","text":"yes"}],"isError":false}`:                        "yes",
		`{"structuredContent":{"a":1},"structuredContent":{"b":2}}`:                         `{"a":1}` + "\n" + `{"b":2}`,
		`{"toolResult":{"a":1}}`:                                                            `{"toolResult":{"a":1}}`,
		`{"content":[{"type":"text","text":"a","text":"b"}]}`:                               `{"type":"text","text":"a","text":"b"}`,
		`{"structuredContent":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`: strings.Repeat("[", 900) + strings.Repeat("]", 900),
	} {
		s := raw(t, result)
		for _, way := range rawWays {
			require.Equal(t, want, ask(t, ctx, s, way+"__raw", `{}`), way)
		}
	}
}

// A result of a type that this client cannot read is no success without content.
func TestResult_UnknownTypeIsAnError(t *testing.T) {
	for _, kind := range []string{`"task"`, `"later"`, "5"} {
		s := raw(t, `{"resultType":`+kind+`,"task":{"taskId":"t1","status":"working"}}`)
		for _, way := range rawWays {
			answer := ask(t, ctx, s, way+"__raw", `{}`)
			require.Contains(t, answer, "error: ", way)
			require.Contains(t, answer, "type "+kind+",")
			require.Contains(t, answer, `"taskId":"t1"`)
		}
	}
	require.False(t, reread(&mcp.CallToolResult{}).isError)
	complete, err := readResult(`{"resultType":"complete","content":[{"type":"text","text":"x"}]}`)
	require.NoError(t, err)
	require.Equal(t, "x", complete.text())
}

// A server's results as the model reads them are hardly longer than their texts.
func TestResult_AddsLittleToItsTexts(t *testing.T) {
	f := newFixture()
	all := twice()
	for what, r := range all {
		f.server.AddTool(&mcp.Tool{Name: strings.ReplaceAll(what, " ", "_"), InputSchema: object("")}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return r, nil })
	}
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{})
	texts, model := 0, 0
	for what, r := range all {
		n := len(ask(t, ctx, s, "srv__"+strings.ReplaceAll(what, " ", "_"), `{}`))
		if sum := textBytes(r); sum > 0 {
			texts, model = texts+sum, model+n
		} else {
			require.Less(t, n, 100, what)
		}
	}
	require.LessOrEqual(t, float64(model), 1.02*float64(texts))
}

// textBytes is the length of a result's texts.
func textBytes(r *mcp.CallToolResult) (n int) {
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			n += len(c.Text)
		case *mcp.EmbeddedResource:
			n += len(c.Resource.Text)
		}
	}
	return n
}
