// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// toolbox is a small catalogue with something of everything.
var toolbox = []Doc{
	{Name: "time__convert_time_zone", Description: "Convert a time from one zone to another.", Params: []Param{{Name: "from_zone"}, {Name: "to_zone"}}},
	{Name: "time__current_time", Description: "Tell what time it is now in a place."},
	{Name: "text__count_words", Description: "Count the words, lines and characters of a text."},
	{Name: "text__to_upper_case", Description: "Write a text in capital letters."},
	{Name: "stats__standard_deviation", Description: "Standard deviation of a list of numbers."},
	{Name: "stats__median", Description: "Median of a list of numbers."},
	{Name: "codec__base64_encode", Description: "Encode bytes as base64."},
	{Name: "codec__sha256", Description: "Compute a checksum of some text.", Params: []Param{{Name: "input", Description: "What to digest"}}},
	{Name: "codec__gzip", Description: "Make data smaller and restore it.", Params: []Param{{Name: "level"}}},
	{Name: "web__parseURL", Description: "Take a web address apart into scheme, host and query."},
	{Name: "web__fetch_page", Description: "Get a page and return its content as markdown."},
	{Name: "regex__find_all", Description: "All matches of a regular expression."},
	{Name: "table__csv_to_json", Description: "Turn a CSV table into JSON objects."},
	{Name: "color__mix", Description: "Mix two colors.", Params: []Param{{Name: "space", Enum: []string{"rgb", "oklab"}}}},
	{Name: "unit__convert", Description: "Convert a quantity.", Params: []Param{{Name: "unit", Description: "Target, such as meters or ounces"}}},
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

func answers(t testing.TB, x *BM25, text string, o Options) (names []string) {
	hits, err := x.Search(context.Background(), text, o)
	require.NoError(t, err)
	for _, h := range hits {
		names = append(names, x.Name(h.Doc))
	}
	return names
}

func TestBM25UnderstandsWhatPeopleAndModelsWrite(t *testing.T) {
	x := NewBM25(toolbox)
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
		got := answers(t, x, text, Options{Limit: 1})
		require.Equal(t, []string{want}, got, "%q", text)
	}
}

func TestBM25AnswersEveryPartOfARequest(t *testing.T) {
	x := NewBM25(toolbox)
	text := "I need the median of these numbers. Then send an email to Bob, and then delete the file notes.txt! What is the exchange rate?"
	require.ElementsMatch(t, []string{"stats__median", "mail__send", "files__delete_file", "bank__exchange_rate"},
		answers(t, x, text, Options{Limit: 4}))
}

func TestBM25RequiresWhatHasAPlus(t *testing.T) {
	x := NewBM25(toolbox)
	require.Equal(t, []string{"linear__create_issue"}, answers(t, x, "create issue +linear", Options{}))
	require.Equal(t, []string{"github__create_issue", "linear__create_issue"}, answers(t, x, "+create-issue github", Options{}))
	require.Equal(t, []string{"slack__post_message"}, answers(t, x, "issue repository ++slack", Options{}))
	require.Equal(t, []string{"mail__send"}, answers(t, x, "天气 +邮件", Options{}), "in another language")
	require.Equal(t, []string{"files__list_directory"}, answers(t, x, "file +direct", Options{}), "a beginning")
	require.Empty(t, answers(t, x, "issue +zebra", Options{}))
	require.NotEmpty(t, answers(t, x, "call +1555123 about the weather", Options{}), "a telephone number")
	nonlinear := NewBM25([]Doc{{Name: "a", Description: "Solves nonlinear systems of linear"}, {Name: "b", Description: "nonlinear systems"}})
	require.Equal(t, []string{"a"}, answers(t, nonlinear, "+linear systems", Options{}), "not inside a word")
}

func TestBM25PutsFirstWhatIsCalledByItsName(t *testing.T) {
	x := NewBM25([]Doc{{Name: "get_prices"}, {Name: "get_price"}, {Name: "getPrice"}, {Name: "time"}, {Name: "set_time", Description: "Sets the time of the time server"}})
	for _, name := range []string{"get_prices", "get_price", "getPrice"} {
		require.Equal(t, []string{name}, answers(t, x, name, Options{Limit: 1}))
		require.Equal(t, []string{name}, answers(t, x, "call `"+name+"`, and set the time of the server", Options{Limit: 1}))
	}
	require.Equal(t, []string{"set_time"}, answers(t, x, "set time", Options{Limit: 1}), "a word is not a name")
}

func TestBM25SpreadsEqualAnswersOverServers(t *testing.T) {
	var docs []Doc
	for _, server := range []string{"a", "b", "c"} {
		for _, tool := range []string{"1", "2", "3", "4"} {
			docs = append(docs, Doc{Name: server + "__" + tool, Description: "Renders a chart"})
		}
	}
	x := NewBM25(docs)
	require.Equal(t, []string{"a__1", "b__1", "c__1", "a__2", "b__2", "c__2"}, answers(t, x, "chart", Options{Limit: 6}))
}

