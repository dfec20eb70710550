// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file holds the command that examines a catalogue. Without queries it searches
// for each tool with the tool's own words, and says what to write better.

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/toolsearch"
)

// finding is one thing to fix.
type finding struct {
	Tool    string   `json:"tool"`
	Rule    string   `json:"rule"`
	Message string   `json:"message"`
	Rival   string   `json:"rival,omitempty"`  // the tool that is found in its place
	Place   int      `json:"place,omitempty"`  // where it is found by its own words, 0 if not among ten
	Shared  []string `json:"shared,omitempty"` // words that both have
	Own     []string `json:"own,omitempty"`    // words that only this tool has
	Try     string   `json:"try,omitempty"`    // what to write
}

// evalSchema names what evalJSON is.
const evalSchema = "leanctx.eval/1"

// evalJSON is what --json writes without queries.
type evalJSON struct {
	Schema   string    `json:"schema"`
	Index    string    `json:"index"`
	Tools    int       `json:"tools"`
	Found    int       `json:"found_by_own_words"`
	Findings []finding `json:"findings"`
}

func runEval(ctx context.Context, s streams, args []string) error {
	var common options
	var from source
	f := flags(s, "eval", &common)
	queries := f.String("queries", "", "graded queries, as JSON Lines with query and relevant; without them, each tool is searched for by its own words")
	under := f.Float64("fail-under", 0, "exit with 1 if a smaller share of the tools is found by their own words or, with --queries, if recall@5 is smaller")
	most := f.Int("max-findings", -1, "exit with 1 if there are more findings; -1 allows any number")
	top := f.Int("top", 20, "how many findings or misses to show")
	from.flags(f)
	rest, err := parse(f, args)
	if err != nil {
		return err
	}
	switch {
	case common.schema && *queries != "":
		return writeSchema[measuredJSON](s.out, measuredSchema)
	case common.schema:
		return writeSchema[evalJSON](s.out, evalSchema)
	case len(rest) != 1:
		return fail(exitUsage, "give one file of tools")
	}
	c, err := from.open(ctx, s, common, rest[0])
	if err != nil {
		return err
	}
	if *queries != "" {
		return measure{*queries, from.index, *under, *top, common.json}.run(ctx, s, c)
	}
	report, err := examine(ctx, c.newIndex, c.tools)
	if err != nil {
		return err
	}
	if report.Index = from.index; common.json {
		err = writeJSON(s.out, report)
	} else {
		show(s, c.painter, report, *top)
	}
	share := float64(report.Found) / float64(report.Tools)
	switch {
	case err != nil:
		return err
	case share < *under:
		return fail(exitMissed, "%.0f %% of the tools are found by their own words, less than %.0f %%", 100*share, 100**under)
	case *most >= 0 && len(report.Findings) > *most:
		return fail(exitMissed, "%s, more than %d", plural(len(report.Findings), "finding"), *most)
	}
	return nil
}

// depth is how far down a tool is looked for.
const depth = 10

// examine searches for each tool with the first sentence of its description, and checks
// the definitions.
func examine(ctx context.Context, newIndex toolsearch.IndexFunc, tools []*schema.ToolInfo) (evalJSON, error) {
	report := evalJSON{Schema: evalSchema, Tools: len(tools), Findings: []finding{}}
	x, err := newIndex(ctx, tools)
	if err != nil {
		return report, err
	}
	byName := map[string]*schema.ToolInfo{}
	for _, t := range tools {
		byName[t.Name] = t
	}
	for _, t := range tools {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		query := ownWords(t)
		if query == "" {
			continue // the rules say that it has no description
		}
		results, err := x.Search(ctx, toolsearch.Query{Text: query, Limit: depth})
		if err != nil {
			return report, err
		}
		place := 1 + slices.IndexFunc(results, func(r toolsearch.Result) bool { return r.Name == t.Name })
		if place == 1 {
			report.Found++
			continue
		}
		report.Findings = append(report.Findings, confusable(t, place, results, byName))
	}
	rules := check(tools)
	slices.SortStableFunc(rules, func(a, b finding) int { // what keeps a tool from being found comes first
		return slices.Index(severity, a.Rule) - slices.Index(severity, b.Rule)
	})
	report.Findings = append(report.Findings, rules...)
	return report, nil
}

// ownWords is the first sentence of a description without the tool's name.
func ownWords(t *schema.ToolInfo) string {
	text := strings.TrimSpace(t.Desc)
	if at := strings.IndexAny(text, "\n。"); at >= 0 {
		text = text[:at]
	}
	if at := strings.Index(text, ". "); at >= 0 {
		text = text[:at]
	}
	text = strings.ReplaceAll(text, t.Name, "")
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		return ""
	}
	return text
}

func confusable(t *schema.ToolInfo, place int, results []toolsearch.Result, byName map[string]*schema.ToolInfo) finding {
	f := finding{Tool: t.Name, Rule: "confusable", Place: place, Message: "its own words find no tool"}
	if len(results) == 0 {
		return f
	}
	f.Rival = results[0].Name
	f.Message = "its own words find " + f.Rival + " first"
	if place == 0 {
		f.Message += ", and do not find it in the first ten"
	}
	mine, theirs := words(t), words(byName[f.Rival])
	for _, w := range mine {
		if slices.Contains(theirs, w) {
			f.Shared = append(f.Shared, w)
		} else {
			f.Own = append(f.Own, w)
		}
	}
	f.Shared, f.Own = f.Shared[:min(8, len(f.Shared))], f.Own[:min(8, len(f.Own))]
	if len(f.Own) > 0 {
		f.Try = "begin the description with what only this tool does: " + strings.Join(f.Own[:min(4, len(f.Own))], ", ")
	} else {
		f.Try = "say what this tool does that " + f.Rival + " does not"
	}
	return f
}

