// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Previews of JSON: whole without white space if it fits, its main list as a table, or else each value in
// its share of the room.

// previewJSON previews a document in at most room bytes; inner previews a text in it, nil if nothing may.
func previewJSON(lang labels, d *document, room int, inner func(text string, room int) string) string {
	if room < leastValue {
		return ""
	}
	d.measure()
	if list, ok := mainList(d); ok && int(d.sizes[0]) > room {
		t := newTable(d, list, room)
		t.inner = inner
		if out, ok := t.appendTable(make([]byte, 0, room), room, lang); ok && len(out) <= room {
			return string(out)
		}
	}
	d.previewText = inner
	return string(appendValue(d, make([]byte, 0, room), 0, room))
}

// measure finds the sizes of all values without white space between them.
func (d *document) measure() {
	d.sizes = make([]int32, len(d.nodes))
	for n := len(d.nodes) - 1; n >= 0; n-- {
		v := &d.nodes[n]
		if v.kind != '{' && v.kind != '[' {
			if d.sizes[n] = v.end - v.start; v.kind == kindNonNumber {
				d.sizes[n] += int32(len(`""`))
			}
			continue
		}
		size := int32(len(`{}`)) + max(0, v.items-1)
		for key, value := range d.children(int32(n)) {
			if size += d.sizes[value]; key >= 0 {
				size += d.sizes[key] + int32(len(`:`))
			}
		}
		d.sizes[n] = size
	}
}
