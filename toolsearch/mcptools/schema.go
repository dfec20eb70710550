// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// The model sees a repaired schema; arguments are checked against the server's own.

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

// Limits of a repaired schema. References are written out, so few bytes of a
// server's schema could become very many.
const (
	maxLevels = 10 // the fewest that a provider states
	maxNodes  = 5000
)

// repairedParameters reads the schema of a tool's arguments. It reports whether the schema was
// repaired, and which properties were renamed.
func repairedParameters(t *mcp.Tool) (params *schema.ParamsOneOf, repaired bool, keys propertyNames, err error) {
	tree, ok := serverSchemaOf(t)
	if !ok {
		return nil, false, nil, errors.New("its schema is not an object")
	}
	m := schemaRepairer{root: tree}
	wire, keys := m.renameProperties(m.rootObject())
	if typ := wire["type"]; typ != "object" {
		return nil, false, nil, fmt.Errorf("its schema has the type %v, not object", typ)
	}
	params, err = toolschema.FromTree(wire)
	if err != nil {
		return nil, false, nil, fmt.Errorf("its schema cannot be read: %w", err)
	}
	return params, m.isChanged, keys, nil
}

// serverSchemaOf returns the server's own schema of a tool's arguments. A missing schema means any
// object. A string is parsed as JSON.
func serverSchemaOf(t *mcp.Tool) (serverSchema map[string]any, ok bool) {
	switch v := t.InputSchema.(type) {
	case map[string]any:
		return v, true
	case string:
		tree, err := decodeExact(json.RawMessage(v))
		serverSchema, ok = tree.(map[string]any)
		return serverSchema, ok && err == nil
	case []any: // an empty object of PHP
		return map[string]any{}, len(v) == 0
	}
	return map[string]any{}, t.InputSchema == nil || t.InputSchema == true
}

// schemaRepairer converts schemas to a form that every provider accepts. It copies what it changes.
type schemaRepairer struct {
	root      map[string]any
	nodes     int
	isChanged bool
}

// maxDepth returns how many levels are kept. Merging alternatives at the root moves the root's
// properties one level deeper.
func (r *schemaRepairer) maxDepth() int {
	for _, keyword := range []string{"$ref", "allOf", "anyOf", "oneOf"} {
		if r.root[keyword] != nil {
			return maxLevels - 1
		}
	}
	return maxLevels
}

// rootObject returns the repaired schema of arguments: an object with properties and without
// alternatives.
func (r *schemaRepairer) rootObject() map[string]any {
	root := r.root
	if !toolschema.IsType(root["type"]) { // what is called otherwise can only be meant as an object
		root = r.removeKeyword(root, "type")
	}
	root = r.repairNode(root, 0, nil)
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := root[keyword].([]any); ok {
			root = r.mergeAlternatives(root, keyword, list)
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const"} {
		root = r.removeKeyword(root, keyword)
	}
	if root["type"] == nil {
		root = r.setKeyword(root, "type", "object")
	}
	if root["type"] == "object" && root["properties"] == nil {
		root = r.setKeyword(root, "properties", map[string]any{})
	}
	return root
}

