// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file reads which servers to connect to. The format is the one that most MCP
// clients use.

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Config is a file such as
//
//	{"mcpServers": {
//	  "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]},
//	  "search": {"url": "http://localhost:8080/mcp", "headers": {"Authorization": "Bearer …"}}
//	}}
type Config struct {
	// Servers are the servers by name; the name becomes the prefix of their tools.
	Servers map[string]ServerConfig `json:"mcpServers"`
}

// ServerConfig says how to reach a server: by a command (stdio) or a URL (streamable HTTP).
type ServerConfig struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

func readConfig(file string) (Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Config{}, err
	}
	var c Config
	if err := json.Unmarshal(data, &c); err != nil {
		return Config{}, fmt.Errorf("reading %s: %w", file, err)
	}
	return c, c.check()
}

// check says everything that is wrong.
func (c Config) check() error {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		s := c.Servers[name]
		switch {
		case name == "" || cleanName(name) != name:
			wrong = append(wrong, fmt.Errorf("server %q: a name is made of letters, digits, - and _", name))
		case (s.Command == "") == (s.URL == ""):
			wrong = append(wrong, fmt.Errorf("server %q: set either command or url", name))
		}
	}
	if len(c.Servers) == 0 {
		wrong = append(wrong, errors.New("mcpServers is empty"))
	}
	return errors.Join(wrong...)
}

// transport makes a new connection each time it is called.
func (s ServerConfig) transport() mcp.Transport {
	if s.URL != "" {
		return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: headers(s.Headers)}}
	}
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Env = os.Environ()
	for k, v := range s.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return &mcp.CommandTransport{Command: cmd}
}

// headers adds its entries to every request.
type headers map[string]string

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range h {
		r.Header.Set(k, v)
	}
	return http.DefaultTransport.RoundTrip(r)
}
