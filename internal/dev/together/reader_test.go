// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

// A hidden tool with the read tool's name is an error at the start of the run, in
// every order: once a search loads it, requests would have two tools of one name.
func TestReadTool_HiddenToolOfSameNameIsError(t *testing.T) {
	adktest.Both(t, hiddenReader[message], hiddenReader[agenticMessage])
}

func hiddenReader[M adk.MessageType](t *testing.T, streaming bool) {
	ctx := context.Background()
	foreign := adktest.Simple("read_file", "reads a file of a server")
	for name, c := range map[string]struct {
		cfg toolsearch.Config
		own []tool.BaseTool
	}{
		"dynamic":    {toolsearch.Config{DynamicTools: []tool.BaseTool{foreign}}, nil},
		"searchable": {toolsearch.Config{SearchableTools: []string{"read_file"}}, []tool.BaseTool{foreign}},
		"native":     {toolsearch.Config{DynamicTools: []tool.BaseTool{foreign}, UseModelToolSearch: true}, nil},
	} {
		for _, first := range []bool{false, true} {
			search, err := toolsearch.NewTyped[M](ctx, &c.cfg)
			require.NoError(t, err)
			reduce, err := reduction.NewTyped(ctx, &reduction.TypedConfig[M]{Backend: store.NewMemory(0), ProvideReadTool: true})
			require.NoError(t, err)
			h := adktest.Handlers(search, reduce)
			if first {
				slices.Reverse(h)
			}
			m := adktest.Script[M](adktest.Say("done"))
			out := adktest.Agent[M]{Model: m, Streaming: streaming, Tools: append(c.own, big()), Handlers: h}.Run(ctx, []M{adktest.User[M]("hello")})
			require.ErrorContains(t, out.Err, `"read_file"`, "%s, reduction first %v", name, first)
			require.ErrorContains(t, out.Err, "ReadFileToolName", "%s, reduction first %v", name, first)
			require.Empty(t, m.Wires())
		}
	}
}

// The list that toolsearch stores is readable with the tool that reduction provides,
// where both have one store.
func TestReadTool_ReadsStoredToolList(t *testing.T) {
	adktest.Both(t, storedList[message], storedList[agenticMessage])
}

func storedList[M adk.MessageType](t *testing.T, streaming bool) {
	ctx := context.Background()
	files := store.NewMemory(0)
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DynamicTools: dynamicTools(), CatalogLimit: 3, Backend: files})
	require.NoError(t, err)
	reduce, err := reduction.NewTyped(ctx, &reduction.TypedConfig[M]{Backend: files, ProvideReadTool: true})
	require.NoError(t, err)
	m := &adktest.Model[M]{Respond: func(n int, w adktest.Wire[M]) adktest.Turn {
		if n > 0 {
			return adktest.Say("done")
		}
		_, after, _ := strings.Cut(strings.Join(w.MessagesDump, "\n"), "/toolsearch/")
		name, _, _ := strings.Cut(after, ".txt")
		return adktest.Do(adktest.ToolCall{ID: "r", Name: "read_file", Args: fmt.Sprintf(`{"file_path":"/toolsearch/%s.txt"}`, name)})
	}}
	out := adktest.Agent[M]{Model: m, Streaming: streaming, Handlers: adktest.Handlers(search, reduce)}.Run(ctx, []M{adktest.User[M]("hello")})
	require.NoError(t, out.Err)
	wires := m.Wires()
	require.Contains(t, resultIn(wires[1].Messages, "r"), names()[many-1])
}