func TestBM25ExplainsTheScoreItGives(t *testing.T) {
	rng := newRand(t)
	check := func(x *BM25, docs []Doc, text string) {
		hits, err := x.Search(context.Background(), text, Options{})
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
	x := NewBM25(toolbox)
	for _, text := range []string{"convert time", "send an email to Bob. Then delete the file!", "issue +linear", "时区转换 and weather", ""} {
		check(x, toolbox, text)
	}
	for range 30 {
		docs := randomDocs(rng, rng.IntN(20))
		x := NewBM25(docs)
		for range 10 {
			check(x, docs, randomQuery(rng, docs)+[]string{"", ". ", "; then "}[rng.IntN(3)]+randomQuery(rng, docs))
		}
	}
	text := x.Explain("+posting a msg. Then convert the time zone", 19).String()
	for _, part := range []string{"slack__post_message", `+"post"`, `name form of "messag"`, "words of its name", "answers a piece of the request"} {
		require.Contains(t, text, part)
	}
}

func TestBM25DoesNotDependOnTheOrderOfTheDocuments(t *testing.T) {
	rng := newRand(t)
	ask := func(docs []Doc, text string) (names []string, bits []uint64) {
		x := NewBM25(docs)
		hits, err := x.Search(context.Background(), text, Options{})
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

func TestBM25SearchesRunConcurrently(t *testing.T) {
	x := NewBM25(toolbox)
	texts := []string{"convert time", "sned emial", "删除文件. and then mail", "+linear issue", strings.Repeat("zebra mail ", 50)}
	want := make([][]Hit, len(texts))
	for i, text := range texts {
		want[i], _ = x.Search(context.Background(), text, Options{})
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				for i, text := range texts {
					got, err := x.Search(context.Background(), text, Options{})
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

func TestBM25UnmatchedWords(t *testing.T) {
	x := NewBM25(toolbox)
	require.Equal(t, []string{"qwertz", "Zyxwv"}, x.Unmatched("send the qwertz mail to Zyxwv qwertz"))
	require.Equal(t, []string{"鲸鱼"}, x.Unmatched("鲸鱼 天气"))
	require.Empty(t, x.Unmatched("the and of"))
}

func FuzzBM25(f *testing.F) {
	f.Add("get_weather", "Weather of a city", "sendMail", "Sends +mail\xff 天气", "weather. Then +a mail", 2)
	f.Add("a__b", "", "mcp__x__y", "「引用」 'q'", "+天气 ++x http://a.b/c +", 0)
	f.Fuzz(func(t *testing.T, nameA, proseA, nameB, proseB, text string, limit int) {
		docs := []Doc{
			{Name: nameA, Description: proseA, Params: []Param{{Name: proseB, Enum: []string{nameB}}}},
			{Name: nameB, Description: proseB, Server: nameA},
		}
		x := NewBM25(docs)
		hits, err := x.Search(context.Background(), text, Options{Limit: limit})
		require.NoError(t, err)
		require.True(t, limit <= 0 || len(hits) <= limit)
		seen := make(map[int]bool)
		for _, h := range hits {
			require.False(t, seen[h.Doc], "twice")
			seen[h.Doc] = true
			require.True(t, h.Score > 0 && !math.IsInf(h.Score, 0))
			require.Equal(t, h.Score, x.Explain(text, h.Doc).Score)
		}
		again, err := x.Search(context.Background(), text, Options{Limit: limit})
		require.NoError(t, err)
		require.Equal(t, hits, again)
	})
}

func TestBM25WorkIsBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	huge := make([]byte, 1<<20)
	for i := range huge {
		huge[i] = byte(rng.IntN(256))
	}
	docs := []Doc{
		{Name: string(huge[:5000]), Description: string(huge)},
		{Name: "words", Description: strings.Repeat("a b c d e f g h ", 1<<16)},
		{Name: "one word", Description: strings.Repeat("x", 1<<20)},
		{Name: "dense", Description: strings.Repeat("天气预报", 1<<16)},
		{Name: "mail", Params: slices.Repeat([]Param{{Name: "p", Description: string(huge[:9000]), Enum: slices.Repeat([]string{"v"}, 1000)}}, 1000)},
		{},
	}
	x := NewBM25(docs)
	require.Less(t, len(x.posts), 40_000)
	for _, text := range []string{
		string(huge), strings.Repeat("mail ", 30_000), strings.Repeat("天气预报", 10_000), strings.Repeat("+mail ", 20_000), manyWords(20_000),
		strings.Repeat("time zone ", 10_000), strings.Repeat("'", 100_000), strings.Repeat("\"a", 50_000), strings.Repeat("+", 100_000), strings.Repeat("a. ", 40_000),
	} {
		r := x.read(text, make([]uint8, len(x.texts)))
		require.LessOrEqual(t, len(r.wants), maxTerms)
		require.LessOrEqual(t, len(r.pieces), maxPieces)
		require.LessOrEqual(t, len(r.required), maxRequired)
		for _, w := range r.wants {
			require.Less(t, len(w.matches), 200)
		}
		_, err := x.Search(context.Background(), text, Options{Limit: 5})
		require.NoError(t, err)
	}
	for _, text := range []string{"", " ", "+", "?!,.", "\xff\xfe", "的", "the", "'", "a"} {
		answers(t, x, text, Options{})
		answers(t, NewBM25(nil), text, Options{Limit: 3})
	}
	require.Equal(t, []string{"get_the"}, answers(t, NewBM25([]Doc{{Name: "get_the"}, {Name: "a"}}), "the", Options{}), "only stop words")
}

func TestBM25StopsWhenItsContextEnds(t *testing.T) {
	x := NewBM25(toolbox)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := x.Search(ctx, "mail. Then send weather", Options{})
	require.ErrorIs(t, err, context.Canceled)
	require.NotEmpty(t, answers(t, x, "mail", Options{}), "the next search starts afresh")
}
