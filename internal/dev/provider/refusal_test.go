// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What both tables build requests of.
const (
	plainTool    = `{"name": "plain", "input_schema": {"type": "object"}}`
	deferredTool = `{"name": "later", "input_schema": {"type": "object"}, "defer_loading": true}`
	hostedTool   = `{"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}`
	hello        = `{"role": "user", "content": "hello"}`
	use          = `{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "plain", "input": {}}]}`
	result       = `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}`
	reference    = `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "tool_reference", "tool_name": "later"}]}]}`
	searched     = `{"role": "assistant", "content": [{"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_bm25", "input": {}},
		{"type": "tool_search_tool_result", "tool_use_id": "s1", "content": {"type": "tool_search_tool_search_result", "tool_references": [{"type": "tool_reference", "tool_name": "later"}]}},
		{"type": "text", "text": "found"}]}`
)

func messagesBody(tools, conversation string) string {
	return `{"model": "m", "max_tokens": 9, "tools": [` + tools + `], "messages": [` + conversation + `]}`
}

func TestAnthropic_RejectsInvalidRequests(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"a conversation with a call and its result":         {messagesBody(plainTool, hello+","+use+","+result), ""},
		"a deferred tool beside one that is not":            {messagesBody(plainTool+","+deferredTool, hello), ""},
		"a reference to a deferred tool":                    {messagesBody(plainTool+","+deferredTool, hello+","+use+","+reference), ""},
		"a search by the provider":                          {messagesBody(deferredTool+","+hostedTool, hello+","+searched+","+hello), ""},
		"no max_tokens":                                     {`{"model": "m", "messages": [` + hello + `]}`, "max_tokens: Field required"},
		"a first message of the assistant":                  {messagesBody(plainTool, use+","+result), "first message must use the"},
		"all tools deferred":                                {messagesBody(deferredTool, hello), "All tools have defer_loading set"},
		"defer_loading with cache_control":                  {messagesBody(plainTool+`,{"name": "x", "input_schema": {"type": "object"}, "defer_loading": true, "cache_control": {"type": "ephemeral"}}`, hello), "cannot have both defer_loading=true and cache_control"},
		"a tool declared twice":                             {messagesBody(plainTool+","+plainTool, hello), "Tool names must be unique"},
		"a tool declared in full and deferred":              {messagesBody(deferredTool+`,{"name": "later", "input_schema": {"type": "object"}}`, hello), "Tool names must be unique"},
		"a tool without a schema":                           {messagesBody(`{"name": "x"}`, hello), "input_schema.type: Field required"},
		"a search tool without its type":                    {messagesBody(plainTool+`,{"name": "tool_search_tool_bm25"}`, hello), "tools.1.custom.input_schema.type: Field required"},
		"a name with a dot":                                 {messagesBody(`{"name": "a.b", "input_schema": {"type": "object"}}`, hello), "String should match pattern"},
		"a reference to a tool that is not declared":        {messagesBody(plainTool, hello+","+use+","+reference), `Tool reference "later" has no corresponding tool definition`},
		"a reference to a tool that is not deferred":        {messagesBody(plainTool+`,{"name": "later", "input_schema": {"type": "object"}}`, hello+","+use+","+reference), "must be a tool with defer_loading=true"},
		"a provider's reference to an undeclared tool":      {messagesBody(plainTool+","+hostedTool, hello+","+searched+","+hello), `Tool reference "later" has no corresponding tool definition`},
		"a provider's search that is no longer declared":    {messagesBody(plainTool+","+deferredTool, hello+","+searched+","+hello), "is not declared"},
		"a result with an empty list":                       {messagesBody(plainTool, hello+","+use+`,{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": []}]}`), "content must not be empty"},
		"a result with an empty text":                       {messagesBody(plainTool, hello+","+use+`,{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": ""}]}]}`), "text content blocks must be non-empty"},
		"a result of white space":                           {messagesBody(plainTool, hello+","+use+`,{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": " "}]}]}`), "must contain non-whitespace text"},
		"a result without a call":                           {messagesBody(plainTool, hello+","+result), "unexpected `tool_use_id`"},
		"a result that comes twice":                         {messagesBody(plainTool, hello+","+use+`,{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a"}, {"type": "tool_result", "tool_use_id": "t1", "content": "b"}]}`), "Found multiple `tool_result` blocks"},
		"a call without a result":                           {messagesBody(plainTool, hello+","+use+","+hello), "without `tool_result` blocks immediately after"},
		"a call without a result at the end":                {messagesBody(plainTool, hello+","+use), "must not leave `tool_use` blocks"},
		"a call where there are no tools":                   {messagesBody("", hello+","+use+","+result), "must define tools"},
		"an empty text":                                     {messagesBody(plainTool, hello+`,{"role": "assistant", "content": [{"type": "text", "text": ""}]}`), "text content blocks must be non-empty"},
		"an empty message":                                  {messagesBody(plainTool, hello+`,{"role": "assistant", "content": []}`), "non-empty content"},
		"a provider's search without its result":            {messagesBody(plainTool+","+hostedTool, hello+`,{"role": "assistant", "content": [{"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_bm25", "input": {}}]}`), "without a corresponding `tool_search_tool_result`"},
		"five places to cache up to":                        {messagesBody(plainTool, strings.Repeat(`,{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}`, 5)[1:]), "A maximum of 4 blocks"},
		"what is no JSON":                                   {"{", "reading the request"},
		"a message of a role that does not exist":           {messagesBody(plainTool, hello+`,{"role": "tool", "content": "x"}`), `unexpected "tool"`},
		"a deferred search tool of the provider":            {messagesBody(plainTool+`,{"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25", "defer_loading": true}`, hello), "cannot be deferred"},
		"a result of the provider's search without its use": {messagesBody(deferredTool+","+hostedTool, hello+`,{"role": "assistant", "content": [{"type": "tool_search_tool_result", "tool_use_id": "s1", "content": {}}]}`), "unexpected `tool_search_tool_result`"},
	} {
		t.Run(name, func(t *testing.T) { requireAnswer(t, Anthropic, c.body, c.want) })
	}
}

