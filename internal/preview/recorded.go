// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package preview

// This file finds the log in JSON lines that record one, as go test -json and container
// engines write them: each holds a piece of what a program printed.

import "strings"

// recorder names the members of the records of one program.
type recorder struct {
	text   string // the piece of the log
	beside string // a text that every record has
	source string // what printed the piece; if empty, the log has one source
}

var recorders = []recorder{
	{text: "Output", beside: "Action", source: "Package"}, // go test -json
	{text: "log", beside: "stream"},                       // containers
}

// piece is what one record holds of a log.
type piece struct {
	record int32
	text   string // escaped, as in the source
	at     int    // where it begins there
	source string
}

// pieces takes JSON lines apart that record a log. It returns none if they do not: if a
// record lacks a member, or most pieces are no whole lines.
func (d *document) pieces() (out []piece) {
	if !d.lines {
		return nil
	}
	for _, r := range recorders {
		if !d.has(1, r.beside) {
			continue
		}
		lines, all := 0, true
		d.children(0, func(_, record int32) bool {
			p, ok := d.piece(record, r)
			if all = ok; p.text != "" {
				out = append(out, p)
				if strings.HasSuffix(p.text, `\n`) {
					lines++
				}
			}
			return all
		})
		if all && lines >= minRecords && lines*2 > len(out) {
			return out
		}
		out = out[:0]
	}
	return nil
}

// has reports whether an object has a text under a key.
func (d *document) has(object int32, name string) (found bool) {
	if d.nodes[object].kind != '{' {
		return false
	}
	d.children(object, func(key, value int32) bool {
		found = d.nodes[value].kind == '"' && d.raw(key) == name
		return !found
	})
	return found
}

// piece reads one record. ok is false if it is none of a log. Of one that the document ends
// in, there may be less.
func (d *document) piece(record int32, r recorder) (p piece, ok bool) {
	v := &d.nodes[record]
	if v.kind != '{' {
		return p, false
	}
	p.record, ok = record, v.cut
	d.children(record, func(key, value int32) bool {
		if d.nodes[value].kind != '"' {
			return true
		}
		switch d.raw(key) {
		case r.text:
			p.text, p.at = d.raw(value), int(d.nodes[value].start)+1
		case r.beside:
			ok = true
		case r.source:
			p.source = d.raw(value)
		}
		return true
	})
	return p, ok
}

// recorded is the log that JSON lines record: what each source printed in one piece, in the
// order in which they began.
func (d *document) recorded() (log string, ok bool) {
	pieces := d.pieces()
	if len(pieces) == 0 {
		return "", false
	}
	var sources []string
	bySource := make(map[string]*strings.Builder)
	for _, p := range pieces {
		b := bySource[p.source]
		if b == nil {
			b = new(strings.Builder)
			bySource[p.source] = b
			sources = append(sources, p.source)
		}
		b.WriteString(unescape(p.text))
	}
	var all strings.Builder
	for _, s := range sources {
		all.WriteString(bySource[s].String())
	}
	return all.String(), true
}

// logParts are whole lines of a recorded log in the order of its records, about most bytes
// of them each.
func (d *document) logParts(pieces []piece, most int) (parts []Part) {
	var open Part
	flush := func() {
		if open.Text != "" {
			parts = append(parts, open)
		}
		open = Part{}
	}
	for _, p := range pieces {
		if len(p.text) > most {
			flush()
			for _, l := range lineParts(p.text, most) {
				parts = append(parts, Part{p.at + l.From, p.at + l.To, unescape(l.Text)})
			}
			continue
		}
		text := unescape(p.text)
		if len(open.Text)+len(text) > most {
			flush()
		}
		if open.Text == "" {
			open.From = int(d.nodes[p.record].start)
		}
		open.Text += text
		open.To = int(d.nodes[p.record].end)
	}
	flush()
	return parts
}
