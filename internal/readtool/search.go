// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file collects the matches of a regular expression in a file.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/display"
)

const (
	// maxShown is the longest line that is shown whole. Of a longer one a piece
	// around each match is shown.
	maxShown = 400
	// around is how much of a long line is shown before and after a match.
	around = 100
	// maxAtOnce bounds the work of one look for a match that nothing interrupts, in bytes
	// times the instructions of the pattern: some .1 s.
	maxAtOnce = 10 << 20
)

// search collects matches. Lines that are shown begin with their number and, a
// match, ":"; a line around one, "-"; a piece of a long line, "@", the byte at
// which the piece begins, and ":".
type search struct {
	ctx                context.Context
	pattern            pattern
	fromLine, fromByte int64
	limit, room        int
	most               int64 // bytes to search
	around             int   // lines to show before and after a match

	out      strings.Builder
	hits     int
	first    int64 // byte at which searching began
	searched int64 // byte at which it ended, where nothing is left for another call
	next     int64 // byte at which another call goes on; negative: nowhere
	begun    bool

	shownLine int64   // the last line of which something was shown
	shownByte int64   // of a long line: the end of the last piece shown
	before    []piece // lines that were not shown, for the next match
	after     int     // lines to show yet after the last match
}

func (s *search) run(lines *scanner) error {
	for s.next < 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
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
		if p.end()-s.first > s.most {
			s.next = max(p.start, s.fromByte)
			return nil
		}
		s.look(p)
	}
	return nil
}

// finish records that the content was searched to its end.
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
	if p.start < s.fromByte || !s.pattern.in(text) {
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

// lookLong searches a line of which only pieces can be shown. What earlier pieces, or
// an earlier page, have shown is not shown again.
func (s *search) lookLong(p piece, text []byte) {
	last := -1 // where the last match ended
	for at := int(max(0, s.fromByte-p.start)); at <= len(text); {
		m := s.pattern.find(s.ctx, text, at)
		if m == nil {
			break
		}
		empty := m[0] == m[1]
		if !(empty && m[0] == last) && !s.showPiece(p, text, m) {
			return
		}
		if at, last = m[1], m[1]; empty {
			_, width := utf8.DecodeRune(text[at:])
			at += max(width, 1)
		}
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
	from := max(display.Floor(text, max(m[0]-around, 0)), int(shown))
	to := display.Floor(text, min(m[1], m[0]+2*around)+around)
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
	text := bytes.TrimSuffix(p.text, []byte{'\r'})
	if len(text) > maxShown {
		cut := display.Floor(text, maxShown)
		text = append(text[:cut:cut], "…"...)
	}
	if s.after == 0 {
		s.remember(piece{number: p.number, start: p.start, text: text})
		return
	}
	if s.after--; s.fits(len(text) + 1) {
		s.put(p.number, "-"+string(text))
	}
}

// remember keeps a copy of a line, in the memory of one that is too far away.
func (s *search) remember(n piece) {
	var reuse []byte
	if len(s.before) == s.around {
		reuse = s.before[0].text[:0]
		s.before = append(s.before[:0], s.before[1:]...)
	}
	n.text = append(reuse, n.text...)
	s.before = append(s.before, n)
}

// flush shows the lines before a match that fit.
func (s *search) flush(match int64) {
	for _, n := range s.before {
		if n.number < match && s.fits(len(n.text)+2*maxShown) {
			s.put(n.number, "-"+string(n.text))
		}
	}
	s.before = s.before[:0]
}

// put writes a line of the answer. A line "--" marks where lines are left out.
func (s *search) put(number int64, text string) {
	if s.around > 0 && s.shownLine > 0 && number > s.shownLine+1 {
		s.out.WriteString("--\n")
	}
	s.out.WriteString(strconv.FormatInt(number, 10) + text + "\n")
	s.shownLine = number
}

// fits reports whether a line of n bytes, its number and a separator fit.
func (s *search) fits(n int) bool { return s.out.Len()+n+32 <= s.room }
