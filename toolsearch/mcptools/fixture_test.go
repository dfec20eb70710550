// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// The servers that the tests run: the test program itself on stdio, or a web server.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/toolset"

	"github.com/einolean/einolean"
)

// stdioMode makes the test program a server on stdio, of that kind.
const stdioMode = "MCPTOOLS_TEST_SERVER"

// deathsVar names a file in which each call notes that the server dies of it.
const deathsVar = "MCPTOOLS_TEST_DEATHS"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(stdioMode); mode {
	case "":
		code := m.Run()
		if left := leftBehind(time.Minute); code == 0 && left != "" {
			fmt.Println("goroutines are left behind:\n" + left)
			code = 1
		}
		os.Exit(code)
	case "deaf": // reads nothing and heeds no signal
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, "I hear nothing")
		select {}
	case "broken":
		fmt.Fprint(os.Stderr, "no license file found") // without a line break, as many programs end
		os.Exit(3)
	case "empty": // ends without a word
		os.Exit(0)
	case "listed": // has the tools that a variable names, and notes its start
		os.Exit(listedProcess())
	case "late":
		time.Sleep(300 * time.Millisecond)
		_ = newFixture().server.Run(context.Background(), &mcp.StdioTransport{})
	case "noisy": // writes other lines between its messages
		for _, line := range noise {
			fmt.Println(line)
		}
		_ = newFixture().server.Run(context.Background(), &mcp.IOTransport{Reader: os.Stdin, Writer: noisy{os.Stdout}})
	case "asking", "asking old":
		_ = asking(mode == "asking old").server.Run(context.Background(), &mcp.StdioTransport{})
	case "agent":
		agentProcess()
		os.Exit(0)
	case "opens": // a program with a server that heeds nothing; it is killed
		exe, _ := os.Executable()
		go func() {
			_, _ = Open(context.Background(), map[string]Server{"deaf": {Command: exe, Env: map[string]string{stdioMode: "deaf"}}}, Options{})
		}()
		select {}
	case "escapes": // starts a program in a session of its own
		cmd := exec.Command("sleep", "600")
		leaveSession(cmd)
		if err := cmd.Start(); err == nil {
			_ = os.WriteFile(os.Getenv(deathsVar), fmt.Append(nil, cmd.Process.Pid), 0o600)
		}
		_ = newFixture().server.Run(context.Background(), &mcp.StdioTransport{})
	case "deep":
		f := listing(func(string) (*mcp.ListToolsResult, error) {
			r := named("one", "two")
			r.Tools = append(r.Tools, &mcp.Tool{Name: "deep", InputSchema: deepSchema(2000)})
			return r, nil
		})
		_ = f.server.Run(context.Background(), &mcp.StdioTransport{})
	case "flood": // sends notices as fast as it can, once it is told to
		f := newFixture()
		f.add(&mcp.Tool{Name: "start", InputSchema: object("")}, func(context.Context, args) (*mcp.CallToolResult, error) {
			go func() {
				for notices := []byte(strings.Repeat(notice, 100)); ; {
					if _, err := os.Stdout.Write(notices); err != nil {
						return
					}
				}
			}()
			return text("started"), nil
		})
		_ = f.server.Run(context.Background(), &mcp.StdioTransport{})
	case "repeats": // says what it was given, and ends
		fmt.Fprintf(os.Stderr, "my token is %s, my arguments are %q\n", os.Getenv("MY_TOKEN"), os.Args[1:])
		os.Exit(1)
	case "letters": // answers to the tool raw with a text of that many bytes of JSON
		f := newFixture()
		f.add(&mcp.Tool{Name: "raw", InputSchema: object("")}, func(_ context.Context, a args) (*mcp.CallToolResult, error) {
			return text(strings.Repeat("ab\n", a.N/4)), nil
		})
		_ = f.server.Run(context.Background(), &mcp.StdioTransport{})
	case "raw": // answers to the tool raw with what a variable says
		f := newFixture()
		f.add(&mcp.Tool{Name: "raw", InputSchema: object("")}, func(context.Context, args) (*mcp.CallToolResult, error) { return text("RAW"), nil })
		_ = f.server.Run(context.Background(), &mcp.IOTransport{Reader: os.Stdin, Writer: replacing{os.Stdout}})
	case "chatty": // is not a server
		fmt.Println("Welcome to the server!")
		select {}
	default:
		fmt.Fprintln(os.Stderr, "ready")
		_ = newFixture().server.Run(context.Background(), &mcp.StdioTransport{})
	}
}

