// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/redact"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/warn"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// Servers holds the connections to a set of MCP servers. It is a toolset.Source and safe for concurrent
// use. Close it when it is no longer used.
type Servers struct {
	servers      map[string]Server
	names        []string // in order
	prefixes     []string // those of the names that stand before the names of tools
	options      Options
	http         *http.Client
	ownTransport *http.Transport // of http; nil: it is the caller's
	ctx          context.Context
	cancel       context.CancelFunc
	work         workGroup
	idleLimit    time.Duration
	userLimit    int // users

	openedAt time.Time

	connectTimeout, startTimeout time.Duration // the limits of connections, and of those to programs

	mu          sync.Mutex
	sharedLinks map[string]*link
	users       map[string]*user
}

// user is the sessions of one user.
type user struct {
	links    map[string]*link // those that are not shared
	calls    int
	lastUsed time.Time

	sets       []*toolset.Set
	union      *toolset.Set
	collisions map[string]bool // reported tools whose name another server has
}

// errClosed is the error of everything after Close.
var errClosed = errors.New("mcptools: the servers are closed")

// Open connects to all servers at once. It returns when each has listed its tools or failed
// to, when ctx is done, or after 10 s, and continues to connect the others in the
// background. With Options.User, only shared servers are connected now; a user's servers
// are connected when their tools are first asked for.
//
// A server that is down appears in Status, not in the error, which names every mistake in
// servers and options. ctx bounds only the wait; Close ends the servers. Open may keep the
// maps and slices of servers, which must not change later.
func Open(ctx context.Context, servers map[string]Server, o Options) (*Servers, error) {
	if err := checkAll(servers, o); err != nil {
		return nil, err
	}
	logConfig(ctx, servers)
	return newServers(servers, o).open(ctx)
}

// open connects to the servers that are not a user's own.
func (s *Servers) open(ctx context.Context) (*Servers, error) {
	if s.options.User == nil {
		s.mu.Lock()
		_, err := s.userOf(ctx, "")
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
	} else if !s.work.start(s.closeIdle) {
		return nil, errClosed
	}
	for _, name := range s.names {
		if s.isShared(name) {
			s.sharedLinks[name] = s.newLink(ctx, name, "")
		}
	}
	for _, l := range s.links("") {
		l.waitTools(ctx, time.Now())
	}
	s.logConnecting(ctx)
	return s, nil
}

func newServers(servers map[string]Server, o Options) *Servers {
	s := &Servers{
		openedAt: time.Now(), options: o, servers: map[string]Server{}, sharedLinks: map[string]*link{},
		users: map[string]*user{}, idleLimit: idleLimit, userLimit: maxUsers,
		connectTimeout: defaultConnectTimeout, startTimeout: defaultStartTimeout,
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s.servers[name] = servers[name]
		if !servers[name].Disabled && servers[name].problem == nil {
			s.names = append(s.names, name)
			if !servers[name].NoPrefix {
				s.prefixes = append(s.prefixes, name)
			}
		}
	}
	if s.options.MaxWait == 0 {
		s.options.MaxWait = defaultMaxWait
	}
	if s.http = o.HTTPClient; s.http == nil {
		s.ownTransport = newHTTPTransport()
		s.http = &http.Client{Transport: s.ownTransport}
	}
	return s
}

// isShared reports whether a server has one session for all users.
func (s *Servers) isShared(name string) bool { return s.options.User != nil && s.servers[name].Shared }

// Tools returns the tools of all servers for the user of ctx, ordered by server, and for each
// in the server's order. It waits up to Options.MaxWait for lists that are being read, and up
// to 10 s for servers that the user reaches for the first time. A server that is down keeps
// its last tools. As long as nothing changes, the same set is returned.
func (s *Servers) Tools(ctx context.Context) (*toolset.Set, error) {
	u, done, err := s.use(ctx)
	if err != nil {
		return &toolset.Set{}, err
	}
	defer done()
	deadline := time.Now().Add(s.options.MaxWait)
	sets := make([]*toolset.Set, len(s.names))
	for i, name := range s.names {
		sets[i] = s.linkOf(u, name).waitTools(ctx, deadline)
	}
	set := s.union(u, sets)
	if missing := s.missingServers(u); len(missing) > 0 {
		return set, &toolset.Missing{Servers: missing}
	}
	return set, nil
}

