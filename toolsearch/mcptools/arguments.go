// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Arguments as the server gets them. The server's own schema says which object of the arguments has
// which properties; everything that it does not describe stays as the model wrote it.

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolschema"
)

// maxSchemas is how many schemas are looked at for the arguments of one call.
const maxSchemas = 200_000

// restorer gives the properties in arguments the server's own names, and reads strings of JSON in place of
// objects and lists.
type restorer struct {
	root     map[string]any // the server's own schema
	names    propertyNames  // the own names of properties by what the model sees
	budget   int            // schemas that may still be looked at
	patterns map[string]*regexp.Regexp
}

// restore returns arguments, a JSON object, with the server's own names.
func (k propertyNames) restore(root map[string]any, args []byte) []byte {
	r := restorer{root: root, names: k, budget: maxSchemas, patterns: map[string]*regexp.Regexp{}}
	return []byte(r.restoreValue(string(args), []any{root}))
}

// restoreValue returns a JSON value to which schemas apply.
func (r *restorer) restoreValue(text string, schemas []any) string {
	if text[0] == '"' {
		text = r.parseString(text, schemas)
	}
	if text[0] != '{' && text[0] != '[' {
		return text
	}
	nodes := r.applicable(schemas)
	if len(nodes) == 0 {
		return text
	}
	if text[0] == '[' {
		return r.restoreList(text, nodes)
	}
	return r.restoreObject(text, nodes)
}

// parseString returns the JSON that a string holds, if the schemas expect an object or a list of that
// kind and allow no string.
func (r *restorer) parseString(text string, schemas []any) string {
	inner := strings.TrimSpace(jsontext.Unescape(text[1 : len(text)-1]))
	if !strings.HasPrefix(inner, "{") && !strings.HasPrefix(inner, "[") || !json.Valid([]byte(inner)) {
		return text
	}
	want := map[byte]string{'{': "object", '[': "array"}[inner[0]]
	accepted := false
	for _, s := range schemas {
		types := r.allowedTypes(s, 0)
		if types == nil {
			continue
		}
		if slices.Contains(types, "string") || !slices.Contains(types, want) {
			return text
		}
		accepted = true
	}
	if !accepted {
		return text
	}
	return inner
}

// allowedTypes are the types that a schema allows; nil if it does not say.
func (r *restorer) allowedTypes(s any, depth int) (types []string) {
	const deepest = 20
	node, ok := s.(map[string]any)
	if r.budget--; !ok || depth > deepest || r.budget < 0 {
		return nil
	}
	node, _ = toolschema.RepairNode(node)
	if name, ok := node["type"].(string); ok {
		return []string{name}
	}
	if list := stringList(node["type"]); len(list) > 0 {
		return list
	}
	if ref, ok := node["$ref"].(string); ok {
		if target, ok := lookupReference(r.root, ref); ok {
			return r.allowedTypes(target, depth+1)
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		list, _ := node[keyword].([]any)
		var all []string
		for _, alternative := range list {
			some := r.allowedTypes(alternative, depth+1)
			if some == nil {
				return nil
			}
			all = append(all, some...)
		}
		if len(all) > 0 {
			return all
		}
	}
	list, _ := node["allOf"].([]any)
	for _, part := range list {
		if some := r.allowedTypes(part, depth+1); some != nil {
			return some
		}
	}
	return nil
}

// applicable returns the schemas that a value may have to fit: the given ones, and all that they refer
// to and consist of. Each is in it once.
func (r *restorer) applicable(schemas []any) (nodes []map[string]any) {
	seen := map[uintptr]bool{}
	for todo := slices.Clone(schemas); len(todo) > 0; todo = todo[1:] {
		node, ok := todo[0].(map[string]any)
		if !ok || seen[reflect.ValueOf(node).Pointer()] {
			continue
		}
		if r.budget--; r.budget < 0 {
			return nil
		}
		seen[reflect.ValueOf(node).Pointer()] = true
		node, _ = toolschema.RepairNode(node)
		nodes = append(nodes, node)
		if ref, ok := node["$ref"].(string); ok {
			if target, ok := lookupReference(r.root, ref); ok {
				todo = append(todo, target)
			}
		}
		for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
			list, _ := node[keyword].([]any)
			todo = append(todo, list...)
		}
		for _, keyword := range []string{"if", "then", "else"} {
			todo = append(todo, node[keyword])
		}
		for _, keyword := range []string{"dependentSchemas", "dependencies"} {
			named, _ := node[keyword].(map[string]any)
			for _, s := range named {
				todo = append(todo, s)
			}
		}
	}
	return nodes
}

