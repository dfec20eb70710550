// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Configuration files of Claude Desktop, Cursor and VS Code, and what can be wrong in them.

import (
	"context"
	"encoding/json"
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
func TestReadConfig_ReadsFilesOfOtherPrograms(t *testing.T) {
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
func TestReadConfig_MistakesKeepOnlyTheirServersFromStarting(t *testing.T) {
	config, err := ReadConfig(write(t, t.TempDir(), `{"mcpServers": {
		"neither": {}, "both": {"command": "x", "url": "http://h"}, "": {"command": "x"},
		"scheme": {"url": "ftp://h/x"}, "host": {"url": "http://"}, "type": {"command": "x", "type": "pigeon"},
		"stdio": {"url": "http://h", "type": "stdio"}, "http": {"command": "x", "type": "http"},
		"unknown": {"command": "${NOT_SET_ONE} ${env:NOT_SET_TWO}"}, "time": {"command": "x", "timeout": "soon"},
		"negative": {"command": "x", "timeout": -1}, "patterns": {"command": "x", "include": [""], "exclude": [""]},
		"shape": {"command": 5}, "list": ["x"], "deny": {"command": "x", "denyList": []}, "star": {"command": "x", "exclude": ["*x"]}
	}}`))
	require.NoError(t, err)
	config["good"] = newFixture().inMemory()
	s := open(t, config, Options{})
	require.NotEmpty(t, namesIn(t, ctx, s), "the good one starts")
	why := map[string]string{}
	for _, st := range s.Status() {
		if st.Server != "good" {
			require.Equal(t, StateDown, st.State)
			require.Error(t, st.Err, st.Server)
			why[st.Server] = st.Err.Error()
			require.NotContains(t, why[st.Server], "json:")
			require.NotContains(t, why[st.Server], "Go ")
		}
	}
	for name, part := range map[string]string{
		"neither": `mcptools: servers["neither"]: `, "both": `mcptools: servers["both"]: `, "": `servers[""]: it has no name`,
		"scheme": `servers["scheme"].url: `, "host": `servers["host"].url: `, "type": `type: "pigeon" is unknown`, "stdio": `servers["stdio"].type: `,
		"http": `servers["http"].type: `, "unknown": "${NOT_SET_TWO} is not set", "time": `servers["time"]: timeout: "soon"`,
		"negative": "timeout: -1 is negative", "patterns": "exclude: one of the names is empty", "shape": "command: is a number and should be a string",
		"list": "it is a list, not an object", "deny": "denyList: ", "star": `exclude: "*x": only a * at the end`,
	} {
		require.Contains(t, why[name], part)
	}
	require.Contains(t, why["unknown"], "${NOT_SET_ONE} is not set")
	require.Contains(t, why["patterns"], "include: ")
	var field *einolean.FieldError
	require.ErrorAs(t, statusOf(s, "neither").Err, &field)
	require.Equal(t, "mcptools", field.Package)
	done, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorContains(t, s.Wait(done), "denyList")
}

func TestServer_UnmarshalJSONRefusesRestrictionsThatItDoesNotKnow(t *testing.T) {
	var s Server
	require.ErrorContains(t, json.Unmarshal([]byte(`{"command": "x", "denyList": ["a"]}`), &s), "denyList")
	require.NoError(t, json.Unmarshal([]byte(`{"command": "x", "notes": "a"}`), &s))
	require.Equal(t, []string{"notes: is unknown and has no effect"}, s.warnings)
}

func TestReadConfig_FileWithoutServersIsAnError(t *testing.T) {
	_, err := ReadConfig(filepath.Join(t.TempDir(), "missing.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, text := range []string{"", "[]", "{", `{"mcpServers": "x"}`, "{}", `{"mcpServers": {"a": {"command": "x"}} /* `, `"`} {
		_, err := ReadConfig(write(t, t.TempDir(), text))
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "Go ")
	}
	none, err := ReadConfig(write(t, t.TempDir(), `{"mcpServers": {}}`))
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = ReadConfig(write(t, t.TempDir(), "{\n// one\n\"mcpServers\": {\n/* two\nthree */ \"a\" {}\n}}"))
	require.ErrorContains(t, err, "line 5", "comments do not move the line")
}

func TestOpen_RejectsInvalidConfiguration(t *testing.T) {
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

func TestOpen_NoServersHaveNoTools(t *testing.T) {
	s := open(t, map[string]Server{"off": {Disabled: true}}, Options{})
	require.Empty(t, namesIn(t, ctx, s))
	require.Equal(t, []Status{{Server: "off", State: StateDisabled}}, s.Status())
	require.Empty(t, namesIn(t, ctx, open(t, nil, Options{})))
}

func FuzzReadConfig(f *testing.F) {
	configs, err := filepath.Glob("testdata/corpus/configs/*.json*")
	require.NoError(f, err)
	for _, name := range configs {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		servers, err := parseConfig([]byte(text), variables{lookup: func(name string) (string, bool) { return "x", name != "UNSET" }})
		if err != nil {
			require.NotContains(t, err.Error(), "Go value")
			return
		}
		for name, s := range servers {
			if s.Disabled || s.problem != nil {
				continue
			}
			var wrong problems
			s.check(name, s.URL, &wrong)
			require.Empty(t, wrong, "what starts is valid")
		}
	})
}

//claim:mcp-10
func TestEnv_ProgramGetsFewVariablesAndItsOwn(t *testing.T) {
	t.Setenv("MCPTOOLS_SECRET", "secret")
	server := child(t, "yes")
	server.Env["OWN"], server.Env["LANG"] = "mine", "xx"
	s := open(t, map[string]Server{"srv": server}, Options{})
	require.Equal(t, "", ask(t, ctx, s, "srv__getenv", `{"text":"MCPTOOLS_SECRET"}`))
	require.Equal(t, "mine", ask(t, ctx, s, "srv__getenv", `{"text":"OWN"}`))
	require.Equal(t, "xx", ask(t, ctx, s, "srv__getenv", `{"text":"LANG"}`))
	require.Equal(t, os.Getenv("PATH"), ask(t, ctx, s, "srv__getenv", `{"text":"PATH"}`))
}

func TestLogs_ReceivesStandardErrorByLine(t *testing.T) {
	var got []string
	l := lineWriter{onLine: func(line []byte) { got = append(got, string(line)) }}
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
