// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Sources of tools that come and go: the interface, the sources of this package, and a run's
// memory of them.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cloudwego/eino/components/tool"

	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/toolsearch/internal/recent"
)

// Source provides tools that are not known when New is called, that differ between users,
// or that change during a run. It must be safe for concurrent use.
//
// It is asked at the start of a run and before every model call, and its tools are offered
// in that call. So it should wait, for a bounded time, for a change that it knows is under
// way, and return when ctx is done. Returning the same set means that nothing changed, and
// costs nothing.
type Source interface {
	// Tools returns the current tools for the user of ctx; nil is no tools. On an error,
	// the run continues with the set returned beside it, or, if that is nil, with the
	// tools it had, and OnEvent gets an event.
	Tools(ctx context.Context) (*ToolSet, error)
}

// PartialSource is a Source that knows which tools it lacks: those of servers that do not
// answer. A search that finds nothing, or that names one of these servers, tells the model
// so. MultiSource passes on what its sources lack.
type PartialSource interface {
	Source
	// Missing returns the names of these servers for the user of ctx. It is called during
	// a search and should return at once.
	Missing(ctx context.Context) []string
}

// NewSource returns a Source that calls list each time it is asked, and compares the result
// with the last set of the same key: see ToolSet.Update. key names the user whose tools
// these are. If key is nil, all users share one list. If key returns an error or an empty
// key, there are no tools. If list fails, the last set of the key stays.
//
// Both functions must be safe for concurrent use and should return when ctx is done. The
// sets of the 1,000 most recent keys are kept.
func NewSource(list func(context.Context) ([]tool.BaseTool, error), key func(context.Context) (string, error)) Source {
	return &listSource{list: list, key: key, sets: recent.New[string, *listing](maxKeys)}
}

// MultiSource asks all sources at once, and returns the Union of their sets in their order:
// of two tools with one name, that of the first source stays. A source that fails, or has
// not answered when ctx is done, keeps the set that it had in the run, and does not affect
// the others; the error beside the set names its place. Nil sources have no tools.
func MultiSource(sources ...Source) Source {
	m := &multiSource{sources: make([]Source, len(sources)), unions: recent.New[string, *union](maxKeys)}
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

	mu   sync.Mutex
	asks int64
	sets *recent.Map[string, *listing]
}

// listing is the last list of a key.
type listing struct {
	ask int64 // its number: of two lists the one that began later is newer
	set *ToolSet
}

// maxKeys is how many users a Source remembers.
const maxKeys = 1000

// Tools lists the tools of the user of ctx.
func (s *listSource) Tools(ctx context.Context) (*ToolSet, error) {
	key, err := s.userOf(ctx)
	if err != nil {
		return &ToolSet{}, err
	}
	s.mu.Lock()
	s.asks++
	ask := s.asks
	s.mu.Unlock()
	if s.list == nil {
		return nil, errors.New("toolsearch: NewSource has no list function")
	}
	tools, err := safe.Value("toolsearch: the list function of NewSource", func() ([]tool.BaseTool, error) { return s.list(ctx) })
	last := s.lastOf(key)
	if err != nil {
		return last.set, err
	}
	set, err := last.set.Update(ctx, tools...)
	if err != nil {
		return last.set, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, _ := s.sets.Get(key); now == nil || now.ask < ask {
		s.sets.Put(key, &listing{ask, set})
	}
	return set, nil
}

// userOf returns the key of the user whose tools are requested.
func (s *listSource) userOf(ctx context.Context) (string, error) {
	if s.key == nil {
		return "", nil
	}
	key, err := safe.Value("toolsearch: the key function of NewSource", func() (string, error) { return s.key(ctx) })
	if err == nil && key == "" {
		err = errors.New("toolsearch: the key function of NewSource returned an empty key")
	}
	return key, err
}

func (s *listSource) lastOf(key string) listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.sets.Get(key); ok {
		return *l
	}
	return listing{}
}

type multiSource struct {
	sources []Source

	mu     sync.Mutex
	unions *recent.Map[string, *union]
}

// union is a combined set with its parts, which keep the addresses in the key from being
// reused.
type union struct {
	sets  []*ToolSet
	whole *ToolSet
}

