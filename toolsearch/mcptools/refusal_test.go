// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// What a user and a model read of servers that refuse, flood, or list what cannot be read.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// refusing answers calls of a method with an HTTP error, and passes on the rest.
func refusing(method string, status int, header http.Header, body string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			message, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			var request struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
			}
			_ = json.Unmarshal(message, &request)
			if r.Method == http.MethodPost && (request.Method == method || method == "") {
				for name := range header {
					w.Header().Set(name, header.Get(name))
				}
				w.WriteHeader(status)
				_, _ = io.WriteString(w, strings.ReplaceAll(body, "ID", string(request.ID)))
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(message))
			next.ServeHTTP(w, r)
		})
	}
}

func TestCall_ModelReadsTheServersOwnErrorText(t *testing.T) {
	const rpc = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32011,"message":"no such city: Atlantis"}}`
	for name, c := range map[string]struct {
		status int
		header http.Header
		body   string
		want   string
	}{
		"JSON-RPC with 500":     {500, nil, rpc, "error: no such city: Atlantis"},
		"JSON-RPC with 503":     {503, nil, rpc, "error: no such city: Atlantis"},
		"JSON-RPC without id":   {500, nil, strings.Replace(rpc, "ID", "null", 1), "error: no such city: Atlantis"},
		"JSON-RPC with 400":     {400, nil, rpc, "error: no such city: Atlantis"},
		"a text with 400":       {400, nil, "the field city is missing", "error: HTTP 400 Bad Request: the field city is missing"},
		"nothing with 422":      {422, nil, "", "error: HTTP 422 Unprocessable Entity"},
		"a code of the client":  {500, nil, strings.Replace(rpc, "-32011", "-32004", 1), "error: no such city: Atlantis"},
		"429":                   {429, http.Header{"Retry-After": {"30"}}, "slow down", `did not accept this call, because it gets too many (try again after 30 s). The call did not run. The server says: HTTP 429 Too Many Requests: slow down`},
		"429 with JSON-RPC":     {429, nil, rpc, `did not accept this call, because it gets too many. The call did not run. The server says: no such city: Atlantis`},
		"a long text with 400":  {400, nil, strings.Repeat("x", 5000), strings.Repeat("x", 400)},
		"a secret in the error": {400, nil, "bad token sk-TESTTESTTESTTESTTESTTEST42", "bad token"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			srv := f.web(t, refusing("tools/call", c.status, c.header, c.body))
			s := open(t, map[string]Server{"srv": {URL: srv.URL, Headers: map[string]string{"X-Api-Key": "sk-TESTTESTTESTTESTTESTTEST42"}}}, Options{})
			since := statusOf(s, "srv").Since
			answer := ask(t, ctx, s, "srv__echo", `{"text":"x"}`)
			require.Contains(t, answer, c.want)
			require.Less(t, len(answer), 2*maxErrorBytes)
			require.NotContains(t, answer, "TESTTEST42")
			st := statusOf(s, "srv")
			require.Equal(t, StateUp, st.State, "the session stays: %v", st.Err)
			require.Equal(t, since, st.Since)
		})
	}
}

func TestTools_DoNotWaitForNoticesThatAnnounceNothingNew(t *testing.T) {
	s := open(t, map[string]Server{"srv": newFixture().inMemory()}, Options{})
	l := s.links("")[0]
	until(t, "the list is read", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.haveVersion == l.wantVersion && l.haveVersion > 0
	})
	wait := func(quiet time.Duration, byNotice bool) time.Duration {
		l.mu.Lock()
		have, want, needed, was, session := l.haveVersion, l.wantVersion, l.requiredVersion, l.noticePause, l.session
		l.wantVersion, l.noticePause = l.haveVersion+1, quiet
		if !byNotice {
			l.requiredVersion = l.wantVersion
		}
		l.mu.Unlock()
		_, wait, _ := l.currentTools(time.Now().Add(time.Hour))
		l.mu.Lock()
		l.haveVersion, l.wantVersion, l.requiredVersion, l.noticePause, l.session = have, want, needed, was, session
		l.mu.Unlock()
		return wait
	}
	require.Positive(t, wait(0, true), "the first notice may announce a tool")
	require.Zero(t, wait(time.Second, true))
	require.Positive(t, wait(time.Second, false), "after a call")
}

// journal is what is logged, without times.
type journal struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.out.Write(p)
}

func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(j.out.String()), "\n")
	slices.Sort(lines)
	return lines
}

// listen returns what slog.Default logs from now on.
func listen(t *testing.T) *journal {
	j, was := &journal{}, slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "time" {
			return slog.Attr{}
		}
		return a
	}})))
	t.Cleanup(func() { slog.SetDefault(was) })
	return j
}

var port = regexp.MustCompile(`127\.0\.0\.1:\d+`)

func TestStatus_EightServersGolden(t *testing.T) {
	log := listen(t)
	release := make(chan struct{})
	slow := newFixture().inMemory()
	connect := slow.Transport
	slow.Transport = func(ctx context.Context) (mcp.Transport, error) {
		select {
		case <-release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return connect(ctx)
	}
	broken := &scripted{tools: []string{`{"name":"good","inputSchema":{"type":"object"}}`, `{"name":"number","inputSchema":5}`, `{"description":"nameless"}`}}
	web := func(status int, body string) Server {
		srv := httptest.NewServer(refusing("", status, nil, body)(nil))
		t.Cleanup(srv.Close)
		return Server{URL: srv.URL}
	}
	servers := map[string]Server{
		"broken": broken.server(), "busy": web(429, "slow down"), "down": {Command: "/none/such/program"}, "error": web(500, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"database is locked"}}`),
		"flood": child(t, "flood"), "good": newFixture().inMemory(), "slow": slow,
	}
	config, err := parseConfig([]byte(`{"mcpServers":{"denied":{"command":"true","denyList":["x"],"notes":"n"}}}`), variables{lookup: func(string) (string, bool) { return "", false }})
	require.NoError(t, err)
	servers["denied"] = config["denied"]
	ended, cancel := context.WithCancel(ctx)
	cancel()
	s, err := Open(ended, servers, Options{MaxWait: time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	settled := func() bool {
		for _, st := range s.Status() {
			if st.Server != "slow" && (st.State == StateConnecting || st.State == StateUp && st.Tools == 0) {
				return false
			}
		}
		return true
	}
	until(t, "all but the slow one are settled", settled)
	require.Equal(t, "started", ask(t, ctx, s, "flood__start", "{}"))
	require.Equal(t, "x", ask(t, ctx, s, "good__echo", `{"text":"x"}`))
	var got strings.Builder
	for _, st := range s.Status() {
		fmt.Fprintf(&got, "%s: %s, %d tools", st.Server, st.State, st.Tools)
		if st.Skipped > 0 {
			fmt.Fprintf(&got, ", %d skipped (%v)", st.Skipped, st.SkippedErr)
		}
		if st.Err != nil {
			fmt.Fprintf(&got, ": %v", st.Err)
		}
		got.WriteString("\n")
	}
	require.Equal(t, golden(t, "testdata/status.txt", port.ReplaceAllString(got.String(), "HOST")), port.ReplaceAllString(got.String(), "HOST"))
	var lines []string
	for _, line := range log.lines() {
		if !strings.Contains(line, kindConnecting) { // which were still connecting when Open returned depends on the machine
			lines = append(lines, port.ReplaceAllString(line, "HOST"))
		}
	}
	text := strings.Join(lines, "\n") + "\n"
	require.Equal(t, golden(t, "testdata/log.txt", text), text)

	log = listen(t)
	s.logConnecting(ctx)
	require.Equal(t, []string{`level=WARN msg=mcp_connecting einolean.server=slow einolean.error="still connecting: Wait waits for it"`}, log.lines())
	close(release)
	until(t, "the slow one is up", func() bool { return statusOf(s, "slow").Tools > 0 })
}

// golden is the text of a file. With EINOLEAN_UPDATE=1 it is written first.
func golden(t *testing.T, file, text string) string {
	t.Helper()
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(want)
}

// Media may come as a data URL.
func TestResult_DataURLIsMedia(t *testing.T) {
	const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	for _, data := range []string{png, "data:image/png;base64," + png, "data:image/png;charset=x;BASE64," + png} {
		r, err := readResult(`{"content":[{"type":"image","data":"` + data + `","mimeType":"image/png"}]}`)
		require.NoError(t, err)
		parts := r.parts(true)
		require.Len(t, parts, 1)
		require.NotNil(t, parts[0].Image, data)
		require.Equal(t, png, *parts[0].Image.Base64Data)
	}
}

// An error of a check speaks of null as JSON does.
func TestArguments_MisfitNamesNull(t *testing.T) {
	s := open(t, map[string]Server{"srv": (&scripted{tools: []string{`{"name":"x","inputSchema":{"type":"object","properties":{"a":{"type":["string","integer"]}}}}`}}).server()}, Options{})
	answer := ask(t, ctx, s, "srv__x", `{"a":null}`)
	require.Contains(t, answer, "do not fit")
	require.NotContains(t, answer, "reflect")
}
