// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// A file that a notice names is never another call's, also if the store has lost it: the model would read something else
// there.
func TestAFileThatANoticeNamesIsNeverAnotherCalls(t *testing.T) {
	adktest.EachType(t, staysNamed[*schema.Message], staysNamed[*schema.AgenticMessage])
}

func staysNamed[M adk.MessageType](t *testing.T) {
	run := func(history []M, word string) []M {
		model := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "same", Name: "shell", Args: `{"lines":200,"word":"` + word + `"}`}))
		handler := typed(t, &reduction.TypedConfig[M]{Backend: store.NewMemory(0), MaxLengthForTrunc: 900, SkipClear: true})
		require.NoError(t, adktest.Agent[M]{Model: model, Tools: sampleTools(), Handlers: adktest.Handlers[M](handler)}.Run(t.Context(), history).Err)
		return model.Wires()[1].Messages
	}
	first := run([]M{adktest.User[M]("go")}, "first")
	second := run(append(first, adktest.Assistant[M]("done"), adktest.User[M]("again")), "second")
	var paths []string
	for _, m := range second {
		for _, r := range adktest.Results(m) {
			paths = append(paths, tmpPath.FindString(r.Args))
		}
	}
	require.Len(t, paths, 2)
	require.Equal(t, "/tmp/trunc/same", paths[0])
	require.NotEqual(t, paths[0], paths[1])
}
