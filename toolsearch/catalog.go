// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The catalog: the hidden tools of an agent with their indexes, and the catalogs that an instance caches.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/lru"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/history"
	"github.com/einolean/einolean/toolsearch/internal/search"
	"github.com/einolean/einolean/toolsearch/internal/slots"
)

// toolCatalog is the hidden tools of an agent. It is immutable and safe for concurrent use.
type toolCatalog struct {
	settings *settings
	cache    *catalogCache // that has the catalog
	key      catalogKey

	tools        search.Tools       // all hidden tools, with unique names
	hasSource    bool               // tools may come and go
	refusedNames []string           // names of the Source's tools that another tool already has
	slotPlan     func() *slots.Plan // for the slots of an agent; computed once
	summary      *catalogSummary
}

// catalogKey identifies a catalog of an instance by its tools, beside those of Config.DynamicTools.
type catalogKey struct {
	agentTools  *catalog.Set // hidden tools of the agent itself, see Config.SearchableTools
	sourceTools *catalog.Set // of Config.Source
}

// catalogSummary is shared by catalogs whose tools look the same. Each function computes its result once.
type catalogSummary struct {
	alwaysVisible []string // names of the tools to show always

	allNames func() []string                      // in the order of the catalog; read only
	size     func() (tokens int64, digest string) // of all definitions; the digest tells catalogs apart
	reminder func() string                        // the list of all names, for the model
}

// newCatalog makes a catalog. If similar is not nil, its tools look the same, and the catalogs share indexes and
// summary.
func newCatalog(cache *catalogCache, key catalogKey, similar *toolCatalog) *toolCatalog {
	s := cache.settings
	c := &toolCatalog{
		settings: s, cache: cache, key: key, tools: search.Tools{Set: s.dynamicTools}, hasSource: s.cfg.Source != nil,
	}
	c.tools.Set = c.tools.With(key.agentTools)
	c.tools.Set = c.tools.With(key.sourceTools.Filter(func(e *catalog.Tool) bool {
		isTaken := c.tools.Has(e.Info.Name) || c.hasSearchTool(e.Info.Name)
		if isTaken {
			c.refusedNames = append(c.refusedNames, e.Info.Name)
		}
		return !isTaken
	}))
	c.slotPlan = sync.OnceValue(func() *slots.Plan { return slots.NewPlan(c.tools.Set, c.hasSource) })
	if similar != nil {
		c.tools.Indexes, c.summary = similar.tools.Indexes, similar.summary
		return c
	}
	c.tools.Indexes, c.summary = search.NewIndexes(c.tools.Set), &catalogSummary{}
	c.summary.allNames = sync.OnceValue(func() []string {
		names := make([]string, 0, c.tools.Len())
		for e := range c.tools.All() {
			names = append(names, e.Info.Name)
		}
		return names
	})
	c.summary.size = sync.OnceValues(c.measure)
	c.summary.reminder = sync.OnceValue(func() string { return history.FormatList(c.summary.allNames(), "") })
	for e := range c.tools.All() {
		if isMarkedVisible(e.Info) || toolnames.Match(s.cfg.AlwaysVisible, e.Info.Name) {
			c.summary.alwaysVisible = append(c.summary.alwaysVisible, e.Info.Name)
		}
	}
	return c
}

// measure returns the size of all definitions in tokens, and a digest of them.
func (c *toolCatalog) measure() (tokens int64, digest string) {
	var all strings.Builder
	for e := range c.tools.All() {
		tokens += e.Tokens()
		fmt.Fprintf(&all, "%q %q %s\n", e.Info.Name, e.Info.Desc, e.Parameters())
	}
	return tokens, catalog.Digest(all.String())
}

// tokensOf returns the size of the definitions of some tools.
func (c *toolCatalog) tokensOf(names []string) (n int64) {
	for _, name := range names {
		if e := c.tools.Lookup(name); e != nil {
			n += e.Tokens()
		}
	}
	return n
}

// hiddenTokens returns the size of the definitions that hiding saves, of tools that may be shown. It stops counting
// above a limit. See Config.MinTokensToHide.
func (c *toolCatalog) hiddenTokens(mayShow func(*catalog.Tool) bool, limit int64) (n int64) {
	for e := range c.tools.All() {
		if n > limit {
			break
		}
		if !slices.Contains(c.summary.alwaysVisible, e.Info.Name) && mayShow(e) {
			n += e.Tokens()
		}
	}
	return n
}

// isFixed reports whether a name is that of a hidden tool that no Source has.
func (c *toolCatalog) isFixed(name string) bool {
	return c.settings.dynamicTools.Has(name) || c.key.agentTools.Has(name)
}

