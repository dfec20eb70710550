// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/operations"
)

func confidenceOf(t *testing.T, x *Index, text string) float64 {
	hits, err := x.Search(context.Background(), text, 1)
	require.NoError(t, err)
	if len(hits) == 0 {
		return 0
	}
	return hits[0].Confidence
}

// Three tools are enough to tell requests that they serve from others.
func TestConfidence_ThreeToolsSuffice(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "send_mail", Description: "Sends an e-mail to one or more people."},
		{Name: "list_issues", Description: "Lists the open issues of a repository."},
		{Name: "get_weather", Description: "Returns the weather of a city for the coming days."},
	})
	for _, text := range []string{"weather", "send an email to Ana", "what issues are open?", "明天的天气怎么样", "给张三发一封邮件", "weather in Paris"} {
		require.Greater(t, confidenceOf(t, x, text), .5, text)
	}
	for _, text := range []string{
		"brew an espresso", "play some music for me", "book a flight to Rome and return on Monday", "帮我订一张去北京的火车票", "播放一首歌",
	} {
		require.Less(t, confidenceOf(t, x, text), .35, text)
	}
}

func TestConfidence_InvariantsHold(t *testing.T) {
	rng := newRand(t)
	for range 200 {
		docs := randomDocs(rng, 1+rng.IntN(20))
		x := New(allWords(), docs)
		query := randomQuery(rng, docs)
		hits, err := x.Search(context.Background(), query, 0)
		require.NoError(t, err)
		for i, a := range hits {
			require.GreaterOrEqual(t, a.Confidence, 0.0)
			require.LessOrEqual(t, a.Confidence, 1.0)
			require.Greater(t, a.Evidence, 0.0)
			for _, b := range hits[:i] {
				if a.Evidence > b.Evidence && b.Confidence < 1 {
					require.GreaterOrEqual(t, a.Confidence, b.Confidence, query)
				}
			}
		}
		top, err := x.Search(context.Background(), query, 1)
		require.NoError(t, err)
		if len(top) > 0 {
			require.Contains(t, hits, top[0], "a limit changes no confidence")
		}
	}
}

func TestConfidence_NamedToolIsCertain(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "send_mail", Description: "Sends."}, {Name: "send_parcel", Description: "Sends."}})
	hits, err := x.Search(context.Background(), "please call send_parcel", 0)
	require.NoError(t, err)
	require.Equal(t, 1, hits[0].Doc)
	require.InDelta(t, 1, hits[0].Confidence, 0)
	require.Less(t, hits[1].Confidence, 1.0)
}

// desk is a catalogue of an office, none of whose tools are for music or servers.
func desk() *Index {
	return New(allWords(), []keyword.Doc{
		{Name: "book_appointment", Description: "Books an appointment with a doctor."},
		{Name: "cancel_appointment", Description: "Cancels an appointment that was booked."},
		{Name: "list_events", Description: "Lists the events of a calendar."},
		{Name: "get_key", Description: "Returns the value of a setting."},
		{Name: "send_mail", Description: "Sends an e-mail to one or more people."},
		{Name: "search_notes", Description: "Finds notes by their text."},
	})
}

func odds(p float64) float64 { return p / (1 - p) }

// Dates, numbers, names and small talk do not lower the confidence of a tool.
func TestConfidence_IgnoresValuesAndSmallTalk(t *testing.T) {
	x := desk()
	for plain, text := range map[string]string{
		"cancel my appointment": "Hello, can you please cancel my appointment on March 14th 2023 at 10:30 am with Quentin Abernathy?",
		"send an email":         "First I would like you to send an email to Zebulon Ferris today",
		"发一封邮件":                 "明天给 Zhang 发一封邮件",
	} {
		require.Greater(t, confidenceOf(t, x, text), confidenceOf(t, x, plain)-.25, text)
	}
}

// Quotes around a whole query do not make it a value.
func TestConfidence_QuotedQueryEqualsPlainQuery(t *testing.T) {
	x := desk()
	plain := "Which appointments does my calendar have next week? Also, send a mail to my doctor"
	for _, quoted := range []string{`"` + plain + `"`, "  “" + plain + "”\n", "「" + plain + "」"} {
		require.InDelta(t, confidenceOf(t, x, plain), confidenceOf(t, x, quoted), 1e-9, quoted)
	}
	require.NotEqual(t, confidenceOf(t, x, `notes`), confidenceOf(t, x, `search "notes"`))
}

// "Look for" counts as little as "find".
func TestConfidence_PhraseCountsLikeItsMeaning(t *testing.T) {
	x := desk()
	require.InDelta(t, confidenceOf(t, x, "find an appointment"), confidenceOf(t, x, "look for an appointment"), .1)
	require.InDelta(t, confidenceOf(t, x, "the current appointment"), confidenceOf(t, x, "the appointment right now"), .1)
}

