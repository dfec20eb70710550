// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"fmt"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/message"
)

// restored is a run whose checkpoint has names of called tools, and not their calls.
type restored struct {
	fakeRun
	names []string
}

func (r restored) RestoreBindings(context.Context, []message.ToolCall) ([]string, bool) {
	return r.names, true
}

func TestResume_BindsTheNamesOfACheckpoint(t *testing.T) {
	r := restored{fakeRun: fakeRun{hidden: map[string]tool.BaseTool{}}, names: []string{"late"}}
	s := begin(r.fakeRun, false, true)
	s.host = r
	r.hidden["late"] = plain("late")
	b := s.restoreBindings(context.Background())
	require.Equal(t, []string{"late"}, b.names)
	require.Empty(t, b.unboundNames)
	require.Equal(t, "late", b.bySlot[0].name)
	require.NotNil(t, b.bySlot[0].tool)
}

// Calls of tools that have a slot of their own, and of the agent's other tools, need none. However many there are, the
// call of a tool that came later gets one.
func TestBindStreamed_OnlyLaterToolsTakeSharedSlots(t *testing.T) {
	r := fakeRun{hidden: map[string]tool.BaseTool{}}
	var calls []message.ToolCall
	for i := range 60 {
		name := fmt.Sprint("tool", i)
		r.hidden[name] = plain(name)
		calls = append(calls, message.ToolCall{ID: fmt.Sprint(i), Name: name, Args: "{}"}, message.ToolCall{ID: fmt.Sprint("own", i), Name: "own", Args: "{}"})
	}
	s := begin(r, false, true)
	s.FreeAll()
	r.hidden["late"] = plain("late")
	late := message.ToolCall{ID: "late", Name: "late", Args: "{}"}
	edit := s.BindStreamed(context.Background(), append(calls, late))
	require.Equal(t, late, edit(late))
	require.Equal(t, []string{"late"}, s.current(context.Background()).names)
}
