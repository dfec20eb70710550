// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/programs"
)

// office answers the calls of the programs in testdata.
func office(c programs.Call) (text string, failed bool) {
	var a struct {
		Customer, ID, Page  int
		Path, Content, City string
	}
	if json.Unmarshal([]byte(c.Arguments), &a) != nil && strings.HasPrefix(c.Arguments, "[") {
		return c.Tool + " takes one object", true
	}
	encoded := func(v any) string { text, _ := json.Marshal(v); return string(text) }
	city := func(id int) string { return []string{"Berlin", "Paris", "Rome"}[id%3] }
	switch c.Tool {
	case "list_orders":
		var orders []map[string]any
		for i := 1; i <= 4; i++ {
			orders = append(orders, map[string]any{"id": a.Customer*10 + i, "total": (a.Customer*137 + i*111) % 500, "status": []string{"open", "shipped"}[(a.Customer+i)%2], "customer": a.Customer})
		}
		return encoded(orders), false
	case "get_customer":
		return encoded(map[string]any{"id": a.ID, "name": fmt.Sprint("Customer ", a.ID), "city": city(a.ID), "tags": []string{"new", "eu"}}), false
	case "search_issues", "github__search_issues":
		a.Page = max(1, a.Page)
		items := []map[string]any{}
		for n := (a.Page - 1) * 10; n < min(25, a.Page*10); n++ {
			items = append(items, map[string]any{"number": n + 1, "title": fmt.Sprint("Issue ", n+1), "state": []string{"open", "closed"}[n%2], "labels": []string{"bug", fmt.Sprint("p", n%3)}})
		}
		return encoded(map[string]any{"total": 25, "items": items}), false
	case "read_file":
		switch a.Path {
		case "missing":
			return "no such file: missing", true
		case "config.json":
			return `{"port":8080,"hosts":["a","b"]}`, false
		}
		return "alpha 1\nbeta 2\ngamma 3\n", false
	case "write_file":
		return fmt.Sprintf("wrote %d bytes to %s", len(a.Content), a.Path), false
	case "get", "get-it", "github__get":
		return `[{"id":1,"total":10},{"id":2,"total":20}]`, false
	case "text":
		return "some text", false
	case "get_weather":
		return a.City + ": 21 C, sunny", false
	case "count":
		return "12", false
	case "fail":
		return "out of order", true
	case "":
		return "nothing is stored under " + c.Path, true
	}
	return "there is no tool named " + c.Tool, true
}

// inOffice is how a program ends in the office: what its author reads of it.
func inOffice(t *testing.T, code string) (told string, s programs.State) {
	t.Helper()
	p, err := shared.Start(t.Context(), programs.Program{Code: code, Seed: "call_1", Time: time.UnixMilli(1_700_000_000_000)})
	require.NoError(t, err)
	defer p.Close()
	for s = p.State(); len(s.Calls) > 0; s = p.State() {
		var results []programs.Result
		for _, c := range s.Calls {
			text, failed := office(c)
			results = append(results, programs.Result{Number: c.Number, Text: text, Failed: failed})
		}
		require.NoError(t, p.Resume(t.Context(), results))
	}
	return strings.TrimSpace(strings.Join(append([]string{strings.TrimSpace(s.Printed), s.Returned, s.Error}, s.Notes...), "\n")), s
}

// written are the programs of a file, and what is wanted of each.
func written(t *testing.T, name string) (codes, wants []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	for _, one := range strings.Split(strings.TrimSpace(string(text)), "\n====\n") {
		code, want, ok := strings.Cut(one, "\n=>\n")
		require.True(t, ok, one)
		codes, wants = append(codes, code), append(wants, want)
	}
	return codes, wants
}

// Programs as models write them print what they should, and nobody is told anything else.
func TestCleanCode_ProgramsOfModelsRun(t *testing.T) {
	codes, wants := written(t, "programs.txt")
	require.GreaterOrEqual(t, len(codes), 100)
	for i, code := range codes {
		told, s := inOffice(t, code)
		require.Equal(t, wants[i], told, code)
		require.Empty(t, s.Error+strings.Join(s.Notes, ""), code)
	}
}

// Programs with the slips of models run all the same, and print what is wanted, or are told what
// to write instead; in Chinese where Chinese is set.
func TestHints_MistakesAreFixedOrNamed(t *testing.T) {
	codes, wants := written(t, "slips.txt")
	require.GreaterOrEqual(t, len(codes), 100)
	t.Cleanup(func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) })
	for i, code := range codes {
		require.NoError(t, adk.SetLanguage(adk.LanguageEnglish))
		told, s := inOffice(t, code)
		require.Contains(t, told, wants[i], code)
		if s.Error == "" && len(s.Notes) == 0 || told == wants[i] { // nothing of ours
			continue
		}
		require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
		told, _ = inOffice(t, code)
		require.True(t, strings.ContainsFunc(told, func(c rune) bool { return unicode.Is(unicode.Han, c) }), told)
	}
}

// A field that no result has is noted where it made the output doubtful, with the fields that there
// are. Nothing else is.
func TestNotes_MissingFieldIsNamed(t *testing.T) {
	const shapes = "What the calls returned: list_orders: {customer: number, id: number, status: string, total: number}[] (4)"
	for code, want := range map[string]string{
		`print(o.map(x => x.amount).join())`:                                        "No result has the field amount.",
		`print(o.map(x => x.amount))`:                                               "No result has the field amount.",
		`print("" + o.map((x, i) => x?.amount?.value))`:                             "No result has the field amount.",
		`print(o.map(function (x) { return x.amount }).join("; "))`:                 "No result has the field amount.",
		`print(o.map(x => x.amount).reduce((a, b) => a + b, 0))`:                    "No result has the field amount.",
		`for (const x of o) print(x.amount)`:                                        "No result has the field amount.",
		`print(o.map(x => x.amount).join(), o.map(x => x.amount).join(), o.length)`: "No result has the field amount.",
		`print([o].map(x => x.id).join())`:                                          "",
		`const t = o.map(x => ({sum: x.amount})); print(t.map(x => x.sum))`:         "No result has the field amount.",
		`print(tools.get && o.map(x => x.amount).join())`:                           "No result has the field amount.",
		`print(o.map(({amount}) => amount).join()) // x.cost`:                       "",
	} {
		_, s := inOffice(t, "const o = await tools.list_orders({customer: 7});\n"+code)
		require.Empty(t, s.Error, code)
		require.Equal(t, shapes, s.Notes[0], code)
		require.Equal(t, want, strings.Join(s.Notes[1:], "; "), code)
	}
	for _, code := range []string{
		`o.map(x => { print(x.id) })`, `print(o.map(x => x.amount ?? x.total).join())`, `print([].map(x => x.amount).join())`, `o[3].amount = 5; print(o.map(x => x.amount).join())`,
		`print(new Array(3).join("-"))`, `print(o.map(x => x.total).join())`,
	} {
		_, s := inOffice(t, "const o = await tools.list_orders({customer: 7});\n"+code)
		require.Empty(t, s.Error, code)
		require.Empty(t, s.Notes, code)
	}
}
