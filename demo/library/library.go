// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package library is a catalogue of several hundred tools, too many to show a
// model all of them at once. They are grouped into servers as tools from MCP
// servers are, and named server__tool.
//
// The catalogue is data: names, descriptions and schemas. The tools that the
// demonstrations call do their work offline; the others are only definitions,
// and a call of one answers so.
//
// A tool never ends a run because of what a model sent: bad arguments get an
// answer that begins with "error:" and says what to send instead. Tools for
// files see one folder, the root, and cannot leave it.
package library

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
	einoschema "github.com/eino-contrib/jsonschema"
	"github.com/google/jsonschema-go/jsonschema"
)

// catalogue holds one tool in a line, sorted by name.
//
//go:embed catalogue.jsonl
var catalogue string

// Tools makes all tools, sorted by name. Those that work on files see only the
// folder root; it is an error if root is not a folder. The tools are safe for
// concurrent use, except where they change the same files. The caller owns the
// slice.
func Tools(root string) ([]tool.BaseTool, error) { return toolsOf(root, false) }

// WorkingTools is Tools without those that are only definitions.
func WorkingTools(root string) ([]tool.BaseTool, error) { return toolsOf(root, true) }

func toolsOf(root string, onlyWorking bool) ([]tool.BaseTool, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("library: opening root %q: %w", root, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("library: opening root %q: not a folder", root)
	}
	all, err := definitions()
	if err != nil {
		return nil, err
	}
	out := make([]tool.BaseTool, 0, len(all))
	for _, d := range all {
		d.root = root
		if work := implementations[d.Name]; work != nil {
			out = append(out, work(d))
		} else if !onlyWorking {
			out = append(out, d)
		}
	}
	return out, nil
}

// Working is how many tools do what they say.
func Working() int { return len(implementations) }

// definition is a line of the catalogue.
type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`
	root        string
	info        *schema.ToolInfo     // what a model sees
	rules       *jsonschema.Resolved // of the arguments, where the tool works
}

// definitions reads the catalogue, once. They are read only.
var definitions = sync.OnceValues(func() (all []definition, err error) {
	for dec := json.NewDecoder(strings.NewReader(catalogue)); dec.More(); {
		var d definition
		if err := dec.Decode(&d); err != nil {
			return nil, fmt.Errorf("library: reading definition %d: %w", len(all)+1, err)
		}
		d.info = &schema.ToolInfo{Name: d.Name, Desc: d.Description,
			ParamsOneOf: schema.NewParamsOneOfByJSONSchema(parseArguments[einoschema.Schema](d.Schema))}
		if implementations[d.Name] != nil {
			d.rules, err = parseArguments[jsonschema.Schema](d.Schema).Resolve(nil)
			panicOnError(err)
		}
		all = append(all, d)
	}
	return all, nil
})

// parseArguments reads a schema of the catalogue, which is part of the program.
func parseArguments[T any](text json.RawMessage) *T {
	out := new(T)
	panicOnError(json.Unmarshal(text, out))
	return out
}

func panicOnError(err error) {
	if err != nil {
		panic("library: a schema of the catalogue: " + err.Error())
	}
}

// Info describes the tool.
func (d definition) Info(context.Context) (*schema.ToolInfo, error) { return d.info, nil }

// InvokableRun answers, whatever the arguments, that there is nothing behind the definition.
func (d definition) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return refusal(fmt.Errorf("%s is only a definition; it is not part of the demonstration, whatever its arguments", d.Name)), nil
}

// work makes the tool of a definition.
type work func(definition) tool.BaseTool

// implementations are the tools that work, by name.
var implementations = mergeTools(fileTools(), folderTools(), textTools(), documentTools(), numberTools(), unitTools(),
	dateTools(), chineseTools())

func mergeTools(some ...map[string]work) map[string]work {
	all := map[string]work{}
	for _, m := range some {
		maps.Copy(all, m)
	}
	return all
}

// newWork makes a tool that works on nothing but its arguments.
func newWork[T any](run func(T) (string, error)) work {
	return func(d definition) tool.BaseTool { return invokable(d, run) }
}

// located are arguments that name the path that their tool works at.
type located interface{ path() string }

// newFileWork makes a tool that works in the folder of files.
func newFileWork[T located](run func(newFileWork place, in T) (string, error)) work {
	return func(d definition) tool.BaseTool {
		return invokable(d, func(in T) (out string, err error) {
			err = open(d.root, in.path(), func(newFileWork place) error {
				out, err = run(newFileWork, in)
				return err
			})
			return out, err
		})
	}
}

// request is what a tool's run receives: its arguments, or what is wrong with
// them. Eino ends a run on an error, so the error travels as a value and
// becomes the answer.
type request[T any] struct {
	in  T
	err error
}

// decoded reads what a model sends by the tool's own schema.
func decoded[T any](d definition) utils.Option {
	read := func(arguments string) (in T, err error) {
		sent := map[string]any{}
		if len(arguments) > maxArguments {
			return in, fmt.Errorf("the arguments have %d bytes; at most %d are read", len(arguments), maxArguments)
		}
		if err := json.Unmarshal([]byte(cmp.Or(arguments, "{}")), &sent); err != nil {
			return in, fmt.Errorf("the arguments must be one JSON object: %w", err)
		}
		if sent == nil { // the arguments were the JSON word null
			sent = map[string]any{}
		}
		maps.DeleteFunc(sent, func(_ string, v any) bool { return v == nil })
		if err := errors.Join(d.rules.ApplyDefaults(&sent), d.rules.Validate(sent)); err != nil {
			return in, err
		}
		whole, err := json.Marshal(sent)
		if err == nil {
			err = json.Unmarshal(whole, &in)
		}
		return in, err
	}
	return utils.WithUnmarshalArguments(func(_ context.Context, arguments string) (any, error) {
		in, err := read(arguments)
		return request[T]{in, err}, nil
	})
}

// invokable makes a tool that answers with one text.
func invokable[T any](d definition, run func(T) (string, error)) tool.BaseTool {
	return utils.NewTool(d.info, func(_ context.Context, r request[T]) (string, error) {
		text, err := "", r.err
		if err == nil {
			text, err = run(r.in)
		}
		if err != nil {
			return refusal(err), nil
		}
		return bounded(text), nil
	}, decoded[T](d))
}

// streamAt makes a tool that works in the folder of files and answers piece by
// piece. run stops when emit says that the reader is gone.
func streamAt[T located](run func(newFileWork place, in T, emit func(string) bool) error) work {
	return func(d definition) tool.BaseTool {
		return utils.NewStreamTool(d.info, func(_ context.Context, r request[T]) (*schema.StreamReader[string], error) {
			reader, writer := schema.Pipe[string](4)
			emit := func(text string) bool { return !writer.Send(text, nil) }
			go func() {
				defer writer.Close()
				err := r.err
				if err == nil {
					err = open(d.root, r.in.path(), func(newFileWork place) error { return run(newFileWork, r.in, emit) })
				}
				if err != nil {
					emit(refusal(err))
				}
			}()
			return reader, nil
		}, decoded[T](d))
	}
}

func refusal(err error) string { return "error: " + err.Error() }

// The most bytes of arguments that a tool reads, and of its answer.
const (
	maxArguments = 1 << 20
	maxAnswer    = 1 << 20
)

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
