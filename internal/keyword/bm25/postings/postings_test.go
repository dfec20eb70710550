// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package postings

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/names"
)

// Each limit on what is read of a document has a word just inside it and one just
// beyond it.
func TestNewSegment_Limits(t *testing.T) {
	pad := func(n int) string { return strings.Repeat(". ", n/2) + strings.Repeat(".", n%2) }
	params := func(n int, p keyword.Param) []keyword.Param {
		return append(slices.Repeat([]keyword.Param{{Name: "x"}}, n), p)
	}
	for name, limit := range map[string]struct {
		at  int
		doc func(n int) keyword.Doc // has "zebra" n bytes or elements from the start
	}{
		"name":        {maxNameBytes - 5, func(n int) keyword.Doc { return keyword.Doc{Name: pad(n) + "zebra"} }},
		"server":      {maxNameBytes - 5, func(n int) keyword.Doc { return keyword.Doc{Server: pad(n) + "zebra"} }},
		"description": {maxDescriptionBytes - 5, func(n int) keyword.Doc { return keyword.Doc{Description: pad(n) + "zebra"} }},
		"parameters":  {maxParams - 1, func(n int) keyword.Doc { return keyword.Doc{Params: params(n, keyword.Param{Name: "zebra"})} }},
		"parameter":   {maxNameBytes - 5, func(n int) keyword.Doc { return keyword.Doc{Params: params(0, keyword.Param{Name: pad(n) + "zebra"})} }},
		"of parameters": {maxParamBytes - 5, func(n int) keyword.Doc {
			return keyword.Doc{Params: params(0, keyword.Param{Description: pad(n) + "zebra"})}
		}},
		"values": {maxEnum - 1, func(n int) keyword.Doc {
			return keyword.Doc{Params: params(0, keyword.Param{Enum: append(slices.Repeat([]string{"x"}, n), "zebra")})}
		}},
		"value": {maxNameBytes - 5, func(n int) keyword.Doc {
			return keyword.Doc{Params: params(0, keyword.Param{Enum: []string{pad(n) + "zebra"}})}
		}},
		"word": {analysis.MaxWordBytes - 5, func(n int) keyword.Doc { return keyword.Doc{Description: strings.Repeat("z", n) + "zebra"} }},
	} {
		require.True(t, hasToken(viewOf(limit.doc(limit.at))), name)
		require.False(t, hasToken(viewOf(limit.doc(limit.at+1))), name)
	}
}

func hasToken(x *View) bool {
	return slices.ContainsFunc(textsOf(x), func(token string) bool { return strings.HasSuffix(token, "zebra") })
}

func TestFinder_ExpansionLimits(t *testing.T) {
	var names []keyword.Doc
	for i := range maxAffixes + 1 {
		names = append(names, keyword.Doc{Name: "mailbox" + "bcfghjkm"[i/8:i/8+1] + "bcfghjkm"[i%8:i%8+1]})
	}
	affixed := func(n int) int { return len(affixesOf(viewOf(names[:n]...), "mailbox")) }
	require.Equal(t, maxAffixes-1, affixed(maxAffixes-1))
	require.Equal(t, maxAffixes, affixed(maxAffixes))
	require.Equal(t, maxAffixes, affixed(maxAffixes+1))

	meant := indexOf("weathea", "weatheb", "weathec", "weathed")
	require.Len(t, correctionsOf(meant, "weather", make([]uint8, 4)), maxMeant)
	for _, c := range []struct {
		word, token string
		want        bool
	}{
		{"mai", "mail", false}, {"mial", "mail", true}, // minTyped
		{strings.Repeat("ab", 32), strings.Repeat("ab", 31) + "ax", true}, {strings.Repeat("ab", 32) + "a", strings.Repeat("ab", 32), false},
		{"mailbo", "mail", true}, {"mailboxpack", "mail", false}, // 4 of 11
		{"mailboxpac", "mail", true}, // 4 of 10 is minAffixRatio
		{"abc", "abcd", false}, {"abcd", "abc", true}, {"abcd", "ab", false},
		{"zest", "nest", true}, {"undo", "do", false},
	} {
		one := indexOf(c.token)
		got := correctionsOf(one, c.word, make([]uint8, 1))
		require.Equal(t, c.want, len(got) == 1, "%q for %q", c.token, c.word)
	}
	for _, c := range []struct {
		word, name string
		want       bool
	}{
		{"ma", "mail", false}, {"mai", "mail", true}, {"mail", "mai", true}, {"mail", "ma", false},
		{"abc", "abcdefg", true}, {"abc", "abcdefgh", false}, {"abcd", "abcdefghij", true}, // minAffixRatio
		{"mail", "mail", false}, {"deactivate", "activate", false}, {"reactivate", "activate", true},
	} {
		require.Equal(t, c.want, len(affixesOf(indexOf(c.name), c.word)) == 1, "%q in %q", c.word, c.name)
	}
}

