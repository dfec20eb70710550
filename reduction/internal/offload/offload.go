// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package offload keeps content in stores. It is all that package reduction knows of a
// Backend, and it trusts none: a Backend may fail, hang, panic or store only a part.
//
// No content is written over another one. A store that can be read says what a name
// holds; content whose name holds something else goes under a name with a hash of the
// content. In a store that can only write, every name has this hash, so there is nothing
// to know about what other middlewares, processes or machines have written.
package offload

// Stores content for one middleware, finished or while it arrives, one by one or many: under which
// names, and what is known of these without asking the store.

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/store"
)

var (
	errTaken      = errors.New("the name holds something else")
	errShort      = errors.New("the store kept only a part of the content")
	errUnverified = errors.New("the store says that it kept the content, and cannot be read to check")
	errPath       = errors.New("the path cannot be shown to a model")

	errNothing = errors.New("the store returned neither content nor an error")
)

// Vault stores content for one middleware. It is safe for concurrent use.
type Offloader struct {
	Showable func(filePath string) bool // a path can be shown to a model; no other is used
	Stores   []*Store                   // those that were opened, each once
	known    nameRegistry
}

// Open returns the store of a Backend, nil for none. It must not be called while
// anything is stored.
func (v *Offloader) Open(b store.Backend) *Store {
	if b == nil {
		return nil
	}
	s := &Store{Backend: b, known: &v.known}
	for _, other := range v.Stores {
		if other.Same(s) {
			return other
		}
	}
	s.creator, _ = store.As[store.Creator](b)
	s.any, _ = store.As[store.AnyCreator](b)
	s.ranges, _ = store.As[store.RangeReader](b)
	s.reader, _ = store.As[store.Reader](b)
	s.Cleaner, _ = store.As[store.Cleaner](b)
	v.Stores = append(v.Stores, s)
	return s
}

// Note records paths that a conversation shows: what they hold stays.
func (v *Offloader) ReservePaths(ctx context.Context, paths []string) {
	for _, s := range v.Stores {
		for _, name := range paths {
			v.known.note(s.key(ctx, name))
		}
	}
}

// Save stores an item where it should go, or beside it if that place holds something else.
func (v *Offloader) Save(ctx context.Context, item Item) (got SaveResult) {
	got.Err = errTaken
	for n := 0; errors.Is(got.Err, errTaken); n++ {
		name, unique := item.Store.candidateName(item.At, n, &item.Content)
		if name == "" {
			break
		}
		if got.Path, got.Err = name, errPath; v.Showable(name) {
			got.Existed, got.Err = v.saveAs(ctx, item.Store, name, item.Content, unique)
		}
	}
	switch {
	case errors.Is(got.Err, errUnverified):
		return SaveResult{Path: got.Path, Err: failed(item, got.Err)}
	case got.Err != nil:
		return SaveResult{Err: failed(item, got.Err)}
	case got.Existed:
		_ = item.Store.MarkUsed(ctx, []string{got.Path}) // the next run marks it, since its history names it
	}
	return got
}

// saveAs stores content under one name, or returns errTaken. unique says that the name is made
// for the content.
func (v *Offloader) saveAs(ctx context.Context, s *Store, p string, content string, unique bool) (existed bool, err error) {
	key := s.key(ctx, p)
	own := unique || !s.Readable() && s.findContent(ctx, fingerprintOf(content), []string{p}) != ""
	if !v.known.acquire(key, &content, own) {
		if s.Holds(ctx, p, content) {
			return true, nil // the name is known to hold content, which is the same
		}
		return false, errTaken
	}
	err = errExited // unless the calls to the store return
	defer func() {
		switch {
		case err != nil && !errors.Is(err, errUnverified): // once the context has ended, a store may still be writing
			v.known.finish(key, anything, ctx.Err() != nil && !errors.Is(err, errTaken))
		case s.Readable():
			v.known.finish(key, fingerprint{size: len(content)}, true)
		default:
			v.known.finish(key, fingerprintOf(content), true)
		}
	}()
	for _, other := range v.Stores { // a tool that reads from all of them must find the same under a name
		if other == s || !other.Readable() {
			continue
		}
		if size, err := other.Size(ctx, p); err == nil && (size != int64(len(content)) || !other.Holds(ctx, p, content)) {
			return false, errTaken
		}
	}
	return s.put(ctx, p, content, unique)
}

