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
	firstPause = 500 * time.Millisecond
	mostPause  = time.Minute
	callPause  = time.Second
	leftOver   = 100 * time.Millisecond // of the time of the caller that asks for tools
)

// link is the connection to one server, for one user or for all. One goroutine, run, makes
// sessions and reads lists; the others ask for that and wait.
//
// Every reason to read the list again increments want. A list that began when want was n
// sets have to n: so the set is fresh if have equals want, and a reason that comes while a
// list is being read causes another read.
type link struct {
	s      *Servers
	name   string
	server Server
	user   string // "" for all
	ctx    context.Context
	end    context.CancelFunc
	wake   chan struct{}
	began  time.Time

	mu       sync.Mutex
	changed  chan struct{} // closed when any of the following changes
	asker    context.Context
	session  *session
	state    State
	since    time.Time
	err      error
	closed   bool
	attempts int64     // to connect, that have ended
	failures int       // in a row
	lastFail time.Time // of an attempt
	nextTry  time.Time
	trying   bool          // to connect
	tryNow   bool          // a call waits for an attempt
	ending   chan struct{} // closed when the last session has ended

	want, have  int64
	byCall      bool          // want was raised for another reason than a notice
	needed      int64         // want when it was raised last for such a reason
	quiet       time.Duration // how long notices wait, since the last ones announced nothing
	quietUntil  time.Time
	noticeDue   bool
	noticeBy    time.Time     // a notice may follow a call until then
	noticeSince time.Time     // the lists that notices asked for since then
	noticeSpent time.Duration // took so long
	validUntil  time.Time     // zero: until something happens

	set     *toolset.Set
	known   map[string]*remote // the tools of the last list, by the server's own names
	refused map[string]string  // tools that were refused, and why
	skipped int                // how many, and why the last one
	lastErr error
}

func (s *Servers) newLink(ctx context.Context, name, user string) *link {
	l := &link{
		s: s, name: name, server: s.servers[name], user: user, wake: make(chan struct{}, 1), changed: make(chan struct{}),
		asker: context.WithoutCancel(ctx), state: StateConnecting, since: time.Now(), began: time.Now(), set: &toolset.Set{},
	}
	l.ctx, l.end = context.WithCancel(s.ctx)
	if !s.work.start(l.run) {
		l.end()
		l.closed = true
	}
	return l
}

// run works until the link ends.
func (l *link) run() {
	for l.ctx.Err() == nil {
		todo, wait := l.next()
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
	l.session, l.closed = nil, true
	l.tell()
	l.mu.Unlock()
	if s != nil {
		s.close(errEnded)
	}
}

// next returns what to do now, or how long there is nothing to do.
func (l *link) next() (todo func(), wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.session == nil {
		if wait := l.nextTry.Sub(now); wait > 0 && !l.tryNow {
			return nil, wait
		}
		return l.connect, 0
	}
	if l.noticeDue && !now.Before(l.quietUntil) {
		l.noticeDue = false
		l.want++
	}
	switch {
	case l.have < l.want:
		return l.list, 0
	case l.noticeDue:
		return nil, l.quietUntil.Sub(now)
	}
	return nil, time.Hour
}

// tell wakes every goroutine that waits for a change. The lock is held.
func (l *link) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// nudge makes run check again what to do.
func (l *link) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *link) enter(state State, err error) {
	if l.state != state {
		l.state, l.since = state, time.Now()
	}
	l.err = err
}

func (l *link) connect() {
	l.mu.Lock()
	asker, ending := l.asker, l.ending
	l.trying = true
	l.mu.Unlock()
	if ending != nil {
		<-ending // two processes of one server could interfere with each other
	}
	s, err := l.dial(asker)
	l.mu.Lock()
	l.trying, l.tryNow = false, false
	l.attempts++
	if err != nil {
		l.lastFail = time.Now()
	}
	l.mu.Unlock()
	if err != nil {
		l.failed(err)
		return
	}
	if !l.s.work.start(func() { l.watch(s) }) {
		s.close(errEnded)
		return
	}
	l.mu.Lock()
	l.session = s
	l.enter(StateUp, nil)
	l.want++
	l.needed = l.want
	l.byCall, l.noticeDue = true, false
	l.tell()
	l.mu.Unlock()
	l.s.emit(l.ctx, einolean.Event{Kind: einolean.KindServerUp, Server: l.name})
}

// failed records that the server cannot be used, and when to try again.
func (l *link) failed(err error) {
	if l.ctx.Err() != nil {
		return
	}
	if !errors.As(err, new(*failure)) {
		err = &failure{StateDown, l.redact(nil, err.Error()), err}
	}
	l.mu.Lock()
	l.nextTry = time.Now().Add(l.pause())
	known := l.state != StateConnecting && l.state != StateUp && l.err != nil && l.err.Error() == err.Error()
	state, why := StateDown, new(failure)
	if errors.As(err, &why) {
		state = why.state
	}
	l.enter(state, err)
	l.tell()
	l.mu.Unlock()
	if !known {
		l.s.emit(l.ctx, einolean.Event{Kind: einolean.KindServerDown, Server: l.name, Err: err})
	}
}

