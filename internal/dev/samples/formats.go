// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// format writes one kind of result.
type format struct {
	write  func(r *rand.Rand, items []item) string
	fields func(x item) map[string]string // that can be asked about
	each   int                            // bytes of an item, about
}

var formats = map[string]format{
	"json":            {jsonOf(pretty, record), allFields, 700},
	"json-flat":       {jsonOf(compact, flat), rowFields, 160},
	"json-in-mcp":     {jsonOf(inMCP, record), allFields, 800},
	"json-by-key":     {byKey, allFields, 700},
	"json-deep":       {jsonOf(pretty, deep), allFields, 1500},
	"json-lines":      {jsonLines, allFields, 600},
	"issues":          {jsonOf(compact, issue), allFields, 1500},
	"csv":             {table(','), rowFields, 120},
	"tsv":             {table('\t'), rowFields, 120},
	"markdown-table":  {markdownTable, rowFields, 130},
	"psql":            {psql, rowFields, 150},
	"columns":         {columns, rowFields, 130},
	"sql":             {inserts, rowFields, 150},
	"git-log":         {gitLog, commitFields, 600},
	"git-log-in-mcp":  {gitLogInMCP, commitFields, 600},
	"git-oneline":     {oneline, onelineFields, 60},
	"diff":            {diff, diffFields, 700},
	"log":             {appLog, allFields, 700},
	"access-log":      {accessLog, accessFields, 110},
	"issue-list":      {issueList, allFields, 500},
	"html":            {htmlPage, allFields, 700},
	"html-one-line":   {htmlTable, rowFields, 200},
	"page":            {page, rowFields, 250},
	"yaml":            {yaml, allFields, 600},
	"toml":            {toml, allFields, 600},
	"xml":             {xml, allFields, 700},
	"markdown":        {markdown, allFields, 500},
	"prose":           {prose, proseFields, 350},
	"mails":           {mails, allFields, 600},
	"code":            {code, codeFields, 500},
	"search-hits":     {hits, hitFields, 110},
	"chinese-records": {jsonOf(pretty, chineseRecord), chineseFields, 350},
	"chinese-prose":   {chineseProse, chineseFields, 350},
	"chinese-table":   {chineseTable, chineseFields, 150},

	"csv-quoted":     {csvQuoted, omitFields("place"), 450},
	"manifests":      {manifests, manifestFields, 800},
	"events":         {events, eventFields, 240},
	"rss":            {rss, allFields, 750},
	"minified":       {minifiedJSON, allFields, 330},
	"dump":           {dump, rowFields, 150},
	"mail-thread":    {thread, threadFields, 450},
	"json-unequal":   {unequal, omitFields("place number amount subject detail"), 450},
	"git-log-stat":   {gitStat, gitStatFields, 800},
	"report":         {report, reportFields, 220},
	"chinese-report": {chineseReport, chineseFields, 550},
	"journal":        {journal, omitFields("place"), 600},
	"describe":       {describe, omitFields("number"), 700},
	"article":        {article, omitFields("hash place number"), 600},
	"traces":         {traces, traceFields, 900},
	"plan":           {plan, planFields, 550},
	"tickets":        {tickets, allFields, 1100},
	"notebook":       {notebook, notebookFields, 600},
}

