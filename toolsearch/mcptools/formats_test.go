// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/internal/formats"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/toolsearch"
)

// A question that an earlier build has put, and an answer to it that did not fit, are in a checkpoint: this build
// asks the same again, and goes on with the call. The samples are of package formats.
func TestQuestion_ReadsCheckpointsOfOtherBuilds(t *testing.T) {
	t.Run("Message", answersTheOldQuestion[*schema.Message]("plain"))
	t.Run("AgenticMessage", answersTheOldQuestion[*schema.AgenticMessage]("agentic"))
}

func answersTheOldQuestion[M adk.MessageType](kind string) func(t *testing.T) {
	return func(t *testing.T) {
		f := asking(false)
		f.server.AddTool(&mcp.Tool{Name: "show", Title: "Show a picture", Description: "Shows what was painted", InputSchema: object(""), OutputSchema: object(`"a":{"type":"string"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text(""), nil })
		server := f.inMemory()
		server.AlwaysVisible = []string{"paint", "show"}
		process := func(store *keptCheckpoints, turns ...einoleantest.Turn) *adk.TypedRunner[M] {
			return processOf[M](t, server, store, toolsearch.Config{}, turns...)
		}
		answer := func(store *keptCheckpoints, id, colour string) (map[string]Question, string) {
			events, err := process(store, einoleantest.Say("done")).ResumeWithParams(ctx, "c", &adk.ResumeParams{Targets: map[string]any{id: Answer{Content: map[string]any{"colour": colour}}}})
			require.NoError(t, err)
			return follow(t, events)
		}
		samples := formats.Samples(t, "checkpoint-question-"+kind, ".txt", func() string {
			store := &keptCheckpoints{all: map[string][]byte{}}
			events := process(store, einoleantest.Call("srv__paint", `{"text":"door"}`)).Query(ctx, "paint", adk.WithCheckPointID("c"))
			ids, _ := follow(t, events)
			for id := range ids {
				answer(store, id, "loud")
			}
			return string(store.all["c"])
		})
		for name, saved := range samples {
			store := &keptCheckpoints{all: map[string][]byte{"c": []byte(saved)}}
			before := f.called("painted")
			events, err := process(store).Resume(ctx, "c")
			require.NoError(t, err, name)
			ids, _ := follow(t, events)
			require.Len(t, ids, 1, name)
			for id, q := range ids {
				require.Equal(t, Question{Server: "srv", Tool: "paint", Message: "which colour?", Schema: q.Schema, Problem: q.Problem}, q, name)
				require.JSONEq(t, colours, q.Schema, name)
				require.Contains(t, q.Problem, "colour", "%s: what was wrong with the answer", name)
				more, said := answer(store, id, "red")
				require.Empty(t, more, name)
				require.Contains(t, said, `accept red {"text":"door"}`, name)
			}
			require.Equal(t, before+1, f.called("painted"), "%s: the answer reaches the server once", name)
		}
	}
}

// The _meta of a result is in the message that a run keeps, and a stored message of an earlier build has it where
// this one looks for it.
func TestResultMeta_IsReadFromStoredMessages(t *testing.T) {
	t.Run("Message", readsStoredMeta[*schema.Message]("plain"))
	t.Run("AgenticMessage", readsStoredMeta[*schema.AgenticMessage]("agentic"))
}

func readsStoredMeta[M adk.MessageType](kind string) func(t *testing.T) {
	return func(t *testing.T) {
		stored := func(options ...einoleantest.Option) string {
			f := newFixture()
			f.server.AddTool(&mcp.Tool{Name: "look", InputSchema: object("")}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				r := text("a door")
				r.Meta = mcp.Meta{"trace": "t1"}
				return r, nil
			})
			s := open(t, map[string]Server{"srv": f.inMemory()}, Options{Media: true})
			model := einoleantest.Script[M](einoleantest.Call("srv__look", `{}`), einoleantest.Say("done"))
			config := &adk.TypedChatModelAgentConfig[M]{Model: model}
			config.ToolsConfig = adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{find(t, ctx, s, "srv__look")}}}
			einoleantest.Run(t, config, "look", options...)
			data, err := json.Marshal(model.Requests()[1].Messages)
			require.NoError(t, err)
			return string(data)
		}
		samples := formats.Samples(t, "result-meta-"+kind, ".json", func() string { return stored() })
		samples["streaming"] = stored(einoleantest.Streaming())
		for name, text := range samples {
			var history []M
			require.NoError(t, json.Unmarshal([]byte(text), &history), name)
			require.Equal(t, []any{`{"trace":"t1"}`}, metaOf(history), name)
		}
	}
}

// metaOf is the _meta of all results in a history.
func metaOf[M adk.MessageType](history []M) (found []any) {
	for _, m := range history {
		for p := message.Parts(m); p.Next(); {
			for item := p.Parts(); item.Next(); {
				if meta, ok := item.Output().Extra[ResultMetaKey]; ok {
					found = append(found, meta)
				}
			}
		}
	}
	return found
}
