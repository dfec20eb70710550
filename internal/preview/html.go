// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Outlines of pages: of HTML the headings, items, cells and
// links, without what only a browser needs; and of snapshots, as tools that drive a browser
// return them, one line for each element, "- role "name" [ref=e1]: text".

import (
	"html"
	"strings"

	"github.com/einolean/einolean/internal/display"
)

const (
	// maxHTML is how much of a page is read.
	maxHTML = 4 << 20
	// maxLink is the longest address that is shown.
	maxLink = 120
	// tagsOfHTML is how many tags make a text HTML.
	tagsOfHTML = 12
)

// isHTML reports whether a text is a page or a part of one.
func isHTML(text string) bool {
	head := strings.TrimSpace(text[:min(len(text), 64<<10)])
	lower := strings.ToLower(display.Start(head, 200))
	if strings.HasPrefix(lower, "<!doctype html") || strings.HasPrefix(lower, "<html") {
		return true
	}
	tags := 0
	for i := strings.IndexByte(head, '<'); i >= 0; {
		if t := readTag(head, i); pageTags[t.name] {
			tags++
		}
		next := strings.IndexByte(head[i+1:], '<')
		if next < 0 || tags == tagsOfHTML {
			break
		}
		i += 1 + next
	}
	return tags == tagsOfHTML
}

// pageTags are the elements that tell a page from other markup.
var pageTags = wordSet("html head body div table script p a li span")

// isHidden is true of the elements of which nothing is shown.
func isHidden(name string) bool {
	switch name {
	case "script", "style", "svg", "noscript", "template", "iframe", "canvas", "math", "select", "object":
		return true
	}
	return false
}

// isBlock is true of the elements that stand on lines of their own.
func isBlock(name string) bool {
	switch name {
	case "p", "div", "section", "article", "header", "footer", "main", "nav", "aside", "ul", "ol", "li", "dl", "dt", "dd",
		"table", "thead", "tbody", "tr", "caption", "h1", "h2", "h3", "h4", "h5", "h6", "br", "hr", "title", "body", "html",
		"form", "fieldset", "option", "button", "blockquote", "pre", "figure", "figcaption", "address", "details", "summary":
		return true
	}
	return false
}

// tag is what stands between < and >. The tokenizer of golang.org/x/net/html takes four to eight times as
// long, 4 MB of which would be a fifth of a second, and reads the rest of a page as text behind a
// <plaintext> or <textarea>.
type tag struct {
	name      string // in lower case; empty where there is no tag
	isClosing bool
	attrs     string
	end       int // after >
}

const maxTag = 20

func readTag(s string, i int) (t tag) {
	t.end = i + 1
	at := i + 1
	if byteAt(s, at) == '/' {
		t.isClosing = true
		at++
	}
	from := at
	for at < len(s) && (isWordByte(s[at]) || s[at] == '-') {
		at++
	}
	if at == from || '0' <= s[from] && s[from] <= '9' || at-from > maxTag {
		return t
	}
	t.name = strings.ToLower(s[from:at])
	end := tagEnd(s, at)
	t.attrs, t.end = s[at:end], min(end+1, len(s))
	return t
}

// tagEnd is where the > of a tag is, after its quoted values.
func tagEnd(s string, at int) int {
	const longest = 1 << 20
	for ; at < len(s) && s[at] != '>'; at++ {
		if c := s[at]; c != '"' && c != '\'' || s[at-1] != '=' {
			continue
		}
		n := strings.IndexByte(s[at+1:min(len(s), at+longest)], s[at])
		if n < 0 {
			return len(s)
		}
		at += n + 1
	}
	return min(at, len(s))
}

func (t tag) attr(name string) string {
	for s := t.attrs; ; {
		i := strings.Index(s, name+"=")
		if i < 0 {
			return ""
		}
		before := byteAt(s, i-1)
		s = s[i+len(name)+1:]
		if before > ' ' {
			continue
		}
		if q := byteAt(s, 0); q == '"' || q == '\'' {
			value, _, _ := strings.Cut(s[1:], string(q))
			return html.UnescapeString(value)
		}
		if end := strings.IndexAny(s, " \t\r\n"); end >= 0 {
			s = s[:end]
		}
		return html.UnescapeString(s)
	}
}

type outliner struct {
	text       strings.Builder
	lineStart  int    // where the current line begins in b
	needsSpace bool   // white space is due before the next word
	prefix     string // of the current line, written with its first word
	linkTarget string // the address of the link that is open
	linkStart  int    // where its text begins
	preDepth   int    // elements that keep their lines
	inHead     bool
	inTitle    bool
	sideDepth  int    // elements around the page's own text that are open
	sides      []span // in b, what stands in them
}

