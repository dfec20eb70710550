// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

type params = map[string]*schema.ParameterInfo

func text(about string) *schema.ParameterInfo {
	return &schema.ParameterInfo{Type: schema.String, Desc: about, Required: true}
}

func aNumber() *schema.ParameterInfo {
	return &schema.ParameterInfo{Type: schema.Number, Required: true}
}

func optional(p *schema.ParameterInfo) *schema.ParameterInfo {
	p.Required = false
	return p
}

func TestArgumentsAreFilledByTheSchema(t *testing.T) {
	numbers := &schema.ParameterInfo{Type: schema.Array, ElemInfo: &schema.ParameterInfo{Type: schema.Number}, Required: true}
	for name, c := range map[string]struct {
		request, tool string
		params        params
		args          string
	}{
		"a quoted text":                        {`Reverse "abc"`, "text__reverse", params{"text": text("")}, `{"text":"abc"}`},
		"a list takes all numbers in a row":    {"The mean of 1, 2 and 3.5", "stats__mean", params{"numbers": numbers}, `{"numbers":[1,2,3.5]}`},
		"a number beside a list":               {"The 90th percentile of 1, 2, 3", "stats__percentile", params{"numbers": numbers, "percent": aNumber()}, `{"numbers":[1,2,3],"percent":90}`},
		"from and to":                          {"Convert 5 km to miles", "units__convert", params{"value": aNumber(), "from_unit": text("a unit"), "to_unit": text("a unit")}, `{"from_unit":"km","to_unit":"miles","value":5}`},
		"how many of one is another":           {"How many miles are 5 km?", "units__convert", params{"value": aNumber(), "from_unit": text("a unit"), "to_unit": text("a unit")}, `{"from_unit":"km","to_unit":"miles","value":5}`},
		"a word before a value names it":       {"Draw a box with height 3 and width 20", "draw__box", params{"width": aNumber(), "height": aNumber()}, `{"height":3,"width":20}`},
		"the time is that of the place by it":  {"The time in Lima when it is 14:30 in Oslo", "time__convert", params{"time": text(""), "from_zone": text(""), "to_zone": text("")}, `{"from_zone":"Oslo","time":"14:30","to_zone":"Lima"}`},
		"one of the choices":                   {"Write 2026-01-01 in the twelve-hour format", "time__format", params{"time": text(""), "format": {Type: schema.String, Enum: []string{"twelve_hour", "iso"}, Required: true}}, `{"format":"twelve_hour","time":"2026-01-01"}`},
		"a choice that was not said is left":   {"Sort the text \"b a\"", "text__sort", params{"text": text(""), "by": {Type: schema.String, Enum: []string{"length", "number"}}}, `{"text":"b a"}`},
		"a flag that was named":                {`Sort the text "b a" in reverse`, "text__sort", params{"text": text(""), "reverse": {Type: schema.Boolean}}, `{"reverse":true,"text":"b a"}`},
		"what the tool is called is no data":   {"The MD5 of ABC", "hash__md5", params{"text": text("")}, `{"text":"ABC"}`},
		"words after a colon where no data is": {"Reverse: hello world", "text__reverse", params{"text": text("")}, `{"text":"hello world"}`},
		"words that are left over":             {"Is racecar a palindrome?", "text__is_palindrome", params{"text": text("")}, `{"text":"racecar"}`},
		"a path is no number":                  {"Count the lines of a/b.txt", "files__count", params{"path": text("the file"), "limit": optional(aNumber())}, `{"path":"a/b.txt"}`},
		"a number with another unit":           {"How many seconds are 3 days", "time__format", params{"seconds": aNumber()}, `{}`},
		"JSON for a document":                  {`Get "a.b" from {"a":{"b":1}}`, "json__get", params{"json": text("the document"), "path": text("")}, `{"json":"{\"a\":{\"b\":1}}","path":"a.b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := understand([]Turn{{Role: "user", Text: c.request}}, []*schema.ToolInfo{{Name: c.tool, ParamsOneOf: schema.NewParamsOneOfByParams(c.params)}})
			require.Len(t, s.steps, 1)
			require.JSONEq(t, c.args, s.fill(s.steps[0], s.visible[0]).json())
		})
	}
}

func TestAWrongArgumentIsReplaced(t *testing.T) {
	tool := &schema.ToolInfo{Name: "json__get", Desc: "Gets a value by its path.", ParamsOneOf: schema.NewParamsOneOfByParams(params{"json": text("the document"), "path": text("")})}
	for name, c := range map[string]struct{ answer, args string }{
		"by a value of the list that is like it": {`error: there is no key "user"; the keys are: total, users`, `{"json":"{\"users\":{\"b\":1}}","path":"users.b"}`},
		"not when nothing on the list is":        {`error: there is no key "user"; the keys are: a, b`, ""},
		"not when no argument is blamed":         {`error: out of order`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := understand([]Turn{
				{Role: "user", Text: `Get "user.b" from {"users":{"b":1}}`},
				{Role: "assistant", Calls: []Call{{"call_1_1_1", "json__get", `{"json":"{\"users\":{\"b\":1}}","path":"user.b"}`}}},
				{Results: []Result{{"call_1_1_1", "json__get", c.answer}}},
			}, []*schema.ToolInfo{tool})
			r := decide(s)
			if c.args == "" {
				require.Empty(t, r.calls)
				require.Contains(t, r.text, c.answer)
				return
			}
			require.Len(t, r.calls, 1)
			require.Equal(t, Call{"call_1_1_2", "json__get", c.args}, r.calls[0])
		})
	}
}
