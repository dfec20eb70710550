// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// The model sees a mended schema; arguments are checked against the server's own.

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean/internal/toolschema"
)

// What a mended schema may have at most. References are written out, so few bytes of a
// server's schema could become very many.
const (
	mostLevels = 10 // the fewest that a provider states
	mostNodes  = 5000
)

// parametersOf reads the schema of a tool's arguments, and reports whether it had to be
// mended, and which properties have other names there.
func parametersOf(t *mcp.Tool) (params *schema.ParamsOneOf, mended bool, keys keyNames, err error) {
	own, ok := ownSchema(t)
	if !ok {
		return nil, false, nil, errors.New("its schema is not an object")
	}
	m := mender{root: own}
	wire, keys := m.rename(m.rootObject())
	if typ := wire["type"]; typ != "object" {
		return nil, false, nil, fmt.Errorf("its schema has the type %v, not object", typ)
	}
	params, err = toolschema.FromTree(wire)
	if err != nil {
		return nil, false, nil, fmt.Errorf("its schema cannot be read: %w", err)
	}
	return params, m.changed, keys, nil
}

// ownSchema returns the server's own schema of a tool's arguments. Without one, any object is meant, and
// with a string of JSON what it holds.
func ownSchema(t *mcp.Tool) (own map[string]any, ok bool) {
	switch v := t.InputSchema.(type) {
	case map[string]any:
		return v, true
	case string:
		tree, err := exactly(json.RawMessage(v))
		own, ok = tree.(map[string]any)
		return own, ok && err == nil
	case []any: // an empty object of PHP
		return map[string]any{}, len(v) == 0
	}
	return map[string]any{}, t.InputSchema == nil || t.InputSchema == true
}

// mender makes schemas that every provider takes. It copies what it changes.
type mender struct {
	root    map[string]any
	nodes   int
	changed bool
}

// levels is how many levels are kept. Alternatives at the root put what the root has one level
// deeper.
func (m *mender) levels() int {
	for _, keyword := range []string{"$ref", "allOf", "anyOf", "oneOf"} {
		if m.root[keyword] != nil {
			return mostLevels - 1
		}
	}
	return mostLevels
}

// rootObject returns the mended schema of arguments: an object with properties, and no
// alternatives.
func (m *mender) rootObject() map[string]any {
	root := m.root
	if !toolschema.IsType(root["type"]) { // what is called otherwise can only be meant as an object
		root = m.without(root, "type")
	}
	root = m.node(root, 0, nil)
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := root[keyword].([]any); ok {
			root = m.joined(root, keyword, list)
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const"} {
		root = m.without(root, keyword)
	}
	if root["type"] == nil {
		root = m.with(root, "type", "object")
	}
	if root["type"] == "object" && root["properties"] == nil {
		root = m.with(root, "properties", map[string]any{})
	}
	return root
}

