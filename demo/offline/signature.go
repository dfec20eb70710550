// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

// Where programs call tools, a tool is described by a line of TypeScript, and a call is a program.

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// The program that makes one call, around the tool's name and its arguments. A tool's error is
// printed like a result, since the rules read it.
const (
	programStart = "try { print(await tools["
	programCall  = "]("
	programEnd   = ")) } catch (e) { print(e.message) }"
)

// programOf returns the program that makes a call.
func programOf(c Call) string {
	name, _ := json.Marshal(c.Name)
	return programStart + string(name) + programCall + c.Args + programEnd
}

// callIn parses the call in such a program.
func callIn(id, code string) (c Call, ok bool) {
	name, args, found := strings.Cut(strings.TrimPrefix(code, programStart), programCall)
	if !found || json.Unmarshal([]byte(name), &c.Name) != nil {
		return Call{}, false
	}
	c.ID, c.Args = id, strings.TrimSuffix(args, programEnd)
	return c, true
}

// countedCalls is the line that counts the calls of a program, where one failed.
var countedCalls = regexp.MustCompile(`\n(?:\(\d+ calls? of .* failed.*\)|（调用：.*）)$`)

// printed returns the output of a program without the line that counts its calls.
func printed(text string) string { return countedCalls.ReplaceAllString(text, "") }

// signedTool reads the signature of a tool: tools.name({parameters}): Promise<type>  // purpose.
func signedTool(name, signature string) *schema.ToolInfo {
	_, params, _ := strings.Cut(signature, "(")
	_, purpose, _ := strings.Cut(signature, ">  // ")
	r := typeReader{params}
	js, _ := json.Marshal(r.value())
	return &schema.ToolInfo{Name: name, Desc: purpose, ParamsOneOf: parametersOf(js)}
}

// typeReader reads a type of TypeScript as a JSON schema.
type typeReader struct{ rest string }

func (r *typeReader) skip(sign string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(r.rest, " "), sign)
	if ok {
		r.rest = rest
	}
	return ok
}

// value reads a type or several: of those that are values, each is a choice.
func (r *typeReader) value() map[string]any {
	out := r.single()
	for r.skip("|") {
		next := r.single()
		if choices, ok := out["enum"].([]any); ok {
			more, _ := next["enum"].([]any)
			out["enum"] = append(choices, more...)
		}
	}
	if r.skip("=") {
		r.single()
	}
	if r.skip("/*") {
		about, rest, _ := strings.Cut(r.rest, "*/")
		out["description"], r.rest = strings.TrimSpace(about), rest
	}
	return out
}

func (r *typeReader) single() (out map[string]any) {
	switch {
	case r.skip("{"):
		out = r.object()
	default:
		out = r.word()
	}
	for r.skip("[]") {
		out = map[string]any{"type": "array", "items": out}
	}
	return out
}

func (r *typeReader) object() map[string]any {
	properties, required := map[string]any{}, []string{}
	for !r.skip("}") && !r.skip("...") && r.rest != "" {
		r.rest = strings.TrimLeft(r.rest, " ")
		end := strings.IndexAny(r.rest, ":=")
		if end < 0 {
			break
		}
		name, optional := strings.CutSuffix(strings.TrimSpace(r.rest[:end]), "?")
		hasDefault := r.rest[end] == '='
		if !optional && !hasDefault {
			required = append(required, strings.Trim(name, `"`))
		}
		r.rest = r.rest[end+1:]
		property := r.value()
		if hasDefault { // the type is that of the value, which is no choice
			delete(property, "enum")
		}
		properties[strings.Trim(name, `"`)] = property
		r.skip(",")
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

// word reads the name of a type, or a value.
func (r *typeReader) word() map[string]any {
	r.rest = strings.TrimLeft(r.rest, " ")
	var v any
	d := json.NewDecoder(strings.NewReader(r.rest))
	if d.Decode(&v) == nil {
		r.rest = r.rest[d.InputOffset():]
		return map[string]any{"type": kindOf(v), "enum": []any{v}}
	}
	end := strings.IndexAny(r.rest, " ,|/}])[")
	if end < 0 {
		end = len(r.rest)
	}
	name := r.rest[:end]
	if r.rest = r.rest[end:]; name == "any" {
		return map[string]any{}
	}
	return map[string]any{"type": name}
}

func kindOf(v any) string {
	switch v.(type) {
	case float64:
		return "number"
	case bool:
		return "boolean"
	}
	return "string"
}
