// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/cloudwego/eino/schema"
)

// Read reads the JSON schema of a tool's parameters. Keywords with values of the wrong type are
// repaired or dropped; null and the empty text stand for any object. It never panics.
func Read(data []byte) (*schema.ParamsOneOf, error) {
	if data = bytes.TrimSpace(data); len(data) == 0 || string(data) == "null" {
		data = []byte("{}")
	}
	var own map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if !json.Valid(data) {
		return nil, errors.New("the schema is not JSON")
	}
	if d.Decode(&own) != nil {
		return nil, errors.New("the schema is not an object")
	}
	repaired, changed := repair(own, func(node map[string]any) (map[string]any, bool) {
		node, changed := RepairNode(node)
		node, converted := withPrefixItems(node)
		return node, changed || converted
	})
	node, _ := repaired.(map[string]any)
	if changed {
		return FromTree(node)
	}
	return decode(data, node) // in the order of its properties
}

// withPrefixItems writes a tuple of an old draft as the new one does.
func withPrefixItems(node map[string]any) (converted map[string]any, changed bool) {
	tuple, isTuple := node["items"].([]any)
	if !isTuple {
		return node, false
	}
	node = maps.Clone(node)
	delete(node, "items")
	if len(tuple) > 0 && node["prefixItems"] == nil {
		node["prefixItems"] = tuple
	}
	if rest, has := node["additionalItems"]; has {
		node["items"] = rest
		delete(node, "additionalItems")
	}
	return node, true
}

// FromTree returns the parameters of a schema whose keywords have values of the right types.
func FromTree(node map[string]any) (*schema.ParamsOneOf, error) {
	data, err := json.Marshal(node)
	if err != nil {
		return nil, err
	}
	return decode(data, node)
}

// decode reads a schema from its text, of which node is the value.
func decode(data []byte, node map[string]any) (params *schema.ParamsOneOf, err error) {
	defer func() {
		if p := recover(); p != nil {
			params, err = nil, fmt.Errorf("the schema cannot be read: %v", p)
		}
	}()
	params, err = readWith(schema.NewParamsOneOfByJSONSchema, data)
	if err != nil { // for a value with a number that no float64 holds
		bare, _ := repair(node, withoutValues)
		data, _ = json.Marshal(bare)
		params, err = readWith(schema.NewParamsOneOfByJSONSchema, data)
	}
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be read: %w", err)
	}
	return params, keepValues(params, node)
}

// withoutValues leaves out the keywords that hold values.
func withoutValues(node map[string]any) (bare map[string]any, changed bool) {
	bare = maps.Clone(node)
	for _, keyword := range []string{"const", "default", "enum", "examples"} {
		delete(bare, keyword)
	}
	return bare, len(bare) < len(node)
}

// readWith decodes what a function takes: the type of schemas is Eino's choice, and not named.
func readWith[T any](make func(*T) *schema.ParamsOneOf, data []byte) (*schema.ParamsOneOf, error) {
	s := new(T)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	return make(s), nil
}

// keepValues puts into a schema what reading it loses of node: keywords without a field, empty values,
// null, and the digits of numbers.
func keepValues(params *schema.ParamsOneOf, node map[string]any) error {
	root, err := params.ToJSONSchema()
	if err != nil || root == nil {
		return err
	}
	pairs := newPairs(root, node)
	for i := 0; i < len(pairs.schemas); i++ {
		s, node := pairs.schemas[i], pairs.nodes[i]
		for keyword, value := range node {
			if isLost(keyword, value) {
				if s.Extras == nil {
					s.Extras = map[string]any{}
				}
				s.Extras[keyword] = value
			}
		}
		s.Const, s.Default = exact(s.Const, node["const"]), exact(s.Default, node["default"])
		s.Enum, s.Examples = exactList(s.Enum, node["enum"]), exactList(s.Examples, node["examples"])

		properties, _ := node["properties"].(map[string]any)
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			pairs.add(p.Value, properties[p.Key])
		}
		pairs.addNamed(s.PatternProperties, node["patternProperties"])
		pairs.addNamed(s.DependentSchemas, node["dependentSchemas"])
		pairs.addNamed(s.Definitions, node["$defs"])
		pairs.addList(s.AllOf, node["allOf"])
		pairs.addList(s.AnyOf, node["anyOf"])
		pairs.addList(s.OneOf, node["oneOf"])
		pairs.addList(s.PrefixItems, node["prefixItems"])
		pairs.add(s.Items, node["items"])
		pairs.add(s.Not, node["not"])
		pairs.add(s.If, node["if"])
		pairs.add(s.Then, node["then"])
		pairs.add(s.Else, node["else"])
		pairs.add(s.Contains, node["contains"])
		pairs.add(s.AdditionalProperties, node["additionalProperties"])
		pairs.add(s.PropertyNames, node["propertyNames"])
		pairs.add(s.ContentSchema, node["contentSchema"])
	}
	return nil
}

// isLost reports whether writing a schema would leave out a keyword of it.
func isLost(keyword string, value any) bool {
	switch keyword {
	case "unevaluatedProperties", "unevaluatedItems", "additionalItems", "definitions", "dependencies", "$dynamicAnchor":
		return true // Eino's type of schemas has no field for it
	}
	switch kinds[keyword] {
	case kindUnknown:
		return true
	case kindValue, kindExamples:
		list, isList := value.([]any)
		return value == nil || isList && len(list) == 0 && keyword == "examples"
	case kindText:
		return value == ""
	case kindFlag:
		return value == false
	}
	switch v := value.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0 && (kinds[keyword] == kindNamedSchemas || kinds[keyword] == kindNamedNames) && keyword != "properties"
	}
	return false
}

// exact returns a value with the digits of own, which it was read from.
func exact(value, original any) any {
	decode, err := json.Marshal(value)
	if err != nil || original == nil {
		return value
	}
	if encoded, err := json.Marshal(original); err != nil || bytes.Equal(decode, encoded) {
		return value
	}
	return original
}

func exactList(values []any, originals any) []any {
	list, _ := originals.([]any)
	if len(list) != len(values) {
		return list
	}
	for i := range values {
		values[i] = exact(values[i], list[i])
	}
	return values
}

// pairs are schemas and what they were read from.
type pairs[T any] struct {
	schemas []*T
	nodes   []map[string]any
}

func newPairs[T any](root *T, node map[string]any) *pairs[T] {
	return &pairs[T]{[]*T{root}, []map[string]any{node}}
}

// add adds a schema that was read from an object.
func (p *pairs[T]) add(s *T, from any) {
	if node, ok := from.(map[string]any); ok && s != nil {
		p.schemas, p.nodes = append(p.schemas, s), append(p.nodes, node)
	}
}

func (p *pairs[T]) addList(schemas []*T, from any) {
	nodes, _ := from.([]any)
	for i, s := range schemas {
		if i < len(nodes) {
			p.add(s, nodes[i])
		}
	}
}

func (p *pairs[T]) addNamed(schemas map[string]*T, from any) {
	nodes, _ := from.(map[string]any)
	for name, s := range schemas {
		p.add(s, nodes[name])
	}
}
