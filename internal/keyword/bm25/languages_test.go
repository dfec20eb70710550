// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
)

const German analysis.Language = "German"

func TestLanguage_IsThatOfMostDescriptions(t *testing.T) {
	english := []keyword.Doc{{Name: "a", Description: "Sends a message to the team."}, {Name: "b", Description: "Lists the open issues of a project."}}
	chinese := []keyword.Doc{{Name: "a", Description: "给团队发送消息的工具"}, {Name: "b", Description: "列出项目的问题"}}
	german := []keyword.Doc{{Name: "a", Description: "Sendet eine Nachricht an das Team."}, {Name: "b", Description: "Listet die offenen Punkte eines Projekts."}}
	require.Equal(t, analysis.English, New(allWords(), english).Language())
	require.Equal(t, analysis.Chinese, New(allWords(), chinese).Language())
	require.Equal(t, German, New(allWords(), german).Language())
	require.Empty(t, New(allWords(), append(english, chinese...)).Language(), "half and half")
	require.Empty(t, New(allWords(), []keyword.Doc{{Name: "x"}}).Language())
	require.Empty(t, New(allWords(), nil).Language())
}

func TestSearch_SeparatedChineseVerbMatches(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "screenshot", Description: "Captures the screen."}, {Name: "list", Description: "Lists the files of a folder."}})
	require.Equal(t, []string{"screenshot"}, answers(t, x, "帮我截个屏", 1))
}

// Words of another language than that of the tools are no evidence that no tool matches.
func TestConfidence_QueryInOtherLanguageIsNotRejected(t *testing.T) {
	german := New(allWords(), []keyword.Doc{
		{Name: "phone__send_sms", Server: "phone", Description: "Sendet eine SMS an einen Kontakt oder eine Telefonnummer."},
		{Name: "calendar__create_event", Server: "calendar", Description: "Trägt einen Termin in den Kalender ein."},
		{Name: "bank__get_balance", Server: "bank", Description: "Zeigt den Kontostand eines Kontos."},
	})
	require.Equal(t, German, german.Language())
	for _, text := range []string{"send my grandmother in Oslo an SMS that the snow is deep", "给奶奶发个短信"} {
		require.Greater(t, confidenceOf(t, german, text), .05, text)
	}
	// In the language of the tools, a word that none has says that something else is wanted.
	require.Less(t, odds(confidenceOf(t, german, "Termin Gabelstapler Steuerberater")), odds(confidenceOf(t, german, "Termin"))/20)
}
