// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package toolset has sets of tools, and the sources that return them, for package toolsearch: what a
// Source needs to know of it.
//
//	config := toolsearch.Recommended(nil)
//	config.Source = toolset.NewSource(listTools, userOf)
//	search, err := toolsearch.New(ctx, config)
package toolset

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/lru"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
)

const (
	// PhrasesKey is the key of a tool's Extra with further ways to ask for it, as people do:
	// a []string (or its form after JSON), or one string. index.BM25, semantic.Embedding and
	// semantic.Documents read the first 32, and 512 bytes of each.
	PhrasesKey = "search_phrases"
	// OutputSchemaKey is the key of a tool's Extra under which it may say, as the text of a JSON
	// schema, what it returns. The model that writes programs reads it as a type.
	OutputSchemaKey = toolschema.OutputKey
)

// Set is an ordered set of tools with unique names. It is immutable and safe for
// concurrent use; nil is the empty set. It is indexed once, in the background when the first
// run starts or by an earlier search, and so is what Update makes of it: 25 ms for a thousand
// tools, with index.BM25. Union and Select make sets that use the indexes of those they were
// made from: a thousand users' views of the same tools take little more memory than one set.
type Set catalog.Set

// catalogSet returns the set in its internal form.
func (s *Set) catalogSet() *catalog.Set { return (*catalog.Set)(s) }

// New returns the set of tools, in their order. It asks each tool for its Info once,
// and never again; the tool must not change its parameters later. The error names every
// tool that has no usable Info, can neither be invoked nor streamed, or has the name of an
// earlier one, by its place.
func New(ctx context.Context, tools ...tool.BaseTool) (*Set, error) {
	return (*Set)(nil).Update(ctx, tools...)
}

// Update returns the set of exactly these tools, in their order. A tool that is the same
// value as one of s is not asked for its Info again. A tool with an equal definition counts
// as unchanged even if it is another value; the new value runs. If all tools are the values
// of s in the same order, Update returns s itself; otherwise the next search indexes the
// new set. The error is that of New, and s is never changed.
func (s *Set) Update(ctx context.Context, tools ...tool.BaseTool) (*Set, error) {
	var errs []error
	next := s.catalogSet().Update(ctx, tools, func(at int, err error) {
		errs = append(errs, &einolean.FieldError{Package: "toolset", Field: fmt.Sprintf("tools[%d]", at), Err: err})
	})
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return (*Set)(next), nil
}

// Select returns the tools for which keep returns true, in their order: one user's view of
// a large set. keep must not change its argument. A tool on which it panics is not kept; if
// keep is nil, none is.
//
// A model learns nothing of the tools that are left out, but the time of some work
// depends on them. If that matters, give each user a Union of sets.
func (s *Set) Select(keep func(*schema.ToolInfo) bool) *Set {
	if keep == nil {
		return &Set{}
	}
	return (*Set)(s.catalogSet().Filter(func(t *catalog.Tool) bool {
		ok, err := safe.Value("keep", func() (bool, error) { return keep(t.Info), nil })
		return ok && err == nil
	}))
}

// All iterates over the tools in their order, as they were given.
func (s *Set) All() iter.Seq[tool.BaseTool] {
	return func(yield func(tool.BaseTool) bool) {
		for t := range s.catalogSet().All() {
			if !yield(t.Value) {
				return
			}
		}
	}
}

// Tools returns s: a set is a Source that never changes.
func (s *Set) Tools(context.Context) (*Set, error) { return s, nil }

// Union returns the tools of all sets, in their order. Of two tools with one name, the
// first stays.
func Union(sets ...*Set) *Set {
	union := &catalog.Set{}
	for _, s := range sets {
		union = union.With(s.catalogSet().Filter(func(t *catalog.Tool) bool { return !union.Has(t.Info.Name) }))
	}
	return (*Set)(union)
}

// Source provides tools that are not known when toolsearch.New is called, that differ between users,
// or that change during a run. It must be safe for concurrent use.
//
// It is asked at the start of a run and before every model call, and its tools are offered
// in that call. Tools may wait for a change that is under way, but should return within two seconds,
// the time that toolsearch waits, and when ctx is done. Returning the same set means that nothing changed, and
// costs nothing.
type Source interface {
	// Tools returns the current tools for the user of ctx; nil is no tools. On an error,
	// the run continues with the set returned beside it, or, if that is nil, with the
	// tools it had, and OnEvent gets an event. An error that wraps a *Missing says which
	// servers are down. After an error, a call of a name that the run does not know gets
	// an answer: it may be that of a tool which is missing for now.
	Tools(ctx context.Context) (*Set, error)
}

// Missing is an error beside a set: some servers do not answer, and the set lacks their tools. A
// search that finds nothing, or that names one of these servers, tells the model so.
type Missing struct {
	// Servers are their names.
	Servers []string
	// Err is why, if that is known.
	Err error
}

