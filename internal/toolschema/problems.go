// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

// What is wrong with a value that a schema rejects, in words for a model.

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/prompt"
)

//go:embed text
var textFiles embed.FS

var texts = prompt.Load(textFiles, "text")

// problemData is the data of the texts. Each uses some of it.
type problemData struct {
	Path, Problem string
	Want          string
	Kinds         []string
	Is            string
	AboutNames    bool
}

// The limits of what is said of wrong values.
const (
	maxProblems      = 3
	maxProblemRunes  = 200 // of one problem without its path
	maxProblemPath   = 100 // runes of a path
	maxProblemNames  = 10  // names, or values, in a problem
	maxProblemQuoted = 40  // runes of one of them
)

// Problem is one thing that is wrong with a value.
type Problem struct {
	// AboutNames says that the schema itself does not declare, or requires, names of the value's own members: not those
	// of a value within it, nor by a part of the schema.
	AboutNames bool

	path string // of the value within the whole; "" is the whole
	text string
}

// String returns the problem in the language that was set when it was found.
func (p Problem) String() string {
	if p.path == "" {
		return p.text
	}
	return texts.Current().Render("at", problemData{Path: p.path, Problem: p.text})
}

// JoinProblems returns problems in one text.
func JoinProblems(problems []Problem) string {
	parts := make([]string, len(problems))
	for i, p := range problems {
		parts[i] = p.String()
	}
	return strings.Join(parts, "; ")
}

// Problems returns what is wrong with a value that Validate rejects: at least one problem, and the first few at most. They
// do not depend on the wording of a validator. The value is one of Validate's.
func (c *Check) Problems(v any) []Problem {
	f := problemFinder{texts: texts.Current(), limit: maxProblems}
	if c != nil {
		f.walker = walker{root: c.tree, patterns: c.patterns, steps: maxCheckSteps}
		f.ignoresBesideRef = strings.Contains(schemaVersion(c.tree), "draft-07")
		f.visit(c.tree, v, "", 0)
	}
	if len(f.found) == 0 {
		f.add("", "other", "")
	}
	return f.found
}

func schemaVersion(tree any) string {
	root, _ := tree.(map[string]any)
	version, _ := root["$schema"].(string)
	return version
}

// problemFinder collects the problems of a value. It knows the keywords that tools use, and finds nothing for others.
type problemFinder struct {
	walker
	texts            *prompt.Texts
	ignoresBesideRef bool
	limit            int // of problems
	found            []Problem
}

func (f *problemFinder) isDone(depth int) bool {
	f.steps--
	return f.steps < 0 || depth > maxCheckDepth || len(f.found) >= f.limit
}

// add adds a problem of the value at a path.
func (f *problemFinder) add(path, text, want string) { f.addText(path, text, problemData{Want: want}) }

func (f *problemFinder) addText(path, text string, data problemData) {
	message := f.texts.Render(text, data)
	p := Problem{path: display.Clip(path, maxProblemPath), text: display.Clip(message, maxProblemRunes)}
	p.AboutNames = data.AboutNames
	if len(f.found) < f.limit && !slices.Contains(f.found, p) {
		f.found = append(f.found, p)
	}
}

// visit adds the problems of a value with a schema.
func (f *problemFinder) visit(node, value any, path string, depth int) {
	if f.isDone(depth) {
		return
	}
	if node == false {
		f.add(path, "forbidden", "")
		return
	}
	keywords, _ := node.(map[string]any)
	if ref, ok := keywords["$ref"]; ok {
		if target, ok := f.follow(ref); ok {
			f.visit(target, value, path, depth+1)
		}
		if f.ignoresBesideRef {
			return
		}
	}
	if !f.checkType(keywords["type"], value, path) || !f.checkEnum(keywords, value, path) {
		return // what else is wrong with it does not help
	}
	switch v := value.(type) {
	case string:
		f.checkString(keywords, v, path)
	case []any:
		f.checkList(keywords, v, path, depth)
	case map[string]any:
		f.checkObject(keywords, v, path, depth)
	default:
		if number, ok := numberOf(value); ok {
			f.checkNumber(keywords, number, path)
		}
	}
	f.checkCombinations(keywords, value, path, depth)
}

