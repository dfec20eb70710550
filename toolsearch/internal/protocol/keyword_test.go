// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"
)

var keywordTexts = textRows{
	"tool_search":             {"<available-deferred-tools>", "select:", "+github", "max_results", "17", `"matches"`, `"hint"`},
	"tool_search.query":       {"select:", "+"},
	"tool_search.max_results": {"17", "4711", "select:"},
}

func TestKeyword_NamesWhatItFinds(t *testing.T) {
	s := searcherOf(t, reports(3)...)
	s.Access.(*access).visible.Add("report_001")
	require.JSONEq(t, `{"matches":["report_000","report_001","report_002"],"already_loaded":["report_001"]}`,
		ask(t, s, answerNames, `{"query":"shared"}`))
	require.JSONEq(t, `{"matches":["report_002"]}`, ask(t, s, answerNames, `{"query":"select:report_002"}`))
	none := parse(t, ask(t, s, answerNames, `{"query":"zzz"}`))
	require.Equal(t, []string{}, none.Matches)
	require.NotEmpty(t, none.Hint)
}

func TestMatches_IsNeverNull(t *testing.T) {
	require.Equal(t, `{"matches":[]}`, Matches(nil))
	require.Equal(t, []string{"a", "b"}, ParseLoadedNames(Matches([]string{"a", "b"})))
}
