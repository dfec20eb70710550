// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

// Schemas come from strangers: one that refers to itself can keep a checker busy forever, or double
// its work with every level of the value. So the checker's path through the schema is walked first,
// without checking anything and within a budget.

import (
	"encoding/json"
	"errors"
	"math"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	// MaxCheckedBytes is the longest schema that is compiled, which takes time.
	MaxCheckedBytes = 256 << 10

	maxPatternBytes = 1000

	maxCheckSteps = 100_000
	maxCheckDepth = 500
	// bytesPerStep is how many bytes of a value are worth one step: a checker may match
	// patterns with them, and write them into its errors.
	bytesPerStep = 64

	// Matching takes time in proportion to the instructions of a pattern and the bytes of a
	// text, and compiling in proportion to the instructions; a short pattern can have many.
	workPerStep     = 100 // instructions x bytes
	maxInstructions = 20_000
)

// Check is a schema, ready for checking values against it. It is safe for concurrent use.
// Nil checks nothing.
type Check struct {
	resolved *jsonschema.Resolved
	tree     any            // the schema as plain JSON
	patterns map[string]int // instructions of each pattern in it
}

// Compile reads a JSON schema. It returns nil for one that cannot be checked: then it is
// up to the tool whether arguments fit.
func Compile(text string) (c *Check) {
	defer func() {
		if recover() != nil {
			c = nil
		}
	}()
	var s jsonschema.Schema
	var tree any
	if len(text) > MaxCheckedBytes || json.Unmarshal([]byte(text), &s) != nil || json.Unmarshal([]byte(text), &tree) != nil {
		return nil
	}
	patterns, ok := patternsOf(tree)
	if !ok {
		return nil
	}
	if !isKnownDraft(s.Schema) {
		s.Schema = "" // the drafts differ little in what tools use; unknown ones would fail every value
	}
	if root, ok := tree.(map[string]any); ok {
		delete(root, "$id") // references within the schema mean the same without it
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return &Check{r, tree, patterns}
}

func isKnownDraft(uri string) bool {
	switch uri {
	case "", "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema":
		return true
	}
	return false
}

// Validate returns what is wrong with a value, or nil where checking could take too long.
func (c *Check) Validate(v any) (err error) {
	if c == nil || !c.affords(v) {
		return nil
	}
	defer func() {
		if recover() != nil {
			err = nil
		}
	}()
	if err := c.resolved.Validate(v); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "<invalid reflect.Value>", "null"))
	}
	return nil
}

// patternsOf counts the instructions of each pattern in a schema, and reports whether
// there are few enough to compile.
func patternsOf(tree any) (patterns map[string]int, ok bool) {
	patterns, left := map[string]int{}, maxInstructions
	var visit func(node any) bool
	count := func(pattern string) bool {
		if _, done := patterns[pattern]; !done {
			n, fine := instructions(pattern)
			if left -= n; !fine || left < 0 {
				return false
			}
			patterns[pattern] = n
		}
		return true
	}
	visit = func(node any) bool {
		list, _ := node.([]any)
		for _, sub := range list {
			if !visit(sub) {
				return false
			}
		}
		keywords, _ := node.(map[string]any)
		for keyword, sub := range keywords {
			pattern, isText := sub.(string)
			if keyword == "pattern" && isText && !count(pattern) || !visit(sub) {
				return false
			}
			byPattern, _ := sub.(map[string]any)
			for p := range byPattern {
				if keyword == "patternProperties" && !count(p) {
					return false
				}
			}
		}
		return true
	}
	return patterns, visit(tree)
}

// instructions is the length of a pattern as compiled. What is not a pattern has none: it is
// for others to say whether it had to be one.
func instructions(pattern string) (n int, ok bool) {
	if len(pattern) > maxPatternBytes {
		return 0, false
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, true
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, true
	}
	return len(program.Inst), true
}

// affords reports whether checking a value stays in budget.
func (c *Check) affords(value any) bool {
	w := walker{root: c.tree, patterns: c.patterns, steps: maxCheckSteps}
	return w.visit(c.tree, value, 0)
}

