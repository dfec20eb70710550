// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/redact"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// State is what a server is doing.
type State string

// The states of a server.
const (
	// StateConnecting: it is being connected for the first time.
	StateConnecting State = "connecting"
	// StateUp: it answers.
	StateUp State = "up"
	// StateDown: it does not answer, and is retried with growing pauses.
	StateDown State = "down"
	// StateSignIn: it refuses the headers that it gets.
	StateSignIn State = "sign-in needed"
	// StateDisabled: its configuration leaves it out.
	StateDisabled State = "disabled"
)

// Pauses between attempts to connect, and the least between a call's attempts.
const (
	firstPause     = 500 * time.Millisecond
	maxPause       = time.Minute
	callPause      = time.Second
	deadlineMargin = 100 * time.Millisecond // of the time of the caller that asks for tools
)

// link is the connection to one server, for one user or for all. One goroutine, run, makes
// sessions and reads lists; the others ask for that and wait.
//
// Every reason to read the list again increments wantVersion. A list that began when
// wantVersion was n sets haveVersion to n. So the tools are current if both are equal, and a
// reason that comes while a list is being read causes another read.
type link struct {
	servers   *Servers
	name      string
	server    Server
	user      string // "" for all
	ctx       context.Context
	cancel    context.CancelFunc
	wake      chan struct{}
	startedAt time.Time

	mu           sync.Mutex
	changes      chan struct{} // closed when any of the following changes
	asker        context.Context
	session      *session
	state        State
	stateSince   time.Time
	err          error
	isClosed     bool
	attempts     int64     // to connect, that have ended
	failures     int       // in a row
	lastFail     time.Time // of an attempt
	nextTry      time.Time
	isConnecting bool          // to connect
	connectNow   bool          // a call waits for an attempt
	sessionEnded chan struct{} // closed when the last session has ended

	wantVersion, haveVersion int64
	requestedDirectly        bool          // wantVersion was raised for another reason than a notice
	requiredVersion          int64         // wantVersion when it was raised last for such a reason
	noticePause              time.Duration // how long notices wait, since the last ones announced nothing
	noticesPausedUntil       time.Time
	noticePending            bool
	noticeExpectedBy         time.Time     // a notice may follow a call until then
	noticeWindowStart        time.Time     // the lists that notices asked for since then
	noticeTime               time.Duration // took so long
	validUntil               time.Time     // zero: until something happens

	tools        *toolset.Set
	remotes      map[string]*remoteTool // the tools of the last list, by the server's own names
	refusals     map[string]string      // tools that were refused, and why
	skippedCount int                    // how many, and why the last one
	lastSkipErr  error
}

func (s *Servers) newLink(ctx context.Context, name, user string) *link {
	l := &link{
		servers: s, name: name, server: s.servers[name], user: user, wake: make(chan struct{}, 1), changes: make(chan struct{}),
		asker: context.WithoutCancel(ctx), state: StateConnecting, stateSince: time.Now(), startedAt: time.Now(), tools: &toolset.Set{},
	}
	l.ctx, l.cancel = context.WithCancel(s.ctx)
	if !s.work.start(l.run) {
		l.cancel()
		l.isClosed = true
	}
	return l
}

// run works until the link ends.
func (l *link) run() {
	for l.ctx.Err() == nil {
		todo, wait := l.nextTask()
		if todo != nil {
			todo()
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-l.wake:
		case <-timer.C:
		case <-l.ctx.Done():
		}
		timer.Stop()
	}
	l.mu.Lock()
	s := l.session
	l.session, l.isClosed = nil, true
	l.notifyWaiters()
	l.mu.Unlock()
	if s != nil {
		s.close(errEnded)
	}
}

// nextTask returns what to do now, or how long to wait.
func (l *link) nextTask() (todo func(), wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.session == nil {
		if wait := l.nextTry.Sub(now); wait > 0 && !l.connectNow {
			return nil, wait
		}
		return l.connect, 0
	}
	if l.noticePending && !now.Before(l.noticesPausedUntil) {
		l.noticePending = false
		l.wantVersion++
	}
	switch {
	case l.haveVersion < l.wantVersion:
		return l.readList, 0
	case l.noticePending:
		return nil, l.noticesPausedUntil.Sub(now)
	}
	return nil, time.Hour
}

