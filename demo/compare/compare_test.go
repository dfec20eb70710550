// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/toolsearch"
)

func TestTasks_HaveManyKindsAndAThirdChinese(t *testing.T) {
	all, err := Tasks()
	require.NoError(t, err)
	require.Len(t, all, 60)
	kinds, ids, chinese := map[string]int{}, map[string]bool{}, 0
	for _, task := range all {
		kinds[task.Kind]++
		require.False(t, ids[task.ID], task.ID)
		ids[task.ID] = true
		if task.Lang == "zh" {
			chinese++
		}
		require.NotEmpty(t, task.Questions, task.ID)
		for _, q := range task.Questions {
			require.True(t, len(q.Truth)+len(q.Files) > 0 || q.None, task.ID)
		}
	}
	require.GreaterOrEqual(t, chinese, 20)
	require.GreaterOrEqual(t, len(kinds), 10)
}

// An agent that lists every tool does every task. Otherwise the tasks would measure the model and not the
// settings.
func TestDirect_DoesEveryTask(t *testing.T) {
	all, err := Tasks()
	require.NoError(t, err)
	b, err := Direct.Start(context.Background(), offline.New[*schema.Message]())
	require.NoError(t, err)
	defer b.Close()
	for _, task := range all {
		wrong, err := b.Do(context.Background(), task)
		require.NoError(t, err)
		require.Empty(t, wrong, task.ID)
	}
}

// askingTool asks by itself, as a tool does whose approval is its own affair and no handler's.
type askingTool struct {
	tool.InvokableTool
	asked *approvals
}

func (t askingTool) InvokableRun(ctx context.Context, args string, opts ...tool.Option) (string, error) {
	t.asked.writes++
	return t.InvokableTool.InvokableRun(ctx, args, opts...)
}

// Under SearchCall, an approval of a handler applies to the tool that call_tool names, as one that belongs to the tool
// does. With either, every task is done.
//
//claim:bench-02
func TestSearchCall_ApprovalsApply(t *testing.T) {
	all, err := Tasks()
	require.NoError(t, err)
	for name, itself := range map[string]bool{"a handler asks": false, "the tool asks": true} {
		asked := &approvals{}
		b, err := Hides(name, func(all tools) *toolsearch.Config {
			for i, it := range all {
				info, err := it.Info(t.Context())
				require.NoError(t, err)
				if itself && info.Name == "files__write" {
					all[i] = askingTool{it.(tool.InvokableTool), asked}
				}
			}
			return &toolsearch.Config{DynamicTools: all, Protocol: toolsearch.SearchCall}
		}).Start(t.Context(), offline.New[*schema.Message]())
		require.NoError(t, err)
		defer b.Close()
		for _, task := range all {
			before := asked.writes
			wrong, err := b.Do(t.Context(), task)
			require.NoError(t, err)
			if wrong == "nobody was asked before it wrote" && asked.writes > before {
				wrong = ""
			}
			require.Empty(t, wrong, "%s: %s", name, task.ID)
		}
	}
}

// silent answers nothing, and calls nothing.
type silent struct{ model.BaseChatModel }

func (silent) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return schema.AssistantMessage("I do not know.", nil), nil
}

func TestDo_DetectsWrongAnswers(t *testing.T) {
	all, err := Tasks()
	require.NoError(t, err)
	b, err := Direct.Start(context.Background(), silent{})
	require.NoError(t, err)
	defer b.Close()
	for _, task := range all {
		wrong, err := b.Do(context.Background(), task)
		require.NoError(t, err)
		nothing := task.Kind == "small talk" || task.Kind == "nothing serves it"
		require.Equal(t, nothing, wrong == "", "%s: %s", task.ID, wrong)
	}
	require.Equal(t, "1024 and 1, 2", ungrouped("1,024 and 1, 2"))
}

func TestArms_StartAndClose(t *testing.T) {
	for _, a := range Arms() {
		for _, arm := range []Arm{a, Reduced(a)} {
			b, err := arm.Start(context.Background(), silent{})
			require.NoError(t, err, arm.Name)
			b.Close()
			require.NoDirExists(t, b.dir)
		}
	}
}
