// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"context"
	"errors"
	"math"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/search"
)

// SearchLoad has a tool that searches for candidates, and one that loads tools by name.
var SearchLoad = &Protocol{
	Name: "SearchLoad",
	Tools: []Tool{
		{Name: toolnames.SearchTools, Text: "search_tools", Params: queryParams, Effect: FindOnly, Answer: answerCandidates},
		{Name: toolnames.Load, Text: "load_tool", Params: namesParams, Effect: LoadOnly, Answer: answerLoad},
	},
	ProgramSearch: searchForPrograms(toolnames.SearchTools),
	GateText:      "gate",
	loadedNames:   loadedBySearchLoad,
}

var namesParams = []Param{
	{Name: "tool_name", Type: schema.String},
	{Name: "tool_names", Type: schema.Array, Element: schema.String},
}

// candidatesAnswer is the answer of search_tools.
type candidatesAnswer struct {
	Results       []candidate `json:"results"`
	AlreadyLoaded []string    `json:"already_loaded,omitempty"`
	Hint          string      `json:"hint,omitempty"`
}

// candidate is a tool that can be loaded.
type candidate struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Score       float64 `json:"score"`
}

// maxCandidateDescription is the largest length of the description of a candidate, in runes.
const maxCandidateDescription = 150

func answerCandidates(ctx context.Context, s search.Searcher, args jsontext.Arguments) (string, error) {
	r, err := s.Find(ctx, queryOf(args), answerSpace(candidateSize))
	candidates := []candidate{}
	for _, x := range r.Hits {
		desc := display.Clip(x.Info.Desc, maxCandidateDescription)
		candidates = append(candidates, candidate{x.Info.Name, desc, math.Round(x.Score*100) / 100})
	}
	return JSON(candidatesAnswer{candidates, r.AlreadyLoaded, Hint(&r)}), err
}

// candidateSize returns the bytes that a candidate takes in an answer, where its name may also stand under already_loaded.
func candidateSize(t *catalog.Tool) int {
	const rest = `{"name":,"description":,"score":1234567.89},`
	return nameSize(t) + Size(display.Clip(t.Info.Desc, maxCandidateDescription)) + len(rest)
}

// loadAnswer is the answer of load_tool.
type loadAnswer struct {
	Loaded        []string `json:"loaded"`
	AlreadyLoaded []string `json:"already_loaded,omitempty"`
	Hint          string   `json:"hint,omitempty"`
}

// maxNearOnLoad is the largest number of similar names for an unknown name.
const maxNearOnLoad = 3

func answerLoad(ctx context.Context, s search.Searcher, args jsontext.Arguments) (string, error) {
	r := s.Select(s.SplitNames(nameLists(args)), answerSpace(nameSize))
	for i, u := range r.Unknown {
		r.Unknown[i].Near = u.Near[:min(len(u.Near), maxNearOnLoad)]
	}
	hint := Hint(&r)
	if r.Requests == 0 {
		hint = Text("no-name", Data{})
	}
	return JSON(loadAnswer{toolnames.Difference(r.Names(), r.AlreadyLoaded), r.AlreadyLoaded, hint}), ctx.Err()
}

// nameLists returns the names that a call of load_tool asks for, some of them in lists.
func nameLists(args jsontext.Arguments) []string {
	return append(textsOf(args, "tool_name", "name"), textsOf(args, "tool_names", "names", "tools")...)
}

// RequestedNames returns the tools that a call of load_tool in a history asked for.
func RequestedNames(tools search.Tools, args jsontext.Arguments) []string {
	return tools.ResolveNames(nameLists(args))
}

// loadedBySearchLoad also returns what search_tools found loaded already.
func loadedBySearchLoad(answer storedAnswer) ([]string, error) {
	var loaded, alreadyLoaded []string
	err := errors.Join(answer.decode("loaded", &loaded), answer.decode("already_loaded", &alreadyLoaded))
	return append(loaded, alreadyLoaded...), err
}
