// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/toolschema"
)

// Case is one graded query.
type Case struct {
	// ID names the case in reports and decides its half in Split. Optional.
	ID string `json:"id"`
	// Query is what a model would search for.
	Query string `json:"query"`
	// Relevant are the names of the tools that answer the query. Empty: no tool does.
	Relevant []string `json:"relevant"`
	// Equivalent names, for a relevant tool, others that count as the same hit. Optional.
	Equivalent map[string][]string `json:"equiv,omitempty"`
	// Kind groups cases in reports, for instance "typo". Optional.
	Kind string `json:"kind,omitempty"`
}

// Tool is a line of a catalogue. Each element of tools in an MCP server's answer to
// tools/list is such a line.
type Tool struct {
	// Name is the tool's name.
	Name string `json:"name"`
	// Description is the text that the model reads about the tool.
	Description string `json:"description"`
	// Params maps the names of parameters, all of them texts, to their descriptions.
	Params map[string]string `json:"params,omitempty"`
	// InputSchema is the JSON schema of the arguments, in place of Params.
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
}

// Info is the tool as Eino describes it. The error is that of a schema that cannot be read.
func (t Tool) Info() (*schema.ToolInfo, error) {
	info := &schema.ToolInfo{Name: t.Name, Desc: t.Description}
	switch {
	case len(t.InputSchema) > 0 && string(t.InputSchema) != "null":
		params, err := toolschema.Read(t.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("decoding the schema of %q: %w", t.Name, err)
		}
		info.ParamsOneOf = params
	case len(t.Params) > 0:
		params := make(map[string]*schema.ParameterInfo, len(t.Params))
		for name, desc := range t.Params {
			params[name] = &schema.ParameterInfo{Type: schema.String, Desc: desc}
		}
		info.ParamsOneOf = schema.NewParamsOneOfByParams(params)
	}
	return info, nil
}

// Infos returns the descriptions of tools, as Evaluate needs them. The error joins those of
// all tools that do not describe themselves.
func Infos(ctx context.Context, tools []tool.BaseTool) ([]*schema.ToolInfo, error) {
	infos := make([]*schema.ToolInfo, 0, len(tools))
	var wrong []error
	for i, t := range tools {
		info, err := describe(ctx, t)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("toolsearcheval: describing tools[%d]: %w", i, err))
			continue
		}
		infos = append(infos, info)
	}
	return infos, errors.Join(wrong...)
}

func describe(ctx context.Context, t tool.BaseTool) (*schema.ToolInfo, error) {
	if t == nil {
		return nil, errors.New("it is nil")
	}
	info, err := t.Info(ctx)
	if err == nil && info == nil {
		err = errors.New("its description is nil")
	}
	return info, err
}

// Load reads a catalogue of Tool lines and a file of Case lines.
func Load(toolsFile, casesFile string) ([]*schema.ToolInfo, []Case, error) {
	tools, err := LoadTools(toolsFile)
	if err != nil {
		return nil, nil, err
	}
	cases, err := LoadCases(casesFile)
	return tools, cases, err
}

// LoadTools reads a catalogue of Tool lines. Blank lines are skipped; the error names the
// file and the line.
func LoadTools(file string) ([]*schema.ToolInfo, error) {
	return readLines(file, func(line []byte) (*schema.ToolInfo, error) {
		t, err := decode[Tool](line)
		if err != nil {
			return nil, err
		}
		return t.Info()
	})
}

// LoadCases reads a file of Case lines, like LoadTools.
func LoadCases(file string) ([]Case, error) { return readLines(file, decode[Case]) }

func decode[T any](line []byte) (v T, err error) {
	err = json.Unmarshal(line, &v)
	return v, err
}

// readLines decodes each line that is not blank.
func readLines[T any](file string, decode func([]byte) (T, error)) ([]T, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("toolsearcheval: %w", err)
	}
	var all []T
	n := 0
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) { // as some editors begin a file
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := decode(line)
		if err != nil {
			return nil, fmt.Errorf("toolsearcheval: reading %s:%d: %w", file, n, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// Split divides cases into two halves, by a hash of their IDs (of the query, if a case
// has no ID). Look at the misses of one half while you work on a ranking or on the
// descriptions of your tools, and judge the outcome by the other half. The half of a
// case does not depend on the other cases. The order stays.
func Split(cases []Case) (dev, heldout []Case) {
	for _, c := range cases {
		if isHeldOut(c) {
			heldout = append(heldout, c)
		} else {
			dev = append(dev, c)
		}
	}
	return dev, heldout
}

func isHeldOut(c Case) bool {
	return sha256.Sum256([]byte(cmp.Or(c.ID, c.Query)))[0]%2 == 1
}
