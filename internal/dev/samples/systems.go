// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"encoding/csv"
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
)

// What systems print, send and dump. They came after the ranking was chosen.

func csvQuoted(_ *rand.Rand, items []item) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(list("id customer email reference note amount commit released")) // a Builder never fails
	for _, x := range items {
		_ = w.Write([]string{fmt.Sprint(x.n), x.person + ", " + x.city, x.mail, x.code, "\"" + x.title + "\"\n" + x.text(), x.amount, x.hash, x.version})
	}
	w.Flush()
	return b.String()
}

func manifests(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		return fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: %s
  namespace: %s
  annotations:
    owner: %s
    contact: %s
    description: >-
      %s
  labels: {commit: "%s", number: "%d"}
spec:
  replicas: %d
  template:
    spec:
      containers:
      - name: main
        image: registry.example/%s:%s
        args: ["--file=%s", "--budget=%s"]
        env:
        - name: TITLE
          value: "%s"
`, strings.ToLower(x.code), x.area, x.person, x.mail, strings.Join(x.body, "\n      "), x.hash, x.n, x.n%7, x.area, x.version, x.place, x.amount, x.title)
	})
}

func manifestFields(x item) map[string]string {
	out := allFields(x)
	out["code"] = strings.ToLower(x.code)
	return out
}

func events(_ *rand.Rand, items []item) string {
	return fmt.Sprintf("%-11s %-8s %-18s %-34s %s\n", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE") + joinItems(items, func(x item) string {
		return fmt.Sprintf("%-11s %-8s %-18s %-34s %s: pulled %s in %ss, build %s, asked for by %s\n", fmt.Sprintf("%dm%ds", x.n%59, x.n%43), "Normal", strings.ReplaceAll(titleCase(firstWords(x.title, 2)), " ", ""),
			"pod/"+x.area+"-"+strings.ToLower(x.code), x.title, x.version, x.amount, x.hash[:12], x.mail)
	})
}

func eventFields(x item) map[string]string {
	return map[string]string{"code": strings.ToLower(x.code), "title": x.title, "version": x.version, "amount": x.amount, "hash": x.hash[:12], "mail": x.mail}
}

func rss(_ *rand.Rand, items []item) string {
	return `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>Incidents</title>` + joinItems(items, func(x item) string {
		return fmt.Sprintf(`<item><title>%s</title><link>https://news.example/%s/%d</link><author>%s (%s)</author><guid isPermaLink="false">%s</guid><category>%s</category><category>%s</category><pubDate>%s</pubDate><description><![CDATA[<p>%s</p><p>Budget %s, see <code>%s</code>, reference %s.</p>]]></description></item>`,
			html.EscapeString(x.title), x.area, x.n, x.mail, x.person, x.hash, x.area, x.version, x.time.Format("Mon, 02 Jan 2006 15:04:05 MST"), x.text(), x.amount, x.place, x.code)
	}) + "</channel></rss>"
}

func minifiedJSON(_ *rand.Rand, items []item) string {
	return `"use strict";(()=>{var e={},t={};` + joinItems(items, func(x item) string {
		return fmt.Sprintf(`function n%d(e,t){return e<%d?r("%s",{owner:"%s",mail:"%s",ref:"%s"}):t.push({v:"%s",c:%s,h:"%s",f:"%s"}),o(e,"%s")}`, x.n, x.n%90, x.title, x.person, x.mail, x.code, x.version, x.amount, x.hash, x.place, x.detail)
	}) + "})();"
}

func dump(_ *rand.Rand, items []item) string {
	var b strings.Builder
	for from := 0; from < len(items); from += 60 {
		var rows []string
		for _, x := range items[from:min(len(items), from+60)] {
			rows = append(rows, fmt.Sprintf("(%d,'%s','%s','%s','%s','%s','%s',%s,NULL)", x.n, x.code, x.title, x.person, x.mail, x.state, x.version, x.amount))
		}
		b.WriteString("INSERT INTO `orders` VALUES " + strings.Join(rows, ",") + ";\n")
	}
	return "-- MySQL dump 10.13\nDROP TABLE IF EXISTS `orders`;\nCREATE TABLE `orders` (\n  `id` int NOT NULL,\n  `code` varchar(9),\n  `title` text,\n  `author` text,\n  `email` text,\n  `state` text,\n  `version` text,\n  `amount` decimal(9,2),\n  `parent` int\n);\nLOCK TABLES `orders` WRITE;\n" + b.String() + "UNLOCK TABLES;\n"
}

func thread(_ *rand.Rand, items []item) string {
	var b strings.Builder
	for i, x := range items {
		if i%4 == 0 {
			fmt.Fprintf(&b, "Subject: %s\nReference: %s\n\n", x.title, x.code)
		}
		mark := strings.Repeat("> ", i%4)
		fmt.Fprintf(&b, "%sOn %s, %s <%s> wrote:\n%s\n", mark, x.time.Format("Mon, Jan 2, 2006 at 15:04"), x.person, x.mail, mark)
		for _, s := range append([]string{"About " + x.title + ":"}, x.body...) {
			b.WriteString(mark + "  " + s + "\n")
		}
		fmt.Fprintf(&b, "%s  It is in %s since %s and costs %s (%s).\n%s\n", mark, x.place, x.version, x.amount, x.hash[:10], mark)
	}
	return b.String()
}