func TestCounts_ArePackedByField(t *testing.T) {
	var c Counts
	for f := range fieldCount {
		for range int(f) * 10 {
			c = c.plus(f)
		}
	}
	for f := range fieldCount {
		require.Equal(t, min(int(f)*10, maxCount), c.in(f))
	}
}

func TestSplitServer_ReadsServerFromName(t *testing.T) {
	for _, c := range []struct{ name, server, wantServer, wantName string }{
		{"github__create_issue", "", "github", "create_issue"},
		{"mcp__github__create_issue", "", "github", "create_issue"},
		{"github__create_issue", "github", "github", "create_issue"},
		{"create_issue", "Git/Hub", "Git/Hub", "create_issue"},
		{"create_issue", "", "", "create_issue"},
		{"__x", "", "", "__x"},
		{"x__", "", "", "x__"},
	} {
		server, name := splitServer(&keyword.Doc{Name: c.name, Server: c.server})
		require.Equal(t, []string{c.wantServer, c.wantName}, []string{server, name}, "%q", c.name)
	}
}

func TestFinder_CorrectsTypos(t *testing.T) {
	texts := []string{"weather", "email", "send", "calendar", "invoic", "databas", "get", "whether"}
	typos := indexOf(texts...)
	for typed, want := range map[string]string{
		"wether": "weather", "emial": "email", "sned": "send", "calender": "calendar", "invioc": "invoic", "datbaas": "databas", "calend": "calendar",
	} {
		meant := correctionsOf(typos, typed, make([]uint8, len(texts)))
		require.NotEmpty(t, meant, typed)
		require.Equal(t, want, texts[meant[0].Token], typed)
	}
	shared := make([]uint8, len(texts))
	for _, strange := range []string{"", "gte", "zzzzzz", "天气天气", strings.Repeat("weather", 20)} {
		require.Empty(t, correctionsOf(typos, strange, shared), strange)
	}
	require.Equal(t, make([]uint8, len(texts)), shared)
}

// A different last letter of a short stem is no typing error but another word.
func TestFinder_KeepsLastLetterOfShortWords(t *testing.T) {
	for word, meant := range map[string]bool{"pari": false, "parx": false, "pasr": true, "parst": true} {
		x := indexOf("pars")
		require.Equal(t, meant, len(correctionsOf(x, word, make([]uint8, 1))) > 0, word)
	}
	x := indexOf("forecast")
	require.NotEmpty(t, correctionsOf(x, "forecasd", make([]uint8, 1)), "a long word has no other ending")
}

// affixesOf are the words of an index's names that begin or end like a word.
func affixesOf(x *View, word string) []Affix { return finderOf(x).AffixesOf(word) }

// correctionsOf are the tokens that a word may be meant to be. shared is the accumulator's.
func correctionsOf(x *View, word string, shared []uint8) []Correction {
	f := finderOf(x)
	f.shared = shared
	return f.CorrectionsOf(word)
}

func finderOf(x *View) *Finder { return &Finder{x: x} }

// indexOf is an index that has these tokens, all of them in names.
func indexOf(texts ...string) *View {
	s := &Segment{List: names.NewList(nil), tokens: newWordList(texts), words: newWordList(nil), nameWords: names.AllOf(len(texts))}
	s.forward, s.backward = newAffixes(s.tokens, s.nameWords)
	s.pairs = newPairs(texts)
	return NewView([]Part{{Segment: s}})
}

// viewOf is a view of one segment.
func viewOf(docs ...keyword.Doc) *View { return NewView([]Part{{Segment: NewSegment(docs)}}) }

// textsOf are those of the tokens of a view of one segment.
func textsOf(x *View) (tokens []string) {
	for id := range uint32(x.Tokens) {
		tokens = append(tokens, x.Text(id))
	}
	return tokens
}

func TestLimits_AreAsDocumented(t *testing.T) {
	require.Equal(t, []int{512, 16 << 10, 128, 2 << 10, 32, 64}, []int{maxNameBytes, maxDescriptionBytes, maxParams, maxParamBytes, maxEnum, analysis.MaxWordBytes})
	require.Equal(t, []int{3, 48, 4, 3, 3, 2}, []int{minAffix, maxAffixes, minTyped, maxMeant, spoiledPairs, minPairs})
	require.Equal(t, 31, maxCount)
}

func TestFinder_WordSimilarity(t *testing.T) {
	require.Equal(t, 0.5, affixRatio("abcdefgh", "abcd"))
	require.Zero(t, affixRatio("abcdefgh", "bcde"))
	require.Zero(t, affixRatio("abcdefghijk", "abcd"), "less than minAffixRatio")
	require.Equal(t, 0.4, affixRatio("abcd", "abcdefghij"))
	require.Zero(t, affixRatio("abcd", "abc"), "less than minTyped")
	require.InDelta(t, 1-1./7, typoCloseness("wether", "weather", 1), 1e-12)
	require.InDelta(t, .6*(1-1./7), typoCloseness("xeather", "weather", 1), 1e-12)
	require.Zero(t, typoCloseness("weather", "wxxther", 1))
	require.Equal(t, []string{"ab", "abc"}, startingWith([]string{"a", "ab", "abc", "b"}, "ab"))
	require.Empty(t, startingWith([]string{"a", "ab"}, "abc"))
	require.Equal(t, "cba", string(appendBackwards(nil, "abc")))
	for word, want := range map[string]bool{"undo do": true, "do undo": true, "redo do": false, "do do": false, "nonsense sense": true, "sense sensible": false} {
		a, b, _ := strings.Cut(word, " ")
		require.Equal(t, want, areOpposite(a, b), word)
	}
}

