// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file holds truths of the servers of lines, names, patterns and documents.

import (
	"encoding/json"
	"testing"
)

// args writes arguments for a call.
func args(pairs ...any) string {
	in := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		in[pairs[i].(string)] = pairs[i+1]
	}
	out, _ := json.Marshal(in)
	return string(out)
}

func TestLineTruths(t *testing.T) {
	hold(t, []truth{
		{"lines__sort", args("text", "pear 3\nApple 10\nfig 2"), "Apple 10\nfig 2\npear 3"},
		{"lines__sort", args("text", "pear 3\nApple 10\nfig 2", "by", "number", "descending", true), "Apple 10\npear 3\nfig 2"},
		{"lines__sort", args("text", "ccc\na\nbb\n", "by", "length"), "a\nbb\nccc"},
		{"lines__unique", args("text", "b\na\nb"), "b\na"},
		{"lines__duplicates", args("text", "b\na\nb"), "b: 2"},
		{"lines__duplicates", args("text", "b\na"), "no line occurs twice"},
		{"lines__reverse", args("text", "1\n2\n3"), "3\n2\n1"},
		{"lines__number", args("text", "x\ny"), "1: x\n2: y"},
		{"lines__head", args("text", "1\n2\n3", "count", 2), "1\n2"},
		{"lines__tail", args("text", "1\n2\n3", "count", 2), "2\n3"},
		{"lines__filter", args("text", "Error: x\nok\nerror", "contains", "error"), "Error: x\nerror"},
		{"lines__filter", args("text", "Error: x\nok\nerror", "contains", "error", "drop", true), "ok"},
		{"lines__column", args("text", "a b c\nd e", "column", 3), "c\n"},
		{"lines__column", args("text", "a; b;c", "column", 2, "separator", ";"), "b"},
		{"lines__join", args("text", "a\nb\n", "separator", ", "), "a, b"},
		{"lines__remove_blank", args("text", "a  \n\n \nb"), "a\nb"},
		{"lines__sum", args("text", "milk 1.5\nbread 2\nnothing"), "3.5"},
		{"lines__page", args("text", "1\n2\n3", "lines_per_page", 2), "--- page 1 of 2 ---\n1\n2\n--- page 2 of 2 ---\n3\n"},
	})
}

func TestCaseTruths(t *testing.T) {
	hold(t, []truth{
		{"case__upper", args("text", "straße"), "STRASSE"},
		{"case__lower", args("text", "ÀB"), "àb"},
		{"case__title", args("text", "the lord of the rings"), "The Lord of the Rings"},
		{"case__sentence", args("text", "hELLO you. how ARE you?"), "Hello you. How are you?"},
		{"case__swap", args("text", "aBc"), "AbC"},
		{"case__snake", args("name", "parseHTTPResponse code"), "parse_http_response_code"},
		{"case__constant", args("name", "maxRetryCount"), "MAX_RETRY_COUNT"},
		{"case__kebab", args("name", "Some Title_here"), "some-title-here"},
		{"case__camel", args("name", "user-profile_id"), "userProfileId"},
		{"case__pascal", args("name", "user profile"), "UserProfile"},
		{"case__dot", args("name", "userName"), "user.name"},
		{"case__slug", args("text", "Crème brûlée & Straße!"), "creme-brulee-and-strasse"},
		{"case__detect", args("name", "max_retry"), "snake_case"},
		{"case__detect", args("name", "maxRetry"), "camelCase"},
		{"case__detect", args("name", "max Retry"), "~none of"},
	})
}