const (
	function       = `{"type": "function", "name": "plain", "parameters": {"type": "object"}}`
	deferred       = `{"type": "function", "name": "later", "parameters": {"type": "object"}, "defer_loading": true}`
	clientTool     = `{"type": "tool_search", "execution": "client", "description": "finds", "parameters": {"type": "object"}}`
	serverTool     = `{"type": "tool_search"}`
	hi             = `{"role": "user", "content": "hi"}`
	functionCall   = `{"type": "function_call", "call_id": "c1", "name": "plain", "arguments": "{}"}`
	functionOutput = `{"type": "function_call_output", "call_id": "c1", "output": "ok"}`
	searchCall     = `{"type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": {}}`
	searchOutput   = `{"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": [` + deferred + `]}`
	serverCall     = `{"type": "tool_search_call", "execution": "server", "arguments": {}}`
	serverOutput   = `{"type": "tool_search_output", "execution": "server", "tools": [` + deferred + `]}`
)

func responsesBody(tools, input string) string {
	return `{"model": "m", "tools": [` + tools + `], "input": [` + input + `]}`
}

func TestOpenAI_RejectsInvalidRequests(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"a call and its output":                           {responsesBody(function, hi+","+functionCall+","+functionOutput), ""},
		"a search by the client and its output":           {responsesBody(clientTool, hi+","+searchCall+","+searchOutput), ""},
		"a search by the client that found nothing":       {responsesBody(clientTool, hi+","+searchCall+`,{"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": []}`), ""},
		"a search by the provider":                        {responsesBody(deferred+","+serverTool, hi+","+serverCall+","+serverOutput), ""},
		"no input":                                        {responsesBody(function, ""), "Missing required parameter"},
		"a function declared twice":                       {responsesBody(function+","+function, hi), "duplicate tool"},
		"two search tools":                                {responsesBody(clientTool+","+serverTool, hi), "duplicate tool"},
		"a deferred function without a search tool":       {responsesBody(deferred, hi), "requires a tool of type 'tool_search'"},
		"a search tool of the client without parameters":  {responsesBody(`{"type": "tool_search", "execution": "client", "description": "finds"}`, hi), "needs description and parameters"},
		"parameters that are no object":                   {responsesBody(`{"type": "function", "name": "x", "parameters": {"type": "array"}}`, hi), "must be of type object"},
		"a name that is too long":                         {responsesBody(`{"type": "function", "name": "`+strings.Repeat("x", 65)+`"}`, hi), "does not match pattern"},
		"a tool of unknown type":                          {responsesBody(`{"type": "magic", "name": "x"}`, hi), "unknown type"},
		"an output without a call":                        {responsesBody(function, hi+","+functionOutput), "No tool call found for function call output"},
		"an output before its call":                       {responsesBody(function, hi+","+functionOutput+","+functionCall), "No tool call found for function call output"},
		"two outputs of a call":                           {responsesBody(function, hi+","+functionCall+","+functionOutput+","+functionOutput), "Duplicate output"},
		"two calls of one id":                             {responsesBody(function, hi+","+functionCall+","+functionCall+","+functionOutput), "Duplicate call_id"},
		"a call without an output":                        {responsesBody(function, hi+","+functionCall), "No tool output found"},
		"text for a search":                               {responsesBody(clientTool, hi+","+searchCall+","+functionOutput), "No tool call found for function call output"},
		"tools for a call of a function":                  {responsesBody(clientTool, hi+","+functionCall+","+searchOutput), "No tool search call found"},
		"a search without an output":                      {responsesBody(clientTool, hi+","+searchCall), "No tool output found"},
		"a search's output without tools":                 {responsesBody(clientTool, hi+","+searchCall+`,{"type": "tool_search_output", "call_id": "c1", "execution": "client"}`), "needs tools"},
		"a search that nobody runs":                       {responsesBody(clientTool, hi+`,{"type": "tool_search_call", "call_id": "c1", "arguments": {}}`), "execution must be"},
		"a provider's output without its call":            {responsesBody(deferred+","+serverTool, hi+","+serverOutput), "without tool_search_call"},
		"a provider's call without its output":            {responsesBody(deferred+","+serverTool, hi+","+serverCall), "without tool_search_output"},
		"a search that loads what is there in full":       {responsesBody(clientTool+`,{"type": "function", "name": "later"}`, hi+","+searchCall+","+searchOutput), "duplicate tool"},
		"an item of unknown type":                         {responsesBody(function, `{"type": "magic"}`), "unknown type"},
		"a message without content":                       {responsesBody(function, `{"role": "user"}`), "needs a role and content"},
		"a call whose arguments are an object":            {responsesBody(function, hi+`,{"type": "function_call", "call_id": "c1", "name": "plain", "arguments": {}}`), "needs call_id, name and arguments"},
		"an output that is empty":                         {responsesBody(function, hi+","+functionCall+`,{"type": "function_call_output", "call_id": "c1", "output": []}`), "needs call_id and output"},
		"a search's output that loads a nameless tool":    {responsesBody(clientTool, hi+","+searchCall+`,{"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": [{"type": "function"}]}`), "does not match pattern"},
		"a search of the client that has no id":           {responsesBody(clientTool, hi+`,{"type": "tool_search_call", "execution": "client", "arguments": {}}`), "needs call_id"},
		"a search of the client with nothing to look for": {responsesBody(clientTool, hi+`,{"type": "tool_search_call", "call_id": "c1", "execution": "client"}`), "needs arguments"},
	} {
		t.Run(name, func(t *testing.T) { requireAnswer(t, OpenAI, c.body, c.want) })
	}
}

