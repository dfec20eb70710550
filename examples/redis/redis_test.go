// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"io"
	"io/fs"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/store"
)

// server starts a redis-server where there is one, and another in this process where there is none.
func server(t *testing.T) string {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Log("no redis-server here: miniredis ran")
		return miniredis.RunT(t).Addr()
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(free.Addr().String())
	require.NoError(t, err)
	require.NoError(t, free.Close())
	cmd := exec.Command(program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	t.Log(program, "ran")
	return "127.0.0.1:" + port
}

// TestStore_KeepsContract runs the whole suite for stores.
func TestStore_KeepsContract(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: server(t), ContextTimeoutEnabled: true})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	require.Eventually(t, func() bool { return client.Ping(context.Background()).Err() == nil }, 30*time.Second, 10*time.Millisecond)
	for name, ttl := range map[string]time.Duration{"for ever": 0, "for an hour": time.Hour} {
		t.Run(name, func(t *testing.T) {
			einoleantest.TestBackend(t, func(t *testing.T) store.Backend {
				require.NoError(t, client.FlushDB(t.Context()).Err())
				return &Store{Client: client, Prefix: "agent/", TTL: ttl}
			})
			keys, err := client.Keys(t.Context(), "*").Result()
			require.NoError(t, err)
			for _, key := range keys {
				if !strings.HasSuffix(key, "}used") {
					require.NotContains(t, key, "{", "what failed left nothing")
				}
				left, err := client.TTL(t.Context(), key).Result()
				require.NoError(t, err)
				require.Equal(t, ttl > 0, left > 0, key)
			}
		})
	}
}

// TestStore_UseRenewsTTL: what was read, and a stream that goes on, stay for TTL from then on.
func TestStore_UseRenewsTTL(t *testing.T) {
	server := miniredis.RunT(t) // whose clock the test sets
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	s := &Store{Client: client, TTL: time.Hour}
	ctx := t.Context()
	read := func() (string, error) {
		content, _, err := s.ReadRange(ctx, "/file", 0, -1)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(content)
		return string(text), err
	}
	parts := func(pause time.Duration) io.Reader {
		sleep := readerFunc(func([]byte) (int, error) {
			server.FastForward(pause)
			return 0, io.EOF
		})
		return io.MultiReader(strings.NewReader("one "), sleep, strings.NewReader("two "), sleep, strings.NewReader("three"))
	}
	require.NoError(t, s.Create(ctx, "/file", parts(40*time.Minute)))
	for range 3 {
		got, err := read()
		require.NoError(t, err)
		require.Equal(t, "one two three", got)
		server.FastForward(59 * time.Minute)
	}
	server.FastForward(time.Minute)
	_, err := read()
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.ErrorIs(t, s.Create(ctx, "/file", parts(2*time.Hour)), errExpired, "the start is gone")
	_, err = read()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Empty(t, server.Keys())
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Several processes share a quota, and the room of a tenant that is deleted is free again.
func TestStore_ScopeHasQuotaAcrossProcesses(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	process := func() store.Backend {
		scope := store.Scope{Key: func(context.Context) (string, error) { return "acme/42", nil }, MaxBytes: 1000}
		return store.Scoped(&Store{Client: client, Prefix: "agent/"}, scope)
	}
	write := func(b store.Backend, path string) error {
		return b.Write(t.Context(), &filesystem.WriteRequest{FilePath: path, Content: strings.Repeat("x", 600)})
	}
	require.NoError(t, write(process(), "/a"))
	require.ErrorContains(t, write(process(), "/b"), "acme/42")

	tenant := store.Scoped(&Store{Client: client, Prefix: "agent/"}, store.Scope{Key: func(context.Context) (string, error) { return "acme", nil }})
	cleaner, ok := store.As[store.Cleaner](tenant)
	require.True(t, ok)
	files, bytes, err := cleaner.DeleteUnused(t.Context(), "", time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, files)
	require.Equal(t, int64(600), bytes)
	require.NoError(t, write(process(), "/b"))
}
