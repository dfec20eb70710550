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

	"github.com/einolean/einolean/internal/redact"
)

// ReadConfig reads the servers of a file in the format of Claude Desktop and Cursor
// ("mcpServers") or VS Code ("servers"). Comments and trailing commas are allowed. ${NAME}
// and ${env:NAME} stand for environment variables, ${NAME:-text} for text if there is no
// such variable, ${userHome} for the home directory, and ${workspaceFolder} for the
// directory of the file, or its parent if that is .vscode or .cursor.
//
// The error names every mistake in every server, and all unknown variables, except for
// disabled servers. It quotes the file, and not what variables stand for.
func ReadConfig(file string) (map[string]Server, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("mcptools: %w", err)
	}
	var top struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
		Servers    map[string]json.RawMessage `json:"servers"`
	}
	if err := json.Unmarshal(plainJSON(data), &top); err != nil {
		return nil, fmt.Errorf("mcptools: reading %s: %w", file, err)
	}
	all := top.MCPServers
	if all == nil {
		all = top.Servers
	}
	var wrong problems
	if len(all) == 0 {
		wrong.add("servers", fmt.Errorf("%s has no mcpServers and no servers", file))
	}
	servers := make(map[string]Server, len(all))
	v := variables{folder: workspace(file), lookup: os.LookupEnv}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at := fmt.Sprintf("servers[%q]", redact.Text(name))
		var s Server
		if err := json.Unmarshal(all[name], &s); err != nil {
			wrong.add(at, err)
			continue
		}
		written := s.URL
		if !s.Disabled {
			s = v.fillIn(s)
			for _, unknown := range v.take() {
				wrong.add(at, fmt.Errorf("${%s} is not set", unknown))
			}
		}
		s.check(name, written, &wrong)
		servers[name] = s
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return servers, nil
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

// fillIn returns the server with its texts expanded.
func (v *variables) fillIn(s Server) Server {
	s.Command, s.Dir, s.URL = v.text(s.Command), v.text(s.Dir), v.text(s.URL)
	s.Args = slices.Clone(s.Args)
	for i, a := range s.Args {
		s.Args[i] = v.text(a)
	}
	s.Env, s.Headers = v.values(s.Env), v.values(s.Headers)
	return s
}

func (v *variables) values(m map[string]string) map[string]string {
	own := maps.Clone(m)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		own[k] = v.text(m[k])
	}
	return own
}

func (v *variables) text(s string) string {
	return variable.ReplaceAllStringFunc(s, func(found string) string {
		name, other, hasOther := strings.Cut(found[2:len(found)-1], ":-")
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

// take returns the unknown variables since the last time.
func (v *variables) take() []string {
	unknown := v.unknown
	v.unknown = nil
	return unknown
}

// plainJSON leaves out what editors allow in JSON: a byte order mark, comments, and commas
// after the last element.
func plainJSON(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		n := token(data[i:])
		switch part := data[i : i+n]; {
		case bytes.HasPrefix(part, []byte("//")), bytes.HasPrefix(part, []byte("/*")):
			out = append(out, ' ')
		case part[0] == '}' || part[0] == ']':
			out = append(withoutComma(out), part...)
		default:
			out = append(out, part...)
		}
		i += n
	}
	return out
}

// token is the length of the text or comment that data begins with; else 1.
func token(data []byte) int {
	end := -1
	switch {
	case data[0] == '"':
		for i := 1; i < len(data); i++ {
			if data[i] == '\\' {
				i++
			} else if data[i] == '"' {
				return i + 1
			}
		}
	case bytes.HasPrefix(data, []byte("//")):
		end = bytes.IndexByte(data, '\n')
	case bytes.HasPrefix(data, []byte("/*")):
		if end = bytes.Index(data[2:], []byte("*/")); end >= 0 {
			end += 4
		}
	default:
		return 1
	}
	if end < 0 {
		return len(data)
	}
	return end
}

func withoutComma(out []byte) []byte {
	trimmed := bytes.TrimRight(out, " \t\r\n")
	if n := len(trimmed); n > 0 && trimmed[n-1] == ',' {
		return append(trimmed[:n-1], out[n:]...)
	}
	return out
}
