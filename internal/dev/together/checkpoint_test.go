// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/programtest"
	"github.com/einolean/einolean/internal/formats"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

// A run that some build has interrupted, inside a program, goes on in every later one. The samples are of
// package formats; EINOLEAN_UPDATE=1 makes those that are not there.
func TestACheckpointOfAnotherBuildGoesOn(t *testing.T) {
	adktest.EachType(t, func(t *testing.T) { checkpointGoesOn[message](t, "plain") }, func(t *testing.T) { checkpointGoesOn[agenticMessage](t, "agentic") })
}

func checkpointGoesOn[M adk.MessageType](t *testing.T, kind string) {
	name := "v1/checkpoint-" + kind + ".txt"
	if _, err := fs.Stat(formats.Files(), name); err != nil {
		require.NotEmpty(t, os.Getenv("EINOLEAN_UPDATE"), "there is no %s", name)
		writeCheckpoint[M](t, "../../formats/testdata/"+name)
		t.Skip("the sample is made; run again to read it")
	}
	text, err := fs.ReadFile(formats.Files(), name)
	require.NoError(t, err)
	packed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(text)))
	require.NoError(t, err)
	saved, err := io.ReadAll(packed)
	require.NoError(t, err)
	var kept adktest.Store
	require.NoError(t, kept.Set(t.Context(), "x", saved))
	model, ran := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "use", Name: "run_code", Args: `{"code":"q"}`}), adktest.Say("the answer")), adktest.Ran{}
	require.Contains(t, string(saved), "einolean_programs_record")
	it, err := interrupted(t, model, &ran, &kept).Resume(t.Context(), "x")
	require.NoError(t, err)
	out := adktest.Collect(it)
	require.NoError(t, out.Err)
	require.Equal(t, "the answer", out.Answer())
	require.Len(t, ran.Times(), 1, "only what had not run runs")
	wires := model.Wires()
	require.Contains(t, resultIn(wires[0].Messages, "p"), "what the shell says, yes")
	require.Contains(t, resultIn(wires[1].Messages, "use"), "echo", "what had been found can be called")
	require.Equal(t, 1, strings.Count(strings.Join(wires[0].MessagesDump, "\n"), "</available-deferred-tools>"))
}

// interrupted is an agent whose program asks a question.
func interrupted[M adk.MessageType](t *testing.T, m *adktest.Model[M], ran *adktest.Ran, kept *adktest.Store) *adk.TypedRunner[M] {
	in := programtest.Programs{"p": func(p *programtest.Program) {
		first := p.Call(`shell {"n":1}`)[0].Text
		p.Print(first + ", " + p.Call("approve {}")[0].Text)
	}, "q": func(p *programtest.Program) { p.Print(p.Call(names()[7] + " {}")[0].Text) }}
	first, err := programs.NewTyped[M](t.Context(), &programs.Config{Interpreter: in})
	require.NoError(t, err)
	tools := []tool.BaseTool{
		adktest.Tool(adktest.Invokable, &schemaInfo{Name: "shell", Desc: "says something"}, func(ctx context.Context, _ string) (string, error) {
			return "what the shell says", ran.Add(ctx)
		}),
		adktest.Tool(adktest.Invokable, &schemaInfo{Name: "approve", Desc: "asks"}, func(ctx context.Context, _ string) (string, error) {
			if was, _, _ := tool.GetInterruptState[any](ctx); !was {
				return "", tool.Interrupt(ctx, "may I?")
			}
			return "yes", ran.Add(ctx)
		}),
	}
	search := searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools()})
	runner, err := adktest.Agent[M]{Model: m, Tools: tools, Store: kept, Handlers: adktest.Handlers(first, search, reductionOf(t, *reduction.RecommendedTyped[M](store.NewMemory(0))))}.Runner(t.Context())
	require.NoError(t, err)
	return runner
}

func writeCheckpoint[M adk.MessageType](t *testing.T, file string) {
	m := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "load", Name: "tool_search", Args: `{"query":"select:` + names()[7] + `"}`}),
		adktest.Do(adktest.ToolCall{ID: "p", Name: "run_code", Args: `{"code":"p"}`}))
	var kept adktest.Store
	out := adktest.Collect(interrupted(t, m, &adktest.Ran{}, &kept).Run(t.Context(), []M{adktest.User[M]("look")}, adk.WithCheckPointID("x")))
	require.NoError(t, out.Err)
	require.NotNil(t, out.Interrupted)
	saved, _, err := kept.Get(t.Context(), "x")
	require.NoError(t, err)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(saved)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	var lines strings.Builder
	for part := range slices.Chunk(packed.Bytes(), 75) {
		lines.WriteString(base64.StdEncoding.EncodeToString(part) + "\n")
	}
	require.NoError(t, os.WriteFile(file, []byte(lines.String()), 0o644))
}
