// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

// A tool as the line of TypeScript that a program's author reads.

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/einolean/einolean/internal/display"
)

// The most that a signature shows.
const (
	maxDepth    = 4   // of types within types
	maxFields   = 40  // of one object
	maxValues   = 12  // of an enum
	maxComment  = 80  // bytes of the description of a parameter
	maxPurpose  = 200 // bytes of the description of the tool
	maxDefault  = 40  // bytes of a default
	maxTypeText = 1500
)

// OutputKey is the key of ToolInfo.Extra under which a tool may say, as the text of a JSON schema,
// what it returns.
const OutputKey = "output_schema"

// IsString reports whether a schema is that of a string and of nothing else.
func IsString(text string) bool { return text != "" && typeOfText(text, false) == "string" }

// Signature is a tool as a function of a program: its arguments with their types, the type of
// its result, and what it is for. params and returns are JSON schemas as text. A tool without an
// output schema returns a string, as far as is known; where a schema says nothing, the type is any.
func Signature(name, description, params, returns string) string {
	args := typeOfText(params, true)
	if args == "any" {
		args = "{}"
	}
	var b strings.Builder
	member := "." + name
	if !isIdentifier(name) {
		member = "[" + strconv.Quote(name) + "]"
	}
	result := "string"
	if returns != "" {
		result = typeOfText(returns, false)
	}
	b.WriteString("tools" + member + "(" + args + "): Promise<" + result + ">")
	if text := oneLine(description, maxPurpose); text != "" {
		b.WriteString("  // " + text)
	}
	return b.String()
}

// Shape is the type of a JSON value: its keys and the types of their values, never a value.
// Anything that is not JSON is a string.
func Shape(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if !json.Valid([]byte(text)) || d.Decode(&v) != nil {
		return "string"
	}
	return bounded(shapeOf(v, 0))
}

func shapeOf(v any, depth int) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		if n, ok := new(big.Int).SetString(v.String(), 10); ok && n.BitLen() > 53 {
			return "bigint"
		}
		return "number"
	case string:
		return "string"
	case []any:
		if len(v) == 0 || depth >= maxDepth {
			return "any[]"
		}
		return listOf(shapeOf(v[0], depth+1))
	case map[string]any:
		if depth >= maxDepth {
			return "object"
		}
		var fields []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if len(fields) == maxFields {
				fields = append(fields, "...")
				break
			}
			fields = append(fields, property(key)+": "+shapeOf(v[key], depth+1))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return "any"
}

// typeSchema is what a signature reads of a JSON schema.
type typeSchema struct {
	Type        any                   `json:"type"`
	Properties  map[string]typeSchema `json:"properties"`
	Required    []string              `json:"required"`
	Items       *typeSchema           `json:"items"`
	Enum        []any                 `json:"enum"`
	AnyOf       []typeSchema          `json:"anyOf"`
	OneOf       []typeSchema          `json:"oneOf"`
	Description string                `json:"description"`
	Default     json.RawMessage       `json:"default"`
	Additional  json.RawMessage       `json:"additionalProperties"`
}

func typeOfText(text string, comments bool) string {
	var s typeSchema
	if text == "" || json.Unmarshal([]byte(text), &s) != nil {
		return "any"
	}
	return bounded(s.typeText(0, comments))
}

// bounded gives up on a type that takes more room than it is worth.
func bounded(text string) string {
	if len(text) > maxTypeText {
		return "any"
	}
	return text
}

