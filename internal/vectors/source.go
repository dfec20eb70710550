// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package vectors

// Vectors of texts: an embedder makes them, in batches, and a store keeps them, one file for each
// version of the texts.

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/embedding"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/safe"
)

const (
	batchSize = 64               // texts in one call
	batchTime = 30 * time.Second // for one call
	// probed is how many texts are searched by their probes to check the vectors, and probeDepth
	// the number of nearest texts among which each must be.
	probed     = 32
	probeDepth = 3
	probeShare = 0.5
	// wholeFile is more lines than any file has.
	wholeFile = 1 << 30
)

// Text is a text to embed.
type Text struct {
	Name    string
	Content string
	Probe   string // words that must find it
}

// Named are the vectors of texts with names.
type Named struct {
	*Set
	Names    []string
	Places   map[string]int // of the names
	IsUseful bool           // texts are found by their probes
}

// Writer is a store.Backend.
type Writer interface {
	Write(ctx context.Context, req *filesystem.WriteRequest) error
}

// Reader is a store.Reader.
type Reader interface {
	Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error)
}

// Source makes vectors, and keeps them.
type Source struct {
	Model    string // part of every name in the store
	Embedder embedding.Embedder
	Gate     *safe.Gate // before the embedder
	Writer   Writer
	Reader   Reader      // without one, nothing is kept
	IsAnew   bool        // what is stored is of no use
	Wanted   func() bool // reports whether the vectors are still needed; asked before each batch
}

// Load takes stored vectors, embeds the rest, and stores the whole.
func (s Source) Load(ctx context.Context, texts []Text) (*Named, error) {
	keys := make([]Key, len(texts))
	t := &Named{Set: &Set{}, Names: make([]string, len(texts)), Places: make(map[string]int, len(texts))}
	for i, text := range texts {
		keys[i], t.Names[i], t.Places[text.Name] = KeyOf(text.Content), text.Name, i
	}
	path := s.path(keys)
	at, old := s.stored(ctx, path)
	freshAt, fresh, err := s.embedMissing(ctx, texts, keys, at, old)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		from, place := old, at[key]
		if n, ok := freshAt[key]; ok {
			from, place = fresh, n
		}
		if err := t.Copy(from, place); err != nil {
			return nil, fmt.Errorf("toolsearch: the vector of %q: %w", t.Names[i], err)
		}
	}
	if fresh.Len() == 0 {
		t.IsUseful = true // the stored vectors were
		return t, nil
	}
	if t.IsUseful, err = s.findsByProbe(ctx, t, texts); t.IsUseful && t.IsWhole() {
		s.save(ctx, path, Encode(keys, t.Set))
	}
	return t, err
}

// embedMissing embeds the texts whose keys are not known, each once.
func (s Source) embedMissing(ctx context.Context, texts []Text, keys []Key, known map[Key]int, old *Set) (at map[Key]int, fresh *Set, err error) {
	at, fresh = map[Key]int{}, &Set{}
	var missing []int
	for i, key := range keys {
		_, isKnown := known[key]
		if _, twice := at[key]; !isKnown && !twice {
			at[key] = len(missing)
			missing = append(missing, i)
		}
	}
	for batch := range slices.Chunk(missing, batchSize) {
		part := make([]string, len(batch))
		for i, at := range batch {
			part[i] = texts[at].Content
		}
		all, err := s.embed(ctx, part)
		if err != nil {
			return nil, nil, err
		}
		for i, v := range all {
			if err := fresh.Add(v); err != nil {
				return nil, nil, fmt.Errorf("toolsearch: the vector of %q: %w", texts[batch[i]].Name, err)
			}
		}
	}
	if old.Len() > 0 && fresh.Len() > 0 && old.Dimensions() != fresh.Dimensions() {
		// The model has changed under its name, so the stored vectors are useless.
		return s.embedMissing(ctx, texts, keys, nil, &Set{})
	}
	return at, fresh, nil
}

func (s Source) embed(ctx context.Context, texts []string) ([][]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	if !s.Wanted() {
		return nil, errors.New("toolsearch: the vectors are no longer needed")
	}
	return s.Embed(ctx, texts)
}

