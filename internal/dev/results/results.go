// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package results makes results of tools as agents receive them, with facts that a model would look for
// and the questions it would ask. A question describes its subject partly in other words than the result.
//
// Some formats are for tuning, others are only for reports: change nothing because of those.
package results

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Fact is something that a result says once.
type Fact struct {
	Question string // what a model asks for
	Answer   string // the text that answers it, as it stands in the result without outer escapes
}

// Result is the result of a tool.
type Result struct {
	Format string
	Text   string
	Facts  []Fact
}

// FactsPerResult is how many facts a result has at most.
const FactsPerResult = 12

// Group is what formats are for.
type Group string

// The groups.
const (
	// Tuning formats are those on which the ranking was chosen.
	Tuning Group = "tuning"

	// Further formats are for tuning as well, and were written later.
	Further Group = "further"

	// HeldOut formats are only for reports.
	HeldOut Group = "held-out"
)

type format struct {
	group Group
	bytes int // about how long a result is
	write func(w *writer)
}

var formats = map[string]format{
	"issues-json":   {Tuning, 160_000, issuesJSON},
	"orders-csv":    {Tuning, 90_000, ordersCSV},
	"docs-markdown": {Tuning, 60_000, docsMarkdown},
	"k8s-yaml":      {Tuning, 120_000, kubernetesYAML},
	"server-log":    {Tuning, 250_000, serverLog},
	"openapi-json":  {Tuning, 400_000, openAPI},
	"mail-archive":  {Tuning, 50_000, mailArchive},
	"git-diff":      {Tuning, 80_000, gitDiff},
	"calendar-ics":  {Tuning, 70_000, calendar},
	"events-jsonl":  {Tuning, 200_000, eventsJSONL},
	"article-html":  {Tuning, 40_000, articleHTML},
	"manual-page":   {Tuning, 30_000, manualPage},
	"stack-traces":  {Tuning, 100_000, stackTraces},
	"tickets-zh":    {Tuning, 60_000, ticketsChinese},

	"rest-page":     {HeldOut, 180_000, restPage},
	"products-tsv":  {HeldOut, 60_000, productsTSV},
	"catalog-html":  {HeldOut, 150_000, catalogHTML},
	"settings-ini":  {HeldOut, 25_000, settingsINI},
	"journal":       {HeldOut, 300_000, journal},
	"sql-table":     {HeldOut, 45_000, sqlTable},
	"feed-xml":      {HeldOut, 110_000, feedXML},
	"code-listing":  {HeldOut, 70_000, codeListing},
	"chat-export":   {HeldOut, 130_000, chatExport},
	"web-search":    {HeldOut, 8_000, webSearch},
	"terraform":     {HeldOut, 90_000, terraformPlan},
	"meeting-notes": {HeldOut, 35_000, meetingNotes},
	"invoices-xml":  {HeldOut, 220_000, invoicesXML},
	"wiki-zh":       {HeldOut, 40_000, wikiChinese},

	"traces-jsonl":   {Further, 200_000, tracesJSONL},
	"builds-json":    {Further, 150_000, buildsJSON},
	"pipeline-log":   {Further, 200_000, pipelineLog},
	"psql-expanded":  {Further, 70_000, expandedRows},
	"guide-rst":      {Further, 60_000, guideRST},
	"survey-csv":     {Further, 50_000, surveyCSV},
	"pod-columns":    {Further, 60_000, podColumns},
	"lock-toml":      {Further, 80_000, lockTOML},
	"proxy-conf":     {Further, 100_000, proxyConfig},
	"python-source":  {Further, 90_000, pythonSource},
	"schema-sql":     {Further, 110_000, schemaSQL},
	"prices-html":    {Further, 70_000, pricesHTML},
	"interview":      {Further, 60_000, interview},
	"schema-graphql": {Further, 120_000, schemaGraphQL},
	"regulations-zh": {Further, 50_000, regulationsChinese},
	"essay":          {Further, 60_000, essay},
	"envelope-json":  {Further, 90_000, envelopeJSON},
	"packages-json":  {Further, 120_000, packagesJSON},
	"grep-output":    {Further, 130_000, grepOutput},
	"commit-stats":   {Further, 100_000, commitStats},
}

