// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestLanguageOf_DetectsLanguages(t *testing.T) {
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

func TestLexicon_SegmentsUnspacedText(t *testing.T) {
	l := allWords()
	for text, want := range map[string][]string{
		"查询天气预报":  {"查询", "天气预报"},
		"天气":      {"天气"},
		"删除文件夹里的": {"删除", "文件夹"},
		"鱻鱻":      nil,
		"最大公约数":   {"最大公约数"},
		"帮我看看天气":  {"天气"},
	} {
		require.Equal(t, want, segment(l, text), "%q", text)
	}
	long := strings.Repeat("天气", 2*maxSegmented)
	require.Len(t, segment(l, long), 2*maxSegmented)
	require.Empty(t, segment(l, ""))
}

func TestWordLists_AreWellFormed(t *testing.T) {
	all := allLists(t)
	require.Len(t, all, 12)
	for name, text := range all {
		first := make(map[string]bool)
		EachLine(text, func(fields []string) {
			seen := make(map[string]bool)
			for _, word := range fields {
				require.False(t, seen[word], "%s: %q twice in %q", name, word, fields)
				seen[word] = true
				require.True(t, name == "zh_hant.txt" || word == Normalize(word), "%s: %q", name, word)
				require.Equal(t, strings.ToLower(word), word, name)
			}
			if strings.HasPrefix(name, "stopwords") || name == "politeness_zh.txt" {
				require.Len(t, fields, 1, name)
			} else if name != "zh_hant.txt" {
				require.GreaterOrEqual(t, len(fields), 2, "%s: %q", name, fields)
			}
			if name == "zh_en.txt" || strings.HasPrefix(name, "stopwords") || name == "politeness_zh.txt" {
				require.False(t, first[fields[0]], "%s: two lines for %q", name, fields[0])
				first[fields[0]] = true
			}
			if name == "zh_en.txt" {
				EachRun(fields[0], func(r Run) { require.True(t, r.Unspaced && r.Text == fields[0], "%q", fields[0]) })
				require.True(t, IsASCII(strings.Join(fields[1:], "")), "%q", fields)
			}
		})
	}
}

// What a form or a word of the same meaning says, or another line, is not said again.
func TestRelatedWords_AreInNoOtherList(t *testing.T) {
	l, s, seen := allWords(), make(Stemmer), make(map[[2]string]bool)
	EachLine(allLists(t)["related_en.txt"], func(entry []string) {
		word := s.Stem(entry[0])
		for _, text := range entry[1:] {
			related := s.Stem(text)
			require.NotEqual(t, word, related, entry)
			require.NotContains(t, l.Forms(word), related, entry)
			require.NotContains(t, l.Equivalents(word), related, entry)
			require.False(t, seen[[2]string{word, related}], "twice: %q", entry)
			seen[[2]string{word, related}] = true
		}
	})
}

func TestPhrases_AreWellFormed(t *testing.T) {
	for first, phrases := range allWords().phrases {
		for _, p := range phrases {
			require.Equal(t, first, p.Words[0])
			require.GreaterOrEqual(t, len(p.Words), 2, "%q", p.Text)
			require.NotEmpty(t, p.Meanings, "%q", p.Text)
		}
	}
}

// The lines of the word lists, one of each form.
func TestLexicon_ReadsEachLineForm(t *testing.T) {
	s := make(Stemmer)
	list := make(map[string][]string)
	addEquivalents(list, s, []string{"delete", "removing", "erases"})
	require.Equal(t, map[string][]string{"delet": {"remov", "eras"}}, list, "the first word alone leads to the others")
	list = make(map[string][]string)
	addEquivalents(list, s, []string{"=", "delete", "removing", "erases", "removed"})
	require.Equal(t, map[string][]string{"delet": {"remov", "eras"}, "remov": {"delet", "eras"}, "eras": {"delet", "remov"}}, list)

	l := &Lexicon{meanings: make(map[string][][]string), chinese: make(map[string][]string),
		longest: make(map[rune]int), stop: map[string]bool{"the": true, "off": true, "on": true}}
	l.addTranslations(s, "天气", []string{"weather", "the+weather+reports", "climate"})
	l.addTranslations(s, "关", []string{"turn+off", "switch+off"})
	l.addTranslations(s, "在线中", []string{"on+line"})
	require.Equal(t, map[string][][]string{
		"天气": {{"weather", "climat"}, {"report"}}, "关": {{"turn", "switch"}, {"off"}}, "在线中": {{"on"}, {"line"}},
	}, l.meanings)
	require.Equal(t, map[string][]string{"weather": {"天气"}, "climat": {"天气"}}, l.chinese, "of words of two characters")
	require.Equal(t, map[rune]int{'天': 2, '关': 1, '在': 3}, l.longest)

	l = &Lexicon{phrases: make(map[string][]Phrase)}
	l.addPhrase(s, strings.Fields("setting ~ up = create arrange creating"))
	l.addPhrase(s, strings.Fields("set back + restore"))
	require.Equal(t, map[string][]Phrase{"set": {
		{Text: "set up", Words: []string{"set", "up"}, Meanings: []string{"creat", "arrang"}, Ignored: true, Open: true},
		{Text: "set back", Words: []string{"set", "back"}, Meanings: []string{"restor"}},
	}}, l.phrases)
}

