// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Texts are taken apart into the records that they consist of: rows, commits, hunks, log entries,
// sections, blocks by their indentation, paragraphs or lines, each with the heading that it stands
// under. Nothing is lost between two records.

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/preview"
)

const (
	// Lines that are no rows, and entries of a log, are together a passage of some togetherBytes: what
	// is looked for often stands just beside the words that are known. Parts of JSON are, if shorter than
	// tinyRecord. Of parts of a line shorter than tinyPart, at most fewTiny follow each other.
	togetherBytes = 400
	tinyRecord    = 60
	tinyPart      = 24
	fewTiny       = 8
	// A row of at most shortRow bytes may be shown together with the rows next to it.
	shortRow = 100
	// headBytes limits the length of a displayed heading.
	headBytes = 240
	// maxTag is the longest name of an element, with what is before it.
	maxTag = 64
	// lookedAt is how much of a text is examined to detect its form.
	lookedAt = 32 << 10
)

// form is the structure of a text.
type form int

const (
	ofLines form = iota
	ofRows
	ofEntries // which begin with lines that have a level
	ofBlocks  // by their indentation
	ofParagraphs
)

// head is a heading with its level.
type head struct {
	level int
	text  string
}

type splitter struct {
	r     *bufio.Reader
	line  int64
	start int64

	form        form
	tableHeader string // the header of the table that is read
	heads       []head
	tiny        int // how many passages in a row are tiny and end inside a line

	entryReader
	blockState
}

// blockState notes where groups of blocks begin.
type blockState struct {
	groups      bool // empty lines or rulers are between some blocks
	isSeparated bool // one of them, or nothing, is before
}

func newSplitter(content io.Reader) *splitter {
	s := &splitter{r: bufio.NewReaderSize(content, 64<<10), line: 1, blockState: blockState{isSeparated: true}}
	begin, _ := s.r.Peek(lookedAt) // the first read reports what is wrong
	s.detect(begin)
	return s
}

func (s *splitter) next() (passage, error) {
	ahead, err := s.r.Peek(recordBytes + passageBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return passage{}, err
	}
	if len(ahead) == 0 {
		return passage{}, io.EOF
	}
	beginsEntry := s.form == ofEntries && !s.isLog && !s.isMarkup && s.level(ahead) >= 0
	cut, heading := s.passageLength(ahead)
	if cut >= tinyPart || ahead[cut-1] == '\n' {
		s.tiny = 0
	} else if s.tiny++; s.tiny > fewTiny { // of many tiny parts, each would be looked for in the same long text
		cut, s.tiny = evenCut(ahead), 0
	}
	text := ahead[:cut]
	newlines := int64(bytes.Count(text, []byte{'\n'}))
	p := passage{firstLine: s.line, lastLine: s.line + newlines, start: s.start, text: string(text), heading: heading}
	p.isRecord = beginsEntry && !s.inEntry || s.form == ofRows && cut > shortRow
	if text[cut-1] == '\n' {
		p.lastLine--
	}
	s.line += newlines
	s.start += int64(cut)
	_, err = s.r.Discard(cut)
	return p, err
}

// passageLength returns the length of the passage at the start of a text, and its heading.
func (s *splitter) passageLength(ahead []byte) (n int, heading string) {
	first := lineLength(ahead)
	if first > nestedBytes || first == len(ahead) && first > passageBytes {
		return softCut(ahead), s.headingOf(len(s.heads))
	}
	if n, ok := s.row(ahead, first); ok {
		return n, s.tableHeader
	}
	switch s.form {
	case ofEntries:
		return s.entry(ahead, first)
	case ofBlocks:
		return s.block(ahead, first)
	case ofParagraphs:
		return paragraphLength(ahead), ""
	}
	for n = first; n < len(ahead) && !tableAt(ahead[n:]); n += first {
		if first = lineLength(ahead[n:]); n+first > togetherBytes {
			break
		}
	}
	return n, ""
}

// headingOf is the heading of passages below n heads.
func (s *splitter) headingOf(n int) string {
	var parts []string
	for _, h := range s.heads[max(0, n-2):n] {
		parts = append(parts, h.text)
	}
	return display.Short(strings.Join(parts, " > "), headBytes)
}

// push notes a line that others stand under.
func (s *splitter) push(level int, line []byte) {
	s.pop(level)
	s.heads = append(s.heads, head{level, display.Short(display.Line(strings.TrimSpace(string(line))), headBytes)})
}