// Embed asks the embedder, for as long as the context lasts, and checks that there is a vector for
// each text.
func (s Source) Embed(ctx context.Context, texts []string) ([][]float64, error) {
	all, err := safe.WaitGated(ctx, s.Gate, "toolsearch: the embedder", func() ([][]float64, error) { return s.Embedder.EmbedStrings(ctx, texts) })
	if err != nil {
		return nil, err
	}
	if len(all) != len(texts) {
		return nil, fmt.Errorf("toolsearch: the embedder returned %d vectors for %d texts", len(all), len(texts))
	}
	return all, nil
}

// findsByProbe reports whether the vectors find texts by their probes, the least that they must do.
func (s Source) findsByProbe(ctx context.Context, t *Named, texts []Text) (bool, error) {
	var probes []string
	step := max(1, len(texts)/probed)
	for i := 0; i < len(texts) && len(probes) < probed; i += step {
		probes = append(probes, texts[i].Probe)
	}
	if len(probes) == 0 {
		return false, nil
	}
	all, err := s.embed(ctx, probes)
	if err != nil {
		return false, err
	}
	found := 0
	for i, v := range all {
		near, err := t.Nearest(v, max(1, min(probeDepth, len(texts)/4)))
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(near, func(n Neighbour) bool { return t.Names[n.At] == texts[i*step].Name }) {
			found++
		}
	}
	return float64(found) >= probeShare*float64(len(probes)), nil
}

// prefix begins the paths of the files.
func (s Source) prefix() string {
	sum := sha256.Sum256([]byte(s.Model))
	return fmt.Sprintf("%s/vectors-%x-", backend.CatalogDir, sum[:8])
}

// path is the file of a version, by the keys of its texts.
func (s Source) path(keys []Key) string {
	h := sha256.New()
	for _, key := range slices.SortedFunc(slices.Values(keys), func(a, b Key) int { return strings.Compare(string(a[:]), string(b[:])) }) {
		h.Write(key[:])
	}
	return fmt.Sprintf("%s%x.txt", s.prefix(), h.Sum(nil)[:8])
}

// latest is the file that names the last version written.
func (s Source) latest() string { return s.prefix() + "latest.txt" }

// isVersion reports whether a path is that of a version. Others may write into the store, too.
func (s Source) isVersion(path string) bool {
	sum, ok := strings.CutPrefix(path, s.prefix())
	sum, known := strings.CutSuffix(sum, ".txt")
	return ok && known && !strings.ContainsFunc(sum, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
}

// stored returns the vectors of this version, or else of the last one written, and their places by
// key. It is empty if neither can be read.
func (s Source) stored(ctx context.Context, path string) (map[Key]int, *Set) {
	text := ""
	if !s.IsAnew {
		text = s.read(ctx, path)
	}
	if text == "" && !s.IsAnew {
		if last := strings.TrimSpace(s.read(ctx, s.latest())); s.isVersion(last) {
			text = s.read(ctx, last)
		}
	}
	keys, set, err := Decode(text)
	if err != nil {
		return nil, &Set{}
	}
	at := make(map[Key]int, len(keys))
	for i, key := range keys {
		at[key] = i
	}
	return at, set
}

// read returns the content of a file, or "" if it cannot be read.
func (s Source) read(ctx context.Context, path string) string {
	if s.Reader == nil {
		return ""
	}
	content, err := safe.Wait(ctx, "toolsearch: reading "+path, func() (*filesystem.FileContent, error) {
		return s.Reader.Read(ctx, &filesystem.ReadRequest{FilePath: path, Offset: 1, Limit: wholeFile})
	})
	if err != nil || content == nil {
		return ""
	}
	return content.Content
}

// save stores a version. If that fails, the next process embeds the texts again.
func (s Source) save(ctx context.Context, path, text string) {
	if s.Reader == nil {
		return
	}
	if s.write(ctx, path, text) == nil {
		_ = s.write(ctx, s.latest(), path+"\n")
	}
}

func (s Source) write(ctx context.Context, path, text string) error {
	_, err := safe.Wait(ctx, "toolsearch: writing "+path, func() (struct{}, error) {
		return struct{}{}, s.Writer.Write(ctx, &filesystem.WriteRequest{FilePath: path, Content: text})
	})
	return err
}