// However documents are split into segments, and whichever of them a view has, it reports the same of
// each token as one segment that has only these documents.
func TestView_EqualsOneSegmentOfItsDocuments(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	words := strings.Fields("send mail list files weather sendMail 天气 预报 due_date café x")
	text := func() (s string) {
		for range random.IntN(6) {
			s += words[random.IntN(len(words))] + " "
		}
		return s
	}
	for range 50 {
		var parts []Part
		var alone []keyword.Doc
		for range 1 + random.IntN(3) {
			docs, has := make([]keyword.Doc, random.IntN(6)), names.NewSet(6)
			for i := range docs {
				docs[i] = keyword.Doc{Name: text() + string(rune('a'+random.IntN(26))), Server: text(), Description: text(), Params: []keyword.Param{{Name: text(), Description: text()}}}
				if random.IntN(3) > 0 {
					has.Add(uint32(i))
					alone = append(alone, docs[i])
				}
			}
			parts = append(parts, Part{Segment: NewSegment(docs), Live: has})
		}
		x, want := NewView(parts), viewOf(alone...)
		require.Equal(t, want.Len(), x.Len())
		require.Equal(t, want.DescriptionWords(), x.DescriptionWords())
		require.Equal(t, want.Language(), x.Language())
		for _, token := range textsOf(want) {
			mine, ok := x.Find(token)
			require.True(t, ok, token)
			other, _ := want.Find(token)
			require.Equal(t, want.users(other), x.users(mine), token)
			require.Equal(t, want.IDF(other), x.IDF(mine), token)
		}
	}
}

func tokensOf(text string) (tokens []string) {
	return append(tokens, textsOf(viewOf(keyword.Doc{Description: text}))...)
}

func TestTokens_SplitsStemsAndFolds(t *testing.T) {
	for text, want := range map[string][]string{
		"":                     nil,
		" _-./!":               nil,
		"get_weather-forecast": {"get", "weather", "forecast"},
		"sending emails":       {"send", "email"},
		"HTTPServer":           {"http", "server", "httpserver"},
		"parseURL2JSON":        {"pars", "url2", "json", "parseurl2json"},
		"base64 s3":            {"base64", "s3"},
		"the user's file":      {"the", "user", "file"},
		"don’t":                {"don"},
		"'quoted'":             {"quot"},
		"naïve CAFÉ":           {"naiv", "cafe"},
		"ＡＢＣ①":                 {"abc1"},
		"天":                    {"天"},
		"查天气 now":              {"查", "天", "查天", "气", "天气", "now"},
		"PDF文件":                {"pdf", "文", "件", "文件"},
		"資料庫":                  {"资", "料", "资料", "库", "料库"},
		"データ":                  {"デ", "ー", "デー", "タ", "ータ"},
		"Straße":               {"strasse"},
		"приветы":              {"приветы"},
		"a\xffb":               {"a", "b"},
		strings.Repeat("x", analysis.MaxWordBytes+1) + " y": {"y"},
	} {
		require.Equal(t, want, tokensOf(text), "%q", text)
	}
}

func FuzzTokens(f *testing.F) {
	for _, text := range []string{"aB天气", "the user's files", "due_date é\u0301 ＡＢＣ", "a\xffb"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, token := range tokensOf(text) {
			require.NotEmpty(t, token)
			require.True(t, utf8.ValidString(token))
			require.LessOrEqual(t, len(token), 4*analysis.MaxWordBytes)
			require.NotContains(t, token, " ")
		}
	})
}

func TestNewSegment_BoundsPostings(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	huge := make([]byte, 1<<20)
	for i := range huge {
		huge[i] = byte(rng.IntN(256))
	}
	docs := []keyword.Doc{
		{Name: string(huge[:5000]), Description: string(huge)},
		{Name: "words", Description: strings.Repeat("a b c d e f g h ", 1<<16)},
		{Name: "one word", Description: strings.Repeat("x", 1<<20)},
		{Name: "dense", Description: strings.Repeat("天气预报", 1<<16)},
		{Name: "mail", Params: slices.Repeat([]keyword.Param{{Name: "p", Description: string(huge[:9000]), Enum: slices.Repeat([]string{"v"}, 1000)}}, 1000)},
		{},
	}
	require.Less(t, len(NewSegment(docs).posts), 40_000)
}