// replacing writes a result in place of that of the tool raw.
type replacing struct{ *os.File }

func (r replacing) Write(p []byte) (int, error) {
	_, err := r.File.Write(rawFrame.ReplaceAllLiteral(p, []byte(`"result":`+os.Getenv("MCPTOOLS_TEST_RAW")+`}`)))
	return len(p), err
}

// noisy writes noise before each message.
type noisy struct{ *os.File }

func (n noisy) Write(p []byte) (int, error) {
	if _, err := n.WriteString(strings.Join(noise, "\n") + "\n"); err != nil {
		return 0, err
	}
	return n.File.Write(p)
}

// leftBehind returns the stacks of goroutines of this module that still run after a while.
func leftBehind(patience time.Duration) string {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		buf := make([]byte, 4<<20)
		var ours []string
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "mcptools.(*") || strings.Contains(g, "mcp.(*Client") || strings.Contains(g, "streamableClientConn") || strings.Contains(g, "os/exec") {
				if !strings.Contains(g, "mcptools.leftBehind") {
					ours = append(ours, g)
				}
			}
		}
		if len(ours) == 0 {
			return ""
		}
		if time.Now().After(end) {
			return strings.Join(ours, "\n\n")
		}
	}
}

// fixture is a server whose tools tests can change.
type fixture struct {
	server *mcp.Server
	mu     sync.Mutex
	calls  []string
}

func object(props string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + props + `}}`)
}

// newFixture makes a server with the standard tools.
func newFixture(o ...*mcp.ServerOptions) *fixture {
	f := &fixture{}
	var opts *mcp.ServerOptions
	if len(o) > 0 {
		opts = o[0]
	}
	f.server = mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1"}, opts)
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	f.add(&mcp.Tool{Name: "echo", Description: "Returns the text", InputSchema: object(`"text":{"type":"string"}`), Annotations: reads}, func(_ context.Context, a args) (*mcp.CallToolResult, error) {
		return text(a.Text), nil
	})
	f.add(&mcp.Tool{Name: "add_tool", Description: "Adds a tool", InputSchema: object(`"text":{"type":"string"}`)}, func(_ context.Context, a args) (*mcp.CallToolResult, error) {
		f.addSimple(a.Text)
		return text("added " + a.Text), nil
	})
	f.add(&mcp.Tool{Name: "remove_tool", InputSchema: object("")}, func(_ context.Context, a args) (*mcp.CallToolResult, error) {
		f.server.RemoveTools(a.Text)
		return text("removed " + a.Text), nil
	})
	f.add(&mcp.Tool{Name: "big", InputSchema: object(""), Annotations: reads}, func(_ context.Context, a args) (*mcp.CallToolResult, error) {
		return text(bigText(a.N)), nil
	})
	f.add(&mcp.Tool{Name: "fail", InputSchema: object("")}, func(_ context.Context, a args) (*mcp.CallToolResult, error) {
		r := text("it does not work: " + a.Text)
		r.IsError = true
		return r, nil
	})
	f.add(&mcp.Tool{Name: "protocol_error", InputSchema: object("")}, func(context.Context, args) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("the handler broke")
	})
	f.add(&mcp.Tool{Name: "wait", InputSchema: object("")}, func(ctx context.Context, _ args) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return text("cancelled"), nil
	})
	die := func(context.Context, args) (*mcp.CallToolResult, error) {
		if f, err := os.OpenFile(os.Getenv(deathsVar), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(f, os.Getpid())
		}
		os.Exit(4)
		return nil, nil
	}
	f.add(&mcp.Tool{Name: "die", InputSchema: object("")}, die)
	f.add(&mcp.Tool{Name: "die_reading", InputSchema: object(""), Annotations: reads}, die)
	f.add(&mcp.Tool{Name: "pid", InputSchema: object(""), Annotations: reads}, func(context.Context, args) (*mcp.CallToolResult, error) {
		return text(fmt.Sprint(os.Getpid())), nil
	})
	f.add(&mcp.Tool{Name: "getenv", InputSchema: object(""), Annotations: reads}, func(_ context.Context, a args) (*mcp.CallToolResult, error) {
		return text(os.Getenv(a.Text)), nil
	})
	return f
}