// Stream returns a Sink for a stream of which start has arrived. In a store that
// takes streams the file is begun now; for any other one the content is held
// until Commit. If nothing takes the stream, Commit says so.
func (v *Offloader) Stream(ctx context.Context, s *Store, at Place, start []string) Sink {
	if s.creator == nil {
		return &bufferedWriter{writer: writer{ctx, v, s, at}, texts: start}
	}
	err := errTaken
	for n := 0; errors.Is(err, errTaken); n++ {
		name, unique := s.candidateName(at, n, nil)
		if name == "" {
			break
		}
		var f *streamWriter
		if f, err = v.begin(ctx, s, at, name, unique); err == nil {
			if err = f.start(start); err == nil {
				return f
			}
		}
	}
	return &bufferedWriter{err: err}
}

// begin takes a name for a stream. Its content is still unknown, so any existing file
// counts as different.
func (v *Offloader) begin(ctx context.Context, s *Store, at Place, p string, unique bool) (*streamWriter, error) {
	if !v.Showable(p) {
		return nil, errPath
	}
	key := s.key(ctx, p)
	if !v.known.acquire(key, nil, false) {
		return nil, errTaken
	}
	for _, other := range v.Stores {
		if other.Readable() && other.exists(ctx, p, unique) {
			v.known.finish(key, anything, false)
			return nil, errTaken
		}
	}
	r, w := io.Pipe()
	f := &streamWriter{writer: writer{ctx, v, s, at}, first: p, path: p, pipe: w, buf: bufio.NewWriterSize(w, streamBuffer), done: make(chan error, 1)}
	f.hash.SetSeed(seed)
	f.stop = context.AfterFunc(ctx, func() { r.CloseWithError(context.Cause(ctx)) })
	go func() {
		got, err := f.create(ctx, r)
		// A writer must not wait for a store that has stopped reading.
		r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		if err == nil {
			f.path = got
		}
		f.done <- err
	}()
	return f, nil
}

var errExited = errors.New("the store ended its goroutine")

// Item is content to be saved.
type Item struct {
	Store   *Store
	At      Place
	Content string
}

// Saved is what became of an Item. Existed says that it was there already. With an error
// there is a path only if the store says that it kept the content, and cannot be asked.
type SaveResult struct {
	Path    string
	Existed bool
	Err     error
}

// batch is a run of SaveAll.
type batch struct {
	vault *Offloader
	items []Item

	mu        sync.Mutex
	saved     []SaveResult // of the first items
	failures  int          // in a row
	abandoned bool
}

// SaveAll saves items one after the other, as Save does, until most of them in a row have
// failed. It returns what became of the items that it tried. A call that ends its goroutine
// fails its item; when the context ends, SaveAll returns without waiting for the store.
func (v *Offloader) SaveAll(ctx context.Context, items []Item, most int) []SaveResult {
	b := &batch{vault: v, items: items, saved: make([]SaveResult, 0, len(items))}
	for _, more := b.nth(most); more; _, more = b.nth(most) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			inside := context.WithValue(ctx, (*batch)(nil), b)
			for n, more := b.nth(most); more; n, more = b.nth(most) {
				b.save(inside, items[n])
			}
		}()
		select {
		case <-done:
		case <-ctx.Done():
			return b.abandon(ctx.Err())
		}
	}
	return b.saved
}

// nth returns which item is to be tried next, if any.
func (b *batch) nth(most int) (n int, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.saved), !b.abandoned && len(b.saved) < len(b.items) && b.failures < most
}

