// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect

// What is shown in Chinese: everything of ours, where adk.SetLanguage or the browser says so. What
// users, models and tools wrote stays as it is, and so do events, which are lines of a log.

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/prompt"
)

var (
	//go:embed page/labels.zh.json
	labelsText []byte
	//go:embed text.zh.json
	terminalText []byte

	labels, terminalTexts = textsOf(labelsText), textsOf(terminalText)
)

// texts are those of a language, by the English ones; nil is English.
type texts map[string]string

func textsOf(file []byte) (t texts) {
	if err := json.Unmarshal(file, &t); err != nil {
		panic("inspect: " + err.Error())
	}
	return t
}

// terminalLanguage are the texts of lines in a terminal.
func terminalLanguage() texts {
	if prompt.Chinese() {
		return terminalTexts
	}
	return nil
}

// say formats a text.
func (t texts) say(format string, args ...any) string {
	if theirs, ok := t[format]; ok {
		format = theirs
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// count is a number of things.
func (t texts) count(n int, word string) string {
	if n == 1 && t == nil {
		return "1 " + word
	}
	return t.say("%s "+word+"s", display.Grouped(n))
}

// wantsChinese reports whether a browser asks for Chinese first.
func wantsChinese(r *http.Request) bool {
	return prompt.Chinese() || strings.HasPrefix(strings.ToLower(strings.TrimSpace(r.Header.Get("Accept-Language"))), "zh")
}

// left and right fill a text to a number of columns, behind it and before it.
func left(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-columnsOf(text)))
}

func right(text string, columns int) string {
	return strings.Repeat(" ", max(0, columns-columnsOf(text))) + text
}
