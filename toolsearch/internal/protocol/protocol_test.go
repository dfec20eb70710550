// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/textstest"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/internal/toolnames"
)

func TestProtocol_IsComplete(t *testing.T) {
	for _, p := range All {
		names := p.ToolNames()
		require.NotEmpty(t, names, p.Name)
		require.Equal(t, names[0], p.ProgramSearch.Name, p.Name)
		require.NotNil(t, p.loadedNames, p.Name)
		require.NotEmpty(t, Text(p.GateText, Data{}), p.Name)
		require.Equal(t, p.CallTool != nil, slices.Contains(names, toolnames.Call), p.Name)
		for _, name := range names {
			require.True(t, toolnames.IsSearchTool(name), "%s: package reduction must know %s", p.Name, name)
		}
		for _, tool := range append(slices.Clone(p.Tools), p.ProgramSearch) {
			require.NotNil(t, tool.Answer, "%s: %s", p.Name, tool.Name)
		}
	}
}

func TestTool_InfoDescribesParameters(t *testing.T) {
	textstest.InBothLanguages(t, Prompts, func(t *testing.T, texts *prompt.Texts) {
		for _, p := range All {
			for _, tool := range append(slices.Clone(p.Tools), p.ProgramSearch) {
				info := tool.Info(fullDescription)
				require.Equal(t, tool.Name, info.Name)
				require.Equal(t, texts.Say(tool.Text, fullDescription), info.Desc)
				schema, err := info.ToJSONSchema()
				require.NoError(t, err)
				require.Equal(t, len(tool.Params), schema.Properties.Len())
				for _, param := range tool.Params {
					s, ok := schema.Properties.Get(param.Name)
					require.True(t, ok, param.Name)
					require.Equal(t, string(param.Type), s.Type)
					require.NotEmpty(t, s.Description)
					require.Equal(t, param.Required, slices.Contains(schema.Required, param.Name))
					if param.Element != "" {
						require.Equal(t, string(param.Element), s.Items.Type)
					}
				}
			}
		}
	})
}

func TestParseLoadedNames_ReadsEveryProtocol(t *testing.T) {
	for text, want := range map[string][]string{
		`{"matches":["a","b"],"already_loaded":["b"],"hint":"text"}`:         {"a", "b", "b"},
		`{"selectedTools":["a"]}`:                                            {"a"},
		` {"loaded":["a"],"already_loaded":["b"]} `:                          {"a", "b"},
		`{"results":[{"name":"a"}],"already_loaded":["b"]}`:                  {"b"},
		`{"tools":[{"name":"a","parameters":{}},{"name":"b","call":"b()"}]}`: {"a"},
		`{"matches":[]}`:                 {},
		`{}`:                             {},
		`{"matches":["a"],"hint":5}`:     {"a"},
		`{"matches":["a"],"loaded":"b"}`: nil,
		`{"matches":["a"]`:               nil,
		`["a"]`:                          nil,
		`No tool matches.`:               nil,
		``:                               nil,
	} {
		require.Equal(t, want, ParseLoadedNames(text), text)
	}
}
