// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Names and texts of answers that run no tool.

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch"
)

// Whatever phases a Filter denies a tool in, an answer to a slip of its name suggests it only if the model may see,
// find and load it.
func TestFilter_DeniedToolIsNotSuggested(t *testing.T) {
	everywhere(t, deniedIsNotSuggested[*schema.Message], deniedIsNotSuggested[*schema.AgenticMessage])
}

func deniedIsNotSuggested[M adk.MessageType](t *testing.T, streaming bool) {
	const tool, slip = "github__close_issue", "github__close_isue"
	phases := []toolsearch.Phase{toolsearch.PhaseList, toolsearch.PhaseSearch, toolsearch.PhaseLoad}
	for denied := range 1 << len(phases) {
		var in []toolsearch.Phase
		for i, phase := range phases {
			if denied&(1<<i) != 0 {
				in = append(in, phase)
			}
		}
		s := on[M](t, streaming, toolsearch.SearchCall)
		if in != nil {
			s.cfg.Filter = deny(tool, in...)
		}
		answer := s.begin(do("1", "call_tool", `{"name":"`+slip+`","arguments":{}}`)).answer(t, "1")
		require.Equal(t, in == nil, strings.Contains(answer, tool), "denied in %v: %s", in, answer)
	}
}

// A native search that finds only tools which the model sees says so: an empty result would be rejected.
func TestNativeSearch_SaysWhatIsLoaded(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		s := on[*schema.Message](t, streaming, toolsearch.Keyword)
		s.cfg.UseModelToolSearch, s.cfg.Native = true, toolsearch.ClaudeClient
		s.cfg.AlwaysVisible = []string{"slack__send_message"}
		p := s.begin(do("1", "tool_search", `{"query":"select:slack__send_message"}`))
		require.Equal(t, "Loaded already, call directly: slack__send_message.", p.answer(t, "1"))
	}
}

// New names the index of every empty name, wherever it stands.
func TestAlwaysVisible_RejectsEmptyNames(t *testing.T) {
	for want, names := range map[string][]string{"AlwaysVisible[0]": {"", "a"}, "AlwaysVisible[1]": {"a", ""}} {
		_, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: office(), AlwaysVisible: names})
		require.ErrorContains(t, err, want)
	}
}
