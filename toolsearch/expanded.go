// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Tools with further ways to ask for them, written by a model.

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/keyword/names"
	"github.com/leanctx/leanctx/internal/safe"
)

const (
	expandTime    = time.Minute // for one tool
	expandAllTime = time.Hour
	// expandAtOnce is how many requests to the model run at once, each for one tool, and
	// mostRefusals the failures in a row after which they stop.
	expandAtOnce = 4
	mostRefusals = 5
	mostWays     = 8
	maxExpanded  = 8 << 10 // bytes of one definition
)

// Expanded adds to each tool a few ways to ask for it, which m writes from its definition,
// and makes f's index of the tools with them: they join those of PhrasesKey. If f is nil,
// it is BM25Index.
//
// The first search starts asking the model in the background, once for each tool, one tool
// per call, four calls at a time. Until that is done, f's index of the unchanged tools
// answers. If store can read, the model's answers are kept there, one file for each version
// of the catalogue, and the model is asked only about new or changed definitions. If nil,
// it is asked once for each index. If the model fails, the tool stays as it is; after five
// failures in a row, the model is not asked again until there is another index. The work
// takes an hour at most, and stops within a minute once the index is garbage.
//
// It costs one call of some 300 tokens for each tool, and for a moment the memory of two
// indexes. With ways written by hand, as a good model would write them, the right tool
// among 49 is first for 96 of 100 queries instead of 89. The gain depends on the model:
// measure it on your own queries with package toolsearcheval.
func Expanded(f IndexFunc, m model.BaseChatModel, store Backend) IndexFunc {
	if f == nil {
		f = BM25Index
	}
	return func(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
		if safe.IsNil(m) {
			return nil, errors.New("Expanded got no model")
		}
		if safe.IsNil(store) {
			store = nil
		}
		plain, err := makeIndex(ctx, f, tools)
		if err != nil {
			return nil, err
		}
		x := &expandedIndex{source: expansion{f, m, versions{store, "phrases-"}, tools, render("ways_to_ask", promptData{})}}
		x.now.Store(&plain)
		return x, nil
	}
}

type expandedIndex struct {
	source expansion
	once   sync.Once
	now    atomic.Pointer[Index]
}

func (x *expandedIndex) index() Index { return *x.now.Load() }

func (x *expandedIndex) build() error { return build(x.index()) }

func (x *expandedIndex) terms(q Query, name string) []leanctx.Term {
	return termsOf(x.index(), q, name)
}

func (x *expandedIndex) Explain(q Query, name string) string { return explain(x.index(), q, name) }

func (x *expandedIndex) Search(ctx context.Context, q Query) ([]Result, error) {
	x.once.Do(func() { go expand(weak.Make(x), x.source) })
	return x.index().Search(ctx, q)
}

// expand makes the index with the model's phrases, unless the index is unreachable by then.
func expand(of weak.Pointer[expandedIndex], source expansion) {
	// Not the context of the first search: the result serves all searches.
	ctx, cancel := context.WithTimeout(context.Background(), expandAllTime)
	defer cancel()
	better, err := safe.Value("toolsearch: expanding the tools", func() (Index, error) {
		ways := source.ways(ctx, func() bool { return of.Value() != nil })
		if len(ways) == 0 {
			return nil, nil
		}
		index, err := makeIndex(ctx, source.make, source.with(ways))
		if err == nil {
			err = build(index) // searches do not wait for it
		}
		return index, err
	})
	if x := of.Value(); x != nil && err == nil && better != nil {
		x.now.Store(&better)
	}
}

// expansion asks a model for ways to ask for tools.
type expansion struct {
	make   IndexFunc
	model  model.BaseChatModel
	store  versions
	tools  []*schema.ToolInfo
	prompt string
}

