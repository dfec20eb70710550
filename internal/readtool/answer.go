// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// The texts for the model: the prompts in text/, their data, and the tool definition.

import (
	"embed"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/prompt"
)

//go:embed text
var files embed.FS

var sentences = prompt.Load(files, "text")

// replyTexts are the texts of a tool in one language.
type replyTexts struct {
	*prompt.Texts
	tool string
}

// answerHeader is what answers have besides their content.
type answerHeader struct {
	Tool                     string
	Path                     string // quoted path, pattern or query
	FirstByte, EndByte, Size int64  // bytes
	NextCall                 string // the arguments of a following call; empty: nothing follows
	InvalidUTF8              bool   // not all of the content is UTF-8
}

// Partial reports whether only a part of the content was searched.
func (t answerHeader) Partial() bool { return t.FirstByte > 0 || t.EndByte < t.Size }

func (w replyTexts) plainAnswer(name string) string {
	return w.Render(name, answerHeader{Tool: w.tool})
}

// aboutPath returns a sentence about a path. A path that a model made up may be long.
func (w replyTexts) aboutPath(name, filePath string) string {
	const maxPath = 300
	if len(filePath) > maxPath {
		filePath = strings.ToValidUTF8(filePath[:maxPath], "") + "…"
	}
	return w.Render(name, struct{ Tool, Path, ID string }{ // the model knows the end of a path as its id
		w.tool, display.Quoted(filePath), display.Quoted(filePath[strings.LastIndexByte(filePath, '/')+1:]),
	})
}

func (w replyTexts) info(maxLines, maxBytes int, asks bool) *schema.ToolInfo {
	f := struct {
		MaxLines, MaxBytes int
		HasJQ              bool
	}{maxLines, maxBytes, asks}
	argument := func(name string, kind schema.DataType) *schema.ParameterInfo {
		return &schema.ParameterInfo{Type: kind, Desc: w.Render(name, f), Required: name == "file_path"}
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
		Desc:        w.Render("description", f),
		ParamsOneOf: schema.NewParamsOneOfByParams(params),
		Extra:       map[string]any{readToolKey: true},
	}
}

// readToolKey marks the tool in the Extra of its info, so that it is recognized through any wrapper.
const readToolKey = "__einolean_read_tool__"

// IsReadTool reports whether an info belongs to a tool of this package.
func IsReadTool(info *schema.ToolInfo) bool {
	ok, _ := info.Extra[readToolKey].(bool)
	return ok
}

// HasContent reports whether an answer of the tool has content of a file. Other answers are one line.
func HasContent(answer string) bool { return strings.Contains(answer, "\n") }

// frameContent returns content, and the fence that encloses it. It reports whether the content has bytes that are
// not UTF-8.
func frameContent(content []byte) (shown, between string, garbled bool) {
	shown = string(content)
	between = fence(shown)
	if !strings.HasSuffix(shown, "\n") {
		shown += "\n" // the fence is a line of its own; EndByte says where the content ends
	}
	return shown, between, !utf8.Valid(content)
}

// fence is a line that does not occur in any of the contents that it encloses.
func fence(contents ...string) string {
	line := "-----"
	occurs := func(content string) bool { return strings.Contains(content, line) }
	for n := 1; slices.ContainsFunc(contents, occurs); n++ {
		line = "-----" + strconv.Itoa(n) + "-----"
	}
	return line
}
