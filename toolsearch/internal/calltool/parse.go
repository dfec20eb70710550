// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package calltool handles calls of call_tool, the tool that runs a hidden tool:
//
//   - [Parse] reads what such a call asks for.
//   - [Rename] gives calls in an answer other names and arguments, and records in the message how the model wrote them.
//   - [Requests] shows the model, in later requests, the calls as it wrote them.
//   - [WrapModel] does both around a model, also while an answer streams.
//
// So the agent, its handlers, events and checkpoints have the name of the tool that runs, and only the model sees
// call_tool.
package calltool

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
)

// Wanted is what a call of call_tool asks for.
type Wanted struct {
	Name string // of the tool; near spellings are for the caller to resolve
	// Arguments are the tool's arguments as JSON: an object, or a text that holds one. Empty means none.
	Arguments string
	// Beside has the keys of Arguments if the model wrote them beside "name", and not as an object of their own. They are
	// arguments only if the tool has parameters of these names.
	Beside []string
}

// Errors of Parse. A call with one of them runs nothing.
var (
	ErrNoName       = errors.New("the call names no tool")
	ErrSeveralCalls = errors.New("the call asks for several calls")
	ErrScattered    = errors.New(`the call has arguments both in "arguments" and beside it`)
)

// SyntaxError says that the arguments of call_tool are no JSON.
type SyntaxError struct {
	Offset int // bytes before the error
	IsCut  bool
}

// Error describes the error.
func (e *SyntaxError) Error() string {
	if e.IsCut {
		return "the JSON breaks off"
	}
	return "the JSON is not valid"
}

var (
	// nameKeys are the keys that models use for the name: the right one, and common mistakes.
	nameKeys = []string{"name", "tool_name", "tool"}
	// argumentKeys are the same for the arguments.
	argumentKeys = []string{"arguments", "args", "parameters", "params", "input", "tool_input", "tool_arguments"}
)

// Parse reads the arguments of call_tool. It accepts common mistakes where they have one meaning: other keys, an object
// as text, a list of one call, arguments beside the name, and a call of call_tool in the call.
func Parse(args string) (Wanted, error) {
	w, err := parseCall(args)
	if err != nil || w.Name != toolnames.Call || len(w.Beside) > 0 {
		return w, err
	}
	return parseCall(w.Arguments)
}

func parseCall(args string) (Wanted, error) {
	text, err := objectText(args)
	if err != nil {
		return Wanted{}, err
	}
	if text == "" {
		return Wanted{}, ErrNoName
	}
	members := membersOf(text)
	name, at, err := nameIn(members)
	if err != nil {
		return Wanted{}, err
	}
	members = withoutKey(members, members[at].key)
	at = indexOfKey(members, argumentKeys, isArguments)
	if at < 0 {
		return wantedBeside(name, members), nil
	}
	value := members[at].value
	members = withoutKey(members, members[at].key)
	switch {
	case len(members) == 0:
		return Wanted{Name: name, Arguments: value}, nil
	case isEmptyArguments(value):
		return wantedBeside(name, members), nil
	}
	return Wanted{Name: name}, ErrScattered
}

// objectText returns the one object that arguments hold: an object, a text of one, or a list of one. It is empty if
// there is none.
func objectText(args string) (string, error) {
	text := strings.TrimSpace(strings.ToValidUTF8(args, "\uFFFD"))
	for range 3 { // a text, in it a list, in that an object
		if text == "" || !strings.ContainsRune(`{["`, rune(text[0])) {
			return "", nil
		}
		if err := checkSyntax(text); err != nil {
			return "", err
		}
		switch text[0] {
		case '{':
			return text, nil
		case '"':
			var inner string
			if json.Unmarshal([]byte(text), &inner) != nil {
				return "", nil
			}
			text = strings.TrimSpace(inner)
		case '[':
			items := itemsOf(text)
			if len(items) != 1 {
				return "", ErrSeveralCalls
			}
			text = items[0]
		}
	}
	return "", nil
}

