// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file answers with the lines that a regular expression matches.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

const (
	defaultMatches = 50
	maxContext     = 20
	// maxSearched is how much one call searches: some seconds.
	maxSearched = 128 << 20
	// maxInstructions is the largest pattern, as compiled.
	maxInstructions = 1000
)

// findMatches answers a pattern.
func findMatches(v visit) (string, error) {
	p, err := compile(v.req.pattern)
	if err != nil {
		return v.say.say("bad_pattern", facts{Path: quoted(v.req.pattern), Reason: reason(err)}), nil
	}
	content, size, err := v.src(v.ctx, 0, -1)
	if err != nil {
		return "", err
	}
	defer content.Close()
	limit := int64(defaultMatches)
	if v.req.limit > 0 {
		limit = min(v.req.limit, v.lines)
	}
	// Matching takes time in proportion to the instructions of a pattern.
	factor := 1 + int64(p.instructions/50)
	s := search{
		ctx: v.ctx, pattern: p, fromLine: v.req.offset, fromByte: v.req.byteOffset, next: -1,
		limit: int(limit), room: int(v.bytes), most: maxSearched / factor, around: int(min(v.req.context, maxContext)),
	}
	lines := newScanner(guardedStream(v, content, size))
	lines.max = max(maxPiece/int(factor), 4*pieceOverlap)
	if err := s.run(lines); err != nil {
		return "", err
	}
	return matchPage(v, &s, size), nil
}

// pattern is a regular expression that can be looked for piecemeal.
type pattern struct {
	re *regexp.Regexp
	// later finds, in a text that begins with any character, the first match after that.
	later        *regexp.Regexp
	instructions int
}

func compile(text string) (p pattern, err error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return p, err
	}
	if p.instructions = len(program.Inst); p.instructions > maxInstructions {
		return p, &syntax.Error{Code: syntax.ErrLarge, Expr: text}
	}
	if p.re, err = regexp.Compile(text); err != nil {
		return p, err
	}
	p.later, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + tree.String() + `)`)
	return p, err
}

// in reports whether a line matches. What every match must begin with is found much
// faster than the match.
func (p pattern) in(text []byte) bool {
	prefix, all := p.re.LiteralPrefix()
	return bytes.Contains(text, []byte(prefix)) && (all || p.re.Match(text))
}

// find returns the first match that begins at an offset or after it, nil if there is none
// or once the context has ended.
func (p pattern) find(ctx context.Context, text []byte, from int) []int {
	prefix, _ := p.re.LiteralPrefix()
	skip := bytes.Index(text[from:], []byte(prefix))
	if skip < 0 {
		return nil
	}
	if from += skip; from == 0 && len(text)*p.instructions <= maxAtOnce {
		return p.re.FindIndex(text)
	}
	// What stands before the match decides about ^ and \b.
	start, re, group := 0, p.re, 0
	if from > 0 {
		_, width := utf8.DecodeLastRune(text[:from])
		start, re, group = from-width, p.later, 2
	}
	// A text that comes from a reader can end with the context.
	m := re.FindReaderSubmatchIndex(bufio.NewReader(&guarded{ctx: ctx, r: bytes.NewReader(text[start:])}))
	if m == nil || ctx.Err() != nil {
		return nil
	}
	return []int{start + m[group], start + m[group+1]}
}

// reason is why a pattern is refused, without the prefix of package regexp.
func reason(err error) string {
	var serr *syntax.Error
	if errors.As(err, &serr) {
		return fmt.Sprintf("%s: %s", serr.Code, quoted(serr.Expr))
	}
	return "it is not valid"
}

func matchPage(v visit, s *search, size int64) string {
	f := facts{
		Path: quoted(v.req.pattern), Count: s.hits, Content: s.out.String(),
		From: s.first, To: s.searched, Size: size, Garbled: !utf8.ValidString(s.out.String()),
		Around: s.around > 0, Pieces: s.shownByte > 0,
	}
	if s.next >= 0 {
		f.To = s.next
		f.Next = v.req.follow().text("pattern", v.req.pattern).number("byte_offset", s.next).
			number("context", v.req.context).number("limit", v.req.limit).json()
	}
	if s.hits == 0 {
		return v.say.say("no_match", f)
	}
	return v.say.say("matches", f)
}
