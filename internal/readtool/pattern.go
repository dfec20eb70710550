// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file answers with the lines that a regular expression matches.

import (
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

// matches answers a pattern.
func (v visit) matches() (string, error) {
	re, factor, err := compile(v.req.pattern)
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
	s := search{
		re: re, fromLine: v.req.offset, fromByte: v.req.byteOffset, next: -1,
		limit: int(limit), room: int(v.bytes), most: maxSearched / factor, around: int(min(v.req.context, maxContext)),
	}
	lines := newScanner(v.stream(content, size))
	lines.max = max(maxPiece/int(factor), 4*pieceOverlap)
	if err := s.run(lines); err != nil {
		return "", err
	}
	return v.matchPage(&s, size), nil
}

// compile reads a pattern. Matching takes time in proportion to its instructions,
// of which a short pattern can have many; factor is how many times less should be
// searched at once.
func compile(pattern string) (re *regexp.Regexp, factor int64, err error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if len(program.Inst) > maxInstructions {
		return nil, 0, &syntax.Error{Code: syntax.ErrLarge, Expr: pattern}
	}
	re, err = regexp.Compile(pattern)
	return re, 1 + int64(len(program.Inst)/50), err
}

// reason is why a pattern is refused, without the prefix of package regexp.
func reason(err error) string {
	var serr *syntax.Error
	if errors.As(err, &serr) {
		return fmt.Sprintf("%s: %s", serr.Code, quoted(serr.Expr))
	}
	return "it is not valid"
}

func (v visit) matchPage(s *search, size int64) string {
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