// union returns the union of the sets, the same for the same sets.
func (s *Servers) union(u *user, sets []*toolset.Set) *toolset.Set {
	s.mu.Lock()
	unchanged := u.union != nil && slices.Equal(u.sets, sets)
	if !unchanged {
		u.sets, u.union = sets, toolset.Union(sets...)
	}
	union, reported := u.union, u.collisions
	s.mu.Unlock()
	if !unchanged {
		collisions := s.reportCollisions(sets, reported)
		s.mu.Lock()
		u.collisions = collisions
		s.mu.Unlock()
	}
	return union
}

// reportCollisions emits an event for each tool whose name an earlier server has, unless it was
// reported. It returns all collisions.
func (s *Servers) reportCollisions(sets []*toolset.Set, reported map[string]bool) (collisions map[string]bool) {
	owners, collisions := map[string]string{}, map[string]bool{}
	for i, set := range sets {
		set.Select(func(info *schema.ToolInfo) bool {
			owner, ok := owners[info.Name]
			if !ok {
				owners[info.Name] = s.names[i]
				return false
			}
			key := s.names[i] + "\x00" + info.Name
			collisions[key] = true
			if !reported[key] {
				err := fmt.Errorf("tool name %s collides with a tool of server %q", info.Name, owner)
				s.emit(s.ctx, einolean.Event{Kind: einolean.KindToolRefused, Server: s.names[i], Tool: HintsOf(info).Tool, Err: err})
			}
			return false
		})
	}
	return collisions
}

// key returns the key of the user of ctx.
func (s *Servers) key(ctx context.Context) (key string, err error) {
	if s.options.User == nil {
		return "", nil
	}
	defer func() {
		if p := recover(); p != nil {
			key, err = "", fmt.Errorf("mcptools: User panicked: %v", p)
		}
	}()
	if key, err = s.options.User(ctx); err == nil && key == "" {
		err = errors.New("mcptools: User returned an empty key")
	}
	return key, err
}

// userOf returns a user, whose links begin now if there are none. The lock is held.
func (s *Servers) userOf(ctx context.Context, key string) (*user, error) {
	if s.ctx.Err() != nil {
		return nil, errClosed
	}
	u := s.users[key]
	if u == nil {
		if len(s.users) >= s.userLimit && !s.endOldest() {
			return nil, fmt.Errorf("mcptools: %d users have calls under way, and there is no room for more", s.userLimit)
		}
		u = &user{links: map[string]*link{}}
		for _, name := range s.names {
			if !s.isShared(name) {
				u.links[name] = s.newLink(ctx, name, key)
			}
		}
		s.users[key] = u
	}
	u.lastUsed = time.Now()
	if s.options.User == nil {
		return u, nil // the sessions are everybody's: they ask as who opened them
	}
	for _, l := range u.links {
		l.mu.Lock()
		l.asker = context.WithoutCancel(ctx)
		l.mu.Unlock()
	}
	return u, nil
}

// endOldest ends the sessions of the user who needed them least recently. The lock is held.
func (s *Servers) endOldest() bool {
	oldest := ""
	for key, u := range s.users {
		if u.calls == 0 && (s.users[oldest] == nil || u.lastUsed.Before(s.users[oldest].lastUsed)) {
			oldest = key
		}
	}
	return s.endUser(oldest)
}

// endUser ends the sessions of a user. The lock is held.
func (s *Servers) endUser(key string) bool {
	u := s.users[key]
	if u == nil {
		return false
	}
	for _, l := range u.links {
		l.cancel()
	}
	delete(s.users, key)
	return true
}

