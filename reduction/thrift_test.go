// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// How often the prompt cache is broken.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction"
)

func TestTheCacheIsNotBrokenAtEveryCallWhereTextAloneExceedsTheThreshold(t *testing.T) {
	forBoth(t, longText[*schema.Message], longText[*schema.AgenticMessage])
}

func longText[M adk.MessageType](t *testing.T) {
	configs := map[string]reduction.TypedConfig[M]{
		"zero":      {},
		"target":    {ClearTargetTokens: 4000},
		"retention": {ClearRetentionSuffixLimit: 3},
		"small":     {MinSavingBytes: 1},
		"thrifty":   {ReferToRepeats: true, ClearArgumentsOver: 500},
	}
	for name, cfg := range configs {
		cfg.Backend, cfg.MaxTokensForClear = backend.NewMemory(0), 8000
		mw := typed(t, &cfg)
		msgs := []M{adktest.User[M](strings.Repeat("what a user may paste, word by word; ", 1200))} // about 10,000 tokens
		broken, cleared := 0, 0
		const calls = 40
		for i := range calls {
			id := fmt.Sprintf("call_%d", i)
			msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}),
				adktest.Result[M](id, "shell", strings.Repeat(fmt.Sprintf("result %d\n", i), 60)))
			out := before(t, mw, msgs)
			if fmt.Sprint(adkDump(msgs)) != fmt.Sprint(adkDump(out)) {
				broken++
			}
			msgs = out
		}
		for _, m := range msgs {
			for _, a := range shapeOf[M]().answers(m) {
				if pathIn(a.joined()) != "" {
					cleared++
				}
			}
		}
		require.Greater(t, cleared, calls/2, "%s: old results are cleared all the same", name)
		require.LessOrEqual(t, broken, calls/4, name)
	}
}

func adkDump[M adk.MessageType](msgs []M) (out []string) {
	for _, m := range msgs {
		out = append(out, adktest.Dump(m))
	}
	return out
}
