// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/redact"
	"github.com/einolean/einolean/internal/toolnames"
)

// Server says how to reach one server, by Command, URL or Transport, and which of its tools
// to offer. Every other field may be left at its zero value.
//
// In JSON the keys are type, command, args, env, cwd, url, headers, disabled, noPrefix,
// noRecheck, shared, timeout, include, exclude and alwaysLoad. Keys of other programs with the
// same meaning are read as well: transport, environment, httpUrl, serverUrl, http_headers,
// env_http_headers, bearer_token_env_var, enabled, tool_timeout_sec; includeTools, enabledTools,
// enabled_tools, allowedTools, allowed_tools and tools for include; excludeTools, disabledTools,
// disabled_tools and blockedTools for exclude. Of several URLs, httpUrl counts; two different lists
// for include are an error. The types local (stdio), streamable-http, streamable_http,
// streamableHttp and remote (http) are read too. alwaysAllow, autoApprove, trust, name and
// description have no effect. An unknown key that may restrict what the server may do, such as
// denyList, is an error; any other, such as envFile or oauth, is a warning.
type Server struct {
	// Type is "stdio", "http" (streamable HTTP) or "sse". If empty, it follows from Command
	// and URL; a URL means streamable HTTP.
	Type string
	// Command is the program to run, in the directory Dir. If Dir is empty, defaults to the
	// current directory.
	Command, Dir string
	// URL is where an HTTP server listens.
	URL string
	// Args are the arguments of Command.
	Args []string
	// Env are variables for Command, besides PATH, HOME and the like: it does not get the
	// whole environment.
	Env map[string]string
	// Headers are sent with every request. No request goes to another scheme, host and port
	// than URL's, whatever a redirect or the server says.
	Headers map[string]string
	// Disabled leaves the server out.
	Disabled bool
	// NoPrefix leaves the server's name out of the names of its tools. Of two tools with the
	// same name, that of the first server in alphabetical order stays.
	NoPrefix bool
	// NoRecheck waits 30 ms for the server's notification after each call that may have
	// changed the list of tools, instead of reading the list again. Use it for servers with
	// many tools that notify at once. If a server notifies later, a new tool appears one
	// model call later.
	NoRecheck bool
	// Shared makes one session for all users even if Options.User is set.
	Shared bool
	// Timeout is the longest that a call may take without an answer; a progress
	// notification restarts it, up to ten times Timeout. In JSON it is a text such as "90s",
	// or a number of seconds; above 3,600 a number means milliseconds. If zero, defaults to 60 s.
	Timeout time.Duration
	// Include, if not empty, names the only tools to offer, and Exclude tools not to offer, by
	// the server's own names; a trailing * matches any rest.
	Include, Exclude []string
	// AlwaysVisible names tools that the model sees without searching; a trailing * matches
	// any rest. It also sees those that the server marks with _meta["anthropic/alwaysLoad"].
	AlwaysVisible []string
	// Transport returns the transport of a new connection, in place of Command and URL. It is called for
	// every session and reconnect, must return a new transport each time, and must be safe for
	// concurrent use. An error or nil fails the attempt. Its context ends with the session. If nil,
	// Command or URL is used.
	Transport func(context.Context) (mcp.Transport, error)

	warnings []string // about keys of a configuration file
	problem  error    // why a configuration file does not let it start
}