// joined returns an object that has the properties of all its alternatives. Those that all of
// them require are required; of allOf, those that one of them requires.
func (m *mender) joined(root map[string]any, keyword string, list []any) map[string]any {
	properties := map[string]any{}
	own, _ := root["properties"].(map[string]any)
	maps.Copy(properties, own)
	required := map[string]int{}
	for _, alternative := range list {
		part, _ := alternative.(map[string]any)
		if part["type"] != nil && part["type"] != "object" {
			continue
		}
		members, _ := part["properties"].(map[string]any)
		for name, s := range members {
			properties[name] = eitherOf(properties[name], s)
		}
		for _, name := range namesOf(part["required"]) {
			required[name]++
		}
	}
	all := namesOf(root["required"])
	for name, n := range required {
		if (n == len(list) || keyword == "allOf") && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	root = m.with(root, "properties", properties)
	if len(all) > 0 {
		slices.Sort(all)
		root = m.with(root, "required", all)
	}
	return root
}

// eitherOf is a schema for values of two schemas, of which the first may be nil.
func eitherOf(a, b any) any {
	if a == nil || reflect.DeepEqual(a, b) {
		return b
	}
	if first, ok := a.(map[string]any); ok && len(first) == 1 {
		if list, ok := first["anyOf"].([]any); ok {
			if slices.ContainsFunc(list, func(have any) bool { return reflect.DeepEqual(have, b) }) {
				return a
			}
			return map[string]any{"anyOf": append(slices.Clone(list), b)}
		}
	}
	return map[string]any{"anyOf": []any{a, b}}
}

func namesOf(list any) (names []string) {
	switch list := list.(type) {
	case []string:
		return slices.Clone(list)
	case []any:
		for _, v := range list {
			if name, ok := v.(string); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// node returns a schema at that many levels, reached through these references.
func (m *mender) node(v any, level int, refs []string) map[string]any {
	node, ok := v.(map[string]any)
	if !ok { // true or false: anything
		m.changed = true
		return anything()
	}
	if m.nodes++; level > m.levels() || m.nodes > mostNodes {
		return m.cut(node)
	}
	node = m.repaired(node)
	if ref, ok := node["$ref"].(string); ok {
		return m.followed(node, ref, level, refs)
	}
	node = m.oneType(node)
	for _, keyword := range slices.Sorted(maps.Keys(node)) {
		if next, differs := m.keyword(keyword, node[keyword], level, refs); differs {
			node = m.with(node, keyword, next)
		}
	}
	for _, keyword := range []string{"$defs", "definitions"} {
		node = m.without(node, keyword) // all references to them are written out
	}
	return m.complete(node, level, refs)
}

// repaired returns a schema whose keywords have values of the right types.
func (m *mender) repaired(node map[string]any) map[string]any {
	node, changed := toolschema.RepairNode(node)
	m.changed = m.changed || changed
	return node
}

// complete adds what providers miss: an object's properties and a list's items.
func (m *mender) complete(node map[string]any, level int, refs []string) map[string]any {
	if len(node) == 0 && level > 0 {
		m.changed = true
		return anything()
	}
	if node["type"] == "object" && node["properties"] == nil {
		node = m.with(node, "properties", map[string]any{})
	}
	if _, isTuple := node["items"].([]any); !isTuple {
		node = m.without(node, "additionalItems") // which are those after a tuple
	}
	if node["type"] != "array" && node["prefixItems"] == nil {
		return node
	}
	tuple, isTuple := node["items"].([]any)
	if more, ok := node["prefixItems"].([]any); ok {
		tuple, isTuple = more, true
		if rest, ok := node["items"].(map[string]any); ok {
			tuple = append(slices.Clone(more), rest)
		}
		node = m.without(node, "prefixItems")
	}
	if isTuple {
		var items any = anything()
		for i, item := range tuple {
			if level >= m.levels() {
				break // the parts of a list of either would be too deep
			}
			if i == 0 {
				items = nil
			}
			items = eitherOf(items, m.node(item, level+2, refs))
		}
		return m.without(m.with(node, "items", items), "additionalItems")
	}
	if node["items"] == nil {
		node = m.with(node, "items", anything())
	}
	return node
}

// anything is the schema of any value. An empty one would go out as true.
func anything() map[string]any { return map[string]any{"title": "any"} }

// followed returns what a reference stands for. One that leads back to itself ends in any
// value of its type.
func (m *mender) followed(node map[string]any, ref string, level int, refs []string) map[string]any {
	rest := m.without(node, "$ref")
	target, ok := lookup(m.root, ref)
	if !ok {
		return m.node(rest, level, refs)
	}
	merged := maps.Clone(target)
	maps.Copy(merged, rest)
	if slices.Contains(refs, ref) {
		return m.cut(merged)
	}
	return m.node(merged, level, append(slices.Clip(refs), ref))
}

// lookup finds what a reference within a schema leads to.
func lookup(root map[string]any, ref string) (target map[string]any, ok bool) {
	path, local := strings.CutPrefix(ref, "#")
	if !local || path != "" && path[0] != '/' {
		return nil, false
	}
	var at any = root
	for _, step := range strings.Split(path, "/")[min(1, len(path)):] {
		if path == "" {
			break
		}
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	target, ok = at.(map[string]any)
	return target, ok
}

// cut returns a schema that has nothing within it.
func (m *mender) cut(node map[string]any) (short map[string]any) {
	whole := node
	defer func() { m.changed = m.changed || !reflect.DeepEqual(short, whole) }()
	short = map[string]any{}
	node = m.oneType(m.repaired(node))
	for _, keyword := range []string{"type", "description", "title"} {
		if text, ok := node[keyword].(string); ok {
			short[keyword] = text
		}
	}
	if short["type"] == nil && node["properties"] != nil {
		short["type"] = "object"
	}
	switch short["type"] {
	case "object":
		short["properties"] = map[string]any{}
	case "array":
		short["items"] = anything()
	}
	if len(short) == 0 {
		return anything()
	}
	return short
}

// oneType returns a schema whose type is not a list. Null is left out, as a value may be left
// out.
func (m *mender) oneType(node map[string]any) map[string]any {
	if _, isList := node["type"].([]any); !isList {
		return node
	}
	types := slices.DeleteFunc(namesOf(node["type"]), func(name string) bool { return name == "null" })
	switch len(types) {
	case 0:
		return m.without(node, "type")
	case 1:
		return m.with(node, "type", types[0])
	}
	node = m.without(node, "type")
	if node["anyOf"] != nil {
		return node
	}
	var list []any
	for _, typ := range types {
		one := map[string]any{"type": typ}
		for keyword, of := range map[string]string{"properties": "object", "required": "object", "additionalProperties": "object", "items": "array"} {
			if v, has := node[keyword]; has && typ == of {
				one[keyword] = v
			}
		}
		list = append(list, one)
	}
	for _, keyword := range []string{"properties", "required", "additionalProperties", "items"} {
		node = m.without(node, keyword)
	}
	return m.with(node, "anyOf", list)
}

// keyword returns the value of a keyword with its schemas mended, if they differ.
func (m *mender) keyword(keyword string, value any, level int, refs []string) (next any, differs bool) {
	switch keyword {
	case "properties", "patternProperties", "dependentSchemas", "dependencies":
		members, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		all := make(map[string]any, len(members))
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if _, isNames := members[name].([]any); isNames && keyword == "dependencies" {
				all[name] = members[name]
				continue
			}
			all[name] = m.node(members[name], level+1, refs)
		}
		return all, true
	case "anyOf", "oneOf", "allOf":
		list, ok := value.([]any)
		if !ok {
			return nil, false
		}
		all := make([]any, len(list))
		for i, s := range list {
			all[i] = m.node(s, level+1, refs)
		}
		return all, true
	case "items":
		if _, isTuple := value.([]any); !isTuple {
			return m.node(value, level+1, refs), true
		}
	case "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		if s, ok := value.(map[string]any); ok {
			return m.node(s, level+1, refs), true
		}
	}
	return nil, false
}

// with returns a copy of a schema in which a keyword has another value.
func (m *mender) with(node map[string]any, keyword string, value any) map[string]any {
	if old, has := node[keyword]; has && reflect.DeepEqual(old, value) {
		return node
	}
	m.changed = true
	node = maps.Clone(node)
	node[keyword] = value
	return node
}

// without returns a copy of a schema without a keyword.
func (m *mender) without(node map[string]any, keyword string) map[string]any {
	if _, has := node[keyword]; !has {
		return node
	}
	m.changed = true
	node = maps.Clone(node)
	delete(node, keyword)
	return node
}
