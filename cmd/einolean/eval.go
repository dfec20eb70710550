// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// einolean eval examines a catalogue. Without queries it searches for each tool with the tool's own words, and says what to write better.

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/toolsearch/index"
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
const evalSchema = "einolean.eval/1"

// evalJSON is what --json writes without queries.
type evalJSON struct {
	Schema   string    `json:"schema"`
	Index    string    `json:"index"`
	Tools    int       `json:"tools"`
	Found    int       `json:"found_by_own_words"`
	Findings []finding `json:"findings"`
}

// The rules, in the order in which their findings are listed: what keeps a tool from being found
// comes first. Those of confusable tools that are still within reach come later.
const (
	ruleNone        = "no description"
	rulePlaceholder = "placeholder"
	ruleConfusable  = "confusable"
	ruleSame        = "same description"
	ruleShort       = "short description"
	ruleName        = "name"
	ruleSimilar     = "similar name"
	ruleNear        = "confusable, near" // for the order only
	ruleLong        = "long description"
	ruleParameters  = "parameters"
)

var severity = []string{ruleNone, rulePlaceholder, ruleConfusable, ruleSame, ruleShort, ruleName, ruleSimilar, ruleNear, ruleLong, ruleParameters}

// worse orders findings, the worst first.
func worse(a, b finding) int {
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.depth(), a.depth()))
}

// rank is the place of a finding's rule.
func (f finding) rank() int {
	if f.Rule == ruleConfusable && f.Place > 0 && f.Place <= shownByDefault {
		return slices.Index(severity, ruleNear)
	}
	return slices.Index(severity, f.Rule)
}

// depth is how far down the tool was found by its own words.
func (f finding) depth() int {
	if f.Rule == ruleConfusable && f.Place == 0 {
		return depth + 1
	}
	return f.Place
}

// shownByDefault is how many tools a search shows a model that names no number.
const shownByDefault = 5

func runEval(ctx context.Context, s streams, args []string) error {
	var from source
	f := flags(s, "eval", &from.common)
	queries := f.String("queries", "", "graded queries, as JSON Lines with query and relevant; without them, each tool is searched for by its own words")
	under := f.Float64("fail-under", 0, "exit with 1 if a smaller share of the tools is found by their own words or, with --queries, if recall@5 is smaller")
	most := f.Int("max-findings", -1, "exit with 1 if there are more findings; -1 allows any number")
	top := f.Int("top", 20, "how many findings or misses to show")
	from.flags(f)
	var by writer
	by.flags(f)
	f.StringVar(&by.file, "o", "einolean-requests.jsonl", "with --model, where the requests that it wrote are kept, for --queries")
	rest, err := parse(f, args)
	if err != nil {
		return err
	}
	isGraded := *queries+by.model != ""
	switch {
	case from.common.schema && isGraded:
		return writeSchema[measuredJSON](s.out, measuredSchema)
	case from.common.schema:
		return writeSchema[evalJSON](s.out, evalSchema)
	case len(rest) != 1:
		return fail(exitUsage, "give one file of tools")
	case *queries != "" && by.model != "":
		return fail(exitUsage, "--queries measures with a file, and --model has one written")
	case !isShare(*under):
		return fail(exitUsage, "--fail-under is between 0 and 1, not %v", *under)
	}
	if by.model != "" {
		if err := by.check(); err != nil {
			return err
		}
	}
	if err := from.open(ctx, s, rest[0]); err != nil {
		return err
	}
	if !isGraded {
		return evalAlone(ctx, s, from, bounds{*under, *most, *top})
	}
	cases, err := graded(ctx, s, from, *queries, by)
	if err != nil {
		return err
	}
	recall, err := measure(ctx, s, from, cases, *top)
	return cmp.Or(err, missed(recall, *under))
}

// bounds are what --fail-under and --max-findings allow, and how many findings --top shows.
type bounds struct {
	under     float64
	most, top int
}

// evalAlone examines tools without queries.
func evalAlone(ctx context.Context, s streams, from source, b bounds) error {
	report, err := examine(ctx, from.newIndex, from.tools)
	if err != nil {
		return err
	}
	if report.Index = from.index; from.common.json {
		err = writeJSON(s.out, report)
	} else {
		show(s, from.painter, report, b.top)
	}
	share := float64(report.Found) / float64(report.Tools)
	switch {
	case err != nil:
		return err
	case share < b.under:
		return fail(exitMissed, "%.0f %% of the tools are found by their own words, less than %.0f %%", 100*share, 100*b.under)
	case b.most >= 0 && len(report.Findings) > b.most:
		return fail(exitMissed, "%s, more than %d", plural(len(report.Findings), "finding"), b.most)
	}
	return nil
}

// depth is how far down a tool is looked for.
const depth = 10

