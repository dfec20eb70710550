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
	// pieceMargin is how much of a long line is shown before and after a match.
	pieceMargin = 100
	// maxAtOnce bounds the work of one look for a match that nothing interrupts, in bytes
	// times the instructions of the pattern: some .1 s.
	maxAtOnce = 10 << 20
)

// matchAnswer is the answer to a pattern.
type matchAnswer struct {
	answerHeader
	Count                 int
	Content               string
	HasContext, HasPieces bool  // lines around matches, and pieces of long lines, are shown
	Limit                 int   // matches at which it stopped; zero: for another reason
	LinesLeft             int64 // lines that were not searched; zero: unknown
}

type compiledPattern struct {
	re           *regexp.Regexp
	laterRe      *regexp.Regexp // finds, in a text that begins with any character, the first match after that
	instructions int            // of the compiled pattern
	cost         int64          // of matching a byte
}

type searchRange struct {
	fromLine, fromByte int64
	maxBytes           int64 // bytes to search
	budget             int64 // of work, see maxWork
}

// matchLines of an answer begin with their number and, a match, ":"; a line around one, "-"; a piece of a
// long line, "@", the byte at which the piece begins, and ":".
type matchLines struct {
	text         strings.Builder
	room         int   // bytes
	contextLines int   // lines to show before and after a match
	lastLine     int64 // the last one of which something was shown
	shownEnd     int64 // of a long line: the end of the last piece shown
}

type searchProgress struct {
	hasBegun      bool
	firstByte     int64 // byte at which searching began
	searchedBytes int64 // byte at which it ended, where nothing is left for another call
	nextByte      int64 // byte at which another call goes on; negative: nowhere
	nextLine      int64 // the line of nextByte
}

type patternSearch struct {
	ctx context.Context
	compiledPattern
	searchRange
	matchLines
	searchProgress

	contextBuffer
	table       tableState // that is read
	hasHeader   bool       // the header of a table is shown
	limit, hits int
	workDone    int64 // work
}

// contextBuffer has the lines around matches that are not written yet.
type contextBuffer struct {
	before     []piece // for the next match
	afterCount int     // how many are to be shown after the last match
}

func (s *patternSearch) searchContent(content *lineScanner) error {
	for s.nextByte < 0 {
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
		s.table.addLine(p)
		if p.number < s.fromLine || p.end() < s.fromByte {
			continue
		}
		if !s.hasBegun {
			s.hasBegun, s.firstByte = true, max(p.start, s.fromByte)
		}
		if p.end()-s.firstByte > s.maxBytes || s.workDone > 0 && s.workDone+int64(len(p.text))*s.cost > s.budget {
			s.nextByte, s.nextLine = max(p.start, s.fromByte), p.number
			return nil
		}
		s.searchPiece(p)
	}
	return nil
}

// finish records that the content was searched to its end.
func (s *patternSearch) finish(end int64) {
	s.searchedBytes = end
	if !s.hasBegun {
		s.firstByte = end
	}
}

func (s *patternSearch) searchPiece(p piece) {
	text := p.text
	if p.hasLineEnd {
		text = bytes.TrimSuffix(text, []byte{'\r'})
	}
	if p.isWholeLine() && bytes.ContainsAny(text, "\x1b\r\b") {
		if visible := withoutEscapes(text); len(visible) <= maxShown { // places in a longer one are those in the file
			text = visible
			p.text = visible
		}
	}
	if !p.isWholeLine() || len(text) > maxShown {
		s.searchLongLine(p, text)
		return
	}
	if p.start < s.fromByte || !s.matches(text) {
		s.addContext(p)
		return
	}
	if s.hits >= s.limit || !s.hasRoom(len(text)+1) {
		s.stop(p.number, p.start)
		return
	}
	s.showMatch(p.number, ":"+string(text))
}

// withoutEscapes returns a line as a terminal would show it.
func withoutEscapes(line []byte) []byte {
	return []byte(strings.TrimSuffix(terminal.Strip(string(line)+"\n"), "\n"))
}

// stop leaves a match for another call, with the lines before it.
func (s *patternSearch) stop(line, at int64) {
	s.nextByte, s.nextLine = at, line
	if len(s.before) > 0 && s.before[0].start < at {
		s.nextByte, s.nextLine = s.before[0].start, s.before[0].number
	}
}

