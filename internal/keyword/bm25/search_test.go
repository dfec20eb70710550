// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

// toolbox is a small catalogue with something of everything.
var toolbox = []keyword.Doc{
	{Name: "time__convert_time_zone", Description: "Convert a time from one zone to another.", Params: []keyword.Param{{Name: "from_zone"}, {Name: "to_zone"}}},
	{Name: "time__current_time", Description: "Tell what time it is now in a place."},
	{Name: "text__count_words", Description: "Count the words, lines and characters of a text."},
	{Name: "text__to_upper_case", Description: "Write a text in capital letters."},
	{Name: "stats__standard_deviation", Description: "Standard deviation of a list of numbers."},
	{Name: "stats__median", Description: "Median of a list of numbers."},
	{Name: "codec__base64_encode", Description: "Encode bytes as base64."},
	{Name: "codec__sha256", Description: "Compute a checksum of some text.", Params: []keyword.Param{{Name: "input", Description: "What to digest"}}},
	{Name: "codec__gzip", Description: "Make data smaller and restore it.", Params: []keyword.Param{{Name: "level"}}},
	{Name: "web__parseURL", Description: "Take a web address apart into scheme, host and query."},
	{Name: "web__fetch_page", Description: "Get a page and return its content as markdown."},
	{Name: "regex__find_all", Description: "All matches of a regular expression."},
	{Name: "table__csv_to_json", Description: "Turn a CSV table into JSON objects."},
	{Name: "color__mix", Description: "Mix two colors.", Params: []keyword.Param{{Name: "space", Enum: []string{"rgb", "oklab"}}}},
	{Name: "unit__convert", Description: "Convert a quantity.", Params: []keyword.Param{{Name: "unit", Description: "Target, such as meters or ounces"}}},
	{Name: "files__delete_file", Description: "Delete a file for good."},
	{Name: "files__list_directory", Description: "What is in a directory."},
	{Name: "github__create_issue", Description: "Open a new issue in a repository."},
	{Name: "linear__create_issue", Description: "Open a new issue for a team."},
	{Name: "slack__post_message", Description: "Say something in a channel."},
	{Name: "mail__send", Description: "Send an email with attachments."},
	{Name: "weather__forecast", Description: "Temperature and rain for the next days."},
	{Name: "shop__order_status", Description: "Where an order is."},
	{Name: "bank__exchange_rate", Description: "What one currency is worth in another."},
	{Name: "x1", Server: "city", Description: "查询公交车和地铁的到站时间。"},
	{Name: "x2", Server: "city", Description: "查询附近的餐厅和菜单。"},
}

func answers(t testing.TB, x *Index, text string, limit int) (names []string) {
	hits, err := x.Search(context.Background(), text, limit)
	require.NoError(t, err)
	for _, h := range hits {
		names = append(names, x.Name(h.Doc))
	}
	return names
}

func TestSearch_FindsToolsByFreeText(t *testing.T) {
	x := New(allWords(), toolbox)
	for text, want := range map[string]string{
		"convert time zone":             "time__convert_time_zone",
		"timezone converter":            "time__convert_time_zone",
		"what is the time in Tokyo?":    "time__current_time",
		"counting words":                "text__count_words",
		"toUpperCase":                   "text__to_upper_case",
		"deviation of numbers":          "stats__standard_deviation",
		"stddev":                        "stats__standard_deviation",
		"base 64":                       "codec__base64_encode",
		"SHA-256 hash":                  "codec__sha256",
		"compress data":                 "codec__gzip",
		"parse url":                     "web__parseURL",
		"URL_PARSE":                     "web__parseURL",
		"regexp":                        "regex__find_all",
		"csv to json":                   "table__csv_to_json",
		"oklab":                         "color__mix",
		"ounces":                        "unit__convert",
		"remove a file":                 "files__delete_file",
		"dir listing":                   "files__list_directory",
		"linear ticket":                 "linear__create_issue",
		"slack":                         "slack__post_message",
		"sned emial":                    "mail__send",
		"ｗｅａｔｈｅｒ":                       "weather__forecast",
		"wether forcast":                "weather__forecast",
		"will it rain tomorrow":         "weather__forecast",
		"package tracking for my order": "shop__order_status",
		"forex":                         "bank__exchange_rate",
		"时区转换":                          "time__convert_time_zone",
		"現在幾點":                          "time__current_time",
		"帮我数一下这段文字有多少个单词":                    "text__count_words",
		"这组数字的中位数是多少":                        "stats__median",
		"计算文本的哈希值":                           "codec__sha256",
		"解析网址":                               "web__parseURL",
		"把csv转成json":                         "table__csv_to_json",
		"删除文件":                               "files__delete_file",
		"给客户发一封邮件":                           "mail__send",
		"明天会下雨吗":                             "weather__forecast",
		"美元兑人民币的汇率":                          "bank__exchange_rate",
		"地铁什么时候到站":                           "x1",
		"bus and subway":                     "x1",
		"nearby restaurants":                 "x2",
		"the median, please: 'weather mail'": "stats__median",
	} {
		got := answers(t, x, text, 1)
		require.Equal(t, []string{want}, got, "%q", text)
	}
}