type args struct {
	Text string `json:"text"`
	N    int    `json:"n"`
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// bigText is a text of n bytes in which no two lines are the same.
func bigText(n int) string {
	var b strings.Builder
	b.Grow(n + 32)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d \"quoted\" ü\n", i)
	}
	return strings.ToValidUTF8(b.String()[:n], "")
}

func (f *fixture) add(t *mcp.Tool, run func(context.Context, args) (*mcp.CallToolResult, error)) {
	f.server.AddTool(t, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		f.mu.Lock()
		f.calls = append(f.calls, r.Params.Name)
		f.mu.Unlock()
		var a args
		if err := json.Unmarshal(r.Params.Arguments, &a); err != nil {
			return nil, err
		}
		return run(ctx, a)
	})
}

func (f *fixture) addSimple(name string) {
	f.add(&mcp.Tool{Name: name, Description: "does " + name, InputSchema: object("")}, func(context.Context, args) (*mcp.CallToolResult, error) {
		return text("ran " + name), nil
	})
}

func (f *fixture) called(name string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c == name {
			n++
		}
	}
	return n
}

// web serves the fixture over streamable HTTP, behind handlers that may be nil.
func (f *fixture) web(t testing.TB, around func(http.Handler) http.Handler) *httptest.Server {
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return f.server }, nil)
	if around != nil {
		h = around(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

// child is the test program as a stdio server.
func child(t testing.TB, mode string) Server {
	exe, err := os.Executable()
	require.NoError(t, err)
	return Server{Command: exe, Env: map[string]string{stdioMode: mode, "GOCOVERDIR": os.TempDir(), "GORACE": os.Getenv("GORACE")}}
}

// inMemory is a server that is reached through pipes, a new session for each connection.
func (f *fixture) inMemory() Server {
	return Server{Transport: func(ctx context.Context) (mcp.Transport, error) {
		ours, theirs := mcp.NewInMemoryTransports()
		_, err := f.server.Connect(context.WithoutCancel(ctx), theirs, nil)
		return ours, err
	}}
}

// recorder keeps events.
type recorder struct {
	mu  sync.Mutex
	all []einolean.Event
}

func (r *recorder) record(_ context.Context, e einolean.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, e)
}

func (r *recorder) of(kind einolean.Kind) (found []einolean.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.all {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// wait returns the events of a kind once there are n of them: a change is seen before it is told.
func (r *recorder) wait(t testing.TB, kind einolean.Kind, n int) (found []einolean.Event) {
	t.Helper()
	until(t, fmt.Sprintf("%d events %q", n, kind), func() bool { found = r.of(kind); return len(found) >= n })
	return found
}

// open opens servers until the test ends. Lists are waited for as long as a busy machine needs.
func open(t testing.TB, servers map[string]Server, o Options) *Servers {
	t.Helper()
	if o.MaxWait == 0 {
		o.MaxWait = time.Minute
	}
	s, err := Open(context.Background(), servers, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// toolsOf are the tools of a user, though servers may be missing.
func toolsOf(t testing.TB, ctx context.Context, s *Servers) *toolset.Set {
	t.Helper()
	set, err := s.Tools(ctx)
	if missing := new(toolset.Missing); !errors.As(err, &missing) {
		require.NoError(t, err)
	}
	return set
}

func namesIn(t testing.TB, ctx context.Context, s *Servers) []string {
	t.Helper()
	set := toolsOf(t, ctx, s)
	names := []string{}
	set.Select(func(info *schema.ToolInfo) bool {
		names = append(names, info.Name)
		return true
	})
	return names
}

func find(t testing.TB, ctx context.Context, s *Servers, name string) tool.BaseTool {
	t.Helper()
	set := toolsOf(t, ctx, s)
	for x := range set.All() {
		if info, _ := x.Info(ctx); info.Name == name {
			return x
		}
	}
	t.Fatalf("there is no tool %q", name)
	return nil
}

// ask calls a tool that the servers have.
func ask(t testing.TB, ctx context.Context, s *Servers, name, args string) string {
	t.Helper()
	answer, err := find(t, ctx, s, name).(tool.InvokableTool).InvokableRun(ctx, args)
	require.NoError(t, err)
	return answer
}

// statusOf is the state of the first server of a name.
func statusOf(s *Servers, name string) Status {
	for _, st := range s.Status() {
		if st.Server == name {
			return st
		}
	}
	return Status{}
}

// until waits for something that other goroutines or processes do.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 2*time.Minute, 2*time.Millisecond, what)
}