// Kinds are the kinds of results, in order.
func Kinds() (kinds []string) {
	for k := range formats {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return kinds
}

// Make makes a result of a kind, of about size bytes.
func Make(kind string, r *rand.Rand, size int) Sample {
	f := formats[kind]
	items := things(r, max(4, size/f.each))
	text := f.write(r, items)
	return Sample{kind, text, factsAbout(r, items, text, f.fields)}
}

func allFields(x item) map[string]string {
	return map[string]string{
		"hash": x.hash, "code": x.code, "number": fmt.Sprint(x.n), "title": x.title, "who": x.person, "mail": x.mail, "amount": x.amount,
		"version": x.version, "place": x.place, "detail": x.detail, "subject": x.subject,
	}
}

func rowFields(x item) map[string]string {
	return selectFields(x, "code number title who mail amount version")
}

func commitFields(x item) map[string]string {
	out := selectFields(x, "hash title who mail place detail subject")
	out["when"] = x.time.Format("Mon Jan 2 15:04:05 2006")
	return out
}
func onelineFields(x item) map[string]string {
	out := selectFields(x, "title")
	out["hash"], out["code"] = x.hash[:9], x.code
	return out
}
func diffFields(x item) map[string]string   { return selectFields(x, "place detail subject title code") }
func accessFields(x item) map[string]string { return selectFields(x, "code version amount place mail") }
func proseFields(x item) map[string]string  { return selectFields(x, "detail subject title") }
func codeFields(x item) map[string]string   { return selectFields(x, "code title detail subject amount") }
func hitFields(x item) map[string]string    { return selectFields(x, "place title code") }

func selectFields(x item, names string) map[string]string {
	out, all := map[string]string{}, allFields(x)
	for _, name := range list(names) {
		out[name] = all[name]
	}
	return out
}

type object = []any // keys and values in turn

// marshal writes an object in its order.
func marshal(v any, indent string, inner string) string {
	if o, ok := v.(object); ok {
		var parts []string
		for i := 0; i < len(o); i += 2 {
			key, _ := json.Marshal(o[i])
			parts = append(parts, inner+indent+string(key)+":"+space(indent)+marshal(o[i+1], indent, inner+indent))
		}
		return "{" + lines(indent, parts, inner) + "}"
	}
	if l, ok := v.([]object); ok {
		var parts []string
		for _, each := range l {
			parts = append(parts, inner+indent+marshal(each, indent, inner+indent))
		}
		return "[" + lines(indent, parts, inner) + "]"
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func space(indent string) string { return indent[:min(1, len(indent))] }

func lines(indent string, parts []string, inner string) string {
	if indent == "" {
		return strings.Join(parts, ",")
	}
	return "\n" + strings.Join(parts, ",\n") + "\n" + inner
}

func record(x item) object {
	return object{"id", x.n, "sha", x.hash, "code", x.code, "title", x.title, "author", object{"name", x.person, "email", x.mail, "city", x.city}, "state", x.state,
		"area", x.area, "file", x.place, "version", x.version, "amount", x.amount, "created_at", x.time.Format("2006-01-02T15:04:05Z"), "body", x.text()}
}

func flat(x item) object {
	return object{"id", x.n, "code", x.code, "title", x.title, "author", x.person, "email", x.mail, "state", x.state, "version", x.version, "amount", x.amount}
}

func deep(x item) object {
	o := record(x)
	var links []object
	for i := range 4 {
		links = append(links, object{"rel", areas[i], "href", fmt.Sprintf("https://api.example/%s/%d", areas[i], x.n), "method", "GET"})
	}
	return append(o, "links", links, "stats", object{"views", x.n * 7 % 911, "stars", x.n * 3 % 101, "nested", object{"limits", object{"soft", 10, "hard", 20}}}, "notes", x.text())
}

func issue(x item) object {
	return object{"url", fmt.Sprintf("https://git.example/%s/issues/%d", x.area, x.n), "number", x.n, "title", x.title, "user", object{"login", strings.ToLower(firstWords(x.person, 1)), "name", x.person, "mail", x.mail},
		"labels", []object{{"name", x.area}, {"name", x.state}}, "milestone", object{"title", x.version}, "code", x.code, "bounty", x.amount, "head", x.hash, "file", x.place, "body", x.text() + "\n\n" + x.text()[:len(x.text())/2]}
}

const (
	compact = iota
	pretty
	inMCP
)

func jsonOf(form int, of func(item) object) func(*rand.Rand, []item) string {
	return func(_ *rand.Rand, items []item) string {
		var all []object
		for _, x := range items {
			all = append(all, of(x))
		}
		whole := object{"total", len(all), "next", nil, "items", all}
		switch form {
		case compact:
			return marshal(whole, "", "")
		case pretty:
			return marshal(whole, "  ", "")
		}
		return mcp(marshal(whole, "  ", ""))
	}
}

func mcp(text string) string {
	out, _ := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": text}}})
	return string(out)
}

func byKey(_ *rand.Rand, items []item) string {
	var o object
	for _, x := range items {
		o = append(o, x.code, record(x))
	}
	return marshal(o, "  ", "")
}

func jsonLines(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string { return marshal(record(x), "", "") + "\n" })
}

func joinItems(items []item, write func(x item) string) string {
	var b strings.Builder
	for _, x := range items {
		b.WriteString(write(x))
	}
	return b.String()
}

var header = list("id code title author email state version amount")

func row(x item) []string {
	return []string{fmt.Sprint(x.n), x.code, x.title, x.person, x.mail, x.state, x.version, x.amount}
}

func table(comma rune) func(*rand.Rand, []item) string {
	return func(_ *rand.Rand, items []item) string {
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Comma = comma
		_ = w.Write(header) // a Builder never fails
		for _, x := range items {
			_ = w.Write(row(x))
		}
		w.Flush()
		return b.String()
	}
}

func markdownTable(_ *rand.Rand, items []item) string {
	return "# Orders\n\n| " + strings.Join(header, " | ") + " |\n|" + strings.Repeat("---|", len(header)) + "\n" +
		joinItems(items, func(x item) string { return "| " + strings.Join(row(x), " | ") + " |\n" }) + "\nEnd of the list.\n"
}

var widths = []int{6, 9, 46, 20, 40, 9, 9, 9}

func padCells(cells []string, between string) string {
	var b strings.Builder
	for i, c := range cells {
		fmt.Fprintf(&b, "%-*s%s", widths[i], c, between)
	}
	return strings.TrimRight(strings.TrimSuffix(b.String(), between), " ")
}

func psql(_ *rand.Rand, items []item) string {
	var rules []string
	for _, w := range widths {
		rules = append(rules, strings.Repeat("-", w+1))
	}
	return " " + padCells(header, " | ") + "\n" + strings.Join(rules, "+-") + "\n" +
		joinItems(items, func(x item) string { return " " + padCells(row(x), " | ") + "\n" }) + fmt.Sprintf("(%d rows)\n", len(items))
}

func columns(_ *rand.Rand, items []item) string {
	return strings.ToUpper(padCells(header, "  ")) + "\n" + joinItems(items, func(x item) string { return padCells(row(x), "  ") + "\n" })
}

func inserts(_ *rand.Rand, items []item) string {
	return "BEGIN;\n" + joinItems(items, func(x item) string {
		return "INSERT INTO orders (" + strings.Join(header, ", ") + ") VALUES ('" + strings.Join(row(x), "', '") + "');\n"
	}) + "COMMIT;\n"
}

func gitLog(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		return fmt.Sprintf("commit %s\nAuthor: %s <%s>\nDate:   %s +0000\n\n    %s: %s\n\n    %s\n\n %s | %d ++--\n 1 file changed\n\n",
			x.hash, x.person, x.mail, x.time.Format("Mon Jan 2 15:04:05 2006"), x.area, x.title, strings.Join(x.body, "\n    "), x.place, x.n%40)
	})
}

func gitLogInMCP(r *rand.Rand, items []item) string { return mcp(gitLog(r, items)) }

func oneline(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string { return fmt.Sprintf("%s %s: %s (%s)\n", x.hash[:9], x.area, x.title, x.code) })
}

func diff(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		out := fmt.Sprintf("diff --git a/%s b/%s\nindex %s..%s 100644\n--- a/%s\n+++ b/%s\n", x.place, x.place, x.hash[:7], x.hash[7:14], x.place, x.place)
		for i, s := range x.body {
			out += fmt.Sprintf("@@ -%d,4 +%d,5 @@ func %s(v int) {\n \t// %s\n-\treturn v\n+\tlog.Print(%q)\n", i*30+x.n%17, i*30+x.n%17+1, strings.ReplaceAll(firstWords(x.title, 2), " ", "_"), s, x.code+" "+x.title)
		}
		return out
	})
}
