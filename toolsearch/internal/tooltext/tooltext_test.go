// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package tooltext

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// An index reads a bounded part of a schema.
func TestParams_SizeIsBounded(t *testing.T) {
	wide := func(n, bytes int) string {
		params := make([]string, n)
		for i := range params {
			params[i] = fmt.Sprintf(`"p%04d":{"description":%q}`, i, strings.Repeat("d", bytes))
		}
		return `{"type":"object","properties":{` + strings.Join(params, ",") + `}}`
	}
	deep := func(n int) string {
		return strings.Repeat(`{"properties":{"x":`, n) + `{"type":"string"}` + strings.Repeat("}}", n)
	}
	enum := func(n int) string {
		return `{"properties":{"p":{"enum":[0` + strings.Repeat(",1", n-1) + `]}}}`
	}
	read := func(text string) *schema.ToolInfo {
		s, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{}).ToJSONSchema()
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal([]byte(text), s))
		return &schema.ToolInfo{Name: "t", ParamsOneOf: schema.NewParamsOneOfByJSONSchema(s)}
	}
	for _, c := range []struct {
		name   string
		schema string
		params int
		whole  bool // the schema can be sent to a model
	}{
		{"as many parameters as are indexed", wide(maxIndexed, 0), maxIndexed, true},
		{"one more", wide(maxIndexed+1, 0), maxIndexed, true},
		{"as many bytes as are indexed", wide(4, maxIndexedBytes/4-5), 4, true},
		{"one byte more each", wide(4, maxIndexedBytes/4-4), 3, true},
		{"as deep as is indexed", deep(maxIndexedDepth), maxIndexedDepth, true},
		{"one deeper", deep(maxIndexedDepth + 1), maxIndexedDepth, true},
		{"as deep as is read", deep(toolschema.MaxDepth - 1), maxIndexedDepth, true},
		{"deeper than is read", deep(toolschema.MaxDepth), maxIndexedDepth, false},
		{"as many nodes as are read", wide(toolschema.MaxNodes/12, 0), maxIndexed, true},
		{"more nodes than are read", wide(toolschema.MaxNodes+1, 0), maxIndexed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			info := read(c.schema)
			require.Len(t, Params(info), c.params)
			require.Equal(t, c.whole, (&catalog.Tool{Info: info}).Parameters() != toolschema.None)
		})
	}
	for n, want := range map[int]int{49: 49, 50: 50, 51: 50} {
		require.Len(t, Params(read(enum(n)))[0].Enum, want)
	}
}
