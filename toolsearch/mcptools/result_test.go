// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Results: the model reads each once.

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/race"
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

// twice are results whose structured content says what the texts say, as servers return
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
		"memory":        {Content: allText(indented([]any{person})), StructuredContent: map[string]any{"entities": []any{person}}},
		"memory text":   {Content: allText("Entities deleted successfully"), StructuredContent: map[string]any{"success": true, "message": "Entities deleted successfully"}},
		"everything":    {Content: allText(`{"temperature":33,"conditions":"Cloudy"}`), StructuredContent: map[string]any{"temperature": 33.0, "conditions": "Cloudy"}},
		"other order":   {Content: allText("Cloudy, at 33 degrees"), StructuredContent: map[string]any{"temperature": 33.0, "conditions": "Cloudy"}},
		"resource":      {Content: []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x:/1", Text: long}}}, StructuredContent: map[string]any{"uri": "x:/1", "text": long}},
		"a list":        {Content: allText("a\nb\nc"), StructuredContent: []any{"a", "b", "c"}},
		"nothing in it": {Content: allText("done"), StructuredContent: map[string]any{}},
	}
}

func TestStructuredContentThatRepeatsTheTextsIsLeftOut(t *testing.T) {
	for what, r := range twice() {
		plain := *r
		plain.StructuredContent = nil
		require.Equal(t, textOf(&plain), textOf(r), what)
		require.Equal(t, partsOf(&plain, true), partsOf(r, true), what)
	}
}

func TestStructuredContentThatSaysMoreStays(t *testing.T) {
	for what, r := range map[string]*mcp.CallToolResult{
		"alone":               {StructuredContent: map[string]any{"a": "b"}},
		"empty and alone":     {StructuredContent: map[string]any{"result": []any{}}},
		"a number more":       {Content: allText("one thing"), StructuredContent: map[string]any{"a": 1.0}},
		"a text more":         {Content: allText("found 2 users"), StructuredContent: map[string]any{"users": []any{"ann", "bob"}}},
		"one of two":          {Content: allText("ann"), StructuredContent: map[string]any{"users": []any{"ann", "bob"}}},
		"a part of a word":    {Content: allText("Anna's cat"), StructuredContent: map[string]any{"grade": "A", "name": "Ann"}},
		"a part of a number":  {Content: allText("total: 4200"), StructuredContent: map[string]any{"total": 42.0}},
		"another truth value": {Content: allText("it is true"), StructuredContent: map[string]any{"ok": false, "n": "it"}},
	} {
		data, err := json.Marshal(r.StructuredContent)
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(textOf(r), string(data)), "%s: %s", what, textOf(r))
	}
}

// What stands beside a member that a text is, is told, and the member is not told again.
func TestOnlyWhatATextSaysIsLeftOutOfStructuredContent(t *testing.T) {
	long := bigText(3000)
	for want, r := range map[string]*mcp.CallToolResult{
		`{"rows":["a","b"]}`:  {Content: allText("ok"), StructuredContent: map[string]any{"status": "ok", "rows": []any{"a", "b"}}},
		`{"totalLines":312}`:  {Content: allText(long), StructuredContent: map[string]any{"content": long, "totalLines": 312.0}},
		`{"truncated":true}`:  {Content: allText(long), StructuredContent: map[string]any{"content": long, "truncated": true}},
		`{"success":false}`:   {Content: allText("done"), StructuredContent: map[string]any{"message": "done", "success": false}},
		`{"next":{"page":2}}`: {Content: allText(`[1,22]`), StructuredContent: map[string]any{"items": []any{1.0, 22.0}, "next": map[string]any{"page": 2.0}}},
	} {
		require.Equal(t, textOf(&mcp.CallToolResult{Content: r.Content})+"\n"+want, textOf(r))
	}
}

// The client reads numbers as float64. A model must not take a rounded number for an identifier.
func TestARoundedIntegerIsNamed(t *testing.T) {
	f := newFixture()
	f.server.AddTool(&mcp.Tool{Name: "id", InputSchema: object("")}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var said []mcp.Content
		if strings.Contains(string(r.Params.Arguments), "said") {
			said = allText(`{"id":1234567890123456789}`)
		}
		return &mcp.CallToolResult{Content: said, StructuredContent: json.RawMessage(`{"id":1234567890123456789}`)}, nil
	})
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{})
	require.Contains(t, ask(t, ctx, s, "srv__id", `{}`), "may be rounded")
	require.Equal(t, `{"id":1234567890123456789}`, ask(t, ctx, s, "srv__id", `{"said":true}`), "a text has every digit")
	require.NotContains(t, textOf(&mcp.CallToolResult{StructuredContent: map[string]any{"bytes": 1 << 52, "mean": 0.1}}), "rounded")
}