// examine searches for each tool with the first sentence of its description, and checks
// the definitions.
func examine(ctx context.Context, newIndex index.Func, tools []*schema.ToolInfo) (evalJSON, error) {
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
		if query == "" || placeholder(t.Desc) {
			continue // the rules say that it has no description
		}
		results, err := x.Search(ctx, index.Query{Text: query, Limit: depth})
		if err != nil {
			return report, err
		}
		place := 1 + slices.IndexFunc(results, func(r index.Result) bool { return r.Name == t.Name })
		if place == 1 {
			report.Found++
			continue
		}
		report.Findings = append(report.Findings, confusable(t, place, byName[results0(results)]))
	}
	report.Findings = append(report.Findings, check(tools)...)
	slices.SortStableFunc(report.Findings, worse)
	return report, nil
}

// results0 is the name of the first result, empty without one.
func results0(results []index.Result) string {
	if len(results) == 0 {
		return ""
	}
	return results[0].Name
}

// placeholders is what generators write in place of a description.
var placeholders = regexp.MustCompile(`(?i)^[^\p{L}\p{N}]*(?:(?:no|missing|empty) (?:tool )?(?:description|docs?|documentation)(?: (?:is )?(?:yet|provided|available|given))*|(?:tool )?description(?: (?:is )?(?:not|un)[ -]?(?:yet )?(?:available|provided|given)| goes here| here)?|to ?do|tbd|n/?a|none|null|undefined|unknown|placeholder|lorem ipsum.*|暂无(?:描述|说明|简介)?|无(?:描述|说明)?|待补充|待定|描述|说明)[^\p{L}\p{N}]*$`)

// placeholder reports whether a text stands where a description should.
func placeholder(desc string) bool { return placeholders.MatchString(strings.TrimSpace(desc)) }

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

