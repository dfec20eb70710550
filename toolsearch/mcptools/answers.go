// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"embed"

	"github.com/einolean/einolean/internal/prompt"
)

//go:embed answers
var answerFiles embed.FS

var answers = prompt.Load(answerFiles, "answers")

// answerData is the data of the answers. Each uses some of it.
type answerData struct {
	Server, Time, Limit, Text, Type, URI string
	Bytes                                int
}

// answerText renders one of the answers in the language that Eino is set to.
func answerText(name string, w answerData) string { return answers.Current().Render(name, w) }

// errorMark is what stands before the text of an error.
func errorMark() string { return answers.Current().Pieces("failed")[0].Text }
