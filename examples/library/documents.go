// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of XML, HTML and Markdown documents.

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/PuerkitoBio/goquery"
	"github.com/beevik/etree"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
)

var xmlServer = group{"xml", "XML documents", []maker{
	define("xml__format", "Formats an XML document with indentation.", func(in xmlIn) (string, error) {
		in.XML.Indent(2)
		text, err := in.XML.WriteToString()
		return strings.TrimSpace(text), err
	}),
	define("xml__validate", "Checks whether a text is well-formed XML and says where the first mistake is.", func(in struct {
		XML string `json:"xml" jsonschema_description:"The XML document"`
	}) (string, error) {
		doc, err := parseXML(in.XML)
		if err != nil {
			return err.Error(), nil
		}
		return "well-formed XML with the root element " + doc.Root().Tag, nil
	}),
	define("xml__get", "Gets the texts of the elements at a path of an XML document, such as feed/entry/title.", func(in xmlPathIn) (string, error) {
		found, err := in.find()
		return joined(found, "\n", func(e *etree.Element) string { return content(e) }), err
	}),
	define("xml__attributes", "Lists the attributes of the elements at a path of an XML document.", func(in xmlPathIn) (string, error) {
		found, err := in.find()
		var out []string
		for i, e := range found {
			e.SortAttrs()
			for _, a := range e.Attr {
				out = append(out, fmt.Sprintf("%s[%d] %s=%s", e.Tag, i, a.Key, a.Value))
			}
		}
		return listed(out, "these elements have no attributes"), err
	}),
	define("xml__count_elements", "Counts the elements of an XML document by name.", func(in xmlIn) (string, error) {
		counts := map[string]int{}
		for _, e := range in.XML.FindElements("//*") {
			counts[e.Tag]++
		}
		return ranked(counts, 1000), nil
	}),
	define("xml__to_json", "Turns an XML document into JSON; attributes get an @ in front, text is #text.",
		func(in xmlIn) (string, error) {
			return indentJSON(map[string]any{in.XML.Root().Tag: jsonOf(in.XML.Root())})
		}),
}}

type xmlIn struct {
	XML xmlDocument `json:"xml" jsonschema_description:"The XML document"`
}

// xmlDocument is an argument that is an XML document.
type xmlDocument struct {
	written
	*etree.Document
}

// UnmarshalJSON reads the document.
func (d *xmlDocument) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &d.written, &d.Document, parseXML)
}

// maxNesting is the most elements that may stand inside each other.
const maxNesting = 300

// parseXML says where a document is not well-formed, which etree does not.
func parseXML(text string) (*etree.Document, error) {
	dec := xml.NewDecoder(strings.NewReader(text))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	depth, elements := 0, 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the text is not well-formed: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth, elements = depth+1, elements+1; depth > maxNesting {
				return nil, fmt.Errorf("the elements are nested more than %d deep", maxNesting)
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && strings.TrimSpace(string(token)) != "" {
				return nil, errors.New("the text is not well-formed: there is text outside of the root element")
			}
		}
	}
	if elements == 0 {
		return nil, errors.New("the document has no elements")
	}
	doc := etree.NewDocument()
	doc.ReadSettings.PreserveCData = false
	return doc, doc.ReadFromString(text)
}

type xmlPathIn struct {
	xmlIn
	Path string `json:"path" jsonschema_description:"The path from the root element, such as feed/entry/title; * stands for any element"`
}

// find also takes other paths of etree, such as //title and entry[@id='1'].
func (in xmlPathIn) find() ([]*etree.Element, error) {
	path, err := etree.CompilePath(strings.TrimSpace(in.Path))
	if err != nil {
		return nil, fmt.Errorf("%q is not a path: %w", in.Path, err)
	}
	found := in.XML.FindElementsPath(path)
	if len(found) == 0 || found[0] == &in.XML.Element {
		return nil, fmt.Errorf("no element is at %q; write the path from the root, such as feed/entry/title", in.Path)
	}
	return found, nil
}

// content is all text inside an element, in one line.
func content(e *etree.Element) string {
	var out []string
	for _, child := range e.Child {
		switch child := child.(type) {
		case *etree.CharData:
			out = append(out, strings.Fields(child.Data)...)
		case *etree.Element:
			out = append(out, strings.Fields(content(child))...)
		}
	}
	return strings.Join(out, " ")
}