// watch waits for the end of a session.
func (l *link) watch(s *session) {
	err := s.client.Wait()
	if err == nil {
		err = errors.New("the server ended the connection")
	}
	l.lost(s, err)
}

// pause is how long to wait after one more failure. The lock is held.
func (l *link) pause() time.Duration {
	pause := min(mostPause, firstPause<<min(l.failures, 10))
	l.failures++
	return time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))
}

// lost drops a session that is no longer usable. It ends in the background.
func (l *link) lost(s *session, err error) {
	l.mu.Lock()
	mine := l.session == s && l.ctx.Err() == nil
	ended := make(chan struct{})
	if mine {
		l.session, l.ending = nil, ended
	}
	l.mu.Unlock()
	if !mine {
		return
	}
	err = fmt.Errorf("the connection broke: %w", s.explain(err))
	s.end(err)
	finish := func() {
		s.close(err)
		close(ended)
	}
	if !l.s.work.start(finish) {
		finish()
	}
	l.failed(err)
	l.nudge()
}

// raise makes the list be read again.
func (l *link) raise() {
	l.mu.Lock()
	l.want++
	l.needed = l.want
	l.byCall = true
	l.mu.Unlock()
	l.nudge()
}

// noticed handles the server's notification that its list changed. Notifications that
// announce nothing new wait longer and longer, since some servers send one with every list.
func (l *link) noticed(s *session) {
	l.mu.Lock()
	if l.session == s {
		followsCall := !l.noticeBy.IsZero()
		l.noticeBy = time.Time{}
		if time.Now().Before(l.quietUntil) {
			l.noticeDue = true
		} else {
			l.want++
		}
		if followsCall {
			l.needed = l.want
		}
		l.tell()
	}
	l.mu.Unlock()
	l.nudge()
}

// answered handles the end of a call, successful or not: the list may differ now.
func (l *link) answered(s *session, h Hints) {
	if h.ReadOnly || !s.listChanged {
		return
	}
	if !l.server.NoRecheck {
		l.raise()
		return
	}
	l.mu.Lock()
	if l.have == l.want && !l.noticeDue {
		l.noticeBy = time.Now().Add(noticeWait)
	}
	l.mu.Unlock()
}

