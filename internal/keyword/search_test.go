// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	einosearch "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/einorun"
)

func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

func search(t testing.TB, x *Index, query string, limit int) []Hit {
	hits, err := x.Search(context.Background(), Parse(query), limit)
	require.NoError(t, err)
	return hits
}

func TestSearch_MatchesReferenceScores(t *testing.T) {
	rng := newRand(t)
	for range 150 {
		docs := randomDocs(rng, rng.IntN(30))
		x := New(docs)
		for range 20 {
			query := randomQuery(rng, docs)
			limit := rng.IntN(8)
			want := referenceSearch(docs, Parse(query), limit)
			got := search(t, x, query, limit)
			require.Equal(t, append([]Hit{}, want...), scores(got), "query %q limit %d docs %q", query, limit, docs)
			explained(t, x, docs, Parse(query))
		}
	}
}

// explained checks that the explanation of every document adds up to its score.
func explained(t *testing.T, x *Index, docs []Doc, q Query) {
	scores := make(map[int]float64)
	for _, h := range referenceSearch(docs, q, 0) {
		scores[h.Doc] = h.Score
	}
	for i := range docs {
		e := x.Explain(q, i)
		require.Equal(t, scores[i], e.Score, "query %q: %s", q, e)
		require.Equal(t, docs[i].Name, e.Name)
	}
}

func TestSearch_AgreesWithEino(t *testing.T) {
	rng := newRand(t)
	for range 60 {
		docs := randomDocs(rng, 1+rng.IntN(30))
		x := New(docs)
		eino := einoSearch(t, docs)
		for range 40 {
			query := randomQuery(rng, docs)
			if trimmed := strings.TrimSpace(query); trimmed == "" || strings.HasPrefix(trimmed, "select:") {
				continue
			}
			query = throughJSON(t, query)
			want := eino(query)
			var got []string
			for _, h := range search(t, x, query, 7) {
				got = append(got, throughJSON(t, x.Name(h.Doc)))
			}
			require.Equal(t, want, got, "query %q docs %q", query, docs)
		}
	}
}

// throughJSON is what is left of a string that travelled as JSON.
func throughJSON(t testing.TB, s string) (arrived string) {
	sent, err := json.Marshal(s)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(sent, &arrived))
	return arrived
}

type listedTool struct{ info *schema.ToolInfo }

func (l listedTool) Info(context.Context) (*schema.ToolInfo, error) { return l.info, nil }

// einoSearch is the search of Eino's own middleware over docs, seven results.
func einoSearch(t testing.TB, docs []Doc) func(query string) []string {
	config := &einosearch.Config{}
	for _, d := range docs {
		config.DynamicTools = append(config.DynamicTools, listedTool{&schema.ToolInfo{Name: d.Name, Desc: d.Description}})
	}
	ctx := context.Background()
	middleware, err := einosearch.New(ctx, config)
	require.NoError(t, err)
	run := &einorun.RunContext{}
	_, err = einorun.Begin(ctx, middleware, run)
	require.NoError(t, err)
	meta := run.Tools[0].(tool.InvokableTool)
	return func(query string) []string {
		arguments, err := json.Marshal(map[string]any{"query": query, "max_results": 7})
		require.NoError(t, err)
		answer, err := meta.InvokableRun(ctx, string(arguments))
		require.NoError(t, err)
		var result struct{ Matches []string }
		require.NoError(t, json.Unmarshal([]byte(answer), &result))
		return result.Matches
	}
}

func FuzzSearch_MatchesReferenceScores(f *testing.F) {
	f.Add("get_weather", "Weather of a city", "sendMail", "Sends +mail\xff", "weather +a mail", 2)
	f.Add("aİb__Cd", "ſ K", "", "", "i İ ++ +İ _ __ k", 0)
	f.Fuzz(func(t *testing.T, nameA, proseA, nameB, proseB, query string, limit int) {
		docs := []Doc{{Name: nameA, Description: proseA}, {Name: nameB, Description: proseB}}
		x := New(docs)
		want := referenceSearch(docs, Parse(query), limit)
		require.Equal(t, append([]Hit{}, want...), scores(search(t, x, query, limit)))
		for i, h := range search(t, x, query, 0) {
			require.Equal(t, h.Score, x.Explain(Parse(query), h.Doc).Score, "hit %d", i)
		}
	})
}

func FuzzParse_ReadsBackWhatStringWrites(f *testing.F) {
	for _, text := range []string{"", "+", "++x", "a +b  c", "\u3000+\u00a0x", "\xff+\xfe"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := Parse(text)
		require.Equal(t, q, Parse(q.String()))
		for _, term := range q.Terms {
			require.NotEmpty(t, term.Text)
			require.Equal(t, []string{term.Text}, strings.Fields(term.Text))
		}
	})
}

func TestParse_ReadsTermsAndRequiredMarks(t *testing.T) {
	for text, want := range map[string][]Term{
		"":                 nil,
		" \t+ ":            nil,
		"send mail":        {{Text: "send"}, {Text: "mail"}},
		"+send mail":       {{Text: "send", Required: true}, {Text: "mail"}},
		"++x":              {{Text: "+x", Required: true}},
		"a+b":              {{Text: "a+b"}},
		"查询\u3000+天气":      {{Text: "查询"}, {Text: "天气", Required: true}},
		"the the":          {{Text: "the"}, {Text: "the"}},
		"select:not,here ": {{Text: "select:not,here"}},
	} {
		require.Equal(t, want, Parse(text).Terms, "%q", text)
	}
}

