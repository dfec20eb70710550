// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

// The index by meaning must not be worse than that by words, with embedders that know
// little: vectors of pieces of words, and of words by the tools in which they stand (random
// indexing: Kanerva, Kristoferson and Holst, CogSci 2000), both computed here; with two models of word
// vectors that were learned for these tests, and with two that others have trained, of words and of
// sentences. These four are recorded in testdata/vectors.

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/golden"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/vectors"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/index/semantic"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

const dimensions = 128

// embedderFunc makes the vector of a text.
type embedderFunc func(text string) []float64

func (f embedderFunc) EmbedStrings(_ context.Context, texts []string, _ ...embedding.Option) ([][]float64, error) {
	all := make([][]float64, len(texts))
	for i, text := range texts {
		all[i] = f(text)
	}
	return all, nil
}

// direction is a random vector that belongs to a text.
func direction(text string) []float64 { return directionIn(dimensions, text) }

func directionIn(dimensions int, text string) []float64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	random := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float64, dimensions)
	for i := range v {
		v[i] = random.NormFloat64()
	}
	return v
}

func addTo(v, w []float64, weight float64) {
	for i := range v {
		v[i] += w[i] * weight
	}
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// pieces is the sum over the pieces of three letters of each word.
func pieces(text string) []float64 {
	v := make([]float64, dimensions)
	v[0] = 1e-6
	for _, word := range wordsOf(text) {
		letters := []rune("^" + word + "$")
		for i := 0; i+3 <= len(letters); i++ {
			addTo(v, direction(string(letters[i:i+3])), 1/math.Sqrt(float64(len(letters))))
		}
	}
	return v
}

// byCompany knows words by the tools in which they stand.
func byCompany(tools []*schema.ToolInfo) embedderFunc {
	meaning, users := map[string][]float64{}, map[string]float64{}
	for _, tool := range tools {
		seen := map[string]bool{}
		for _, word := range wordsOf(tool.Name + " " + tool.Desc) {
			if seen[word] {
				continue
			}
			seen[word] = true
			users[word]++
			if meaning[word] == nil {
				meaning[word] = make([]float64, dimensions)
			}
			addTo(meaning[word], direction(tool.Name), 1)
		}
	}
	return func(text string) []float64 {
		v := make([]float64, dimensions)
		v[0] = 1e-6
		for _, word := range wordsOf(text) {
			if m := meaning[word]; m != nil {
				addTo(v, m, math.Log(float64(len(tools))/users[word])/math.Sqrt(users[word]))
			}
		}
		return v
	}
}

// readTable reads the lines of a table of testdata/vectors, which says how it was made.
func readTable(t testing.TB, name string, read func(fields []string) ([]float64, error)) map[string][]float64 {
	text, err := os.ReadFile(filepath.Join("testdata", "vectors", name+".txt"))
	require.NoError(t, err)
	table := map[string][]float64{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		table[fields[0]], err = read(fields)
		require.NoError(t, err)
	}
	return table
}

var (
	camelCase = regexp.MustCompile(`([a-z])([A-Z])`)
	wordRuns  = regexp.MustCompile(`[A-Za-z]+|\p{Han}+`)
)

// splitWords returns the words of a text as the recorded tables have them: runs of Latin letters,
// split at camelCase, and characters and pairs of characters of Chinese.
func splitWords(text string) (words []string) {
	for _, run := range wordRuns.FindAllString(camelCase.ReplaceAllString(text, "$1 $2"), -1) {
		if run[0] < 0x80 {
			words = append(words, strings.ToLower(run))
			continue
		}
		all := []rune(run)
		for i := range all {
			words = append(words, string(all[i]))
			if i > 0 {
				words = append(words, string(all[i-1:i+1]))
			}
		}
	}
	return words
}

// keyOf is the key of a text in a table of vectors of texts.
func keyOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// unpack reads a vector in half a byte for each dimension, after the greatest of its numbers.
func unpack(most, steps string) ([]float64, error) {
	greatest, err := strconv.ParseFloat(most, 64)
	if err != nil {
		return nil, err
	}
	packed, err := base64.StdEncoding.DecodeString(steps)
	v := make([]float64, 2*len(packed))
	for i := range v {
		v[i] = (float64(packed[i/2]>>(4*(i%2))&15) - 8) / 7 * greatest
	}
	return v, err
}

// readTexts reads a table of vectors of texts, whose first line is what all have in common.
func readTexts(t testing.TB, name string) map[string][]float64 {
	var mean []float64
	table := readTable(t, name, func(fields []string) ([]float64, error) {
		if mean == nil {
			for _, field := range fields {
				x, err := strconv.ParseFloat(field, 64)
				require.NoError(t, err)
				mean = append(mean, x)
			}
			return mean, nil
		}
		v, err := unpack(fields[1], fields[2])
		addTo(v, mean, 1)
		return v, err
	})
	return table
}

// readWords reads a table of words: for each a vector, as long as its weight.
func readWords(t testing.TB, name string) map[string][]float64 {
	return readTable(t, name, func(fields []string) ([]float64, error) {
		require.Len(t, fields, 3, name)
		weight, err := strconv.ParseFloat(fields[1], 64)
		require.NoError(t, err)
		steps, err := base64.StdEncoding.DecodeString(fields[2])
		v := make([]float64, len(steps))
		for i, x := range steps {
			v[i] = float64(int8(x))
		}
		return scaled(v, weight), err
	})
}

// recordedTexts is a model whose vectors of the graded texts are in a table. A text that was
// added since has a vector of no meaning.
func recordedTexts(t testing.TB, name string) embedderFunc {
	table := readTexts(t, name)
	return func(text string) []float64 {
		if v := table[keyOf(text)]; v != nil {
			return v
		}
		return directionIn(len(table[keyOf("merge pull request")]), text)
	}
}

// recordedModel is one of recordedModels.
func recordedModel(t testing.TB, name string, tools []*schema.ToolInfo) embedderFunc {
	if name == sentenceModel {
		return recordedTexts(t, name)
	}
	return recorded(t, name, tools)
}

func TestSentenceModel_IsRecordedForGradedTexts(t *testing.T) {
	table, own := readTexts(t, sentenceModel), ownSet(t)
	var missing []string
	for _, c := range own.cases() {
		if table[keyOf(c.Query)] == nil {
			missing = append(missing, c.Query)
		}
	}
	docs := 0
	counting := embedderFunc(func(text string) []float64 {
		if docs++; table[keyOf(text)] == nil {
			missing = append(missing, text)
		}
		return direction(text)
	})
	synctest.Test(t, func(t *testing.T) {
		_, err := withVectors("recorded", counting).make(context.Background(), own.tools)
		require.NoError(t, err)
	})
	require.Greater(t, docs, len(own.tools))
	require.LessOrEqual(t, len(missing), (docs+len(own.cases()))/20, "they have no vector; missing: %.2000q", missing)
}

// recorded is a model whose vectors of words are in a table. The vector
// of a text is the mean of those of its words, the rare ones more (Arora, Liang and Ma, ICLR 2017), less that of the catalogue.
func recorded(t testing.TB, name string, tools []*schema.ToolInfo) embedderFunc {
	table := readWords(t, name)
	size := len(table["file"])
	sum := func(text string) []float64 {
		v := make([]float64, size)
		v[0] = 1e-6
		for _, word := range splitWords(text) {
			if w := table[word]; w != nil {
				addTo(v, w, 1)
			}
		}
		return scaled(v, 1)
	}
	mean := make([]float64, size)
	for _, tool := range tools {
		addTo(mean, sum(tool.Name+" "+tool.Desc), 1/float64(len(tools)))
	}
	return func(text string) []float64 {
		v := sum(text)
		addTo(v, mean, -1)
		return v
	}
}

// scaled is a vector of a length.
func scaled(v []float64, length float64) []float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	w := make([]float64, len(v))
	if sum > 0 {
		addTo(w, v, length/math.Sqrt(sum))
	}
	return w
}

