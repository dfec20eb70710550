// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

type transport struct{ next http.RoundTripper }

// RoundTrip sends a request. One without tool search and thinking passes unchanged.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		return t.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("claude: reading the request: %w", err)
	}
	if err := r.Body.Close(); err != nil {
		return nil, fmt.Errorf("claude: closing the request: %w", err)
	}
	body = fillTypes(body)
	x := exchangeOf(r.Context())
	if x != nil {
		body = x.restore(body)
	}
	own := r.Clone(r.Context())
	own.Body, own.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	own.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	resp, err := t.next.RoundTrip(own)
	if err != nil {
		return resp, err
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = mendEvents(r.Context(), resp.Body)
	} else if x != nil && resp.StatusCode == http.StatusOK {
		return resp, x.note(resp)
	}
	return resp, nil
}

// note reads an answer in one piece, and puts it back.
func (x *exchange) note(resp *http.Response) error {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("claude: reading the answer: %w", err)
	}
	x.addAll(body)
	resp.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(body), resp.Body}
	return nil
}

// searchTool begins the names of the provider's search tools, whose types end in version.
const (
	searchTool = "tool_search_tool_"
	version    = "_20251119"
)

// fillTypes returns the body unchanged if there is nothing to fill in.
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
