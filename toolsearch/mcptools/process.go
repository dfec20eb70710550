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

// patience is how long a process may take to end by itself, and again after it was told to.
const patience = 2 * time.Second

// command is a transport that runs a program and speaks over its standard input and output.
type command struct {
	server Server
	logs   func(line []byte)
	wire   *wire
	pace   *pace
	said   *tail // the last of what the program wrote, besides messages
	mu     sync.Mutex
}

// Connect starts the program.
func (c *command) Connect(ctx context.Context) (mcp.Connection, error) {
	cmd := exec.Command(c.server.Command, c.server.Args...)
	cmd.Dir, cmd.Env = c.server.Dir, environment(c.server.Env)
	stderr := &lines{each: c.log}
	cmd.Stderr = stderr
	cmd.WaitDelay = patience // a child of the program may hold its standard error open
	inGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// A pipe of our own, since Wait would close cmd's before all of it is read.
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = theirs
	p := &process{cmd: cmd, in: in, out: out, stderr: stderr, wire: c.wire, pace: c.pace, mark: markName + "=" + rand.Text(), exited: make(chan struct{})}
	cmd.Env = append(cmd.Env, p.mark)
	started := make(chan error)
	go p.run(started)
	err = <-started
	_ = theirs.Close()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	c.said.watch(p.end)
	reader := newMessages(out, c.log, p.outputEnded, c.wire, c.pace)
	return (&mcp.IOTransport{Reader: io.NopCloser(reader), Writer: p, MaxLineLength: maxMessage}).Connect(ctx)
}

// log receives a line that is not a message.
func (c *command) log(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said.write(line)
	c.logs(line)
}

// process is a running program. Closing it ends the program, and all that it started.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	stderr *lines
	wire   *wire
	pace   *pace
	mark   string // in the environment of all that the program starts
	exited chan struct{}
	once   sync.Once

	closing, eof atomic.Bool // eof: the program ended its standard output before it was closed
}

// Write writes to the program's standard input.
func (p *process) Write(data []byte) (int, error) {
	p.wire.sent(data)
	p.pace.ask()
	n, err := p.in.Write(data)
	if err != nil && !p.closing.Load() {
		p.eof.Store(true) // it has ended, though its output was not read to the end yet
	}
	return n, err
}

// outputEnded is told that the program's standard output was read to its end. A failed write
// may have told of the end before, and closed the process since.
func (p *process) outputEnded() {
	if !p.closing.Load() {
		p.eof.Store(true)
	}
}

// markName is the variable by which what a server started is found.
const markName = "EINOLEAN_MCP_SERVER"

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
	p.stderr.end()
	close(p.exited)
	time.AfterFunc(patience, func() { _ = p.out.Close() }) // a child of the program may hold it open
}

// end says how the program ended; "" if it did not end by itself.
func (p *process) end() string {
	if !p.eof.Load() {
		return ""
	}
	select {
	case <-p.exited:
		return p.cmd.ProcessState.String()
	case <-time.After(patience):
		return ""
	}
}

// Close closes the program's standard input, and if that does not end it, tells it to end
// and then ends it.
func (p *process) Close() error {
	p.once.Do(func() {
		p.closing.Store(true)
		_ = p.in.Close()
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
		_ = p.out.Close()
	})
	return nil
}

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(patience):
		return false
	}
}

// inherited are the variables that programs need to run.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

var inheritedWindows = []string{
	"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE",
	"PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
}

// environment is the inherited variables, and the program's own.
func environment(own map[string]string) []string {
	names := inherited
	if runtime.GOOS == "windows" {
		names = append(slices.Clone(inherited), inheritedWindows...)
	}
	var env []string
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range own { // of two with the same name the last wins
		env = append(env, name+"="+value)
	}
	return env
}

// maxLine is how much of a line is kept together.
const maxLine = 64 << 10

// lines calls each for every line written to it.
type lines struct {
	each func([]byte)
	rest []byte
}

// Write takes a piece of the text.
func (l *lines) Write(data []byte) (int, error) {
	n := len(data)
	for {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		l.rest = append(l.rest, line...)
		if !whole && len(l.rest) < maxLine {
			return n, nil
		}
		l.each(bytes.TrimSuffix(l.rest, []byte("\r")))
		l.rest = l.rest[:0]
		if data = rest; len(data) == 0 {
			return n, nil
		}
	}
}

// end passes on what follows the last line break: the last words of many programs.
func (l *lines) end() {
	if len(l.rest) > 0 {
		l.each(l.rest)
	}
}

// tail keeps the last line of a text that is not empty, and asks how the program ended.
type tail struct {
	mu   sync.Mutex
	line string
	end  func() string
}

func (t *tail) watch(end func() string) {
	t.mu.Lock()
	t.end = end
	t.mu.Unlock()
}

func (t *tail) write(line []byte) {
	if line = bytes.TrimSpace(line); len(line) > 0 {
		t.mu.Lock()
		t.line = strings.ToValidUTF8(string(line[:min(len(line), 500)]), "")
		t.mu.Unlock()
	}
}

// explain adds to an error how the program ended, and its last words.
func (t *tail) explain(err error) error {
	t.mu.Lock()
	end := t.end
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