// recordedModels are those of testdata/vectors. One has vectors of whole texts, the others of words.
var recordedModels = []string{"glove", sentenceModel}

const sentenceModel = "use"

// withVectors is semantic.Embedding with the tools embedded before the first query. It runs in a bubble of package synctest.
func withVectors(name string, e embedding.Embedder) namedIndex {
	return namedIndex{name, func(ctx context.Context, tools []*schema.ToolInfo) (index.Index, error) {
		x, err := semantic.Embedding(name, e, nil)(ctx, tools)
		if err == nil {
			_, err = x.Search(ctx, index.Query{Text: "anything"})
		}
		synctest.Wait()
		return x, err
	}}
}

// nearestTools ranks tools by their vectors alone.
type nearestTools struct {
	embed embedderFunc
	names []string
	tools vectors.Set
}

func (x *nearestTools) Search(_ context.Context, q index.Query) ([]index.Result, error) {
	near, err := x.tools.Nearest(x.embed(q.Text), q.Limit)
	results := make([]index.Result, len(near))
	for i, n := range near {
		results[i] = index.Result{Name: x.names[n.At], Score: float64(n.Similarity)}
	}
	return results, err
}

func vectorsAlone(e embedderFunc) index.Func {
	return func(ctx context.Context, tools []*schema.ToolInfo) (index.Index, error) {
		x := &nearestTools{embed: e}
		all := make([]tool.BaseTool, len(tools))
		for i, info := range tools {
			all[i] = describing{info: info}
		}
		docs, err := semantic.Documents(ctx, all)
		for _, doc := range docs {
			x.names = append(x.names, doc.ID)
			err = errors.Join(err, x.tools.Add(e(doc.Content)))
		}
		return x, err
	}
}