// ways returns the model's phrases for each tool, by the key of its definition, from the
// store or from the model.
func (e expansion) ways(ctx context.Context, wanted func() bool) map[string][]string {
	definitions, keys := map[string]string{}, make([]string, len(e.tools))
	for i, info := range e.tools {
		keys[i] = e.textKey(info)
		definitions[keys[i]] = names.Clip(documentText(info), maxExpanded)
	}
	path := e.store.path(keys)
	known := map[string][]string{}
	if json.Unmarshal([]byte(e.store.stored(ctx, path)), &known) != nil {
		known = map[string][]string{}
	}
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(definitions)), func(key string) bool { return len(known[key]) > 0 })
	written := e.askModel(ctx, missing, definitions, wanted)
	all := map[string][]string{}
	for key := range definitions {
		if ways := cleanWays(append(known[key], written[key]...)); len(ways) > 0 {
			all[key] = ways
		}
	}
	if text, err := json.MarshalIndent(all, "", " "); err == nil && len(written) > 0 {
		e.store.save(ctx, path, string(text)+"\n")
	}
	return all
}

// textKey is the key of a definition, and of how the model is asked.
func (e expansion) textKey(info *schema.ToolInfo) string {
	sum := sha256.Sum256([]byte(e.prompt + "\x00" + documentText(info)))
	return fmt.Sprintf("%x", sum[:16])
}

// askModel asks for definitions, by their keys.
func (e expansion) askModel(ctx context.Context, keys []string, definitions map[string]string, wanted func() bool) map[string][]string {
	var (
		mu       sync.Mutex
		all      sync.WaitGroup
		written  = map[string][]string{}
		refusals int
		next     = make(chan string)
	)
	for range min(expandAtOnce, len(keys)) {
		all.Go(func() {
			for key := range next {
				ways, err := e.askOne(ctx, definitions[key])
				mu.Lock()
				if err != nil || len(ways) == 0 {
					refusals++
				} else {
					written[key], refusals = ways, 0
				}
				mu.Unlock()
			}
		})
	}
	for _, key := range keys {
		mu.Lock()
		stop := refusals >= mostRefusals
		mu.Unlock()
		if stop || ctx.Err() != nil || !wanted() {
			break
		}
		next <- key
	}
	close(next)
	all.Wait()
	return written
}

func (e expansion) askOne(ctx context.Context, definition string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, expandTime)
	defer cancel()
	answer, err := within(ctx, func() (*schema.Message, error) {
		return safe.Value("toolsearch: the model", func() (*schema.Message, error) {
			return e.model.Generate(ctx, []*schema.Message{schema.SystemMessage(e.prompt), schema.UserMessage(definition)})
		})
	})
	if err != nil || answer == nil {
		return nil, cmp.Or(err, errors.New("the model returned nothing"))
	}
	return cleanWays(strings.Split(answer.Content, "\n")), nil
}

// cleanWays returns lines without list markers, each once.
func cleanWays(lines []string) (ways []string) {
	for _, line := range lines {
		line = strings.Trim(line, " \t\r-*•·\"'`“”。.")
		if number, rest, ok := strings.Cut(line, ". "); ok && strings.Trim(number, "0123456789") == "" {
			line = rest
		}
		line = names.Clip(strings.TrimSpace(strings.ToValidUTF8(line, "")), maxPhraseBytes)
		if line != "" && !slices.Contains(ways, line) && len(ways) < mostWays {
			ways = append(ways, line)
		}
	}
	return ways
}

// with returns copies of the tools that have both their own phrases and the model's.
func (e expansion) with(ways map[string][]string) []*schema.ToolInfo {
	all := make([]*schema.ToolInfo, len(e.tools))
	for i, info := range e.tools {
		all[i] = info
		if more := ways[e.textKey(info)]; len(more) > 0 {
			wider := *info
			wider.Extra = maps.Clone(info.Extra)
			if wider.Extra == nil {
				wider.Extra = map[string]any{}
			}
			wider.Extra[PhrasesKey] = slices.Concat(phrases(info), more)
			all[i] = &wider
		}
	}
	return all
}
