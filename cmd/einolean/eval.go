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
	Tool     string   `json:"tool"`
	Rule     string   `json:"rule"`
	Message  string   `json:"message"`
	Rival    string   `json:"rival,omitempty"`  // the tool that is found in its place
	Place    int      `json:"place,omitempty"`  // where it is found by its own words, 0 if not among ten
	Shared   []string `json:"shared,omitempty"` // words that both have
	Distinct []string `json:"own,omitempty"`    // words that only this tool has
	Try      string   `json:"try,omitempty"`    // what to write
}

// evalSchema names what evalJSON is.
const evalSchema = "einolean.eval/1"

// evalJSON is what --json writes without queries.
type evalJSON struct {
	Schema     string    `json:"schema"`
	Index      string    `json:"index"`
	Tools      int       `json:"tools"`
	FoundTools int       `json:"found_by_own_words"`
	Findings   []finding `json:"findings"`
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

// depth is how many results of a search are examined.
func (f finding) depth() int {
	if f.Rule == ruleConfusable && f.Place == 0 {
		return depth + 1
	}
	return f.Place
}

// shownByDefault is how many tools a search shows a model that names no number.
const shownByDefault = 5

func runEval(ctx context.Context, s streams, args []string) error {
	var src source
	f := flags(s, "eval", &src.common)
	queries := f.String("queries", "", "graded queries, as JSON Lines with query and relevant; without them, each tool is searched for by its own words")
	failUnder := f.Float64("fail-under", 0,
		"exit with 1 if a smaller share of the tools is found by their own words or, with --queries, if recall@5 is smaller")
	most := f.Int("max-findings", -1, "exit with 1 if there are more findings; -1 allows any number")
	top := f.Int("top", 20, "how many findings or misses to show")
	src.flags(f)
	var queryWriter writer
	queryWriter.flags(f)
	f.StringVar(&queryWriter.file, "o", "einolean-requests.jsonl",
		"with --model, where the requests that it wrote are kept, for --queries")
	rest, err := parse(f, args)
	if err != nil {
		return err
	}
	isGraded := *queries+queryWriter.model != ""
	switch {
	case src.common.schema && isGraded:
		return writeSchema[measuredJSON](s.out, measuredSchema)
	case src.common.schema:
		return writeSchema[evalJSON](s.out, evalSchema)
	case len(rest) != 1:
		return fail(exitUsage, "give one file of tools")
	case *queries != "" && queryWriter.model != "":
		return fail(exitUsage, "--queries measures with a file, and --model has one written")
	case !isShare(*failUnder):
		return fail(exitUsage, "--fail-under is between 0 and 1, not %v", *failUnder)
	}
	if queryWriter.model != "" {
		if err := queryWriter.check(); err != nil {
			return err
		}
	}
	if err := src.open(ctx, s, rest[0]); err != nil {
		return err
	}
	if !isGraded {
		return evalAlone(ctx, s, src, bounds{*failUnder, *most, *top})
	}
	cases, err := graded(ctx, s, src, *queries, queryWriter)
	if err != nil {
		return err
	}
	recall, err := measure(ctx, s, src, cases, *top)
	return cmp.Or(err, missed(recall, *failUnder))
}

// bounds holds the limits of --fail-under, --max-findings and --top.
type bounds struct {
	failUnder float64
	most, top int
}

// evalAlone examines tools without queries.
func evalAlone(ctx context.Context, s streams, src source, b bounds) error {
	report, err := examine(ctx, src.newIndex, src.tools)
	if err != nil {
		return err
	}
	if report.Index = src.index; src.common.json {
		err = writeJSON(s.out, report)
	} else {
		show(s, src.painter, report, b.top)
	}
	share := float64(report.FoundTools) / float64(report.Tools)
	switch {
	case err != nil:
		return err
	case share < b.failUnder:
		return fail(exitMissed, "%.0f %% of the tools are found by their own words, less than %.0f %%", 100*share, 100*b.failUnder)
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
			report.FoundTools++
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

// confusable reports a tool for whose own words a rival ranks first. The distinct words are sorted so that
// words of the tool's name precede words of its server.
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
	rivalWords := significantWords(rival)
	for _, w := range significantWords(t) {
		if slices.Contains(rivalWords, w) {
			f.Shared = append(f.Shared, w)
		} else {
			f.Distinct = append(f.Distinct, w)
		}
	}
	server, _, _ := strings.Cut(strings.ToLower(t.Name), "__")
	slices.SortStableFunc(f.Distinct, func(a, b string) int {
		return cmp.Compare(strings.Count(server, a), strings.Count(server, b))
	})
	f.Shared, f.Distinct = f.Shared[:min(8, len(f.Shared))], f.Distinct[:min(8, len(f.Distinct))]
	if f.Try = "say in its first sentence what it does that " + f.Rival + " does not"; len(f.Distinct) > 0 {
		f.Try += ", with its own words: " + strings.Join(f.Distinct[:min(3, len(f.Distinct))], ", ")
	}
	return f
}

var splitWords = regexp.MustCompile(`[\p{L}\p{N}]+`)

//go:embed stopwords.txt
var stopText string

// stopWords are words that carry no information about a tool.
var stopWords = func() map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(stopText) {
		all[w] = true
	}
	return all
}()

// significantWords returns the distinct words of a tool's name and description without stop words. The words of
// a placeholder description are skipped.
func significantWords(t *schema.ToolInfo) (all []string) {
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

// bareMessage starts the message about parameters without a description.
const bareMessage = "no description: "

var goodName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check applies rules to each definition.
func check(tools []*schema.ToolInfo) (all []finding) {
	byText, byLetters := map[string]string{}, map[string]string{}
	sameText, similar := map[string]int{}, map[string]int{} // index in all, by description and by parameter list
	repeats := map[int]int{}
	for _, t := range tools {
		report := func(rule, message, try string) {
			all = append(all, finding{Tool: t.Name, Rule: rule, Message: message, Try: try})
		}
		desc := strings.TrimSpace(t.Desc)
		n := utf8.RuneCountInString(desc)
		switch {
		case n == 0:
			report(ruleNone, "it has no description", "say in one sentence what it does and when to use it")
		case placeholder(desc):
			report(rulePlaceholder, fmt.Sprintf("its description is a placeholder: %q", clip(desc, 60)),
				"say in one sentence what it does and when to use it")
		case n < 20:
			report(ruleShort, fmt.Sprintf("its description has %d characters", n), "say in one sentence what it does and when to use it")
		case n > 1024:
			report(ruleLong, fmt.Sprintf("its description has %s characters, and some providers accept at most 1,024",
				display.Grouped(n)), "keep what it does and when to use it")
		}
		if other, twice := byText[desc]; twice && n > 0 && !placeholder(desc) {
			if at, listed := sameText[desc]; listed {
				repeats[at]++
			} else {
				sameText[desc] = len(all)
				report(ruleSame, "it has the description of "+other, "say what only this tool does")
			}
		} else {
			byText[desc] = t.Name
		}
		if !goodName.MatchString(t.Name) {
			report(ruleName, "providers accept names of at most 64 letters, digits, _ and -",
				"give it a name of at most 64 letters, digits, _ and -, which all providers accept")
		}
		letters := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(t.Name))
		if other, twice := byLetters[letters]; !twice {
			byLetters[letters] = t.Name
		} else if at, listed := similar[letters]; listed {
			repeats[at]++
		} else {
			similar[letters] = len(all)
			report(ruleSimilar, "its name differs from "+other+" only by case or marks", "")
		}
		if bare := undescribed(t); len(bare) > 0 {
			report(ruleParameters, bareMessage+strings.Join(bare[:min(6, len(bare))], ", "),
				"describe them: searches read their words too")
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

// sample returns at most top findings, grouped by severity. It takes from each group in turn, so that each kind
// of finding is represented.
func sample(all []finding, top int) [][]finding {
	byKind, out := make([][]finding, len(severity)), make([][]finding, len(severity))
	for _, f := range all {
		byKind[f.rank()] = append(byKind[f.rank()], f)
	}
	for room, progressed := top, true; room > 0 && progressed; {
		progressed = false
		for kind := range byKind {
			if n := len(out[kind]); room > 0 && n < len(byKind[kind]) {
				out[kind], progressed = byKind[kind][:n+1], true
				room--
			}
		}
	}
	return out
}

// showOne prints one finding in full.
func showOne(s streams, p painter, f finding) {
	fmt.Fprintf(s.out, "%s  %s\n", p.bold(display.Line(f.Tool)), p.red(display.Line(f.Message)))
	if len(f.Shared) > 0 {
		fmt.Fprintf(s.out, "  %s %s\n", p.dim("both say: "), display.Line(strings.Join(f.Shared, ", ")))
	}
	if len(f.Distinct) > 0 {
		fmt.Fprintf(s.out, "  %s %s\n", p.dim("only this:"), display.Line(strings.Join(f.Distinct, ", ")))
	}
	if f.Try != "" {
		fmt.Fprintf(s.out, "  %s %s\n", p.dim("try:      "), display.Line(f.Try))
	}
	fmt.Fprintln(s.out)
}

// sameAdvice contains the rules whose findings share one piece of advice and are printed as a table.
var sameAdvice = map[string]bool{ruleNone: true, rulePlaceholder: true, ruleShort: true, ruleName: true, ruleLong: true, ruleParameters: true}

// showAlike prints the findings of one rule as a table with one piece of advice.
func showAlike(s streams, p painter, some []finding) {
	widest := 0
	for _, f := range some {
		widest = max(widest, utf8.RuneCountInString(display.Line(f.Tool)))
	}
	fmt.Fprintln(s.out, p.red(headings[some[0].Rule]))
	for _, f := range some {
		name := display.Line(f.Tool)
		message := display.Line(strings.TrimPrefix(f.Message, bareMessage))
		if f.Rule == ruleNone || f.Rule == ruleName {
			message = "" // the heading says it
		}
		line := "  " + p.bold(name) + strings.Repeat(" ", widest-utf8.RuneCountInString(name)) + "  " + message
		fmt.Fprintln(s.out, strings.TrimRight(line, " "))
	}
	if some[0].Try != "" {
		fmt.Fprintf(s.out, "  %s %s\n", p.dim("try:"), some[0].Try)
	}
	fmt.Fprintln(s.out)
}

// summary says how well the tools are found, and how many findings of each kind there are.
func summary(s streams, p painter, r evalJSON) {
	text := fmt.Sprintf("%s of %s found by their own words", display.Grouped(r.FoundTools), are(r.Tools, "tool"))
	if r.FoundTools == r.Tools {
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
			fmt.Fprintf(s.out, "%6s %s\n", display.Grouped(n[rule]), p.dim(headings[rule]))
		}
	}
	fmt.Fprintln(s.out)
}

// headings holds the heading of each rule's table.
var headings = map[string]string{
	ruleNone: "without a description", rulePlaceholder: "with a placeholder for a description", ruleConfusable: "not among the first five by their own words",
	ruleSame: "with the description of another tool", ruleShort: "with hardly any description", ruleName: "with a name that providers refuse", ruleSimilar: "with a name that another one resembles",
	ruleNear: "found, but after another tool", ruleLong: "with a description that some providers refuse", ruleParameters: "with parameters that are not described",
}
