// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/search"
)

// serverProtocol shows what a protocol consists of. It loads all tools of a server. A real one has texts of its own below
// prompt, stands in All, and has a constant in package toolsearch.
var serverProtocol = &Protocol{
	Name: "Server",
	Tools: []Tool{{
		Name: toolnames.Search, Text: "tool_search", Answer: answerServer, Effect: FindAndLoad,
		Params: []Param{{Name: "query", Type: schema.String, Required: true}},
	}},
	ProgramSearch: searchForPrograms(toolnames.Search),
	GateText:      "gate",
	loadedNames: func(answer storedAnswer) (names []string, err error) {
		err = answer.decode("of_server", &names)
		return names, err
	},
}

func answerServer(ctx context.Context, s search.Searcher, args jsontext.Arguments) (string, error) {
	server := firstText(args, "query", "server")
	isOfServer := func(t *catalog.Tool) bool { return toolnames.Server(t.Info.Name) == server }
	r, err := s.FindByRule(ctx, search.Rule{Text: server, Words: server, Selects: isOfServer}, answerSpace(nameSize))
	return JSON(map[string]any{"of_server": r.Names(), "hint": Hint(&r)}), err
}

func TestProtocol_NeedsOneFile(t *testing.T) {
	s := searcherOf(t,
		adktest.Simple("git__push", ""), adktest.Simple("mail__send", ""), adktest.Simple("git__pull", ""), adktest.Simple("git__log", ""))
	s.Access.(*access).denied.Add("git__log")
	answer := ask(t, s, serverProtocol.Tools[0].Answer, `{"query":"git"}`)
	require.JSONEq(t, `{"of_server":["git__push","git__pull"],"hint":""}`, answer)
	require.Empty(t, ParseLoadedNames(answer))
	protocols := append([]*Protocol{serverProtocol}, All...)
	require.Equal(t, []string{"git__push", "git__pull"}, parseLoadedNames(protocols, answer))
	require.Equal(t, []string{"a"}, parseLoadedNames(protocols, Matches([]string{"a"})))

	none := ask(t, s, serverProtocol.Tools[0].Answer, `{"query":"gitt"}`)
	require.True(t, strings.Contains(none, "git__push") && !strings.Contains(none, "git__log"), none)

	info := serverProtocol.Tools[0].Info(DescriptionData{})
	require.NotEmpty(t, info.Desc)
	require.Equal(t, []string{toolnames.Search}, serverProtocol.ToolNames())
}
