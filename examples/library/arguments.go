// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file reads the arguments that a model sent, by the tool's own schema.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"
)

// maxArguments is the most bytes of arguments that a tool reads.
const maxArguments = 1 << 20

// parameter is what the schema says about one argument.
type parameter struct {
	name, about, kind string
	required          bool
	choices           []string
	fallback          json.RawMessage
	least, most       json.Number
	leastItems        int
}

type parameters []parameter

// parametersOf reads a tool's schema once, when the tool is made.
func parametersOf(info *schema.ToolInfo) parameters {
	js, err := info.ParamsOneOf.ToJSONSchema()
	if err != nil {
		panic(fmt.Sprintf("library: reading the schema of %q: %v", info.Name, err))
	}
	var out parameters
	for pair := js.Properties.Oldest(); pair != nil; pair = pair.Next() {
		s := pair.Value
		p := parameter{name: pair.Key, about: s.Description, kind: s.Type, least: s.Minimum, most: s.Maximum}
		p.required = slices.Contains(js.Required, pair.Key)
		p.choices = each(s.Enum, func(choice any) string { return fmt.Sprint(choice) })
		if s.Default != nil {
			p.fallback, _ = json.Marshal(s.Default)
		}
		if s.MinItems != nil {
			p.leastItems = int(*s.MinItems)
		}
		out = append(out, p)
	}
	return out
}