// Options are the options for all servers. The zero value is ready to use.
type Options struct {
	// HTTPClient makes the requests to HTTP servers. It must not have a Timeout, which would
	// end streams. With User, each user's session has cookies of its own in place of its Jar.
	// If nil, defaults to a client of this package.
	HTTPClient *http.Client
	// Media passes images, audio and files to the model as parts of a result, for models
	// that read them. A line of text names those that no provider takes: empty ones, and
	// images other than PNG, JPEG, GIF, WebP and HEIC. The Extra of the first part has the
	// server's _meta: see ResultMetaKey. If false, a line names each, and results are texts
	// without _meta.
	Media bool
	// User returns the key of the user of a context: each user has a separate session with
	// each server. An error or an empty key means that there are no tools and that calls do
	// not run. Sessions close after 10 minutes without use; at most 1,000 users have
	// sessions. It must be safe for concurrent use. If nil, all share one session with each server.
	User func(context.Context) (string, error)
	// Header returns headers for an HTTP server, for the user of ctx. It is called for each
	// connection, and again after a 401 response. Of a session that all share (Server.Shared,
	// or without User), ctx has the values of Open's context, never of a caller's. If it fails,
	// that connection attempt fails, and Status shows the error. It must be safe for concurrent use. If
	// nil, only Server.Headers are sent.
	Header func(ctx context.Context, server string) (http.Header, error)
	// Meta returns the _meta of a request to a server, such as a tenant or the ids of a trace. It is
	// called for each tools/list and tools/call, from several goroutines. An error fails the request.
	// If nil, requests have none of their own. For the _meta of results, see ResultMetaKey.
	Meta func(ctx context.Context, call MetaRequest) (map[string]any, error)
	// Ask interrupts the run where a tool asks a person something, with a Question as the
	// interrupt's info. Resume the run with an Answer for the interrupt's id, in another process
	// if need be. Only servers of MCP 2026-07-28 can wait like that. If false, Elicit
	// answers.
	Ask bool
	// Elicit answers a question of a tool while its call waits. It handles all questions if Ask is false,
	// and only those of older servers if Ask is true. An error, or an answer that does not fit the
	// schema, cancels the question. Older servers do not say which call asks, so questions are declined
	// while several calls run in one session. It must be safe for concurrent use. If nil, those questions
	// are declined.
	Elicit func(ctx context.Context, q Question) (Answer, error)
	// MaxWait is how long Tools waits for a list that is being read. If zero, defaults to
	// 500 ms.
	MaxWait time.Duration
	// Logs receives the standard error of stdio servers, and lines of their standard
	// output that are not messages, one at a time per process. It must not keep the
	// line, and must be safe for concurrent use. If nil, lines are dropped.
	Logs func(server string, line []byte)
	// OnEvent receives an event when a server comes up, goes down or lists its tools, and
	// for each tool that is refused. It is called synchronously, from several goroutines,
	// once the change is made: Tools and Status may show it before the event has come.
	// If nil, warnings are logged to slog.Default, at most one of each kind a minute.
	OnEvent func(context.Context, einolean.Event)
}

// MetaRequest is a request that Options.Meta is asked for.
type MetaRequest struct {
	// Server is the name of the server, and User the key of the user whose session it is, or "".
	Server, User string
	// Tool is the server's own name of the tool that is called. It is empty for tools/list.
	Tool string
	// List is true for tools/list.
	List bool
}

// The limits that have no field.
const (
	defaultTimeout        = 60 * time.Second
	defaultMaxWait        = 500 * time.Millisecond
	defaultConnectTimeout = 30 * time.Second // of one connection
	defaultStartTimeout   = 5 * time.Minute  // of one to a program, which may have to be installed first
	listTimeout           = 30 * time.Second // of one list
	firstWait             = 10 * time.Second // for a server that was never connected
	noticeTimeout         = 30 * time.Millisecond
	idleLimit             = 10 * time.Minute
	maxUsers              = 1000
	maxDefinition         = 256 << 10 // bytes of one tool's definition
	maxPages              = 10_000
	maxTimeouts           = 10 // that progress may lengthen a call to
)

// What the messages and the tools of one server may take; tests lower it.
var (
	maxMessage       = 256 << 20 // bytes of one message
	maxTools         = 100_000
	maxList    int64 = 192 << 20 // bytes of memory for all definitions, about
)

// UnmarshalJSON reads a server in the form of configuration files. Unknown keys are logged by Open;
// one that may restrict what the server may do is an error.
func (s *Server) UnmarshalJSON(data []byte) error {
	server, err := readServer(data)
	if err != nil {
		return err
	}
	*s = server
	return nil
}

// problems collects the errors of a configuration.
type problems []error

func (p *problems) add(field string, err error) {
	*p = append(*p, &einolean.FieldError{Package: "mcptools", Field: field, Err: err})
}

// checkAll returns everything that is wrong with servers and options.
func checkAll(servers map[string]Server, o Options) error {
	var wrong problems
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if servers[name].problem == nil {
			servers[name].check(name, servers[name].URL, &wrong)
		}
	}
	if o.MaxWait < 0 {
		wrong.add("Options.MaxWait", fmt.Errorf("%v is negative", o.MaxWait))
	}
	return errors.Join(wrong...)
}

