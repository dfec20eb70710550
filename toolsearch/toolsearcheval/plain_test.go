// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/index"
)

// The usual parameters of BM25.
const (
	plainK1 = 1.2
	plainB  = .75
)

// plainIndex is BM25 as textbooks have it, to compare with: one field, no stemming, no stop words. The formula is
// Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), equation 3.15. The inverse
// document frequency is Lucene's variant, which is never negative: ln(1 + (N - n + .5) / (n + .5)).
type plainIndex struct {
	names         []string
	frequencies   []map[string]float64 // per tool, of each token
	lengths       []float64            // per tool, in tokens
	averageLength float64
	tools         map[string]float64 // how many tools have a token
}

func plainBM25(_ context.Context, tools []*schema.ToolInfo) (index.Index, error) {
	x := &plainIndex{tools: map[string]float64{}}
	for _, tool := range tools {
		text, err := plainText(tool)
		if err != nil {
			return nil, err
		}
		tokens, frequencies := plainTokens(text), map[string]float64{}
		for _, token := range tokens {
			if frequencies[token]++; frequencies[token] == 1 {
				x.tools[token]++
			}
		}
		x.names = append(x.names, tool.Name)
		x.frequencies = append(x.frequencies, frequencies)
		x.lengths = append(x.lengths, float64(len(tokens)))
		x.averageLength += float64(len(tokens)) / float64(len(tools))
	}
	return x, nil
}

func (x *plainIndex) Search(_ context.Context, q index.Query) (results []index.Result, err error) {
	tokens := plainTokens(q.Text)
	for i, name := range x.names {
		score := 0.0
		for _, token := range tokens {
			frequency := x.frequencies[i][token]
			idf := math.Log(1 + (float64(len(x.names))-x.tools[token]+.5)/(x.tools[token]+.5))
			length := 1 - plainB + plainB*x.lengths[i]/max(1, x.averageLength)
			score += idf * frequency * (plainK1 + 1) / (frequency + plainK1*length)
		}
		if score > 0 {
			results = append(results, index.Result{Name: name, Score: score})
		}
	}
	slices.SortStableFunc(results, func(a, b index.Result) int { return cmp.Compare(b.Score, a.Score) })
	if q.Limit > 0 {
		results = results[:min(q.Limit, len(results))]
	}
	return results, nil
}

// plainText is the name, the description and the names of the parameters.
func plainText(tool *schema.ToolInfo) (string, error) {
	parts := []string{tool.Name, tool.Desc}
	params, err := tool.ToJSONSchema()
	if err != nil {
		return "", err
	}
	if params != nil && params.Properties != nil {
		for p := params.Properties.Oldest(); p != nil; p = p.Next() {
			parts = append(parts, p.Key)
		}
	}
	return strings.Join(parts, "\n"), nil
}

// plainTokens are the words in lower case. A word ends where its kind of character changes and before a capital of
// camelCase. Chinese, Japanese and Korean text becomes pairs of characters.
func plainTokens(text string) (tokens []string) {
	runes := []rune(text)
	for start := 0; start < len(runes); {
		end := start + 1
		for end < len(runes) && !isTokenBoundary(runes, end) {
			end++
		}
		word := runes[start:end]
		switch {
		case isCJK(word[0]) && len(word) > 1:
			for i := range len(word) - 1 {
				tokens = append(tokens, string(word[i:i+2]))
			}
		case isAlphanumeric(word[0]):
			tokens = append(tokens, strings.ToLower(string(word)))
		}
		start = end
	}
	return tokens
}

func isTokenBoundary(runes []rune, i int) bool {
	before, r := runes[i-1], runes[i]
	if isAlphanumeric(before) != isAlphanumeric(r) || isCJK(before) != isCJK(r) {
		return true
	}
	if !unicode.IsUpper(r) {
		return false
	}
	endsAcronym := i+1 < len(runes) && unicode.IsLower(runes[i+1])
	return !unicode.IsUpper(before) || endsAcronym
}

func isAlphanumeric(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

func isCJK(r rune) bool {
	return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func TestPlainTokens_SplitsText(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		" -_ ":                        "",
		"list_open-issues":            "list open issues",
		"getUserByID, parseHTTPReply": "get user by id parse http reply",
		"Über 24 h: utf8":             "über 24 h utf8",
		"查询天气get城市, 票":                "查询 询天 天气 get 城市 票",
		"カレンダー":                       "カレ レン ンダ ダー",
	} {
		require.Equal(t, want, strings.Join(plainTokens(text), " "), "%q", text)
	}
}

func TestPlainBM25_MatchesTheFormula(t *testing.T) {
	tools := []*schema.ToolInfo{
		{Name: "mail", Desc: "send mail"}, {Name: "file", Desc: "read it"},
		{Name: "call", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"mailbox_id": {Type: schema.String}})},
	}
	x, err := plainBM25(t.Context(), tools)
	require.NoError(t, err)
	results, err := x.Search(t.Context(), index.Query{Text: "Mail"})
	require.NoError(t, err)
	require.Len(t, results, 1)
	// One of three tools has the token, twice, and is as long as the average.
	require.InDelta(t, math.Log(1+2.5/1.5)*2*2.2/(2+1.2), results[0].Score, 1e-12)

	results, err = x.Search(t.Context(), index.Query{Text: "mailbox, then read it", Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "file", results[0].Name, "two tokens weigh more than one")
	require.Len(t, results, 1)
}
