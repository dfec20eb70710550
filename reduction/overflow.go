// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file is what becomes of a stream that has gone over the limit.

import (
	"errors"
	"io"
	"unicode/utf8"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// overflow is called once the stream is known to be too long. It reads the source
// to its end.
func (c *cut[T]) overflow() (T, error) {
	var none T
	at, err := c.place()
	if err != nil {
		c.ended, c.held, c.ends = true, nil, nil
		shut(c.in)
		return none, err
	}
	head := c.boundary(c.pass)
	fits := func() bool {
		_, ok := c.words.ending(c.words.stream, c.facts(head, at.Path+vault.Padding), "", c.limit-head)
		return ok && showable(at.Path)
	}
	if !fits() {
		at = c.t.defaultPlace(c.job) // the limit has room for this one
	}
	if !fits() {
		return c.giveUp(), nil
	}
	return c.swallow(at, head), nil
}

// giveUp passes on everything from here, because a notice does not fit.
func (c *cut[T]) giveUp() T {
	c.texts, c.through = nil, true
	return c.release()
}

func (c *cut[T]) place() (vault.Place, error) {
	if c.t.path == nil {
		return c.t.place(c.ctx, c.job, nil)
	}
	return c.t.place(c.ctx, c.job, textResult(joined(c.texts)))
}

// boundary is how many bytes of the stream come before an offset, so that no
// character is split, and never fewer than are out already.
func (c *cut[T]) boundary(offset int) int {
	from := max(0, offset-charSlack)
	around := window(c.texts, from, offset+charSlack)
	if at := from + floor(around, offset-from); at >= c.passed {
		return at
	}
	return from + ceil(around, c.passed-from)
}

// window is the bytes from one offset to another of texts that follow each other.
func window(texts []string, from, to int) string {
	var out []byte
	for _, t := range texts {
		if from < len(t) && to > 0 {
			out = append(out, t[max(0, from):min(to, len(t))]...)
		}
		from, to = from-len(t), to-len(t)
	}
	return string(out)
}

func (c *cut[T]) facts(head int, path string) facts {
	return facts{bytes: c.total, headBytes: head, path: path, tool: c.reader}
}

// swallow reads the source to its end, stores everything, and returns what
// follows: the rest of the head with a notice, or, if the source failed, the
// rest of what is within the limit.
func (c *cut[T]) swallow(at vault.Place, head int) T {
	c.ended = true
	full := c.boundary(c.limit)
	end := &tail{max: c.limit - head}
	end.skip(c.texts, head)
	file := c.t.files.Stream(c.ctx, c.store, at, c.texts)
	defer file.Abort() // for a source that panics
	c.texts = nil
	media := c.drain(file, end)
	shut(c.in)
	path, err := file.Commit(c.copies(at))
	c.t.stored.add(c.tool.CallID, path)
	notice := ""
	if c.err == nil {
		notice = c.notice(path, head, end)
	} else {
		head = full
	}
	c.tell(path, err, head+len(notice))
	last := []T{c.chunks.head(c.chunks.join(c.held), head-c.passed)}
	if notice != "" {
		last = append(last, c.chunks.text(notice))
	}
	c.held = nil
	return c.chunks.join(append(last, media...))
}

// copies are the files that may hold this very stream already: the first choice,
// from an earlier call, and what the call reads.
func (c *cut[T]) copies(at vault.Place) []string {
	out := []string{at.Path}
	if c.store != nil {
		out[0] = c.store.FirstName(at)
	}
	for _, p := range vault.Mentions(c.t.root, c.argText()) {
		if len(p) <= len(at.Path)+len(vault.Padding) {
			out = append(out, p)
		}
	}
	return out
}

// drain reads the source to its end and returns what is no text. It reads past
// c.in, which would make garbage for each chunk.
func (c *cut[T]) drain(file vault.Sink, end *tail) (media []T) {
	take := func(text string) {
		c.total += len(text)
		end.add(text)
		file.Write(text)
	}
	for {
		chunk, err := c.source.Recv()
		if errors.Is(err, io.EOF) {
			return media
		}
		if err != nil {
			if c.failed(err) != nil {
				return media
			}
			continue // one source has ended
		}
		c.chunks.each(chunk, take)
		if m := c.chunks.head(chunk, 0); !c.chunks.empty(m) {
			media = append(media, m)
		}
	}
}

// notice ends the stream. Without a path it says that there is none.
func (c *cut[T]) notice(path string, head int, end *tail) string {
	if path != "" {
		if text, ok := c.words.ending(c.words.stream, c.facts(head, path), end.text(), c.limit-head); ok {
			return text
		}
	}
	text, _ := c.words.ending(c.words.unsaved, c.facts(head, ""), end.text(), c.limit-head)
	return text
}

// tell reports the outcome.
func (c *cut[T]) tell(path string, err error, after int) {
	o := output{kind: leanctx.KindResultCut, rule: byLimit, before: c.total, after: after, path: path, stream: true, err: c.err}
	if err != nil {
		o.kind, o.path, o.err = leanctx.KindStoreFailed, "", err
	}
	c.report(c.ctx, c.t, o)
}

// tail keeps the last bytes of what it is given.
type tail struct {
	max  int
	buf  []byte
	lost bool // not everything is in buf
}

// skip adds what follows the first n bytes of texts.
func (t *tail) skip(texts []string, n int) {
	for _, s := range texts {
		t.add(s[min(max(n, 0), len(s)):])
		n -= len(s)
	}
}

func (t *tail) add(s string) {
	if len(s) > t.max {
		s, t.buf, t.lost = s[len(s)-t.max:], t.buf[:0], true
	}
	if t.buf = append(t.buf, s...); len(t.buf) > 2*t.max {
		t.trim()
	}
}

func (t *tail) trim() {
	if drop := len(t.buf) - t.max; drop > 0 {
		t.buf, t.lost = append(t.buf[:0], t.buf[drop:]...), true
	}
}

// text is the tail, from the start of a character on.
func (t *tail) text() string {
	t.trim()
	from := 0
	for t.lost && from < min(utf8.UTFMax-1, len(t.buf)) && !utf8.RuneStart(t.buf[from]) {
		from++
	}
	return string(t.buf[from:])
}
