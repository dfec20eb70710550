// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// toolView is a tool as the rules see it.
type toolView struct {
	name      string
	server    []string // words of the name before the double underscore
	nameWords []string // words of the rest of the name
	descWords []string // words of the description
	params    []param

	chinese   bool // the description is
	readsBack bool // it says that it reads back results which were saved
}

var ofSaved = regexp.MustCompile(`(?is)\b(?:saved|stored|persisted)\b.*\bresults?\b|\bresults?\b.*\b(?:saved|stored|persisted)\b|结果.*保存|保存.*结果`)

type param struct {
	name      string
	words     []string // of the name
	descWords []string // of the description
	kind      string   // as JSON Schema has it
	item      string   // of a list: the kind of its items
	choices   []string
	required  bool
}

func viewTools(infos []*schema.ToolInfo) (out []toolView) {
	for _, info := range infos {
		if info != nil {
			out = append(out, viewTool(info))
		}
	}
	return out
}

func viewTool(info *schema.ToolInfo) toolView {
	t := nameOnly(info.Name)
	t.descWords, t.chinese = tokens(info.Desc), isHan(info.Desc)
	if info.ParamsOneOf == nil {
		return t
	}
	js, err := info.ParamsOneOf.ToJSONSchema()
	if err != nil || js == nil || js.Properties == nil {
		return t
	}
	for pair := js.Properties.Oldest(); pair != nil; pair = pair.Next() {
		s := pair.Value
		p := param{name: pair.Key, words: nameWords(pair.Key), descWords: tokens(s.Description), kind: s.Type,
			required: slices.Contains(js.Required, pair.Key)}
		for _, choice := range s.Enum {
			p.choices = append(p.choices, fmt.Sprint(choice))
		}
		if s.Items != nil {
			p.item = s.Items.Type
		}
		t.params = append(t.params, p)
	}
	t.readsBack = t.pathParam() != "" && ofSaved.MatchString(info.Desc)
	return t
}

// pathParam is the required parameter that takes a path; empty if there is none.
func (t toolView) pathParam() string {
	for _, p := range t.params {
		if p.required && p.kind == "string" && hasSimilar(speaksOf[path], p.words) {
			return p.name
		}
	}
	return ""
}

// nameOnly is a tool of which only the name is known.
func nameOnly(name string) toolView {
	server, rest, ok := strings.Cut(name, "__")
	if !ok {
		server, rest = "", name
	}
	return toolView{name: name, server: nameWords(server), nameWords: nameWords(rest)}
}