func threadFields(x item) map[string]string {
	out := selectFields(x, "title who mail place version amount detail subject")
	out["hash"] = x.hash[:10]
	return out
}

func unequal(_ *rand.Rand, items []item) string {
	var all []object
	for i, x := range items {
		switch i % 4 {
		case 0:
			all = append(all, object{"type", "commit", "oid", x.hash, "payload", object{"headline", x.title, "who", object{"n", x.person, "m", x.mail}, "paths", []string{x.place}, "v", x.version, "cost", x.amount, "ref", x.code, "text", x.text()}})
		case 1:
			all = append(all, object{"type", "order", "code", x.code, "lines", []object{{"title", x.title, "amount", x.amount, "notes", []string{x.detail}}}, "buyer", x.person, "contacts", []string{x.mail, "office@example.org"}, "release", x.version, "build", x.hash})
		case 2:
			all = append(all, object{"type", "note", x.code, object{"title", x.title, "by", x.person, "see", x.place, "body", x.body, "mail", x.mail, "sha", x.hash}})
		default:
			all = append(all, object{"type", "metric", "name", x.title, "id", x.n, "tags", object{"owner", x.person, "email", x.mail, "version", x.version, "sum", x.amount, "commit", x.hash, "code", x.code}, "comment", x.detail})
		}
	}
	return marshal(object{"data", object{"cursor", "abc", "nodes", all}}, "", "")
}

func gitStat(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		out := fmt.Sprintf("commit %s (tag: v%s)\nMerge: %s %s\nAuthor:     %s <%s>\nAuthorDate: %s\nCommit:     Merge Bot <bot@git.example>\nCommitDate: %s\n\n    %s\n    \n    Refs: %s\n    %s\n\n", x.hash, x.version, x.hash[8:15], x.hash[20:27],
			x.person, x.mail, x.time.Format("2006-01-02 15:04:05 +0000"), x.time.Format("2006-01-02 15:04:05 +0000"), x.title, x.code, strings.Join(x.body, "\n    "))
		for i := range 1 + x.n%9 {
			out += fmt.Sprintf(" src/%s/part_%d.go | %d ++++---\n", x.area, i, x.n%50)
		}
		return out + fmt.Sprintf(" %s | 12 ++++++\n\n", x.place)
	})
}

func gitStatFields(x item) map[string]string {
	return selectFields(x, "hash title who mail place detail subject version code")
}

func report(_ *rand.Rand, items []item) string {
	var b strings.Builder
	b.WriteString("# Review\n\n")
	for i, x := range items {
		if i%8 == 0 {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| ref | what | who | mail | since | cost | commit |\n|:--|:--|:--|:--|--:|--:|:--|\n", titleCase(x.city)+" "+fmt.Sprint(i/8), sentenceOf(x))
		}
		fmt.Fprintf(&b, "| [%s](https://x.example/%d) | %s | %s | `%s` | %s | %s | `%s` |\n", x.code, x.n, x.title, x.person, x.mail, x.version, x.amount, x.hash[:12])
	}
	return b.String()
}

func reportFields(x item) map[string]string {
	out := selectFields(x, "code title who mail version amount")
	out["hash"] = x.hash[:12]
	return out
}

func sentenceOf(x item) string { return x.body[0] }

func titleCase(words string) string {
	fields := strings.Fields(words)
	for i, f := range fields {
		fields[i] = strings.ToUpper(f[:1]) + f[1:]
	}
	return strings.Join(fields, " ")
}

func chineseReport(_ *rand.Rand, items []item) string {
	var b strings.Builder
	b.WriteString("年度检查报告\n\n")
	for i, x := range items {
		a, c, verb, who, detail := chinese(x, 0)
		fmt.Fprintf(&b, "第%d节　%s%s%s\n　　%s%s。经办人%s，联系方式%s，合同编号%s，总额%s元。%s\n", i+1, a, verb, c, chineseText(x, 3), detail, who, x.mail, x.code, x.amount, chineseText(x, 2))
	}
	return b.String()
}

func journal(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		at := x.time.Format("Jan 02 15:04:05")
		out := fmt.Sprintf("%s %s %s[%d]: job %s of %s begins (%s)\n", at, strings.ToLower(x.city), x.area, x.n, x.code, x.person, x.title)
		for _, s := range x.body {
			out += fmt.Sprintf("%s %s %s[%d]: %s\n", at, strings.ToLower(x.city), x.area, x.n, s)
		}
		return out + fmt.Sprintf("%s %s %s[%d]: job %s ends: version=%s cost=%s digest=%s notify=%s\n", at, strings.ToLower(x.city), x.area, x.n, x.code, x.version, x.amount, x.hash, x.mail)
	})
}