// A query that names a server raises the confidence of its tools.
func TestConfidence_NamedServerIsEvidence(t *testing.T) {
	docs := []keyword.Doc{
		{Name: "set_priority", Server: "linear-app", Description: "Sets the priority of an issue."},
		{Name: "list_events", Server: "calendar", Description: "Lists the events of an application."},
	}
	named := confidenceOf(t, New(allWords(), docs), "linear app priority umbrella")
	docs[0].Server = ""
	docs[0].Description += " Linear app."
	require.Greater(t, odds(named), 2*odds(confidenceOf(t, New(allWords(), docs), "linear app priority umbrella")))
}

// A long description matches words of any request by chance.
func TestConfidence_LowerForLongDescriptions(t *testing.T) {
	long := []keyword.Doc{{Name: "a", Description: "Merges parcels."}, {Name: "b", Description: "Other."}}
	for i := range long {
		long[i].Description += strings.Repeat(" This talks of what else there is to say.", 20)
	}
	for text, docs := range map[string][]keyword.Doc{"terse": {{Name: "merge_parcels"}, {Name: "b"}}, "long": long} {
		x := New(allWords(), docs)
		hits, err := x.Search(context.Background(), "merge parcels and kites", 1)
		require.NoError(t, err)
		other := calibration
		other.Length = 0
		odd, even := odds(hits[0].Confidence), odds(other.Of(hits[0].Evidence, 2, 0))
		require.InDelta(t, calibration.Length*math.Log1p(x.DescriptionWords()), math.Log(odd/even), 1e-9, text)
	}
}

// A word that no tool has, and that is not a value, is evidence that the query is about something else.
func TestConfidence_FallsForUnknownWords(t *testing.T) {
	x := desk()
	for plain, text := range map[string]string{
		"list events":  "list kubernetes events",
		"get the key":  "redis get key",
		"search notes": "search airtable notes",
		"邮件":           "音乐邮件",
	} {
		require.Less(t, odds(confidenceOf(t, x, text)), odds(confidenceOf(t, x, plain))/4, text)
	}
}

// A verb that most tools share counts less than a rare one.
func TestConfidence_CommonVerbsCountLittle(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "get", Description: "x"}, {Name: "merge", Description: "x"}, {Name: "other", Description: "y"}})
	require.Less(t, confidenceOf(t, x, "get parcel"), confidenceOf(t, x, "merge parcel"))
}

// A tool for another operation on the same objects is unlikely to be the one that is meant.
func TestConfidence_FallsForMissingCommonVerb(t *testing.T) {
	x := desk()
	for plain, text := range map[string]string{"the events": "delete the events", "notes": "delete notes"} {
		require.Less(t, odds(confidenceOf(t, x, text)), odds(confidenceOf(t, x, plain))/10, text)
	}
}

// Who asks to delete or to read something is hardly served by a tool that does something else with it.
func TestConfidence_FallsForAnotherOperation(t *testing.T) {
	docs := func(verb string) []keyword.Doc {
		return []keyword.Doc{{Name: "channel_" + verb, Description: "A channel of the team chat."}, {Name: "other", Description: "x"}}
	}
	for text, verbs := range map[string][2]string{
		"delete the channel of the team chat": {"purge", "post"},
		"删掉团队聊天的频道":                           {"purge", "post"},
		"show the channel of the team chat":   {"peek", "purge"},
	} {
		same, other := New(allWords(), docs(verbs[0])), New(allWords(), docs(verbs[1]))
		require.Greater(t, odds(confidenceOf(t, same, text)), 2*odds(confidenceOf(t, other, text)), text)
	}
	require.InDelta(t, 1, operationFactor(operations.Unknown, operations.Delete), 0)
	require.InDelta(t, 1, operationFactor(operations.Delete, operations.Unknown), 0)
}

// Several words that no tool has in any language count once.
func TestConfidence_ForeignWordsCountOnce(t *testing.T) {
	q := func(text string) float64 { return parsed(desk(), text).foreign }
	require.Positive(t, q("音乐邮件"))
	require.InDelta(t, q("音乐邮件"), q("音乐歌曲邮件"), 1e-9)
	require.Zero(t, q("邮件"))
}

// A word that matches by another form counts, although no tool has it as it is written.
func TestConfidence_OtherWordFormSuffices(t *testing.T) {
	require.Greater(t, confidenceOf(t, desk(), "email"), .9)
}