func TestQuery_StringWritesParsedTerms(t *testing.T) {
	for text, want := range map[string]string{"": "", " a ": "a", "a +b\tc": "a +b c", "+a ++b": "+a ++b", "+": ""} {
		require.Equal(t, want, Parse(text).String(), "%q", text)
	}
}

// endsAt is a context that ends when it is asked for the nth time whether it has.
type endsAt struct {
	context.Context
	left int
}

func (c *endsAt) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// The context is also checked at the end.
func TestSearch_ChecksContextBeforeEachTerm(t *testing.T) {
	x := New([]Doc{{Name: "a_b", Description: "c"}, {Name: "b"}})
	for query, terms := range map[string]int{"": 0, "a": 1, "a b": 2, "b A a c": 3} {
		want := search(t, x, query, 0)
		for n := range terms + 3 {
			hits, err := x.Search(&endsAt{t.Context(), n}, Parse(query), 0)
			if n > terms {
				require.NoError(t, err)
				require.Equal(t, want, hits)
			} else {
				require.ErrorIs(t, err, context.Canceled, "%q after %d", query, n)
			}
			require.Equal(t, want, search(t, x, query, 0), "%q after %d", query, n)
		}
	}
}

func TestSearch_OrdersByScoreThenName(t *testing.T) {
	docs := []Doc{{Name: "zeta_mail"}, {Name: "alpha_mail"}, {Name: "mailbox"}, {Name: "x", Description: "Mail."}, {Name: "y"}}
	x := New(docs)
	names := func(limit int) (names []string) {
		for _, h := range search(t, x, "MAIL", limit) {
			names = append(names, x.Name(h.Doc))
		}
		return names
	}
	require.Equal(t, []string{"alpha_mail", "zeta_mail", "mailbox", "x"}, names(0), "score first, then name")
	require.Equal(t, []string{"alpha_mail"}, names(1))
	require.Equal(t, names(0), names(100))
}

func TestIndex_SharesNoSlices(t *testing.T) {
	docs := []Doc{{Name: "b", Description: "bee"}, {Name: "a", Description: "ant"}}
	x := New(docs)
	docs[0], docs[1] = Doc{}, Doc{}
	require.Equal(t, "b", x.Name(0))
	require.Equal(t, []Hit{{Doc: 0, Score: 2}}, scores(search(t, x, "bee", 0)))
	hits := search(t, x, "bee", 0)
	hits[0].Doc = 99
	require.Equal(t, []Hit{{Doc: 0, Score: 2}}, scores(search(t, x, "bee", 0)))
}

func TestSearch_CanceledContextIsError(t *testing.T) {
	x := New([]Doc{{Name: "a"}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	hits, err := x.Search(ctx, Parse("a"), 0)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, hits)
	require.Len(t, search(t, x, "a", 0), 1, "the next search starts afresh")
}

func TestSearch_RunsConcurrently(t *testing.T) {
	rng := newRand(t)
	docs := randomDocs(rng, 200)
	x := New(docs)
	queries := make([]string, 50)
	for i := range queries {
		queries[i] = randomQuery(rng, docs)
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for _, query := range queries {
				want := referenceSearch(docs, Parse(query), 5)
				got, err := x.Search(context.Background(), Parse(query), 5)
				if err != nil || !slices.Equal(want, scores(got)) {
					t.Errorf("worker %d query %q: %v, %v", worker, query, got, err)
				}
				x.Suggest(query, 3)
			}
		})
	}
	group.Wait()
}

func TestSearch_ManyTermsMatchReferenceScores(t *testing.T) {
	rng := newRand(t)
	docs := randomDocs(rng, 30)
	x := New(docs)
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "%s %s%d ", randomQuery(rng, docs), atoms[i%len(atoms)], i%7)
	}
	query := strings.ReplaceAll(b.String(), "+", "")
	require.Equal(t, referenceSearch(docs, Parse(query), 0), scores(search(t, x, query, 0)))
}

// scores are hits with nothing but their scores.
func scores(hits []Hit) []Hit {
	bare := make([]Hit, len(hits))
	for i, h := range hits {
		bare[i] = Hit{Doc: h.Doc, Score: h.Score}
	}
	return bare
}

func TestConfidence_GrowsWithMatchingShare(t *testing.T) {
	x := New([]Doc{{Name: "send_mail"}, {Name: "send_parcel"}, {Name: "read", Description: "mailbox"}})
	confidence := func(query string) float64 { return search(t, x, query, 1)[0].Confidence }
	require.Greater(t, confidence("send mail"), confidence("send"), "more words")
	require.Greater(t, confidence("send"), confidence("send zebra"), "words that nothing has")
	require.Greater(t, confidence("mail"), confidence("mailbox"), "a name says more than a description")
	require.Greater(t, confidence("send mail"), .5)
	require.Less(t, confidence("box zebra gnu okapi"), .2)
	require.LessOrEqual(t, confidence(strings.Repeat("send mail ", 1000)), 1.0)
}
