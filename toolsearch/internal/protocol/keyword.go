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

// Keyword searches by words, or selects names, and loads what it finds.
var Keyword = &Protocol{
	Name: "Keyword",
	Tools: []Tool{{
		Name: toolnames.Search, Text: "tool_search", Params: queryParams, Effect: FindAndLoad, Answer: answerNames,
	}},
	ProgramSearch:  searchForPrograms(toolnames.Search),
	GateText:       "gate",
	SupportsNative: true,
	loadedNames:    loadedByKeyword,
}

// queryParams are the parameters of a search by words.
var queryParams = []Param{
	{Name: "query", Type: schema.String, Required: true},
	{Name: "max_results", Type: schema.Integer},
}

// keywordAnswer is the answer of the Keyword protocol. The key "matches" is Eino's.
type keywordAnswer struct {
	Matches       []string `json:"matches"`
	AlreadyLoaded []string `json:"already_loaded,omitempty"`
	Hint          string   `json:"hint,omitempty"`
}

func answerNames(ctx context.Context, s search.Searcher, args jsontext.Arguments) (string, error) {
	r, err := Find(ctx, s, args)
	return JSON(keywordAnswer{r.Names(), r.AlreadyLoaded, Hint(&r)}), err
}

// Find runs a search by words, of which an answer names the results.
func Find(ctx context.Context, s search.Searcher, args jsontext.Arguments) (search.Result, error) {
	return s.Find(ctx, queryOf(args), answerSpace(nameSize))
}

// nameSize returns the bytes that a name takes in an answer, where it may also stand under already_loaded.
func nameSize(t *catalog.Tool) int { return 2 * (Size(t.Info.Name) + 1) }

// Matches returns the answer that names tools.
func Matches(names []string) string {
	return JSON(keywordAnswer{Matches: append([]string{}, names...)})
}

func loadedByKeyword(answer storedAnswer) (names []string, err error) {
	err = answer.decode("matches", &names)
	return names, err
}