// halves are the graded sets.
func halves(t testing.TB) []row {
	own, lib := ownSet(t), librarySet(t)
	return []row{
		{"own, dev", "mixed", own.tools, own.dev}, {"own, heldout", "mixed", own.tools, own.heldout},
		{"library, dev", "mixed", lib.tools, lib.dev}, {"library, heldout", "mixed", lib.tools, lib.heldout},
	}
}

//claim:bench-05
func TestEmbedding_NeverWorsensRanking(t *testing.T) {
	race.Skip(t, "evaluates many rankings")
	own := ownSet(t)
	// Three of the models know no Chinese.
	chinese := slices.DeleteFunc(own.cases(), func(c toolsearcheval.Case) bool { return !strings.ContainsFunc(c.Query, isHan) })
	require.Greater(t, len(chinese), 200)
	for _, set := range append(halves(t), row{"own, Chinese queries", "mixed", own.tools, chinese}) {
		words := evaluate(t, namedIndex{"words", index.BM25}, set.tools, set.cases)
		models := map[string]embedderFunc{}
		for _, name := range recordedModels {
			models[name] = recordedModel(t, name, set.tools)
		}
		if strings.HasPrefix(set.catalogue, "own") { // a small catalogue says too little of the company of words
			models["pieces"], models["company"] = pieces, byCompany(set.tools)
		}
		for name, e := range models {
			synctest.Test(t, func(t *testing.T) {
				both := evaluate(t, withVectors(name, e), set.tools, set.cases)
				t.Logf("%s, %s: recall@1 %.4f, @5 %.4f; words alone %.4f, %.4f", name, set.catalogue, both.Recall1, both.Recall5, words.Recall1, words.Recall5)
				allowed := max(.005, 1/float64(words.Queries-words.Unanswerable)) + 1e-9 // one query is more than that in a small set
				require.GreaterOrEqual(t, both.Recall1, words.Recall1-allowed)
				require.GreaterOrEqual(t, both.Recall5, words.Recall5-allowed)
				require.GreaterOrEqual(t, both.MRR, words.MRR-.005)
			})
		}
	}
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// TestEmbedding_MatchesGolden shows what each recorded model gains, so that a change is a diff to read.
func TestEmbedding_MatchesGolden(t *testing.T) {
	race.Skip(t, "ranks every tool for every query")
	golden.Check(t, filepath.Join("testdata", "golden", "embedding.txt"), embeddingTable(t))
}

func embeddingTable(t *testing.T) string {
	var b strings.Builder
	line := func(cells ...any) {
		fmt.Fprintf(&b, "%-17s %8v  %-22s %9v %7v %9v %7v\n", cells...)
	}
	line("set", "queries", "index", "recall@1", "@5", "nDCG@10", "MRR")
	for _, set := range halves(t) {
		report := func(t *testing.T, x namedIndex) {
			m := evaluate(t, x, set.tools, set.cases)
			number := func(v float64) string { return fmt.Sprintf("%.3f", v) }
			line(set.catalogue, m.Queries, x.name, number(m.Recall1), number(m.Recall5), number(m.NDCG10), number(m.MRR))
		}
		report(t, namedIndex{"index.BM25", index.BM25})
		for _, name := range recordedModels {
			report(t, namedIndex{name + " alone", vectorsAlone(recordedModel(t, name, set.tools))})
			synctest.Test(t, func(t *testing.T) { report(t, withVectors("with "+name, recordedModel(t, name, set.tools))) })
		}
	}
	return b.String()
}
