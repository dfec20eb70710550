// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestMeta_ReachesTheServer(t *testing.T) {
	f := newFixture()
	var mu sync.Mutex
	got := map[string]any{}
	f.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if p := r.GetParams(); method == methodCall || method == methodList {
				mu.Lock()
				got[method] = p.GetMeta()["tenant"]
				mu.Unlock()
			}
			return next(ctx, method, r)
		}
	})
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{Meta: func(_ context.Context, call MetaRequest) (map[string]any, error) {
		if call.Tool == "fail" {
			return nil, errors.New("no tenant")
		}
		return map[string]any{"tenant": call.Server + "/" + call.Tool}, nil
	}})
	require.Equal(t, "x", ask(t, ctx, s, "srv__echo", `{"text":"x"}`))
	require.Contains(t, ask(t, ctx, s, "srv__fail", `{}`), "no tenant")
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, map[string]any{methodCall: "srv/echo", methodList: "srv/"}, got)
}