// checkSyntax returns a SyntaxError for what is no JSON.
func checkSyntax(text string) error {
	if json.Valid([]byte(text)) {
		return nil
	}
	var value json.RawMessage
	d := json.NewDecoder(strings.NewReader(text))
	err := d.Decode(&value)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return &SyntaxError{Offset: int(syntax.Offset)}
	case err != nil:
		return &SyntaxError{Offset: len(text), IsCut: true}
	}
	return &SyntaxError{Offset: int(d.InputOffset())} // more text follows the value
}

// member is a member of an object, its value as it is written.
type member struct{ key, value string }

func membersOf(object string) (members []member) {
	for key, value, at, ok := jsontext.Member(object, 1); ok; key, value, at, ok = jsontext.Member(object, at) {
		members = append(members, member{jsontext.Unescape(key), value})
	}
	return members
}

func itemsOf(list string) (items []string) {
	for item, at, ok := jsontext.Item(list, 1); ok; item, at, ok = jsontext.Item(list, at) {
		items = append(items, item)
	}
	return items
}

// nameIn returns the name of the tool, and its position among the members. A list of one name is accepted.
func nameIn(members []member) (name string, at int, err error) {
	if at = indexOfKey(members, nameKeys, func(string) bool { return true }); at < 0 {
		return "", 0, ErrNoName
	}
	value := members[at].value
	if strings.HasPrefix(value, "[") {
		items := itemsOf(value)
		if len(items) > 1 {
			return "", 0, ErrSeveralCalls
		}
		value = strings.Join(items, "")
	}
	if json.Unmarshal([]byte(value), &name) != nil || strings.TrimSpace(name) == "" {
		return "", 0, ErrNoName
	}
	return strings.TrimSpace(name), at, nil
}

// indexOfKey returns the last member under the first of the keys that the object has; -1 if it has none. Case and
// punctuation of a key do not count, but a key as it should be comes first.
func indexOfKey(members []member, keys []string, accepts func(value string) bool) int {
	for _, key := range keys {
		for _, isSame := range []func(a, b string) bool{func(a, b string) bool { return a == b }, jsontext.SimilarKeys} {
			for i := len(members) - 1; i >= 0; i-- {
				if isSame(members[i].key, key) && accepts(members[i].value) {
					return i
				}
			}
		}
	}
	return -1
}

// withoutKey returns the members without those of a key, however it is written: of several, the one in use counts.
func withoutKey(members []member, key string) []member {
	return slices.DeleteFunc(members, func(m member) bool { return m.key == key || jsontext.SimilarKeys(m.key, key) })
}

// IsArgumentsKey reports whether a model may have meant a key for the arguments.
func IsArgumentsKey(key string) bool {
	return slices.ContainsFunc(argumentKeys, func(k string) bool { return jsontext.SimilarKeys(k, key) })
}

// isArguments reports whether a value can be the arguments of a tool: an object, a text that holds one, or nothing.
func isArguments(value string) bool {
	if isEmptyArguments(value) || strings.HasPrefix(value, "{") {
		return true
	}
	var text string
	return json.Unmarshal([]byte(value), &text) == nil && strings.HasPrefix(strings.TrimSpace(text), "{")
}

func isEmptyArguments(value string) bool {
	var v any
	if json.Unmarshal([]byte(value), &v) != nil {
		return false
	}
	switch v := v.(type) {
	case nil:
		return true
	case string:
		text := strings.TrimSpace(v)
		return text == "" || text == "{}"
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// wantedBeside returns a call whose arguments stand beside the name.
func wantedBeside(name string, members []member) Wanted {
	w := Wanted{Name: name}
	if len(members) == 0 {
		return w
	}
	var b strings.Builder
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(m.key) + ":" + m.value)
		w.Beside = append(w.Beside, m.key)
	}
	w.Arguments = "{" + b.String() + "}"
	return w
}

// Unwrap returns the arguments inside of arguments that are themselves written like a call of call_tool for the tool.
func Unwrap(arguments, tool string) (inner string, ok bool) {
	text, err := objectText(arguments)
	if err != nil || text == "" {
		return "", false
	}
	for _, m := range membersOf(text) {
		switch {
		case m.key == "arguments" && isArguments(m.value):
			inner, ok = m.value, true
		case m.key == "name" && m.value == quoted(tool):
		default:
			return "", false
		}
	}
	return inner, ok
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a string always can be encoded
	return string(b)
}