// isValid reports whether nothing is known to be wrong with a value.
func (f *problemFinder) isValid(node, value any, depth int) bool {
	part := problemFinder{walker: f.walker, texts: f.texts, ignoresBesideRef: f.ignoresBesideRef, limit: 1}
	part.visit(node, value, "", depth)
	f.steps = part.steps
	return len(part.found) == 0
}

// kindOf returns the type of a JSON value.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	if n, ok := numberOf(value); ok && n == math.Trunc(n) {
		return "integer"
	}
	return "number"
}

func numberOf(value any) (n float64, ok bool) {
	switch v := reflect.ValueOf(value); {
	case !v.IsValid():
		return 0, false
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	}
	if number, isNumber := value.(json.Number); isNumber {
		n, err := number.Float64()
		return n, err == nil
	}
	return 0, false
}

// typesOf returns the types of a type keyword.
func typesOf(keyword any) (types []string) {
	if one, ok := keyword.(string); ok {
		return []string{one}
	}
	list, _ := keyword.([]any)
	for _, each := range list {
		if name, ok := each.(string); ok {
			types = append(types, name)
		}
	}
	return types
}

// jsonTypes are those of JSON Schema, each with a text.
var jsonTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

func isKind(kind string, types []string) bool {
	return len(types) == 0 || slices.Contains(types, kind) || kind == "integer" && slices.Contains(types, "number")
}

func (f *problemFinder) checkType(keyword, value any, path string) bool {
	types, kind := typesOf(keyword), kindOf(value)
	if isKind(kind, types) {
		return true
	}
	f.addKinds(types, kind, path)
	return false
}

// addKinds adds that a value should be of one of some types.
func (f *problemFinder) addKinds(types []string, kind, path string) {
	var wantedTypes []string
	for _, name := range types {
		if slices.Contains(jsonTypes, name) {
			wantedTypes = append(wantedTypes, f.texts.Render("kind."+name, nil))
		}
	}
	if len(wantedTypes) == 0 {
		f.add(path, "other", "")
		return
	}
	f.addText(path, "type", problemData{Kinds: wantedTypes, Is: f.texts.Render("kind."+kind, nil)})
}

func (f *problemFinder) checkEnum(keywords map[string]any, value any, path string) bool {
	if list, ok := keywords["enum"].([]any); ok {
		f.steps -= len(list)
		if !slices.ContainsFunc(list, func(x any) bool { return isEqualJSON(x, value) }) {
			f.add(path, "enum", quoteAll(list))
			return false
		}
	}
	if want, ok := keywords["const"]; ok && !isEqualJSON(want, value) {
		f.add(path, "const", quoteAll([]any{want}))
		return false
	}
	return true
}

// isEqualJSON reports whether two values are equal; numbers are, whatever their Go types.
func isEqualJSON(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, isEqualJSON)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, isEqualJSON)
	case nil, string, bool:
		return a == b
	}
	x, isNumber := numberOf(a)
	y, areNumbers := numberOf(b)
	return isNumber && areNumbers && x == y
}

// limits are the keywords that bound a number, with what they mean.
var limits = []struct {
	keyword string
	isMet   func(value, limit float64) bool
}{
	{"minimum", func(value, limit float64) bool { return value >= limit }},
	{"exclusiveMinimum", func(value, limit float64) bool { return value > limit }},
	{"maximum", func(value, limit float64) bool { return value <= limit }},
	{"exclusiveMaximum", func(value, limit float64) bool { return value < limit }},
	{"multipleOf", func(value, limit float64) bool { return limit == 0 || value/limit == math.Trunc(value/limit) }},
}

func (f *problemFinder) checkNumber(keywords map[string]any, value float64, path string) {
	for _, l := range limits {
		if limit, ok := numberOf(keywords[l.keyword]); ok && !l.isMet(value, limit) {
			f.add(path, l.keyword, formatNumber(limit))
		}
	}
}

