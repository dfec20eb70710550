// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
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

// TestRedisKeepsTheContract: every promise of a store.
func TestRedisKeepsTheContract(t *testing.T) {
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
				require.NotContains(t, key, "{", "what failed left nothing")
				left, err := client.TTL(t.Context(), key).Result()
				require.NoError(t, err)
				require.Equal(t, ttl > 0, left > 0, key)
			}
		})
	}
}
