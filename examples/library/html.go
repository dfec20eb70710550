// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of HTML pages.

import (
	"fmt"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

var htmlServer = group{"html", "HTML pages", []maker{
	define("html__to_text", "Takes the readable text out of an HTML page, without scripts and styles.", func(in htmlIn) (string, error) {
		return in.list("html", "", func(page *goquery.Selection) string {
			page.Find(invisible).Remove()
			page.Find(blocks).BeforeNodes(&html.Node{Type: html.TextNode, Data: "\n"})
			page.Find("td, th").BeforeNodes(&html.Node{Type: html.TextNode, Data: " "})
			var lines []string
			for line := range strings.Lines(page.Text()) {
				if words := strings.Fields(line); len(words) > 0 {
					lines = append(lines, strings.Join(words, " "))
				}
			}
			return strings.Join(lines, "\n")
		})
	}),
	define("html__links", "Lists the links of an HTML page with their texts.", func(in htmlIn) (string, error) {
		return in.list(`a[href][href!=""]`, "the page has no links", func(s *goquery.Selection) string { return oneLine(s) + ": " + s.AttrOr("href", "") })
	}),
	define("html__headings", "Lists the headings h1 to h6 of an HTML page.", func(in htmlIn) (string, error) {
		return in.list("h1, h2, h3, h4, h5, h6", "the page has no headings", func(s *goquery.Selection) string { return goquery.NodeName(s) + ": " + oneLine(s) })
	}),
	define("html__meta", "Reads the title, description and other meta data of an HTML page.", func(in htmlIn) (string, error) {
		return in.list("title, meta[name], meta[property]", "the page has no meta data", func(s *goquery.Selection) string {
			if goquery.NodeName(s) == "title" {
				return "title: " + oneLine(s)
			}
			return s.AttrOr("name", s.AttrOr("property", "")) + ": " + s.AttrOr("content", "")
		})
	}),
	define("html__tables", "Takes the tables out of an HTML page as CSV.", func(in htmlIn) (string, error) {
		return in.list("table", "the page has no tables", func(s *goquery.Selection) string {
			var rows [][]string
			for _, row := range s.Find("tr").EachIter() {
				rows = append(rows, row.ChildrenFiltered("td, th").Map(func(_ int, cell *goquery.Selection) string { return oneLine(cell) }))
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
	var out []string
	for _, s := range page.Find(selector).EachIter() {
		if text := line(s); text != "" {
			out = append(out, text)
		}
	}
	return listed(out, none), nil
}

// oneLine is the text of elements with a single blank between words.
func oneLine(s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") }

const (
	invisible = "script, style, noscript, template"
	blocks    = "p, div, br, li, ul, ol, table, tr, h1, h2, h3, h4, h5, h6, section, article, header, footer, blockquote, pre, title, body"
)