// jsonOf gives an element as JSON values: several of one name become a list.
func jsonOf(e *etree.Element) any {
	out := map[string]any{}
	for _, a := range e.Attr {
		out["@"+a.Key] = a.Value
	}
	for _, c := range e.ChildElements() {
		switch old := out[c.Tag].(type) {
		case nil:
			out[c.Tag] = jsonOf(c)
		case []any:
			out[c.Tag] = append(old, jsonOf(c))
		default:
			out[c.Tag] = []any{old, jsonOf(c)}
		}
	}
	text := ""
	for _, t := range e.Child {
		if data, ok := t.(*etree.CharData); ok {
			text += data.Data
		}
	}
	if text = strings.TrimSpace(text); len(out) == 0 {
		return text
	}
	if text != "" {
		out["#text"] = text
	}
	return out
}

var htmlServer = group{"html", "HTML pages", []maker{
	define("html__to_text", "Takes the readable text out of an HTML page, without scripts and styles.", func(in htmlIn) (string, error) {
		return in.list("html", "", func(page *goquery.Selection) string {
			page.Find(invisible).Remove()
			page.Find(blocks).BeforeNodes(&html.Node{Type: html.TextNode, Data: "\n"})
			page.Find("td, th").BeforeNodes(&html.Node{Type: html.TextNode, Data: " "})
			return strings.Join(nonEmpty(each(strings.Split(page.Text(), "\n"), oneLine)), "\n")
		})
	}),
	define("html__links", "Lists the links of an HTML page with their texts.", func(in htmlIn) (string, error) {
		return in.list(`a[href][href!=""]`, "the page has no links", func(s *goquery.Selection) string { return oneLine(s.Text()) + ": " + s.AttrOr("href", "") })
	}),
	define("html__headings", "Lists the headings h1 to h6 of an HTML page.", func(in htmlIn) (string, error) {
		return in.list("h1, h2, h3, h4, h5, h6", "the page has no headings", func(s *goquery.Selection) string {
			return goquery.NodeName(s) + ": " + oneLine(s.Text())
		})
	}),
	define("html__meta", "Reads the title, description and other meta data of an HTML page.", func(in htmlIn) (string, error) {
		return in.list("title, meta[name], meta[property]", "the page has no meta data", func(s *goquery.Selection) string {
			if goquery.NodeName(s) == "title" {
				return "title: " + oneLine(s.Text())
			}
			return s.AttrOr("name", s.AttrOr("property", "")) + ": " + s.AttrOr("content", "")
		})
	}),
	define("html__tables", "Takes the tables out of an HTML page as CSV.", func(in htmlIn) (string, error) {
		return in.list("table", "the page has no tables", func(s *goquery.Selection) string {
			var rows [][]string
			for _, row := range s.Find("tr").EachIter() {
				rows = append(rows, row.ChildrenFiltered("td, th").Map(func(_ int, cell *goquery.Selection) string { return oneLine(cell.Text()) }))
			}
			text, err := writeCSV(rows, ',')
			if err != nil {
				return ""
			}
			return text + "\n"
		})
	}),
	define("html__images", "Lists the images of an HTML page with their alternative texts.", func(in htmlIn) (string, error) {
		return in.list("img", "the page has no images", func(s *goquery.Selection) string {
			return fmt.Sprintf("%s (%s)", s.AttrOr("src", ""), s.AttrOr("alt", ""))
		})
	}),
}}

type htmlIn struct {
	HTML string `json:"html" jsonschema_description:"The HTML page or a part of one"`
}

// list writes a line for each element that a selector finds.
func (in htmlIn) list(selector, none string, line func(*goquery.Selection) string) (string, error) {
	page, err := goquery.NewDocumentFromReader(strings.NewReader(in.HTML))
	if err != nil {
		return "", err
	}
	out := page.Find(selector).Map(func(_ int, s *goquery.Selection) string { return line(s) })
	return listed(nonEmpty(out), none), nil
}

const (
	invisible = "script, style, noscript, template"
	blocks    = "p, div, br, li, ul, ol, table, tr, h1, h2, h3, h4, h5, h6, section, article, header, footer, blockquote, pre, title, body"
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