// closeIdle ends the sessions of users who have not needed them for long.
func (s *Servers) closeIdle() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(s.idleLimit / 4):
		}
		s.mu.Lock()
		for key, u := range s.users {
			if u.calls == 0 && time.Since(u.lastUsed) > s.idleLimit {
				s.endUser(key)
			}
		}
		s.mu.Unlock()
	}
}

// linkOf is a user's connection to a server.
func (s *Servers) linkOf(u *user, name string) *link {
	if l := u.links[name]; l != nil {
		return l
	}
	return s.sharedLinks[name]
}

// use returns the user of ctx, whose sessions stay until done.
func (s *Servers) use(ctx context.Context) (u *user, done func(), err error) {
	key, err := s.key(ctx)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if u, err = s.userOf(ctx, key); err != nil {
		return nil, nil, err
	}
	u.calls++
	return u, func() {
		s.mu.Lock()
		u.calls--
		u.lastUsed = time.Now()
		s.mu.Unlock()
	}, nil
}

// Status is the state of one server, for one user or for all.
type Status struct {
	// Server is its name, and User the key of the user whose session it is, or "" for all.
	Server, User string
	// State is what it is doing.
	State State
	// Since is when that state began.
	Since time.Time
	// Tools is how many tools it has, as last listed.
	Tools int
	// Skipped is how many tools of that list were left out, and SkippedErr why the last of them was.
	Skipped    int
	SkippedErr error
	// Protocol is the version of MCP that the session speaks, if there is a session.
	Protocol string
	// Err is why it is not up, or why its list could not be read.
	Err error
	// NextTry is when the next attempt to connect is due, if it is not connected.
	NextTry time.Time
}

// Status returns the state of every server, ordered by name and then by user.
func (s *Servers) Status() []Status {
	s.mu.Lock()
	keys := slices.Sorted(maps.Keys(s.users))
	s.mu.Unlock()
	var all []Status
	for _, name := range slices.Sorted(maps.Keys(s.servers)) {
		if s.servers[name].Disabled {
			all = append(all, Status{Server: name, State: StateDisabled})
			continue
		}
		if err := s.servers[name].problem; err != nil {
			all = append(all, Status{Server: name, State: StateDown, Since: s.openedAt, Err: err})
			continue
		}
		if l := s.sharedLinks[name]; l != nil {
			all = append(all, l.status())
			continue
		}
		for _, key := range keys {
			if l := s.linkIf(key, name); l != nil {
				all = append(all, l.status())
			}
		}
	}
	return all
}

