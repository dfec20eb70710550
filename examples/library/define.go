// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file makes a tool of each of Eino's four forms from a typed function, and reads what a model sent by the tool's own schema.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"
)

// maker makes a tool, over the folder of files if it works on files.
type maker func(folder) tool.BaseTool

// group is a server before it has its folder.
type group struct {
	name, title string
	tools       []maker
}

// maxAnswer is the most bytes that one tool answers with.
const maxAnswer = 1 << 20

// request is what a tool's run receives: its arguments, or what is wrong with
// them. Eino ends a run on an error, so the error travels as a value and
// becomes the answer.
type request[T any] struct {
	in  T
	err error
}

// describe infers the tool's schema from T, and a decoder that checks
// what a model sends against it.
func describe[T any](name, desc string) (*schema.ToolInfo, utils.Option) {
	info, err := utils.GoStruct2ToolInfo[T](name, desc)
	if err != nil {
		panic(fmt.Sprintf("library: describing %q: %v", name, err))
	}
	params := parametersOf(info)
	return info, utils.WithUnmarshalArguments(func(_ context.Context, arguments string) (any, error) {
		var r request[T]
		r.err = params.decode(arguments, &r.in)
		return r, nil
	})
}

// define makes a tool that answers with one text.
func define[T any](name, desc string, run func(T) (string, error)) maker {
	return func(folder) tool.BaseTool {
		info, decode := describe[T](name, desc)
		return utils.NewTool(info, func(_ context.Context, r request[T]) (string, error) {
			text, err := answered(r, run)
			if err != nil {
				return refusal(err), nil
			}
			return bounded(text), nil
		}, decode)
	}
}

// defineStream makes a tool that answers piece by piece. run stops when emit
// says that the reader is gone.
func defineStream[T any](name, desc string, run func(in T, emit func(string) bool) error) maker {
	return func(folder) tool.BaseTool {
		info, decode := describe[T](name, desc)
		return utils.NewStreamTool(info, func(_ context.Context, r request[T]) (*schema.StreamReader[string], error) {
			return stream(r, run, refusal), nil
		}, decode)
	}
}

// A located argument struct names the path that its tool works at.
type located interface{ path() string }

// defineAt is define for a tool that works in the folder of files.
func defineAt[T located](name, desc string, run func(at place, in T) (string, error)) maker {
	return func(f folder) tool.BaseTool {
		return define(name, desc, opened(f, run))(f)
	}
}

// defineStreamAt is defineStream for a tool that works in the folder of files.
func defineStreamAt[T located](name, desc string, run func(at place, in T, emit func(string) bool) error) maker {
	return func(f folder) tool.BaseTool {
		return defineStream(name, desc, func(in T, emit func(string) bool) error {
			return f.open(in.path(), func(at place) error { return run(at, in, emit) })
		})(f)
	}
}

// defineEnhancedAt makes a tool that answers with parts, such as an image beside a text.
func defineEnhancedAt[T located](name, desc string, run func(at place, in T) ([]schema.ToolOutputPart, error)) maker {
	return func(f folder) tool.BaseTool {
		info, decode := describe[T](name, desc)
		return utils.NewEnhancedTool(info, func(_ context.Context, r request[T]) (*schema.ToolResult, error) {
			out, err := answered(r, opened(f, run))
			if err != nil {
				return parts(textPart(refusal(err))), nil
			}
			return parts(out...), nil
		}, decode)
	}
}

// defineEnhancedStreamAt makes a tool that answers with parts, one after the other.
func defineEnhancedStreamAt[T located](name, desc string, run func(at place, in T, emit func(*schema.ToolResult) bool) error) maker {
	return func(f folder) tool.BaseTool {
		info, decode := describe[T](name, desc)
		return utils.NewEnhancedStreamTool(info, func(_ context.Context, r request[T]) (*schema.StreamReader[*schema.ToolResult], error) {
			return stream(r, func(in T, emit func(*schema.ToolResult) bool) error {
				return f.open(in.path(), func(at place) error { return run(at, in, emit) })
			}, func(err error) *schema.ToolResult { return parts(textPart(refusal(err))) }), nil
		}, decode)
	}
}

// answered runs a tool unless its arguments are wrong.
func answered[T, R any](r request[T], run func(T) (R, error)) (out R, err error) {
	if r.err != nil {
		return out, r.err
	}
	return run(r.in)
}

// opened runs a tool with the folder open at the path in its arguments.
func opened[T located, R any](f folder, run func(at place, in T) (R, error)) func(T) (R, error) {
	return func(in T) (out R, err error) {
		err = f.open(in.path(), func(at place) error {
			out, err = run(at, in)
			return err
		})
		return out, err
	}
}

// stream runs in the background and gives the reading end.
func stream[T, C any](r request[T], run func(T, func(C) bool) error, refuse func(error) C) *schema.StreamReader[C] {
	reader, writer := schema.Pipe[C](4)
	go func() {
		defer writer.Close()
		err := r.err
		if err == nil {
			err = run(r.in, func(c C) bool { return !writer.Send(c, nil) })
		}
		if err != nil {
			writer.Send(refuse(err), nil)
		}
	}()
	return reader
}

func refusal(err error) string { return "error: " + err.Error() }

func parts(p ...schema.ToolOutputPart) *schema.ToolResult { return &schema.ToolResult{Parts: p} }

func textPart(text string) schema.ToolOutputPart {
	return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: bounded(text)}
}

// bounded keeps an answer readable: valid UTF-8, and at most maxAnswer bytes.
func bounded(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxAnswer {
		return text
	}
	cut := maxAnswer
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s\n[cut here: the first %d of %d bytes]", text[:cut], cut, len(text))
}

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
