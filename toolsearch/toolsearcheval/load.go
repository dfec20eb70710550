// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval

// This file reads catalogues and graded queries, one JSON object a line.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/cloudwego/eino/schema"
)

// Case is one graded query.
type Case struct {
	// ID names the case in reports. Optional.
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

// Tool is a line of a catalogue.
type Tool struct {
	// Name is the tool's name.
	Name string `json:"name"`
	// Description is what the model reads of the tool.
	Description string `json:"description"`
	// Params maps the names of parameters to their descriptions.
	Params map[string]string `json:"params,omitempty"`
}

// Info is the tool as Eino describes it; its parameters are texts.
func (t Tool) Info() *schema.ToolInfo {
	info := &schema.ToolInfo{Name: t.Name, Desc: t.Description}
	if len(t.Params) > 0 {
		params := make(map[string]*schema.ParameterInfo, len(t.Params))
		for name, desc := range t.Params {
			params[name] = &schema.ParameterInfo{Type: schema.String, Desc: desc}
		}
		info.ParamsOneOf = schema.NewParamsOneOfByParams(params)
	}
	return info
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

// Must returns what Load does, and panics where Load fails.
func Must(tools []*schema.ToolInfo, cases []Case, err error) ([]*schema.ToolInfo, []Case) {
	if err != nil {
		panic(err)
	}
	return tools, cases
}

// LoadTools reads a catalogue of Tool lines.
func LoadTools(file string) ([]*schema.ToolInfo, error) {
	lines, err := readLines[Tool](file)
	tools := make([]*schema.ToolInfo, len(lines))
	for i, t := range lines {
		tools[i] = t.Info()
	}
	return tools, err
}

// LoadCases reads a file of Case lines.
func LoadCases(file string) ([]Case, error) { return readLines[Case](file) }

// readLines decodes each line that is not blank.
func readLines[T any](file string) ([]T, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("toolsearcheval: %w", err)
	}
	var all []T
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("toolsearcheval: reading %s:%d: %w", file, n, err)
		}
		all = append(all, v)
	}
	return all, lines.Err()
}