// pop removes the headings of a level and below.
func (s *splitter) pop(level int) {
	for len(s.heads) > 0 && s.heads[len(s.heads)-1].level >= level {
		s.heads = s.heads[:len(s.heads)-1]
	}
}

// row returns the length of the table row at the start of a text. The ruler under its header identifies a
// table.
func (s *splitter) row(ahead []byte, first int) (n int, ok bool) {
	if s.form == ofRows {
		for n = first; n < len(ahead) && bytes.Count(ahead[:n], []byte{'"'})%2 == 1; { // a cell of several lines
			if n += lineLength(ahead[n:]); n > longestEntry {
				return first, true
			}
		}
		return n, true
	}
	line := bytes.TrimSpace(ahead[:first])
	if bytes.IndexByte(line, '|') < 0 {
		s.tableHeader = ""
		return 0, false
	}
	if tableAt(ahead) {
		s.tableHeader = display.Short(display.Line(string(line)), headBytes)
		return first + lineLength(ahead[first:]), true
	}
	return first, s.tableHeader != ""
}

// tableAt reports whether a table begins with the first line of a text.
func tableAt(b []byte) bool {
	first := lineLength(b)
	return bytes.IndexByte(b[:first], '|') >= 0 && isRule(b[first:first+lineLength(b[first:])])
}

// isRule reports whether a line separates the header of a table from its rows.
func isRule(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 2 && bytes.Contains(line, []byte("--")) && bytes.ContainsAny(line, "|+") && len(bytes.Trim(line, "|-+: ")) == 0
}

// entry returns the length of the entry, or of a part of it, at the start of a text.
func (s *splitter) entry(ahead []byte, first int) (n int, heading string) {
	level := s.level(ahead)
	if level >= 0 && !s.inEntry {
		s.push(level, s.title(ahead, first))
	}
	length := s.momentLength(ahead)
	for s.isLog && !s.inEntry && length < len(ahead) { // short entries are together a passage
		more := s.momentLength(ahead[length:])
		if length+more > togetherBytes {
			break
		}
		length += more
	}
	began := s.inEntry || level < 0
	if s.inEntry = length > longestEntry; s.inEntry {
		length = paragraphLength(ahead)
	}
	if began {
		return length, s.headingOf(len(s.heads))
	}
	return length, s.headingOf(len(s.heads) - 1)
}

// title returns the heading of the parts of a long entry: its first line. If that line only starts an entry,
// the next lines are added.
func (s *splitter) title(ahead []byte, first int) []byte {
	if !s.hasBareTitles {
		return ahead[:first]
	}
	return ahead[:display.Floor(ahead, min(len(ahead), headBytes/2))]
}

// block returns the length of a line with everything indented below it, or of all blocks up to the next empty
// line. If that is too long, the first line is a passage and the heading of the others.
func (s *splitter) block(ahead []byte, first int) (n int, heading string) {
	indent := indentOf(ahead[:first])
	if indent < 0 {
		s.isSeparated = true
		return first, s.headingOf(len(s.heads))
	}
	group := 0
	if s.groups && indent == 0 && (s.isSeparated || isRuler(ahead[:first])) {
		s.heads, group = s.heads[:0], groupLength(ahead, first)
	}
	s.pop(indent)
	n, deep := blockLength(ahead, first, indent)
	heading = s.headingOf(len(s.heads))
	switch {
	case n < group && group <= longestEntry:
		n = group
	case n > longestEntry:
		s.push(indent, ahead[:first])
		n = first
	case n < group:
		s.push(groupLevel, ahead[:first])
	case !deep:
		n = alikeLength(ahead, n, indent)
	}
	s.isSeparated = bytes.HasSuffix(ahead[:n], []byte("\n\n"))
	return n, heading
}

// alikeLength extends the first n bytes of a text by the single lines behind them with the same indent.
func alikeLength(b []byte, n, indent int) int {
	for n < len(b) {
		first := lineLength(b[n:])
		more, deep := blockLength(b[n:], first, indent)
		if indentOf(b[n:n+first]) != indent || deep || n+more > passageBytes {
			break
		}
		n += more
	}
	return n
}

// groupLevel is the level of the line that begins a group of blocks.
const groupLevel = -1

// groupLength is how long the blocks up to the next empty line or ruler are, more than longestEntry if they
// are too long.
func groupLength(b []byte, first int) (n int) {
	for n = first; n < len(b) && n <= longestEntry; {
		line := b[n : n+lineLength(b[n:])]
		if indentOf(line) < 0 || isRuler(line) {
			break
		}
		n += len(line)
	}
	return n
}