func TestSearch_AnswersEveryClause(t *testing.T) {
	x := New(allWords(), toolbox)
	text := "I need the median of these numbers. Then send an email to Bob, and then delete the file notes.txt! What is the exchange rate?"
	require.ElementsMatch(t, []string{"stats__median", "mail__send", "files__delete_file", "bank__exchange_rate"},
		answers(t, x, text, 4))
}

func TestSearch_PlusRequiresWord(t *testing.T) {
	x := New(allWords(), toolbox)
	require.Equal(t, []string{"linear__create_issue"}, answers(t, x, "create issue +linear", 0))
	require.Equal(t, []string{"github__create_issue", "linear__create_issue"}, answers(t, x, "+create-issue github", 0))
	require.Equal(t, []string{"slack__post_message"}, answers(t, x, "issue repository ++slack", 0))
	require.Equal(t, []string{"mail__send"}, answers(t, x, "天气 +邮件", 0), "in another language")
	require.Equal(t, []string{"files__list_directory"}, answers(t, x, "file +direct", 0), "a beginning")
	require.Empty(t, answers(t, x, "issue +zebra", 0))
	require.NotEmpty(t, answers(t, x, "call +1555123 about the weather", 0), "a telephone number")
	nonlinear := New(allWords(), []keyword.Doc{{Name: "a", Description: "Solves nonlinear systems of linear"}, {Name: "b", Description: "nonlinear systems"}})
	require.Equal(t, []string{"a"}, answers(t, nonlinear, "+linear systems", 0), "not inside a word")
}

func TestSearch_ExactNameRanksFirst(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "get_prices"}, {Name: "get_price"}, {Name: "getPrice"}, {Name: "time"}, {Name: "set_time", Description: "Sets the time of the time server"}})
	for _, name := range []string{"get_prices", "get_price", "getPrice"} {
		require.Equal(t, []string{name}, answers(t, x, name, 1))
		require.Equal(t, []string{name}, answers(t, x, "call `"+name+"`, and set the time of the server", 1))
	}
	require.Equal(t, []string{"set_time"}, answers(t, x, "set time", 1), "a word is not a name")
}

func TestSearch_SpreadsEqualResultsOverServers(t *testing.T) {
	var docs []keyword.Doc
	for _, server := range []string{"a", "b", "c"} {
		for _, tool := range []string{"1", "2", "3", "4"} {
			docs = append(docs, keyword.Doc{Name: server + "__" + tool, Description: "Renders a chart"})
		}
	}
	x := New(allWords(), docs)
	require.Equal(t, []string{"a__1", "b__1", "c__1", "a__2", "b__2", "c__2"}, answers(t, x, "chart", 6))
}

