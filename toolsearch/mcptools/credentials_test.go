// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Credentials: whose they are, where they go, and where they are not quoted.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/race"
)

// tokenUses is how many requests a token is good for.
const tokenUses = 20

// issuer is a web server whose tokens expire after a few requests. It knows whose token each
// is, and notes calls that come with another's.
type issuer struct {
	mu      sync.Mutex
	owners  map[string]string // of tokens
	uses    map[string]int
	issued  int
	refused int
	wrong   []string
}

// issue returns a new token.
func (i *issuer) issue(owner string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.issued++
	token := fmt.Sprintf("%s-%d", owner, i.issued)
	i.owners[token] = owner
	return token
}

// take returns whose token a request has; "" if it is used up.
func (i *issuer) take(r *http.Request) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if i.uses[token]++; i.uses[token] > tokenUses {
		i.refused++
		return ""
	}
	return i.owners[token]
}

// around lets requests with tokens that are not used up through.
func (i *issuer) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		owner := i.take(r)
		if owner == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, owner)))
	})
}

// whose serves tools/call with the owner of the token that a call came with.
func (i *issuer) serve(t *testing.T) string {
	f := newFixture()
	f.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if p, ok := r.GetParams().(*mcp.CallToolParamsRaw); ok {
				token := strings.TrimPrefix(r.GetExtra().Header.Get("Authorization"), "Bearer ")
				i.mu.Lock()
				owner := i.owners[token]
				if !strings.Contains(string(p.Arguments), `"`+owner+`"`) {
					i.wrong = append(i.wrong, fmt.Sprintf("%s with the token of %q", p.Arguments, owner))
				}
				i.mu.Unlock()
			}
			return next(ctx, method, r)
		}
	})
	return f.web(t, i.around).URL
}

//claim:mcp-44
func TestHeader_ExpiredTokensStayWithTheirUser(t *testing.T) {
	const users = 64
	i := &issuer{owners: map[string]string{}, uses: map[string]int{}}
	url := i.serve(t)
	header := func(ctx context.Context, _ string) (http.Header, error) {
		name, err := userOf(ctx)
		if err != nil {
			name = "everybody" // who opened the servers
		}
		return http.Header{"Authorization": {"Bearer " + i.issue(name)}}, nil
	}
	s := open(t, map[string]Server{"shared": {URL: url, Shared: true}, "own": {URL: url}}, Options{User: userOf, Header: header})
	var all sync.WaitGroup
	var failed atomic.Int64
	for u := range users {
		all.Go(func() {
			name := fmt.Sprint("user", u)
			for range race.Cases(6) {
				for server, owner := range map[string]string{"shared": "everybody", "own": name} {
					answer := ask(t, as(name), s, server+"__echo", `{"text":"`+owner+`"}`)
					if answer != owner { // others used up its token, again and again
						require.Contains(t, answer, "error: ", server)
						failed.Add(1)
					}
				}
			}
		})
	}
	all.Wait()
	i.mu.Lock()
	defer i.mu.Unlock()
	require.Empty(t, i.wrong)
	require.GreaterOrEqual(t, i.refused, users*race.Cases(6)/tokenUses-1, "tokens expired, even if no two calls met")
	require.LessOrEqual(t, int(failed.Load())*maxTries, i.refused, "calls are repeated with a new token before they fail")
	t.Logf("%d tokens, %d refused, %d calls failed", i.issued, i.refused, failed.Load())
}