// isRuler reports whether a line separates documents.
func isRuler(line []byte) bool { return bytes.Equal(bytes.TrimRight(line, " \r\n"), []byte("---")) }

// blockLength returns the length of a block with its closing line and the comment before it. deep reports
// whether anything is indented below its first line.
func blockLength(b []byte, first, indent int) (n int, deep bool) {
	comment := isComment(b[:first])
	for n = first; n < len(b) && n <= longestEntry; {
		line := b[n : n+lineLength(b[n:])]
		switch at := indentOf(line); {
		case at > indent:
			deep, comment = true, false
		case at < 0:
		case at == indent && isCloser(line):
			return n + len(line), true
		case at == indent && bytes.HasPrefix(line[at:], []byte("Caused by: ")):
		case at == indent && comment:
			comment = isComment(line)
		default:
			return n, deep
		}
		n += len(line)
	}
	return n, deep
}

// indentOf returns the indent of a line; a negative number for an empty line.
func indentOf(line []byte) int {
	text := bytes.TrimRight(line, " \t\r\n")
	if len(text) == 0 {
		return -1
	}
	return len(text) - len(bytes.TrimLeft(text, " \t"))
}

func isComment(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("# ")) || bytes.HasPrefix(line, []byte("@")) || bytes.HasPrefix(line, []byte("/*")) || bytes.HasPrefix(line, []byte("*"))
}

func isCloser(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return bytes.HasPrefix(line, []byte("</")) || bytes.ContainsAny(line[:1], "})]")
}

// paragraphLength is the length of the paragraph at the start of a text, or of a part of a long one. Short
// paragraphs are joined.
func paragraphLength(b []byte) (n int) {
	for n < len(b) {
		line := lineLength(b[n:])
		if n > 0 && (n+line > passageBytes || tableAt(b[n:])) {
			return n
		}
		if line > passageBytes {
			return softCut(b)
		}
		n += line
		if n > passageBytes/2 && len(bytes.TrimSpace(b[n-line:n])) == 0 {
			return n
		}
	}
	return n
}

// softCut cuts a long line where something in it ends: a part that holds others, a sentence or a word.
func softCut(b []byte) int {
	b = b[:lineLength(b)]
	if n := nestedCut(b[:min(len(b), nestedBytes)]); n > 0 {
		return n
	}
	return evenCut(b)
}

// evenCut cuts a long line behind a sentence or a word.
func evenCut(b []byte) int {
	b = b[:lineLength(b)]
	b = b[:display.Floor(b, min(len(b), passageBytes))]
	if len(b) < passageBytes-utf8.UTFMax {
		return len(b)
	}
	for _, end := range []string{"。", ". ", "; ", " "} {
		if i := bytes.LastIndex(b, []byte(end)) + len(end); i >= passageBytes/2 {
			return i
		}
	}
	return len(b)
}

// nestedBytes is how much of a long line is examined for its parts.
const nestedBytes = 3 * passageBytes

// nestedCut returns where to cut a line of brackets and elements, or zero if it has few of them. It prefers the
// end of the last part within the first passageBytes that is not nested in another one; then the first such
// part; then the outermost part.
func nestedCut(b []byte) (cut int) {
	const fewParts = 4
	depth, outermost, parts := 0, len(b), 0
	for i, n := 0, 0; i < len(b) && (i < passageBytes || outermost > 0); i += n {
		var depthChange int
		depthChange, n = bracket(b[i:])
		if depth += depthChange; depthChange >= 0 {
			continue
		}
		end := i + n
		if end < len(b) && bytes.IndexByte([]byte("([{."), b[end]) >= 0 {
			continue // as a function does behind its parameters
		}
		parts++
		if at := max(depth, 0); end <= passageBytes && at <= outermost || at == 0 && outermost > 0 {
			outermost, cut = at, end+len(b[end:])-len(bytes.TrimLeft(b[end:], ",; "))
		}
	}
	if parts < fewParts {
		return 0
	}
	return cut
}

// bracket returns 1 if a text begins with an opening bracket or tag, -1 for a closing one, and its length.
func bracket(b []byte) (depthChange, n int) {
	switch b[0] {
	case '(', '[', '{':
		return 1, 1
	case ')', ']', '}':
		return -1, 1
	case '/':
		if bytes.HasPrefix(b, []byte("/>")) {
			return -1, 2
		}
	case '<':
		name, closes, length := tagAt(b)
		if name == "" {
			break
		}
		switch {
		case closes:
			return -1, max(length, 1+bytes.IndexByte(b, '>'))
		case withoutEnd[name]:
			return 0, max(length, 1+bytes.IndexByte(b, '>'))
		}
		return 1, length
	}
	return 0, 1
}

