// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Command wordvectors learns the vectors of words in toolsearch/toolsearcheval/testdata/vectors.
//
// Unpack the Debian packages that the README there names into a directory (apt-get download NAME…; dpkg -x FILE DIR),
// write the pairs of a dictionary, one "english<tab>chinese" a line, into a file, and run, in the root of the repository:
//
//	go run ./internal/tools/wordvectors -root DIR -pairs FILE -out OUT
//	fasttext skipgram -input OUT/english.txt -output OUT/english -dim 48 -epoch 3 -minCount 3 -maxn 0 -ws 5 -neg 5 -lr 0.1 -thread 2
//	go run ./internal/tools/wordvectors -root DIR -pairs FILE -out OUT -vec OUT/english.vec
//
// The first run writes the texts and OUT/ppmi.txt, the second OUT/fasttext.txt. It takes some minutes and 1 GB.
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

func main() {
	root := flag.String("root", "", "directory of unpacked packages")
	pairs := flag.String("pairs", "", "file of English and Chinese, a tab between them")
	out := flag.String("out", "", "directory to write to")
	vec := flag.String("vec", "", "vectors that fastText learned from OUT/english.txt; if empty, others are learned here")
	graded := flag.String("graded", "toolsearch/toolsearcheval/testdata", "directory of the graded catalogues and queries")
	flag.Parse()
	if err := run(*root, *pairs, *out, *vec, *graded); err != nil {
		fmt.Fprintln(os.Stderr, "wordvectors:", err)
		os.Exit(1)
	}
}

func run(root, pairs, out, vec, graded string) error {
	if root == "" || out == "" {
		return errors.New("-root and -out are required")
	}
	wanted, err := wordsOfFiles(filepath.Join(graded, "*.jsonl"))
	if err != nil {
		return err
	}
	english, merged, err := corpus(root, pairs)
	if err != nil {
		return err
	}
	if vec != "" {
		learned, err := readVectors(vec, wanted)
		if err != nil {
			return err
		}
		return write(filepath.Join(out, "fasttext.txt"), learned, count(english))
	}
	if err := os.WriteFile(filepath.Join(out, "english.txt"), []byte(strings.Join(english, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	all := slices.Concat(merged, english)
	counts := count(all)
	return write(filepath.Join(out, "ppmi.txt"), learn(all, counts, wanted), counts)
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

func write(path string, vectors map[string][]float64, counts map[string]int) error {
	total := 0
	for _, n := range counts {
		total += n
	}
	var b strings.Builder
	for _, w := range slices.Sorted(maps.Keys(vectors)) {
		most := 0.0
		for _, x := range vectors[w] {
			most = max(most, math.Abs(x))
		}
		steps := make([]byte, dimensions)
		for i, x := range vectors[w] {
			steps[i] = byte(int8(math.Round(x / most * 127)))
		}
		weight := rare / (rare + float64(counts[w])/float64(total))
		fmt.Fprintf(&b, "%s %.3f %s\n", w, weight, base64.StdEncoding.EncodeToString(steps))
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}