func describe(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		return fmt.Sprintf("Name:             %s\nNamespace:        %s\nLabels:           app=%s\n                  commit=%s\nAnnotations:      owner: %s\n                  mail: %s\nContainers:\n  main:\n    Image:          registry.example/%s:%s\n    Limits:\n      budget:       %s\n    Mounts:\n      /%s from data (rw)\nEvents:\n  Type    Reason   Message\n  ----    ------   -------\n  Normal  Started  %s\n  Normal  Note     %s\n\n\n",
			x.code, x.area, x.area, x.hash, x.person, x.mail, x.area, x.version, x.amount, x.place, x.title, x.detail)
	})
}

func article(_ *rand.Rand, items []item) string {
	return "<!DOCTYPE html><html><head><title>Notes</title><script>var a=1;</script></head><body><nav><a href=\"/\">Home</a></nav><main>\n" + joinItems(items, func(x item) string {
		return fmt.Sprintf("<h3 id=\"n%d\">%s</h3><p class=\"lead\">%s</p>\n<p>It was <em>%s</em> of %s who wrote to <a href=\"mailto:%s\">%s</a> about <b>%s</b>; the bill was %s, the release %s.</p>\n", x.n, titleCase(x.title), html.EscapeString(x.text()), x.person, x.city, x.mail, x.mail, x.code, x.amount, x.version)
	}) + "</main></body></html>"
}

func traces(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		out := fmt.Sprintf("Exception in thread \"%s-%d\" org.example.%sException: %s (order %s of %s)\n", x.area, x.n, strings.ReplaceAll(titleCase(firstWords(x.title, 2)), " ", ""), x.title, x.code, x.mail)
		for i := range 6 + x.n%8 {
			out += fmt.Sprintf("\tat org.example.%s.Step%d.run(Step%d.java:%d)\n", x.area, i, i, x.n%400+i)
		}
		return out + fmt.Sprintf("\tat org.example.Main.main(%s:%d)\nCaused by: java.io.IOException: build %s, version %s: %s\n\t... %d more\n", x.place, x.n%99, x.hash, x.version, x.detail, x.n%30)
	})
}

func traceFields(x item) map[string]string {
	return selectFields(x, "code title mail place hash version detail subject")
}

func plan(_ *rand.Rand, items []item) string {
	return "Plan: the following actions will be performed:\n\n" + joinItems(items, func(x item) string {
		return fmt.Sprintf("  # module.%s.order[\"%s\"] will be updated in-place\n  ~ resource \"order\" \"this\" {\n        id       = \"%s\"\n      ~ version  = \"1.0\" -> \"%s\"\n      ~ budget   = \"0\" -> \"%s\"\n        tags     = {\n            \"owner\" = \"%s\"\n            \"mail\"  = \"%s\"\n            \"title\" = \"%s\"\n        }\n        source   = \"%s\"\n        # (%d unchanged attributes hidden)\n    }\n\n", x.area, x.code, x.hash, x.version, x.amount, x.person, x.mail, x.title, x.place, x.n%9)
	})
}

func planFields(x item) map[string]string {
	return selectFields(x, "code hash version amount who mail title place")
}

func tickets(_ *rand.Rand, items []item) string {
	var all []object
	for _, x := range items {
		all = append(all, object{"expand", "operations,changelog", "id", fmt.Sprint(x.n), "self", fmt.Sprintf("https://jira.example/rest/api/2/issue/%d", x.n), "key", x.code, "fields", object{"summary", x.title, "customfield_10016", nil, "customfield_10020", x.amount,
			"reporter", object{"displayName", x.person, "emailAddress", x.mail, "active", true}, "fixVersions", []object{{"name", x.version}}, "description", "<p>" + x.text() + "</p>\n<p>In <code>" + x.place + "</code>.</p>",
			"comment", object{"comments", []object{{"author", object{"displayName", x.city + " office"}, "body", "Built as " + x.hash + "."}}}}})
	}
	return marshal(object{"startAt", 0, "total", len(all), "issues", all}, "  ", "")
}

func notebook(_ *rand.Rand, items []item) string {
	var cells []object
	for i, x := range items {
		kind, source := "code", []string{fmt.Sprintf("# %s\n", x.title), fmt.Sprintf("load(%q, owner=%q)\n", x.place, x.person), fmt.Sprintf("check(%q, %s)", x.code, x.amount)}
		if i%2 == 0 {
			kind, source = "markdown", []string{"## " + x.title + "\n", "\n", x.text() + "\n", fmt.Sprintf("Ask %s (%s), order %s, %s.", x.person, x.mail, x.code, x.amount)}
		}
		cells = append(cells, object{"cell_type", kind, "metadata", object{}, "source", source, "outputs", []object{{"output_type", "stream", "text", []string{fmt.Sprintf("digest %s\n", x.hash), fmt.Sprintf("version %s\n", x.version)}}}})
	}
	return marshal(object{"cells", cells, "nbformat", 4}, " ", "")
}

func notebookFields(x item) map[string]string {
	return selectFields(x, "code title who amount hash version")
}

// omitFields is all but some fields.
func omitFields(names string) func(x item) map[string]string {
	return func(x item) map[string]string {
		out := allFields(x)
		for _, name := range list(names) {
			delete(out, name)
		}
		return out
	}
}
