// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/redact"
)

// ReadConfig reads the servers of a file in the format of Claude Desktop, Claude Code, Cursor,
// Cline, Windsurf and Gemini CLI ("mcpServers"), VS Code ("servers") or Codex ("mcp_servers", as
// JSON). Comments and trailing commas are allowed. ${NAME} and ${env:NAME} stand for environment
// variables, ${NAME:-text} for text if there is no such variable, ${userHome} for the home
// directory, and ${workspaceFolder} for the directory of the file, or its parent if that is
// .vscode or .cursor.
//
// A server with a mistake is in the result, and does not start: Status says why, and the others
// start. The error is that of a file that cannot be read. It quotes the file, and not what
// variables stand for.
func ReadConfig(file string) (map[string]Server, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("mcptools: %w", err)
	}
	servers, err := parseConfig(data, variables{folder: workspace(file), lookup: os.LookupEnv})
	if err != nil {
		return nil, fmt.Errorf("mcptools: reading %s: %w", file, err)
	}
	return servers, nil
}

// parseConfig reads the servers in a configuration file.
func parseConfig(data []byte, v variables) (map[string]Server, error) {
	all, err := rawServers(data)
	if err != nil {
		return nil, err
	}
	servers := make(map[string]Server, len(all.servers))
	for _, name := range slices.Sorted(maps.Keys(all.servers)) {
		s := all.server(name, &v)
		if s.Disabled {
			s.problem, s.warnings = nil, nil
		}
		servers[name] = s
	}
	return servers, nil
}

// configFile is the servers of a file, as they are written, and what the file says of them together.
type configFile struct {
	servers         map[string]json.RawMessage
	allowedServers  []string // nil: all
	excludedServers []string
}

// server reads one server. What is wrong with it keeps only this one from starting.
func (c configFile) server(name string, v *variables) Server {
	at := fmt.Sprintf("servers[%q]", redact.Text(name))
	var problems problems
	s, err := readServer(c.servers[name])
	if err != nil {
		problems.add(at, err)
	}
	if slices.Contains(c.excludedServers, name) || c.allowedServers != nil && !slices.Contains(c.allowedServers, name) {
		s.Disabled = true
	}
	if s.Disabled {
		return s
	}
	rawURL := s.URL
	s = v.expand(s)
	for _, unknown := range v.takeUnknown() {
		problems.add(at, fmt.Errorf("${%s} is not set", unknown))
	}
	if err == nil {
		s.check(name, rawURL, &problems)
	}
	s.problem = errors.Join(problems...)
	return s
}

// rawServers finds the servers in a file.
func rawServers(data []byte) (configFile, error) {
	plain := jsontext.BlankComments(data)
	var top map[string]json.RawMessage
	if err := json.Unmarshal(plain, &top); err != nil {
		return configFile{}, inLine(plain, err)
	}
	c := configFile{servers: map[string]json.RawMessage{}}
	hasServers := false
	for _, key := range []string{"mcp_servers", "context_servers", "amp.mcpServers", "servers", "mcpServers"} {
		if value, ok := top[key]; ok && string(value) != "null" {
			hasServers = true
			if err := c.addServers(key, value); err != nil {
				return configFile{}, err
			}
		}
	}
	inMCP, err := c.addMCP(top["mcp"])
	if err != nil {
		return configFile{}, err
	}
	if !hasServers && !inMCP {
		return configFile{}, errors.New("it has no mcpServers and no servers")
	}
	for _, key := range []string{"disabledMcpServers", "disabledMcpjsonServers", "excludeMCPServers"} {
		if err := namesOfServers(key, top[key], &c.excludedServers); err != nil {
			return configFile{}, err
		}
	}
	return c, namesOfServers("allowMCPServers", top["allowMCPServers"], &c.allowedServers)
}

// addServers adds the servers below a key: an object, or a list of servers that have names.
func (c configFile) addServers(key string, value json.RawMessage) error {
	var list []struct {
		Name string `json:"name"`
	}
	var raw []json.RawMessage
	if json.Unmarshal(value, &list) == nil && json.Unmarshal(value, &raw) == nil {
		for i, s := range list {
			c.servers[s.Name] = raw[i]
		}
		return nil
	}
	var named map[string]json.RawMessage
	if json.Unmarshal(value, &named) != nil {
		return fmt.Errorf("%s is %s and should be an object", key, kindOfJSON(value))
	}
	maps.Copy(c.servers, named)
	return nil
}

