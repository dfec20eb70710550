// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file answers with the lines that a regular expression matches.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	defaultMatches = 50
	maxContext     = 20
	// maxShown is the longest line that is shown whole. Of a longer one a piece
	// around each match is shown.
	maxShown = 400
	// around is how much of a long line is shown before and behind a match.
	around = 100
	// maxFound bounds what is remembered of the matches in one piece.
	maxFound = 20_000
	// maxSearched is how much one call searches: some seconds.
	maxSearched = 256 << 20
)

// matches answers a pattern.
func (v visit) matches() (string, error) {
	re, err := regexp.Compile(v.req.pattern)
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
		limit: int(limit), room: int(v.bytes), around: int(min(v.req.context, maxContext)),
	}
	if err := s.run(newScanner(v.stream(content, size))); err != nil {
		return "", err
	}
	return v.matchPage(&s, size), nil
}

// reason is why a pattern is refused, without Go's prefix.
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

// search collects matches. Lines that are shown begin with their number and, a
// match, ":"; a line around one, "-"; a piece of a long line, "@", the byte at
// which the piece begins, and ":".
type search struct {
	re                 *regexp.Regexp
	fromLine, fromByte int64
	limit, room        int
	around             int // lines to show before and behind a match

	out      strings.Builder
	hits     int
	first    int64 // byte at which searching began
	searched int64 // byte up to which it went
	next     int64 // byte at which another call goes on; negative: nowhere
	begun    bool

	shownLine int64      // the last line of which something was shown
	shownByte int64      // of a long line: the end of the last piece shown
	before    []neighbor // lines that were not shown, for the next match
	after     int        // lines to show yet behind the last match
}

// neighbor is a line near a match.
type neighbor struct {
	number, start int64
	text          string
}

func (s *search) run(lines *scanner) error {
	for s.next < 0 {
		p, err := lines.next()
		if errors.Is(err, io.EOF) {
			s.finish(lines.start)
			return nil
		}
		if err != nil {
			return err
		}
		if p.number < s.fromLine || p.end() < s.fromByte {
			continue
		}
		if !s.begun {
			s.begun, s.first = true, max(p.start, s.fromByte)
		}
		if p.end()-s.first > maxSearched {
			s.next = max(p.start, s.fromByte)
			return nil
		}
		s.look(p)
		s.searched = p.end()
	}
	return nil
}

// finish notes that the content was searched to its end.
func (s *search) finish(end int64) {
	s.searched = end
	if !s.begun {
		s.first = end
	}
}

// look searches one piece.
func (s *search) look(p piece) {
	text := p.text
	if p.tail {
		text = bytes.TrimSuffix(text, []byte{'\r'})
	}
	if !p.whole() || len(text) > maxShown {
		s.lookLong(p, text)
		return
	}
	if p.start < s.fromByte || !s.re.Match(text) {
		s.near(p)
		return
	}
	if s.hits >= s.limit || !s.fits(len(text)+1) {
		s.stop(p.start)
		return
	}
	s.show(p.number, ":"+string(text))
}

// stop leaves a match for another call, with the lines before it.
func (s *search) stop(at int64) {
	s.next = at
	if len(s.before) > 0 {
		s.next = min(at, s.before[0].start)
	}
}

// show shows a match with the lines before it.
func (s *search) show(number int64, text string) {
	s.flush(number)
	s.put(number, text)
	s.hits++
	s.after = s.around
}

// lookLong searches a line of which only pieces can be shown. What the pieces
// before this one have shown, or a page before this, is not shown again.
func (s *search) lookLong(p piece, text []byte) {
	found := s.re.FindAllIndex(text, maxFound)
	for len(found) > 0 {
		for _, m := range found {
			if !s.showPiece(p, text, m) {
				return
			}
		}
		if len(found) < maxFound {
			break
		}
		// So many matches that the rest of the piece is searched as one of its own.
		rest := found[len(found)-1][1]
		p.start, p.head, p.joined, text = p.start+int64(rest), false, false, text[rest:]
		found = s.re.FindAllIndex(text, maxFound)
	}
	s.near(p)
}

// showPiece shows a match in a long line with what is around it; false means
// that this is for another call.
func (s *search) showPiece(p piece, text []byte, m []int) bool {
	at := p.start + int64(m[0])
	if at < s.fromByte || at < s.shownByte || p.doubts(m, len(text)) {
		return true
	}
	shown := max(s.shownByte-p.start, 0)
	from := max(runeCut(text, int64(max(m[0]-around, 0))), int(shown))
	to := runeCut(text, int64(min(m[1], m[0]+2*around)+around))
	mark := "@" + strconv.FormatInt(p.start+int64(from), 10) + ":"
	if s.hits >= s.limit || !s.fits(len(mark)+to-from) {
		s.stop(at)
		return false
	}
	s.show(p.number, mark+string(text[from:to]))
	s.shownByte = max(p.start+int64(to), at+1)
	return true
}

// near remembers or shows a line that does not match but may be next to one that
// does.
func (s *search) near(p piece) {
	if s.around == 0 || p.number == s.shownLine || !p.head {
		return
	}
	text := p.text
	if len(text) > maxShown {
		text = text[:runeCut(text, maxShown)]
	}
	n := neighbor{p.number, p.start, string(bytes.TrimSuffix(text, []byte{'\r'}))}
	if len(text) < len(p.text) {
		n.text += "…"
	}
	if s.after > 0 {
		s.after--
		if s.fits(len(n.text) + 1) {
			s.put(n.number, "-"+n.text)
		}
		return
	}
	if len(s.before) == s.around {
		s.before = s.before[1:]
	}
	s.before = append(s.before, n)
}

// flush shows the lines before a match that fit.
func (s *search) flush(match int64) {
	for _, n := range s.before {
		if n.number < match && s.fits(len(n.text)+2*maxShown) {
			s.put(n.number, "-"+n.text)
		}
	}
	s.before = nil
}

// put writes a line of the answer. A line "--" stands where lines are left out.
func (s *search) put(number int64, text string) {
	if s.around > 0 && s.shownLine > 0 && number > s.shownLine+1 {
		s.out.WriteString("--\n")
	}
	s.out.WriteString(strconv.FormatInt(number, 10) + text + "\n")
	s.shownLine = number
}

// fits reports whether a line of n bytes, its number and a separator fit.
func (s *search) fits(n int) bool { return s.out.Len()+n+32 <= s.room }
