// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package tooltext returns what is indexed of a tool, as far as its schema is read.
package tooltext

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// Phrases are the further ways to ask for a tool.
func Phrases(info *schema.ToolInfo) []string {
	switch list := info.Extra[toolset.PhrasesKey].(type) {
	case string:
		return []string{list}
	case []string:
		return list[:min(len(list), maxPhrases)]
	case []any:
		var texts []string
		for _, v := range list[:min(len(list), maxPhrases)] {
			if text, ok := v.(string); ok {
				texts = append(texts, text)
			}
		}
		return texts
	}
	return nil
}

// Hints returns what a tool's server says about it: the readOnlyHint and destructiveHint of MCP, under the
// keys of package mcptools. There, a tool is destructive unless its server says otherwise.
func Hints(info *schema.ToolInfo) keyword.Hints {
	readOnly, _ := info.Extra["mcp.read_only"].(bool)
	destructive, known := info.Extra["mcp.destructive"].(bool)
	return keyword.Hints{ReadOnly: readOnly, Additive: known && !readOnly && !destructive}
}

const (
	maxPhrases     = 32
	maxPhraseBytes = 512
)

// What is indexed of a schema; more would drown what the tool is about.
const (
	maxIndexedDepth = 3
	maxIndexed      = 100 // parameters
	maxIndexedBytes = 16 << 10
)

// Params are the parameters of a tool for an index: names, descriptions and enum
// values, nested ones as well.
func Params(info *schema.ToolInfo) (params []keyword.Param) {
	size := 0
	toolschema.Each(info.ParamsOneOf, func(part toolschema.Param) bool {
		p := keyword.Param{Name: part.Name, Description: part.Description, Enum: enumTexts(part.Enum), Required: part.Required && part.Depth == 1}
		size += len(p.Name) + len(p.Description)
		for _, v := range p.Enum {
			size += len(v)
		}
		if len(params) == maxIndexed || size > maxIndexedBytes {
			return false
		}
		if part.Depth <= maxIndexedDepth {
			params = append(params, p)
		}
		return true
	})
	return params
}

// enumTexts are the values of an enum that are texts or numbers.
func enumTexts(values []any) []string {
	const most = 50
	var out []string
	for _, v := range values {
		switch v.(type) {
		case string, float64, int, int64, json.Number:
			if len(out) < most {
				out = append(out, fmt.Sprint(v))
			}
		}
	}
	return out
}

// NameWords returns the words of a tool's name.
func NameWords(name string) string { return nameMarks.Replace(name) }

var nameMarks = strings.NewReplacer("__", " ", "_", " ", "-", " ", ".", " ")

// Document is all that is indexed of a tool, as one text.
func Document(info *schema.ToolInfo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s", info.Name, NameWords(info.Name), info.Desc)
	for _, phrase := range Phrases(info) {
		fmt.Fprintf(&b, "\n%s", names.Clip(phrase, maxPhraseBytes))
	}
	for _, p := range Params(info) {
		fmt.Fprintf(&b, "\n%s: %s", p.Name, p.Description)
		if len(p.Enum) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(p.Enum, ", "))
		}
	}
	return b.String()
}