// A run is cut into words of the lexicon at the least cost, in stretches of bounded
// length.
func TestLexicon_CutsRunAtLeastCost(t *testing.T) {
	words := func(all ...string) *Lexicon {
		l := &Lexicon{meanings: make(map[string][][]string), politeness: map[string]bool{"请": true},
			chinese: make(map[string][]string), longest: make(map[rune]int)}
		for _, word := range all {
			l.addTranslations(make(Stemmer), word, []string{"x"})
		}
		return l
	}
	for _, c := range []struct {
		lexicon string
		text    string
		want    string
	}{
		{"甲乙 乙丙 丙", "甲乙丙", "甲乙 丙"},
		{"甲乙 乙丙", "甲乙丙", "乙丙"}, // as many words as the other cut: the later one
		{"甲 乙 甲乙", "甲乙", "甲乙"},
		{"甲 乙 丙 甲乙丙", "甲乙丙", "甲乙丙"},
		{"甲", "乙甲丙", "甲"},
		{"甲乙丙丁", "甲乙丙", ""},
		{"甲乙", "请甲乙请", "甲乙"},
		{"甲乙", "", ""},
	} {
		l := words(strings.Fields(c.lexicon)...)
		require.Equal(t, c.want, strings.Join(segment(l, c.text), " "), "%s with %s", c.text, c.lexicon)
	}
	l := words("甲乙")
	require.Equal(t, 512, maxSegmented)
	odd := "丙" + strings.Repeat("甲乙", maxSegmented)
	require.Len(t, segment(l, odd), maxSegmented-2, "a word across two stretches is lost")
	require.Equal(t, []string{"", "甲", ""}, withoutPoliteness(l, "请甲请"))
}

// allLists are the texts of all lists by their names.
func allLists(t *testing.T) map[string]string {
	zhHant, err := os.ReadFile("zh_hant.txt")
	require.NoError(t, err)
	all := map[string]string{"stopwords_en.txt": stopWordsEnglish, "stopwords_zh.txt": stopWordsChinese, "zh_hant.txt": string(zhHant)}
	entries, err := fs.ReadDir(Lists(), ".")
	require.NoError(t, err)
	for _, entry := range entries {
		text, err := fs.ReadFile(Lists(), entry.Name())
		require.NoError(t, err)
		all[entry.Name()] = string(text)
	}
	return all
}

// segment is the words of the lexicon in a text.
func segment(l *Lexicon, text string) (words []string) {
	var s Segmenter
	s.CutRun(l, text)
	s.EachWord(func(word string) { words = append(words, word) })
	return words
}

// withoutPoliteness is the rest of a text.
func withoutPoliteness(l *Lexicon, text string) (parts []string) {
	var s Segmenter
	s.CutRun(l, text)
	s.EachRest(func(part string, _ int) { parts = append(parts, part) })
	return parts
}

func TestLexicon_RemovesPoliteness(t *testing.T) {
	l := allWords()
	for text, want := range map[string][]string{
		"天气":         {"天气"},
		"帮我查天气":      {"", "查天气"},
		"这个天气怎么样":    {"", "天气", ""},
		"怎么样":        {"", ""},
		"天气想要知道怎么样吗": {"天气", "", "", "吗"},
	} {
		require.Equal(t, want, withoutPoliteness(l, text), "%q", text)
	}
}

// A Chinese verb is recognized when other characters separate its two parts.
func TestLexicon_JoinsSeparatedVerbs(t *testing.T) {
	l := allWords()
	for text, want := range map[string]string{
		"截个屏": "截屏", "请了个假": "请假", "开一个会": "开会", "充了一次电": "充电", "退一下货": "退货", "打个折": "打折",
		"截屏": "", "截个": "", "个屏": "", "截个的": "",
	} {
		require.Equal(t, want, l.parted(text), text)
	}
}

// Any text of the words of the lists, and of their first characters, is cut into words of them that
// stand in it one after the other, and what is left of it is the text without its politeness.
func TestLexicon_SegmentsOnlyIntoWordsOfText(t *testing.T) {
	l := allWords()
	var known []string
	for word := range l.meanings {
		known = append(known, word)
	}
	for word := range l.politeness {
		known = append(known, word)
	}
	slices.Sort(known)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		text := ""
		for range random.IntN(12) {
			word := known[random.IntN(len(known))]
			if random.IntN(4) == 0 {
				_, size := utf8.DecodeRuneInString(word)
				word = word[:size]
			}
			text += word
		}
		t.Logf("seed %d: %q", seed, text)
		requireCut(t, l, text)
	}
}

func requireCut(t *testing.T, l *Lexicon, text string) {
	var s Segmenter
	s.CutRun(l, text)
	last := 0
	for _, at := range s.words {
		require.True(t, last <= at[0] && at[0] < at[1])
		require.True(t, l.isWord(s.word(at)))
		require.False(t, s.IsAcross(at[0], at[1]))
		last = at[1]
	}
	s.EachWord(func(word string) { require.NotNil(t, l.Meanings(word), word) })
	end := 0
	s.EachRest(func(part string, start int) {
		require.Equal(t, part, text[start:start+len(part)])
		require.True(t, start == end || l.politeness[text[end:start]], text[end:start])
		end = start + len(part)
	})
	require.Equal(t, len(text), end)
}

const German Language = "German"

// allWords are those of all lists.
var allWords = sync.OnceValue(func() *Lexicon { return ReadLexicon(Lists()) })