func TestExplain_MatchesSearchScore(t *testing.T) {
	rng := newRand(t)
	check := func(x *Index, docs []keyword.Doc, text string) {
		hits, err := x.Search(context.Background(), text, 0)
		require.NoError(t, err)
		scores := make(map[int]float64)
		for _, h := range hits {
			scores[h.Doc] = h.Score
		}
		for i := range docs {
			e := x.Explain(text, i)
			require.Equal(t, scores[i], e.Score, "%q: %s", text, e)
			product := 0.0
			for _, term := range e.Terms {
				product += term.Score
			}
			for _, f := range e.Factors {
				product *= f.Value
			}
			require.InEpsilon(t, 1+scores[i], 1+product, 1e-6, "%q: %s", text, e)
		}
	}
	x := New(allWords(), toolbox)
	for _, text := range []string{"convert time", "send an email to Bob. Then delete the file!", "issue +linear", "时区转换 and weather", ""} {
		check(x, toolbox, text)
	}
	for range 30 {
		docs := randomDocs(rng, rng.IntN(20))
		x := New(allWords(), docs)
		for range 10 {
			check(x, docs, randomQuery(rng, docs)+[]string{"", ". ", "; then "}[rng.IntN(3)]+randomQuery(rng, docs))
		}
	}
	text := x.Explain("+posting a msg. Then convert the time zone", 19).String()
	for _, part := range []string{"slack__post_message", `+"posting"`, `name form of "messag"`, "words of its name", "answers a clause of the query"} {
		require.Contains(t, text, part)
	}
}

func TestSearch_IgnoresDocumentOrder(t *testing.T) {
	rng := newRand(t)
	ask := func(docs []keyword.Doc, text string) (names []string, bits []uint64) {
		x := New(allWords(), docs)
		hits, err := x.Search(context.Background(), text, 0)
		require.NoError(t, err)
		for _, h := range hits {
			names = append(names, x.Name(h.Doc))
			bits = append(bits, math.Float64bits(h.Score))
		}
		return names, bits
	}
	for range 50 {
		docs := append(randomDocs(rng, 10), toolbox...)
		text := randomQuery(rng, docs) + " convert file 天气. Then send mail"
		names, bits := ask(docs, text)
		rng.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		again, againBits := ask(docs, text)
		require.Equal(t, names, again)
		require.Equal(t, bits, againBits)
	}
}

func TestSearch_RunsConcurrently(t *testing.T) {
	x := New(allWords(), toolbox)
	texts := []string{"convert time", "sned emial", "删除文件. and then mail", "+linear issue", strings.Repeat("zebra mail ", 50)}
	want := make([][]keyword.Hit, len(texts))
	for i, text := range texts {
		want[i], _ = x.Search(context.Background(), text, 0)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				for i, text := range texts {
					got, err := x.Search(context.Background(), text, 0)
					if err != nil || !slices.Equal(want[i], got) {
						t.Errorf("%q: %v, %v", text, got, err)
					}
					x.Explain(text, i)
				}
			}
		})
	}
	group.Wait()
}

func FuzzSearch(f *testing.F) {
	f.Add("get_weather", "Weather of a city", "sendMail", "Sends +mail\xff 天气", "weather. Then +a mail", 2)
	f.Add("a__b", "", "mcp__x__y", "「引用」 'q'", "+天气 ++x http://a.b/c +", 0)
	f.Fuzz(func(t *testing.T, nameA, proseA, nameB, proseB, text string, limit int) {
		docs := []keyword.Doc{
			{Name: nameA, Description: proseA, Params: []keyword.Param{{Name: proseB, Enum: []string{nameB}}}},
			{Name: nameB, Description: proseB, Server: nameA},
		}
		x := New(allWords(), docs)
		hits, err := x.Search(context.Background(), text, limit)
		require.NoError(t, err)
		require.True(t, limit <= 0 || len(hits) <= limit)
		seen := make(map[int]bool)
		for _, h := range hits {
			require.False(t, seen[h.Doc], "twice")
			seen[h.Doc] = true
			require.True(t, h.Score > 0 && !math.IsInf(h.Score, 0))
			require.Equal(t, h.Score, x.Explain(text, h.Doc).Score)
		}
		again, err := x.Search(context.Background(), text, limit)
		require.NoError(t, err)
		require.Equal(t, hits, again)
	})
}