// notifyWaiters wakes every goroutine that waits for a change. The lock is held.
func (l *link) notifyWaiters() {
	close(l.changes)
	l.changes = make(chan struct{})
}

// nudge makes run check again what to do.
func (l *link) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *link) setState(state State, err error) {
	if l.state != state {
		l.state, l.stateSince = state, time.Now()
	}
	l.err = err
}

func (l *link) connect() {
	l.mu.Lock()
	asker, ending := l.asker, l.sessionEnded
	l.isConnecting = true
	l.mu.Unlock()
	if ending != nil {
		<-ending // two processes of one server could interfere with each other
	}
	s, err := l.dial(asker)
	l.mu.Lock()
	l.isConnecting, l.connectNow = false, false
	l.attempts++
	if err != nil {
		l.lastFail = time.Now()
	}
	l.mu.Unlock()
	if err != nil {
		l.handleFailure(err)
		return
	}
	if !l.servers.work.start(func() { l.watch(s) }) {
		s.close(errEnded)
		return
	}
	l.mu.Lock()
	l.session = s
	l.setState(StateUp, nil)
	l.wantVersion++
	l.requiredVersion = l.wantVersion
	l.requestedDirectly, l.noticePending = true, false
	l.notifyWaiters()
	l.mu.Unlock()
	l.servers.emit(l.ctx, einolean.Event{Kind: einolean.KindServerUp, Server: l.name})
}

// handleFailure records that the server cannot be used, and when to try again.
func (l *link) handleFailure(err error) {
	if l.ctx.Err() != nil {
		return
	}
	if !errors.As(err, new(*failure)) {
		err = &failure{StateDown, l.redact(nil, err.Error()), err}
	}
	l.mu.Lock()
	l.nextTry = time.Now().Add(l.nextPause())
	isRepeated := l.state != StateConnecting && l.state != StateUp && l.err != nil && l.err.Error() == err.Error()
	state, cause := StateDown, new(failure)
	if errors.As(err, &cause) {
		state = cause.state
	}
	l.setState(state, err)
	l.notifyWaiters()
	l.mu.Unlock()
	if !isRepeated {
		l.servers.emit(l.ctx, einolean.Event{Kind: einolean.KindServerDown, Server: l.name, Err: err})
	}
}

// watch waits for the end of a session.
func (l *link) watch(s *session) {
	err := s.client.Wait()
	if err == nil {
		err = errors.New("the server ended the connection")
	}
	l.dropSession(s, err)
}

// nextPause returns how long to wait after one more failure. The lock is held.
func (l *link) nextPause() time.Duration {
	pause := min(maxPause, firstPause<<min(l.failures, 10))
	l.failures++
	return time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))
}

// dropSession drops a session that is no longer usable. It ends in the background.
func (l *link) dropSession(s *session, err error) {
	l.mu.Lock()
	isCurrent := l.session == s && l.ctx.Err() == nil
	ended := make(chan struct{})
	if isCurrent {
		l.session, l.sessionEnded = nil, ended
	}
	l.mu.Unlock()
	if !isCurrent {
		return
	}
	err = fmt.Errorf("the connection broke: %w", s.explain(err))
	s.cancel(err)
	finish := func() {
		s.close(err)
		close(ended)
	}
	if !l.servers.work.start(finish) {
		finish()
	}
	l.handleFailure(err)
	l.nudge()
}

// requestList makes run read the list again.
func (l *link) requestList() {
	l.mu.Lock()
	l.wantVersion++
	l.requiredVersion = l.wantVersion
	l.requestedDirectly = true
	l.mu.Unlock()
	l.nudge()
}

// handleListChanged handles the server's notification that its list changed. Notifications that
// announce nothing new are delayed longer and longer, since some servers send one with every list.
func (l *link) handleListChanged(s *session) {
	l.mu.Lock()
	if l.session == s {
		followsCall := !l.noticeExpectedBy.IsZero()
		l.noticeExpectedBy = time.Time{}
		if time.Now().Before(l.noticesPausedUntil) {
			l.noticePending = true
		} else {
			l.wantVersion++
		}
		if followsCall {
			l.requiredVersion = l.wantVersion
		}
		l.notifyWaiters()
	}
	l.mu.Unlock()
	l.nudge()
}