// Without User, all callers are one: their contexts say nothing about whose token is sent.
func TestHeader_SharedSessionUsesTheOpenContext(t *testing.T) {
	i := &issuer{owners: map[string]string{}, uses: map[string]int{}}
	var mu sync.Mutex
	var asked []string
	s, err := Open(as("program"), map[string]Server{"srv": {URL: i.serve(t)}}, Options{MaxWait: time.Minute, Header: func(ctx context.Context, _ string) (http.Header, error) {
		name, err := userOf(ctx)
		mu.Lock()
		asked = append(asked, name)
		mu.Unlock()
		return http.Header{"Authorization": {"Bearer " + i.issue("program")}}, err
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for n := range 60 {
		require.Equal(t, "program", ask(t, as(fmt.Sprint("user", n%3)), s, "srv__echo", `{"text":"program"}`))
	}
	mu.Lock()
	defer mu.Unlock()
	require.Greater(t, len(asked), 2)
	for _, name := range asked {
		require.Equal(t, "program", name)
	}
}

// One of many requests asks for new headers; the others wait for it, and are repeated with
// what it got. The function may use the servers: nothing of theirs is locked.
//
//claim:mcp-43
func TestHeader_AskedOnceForManyRejectedRequests(t *testing.T) {
	g := &guard{valid: "one"}
	f := newFixture()
	var asked atomic.Int64
	var s *Servers
	header := func(context.Context, string) (http.Header, error) {
		if asked.Add(1) > 1 {
			s.Status()
			_, err := s.Tools(ctx)
			require.NoError(t, err)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		return http.Header{"Authorization": {"Bearer " + g.valid}}, nil
	}
	s = open(t, map[string]Server{"srv": {URL: f.web(t, g.around).URL}}, Options{Header: header, MaxWait: time.Millisecond})
	until(t, "its tools are there", func() bool { return len(namesIn(t, ctx, s)) == 11 })
	echo := find(t, ctx, s, "srv__echo").(tool.InvokableTool)
	g.renew("two")
	before := asked.Load()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			answer, err := echo.InvokableRun(ctx, `{"text":"x"}`)
			require.NoError(t, err)
			require.Equal(t, "x", answer)
		})
	}
	all.Wait()
	require.Equal(t, before+1, asked.Load())
	require.Equal(t, 20, f.called("echo"))
	require.Equal(t, StateUp, statusOf(s, "srv").State, "in the same session")
}

func TestHeader_GoexitBlocksNobody(t *testing.T) {
	s := &headerTransport{}
	s.headerFunc = func(context.Context) (http.Header, error) { panic("handled by the caller") }
	func() {
		defer func() { require.NotNil(t, recover()) }()
		_ = s.refresh(ctx, 0)
	}()
	s.headerFunc = func(context.Context) (http.Header, error) { return http.Header{"A": {"b"}}, nil }
	require.NoError(t, s.refresh(ctx, 0))
	require.Equal(t, "b", s.userHeaders.Get("A"))
	s.refreshDone = make(chan struct{})
	ended, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, s.refresh(ended, 1), context.Canceled, "who waits for another's answer does not wait longer than its context")
}

// elsewhere is a web server that should get no request.
func elsewhere(t *testing.T) (url string, requests *atomic.Int64) {
	requests = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, requests
}

// Neither headers nor arguments go to another host, port or scheme, whatever the server says.
//
//claim:mcp-45
func TestHTTP_NoRequestGoesToAnotherOrigin(t *testing.T) {
	other, requests := elsewhere(t)
	header := func(context.Context, string) (http.Header, error) { return http.Header{"X-Api-Key": {"secret"}}, nil }
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(http.RedirectHandler(other, status))
		defer srv.Close()
		s := open(t, map[string]Server{"srv": {URL: srv.URL}, "sse": {URL: srv.URL, Type: "sse"}}, Options{Header: header})
		for _, name := range []string{"srv", "sse"} {
			require.ErrorContains(t, statusOf(s, name).Err, "sends requests to "+other, "%s, %d", name, status)
		}
	}
	f := newFixture()
	var redirect atomic.Bool
	late := f.web(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if redirect.Load() {
				http.Redirect(w, r, other, http.StatusTemporaryRedirect)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	s := open(t, map[string]Server{"srv": {URL: late.URL}}, Options{})
	redirect.Store(true)
	require.Contains(t, ask(t, ctx, s, "srv__add_tool", `{"text":"secret"}`), "error: ", "arguments do not go there either")

	named := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", other)
	}))
	t.Cleanup(named.Close)
	s = open(t, map[string]Server{"sse": {URL: named.URL, Type: "sse"}}, Options{Header: header})
	require.Equal(t, StateDown, statusOf(s, "sse").State)
	require.Zero(t, requests.Load(), "nothing at all went there")
}

func TestOrigin_ComparesLikeBrowsers(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"http://h/a", "http://h:80/b?c", true}, {"https://H", "https://h:443", true}, {"HTTP://h", "http://h", true},
		{"http://h", "https://h", false}, {"http://h", "http://h:81", false}, {"http://h", "http://h.x", false}, {"http://[::1]", "http://[::1]:80", true},
	} {
		a, err := url.Parse(c.a)
		require.NoError(t, err)
		b, err := url.Parse(c.b)
		require.NoError(t, err)
		require.Equal(t, c.same, originOf(a) == originOf(b), "%s and %s", c.a, c.b)
	}
}

// Each user's session has cookies of its own, even if the client has a jar for all.
func TestHTTP_CookiesAreSeparatePerUser(t *testing.T) {
	f := newFixture()
	var mu sync.Mutex
	crossed := 0
	srv := f.web(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			who := r.Header.Get("X-User")
			if c, err := r.Cookie("who"); err == nil && c.Value != who {
				mu.Lock()
				crossed++
				mu.Unlock()
			}
			http.SetCookie(w, &http.Cookie{Name: "who", Value: who})
			next.ServeHTTP(w, r)
		})
	})
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	s := open(t, map[string]Server{"srv": {URL: srv.URL}}, Options{User: userOf, Header: userHeader, HTTPClient: &http.Client{Jar: jar}})
	for n := range 6 {
		require.Equal(t, "x", ask(t, as(fmt.Sprint("user", n%2)), s, "srv__echo", `{"text":"x"}`))
	}
	mu.Lock()
	defer mu.Unlock()
	require.Zero(t, crossed)
}