// walker visits every pair of a schema and a value that a checker may compare.
type walker struct {
	root     any
	patterns map[string]int
	steps    int // left
}

// match pays for matching a text with a pattern.
func (w *walker) match(pattern, text string) bool {
	w.steps -= 1 + w.patterns[pattern]*len(text)/workPerStep
	return w.steps >= 0
}

// visit reports whether the budget is enough for a schema and a value.
func (w *walker) visit(node, value any, depth int) bool {
	w.steps -= 1 + weight(value)/bytesPerStep
	if depth > maxCheckDepth || w.steps < 0 {
		return false
	}
	keywords, _ := node.(map[string]any) // else true or false
	for keyword, sub := range keywords {
		if !w.sameValue(keyword, sub, value, depth+1) || !w.members(keyword, sub, value, depth+1) || !w.items(keyword, sub, value, depth+1) {
			return false
		}
	}
	return true
}

// sameValue visits the schemas that a keyword applies to the value itself.
func (w *walker) sameValue(keyword string, sub, value any, depth int) bool {
	switch keyword {
	case "$ref":
		target, ok := w.follow(sub)
		return ok && w.visit(target, value, depth)
	case "$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor":
		return false // they change what a reference means
	case "enum":
		list, _ := sub.([]any)
		w.steps -= len(list)
		return w.steps >= 0
	case "pattern":
		pattern, _ := sub.(string)
		text, _ := value.(string)
		return w.match(pattern, text)
	case "not", "if", "then", "else":
		return w.visit(sub, value, depth)
	case "allOf", "anyOf", "oneOf":
		list, _ := sub.([]any)
		for _, s := range list {
			if !w.visit(s, value, depth) {
				return false
			}
		}
	case "dependentSchemas", "dependencies":
		return w.all(sub, value, depth)
	}
	return true
}

// members visits the schemas that a keyword applies to the members of an object.
func (w *walker) members(keyword string, sub, value any, depth int) bool {
	object, ok := value.(map[string]any)
	if !ok {
		return true
	}
	properties, _ := sub.(map[string]any)
	for name, v := range object {
		fine := true
		switch keyword {
		case "properties":
			if s, ok := properties[name]; ok {
				fine = w.visit(s, v, depth)
			}
		case "patternProperties":
			for pattern := range properties {
				fine = fine && w.match(pattern, name)
			}
			fine = fine && w.all(sub, v, depth)
		case "additionalProperties", "unevaluatedProperties":
			fine = w.visit(sub, v, depth)
		case "propertyNames":
			fine = w.visit(sub, name, depth)
		}
		if !fine {
			return false
		}
	}
	return true
}

// items visits the schemas that a keyword applies to the items of a list.
func (w *walker) items(keyword string, sub, value any, depth int) bool {
	list, ok := value.([]any)
	if !ok {
		return true
	}
	tuple, isTuple := sub.([]any)
	for i, v := range list {
		fine := true
		switch keyword {
		case "items", "prefixItems":
			if isTuple && i < len(tuple) {
				fine = w.visit(tuple[i], v, depth)
			} else if !isTuple {
				fine = w.visit(sub, v, depth)
			}
		case "contains", "additionalItems", "unevaluatedItems":
			fine = w.visit(sub, v, depth)
		}
		if !fine {
			return false
		}
	}
	return true
}

// all visits every schema of an object of schemas.
func (w *walker) all(schemas, value any, depth int) bool {
	byName, _ := schemas.(map[string]any)
	for _, s := range byName {
		if !w.visit(s, value, depth) {
			return false
		}
	}
	return true
}

// follow finds what a reference within the schema points to.
func (w *walker) follow(ref any) (target any, ok bool) { return Follow(w.root, ref) }

