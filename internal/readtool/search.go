// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Answers with the lines that a regular expression matches, as content streams by in bounded
// memory: lines, and pieces of very long ones.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/terminal"
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

// matches is the answer to a pattern.
type matches struct {
	answerHeader
	Count          int
	Content        string
	Around, Pieces bool  // lines around matches, and pieces of long lines, are shown
	Limit          int   // matches at which it stopped; zero: for another reason
	Left           int64 // lines that were not searched; zero: unknown
}

type pattern struct {
	re           *regexp.Regexp
	later        *regexp.Regexp // finds, in a text that begins with any character, the first match after that
	instructions int            // of the compiled pattern
	cost         int64          // of matching a byte
}

type extent struct {
	fromLine, fromByte int64
	most               int64 // bytes to search
	budget             int64 // of work, see maxWork
}

// lines of an answer begin with their number and, a match, ":"; a line around one, "-"; a piece of a
// long line, "@", the byte at which the piece begins, and ":".
type lines struct {
	out    strings.Builder
	room   int   // bytes
	around int   // lines to show before and after a match
	line   int64 // the last one of which something was shown
	upTo   int64 // of a long line: the end of the last piece shown
}

type progress struct {
	begun    bool
	first    int64 // byte at which searching began
	searched int64 // byte at which it ended, where nothing is left for another call
	next     int64 // byte at which another call goes on; negative: nowhere
	nextLine int64 // the line of next
}

type search struct {
	ctx context.Context
	pattern
	extent
	lines
	progress

	neighbours
	table       table // that is read
	headed      bool  // the header of a table is shown
	limit, hits int
	spent       int64 // work
}

// neighbours are the lines around matches that are not shown yet.
type neighbours struct {
	before []piece // for the next match
	after  int     // how many are to be shown after the last match
}

