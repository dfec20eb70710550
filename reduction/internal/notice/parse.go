// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package notice renders and parses notices: the texts in the prompt that stand for content stored elsewhere. It
// has no dependency on message types and stores.
package notice

// Parsing finds notices of either language, of another version, and of Eino's package. Histories are stored with
// their notices, so this is a storage format: the words of a notice may change, the format may not.
//
//	<persisted-output>Old result (1234 bytes), saved in full to: /tmp/clear/call_1
//	Read it with read_file.</persisted-output>
//
// A notice is between two tags. Its first line ends with a colon, a space and the path. The largest number before
// the path is the size of the stored content. There are two kinds:
//
//   - A placeholder begins right behind the tag and stands for the whole result.
//   - An excerpt begins on the next line and shows parts of the result. Each part follows an empty line and a line
//     with its length as the number.
//
// At the end of a stream, the first line has another number: the length of the text that was passed on before.
//
// Content that was not stored leaves a line in brackets, in a round that is marked. A reference in place of a value
// in arguments is in brackets too, and its path ends in ArgMark and a number.

import (
	"iter"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/prompt"
)

const (
	envelopeName = "persisted-output>"
	openTag      = "<" + envelopeName
	closeTag     = "</" + envelopeName

	// ArgMark stands before the number at the end of the path of an argument's value.
	ArgMark = "-arg"

	// MediaName begins the names of files with media. The rest is a hash of the content: the name is known before
	// writing, and the file always has the same medium.
	MediaName = "media-"
)

const (
	// MaxPath is the longest text in bytes that can be a path.
	MaxPath = 4096

	// maxEnd is how many bytes may be before the path, and after it in a placeholder.
	maxEnd = 512
)

type noticeKind uint8

const (
	noNotice noticeKind = iota
	clearedNotice
	truncatedNotice
)

// Notice is a notice in place of a result. The zero value is none.
type Notice struct {
	kind  noticeKind
	Path  string // empty in a placeholder
	Bytes int    // size that the notice states, or 0
}

// IsPlaceholder reports whether the notice stands for the whole result.
func (n Notice) IsPlaceholder() bool { return n.kind == clearedNotice }

// IsExcerpt reports whether the notice shows parts of the result.
func (n Notice) IsExcerpt() bool { return n.kind == truncatedNotice }

// HasEnvelope reports whether a text may end with a notice. It is true of every notice with a path.
func HasEnvelope(text string) bool { return strings.HasSuffix(text, closeTag) }

// Parse returns the notice that a text is or, after a stream, ends with.
func Parse(text string) Notice {
	if !HasEnvelope(text) {
		if prompt.IsPlaceholder(text) {
			return Notice{kind: clearedNotice}
		}
		return Notice{}
	}
	if strings.HasPrefix(text, openTag) {
		if n, _, _ := parse(text); n.kind != noNotice {
			return n
		}
	}
	if n, _, _ := parse(text[max(0, strings.LastIndex(text, openTag)):]); n.kind == truncatedNotice {
		return n
	}
	return Notice{}
}

// maxPlaceholder is more than the longest placeholder.
const maxPlaceholder = 128

// InMarked is [FromTexts] for a result in a marked round: any short line in brackets counts as a placeholder.
func InMarked(texts []string) Notice {
	isOther := func(s string) bool { return !isBracketed(s) }
	if len(texts) == 0 || slices.ContainsFunc(texts, isOther) {
		return FromTexts(texts)
	}
	return Notice{kind: clearedNotice}
}

// isBracketed reports whether a text is a short line in brackets.
func isBracketed(s string) bool {
	isLine := len(s) <= maxPlaceholder && !strings.Contains(s, "\n")
	return isLine && strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]")
}