// Follow finds what a $ref within a schema points to. ok is false if it points elsewhere or to nothing.
func Follow(root, ref any) (target any, ok bool) {
	text, _ := ref.(string)
	path, ok := strings.CutPrefix(text, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil, false
	}
	target = root
	for _, part := range strings.Split(path, "/")[1:] {
		switch node := target.(type) {
		case map[string]any:
			target, ok = node[unescapePointer.Replace(part)]
		case []any:
			i, err := strconv.Atoi(part)
			if ok = err == nil && i >= 0 && i < len(node); ok {
				target = node[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return target, true
}

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

// weight is about how many bytes a value is as text.
func weight(v any) int {
	n := 8
	switch v := v.(type) {
	case string:
		n = len(v)
	case []any:
		for _, x := range v {
			n += weight(x)
		}
	case map[string]any:
		for k, x := range v {
			n += len(k) + weight(x)
		}
	}
	return n
}

// Rounded finds a number in arguments that may have been rounded: one of 2^53 and more, written with
// an exponent, where the schema asks for an integer. Anywhere else it is the decimal that was meant.
// A number beyond all doubles is found everywhere. It returns the path; "" if there is none.
func (c *Check) Rounded(arguments string) (path string) {
	if !strings.Contains(arguments, "e+") {
		return ""
	}
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return ""
	}
	w := walker{steps: maxCheckSteps}
	var at []any
	if c != nil {
		w.root, at = c.tree, []any{c.tree}
	}
	return w.rounded(at, v, "", 0)
}

// rounded looks for it below a value, to which each of the schemas may apply.
func (w *walker) rounded(schemas []any, value any, path string, depth int) string {
	if w.steps--; w.steps < 0 || depth > MaxDepth {
		return ""
	}
	schemas = w.alternatives(schemas, 0)
	switch v := value.(type) {
	case json.Number:
		if mayBeRounded(v.String(), schemas) {
			return path
		}
	case []any:
		for i, x := range v {
			if found := w.rounded(subschemas(schemas, "items", ""), x, path+"["+strconv.Itoa(i)+"]", depth+1); found != "" {
				return found
			}
		}
	case map[string]any:
		for key, x := range v {
			if found := w.rounded(subschemas(schemas, "properties", key), x, strings.TrimPrefix(path+"."+key, "."), depth+1); found != "" {
				return found
			}
		}
	}
	return ""
}

// alternatives are schemas with all that they refer to and consist of.
func (w *walker) alternatives(schemas []any, depth int) (all []any) {
	for _, s := range schemas {
		keywords, _ := s.(map[string]any)
		all = append(all, s)
		if w.steps--; w.steps < 0 || depth > MaxDepth {
			return all
		}
		if target, ok := w.follow(keywords["$ref"]); ok && keywords["$ref"] != nil {
			all = append(all, w.alternatives([]any{target}, depth+1)...)
		}
		for _, of := range []string{"allOf", "anyOf", "oneOf"} {
			list, _ := keywords[of].([]any)
			all = append(all, w.alternatives(list, depth+1)...)
		}
	}
	return all
}

// subschemas are the schemas of an item, or of the property with a name.
func subschemas(schemas []any, keyword, name string) (list []any) {
	for _, s := range schemas {
		keywords, _ := s.(map[string]any)
		if keyword == "items" {
			list = append(list, keywords[keyword])
			continue
		}
		properties, _ := keywords[keyword].(map[string]any)
		if p, ok := properties[name]; ok {
			list = append(list, p)
		} else {
			list = append(list, keywords["additionalProperties"])
		}
	}
	return list
}

// mayBeRounded reports whether a number is one that an integer may have become, or is no double.
func mayBeRounded(number string, schemas []any) bool {
	const first = 1 << 53
	if !strings.Contains(number, "e+") {
		return false
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || math.Abs(f) < first {
		return err != nil
	}
	return slices.ContainsFunc(schemas, asksForInteger)
}

// asksForInteger reports whether integer is among the types of a schema.
func asksForInteger(s any) bool {
	keywords, _ := s.(map[string]any)
	return slices.Contains(typesOf(keywords["type"]), "integer")
}
