// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file makes random catalogues, queries and arguments.

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/adktest"
)

// newRand is a source of randomness whose seed is printed, and can be given.
func newRand(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("LEANCTX_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("LEANCTX_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// chance is true in n of 100 cases.
func chance(r *rand.Rand, n int) bool { return r.IntN(100) < n }

var (
	plainWords = []string{"get", "list", "create", "issue", "Issue", "send", "mail", "email", "weather", "forecast", "time", "zone", "a", "to", "in", "db",
		"SQL", "HTTP", "server", "file", "read", "write", "x2", "v10", "2fa", "url", "parse", "JSONPath", "userID", "iPhone"}
	foreignWords = []string{"发邮件", "天气", "查询", "北京", "メール", "送信", "날씨", "naïve", "CAFÉ", "cafe\u0301", "ｆｕｌｌ", "Straße", "ǅungla", "İstanbul", "ſ", "KΩ", "Ångström", "🙂", "٣", "ﬁle"}
	brokenWords  = []string{"\xff", "a\xc3", "\xe5\x8f", "x\x00y", "tab\there", "q\"uote", "a<b>", "back\\slash", "co,mma", "a b", "semi;colon", "\ufffd", "line\nbreak", "\u2028"}
)

// words are those of one catalogue: few, so that many tools share them.
type words []string

func newWords(r *rand.Rand) words {
	var w words
	for range 3 + r.IntN(10) {
		switch {
		case chance(r, 70):
			w = append(w, pick(r, plainWords))
		case chance(r, 80):
			w = append(w, pick(r, foreignWords))
		default:
			w = append(w, pick(r, brokenWords))
		}
	}
	return w
}

// name joins words as programmers and servers do.
func (w words) name(r *rand.Rand) string {
	var b strings.Builder
	for i := range 1 + r.IntN(4) {
		word := pick(r, w)
		if i > 0 {
			sep := pick(r, []string{"_", "_", "__", "", "-", ".", "___"})
			b.WriteString(sep)
			if sep == "" {
				word = strings.ToUpper(word[:1]) + word[1:]
			}
		}
		b.WriteString(word)
	}
	return b.String()
}

func (w words) sentence(r *rand.Rand, most int) string {
	var list []string
	for range r.IntN(most + 1) {
		list = append(list, pick(r, w))
	}
	return strings.Join(list, " ")
}

// catalogue is a random set of dynamic tools.
type catalogue struct {
	words words
	infos []*schema.ToolInfo
}

func newCatalogue(r *rand.Rand, most int) catalogue {
	c := catalogue{words: newWords(r)}
	seen := map[string]bool{"tool_search": true, "search_tools": true, "load_tool": true, "call_tool": true, "own": true}
	for range 1 + r.IntN(most) {
		name := c.words.name(r)
		if seen[name] {
			continue
		}
		seen[name] = true
		info := &schema.ToolInfo{Name: name, Desc: c.words.sentence(r, 8)}
		if chance(r, 50) {
			info.ParamsOneOf = schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"value": {Type: schema.String, Desc: c.words.sentence(r, 3)}})
		}
		c.infos = append(c.infos, info)
	}
	return c
}

func (c catalogue) tools(r *rand.Rand) []tool.BaseTool {
	var out []tool.BaseTool
	for _, i := range c.infos {
		out = append(out, adktest.Tool(adktest.Form(r.IntN(4)), i, nil))
	}
	return out
}

// term is a word of a query: of the catalogue, a part of one, or neither.
func (c catalogue) term(r *rand.Rand) string {
	word := pick(r, c.words)
	switch r.IntN(8) {
	case 0:
		word = pick(r, c.infos).Name
	case 1:
		word = word[r.IntN(len(word)):]
	case 2:
		word = strings.ToUpper(word)
	case 3:
		word = pick(r, plainWords)
	}
	if chance(r, 15) {
		word = "+" + word
	}
	return word
}

// query is what a model may search for.
func (c catalogue) query(r *rand.Rand) string {
	if chance(r, 25) {
		return c.selection(r)
	}
	var terms []string
	for range 1 + r.IntN(5) {
		terms = append(terms, c.term(r))
	}
	return strings.Join(terms, pick(r, []string{" ", " ", "  ", "\u3000", "\n"}))
}

// selection is a query by name: right, almost right, or wrong.
func (c catalogue) selection(r *rand.Rand) string {
	var names []string
	for range 1 + r.IntN(4) {
		name := pick(r, c.infos).Name
		switch r.IntN(10) {
		case 0:
			name = strings.ToUpper(name)
		case 1:
			name = `"` + name + `"`
		case 2:
			name = pick(r, c.words)
		case 3:
			name = " " + name + " "
		case 4:
			name = ""
		}
		names = append(names, name)
	}
	return pick(r, []string{"select:", "select:", "select:", " select: ", "Select:", "select"}) +
		strings.Join(names, pick(r, []string{",", ",", ",", ", ", " ", ",,"}))
}

// arguments are those of tool_search: mostly as its schema asks for.
func (c catalogue) arguments(r *rand.Rand) string {
	if chance(r, 4) {
		return pick(r, []string{"", " ", "{}", "null", `{"query":""}`, `{"query":" \n"}`, `{"query":`, `[]`, `"words"`, `{"query":["a","b"]}`, `{"query":7}`, `{"quer":"get"}`, "not json"})
	}
	query, err := json.Marshal(c.query(r))
	if err != nil {
		panic(err)
	}
	switch r.IntN(10) {
	case 0:
		return fmt.Sprintf(`{"query":%s,"max_results":%s}`, query, pick(r, []string{"0", "-1", "1", "2", "7", "100", "101", "1000000", "null"}))
	case 1:
		return fmt.Sprintf(`{"max_results": %d, "query" : %s, "why":{"a":[1]}}`, r.IntN(12), query)
	case 2:
		if chance(r, 20) {
			return fmt.Sprintf(`{"query":%s,"max_results":%s}`, query, pick(r, []string{`"5"`, "5.5", "true", "[]", "1e30"}))
		}
	}
	return fmt.Sprintf(`{"query":%s}`, query)
}
