// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/examples/library"
	"github.com/leanctx/leanctx/examples/offline"
	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/toolsearch"
	"github.com/leanctx/leanctx/toolsearch/javascript"
)

// standIn answers for a tool that is only a definition, with the call that it got.
type standIn struct{ tool.InvokableTool }

func (s standIn) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	info, err := s.Info(ctx)
	return info.Name + " " + arguments, err
}

// tools are the whole library.
func tools(t *testing.T) []tool.BaseTool {
	t.Helper()
	all, err := library.Tools(t.TempDir())
	require.NoError(t, err)
	for i, tl := range all {
		info, err := tl.Info(t.Context())
		require.NoError(t, err)
		if !library.Works(info.Name) {
			all[i] = standIn{tl.(tool.InvokableTool)}
		}
	}
	return all
}

// asker makes a function that runs an agent over the whole library.
func asker[M adk.MessageType](t *testing.T, cfg toolsearch.Config) func(question string, options ...leanctxtest.Option) *leanctxtest.Outcome[M] {
	t.Helper()
	cfg.DynamicTools = tools(t)
	if cfg.Protocol == toolsearch.SearchCode {
		cfg.Interpreter = javascript.New(javascript.Limits{})
	}
	search, err := toolsearch.NewTyped[M](t.Context(), &cfg)
	require.NoError(t, err)
	agent := &adk.TypedChatModelAgentConfig[M]{Model: offline.New[M](), Handlers: []adk.TypedChatModelAgentMiddleware[M]{search}}
	return func(question string, options ...leanctxtest.Option) *leanctxtest.Outcome[M] {
		return leanctxtest.Run(t, agent, question, options...)
	}
}

func TestMostPhrasingsAreUnderstood(t *testing.T) {
	ask := asker[*schema.Message](t, toolsearch.Config{})
	for name, set := range map[string]struct {
		phrasings []phrasing
		atLeast   float64
	}{"tuned on": {worked, 0.97}, "not tuned on": {unseen, 0.8}} {
		t.Run(name, func(t *testing.T) {
			good := 0
			for _, p := range set.phrasings {
				out := ask(p.request, leanctxtest.Streaming())
				if p.isUnderstoodIn(out) {
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

// isUnderstoodIn reports whether a run gave the answer that is wanted, or got it for the call that is.
func (p phrasing) isUnderstoodIn(out *leanctxtest.Outcome[*schema.Message]) bool {
	if !strings.Contains(p.want, "__") {
		return p.isAnsweredBy(out.Answer)
	}
	return slices.ContainsFunc(out.Messages, func(m *schema.Message) bool { return m.Role == schema.Tool && strings.Contains(m.Content, p.want) })
}

// isAnsweredBy reports whether an answer holds what is wanted, as a word of its own
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

func trace[M adk.MessageType](out *leanctxtest.Outcome[M]) string {
	var b strings.Builder
	for _, m := range out.Messages {
		fmt.Fprintf(&b, "    %+v\n", offline.Read(m))
	}
	return b.String()
}
