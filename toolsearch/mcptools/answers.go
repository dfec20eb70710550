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

// words is the data of the answers. Each uses some of it.
type words struct {
	Server, Since, Limit, Text, Type, URI string
	Bytes                                 int
}

// say renders one of the answers in the language that Eino is set to.
func say(name string, w words) string { return answers.Current().Say(name, w) }

// errorMark is what stands before the text of an error.
func errorMark() string { return answers.Current().Pieces("failed")[0].Text }