func TestRegexTruths(t *testing.T) {
	hold(t, []truth{
		{"regex__test", args("text", "order 66", "pattern", `\d+`), `match "66" at byte 6`},
		{"regex__test", args("text", "order", "pattern", `\d+`), "no match"},
		{"regex__test", args("text", "x", "pattern", `(`), "~is not a valid regular expression: missing closing )"},
		{"regex__find_all", args("text", "a1b22", "pattern", `\d+`), "1\n22"},
		{"regex__groups", args("text", "k=v; a=b", "pattern", `(?P<key>\w)=(\w)`), "key=k, 2=v\nkey=a, 2=b"},
		{"regex__replace", args("text", "2024-05", "pattern", `(\d+)-(\d+)`, "replacement", "$2/$1"), "05/2024"},
		{"regex__split", args("text", "a, b;c", "pattern", `[,;]\s*`), "a\nb\nc"},
		{"regex__count", args("text", "banana", "pattern", "an"), "2"},
		{"regex__escape", args("text", "1+1"), `1\+1`},
		{"regex__explain", args("pattern", "^(ab|c)+$"), "~one or more of"},
		{"regex__glob_match", args("pattern", "*.go", "names", []string{"a.go", "b.txt"}), "a.go"},
	})
}

const shop = `{"shop":{"name":"Bücher","items":[{"id":1,"price":9.50},{"id":2,"price":12}]},"open":true}`

func TestJSONTruths(t *testing.T) {
	hold(t, []truth{
		{"json__format", args("json", `{"b":1,"a":[]}`), "{\n  \"a\": [],\n  \"b\": 1\n}"},
		{"json__minify", args("json", "{ \"a\" : [ 1 , 2 ] }"), `{"a":[1,2]}`},
		{"json__validate", args("json", shop), "valid JSON: object with 2 keys"},
		{"json__validate", args("json", "{\n\"a\": }"), "~line 2, column"},
		{"json__get", args("json", shop, "path", "shop.items[0].price"), "9.50"},
		{"json__get", args("json", shop, "path", "$.shop.name"), "Bücher"},
		{"json__get", args("json", shop, "path", "shop.owner"), `error: there is no key "owner"; the keys are: items, name`},
		{"json__set", args("json", `{"a":[1]}`, "path", "a[1].b", "value", "true"), "~\"b\": true"},
		{"json__delete", args("json", `{"a":[1,2,3],"b":1}`, "path", "a[1]"), "{\n  \"a\": [\n    1,\n    3\n  ],\n  \"b\": 1\n}"},
		{"json__delete", args("json", `{"a":1}`, "path", "a"), "{}"},
		{"json__delete", args("json", `{"a":1}`, "path", "."), "~the whole document cannot be removed"},
		{"json__get", args("json", shop, "path", "$..price"), "[\n  9.50,\n  12\n]"},
		{"json__get", args("json", `{"content-type":{"a b":5}}`, "path", "content-type.a b"), "5"},
		{"json__get", args("json", shop, "path", "shop.items[7].id"), "error: there is no [7] in the value at $.shop.items, which is: array of 2"},
		{"json__get", args("json", `[true]`, "path", "."), "[\n  true\n]"},
		{"json__set", args("json", `{}`, "path", "a[2]", "value", "x"), "{\n  \"a\": [\n    null,\n    null,\n    \"x\"\n  ]\n}"},
		{"json__set", args("json", `{"a":5}`, "path", "a.b", "value", "1"), "~error:"},
		{"json__set", args("json", `{}`, "path", "a[999999999]", "value", "1"), "~error:"},
		{"json__keys", args("json", shop, "path", "shop"), "items: array of 2\nname: string"},
		{"json__merge", args("first", `{"a":1,"b":{"c":1,"d":2}}`, "second", `{"b":{"c":null},"e":3}`), "{\n  \"a\": 1,\n  \"b\": {\n    \"d\": 2\n  },\n  \"e\": 3\n}"},
		{"json__diff", args("first", `{"a":1,"b":2}`, "second", `{"a":1,"b":3,"c":[0]}`), "~ b: 2 -> 3\n+ c[0]: 0"},
		{"json__diff", args("first", `{"a":[]}`, "second", `{ "a": [] }`), "no differences"},
		{"json__flatten", args("json", `{"a":{"b":[1,2]}}`), "{\n  \"a.b[0]\": 1,\n  \"a.b[1]\": 2\n}"},
		{"json__unflatten", args("json", `{"a.b[0]":1,"a.b[1]":2}`), "{\n  \"a\": {\n    \"b\": [\n      1,\n      2\n    ]\n  }\n}"},
		{"json__unflatten", args("json", `{"a[10]":1,"a[9].b.c":2}`), "~\"c\": 2"},
		{"json__infer_schema", args("json", `{"n":1,"s":"x"}`), "~\"n\": {\n      \"type\": \"integer\"\n    }"},
		{"json__sort_array", args("json", `[{"n":10},{"n":9}]`, "key", "n"), "[\n  {\n    \"n\": 9\n  },\n  {\n    \"n\": 10\n  }\n]"},
		{"json__to_csv", args("json", `[{"a":1,"b":"x,y"},{"a":2}]`), "a,b\n1,\"x,y\"\n2,"},
	})
}

