// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package protocol has the search protocols: the tools with which a model finds hidden tools, their answers, and every text
// that a model reads of hidden tools. Each protocol has one file; All lists them.
//
// Names, descriptions and schemas of tools are untrusted: what an answer quotes of them is clipped.
package protocol

import (
	"context"
	"regexp"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/toolsearch/internal/search"
)

// All lists the protocols.
var All = []*Protocol{Keyword, Regexp, SearchLoad, SearchCall}

// Protocol is a set of search tools with their answers. It is immutable.
type Protocol struct {
	Name  string
	Tools []Tool // the first one searches

	// ProgramSearch takes the place of the first tool where the agent has programs. It answers with signatures.
	ProgramSearch Tool
	// CallTool runs any hidden tool, so the model may call a tool that it knows only by name. It has no Answer. It is nil
	// if the model calls hidden tools directly.
	CallTool *Tool

	GateText            string // the text that answers a call of a tool that is not loaded
	FixedToolList       bool   // no tool that is found or called joins the tool list
	DescribesPrefetched bool   // prefetched tools are described after the user's message, and not loaded
	MatchesNames        bool   // a search matches names: it needs no index and has no confidence
	SupportsNative      bool   // answers may be in the provider's own form

	// loadedNames returns the tools that an answer loaded. The answer may be that of another protocol. An error means that
	// it is that of none.
	loadedNames func(answer storedAnswer) ([]string, error)
}

// ToolNames returns the names of all tools of the protocol.
func (p *Protocol) ToolNames() (names []string) {
	for _, t := range p.Tools {
		names = append(names, t.Name)
	}
	if p.CallTool != nil {
		names = append(names, p.CallTool.Name)
	}
	return names
}

// NameQuery returns the arguments with which the first tool looks for one name.
func (p *Protocol) NameQuery(name string) string {
	query := search.SelectPrefix + name
	if p.MatchesNames {
		query = "^" + regexp.QuoteMeta(name) + "$"
	}
	return JSON(map[string]string{p.Tools[0].Params[0].Name: query})
}

// Tool is a tool of a protocol.
type Tool struct {
	Name   string
	Text   string // the text that describes it; texts whose names start with it describe its parameters
	Params []Param
	Effect Effect

	// Answer returns the answer to a call. Its only error is the context's.
	Answer func(context.Context, search.Searcher, jsontext.Arguments) (string, error)
}

// Effect is what a call of a tool does with hidden tools: the Filter is asked whether it may.
type Effect int

const (
	FindAndLoad Effect = iota // also where the answer describes how to call a tool that stays hidden
	FindOnly                  // the answer names tools that another call loads
	LoadOnly                  // loads tools by name
)

// Param is a parameter of a tool.
type Param struct {
	Name     string
	Type     schema.DataType
	Element  schema.DataType // of an array
	Required bool
}

// Info returns what the model reads of the tool, in the current language.
func (t *Tool) Info(data DescriptionData) *schema.ToolInfo {
	texts, params := Prompts.Current(), map[string]*schema.ParameterInfo{}
	for _, p := range t.Params {
		info := &schema.ParameterInfo{Type: p.Type, Required: p.Required, Desc: texts.Render(t.Text+"."+p.Name, data)}
		if p.Element != "" {
			info.ElemInfo = &schema.ParameterInfo{Type: p.Element}
		}
		params[p.Name] = info
	}
	return &schema.ToolInfo{Name: t.Name, Desc: texts.Render(t.Text, data), ParamsOneOf: schema.NewParamsOneOfByParams(params)}
}

// ParseLoadedNames returns the tools that an answer of a search tool loaded, in any protocol or by Eino's package. It is nil
// if the text is no such answer.
func ParseLoadedNames(text string) []string { return parseLoadedNames(All, text) }

func parseLoadedNames(protocols []*Protocol, text string) []string {
	answer, isObject := splitAnswer(text)
	if !isObject {
		return nil
	}
	names := []string{}
	for _, p := range protocols {
		loaded, err := p.loadedNames(answer)
		if err != nil {
			return nil
		}
		names = append(names, loaded...)
	}
	return names
}