// handleCallEnd handles the end of a call, successful or not: the list may have changed.
func (l *link) handleCallEnd(s *session, h Hints) {
	if h.ReadOnly || !s.listChanged {
		return
	}
	if !l.server.NoRecheck {
		l.requestList()
		return
	}
	l.mu.Lock()
	if l.haveVersion == l.wantVersion && !l.noticePending {
		l.noticeExpectedBy = time.Now().Add(noticeTimeout)
	}
	l.mu.Unlock()
}

// waitTools returns the server's tools. It waits until deadline for a list that is being read, and
// longer for a server that was never connected. It always leaves some of the time of ctx, since the
// caller must answer before its own deadline.
func (l *link) waitTools(ctx context.Context, deadline time.Time) *toolset.Set {
	end, limited := ctx.Deadline()
	end = end.Add(-min(time.Until(end)/10, deadlineMargin))
	for {
		set, wait, changed := l.currentTools(deadline)
		if limited {
			wait = min(wait, time.Until(end))
		}
		if wait <= 0 || ctx.Err() != nil {
			return set
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return set
		}
		timer.Stop()
	}
}

// currentTools returns the current set and how long to wait at most for a newer one.
func (l *link) currentTools(deadline time.Time) (set *toolset.Set, wait time.Duration, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch {
	case l.isClosed:
		return l.tools, 0, nil
	case l.haveVersion == 0 && l.failures == 0 && now.Before(l.startedAt.Add(firstWait)):
		if patient := l.startedAt.Add(firstWait); patient.After(deadline) {
			deadline = patient
		}
	case l.session == nil:
		return l.tools, 0, nil // it is down: its tools stay, and calls try to reach it
	}
	if l.session != nil && !l.validUntil.IsZero() && now.After(l.validUntil) {
		l.validUntil = time.Time{}
		l.wantVersion++
		l.requiredVersion = l.wantVersion
		l.requestedDirectly = true
		l.nudge()
	}
	hasRequired := l.haveVersion > 0 && l.haveVersion >= l.requiredVersion
	if l.session != nil && hasRequired && l.haveVersion < l.wantVersion && l.noticePause > 0 {
		return l.tools, 0, nil // only for notices of a server whose last ones announced nothing new
	}
	if l.session != nil && l.haveVersion == l.wantVersion {
		deadline = earlier(deadline, l.noticeExpectedBy)
	}
	return l.tools, deadline.Sub(now), l.changes
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// waitSession returns a session for a call, which may have to be connected first. A call connects at
// once, unless an attempt failed less than a second ago.
func (l *link) waitSession(ctx context.Context) (*session, error) {
	attemptsBefore := int64(-1) // the attempts so far when it asked for one
	for {
		l.mu.Lock()
		s, err, changed := l.session, l.err, l.changes
		closed := l.isClosed || l.ctx.Err() != nil
		failed := attemptsBefore >= 0 && l.attempts > attemptsBefore
		tooSoon := attemptsBefore < 0 && !l.isConnecting && time.Since(l.lastFail) < callPause
		if s == nil && attemptsBefore < 0 {
			attemptsBefore, l.connectNow = l.attempts, !tooSoon
		}
		l.mu.Unlock()
		switch {
		case closed:
			return nil, errClosed
		case s != nil:
			return s, nil
		case (failed || tooSoon) && err != nil: // without one, a session was lost and the reason comes in a moment
			return nil, err
		}
		l.nudge()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// waitListed waits until the server is up and has listed its tools. The error says why it is not, or has not.
func (l *link) waitListed(ctx context.Context) error {
	for {
		l.mu.Lock()
		isListed, err, changed := l.session != nil && l.haveVersion > 0 && l.err == nil, l.err, l.changes
		closed := l.isClosed || l.ctx.Err() != nil
		l.mu.Unlock()
		switch {
		case closed:
			return errClosed
		case isListed:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return cmp.Or(err, context.Cause(ctx))
		}
	}
}

func (l *link) timeout() time.Duration {
	if l.server.Timeout > 0 {
		return l.server.Timeout
	}
	return defaultTimeout
}

// status returns the server's entry for Status.
func (l *link) status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Status{
		Server: l.name, User: l.user, State: l.state, Since: l.stateSince, Err: l.err,
		Tools: len(l.remotes), Skipped: l.skippedCount, SkippedErr: l.lastSkipErr,
	}
	if l.session != nil {
		s.Protocol = l.session.protocol
	} else {
		s.NextTry = l.nextTry
	}
	return s
}

// dial connects to the server. The values of asker are those that Header is asked with.
func (l *link) dial(asker context.Context) (s *session, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("connecting panicked: %v", p)
		}
	}()
	ctx, end := context.WithCancelCause(valueContext{l.ctx, context.WithoutCancel(asker)})
	s = &session{
		redact: l.redact, ctx: ctx, cancel: end, lastOutput: &outputTail{}, work: &l.servers.work, wire: newWire(),
		calls: map[string]*openCall{}, pageMemory: map[string]int64{},
	}
	timer := time.AfterFunc(l.connectTimeout(), func() { end(errNoAnswer) })
	err = s.connect(l)
	if !timer.Stop() && err == nil {
		err = errNoAnswer
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		s.close(err)
		return nil, s.explain(err)
	}
	return s, nil
}

