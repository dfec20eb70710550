// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
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

// Every digit of the server's _meta is in the Extra of the first part, whatever that part is, and in the message.
// What the server says of itself in every result is not.
func TestResultMeta_IsInTheExtraOfTheFirstPart(t *testing.T) {
	const meta = `{"trace":"t1","id":1234567890123456789,"nested":{"a":[1e400,null]}}`
	sent := `{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},` + meta[1:]
	for name, contents := range map[string]string{
		"a text":            `"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]`,
		"an image":          `"content":[{"type":"image","data":"` + base64.StdEncoding.EncodeToString(png(100)) + `","mimeType":"image/png"},{"type":"text","text":"two"}]`,
		"an error":          `"isError":true,"content":[{"type":"text","text":"no"}]`,
		"an unknown type":   `"resultType":"later"`,
		"structure":         `"structuredContent":{"a":1}`,
		"a block with meta": `"content":[{"type":"text","text":"one","_meta":{"own":1}}]`,
	} {
		s := rawWith(t, `{`+contents+`,"_meta": `+sent+` }`, Options{Media: true})
		for _, way := range rawWays {
			got := askEnhanced(t, s, way+"__raw")
			require.NotEmpty(t, got.Parts, name)
			require.Equal(t, map[string]any{ResultMetaKey: meta}, got.Parts[0].Extra, "%s over %s", name, way)
			for _, p := range got.Parts[1:] {
				require.Empty(t, p.Extra, "%s over %s", name, way)
			}
			message, err := got.ToMessageInputParts()
			require.NoError(t, err)
			require.Equal(t, meta, message[0].Extra[ResultMetaKey], "%s over %s", name, way)
		}
	}
}

// A result that has no place for _meta, or none that is worth it, is as it was.
func TestResultMeta_ChangesNothingElse(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", maxResultMeta) + `"}`
	for _, meta := range []string{`null`, `5`, `"text"`, `[1]`, `{}`, `{"io.modelcontextprotocol/serverInfo":{"name":"s"}}`, long} {
		s := rawWith(t, `{"content":[{"type":"text","text":"one"}],"_meta":`+meta+`}`, Options{Media: true})
		for _, way := range rawWays {
			require.Equal(t, []schema.ToolOutputPart{textPart("one")}, askEnhanced(t, s, way+"__raw").Parts, "%.20s over %s", meta, way)
		}
	}
	empty := rawWith(t, `{"content":[],"_meta":{"a":1}}`, Options{Media: true})
	plain := rawWith(t, `{"content":[{"type":"text","text":"one"}],"_meta":{"a":1}}`, Options{})
	for _, way := range rawWays {
		require.Empty(t, askEnhanced(t, empty, way+"__raw").Parts, way)
		require.Equal(t, "one", ask(t, ctx, plain, way+"__raw", `{}`), way)
	}
}

func askEnhanced(t *testing.T, s *Servers, name string) *schema.ToolResult {
	t.Helper()
	got, err := find(t, ctx, s, name).(tool.EnhancedInvokableTool).InvokableRun(ctx, &schema.ToolArgument{Text: "{}"})
	require.NoError(t, err)
	return got
}