// outline is the text of a page, and where in it stands what leads elsewhere.
func outline(page string) (text string, sides []span) {
	page = page[:min(len(page), maxHTML)]
	o := &outliner{}
	o.text.Grow(len(page) / 2)
	for i := 0; i < len(page); {
		if page[i] != '<' {
			end := strings.IndexByte(page[i:], '<')
			if end < 0 {
				end = len(page) - i
			}
			o.addText(page[i : i+end])
			i += end
			continue
		}
		i = o.readMarkup(page, i)
	}
	return o.text.String(), o.closedSides()
}

// isSide is true of the elements that stand around the text of a page.
func isSide(name string) bool { return name == "nav" || name == "aside" || name == "footer" }

// enterSide notes that an element around the main text begins or ends.
func (o *outliner) enterSide(t tag) {
	switch {
	case !t.isClosing:
		if o.sideDepth++; o.sideDepth == 1 {
			o.sides = append(o.sides, span{o.text.Len(), o.text.Len()})
		}
	case o.sideDepth > 0:
		if o.sideDepth--; o.sideDepth == 0 {
			o.sides[len(o.sides)-1].end = o.text.Len()
		}
	}
}

// closedSides returns the parts around the main text. It returns nothing if one has no end, or if they are nearly
// all of the page.
func (o *outliner) closedSides() []span {
	size := 0
	for _, s := range o.sides {
		size += s.size()
	}
	if o.sideDepth > 0 || size*5 > o.text.Len()*4 {
		return nil
	}
	return o.sides
}

// readMarkup reads the markup at i and returns where it ends.
func (o *outliner) readMarkup(page string, i int) int {
	if strings.HasPrefix(page[i:], "<!") || strings.HasPrefix(page[i:], "<?") {
		stop := ">"
		if strings.HasPrefix(page[i:], "<!--") {
			stop = "-->"
		}
		if n := strings.Index(page[i:], stop); n >= 0 {
			return i + n + len(stop)
		}
		return len(page)
	}
	t := readTag(page, i)
	if t.name == "" {
		o.addText("<")
		return i + 1
	}
	if !t.isClosing && isHidden(t.name) {
		return elementEnd(page, t)
	}
	o.readTag(t)
	return t.end
}

// elementEnd is where an element ends of which nothing is shown.
func elementEnd(page string, t tag) int {
	if strings.HasSuffix(t.attrs, "/") {
		return t.end
	}
	stop := "</" + t.name
	for at := t.end; ; {
		n := strings.Index(page[at:], "</")
		if n < 0 {
			return len(page)
		}
		at += n
		if len(page)-at >= len(stop) && strings.EqualFold(page[at:at+len(stop)], stop) {
			return readTag(page, at).end
		}
		at += 2
	}
}

func (o *outliner) readTag(t tag) {
	switch t.name {
	case "head":
		o.inHead = !t.isClosing
	case "body":
		o.inHead = false
	case "title":
		o.inTitle = !t.isClosing
	case "a":
		o.readAnchor(t)
	case "td", "th":
		if !t.isClosing && o.text.Len() > o.lineStart {
			o.text.WriteString(" |")
			o.needsSpace = true
		}
	case "img":
		if alt := strings.TrimSpace(t.attr("alt")); alt != "" && !o.inHead {
			o.addText(" " + display.Start(alt, maxLink) + " ")
		}
	case "pre", "textarea":
		if t.isClosing {
			o.preDepth = max(0, o.preDepth-1)
		} else {
			o.preDepth++
		}
	}
	if isBlock(t.name) {
		o.startBlock(t)
	}
}

// startBlock begins a line for a block element.
func (o *outliner) startBlock(t tag) {
	o.newLine()
	if isSide(t.name) {
		o.enterSide(t)
	}
	if !t.isClosing {
		o.prefix = prefixOf(t.name)
	}
}

func prefixOf(name string) string {
	switch {
	case name == "title":
		return "# "
	case len(name) == 2 && name[0] == 'h' && '1' <= name[1] && name[1] <= '6':
		return "## "
	case name == "li", name == "option":
		return "- "
	case name == "dd":
		return "  "
	}
	return ""
}

// readAnchor begins or ends a link.
func (o *outliner) readAnchor(t tag) {
	if o.linkTarget != "" && o.text.Len() > o.linkStart && o.linkStart >= o.lineStart {
		o.text.WriteString(" (")
		o.text.WriteString(o.linkTarget)
		o.text.WriteByte(')')
	}
	o.linkTarget = ""
	if href := t.attr("href"); !t.isClosing && href != "" && href[0] != '#' && !strings.HasPrefix(href, "javascript:") {
		if href = display.Short(href, maxLink); strings.ContainsAny(href, " \t\r\n\v\f") {
			href = strings.Join(strings.Fields(href), "")
		}
		o.linkTarget, o.linkStart = href, o.text.Len()
	}
}

