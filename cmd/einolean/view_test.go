// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Files that grow are followed, and single calls looked at.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/window"
)

// logged is an agent whose calls are written to a file as they end.
func logged(t *testing.T, to io.Writer) (ask func(question string)) {
	t.Helper()
	see := window.New(window.Config{Log: to, Conversation: func(context.Context) (string, error) { return "acme/42", nil }})
	return func(question string) {
		t.Helper()
		einoleantest.Run(t, &adk.ChatModelAgentConfig{
			Model:    einoleantest.Script[*schema.Message](einoleantest.Say("26 miles")),
			Handlers: []adk.ChatModelAgentMiddleware{see.Handler()},
		}, question)
	}
}

// until reads up to a text.
func until(t *testing.T, from io.Reader, want string) (text string) {
	t.Helper()
	one := make([]byte, 1)
	for !strings.Contains(text, want) {
		n, err := from.Read(one)
		text += string(one[:n])
		require.NoError(t, err, "%q does not come after\n%s", want, text)
	}
	return text
}

func TestViewFollow_ReadsGrowingFile(t *testing.T) {
	for _, where := range []string{"pipe", "terminal"} {
		t.Run(where, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "window.jsonl")
			c := program(t, nil, "view", name, "--follow")
			var out io.Reader
			if where == "pipe" {
				pipe, err := c.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, c.Start())
				out = pipe
			} else {
				master, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 100})
				if err != nil {
					t.Skipf("this system has no pseudo-terminals: the program was not run on one: %v", err)
				}
				defer master.Close()
				out = master
				until(t, out, "waiting for")
			}
			file, err := os.Create(name)
			require.NoError(t, err)
			defer file.Close()
			ask := logged(t, file)
			ask("How far is it?")
			head := until(t, out, "How far is it?")
			require.Contains(t, head, "what happened")
			require.Equal(t, where == "terminal", strings.Contains(head, "\x1b["))
			until(t, out, "   1 ")
			ask("And back?")
			until(t, out, "And back?")
			until(t, out, "   2 ")
			require.NoError(t, file.Truncate(0)) // another run of the program rewrites it
			_, err = file.Seek(0, io.SeekStart)
			require.NoError(t, err)
			logged(t, file)("Once more?")
			until(t, out, "Once more?")
			until(t, out, "   1 ")
			require.NoError(t, c.Process.Signal(os.Interrupt))
			_, _ = io.Copy(io.Discard, out)
			require.NoError(t, c.Wait(), "an interrupt is how it ends")
		})
	}
}

//claim:operations-02
func TestTailed_ReadsRewrittenFileFromStart(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	write := func(text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o600)) }
	tail := &tailed{ctx: t.Context(), name: name}
	defer tail.close()
	var got string
	read := func(want string) {
		t.Helper()
		buffer := make([]byte, 5)
		for !strings.HasSuffix(got, want) {
			n, err := tail.Read(buffer)
			require.NoError(t, err)
			got += string(buffer[:n])
			require.LessOrEqual(t, len(got), 200, "%q", got)
		}
	}
	write("one\ntwo\nhal")
	read("hal")
	write("a longer file took its place\nand goes on\n") // longer than what was read
	read("goes on\n")
	require.Equal(t, "one\ntwo\nhal\na longer file took its place\nand goes on\n", got, "on a line of its own")
	write("short\n")
	read("short\n")
	require.NoError(t, os.Remove(name))
	write("another file, of the same length and name\n")
	read("and name\n")
	require.True(t, strings.HasSuffix(got, "\nshort\n\nanother file, of the same length and name\n"), got)
}

func TestView_IdentifiesUnsupportedFiles(t *testing.T) {
	for text, want := range map[string]string{
		`[{"role":"user","content":"hi"}]`:                          "einolean replay reads conversations",
		`{"model":"m","messages":[{"role":"user","content":"hi"}]}`: "einolean replay reads conversations",
		`{"schema":"einolean.window/1","conversation":{"id":"a"}}`:  `of the format "einolean.window/1"`,
		"":         "holds no conversation",
		"\x00\x01": "holds no line of package window",
	} {
		for _, flags := range [][]string{nil, {"--json"}, {"--call", "1"}} {
			_, messages, code := call(t, "", append([]string{"view", file(t, text)}, flags...)...)
			require.Equal(t, exitInput, code)
			require.Contains(t, messages, want)
			require.NotRegexp(t, "invalid character|unmarshal|cannot unmarshal|EOF", messages)
		}
	}
}