var splitWords = regexp.MustCompile(`[\p{L}\p{N}]+`)

// words are the words of a tool's name and description, each once, without the short ones.
func words(t *schema.ToolInfo) (all []string) {
	if t == nil {
		return nil
	}
	for _, w := range splitWords.FindAllString(strings.ToLower(strings.ReplaceAll(t.Name, "_", " ")+" "+t.Desc), -1) {
		if utf8.RuneCountInString(w) > 3 && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// severity is the order in which findings are listed.
var severity = []string{"no description", "same description", "short description", "name", "similar name", "long description", ruleParameters}

// What is said of parameters without a description.
const (
	ruleParameters = "parameters"
	bareMessage    = "no description: "
)

var goodName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check applies rules to each definition.
func check(tools []*schema.ToolInfo) (all []finding) {
	byText, byLetters := map[string]string{}, map[string]string{}
	for _, t := range tools {
		say := func(rule, message, try string) {
			all = append(all, finding{Tool: t.Name, Rule: rule, Message: message, Try: try})
		}
		desc := strings.TrimSpace(t.Desc)
		n := utf8.RuneCountInString(desc)
		switch {
		case n == 0:
			say("no description", "it has no description", "say in one sentence what it does and when to use it")
		case n < 20:
			say("short description", fmt.Sprintf("its description has %d characters", n), "say in one sentence what it does and when to use it")
		case n > 1024:
			say("long description", fmt.Sprintf("its description has %s characters, and some providers accept at most 1,024", display.Grouped(n)), "keep what it does and when to use it")
		}
		if other, twice := byText[desc]; twice && n > 0 {
			say("same description", "it has the description of "+other, "say what only this tool does")
		}
		byText[desc] = t.Name
		if !goodName.MatchString(t.Name) {
			say("name", "providers accept names of at most 64 letters, digits, _ and -", "")
		}
		letters := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(t.Name))
		if other, twice := byLetters[letters]; twice {
			say("similar name", "its name differs from "+other+" only by case or marks", "")
		}
		byLetters[letters] = t.Name
		if bare := undescribed(t); len(bare) > 0 {
			say(ruleParameters, bareMessage+strings.Join(bare[:min(6, len(bare))], ", "), "describe them: searches read their words too")
		}
	}
	return all
}

// undescribed are the parameters of a tool without a description.
func undescribed(t *schema.ToolInfo) (names []string) {
	if t.ParamsOneOf == nil {
		return nil
	}
	s, err := t.ToJSONSchema()
	if err != nil || s == nil || s.Properties == nil {
		return nil
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		if p.Value != nil && strings.TrimSpace(p.Value.Description) == "" && strings.TrimSpace(p.Value.Title) == "" {
			names = append(names, p.Key)
		}
	}
	return names
}

func show(s streams, p painter, r evalJSON, top int) {
	shown := r.Findings[:min(top, len(r.Findings))]
	var bare []finding // one table, since what to do is the same for all
	for _, f := range shown {
		if f.Rule == ruleParameters {
			bare = append(bare, f)
			continue
		}
		fmt.Fprintf(s.out, "%s  %s\n", p.bold(display.Line(f.Tool)), p.red(display.Line(f.Message)))
		if len(f.Shared) > 0 {
			fmt.Fprintf(s.out, "  %s %s\n", p.dim("both say: "), display.Line(strings.Join(f.Shared, ", ")))
		}
		if len(f.Own) > 0 {
			fmt.Fprintf(s.out, "  %s %s\n", p.dim("only this:"), display.Line(strings.Join(f.Own, ", ")))
		}
		if f.Try != "" {
			fmt.Fprintf(s.out, "  %s %s\n", p.dim("try:      "), display.Line(f.Try))
		}
		fmt.Fprintln(s.out)
	}
	showBare(s, p, bare)
	if rest := len(r.Findings) - len(shown); rest > 0 {
		fmt.Fprintf(s.out, "%s\n\n", p.dim(fmt.Sprintf("… and %s; --top shows more, --json all", plural(rest, "finding"))))
	}
	text := fmt.Sprintf("%s of %s found by their own words", display.Grouped(r.Found), are(r.Tools, "tool"))
	if r.Found == r.Tools {
		text = p.green(text)
	}
	fmt.Fprintln(s.out, p.bold(text))
}

// showBare lists the tools with parameters that have no description.
func showBare(s streams, p painter, bare []finding) {
	if len(bare) == 0 {
		return
	}
	widest := 0
	for _, f := range bare {
		widest = max(widest, utf8.RuneCountInString(display.Line(f.Tool)))
	}
	fmt.Fprintln(s.out, p.red("parameters without a description"))
	for _, f := range bare {
		name := display.Line(f.Tool)
		fmt.Fprintf(s.out, "  %s%s  %s\n", p.bold(name), strings.Repeat(" ", widest-utf8.RuneCountInString(name)), display.Line(strings.TrimPrefix(f.Message, bareMessage)))
	}
	fmt.Fprintf(s.out, "  %s %s\n\n", p.dim("try:"), bare[0].Try)
}
