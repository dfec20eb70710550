// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package skills_test

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/skill"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/skills"
)

// A run that shows a skill with tools is kept and goes on: what says which tools those are is no value of a
// checkpoint, and the checkpoint does without it.
func TestNewSource_RunWithSkillToolsResumes(t *testing.T) {
	adktest.EachType(t, usesTools[*schema.Message], usesTools[*schema.AgenticMessage])
}

func usesTools[M adk.MessageType](t *testing.T) {
	uses := func(skill.FrontMatter) []string { return []string{"approve"} }
	search, err := toolsearch.NewTyped[M](t.Context(), &toolsearch.Config{
		Source: skills.NewSource(&shelf{matters: []skill.FrontMatter{{Name: "fork", Description: "d"}}}, skills.Options{Tools: uses}),
	})
	require.NoError(t, err)
	ask := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "approve", Desc: "asks"}, func(ctx context.Context, _ string) (string, error) {
		if _, has, answer := tool.GetResumeContext[string](ctx); has {
			return answer, nil
		}
		return "", tool.Interrupt(ctx, "may I?")
	})
	call := func(id, name, args string) adktest.Turn {
		return adktest.Do(adktest.ToolCall{ID: id, Name: name, Args: args})
	}
	m := adktest.Script[M](call("1", "tool_search", `{"query":"select:skill__fork"}`), call("2", "skill__fork", "{}"), call("3", "approve", "{}"), call("4", "skill__fork", "{}"))
	r, err := adktest.Agent[M]{Model: m, Tools: []tool.BaseTool{ask}, Handlers: adktest.Handlers(search), Store: &adktest.Store{}}.Runner(t.Context())
	require.NoError(t, err)
	out := adktest.Collect(r.Run(t.Context(), []M{adktest.User[M]("x")}, adk.WithCheckPointID("p")))
	require.NoError(t, out.Err)
	require.NotNil(t, out.Interrupted)
	answers := map[string]any{}
	for _, c := range out.Interrupted.InterruptContexts {
		answers[c.ID] = "yes"
	}
	it, err := r.ResumeWithParams(t.Context(), "p", &adk.ResumeParams{Targets: answers})
	require.NoError(t, err)
	require.NoError(t, adktest.Collect(it).Err)
	last := m.Wires()[4]
	require.Contains(t, last.ToolNames, "skill__fork")
	for _, msg := range last.Messages {
		for _, result := range adktest.Results(msg) {
			switch result.ID {
			case "2", "4":
				require.Contains(t, result.Args, "approve", "it says which tools it uses")
			case "3":
				require.Equal(t, "yes", result.Args)
			}
		}
	}
}