// parse reads a notice that text begins with. words are those before the path, rest is what follows its line.
func parse(text string) (n Notice, words, rest string) {
	text, ok := strings.CutPrefix(text, openTag)
	if !ok {
		return Notice{}, "", ""
	}
	n.kind = clearedNotice
	if text, ok = strings.CutPrefix(text, "\n"); ok {
		n.kind = truncatedNotice
	}
	line, rest, more := strings.Cut(text, "\n")
	if !more {
		line = strings.TrimSuffix(line, closeTag)
	}
	words, n.Path = splitPath(line)
	if n.kind == truncatedNotice && rest == closeTag {
		n.Path = withoutSentence(n.Path)
	}
	if n.Path == "" || len(n.Path) > MaxPath || len(words) > maxEnd || strings.Contains(n.Path, "\x00") ||
		n.kind == clearedNotice && len(rest) > maxEnd {
		return Notice{}, "", ""
	}
	n.Bytes = max(0, greatest(words))
	return n, words, rest
}

// splitPath splits the first line of a notice into its words and the path. Notices of other packages need no colon.
func splitPath(line string) (words, path string) {
	for _, before := range []string{": /", ": ", " /"} {
		if at := strings.Index(line, before); at >= 0 {
			return line[:at], strings.TrimLeft(line[at:], ": ")
		}
	}
	return "", ""
}

// withoutSentence removes the sentence about the read tool from a path. Eino's notice at the end of a stream has both
// on one line.
func withoutSentence(path string) string {
	path = strings.TrimRight(path, " .。")
	for _, end := range []string{". ", "。"} {
		if at := strings.LastIndex(path, end); at >= 0 {
			return path[:at]
		}
	}
	return path
}

// numbers are the numbers in a text.
func numbers(s string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; from < len(s); from++ {
			to := from
			for to < len(s) && '0' <= s[to] && s[to] <= '9' {
				to++
			}
			if to == from {
				continue
			}
			if n, err := strconv.Atoi(s[from:to]); err == nil && !yield(n) {
				return
			}
			from = to
		}
	}
}

// greatest is the greatest number in a text, -1 if there is none.
func greatest(s string) int {
	found := -1
	for n := range numbers(s) {
		found = max(found, n)
	}
	return found
}

// IsMedium reports whether a text is a reference in place of a medium.
func IsMedium(text string) bool {
	if !HasEnvelope(text) || !strings.HasPrefix(text, openTag) {
		return false
	}
	n, _, _ := parse(text)
	return n.kind == clearedNotice && IsMediaFile(n.Path)
}

// IsMediaFile reports whether a path is that of a medium.
func IsMediaFile(filePath string) bool { return strings.HasPrefix(path.Base(filePath), MediaName) }

// isReference reports whether a JSON string is a reference in place of a value in arguments.
func isReference(value string) bool {
	if !strings.HasPrefix(value, `"[`) || len(value) > MaxPath+2*maxEnd {
		return false
	}
	line, _, ok := strings.Cut(decodeString(value), "\n")
	_, path := splitPath(line)
	return ok && strings.HasSuffix(value, `]"`) && argumentFile.MatchString(path)
}

var argumentFile = regexp.MustCompile(ArgMark + "[0-9]+(-[a-z2-7]{26}(-[0-9])?)?$")

// Whole returns the notice that a whole text is, if it is one: in place of a result, of a medium, or of a value in
// arguments. White space around it does not count.
func Whole(text string) (n Notice, ok bool) {
	text = strings.TrimSpace(text)
	switch {
	case prompt.IsPlaceholder(text):
		return Notice{kind: clearedNotice}, true
	case strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"):
		line, _, _ := strings.Cut(strings.TrimSuffix(text, "]"), "\n")
		words, filePath := splitPath(line)
		if len(text) > MaxPath+2*maxEnd || !argumentFile.MatchString(filePath) {
			return Notice{}, false
		}
		return Notice{kind: clearedNotice, Path: filePath, Bytes: max(0, greatest(words))}, true
	case strings.HasPrefix(text, openTag) && HasEnvelope(text) && strings.Count(text, envelopeName) == 2:
		n, _, _ = parse(text)
		return n, n.kind != noNotice
	}
	return Notice{}, false
}