// Tools asks all sources.
func (m *multiSource) Tools(ctx context.Context) (*ToolSet, error) {
	memory := memoryOf(ctx)
	answers := make([]chan sourceAnswer, len(m.sources))
	for i, s := range m.sources {
		answers[i] = make(chan sourceAnswer, 1)
		switch s := s.(type) {
		case nil:
			answers[i] <- sourceAnswer{}
		case *ToolSet:
			answers[i] <- sourceAnswer{set: s}
		default:
			memory.ask(ctx, sourceID{m, i}, s, answers[i])
		}
	}
	sets := make([]*ToolSet, len(m.sources))
	var wrong []error
	for i, answer := range answers {
		a := wait(ctx, answer)
		if a.err != nil {
			wrong = append(wrong, fmt.Errorf("source %d: %w", i, a.err))
			if a.set == nil {
				a.set = memory.lastOf(sourceID{m, i})
			}
		}
		sets[i] = a.set
	}
	return m.union(sets), errors.Join(wrong...)
}

// Missing returns what the sources lack.
func (m *multiSource) Missing(ctx context.Context) (servers []string) {
	for _, s := range m.sources {
		servers = append(servers, missingFrom(ctx, s)...)
	}
	return servers
}

// missingFrom asks a source, which may panic, for the servers that are missing.
func missingFrom(ctx context.Context, s Source) []string {
	p, ok := s.(PartialSource)
	if !ok {
		return nil
	}
	servers, _ := safe.Value(fmt.Sprintf("Missing of %T", s), func() ([]string, error) { return p.Missing(ctx), nil })
	return servers
}

// wait returns the answer of a source. An answer that is ready counts even if ctx is done.
func wait(ctx context.Context, answer <-chan sourceAnswer) sourceAnswer {
	select {
	case a := <-answer:
		return a
	default:
	}
	select {
	case a := <-answer:
		return a
	case <-ctx.Done():
		return sourceAnswer{err: fmt.Errorf("it has not answered: %w", context.Cause(ctx))}
	}
}

// union returns the same set for the same parts.
func (m *multiSource) union(sets []*ToolSet) *ToolSet {
	var key strings.Builder
	for _, s := range sets {
		fmt.Fprintf(&key, "%p ", s)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if u, ok := m.unions.Get(key.String()); ok {
		return u.whole
	}
	u := &union{sets, Union(sets...)}
	m.unions.Put(key.String(), u)
	return u.whole
}

// sourceAnswer is what a source returned.
type sourceAnswer struct {
	set *ToolSet
	err error
}

// sourceID identifies a source in a MultiSource, or the Source of an instance.
type sourceID struct {
	of any // *multiSource or *settings
	at int
}

// sourceMemory is a run's memory of the sources in a MultiSource. It belongs to the run,
// since a source may answer each user differently.
type sourceMemory struct {
	mu      sync.Mutex
	sources map[sourceID]*sourceState
}

type sourceState struct {
	last *ToolSet
	busy bool // it has not answered yet, and is not asked again until it has
}

type sourceMemoryKey struct{}

// withSourceMemory returns a context for a run in which each source of a MultiSource keeps
// the last set that it returned.
func withSourceMemory(ctx context.Context) context.Context {
	return context.WithValue(ctx, sourceMemoryKey{}, newSourceMemory())
}

func newSourceMemory() *sourceMemory {
	return &sourceMemory{sources: map[sourceID]*sourceState{}}
}

// memoryOf returns the memory of the run of ctx; outside a run, an empty one.
func memoryOf(ctx context.Context) *sourceMemory {
	if m, ok := ctx.Value(sourceMemoryKey{}).(*sourceMemory); ok {
		return m
	}
	return newSourceMemory()
}

// errBusy is the answer of a source that has not answered its last question.
var errBusy = errors.New("it has not answered since it was last asked")

// ask asks a source in its own goroutine, which ends when the source returns.
func (m *sourceMemory) ask(ctx context.Context, at sourceID, s Source, answer chan<- sourceAnswer) {
	if !m.begin(at) {
		answer <- sourceAnswer{err: errBusy}
		return
	}
	go func() {
		set, err := askSource(ctx, s)
		m.end(at, sourceAnswer{set, err})
		answer <- sourceAnswer{set, err}
	}()
}

// askSource asks a source, which may panic.
func askSource(ctx context.Context, s Source) (set *ToolSet, err error) {
	err = safe.Call(fmt.Sprintf("Tools of %T", s), func() (err error) {
		set, err = s.Tools(ctx)
		return err
	})
	return set, err
}

// begin reports whether a source may be asked.
func (m *sourceMemory) begin(at sourceID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.sources[at]
	if p == nil {
		p = &sourceState{}
		m.sources[at] = p
	}
	if p.busy {
		return false
	}
	p.busy = true
	return true
}

// end records the answer of a source; nil beside an error keeps the old set.
func (m *sourceMemory) end(at sourceID, a sourceAnswer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.sources[at]
	p.busy = false
	if a.set != nil || a.err == nil {
		p.last = a.set
	}
}

func (m *sourceMemory) lastOf(at sourceID) *ToolSet {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sources[at].last
}
