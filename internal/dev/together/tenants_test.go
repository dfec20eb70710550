// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

var regexpOfList = regexp.MustCompile(`/toolsearch/[A-Za-z0-9_./-]*[A-Za-z0-9]`)

type tenantKey struct{}

var byTenant = store.Scope{Key: func(ctx context.Context) (string, error) {
	tenant, _ := ctx.Value(tenantKey{}).(string)
	return tenant, nil
}}

// One agent with both middlewares serves two tenants at once. Each reads back its own
// result and list of tools; a tenant that has stored nothing is told so; no model
// sees a key.
//
//claim:security-07
func TestScoped_TenantsReadOnlyTheirOwn(t *testing.T) {
	adktest.Both(t, serveTenants[*schema.Message], serveTenants[*schema.AgenticMessage])
}

func serveTenants[M adk.MessageType](t *testing.T, streaming bool) {
	files := store.Scoped(store.NewMemory(0), byTenant)
	var hidden []tool.BaseTool
	for i := range 20 {
		hidden = append(hidden, adktest.Simple(fmt.Sprint("hidden_", i), "hidden"))
	}
	search, err := toolsearch.NewTyped[M](t.Context(), &toolsearch.Config{DynamicTools: hidden, CatalogLimit: 2, Backend: files})
	require.NoError(t, err)
	reduce, err := reduction.NewTyped(t.Context(), &reduction.TypedConfig[M]{Backend: files, MaxLengthForTrunc: 4000})
	require.NoError(t, err)
	reader, err := reduction.NewReadTool(t.Context(), &reduction.ReadToolConfig{Backend: files})
	require.NoError(t, err)
	report := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "report", Desc: "report"}, func(ctx context.Context, _ string) (string, error) {
		tenant, _ := ctx.Value(tenantKey{}).(string)
		return strings.Repeat("secret of "+tenant+"\n", 1000), nil
	})
	page := adktest.Do(adktest.ToolCall{ID: "call_1", Name: "read_file", Args: `{"file_path":"/tmp/trunc/call_0"}`})
	serve := func(tenant string, turns ...adktest.Turn) string {
		model := adktest.Script[M](turns...)
		out := adktest.Agent[M]{Model: model, Tools: []tool.BaseTool{report, reader}, Handlers: adktest.Handlers(search, reduce), Streaming: streaming}.
			Run(context.WithValue(t.Context(), tenantKey{}, tenant), []M{adktest.User[M]("report")})
		if out.Err != nil {
			t.Error(out.Err)
		}
		wires := model.Wires()
		return strings.Join(wires[len(wires)-1].MessagesDump, "\n")
	}
	seen := make([]string, 2)
	var wg sync.WaitGroup
	for i, tenant := range []string{"acme/42", "acme"} {
		wg.Go(func() {
			seen[i] = serve(tenant, adktest.Do(adktest.ToolCall{ID: "call_0", Name: "report", Args: "{}"}), page, adktest.Say("done"))
		})
	}
	wg.Wait()
	for i, own := range []string{"secret of acme/42", "secret of acme"} {
		require.Contains(t, seen[i], own)
		require.Contains(t, seen[i], "/tmp/trunc/call_0")
		require.NotContains(t, seen[i], "=2f")
	}
	require.NotContains(t, seen[1], "secret of acme/42")
	require.NotContains(t, serve("other", page, adktest.Say("done")), "secret of")
	require.NotContains(t, serve("", page, adktest.Say("done")), "secret of")

	list := regexpOfList.FindString(seen[0])
	require.NotEmpty(t, list, "the reminder names where the list is: %s", seen[0])
	read := adktest.Do(adktest.ToolCall{ID: "call_2", Name: "read_file", Args: fmt.Sprintf(`{"file_path":%q}`, list)})
	require.Contains(t, serve("acme", read, adktest.Say("done")), "hidden_19")
}