func TestChat_RejectsInvalidRequests(t *testing.T) {
	const (
		tool = `{"type": "function", "function": {"name": "plain", "parameters": {"type": "object"}}}`
		call = `{"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "plain", "arguments": "{}"}}]}`
		out  = `{"role": "tool", "tool_call_id": "c1", "content": "ok"}`
	)
	body := func(tools, messages string) string {
		return `{"model": "m", "tools": [` + tools + `], "messages": [` + messages + `]}`
	}
	for name, c := range map[string]struct{ body, want string }{
		"a call and its result":            {body(tool, hi+","+call+","+out), ""},
		"no messages":                      {body(tool, ""), "Missing required parameter"},
		"a tool declared twice":            {body(tool+","+tool, hi), "duplicate tool"},
		"a tool of unknown type":           {body(`{"type": "magic", "function": {"name": "x"}}`, hi), "unknown type"},
		"a result without a call":          {body(tool, hi+","+out), "must be a response to"},
		"a call without a result":          {body(tool, hi+","+call+","+hi), "must be followed by tool messages"},
		"a call without a result, at last": {body(tool, hi+","+call), "must be followed by tool messages"},
	} {
		t.Run(name, func(t *testing.T) { requireAnswer(t, Chat, c.body, c.want) })
	}
}

