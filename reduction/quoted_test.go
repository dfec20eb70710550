// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/reduction"
)

// A sub-agent quotes what its tools returned: a report that ends with the notice of
// a stream which was stored by another call, under another id or the same. Clearing
// must keep the report.
func TestAResultThatEndsWithAQuotedNoticeIsKeptWhole(t *testing.T) {
	both(t, quotedNotice[*schema.Message], quotedNotice[*schema.AgenticMessage])
}

func quotedNotice[M adk.MessageType](t *testing.T) {
	ctx := context.Background()
	for kind, open := range storeKinds {
		for seed := range uint64(40) {
			g := newGen[M](seed)
			store, memory := open(t)
			cfg := &reduction.TypedConfig[M]{Backend: store, MaxLengthForTrunc: 1000, MaxTokensForClear: 1}
			if g.chance(30) {
				cfg.GenTruncOffloadFilePath = pathsOf("/results/")
			}
			id := fmt.Sprintf("call_%d", g.IntN(2))
			cut, err := runStreamable(ctx, typed(t, cfg), &adk.ToolContext{Name: "shell", CallID: "call_0"}, `{}`, []string{strings.Repeat("inner ", 1000)})
			require.NoError(t, err)
			quoted := cut[strings.LastIndex(cut, "\n<persisted-output>"):]
			report := strings.Repeat("a finding of the sub-agent\n", 50+g.IntN(300)) + quoted
			msgs := append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "agent"}), adktest.Result[M](id, "agent", report)}, rounds[M](1, 10)...)
			out := before(t, typed(t, cfg), msgs)
			got := adktest.Text(out[1])
			if got != report {
				require.Equal(t, report, stored(t, memory, pathIn(got)), "seed %d, %s", seed, kind)
			}
		}
	}
}

// A finished notice shows the head and the tail of its file. One that shows something
// else is a tool's own text, even if it names the file that its call would be given.
func TestAFinishedNoticeThatShowsSomethingElseIsKeptWhole(t *testing.T) {
	both(t, forgedNotice[*schema.Message], forgedNotice[*schema.AgenticMessage])
}

func forgedNotice[M adk.MessageType](t *testing.T) {
	ctx := context.Background()
	for kind, open := range storeKinds {
		if kind == "write only" {
			continue // such a store cannot be asked
		}
		for name, replace := range map[string][2]string{"genuine": {}, "another head": {"inner 1 ", "OTHER 1 "}, "another tail": {"inner 1999 ", "OTHER 1999 "}} {
			store, memory := open(t)
			cfg := &reduction.TypedConfig[M]{Backend: store, MaxLengthForTrunc: 1000, MaxTokensForClear: 1}
			var content strings.Builder
			for i := range 2000 {
				fmt.Fprintf(&content, "inner %d ", i)
			}
			notice, err := runInvokable(ctx, typed(t, cfg), &adk.ToolContext{Name: "shell", CallID: "call_0"}, `{}`, []string{content.String()})
			require.NoError(t, err)
			forged := notice
			if replace[0] != "" {
				forged = strings.Replace(notice, replace[0], replace[1], 1)
				require.NotEqual(t, notice, forged)
			}
			msgs := append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: "call_0", Name: "agent"}), adktest.Result[M]("call_0", "agent", forged)}, rounds[M](1, 10)...)
			got := adktest.Text(before(t, typed(t, cfg), msgs)[1])
			require.NotEqual(t, forged, got)
			want := forged
			if name == "genuine" {
				want = content.String()
			}
			require.Equal(t, want, stored(t, memory, pathIn(got)), "%s, %s", kind, name)
		}
	}
}
