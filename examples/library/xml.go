// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of XML and HTML documents, which share one tree.

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cloudwego/eino/components/tool"
)

func xmlServer() Server {
	return Server{Name: "xml", Title: "XML documents", Tools: []tool.BaseTool{
		define("xml__format", "Formats an XML document with indentation.", xmlFormat),
		define("xml__validate", "Checks whether a text is well-formed XML and says where the first mistake is.", xmlValidate),
		define("xml__get", "Gets the texts of the elements at a path of an XML document, such as feed/entry/title.", xmlGet),
		define("xml__attributes", "Lists the attributes of the elements at a path of an XML document.", xmlAttributes),
		define("xml__count_elements", "Counts the elements of an XML document by name.", xmlCount),
		define("xml__to_json", "Turns an XML document into JSON; attributes get an @ in front, text is #text.", xmlToJSON),
	}}
}

func htmlServer() Server {
	return Server{Name: "html", Title: "HTML pages", Tools: []tool.BaseTool{
		define("html__to_text", "Takes the readable text out of an HTML page, without scripts and styles.", htmlText),
		define("html__links", "Lists the links of an HTML page with their texts.", htmlLinks),
		define("html__headings", "Lists the headings h1 to h6 of an HTML page.", htmlHeadings),
		define("html__meta", "Reads the title, description and other meta data of an HTML page.", htmlMeta),
		define("html__tables", "Takes the tables out of an HTML page as CSV.", htmlTables),
		define("html__images", "Lists the images of an HTML page with their alternative texts.", htmlImages),
	}}
}

// node is an element or, with an empty name, a text.
type node struct {
	name, text string
	attributes map[string]string
	children   []*node
}

// parseTree reads XML, or HTML as far as a forgiving XML reader can.
func parseTree(text string, isHTML bool) (*node, error) {
	dec := xml.NewDecoder(strings.NewReader(text))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	if isHTML {
		dec.Strict, dec.AutoClose, dec.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	}
	root := &node{}
	open := []*node{root}
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return root, nil
		}
		if err != nil && isHTML && len(root.children) > 0 {
			return root, nil // what could be read of a careless page
		}
		if err != nil {
			return nil, fmt.Errorf("the text is not well-formed: %w", err)
		}
		top := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			child := newElement(token, isHTML)
			top.children = append(top.children, child)
			if open = append(open, child); len(open) > 300 {
				return nil, fmt.Errorf("the elements are nested more than 300 deep")
			}
		case xml.EndElement:
			open = open[:max(1, len(open)-1)]
		case xml.CharData:
			if len(open) > 1 || isHTML {
				top.children = append(top.children, &node{text: string(token)})
			} else if strings.TrimSpace(string(token)) != "" {
				return nil, fmt.Errorf("the text is not well-formed: there is text outside of the root element")
			}
		}
	}
}

func newElement(token xml.StartElement, lower bool) *node {
	out := &node{name: token.Name.Local, attributes: map[string]string{}}
	if lower {
		out.name = strings.ToLower(out.name)
	}
	for _, a := range token.Attr {
		out.attributes[a.Name.Local] = a.Value
	}
	return out
}

// walk visits the elements in order; visit says whether to go inside.
func (n *node) walk(visit func(*node) bool) {
	for _, c := range n.children {
		if visit(c) {
			c.walk(visit)
		}
	}
}

// content is all text inside, in one line.
func (n *node) content() string {
	var out strings.Builder
	n.walk(func(c *node) bool { out.WriteString(c.text + " "); return true })
	return strings.Join(strings.Fields(out.String()), " ")
}

// at finds the elements at a path; the root's own name may lead it.
func (n *node) at(path string) ([]*node, error) {
	level := []*node{n}
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '.' }) {
		var next []*node
		for _, parent := range level {
			for _, c := range parent.children {
				if c.name != "" && (c.name == step || step == "*") {
					next = append(next, c)
				}
			}
		}
		level = next
	}
	if len(level) == 0 || level[0] == n {
		return nil, fmt.Errorf("no element is at %q; write the path from the root, such as feed/entry/title", path)
	}
	return level, nil
}

