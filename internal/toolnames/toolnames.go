// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package toolnames holds the names of the tools through which a model finds, loads and calls
// hidden tools, and the tags of messages about them. Package reduction needs them too: answers that
// load a tool must stay in the history.
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

// CalledTool returns the tool name in the arguments of [Call], under the right key or a common
// wrong one; "" if there is none.
func CalledTool(args jsontext.Arguments) string {
	names := append(args.Texts("name", "tool_name", "tool"), args.Bare()...)
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// IsSearchTool reports whether a name is that of a search tool of any protocol.
func IsSearchTool(name string) bool { return Loads(name) || name == SearchTools || name == Call }

// Loads reports whether answers of a tool load tools. Later requests and runs derive the visible
// tools from these answers.
func Loads(name string) bool { return name == Search || name == Load }

// Tags of the reminder, the message that lists the hidden tools. They are Eino's.
const (
	ReminderOpen  = "<available-deferred-tools>"
	ReminderClose = "</available-deferred-tools>"
)

// Tags of a message with changes of that list.
const (
	ChangedOpen  = "<available-deferred-tools-changed>"
	ChangedClose = "</available-deferred-tools-changed>"
)

// Changes returns the text between the tags of a list of changes; ok is false if text is not one.
func Changes(text string) (list string, ok bool) { return cutTags(text, ChangedOpen, ChangedClose) }

// Tags of a message with the tools that match the user's message.
const (
	OfferOpen  = "<tools-for-this-request>"
	OfferClose = "</tools-for-this-request>"
)

// Offer returns the text between the tags of an offer; ok is false if text is not one.
func Offer(text string) (tools string, ok bool) { return cutTags(text, OfferOpen, OfferClose) }

// Reminder returns the text between the tags; ok is false if text is not a reminder.
func Reminder(text string) (list string, ok bool) { return cutTags(text, ReminderOpen, ReminderClose) }

// cutTags returns the text between two tags that enclose a text.
func cutTags(text, open, end string) (list string, ok bool) {
	list, opened := strings.CutPrefix(strings.TrimSpace(text), open)
	list, closed := strings.CutSuffix(list, end)
	return list, opened && closed
}