// hasSearchTool reports whether one of the search tools has the name.
func (c *toolCatalog) hasSearchTool(name string) bool {
	return slices.Contains(c.settings.searchTools, name)
}

// checkNames rejects names that a tool of the agent's own shares with a hidden tool or a search tool.
func (c *toolCatalog) checkNames(tools []tool.BaseTool, own []*schema.ToolInfo) error {
	var errs problems
	for e := range c.key.agentTools.All() {
		if d := c.settings.dynamicTools.Lookup(e.Info.Name); d != nil {
			errs.add("DynamicTools", "dynamic tool %q (%T) has the name of the agent's own hidden tool (%T)",
				d.Info.Name, d.Value, e.Value)
		}
	}
	for i, info := range own {
		if info == nil {
			continue
		}
		if c.hasSearchTool(info.Name) {
			errs.add("", "the agent's own tool %q (%T) has the name of the search tool %q",
				info.Name, tools[i], info.Name)
		}
		if c.settings.hides(info) {
			continue
		}
		if e := c.tools.Lookup(info.Name); e != nil {
			errs.add("DynamicTools", "dynamic tool %q (%T) has the name of the agent's own tool %q (%T): %s",
				e.Info.Name, e.Value, info.Name, tools[i], renameHint(tools[i]))
		}
	}
	return errors.Join(errs...)
}

// renameHint says how to give a tool another name. The tool that package reduction adds knows the field that sets its
// name.
func renameHint(own tool.BaseTool) string {
	if n, ok := own.(interface{ NamedBy() string }); ok {
		return "set " + n.NamedBy() + " to a name that no other tool has"
	}
	return "give one of them another name"
}

// maxCatalogs is how many catalogs an instance caches where every run brings other tools.
const maxCatalogs = 64

// catalogCache has the catalogs of an instance, so that it indexes tools once.
type catalogCache struct {
	settings *settings

	mu    sync.Mutex
	byKey lru.Map[catalogKey, *toolCatalog]
	// sets has one of the sets that look the same. The first set of a size has its size as key, since comparing means
	// reading every schema. Others have their fingerprint.
	sets lru.Map[any, *catalog.Set]
}

func newCatalogCache(s *settings) *catalogCache {
	return &catalogCache{
		settings: s,
		byKey:    lru.Map[catalogKey, *toolCatalog]{MaxEntries: maxCatalogs},
		sets:     lru.Map[any, *catalog.Set]{MaxEntries: 2 * maxCatalogs},
	}
}

// find returns the catalog of a run. Catalogs whose tools look the same share names and indexes: only the first makes
// the indexes. If an index cannot be made, the next run tries again. With a Source, that does not fail the run.
func (cc *catalogCache) find(ctx context.Context, key catalogKey) (*toolCatalog, error) {
	c := cc.findOrAdd(key)
	c.tools.BuildIndex(ctx, c.settings.cfg.NewIndex) // without the lock: others need not wait
	if err := c.tools.Err(); err != nil && !c.hasSource {
		return nil, fieldError("NewIndex", "%w", err)
	}
	return c, nil
}

// findOrAdd returns the catalog of a key, whose indexes may not be made yet.
func (cc *catalogCache) findOrAdd(key catalogKey) *toolCatalog {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	if c, ok := cc.byKey.Get(key); ok && c.tools.Err() == nil {
		return c
	}
	canonical := catalogKey{cc.canonicalSet(key.agentTools, true), cc.canonicalSet(key.sourceTools, false)}
	first, ok := cc.byKey.Get(canonical)
	if !ok || first.tools.Err() != nil {
		first = newCatalog(cc, canonical, nil)
		cc.byKey.Put(canonical, first)
	}
	if canonical == key {
		return first
	}
	c := newCatalog(cc, key, first)
	if key.agentTools.Len() == 0 { // otherwise the catalog is of one run
		cc.byKey.Put(key, c)
	}
	return c
}

// canonicalSet returns the first set that looks the same, or a copy of the set that keeps nothing of a run.
func (cc *catalogCache) canonicalSet(s *catalog.Set, isOfRun bool) *catalog.Set {
	if s.Len() == 0 {
		return nil
	}
	cacheKey := any(s.Len())
	first, isKnown := cc.sets.Get(cacheKey)
	if isKnown && first != s && first.Fingerprint() != s.Fingerprint() {
		cacheKey = s.Fingerprint()
		first, isKnown = cc.sets.Get(cacheKey)
	}
	if !isKnown {
		if first = s; isOfRun {
			first = s.Detach()
		}
		cc.sets.Put(cacheKey, first)
	}
	return first
}
