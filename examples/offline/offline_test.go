// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline_test

// This file runs the model in a real agent over the whole library.

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/examples/library"
	"github.com/leanctx/leanctx/examples/offline"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

// asker makes a function that runs a new agent on a history.
func asker[M adk.MessageType](t *testing.T, streaming bool) func(...M) adktest.Outcome[M] {
	t.Helper()
	ctx := context.Background()
	tools, err := library.Tools(t.TempDir())
	require.NoError(t, err)
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DynamicTools: tools})
	require.NoError(t, err)
	agent, err := adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[M]{
		Name: "agent", Description: "an agent", Model: offline.New[M](), Handlers: adktest.Handlers(search),
	})
	require.NoError(t, err)
	runner := adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: streaming})
	return func(history ...M) adktest.Outcome[M] {
		out := adktest.Collect(runner.Run(ctx, history))
		require.NoError(t, out.Err)
		return out
	}
}

func TestMostPhrasingsAreUnderstood(t *testing.T) {
	ask := asker[*schema.Message](t, true)
	for name, set := range map[string]struct {
		phrasings []phrasing
		atLeast   float64
	}{"tuned on": {worked, 0.97}, "not tuned on": {unseen, 0.8}} {
		t.Run(name, func(t *testing.T) {
			good := 0
			for _, p := range set.phrasings {
				out := ask(schema.UserMessage(p.request))
				if p.isAnsweredBy(out.Answer()) {
					good++
				} else {
					t.Logf("not understood: %s\n  the answer should hold %q\n%s", p.request, p.want, trace(out))
				}
			}
			t.Logf("understood %d of %d", good, len(set.phrasings))
			require.GreaterOrEqual(t, float64(good), set.atLeast*float64(len(set.phrasings)))
		})
	}
}

// isAnsweredBy tells whether an answer holds what is wanted, as a word of its own
// if it is short. What the answer repeats of the request does not count.
func (p phrasing) isAnsweredBy(answer string) bool {
	answer = strings.ReplaceAll(answer, strings.TrimRight(p.request, "?.。？ "), "")
	if strings.Contains(answer, "could not") || strings.Contains(answer, "没有办成") {
		return false
	}
	want := regexp.QuoteMeta(p.want)
	if len(p.want) < 3 {
		want = `(?:^|[^\pL\d.])` + want + `(?:$|[^\pL\d])`
	}
	return regexp.MustCompile("(?i)" + want).MatchString(answer)
}

func trace[M adk.MessageType](out adktest.Outcome[M]) string {
	var b strings.Builder
	for _, m := range out.Messages {
		b.WriteString("    " + adktest.Dump(m) + "\n")
	}
	return b.String()
}