const staff = "name,team,age\nAnn,red,30\nBob,blue,9\nCid,red,41\n"

func TestCSVTruths(t *testing.T) {
	hold(t, []truth{
		{"csv__describe", args("csv", staff), "3 rows, 3 columns\nname: text\nteam: text\nage: number from 9 to 41, mean 26.6666666667"},
		{"csv__to_json", args("csv", "a,b\n1,2"), "[\n  {\n    \"a\": \"1\",\n    \"b\": \"2\"\n  }\n]"},
		{"csv__select_columns", args("csv", staff, "columns", []string{"age", "NAME"}), "age,name\n30,Ann\n9,Bob\n41,Cid"},
		{"csv__select_columns", args("csv", staff, "columns", []string{"rank"}), `error: there is no column "rank"; the columns are: name, team, age`},
		{"csv__filter_rows", args("csv", staff, "column", "age", "operator", "greater", "value", "10"), "name,team,age\nAnn,red,30\nCid,red,41"},
		{"csv__filter_rows", args("csv", staff, "column", "team", "operator", "not_equals", "value", "RED"), "name,team,age\nBob,blue,9"},
		{"csv__sort_rows", args("csv", staff, "column", "age"), "name,team,age\nBob,blue,9\nAnn,red,30\nCid,red,41"},
		{"csv__group_by", args("csv", staff, "column", "team", "operation", "mean", "value_column", "age"), "team,mean\nblue,9\nred,35.5"},
		{"csv__group_by", args("csv", staff, "column", "team"), "team,count\nblue,1\nred,2"},
		{"csv__transpose", args("csv", "a,b\n1,2\n"), "a,1\nb,2"},
		{"csv__to_markdown", args("csv", "a,b\n1,x|y"), "| a | b |\n| --- | --- |\n| 1 | x\\|y |"},
		{"csv__change_separator", args("csv", "a;b\n1,5;2", "from", "semicolon", "to", "comma"), "a,b\n\"1,5\",2"},
		{"csv__join", args("first", staff, "second", "team,boss\nred,Zoe", "column", "team"), "name,team,age,boss\nAnn,red,30,Zoe\nCid,red,41,Zoe"},
		{"csv__unique_values", args("csv", staff, "column", "team"), "red: 2\nblue: 1"},
	})
}

