// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of Markdown documents and text tables.

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

var markdownServer = group{"markdown", "Markdown documents and text tables", []maker{
	define("markdown__headings", "Lists the headings of a Markdown document with their levels.", markdownHeadings),
	define("markdown__table_of_contents", "Makes a linked table of contents from the headings of a Markdown document.",
		func(in markdownIn) (string, error) {
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
		}),
	define("markdown__section", "Takes the section below a heading out of a Markdown document.", func(in struct {
		markdownIn
		Heading string `json:"heading" jsonschema_description:"The text of the heading, in any case"`
	}) (string, error) {
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
	}),
	define("markdown__links", "Lists the links and images of a Markdown document.", func(in markdownIn) (string, error) {
		var out []string
		in.walk(func(source []byte, node ast.Node) {
			switch n := node.(type) {
			case *ast.Link:
				out = append(out, fmt.Sprintf("link %s: %s", plainText(source, n), n.Destination))
			case *ast.Image:
				out = append(out, fmt.Sprintf("image %s: %s", plainText(source, n), n.Destination))
			case *ast.AutoLink:
				out = append(out, fmt.Sprintf("link %s: %s", n.Label(source), n.URL(source)))
			}
		})
		return listed(out, "the document has no links"), nil
	}),
	define("markdown__code_blocks", "Takes the fenced code blocks out of a Markdown document.", func(in markdownIn) (string, error) {
		var out []string
		in.walk(func(source []byte, node ast.Node) {
			if n, ok := node.(*ast.FencedCodeBlock); ok {
				out = append(out, fmt.Sprintf("[block %d %s]\n%s", len(out)+1, n.Language(source), n.Lines().Value(source)))
			}
		})
		return listed(out, "the document has no code blocks"), nil
	}),
	define("markdown__to_text", "Strips the markup from a Markdown document and leaves plain text.", func(in markdownIn) (string, error) {
		source := []byte(in.Markdown)
		return plainText(source, github.Parser().Parse(text.NewReader(source))), nil
	}),
	define("markdown__to_html", "Turns simple Markdown (headings, lists, emphasis, code, links) into HTML.", func(in markdownIn) (string, error) {
		var out strings.Builder
		err := github.Convert([]byte(in.Markdown), &out)
		return strings.TrimSpace(out.String()), err
	}),
	define("markdown__tasks", "Lists the open and finished tasks of Markdown check lists and their progress.", func(in markdownIn) (string, error) {
		var out []string
		done := 0
		in.walk(func(source []byte, node ast.Node) {
			box, ok := node.(*extensionast.TaskCheckBox)
			if !ok {
				return
			}
			state := "open"
			if box.IsChecked {
				state = "done"
				done++
			}
			out = append(out, state+": "+plainText(source, box.Parent()))
		})
		return strings.Join(append(out, fmt.Sprintf("%d of %d done", done, len(out))), "\n"), nil
	}),
	define("markdown__make_table", "Makes a Markdown table from a header and rows.", markdownTable),
	define("markdown__box_table", "Draws a header and rows as a table with ruled lines for a terminal.", boxTable),
}}

type markdownIn struct {
	Markdown string `json:"markdown" jsonschema_description:"The Markdown document"`
}

// github reads Markdown as GitHub does.
var github = goldmark.New(goldmark.WithExtensions(extension.GFM))

// walk visits the nodes of the document in order.
func (in markdownIn) walk(visit func(source []byte, node ast.Node)) {
	source := []byte(in.Markdown)
	_ = ast.Walk(github.Parser().Parse(text.NewReader(source)), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(source, node)
		}
		return ast.WalkContinue, nil
	})
}

// plainText is the text inside a node, without its markup.
func plainText(source []byte, node ast.Node) string {
	var out strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			out.Write(ownText(source, n))
		} else if n != node && n.Type() == ast.TypeBlock && !strings.HasSuffix(out.String(), "\n") {
			out.WriteByte('\n')
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(out.String())
}

func ownText(source []byte, node ast.Node) []byte {
	switch n := node.(type) {
	case *ast.Text:
		if n.SoftLineBreak() || n.HardLineBreak() {
			return append(bytes.Clone(n.Segment.Value(source)), '\n')
		}
		return n.Segment.Value(source)
	case *ast.String:
		return n.Value
	case *ast.AutoLink:
		return n.Label(source)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return n.Lines().Value(source)
	}
	return nil
}

type heading struct {
	level, line int
	text        string
}

func (in markdownIn) headings() []heading {
	var out []heading
	in.walk(func(source []byte, node ast.Node) {
		if h, ok := node.(*ast.Heading); ok && h.Lines().Len() > 0 {
			line := strings.Count(in.Markdown[:h.Lines().At(0).Start], "\n")
			out = append(out, heading{h.Level, line, plainText(source, h)})
		}
	})
	return out
}

func markdownHeadings(in markdownIn) (string, error) {
	return listed(each(in.headings(), func(h heading) string {
		return fmt.Sprintf("%d: %s (line %d)", h.level, h.text, h.line+1)
	}), "the document has no headings"), nil
}
