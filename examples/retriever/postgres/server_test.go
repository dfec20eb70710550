// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package postgres

// This file starts a real server, on a socket of its own.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// serverVar is the URL of a database to test with. If it is not set, a server is started, where one is
// installed.
const serverVar = "LEANCTX_POSTGRES"

const startTime = 30 * time.Second

// server is a running server.
type server struct {
	bin, dir string
	as       *syscall.Credential // nil: who runs the test
	cmd      *exec.Cmd
	log      bytes.Buffer
}

var errNoServer = errors.New("no PostgreSQL server is installed")

// program is the directory of the newest server that is installed.
func program() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian keeps them off the path
	for _, other := range []string{"/usr/local/pgsql/bin/initdb", "/opt/homebrew/bin/initdb"} {
		if _, err := os.Stat(other); err == nil {
			found = append(found, other)
		}
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return "", errNoServer
	}
	return filepath.Dir(slices.Max(found)), nil
}

// somebody is who a server runs as that refuses to run as root.
func somebody() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("%w that may run as root, and there is no other user", errNoServer)
}

// newServer makes a database and starts its server. The test is skipped where there is none.
func newServer(t testing.TB) *server {
	t.Helper()
	bin, err := program()
	var as *syscall.Credential
	if err == nil {
		as, err = somebody()
	}
	if errors.Is(err, errNoServer) {
		t.Skipf("NOT TESTED against a server: %v. Install postgresql, or set %s to the URL of a database.", err, serverVar)
	}
	require.NoError(t, err)
	// Not t.TempDir: the path of a socket is short, and another user must get there.
	dir, err := os.MkdirTemp("/tmp", "leanctx-pg-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if as != nil {
		require.NoError(t, os.Chown(dir, int(as.Uid), int(as.Gid)))
	}
	s := &server{bin: bin, dir: dir, as: as}
	out, err := s.command("initdb", "-D", s.data(), "-U", "leanctx", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput()
	require.NoError(t, err, "%s", out)
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return cmd
}

// start starts the server and waits until it answers.
func (s *server) start(t testing.TB) {
	t.Helper()
	s.cmd = s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "shared_buffers=256MB", "-c", "maintenance_work_mem=256MB", "-c", "max_wal_size=4GB")
	s.cmd.Stdout, s.cmd.Stderr, s.cmd.WaitDelay = &s.log, &s.log, 5*time.Second
	require.NoError(t, s.cmd.Start())
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for {
		c, err := pgx.Connect(ctx, s.url())
		if err == nil {
			_ = c.Close(ctx)
			return
		}
		select {
		case <-ctx.Done():
			s.kill()
			t.Fatalf("the server does not start: %v\n%s", err, s.log.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// kill ends the server as a crash does; those who work for it notice and end too.
func (s *server) kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

func (s *server) url() string { return "host=" + s.dir + " user=leanctx dbname=postgres" }

// pool connects to the server, or to that of serverVar.
func pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	url := os.Getenv(serverVar)
	if url == "" {
		url = newServer(t).url()
	}
	return connect(t, url)
}

func connect(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	p, err := pgxpool.New(context.Background(), url)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

var tables atomic.Int64

// newTable opens a table of the test's own.
func newTable(t testing.TB, c Config) *Tools {
	t.Helper()
	c.Table = fmt.Sprintf("leanctx_test_%d_%d", os.Getpid(), tables.Add(1))
	tools, err := Open(context.Background(), c)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = c.Pool.Exec(context.Background(), "DROP TABLE IF EXISTS "+tools.table) })
	return tools
}