// showMatch writes a match with the lines before it.
func (s *patternSearch) showMatch(number int64, text string) {
	s.showHeader(number)
	s.writeContextBefore(number)
	s.writeLine(number, text)
	s.hits++
	s.afterCount = s.contextLines
}

// showHeader shows the header of the table that a match is a row of, once.
func (s *patternSearch) showHeader(match int64) {
	t := &s.table
	if t.header == "" || t.isShown || t.headerLine >= match || !s.hasRoom(len(t.header)+2*maxShown) {
		return
	}
	t.isShown = true
	if len(s.before) > 0 && s.before[0].number <= t.headerLine || t.headerLine <= s.lastLine {
		return // it is shown as a line around a match
	}
	s.hasHeader = true
	s.writeLine(t.headerLine, "-"+t.header)
}

// tableState describes the table that a line is a row of.
type tableState struct {
	isAllRows  bool   // all lines are rows
	header     string // empty: none
	headerLine int64  // of the header
	isShown    bool

	candidateHeader string // the line before, if that may be a header
	candidateLine   int64
}

// detect finds out from the beginning of a text whether it is a table.
func (t *tableState) detect(begin []byte) {
	var s splitter
	if s.detect(begin); s.form == ofRows {
		t.isAllRows, t.header, t.headerLine = true, s.tableHeader, 1
	}
}

// addLine reads the next line.
func (t *tableState) addLine(p piece) {
	if t.isAllRows {
		return
	}
	switch {
	case !p.isWholeLine() || bytes.IndexByte(p.text, '|') < 0 && bytes.IndexByte(p.text, '+') < 0:
		t.header, t.candidateHeader = "", ""
	case t.candidateHeader != "" && isRule(p.text):
		t.header, t.headerLine, t.isShown, t.candidateHeader = t.candidateHeader, t.candidateLine, false, ""
	case t.header == "":
		t.candidateHeader, t.candidateLine = display.Short(display.Line(string(p.text)), headBytes), p.number
	}
}