// If the tools are described in another language, characters that form no word cost little, and words
// that no tool has cost much. If the tools are Chinese, characters that none of them has cost much.
func TestConfidence_UnknownCharactersCostByLanguage(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "chaKuaidi", Description: "查询快递的物流信息"}, {Name: "dingPiao", Description: "预订火车票"},
		{Name: "tianqi", Description: "查看一个城市的天气预报"}, {Name: "yinyue", Description: "播放音乐和歌曲"},
	})
	english := New(allWords(), []keyword.Doc{{Name: "a", Description: "Returns the weather of a city."}, {Name: "b", Description: "Plays the songs of an album."}})
	require.Equal(t, analysis.Chinese, x.Language())
	require.Equal(t, analysis.English, english.Language())
	require.Greater(t, odds(confidenceOf(t, english, "霁霭天气")), odds(confidenceOf(t, english, "天气"))*.5)
	require.Less(t, odds(confidenceOf(t, x, "霁霭天气")), odds(confidenceOf(t, x, "天气"))*.9)
	require.Less(t, odds(confidenceOf(t, desk(), "音乐邮件")), odds(confidenceOf(t, desk(), "邮件"))/50)
}

// Two adjacent characters of different words are no word: it costs nothing if no tool has them.
func TestParse_MarksPairsAcrossWords(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "chaKuaidi", Description: "查询快递的物流信息"}, {Name: "dingPiao", Description: "预订火车票"},
		{Name: "tianqi", Description: "查看一个城市的天气预报"}, {Name: "yinyue", Description: "播放音乐和歌曲"},
	})
	acc := x.accumulator()
	defer acc.release()
	says := map[string]significance{}
	for _, w := range acc.parser.parse("天气音乐预报").terms {
		says[w.text] = w.significance
	}
	require.Equal(t, acrossWords, says["气音"])
	require.Equal(t, acrossWords, says["乐预"])
	for _, word := range []string{"天气", "音乐", "预报"} {
		require.Equal(t, ownPair, says[word], word)
	}
}

// Words that are only related count less for the confidence than for the score.
func TestMatchOf_RelatedWordsCountLessThanTheyScore(t *testing.T) {
	for _, c := range []struct {
		text, word, relation string
		less                 bool
	}{
		{"weather", "weather", "equals", false},
		{"wether", "weather", "looks like", false},
		{"purge", "discard", "synonym of", true},
		{"sql", "database", "related to", true},
		{"天气", "weather", "translation of", true},
		{"webhook", "web hook", "part of", true},
	} {
		x := New(allWords(), []keyword.Doc{{Name: "x", Description: c.word}, {Name: "y", Description: "other"}})
		acc := x.accumulator()
		q := acc.parser.parse(c.text)
		w := &q.terms[len(q.terms)-1]
		says, _, _ := acc.matchOf(w, x.Ordinal(0))
		scores, _ := acc.explainTerm(w, x.Ordinal(0))
		require.NotEmpty(t, scores.Matches, c.text)
		require.Equal(t, c.relation, scores.Matches[0].Relation, c.text)
		require.Equal(t, c.less, says < scores.Score, c.text)
		acc.release()
	}
}

func TestParse_CapitalizedWordIsProperName(t *testing.T) {
	x := desk()
	acc := x.accumulator()
	defer acc.release()
	for text, want := range map[string]significance{
		"please ask Quentin about it": properName, "Quentin is ill": unknownWord, "Is it Quentin Or Abel Or Ann": unknownWord,
		"please ask quentin about it": unknownWord, "please ask about SQL": unknownWord, "well. Quentin is ill": unknownWord,
	} {
		q := acc.parser.parse(text)
		for _, w := range q.terms {
			if w.text == "quentin" || w.text == "sql" {
				require.Equal(t, want, w.significance, text)
			}
		}
		acc.parser.forget()
	}
}

// Who says the same in two languages says it once.
func TestConfidence_DoesNotRiseByMixingLanguages(t *testing.T) {
	for _, x := range []*Index{desk(), New(allWords(), toolbox)} {
		for english, chinese := range map[string]string{
			"weather forecast": "天气预报", "send email": "发邮件", "book flight ticket": "订机票 航班", "delete file": "删除文件",
			"exchange rate": "汇率", "play music": "播放音乐", "calendar events": "日历 事件", "create issue": "新建 issue",
		} {
			alone := max(confidenceOf(t, x, english), confidenceOf(t, x, chinese))
			require.LessOrEqual(t, confidenceOf(t, x, english+" "+chinese), alone+.05, english)
		}
	}
}

// Any text shares some characters.
func TestSearch_CharactersOfWordsCarryNoMatch(t *testing.T) {
	docs := slices.Concat(toolbox[:20], []keyword.Doc{{Name: "isbn", Description: "校验书号，适合修订本与机打票据。"}})
	x := New(allWords(), docs)
	require.NotContains(t, answers(t, x, "订机票", 0), "isbn")
	require.NotContains(t, answers(t, x, "book flight ticket 订机票 航班", 0), "isbn")
	require.Contains(t, answers(t, x, "书号", 0), "isbn")
	require.Contains(t, answers(t, x, "票", 0), "isbn")
}