// requireAnswer sends a request: an empty want is an answer, and any other part of the
// message of an error in the provider's shape.
func requireAnswer(t *testing.T, api API, body, want string) {
	t.Helper()
	s := Start(api, Turn{Text: "fine"})
	defer s.Close()
	status, text := post(t, s, doors[api].path, body, true)
	if want == "" {
		require.Equal(t, http.StatusOK, status, text)
		require.Contains(t, text, "fine")
		return
	}
	require.Equal(t, http.StatusBadRequest, status, text)
	require.Contains(t, text, `"invalid_request_error"`)
	require.Contains(t, s.Requests()[0].Refused, want)
}

func post(t *testing.T, s *Server, path, body string, key bool) (status int, text string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	if key {
		req.Header.Set("x-api-key", "k")
		req.Header.Set("anthropic-version", "2023-06-01")
		req.Header.Set("Authorization", "Bearer k")
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(answer)
}

func TestServer_RejectsMissingKeyAndUnknownPaths(t *testing.T) {
	for api, door := range doors {
		s := Start(api, Turn{Text: "fine"})
		defer s.Close()
		status, _ := post(t, s, door.path, "{}", false)
		require.Equal(t, http.StatusUnauthorized, status)
		status, _ = post(t, s, "/elsewhere", "{}", true)
		require.Equal(t, http.StatusNotFound, status)
	}
}

func TestTurn_RejectsWhatNoModelCouldDo(t *testing.T) {
	for name, c := range map[string]struct {
		turn Turn
		want string
	}{
		"call a tool that is not loaded":        {Turn{Calls: []Call{{Name: "later"}}}, `no model could call "later"`},
		"call a tool that does not exist":       {Turn{Calls: []Call{{Name: "nothing"}}}, `no model could call "nothing"`},
		"call a tool unseen":                    {Turn{Calls: []Call{{Name: "later", Unseen: true}}}, ""},
		"call a tool that is there in full":     {Turn{Calls: []Call{{Name: "plain"}}}, ""},
		"call a tool that it has just searched": {Turn{Search: "later", Calls: []Call{{Name: "later"}}}, ""},
		"be let in nowhere":                     {Turn{Status: http.StatusForbidden}, "nobody is let in"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Start(Anthropic, c.turn)
			defer s.Close()
			_, text := post(t, s, "/v1/messages", messagesBody(plainTool+","+deferredTool+","+hostedTool, hello), true)
			require.Contains(t, s.Requests()[0].Refused, c.want)
			require.Equal(t, c.want == "", !strings.Contains(text, `"error"`), text)
		})
	}
	s := Start(Anthropic, Turn{Search: "later"})
	defer s.Close()
	post(t, s, "/v1/messages", messagesBody(plainTool, hello), true)
	require.Contains(t, s.Requests()[0].Refused, "declares no hosted search tool")
	post(t, s, "/v1/messages", messagesBody(plainTool, hello), true)
	require.Contains(t, s.Requests()[1].Refused, "the script is at its end")
}