// searchLongLine searches a line of which only pieces can be shown. What earlier pieces, or
// an earlier page, have shown is not shown again.
func (s *patternSearch) searchLongLine(p piece, text []byte) {
	last := -1 // where the last match ended
	for at := int(max(0, s.fromByte-p.start)); at <= len(text); {
		if last >= 0 && s.workDone > s.budget {
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
	s.addContext(p)
}

// showPiece shows a match in a long line with what is around it; false means
// that this is for another call.
func (s *patternSearch) showPiece(p piece, text []byte, m []int) bool {
	at := p.start + int64(m[0])
	if at < s.fromByte || at < s.shownEnd || p.isUncertain(m, len(text)) {
		return true
	}
	shown := max(s.shownEnd-p.start, 0)
	from := max(display.Floor(text, max(m[0]-pieceMargin, 0)), int(shown))
	to := display.Floor(text, min(m[1], m[0]+2*pieceMargin)+pieceMargin)
	mark := "@" + strconv.FormatInt(p.start+int64(from), 10) + ":"
	if s.hits >= s.limit || !s.hasRoom(len(mark)+to-from) {
		s.stop(p.number, at)
		return false
	}
	s.showMatch(p.number, mark+string(text[from:to]))
	s.shownEnd = max(p.start+int64(to), at+1)
	return true
}

// addContext remembers or writes a line that does not match but may be next to one that does.
func (s *patternSearch) addContext(p piece) {
	if s.contextLines == 0 || p.number == s.lastLine || !p.hasLineStart {
		return
	}
	text := bytes.TrimSuffix(p.text, []byte{'\r'})
	if len(text) > maxShown {
		cut := display.Floor(text, maxShown)
		text = append(text[:cut:cut], "…"...)
	}
	if s.afterCount == 0 {
		s.remember(piece{number: p.number, start: p.start, text: text})
		return
	}
	if s.afterCount--; s.hasRoom(len(text) + 1) {
		s.writeLine(p.number, "-"+string(text))
	}
}

// remember keeps a copy of a line, in the memory of one that is too far away.
func (s *patternSearch) remember(n piece) {
	var reuse []byte
	if len(s.before) == s.contextLines {
		reuse = s.before[0].text[:0]
		s.before = append(s.before[:0], s.before[1:]...)
	}
	n.text = append(reuse, n.text...)
	s.before = append(s.before, n)
}

// writeContextBefore writes the lines before a match, where they fit.
func (s *patternSearch) writeContextBefore(match int64) {
	for _, n := range s.before {
		if n.number < match && s.hasRoom(len(n.text)+2*maxShown) {
			s.writeLine(n.number, "-"+string(n.text))
		}
	}
	s.before = s.before[:0]
}

// writeLine writes a line of the answer. A line "--" marks omitted lines.
func (s *matchLines) writeLine(number int64, text string) {
	if s.contextLines > 0 && s.lastLine > 0 && number > s.lastLine+1 {
		s.text.WriteString("--\n")
	}
	s.text.WriteString(strconv.FormatInt(number, 10) + text + "\n")
	s.lastLine = number
}

// hasRoom reports whether a line of n bytes fits, with its number and a separator.
func (s *matchLines) hasRoom(n int) bool { return s.text.Len()+n+32 <= s.room }

// compile sets what is searched for.
func (p *compiledPattern) compile(text string) error {
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
	p.laterRe, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + tree.String() + `)`)
	return err
}

// matches reports whether a line matches. What every match must begin with is found much
// faster than the match.
func (s *patternSearch) matches(text []byte) bool {
	prefix, all := s.re.LiteralPrefix()
	if all || !bytes.Contains(text, []byte(prefix)) {
		return bytes.Contains(text, []byte(prefix))
	}
	s.workDone += int64(len(text)) * s.cost
	return s.re.Match(text)
}

// find returns the first match that begins at an offset or after it, nil if there is none
// or once the context has ended.
func (s *patternSearch) find(text []byte, from int) []int {
	prefix, _ := s.re.LiteralPrefix()
	skip := bytes.Index(text[from:], []byte(prefix))
	if skip < 0 {
		return nil
	}
	if from += skip; from == 0 && len(text)*s.instructions <= maxAtOnce {
		s.workDone += int64(len(text)) * s.cost
		return s.re.FindIndex(text)
	}
	// What stands before the match decides about ^ and \b.
	start, re, group := 0, s.re, 0
	if from > 0 {
		_, width := utf8.DecodeLastRune(text[:from])
		start, re, group = from-width, s.laterRe, 2
	}
	// A text that comes from a reader can end with the context.
	rest := bytes.NewReader(text[start:])
	m := re.FindReaderSubmatchIndex(bufio.NewReader(&contextReader{ctx: s.ctx, r: rest}))
	s.workDone += (rest.Size() - int64(rest.Len())) * s.cost
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
	s := patternSearch{
		ctx:            v.ctx,
		searchRange:    searchRange{fromLine: v.req.offset, fromByte: v.req.byteOffset},
		matchLines:     matchLines{room: int(v.maxBytes), contextLines: int(min(v.req.context, maxContext))},
		searchProgress: searchProgress{nextByte: -1},
	}
	if err := s.compile(v.req.pattern); err != nil {
		f := struct{ Tool, Path, Reason string }{v.texts.tool, display.Quoted(v.req.pattern), patternError(err)}
		return v.texts.Render("bad_pattern", f), nil
	}
	content, size, err := v.stream()
	if err != nil {
		return "", err
	}
	defer content.Close()
	limit := int64(defaultMatches)
	if v.req.limit > 0 {
		limit = min(v.req.limit, v.maxLines)
	}
	s.limit, s.maxBytes, s.budget = int(limit), maxSearched, maxWork
	in := newLineScanner(content)
	in.maxPiece = int(min(max(maxWork/s.cost/2, 4*pieceOverlap), maxPiece))
	begin, _ := in.r.Peek(lookedAt) // reading reports what is wrong
	s.table.detect(begin)
	if err := s.searchContent(in); err != nil {
		return "", err
	}
	left := int64(0)
	if s.nextByte >= 0 && size-in.start <= maxSearched {
		if err := in.skip(math.MaxInt64); err != nil {
			return "", err
		}
		left = in.number - s.nextLine
	}
	return matchPage(v, &s, size, left), nil
}

// patternError is why a pattern is not valid, without the prefix of package regexp.
func patternError(err error) string {
	var serr *syntax.Error
	if errors.As(err, &serr) {
		return fmt.Sprintf("%s: %s", serr.Code, display.Quoted(serr.Expr))
	}
	return "it is not valid"
}

func matchPage(v readCall, s *patternSearch, size, left int64) string {
	f := matchAnswer{
		answerHeader: v.header(v.req.pattern, size),
		Count:        s.hits,
		Content:      s.text.String(),
		HasContext:   s.contextLines > 0 || s.hasHeader,
		HasPieces:    s.shownEnd > 0,
	}
	f.FirstByte, f.EndByte, f.InvalidUTF8 = s.firstByte, s.searchedBytes, !utf8.ValidString(f.Content)
	if s.nextByte >= 0 {
		f.EndByte, f.LinesLeft = s.nextByte, left
		if s.hits == s.limit {
			f.Limit = s.limit
		}
		f.NextCall = v.req.nextArguments("pattern", v.req.pattern, "byte_offset", s.nextByte,
			"context", v.req.context, "limit", v.req.limit)
	}
	if s.hits == 0 {
		return v.texts.Render("no_match", f)
	}
	return v.texts.Render("matches", f)
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
	number       int64  // of the line, from 1
	start        int64  // where text begins in the content
	text         []byte // valid until the next piece
	hasLineStart bool   // begins where the line begins
	hasLineEnd   bool   // ends where the line ends
	continues    bool   // begins with the end of the piece before
	overlap      int    // how much of its end the next piece begins with
}

func (p piece) end() int64        { return p.start + int64(len(p.text)) }
func (p piece) isWholeLine() bool { return p.hasLineStart && p.hasLineEnd }

// isUncertain reports whether a match in a text of n bytes touches a cut in a line and may match only because of
// the cut. The piece on the other side of the cut has the match, too.
func (p piece) isUncertain(m []int, n int) bool {
	return p.continues && m[0] == 0 || m[1] == n && m[0] > n-p.overlap
}

type lineScanner struct {
	r           *bufio.Reader
	buf         []byte // what a piece that is not in r's buffer as a whole is put together in
	number      int64
	start       int64
	atLineStart bool
	carry       int // how much of the end of buf the next piece begins with
	maxPiece    int
	overlap     int
}

func newLineScanner(content io.Reader) *lineScanner {
	return &lineScanner{
		r:           bufio.NewReaderSize(content, bufferSize),
		number:      1,
		atLineStart: true,
		maxPiece:    maxPiece,
		overlap:     pieceOverlap,
	}
}

// next returns the next piece. At the end of the content the error is io.EOF.
func (s *lineScanner) next() (piece, error) {
	carried := copy(s.buf, s.buf[len(s.buf)-s.carry:])
	s.buf, s.carry = s.buf[:carried], 0
	for {
		part, err := s.r.ReadSlice('\n')
		switch {
		case err == nil && len(s.buf) == 0:
			return s.endLine(part), nil
		case err == nil:
			s.buf = append(s.buf, part...)
			return s.endLine(s.buf), nil
		case errors.Is(err, io.EOF):
			s.buf = append(s.buf, part...)
			if len(s.buf) == carried {
				return piece{}, io.EOF
			}
			return s.endLine(s.buf), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return piece{}, err
		}
		if s.buf = append(s.buf, part...); len(s.buf) >= s.maxPiece {
			return s.cutPiece(), nil
		}
	}
}

// skip goes to a line, or to the end of the content, without a piece for each line.
func (s *lineScanner) skip(number int64) error {
	for s.number < number {
		part, err := s.r.ReadSlice('\n')
		s.start += int64(len(part))
		s.atLineStart = s.atLineStart && len(part) == 0
		switch {
		case err == nil:
			s.number++
			s.atLineStart = true
		case errors.Is(err, io.EOF):
			if !s.atLineStart {
				s.number++
			}
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
	return nil
}

// endLine returns the piece that ends a line. The text includes the newline if there is one.
func (s *lineScanner) endLine(text []byte) piece {
	p := piece{
		number:       s.number,
		start:        s.start,
		text:         bytes.TrimSuffix(text, []byte{'\n'}),
		hasLineStart: s.atLineStart,
		hasLineEnd:   true,
		continues:    !s.atLineStart,
	}
	s.number++
	s.start += int64(len(text))
	s.atLineStart = true
	return p
}

// cutPiece returns a piece that ends inside a line.
func (s *lineScanner) cutPiece() piece {
	p := piece{
		number:       s.number,
		start:        s.start,
		text:         s.buf,
		hasLineStart: s.atLineStart,
		continues:    !s.atLineStart,
		overlap:      s.overlap,
	}
	s.carry = s.overlap
	s.start = p.end() - int64(s.overlap)
	s.atLineStart = false
	return p
}
