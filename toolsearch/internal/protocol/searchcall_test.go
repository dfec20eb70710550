// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
)

var searchCallTexts = textRows{
	"gate-call":                    {"the_name", "the reason", `{"the":"schema"}`, "call_tool"},
	"unknown-arguments":            {"word_a", "word_b"},
	"missing-arguments":            {"word_a", "word_b"},
	"offer":                        {"call_tool", "tool_search"},
	"no-call-name":                 {`"name"`, `"arguments"`, "tool_search"},
	"no-object":                    {`"arguments"`, "JSON"},
	"bad-arguments":                {"the_name", "the reason", `{"the":"schema"}`},
	"cut-call":                     {"17"},
	"broken-call":                  {"17", "JSON", `"name"`, `"arguments"`},
	"several-calls":                {"call_tool", `"name"`, `"arguments"`},
	"scattered-arguments":          {"the_name", `"arguments"`},
	"tool_search_call":             {"<available-deferred-tools>", "call_tool", `"tools"`, `"hint"`},
	"tool_search_call.query":       {"select:"},
	"tool_search_call.max_results": {"17", "4711"},
	"call_tool":                    {"tool_search", `"name"`, `"arguments"`},
	"call_tool.name":               {},
	"call_tool.arguments":          {},
}

func TestSearchCall_DescribesTools(t *testing.T) {
	s := searcherOf(t, adktest.Simple("send_mail", "Sends a mail."), adktest.Simple("nameless", ""))
	a := parse(t, ask(t, s, answerDescriptions, `{"query":["send","nameless"]}`))
	require.Len(t, a.Tools, 2)
	require.Equal(t, "Sends a mail.", *a.Tools[0].Description)
	require.NotNil(t, a.Tools[1].Description, "an empty description is written, too")
	for _, d := range a.Tools {
		require.True(t, json.Valid(d.Parameters))
		require.Empty(t, d.Call)
	}
}
