// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Tools that come and go: what a Source is, how a run asks its sources, and how their sets
// become its group.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/components/tool"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/safe"
)

// Source provides tools that are not known when New is called, that differ between users,
// or that change during a run. It must be safe for concurrent use.
//
// It is asked at the start of a run and before every model call, and what it returns is
// offered in that call. So it should wait, for a bounded time, for a change that it knows is
// under way, and return when ctx is done. Returning the same set means that nothing changed,
// and costs nothing.
type Source interface {
	// Tools returns the tools of this moment for the user of ctx; nil is no tools. On an
	// error the run goes on with the set beside it, or, if that is nil, with the tools it
	// had, and OnEvent is told.
	Tools(ctx context.Context) (*ToolSet, error)
}

// PartialSource is a Source that knows what it lacks: servers that it should have tools of and
// has none, because they do not answer. A search that finds nothing, or that names one of
// them, tells the model so. MultiSource passes on what its sources lack.
type PartialSource interface {
	Source
	// Missing returns the names of these servers for the user of ctx. It is called in the
	// middle of a search and should return at once.
	Missing(ctx context.Context) []string
}

// NewSource returns a Source that calls list each time it is asked, and compares what that
// returns with the last set of the same key: see ToolSet.Update. Its tools are those of the
// user that key names. If key is nil, all share one list. If key returns an error or an
// empty key, there are no tools. If list fails, the last set of the key stands.
//
// Both functions must be safe for concurrent use and should return when ctx is done. The
// sets of the 1,000 keys asked for last are kept.
func NewSource(list func(context.Context) ([]tool.BaseTool, error), key func(context.Context) (string, error)) Source {
	return &listSource{list: list, key: key, sets: recent[string, *listing]{most: maxKeys}}
}

// MultiSource asks all sources at once, and returns the Union of their sets in their order:
// of two tools with one name that of the first source stays. One that fails, or that has
// not answered when ctx is done, keeps the set that it had in the run, and the others are
// as they are; the error beside the set names its place. Sources that are nil have no tools.
func MultiSource(sources ...Source) Source {
	m := &multiSource{sources: make([]Source, len(sources)), unions: recent[string, *union]{most: maxKeys}}
	for i, s := range sources {
		if !safe.IsNil(s) {
			m.sources[i] = s
		}
	}
	return m
}

// sourceTimeout is how long a Source may take that sets no bound of its own.
const sourceTimeout = 2 * time.Second

// sources is what a run knows of tools that come and go. It belongs to the hooks.
type sources struct {
	asked   map[*settings]sourceSet
	failing map[*settings]bool // the Source failed the last time
	stale   stringSet          // names of tools that the model sees, whose definition has changed
}

// sourceSet is what a Source returned, and what the run makes of it.
type sourceSet struct {
	set, usable *ToolSet
	own         int // how many tools the agent had of its own
}

// refresh asks the sources for the tools of this moment. It reports whether there are other
// ones than before.
func (s *sources) refresh(ctx context.Context, r *run) bool {
	old := r.group()
	if !hasSource(old.members) {
		return false
	}
	s.stale = nil
	next := make([]member, len(old.members))
	changed := false
	for i, m := range old.members {
		next[i] = m
		if m.settings.cfg.Source == nil {
			continue
		}
		next[i].set = s.usableSet(ctx, r, m.settings)
		changed = changed || next[i].set != m.set
	}
	if !changed {
		return false
	}
	g, err := groupOf(ctx, next)
	if err != nil { // only by an index, which is not an error where tools come and go
		return false
	}
	r.setGroup(g)
	s.noteGone(&r.notes, old, g)
	for _, name := range g.refused {
		r.reported.emitRefused(ctx, g.settings, name)
	}
	return true
}

// usableSet is the set of an instance's Source without tools whose name the agent has already.
func (s *sources) usableSet(ctx context.Context, r *run, owner *settings) *ToolSet {
	set, own, last := s.ask(ctx, owner), r.agent.own, s.asked[owner]
	if last.set == set && last.own == len(own) {
		return last.usable
	}
	taken := false
	for name := range own {
		if set.lookup(name) != nil {
			taken = true
			r.reported.emitRefused(ctx, owner, name)
		}
	}
	usable := set
	if taken {
		usable = set.filtered(func(e *entry) bool { return !own[e.info.Name] })
	}
	if s.asked == nil {
		s.asked = map[*settings]sourceSet{}
	}
	s.asked[owner] = sourceSet{set, usable, len(own)}
	return usable
}

