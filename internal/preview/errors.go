// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package preview

// This file keeps the lines of a stream that look like errors, in bounded memory.

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/leanctx/leanctx/internal/display"
)

const (
	// maxKept is how many error lines of a stream are kept: half of them the first, the
	// others the last.
	maxKept = 10
	// maxPartial is how much of a line is looked at whose end has not come.
	maxPartial = 2000
)

// Errors keeps the lines of a stream that look like errors: of each kind the first few,
// and of all of them the first and the last. The zero value is ready for use, by one
// goroutine.
type Errors struct {
	partial []byte
	dropped bool // the rest of the line is not in partial
	number  int  // lines that have ended
	offset  int  // bytes of the stream so far
	begin   int  // where the current line begins
	kinds   map[string]int
	kept    []errorLine
	missed  int // that are not kept
}

type errorLine struct {
	number, offset int
	text           string
}

// Add takes what comes next in the stream.
func (e *Errors) Add(text string) {
	for text != "" {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			e.keep(text)
			e.offset += len(text)
			return
		}
		e.keep(text[:i])
		e.offset += i + 1
		e.endLine()
		text = text[i+1:]
	}
}

func (e *Errors) keep(text string) {
	free := maxPartial - len(e.partial)
	if len(text) > free {
		text, e.dropped = text[:free], true
	}
	e.partial = append(e.partial, text...)
}

func (e *Errors) endLine() {
	e.number++
	line := strings.TrimSuffix(string(e.partial), "\r")
	if severity(line) == hard && e.isNew(line) {
		if len(line) > maxLine {
			line = display.Start(line, maxLine) + more
		}
		if len(e.kept) == maxKept {
			e.kept = append(e.kept[:maxKept/2], e.kept[maxKept/2+1:]...)
			e.missed++
		}
		e.kept = append(e.kept, errorLine{e.number, e.begin, line})
	}
	e.partial, e.dropped, e.begin = e.partial[:0], false, e.offset
}

// isNew reports whether a line is among the first of its kind. Beyond a thousand kinds,
// every line is.
func (e *Errors) isNew(line string) bool {
	const maxKinds = 1000
	kind := string(mask(nil, line))
	if e.kinds == nil {
		e.kinds = make(map[string]int)
	}
	if len(e.kinds) < maxKinds || e.kinds[kind] > 0 {
		e.kinds[kind]++
	}
	return e.kinds[kind] <= perTemplate
}

// Lines returns the kept lines that begin in a part of the stream, with their numbers, in
// at most room bytes.
func (e *Errors) Lines(from, to, room int) string {
	if len(e.partial) > 0 {
		last := *e // a last line without an end
		last.kept, last.kinds = slices.Clone(e.kept), maps.Clone(e.kinds)
		last.endLine()
		e = &last
	}
	m := &maker{}
	var b strings.Builder
	for _, l := range e.kept {
		line := strconv.Itoa(l.number) + ": " + m.clean(l.text)
		if l.offset < from || l.offset >= to || b.Len()+len(line)+1 > room {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}