// restoreList restores the elements of a list.
func (r *restorer) restoreList(text string, nodes []map[string]any) string {
	var out strings.Builder
	from := 0
	n := 0
	for i := skip(text, 1, " \t\r\n,"); text[i] != ']'; i = skip(text, i, " \t\r\n,") {
		end := jsontext.ValueEnd(text, i)
		out.WriteString(text[from:i])
		out.WriteString(r.restoreValue(text[i:end], itemsAt(nodes, n)))
		from, i = end, end
		n++
	}
	out.WriteString(text[from:])
	return out.String()
}

// itemsAt are the schemas of an element of a list.
func itemsAt(nodes []map[string]any, n int) (schemas []any) {
	for _, node := range nodes {
		rest := "items"
		tuple, isTuple := node["prefixItems"].([]any)
		if old, isOld := node["items"].([]any); isOld {
			tuple, isTuple, rest = old, true, "additionalItems"
		}
		if isTuple && n < len(tuple) {
			schemas = append(schemas, tuple[n])
		} else {
			schemas = append(schemas, node[rest])
		}
	}
	return schemas
}

// restoreObject restores the members of an object. One that has the own name of a property already keeps it.
func (r *restorer) restoreObject(text string, nodes []map[string]any) string {
	names := map[string]bool{}
	for key := range membersOf(text) {
		names[key] = true
	}
	var out strings.Builder
	from := 0
	for i := skip(text, 1, " \t\r\n,"); text[i] != '}'; i = skip(text, i, " \t\r\n,") {
		end := jsontext.ValueEnd(text, i)
		key := jsontext.Unescape(text[i+1 : end-1])
		if name, renamed := r.names[key]; renamed && !names[name] && declares(nodes, name) {
			out.WriteString(text[from:i])
			out.WriteString(display.Quoted(name))
			key, from = name, end
		}
		i = skip(text, end, " \t\r\n:")
		end = jsontext.ValueEnd(text, i)
		out.WriteString(text[from:i])
		out.WriteString(r.restoreValue(text[i:end], r.membersAt(nodes, key)))
		from, i = end, end
	}
	out.WriteString(text[from:])
	return out.String()
}

// declares reports whether one of the schemas has a property.
func declares(nodes []map[string]any, name string) bool {
	for _, node := range nodes {
		if properties, _ := node["properties"].(map[string]any); properties != nil {
			if _, ok := properties[name]; ok {
				return true
			}
		}
	}
	return false
}

// membersAt are the schemas of a member of an object.
func (r *restorer) membersAt(nodes []map[string]any, name string) (schemas []any) {
	for _, node := range nodes {
		isDeclared := false
		properties, _ := node["properties"].(map[string]any)
		if s, ok := properties[name]; ok {
			schemas, isDeclared = append(schemas, s), true
		}
		patterns, _ := node["patternProperties"].(map[string]any)
		for pattern, s := range patterns {
			if r.matches(pattern, name) {
				schemas, isDeclared = append(schemas, s), true
			}
		}
		if !isDeclared {
			schemas = append(schemas, node["additionalProperties"], node["unevaluatedProperties"])
		}
	}
	return schemas
}

func (r *restorer) matches(pattern, name string) bool {
	compiled, ok := r.patterns[pattern]
	if !ok {
		compiled, _ = regexp.Compile(pattern) // one that cannot be compiled matches nothing
		r.patterns[pattern] = compiled
	}
	return compiled != nil && compiled.MatchString(name)
}
