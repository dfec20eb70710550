// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// What previews say in words of their own, in either language.

import (
	"embed"
	"strconv"
	"strings"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/prompt"
)

// options are the settings of a preview.
type options struct {
	labels labels
	topic  string // what was talked about

	hasFrame       bool // a first line says what the preview shows
	hasLineNumbers bool // the lines of the text are those of the file, so that their numbers help to read it
}

// inPart is m for a text that stands in a preview behind a label of its own.
func (m options) inPart() options {
	m.hasFrame, m.hasLineNumbers = false, false
	return m
}

const (
	// ellipsis stands where something is missing.
	ellipsis = "…"
	// minPart is the least that is worth showing of one part among several.
	minPart = 40
)

// labelFiles holds the few words of previews that are not the tool's: one file for each
// language, with {n} where a number goes.
//
//go:embed text
var labelFiles embed.FS

var (
	labelTexts = prompt.Load(labelFiles, "text")

	english = labelsOf(labelTexts.English())
	chinese = labelsOf(labelTexts.Chinese())
)

// labels are the words of one language. They never change.
type labels map[string]string

// labelsOf renders the texts once: a preview has many of them.
func labelsOf(t *prompt.Texts) labels {
	l := make(labels)
	for _, name := range t.Names() {
		l[name] = t.Render(name, nil)
	}
	return l
}

// text returns the words of a name. It panics if there are none, which a test finds.
func (l labels) text(name string) string {
	words, ok := l[name]
	if !ok {
		panic("preview: no words for " + name)
	}
	return words
}

// textWithNumber returns the words of a name with a number in them.
func (l labels) textWithNumber(name string, n int) string {
	return strings.Replace(l.text(name), "{n}", strconv.Itoa(n), 1)
}

// textWithCount returns the words of a name with a number in them that counts bytes or lines.
func (l labels) textWithCount(name string, n int) string {
	number := strconv.Itoa(n)
	if l.text("group") == "," {
		number = display.Grouped(n)
	}
	return strings.Replace(l.text(name), "{n}", number, 1)
}

// lines says which lines are missing, the first of them and the last.
func (l labels) lines(first, last int) string {
	return strings.Replace(l.textWithNumber("gap lines", first), "{last}", strconv.Itoa(last), 1)
}

// key is the key of a member with its colon.
func (l labels) key(name string) string { return `"` + l.text(name) + `":` }

func (l labels) value(name string) string { return `"` + l.text(name+" value") + `"` }

func (l labels) rows(n int) string { return `"` + l.textWithNumber("more rows", n) + `"` }

// gap says how many lines are missing, or how many bytes of a line.
func (l labels) gap(lines, bytes int) string {
	switch {
	case lines == 1:
		return l.text("gap one")
	case lines > 1:
		return l.textWithNumber("gap", lines)
	}
	return l.textWithNumber("gap bytes", bytes)
}