func TestSearch_BoundsWork(t *testing.T) {
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
	x := New(allWords(), docs)
	for _, text := range []string{
		string(huge), strings.Repeat("mail ", 30_000), strings.Repeat("天气预报", 10_000), strings.Repeat("+mail ", 20_000), manyWords(20_000),
		strings.Repeat("time zone ", 10_000), strings.Repeat("'", 100_000), strings.Repeat("\"a", 50_000), strings.Repeat("+", 100_000), strings.Repeat("a. ", 40_000),
	} {
		r := parsed(x, text)
		require.LessOrEqual(t, len(r.terms), maxTerms)
		require.LessOrEqual(t, len(r.clauses), maxClauses)
		require.LessOrEqual(t, len(r.required), maxRequired)
		for _, w := range r.terms {
			require.Less(t, len(w.expansions), 200)
		}
		_, err := x.Search(context.Background(), text, 5)
		require.NoError(t, err)
	}
	for _, text := range []string{"", " ", "+", "?!,.", "\xff\xfe", "的", "the", "'", "a"} {
		answers(t, x, text, 0)
		answers(t, New(allWords(), nil), text, 3)
	}
	require.Equal(t, []string{"get_the"}, answers(t, New(allWords(), []keyword.Doc{{Name: "get_the"}, {Name: "a"}}), "the", 0), "only stop words")
}

func TestSearch_StopsWhenContextIsCanceled(t *testing.T) {
	x := New(allWords(), toolbox)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := x.Search(ctx, "mail. Then send weather", 0)
	require.ErrorIs(t, err, context.Canceled)
	require.NotEmpty(t, answers(t, x, "mail", 0), "the next search starts afresh")
}

func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// atoms are the clauses of random names, descriptions and queries.
var atoms = []string{
	"a", "A", "b", "ab", "aB", "Ab", "AB", "abc", "get", "Get", "GET", "set", "tweet", "weather", "Weather", "api", "API",
	"_", "__", "___", "-", ".", "+", "++", "1", "42", "İ", "ı", "I", "i", "ſ", "K", "ß", "ẞ", "ǅ", "ǆ", "é", "É", "e\u0301",
	"天", "天气", "查询", "カ", "한", "\xff", "\xe4\xbd", "\xed\xa0\x80", "\ufffd", "\u00a0", "\u0085", "\u3000", "\u200b",
	" ", "  ", "\t", "\n", "😀", "\U00010400", "\U00010428", "Σ", "ς", "σ", "\x00", "\"", "<", "&",
}

func randomText(rng *rand.Rand, most int) string {
	var b strings.Builder
	for range rng.IntN(most + 1) {
		b.WriteString(atoms[rng.IntN(len(atoms))])
	}
	return b.String()
}

// randomDocs have distinct names.
func randomDocs(rng *rand.Rand, n int) []keyword.Doc {
	var docs []keyword.Doc
	taken := make(map[string]bool)
	for len(docs) < n {
		d := keyword.Doc{Name: randomText(rng, 8), Description: randomText(rng, 20)}
		if !taken[d.Name] {
			taken[d.Name] = true
			docs = append(docs, d)
		}
	}
	return docs
}

// randomQuery takes its words from the atoms and from clauses of the documents, in
// both cases.
func randomQuery(rng *rand.Rand, docs []keyword.Doc) string {
	var words []string
	for range rng.IntN(6) {
		word := randomText(rng, 3)
		if rng.IntN(2) == 0 && len(docs) > 0 {
			d := docs[rng.IntN(len(docs))]
			text := []string{d.Name, d.Description}[rng.IntN(2)]
			from := rng.IntN(len(text) + 1)
			word = text[from : from+rng.IntN(len(text)-from+1)]
		}
		switch rng.IntN(6) {
		case 0:
			word = "+" + word
		case 1:
			word = strings.ToUpper(word)
		case 2:
			word = word + " " + word
		}
		words = append(words, word)
	}
	return strings.Join(words, []string{" ", "\t", "\u3000"}[rng.IntN(3)])
}
