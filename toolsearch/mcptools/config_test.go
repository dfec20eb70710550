// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Configuration files of Claude Desktop, Cursor and VS Code, and what can be wrong in them.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
)

func write(t testing.TB, dir, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	file := filepath.Join(dir, "mcp.json")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

//claim:mcp-03
func TestFilesOfOtherProgramsAreRead(t *testing.T) {
	t.Setenv("MCP_TEST_TOKEN", "secret")
	dir := t.TempDir()
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for what, c := range map[string]struct {
		dir, text string
		want      map[string]Server
	}{
		"Claude Desktop": {dir, `{
			"globalShortcut": "Ctrl+Space",
			"mcpServers": {
				"filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"], "env": {"DEBUG": "1"}},
				"off": {"command": "${NOT_SET_ANYWHERE}", "disabled": true}
			}
		}`, map[string]Server{
			"filesystem": {Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/tmp"}, Env: map[string]string{"DEBUG": "1"}},
			"off":        {Command: "${NOT_SET_ANYWHERE}", Disabled: true},
		}},
		"Cursor": {filepath.Join(dir, ".cursor"), `{"mcpServers": {
			"remote": {"url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer ${env:MCP_TEST_TOKEN}"}},
			"local": {"type": "stdio", "command": "python", "args": ["${workspaceFolder}/server.py", "${NOT_SET_ANYWHERE:-default}"], "autoApprove": ["x"]}
		}}`, map[string]Server{
			"remote": {URL: "https://api.example.com/mcp", Headers: map[string]string{"Authorization": "Bearer secret"}},
			"local":  {Type: "stdio", Command: "python", Args: []string{dir + "/server.py", "default"}},
		}},
		"VS Code": {filepath.Join(dir, ".vscode"), "\uFEFF" + `{
			// the servers of this project
			"servers": {
				"github": {"type": "http", "url": "https://example.com/mcp/", /* "not": "this" */ "timeout": 90},
				"events": {"type": "sse", "url": "http://localhost:3000/sse", "timeout": "1m30s",},
				"text": {"command": "echo", "args": ["// no comment", "/* nor this */", "a\\\"b,]"], "cwd": "${userHome}",},
			},
		}`, map[string]Server{
			"github": {Type: "http", URL: "https://example.com/mcp/", Timeout: 90 * time.Second},
			"events": {Type: "sse", URL: "http://localhost:3000/sse", Timeout: 90 * time.Second},
			"text":   {Command: "echo", Args: []string{"// no comment", "/* nor this */", `a\"b,]`}, Dir: home},
		}},
		"ours": {dir, `{"mcpServers": {"a": {"command": "x", "noPrefix": true, "noRecheck": true, "shared": true, "timeout": "2.5",
			"include": ["a*"], "exclude": ["ab"], "alwaysLoad": ["ac"]}, "b": {"command": "x", "alwaysLoad": true}, "c": {"command": "x", "alwaysLoad": false}}}`,
			map[string]Server{
				"a": {Command: "x", NoPrefix: true, NoRecheck: true, Shared: true, Timeout: 2500 * time.Millisecond, Include: []string{"a*"}, Exclude: []string{"ab"}, AlwaysVisible: []string{"ac"}},
				"b": {Command: "x", AlwaysVisible: []string{"*"}}, "c": {Command: "x"},
			}},
	} {
		t.Run(what, func(t *testing.T) {
			got, err := ReadConfig(write(t, c.dir, c.text))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

//claim:mcp-04
func TestAConfigurationErrorNamesEverythingThatIsWrong(t *testing.T) {
	_, err := ReadConfig(write(t, t.TempDir(), `{"mcpServers": {
		"neither": {}, "both": {"command": "x", "url": "http://h"}, "": {"command": "x"},
		"scheme": {"url": "ftp://h/x"}, "host": {"url": "http://"}, "type": {"command": "x", "type": "pigeon"},
		"stdio": {"url": "http://h", "type": "stdio"}, "http": {"command": "x", "type": "http"},
		"unknown": {"command": "${NOT_SET_ONE} ${env:NOT_SET_TWO}"}, "time": {"command": "x", "timeout": "soon"},
		"negative": {"command": "x", "timeout": -1}, "patterns": {"command": "x", "include": [""], "exclude": [""]},
		"file": {"command": "x", "envFile": ".env"}, "shape": {"command": 5}, "good": {"command": "x"}
	}}`))
	for _, part := range []string{
		`mcptools: servers["neither"]: `, `servers["both"]: `, `servers[""]: it has no name`, `servers["scheme"].url: `, `servers["host"].url: `,
		`servers["type"].type: "pigeon" is unknown`, `servers["stdio"].type: `, `servers["http"].type: `, "${NOT_SET_ONE} is not set", "${NOT_SET_TWO} is not set",
		`servers["time"]: timeout "soon"`, `servers["negative"].timeout`, `servers["patterns"].include`, `servers["patterns"].exclude`,
		`servers["file"]: envFile`, `servers["shape"]: `,
	} {
		require.ErrorContains(t, err, part)
	}
	require.NotContains(t, err.Error(), "good")
	var field *einolean.FieldError
	require.ErrorAs(t, err, &field)
	require.Equal(t, "mcptools", field.Package)
}

func TestFilesThatHoldNoServersAreErrors(t *testing.T) {
	_, err := ReadConfig(filepath.Join(t.TempDir(), "missing.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, text := range []string{"", "[]", "{", `{"mcpServers": "x"}`, "{}", `{"mcpServers": {}}`, `{"mcpServers": {"a": {"command": "x"}} /* `, `"`} {
		_, err := ReadConfig(write(t, t.TempDir(), text))
		require.Error(t, err, text)
	}
}

func TestOpenRefusesWhatCannotWork(t *testing.T) {
	s, err := Open(context.Background(), map[string]Server{
		"a": {}, "b": {Command: "x", Transport: func(context.Context) (mcp.Transport, error) { return nil, errors.New("") }},
		"off": {Disabled: true},
	}, Options{MaxWait: -1})
	require.Nil(t, s)
	require.ErrorContains(t, err, `servers["a"]`)
	require.ErrorContains(t, err, `servers["b"]`)
	require.ErrorContains(t, err, "Options.MaxWait")
	require.NotContains(t, err.Error(), "off")
}

func TestNoServersAreNoTools(t *testing.T) {
	s := open(t, map[string]Server{"off": {Disabled: true}}, Options{})
	require.Empty(t, namesIn(t, ctx, s))
	require.Equal(t, []Status{{Server: "off", State: StateDisabled}}, s.Status())
	require.Empty(t, namesIn(t, ctx, open(t, nil, Options{})))
}

func FuzzPlainJSON(f *testing.F) {
	for _, seed := range []string{`{"a": 1, /* b */ "c": [1, 2,], }// d`, `"`, `"\`, "/*", "//", ",]", "\uFEFF{}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := plainJSON([]byte(text))
		require.LessOrEqual(t, len(once), len(text))
	})
}

//claim:mcp-10
func TestAProgramGetsFewVariablesAndItsOwn(t *testing.T) {
	t.Setenv("MCPTOOLS_SECRET", "secret")
	server := child(t, "yes")
	server.Env["OWN"], server.Env["LANG"] = "mine", "xx"
	s := open(t, map[string]Server{"srv": server}, Options{})
	require.Equal(t, "", ask(t, ctx, s, "srv__getenv", `{"text":"MCPTOOLS_SECRET"}`))
	require.Equal(t, "mine", ask(t, ctx, s, "srv__getenv", `{"text":"OWN"}`))
	require.Equal(t, "xx", ask(t, ctx, s, "srv__getenv", `{"text":"LANG"}`))
	require.Equal(t, os.Getenv("PATH"), ask(t, ctx, s, "srv__getenv", `{"text":"PATH"}`))
}

func TestStandardErrorIsLoggedLineByLine(t *testing.T) {
	var got []string
	l := lines{each: func(line []byte) { got = append(got, string(line)) }}
	for _, piece := range []string{"one\ntw", "o\r\n", "\n", "last"} {
		n, err := l.Write([]byte(piece))
		require.NoError(t, err)
		require.Equal(t, len(piece), n)
	}
	require.Equal(t, []string{"one", "two", ""}, got)
	_, err := l.Write(make([]byte, 3*maxLine))
	require.NoError(t, err)
	require.Len(t, got, 4, "a line that never ends is passed on in pieces")

	heard := make(chan string, 10)
	open(t, map[string]Server{"srv": child(t, "yes"), "loud": child(t, "broken")}, Options{Logs: func(server string, line []byte) {
		heard <- server + ": " + string(line)
		panic("boom")
	}})
	all := map[string]bool{<-heard: true, <-heard: true}
	require.True(t, all["srv: ready"])
	require.True(t, all["loud: no license file found"])
}
