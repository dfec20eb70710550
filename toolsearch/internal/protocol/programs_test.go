// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
)

var programTexts = textRows{
	"offer-code":                   {"run_code", "tool_search"},
	"tool_search_code":             {"<available-deferred-tools>", "run_code", "call_tool", "TypeScript", `"tools"`, `"hint"`},
	"tool_search_code.query":       {"select:"},
	"tool_search_code.max_results": {"17", "4711"},
	"program-meta":                 {"the_name", "run_code"},
}

func TestProgramSearch_AnswersWithSignatures(t *testing.T) {
	s := searcherOf(t, adktest.Simple("send_mail", "Sends a mail."))
	for _, p := range All {
		args := `{"query":"send","regex_pattern":"send"}`
		answer := ask(t, s, p.ProgramSearch.Answer, args)
		a := parse(t, answer)
		require.Len(t, a.Tools, 1, p.Name)
		require.Contains(t, a.Tools[0].Call, "send_mail(", p.Name)
		require.Nil(t, a.Tools[0].Description, p.Name)
		require.Empty(t, ParseLoadedNames(answer), "%s: a signature loads nothing", p.Name)
	}
}