func TestView_ReportsTornLine(t *testing.T) {
	var log bytes.Buffer
	ask := logged(t, &log)
	ask("How far is it?")
	ask("And back?")
	text := strings.Replace(log.String(), `{"of"`, `{"o`+"\n"+`{"of"`, 1)
	out, messages, code := call(t, "", "view", file(t, text))
	require.Zero(t, code, messages)
	require.Contains(t, messages, "line 2: it is not whole")
	require.Contains(t, out, "> How far is it?")
	require.Contains(t, out, "> And back?")
}

func TestViewFollow_ReadsStandardInputToEnd(t *testing.T) {
	var log bytes.Buffer
	ask := logged(t, &log)
	ask("How far is it?")
	ask("And back?")
	out, messages, code := call(t, log.String(), "view", "-", "--follow")
	require.Zero(t, code, messages)
	require.Contains(t, out, "> How far is it?")
	require.Contains(t, out, "> And back?")
	out, _, code = call(t, log.String(), "view", "-", "--follow", "--conversation", "acme/43")
	require.Zero(t, code)
	require.Empty(t, out)
	out, messages, code = call(t, "hello\n"+log.String(), "view", "-", "--follow")
	require.Zero(t, code)
	require.Contains(t, messages, "line 1: it is not whole")
	require.Contains(t, out, "> And back?", "a line that is torn costs that line")
}

func TestView_ReadsFileBeingWritten(t *testing.T) {
	var log bytes.Buffer
	ask := logged(t, &log)
	ask("How far is it?")
	ask("And back?")
	half := file(t, log.String()[:log.Len()-40])
	out, messages, code := call(t, "", "view", half)
	require.Zero(t, code, messages)
	require.Contains(t, out, "> How far is it?")
}

func TestViewCall_ShowsWindowOfOneCall(t *testing.T) {
	name := recorded(t)
	out, messages, code := call(t, "", "view", name, "--call", "1")
	require.Zero(t, code, messages)
	require.Contains(t, out, "call 1 of 1: 6 tokens")
	require.Contains(t, out, "user            How far is it?")
	require.Contains(t, out, "answered: 26 miles")
	out, _, code = call(t, "", "view", name, "--call", "1", "--json")
	require.Zero(t, code)
	var got callJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, "einolean.view.call/1", got.Schema)
	require.Equal(t, "How far is it?", got.Texts["1"])
	_, messages, code = call(t, "", "view", name, "--call", "2")
	require.Equal(t, exitInput, code)
	require.Contains(t, messages, "has 1 call in conversation acme/42, and no call 2")
}

func TestView_RejectsConflictingFlags(t *testing.T) {
	name := recorded(t)
	for _, flags := range []string{"--follow --open", "--follow -o a.html", "--follow --call 1", "--follow --json", "--call 1 --open", "--call 0", "--call -3", "--json --open"} {
		_, messages, code := call(t, "", append([]string{"view", name}, strings.Fields(flags)...)...)
		require.Equal(t, exitUsage, code, "%s: %s", flags, messages)
	}
}

