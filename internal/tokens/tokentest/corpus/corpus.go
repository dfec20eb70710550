// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package corpus finds texts with which to fit and to check estimates of tokens.
package corpus

import (
	"cmp"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tiktoken-go/tokenizer"
)

// Doc is a text of one kind.
type Doc struct {
	Kind, Name, Text string
	Made             bool // by this package, with letters that come at random
}

// Files describes the texts of one kind in a directory. Of all that fit, those with
// the smallest sums of their names are taken, so that the choice is always the same.
type Files struct {
	Kind, Root string
	Endings    []string
	Most       int // bytes of all
	Each       int // bytes of one; a piece from somewhere in a longer one
}

// Load reads them. What cannot be read is left out.
func (f Files) Load() (out []Doc) {
	total := 0
	for _, name := range f.names() {
		data, err := os.ReadFile(filepath.Join(f.Root, name))
		if err != nil || len(data) < 200 {
			continue
		}
		if len(data) > f.Each {
			at := int(sum(name)) % (len(data) - f.Each)
			data = data[at : at+f.Each]
		}
		out = append(out, Doc{Kind: f.Kind, Name: name, Text: strings.ToValidUTF8(string(data), "?")})
		if total += len(data); total > f.Most {
			break
		}
	}
	return out
}

func (f Files) names() (out []string) {
	_ = filepath.WalkDir(f.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if slices.ContainsFunc(f.Endings, func(e string) bool { return strings.HasSuffix(path, e) }) {
			if name, err := filepath.Rel(f.Root, path); err == nil {
				out = append(out, filepath.ToSlash(name))
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(sum(a), sum(b)), strings.Compare(a, b)) })
	return out
}

func sum(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}

// Starts returns where the tokens of a text begin, by o200k.
func Starts(text string) ([]int, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, err
	}
	_, pieces, err := codec.Encode(text)
	if err != nil {
		return nil, err
	}
	out, at := make([]int, len(pieces)), 0
	for i, p := range pieces {
		out[i] = at
		at += len(p)
	}
	return out, nil
}