func (s *typeSchema) typeText(depth int, comments bool) string {
	if len(s.Enum) > 0 && len(s.Enum) <= maxValues {
		var values []string
		for _, v := range s.Enum {
			if b, err := json.Marshal(v); err == nil {
				values = append(values, string(b))
			}
		}
		return strings.Join(values, " | ")
	}
	if alternatives := append(slices.Clone(s.AnyOf), s.OneOf...); len(alternatives) > 0 && depth < maxDepth {
		var types []string
		for _, o := range alternatives {
			if t := o.typeText(depth+1, comments); !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
		return strings.Join(types, " | ")
	}
	switch t := s.Type.(type) {
	case string:
		return s.namedType(t, depth, comments)
	case []any:
		var types []string
		for _, name := range t {
			if name, ok := name.(string); ok {
				types = append(types, s.namedType(name, depth, comments))
			}
		}
		return strings.Join(types, " | ")
	}
	if len(s.Properties) > 0 {
		return s.object(depth, comments)
	}
	return "any"
}

func (s *typeSchema) namedType(name string, depth int, comments bool) string {
	switch name {
	case "integer":
		return "number"
	case "string", "number", "boolean", "null":
		return name
	case "array":
		if s.Items == nil || depth >= maxDepth {
			return "any[]"
		}
		return listOf(s.Items.typeText(depth+1, comments))
	case "object":
		return s.object(depth, comments)
	}
	return "any"
}

func (s *typeSchema) object(depth int, comments bool) string {
	if depth >= maxDepth {
		return "object"
	}
	names := slices.Sorted(maps.Keys(s.Properties))
	slices.SortStableFunc(names, func(a, b string) int { // what is required comes first
		return s.optional(a) - s.optional(b)
	})
	var fields []string
	for i, name := range names {
		if i == maxFields {
			fields = append(fields, "...")
			break
		}
		p := s.Properties[name]
		text := property(name) + strings.Repeat("?", s.optional(name)) + ": " + p.typeText(depth+1, comments)
		if value := p.defaultText(); comments && s.optional(name) > 0 && p.isTypeOfDefault(value) {
			text = property(name) + " = " + value
		}
		if comment := oneLine(p.Description, maxComment); comments && comment != "" {
			text += " /* " + strings.ReplaceAll(comment, "*/", "* /") + " */"
		}
		fields = append(fields, text)
	}
	if len(fields) == 0 && len(s.Additional) > 0 && string(s.Additional) != "false" {
		return "{[key: string]: any}"
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// defaultText is the default of a parameter, if it is short.
func (s *typeSchema) defaultText() string {
	var b bytes.Buffer
	if len(s.Default) > maxDefault || json.Compact(&b, s.Default) != nil {
		return ""
	}
	return b.String()
}

// isTypeOfDefault reports whether a default value tells all that the signature says of the type.
func (s *typeSchema) isTypeOfDefault(value string) bool {
	if value == "" || len(s.Enum) > 0 || len(s.AnyOf)+len(s.OneOf) > 0 {
		return false
	}
	is := Shape(value)
	return is == s.Type || is == "number" && s.Type == "integer"
}

// optional is 1 for a property that may be left out.
func (s *typeSchema) optional(name string) int {
	if slices.Contains(s.Required, name) {
		return 0
	}
	return 1
}

func listOf(text string) string {
	if strings.Contains(text, " | ") && !strings.HasPrefix(text, "{") {
		text = "(" + text + ")"
	}
	return text + "[]"
}

func property(name string) string {
	if isIdentifier(name) {
		return name
	}
	return strconv.Quote(name)
}

func isIdentifier(name string) bool {
	for i, r := range name {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != ""
}

// clauseEnd finds the ends of clauses; its group is the mark at the end of a sentence.
var clauseEnd = regexp.MustCompile(`([.!?]) |[,;:] |([。！？])|[，；：]`)

// oneLine is a text on one line, cut at a limit of bytes: at the end of a clause, if one ends in the
// last two thirds.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) <= most {
		return text
	}
	ends := clauseEnd.FindAllStringSubmatchIndex(display.Start(text, most), -1)
	if len(ends) == 0 || 3*ends[len(ends)-1][0] < most {
		return display.Short(text, most)
	}
	last := ends[len(ends)-1]
	if sentence := max(last[3], last[5]); sentence > 0 {
		return text[:sentence]
	}
	return text[:last[0]] + "…"
}
