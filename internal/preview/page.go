// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package preview

// This file shortens snapshots of pages, as tools that drive a browser return them:
// one line for each element, "- role "name" [ref=e1]: text".

import "strings"

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
	// scaffolding are the roles that mean nothing without a name or a text.
	scaffolding = words("generic list listitem row rowgroup group none presentation table cell gridcell main navigation banner contentinfo complementary region article section form img paragraph document iframe separator")
	// operable are the roles that can be clicked or typed into: their references are
	// needed.
	operable = words("link button textbox searchbox checkbox radio combobox menuitem tab switch option slider spinbutton menuitemcheckbox menuitemradio treeitem")
)

// snapshot is the short form of a snapshot.
func snapshot(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text[:min(len(text), maxHTML)]) {
		l = strings.TrimRight(l, "\r\n")
		item := strings.TrimLeft(l, " ")
		if rest, ok := strings.CutPrefix(item, "- "); ok {
			item = element(rest)
		}
		if item != "" {
			b.WriteString(item)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// element is the short form of one element, empty if it is scaffolding.
func element(s string) string {
	role := s[:wordEnd(s, 0)]
	s = strings.Replace(s, " [cursor=pointer]", "", 1)
	if operable[role] {
		return strings.TrimSuffix(s, ":")
	}
	before, after, ok := strings.Cut(s, " [ref=")
	if ok {
		_, after, _ = strings.Cut(after, "]")
		s = before + after
	}
	s = strings.TrimSuffix(s, ":")
	if scaffolding[role] {
		s = strings.TrimLeft(strings.TrimPrefix(s, role), ": ")
	}
	return s
}

// page previews a snapshot.
func (m *maker) page(text string, room int) string {
	return m.outlined(m.say.say("page")+"\n", snapshot(text), nil, text, room)
}
