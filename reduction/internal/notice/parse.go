// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package notice has the texts that stand for what was taken out of a conversation, in both languages,
// and the format that they are recognised by, whatever their words. It knows nothing of messages and
// of stores.
package notice

// How notices are recognised in a history, whatever their words: those of either language, of another
// version, and Eino's. Conversations are stored with their notices, so this is a storage format: words
// may change, this may not.
//
//	<persisted-output>Old result (1234 bytes), saved in full to: /tmp/clear/call_1
//	Read it with read_file.</persisted-output>
//
// A notice is between two tags. Its first line ends with a colon, a space and the path; the largest
// number before these is the size of what is stored there. A notice that begins right behind the
// tag stands for the whole result. One that begins on the next line shows parts of it: each after a
// line of words with its length as the number, behind an empty line. The end of a stream, which comes
// after what was passed on, has the length of that as another number of the first line.
//
// What was not stored leaves a line in brackets, in a round that is marked. What stands for a value of
// an argument is in brackets too, and its path ends in ArgMark and a number.

import (
	"iter"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	envelopeName = "persisted-output>"
	openTag      = "<" + envelopeName
	closeTag     = "</" + envelopeName

	// ArgMark stands before the number at the end of the path of an argument's value.
	ArgMark = "-arg"

	// MediaName begins the names of files with media. The rest is a hash of the content: the
	// name is known before writing, and always holds the same medium.
	MediaName = "media-"
)

// placeholders are those that stored conversations have, of this package and of Eino's. They are also
// known where a store has dropped the marks.
var placeholders = []string{
	"[Earlier result removed. It was not saved.]", "[较早的结果已移除，未保存。]",
	"[Old tool result content cleared]", "[工具输出结果已清理]",
}

const (
	// MaxPath is the longest text in bytes that can be a path.
	MaxPath = 4096

	// maxEnd is how much may be before the path, and after it in a notice that shows nothing
	// else.
	maxEnd = 512
)

type noticeKind uint8

const (
	noNotice noticeKind = iota
	clearedNotice
	truncatedNotice
)

// Notice is a notice found in place of a result.
type Notice struct {
	kind  noticeKind
	Path  string // empty in a placeholder
	Bytes int    // size that the notice states, or 0
}

// Cleared reports whether the notice stands for the whole result.
func (n Notice) IsPlaceholder() bool { return n.kind == clearedNotice }

// Cut reports whether the notice shows parts of the result.
func (n Notice) IsExcerpt() bool { return n.kind == truncatedNotice }

// Ends is true of every notice with a path.
func HasEnvelope(text string) bool { return strings.HasSuffix(text, closeTag) }

// Recognise finds the notice that text is or, after a stream, ends with.
func Parse(text string) Notice {
	if !HasEnvelope(text) {
		if strings.HasPrefix(text, "[") && slices.Contains(placeholders, text) {
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

// InMarked is [In] for a result in a marked round: whatever is as placeholders are is one.
func InMarked(texts []string) Notice {
	if len(texts) > 0 && !slices.ContainsFunc(texts, func(s string) bool {
		return len(s) > maxPlaceholder || !strings.HasPrefix(s, "[") || !strings.HasSuffix(s, "]") || strings.Contains(s, "\n")
	}) {
		return Notice{kind: clearedNotice}
	}
	return FromTexts(texts)
}

// parse reads a notice that text begins with. words are those before the path, rest is what
// follows its line.
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

// field splits the first line of a notice into its words and the path. Those that other packages write
// are not held to a colon.
func splitPath(line string) (words, path string) {
	for _, before := range []string{": /", ": ", " /"} {
		if at := strings.Index(line, before); at >= 0 {
			return line[:at], strings.TrimLeft(line[at:], ": ")
		}
	}
	return "", ""
}

// withoutSentence takes the sentence about the read tool off a path, which Eino's notice at the end
// of a stream has on the same line.
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
	most := -1
	for n := range numbers(s) {
		most = max(most, n)
	}
	return most
}

// IsMedium reports whether a text replaces a medium.
func IsMedium(text string) bool {
	if !HasEnvelope(text) || !strings.HasPrefix(text, openTag) {
		return false
	}
	n, _, _ := parse(text)
	return n.kind == clearedNotice && IsMediaFile(n.Path)
}

// IsMediaFile reports whether a path is that of a medium.
func IsMediaFile(filePath string) bool { return strings.HasPrefix(path.Base(filePath), MediaName) }

// isReference reports whether a JSON string stands for a value of an argument.
func isReference(value string) bool {
	if !strings.HasPrefix(value, `"[`) || len(value) > MaxPath+2*maxEnd {
		return false
	}
	line, _, ok := strings.Cut(decodeString(value), "\n")
	_, path := splitPath(line)
	return ok && strings.HasSuffix(value, `]"`) && argumentFile.MatchString(path)
}

var argumentFile = regexp.MustCompile(ArgMark + "[0-9]+(-[a-z2-7]{26}(-[0-9])?)?$")

// In finds the notice that replaces a whole result. Eino writes one in place of
// each text; for a stream in an agentic message only the last text has it. Texts that
// name different paths are not a notice of one result.
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

// shownBy returns what follows the first line of the first finished notice among texts that
// shows anything.
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

// Excerpt returns what the first finished notice among texts shows of the start and the end of
// its file.
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

// part reads a part that a notice shows off the start of s, after the line with its length.
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

// shownIn returns what a notice with a preview among texts shows of its file.
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

// Before returns the text before the notice at the end of a stream. ok is false if its length
// is not one that the notice states, but for the rest of a character.
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
	for _, each := range []string{strings.TrimSuffix(before, "\n"), before} { // Eino's has no line break there
		for stated := range numbers(words) {
			if len(each) <= stated && stated < len(each)+utf8.UTFMax {
				return each, true
			}
		}
	}
	return before, false
}
