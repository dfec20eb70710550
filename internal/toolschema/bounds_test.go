// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

func asJSON(t *testing.T, p *schema.ParamsOneOf) string {
	t.Helper()
	s, err := p.ToJSONSchema()
	require.NoError(t, err)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	return string(text)
}

// fromJSON returns parameters that are given as a JSON schema.
func fromJSON(t *testing.T, text string) *schema.ParamsOneOf {
	t.Helper()
	p, _ := made(t)
	s, err := p.ToJSONSchema()
	require.NoError(t, err)
	fresh := reflect.New(reflect.TypeOf(s).Elem()).Interface()
	require.NoError(t, json.Unmarshal([]byte(text), fresh))
	reflect.ValueOf(s).Elem().Set(reflect.ValueOf(fresh).Elem())
	return schema.NewParamsOneOfByJSONSchema(s)
}

func TestNames_ListFirstLevelOnly(t *testing.T) {
	p, _ := made(t)
	require.Equal(t, []string{"query", "tags", "where"}, Names(p))
	require.Equal(t, []string{"z", "a", "m"}, Names(fromJSON(t, `{"properties":{"z":{"properties":{"inner":{}}},"a":{},"m":{}}}`)), "in the schema's order")
	require.Empty(t, Names(nil))
	require.Empty(t, Names(&schema.ParamsOneOf{}))
	require.Empty(t, Names(fromJSON(t, `{}`)))
	require.Empty(t, Names(schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": nil})), "it cannot be read")
	self := &schema.ParameterInfo{Type: schema.Object}
	self.SubParams = map[string]*schema.ParameterInfo{"again": self}
	require.Empty(t, Names(schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": self})))
}

// chain is a parameter inside of a parameter and so on, n of them, each described.
func chain(n int, lists bool) *schema.ParamsOneOf {
	info := &schema.ParameterInfo{Type: schema.String, Desc: "level"}
	for range n - 1 {
		if lists {
			info = &schema.ParameterInfo{Type: schema.Array, Desc: "level", ElemInfo: info}
		} else {
			info = &schema.ParameterInfo{Type: schema.Object, Desc: "level", SubParams: map[string]*schema.ParameterInfo{"sub": info}}
		}
	}
	return schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"top": info})
}

func wide(n int) *schema.ParamsOneOf {
	params := make(map[string]*schema.ParameterInfo, n)
	for i := range n {
		params[fmt.Sprintf("p%06d", i)] = &schema.ParameterInfo{Type: schema.String, Desc: "desc"}
	}
	return schema.NewParamsOneOfByParams(params)
}

// Both sides of each bound are tested. Eino's own description takes one level of the schema, the object that holds
// the parameters.
func TestDescribed_StopsAtBounds(t *testing.T) {
	for _, lists := range []bool{false, true} {
		p := chain(MaxDepth-1, lists)
		require.Equal(t, len(asJSON(t, p)), Bytes(p))
		require.Equal(t, []string{"top"}, Names(p))
		seen, all := described(chain(MaxDepth, lists))
		require.True(t, all)
		sub := 3 * (MaxDepth - 1)
		if lists {
			sub = 0
		}
		require.Equal(t, 3+sub+MaxDepth*len("level"), seen)

		seen, all = described(chain(MaxDepth+1, lists))
		require.False(t, all)
		require.Empty(t, Names(chain(MaxDepth+1, lists)))
		if !lists {
			sub += 3
		}
		require.Equal(t, 3+sub+MaxDepth*len("level"), seen)
		require.Equal(t, seen, Bytes(chain(MaxDepth+1, lists)))
	}
	p := wide(MaxNodes)
	require.Equal(t, MaxNodes*(7+4), func() int { n, all := described(p); require.True(t, all); return n }())
	require.Len(t, Names(p), MaxNodes)
	p = wide(MaxNodes + 1)
	require.Equal(t, (MaxNodes+1)*7, Bytes(p), "the names")
	require.Empty(t, Names(p))
	p = wide(MaxNodes - 1)
	require.Equal(t, len(asJSON(t, p)), Bytes(p), "the object is one more")
}

// A schema as JSON is measured whole within the bounds, and by its names, titles and descriptions beyond them.
func TestBytes_BeyondBoundsCountsOnlyTexts(t *testing.T) {
	nested := func(n int) *schema.ParamsOneOf {
		return fromJSON(t, strings.Repeat(`{"description":"level","items":`, n-1)+`{"description":"level"}`+strings.Repeat("}", n-1))
	}
	require.Equal(t, len(asJSON(t, nested(MaxDepth))), Bytes(nested(MaxDepth)))
	require.Equal(t, MaxDepth*len("level"), Bytes(nested(MaxDepth+1)))
	flat := func(n int) *schema.ParamsOneOf {
		var props []string
		for i := range n {
			props = append(props, fmt.Sprintf(`"p%06d":{"title":"abc"}`, i))
		}
		return fromJSON(t, `{"description":"top","properties":{`+strings.Join(props, ",")+`}}`)
	}
	require.Equal(t, len(asJSON(t, flat(MaxNodes-1))), Bytes(flat(MaxNodes-1)))
	require.Equal(t, 3+7*MaxNodes, Bytes(flat(MaxNodes)), "the names, and the first description")
}

// Every keyword that may hold another schema is visited.
func TestWalk_VisitsEveryPartOfSchema(t *testing.T) {
	deep := strings.Repeat(`{"not":`, MaxDepth) + `{}` + strings.Repeat("}", MaxDepth)
	for _, holder := range []string{
		`"properties":{"a":%s}`, `"allOf":[%s]`, `"anyOf":[{},%s]`, `"oneOf":[%s]`, `"prefixItems":[%s]`, `"dependentSchemas":{"a":%s}`,
		`"patternProperties":{"a":%s}`, `"$defs":{"a":%s}`, `"items":%s`, `"not":%s`, `"if":%s`, `"then":%s`, `"else":%s`, `"contains":%s`,
		`"additionalProperties":%s`, `"propertyNames":%s`, `"contentSchema":%s`,
	} {
		p := fromJSON(t, `{`+fmt.Sprintf(holder, `{"title":"T","description":"words"}`)+`}`)
		seen, all := walk(p)
		require.True(t, all)
		want := len("Twords")
		if strings.HasPrefix(holder, `"properties"`) {
			want += len("a") // the name of a parameter
		}
		require.Equal(t, want, seen, holder)
		require.Equal(t, len(asJSON(t, p)), Bytes(p), holder)
		_, all = walk(fromJSON(t, `{`+fmt.Sprintf(holder, deep)+`}`))
		require.False(t, all, holder)
	}
}

func TestMaxDepth_AndMaxNodesAreAsDocumented(t *testing.T) {
	require.Equal(t, []int{64, 20_000}, []int{MaxDepth, MaxNodes})
}

func TestDescribed_SkipsParametersWithoutInfo(t *testing.T) {
	seen, all := described(schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"none": nil, "some": {Type: schema.String, Desc: "words"}}))
	require.True(t, all)
	require.Equal(t, len("none")+len("some")+len("words"), seen)
	seen, all = described(&schema.ParamsOneOf{})
	require.True(t, all)
	require.Zero(t, seen)
}