// confusable is a tool whose own words find a rival first. Of the words that only the tool has,
// those of its name say best what it is, and that of its server least.
func confusable(t *schema.ToolInfo, place int, rival *schema.ToolInfo) finding {
	f := finding{Tool: t.Name, Rule: ruleConfusable, Place: place, Message: "its own words find no tool", Try: "say in words of its users what it does"}
	if rival == nil {
		return f
	}
	f.Rival = rival.Name
	f.Message = "its own words find " + f.Rival + " first"
	switch {
	case place == 0:
		f.Message += fmt.Sprintf(", and do not find it in the first %d", depth)
	case place > 2:
		f.Message += fmt.Sprintf(", and it only %s", []string{"third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}[place-3])
	}
	theirs := words(rival)
	for _, w := range words(t) {
		if slices.Contains(theirs, w) {
			f.Shared = append(f.Shared, w)
		} else {
			f.Own = append(f.Own, w)
		}
	}
	server, _, _ := strings.Cut(strings.ToLower(t.Name), "__")
	slices.SortStableFunc(f.Own, func(a, b string) int {
		return cmp.Compare(strings.Count(server, a), strings.Count(server, b))
	})
	f.Shared, f.Own = f.Shared[:min(8, len(f.Shared))], f.Own[:min(8, len(f.Own))]
	if f.Try = "say in its first sentence what it does that " + f.Rival + " does not"; len(f.Own) > 0 {
		f.Try += ", with its own words: " + strings.Join(f.Own[:min(3, len(f.Own))], ", ")
	}
	return f
}

var splitWords = regexp.MustCompile(`[\p{L}\p{N}]+`)

//go:embed stopwords.txt
var stopText string

// stopWords say nothing about what a tool does.
var stopWords = func() map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(stopText) {
		all[w] = true
	}
	return all
}()

// words are the telling words of a tool's name and description, each once. Those of a placeholder
// tell nothing.
func words(t *schema.ToolInfo) (all []string) {
	text := strings.ReplaceAll(t.Name, "_", " ")
	if !placeholder(t.Desc) {
		text += " " + t.Desc
	}
	for _, w := range splitWords.FindAllString(strings.ToLower(text), -1) {
		if utf8.RuneCountInString(w) > 1 && strings.ContainsFunc(w, unicode.IsLetter) && !stopWords[w] && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// bareMessage begins what is said of parameters without a description.
const bareMessage = "no description: "

var goodName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check applies rules to each definition.
func check(tools []*schema.ToolInfo) (all []finding) {
	byText, byLetters := map[string]string{}, map[string]string{}
	same, similar := map[string]int{}, map[string]int{} // places in all, by what is the same
	repeats := map[int]int{}
	for _, t := range tools {
		say := func(rule, message, try string) {
			all = append(all, finding{Tool: t.Name, Rule: rule, Message: message, Try: try})
		}
		desc := strings.TrimSpace(t.Desc)
		n := utf8.RuneCountInString(desc)
		switch {
		case n == 0:
			say(ruleNone, "it has no description", "say in one sentence what it does and when to use it")
		case placeholder(desc):
			say(rulePlaceholder, fmt.Sprintf("its description is a placeholder: %q", clip(desc, 60)), "say in one sentence what it does and when to use it")
		case n < 20:
			say(ruleShort, fmt.Sprintf("its description has %d characters", n), "say in one sentence what it does and when to use it")
		case n > 1024:
			say(ruleLong, fmt.Sprintf("its description has %s characters, and some providers accept at most 1,024", display.Grouped(n)), "keep what it does and when to use it")
		}
		if other, twice := byText[desc]; twice && n > 0 && !placeholder(desc) {
			if at, listed := same[desc]; listed {
				repeats[at]++
			} else {
				same[desc] = len(all)
				say(ruleSame, "it has the description of "+other, "say what only this tool does")
			}
		} else {
			byText[desc] = t.Name
		}
		if !goodName.MatchString(t.Name) {
			say(ruleName, "providers accept names of at most 64 letters, digits, _ and -", "give it a name of at most 64 letters, digits, _ and -, which all providers accept")
		}
		letters := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(t.Name))
		if other, twice := byLetters[letters]; !twice {
			byLetters[letters] = t.Name
		} else if at, listed := similar[letters]; listed {
			repeats[at]++
		} else {
			similar[letters] = len(all)
			say(ruleSimilar, "its name differs from "+other+" only by case or marks", "")
		}
		if bare := undescribed(t); len(bare) > 0 {
			say(ruleParameters, bareMessage+strings.Join(bare[:min(6, len(bare))], ", "), "describe them: searches read their words too")
		}
	}
	for at, n := range repeats {
		all[at].Message += fmt.Sprintf(" (and %s like this)", are(n, "other tool"))
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

// show writes the summary, and then some findings of each kind, so that many of one kind do not
// hide the others.
func show(s streams, p painter, r evalJSON, top int) {
	summary(s, p, r)
	for kind, some := range sample(r.Findings, top) {
		if len(some) == 0 {
			continue
		}
		if sameAdvice[severity[kind]] {
			showAlike(s, p, some)
			continue
		}
		for _, f := range some {
			showOne(s, p, f)
		}
	}
	if rest := len(r.Findings) - max(0, top); rest > 0 {
		fmt.Fprintf(s.out, "%s\n", p.dim(fmt.Sprintf("… and %s; --top shows more, --json all", plural(rest, "finding"))))
	}
}

// sample is at most top findings, by their place in severity, as many of each kind as there is
// room for.
func sample(all []finding, top int) [][]finding {
	by, out := make([][]finding, len(severity)), make([][]finding, len(severity))
	for _, f := range all {
		by[f.rank()] = append(by[f.rank()], f)
	}
	for left, taken := top, true; left > 0 && taken; {
		taken = false
		for kind := range by {
			if n := len(out[kind]); left > 0 && n < len(by[kind]) {
				out[kind], taken = by[kind][:n+1], true
				left--
			}
		}
	}
	return out
}

// showOne writes a finding with its words.
func showOne(s streams, p painter, f finding) {
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

// sameAdvice are the rules whose findings are a table, since what to do is the same for all.
var sameAdvice = map[string]bool{ruleNone: true, rulePlaceholder: true, ruleShort: true, ruleName: true, ruleLong: true, ruleParameters: true}

// showAlike writes the findings of a rule as a table with one piece of advice.
func showAlike(s streams, p painter, some []finding) {
	widest := 0
	for _, f := range some {
		widest = max(widest, utf8.RuneCountInString(display.Line(f.Tool)))
	}
	fmt.Fprintln(s.out, p.red(about[some[0].Rule]))
	for _, f := range some {
		name := display.Line(f.Tool)
		says := display.Line(strings.TrimPrefix(f.Message, bareMessage))
		if f.Rule == ruleNone || f.Rule == ruleName {
			says = "" // the heading says it
		}
		line := "  " + p.bold(name) + strings.Repeat(" ", widest-utf8.RuneCountInString(name)) + "  " + says
		fmt.Fprintln(s.out, strings.TrimRight(line, " "))
	}
	if some[0].Try != "" {
		fmt.Fprintf(s.out, "  %s %s\n", p.dim("try:"), some[0].Try)
	}
	fmt.Fprintln(s.out)
}

// summary says how well the tools are found, and how many findings of each kind there are.
func summary(s streams, p painter, r evalJSON) {
	text := fmt.Sprintf("%s of %s found by their own words", display.Grouped(r.Found), are(r.Tools, "tool"))
	if r.Found == r.Tools {
		text = p.green(text)
	}
	fmt.Fprintln(s.out, p.bold(text))
	fmt.Fprintln(s.out, p.dim("no model or user was asked: words that they use and no tool has are not counted; --queries or --model measures them"))
	n := map[string]int{}
	for _, f := range r.Findings {
		n[severity[f.rank()]]++
	}
	for _, rule := range severity {
		if n[rule] > 0 {
			fmt.Fprintf(s.out, "%6s %s\n", display.Grouped(n[rule]), p.dim(about[rule]))
		}
	}
	fmt.Fprintln(s.out)
}

// about is what a count of findings is followed by.
var about = map[string]string{
	ruleNone: "without a description", rulePlaceholder: "with a placeholder for a description", ruleConfusable: "not among the first five by their own words",
	ruleSame: "with the description of another tool", ruleShort: "with hardly any description", ruleName: "with a name that providers refuse", ruleSimilar: "with a name that another one resembles",
	ruleNear: "found, but after another tool", ruleLong: "with a description that some providers refuse", ruleParameters: "with parameters that are not described",
}