// IsPage reports whether a whole text is the notice of a page, which is a part of the file that it names.
func IsPage(text string) bool {
	_, words, _ := parse(strings.TrimSpace(text))
	return slices.ContainsFunc(pageWords, func(end string) bool { return strings.HasSuffix(words, end) })
}

// pageWords are the last words before the path in the notices of pages.
var pageWords = wordsBeforePath(english.Page, english.LongPage, chinese.Page, chinese.LongPage)

func wordsBeforePath(notices ...template) (words []string) {
	for _, f := range notices {
		for _, piece := range f {
			if piece.Field == "path" {
				words = append(words, strings.TrimRight(piece.Text, ": "))
			}
		}
	}
	return words
}

// FromTexts returns the notice in place of a result, whose texts are given. Eino writes one in place of each text;
// for a stream in an agentic message only the last text has it. Texts that name different paths are no notice.
func FromTexts(texts []string) Notice {
	var found Notice
	cleared := 0
	for _, t := range texts {
		n := Parse(t)
		switch {
		case n.kind == noNotice:
			continue
		case found.kind != noNotice && found.Path != n.Path:
			return Notice{}
		case n.kind == clearedNotice:
			cleared++
		}
		if found.kind != truncatedNotice {
			found = n
		}
	}
	if found.kind == clearedNotice && cleared < len(texts) {
		return Notice{}
	}
	return found
}

// excerptBody returns what follows the first line of the first whole excerpt among texts.
func excerptBody(texts []string) (rest string, ok bool) {
	for _, text := range texts {
		if HasEnvelope(text) {
			if n, _, rest := parse(text); n.kind == truncatedNotice {
				return rest, true
			}
		}
	}
	return "", false
}

// Excerpt returns the start and the end of the file that the first whole excerpt among texts shows.
func Excerpt(texts []string) (head, tail string, ok bool) {
	rest, found := excerptBody(texts)
	if !found {
		return "", "", false
	}
	for _, parts := range []string{afterEmptyLine(rest), rest} { // Eino's has no empty line there
		if head, parts, ok = parseExcerptPart(parts); !ok {
			continue
		}
		if parts, ok = strings.CutPrefix(parts, "\n\n"); !ok {
			continue
		}
		if tail, parts, ok = parseExcerptPart(parts); ok && (parts == "\n"+closeTag || strings.HasPrefix(parts, "\n\n")) {
			return head, tail, true
		}
	}
	return "", "", false
}

// parseExcerptPart reads a part of a file from the start of s, after the line with its length.
func parseExcerptPart(s string) (shown, rest string, ok bool) {
	line, s, _ := strings.Cut(s, "\n")
	if n := greatest(line[:min(len(line), maxEnd)]); 0 <= n && n <= len(s) {
		return s[:n], s[n:], true
	}
	return "", "", false
}

func afterEmptyLine(s string) string {
	_, after, _ := strings.Cut(s, "\n\n")
	return after
}

// previewIn returns the preview that a notice among texts shows of its file.
func previewIn(texts []string) (shown string, ok bool) {
	if _, _, excerpt := Excerpt(texts); excerpt {
		return "", false
	}
	rest, _ := excerptBody(texts)
	_, shown, ok = strings.Cut(afterEmptyLine(rest), "\n")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(shown, "\n"+closeTag)
}

// StreamedText returns the text before the notice at the end of a stream. ok is false if the notice does not state
// its length; the rest of a character may be missing.
func StreamedText(texts []string) (before string, ok bool) {
	all := strings.Join(texts, "")
	at := strings.LastIndex(all, openTag)
	if at <= 0 {
		return "", true
	}
	n, words, _ := parse(all[at:])
	if _, _, finished := Excerpt(texts); finished || n.kind != truncatedNotice {
		return "", true
	}
	before = all[:at]
	for _, text := range []string{strings.TrimSuffix(before, "\n"), before} { // Eino's has no line break there
		for stated := range numbers(words) {
			if len(text) <= stated && stated < len(text)+utf8.UTFMax {
				return text, true
			}
		}
	}
	return before, false
}