func TestView_OpenStartsBrowser(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the browser of this test is a shell script")
	}
	folder := t.TempDir()
	opened := filepath.Join(folder, "opened")
	browser := filepath.Join(folder, "browser")
	require.NoError(t, os.WriteFile(browser, []byte("#!/bin/sh\nprintf %s \"$1\" > "+opened+"\n"), 0o700))
	t.Setenv("TMPDIR", folder)
	for _, args := range [][]string{{"--open"}, {"--open", "-o", filepath.Join(folder, "mine.html")}} {
		t.Setenv("BROWSER", browser)
		_, messages, code := call(t, "", append([]string{"view", recorded(t)}, args...)...)
		require.Zero(t, code, messages)
		name, err := os.ReadFile(opened)
		require.NoError(t, err)
		require.Contains(t, messages, "wrote "+string(name))
		page, err := os.ReadFile(string(name))
		require.NoError(t, err)
		require.Contains(t, string(page), "How far is it?")
	}
	t.Setenv("BROWSER", "")
	t.Setenv("PATH", folder)
	_, messages, code := call(t, "", "view", recorded(t), "--open")
	require.Equal(t, exitInput, code)
	require.Contains(t, messages, "open the file by hand")
	require.NoError(t, os.WriteFile(browser, []byte("#!/bin/sh\nexit 3\n"), 0o700))
	t.Setenv("BROWSER", browser)
	_, messages, code = call(t, "", "view", recorded(t), "--open")
	require.Equal(t, exitInput, code)
	require.Contains(t, messages, "no browser opened it")
}

// window.jsonl is the log of an agent with both middlewares and usage that its provider
// reports.
func writeWindow(t *testing.T, name string) {
	t.Helper()
	log, err := os.Create(name)
	require.NoError(t, err)
	defer log.Close()
	see := window.New(window.Config{Log: log, Conversation: func(context.Context) (string, error) { return "acme/42", nil }})
	var hidden []tool.BaseTool
	for i, about := range []string{"Converts a length between miles and kilometres.", "Reads the access log of a server.", "Sends a message to people by electronic mail."} {
		hidden = append(hidden, einoleantest.Tool([]string{"units__convert", "files__read", "mail__send"}[i], about, func(context.Context, string) (string, error) {
			return strings.Repeat("GET /index.html 200 in 3 ms, as all requests of that day.\n", 120), nil
		}))
	}
	for i := range 60 {
		hidden = append(hidden, einoleantest.Tool(fmt.Sprintf("calendar__step_%02d", i), fmt.Sprintf("Does step %d of what it takes to plan a meeting with people in other time zones, and tells what comes next.", i), nil))
	}
	search, err := toolsearch.New(t.Context(), &toolsearch.Config{DynamicTools: hidden, OnEvent: see.Event})
	require.NoError(t, err)
	reduce, err := reduction.New(t.Context(), &reduction.Config{Backend: store.NewMemory(1 << 20), ProvideReadTool: true, MaxLengthForTrunc: 5000, MaxTokensForClear: 1500, OnEvent: see.Event})
	require.NoError(t, err)
	usage := func(prompt, cached int) schema.TokenUsage {
		return schema.TokenUsage{PromptTokens: prompt, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: cached}, CompletionTokens: 20, TotalTokens: prompt + 20}
	}
	einoleantest.Run(t, &adk.ChatModelAgentConfig{
		Instruction: "Use tools for whatever they can do.",
		Model: einoleantest.Script[*schema.Message](
			einoleantest.Call("tool_search", `{"query":"access log"}`).WithUsage(usage(900, 0)),
			einoleantest.Call("files__read", `{"day":"monday"}`).WithUsage(usage(1000, 128)),
			einoleantest.Call("files__read", `{"day":"tuesday"}`).WithUsage(usage(2300, 896)),
			einoleantest.Say("All requests took 3 ms on both days.").WithUsage(usage(2500, 896))),
		Handlers: []adk.ChatModelAgentMiddleware{search, reduce, see.Handler()},
	}, "How long did requests take on Monday and Tuesday?")
}

func TestView_GoldenOutput(t *testing.T) {
	const name = "testdata/window.jsonl"
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		writeWindow(t, name)
	}
	for golden, args := range map[string][]string{
		"view": {"view", name}, "call": {"view", name, "--call", "4"}, "follow": {"view", "-", "--follow"},
	} {
		t.Run(golden, func(t *testing.T) {
			log, err := os.ReadFile(name)
			require.NoError(t, err)
			out, messages, code := call(t, string(log), args...)
			require.Zero(t, code, messages)
			compareGolden(t, "testdata/"+golden+".golden.txt", out)
		})
	}
}

// compareGolden compares a text with a file, which EINOLEAN_UPDATE=1 rewrites.
func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "EINOLEAN_UPDATE=1 writes it anew")
}