// missingServers returns the servers that have shown no tools to a user because they fail. A server
// that is down keeps the tools that it has shown before.
func (s *Servers) missingServers(u *user) (names []string) {
	for _, name := range s.names {
		if st := s.linkOf(u, name).status(); st.Tools == 0 && (st.State != StateUp || st.Err != nil) {
			names = append(names, name)
		}
	}
	for name, server := range s.servers {
		if server.problem != nil && !server.Disabled {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Wait returns when all servers of the user of ctx are up and have listed their tools. If ctx is done
// before, its error names those that are not, and why: it serves a program's readiness check. Where
// ctx has no user, it waits for the shared servers. Connections that fail are made again meanwhile.
func (s *Servers) Wait(ctx context.Context) error {
	links := s.links("")
	u, done, err := s.use(ctx)
	switch {
	case err == nil:
		defer done()
		links = nil
		for _, name := range s.names {
			links = append(links, s.linkOf(u, name))
		}
	case s.options.User == nil || s.ctx.Err() != nil:
		return err
	}
	var missing []error
	for _, l := range links {
		if err := l.waitListed(ctx); err != nil {
			missing = append(missing, fmt.Errorf("mcptools: the server %q is not ready: %w", l.name, err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.servers)) {
		if server := s.servers[name]; server.problem != nil && !server.Disabled {
			missing = append(missing, fmt.Errorf("mcptools: the server %q is not started: %w", name, server.problem))
		}
	}
	return errors.Join(missing...)
}

// linkIf is a user's own connection to a server; nil if there is none.
func (s *Servers) linkIf(key, name string) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.users[key]; u != nil {
		return u.links[name]
	}
	return nil
}

// links are the connections of a user, and the shared ones.
func (s *Servers) links(key string) (all []*link) {
	for _, name := range s.names {
		if l := s.linkIf(key, name); l != nil {
			all = append(all, l)
		} else if l := s.sharedLinks[name]; l != nil {
			all = append(all, l)
		}
	}
	return all
}

// Close ends all sessions and then the processes of stdio servers: it closes their standard
// input, tells them to end after 2 s, and kills them after 2 s more. Calls in progress get
// an answer. Close returns when everything has ended, and always returns nil.
func (s *Servers) Close() error {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.work.close()
	if s.ownTransport != nil {
		s.ownTransport.CloseIdleConnections()
	}
	return nil
}

// emit calls OnEvent, also while the servers are being closed. Its panic changes nothing.
func (s *Servers) emit(ctx context.Context, e einolean.Event) {
	e.Time = time.Now()
	if s.options.OnEvent == nil {
		warn.Send(ctx, e.Level(), string(e.Kind)+": "+redact.Text(e.Server), e) // of each server one a minute
		return
	}
	send := func() (struct{}, error) {
		s.options.OnEvent(ctx, e)
		return struct{}{}, nil
	}
	_, _ = callUser(context.WithoutCancel(ctx), "OnEvent", send)
}

// log passes on a line of a server's standard error.
func (s *Servers) log(server string, line []byte) {
	if s.options.Logs != nil {
		_, _ = callUser(context.Background(), "Logs", func() (struct{}, error) { s.options.Logs(server, line); return struct{}{}, nil })
	}
}

// elicit asks Elicit. Its error, or an answer that does not fit, dismisses the question.
func (s *Servers) elicit(ctx context.Context, q Question) *mcp.ElicitResult {
	elicited, err := callUser(ctx, "Elicit", func() (*mcp.ElicitResult, error) {
		a, err := s.options.Elicit(ctx, q)
		if err != nil {
			return nil, err
		}
		elicited, _ := q.newElicitResult(a)
		return elicited, nil
	})
	if err != nil || elicited == nil {
		return &mcp.ElicitResult{Action: "cancel"}
	}
	return elicited
}

// headers asks Header for one server's headers; nil if there is no Header.
func (s *Servers) headers(server string) func(context.Context) (http.Header, error) {
	if s.options.Header == nil {
		return nil
	}
	return func(ctx context.Context) (http.Header, error) {
		return callUser(ctx, "Header", func() (http.Header, error) { return s.options.Header(ctx, server) })
	}
}

// meta asks Meta for the _meta of a request; nil if there is no Meta.
func (s *Servers) meta(ctx context.Context, r MetaRequest) (mcp.Meta, error) {
	if s.options.Meta == nil {
		return nil, nil
	}
	meta, err := callUser(ctx, "Meta", func() (map[string]any, error) { return s.options.Meta(ctx, r) })
	if err != nil {
		return nil, fmt.Errorf("asking Meta: %w", err)
	}
	return maps.Clone(meta), nil
}

// callUser runs a function of the user on its own goroutine. A panic, runtime.Goexit, or a function
// that never returns does not affect the servers.
func callUser[T any](ctx context.Context, name string, f func() (T, error)) (T, error) {
	return safe.Wait(ctx, "the function "+name, f)
}

// workGroup is a group of goroutines to wait for.
type workGroup struct {
	mu       sync.Mutex
	isClosed bool
	group    sync.WaitGroup
}

// start runs f in a goroutine, unless the work is closed.
func (g *workGroup) start(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isClosed {
		g.group.Go(f)
	}
	return !g.isClosed
}

// close returns when all have ended.
func (g *workGroup) close() {
	g.mu.Lock()
	g.isClosed = true
	g.mu.Unlock()
	g.group.Wait()
}