// save saves an item, unless nobody waits for it any more by the time that is done.
func (b *batch) save(ctx context.Context, item Item) {
	var got SaveResult
	err := errExited // unless the call returns
	defer func() {
		if err != nil {
			got = SaveResult{Err: failed(item, err)}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.abandoned {
			return
		}
		if b.failures++; got.Err == nil {
			b.failures = 0
		}
		b.saved = append(b.saved, got)
	}()
	err = safe.Call("the store", func() error {
		got = b.vault.Save(ctx, item)
		return nil
	})
}

// abandon leaves the goroutine to itself, and returns what was saved before. All other items
// failed with err.
func (b *batch) abandon(err error) []SaveResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.abandoned = true
	for _, item := range b.items[len(b.saved):] {
		b.saved = append(b.saved, SaveResult{Err: failed(item, err)})
	}
	return b.saved
}

func failed(item Item, err error) error {
	return fmt.Errorf("reduction: storing %q: %w", item.At.Path, err)
}

// streamBuffer is how much is collected before it goes to the store.
const streamBuffer = 64 << 10

// Sink takes the text of a stream. Nothing that goes wrong shows before Commit,
// so that a stream is read to its end whatever the store does.
type Sink interface {
	// Write takes the next piece.
	Write(text string)
	// Commit completes the file and returns its path. If one of the files at same
	// is known to hold what arrived, it is that path, and no file is made.
	Commit(same []string) (string, error)
	// Abort gives up, unless Commit was called. It leaves nothing running.
	Abort()
}

type writer struct {
	ctx context.Context
	v   *Offloader
	s   *Store
	at  Place
}

// streamWriter is a Sink over a store that accepts streams. The store runs on a goroutine of
// its own, which ends with Commit or Abort, or with the context.
type streamWriter struct {
	writer
	first string // the name that was chosen
	path  string // where the content is, once it is there

	pipe *io.PipeWriter
	buf  *bufio.Writer
	done chan error  // the path is known then
	stop func() bool // releases the watch on the context

	hash  maphash.Hash
	size  int
	err   error
	ended bool
}

// start passes on what has already arrived, and so finds out whether the store has refused
// the name.
func (f *streamWriter) start(texts []string) error {
	for _, t := range texts {
		f.Write(t)
	}
	if f.err == nil {
		f.err = f.buf.Flush()
	}
	if f.err != nil && errors.Is(f.err, fs.ErrExist) {
		f.Abort()
		return errTaken
	}
	return nil
}

func (f *streamWriter) Write(text string) {
	_, _ = f.hash.WriteString(text)
	f.size += len(text)
	if f.err == nil {
		_, f.err = f.buf.WriteString(text)
	}
}

func (f *streamWriter) Commit(same []string) (string, error) {
	// The first name was free, so the store need not be asked for it.
	others := slices.DeleteFunc(slices.Clone(same), func(p string) bool { return p == f.first })
	if p := f.s.findContent(f.ctx, fingerprint{f.hash.Sum64(), f.size}, others); p != "" {
		f.Abort()
		return p, nil
	}
	if f.err == nil {
		f.err = f.buf.Flush()
	}
	if err := f.end(f.err); f.err == nil {
		f.err = err
	}
	if f.err == nil {
		f.err = ignoreUnverified(f.s.check(f.ctx, f.path, int64(f.size)))
	}
	f.release(f.err == nil)
	if f.err != nil {
		return "", f.err
	}
	return f.path, nil
}

// believed drops the error that a store could not be asked for its content: nobody else has
// the whole stream.
func ignoreUnverified(err error) error {
	if errors.Is(err, errUnverified) {
		return nil
	}
	return err
}

func (f *streamWriter) Abort() {
	if !f.ended {
		_ = f.end(errors.New("given up"))
		f.release(false)
	}
}

// end closes the pipe, with an error if there is one, and waits for the store.
func (f *streamWriter) end(err error) error {
	f.ended = true
	_ = f.pipe.CloseWithError(err) // nil becomes io.EOF
	err = <-f.done
	f.stop()
	return err
}

