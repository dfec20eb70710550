// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package claudehosted makes eino-ext's claude adapter (v0.1.20 to v0.1.25) fit for
// Anthropic's own tool search, which toolsearch.ClaudeHosted uses. Three things go wrong in
// the adapter, and are mended from outside:
//
//   - It declares the search tool without its type, which the Messages API requires:
//     Transport fills it in.
//   - In a stream it takes the words of a search for those of a call without a name:
//     Transport hands the adapter each such block whole.
//   - Its record of a search in Message.Extra is of a type that Eino can neither join from
//     the chunks of a stream nor put into a checkpoint: importing this package registers it.
package claudehosted

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/cloudwego/eino-ext/components/model/claude"
	"github.com/cloudwego/eino/compose"
)

func init() {
	gob.RegisterName("leanctx_claude_tool_search_events", []claude.ToolSearchEvent{})
	compose.RegisterStreamChunkConcatFunc(func(chunks [][]claude.ToolSearchEvent) ([]claude.ToolSearchEvent, error) {
		return slices.Concat(chunks...), nil
	})
}

// Transport is for the Transport of claude.Config.HTTPClient. What has nothing to do with
// tool search goes through as it is. Nil is http.DefaultTransport.
func Transport(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return transport{next}
}

type transport struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		return t.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("claudehosted: reading the request: %w", err)
	}
	if err := r.Body.Close(); err != nil {
		return nil, fmt.Errorf("claudehosted: closing the request: %w", err)
	}
	body = fillTypes(body)
	own := r.Clone(r.Context())
	own.Body, own.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	own.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	resp, err := t.next.RoundTrip(own)
	if err == nil && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = wholeSearches(resp.Body)
	}
	return resp, err
}

// searchTool begins the names of the provider's search tools, whose types end in version.
const (
	searchTool = "tool_search_tool_"
	version    = "_20251119"
)

// fillTypes returns the body as it is if there is nothing to fill in.
func fillTypes(body []byte) []byte {
	var request map[string]json.RawMessage
	var tools []map[string]json.RawMessage
	if json.Unmarshal(body, &request) != nil || json.Unmarshal(request["tools"], &tools) != nil {
		return body
	}
	changed := false
	for _, t := range tools {
		var name string
		if t["type"] == nil && json.Unmarshal(t["name"], &name) == nil && strings.HasPrefix(name, searchTool) {
			t["type"], changed = json.RawMessage(fmt.Sprintf("%q", name+version)), true
		}
	}
	if !changed {
		return body
	}
	text, err := json.Marshal(tools)
	if err != nil {
		return body
	}
	request["tools"] = text
	if text, err = json.Marshal(request); err != nil {
		return body
	}
	return text
}
