// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What is read of the JSON schemas of tools, which strangers write: every walk through one
// is bounded, and a schema that is too deep or refers to itself counts as none.

import (
	"encoding/json"
	"fmt"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/toolschema"
)

const (
	// noParameters is the schema of a tool that takes none.
	noParameters = `{"type":"object","properties":{}}`

	// What is indexed of a schema; more would drown what the tool is about.
	maxIndexedDepth = 3
	maxIndexed      = 100 // parameters
	maxIndexedBytes = 16 << 10
)

// schemaText is the JSON schema of a tool's arguments. A schema that cannot be read is
// answered like none: the model still learns the tool's name and description.
func schemaText(info *schema.ToolInfo) string {
	if text, ok := toolschema.Text(info.ParamsOneOf); ok {
		return text
	}
	return noParameters
}

// parameters are the parameters of a tool for an index: names, descriptions and enum
// values, nested ones as well.
func parameters(info *schema.ToolInfo) (params []keyword.Param) {
	size := 0
	toolschema.Each(info.ParamsOneOf, func(part toolschema.Param) bool {
		p := keyword.Param{Name: part.Name, Description: part.Description, Enum: enumTexts(part.Enum)}
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
