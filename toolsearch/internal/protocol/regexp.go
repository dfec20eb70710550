// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"context"
	"regexp"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/search"
)

// Regexp matches a pattern against names, and loads all matches.
var Regexp = &Protocol{
	Name: "Regexp",
	Tools: []Tool{{
		Name: toolnames.Search, Text: "tool_search_regexp", Params: patternParams, Effect: FindAndLoad, Answer: answerMatches,
	}},
	ProgramSearch: Tool{
		Name: toolnames.Search, Text: "tool_search_regexp", Params: patternParams, Effect: FindAndLoad, Answer: answerMatchSignatures,
	},
	GateText:     "gate",
	MatchesNames: true,
	loadedNames:  loadedByRegexp,
}

var patternParams = []Param{{Name: "regex_pattern", Type: schema.String, Required: true}}

// maxPattern is the largest length of a pattern, in bytes. RE2 matches in linear time, but compiling a long pattern takes
// time and memory.
const maxPattern = 1000

// regexpAnswer is the answer of the Regexp protocol.
type regexpAnswer struct {
	SelectedTools []string `json:"selectedTools"`
	AlreadyLoaded []string `json:"already_loaded,omitempty"`
	Hint          string   `json:"hint,omitempty"`
}

func answerMatches(ctx context.Context, s search.Searcher, args jsontext.Arguments) (string, error) {
	r, hint := findMatches(ctx, s, args, nameSize)
	return JSON(regexpAnswer{r.Names(), r.AlreadyLoaded, hint}), ctx.Err()
}

func answerMatchSignatures(ctx context.Context, s search.Searcher, args jsontext.Arguments) (string, error) {
	r, hint := findMatches(ctx, s, args, signatureSize)
	return signaturesAnswer(r.Hits, hint), ctx.Err()
}

// findMatches returns the tools whose names match, and a hint. An answer takes size bytes for a tool.
func findMatches(
	ctx context.Context, s search.Searcher, args jsontext.Arguments, size func(*catalog.Tool) int,
) (r search.Result, hint string) {
	pattern := firstText(args, "regex_pattern", "pattern", "regex", "query")
	if pattern == "" {
		return r, Text("empty-pattern", Data{})
	}
	if len(pattern) > maxPattern {
		return r, Text("long-pattern", Data{Limit: maxPattern})
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return r, Text("bad-pattern", Data{Reason: Clip(err.Error())})
	}
	matches := func(t *catalog.Tool) bool { return re.MatchString(t.Info.Name) }
	r, _ = s.FindByRule(ctx, search.Rule{Text: pattern, Words: wordsIn(pattern), Selects: matches}, answerSpace(size))
	hint = strings.Join(notices(&r), " ")
	if !r.HasFound() {
		noMatch := Data{Near: r.Near, Language: r.Languages.Tools, QueryLanguage: r.Languages.Query}
		hint = strings.TrimSpace(Text("no-name-matches", noMatch) + " " + hint)
	}
	return r, hint
}

var nonWords = regexp.MustCompile(`\\.|[^\pL\pN_]+`)

// wordsIn returns the words in a pattern, for suggestions.
func wordsIn(pattern string) string { return nonWords.ReplaceAllString(pattern, " ") }

func loadedByRegexp(answer storedAnswer) (names []string, err error) {
	err = answer.decode("selectedTools", &names)
	return names, err
}