func formatNumber(n float64) string {
	if math.Abs(n) < 1e15 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

// checkSize adds a problem if a size is outside of what two keywords allow.
func (f *problemFinder) checkSize(keywords map[string]any, least, most string, size int, path string) {
	if limit, ok := numberOf(keywords[least]); ok && float64(size) < limit {
		f.add(path, least, formatNumber(limit))
	}
	if limit, ok := numberOf(keywords[most]); ok && float64(size) > limit {
		f.add(path, most, formatNumber(limit))
	}
}

func (f *problemFinder) checkString(keywords map[string]any, value, path string) {
	f.checkSize(keywords, "minLength", "maxLength", utf8.RuneCountInString(value), path)
	pattern, isText := keywords["pattern"].(string)
	if !isText || !f.match(pattern, value) {
		return
	}
	if re, err := regexp.Compile(pattern); err == nil && !re.MatchString(value) {
		f.add(path, "pattern", quote(pattern))
	}
}

func (f *problemFinder) checkList(keywords map[string]any, list []any, path string, depth int) {
	f.checkSize(keywords, "minItems", "maxItems", len(list), path)
	if keywords["uniqueItems"] == true && hasRepeated(list) {
		f.add(path, "uniqueItems", "")
	}
	first, _ := keywords["prefixItems"].([]any)
	rest, hasRest := keywords["items"]
	if tuple, isTuple := rest.([]any); isTuple {
		first = tuple
		rest, hasRest = keywords["additionalItems"]
	}
	for i, value := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i < len(first):
			f.visit(first[i], value, at, depth+1)
		case hasRest:
			f.visit(rest, value, at, depth+1)
		}
	}
}

// hasRepeated reports whether a list has two equal items. It knows numbers by their text.
func hasRepeated(list []any) bool {
	seen := map[string]bool{}
	for _, x := range list {
		text, err := json.Marshal(x)
		if err != nil || seen[string(text)] {
			return err == nil
		}
		seen[string(text)] = true
	}
	return false
}

func (f *problemFinder) checkObject(keywords, object map[string]any, path string, depth int) {
	declared, _ := keywords["properties"].(map[string]any)
	names := slices.Sorted(maps.Keys(object))
	f.checkNames(keywords, object, path, depth == 0)
	f.checkSize(keywords, "minProperties", "maxProperties", len(object), path)
	byPattern, _ := keywords["patternProperties"].(map[string]any)
	others, hasOthers := keywords["additionalProperties"]
	for _, name := range names {
		if len(f.found) >= f.limit {
			return
		}
		schemas := f.matching(byPattern, name)
		if s, ok := declared[name]; ok {
			schemas = append(schemas, s)
		}
		if len(schemas) == 0 && hasOthers && others != false {
			schemas = append(schemas, others)
		}
		for _, s := range schemas {
			f.visit(s, object[name], joinPath(path, name), depth+1)
		}
	}
}

// matching returns the schemas for the patterns that match a name.
func (f *problemFinder) matching(byPattern map[string]any, name string) (schemas []any) {
	for _, pattern := range slices.Sorted(maps.Keys(byPattern)) {
		if !f.match(pattern, name) {
			return schemas
		}
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(name) {
			schemas = append(schemas, byPattern[pattern])
		}
	}
	return schemas
}

// checkNames adds the names that an object lacks or must not have. isWhole is for the whole schema.
func (f *problemFinder) checkNames(keywords, object map[string]any, path string, isWhole bool) {
	if keywords["additionalProperties"] == false {
		declared, _ := keywords["properties"].(map[string]any)
		byPattern, _ := keywords["patternProperties"].(map[string]any)
		var unknown []any
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if _, ok := declared[name]; !ok && len(f.matching(byPattern, name)) == 0 {
				unknown = append(unknown, name)
			}
		}
		if len(unknown) > 0 {
			f.addText(path, "unknown", problemData{Want: listNames(unknown), AboutNames: isWhole})
		}
	}
	required, _ := keywords["required"].([]any)
	missing := slices.DeleteFunc(slices.Clone(required), func(name any) bool {
		text, isText := name.(string)
		_, has := object[text]
		return has || !isText
	})
	if len(missing) > 0 {
		f.addText(path, "missing", problemData{Want: listNames(missing), AboutNames: isWhole})
	}
}

