// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of XML documents.

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/beevik/etree"
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
