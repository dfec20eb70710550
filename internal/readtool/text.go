// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file turns results into what the model reads. The sentences are in text/, one
// file for each language.

import (
	"embed"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/texts"
)

//go:embed text
var files embed.FS

var sentences = texts.Load(files, "text")

// words are the sentences in one language, for a tool of one name.
type words struct {
	*texts.Texts
	tool string
}

func (t *readTool) words() words { return words{sentences.Current(), t.Name} }

// facts are the data of the sentences.
type facts struct {
	Tool               string
	MaxLines, MaxBytes int
	Path, ID           string // quoted path, and what the model knows its end as
	Reason             string // why a pattern is refused

	From, To, Size int64 // bytes
	First, Last    int64 // lines; zero: not known
	Fence          string
	Content        string
	Garbled        bool // not all of it is UTF-8
	Cut            bool // the last line goes on after To
	Records        bool // passages are JSON records without the white space between values
	Count          int  // matches or passages
	Asks           bool // there is an argument jq
	Missing        bool // the end of the document is missing
	More           bool // there is more of the answer
	Around, Pieces bool // lines around matches, and pieces of long lines, are shown

	Next, Before string // the arguments of a following call; empty: nothing follows
}

// say renders one of the sentences.
func (w words) say(name string, f facts) string {
	f.Tool = w.tool
	return w.Say(name, f)
}

func (w words) plain(name string) string { return w.say(name, facts{}) }

// about is a sentence about a path. What a model made up may be long.
func (w words) about(name, filePath string) string {
	const shown = 300
	if len(filePath) > shown {
		filePath = strings.ToValidUTF8(filePath[:shown], "") + "…"
	}
	return w.say(name, facts{
		Path: quoted(filePath),
		ID:   quoted(filePath[strings.LastIndexByte(filePath, '/')+1:]),
	})
}

// info describes the tool and its arguments.
func (w words) info(maxLines, maxBytes int, asks bool) *schema.ToolInfo {
	f := facts{MaxLines: maxLines, MaxBytes: maxBytes, Asks: asks}
	argument := func(name string, kind schema.DataType) *schema.ParameterInfo {
		return &schema.ParameterInfo{Type: kind, Desc: w.say(name, f), Required: name == "file_path"}
	}
	params := map[string]*schema.ParameterInfo{
		"file_path": argument("file_path", schema.String),
		"pattern":   argument("pattern", schema.String),
		"query":     argument("query", schema.String),
	}
	if asks {
		params["jq"] = argument("jq", schema.String)
	}
	for _, name := range []string{"offset", "limit", "byte_offset", "byte_limit", "tail", "context"} {
		params[name] = argument(name, schema.Integer)
	}
	return &schema.ToolInfo{
		Name:        w.tool,
		Desc:        w.say("description", f),
		ParamsOneOf: schema.NewParamsOneOfByParams(params),
		Extra:       map[string]any{madeKey: true},
	}
}

// madeKey marks, in the Extra of its info, a tool of this package, so that it is
// recognised through any wrapper.
const madeKey = "__leanctx_read_tool__"

// Made reports whether an info is that of a tool of this package.
func Made(info *schema.ToolInfo) bool {
	made, _ := info.Extra[madeKey].(bool)
	return made
}

// Page reports whether an answer of the tool holds content of a file. Other answers
// are one line.
func Page(answer string) bool { return strings.Contains(answer, "\n") }

// fence is a line that does not occur in any of the contents that it encloses.
func fence(contents ...string) string {
	line := "-----"
	within := func(content string) bool { return strings.Contains(content, line) }
	for n := 1; slices.ContainsFunc(contents, within); n++ {
		line = "-----" + strconv.Itoa(n) + "-----"
	}
	return line
}