// mergeAlternatives returns an object with the properties of all alternatives. Properties required by
// all of them are required; of allOf, those that one of them requires.
func (r *schemaRepairer) mergeAlternatives(root map[string]any, keyword string, list []any) map[string]any {
	properties := map[string]any{}
	declared, _ := root["properties"].(map[string]any)
	maps.Copy(properties, declared)
	required := map[string]int{}
	for _, alternative := range list {
		part, _ := alternative.(map[string]any)
		if part["type"] != nil && part["type"] != "object" {
			continue
		}
		members, _ := part["properties"].(map[string]any)
		for name, s := range members {
			properties[name] = anyOf(properties[name], s)
		}
		for _, name := range stringList(part["required"]) {
			required[name]++
		}
	}
	all := stringList(root["required"])
	for name, n := range required {
		if (n == len(list) || keyword == "allOf") && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	root = r.setKeyword(root, "properties", properties)
	if len(all) > 0 {
		slices.Sort(all)
		root = r.setKeyword(root, "required", all)
	}
	return root
}

// anyOf returns a schema that accepts the values of both schemas. The first may be nil.
func anyOf(a, b any) any {
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

func stringList(list any) (names []string) {
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

// repairNode returns a repaired schema. level is its depth, and refs are the references that lead to
// it.
func (r *schemaRepairer) repairNode(v any, level int, refs []string) map[string]any {
	node, ok := v.(map[string]any)
	if !ok { // true or false: anything
		r.isChanged = true
		return anySchema()
	}
	if r.nodes++; level > r.maxDepth() || r.nodes > maxNodes {
		return r.truncate(node)
	}
	node = r.repairValues(node)
	if ref, ok := node["$ref"].(string); ok {
		return r.resolve(node, ref, level, refs)
	}
	node = r.splitTypes(node)
	for _, keyword := range slices.Sorted(maps.Keys(node)) {
		if next, differs := r.repairKeyword(keyword, node[keyword], level, refs); differs {
			node = r.setKeyword(node, keyword, next)
		}
	}
	for _, keyword := range []string{"$defs", "definitions"} {
		node = r.removeKeyword(node, keyword) // all references to them are written out
	}
	return r.addMissing(node, level, refs)
}

// repairValues repairs the values of keywords that have the wrong type.
func (r *schemaRepairer) repairValues(node map[string]any) map[string]any {
	node, changed := toolschema.RepairNode(node)
	r.isChanged = r.isChanged || changed
	return node
}

// addMissing adds what providers require: an object's properties and a list's items.
func (r *schemaRepairer) addMissing(node map[string]any, level int, refs []string) map[string]any {
	if len(node) == 0 && level > 0 {
		r.isChanged = true
		return anySchema()
	}
	if node["type"] == "object" && node["properties"] == nil {
		node = r.setKeyword(node, "properties", map[string]any{})
	}
	if _, isTuple := node["items"].([]any); !isTuple {
		node = r.removeKeyword(node, "additionalItems") // which are those after a tuple
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
		node = r.removeKeyword(node, "prefixItems")
	}
	if isTuple {
		var items any = anySchema()
		for i, item := range tuple {
			if level >= r.maxDepth() {
				break // the parts of a list of either would be too deep
			}
			if i == 0 {
				items = nil
			}
			items = anyOf(items, r.repairNode(item, level+2, refs))
		}
		return r.removeKeyword(r.setKeyword(node, "items", items), "additionalItems")
	}
	if node["items"] == nil {
		node = r.setKeyword(node, "items", anySchema())
	}
	return node
}

// anySchema returns a schema that accepts any value. An empty schema would be sent as true.
func anySchema() map[string]any { return map[string]any{"title": "any"} }

// resolve replaces a reference by its target. A cycle ends in a schema for any value of the type.
func (r *schemaRepairer) resolve(node map[string]any, ref string, level int, refs []string) map[string]any {
	rest := r.removeKeyword(node, "$ref")
	target, ok := lookupReference(r.root, ref)
	if !ok {
		return r.repairNode(rest, level, refs)
	}
	merged := maps.Clone(target)
	maps.Copy(merged, rest)
	if slices.Contains(refs, ref) {
		return r.truncate(merged)
	}
	return r.repairNode(merged, level, append(slices.Clip(refs), ref))
}

// lookupReference finds what a reference within a schema leads to.
func lookupReference(root map[string]any, ref string) (target map[string]any, ok bool) {
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

// truncate returns a schema without nested schemas.
func (r *schemaRepairer) truncate(node map[string]any) (short map[string]any) {
	original := node
	defer func() { r.isChanged = r.isChanged || !reflect.DeepEqual(short, original) }()
	short = map[string]any{}
	node = r.splitTypes(r.repairValues(node))
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
		short["items"] = anySchema()
	}
	if len(short) == 0 {
		return anySchema()
	}
	return short
}

// splitTypes converts a list of types to alternatives. It drops null, since a value may be omitted.
func (r *schemaRepairer) splitTypes(node map[string]any) map[string]any {
	if _, isList := node["type"].([]any); !isList {
		return node
	}
	types := slices.DeleteFunc(stringList(node["type"]), func(name string) bool { return name == "null" })
	switch len(types) {
	case 0:
		return r.removeKeyword(node, "type")
	case 1:
		return r.setKeyword(node, "type", types[0])
	}
	node = r.removeKeyword(node, "type")
	if node["anyOf"] != nil {
		return node
	}
	var list []any
	for _, typ := range types {
		one := map[string]any{"type": typ}
		for keyword, wantedType := range map[string]string{"properties": "object", "required": "object",
			"additionalProperties": "object", "items": "array"} {
			if v, ok := node[keyword]; ok && typ == wantedType {
				one[keyword] = v
			}
		}
		list = append(list, one)
	}
	for _, keyword := range []string{"properties", "required", "additionalProperties", "items"} {
		node = r.removeKeyword(node, keyword)
	}
	return r.setKeyword(node, "anyOf", list)
}

// repairKeyword returns the value of a keyword with its schemas repaired, if they differ.
func (r *schemaRepairer) repairKeyword(keyword string, value any, level int, refs []string) (next any, differs bool) {
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
			all[name] = r.repairNode(members[name], level+1, refs)
		}
		return all, true
	case "anyOf", "oneOf", "allOf":
		list, ok := value.([]any)
		if !ok {
			return nil, false
		}
		all := make([]any, len(list))
		for i, s := range list {
			all[i] = r.repairNode(s, level+1, refs)
		}
		return all, true
	case "items":
		if _, isTuple := value.([]any); !isTuple {
			return r.repairNode(value, level+1, refs), true
		}
	case "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		if s, ok := value.(map[string]any); ok {
			return r.repairNode(s, level+1, refs), true
		}
	}
	return nil, false
}

// setKeyword returns a copy of a schema in which a keyword has another value.
func (r *schemaRepairer) setKeyword(node map[string]any, keyword string, value any) map[string]any {
	if old, ok := node[keyword]; ok && reflect.DeepEqual(old, value) {
		return node
	}
	r.isChanged = true
	node = maps.Clone(node)
	node[keyword] = value
	return node
}

// removeKeyword returns a copy of a schema without a keyword.
func (r *schemaRepairer) removeKeyword(node map[string]any, keyword string) map[string]any {
	if _, ok := node[keyword]; !ok {
		return node
	}
	r.isChanged = true
	node = maps.Clone(node)
	delete(node, keyword)
	return node
}
