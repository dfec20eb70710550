// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

func TestTheLanguageOfATextIsKnown(t *testing.T) {
	for text, want := range map[string]Language{
		"send the report to my team":                English,
		"给团队发报告":                                    Chinese,
		"把 Airtable 里那个字段改个名字":                      Chinese,
		"チームにレポートを送って":                              Japanese,
		"팀에 보고서를 보내줘":                               Korean,
		"schick den Bericht bitte an mein Team":     German,
		"envoie le rapport à mon équipe":            "French",
		"envía el informe a mi equipo por correo":   "Spanish",
		"отправь отчёт моей команде, когда сможешь": "Russian",
		"redis del":    "",
		"create_issue": "",
		"":             "",
	} {
		require.Equal(t, want, LanguageOf(text), text)
	}
}

const German Language = "German"

func TestTheLanguageOfACatalogueIsThatOfMostDescriptions(t *testing.T) {
	english := []keyword.Doc{{Name: "a", Description: "Sends a message to the team."}, {Name: "b", Description: "Lists the open issues of a project."}}
	chinese := []keyword.Doc{{Name: "a", Description: "给团队发送消息的工具"}, {Name: "b", Description: "列出项目的问题"}}
	german := []keyword.Doc{{Name: "a", Description: "Sendet eine Nachricht an das Team."}, {Name: "b", Description: "Listet die offenen Punkte eines Projekts."}}
	require.Equal(t, English, New(allWords(), english).Language())
	require.Equal(t, Chinese, New(allWords(), chinese).Language())
	require.Equal(t, German, New(allWords(), german).Language())
	require.Empty(t, New(allWords(), append(english, chinese...)).Language(), "half and half")
	require.Empty(t, New(allWords(), []keyword.Doc{{Name: "x"}}).Language())
	require.Empty(t, New(allWords(), nil).Language())
}

// A verb is found with what stands between it and its object, whatever that is.
func TestAPartedVerbIsTheVerb(t *testing.T) {
	l := allWords()
	for text, want := range map[string]string{
		"截个屏": "截屏", "请了个假": "请假", "开一个会": "开会", "充了一次电": "充电", "退一下货": "退货", "打个折": "打折",
		"截屏": "", "截个": "", "个屏": "", "截个的": "",
	} {
		require.Equal(t, want, l.parted(text), text)
	}
	x := New(l, []keyword.Doc{{Name: "screenshot", Description: "Captures the screen."}, {Name: "list", Description: "Lists the files of a folder."}})
	require.Equal(t, []string{"screenshot"}, answers(t, x, "帮我截个屏", 1))
}

// What cannot be read is not evidence that nothing fits, in whatever language it is asked.
func TestARequestInAnotherLanguageIsNotRefusedForIt(t *testing.T) {
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
