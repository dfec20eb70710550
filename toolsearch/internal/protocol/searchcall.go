// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"context"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/search"
)

// SearchCall shows the schemas of the tools that it finds. The model runs them with call_tool, so the tool list never
// changes.
var SearchCall = &Protocol{
	Name: "SearchCall",
	Tools: []Tool{{
		Name: toolnames.Search, Text: "tool_search_call", Params: queryParams, Effect: FindAndLoad, Answer: answerDescriptions,
	}},
	ProgramSearch: searchForPrograms(toolnames.Search),
	CallTool: &Tool{Name: toolnames.Call, Text: "call_tool", Params: []Param{
		{Name: "name", Type: schema.String, Required: true},
		{Name: "arguments", Type: schema.Object, Required: true},
	}},
	GateText:            "gate-call",
	FixedToolList:       true,
	DescribesPrefetched: true,
	loadedNames:         describedNames,
}

func answerDescriptions(ctx context.Context, s search.Searcher, args jsontext.Arguments) (string, error) {
	r, err := s.Find(ctx, queryOf(args), answerSpace(descriptionSize))
	tools, shortened := []Described{}, []string{}
	for _, x := range r.Hits {
		d, isShortened := Describe(x.Tool)
		if tools = append(tools, d); isShortened {
			shortened = append(shortened, Text("shortened-tool", Data{Name: d.Name}))
		}
	}
	return JSON(toolsAnswer{tools, Hint(&r, shortened...)}), err
}

func descriptionSize(t *catalog.Tool) int {
	d, _ := Describe(t)
	return d.Size()
}

// describedNames returns the tools of which an answer has the schema. A signature loads nothing.
func describedNames(answer storedAnswer) (names []string, err error) {
	var tools []struct {
		Name string `json:"name"`
		Call string `json:"call"`
	}
	err = answer.decode("tools", &tools)
	for _, t := range tools {
		if t.Call == "" {
			names = append(names, t.Name)
		}
	}
	return names, err
}
