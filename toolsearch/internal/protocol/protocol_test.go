// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bytedance/sonic"
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
				require.Equal(t, texts.Render(tool.Text, fullDescription), info.Desc)
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
		`{"matches":["a"],"\x":0}`:       nil,
		`{"matches":["a"]`:               nil,
		`["a"]`:                          nil,
		`No tool matches.`:               nil,
		``:                               nil,
	} {
		require.Equal(t, want, ParseLoadedNames(text), text)
	}
}

// Broken texts, too: each protocol decodes its own members, with the same result as decoding all of them at once.
func TestParseLoadedNames_EqualsDecodingAtOnce(t *testing.T) {
	decodedAtOnce := func(text string) []string {
		var answer struct {
			Matches       []string `json:"matches"`
			SelectedTools []string `json:"selectedTools"`
			Loaded        []string `json:"loaded"`
			AlreadyLoaded []string `json:"already_loaded"`
			Tools         []struct {
				Name string `json:"name"`
				Call string `json:"call"`
			} `json:"tools"`
		}
		text = strings.TrimSpace(text)
		if !strings.HasPrefix(text, "{") || sonic.ConfigStd.UnmarshalFromString(text, &answer) != nil {
			return nil
		}
		names := append([]string{}, slices.Concat(answer.Matches, answer.SelectedTools, answer.Loaded, answer.AlreadyLoaded)...)
		for _, x := range answer.Tools {
			if x.Call == "" {
				names = append(names, x.Name)
			}
		}
		return names
	}
	texts := []string{
		`{"matches":["a","b"],"hint":"\u0041\n"}`, `{"selectedTools":["a"],"MATCHES":["b"],"matches":null}`,
		`{"loaded":["a"],"already_loaded":["ü"],"more":{"list":[1,-2.5e3,true]}}`,
		`{"tools":[{"name":"a","parameters":{}},{"name":"b","call":"b()"}]}`,
	}
	pieces := strings.Split(`{ } [ ] " , : \ \u0041 \x null 01 "a" {} [] "matches":["c"], `+"\x00 \xff \t", " ")
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := texts[r.IntN(len(texts))]
		for range r.IntN(3) {
			from := r.IntN(len(text))
			to := min(len(text), from+r.IntN(3))
			text = text[:from] + pieces[r.IntN(len(pieces))] + text[to:]
		}
		require.Equal(t, decodedAtOnce(text), ParseLoadedNames(text), "seed %d: %q", seed, text)
	}
}