// create makes the file under the first name or, if that is taken by the time the content
// has arrived, under a name unique to this process. It returns the name.
func (f *streamWriter) create(ctx context.Context, content io.Reader) (string, error) {
	if f.s.any == nil {
		return f.first, f.s.create(ctx, f.first, content)
	}
	return callBackend(ctx, func() (string, error) {
		var chosen []string
		got, err := f.s.any.CreateAny(ctx, func(n int) string {
			if n >= maxTries {
				return ""
			}
			name := f.first
			if n > 0 {
				name = f.at.Path + "-" + randomSuffix()
			}
			chosen = append(chosen, name)
			return name
		}, content)
		if err == nil && !slices.Contains(chosen, got) {
			err = errPath
		}
		return got, err
	})
}

// release ends the claim on the name.
func (f *streamWriter) release(stored bool) {
	is := fingerprint{f.hash.Sum64(), f.size}
	if !stored && f.ctx.Err() != nil {
		is, stored = anything, true // an abandoned call may still write
	}
	if f.path != f.first { // another writer has the first name
		f.v.known.acquire(f.s.key(f.ctx, f.path), nil, true)
		f.v.known.finish(f.s.key(f.ctx, f.first), anything, true)
	}
	f.v.known.finish(f.s.key(f.ctx, f.path), is, stored)
}

// bufferedWriter is a Sink over a store that accepts only whole content, or one that accepts
// nothing.
type bufferedWriter struct {
	writer
	texts []string
	err   error // why it accepts nothing
}

func (w *bufferedWriter) Write(text string) {
	if w.err == nil {
		w.texts = append(w.texts, text)
	}
}

func (w *bufferedWriter) Commit(same []string) (string, error) {
	if w.err != nil {
		return "", w.err
	}
	content := strings.Join(w.texts, "")
	w.texts = nil
	if p := w.s.findContent(w.ctx, fingerprintOf(content), same); p != "" {
		return p, nil
	}
	got := w.v.Save(w.ctx, Item{w.s, w.at, content})
	return got.Path, ignoreUnverified(got.Err)
}

func (w *bufferedWriter) Abort() {}

// maxMentions is how many stored paths are looked for in the arguments of a call.
const maxMentions = 8

// Mentions returns the paths of stored results that the arguments of a call name,
// as far as they have default names.
func PathsIn(root, args string) (out []string) {
	args = strings.ReplaceAll(args, `\/`, "/")
	for _, dir := range []string{TruncDir, ClearDir} {
		prefix := path.Join(root, dir) + "/"
		for rest := args; len(out) < maxMentions; {
			_, after, ok := strings.Cut(rest, prefix)
			if !ok {
				break
			}
			if n := nameLength(after); n > 0 {
				out = append(out, prefix+after[:n])
			}
			rest = after
		}
	}
	return out
}

// nameLength is how many bytes at the start of s can be part of a file's name.
func nameLength(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_.:-=", r))
	})
	if n < 0 {
		return len(s)
	}
	return n
}

// The directories of the default paths.
const (
	TruncDir = "trunc"
	ClearDir = "clear"
)

// maxTries is how many names are tried for one content. The second one is made
// of the content's hash: only an attacker can have taken it.
const maxTries = 4

// SuffixSize is the most bytes that a suffix adds to a path.
const SuffixSize = 1 + 26 + 2

// Place is where content should go.
type Place struct {
	// Path is the first choice.
	Path string
	// Fixed: there and nowhere else.
	Fixed bool
	// named is the name that the content gets there, if only its content decides.
	named string
}

// DefaultPath is {root}/{dir}/{id}, with the id made safe.
func DefaultPath(root, dir, id string) string {
	return path.Join(root, dir, backend.Component(id))
}

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// SumOf is a hash of 128 bits of content, fit for a name.
func SumOf(content string) string {
	h := sha256.New()
	pieces := bufio.NewWriter(h) // avoids a copy of the whole
	_, _ = pieces.WriteString(content)
	_ = pieces.Flush() // a hash never fails
	return lowerBase32.EncodeToString(h.Sum(nil)[:16])
}

// Padding stands for a suffix that a path may still get.
const Padding = "-00000000000000000000000000-0"

