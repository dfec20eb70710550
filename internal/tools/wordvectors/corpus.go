// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// The texts, from the files of packages.

import (
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/leanctx/leanctx/internal/tools/wordvectors/wordsplit"
)

// pair is a text in English and in Chinese.
type pair struct{ english, chinese string }

// corpus returns texts in English, and pairs of texts merged into one, as words with spaces between them, each once.
func corpus(root, dictionary string) (english, merged []string, err error) {
	texts, pairs, err := readPackages(root)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range pairs {
		texts = append(texts, p.english)
	}
	if dictionary != "" {
		text, err := os.ReadFile(dictionary)
		if err != nil {
			return nil, nil, err
		}
		for line := range strings.Lines(string(text)) {
			en, zh, _ := strings.Cut(strings.TrimSpace(line), "\t")
			pairs = append(pairs, pair{en, zh})
		}
	}
	for _, text := range texts {
		if words := wordsplit.Split(text); len(words) > 2 {
			english = append(english, strings.Join(words, " "))
		}
	}
	for _, p := range pairs {
		if text := merge(wordsplit.Split(p.english), wordsplit.Split(p.chinese)); text != "" {
			merged = append(merged, text)
		}
	}
	return unique(english), unique(merged), nil
}

func readPackages(root string) (texts []string, pairs []pair, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		switch {
		case strings.Contains(path, "/wordnet/data."):
			texts, err = appendWordNet(texts, path)
		case strings.HasSuffix(path, "/foldoc.dict.dz"):
			texts, err = appendZipped(texts, path)
		case strings.HasSuffix(path, ".mo") && strings.Contains(path, "/zh_CN/"):
			pairs, err = appendMessages(pairs, path)
		case strings.HasSuffix(path, "/i18n/en.json"):
			pairs, err = appendInterface(pairs, path)
		}
		return err
	})
	return texts, pairs, err
}

func unique(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// longest is the most words of a text that is merged: in longer ones the two sides drift apart.
const longest = 80

// merge puts the words of two texts into one, each where it stands in its own.
func merge(a, b []string) string {
	if len(a) == 0 || len(b) == 0 || len(a) > longest {
		return ""
	}
	out := make([]string, 0, len(a)+len(b))
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if j == len(b) || i < len(a) && (2*i+1)*len(b) <= (2*j+1)*len(a) {
			out = append(out, a[i])
			i++
		} else {
			out = append(out, b[j])
			j++
		}
	}
	return strings.Join(out, " ")
}

// appendWordNet adds the words of each set of synonyms around what they mean, and its examples.
func appendWordNet(texts []string, path string) ([]string, error) {
	file, err := os.ReadFile(path)
	for line := range strings.Lines(string(file)) {
		head, gloss, ok := strings.Cut(line, " | ")
		if !ok || strings.HasPrefix(line, "  ") {
			continue
		}
		var synonyms []string
		for _, field := range strings.Fields(head)[4:] {
			if len(field) > 1 && field != "000" && strings.Trim(field, "0123456789abcdef") != "" {
				synonyms = append(synonyms, field)
			}
			if strings.Trim(field, "0123456789") == "" && len(field) == 3 {
				break // the number of pointers ends the words
			}
		}
		all := strings.ReplaceAll(strings.Join(synonyms, " "), "_", " ")
		for i, part := range strings.Split(gloss, ";") {
			if i == 0 {
				part = all + " " + part + " " + all
			}
			texts = append(texts, part)
		}
	}
	return texts, err
}

var paragraphs = regexp.MustCompile(`\n\s*\n`)

func appendZipped(texts []string, path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return texts, err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return texts, err
	}
	all, err := io.ReadAll(z)
	return append(texts, paragraphs.Split(string(all), -1)...), err
}

// shortcut is the key of a menu in a Chinese message, which is Latin.
var shortcut = regexp.MustCompile(`\([_&]?[A-Za-z]\)`)

// appendMessages reads a catalogue of gettext.
func appendMessages(pairs []pair, path string) ([]pair, error) {
	file, err := os.ReadFile(path)
	if err != nil || len(file) < 20 || binary.LittleEndian.Uint32(file) != 0x950412de {
		return pairs, err
	}
	at := func(table, i uint32) string {
		entry := uint64(table) + uint64(i)*8
		if entry+8 > uint64(len(file)) {
			return ""
		}
		n, start := uint64(binary.LittleEndian.Uint32(file[entry:])), uint64(binary.LittleEndian.Uint32(file[entry+4:]))
		if start+n > uint64(len(file)) {
			return ""
		}
		text, _, _ := strings.Cut(string(file[start:start+n]), "\x00")
		return text
	}
	n, ids, texts := binary.LittleEndian.Uint32(file[8:]), binary.LittleEndian.Uint32(file[12:]), binary.LittleEndian.Uint32(file[16:])
	for i := range n {
		en, zh := at(ids, i), shortcut.ReplaceAllString(at(texts, i), "")
		if _, rest, ok := strings.Cut(en, "\x04"); ok { // a context
			en = rest
		}
		if en != "" {
			pairs = append(pairs, pair{strings.NewReplacer("_", "", "&", "").Replace(en), zh})
		}
	}
	return pairs, nil
}

// appendInterface reads the messages of MediaWiki.
func appendInterface(pairs []pair, path string) ([]pair, error) {
	var en, zh map[string]any
	for path, into := range map[string]*map[string]any{path: &en, strings.TrimSuffix(path, "en.json") + "zh-hans.json": &zh} {
		if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, into) != nil {
			return pairs, nil
		}
	}
	for key, a := range en {
		a, _ := a.(string)
		b, _ := zh[key].(string)
		pairs = append(pairs, pair{a, b})
	}
	return pairs, nil
}