// Keys in a URL stand in no error, event or answer.
//
//claim:mcp-46
func TestErrors_QuoteNoKeysOfURLs(t *testing.T) {
	const secret = "SECRET42"
	var events recorder
	stalled := newFixture().web(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/loop" {
				http.Redirect(w, r, "/loop?key="+secret, http.StatusTemporaryRedirect)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	host := strings.TrimPrefix(stalled.URL, "http://")
	s := open(t, map[string]Server{
		"nobody": {URL: "http://u:" + secret + "@127.0.0.1:1/s/" + secret + "/mcp?key=" + secret},
		"sse":    {URL: "http://u:" + secret + "@127.0.0.1:1/mcp?key=" + secret, Type: "sse"},
		"loop":   {URL: "http://u:" + secret + "@" + host + "/loop?key=" + secret},
		"good":   {URL: "http://u:" + secret + "@" + host + "/?key=" + secret},
	}, Options{OnEvent: events.record})
	require.Equal(t, StateUp, statusOf(s, "good").State)
	find(t, ctx, s, "good__echo")
	stalled.CloseClientConnections()
	stalled.Close()
	require.NotContains(t, ask(t, ctx, s, "good__fail", `{}`), secret)
	until(t, "it is down", func() bool { return statusOf(s, "good").Err != nil })
	for _, st := range s.Status() {
		require.Error(t, st.Err, st.Server)
		require.NotContains(t, st.Err.Error(), secret, st.Server)
	}
	for _, e := range events.wait(t, einolean.KindServerDown, 4) {
		require.NotContains(t, e.Err.Error(), secret, e.Server)
	}
}

// An error of a file quotes what the file says, not what its variables hold.
//
//claim:mcp-06
func TestReadConfig_ErrorsQuoteNoVariables(t *testing.T) {
	t.Setenv("MCP_TEST_SECRET", "SECRET42")
	config, err := ReadConfig(write(t, t.TempDir(), `{"mcpServers": {
		"scheme": {"url": "ftp://h/x?key=${MCP_TEST_SECRET}"}, "host": {"url": "${MCP_TEST_SECRET}"}, "type": {"url": "http://${MCP_TEST_SECRET}", "type": "stdio"},
		"literal": {"url": "htp://u:SECRET42@h/?key=SECRET42"}, "env": {"command": "x", "env": {"A=": "${MCP_TEST_SECRET}"}}
	}}`))
	require.NoError(t, err)
	all := ""
	for _, s := range config {
		require.Error(t, s.problem)
		all += s.problem.Error()
	}
	require.NotContains(t, all, "SECRET42")
	require.Contains(t, all, "${MCP_TEST_SECRET}")
	_, err = Open(ctx, map[string]Server{"a": {URL: "htp://u:SECRET42@h/?key=SECRET42"}}, Options{})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "SECRET42")
}

// What cannot be passed on to a program or sent as a header is found before anything is
// started, all at once, and by the name of its field.
//
//claim:mcp-05
func TestOpen_RejectsInvalidVariablesAndHeaders(t *testing.T) {
	servers := map[string]Server{
		"command": {Command: "x\x00"}, "dir": {Command: "x", Dir: "a\x00b"}, "args": {Command: "x", Args: []string{"a", "b\x00"}},
		"env":     {Command: "x", Env: map[string]string{"A=B": "", "C\x00": "", "D": "\x00", "": ""}},
		"headers": {URL: "http://h", Headers: map[string]string{"X-A": "a\r\nX-B: b", "X C": "", "X-D\r\n": "", "": "", "X-E": "\x00"}},
		"url":     {URL: "http://h/\x00"},
		"good":    {URL: "http://h", Headers: map[string]string{"X-A": "a\tb ü"}},
		"off":     {Command: "\x00", Disabled: true},
	}
	want := []string{
		`servers["command"].command: `, `servers["dir"].cwd: `, `servers["args"].args[1]: `, `servers["env"].env: the name of variable 1`, `servers["env"].env: the name of variable 2`,
		`servers["env"].env["D"]: `, `servers["env"].env: the name of variable 3`, `servers["headers"].headers["X-A"]: `, `servers["headers"].headers: the name of header 1`,
		`servers["headers"].headers: the name of header 2`, `servers["headers"].headers: the name of header 4`, `servers["headers"].headers["X-E"]: `, `servers["url"].url: `,
	}
	started := 0
	servers["transport"] = Server{Transport: func(context.Context) (mcp.Transport, error) { started++; return nil, errors.New("no") }}
	_, err := Open(ctx, servers, Options{})
	for _, w := range want {
		require.ErrorContains(t, err, w)
	}
	require.Zero(t, started)
	require.NotContains(t, err.Error(), "good")
	require.NotContains(t, err.Error(), "off")
	require.NotContains(t, err.Error(), "X-B", "values may be secrets")

	t.Setenv("MCP_TEST_CRLF", "a\r\nb")
	config, err := ReadConfig(write(t, t.TempDir(), `{"mcpServers": {"a": {"command": "x\u0000", "env": {"A=B": "", "C": "\u0000"}}, "b": {"url": "http://h", "headers": {"X": "${MCP_TEST_CRLF}"}}}}`))
	require.NoError(t, err)
	all := errors.Join(config["a"].problem, config["b"].problem)
	for _, w := range []string{`servers["a"].command: `, `servers["a"].env: `, `servers["a"].env["C"]: `, `servers["b"].headers["X"]: `} {
		require.ErrorContains(t, all, w)
	}
}

