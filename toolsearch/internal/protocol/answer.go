// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/bytedance/sonic"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/search"
)

// MaxAnswer is the largest size of the tools in one answer, in bytes: an answer stays in the conversation.
const MaxAnswer = 64 << 10

// answerSpace returns the space of an answer that takes size bytes for a tool.
func answerSpace(size func(*catalog.Tool) int) search.Space {
	return search.Space{Bytes: MaxAnswer, Size: size}
}

// toolsAnswer is an answer that describes tools.
type toolsAnswer struct {
	Tools []Described `json:"tools"`
	Hint  string      `json:"hint,omitempty"`
}

// Described is a tool in an answer: with its description and schema, or with its signature.
type Described struct {
	Name        string          `json:"name"`
	Call        string          `json:"call,omitempty"` // the signature
	Description *string         `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

const (
	descriptionFrame = `{"name":"description":"parameters":},` // around the texts of a description
	signatureFrame   = `{"name":"","call":""},`                // around those of a signature
)

// Describe returns a tool with its description and schema, and reports whether one of them is shortened: each tool alone
// fits into an answer.
func Describe(t *catalog.Tool) (d Described, isShortened bool) {
	params, isShortened := t.ShownSchema()
	desc := truncate(t.Info.Desc, MaxAnswer-len(descriptionFrame)-Size(t.Info.Name)-len(params))
	d = Described{Name: t.Info.Name, Description: &desc, Parameters: json.RawMessage(params)}
	return d, isShortened || len(desc) != len(t.Info.Desc)
}

// SignatureOf returns a tool with its signature.
func SignatureOf(t *catalog.Tool) Described { return Described{Name: t.Info.Name, Call: t.Signature()} }

// Size returns the bytes that the tool takes in an answer, or a little more.
func (d Described) Size() int {
	if d.Description == nil {
		return len(signatureFrame) + Size(d.Name) + Size(d.Call)
	}
	return len(descriptionFrame) + Size(d.Name) + Size(*d.Description) + len(d.Parameters)
}

// textsOf returns the texts under the first key that has any, or else those of arguments that are not an object.
func textsOf(args jsontext.Arguments, keys ...string) []string {
	if texts := args.Texts(keys...); len(texts) > 0 {
		return texts
	}
	return args.BareTexts()
}

// firstText returns the first text under one of the keys; "" if there is none.
func firstText(args jsontext.Arguments, keys ...string) string {
	if texts := textsOf(args, keys...); len(texts) > 0 {
		return texts[0]
	}
	return ""
}

// queryOf returns the query of a search by words. It also accepts keys that models use by mistake.
func queryOf(args jsontext.Arguments) search.Query {
	return search.Query{
		Texts: textsOf(args,
			"query", "queries", "q", "keywords", "keyword", "search", "name", "names", "tool_name", "tool_names", "text"),
		Limit: int(max(0, min(args.Number("max_results", "limit", "top_k", "n"), maxLimit))),
	}
}

// maxLimit is more results than any catalog has. Four times as many is still a number.
const maxLimit = 1<<31 - 1

// plainJSON writes < and > as they are: answers are read by models, not by browsers.
var plainJSON = sonic.Config{SortMapKeys: true, ValidateString: true, CopyString: true}.Froze()

// JSON encodes a value of texts and numbers, which cannot fail.
func JSON(v any) string {
	text, err := plainJSON.MarshalToString(v)
	if err != nil {
		return "{}"
	}
	return text
}

// storedAnswer is the members of an answer in a history. The whole text is decoded once, not once for each protocol: a
// protocol decodes only its own members.
type storedAnswer []storedMember

type storedMember struct{ key, value string }

// splitAnswer returns the members of a JSON object; isObject is false if the text is anything else.
func splitAnswer(text string) (a storedAnswer, isObject bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return nil, false
	}
	var object struct {
		Hint json.RawMessage `json:"hint"` // without any field, sonic would not check the keys
	}
	if sonic.ConfigStd.UnmarshalFromString(text, &object) != nil {
		return nil, false
	}
	for key, value, next, ok := jsontext.Member(text, 1); ok; key, value, next, ok = jsontext.Member(text, next) {
		a = append(a, storedMember{jsontext.Unescape(key), value})
	}
	return a, true
}

// decode decodes a member, as if the whole answer were decoded: the case of its key does not matter, and of several the
// last one counts. Without the member, value stays as it is.
func (a storedAnswer) decode(key string, value any) error {
	for _, m := range a {
		if !strings.EqualFold(m.key, key) {
			continue
		}
		if err := sonic.ConfigStd.UnmarshalFromString(m.value, value); err != nil {
			return err
		}
	}
	return nil
}

// Size returns the bytes of a text in JSON, or a little more.
func Size(s string) int {
	n := len(`"",`)
	for _, c := range s {
		switch {
		case c < ' ' || c == utf8.RuneError || c == '\u2028' || c == '\u2029':
			n += len(`\u0000`)
		case c == '"' || c == '\\':
			n += 2
		default:
			n += utf8.RuneLen(c)
		}
	}
	return n
}

// truncate shortens a text to a number of bytes in JSON.
func truncate(s string, maxBytes int) string {
	if Size(s) <= maxBytes {
		return s
	}
	size := Size("…")
	for i, c := range s {
		if size += Size(string(c)) - Size(""); size > maxBytes {
			return s[:i] + "…"
		}
	}
	return s
}