func (o *outliner) newLine() {
	if o.text.Len() > o.lineStart {
		o.text.WriteByte('\n')
		o.lineStart = o.text.Len()
	}
	o.needsSpace, o.prefix = false, ""
}

// addText adds text, with one space for each white space.
func (o *outliner) addText(text string) {
	if o.inHead && !o.inTitle {
		return
	}
	if strings.IndexByte(text, '&') >= 0 {
		text = html.UnescapeString(text)
	}
	for text != "" {
		n := 0
		for n < len(text) && text[n] > ' ' {
			n++
		}
		if n > 0 {
			o.addWord(text[:n])
			text = text[n:]
			continue
		}
		if text[0] == '\n' && o.preDepth > 0 {
			o.newLine()
		} else {
			o.needsSpace = true
		}
		text = text[1:]
	}
}

func (o *outliner) addWord(w string) {
	if o.text.Len() == o.lineStart {
		o.text.WriteString(o.prefix)
		o.prefix = ""
	} else if o.needsSpace {
		o.text.WriteByte(' ')
	}
	o.needsSpace = false
	o.text.WriteString(w)
}

// previewOutline previews the outline of a source. If the outline is short, the source fills the room.
func (m options) previewOutline(frame, shown string, sides []span, source string, room int) string {
	const short = 600
	room -= len(frame)
	if room < 2*minPart {
		return display.Start(source, room+len(frame))
	}
	if len(shown) > room && len(shown)*4 > len(source)*3 {
		return frame + previewEnds(m.inPart(), shown, room)
	}
	if len(shown) > room {
		x := newExtract(shown, room, m.labels, Page)
		rankOutline(x, newTopic(m.topic), sides)
		if 2*room >= len(shown) { // its start is never left out
			x.keepStart(x.room / 2)
		}
		x.keepBest()
		shown = display.Start(x.render(), room)
	}
	if left := room - len(shown) - len(m.labels.text("source")) - 2; left > short {
		return frame + shown + "\n" + m.labels.text("source") + "\n" + previewEnds(m.inPart(), source, left)
	}
	return frame + shown
}

// rankOutline gives each line of an outline a score: what was talked about, and text rather
// than what leads elsewhere.
func rankOutline(x *extract, t *topic, sides []span) {
	x.rankByTopic(t)
	for i := range x.lines {
		l := &x.lines[i]
		for len(sides) > 0 && sides[0].end <= l.start {
			sides = sides[1:]
		}
		if len(sides) > 0 && l.start >= sides[0].start {
			l.score -= .5
			l.isAside = true
		}
		if l.earlierOfKind > 0 {
			l.score /= 1 + float64(l.earlierOfKind)/4
		}
		l.score = max(l.score, .01)
		l.kindCount = 1 // what is listed is not counted
	}
}

// pageLines is how many lines with a reference make a text a snapshot.
const pageLines = 5

// isPage reports whether a text is a snapshot.
func isPage(text string) bool {
	n := 0
	for l := range strings.Lines(text[:min(len(text), 64<<10)]) {
		if l = strings.TrimLeft(l, " "); strings.HasPrefix(l, "- ") && strings.Contains(l, " [ref=") {
			if n++; n == pageLines {
				return true
			}
		}
	}
	return false
}

var (
	// structuralRoles are the roles that mean nothing without a name or a text.
	structuralRoles = wordSet("generic list listitem row rowgroup group none presentation table cell gridcell main navigation banner contentinfo complementary region article section form img paragraph document iframe separator")
	// interactiveRoles are the roles that can be clicked or typed into: their references are
	// needed.
	interactiveRoles = wordSet("link button textbox searchbox checkbox radio combobox menuitem tab switch option slider spinbutton menuitemcheckbox menuitemradio treeitem")
)

// shortenSnapshot returns the short form of a page snapshot.
func shortenSnapshot(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text[:min(len(text), maxHTML)]) {
		l = strings.TrimRight(l, "\r\n")
		item := strings.TrimLeft(l, " ")
		if rest, ok := strings.CutPrefix(item, "- "); ok {
			item = shortenElement(rest)
		}
		if item != "" {
			b.WriteString(item)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// shortenElement returns the short form of one element. It is empty for purely structural elements.
func shortenElement(s string) string {
	role := s[:strings.IndexAny(s+" ", ": ")]
	s = strings.Replace(s, " [cursor=pointer]", "", 1)
	if interactiveRoles[role] {
		return strings.TrimSuffix(s, ":")
	}
	before, after, ok := strings.Cut(s, " [ref=")
	if ok {
		_, after, _ = strings.Cut(after, "]")
		s = before + after
	}
	s = strings.TrimSuffix(s, ":")
	if structuralRoles[role] {
		s = strings.TrimLeft(strings.TrimPrefix(s, role), ": ")
	}
	return s
}