// await returns the tools of the server. It waits until by for a list that is being read, and
// longer for a server that was never connected, but always leaves some of the time of ctx: a
// caller with a deadline wants an answer before it.
func (l *link) await(ctx context.Context, by time.Time) *toolset.Set {
	end, limited := ctx.Deadline()
	end = end.Add(-min(time.Until(end)/10, leftOver))
	for {
		set, wait, changed := l.current(by)
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

// current returns the current set and how long to wait at most for a newer one.
func (l *link) current(by time.Time) (set *toolset.Set, wait time.Duration, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch {
	case l.closed:
		return l.set, 0, nil
	case l.have == 0 && l.failures == 0 && now.Before(l.began.Add(firstWait)):
		if patient := l.began.Add(firstWait); patient.After(by) {
			by = patient
		}
	case l.session == nil:
		return l.set, 0, nil // it is down: its tools stay, and calls try to reach it
	}
	if l.session != nil && !l.validUntil.IsZero() && now.After(l.validUntil) {
		l.validUntil = time.Time{}
		l.want++
		l.needed = l.want
		l.byCall = true
		l.nudge()
	}
	if l.session != nil && l.have > 0 && l.have >= l.needed && l.have < l.want && l.quiet > 0 {
		return l.set, 0, nil // only for notices of a server whose last ones announced nothing new
	}
	if l.session != nil && l.have == l.want {
		by = earlier(by, l.noticeBy)
	}
	return l.set, by.Sub(now), l.changed
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// ready returns a session for a call, which may have to be made first. A call tries at once,
// unless an attempt failed less than a second ago.
func (l *link) ready(ctx context.Context) (*session, error) {
	asked := int64(-1) // the attempts so far when it asked for one
	for {
		l.mu.Lock()
		s, err, changed := l.session, l.err, l.changed
		closed := l.closed || l.ctx.Err() != nil
		failed := asked >= 0 && l.attempts > asked
		tooSoon := asked < 0 && !l.trying && time.Since(l.lastFail) < callPause
		if s == nil && asked < 0 {
			asked, l.tryNow = l.attempts, !tooSoon
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

// listed waits until the server is up and has listed its tools. The error says why it is not, or has not.
func (l *link) listed(ctx context.Context) error {
	for {
		l.mu.Lock()
		is, err, changed := l.session != nil && l.have > 0 && l.err == nil, l.err, l.changed
		closed := l.closed || l.ctx.Err() != nil
		l.mu.Unlock()
		switch {
		case closed:
			return errClosed
		case is:
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
	s := Status{Server: l.name, User: l.user, State: l.state, Since: l.since, Tools: len(l.known), Skipped: l.skipped, SkippedErr: l.lastErr, Err: l.err}
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
	ctx, end := context.WithCancelCause(valued{l.ctx, context.WithoutCancel(asker)})
	s = &session{redact: l.redact, ctx: ctx, end: end, said: &tail{}, work: &l.s.work, wire: newWire(), calls: map[string]*openCall{}, pages: map[string]int64{}}
	late := time.AfterFunc(l.connectLimit(), func() { end(errNoAnswer) })
	err = s.connect(l)
	if !late.Stop() && err == nil {
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

// connectLimit is how long one connection may take. A program may have to be installed and
// compiled first, and would never be ready if that was broken off each time.
func (l *link) connectLimit() time.Duration {
	if l.server.Command != "" {
		return l.s.starts
	}
	return l.s.connects
}

// transport is how the server is reached.
func (l *link) transport(s *session) (mcp.Transport, error) {
	if l.server.Transport != nil {
		t, err := aside(s.ctx, "Transport", func() (mcp.Transport, error) { return l.server.Transport(s.ctx) })
		if err == nil && t == nil {
			err = errors.New("the function Transport returned no transport")
		}
		return s.wire.listening(t), err
	}
	if l.server.Command != "" {
		return &command{server: l.server, said: s.said, wire: s.wire, pace: newPace(s.ctx.Done()), logs: func(line []byte) { l.s.log(l.name, []byte(l.redact(s, string(line)))) }}, nil
	}
	origin, err := url.Parse(l.server.URL)
	if err != nil {
		return nil, err
	}
	s.signed = &signed{origin: origin, fixed: l.server.Headers, ask: l.s.headers(l.name), wire: s.wire, pace: newPace(s.ctx.Done())}
	if ask := s.signed.ask; ask != nil && l.user == "" { // a caller's context would lend one user's headers to all
		s.signed.ask = func(ctx context.Context) (http.Header, error) { return ask(valued{ctx, s.ctx}) }
	}
	if err := s.signed.refresh(s.ctx, 0); err != nil {
		return nil, fmt.Errorf("asking Header: %w", err)
	}
	client := s.signed.client(l.s.http, l.user != "")
	if l.server.Type == "sse" {
		return &mcp.SSEClientTransport{Endpoint: l.server.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
	}
	return &mcp.StreamableClientTransport{Endpoint: l.server.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
}

// list reads the list once.
func (l *link) list() {
	l.mu.Lock()
	s, began := l.session, l.want
	byNotice := !l.byCall
	l.byCall = false
	l.mu.Unlock()
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeoutCause(s.ctx, listLimit, errNoAnswer)
	defer cancel()
	s.ttl.Store(0)
	start := time.Now()
	l.mu.Lock()
	asker := l.asker
	l.mu.Unlock()
	meta, err := l.s.meta(valued{ctx, asker}, MetaRequest{Server: l.name, User: l.user, List: true})
	if err != nil {
		l.listFailed(began, s.explain(err))
		return
	}
	tools, err := s.list(ctx, meta)
	if err == nil {
		err = l.take(began, byNotice, s, tools)
		if byNotice {
			l.rest(time.Since(start))
		}
	}
	switch {
	case err == nil || s.ctx.Err() != nil:
	case isAnswer(err):
		l.listFailed(began, s.explain(err))
	default:
		l.lost(s, err)
	}
}

// listFailed keeps the last list, and tries again later.
func (l *link) listFailed(began int64, err error) {
	l.mu.Lock()
	l.have = began
	l.noticeDue, l.quietUntil = true, time.Now().Add(l.pause())
	l.err = err
	l.tell()
	l.mu.Unlock()
	l.s.emit(l.ctx, einolean.Event{Kind: einolean.KindServerListed, Server: l.name, Err: err})
}

// What lists that notices asked for may take of the processor before they leave it to others:
// so much of so long.
const (
	noticeShare  = 200 * time.Millisecond
	noticeWindow = 2 * time.Second
)

// rest makes notices wait as long as the last list took, if they keep the processor busy.
func (l *link) rest(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.noticeSince) > noticeWindow {
		l.noticeSince, l.noticeSpent = now, 0
	}
	l.noticeSpent += took
	if until := now.Add(min(took, mostQuiet)); l.noticeSpent > noticeShare && l.quietUntil.Before(until) {
		l.quietUntil = until
	}
}

// take sets the server's tools from a list.
func (l *link) take(began int64, byNotice bool, s *session, tools []*mcp.Tool) error {
	l.mu.Lock()
	d := digest{link: l, session: s, before: l.known, known: map[string]*remote{}, names: map[string]string{}, refused: map[string]string{}, told: l.refused}
	first, set := l.have == 0, l.set
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
		return badList(err.Error())
	}
	change := d.change(set)
	l.mu.Lock()
	if l.session != s {
		l.mu.Unlock()
		return nil
	}
	l.set, l.known, l.refused, l.have = next, d.known, d.refused, began
	l.skipped, l.lastErr = d.skipped, d.lastErr
	l.failures, l.err = 0, nil
	l.validUntil = time.Time{}
	if ttl := s.ttl.Load(); ttl > 0 {
		l.validUntil = time.Now().Add(time.Duration(ttl) * time.Millisecond)
	}
	switch {
	case next != set:
		l.quiet = 0
	case byNotice:
		l.quiet = min(mostQuiet, max(firstQuiet, 2*l.quiet))
		l.quietUntil = time.Now().Add(l.quiet)
	}
	l.tell()
	l.mu.Unlock()
	if first || next != set {
		l.s.emit(l.ctx, einolean.Event{Kind: einolean.KindServerListed, Server: l.name, Tools: change})
	}
	return nil
}

// newRemote makes the tool of a definition, or returns the last one if nothing changed.
func (l *link) newRemote(t *mcp.Tool, instructions string, before *remote) (*remote, error) {
	switch why := t.InputSchema.(type) {
	case tooLong:
		return nil, fmt.Errorf("its definition has %d bytes at least, over %d", int64(why), maxDefinition)
	case unread:
		return nil, fmt.Errorf("its definition cannot be read: %w", why.error)
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
	params, mended, keys, err := parametersOf(t)
	if err != nil {
		return nil, err
	}
	r := &remote{s: l.s, hints: hintsOf(l.name, t), definition: definition, mended: mended, keys: keys, instructions: instructions}
	extra := l.extra(r, t)
	r.info = &schema.ToolInfo{Name: toolName(l.name, t.Name, !l.server.NoPrefix, l.s.prefixes), Desc: t.Description, ParamsOneOf: params, Extra: extra}
	r.tool = &textTool{r}
	if l.s.o.Media {
		r.tool = &mediaTool{r}
	}
	return r, nil
}

// extra is what a tool's info says besides its schema.
func (l *link) extra(r *remote, t *mcp.Tool) map[string]any {
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

// redact takes secrets from what the server says: those that it was given too.
func (l *link) redact(s *session, text string) string {
	known := l.server.secrets()
	if s != nil && s.signed != nil {
		known = append(known, s.signed.secrets()...)
	}
	return redact.Text(text, known...)
}

// waitReady is ready, for as long as a call may take.
func (l *link) waitReady(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, min(l.timeout(), connectLimit), errNoAnswer)
	defer cancel()
	return l.ready(ctx)
}

// unreachable is the answer where there is no session.
func (l *link) unreachable(err error) string {
	l.mu.Lock()
	since, state := l.since, l.state
	l.mu.Unlock()
	switch {
	case errors.Is(err, errClosed):
		return say("closed", words{})
	case state == StateSignIn:
		return say("sign-in", words{Server: l.name})
	}
	return say("down", words{Server: l.name, Since: since.Format("15:04")})
}

// busy is the answer to a call that the server did not accept, because it has too many.
func (l *link) busy(s *session, err error, after string) string {
	w := words{Server: l.name}
	if after != "-" {
		w.Since = l.redact(s, after)
		if _, err := strconv.Atoi(after); err == nil {
			w.Since += " s"
		}
	}
	if a := answerOf(err); a != nil {
		w.Text = l.redact(s, a.Message)
	}
	return say("busy", w)
}

// explain is the answer to a call that failed, and whether the session is no longer usable.
func (l *link) explain(s *session, err error) (answer string, broken bool) {
	if a := answerOf(err); a != nil {
		return say("failed", words{Text: l.redact(s, display.Start(a.Message, maxErrorBytes))}), false
	}
	if errors.Is(err, errNoAnswer) {
		l.raise() // if the server does not answer that either, the session ends
		return say("late", words{Server: l.name, Limit: l.timeout().String()}), false
	}
	if s.unreadable(err) {
		return say("unreadable", words{Server: l.name, Text: l.redact(s, err.Error())}), false
	}
	l.lost(s, err)
	if s.wantsSignIn() {
		return say("sign-in", words{Server: l.name}), true
	}
	if errors.Is(err, errEnded) || errors.Is(err, errClosed) {
		return say("closed", words{}), false
	}
	return say("lost", words{Server: l.name}), true
}
