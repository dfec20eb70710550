// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Previews of JSON: whole without white space if it fits, its main list as a
// table, a long text in it by its own format, or else its start.

import (
	"strings"

	"github.com/einolean/einolean/internal/jsontext"
)

// stringShare is the share of a document, in percent, that a text in it must hold to be
// previewed by its own format.
const stringShare = 60

// showJSON previews a document in at most room bytes; inner previews a text in it, nil if nothing may.
func showJSON(say labels, d *document, room int, inner func(text string, room int) string) string {
	if room < leastValue {
		return ""
	}
	if compactSize(d) <= room {
		return string(appendValue(d, make([]byte, 0, room), 0, room))
	}
	if list, ok := mainList(d); ok {
		t := newTable(d, list, room)
		if out, ok := t.appendTable(make([]byte, 0, room), room, say); ok && len(out) <= room {
			return string(out)
		}
	} else if n, ok := mainString(d); ok && inner != nil {
		if out, ok := showMainText(d, n, room, inner); ok {
			return out
		}
	}
	return string(appendValue(d, make([]byte, 0, room), 0, room))
}

// compactSize is the size of the document without white space between its values.
func compactSize(d *document) (n int) {
	for i := range d.nodes {
		v := &d.nodes[i]
		if v.kind == '{' || v.kind == '[' {
			n += 2 + max(0, int(v.items)-1)
			if v.kind == '{' {
				n += int(v.items)
			}
		} else {
			n += int(v.end - v.start)
		}
	}
	return n
}

// mainString finds a text that holds most of the document.
func mainString(d *document) (n int32, ok bool) {
	whole := d.size(0)
	for i := range d.nodes {
		if v := &d.nodes[i]; v.kind == '"' && d.size(int32(i))*100 >= whole*stringShare {
			return int32(i), true
		}
	}
	return 0, false
}

// showMainText previews a document with a preview of its longest text in that one's place.
func showMainText(d *document, n int32, room int, inner func(text string, room int) string) (out string, ok bool) {
	with := *d
	with.stand = n
	before, after, ok := strings.Cut(string(appendValue(&with, nil, 0, room/4)), standIn)
	if !ok {
		return "", false
	}
	text := jsontext.Unescape(d.raw(n))
	left := room - len(before) - len(after)
	for share := left; share > left/4; {
		quoted := quote(inner(text, share))
		if len(quoted) <= left {
			return before + quoted + after, true
		}
		share = min(share*left/len(quoted), share*9/10)
	}
	return "", false
}
