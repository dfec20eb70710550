// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package toolnames holds the names of the tools through which package toolsearch
// lets a model find, load and call hidden tools. Package reduction knows them too:
// what loads a tool must stay in the history.
package toolnames

import (
	"strings"

	"github.com/einolean/einolean/internal/jsontext"
)

const (
	Search      = "tool_search"    // finds tools; in most protocols it loads them too
	SearchTools = "search_tools"   // shows candidates and loads none
	Load        = "load_tool"      // loads tools by name
	Call        = "call_tool"      // runs a tool that stays hidden
	Run         = "run_code"       // runs a program that calls tools
	Output      = "program_output" // ends a program; no model is shown it
)

// SkillPrefix begins the name of each tool of package toolsearch/skills.
const SkillPrefix = "skill__"

// Called is the name that the arguments of [Call] ask for, under the right key or one that models
// use by mistake; "" if there is none.
func Called(args jsontext.Arguments) string {
	names := append(args.Texts("name", "tool_name", "tool"), args.BareTexts()...)
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// IsSearchTool reports whether a name is that of a search tool of any protocol.
func IsSearchTool(name string) bool { return Loads(name) || name == SearchTools || name == Call }

// Loads reports whether the answers of the tool called name load tools: they are
// how later requests and runs know which tools to show.
func Loads(name string) bool { return name == Search || name == Load }

// The tags of the reminder: the message that lists the hidden tools, by Eino's form.
const (
	ReminderOpen  = "<available-deferred-tools>"
	ReminderClose = "</available-deferred-tools>"
)

// The tags of a message that reports changes of that list.
const (
	ChangedOpen  = "<available-deferred-tools-changed>"
	ChangedClose = "</available-deferred-tools-changed>"
)

// Changed returns the text between the tags of a change; ok is false if text is not one.
func Changed(text string) (list string, ok bool) { return between(text, ChangedOpen, ChangedClose) }

// The tags of a message that describes tools for what a user just said.
const (
	OfferOpen  = "<tools-for-this-request>"
	OfferClose = "</tools-for-this-request>"
)

// Offer returns the text between the tags of an offer; ok is false if text is not one.
func Offer(text string) (tools string, ok bool) { return between(text, OfferOpen, OfferClose) }

// Reminder returns the text between the tags; ok is false if text is not a reminder.
func Reminder(text string) (list string, ok bool) { return between(text, ReminderOpen, ReminderClose) }

func between(text, open, end string) (list string, ok bool) {
	list, opened := strings.CutPrefix(strings.TrimSpace(text), open)
	list, closed := strings.CutSuffix(list, end)
	return list, opened && closed
}
