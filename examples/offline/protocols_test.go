// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline_test

import (
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/examples/offline"
	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/toolsearch"
)

// metaCalls are the tools about tools that each protocol has.
var metaCalls = map[toolsearch.Protocol][]string{
	toolsearch.Keyword:    {"tool_search"},
	toolsearch.Regexp:     {"tool_search"},
	toolsearch.SearchLoad: {"search_tools", "load_tool"},
	toolsearch.SearchCall: {"tool_search", "call_tool"},
	toolsearch.SearchCode: {"tool_search", "run_code"},
}

func TestMostPhrasingsAreUnderstoodUnderEveryProtocol(t *testing.T) {
	for protocol, meta := range metaCalls {
		for limit, atLeast := range map[int]float64{0: 0.85, 50: 0.75} {
			t.Run(protocol.String()+map[int]string{50: ", few names listed"}[limit], func(t *testing.T) {
				ask := asker[*schema.Message](t, toolsearch.Config{Protocol: protocol, CatalogLimit: limit})
				good, seen := 0, map[string]bool{}
				some := everyEighth(worked, limit%8)
				for _, p := range some {
					out := ask(p.request)
					for _, m := range out.Messages {
						for _, c := range offline.Read(m).Calls {
							seen[c.Name] = true
						}
					}
					if p.isUnderstoodIn(out) {
						good++
					} else {
						t.Logf("not understood: %s\n  the answer should hold %q\n%s", p.request, p.want, trace(out))
					}
				}
				t.Logf("understood %d of %d", good, len(some))
				require.GreaterOrEqual(t, float64(good), atLeast*float64(len(some)))
				for _, name := range meta {
					require.True(t, seen[name], "%s was never called", name)
				}
			})
		}
	}
}

// everyEighth keeps the test short: there are many phrasings, and many ways to search.
func everyEighth(all []phrasing, start int) (out []phrasing) {
	for ; start < len(all); start += 8 {
		out = append(out, all[start])
	}
	return out
}

func TestAFollowUpRequestWorksUnderEveryProtocol(t *testing.T) {
	both(t, goesOnInEach[*schema.Message], goesOnInEach[*schema.AgenticMessage])
}

func goesOnInEach[M adk.MessageType](t *testing.T) {
	for protocol := range metaCalls {
		t.Run(protocol.String(), func(t *testing.T) {
			ask := asker[M](t, toolsearch.Config{Protocol: protocol})
			first := ask(`What is the SHA-1 of "abc"?`)
			second := ask(`What about "abd"?`, leanctxtest.After(first.Messages...))
			require.Equal(t, "cb4cc28df0fdbe0ecf9d9662e294b118092a5735", second.Answer)
			calls := 0
			for _, m := range second.Messages[len(first.Messages):] {
				calls += len(offline.Read(m).Calls)
			}
			require.Equal(t, 1, calls, "what was found in the first run need not be searched for again")
		})
	}
}

func TestAWrongArgumentIsCorrectedThroughCallTool(t *testing.T) {
	ask := asker[*schema.Message](t, toolsearch.Config{Protocol: toolsearch.SearchCall})
	out := ask(`Get "customer.city" from {"customers":{"name":"Ada","city":"Turin"},"total":3}`)
	require.Contains(t, out.Answer, "Turin")
	calls := 0
	for _, m := range out.Messages {
		for _, c := range offline.Read(m).Calls {
			if c.Name == "call_tool" {
				calls++
			}
			require.True(t, strings.Contains("tool_search call_tool", c.Name), "%s is not visible", c.Name)
		}
	}
	require.Equal(t, 2, calls)
}