// connectTimeout returns how long one connection may take. A program may have to be installed and
// compiled first, so it gets longer: with a short limit it would never finish.
func (l *link) connectTimeout() time.Duration {
	if l.server.Command != "" {
		return l.servers.startTimeout
	}
	return l.servers.connectTimeout
}

// newTransport returns the transport that reaches the server.
func (l *link) newTransport(s *session) (mcp.Transport, error) {
	if l.server.Transport != nil {
		t, err := callUser(s.ctx, "Transport", func() (mcp.Transport, error) { return l.server.Transport(s.ctx) })
		if err == nil && t == nil {
			err = errors.New("the function Transport returned no transport")
		}
		return s.wire.tapTransport(t), err
	}
	if l.server.Command != "" {
		logLine := func(line []byte) { l.servers.log(l.name, []byte(l.redact(s, string(line)))) }
		return &command{
			server: l.server, lastOutput: s.lastOutput, wire: s.wire, pace: newPace(s.ctx.Done()), logLine: logLine,
		}, nil
	}
	origin, err := url.Parse(l.server.URL)
	if err != nil {
		return nil, err
	}
	s.headers = &headerTransport{
		origin: origin, fixedHeaders: l.server.Headers, headerFunc: l.servers.headers(l.name),
		wire: s.wire, pace: newPace(s.ctx.Done()),
	}
	if ask := s.headers.headerFunc; ask != nil && l.user == "" { // a caller's context would lend one user's headers to all
		s.headers.headerFunc = func(ctx context.Context) (http.Header, error) { return ask(valueContext{ctx, s.ctx}) }
	}
	if err := s.headers.refresh(s.ctx, 0); err != nil {
		return nil, fmt.Errorf("asking Header: %w", err)
	}
	client := s.headers.client(l.servers.http, l.user != "")
	if l.server.Type == "sse" {
		return &mcp.SSEClientTransport{Endpoint: l.server.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
	}
	return &mcp.StreamableClientTransport{Endpoint: l.server.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
}

// readList reads the list of tools once.
func (l *link) readList() {
	l.mu.Lock()
	s, began := l.session, l.wantVersion
	byNotice := !l.requestedDirectly
	l.requestedDirectly = false
	l.mu.Unlock()
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeoutCause(s.ctx, listTimeout, errNoAnswer)
	defer cancel()
	s.ttl.Store(0)
	start := time.Now()
	l.mu.Lock()
	asker := l.asker
	l.mu.Unlock()
	meta, err := l.servers.meta(valueContext{ctx, asker}, MetaRequest{Server: l.name, User: l.user, List: true})
	if err != nil {
		l.handleListFailure(began, s.explain(err))
		return
	}
	tools, err := s.listTools(ctx, meta)
	if err == nil {
		err = l.applyList(began, byNotice, s, tools)
		if byNotice {
			l.throttleNotices(time.Since(start))
		}
	}
	switch {
	case err == nil || s.ctx.Err() != nil:
	case isAnswer(err):
		l.handleListFailure(began, s.explain(err))
	default:
		l.dropSession(s, err)
	}
}

// handleListFailure keeps the last list, and tries again later.
func (l *link) handleListFailure(began int64, err error) {
	l.mu.Lock()
	l.haveVersion = began
	l.noticePending, l.noticesPausedUntil = true, time.Now().Add(l.nextPause())
	l.err = err
	l.notifyWaiters()
	l.mu.Unlock()
	l.servers.emit(l.ctx, einolean.Event{Kind: einolean.KindServerListed, Server: l.name, Err: err})
}

// What lists that notices asked for may take of the processor before they leave it to others:
// so much of so long.
const (
	noticeShare  = 200 * time.Millisecond
	noticeWindow = 2 * time.Second
)

// throttleNotices delays notices by the time of the last list if they keep the processor busy.
func (l *link) throttleNotices(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.noticeWindowStart) > noticeWindow {
		l.noticeWindowStart, l.noticeTime = now, 0
	}
	l.noticeTime += took
	if pauseEnd := now.Add(min(took, maxNoticePause)); l.noticeTime > noticeShare && l.noticesPausedUntil.Before(pauseEnd) {
		l.noticesPausedUntil = pauseEnd
	}
}

// applyList sets the server's tools from a list.
func (l *link) applyList(began int64, byNotice bool, s *session, tools []*mcp.Tool) error {
	l.mu.Lock()
	d := listUpdate{
		link: l, session: s, previous: l.remotes, remotes: map[string]*remoteTool{}, ownNames: map[string]string{},
		refusals: map[string]string{}, reportedRefusals: l.refusals,
	}
	first, set := l.haveVersion == 0, l.tools
	l.mu.Unlock()
	d.instructions = strings.TrimSpace(strings.ToValidUTF8(s.instructions[:min(len(s.instructions), maxInstructions)], ""))
	for _, t := range tools {
		d.add(t)
	}
	next, err := set.Update(l.ctx, d.tools...)
	if err != nil {
		d.refuseUnusable()
		next, err = set.Update(l.ctx, d.tools...)
	}
	if err != nil {
		return listError(err.Error())
	}
	change := d.change(set)
	l.mu.Lock()
	if l.session != s {
		l.mu.Unlock()
		return nil
	}
	l.tools, l.remotes, l.refusals, l.haveVersion = next, d.remotes, d.refusals, began
	l.skippedCount, l.lastSkipErr = d.skippedCount, d.lastSkipErr
	l.failures, l.err = 0, nil
	l.validUntil = time.Time{}
	if ttl := s.ttl.Load(); ttl > 0 {
		l.validUntil = time.Now().Add(time.Duration(ttl) * time.Millisecond)
	}
	switch {
	case next != set:
		l.noticePause = 0
	case byNotice:
		l.noticePause = min(maxNoticePause, max(firstNoticePause, 2*l.noticePause))
		l.noticesPausedUntil = time.Now().Add(l.noticePause)
	}
	l.notifyWaiters()
	l.mu.Unlock()
	if first || next != set {
		l.servers.emit(l.ctx, einolean.Event{Kind: einolean.KindServerListed, Server: l.name, Tools: change})
	}
	return nil
}

// newRemote makes the tool of a definition, or returns the last one if nothing changed.
func (l *link) newRemote(t *mcp.Tool, instructions string, before *remoteTool) (*remoteTool, error) {
	switch inputSchema := t.InputSchema.(type) {
	case oversizedSchema:
		return nil, fmt.Errorf("its definition has %d bytes at least, over %d", int64(inputSchema), maxDefinition)
	case unreadableSchema:
		return nil, fmt.Errorf("its definition cannot be read: %w", inputSchema.error)
	}
	definition, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	if before != nil && string(before.definition) == string(definition) && before.instructions == instructions {
		return before, nil
	}
	if len(definition) > maxDefinition {
		return nil, fmt.Errorf("its definition has %d bytes, over %d", len(definition), maxDefinition)
	}
	params, repaired, keys, err := repairedParameters(t)
	if err != nil {
		return nil, err
	}
	r := &remoteTool{
		servers: l.servers, hints: hintsOf(l.name, t), definition: definition, isRepaired: repaired, propertyNames: keys,
		instructions: instructions,
	}
	extra := l.extra(r, t)
	name := toolName(l.name, t.Name, !l.server.NoPrefix, l.servers.prefixes)
	r.info = &schema.ToolInfo{Name: name, Desc: t.Description, ParamsOneOf: params, Extra: extra}
	r.tool = &textTool{r}
	if l.servers.options.Media {
		r.tool = &mediaTool{r}
	}
	return r, nil
}

// extra returns what a tool's info contains besides its schema.
func (l *link) extra(r *remoteTool, t *mcp.Tool) map[string]any {
	extra := r.hints.extra(t)
	if output, ok := t.OutputSchema.(map[string]any); ok {
		repaired, _ := toolschema.Repair(output)
		if text, err := json.Marshal(repaired); err == nil && len(text) <= maxOutput {
			extra[toolset.OutputSchemaKey] = string(text)
		}
	}
	if r.instructions != "" {
		extra[toolset.PhrasesKey] = r.instructions // a text, which every checkpoint holds
	}
	if always, _ := t.Meta["anthropic/alwaysLoad"].(bool); always || toolnames.Match(l.server.AlwaysVisible, t.Name) {
		extra[keyDefer] = false
	}
	return extra
}

// redact removes secrets from texts of the server: those that it received.
func (l *link) redact(s *session, text string) string {
	secrets := l.server.secrets()
	if s != nil && s.headers != nil {
		secrets = append(secrets, s.headers.secrets()...)
	}
	return redact.Text(text, secrets...)
}

// waitSessionLimited is waitSession, limited to the time that a call may take.
func (l *link) waitSessionLimited(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, min(l.timeout(), defaultConnectTimeout), errNoAnswer)
	defer cancel()
	return l.waitSession(ctx)
}