// Formats are the names of the formats of a group.
func Formats(g Group) (names []string) {
	for name, f := range formats {
		if f.group == g {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Generate returns a result of a format. The same seed gives the same result.
func Generate(name string, seed uint64) Result {
	f := formats[name]
	w := &writer{r: rand.New(rand.NewPCG(seed, uint64(len(name))*31+uint64(name[0]))), size: f.bytes}
	f.write(w)
	text := w.String()
	out := Result{Format: name, Text: text}
	w.r.Shuffle(len(w.facts), func(i, j int) { w.facts[i], w.facts[j] = w.facts[j], w.facts[i] })
	asked := map[int]bool{}
	for _, fact := range w.facts {
		if len(out.Facts) == FactsPerResult || asked[fact.record] || strings.Count(w.plainText(), fact.Answer) != 1 {
			continue
		}
		asked[fact.record] = true
		out.Facts = append(out.Facts, fact.Fact)
	}
	return out
}

// writer writes a result and notes facts about it.
type writer struct {
	strings.Builder
	r           *rand.Rand
	size        int
	count       int // records so far
	usedStories map[string]bool
	facts       []recordFact
	text        string // without the escapes of the format
}

type recordFact struct {
	Fact
	record int
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// startRecord counts another record and reports whether there is room for it.
func (w *writer) startRecord() bool { w.count++; return w.Len() < w.size }

// plainText returns the result without the escapes of its format.
func (w *writer) plainText() string {
	if w.text == "" {
		w.text = strings.NewReplacer(`\"`, `"`, `\n`, "\n", "&amp;", "&", "\r\n ", "").Replace(w.String())
	}
	return w.text
}

// addFact notes a fact about the current record.
func (w *writer) addFact(question, answer string) {
	w.facts = append(w.facts, recordFact{Fact{strings.Join(strings.Fields(question), " "), answer}, w.count})
}

func (w *writer) pick(words []string) string { return words[w.r.IntN(len(words))] }

// common is one of some words, the first ones often.
func (w *writer) common(words []string) string {
	f := w.r.Float64()
	return words[int(f*f*float64(len(words)))]
}

func (w *writer) chance(share float64) bool { return w.r.Float64() < share }

func (w *writer) number(from, to int) int { return from + w.r.IntN(to-from) }

func (w *writer) hex(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte("0123456789abcdef"[w.r.IntN(16)])
	}
	return b.String()
}

func (w *writer) person() string { return w.pick(givenNames) + " " + w.pick(familyNames) }

func (w *writer) login(name string) string {
	first, last, _ := strings.Cut(strings.ToLower(name), " ")
	return fmt.Sprintf("%s%s%d", first[:1], last, w.number(1, 999))
}

func (w *writer) date() string {
	return fmt.Sprintf("20%d-%02d-%02d", w.number(22, 27), w.number(1, 13), w.number(1, 29))
}

func (w *writer) clock() string {
	return fmt.Sprintf("%02d:%02d:%02d", w.r.IntN(24), w.r.IntN(60), w.r.IntN(60))
}

// story is what a record is about: three concepts, each in the words that the record uses and in those
// that the question uses.
type story struct {
	subject, problem, place       string
	subjectQ, problemQ, placeQ    string
	subjectOf, problemOf, placeOf int
}

// story returns one that no other record has.
func (w *writer) story(subjects, problems, wheres [][]string) (s story) {
	for {
		s.subjectOf, s.problemOf, s.placeOf = w.skewedIndex(len(subjects)), w.skewedIndex(len(problems)), w.r.IntN(len(wheres))
		key := fmt.Sprint(s.subjectOf, s.problemOf)
		if w.usedStories == nil {
			w.usedStories = map[string]bool{}
		}
		if !w.usedStories[key] || len(w.usedStories) > len(subjects)*len(problems)*3/4 {
			w.usedStories[key] = true
			break
		}
	}
	// One of the first two is asked for in the words of the result; the other ones often in no word of it.
	same, others := w.r.IntN(2), .4
	if w.chance(.6) {
		others = 0
	}
	share := func(n int) float64 {
		if n == same {
			return 1
		}
		return others
	}
	s.subject, s.subjectQ = w.forms(subjects[s.subjectOf], share(0))
	s.problem, s.problemQ = w.forms(problems[s.problemOf], share(1))
	s.place, s.placeQ = w.forms(wheres[s.placeOf], others)
	return s
}

func (w *writer) skewedIndex(n int) int {
	f := w.r.Float64()
	return int((f*f + f) / 2 * float64(n))
}

// forms are the form of a concept in the result, and that in the question, which is the same for a share
// of them where there are others.
func (w *writer) forms(concept []string, same float64) (text, question string) {
	i := w.r.IntN(len(concept))
	if j := w.r.IntN(len(concept)); len(concept) == 1 || w.chance(same) {
		return concept[i], concept[i]
	} else if j != i {
		return concept[i], concept[j]
	}
	return concept[i], concept[(i+1)%len(concept)]
}

// describe returns how a question describes a record.
func (w *writer) describe(s story) string {
	switch w.r.IntN(5) {
	case 0:
		return s.subjectQ + " " + s.problemQ
	case 1:
		return "the " + s.subjectQ + " that " + s.problemQ
	case 2:
		return s.problemQ + " in " + s.subjectQ + " " + s.placeQ
	default:
		return s.subjectQ + " " + s.problemQ + " " + s.placeQ
	}
}

// question asks for something of a record, in one of several wordings.
func (w *writer) question(wordings string, about string) string {
	wording := w.pick(strings.Split(wordings, "|"))
	if strings.Contains(wording, "%s") {
		return fmt.Sprintf(wording, about)
	}
	if w.chance(.5) {
		return about + " " + wording
	}
	return wording + " " + about
}

// filler is a paragraph of so many sentences that has the words of other records.
func (w *writer) filler(sentences int) string {
	var out []string
	for range sentences {
		s := w.pick(sentenceForms)
		s = strings.ReplaceAll(s, "{s}", w.common(flat(subjects)))
		s = strings.ReplaceAll(s, "{n}", fmt.Sprint(w.number(2, 90)))
		s = strings.ReplaceAll(s, "{p}", w.pick(givenNames))
		s = strings.ReplaceAll(s, "{w}", w.pick(flat(wheres)))
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func flat(concepts [][]string) (all []string) {
	for _, c := range concepts {
		all = append(all, c...)
	}
	return all
}

func concepts(text string) (all [][]string) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		all = append(all, strings.Split(strings.TrimSpace(line), "|"))
	}
	return all
}
