// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/jsontext"
)

var searchLoadTexts = textRows{
	"no-name":                  {`"tool_name"`, `"tool_names"`, "search_tools"},
	"search_tools":             {"<available-deferred-tools>", "load_tool", `"results"`, `"hint"`, `"already_loaded"`},
	"search_tools.query":       {"select:"},
	"search_tools.max_results": {"17", "4711"},
	"load_tool":                {"<available-deferred-tools>", "search_tools", `"tool_name"`, `"tool_names"`, `"loaded"`, `"already_loaded"`, `"hint"`},
	"load_tool.tool_name":      {},
	"load_tool.tool_names":     {},
}

func TestSearchLoad_DescribesCandidates(t *testing.T) {
	s := searcherOf(t, adktest.Simple("send_mail", strings.Repeat("ü", maxCandidateDescription+1)))
	a := parse(t, ask(t, s, answerCandidates, `{"query":"send"}`))
	require.Len(t, a.Results, 1)
	require.Equal(t, "send_mail", a.Results[0].Name)
	require.Positive(t, a.Results[0].Score)
	require.Equal(t, maxCandidateDescription+1, utf8.RuneCountInString(a.Results[0].Description), "with an ellipsis")
}

func TestSearchLoad_LoadsNames(t *testing.T) {
	s := searcherOf(t, reports(20)...)
	s.Access.(*access).visible.Add("report_001")
	a := parse(t, ask(t, s, answerLoad, `{"tool_name":"report_000","tool_names":["report_000, report_001","reportt"]}`))
	require.Equal(t, []string{"report_000"}, a.Loaded)
	require.Equal(t, []string{"report_001"}, a.AlreadyLoaded)
	require.Equal(t, maxNearOnLoad, strings.Count(a.Hint, "report_"), a.Hint)
	require.NotEmpty(t, parse(t, ask(t, s, answerLoad, `{}`)).Hint)
}

func TestRequestedNames_IgnoresUnknownNames(t *testing.T) {
	s := searcherOf(t, reports(3)...)
	args := jsontext.DecodeArguments(`{"tool_names":["report_002","nothing","REPORT-001, report_002"]}`)
	require.Equal(t, []string{"report_002", "report_001"}, RequestedNames(s.Tools, args))
}
