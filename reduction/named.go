// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The files that a conversation names: those that calls may read, and those that they
// must not write to.

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/readtool"
	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// noteNamedFiles tells the calls of the last message which of the files that they
// would be given a notice in the history names. They must not be written to.
func (c *clearPhase[M]) noteNamedFiles(ctx context.Context, msgs []M) {
	calls := c.lastCalls(msgs)
	if len(calls) == 0 {
		return
	}
	shown := c.namedFiles(msgs)
	c.files.Note(ctx, shown)
	wanted := make(map[string]bool, len(calls))
	for _, each := range calls {
		wanted[vault.Clean(vault.DefaultPath(c.cfg.RootDir, vault.TruncDir, each.id))] = true
	}
	var taken []string
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		// Where a generator makes the names, any of them may be next.
		if wanted[name] || c.cfg.GenTruncOffloadFilePath != nil {
			taken = append(taken, name)
		}
	}
	setRunNames(ctx, namedFilesKey, taken)
}

// lastCalls lists the calls of the last message.
func (c *clearPhase[M]) lastCalls(msgs []M) []call {
	if len(msgs) == 0 {
		return nil
	}
	return c.codec.view(msgs[len(msgs)-1]).calls
}

// markUsed tells the stores, at the start of a run and each hour after, which files the
// history names.
func (c *clearPhase[M]) markUsed(ctx context.Context, msgs []M) {
	b := c.policy.run(ctx)
	if b == nil {
		return
	}
	now, last := time.Now().Unix(), b.markedAt.Load()
	if now-last < int64(backend.UseInterval/time.Second) || !b.markedAt.CompareAndSwap(last, now) {
		return
	}
	if names := c.everyName(msgs); len(names) > 0 {
		for _, s := range c.files.Stores() {
			s.MarkUsed(ctx, names)
		}
	}
}

// everyName lists all files that a history names, in the place of results, media and
// arguments. One that a tool made up does no harm.
func (c *clearPhase[M]) everyName(msgs []M) []string {
	names := make(map[string]bool)
	add := func(texts ...string) {
		for _, text := range texts {
			if n := recognise(text); n.path != "" {
				names[n.path] = true
			} else if isMovedMedium(text) {
				names[tryTemplates(mediumTemplates, text, clearedNotice).path] = true
			}
		}
	}
	for _, m := range msgs {
		v := c.codec.view(m)
		add(v.moved...)
		for _, r := range v.results {
			add(append(r.texts, r.moved...)...)
		}
		for _, each := range v.calls {
			for _, p := range vault.Mentions(c.cfg.RootDir, each.args) {
				names[p] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// noteReadable tells the calls of the last message which of the files outside of
// the default roots that they ask for notices of the conversation show.
func (c *clearPhase[M]) noteReadable(ctx context.Context, msgs []M) {
	calls := c.lastCalls(msgs)
	if len(calls) == 0 {
		return
	}
	asked := make(map[string]bool)
	for _, each := range calls {
		textsInJSON(each.args, 0, func(s string) {
			if !c.names.roots(s) {
				asked[vault.Clean(s)] = true
			}
		})
	}
	var names []string
	if len(asked) > 0 && (c.cfg.GenClearOffloadFilePath != nil || c.cfg.GenTruncOffloadFilePath != nil || c.names.known.any()) {
		names = c.readableAmong(ctx, roundsOf(views(c.codec, msgs)), asked)
	}
	setRunNames(ctx, readableKey, names)
}

// readableAmong lists those of the asked names that results show, if they are files
// of the results' own calls: a tool can write what it likes.
func (c *clearPhase[M]) readableAmong(ctx context.Context, rounds []round, asked map[string]bool) (out []string) {
	for _, r := range rounds {
		for _, p := range r.pairs {
			if !p.found || p.result.search {
				continue
			}
			if name := c.ownFile(ctx, p); asked[name] && !slices.Contains(out, name) {
				out = append(out, name)
			}
			for name := range asked {
				if c.names.known.has(keyOf(p.call.id, name)) && showsName(p.result.texts, name) && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// ownFile is the file that a notice in place of a result names, if a path
// generator gives it for the call; else it is empty.
func (c *clearPhase[M]) ownFile(ctx context.Context, p pair) string {
	n := noticeIn(p.result.texts)
	if n.path == "" || c.names.roots(n.path) {
		return ""
	}
	detail := detailOf(p.call, textResult(joined(p.result.texts)))
	for _, generate := range []pathGenerator{c.cfg.GenTruncOffloadFilePath, c.cfg.GenClearOffloadFilePath} {
		if generate == nil {
			continue
		}
		got, err := safe.Value("path generator", func() (string, error) { return generate(ctx, detail) })
		if rest, ok := strings.CutPrefix(n.path, got); ok && err == nil && got != "" && (rest == "" || vault.IsSuffix(rest)) {
			return vault.Clean(n.path)
		}
	}
	return ""
}

func showsName(texts []string, name string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, strings.TrimPrefix(name, "/")) })
}

// maxNesting bounds the walk through arguments, which a model writes.
const maxNesting = 8

// textsInJSON calls f with every text in arguments, also in arguments within
// arguments.
func textsInJSON(args string, depth int, f func(string)) {
	var v any
	if json.Unmarshal([]byte(args), &v) == nil {
		eachText(v, depth, f)
	}
}

func eachText(v any, depth int, f func(string)) {
	if depth > maxNesting {
		return
	}
	switch v := v.(type) {
	case string:
		f(v)
		if strings.HasPrefix(v, "{") {
			textsInJSON(v, depth+1, f)
		}
	case []any:
		for _, each := range v {
			eachText(each, depth+1, f)
		}
	case map[string]any:
		for _, each := range v {
			eachText(each, depth+1, f)
		}
	}
}

// storedNames remembers which files outside of the default roots this middleware
// stored, and for which calls. It is safe for concurrent use.
type storedNames struct {
	roots func(filePath string) bool // what the provided tool may read anyway
	known recent
}

func newStoredNames(root string) *storedNames {
	return &storedNames{roots: readtool.Under(path.Join(root, vault.TruncDir), path.Join(root, vault.ClearDir), backend.CatalogDir)}
}

func (s *storedNames) add(callID, path string) {
	if path != "" && !s.roots(path) {
		s.known.add(keyOf(callID, vault.Clean(path)))
	}
}

// maxRecent bounds what is remembered in a recent. The oldest go first.
const maxRecent = 1 << 15

var seed = maphash.MakeSeed()

// keyOf is a hash of texts.
func keyOf(texts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, s := range texts {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// recent remembers the last maxRecent keys it was given. The zero value is ready for
// use, by any number of goroutines.
type recent struct {
	mu    sync.Mutex
	known map[uint64]bool
	order []uint64 // oldest first
}

// add reports whether a key is new.
func (r *recent) add(key uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[key] {
		return false
	}
	if r.known == nil {
		r.known = make(map[uint64]bool)
	}
	if len(r.order) >= maxRecent {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[key] = true
	r.order = append(r.order, key)
	return true
}

func (r *recent) has(key uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[key]
}

func (r *recent) any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.known) > 0
}
