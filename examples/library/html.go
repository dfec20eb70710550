// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file reads HTML pages.

import (
	"fmt"
	"regexp"
	"strings"
)

type htmlIn struct {
	HTML string `json:"html" jsonschema_description:"The HTML page or a part of one"`
}

// Scripts and styles hold < signs that are no markup.
var unreadable = regexp.MustCompile(`(?is)<(script|style|noscript|template)\b.*?</(script|style|noscript|template)\s*>|<!--.*?-->|<!doctype[^>]*>`)

// elements gives the elements of some names, in order.
func (in htmlIn) elements(names string) ([]*node, error) {
	root, err := parseTree(unreadable.ReplaceAllString(in.HTML, " "), true)
	if err != nil {
		return nil, err
	}
	var out []*node
	root.walk(func(c *node) bool {
		if c.name != "" && strings.Contains(" "+names+" ", " "+c.name+" ") {
			out = append(out, c)
		}
		return true
	})
	return out, nil
}

// list writes a line for each element of some names.
func (in htmlIn) list(names, none string, line func(*node) string) (string, error) {
	found, err := in.elements(names)
	if err != nil {
		return "", err
	}
	var out []string
	for _, n := range found {
		if text := line(n); text != "" {
			out = append(out, text)
		}
	}
	return listed(out, none), nil
}

const blockElements = " p div br li ul ol table tr h1 h2 h3 h4 h5 h6 section article header footer blockquote pre title body "

func htmlText(in htmlIn) (string, error) {
	root, err := parseTree(unreadable.ReplaceAllString(in.HTML, " "), true)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	root.walk(func(c *node) bool {
		if c.name != "" && strings.Contains(blockElements, " "+c.name+" ") {
			out.WriteByte('\n')
		}
		if c.name == "td" || c.name == "th" {
			out.WriteByte(' ')
		}
		out.WriteString(c.text)
		return true
	})
	var lines []string
	for _, line := range strings.Split(out.String(), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), nil
}

func htmlLinks(in htmlIn) (string, error) {
	return in.list("a", "the page has no links", func(n *node) string {
		if n.attributes["href"] == "" {
			return ""
		}
		return n.content() + ": " + n.attributes["href"]
	})
}

func htmlHeadings(in htmlIn) (string, error) {
	return in.list("h1 h2 h3 h4 h5 h6", "the page has no headings", func(n *node) string { return n.name + ": " + n.content() })
}

func htmlImages(in htmlIn) (string, error) {
	return in.list("img", "the page has no images", func(n *node) string {
		return fmt.Sprintf("%s (%s)", n.attributes["src"], n.attributes["alt"])
	})
}

func htmlMeta(in htmlIn) (string, error) {
	return in.list("title meta", "the page has no meta data", func(n *node) string {
		if n.name == "title" {
			return "title: " + n.content()
		}
		for _, key := range []string{"name", "property"} {
			if n.attributes[key] != "" {
				return n.attributes[key] + ": " + n.attributes["content"]
			}
		}
		return ""
	})
}

func htmlTables(in htmlIn) (string, error) {
	return in.list("table", "the page has no tables", func(n *node) string {
		var rows [][]string
		n.walk(func(c *node) bool {
			switch {
			case c.name == "tr":
				rows = append(rows, nil)
			case (c.name == "td" || c.name == "th") && len(rows) > 0:
				rows[len(rows)-1] = append(rows[len(rows)-1], c.content())
			}
			return true
		})
		text, err := writeCSV(rows)
		if err != nil {
			return ""
		}
		return text + "\n"
	})
}
