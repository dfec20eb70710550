// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of Markdown documents and text tables.

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/cloudwego/eino/components/tool"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

func markdownServer() Server {
	return Server{Name: "markdown", Title: "Markdown documents and text tables", Tools: []tool.BaseTool{
		define("markdown__headings", "Lists the headings of a Markdown document with their levels.", markdownHeadings),
		define("markdown__table_of_contents", "Makes a linked table of contents from the headings of a Markdown document.", markdownContents),
		define("markdown__section", "Takes the section below a heading out of a Markdown document.", markdownSection),
		define("markdown__links", "Lists the links and images of a Markdown document.", markdownLinks),
		define("markdown__code_blocks", "Takes the fenced code blocks out of a Markdown document.", markdownCode),
		define("markdown__to_text", "Strips the markup from a Markdown document and leaves plain text.", markdownText),
		define("markdown__to_html", "Turns simple Markdown (headings, lists, emphasis, code, links) into HTML.", markdownHTML),
		define("markdown__tasks", "Lists the open and finished tasks of Markdown check lists and their progress.", markdownTasks),
		define("markdown__make_table", "Makes a Markdown table from a header and rows.", markdownTable),
		define("markdown__box_table", "Draws a header and rows as a table with ruled lines for a terminal.", boxTable),
	}}
}

type markdownIn struct {
	Markdown string `json:"markdown" jsonschema_description:"The Markdown document"`
}

type heading struct {
	level, line int
	text        string
}

var headingLine = regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*\s*$`)

// headings skips fenced code.
func (in markdownIn) headings() []heading {
	var out []heading
	fenced := false
	for i, line := range strings.Split(in.Markdown, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if m := headingLine.FindStringSubmatch(line); m != nil && !fenced {
			out = append(out, heading{len(m[1]), i, m[2]})
		}
	}
	return out
}

func markdownHeadings(in markdownIn) (string, error) {
	var out []string
	for _, h := range in.headings() {
		out = append(out, fmt.Sprintf("%d: %s (line %d)", h.level, h.text, h.line+1))
	}
	return listed(out, "the document has no headings"), nil
}

func markdownContents(in markdownIn) (string, error) {
	var out []string
	for _, h := range in.headings() {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, h.text)
		out = append(out, fmt.Sprintf("%s- [%s](#%s)", strings.Repeat("  ", h.level-1), h.text, anchor))
	}
	if len(out) == 0 {
		return "", fmt.Errorf("the document has no headings")
	}
	return strings.Join(out, "\n"), nil
}

type sectionIn struct {
	markdownIn
	Heading string `json:"heading" jsonschema_description:"The text of the heading, in any case"`
}

func markdownSection(in sectionIn) (string, error) {
	all := in.headings()
	lines := strings.Split(in.Markdown, "\n")
	for i, h := range all {
		if !strings.EqualFold(h.text, strings.TrimSpace(in.Heading)) {
			continue
		}
		end := len(lines)
		for _, next := range all[i+1:] {
			if next.level <= h.level {
				end = next.line
				break
			}
		}
		return strings.TrimSpace(strings.Join(lines[h.line:end], "\n")), nil
	}
	list, _ := markdownHeadings(in.markdownIn)
	return "", fmt.Errorf("there is no heading %q; the headings are:\n%s", in.Heading, list)
}

var linkMark = regexp.MustCompile(`(!?)\[([^\]]*)\]\(([^)\s]+)[^)]*\)`)

func markdownLinks(in markdownIn) (string, error) {
	var out []string
	for _, m := range linkMark.FindAllStringSubmatch(in.Markdown, maxMatches) {
		kind := "link"
		if m[1] == "!" {
			kind = "image"
		}
		out = append(out, fmt.Sprintf("%s %s: %s", kind, m[2], m[3]))
	}
	return listed(out, "the document has no links"), nil
}

var codeBlock = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```")

func markdownCode(in markdownIn) (string, error) {
	var out []string
	for i, m := range codeBlock.FindAllStringSubmatch(in.Markdown, maxMatches) {
		out = append(out, fmt.Sprintf("[block %d %s]\n%s", i+1, strings.TrimSpace(m[1]), m[2]))
	}
	return listed(out, "the document has no code blocks"), nil
}

// inline holds each mark inside a line with what it is in plain text.
var inline = []struct {
	mark  *regexp.Regexp
	plain string
}{
	{regexp.MustCompile(`!?\[([^\]]*)\]\(([^)\s]+)[^)]*\)`), "$1"},
	{regexp.MustCompile("`([^`]+)`"), "$1"},
	{regexp.MustCompile(`\*\*([^*]+)\*\*`), "$1"},
	{regexp.MustCompile(`\*([^*]+)\*`), "$1"},
	{regexp.MustCompile(`~~([^~]+)~~`), "$1"},
}

var blockMark = regexp.MustCompile(`(?m)^\s*(#{1,6}\s+|[-*+]\s+(\[[ xX]\]\s+)?|>\s?|\d+\.\s+|` + "```" + `.*$)`)

func markdownText(in markdownIn) (string, error) {
	text := blockMark.ReplaceAllString(in.Markdown, "")
	for _, i := range inline {
		text = i.mark.ReplaceAllString(text, i.plain)
	}
	return strings.TrimSpace(text), nil
}

var toHTML = goldmark.New(goldmark.WithExtensions(extension.GFM))

func markdownHTML(in markdownIn) (string, error) {
	var out strings.Builder
	err := toHTML.Convert([]byte(in.Markdown), &out)
	return strings.TrimSpace(out.String()), err
}

var taskLine = regexp.MustCompile(`(?m)^\s*[-*+]\s+\[([ xX])\]\s+(.*)$`)

func markdownTasks(in markdownIn) (string, error) {
	var out []string
	done := 0
	all := taskLine.FindAllStringSubmatch(in.Markdown, maxMatches)
	for _, m := range all {
		state := "open"
		if m[1] != " " {
			state = "done"
			done++
		}
		out = append(out, state+": "+m[2])
	}
	return strings.Join(append(out, fmt.Sprintf("%d of %d done", done, len(all))), "\n"), nil
}