func TestXMLAndHTMLTruths(t *testing.T) {
	const feed = `<feed lang="en"><entry id="1"><title>One &amp; two</title></entry><entry id="2"><title>Three</title></entry></feed>`
	const site = `<!DOCTYPE html><html><head><title>Home &eacute;</title><meta name="description" content="A page"><style>p{a<b}</style></head>
<body><h1>Hi <b>you</b></h1><p>First<br>second <a href="/x">a link</a></p><img src="a.png" alt="A"><script>if (a<b) {}</script>
<table><tr><th>n</th><th>m</th></tr><tr><td>1</td><td>2,5</td></tr></table></body></html>`
	hold(t, []truth{
		{"xml__format", args("xml", `<a><b x="1">t</b><c/></a>`), "<a>\n  <b x=\"1\">t</b>\n  <c/>\n</a>"},
		{"xml__validate", args("xml", feed), "well-formed XML with the root element feed"},
		{"xml__validate", args("xml", "<a><b></a>"), "~not well-formed: XML syntax error on line 1"},
		{"xml__get", args("xml", feed, "path", "feed/entry/title"), "One & two\nThree"},
		{"xml__attributes", args("xml", feed, "path", "feed/entry"), "entry[0] id=1\nentry[1] id=2"},
		{"xml__count_elements", args("xml", feed), "entry: 2\ntitle: 2\nfeed: 1"},
		{"xml__to_json", args("xml", `<a k="v"><b>1</b><b>2</b></a>`), "{\n  \"a\": {\n    \"@k\": \"v\",\n    \"b\": [\n      \"1\",\n      \"2\"\n    ]\n  }\n}"},
		{"html__to_text", args("html", site), "Home é\nHi you\nFirst\nsecond a link\nn m\n1 2,5"},
		{"html__links", args("html", site), "a link: /x"},
		{"html__headings", args("html", site), "h1: Hi you"},
		{"html__meta", args("html", site), "title: Home é\ndescription: A page"},
		{"html__tables", args("html", site), "n,m\n1,\"2,5\"\n"},
		{"html__images", args("html", site), "a.png (A)"},
	})
}

func TestMarkdownTruths(t *testing.T) {
	const doc = "# Top\nintro **bold** [x](http://y)\n## Sub one\n- [x] a\n- [ ] b\n```go\n# no heading\n```\n## Sub two\nend\n"
	hold(t, []truth{
		{"markdown__headings", args("markdown", doc), "1: Top (line 1)\n2: Sub one (line 3)\n2: Sub two (line 9)"},
		{"markdown__table_of_contents", args("markdown", doc), "- [Top](#top)\n  - [Sub one](#sub-one)\n  - [Sub two](#sub-two)"},
		{"markdown__section", args("markdown", doc, "heading", "sub two"), "## Sub two\nend"},
		{"markdown__links", args("markdown", doc), "link x: http://y"},
		{"markdown__links", args("markdown", "![a *b*](c.png) and [d][1], `[no](link)`\n\n[1]: http://e"), "image a b: c.png\nlink d: http://e"},
		{"markdown__headings", args("markdown", "Top\n===\n~~~\n# no\n~~~\n## *Sub*"), "1: Top (line 1)\n2: Sub (line 6)"},
		{"markdown__code_blocks", args("markdown", doc), "[block 1 go]\n# no heading\n"},
		{"markdown__to_text", args("markdown", "# A\n- *b* `c`"), "A\nb c"},
		{"markdown__to_text", args("markdown", "a ~~b~~\nc\n\n1. d\n2. [e](f)\n\n> g\n\n| h | i |\n|---|---|\n| 1 | 2 |\n\n```\nj\n```"), "a b\nc\nd\ne\ng\nh\ni\n1\n2\nj"},
		{"markdown__to_html", args("markdown", "# A\n- b\n- **c**\n\nd & e"), "<h1>A</h1>\n<ul>\n<li>b</li>\n<li><strong>c</strong></li>\n</ul>\n<p>d &amp; e</p>"},
		{"markdown__to_html", args("markdown", "```\na<b\n```"), "<pre><code>a&lt;b\n</code></pre>"},
		{"markdown__tasks", args("markdown", doc), "done: a\nopen: b\n1 of 2 done"},
		{"markdown__make_table", args("header", []string{"a"}, "rows", [][]string{{"1"}}), "| a |\n| --- |\n| 1 |"},
		{"markdown__box_table", args("header", []string{"a", "bb"}, "rows", [][]string{{"xyz"}}), "+-----+----+\n| a   | bb |\n+-----+----+\n| xyz |    |\n+-----+----+"},
	})
}