func (s *search) run(content *scanner) error {
	for s.next < 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		p, err := content.next()
		if errors.Is(err, io.EOF) {
			s.finish(content.start)
			return nil
		}
		if err != nil {
			return err
		}
		s.table.read(p)
		if p.number < s.fromLine || p.end() < s.fromByte {
			continue
		}
		if !s.begun {
			s.begun, s.first = true, max(p.start, s.fromByte)
		}
		if p.end()-s.first > s.most || s.spent > 0 && s.spent+int64(len(p.text))*s.cost > s.budget {
			s.next, s.nextLine = max(p.start, s.fromByte), p.number
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

func (s *search) look(p piece) {
	text := p.text
	if p.tail {
		text = bytes.TrimSuffix(text, []byte{'\r'})
	}
	if p.whole() && bytes.ContainsAny(text, "\x1b\r\b") {
		if visible := stripped(text); len(visible) <= maxShown { // places in a longer one are those in the file
			text = visible
			p.text = visible
		}
	}
	if !p.whole() || len(text) > maxShown {
		s.lookLong(p, text)
		return
	}
	if p.start < s.fromByte || !s.matches(text) {
		s.near(p)
		return
	}
	if s.hits >= s.limit || !s.fits(len(text)+1) {
		s.stop(p.number, p.start)
		return
	}
	s.show(p.number, ":"+string(text))
}

// stripped is a line as a terminal would show it.
func stripped(line []byte) []byte {
	return []byte(strings.TrimSuffix(terminal.Strip(string(line)+"\n"), "\n"))
}

// stop leaves a match for another call, with the lines before it.
func (s *search) stop(line, at int64) {
	s.next, s.nextLine = at, line
	if len(s.before) > 0 && s.before[0].start < at {
		s.next, s.nextLine = s.before[0].start, s.before[0].number
	}
}

// show shows a match with the lines before it.
func (s *search) show(number int64, text string) {
	s.showHeader(number)
	s.flush(number)
	s.put(number, text)
	s.hits++
	s.after = s.around
}

// showHeader shows the header of the table that a match is a row of, once.
func (s *search) showHeader(match int64) {
	t := &s.table
	if t.header == "" || t.shown || t.line >= match || !s.fits(len(t.header)+2*maxShown) {
		return
	}
	t.shown = true
	if len(s.before) > 0 && s.before[0].number <= t.line || t.line <= s.line {
		return // it is shown as a line around a match
	}
	s.headed = true
	s.put(t.line, "-"+t.header)
}

// table is the table that a line is a row of.
type table struct {
	rows   bool   // all lines are rows
	header string // empty: none
	line   int64  // of the header
	shown  bool

	above     string // the line before, if that may be a header
	aboveLine int64
}

// detect finds out from the beginning of a text whether it is a table.
func (t *table) detect(begin []byte) {
	var s splitter
	if s.detect(begin); s.form == ofRows {
		t.rows, t.header, t.line = true, s.rows, 1
	}
}

// read takes the next line.
func (t *table) read(p piece) {
	if t.rows {
		return
	}
	switch {
	case !p.whole() || bytes.IndexByte(p.text, '|') < 0 && bytes.IndexByte(p.text, '+') < 0:
		t.header, t.above = "", ""
	case t.above != "" && isRule(p.text):
		t.header, t.line, t.shown, t.above = t.above, t.aboveLine, false, ""
	case t.header == "":
		t.above, t.aboveLine = display.Short(display.Line(string(p.text)), headBytes), p.number
	}
}

// lookLong searches a line of which only pieces can be shown. What earlier pieces, or
// an earlier page, have shown is not shown again.
func (s *search) lookLong(p piece, text []byte) {
	last := -1 // where the last match ended
	for at := int(max(0, s.fromByte-p.start)); at <= len(text); {
		if last >= 0 && s.spent > s.budget {
			s.stop(p.number, p.start+int64(at))
			return
		}
		m := s.find(text, at)
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
	if at < s.fromByte || at < s.upTo || p.doubts(m, len(text)) {
		return true
	}
	shown := max(s.upTo-p.start, 0)
	from := max(display.Floor(text, max(m[0]-around, 0)), int(shown))
	to := display.Floor(text, min(m[1], m[0]+2*around)+around)
	mark := "@" + strconv.FormatInt(p.start+int64(from), 10) + ":"
	if s.hits >= s.limit || !s.fits(len(mark)+to-from) {
		s.stop(p.number, at)
		return false
	}
	s.show(p.number, mark+string(text[from:to]))
	s.upTo = max(p.start+int64(to), at+1)
	return true
}

// near remembers or shows a line that does not match but may be next to one that
// does.
func (s *search) near(p piece) {
	if s.around == 0 || p.number == s.line || !p.head {
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
func (s *lines) put(number int64, text string) {
	if s.around > 0 && s.line > 0 && number > s.line+1 {
		s.out.WriteString("--\n")
	}
	s.out.WriteString(strconv.FormatInt(number, 10) + text + "\n")
	s.line = number
}

// fits reports whether a line of n bytes, its number and a separator fit.
func (s *lines) fits(n int) bool { return s.out.Len()+n+32 <= s.room }

// compile sets what is searched for.
func (p *pattern) compile(text string) error {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return err
	}
	if p.instructions = len(program.Inst); p.instructions > maxInstructions {
		return &syntax.Error{Code: syntax.ErrLarge, Expr: text}
	}
	if p.re, err = regexp.Compile(text); err != nil {
		return err
	}
	p.cost = int64(len(program.Inst))
	for _, each := range program.Inst {
		if each.Op == syntax.InstRuneAny || each.Op == syntax.InstRuneAnyNotNL || each.Op == syntax.InstRune && len(each.Rune) > 2 {
			p.cost += wideCost
		}
	}
	p.later, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + tree.String() + `)`)
	return err
}

// matches reports whether a line matches. What every match must begin with is found much
// faster than the match.
func (s *search) matches(text []byte) bool {
	prefix, all := s.re.LiteralPrefix()
	if all || !bytes.Contains(text, []byte(prefix)) {
		return bytes.Contains(text, []byte(prefix))
	}
	s.spent += int64(len(text)) * s.cost
	return s.re.Match(text)
}

// find returns the first match that begins at an offset or after it, nil if there is none
// or once the context has ended.
func (s *search) find(text []byte, from int) []int {
	prefix, _ := s.re.LiteralPrefix()
	skip := bytes.Index(text[from:], []byte(prefix))
	if skip < 0 {
		return nil
	}
	if from += skip; from == 0 && len(text)*s.instructions <= maxAtOnce {
		s.spent += int64(len(text)) * s.cost
		return s.re.FindIndex(text)
	}
	// What stands before the match decides about ^ and \b.
	start, re, group := 0, s.re, 0
	if from > 0 {
		_, width := utf8.DecodeLastRune(text[:from])
		start, re, group = from-width, s.later, 2
	}
	// A text that comes from a reader can end with the context.
	rest := bytes.NewReader(text[start:])
	m := re.FindReaderSubmatchIndex(bufio.NewReader(&guarded{ctx: s.ctx, r: rest}))
	s.spent += (rest.Size() - int64(rest.Len())) * s.cost
	if m == nil || s.ctx.Err() != nil {
		return nil
	}
	return []int{start + m[group], start + m[group+1]}
}

const (
	defaultMatches = 50
	maxContext     = 20
	// maxSearched is how much one call searches.
	maxSearched = 128 << 20
	// maxWork bounds the bytes that are matched, each times the cost of the pattern: its instructions, and wideCost
	// for each that many characters keep busy. Some seconds at worst. Lines without what every match begins with cost nothing.
	maxWork, wideCost = 128 << 20, 8
	// maxInstructions is the largest pattern, as compiled.
	maxInstructions = 1000
)

func findMatches(v readCall) (string, error) {
	s := search{
		ctx:      v.ctx,
		extent:   extent{fromLine: v.req.offset, fromByte: v.req.byteOffset},
		lines:    lines{room: int(v.bytes), around: int(min(v.req.context, maxContext))},
		progress: progress{next: -1},
	}
	if err := s.compile(v.req.pattern); err != nil {
		return v.say.Say("bad_pattern", struct{ Tool, Path, Reason string }{v.say.tool, display.Quoted(v.req.pattern), reason(err)}), nil
	}
	content, size, err := v.stream()
	if err != nil {
		return "", err
	}
	defer content.Close()
	limit := int64(defaultMatches)
	if v.req.limit > 0 {
		limit = min(v.req.limit, v.lines)
	}
	s.limit, s.most, s.budget = int(limit), maxSearched, maxWork
	in := newScanner(content)
	in.max = int(min(max(maxWork/s.cost/2, 4*pieceOverlap), maxPiece))
	begin, _ := in.r.Peek(lookedAt) // reading reports what is wrong
	s.table.detect(begin)
	if err := s.run(in); err != nil {
		return "", err
	}
	left := int64(0)
	if s.next >= 0 && size-in.start <= maxSearched {
		if err := in.skip(math.MaxInt64); err != nil {
			return "", err
		}
		left = in.number - s.nextLine
	}
	return matchPage(v, &s, size, left), nil
}

// reason is why a pattern is refused, without the prefix of package regexp.
func reason(err error) string {
	var serr *syntax.Error
	if errors.As(err, &serr) {
		return fmt.Sprintf("%s: %s", serr.Code, display.Quoted(serr.Expr))
	}
	return "it is not valid"
}

func matchPage(v readCall, s *search, size, left int64) string {
	f := matches{answerHeader: v.told(v.req.pattern, size), Count: s.hits, Content: s.out.String(), Around: s.around > 0 || s.headed, Pieces: s.upTo > 0}
	f.From, f.To, f.Garbled = s.first, s.searched, !utf8.ValidString(f.Content)
	if s.next >= 0 {
		f.To, f.Left = s.next, left
		if s.hits == s.limit {
			f.Limit = s.limit
		}
		f.Next = v.req.nextArguments("pattern", v.req.pattern, "byte_offset", s.next, "context", v.req.context, "limit", v.req.limit)
	}
	if s.hits == 0 {
		return v.say.Say("no_match", f)
	}
	return v.say.Say("matches", f)
}

// bufferSize is how much content is read at a time.
const bufferSize = 64 << 10

const (
	// maxPiece is the longest line that is looked at as a whole.
	maxPiece = 8 << 20
	// pieceOverlap is how much of a piece of a longer line the next one repeats, so
	// that a match across the cut is in one of them.
	pieceOverlap = 64 << 10
)

// piece is a line without its newline, or a part of a very long one.
type piece struct {
	number int64  // of the line, from 1
	start  int64  // where text begins in the content
	text   []byte // valid until the next piece
	head   bool   // begins where the line begins
	tail   bool   // ends where the line ends
	joined bool   // begins with the end of the piece before
	shared int    // how much of its end the next piece begins with
}

func (p piece) end() int64  { return p.start + int64(len(p.text)) }
func (p piece) whole() bool { return p.head && p.tail }

// doubts reports whether a match, in a text of n bytes, touches a cut in a line and
// may match only because of the cut, while the piece on the other side of the cut
// holds it too and can tell.
func (p piece) doubts(m []int, n int) bool {
	return p.joined && m[0] == 0 || m[1] == n && m[0] > n-p.shared
}

type scanner struct {
	r      *bufio.Reader
	buf    []byte // what a piece that is not in r's buffer as a whole is put together in
	number int64
	start  int64
	head   bool
	carry  int // how much of the end of buf the next piece begins with
	max    int
	keep   int
}

func newScanner(content io.Reader) *scanner {
	return &scanner{r: bufio.NewReaderSize(content, bufferSize), number: 1, head: true, max: maxPiece, keep: pieceOverlap}
}

// next returns the next piece. At the end of the content the error is io.EOF.
func (s *scanner) next() (piece, error) {
	kept := copy(s.buf, s.buf[len(s.buf)-s.carry:])
	s.buf, s.carry = s.buf[:kept], 0
	for {
		part, err := s.r.ReadSlice('\n')
		switch {
		case err == nil && len(s.buf) == 0:
			return s.line(part), nil
		case err == nil:
			s.buf = append(s.buf, part...)
			return s.line(s.buf), nil
		case errors.Is(err, io.EOF):
			s.buf = append(s.buf, part...)
			if len(s.buf) == kept {
				return piece{}, io.EOF
			}
			return s.line(s.buf), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return piece{}, err
		}
		if s.buf = append(s.buf, part...); len(s.buf) >= s.max {
			return s.cut(), nil
		}
	}
}

// skip goes to a line, or to the end of the content, without a piece for each line.
func (s *scanner) skip(number int64) error {
	for s.number < number {
		part, err := s.r.ReadSlice('\n')
		s.start += int64(len(part))
		s.head = s.head && len(part) == 0
		switch {
		case err == nil:
			s.number++
			s.head = true
		case errors.Is(err, io.EOF):
			if !s.head {
				s.number++
			}
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
	return nil
}

// line ends a line with text, which holds its newline if it has one.
func (s *scanner) line(text []byte) piece {
	p := piece{number: s.number, start: s.start, text: bytes.TrimSuffix(text, []byte{'\n'}), head: s.head, tail: true, joined: !s.head}
	s.number++
	s.start += int64(len(text))
	s.head = true
	return p
}

// cut ends a piece inside a line.
func (s *scanner) cut() piece {
	p := piece{number: s.number, start: s.start, text: s.buf, head: s.head, joined: !s.head, shared: s.keep}
	s.carry = s.keep
	s.start = p.end() - int64(s.keep)
	s.head = false
	return p
}