// decode fills into, a pointer to the tool's argument struct. Its errors say
// to a model what to send instead.
func (ps parameters) decode(arguments string, into any) error {
	raw, err := ps.object(arguments)
	if err != nil {
		return err
	}
	for _, p := range ps {
		value, err := p.value(raw[p.name])
		if err == nil && value != nil {
			alone := fmt.Sprintf("{%q:%s}", p.name, value)
			err = p.explain(json.Unmarshal([]byte(alone), into))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// object splits the arguments, refusing names that the tool does not have.
func (ps parameters) object(arguments string) (map[string]json.RawMessage, error) {
	if len(arguments) > maxArguments {
		return nil, fmt.Errorf("the arguments have %d bytes; at most %d are read", len(arguments), maxArguments)
	}
	raw := map[string]json.RawMessage{}
	if strings.TrimSpace(arguments) == "" {
		return raw, nil
	}
	if err := json.Unmarshal([]byte(arguments), &raw); err != nil {
		return nil, fmt.Errorf("the arguments must be one JSON object with: %s", ps.names())
	}
	for name := range raw {
		if !slices.ContainsFunc(ps, func(p parameter) bool { return p.name == name }) {
			return nil, fmt.Errorf("there is no argument %q; this tool takes: %s", name, ps.names())
		}
	}
	if raw == nil { // the arguments were the JSON word null
		raw = map[string]json.RawMessage{}
	}
	return raw, nil
}

func (ps parameters) names() string {
	return cmp.Or(joined(ps, ", ", func(p parameter) string { return p.name }), "no arguments")
}

// value gives the argument's JSON: what was sent, made to fit where the
// meaning is plain, or the default; nil where there is nothing.
func (p parameter) value(sent json.RawMessage) (json.RawMessage, error) {
	if len(sent) == 0 || string(sent) == "null" {
		if p.required {
			return nil, fmt.Errorf("the argument %q is missing: %s", p.name, p.about)
		}
		return p.fallback, nil
	}
	sent = p.fit(sent)
	if err := p.checkItems(sent); err != nil {
		return nil, err
	}
	if err := p.checkRange(sent); err != nil {
		return nil, err
	}
	return p.checkChoice(sent)
}

// fit forgives what models often send: "5" or 5.0 for 5, 5 for "5", "true" for
// true, and one value, or a list written as a text, for a list.
func (p parameter) fit(sent json.RawMessage) json.RawMessage {
	var text string
	isText := json.Unmarshal(sent, &text) == nil
	switch p.kind {
	case "string":
		if sent[0] != '"' && sent[0] != '{' && sent[0] != '[' {
			return quoted(string(sent))
		}
	case "integer", "number":
		if isText {
			sent = json.RawMessage(strings.TrimSpace(text))
		}
		return whole(sent, p.kind)
	case "boolean":
		if lower := strings.ToLower(text); lower == "true" || lower == "false" {
			return json.RawMessage(lower)
		}
	case "array":
		if isText && strings.HasPrefix(strings.TrimSpace(text), "[") && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
		if sent[0] != '[' {
			return slices.Concat(json.RawMessage("["), sent, json.RawMessage("]"))
		}
	}
	return sent
}

// whole writes 5.0 as 5 where an integer is wanted.
func whole(sent json.RawMessage, kind string) json.RawMessage {
	if !json.Valid(sent) {
		return quoted(string(sent))
	}
	if f, err := strconv.ParseFloat(string(sent), 64); kind == "integer" && err == nil && f == float64(int64(f)) && f > -1e15 && f < 1e15 {
		return strconv.AppendInt(nil, int64(f), 10)
	}
	return sent
}

func (p parameter) checkItems(sent json.RawMessage) error {
	var items []json.RawMessage
	if p.leastItems == 0 || json.Unmarshal(sent, &items) != nil || len(items) >= p.leastItems {
		return nil
	}
	return fmt.Errorf("the argument %q needs at least %d values and has %d", p.name, p.leastItems, len(items))
}

func (p parameter) checkRange(sent json.RawMessage) error {
	value, ok := number(json.Number(sent))
	if !ok || (p.kind != "integer" && p.kind != "number") {
		return nil
	}
	if least, ok := number(p.least); ok && value.Cmp(least) < 0 {
		return fmt.Errorf("the argument %q must be at least %s, and is %s", p.name, p.least, sent)
	}
	if most, ok := number(p.most); ok && value.Cmp(most) > 0 {
		return fmt.Errorf("the argument %q must be at most %s, and is %s", p.name, p.most, sent)
	}
	return nil
}

// number reads a JSON number of any size; a float keeps a huge exponent cheap.
func number(n json.Number) (*big.Float, bool) {
	if n == "" {
		return nil, false
	}
	f, _, err := big.ParseFloat(string(n), 10, 64, big.ToNearestEven)
	return f, err == nil
}

// checkChoice accepts one of the listed values, in any case.
func (p parameter) checkChoice(sent json.RawMessage) (json.RawMessage, error) {
	var text string
	if len(p.choices) == 0 || json.Unmarshal(sent, &text) != nil {
		return sent, nil
	}
	for _, choice := range p.choices {
		if strings.EqualFold(choice, strings.TrimSpace(text)) {
			return quoted(choice), nil
		}
	}
	return nil, fmt.Errorf("the argument %q must be one of %s, and is %q", p.name, strings.Join(p.choices, ", "), text)
}

func quoted(text string) json.RawMessage {
	out, _ := json.Marshal(text)
	return out
}

// explain says which type the argument must have.
func (p parameter) explain(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	kinds := map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "string": "a text"}
	want := cmp.Or(kinds[wrong.Type.String()], "a list")
	return fmt.Errorf("the argument %q must be %s, and holds a JSON %s", p.name, want, wrong.Value)
}

// written is embedded in an argument that is sent as a text and read by its own UnmarshalJSON.
type written struct{ text string }

// JSONSchema describes a text, whatever the text is read as.
func (written) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }

// decodeText decodes a text and reads it as what it stands for.
func decodeText[T any](sent []byte, from *written, into *T, read func(string) (T, error)) error {
	err := json.Unmarshal(sent, &from.text)
	if err == nil {
		*into, err = read(from.text)
	}
	return err
}

// compactJSON writes a small JSON answer.
func compactJSON(v any) (string, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", errors.New("the result is too large to be written as a number")
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
