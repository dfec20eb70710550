// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// An index by meaning beside the index by words: the vectors of tools, and their store.

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
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/keyword/names"
	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/internal/vectors"
)

const (
	embedBatch     = 64               // texts in one call
	embedBatchTime = 30 * time.Second // for one call
	embedAllTime   = 30 * time.Minute
	maxEmbedded    = 4 << 10 // bytes of one text
	// probed is how many tools are searched by their names, to see whether the vectors are
	// of use, and probeDepth among how many of the nearest they must be.
	probed     = 32
	probeDepth = 3
	probeShare = 0.5
)

// vectorSource makes the vectors of tools.
type vectorSource struct {
	model    string
	embedder embedding.Embedder
	store    Backend
	tools    []*schema.ToolInfo
	wanted   func() bool // still; asked before each batch
}

var errUnwanted = errors.New("toolsearch: nobody waits for the vectors")

// load takes from the store what it has, embeds the rest, and stores the whole.
func (s vectorSource) load(ctx context.Context) (*toolVectors, error) {
	texts, keys := make([]string, len(s.tools)), make([]vectors.Key, len(s.tools))
	t := &toolVectors{names: make([]string, len(s.tools)), set: &vectors.Set{}}
	for i, info := range s.tools {
		texts[i], t.names[i] = names.Clip(documentText(info), maxEmbedded), info.Name
		keys[i] = vectors.KeyOf(texts[i])
	}
	path := s.path(keys)
	old := s.stored(ctx, path)
	fresh, err := s.embedMissing(ctx, texts, keys, old)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		from := old
		if _, ok := fresh.at[key]; ok {
			from = fresh
		}
		if err := t.set.Copy(from.set, from.at[key]); err != nil {
			return nil, fmt.Errorf("toolsearch: the vector of %q: %w", t.names[i], err)
		}
	}
	if fresh.set.Len() == 0 {
		t.useful = true // what is stored was
		return t, nil
	}
	if t.useful, err = s.findsByName(ctx, t); t.useful {
		s.files().save(ctx, path, vectors.Encode(keys, t.set))
	}
	return t, err
}

// keyed are vectors by the text that they stand for.
type keyed struct {
	at  map[vectors.Key]int
	set *vectors.Set
}

// embedMissing embeds the texts that old lacks, each once.
func (s vectorSource) embedMissing(ctx context.Context, texts []string, keys []vectors.Key, old keyed) (keyed, error) {
	fresh := keyed{map[vectors.Key]int{}, &vectors.Set{}}
	var missing []int
	for i, key := range keys {
		_, known := old.at[key]
		if _, twice := fresh.at[key]; !known && !twice {
			fresh.at[key] = len(missing)
			missing = append(missing, i)
		}
	}
	for batch := range slices.Chunk(missing, embedBatch) {
		part := make([]string, len(batch))
		for i, at := range batch {
			part[i] = texts[at]
		}
		all, err := s.embed(ctx, part)
		if err != nil {
			return fresh, err
		}
		for i, v := range all {
			if err := fresh.set.Add(v); err != nil {
				return fresh, fmt.Errorf("toolsearch: the vector of %q: %w", s.tools[batch[i]].Name, err)
			}
		}
	}
	if old.set.Len() > 0 && fresh.set.Len() > 0 && old.set.Dimensions() != fresh.set.Dimensions() {
		// The model has changed under its name: what is stored is of no use.
		return s.embedMissing(ctx, texts, keys, keyed{nil, &vectors.Set{}})
	}
	return fresh, nil
}

func (s vectorSource) embed(ctx context.Context, texts []string) ([][]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, embedBatchTime)
	defer cancel()
	if !s.wanted() {
		return nil, errUnwanted
	}
	return within(ctx, func() ([][]float64, error) { return embedTexts(ctx, s.embedder, texts) })
}

// findsByName reports whether tools are found by the words of their names: what cannot do
// that cannot do more.
func (s vectorSource) findsByName(ctx context.Context, t *toolVectors) (bool, error) {
	var probes []int
	step := max(1, len(s.tools)/probed)
	for i := 0; i < len(s.tools) && len(probes) < probed; i += step {
		probes = append(probes, i)
	}
	if len(probes) == 0 {
		return false, nil
	}
	texts := make([]string, len(probes))
	for i, at := range probes {
		texts[i] = nameMarks.Replace(s.tools[at].Name)
	}
	all, err := s.embed(ctx, texts)
	if err != nil {
		return false, err
	}
	found := 0
	for i, v := range all {
		near, err := t.nearest(v, max(1, min(probeDepth, len(s.tools)/4)))
		if err != nil {
			return false, err
		}
		if slices.Contains(near, s.tools[probes[i]].Name) {
			found++
		}
	}
	return float64(found) >= probeShare*float64(len(probes)), nil
}

// files are where the vectors are kept.
func (s vectorSource) files() versions {
	sum := sha256.Sum256([]byte(s.model))
	return versions{s.store, fmt.Sprintf("vectors-%x-", sum[:8])}
}

func (s vectorSource) path(keys []vectors.Key) string {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = string(key[:])
	}
	return s.files().path(texts)
}

// stored returns the vectors of this version of the catalogue, or else of the last one. It
// is empty where there are none that can be read.
func (s vectorSource) stored(ctx context.Context, path string) keyed {
	keys, set, err := vectors.Decode(s.files().stored(ctx, path))
	if err != nil {
		return keyed{nil, &vectors.Set{}}
	}
	at := make(map[vectors.Key]int, len(keys))
	for i, key := range keys {
		at[key] = i
	}
	return keyed{at, set}
}

// versions are files of one kind, one for each version of a catalogue.
type versions struct {
	store  Backend // nil: nothing is kept
	prefix string  // of the names
}

// path is the file of a catalogue, by the keys of what is in it.
func (v versions) path(keys []string) string {
	h := sha256.New()
	for _, key := range slices.Sorted(slices.Values(keys)) {
		h.Write([]byte(key))
	}
	return fmt.Sprintf("%s/%s%x.txt", backend.CatalogDir, v.prefix, h.Sum(nil)[:8])
}

// latest is the file that names the file written last.
func (v versions) latest() string {
	return fmt.Sprintf("%s/%slatest.txt", backend.CatalogDir, v.prefix)
}

// stored returns the file of this version, or else the one written last; "" where neither
// can be read.
func (v versions) stored(ctx context.Context, path string) string {
	if text := v.read(ctx, path); text != "" {
		return text
	}
	path = strings.TrimSpace(v.read(ctx, v.latest()))
	if !strings.HasPrefix(path, backend.CatalogDir+"/"+v.prefix) {
		return ""
	}
	return v.read(ctx, path)
}

// wholeFile is more lines than a file has.
const wholeFile = 1 << 30

// read returns a file, or "" where it cannot be read.
func (v versions) read(ctx context.Context, path string) string {
	r, ok := v.store.(backend.Reader)
	if !ok {
		return ""
	}
	content, err := safe.Value("toolsearch: reading "+path, func() (*filesystem.FileContent, error) {
		return r.Read(ctx, &filesystem.ReadRequest{FilePath: path, Offset: 1, Limit: wholeFile})
	})
	if err != nil || content == nil {
		return ""
	}
	return content.Content
}

// save stores a file. Where it cannot, the next process makes its content again.
func (v versions) save(ctx context.Context, path, text string) {
	if _, readable := v.store.(backend.Reader); !readable {
		return
	}
	if writeFile(ctx, v.store, path, text) == nil {
		_ = writeFile(ctx, v.store, v.latest(), path+"\n")
	}
}
