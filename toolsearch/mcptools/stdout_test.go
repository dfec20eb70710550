// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Programs that write more than messages, start slowly, or end.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/race"
)

// noise is what programs write to their standard output besides messages.
var noise = []string{
	"Welcome to the server!", "[INFO] starting", "{ level: 'info' }", `{"level":"info","msg":"listening"}`, "[]", "[1,2]", `{"jsonrpc":"2.0"}`,
	`{"jsonrpc":"1.0","method":"x"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, `"text"`, "null", "{", "[", "",
	`{"level":"info","msg":"` + strings.Repeat("x", 3*maxLine) + `"}`, `[{"level":"` + strings.Repeat("x", maxLine) + `"}]`, `{"error":"` + strings.Repeat("x", maxLine) + `","level":"error"}`,
	"\t", "\xff\xfe", strings.Repeat("=", 3*maxLine), "\x1b[32m✓\x1b[0m ready",
}

// Whatever a program writes besides messages, and in whatever pieces, every message arrives.
//
//claim:mcp-21
func TestMessageReader_FindsMessagesAmongOtherLines(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range race.Cases(200) {
		var all, want, other bytes.Buffer
		for i := range r.IntN(12) {
			end := []string{"\n", "\r\n", " \n", "\t\r\n"}[r.IntN(4)]
			if line := noise[r.IntN(len(noise))]; r.IntN(2) == 0 {
				all.WriteString(line + end)
				if said := strings.TrimSpace(line); said != "" {
					other.WriteString(said[:min(len(said), 10)] + "\n")
				}
				continue
			}
			padding := strings.Repeat("ü", []int{0, 10, maxLine/2 - 20, maxLine, 3 * maxLine}[r.IntN(5)])
			m := fmt.Sprintf(`{"result":{"text":%q},"jsonrpc":"2.0","id":%d}`, padding, i)
			if r.IntN(4) == 0 && len(m) < maxLine {
				m = "[" + m + "," + m + "]"
			}
			all.WriteString([]string{"", " ", "\uFEFF"}[r.IntN(3)] + m + end)
			want.WriteString(m + "\n")
		}
		in := io.Reader(bytes.NewReader(all.Bytes()))
		if r.IntN(2) == 0 {
			in = iotest.HalfReader(in)
		}
		ended := 0
		var said bytes.Buffer
		got, err := io.ReadAll(newMessageReader(in, func(line []byte) {
			line = bytes.TrimSpace(line)
			said.Write(line[:min(len(line), 10)])
			said.WriteByte('\n')
		}, func() { ended++ }, nil, nil))
		require.NoError(t, err)
		require.Equal(t, want.String(), string(got))
		require.Equal(t, other.String(), said.String())
		require.Equal(t, 1, ended)
	}
	got, err := io.ReadAll(newMessageReader(strings.NewReader(`{"jsonrpc":"2.0","method":"last"}`), nil, func() {}, nil, nil))
	require.NoError(t, err)
	require.Equal(t, `{"jsonrpc":"2.0","method":"last"}`+"\n", string(got), "without an end of its line")
}

func TestMessageReader_AcceptsOtherOutput(t *testing.T) {
	var mu sync.Mutex
	said := map[string]bool{}
	s := open(t, map[string]Server{"srv": child(t, "noisy")}, Options{Logs: func(_ string, line []byte) {
		mu.Lock()
		defer mu.Unlock()
		said[string(line)] = true
	}})
	for range 3 {
		require.Equal(t, "x", ask(t, ctx, s, "srv__echo", `{"text":"x"}`))
	}
	require.Equal(t, StateUp, statusOf(s, "srv").State)
	mu.Lock()
	defer mu.Unlock()
	require.True(t, said["Welcome to the server!"])
	require.True(t, said[`{"level":"info","msg":"listening"}`])
}

// A program may take longer than a connection: it may have to be installed first.
//
//claim:mcp-20
func TestConnectTimeout_ProgramsGetLonger(t *testing.T) {
	t.Parallel()
	open := func(mode string, connects, starts time.Duration) *Servers {
		s := newServers(map[string]Server{"srv": child(t, mode)}, Options{})
		s.connectTimeout, s.startTimeout = connects, starts
		_, err := s.open(ctx)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	}
	s := open("late", time.Millisecond, defaultStartTimeout)
	require.Equal(t, StateUp, statusOf(s, "srv").State)
	require.Equal(t, "x", ask(t, ctx, s, "srv__echo", `{"text":"x"}`))

	s = open("deaf", defaultConnectTimeout, 300*time.Millisecond)
	require.Equal(t, StateDown, statusOf(s, "srv").State)
	require.ErrorContains(t, statusOf(s, "srv").Err, "no answer in time")
	require.NotContains(t, statusOf(s, "srv").Err.Error(), "ended with", "we ended it")
}

//claim:mcp-19
func TestErrors_SayHowAProgramEnded(t *testing.T) {
	var events recorder
	s := open(t, map[string]Server{"broken": child(t, "broken"), "srv": child(t, "yes"), "empty": child(t, "empty")}, Options{OnEvent: events.record})
	require.ErrorContains(t, statusOf(s, "broken").Err, "the program ended with exit status 3")
	require.ErrorContains(t, statusOf(s, "empty").Err, "the program ended with exit status 0")
	require.NoError(t, statusOf(s, "srv").Err)
	require.Contains(t, ask(t, ctx, s, "srv__die", `{}`), "was lost")
	until(t, "its end is told", func() bool {
		for _, e := range events.of(einolean.KindServerDown) {
			if e.Server == "srv" {
				require.ErrorContains(t, e.Err, "the program ended with exit status 4")
				return true
			}
		}
		return false
	})
}

// piped is a server whose messages to the client are rewritten.
func (f *fixture) piped(rewrite func([]byte) []byte) Server {
	return Server{Transport: func(ctx context.Context) (mcp.Transport, error) {
		toServer, fromClient := io.Pipe()
		fromServer, written := io.Pipe()
		if _, err := f.server.Connect(context.WithoutCancel(ctx), &mcp.IOTransport{Reader: toServer, Writer: written}, nil); err != nil {
			return nil, err
		}
		toClient, rewritten := io.Pipe()
		go func() {
			for buf := make([]byte, 1<<20); ; {
				n, err := fromServer.Read(buf)
				if _, e := rewritten.Write(rewrite(buf[:n])); err != nil || e != nil {
					_ = rewritten.CloseWithError(io.EOF)
					return
				}
			}
		}()
		return &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil
	}}
}

// A result that the client cannot read is told, and takes the connection of nobody.
//
//claim:mcp-24
func TestResult_UnreadableOneIsAnswered(t *testing.T) {
	f := newFixture()
	s := open(t, map[string]Server{"srv": f.piped(func(data []byte) []byte {
		if bytes.Contains(data, []byte(`"text":"hologram"`)) {
			return regexp.MustCompile(`"result":.*\}`).ReplaceAll(data, []byte(`"result":["hologram"]}`))
		}
		return data
	})}, Options{})
	for _, name := range []string{"echo", "add_tool"} {
		text := map[string]string{"echo": "hologram", "add_tool": "x"}[name]
		answer := ask(t, ctx, s, "srv__"+name, fmt.Sprintf(`{"text":%q}`, text))
		if name == "echo" {
			require.Contains(t, answer, "cannot be read")
			require.Contains(t, answer, "hologram")
		} else {
			require.Equal(t, "added x", answer)
		}
		require.Equal(t, StateUp, statusOf(s, "srv").State)
	}
	require.Equal(t, 1, f.called("echo"), "it is not made again")
}

func TestProcess_FailedWriteCountsAsExit(t *testing.T) {
	_, in := io.Pipe()
	require.NoError(t, in.CloseWithError(io.ErrClosedPipe))
	p := &process{stdin: in}
	_, err := p.Write([]byte("{}\n"))
	require.Error(t, err)
	p.isClosing.Store(true) // the client closes what it cannot write to
	p.handleOutputEnd()
	require.True(t, p.outputClosed.Load())

	p = &process{}
	p.isClosing.Store(true)
	p.handleOutputEnd()
	require.False(t, p.outputClosed.Load(), "we ended it")
}