// tagAt reads a tag at the start of a text: its name in lower case, and the length up to the end of the name.
// name is empty if there is no tag.
func tagAt(b []byte) (name string, closes bool, length int) {
	from := 1
	if len(b) > 1 && b[1] == '/' {
		from, closes = 2, true
	}
	to := from
	for to < min(len(b), maxTag) && (isLetter(b[to]) || to > from && (digit(b[to]) || b[to] == ':' || b[to] == '-' || b[to] == '_')) {
		to++
	}
	if to == from || b[0] != '<' {
		return "", false, 0
	}
	return strings.ToLower(string(b[from:to])), closes, to
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

var (
	sectionLine = regexp.MustCompile(`^\[\[?[\w.\-"' ]+\]?\]\s*$`)
	mailLine    = regexp.MustCompile(`^From:? .*@`)
	titleLine   = regexp.MustCompile(`^[A-Z][A-Z0-9_%()/-]*(?: [A-Z0-9_%()/-]+)*(?: {2,}[A-Z][A-Z0-9_%()/ -]*){2,}$`)
)

// withoutEnd contains the elements without an end tag.
var withoutEnd = map[string]bool{"br": true, "hr": true, "img": true, "input": true, "meta": true, "wbr": true}

// countShapes counts the indented lines, the empty lines, and the bytes of the others.
func countShapes(lines [][]byte) (indented, blank, filled int) {
	for _, l := range lines {
		switch at := indentOf(l); {
		case at < 0:
			blank++
		default:
			filled += len(l)
			if at > 0 {
				indented++
			}
		}
	}
	return indented, blank, filled
}

// separators counts rulers, and empty lines that precede a line without indent.
func separators(lines [][]byte) (n int) {
	for i, l := range lines[:len(lines)-1] {
		if isRuler(l) || indentOf(l) < 0 && indentOf(lines[i+1]) == 0 {
			n++
		}
	}
	return n
}

// detect determines the form of a text from its beginning.
func (s *splitter) detect(begin []byte) {
	lines := bytes.Split(begin, []byte("\n"))
	if len(lines) > 1 {
		lines = lines[:len(lines)-1] // the last one may be cut
	}
	if isTable(lines) || isTable(joinOpenRows(lines)) {
		s.form, s.tableHeader = ofRows, display.Short(display.Line(string(bytes.TrimSpace(lines[0]))), headBytes)
		return
	}
	count := func(level entryLevel) (n int) {
		for rest := begin; len(rest) > 0; rest = rest[lineLength(rest):] {
			if level(rest) >= 0 {
				n++
			}
		}
		return n
	}
	indented, blank, filled := countShapes(lines)
	texts := max(1, len(lines)-blank)
	if count(regexpLevel(preview.LogLine)) >= max(1, texts*3/10) && count(commitLevel) == 0 {
		s.form, s.level, s.isLog = ofEntries, regexpLevel(preview.LogLine), true
		return
	}
	for _, each := range []struct {
		level    entryLevel
		minCount int
	}{
		{commitLevel, 1}, {regexpLevel(mailLine), 2}, {regexpLevel(sectionLine), 2}, {headingLevel, 2},
		{underlinedLevel, 2},
	} {
		if n := count(each.level); n >= max(1, each.minCount) && (each.minCount != 2 || blank*2 >= n) {
			s.form, s.level = ofEntries, each.level
			return
		}
	}
	if key := recurringKey(lines); key != "" && indented*4 < texts {
		s.form, s.level = ofEntries, func(text []byte) int {
			if keyOf(text[:lineLength(text)]) == key {
				return 0
			}
			return -1
		}
		s.hasBareTitles, s.isMarkup = true, key[0] == '<'
		return
	}
	switch {
	case indented*4 >= texts:
		s.form, s.groups = ofBlocks, separators(lines) > 1
	case blank*12 >= texts || filled > 200*texts:
		s.form = ofParagraphs
	}
}

// recurringKey returns the key of the lines that begin the records of a text: the most frequent key that recurs
// at regular distances, or "". The first of several equally frequent keys wins.
func recurringKey(lines [][]byte) string {
	const minCount, minDistance, maxDistance = 3, 3, 4000
	type keyStats struct{ first, last, count, minGap, maxGap int }
	all := make(map[string]*keyStats)
	var order []string
	for i, line := range lines {
		key := keyOf(line)
		if key == "" {
			continue
		}
		k := all[key]
		if k == nil {
			k = &keyStats{first: i, last: i, count: 1, minGap: len(lines)}
			all[key] = k
			order = append(order, key)
			continue
		}
		distance := i - k.last
		k.last, k.count, k.minGap, k.maxGap = i, k.count+1, min(k.minGap, distance), max(k.maxGap, distance)
	}
	best, bytes := "", 0
	for _, line := range lines {
		bytes += len(line) + 1
	}
	for _, key := range order {
		k := all[key]
		mean := (k.last - k.first) / max(1, k.count-1)
		if k.count < minCount || k.minGap < minDistance || k.maxGap > 5*mean || bytes/k.count > maxDistance ||
			k.first > mean+len(lines)/4 {
			continue
		}
		if best == "" || k.count > all[best].count+1 {
			best = key
		}
	}
	return best
}

// keyOf returns what lines that begin records have in common: the name of an element, or the line without its
// numbers.
func keyOf(line []byte) string {
	const longest, longestWithRules = 60, 120
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return ""
	}
	if name, closes, _ := tagAt(line); name != "" && !closes {
		return "<" + name
	} else if closes || len(line) > longestWithRules || bytes.IndexFunc(line, unicode.IsLetter) < 0 {
		return ""
	}
	if line = countedParts.ReplaceAll(line, []byte{'0'}); len(line) > longest {
		return ""
	}
	return string(line)
}