type xmlIn struct {
	XML string `json:"xml" jsonschema_description:"The XML document"`
}

func (in xmlIn) parse() (*node, error) {
	root, err := parseTree(in.XML, false)
	if err == nil && len(root.children) == 0 {
		err = fmt.Errorf("the document has no elements")
	}
	return root, err
}

func xmlFormat(in xmlIn) (string, error) {
	root, err := in.parse()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, c := range root.children {
		c.write(&out, 0)
	}
	return strings.TrimSpace(out.String()), nil
}

func (n *node) write(out *strings.Builder, depth int) {
	indent := strings.Repeat("  ", depth)
	if n.name == "" {
		if text := strings.TrimSpace(n.text); text != "" {
			fmt.Fprintf(out, "%s%s\n", indent, html.EscapeString(text))
		}
		return
	}
	fmt.Fprintf(out, "%s<%s", indent, n.name)
	for _, k := range slices.Sorted(maps.Keys(n.attributes)) {
		fmt.Fprintf(out, ` %s="%s"`, k, html.EscapeString(n.attributes[k]))
	}
	onlyText := !slices.ContainsFunc(n.children, func(c *node) bool { return c.name != "" })
	switch {
	case len(n.children) == 0:
		out.WriteString("/>\n")
	case onlyText:
		fmt.Fprintf(out, ">%s</%s>\n", html.EscapeString(n.content()), n.name)
	default:
		out.WriteString(">\n")
		for _, c := range n.children {
			c.write(out, depth+1)
		}
		fmt.Fprintf(out, "%s</%s>\n", indent, n.name)
	}
}

func xmlValidate(in xmlIn) (string, error) {
	root, err := in.parse()
	if err != nil {
		return err.Error(), nil
	}
	return "well-formed XML with the root element " + root.children[len(root.children)-1].name, nil
}

type xmlPathIn struct {
	xmlIn
	Path string `json:"path" jsonschema_description:"The path from the root element, such as feed/entry/title; * stands for any element"`
}

func (in xmlPathIn) find() ([]*node, error) {
	root, err := in.parse()
	if err != nil {
		return nil, err
	}
	return root.at(in.Path)
}

func xmlGet(in xmlPathIn) (string, error) {
	found, err := in.find()
	var out []string
	for _, n := range found {
		out = append(out, n.content())
	}
	return strings.Join(out, "\n"), err
}

func xmlAttributes(in xmlPathIn) (string, error) {
	found, err := in.find()
	var out []string
	for i, n := range found {
		for _, k := range slices.Sorted(maps.Keys(n.attributes)) {
			out = append(out, fmt.Sprintf("%s[%d] %s=%s", n.name, i, k, n.attributes[k]))
		}
	}
	if err == nil && len(out) == 0 {
		return "these elements have no attributes", nil
	}
	return strings.Join(out, "\n"), err
}

func xmlCount(in xmlIn) (string, error) {
	root, err := in.parse()
	if err != nil {
		return "", err
	}
	counts := map[string]int{}
	root.walk(func(c *node) bool {
		if c.name != "" {
			counts[c.name]++
		}
		return true
	})
	return ranked(counts, 1000), nil
}

func xmlToJSON(in xmlIn) (string, error) {
	root, err := in.parse()
	if err != nil {
		return "", err
	}
	return indentJSON(root.value())
}

// value gives an element as JSON values: several of one name become a list.
func (n *node) value() any {
	out := map[string]any{}
	for k, v := range n.attributes {
		out["@"+k] = v
	}
	text := ""
	for _, c := range n.children {
		switch old := out[c.name].(type) {
		case nil:
			if c.name != "" {
				out[c.name] = c.value()
			}
		case []any:
			out[c.name] = append(old, c.value())
		default:
			out[c.name] = []any{old, c.value()}
		}
		text += c.text
	}
	text = strings.TrimSpace(text)
	if len(out) == 0 {
		return text
	}
	if text != "" {
		out["#text"] = text
	}
	return out
}