// addMCP adds what is below the key mcp: the servers of VS Code's settings or of opencode, and the names
// that Gemini CLI allows and excludes.
func (c *configFile) addMCP(value json.RawMessage) (hasServers bool, err error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return false, nil
	}
	for name, member := range members {
		var s struct {
			Command json.RawMessage `json:"command"`
			URL     json.RawMessage `json:"url"`
		}
		switch {
		case name == "servers":
			hasServers = true
			if err := c.addServers("mcp.servers", member); err != nil {
				return false, err
			}
		case name == "allowed":
			err = errors.Join(err, namesOfServers("mcp.allowed", member, &c.allowedServers))
		case name == "excluded":
			err = errors.Join(err, namesOfServers("mcp.excluded", member, &c.excludedServers))
		case json.Unmarshal(member, &s) == nil && (s.Command != nil || s.URL != nil):
			hasServers = true
			c.servers[name] = member
		}
	}
	return hasServers, err
}

// namesOfServers adds a list of names of servers.
func namesOfServers(key string, value json.RawMessage, to *[]string) error {
	if len(value) == 0 || string(value) == "null" {
		return nil
	}
	names := []string{}
	if json.Unmarshal(value, &names) != nil {
		return fmt.Errorf("%s is not a list of names of servers", key)
	}
	*to = append(*to, names...)
	if *to == nil {
		*to = names
	}
	return nil
}

// inLine returns the line of a JSON syntax error.
func inLine(text []byte, err error) error {
	var broken *json.SyntaxError
	var other *json.UnmarshalTypeError
	switch {
	case errors.As(err, &broken):
		return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:min(int(broken.Offset), len(text))], []byte("\n")), err)
	case errors.As(err, &other):
		return fmt.Errorf("it is %s and should be an object", kindOfJSON(bytes.TrimSpace(text)))
	}
	return err
}

// workspace is the directory that an editor's file configures.
func workspace(file string) string {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		dir = filepath.Dir(file)
	}
	if base := filepath.Base(dir); base == ".vscode" || base == ".cursor" {
		return filepath.Dir(dir)
	}
	return dir
}

// variables expands ${…}.
type variables struct {
	folder  string
	lookup  func(string) (string, bool)
	unknown []string
}

var variable = regexp.MustCompile(`\$\{([^{}]*)\}`)

// expand returns the server with the variables in its texts replaced.
func (v *variables) expand(s Server) Server {
	s.Command, s.Dir, s.URL = v.text(s.Command), v.text(s.Dir), v.text(s.URL)
	s.Args = slices.Clone(s.Args)
	for i, a := range s.Args {
		s.Args[i] = v.text(a)
	}
	s.Env, s.Headers = v.values(s.Env), v.values(s.Headers)
	return s
}

func (v *variables) values(m map[string]string) map[string]string {
	expanded := maps.Clone(m)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		expanded[k] = v.text(m[k])
	}
	return expanded
}

func (v *variables) text(s string) string {
	return variable.ReplaceAllStringFunc(s, func(reference string) string {
		name, other, hasOther := strings.Cut(reference[2:len(reference)-1], ":-")
		name = strings.TrimPrefix(name, "env:")
		if value, ok := v.value(name); ok {
			return value
		}
		if !hasOther && !slices.Contains(v.unknown, name) {
			v.unknown = append(v.unknown, name)
		}
		return other
	})
}

func (v *variables) value(name string) (string, bool) {
	switch name {
	case "workspaceFolder":
		return v.folder, true
	case "userHome":
		home, err := os.UserHomeDir()
		return home, err == nil
	}
	return v.lookup(name)
}

// takeUnknown returns and forgets the unknown variables found so far.
func (v *variables) takeUnknown() []string {
	unknown := v.unknown
	v.unknown = nil
	return unknown
}