// anySum stands in for a hash before the content has arrived.
func randomSuffix() string { return strings.ToLower(rand.Text()) }

// Clean makes one of the paths that a store takes for the same file.
func Clean(p string) string {
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return path.Clean(p)
}

// MadeFor reports whether the file at p can be that of a call: it has the name
// that the call's id would have been given, with or without a suffix.
func BelongsToCall(p, id string) bool {
	rest, ok := strings.CutPrefix(path.Base(p), backend.Component(id))
	return ok && (rest == "" || rest[0] == '-')
}

// maxKnown bounds the names that a vault remembers. The oldest go first.
const maxKnown = 1 << 15

// fingerprint identifies content within this process.
type fingerprint struct {
	hash uint64 // zero if a store can tell what it holds
	size int    // negative for anything
}

var anything = fingerprint{size: -1}

var seed = maphash.MakeSeed()

func fingerprintOf(content string) fingerprint {
	return fingerprint{maphash.String(seed, content), len(content)}
}

// known is what one vault has stored under which name, and which names the conversations
// show. A name is a key of a store. It is safe for concurrent use; the zero value is ready.
type nameRegistry struct {
	mu     sync.Mutex
	byName map[uint64]nameState // by Store.key
	order  []uint64             // oldest first
}

// held is what a name holds.
type nameState struct {
	writing *string // what its writers write; nil if that is unknown
	writers int     // that have not finished
	kept    bool    // the name holds something
	is      fingerprint
}

// take takes a name for content, nil if that is yet unknown, and reports whether it may be
// written there. Several writers of the same content may take a name, and any that own it: it
// is made for the content or known to hold it. The caller must call finish.
func (k *nameRegistry) acquire(key uint64, content *string, own bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, known := k.byName[key]
	switch {
	case !known:
		h = nameState{writing: content, is: anything}
		k.add(key, h)
	case !own && (h.kept || content == nil || h.writing == nil || *h.writing != *content):
		return false
	}
	h.writers++
	k.byName[key] = h
	return true
}

func (k *nameRegistry) of(key uint64) (is fingerprint, used bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, used := k.byName[key]
	if !used {
		return anything, false
	}
	return h.is, true
}

// finish ends what take began. stored says that the name holds what is identified.
func (k *nameRegistry) finish(key uint64, is fingerprint, stored bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, known := k.byName[key]
	if !known {
		return
	}
	if h.writers--; h.writers == 0 {
		h.writing = nil
	}
	if stored {
		h.kept, h.is = true, is
	}
	if k.byName[key] = h; !h.kept && h.writers <= 0 {
		delete(k.byName, key)
	}
}

// note records that a name holds something.
func (k *nameRegistry) note(key uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.byName[key]; !known {
		k.add(key, nameState{kept: true, is: anything})
	}
}

// add makes room for a name; k.mu is held. Names that are being written stay.
func (k *nameRegistry) add(key uint64, h nameState) {
	if k.byName == nil {
		k.byName = make(map[uint64]nameState)
	}
	for len(k.order) >= maxKnown {
		oldest := k.order[0]
		k.order = k.order[1:]
		if k.byName[oldest].writers > 0 {
			k.order = append(k.order, oldest)
			break
		}
		delete(k.byName, oldest)
	}
	k.byName[key] = h
	k.order = append(k.order, key)
}

// inFlight is what this process is writing, right now, to stores that cannot refuse a name
// that is taken: between the look at a name and the write, no other middleware of the
// process may write there.
var pendingWrites nameRegistry

// placeOf identifies a name in the innermost store of b, if that can be told from others.
func placeOf(b store.Backend, key uint64) uint64 {
	in := backend.Innermost(b)
	if !hasIdentity(in) {
		in = nil
	}
	return maphash.Comparable(seed, struct {
		store any
		key   uint64
	}{in, key})
}

// hasIdentity reports whether a store can be compared with others, and equals itself.
func hasIdentity(b any) bool {
	v := reflect.ValueOf(b)
	return v.IsValid() && v.Comparable() && v.Equal(v)
}