// Error names the servers.
func (m *Missing) Error() string {
	text := "no tools of " + strings.Join(m.Servers, ", ")
	if m.Err != nil {
		text += ": " + m.Err.Error()
	}
	return text
}

// Unwrap returns the reason.
func (m *Missing) Unwrap() error { return m.Err }

// NewSource returns a Source that calls list each time it is asked, and compares the result
// with the last set of the same key: see Set.Update. key names the user whose tools
// these are. If key is nil, all users share one list. If key returns an error or an empty
// key, there are no tools. If list fails, the last set of the key stays.
//
// Both functions must be safe for concurrent use and should return when ctx is done. The
// sets of the 1,000 most recent keys are kept.
func NewSource(list func(context.Context) ([]tool.BaseTool, error), key func(context.Context) (string, error)) Source {
	return &listSource{list: list, key: key, sets: lru.Map[string, keyList]{MaxEntries: maxKeys}}
}

// Multi asks all sources at once, and returns the Union of their sets in their order:
// of two tools with one name, that of the first source stays. A source that fails, or has
// not answered when ctx is done, keeps the set that it had in the run, and does not affect
// the others; the error beside the set names its place. Nil sources have no tools.
func Multi(sources ...Source) Source {
	m := &multi{sources: make([]Source, len(sources)), unions: lru.Map[string, []*Set]{MaxEntries: maxKeys}}
	for i, s := range sources {
		if !safe.IsNil(s) {
			m.sources[i] = s
		}
	}
	return m
}

type listSource struct {
	list func(context.Context) ([]tool.BaseTool, error)
	key  func(context.Context) (string, error)

	noTools   Set // without a key: always the same, which means that nothing has changed
	mu        sync.Mutex
	listCount int64
	sets      lru.Map[string, keyList]
}

// keyList is the last list of a key.
type keyList struct {
	number int64 // of two lists, the one with the higher number began later
	tools  *Set
}

// maxKeys is how many keys a Source keeps the sets of.
const maxKeys = 1000

// Tools lists the tools of the user of ctx.
func (s *listSource) Tools(ctx context.Context) (*Set, error) {
	key, err := s.userOf(ctx)
	if err != nil {
		return &s.noTools, err
	}
	s.mu.Lock()
	s.listCount++
	number := s.listCount
	s.mu.Unlock()
	if s.list == nil {
		return nil, errors.New("toolset: NewSource has no list function")
	}
	tools, err := safe.Value("toolset: the list function of NewSource", func() ([]tool.BaseTool, error) { return s.list(ctx) })
	s.mu.Lock()
	last, _ := s.sets.Get(key)
	s.mu.Unlock()
	if err != nil {
		return last.tools, err
	}
	set, err := last.tools.Update(ctx, tools...)
	if err != nil {
		return last.tools, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if current, _ := s.sets.Get(key); current.number < number {
		s.sets.Put(key, keyList{number, set})
	}
	return set, nil
}

// userOf returns the key of the user whose tools are requested.
func (s *listSource) userOf(ctx context.Context) (string, error) {
	if s.key == nil {
		return "", nil
	}
	key, err := safe.Value("toolset: the key function of NewSource", func() (string, error) { return s.key(ctx) })
	if err == nil && key == "" {
		err = errors.New("toolset: the key function of NewSource returned an empty key")
	}
	return key, err
}

type multi struct {
	sources []Source

	mu     sync.Mutex
	unions lru.Map[string, []*Set] // the sets, by their addresses, which are not reused meanwhile, and their union
}

// Tools asks all sources.
func (m *multi) Tools(ctx context.Context) (*Set, error) {
	known, sets, errs := runstate.SourcesFrom(ctx), make([]*Set, len(m.sources)), make([]error, len(m.sources))
	var asking sync.WaitGroup
	for i, s := range m.sources {
		asking.Go(func() {
			if sets[i], errs[i] = listTools(ctx, known, sourceID{m, i}, s); errs[i] != nil {
				errs[i] = fmt.Errorf("source %d: %w", i, errs[i])
			}
		})
	}
	asking.Wait()
	return m.union(sets), errors.Join(errs...)
}

// sourceID identifies a source in a Multi.
type sourceID struct {
	multi *multi
	index int
}

// listTools asks one source for its tools.
func listTools(ctx context.Context, known *runstate.Sources, id sourceID, source Source) (*Set, error) {
	if set, isSet := source.(*Set); isSet || source == nil {
		return set, nil
	}
	set, err := known.List(ctx, id, fmt.Sprintf("Tools of %T", source), func() (*catalog.Set, error) {
		set, err := source.Tools(ctx)
		return set.catalogSet(), err
	})
	return (*Set)(set), err
}

// union returns the same set for the same parts.
func (m *multi) union(sets []*Set) *Set {
	var key strings.Builder
	for _, s := range sets {
		fmt.Fprintf(&key, "%p ", s)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.unions.Get(key.String())
	if !ok {
		known = append(sets, Union(sets...))
		m.unions.Put(key.String(), known)
	}
	return known[len(sets)]
}
