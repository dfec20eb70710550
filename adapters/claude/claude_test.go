// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package claude

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cloudwego/eino-ext/components/model/claude"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/provider"
)

var (
	deferred = model.WithDeferredTools([]*schema.ToolInfo{{Name: "ping", Desc: "Pings.", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{})}})
	question = []*schema.Message{schema.UserMessage("Ping?")}
	searches = provider.Turn{Search: "ping", Calls: []provider.Call{{Name: "ping"}}}
)

func config(url string) *claude.Config {
	return &claude.Config{BaseURL: &url, APIKey: "k", Model: "m", MaxTokens: 9}
}

// This test uses Eino's adapter unchanged. If it fails, the fault is fixed, and our workaround can go.
func TestUpstreamAdapter_StillHasSearchFaults(t *testing.T) {
	s := provider.Start(provider.Anthropic, searches)
	defer s.Close()
	raw, err := claude.NewChatModel(t.Context(), config(s.URL()))
	require.NoError(t, err)
	_, err = raw.Generate(t.Context(), question, deferred)
	require.ErrorContains(t, err, "input_schema.type: Field required", "the search tool has no type")

	cfg := config(s.URL())
	cfg.HTTPClient = &http.Client{Transport: onlyTypes{}}
	raw, err = claude.NewChatModel(t.Context(), cfg)
	require.NoError(t, err)
	m := streamed(t, &ChatModel{raw})
	require.Len(t, m.ToolCalls, 2)
	require.Empty(t, m.ToolCalls[0].Function.Name, "a call without a name")
	require.JSONEq(t, `{"query": "ping"}`, m.ToolCalls[0].Function.Arguments, "the words of the search")
}

// onlyTypes mends requests, and leaves the events of a stream unchanged.
type onlyTypes struct{}

func (onlyTypes) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := transport{http.DefaultTransport}.RoundTrip(r)
	if e, ok := resp.Body.(*events); ok {
		resp.Body = asTheyAre{e}
	}
	return resp, err
}

type asTheyAre struct{ *events }

func (a asTheyAre) Read(p []byte) (int, error) {
	if err := a.wait(); err != nil {
		return 0, err
	}
	return a.in.Read(p)
}

func streamed(t *testing.T, m model.BaseModel[*schema.Message]) *schema.Message {
	t.Helper()
	r, err := m.Stream(t.Context(), question, deferred)
	require.NoError(t, err)
	joined, err := schema.ConcatMessageStream(r)
	require.NoError(t, err)
	return joined
}

func TestChatModel_KeepsSearchesOfProvider(t *testing.T) {
	s := provider.Start(provider.Anthropic, searches, searches)
	defer s.Close()
	m, err := NewChatModel(t.Context(), config(s.URL()))
	require.NoError(t, err)
	whole, err := m.Generate(t.Context(), question, deferred)
	require.NoError(t, err)
	for _, got := range []*schema.Message{whole, streamed(t, m)} {
		require.Len(t, got.ToolCalls, 1)
		require.Equal(t, "ping", got.ToolCalls[0].Function.Name)
		record := got.Extra["_eino_claude_tool_search_events"].([]claude.ToolSearchEvent)
		require.Len(t, record, 2)
		require.JSONEq(t, `{"query": "ping"}`, string(record[0].Input))
		require.Equal(t, "ping", record[1].Content.ToolReferences[0].ToolName)
	}
	require.Equal(t, "Claude", m.GetType())
}

func TestNewChatModel_LeavesConfigAndClientUnchanged(t *testing.T) {
	s := provider.Start(provider.Anthropic, provider.Turn{Text: "Hello."})
	defer s.Close()
	seen := 0
	client := &http.Client{Transport: counting{&seen}}
	cfg := config(s.URL())
	cfg.HTTPClient = client
	m, err := NewChatModel(t.Context(), cfg)
	require.NoError(t, err)
	_, err = m.Generate(t.Context(), question)
	require.NoError(t, err)
	require.Equal(t, 1, seen)
	require.Same(t, client, cfg.HTTPClient)
	require.Equal(t, counting{&seen}, client.Transport)

	_, err = NewChatModel(t.Context(), &claude.Config{})
	require.ErrorContains(t, err, "claude: making the adapter")
}

type counting struct{ n *int }

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	*c.n++
	return http.DefaultTransport.RoundTrip(r)
}

func TestMendEvents_ChangesOnlySearches(t *testing.T) {
	const other = "event: ping\ndata: {\"type\": \"ping\"}\n\n: a comment\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"input\":{}}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"partial_json\":\"{\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\ndata: what is no JSON\n\ndata:cut"
	const search = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"server_tool_use\",\"input\":{}}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"partial_json\":\"{\\\"query\\\":\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"partial_json\":\" \\\"x\\\"}\"}}\n\n"
	const stop = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
	const whole = "event: content_block_start\ndata: {\"content_block\":{\"input\":{\"query\":\"x\"},\"type\":\"server_tool_use\"},\"index\":0,\"type\":\"content_block_start\"}\n\n"
	for name, c := range map[string]struct{ in, want string }{
		"no search":                       {other, other},
		"a search":                        {search + stop + other, whole + stop + other},
		"a search that never ends":        {search, ""},
		"a search with a truncated query": {strings.Replace(search, `\"x\"}`, `\"x`, 1) + stop, strings.Replace(whole, `{"query":"x"}`, "{}", 1) + stop},
		"an empty stream":                 {"", ""},
		"another block within a search":   {search + other[:strings.Index(other, "\n\n")+2] + stop, other[:strings.Index(other, "\n\n")+2] + whole + stop},
	} {
		t.Run(name, func(t *testing.T) {
			for _, slow := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
				body := mendEvents(context.Background(), io.NopCloser(slow(strings.NewReader(c.in))))
				require.NoError(t, iotest.TestReader(mendEvents(context.Background(), io.NopCloser(strings.NewReader(c.in))), []byte(c.want)))
				got, err := io.ReadAll(iotest.OneByteReader(body))
				require.NoError(t, err)
				require.Equal(t, c.want, string(got))
				require.NoError(t, body.Close())
			}
		})
	}
}

func TestMendEvents_ReturnsReadError(t *testing.T) {
	body := mendEvents(context.Background(), io.NopCloser(iotest.TimeoutReader(bytes.NewReader(make([]byte, 9000)))))
	_, err := io.ReadAll(body)
	require.ErrorIs(t, err, iotest.ErrTimeout)

	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), returned{}, make(chan struct{})))
	cancel()
	_, err = mendEvents(ctx, io.NopCloser(strings.NewReader("x"))).Read(make([]byte, 1))
	require.ErrorIs(t, err, context.Canceled)
}

func TestFillTypes_ChangesOnlySearchToolsWithoutType(t *testing.T) {
	for _, body := range []string{"", "{", `{"tools": 1}`, `{"tools": [{"name": "x"}]}`, `{"tools": [{"type": "t", "name": "tool_search_tool_bm25"}]}`} {
		require.Equal(t, body, string(fillTypes([]byte(body))))
	}
	require.JSONEq(t, `{"a": 1.50, "tools": [{"name": "tool_search_tool_regex", "type": "tool_search_tool_regex_20251119"}]}`,
		string(fillTypes([]byte(`{"a": 1.50, "tools": [{"name": "tool_search_tool_regex"}]}`))))
}