// Whatever a server repeats of what it was given, and where: nothing shows it.
func TestErrors_EchoedSecretsAreRedacted(t *testing.T) {
	const fixed, asked, inURL = "fixed-Value", "asked-Value", "url-Value"
	var events recorder
	var mu sync.Mutex
	var logs strings.Builder
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.NewDecoder(r.Body).Decode(&m) // of another request, there is nothing to answer
		said := fmt.Sprintf("refused %q, X-Key %q and %s (%s)", r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.URL.RawQuery, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		w.Header().Set("Content-Type", "application/json")
		if m.Method == "initialize" && r.URL.Path == "/calls" {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, m.ID)
		} else if m.Method == "tools/list" {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}},{"name":"u","inputSchema":{"type":%q}}]}}`, m.ID, said)
		} else if len(m.ID) > 0 {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":%q}}`, m.ID, said)
		} else {
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(echo.Close)
	t.Cleanup(echo.CloseClientConnections)
	program := child(t, "repeats")
	program.Env["MY_TOKEN"] = fixed
	program.Args = append(program.Args, "--api-key="+asked)
	s := open(t, map[string]Server{
		"start":   {URL: echo.URL + "/start?k=" + inURL, Headers: map[string]string{"X-Key": fixed}},
		"calls":   {URL: echo.URL + "/calls?k=" + inURL, Headers: map[string]string{"X-Key": fixed}},
		"program": program,
	}, Options{
		OnEvent: events.record,
		Header: func(context.Context, string) (http.Header, error) {
			return http.Header{"Authorization": {"Bearer " + asked}}, nil
		},
		Logs: func(_ string, line []byte) { mu.Lock(); defer mu.Unlock(); logs.Write(line) },
	})
	until(t, "the program has ended", func() bool { return statusOf(s, "program").Err != nil })
	told := []string{ask(t, ctx, s, "calls__t", `{}`)}
	require.Contains(t, told[0], "refused ")
	for _, st := range s.Status() {
		if st.Err != nil {
			told = append(told, st.Err.Error(), fmt.Sprintf("%+v", st.Err))
			for err := errors.Unwrap(st.Err); err != nil; err = errors.Unwrap(err) {
				told = append(told, err.Error())
			}
		}
	}
	events.mu.Lock()
	for _, e := range events.all {
		told = append(told, fmt.Sprint(e.Tool, e.Err))
	}
	events.mu.Unlock()
	mu.Lock()
	told = append(told, logs.String())
	mu.Unlock()
	require.Greater(t, len(told), 7)
	require.Contains(t, told[len(told)-1], "my token is")
	for _, text := range told {
		for _, secret := range []string{fixed, asked, inURL} {
			require.NotContains(t, text, secret)
		}
	}

	for _, server := range []Server{
		{URL: "http://h", Headers: map[string]string{"X-Key: " + fixed: ""}}, {URL: "http://h", Headers: map[string]string{"Bearer " + fixed: "x"}},
		{Command: "x", Env: map[string]string{"KEY=" + fixed: ""}}, {URL: "ftp://h?k=" + fixed}, {URL: "http://h", Type: "x://y?" + fixed},
		{URL: "http://h", Headers: map[string]string{"sk-abcdefgh0123456789": "\n"}},
	} {
		_, err := Open(ctx, map[string]Server{"s": server}, Options{})
		require.Error(t, err)
		require.NotContains(t, err.Error(), fixed)
		require.NotContains(t, err.Error(), "abcdefgh")
	}
}
