// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"
)

var regexpTexts = textRows{
	"empty-pattern":                    {`"regex_pattern"`},
	"long-pattern":                     {"17"},
	"bad-pattern":                      {"the reason", "RE2"},
	"no-name-matches":                  {"near_a", "(?i)"},
	"tool_search_regexp":               {"<available-deferred-tools>", "RE2", `"selectedTools"`, `"hint"`, "4711"},
	"tool_search_regexp.regex_pattern": {"RE2", "(?i)"},
}

func TestRegexp_SelectsMatchingNames(t *testing.T) {
	s := searcherOf(t, reports(12)...)
	s.Access.(*access).visible.Add("report_010")
	require.JSONEq(t, `{"selectedTools":["report_010","report_011"],"already_loaded":["report_010"]}`,
		ask(t, s, answerMatches, `{"regex_pattern":"01.$"}`))
	for _, args := range []string{`{}`, `{"regex_pattern":"("}`, `{"regex_pattern":"zzz"}`} {
		a := parse(t, ask(t, s, answerMatches, args))
		require.Equal(t, []string{}, a.SelectedTools, args)
		require.NotEmpty(t, a.Hint, args)
	}
}
