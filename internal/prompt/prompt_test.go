// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package prompt_test

import (
	"testing"
	"testing/fstest"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/prompt"
)

func files() fstest.MapFS {
	return fstest.MapFS{
		"say/greeting.en.md":     {Data: []byte("Hello {{.Name}}, {{join .Words \" and \"}}.\n")},
		"say/greeting.zh.md":     {Data: []byte("你好 {{.Name}}。\n")},
		"say/short.en.tmpl":      {Data: []byte("{{define \"one\"}}1{{end}}\n{{define \"two\"}} 2 {{end}}\n")},
		"say/short.zh.tmpl":      {Data: []byte("{{define \"one\"}}一{{end}}\n{{define \"two\"}}二{{end}}\n")},
		"say/below/form.en.tmpl": {Data: []byte("\na {{.x}}{{.y}}\nb\n")},
		"say/below/form.zh.tmpl": {Data: []byte("{{.y}}")},
	}
}

func TestCurrent_FollowsLanguage(t *testing.T) {
	set := prompt.Load(files(), "say")
	data := map[string]any{"Name": "Ann", "Words": []string{"x", "y"}}
	require.Equal(t, "Hello Ann, x and y.", set.Current().Render("greeting", data))
	require.Equal(t, "2", set.Current().Render("two", nil))
	require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
	t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
	require.Equal(t, "你好 Ann。", set.Current().Render("greeting", data))
	require.Equal(t, []string{"below/form", "greeting", "one", "two"}, set.English().Names(), "a file that only defines texts is none")
	require.Equal(t, set.English().Names(), set.Chinese().Names())
}

func TestPieces_JoinToText(t *testing.T) {
	set := prompt.Load(files(), "say")
	require.Equal(t, []prompt.Piece{{"\na ", "x"}, {"", "y"}, {"\nb", ""}}, set.English().Pieces("below/form"), "except for the end of its last line")
	require.Equal(t, []prompt.Piece{{"", "y"}, {"", ""}}, set.Chinese().Pieces("below/form"))
	require.Panics(t, func() { set.English().Pieces("greeting") }, "it calls a function")
	require.Panics(t, func() { set.English().Render("missing", nil) })
	require.Panics(t, func() {
		prompt.Load(fstest.MapFS{"say/bad.en.md": {Data: []byte("{{")}}, "say").English()
	})
}