func (f *problemFinder) checkCombinations(keywords map[string]any, value any, path string, depth int) {
	all, _ := keywords["allOf"].([]any)
	for _, s := range all {
		f.visit(s, value, path, depth+1)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if alternatives, ok := keywords[keyword].([]any); ok {
			f.checkAlternatives(alternatives, keyword == "oneOf", value, path, depth+1)
		}
	}
	if s, ok := keywords["not"]; ok && f.hasSteps() && f.isValid(s, value, depth+1) && f.hasSteps() && isFullyChecked(s) {
		f.add(path, "forbidden", "")
	}
	if condition, ok := keywords["if"]; ok && isFullyChecked(condition) {
		branch := "else"
		if f.isValid(condition, value, depth+1) {
			branch = "then"
		}
		if s, ok := keywords[branch]; ok {
			f.visit(s, value, path, depth+1)
		}
	}
}

func (f *problemFinder) hasSteps() bool { return f.steps >= 0 }

// checkAlternatives adds what is wrong with a value that should fit one of several schemas.
func (f *problemFinder) checkAlternatives(alternatives []any, exactlyOne bool, value any, path string, depth int) {
	fitting := 0
	var sameKind []any // alternatives for values of this type
	var types []string // of all alternatives
	kind := kindOf(value)
	for _, s := range alternatives {
		if f.isDone(depth) {
			return
		}
		if f.isValid(s, value, depth) {
			fitting++
		}
		own := typesOf(f.keyword(s, "type"))
		if types = append(types, own...); isKind(kind, own) {
			sameKind = append(sameKind, s)
		}
	}
	switch {
	case !f.hasSteps() || fitting == 1 || fitting > 1 && !exactlyOne:
	case fitting > 1:
		f.add(path, "several", "")
	case len(sameKind) == 0:
		slices.Sort(types)
		f.addKinds(slices.Compact(types), kind, path)
	case len(sameKind) == 1:
		f.visit(sameKind[0], value, path, depth)
	default:
		f.add(path, "none", "")
	}
}

// keyword returns a keyword of a schema, or of the one that it refers to.
func (f *problemFinder) keyword(node any, name string) any {
	keywords, _ := node.(map[string]any)
	if ref, ok := keywords["$ref"]; ok && keywords[name] == nil {
		target, _ := f.follow(ref)
		keywords, _ = target.(map[string]any)
	}
	return keywords[name]
}

// isFullyChecked reports whether a schema has only keywords of which all problems are found, so that no problem means that the
// value fits.
func isFullyChecked(node any) bool {
	if _, isTruth := node.(bool); isTruth {
		return true
	}
	keywords, ok := node.(map[string]any)
	for keyword, value := range keywords {
		switch keyword {
		case "type", "enum", "const", "required", "minimum", "maximum", "description", "title", "minLength", "maxLength":
		case "properties":
			properties, _ := value.(map[string]any)
			for _, s := range properties {
				ok = ok && isFullyChecked(s)
			}
		default:
			return false
		}
	}
	return ok
}

// joinPath returns the path of a member.
func joinPath(path, name string) string {
	name = display.Clip(printable(name), maxProblemQuoted)
	if path == "" {
		return name
	}
	return path + "." + name
}

// listNames returns the first of some names.
func listNames(list []any) string {
	names := make([]string, 0, maxProblemNames)
	for _, x := range list[:min(len(list), maxProblemNames)] {
		name, _ := x.(string)
		names = append(names, display.Clip(printable(name), maxProblemQuoted))
	}
	return strings.Join(names, ", ")
}

// quoteAll returns the first of some values, as JSON.
func quoteAll(list []any) string {
	values := make([]string, 0, maxProblemNames)
	for _, x := range list[:min(len(list), maxProblemNames)] {
		values = append(values, quote(x))
	}
	if len(list) > maxProblemNames {
		values = append(values, "…")
	}
	return strings.Join(values, ", ")
}

// quote returns a value as JSON.
func quote(value any) string {
	return display.Clip(printable(encoded(value)), maxProblemQuoted)
}

// printable returns a text with a space for each character that would not stand in a line.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
