// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// The servers of the corpus of configuration files are started, with test servers in place of their programs
// and addresses.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

const (
	toolsVar  = "MCPTOOLS_TEST_TOOLS"  // names of the tools of a process of the kind "listed", as JSON
	startsVar = "MCPTOOLS_TEST_STARTS" // a file in which such a process notes its start
)

func TestOpen_StartsWhatTheCorpusAllows(t *testing.T) {
	seen := map[string]int{}
	for i, c := range corpusConfigs(t) {
		if testing.Short() && i%5 != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			config, err := ReadConfig(c.file)
			if err != nil || len(c.want.Servers) == 0 {
				return // TestReadConfig_Corpus checks which files are refused
			}
			stands := map[string]*standIn{}
			for name, server := range config {
				want, checked := c.want.Servers[name]
				if checked {
					want, _ = want.outcome(t, config, name)
				}
				stands[name] = newStandIn(t, server, want)
				config[name] = stands[name].server
				if !checked {
					stands[name].starts = !server.Disabled && server.problem == nil
				}
			}
			s, err := Open(t.Context(), config, Options{MaxWait: time.Minute})
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			within, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			err = s.Wait(within)
			if err != nil {
				require.NotContains(t, err.Error(), "is not ready", "a rejected server holds up no other")
			}
			listed := listedTools(t, s)
			for name, stand := range stands {
				if !stand.starts {
					require.Zero(t, stand.processes(t)+int(stand.requests.Load()), "%q is not started", name)
					require.Empty(t, listed[name], "%q has no tools", name)
					seen["not started"]++
					continue
				}
				if stand.way == "stdio" {
					require.Equal(t, 1, stand.processes(t), "%q is started once", name)
				} else {
					require.Positive(t, stand.requests.Load(), "%q is connected", name)
				}
				require.Equal(t, StateUp, statusOf(s, name).State, "%q is up: %v", name, statusOf(s, name).Err)
				require.ElementsMatch(t, stand.allowed, listed[name], "the tools of %q", name)
				seen[stand.way]++
				if err != nil {
					seen["beside a rejected one"]++
				}
				if len(stand.allowed) < len(stand.tools) {
					seen["restricted"]++
				}
			}
		})
	}
	t.Logf("servers: %v", seen)
	for _, kind := range []string{"stdio", "http", "not started", "beside a rejected one", "restricted"} {
		require.Positive(t, seen[kind], kind)
	}
}

// standIn is a test server in place of one of the corpus.
type standIn struct {
	server         Server
	way            string
	starts         bool
	tools, allowed []string
	noted          string       // a file with a line for each process
	requests       atomic.Int64 // to the web server
}

// newStandIn returns a test server that differs from the one of a file only in where it is. It can be started even
// if the file forbids that, so that a start is noticed.
func newStandIn(t *testing.T, server Server, want wantServer) *standIn {
	t.Helper()
	s := &standIn{way: "stdio", starts: want.Starts, tools: []string{"other"}, noted: filepath.Join(t.TempDir(), "starts")}
	var include, exclude []string
	if want.Tools != nil {
		include, exclude = want.Tools.Include, want.Tools.Exclude
	}
	for _, pattern := range slices.Concat(include, exclude, server.Include, server.Exclude) {
		for _, name := range []string{strings.TrimSuffix(pattern, "*"), strings.TrimSuffix(pattern, "*") + "x"} {
			if name != "" && !slices.Contains(s.tools, name) {
				s.tools = append(s.tools, name)
			}
		}
	}
	for _, name := range s.tools {
		if (include == nil || matchesAny(include, name)) && !matchesAny(exclude, name) {
			s.allowed = append(s.allowed, name)
		}
	}
	if server.URL != "" {
		s.way = "http"
		if server.Type == "sse" {
			s.way = "sse"
		}
		server.URL = s.web(t).URL
	}
	if server.Command != "" || server.URL == "" {
		program := child(t, "listed")
		names, err := json.Marshal(s.tools)
		require.NoError(t, err)
		server.Command, server.Args, server.Dir = program.Command, nil, ""
		server.Env = maps.Clone(server.Env)
		if server.Env == nil {
			server.Env = map[string]string{}
		}
		maps.Copy(server.Env, program.Env)
		server.Env[toolsVar], server.Env[startsVar] = string(names), s.noted
	}
	s.server = server
	return s
}

// matchesAny reports whether a name is one of the patterns of the corpus, in which a last * stands for any rest.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		return name == pattern || isPrefix && strings.HasPrefix(name, prefix)
	})
}

// web serves the tools over HTTP, and counts the requests.
func (s *standIn) web(t *testing.T) *httptest.Server {
	t.Helper()
	f := toolServer(s.tools)
	return f.web(t, func(h http.Handler) http.Handler {
		if s.way == "sse" {
			h = mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return f.server }, nil)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.requests.Add(1)
			h.ServeHTTP(w, r)
		})
	})
}

// processes is how many were started.
func (s *standIn) processes(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(s.noted)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	return strings.Count(string(text), "\n")
}

// listedProcess is the process of the kind "listed".
func listedProcess() int {
	noted, err := os.OpenFile(os.Getenv(startsVar), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(noted, os.Getpid())
	var names []string
	if err := json.Unmarshal([]byte(os.Getenv(toolsVar)), &names); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = toolServer(names).server.Run(context.Background(), &mcp.StdioTransport{}) // it ends with its input
	return 0
}

// toolServer is a server with these tools and no others.
func toolServer(names []string) *fixture {
	f := &fixture{server: mcp.NewServer(&mcp.Implementation{Name: "corpus", Version: "1"}, nil)}
	for _, name := range names {
		f.addSimple(name)
	}
	return f
}

// listedTools are the servers' own names of all tools, by server.
func listedTools(t *testing.T, s *Servers) map[string][]string {
	t.Helper()
	listed := map[string][]string{}
	toolsOf(t, t.Context(), s).Select(func(info *schema.ToolInfo) bool {
		hints := HintsOf(info)
		listed[hints.Server] = append(listed[hints.Server], hints.Tool)
		return false
	})
	return listed
}
