// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// exitTimeout is how long a process may take to exit by itself, and again after each signal.
const exitTimeout = 2 * time.Second

// command is a transport that runs a program and speaks over its standard input and output.
type command struct {
	server     Server
	logLine    func(line []byte)
	wire       *wire
	pace       *pace
	lastOutput *outputTail // the last of what the program wrote, besides messages
	mu         sync.Mutex
}

// Connect starts the program.
func (c *command) Connect(ctx context.Context) (mcp.Connection, error) {
	cmd := exec.Command(c.server.Command, c.server.Args...)
	cmd.Dir, cmd.Env = c.server.Dir, environment(c.server.Env)
	stderr := &lineWriter{onLine: c.log}
	cmd.Stderr = stderr
	cmd.WaitDelay = exitTimeout // a child of the program may hold its standard error open
	inGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// A pipe of our own, since Wait would close cmd's before all of it is read.
	out, writeEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = writeEnd
	p := &process{
		cmd: cmd, stdin: in, stdout: out, stderr: stderr, wire: c.wire, pace: c.pace,
		mark: markVariable + "=" + rand.Text(), done: make(chan struct{}),
	}
	cmd.Env = append(cmd.Env, p.mark)
	started := make(chan error)
	go p.run(started)
	err = <-started
	_ = writeEnd.Close()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	c.lastOutput.watch(p.exitState)
	reader := newMessageReader(out, c.log, p.handleOutputEnd, c.wire, c.pace)
	return (&mcp.IOTransport{Reader: io.NopCloser(reader), Writer: p, MaxLineLength: maxMessage}).Connect(ctx)
}

// log receives a line that is not a message.
func (c *command) log(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastOutput.write(line)
	c.logLine(line)
}

// process is a running program. Closing it ends the program, and all that it started.
type process struct {
	cmd       *exec.Cmd
	stdin     io.WriteCloser
	stdout    *os.File
	stderr    *lineWriter
	wire      *wire
	pace      *pace
	mark      string // in the environment of all that the program starts
	done      chan struct{}
	closeOnce sync.Once

	isClosing, outputClosed atomic.Bool // eof: the program ended its standard output before it was closed
}

// Write writes to the program's standard input.
func (p *process) Write(data []byte) (int, error) {
	p.wire.recordSent(data)
	p.pace.noteRequest()
	n, err := p.stdin.Write(data)
	if err != nil && !p.isClosing.Load() {
		p.outputClosed.Store(true) // it has ended, though its output was not read to the end yet
	}
	return n, err
}

// handleOutputEnd records that the program closed its standard output. A failed write may have
// recorded that already, and closed the process since.
func (p *process) handleOutputEnd() {
	if !p.isClosing.Load() {
		p.outputClosed.Store(true)
	}
}

// markVariable is the environment variable that identifies the processes that a server started.
const markVariable = "EINOLEAN_MCP_SERVER"

// run starts the program and waits for its end, on one thread: the program ends with that.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait()
	p.stderr.flush()
	close(p.done)
	time.AfterFunc(exitTimeout, func() { _ = p.stdout.Close() }) // a child of the program may hold it open
}

// exitState describes how the program ended; "" if it did not end by itself.
func (p *process) exitState() string {
	if !p.outputClosed.Load() {
		return ""
	}
	select {
	case <-p.done:
		return p.cmd.ProcessState.String()
	case <-time.After(exitTimeout):
		return ""
	}
}

// Close closes the program's standard input, and if that does not end it, tells it to end
// and then ends it.
func (p *process) Close() error {
	p.closeOnce.Do(func() {
		p.isClosing.Store(true)
		_ = p.stdin.Close()
		for _, end := range []func(*exec.Cmd){nil, terminate, kill} {
			if end != nil {
				end(p.cmd)
			}
			if p.hasExited() {
				break
			}
		}
		kill(p.cmd) // what the program started and left running
		killMarked(p.mark)
		_ = p.stdout.Close()
	})
	return nil
}

func (p *process) hasExited() bool {
	select {
	case <-p.done:
		return true
	case <-time.After(exitTimeout):
		return false
	}
}

// inheritedVariables are the environment variables that programs need to run.
var inheritedVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

var inheritedVariablesWindows = []string{
	"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE",
	"PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
}

// environment is the inherited variables, and the program's own.
func environment(extra map[string]string) []string {
	names := inheritedVariables
	if runtime.GOOS == "windows" {
		names = append(slices.Clone(inheritedVariables), inheritedVariablesWindows...)
	}
	var env []string
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range extra { // of two with the same name the last wins
		env = append(env, name+"="+value)
	}
	return env
}

// maxLine is how much of a line is kept together.
const maxLine = 64 << 10

// lineWriter calls onLine for every line written to it.
type lineWriter struct {
	onLine  func([]byte)
	partial []byte
}

// Write takes a piece of the text.
func (l *lineWriter) Write(data []byte) (int, error) {
	n := len(data)
	for {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		l.partial = append(l.partial, line...)
		if !ok && len(l.partial) < maxLine {
			return n, nil
		}
		l.onLine(bytes.TrimSuffix(l.partial, []byte("\r")))
		l.partial = l.partial[:0]
		if data = rest; len(data) == 0 {
			return n, nil
		}
	}
}

// flush passes on the text after the last line break: often a program's last error.
func (l *lineWriter) flush() {
	if len(l.partial) > 0 {
		l.onLine(l.partial)
	}
}

// outputTail keeps the last line of output that is not empty, and how the program ended.
type outputTail struct {
	mu        sync.Mutex
	line      string
	exitState func() string
}

func (t *outputTail) watch(end func() string) {
	t.mu.Lock()
	t.exitState = end
	t.mu.Unlock()
}

func (t *outputTail) write(line []byte) {
	if line = bytes.TrimSpace(line); len(line) > 0 {
		t.mu.Lock()
		t.line = strings.ToValidUTF8(string(line[:min(len(line), 500)]), "")
		t.mu.Unlock()
	}
}

// explain adds to an error how the program ended, and its last words.
func (t *outputTail) explain(err error) error {
	t.mu.Lock()
	end := t.exitState
	t.mu.Unlock()
	state := ""
	if end != nil {
		state = end()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil && state != "" {
		err = fmt.Errorf("the program ended with %s: %w", state, err)
	}
	if err == nil || t.line == "" {
		return err
	}
	return fmt.Errorf("%w (its last words: %s)", err, t.line)
}