// Whatever is structured and however it is worded: a leaf that no text has is told.
func TestEveryLeafOfStructuredContentIsTold(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	word := func() string { return fmt.Sprintf("w%d", r.IntN(1000)) }
	var value func(depth int) any
	value = func(depth int) any {
		switch n := r.IntN(6 - min(depth, 2)); {
		case n == 0:
			return word()
		case n == 1:
			return float64(r.IntN(100_000))
		case n == 2:
			return word() + " \"" + word() + "\"\n" + word()
		case n == 3 && depth > 0:
			return r.IntN(2) == 0
		case n < 5:
			list := []any{}
			for range r.IntN(4) {
				list = append(list, value(depth+1))
			}
			return list
		}
		object := map[string]any{}
		for range r.IntN(4) {
			object[word()] = value(depth + 1)
		}
		return object
	}
	for range race.Cases(3000) {
		v := map[string]any{"result": value(0)}
		for range r.IntN(3) {
			v[word()] = value(0)
		}
		var texts []string
		eachLeaf(v, func(leaf any) bool {
			if r.IntN(4) > 0 {
				texts = append(texts, fmt.Sprint(leaf))
			}
			return true
		})
		if r.IntN(3) == 0 {
			texts = []string{indented(v["result"])}
			if text, is := v["result"].(string); is {
				texts[0] = text
			}
		}
		got := textOf(&mcp.CallToolResult{Content: allText(texts...), StructuredContent: v})
		eachLeaf(v, func(leaf any) bool {
			data, err := json.Marshal(leaf)
			require.NoError(t, err)
			require.True(t, leaf == nil || strings.Contains(got, fmt.Sprint(leaf)) || strings.Contains(got, string(data)), "%v is missing in %q", leaf, got)
			return true
		})
	}
}

// Without Media, no byte of media is text, wherever it stands; with it, neither is what
// structured content repeats.
func TestMediaIsNeverText(t *testing.T) {
	picture := png(3000)
	encoded := base64.StdEncoding.EncodeToString(picture)
	unknown := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x01\x02\xff", 200)))
	small := base64.StdEncoding.EncodeToString(picture[:60])
	image := &mcp.ImageContent{Data: picture, MIMEType: "image/png"}
	for what, r := range map[string]*mcp.CallToolResult{
		"alone":         {StructuredContent: map[string]any{"data": encoded, "mimeType": "image/png", "note": "n"}},
		"no type":       {StructuredContent: map[string]any{"anything": []any{encoded}, "note": "n"}},
		"a data URI":    {StructuredContent: map[string]any{"src": "data:image/png;base64," + encoded, "note": "n"}},
		"a small one":   {StructuredContent: map[string]any{"data": small, "mimeType": "image/png", "note": "n"}},
		"unknown data":  {StructuredContent: map[string]any{"blob": unknown, "mimeType": "application/x-own", "note": "n"}},
		"and an image":  {Content: []mcp.Content{image}, StructuredContent: map[string]any{"content": []any{map[string]any{"data": encoded, "mimeType": "image/png"}}, "note": "n"}},
		"beside a text": {Content: append(allText("a text"), image), StructuredContent: map[string]any{"data": encoded, "note": "n"}},
	} {
		for _, media := range []bool{false, true} {
			all := ""
			for _, p := range partsOf(r, media) {
				all += p.Text
			}
			for _, data := range []string{encoded, unknown, small} {
				require.NotContains(t, all, data[:20], what)
			}
			require.Contains(t, all, `"note":"n"`, what)
			require.Contains(t, all, " bytes]", what)
		}
	}
	cursor := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("\x80\x99opaque"), 60))
	require.Contains(t, textOf(&mcp.CallToolResult{StructuredContent: map[string]any{"next": cursor}}), cursor, "what is not media is passed on as it is")
	require.Contains(t, textOf(&mcp.CallToolResult{Content: allText(encoded)}), encoded, "so is a text")
}

// A server's results as the model reads them are hardly longer than their texts.
func TestResultsAreHardlyLongerThanTheirTexts(t *testing.T) {
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

// The search for what texts say already is bounded; beyond that, structured content is
// passed on.
func TestTheSearchForRepetitionsIsBounded(t *testing.T) {
	leaves := make([]any, 50_000)
	for i := range leaves {
		leaves[i] = fmt.Sprintf("leaf %d is not there", i)
	}
	leaves[0], leaves[1] = "some", "words"
	r := &mcp.CallToolResult{Content: allText(strings.Repeat("some other words\n", 20_000)), StructuredContent: leaves}
	require.Contains(t, textOf(r), "leaf 49999 is")
	s := saidBy(r.Content)
	s.work = len(s.texts[0])
	require.True(t, s.says("some"))
	require.True(t, s.says("some"), "what was found is known")
	require.False(t, s.says("words"), "there is no work left")
}
