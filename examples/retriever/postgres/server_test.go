// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package postgres

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

const startTime = 3 * time.Minute

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
	s.run(t, s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "shared_buffers=256MB", "-c", "maintenance_work_mem=256MB", "-c", "max_wal_size=4GB"), "leanctx")
}

// run runs a server and waits until it answers a user.
func (s *server) run(t testing.TB, cmd *exec.Cmd, user string) {
	t.Helper()
	s.cmd = cmd
	s.cmd.Stdout, s.cmd.Stderr, s.cmd.WaitDelay = &s.log, &s.log, 5*time.Second
	require.NoError(t, s.cmd.Start())
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for {
		c, err := pgx.Connect(ctx, s.url(user))
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

func (s *server) url(user string) string {
	return "host=" + s.dir + " user=" + user + " dbname=postgres"
}

// pool connects to the server, or to that of serverVar.
func pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	url := os.Getenv(serverVar)
	if url == "" {
		url = newServer(t).url("leanctx")
	}
	return connect(t, url)
}

func connect(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	return connectSet(t, url, "")
}

// connectSet connects, and runs a statement on each connection.
func connectSet(t testing.TB, url, statement string) *pgxpool.Pool {
	t.Helper()
	c, err := pgxpool.ParseConfig(url)
	require.NoError(t, err)
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement)
		return err
	}
	p, err := pgxpool.NewWithConfig(context.Background(), c)
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

// pglite is the program that serves PGlite, PostgreSQL as WebAssembly with pgvector. It is looked for in the path:
// npm install --prefix /tmp/pglite @electric-sql/pglite-socket puts it into /tmp/pglite/node_modules/.bin.
const pglite = "pglite-server"

// vectorPool connects to a server that has pgvector: that of the other tests, or PGlite. The test is skipped where
// neither is there.
func vectorPool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	// A small table would be read as a whole: the index of vectors is what is tested.
	const byIndex = "SET enable_seqscan = off; SET enable_sort = off"
	url := os.Getenv(serverVar)
	if _, err := program(); err == nil && url == "" {
		url = newServer(t).url("leanctx")
	}
	if url != "" {
		p, found := connectSet(t, url, byIndex), false
		require.NoError(t, p.QueryRow(context.Background(), `SELECT EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')`).Scan(&found))
		if found {
			return p
		}
	}
	path, err := exec.LookPath(pglite)
	if err != nil {
		t.Skipf("NOT TESTED against a server with pgvector: install it for PostgreSQL, or put %s (npm install @electric-sql/pglite-socket) into the path.", pglite)
	}
	s := &server{}
	s.dir, err = os.MkdirTemp("/tmp", "leanctx-pg-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(s.dir) })
	t.Cleanup(s.kill)
	s.run(t, exec.Command(path, "-u", filepath.Join(s.dir, ".s.PGSQL.5432"), "-m", "20", "-e", "@electric-sql/pglite-pgvector:vector,pg_trgm"), "postgres")
	// Its connections share one session, and so the names of prepared statements.
	return connectSet(t, s.url("postgres")+" default_query_exec_mode=simple_protocol", byIndex)
}