// check reports what is wrong with one server. written is its URL as the user wrote it.
func (s Server) check(name, written string, problems *problems) {
	if s.Disabled {
		return
	}
	at := func(field string) string { return fmt.Sprintf("servers[%q]%s", redact.Text(name), field) }
	if strings.TrimSpace(name) == "" {
		problems.add(at(""), errors.New("it has no name"))
	}
	ways := 0
	for _, set := range []bool{s.Command != "", s.URL != "", s.Transport != nil} {
		if set {
			ways++
		}
	}
	if ways != 1 {
		problems.add(at(""), errors.New("set one of command and url"))
	}
	if err := s.checkType(); err != nil {
		problems.add(at(".type"), err)
	}
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			problems.add(at(".url"), fmt.Errorf(
				"%q is not a URL that begins with http:// or https:// and names a host", redact.Text(written)))
		}
	}
	if s.Timeout < 0 {
		problems.add(at(".timeout"), fmt.Errorf("%v is negative", s.Timeout))
	}
	for field, names := range map[string][]string{".include": s.Include, ".exclude": s.Exclude, ".alwaysLoad": s.AlwaysVisible} {
		if slices.Contains(names, "") {
			problems.add(at(field), errors.New("one of the names is empty"))
		}
	}
	s.checkTexts(at, problems)
}

// checkTexts reports texts that no program can be started with, and headers that no request
// can have. It quotes no value, which may be a secret.
func (s Server) checkTexts(at func(field string) string, wrong *problems) {
	null := func(field, text string) {
		if strings.ContainsRune(text, 0) {
			wrong.add(at(field), errors.New("it contains a NUL byte"))
		}
	}
	null(".command", s.Command)
	null(".cwd", s.Dir)
	for i, arg := range s.Args {
		null(fmt.Sprintf(".args[%d]", i), arg)
	}
	for i, key := range slices.Sorted(maps.Keys(s.Env)) {
		if key == "" || strings.ContainsAny(key, "=\x00") {
			wrong.add(at(".env"), fmt.Errorf("the name of variable %d in alphabetical order is empty, or contains = or a NUL byte", i+1))
			continue
		}
		null(fmt.Sprintf(".env[%q]", nameOf(key)), s.Env[key])
	}
	for i, key := range slices.Sorted(maps.Keys(s.Headers)) {
		if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }) {
			wrong.add(at(".headers"), fmt.Errorf("the name of header %d in alphabetical order, of %d bytes: it consists of letters, digits and a few signs such as -", i+1, len(key)))
			continue
		}
		if strings.ContainsFunc(s.Headers[key], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			wrong.add(at(fmt.Sprintf(".headers[%q]", nameOf(key))), errors.New("its value contains a line break or another control character"))
		}
	}
}

// nameOf is a name that may be a key in the wrong place.
func nameOf(name string) string {
	if redact.MayBeKey(name) {
		return "…"
	}
	return redact.Text(name)
}

// secrets are what a server was given and may not be repeated.
func (s Server) secrets() (values []string) {
	values = append(redact.InURL(s.URL), redact.InArguments(s.Args)...)
	for name, value := range s.Env {
		values = append(values, redact.InVariable(name, value)...)
	}
	for name, value := range s.Headers {
		values = append(values, redact.InHeader(name, value)...)
	}
	return values
}

// checkType checks that the type fits how the server is reached.
func (s Server) checkType() error {
	switch s.Type {
	case "":
		return nil
	case "stdio":
		if s.URL != "" {
			return errors.New("it is stdio and needs a command, not a url")
		}
	case "http", "streamable-http", "streamableHttp", "sse":
		if s.Command != "" {
			return fmt.Errorf("it is %s and needs a url, not a command", s.Type)
		}
	default:
		return fmt.Errorf("%q is unknown: use stdio, http or sse", redact.Text(s.Type))
	}
	return nil
}

// offers reports whether the server's tool is to be offered.
func (s Server) offers(tool string) bool {
	return (len(s.Include) == 0 || toolnames.Match(s.Include, tool)) && !toolnames.Match(s.Exclude, tool)
}