// ask asks the Source of an instance. On an error, and while it has not answered an earlier
// question, the run keeps the set it had.
func (s *sources) ask(ctx context.Context, owner *settings) *ToolSet {
	if set, ok := owner.cfg.Source.(*ToolSet); ok {
		return set
	}
	memory, at := memoryOf(ctx), sourceID{&owner.sourceKey, 0}
	within, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	answer := make(chan sourceAnswer, 1)
	memory.ask(within, at, owner.cfg.Source, answer)
	a := wait(within, answer)
	if a.err == nil {
		delete(s.failing, owner)
		return a.set
	}
	if a.set == nil {
		a.set = s.asked[owner].set
	}
	if ctx.Err() == nil && !s.failing[owner] {
		if s.failing == nil {
			s.failing = map[*settings]bool{}
		}
		s.failing[owner] = true
		owner.emit(ctx, leanctx.Event{Kind: leanctx.KindSourceFailed, Err: fmt.Errorf("toolsearch: Source: %w", a.err)})
	}
	return a.set
}

// noteGone notes the tools of sources that no longer exist, and those that the model sees and
// that are others now.
func (s *sources) noteGone(n *notes, old, now *group) {
	for i, m := range old.members {
		came := now.members[i].set.beside(m.set)
		for e := range m.set.beside(now.members[i].set).entries() {
			if came.lookup(e.info.Name) == nil && now.cat.lookup(e.info.Name) == nil {
				n.noteHad(e.info.Name)
			}
		}
	}
	for _, name := range n.shownInProcess() { // of this process: a resumed run lists all again
		before, after := old.cat.lookup(name), now.cat.lookup(name)
		if before != nil && after != nil && before != after && before.definition() != after.definition() {
			s.stale.add(name)
		}
	}
}

type listSource struct {
	list func(context.Context) ([]tool.BaseTool, error)
	key  func(context.Context) (string, error)

	mu   sync.Mutex
	asks int64
	sets recent[string, *listing]
}

// listing is what a key's last list gave.
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
	if now, _ := s.sets.get(key); now == nil || now.ask < ask {
		s.sets.put(key, &listing{ask, set})
	}
	return set, nil
}

// userOf is whose tools are asked for.
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
	if l, ok := s.sets.get(key); ok {
		return *l
	}
	return listing{}
}

type multiSource struct {
	sources []Source

	mu     sync.Mutex
	unions recent[string, *union]
}

// union is a set that was put together, and of what, which keeps the key of the parts theirs.
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

// missingFrom asks a source, which may panic, what it lacks.
func missingFrom(ctx context.Context, s Source) []string {
	p, ok := s.(PartialSource)
	if !ok {
		return nil
	}
	servers, _ := safe.Value(fmt.Sprintf("Missing of %T", s), func() ([]string, error) { return p.Missing(ctx), nil })
	return servers
}

// missing are the servers whose tools cannot be offered now, each once.
func (g *group) missing(ctx context.Context) (servers []string) {
	for _, m := range g.members {
		for _, name := range missingFrom(ctx, m.settings.cfg.Source) {
			if name != "" && !slices.Contains(servers, name) {
				servers = append(servers, name)
			}
		}
	}
	return servers
}

// wait returns what a source answers; the answers that are there count even if ctx is done.
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
	if u, ok := m.unions.get(key.String()); ok {
		return u.whole
	}
	u := &union{sets, Union(sets...)}
	m.unions.put(key.String(), u)
	return u.whole
}

// sourceAnswer is what a source returned.
type sourceAnswer struct {
	set *ToolSet
	err error
}

// sourceID is one of the sources of a MultiSource.
type sourceID struct {
	multi *multiSource
	at    int
}

// sourceMemory is what one run remembers of the sources in a MultiSource. It belongs to the
// run, since a source may answer each user differently.
type sourceMemory struct {
	mu      sync.Mutex
	sources map[sourceID]*sourceState
}

type sourceState struct {
	last *ToolSet
	busy bool // it has not answered yet, and is not asked again before it has
}

type sourceMemoryKey struct{}

// withSourceMemory returns a context in which each source of a MultiSource keeps the last
// set that it returned: that of a run.
func withSourceMemory(ctx context.Context) context.Context {
	return context.WithValue(ctx, sourceMemoryKey{}, newSourceMemory())
}

func newSourceMemory() *sourceMemory {
	return &sourceMemory{sources: map[sourceID]*sourceState{}}
}

// memoryOf is the memory of the run of ctx; outside of a run, one that nothing is in.
func memoryOf(ctx context.Context) *sourceMemory {
	if m, ok := ctx.Value(sourceMemoryKey{}).(*sourceMemory); ok {
		return m
	}
	return newSourceMemory()
}

// errBusy is the answer for a source that is still at the last question.
var errBusy = errors.New("it has not answered the last time that it was asked")

// ask asks a source in a goroutine of its own, which ends when the source returns.
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

// end notes what a source returned; nil beside an error leaves what it had.
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