// unreachableAnswer is the answer where there is no session.
func (l *link) unreachableAnswer(err error) string {
	l.mu.Lock()
	stateSince, state := l.stateSince, l.state
	l.mu.Unlock()
	switch {
	case errors.Is(err, errClosed):
		return answerText("closed", answerData{})
	case state == StateSignIn:
		return answerText("sign-in", answerData{Server: l.name})
	}
	return answerText("down", answerData{Server: l.name, Time: stateSince.Format("15:04")})
}

// busyAnswer is the answer to a call that the server did not accept, because it has too many.
func (l *link) busyAnswer(s *session, err error, after string) string {
	w := answerData{Server: l.name}
	if after != "-" {
		w.Time = l.redact(s, after)
		if _, err := strconv.Atoi(after); err == nil {
			w.Time += " s"
		}
	}
	if a := serverError(err); a != nil {
		w.Text = l.redact(s, a.Message)
	}
	return answerText("busy", w)
}

// failureAnswer returns the answer to a call that failed, and whether the session is no longer usable.
func (l *link) failureAnswer(s *session, err error) (answer string, broken bool) {
	if a := serverError(err); a != nil {
		return answerText("failed", answerData{Text: l.redact(s, display.Start(a.Message, maxErrorBytes))}), false
	}
	if errors.Is(err, errNoAnswer) {
		l.requestList() // if the server does not answer that either, the session ends
		return answerText("late", answerData{Server: l.name, Limit: l.timeout().String()}), false
	}
	if s.isUnreadable(err) {
		return answerText("unreadable", answerData{Server: l.name, Text: l.redact(s, err.Error())}), false
	}
	l.dropSession(s, err)
	if s.wantsSignIn() {
		return answerText("sign-in", answerData{Server: l.name}), true
	}
	if errors.Is(err, errEnded) || errors.Is(err, errClosed) {
		return answerText("closed", answerData{}), false
	}
	return answerText("lost", answerData{Server: l.name}), true
}