// countedParts matches the numbers in numbered headings of records, and the rules around them, whose length varies
// with that of the number.
var countedParts = regexp.MustCompile(`[0-9]+|-{3,}|={3,}|\*{3,}`)

// joinOpenRows joins lines between which a quotation mark is open: a cell may have several lines.
func joinOpenRows(lines [][]byte) (rows [][]byte) {
	open := false
	for _, l := range lines {
		if open {
			rows[len(rows)-1] = slices.Concat(rows[len(rows)-1], []byte{'\n'}, l)
		} else {
			rows = append(rows, l)
		}
		open = open != (bytes.Count(l, []byte{'"'})%2 == 1)
	}
	return rows
}

// isTable reports whether nearly all lines are comma-separated values, or columns with a title.
func isTable(lines [][]byte) bool {
	const minLines = 4
	if len(lines) < minLines {
		return false
	}
	if titleLine.Match(bytes.TrimRight(lines[0], " \r")) {
		return true
	}
	for _, comma := range []string{"\t", ",", ";"} {
		n, matching := bytes.Count(lines[0], []byte(comma)), 0
		for _, l := range lines {
			if c := bytes.Count(l, []byte(comma)); c == n || c > n && bytes.IndexByte(l, '"') >= 0 {
				matching++
			}
		}
		if n >= 2 && matching*10 >= len(lines)*8 && !bytes.ContainsAny(lines[0], "{}<>=") {
			return true
		}
	}
	return false
}

// recordsOf splits JSON into records, without those that end before the byte from. Tiny records, such as the
// points of a series, are joined.
func recordsOf(content string, from int64) (records []passage) {
	parts, ok := preview.Parts(content, preview.PartLimits{RecordBytes: recordBytes, PartBytes: passageBytes, SplitText: partsOf})
	if !ok {
		return nil
	}
	line, at, open := int64(1), 0, false
	for _, p := range parts {
		line += int64(strings.Count(content[at:p.Start], "\n"))
		last := line + int64(strings.Count(content[p.Start:p.End], "\n"))
		tiny := len(p.Text) < tinyRecord
		if n := len(records) - 1; open && tiny && len(records[n].text) < togetherBytes/2 {
			records[n].text += "\n" + p.Text
			records[n].lastLine, records[n].size = last, int64(p.End)-records[n].start
		} else if open = tiny; int64(p.End) > from {
			records = append(records, passage{
				firstLine: line,
				lastLine:  last,
				start:     int64(p.Start),
				size:      int64(p.End - p.Start),
				text:      p.Text,
				heading:   display.Short(display.Line(p.Heading), headBytes),
				isRecord:  strings.HasPrefix(p.Text, "{") || strings.HasPrefix(p.Text, "["),
			})
		} else {
			open = false
		}
		line, at = last, p.End
	}
	return records
}

// partsOf splits a text that is a JSON string.
func partsOf(text string) (parts []preview.Part) {
	s := newSplitter(strings.NewReader(text))
	for {
		p, err := s.next()
		if err != nil { // its end
			return parts
		}
		parts = append(parts, preview.Part{Start: int(p.start), End: int(p.end()), Text: p.text, Heading: p.heading})
	}
}
