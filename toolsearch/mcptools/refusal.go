// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// The client takes most HTTP errors for the end of the connection. A server that says why it refuses one
// request is still there, and the model reads what it says.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/einolean/einolean/internal/display"
)

const (
	maxRefusal    = 64 << 10 // bytes that are read of the body of an HTTP error
	maxErrorBytes = 500      // bytes that the model reads of it
	codeRefused   = -32000   // of an error that the server did not write as JSON-RPC
)

// convertRefusal converts an HTTP error for a call or a list to a JSON-RPC error. It returns the
// response itself if the session has ended, or nothing is known of the connection.
func convertRefusal(r *http.Request, message []byte, resp *http.Response) *http.Response {
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	isJSON := strings.Contains(r.Header.Get("Accept"), "application/json") // not that of SSE, whose answers come otherwise
	if !isJSON || json.Unmarshal(message, &request) != nil || !slices.Contains([]string{methodCall, methodList, "initialize"}, request.Method) {
		return resp
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return resp
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what came of it
	refusal := jsonrpc.Error{Code: codeRefused}
	rpcError := parseRPCError(body)
	switch {
	case rpcError != nil:
		refusal = *rpcError
	case resp.StatusCode >= http.StatusInternalServerError:
		resp.Body = &prefixedBody{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
		return resp
	default:
		text := strings.TrimSpace(strings.ToValidUTF8(string(body), ""))
		refusal.Message = strings.TrimSuffix(fmt.Sprintf("HTTP %d %s: %s", resp.StatusCode, http.StatusText(resp.StatusCode), text), ": ")
	}
	_ = resp.Body.Close()
	refusal.Message = display.Start(refusal.Message, maxErrorBytes)
	if isClientCode(refusal.Code) {
		refusal.Code = codeRefused
	}
	if d, ok := r.Context().Value(deliveryKey{}).(*delivery); ok && resp.StatusCode == http.StatusTooManyRequests {
		after := cmp.Or(display.Short(resp.Header.Get("Retry-After"), 40), "-")
		d.retryAfter.Store(&after)
	}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": request.ID, "error": &refusal})
	if err != nil {
		answer = []byte("{}")
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: resp.Proto, ProtoMajor: resp.ProtoMajor, ProtoMinor: resp.ProtoMinor,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(answer)),
		ContentLength: int64(len(answer)), Request: resp.Request,
	}
}

// prefixedBody is a response body whose start has been read already.
type prefixedBody struct {
	io.Reader
	io.Closer
}

// parseRPCError returns the error in a JSON-RPC answer; nil if there is none.
func parseRPCError(body []byte) *jsonrpc.Error {
	var answer struct {
		Error *struct {
			Code    json.Number `json:"code"`
			Message string      `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Error == nil || answer.Error.Message == "" {
		return nil
	}
	code, err := answer.Error.Code.Int64()
	if err != nil {
		code = codeRefused
	}
	return &jsonrpc.Error{Code: code, Message: answer.Error.Message}
}
