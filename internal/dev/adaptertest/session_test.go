// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adaptertest

import (
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/toolsearch"
)

func TestToolsearch_FoundToolReachesModel(t *testing.T) {
	both(t, testToolsearchFoundToolReachesModel[*schema.Message],
		testToolsearchFoundToolReachesModel[*schema.AgenticMessage])
}

func testToolsearchFoundToolReachesModel[M adk.MessageType](t *testing.T, stream bool) {
	c := newChat[M](t, stream)
	c.search(toolsearch.Config{})
	first := c.ask("Weather?", calls(find("weather"), find("mail")), calls(use("weather", "Rome")), Turn{Text: "Sunny."})
	require.Len(t, first, 3)
	require.Contains(t, first[1].Tools, "weather")
	require.Contains(t, first[1].Tools, "mail")
	require.NotContains(t, first[1].Tools, "calendar")
	require.Equal(t, isArk[M](), first[1].BuiltOn == "", "only Ark keeps the tools, so that only there a load needs a whole request")
	require.NotEmpty(t, first[2].BuiltOn, "nothing was loaded: the session goes on")
	require.True(t, first[2].Shows("weather did it"))

	second := c.ask("And tomorrow?", Turn{Text: "Rain."})
	require.NotEmpty(t, second[0].BuiltOn, "a stored history goes on as well")
	require.Equal(t, 1, second[0].Sent)
	require.Contains(t, second[0].Tools, "weather")

	third := c.ask("Write it down.", calls(find("calendar")), calls(use("calendar", "rain")), Turn{Text: "Done."})
	require.NotEmpty(t, third[0].BuiltOn)
	require.Contains(t, third[1].Tools, "calendar")
	require.NotEmpty(t, third[2].BuiltOn)
}

func TestReduction_ClearedResultIsGone(t *testing.T) {
	both(t, testReductionClearedResultIsGone[*schema.Message], testReductionClearedResultIsGone[*schema.AgenticMessage])
}

// page is a result that is large enough to be cleared, and says which one it is.
func page(_, args string) string {
	return "page " + args + " begins. " + strings.Repeat("lorem ipsum ", 300)
}

// opening is how the page of a value begins.
func opening(value string) string { return page("", use("read", value).Args)[:25] }

func testReductionClearedResultIsGone[M adk.MessageType](t *testing.T, stream bool) {
	c := newChat[M](t, stream)
	c.own(tools(page, "read")...)
	c.reduce(reduction.TypedConfig[M]{MaxTokensForClear: 1500})
	one, two, three := opening("1"), opening("2"), opening("3")
	first := c.ask("Read.", calls(use("read", "1")), calls(use("read", "2"), use("read", "3")), Turn{Text: "Read."})
	require.Len(t, first, 3)
	require.NotEmpty(t, first[1].BuiltOn, "nothing is old yet")
	require.True(t, first[1].Shows(one))
	require.Empty(t, first[2].BuiltOn)
	require.False(t, first[2].Shows(one), "the cleared result is gone from the server")
	require.True(t, first[2].Shows("/clear/"), "and its notice is there")
	require.True(t, first[2].Shows(two) && first[2].Shows(three))

	second := c.ask("Again?", Turn{Text: "No."})
	require.NotEmpty(t, second[0].BuiltOn, "the same is cleared again in the stored history: the session goes on")
	require.False(t, second[0].Shows(one))
	require.Equal(t, 1, second[0].Sent)

	third := c.ask("Once more.", calls(use("read", "4")), Turn{Text: "Done."})
	require.NotEmpty(t, third[0].BuiltOn)
	require.Empty(t, third[1].BuiltOn)
	require.False(t, third[1].Shows(two) || third[1].Shows(three))
}
