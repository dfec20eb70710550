// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/window"
)

// WriteCall writes one model call of a conversation, by its number: the parts of the
// request in the order of the wire, what it cost and saved, what happened before it, what
// it lacks and where that is stored, and what the model did. Control characters in texts
// of users, models and tools are escaped. It fails if c is nil, if it has no such call,
// or if w fails.
func WriteCall(w io.Writer, c *window.Conversation, n int, o TextOptions) error {
	if c == nil {
		return errNoConversation
	}
	at := slices.IndexFunc(c.Calls, func(call *window.ModelCall) bool { return call.N == n })
	if at < 0 {
		return fmt.Errorf("inspect: the conversation has %s, and no call %d", texts(nil).count(len(c.Calls), "call"), n)
	}
	t := detail{newTerminal(o), c, c.Calls[at], nil}
	if at > 0 {
		t.before = c.Calls[at-1]
	}
	t.bars = max(10, t.o.Width-2)
	t.scale = t.c.Tokens.Estimated
	t.title()
	t.parts()
	t.cost()
	t.events()
	t.left()
	t.did()
	_, err := io.WriteString(w, t.String())
	return err
}

// detail writes one call.
type detail struct {
	*terminal
	in     *window.Conversation
	c      *window.ModelCall
	before *window.ModelCall // nil if it is the first
}

// line writes a line that is cut at the width.
func (t detail) line(indent int, text string) {
	fmt.Fprintf(t, "%*s%s\n", indent, "", fit(text, max(20, t.o.Width-indent)))
}

func (t detail) section(name string) { fmt.Fprintf(t, "\n%s\n", t.bold(t.say(name))) }

func (t detail) title() {
	about := []string{display.Line(t.in.ID)}
	for _, name := range []string{t.c.Agent, t.c.Model} {
		if name != "" {
			about = append(about, display.Line(name))
		}
	}
	if t.c.Attempt > 1 {
		about = append(about, t.say("attempt %d", t.c.Attempt))
	}
	fmt.Fprintf(t, "%s  %s\n", t.bold(t.say("call %d of %d: %s", t.c.N, len(t.in.Calls), t.count(t.c.Tokens.Estimated, "token"))), t.dim(fit(strings.Join(about, ", "), 60)))
	t.question(t.in, t.c.Run)
	fmt.Fprintf(t, "\n%s\n", strings.TrimRight(t.bar(t.c), " "))
}

// words are the categories in plain words.
var words = map[window.Category]string{
	window.OwnTools: "agent's tools", window.HelpTools: "einolean's own", window.LoadedTools: "loaded tools", window.System: "system",
	window.Reminder: "names of tools", window.User: "user", window.Assistant: "assistant", window.Found: "search answer", window.Result: "result",
	window.ResultTruncated: "result, cut", window.ResultCleared: "result, cleared", window.Program: "program",
	window.Page: "page read back",
}

var tags = map[string]string{"same": "as before", "new": "new", "moved": "resent"}

// parts writes a row for each part. Tools of one state share a row, and so do five or
// more short messages that did not change.
func (t detail) parts() {
	all := t.c.Parts()
	if len(all) == 0 {
		t.line(0, t.dim(t.say("its parts were not kept, to bound the memory")))
	}
	for i, j := 0, 0; i < len(all); i = j {
		p := all[i]
		tools, messages := i+1, i
		for tools < len(all) && isTool(p) && all[tools].Category == p.Category && all[tools].State == p.State {
			tools++
		}
		for messages < len(all) && all[messages].State == p.State && !isTool(all[messages]) && all[messages].Tokens < 400 {
			messages++
		}
		switch {
		case isTool(p):
			j = tools
			var names []string
			for _, one := range all[i:j] {
				names = append(names, one.Label)
			}
			t.row(all[i:j], t.say(words[p.Category]), strings.Join(names, ", "))
		case p.State != "new" && messages-i >= 5:
			j = messages
			t.row(all[i:j], t.say("messages"), t.say("%d short ones", j-i))
		default:
			j = i + 1
			t.row(all[i:j], t.say(words[p.Category]), t.about(p))
		}
	}
}

func isTool(p window.Part) bool {
	return p.Category == window.OwnTools || p.Category == window.HelpTools || p.Category == window.LoadedTools
}

// about is the tool of a part, and the start of its text.
func (t detail) about(p window.Part) string {
	text := t.in.Texts[p.Text]
	if text == "" && p.Bytes > 0 {
		text = t.say("(its text was not kept)")
	}
	if p.Label == "" {
		return text
	}
	return p.Label + ": " + text
}

func (t detail) row(parts []window.Part, what, text string) {
	tokens := 0
	for _, p := range parts {
		tokens += p.Tokens
	}
	at := slices.IndexFunc(groups, func(g group) bool { return slices.Contains(g.of, parts[0].Category) })
	sign := " "
	if at >= 0 && what != t.say("messages") {
		sign = t.sign(groups[at], 1)
	}
	room := max(10, t.o.Width-10-2-16-11)
	text = fit(display.Line(text), room)
	fmt.Fprintf(t, "%9s %s %s%s%s %s\n", display.Grouped(tokens), sign, left(what, 16), text, strings.Repeat(" ", room-columnsOf(text)), t.tag(parts[0].State))
}

func (t detail) tag(state string) string {
	if state == "moved" {
		return t.color(bad, t.say(tags[state]))
	}
	return t.dim(t.say(tags[state]))
}

// causes explain what ended the prefix equal to the previous call.
var causes = map[string]string{
	"tools_loaded":   "Tools were loaded, and definitions come before all messages.",
	"tools_unloaded": "The tool definitions changed, and they come before all messages.",
	"reminder":       "The list of hidden tools changed.",
	"result_cut":     "A result was cut.",
	"result_cleared": "An old result was cleared.",
}

func (t detail) cost() {
	c := t.c
	t.section("what it cost and saved")
	fact := func(tokens int, text string) { fmt.Fprintf(t, "%9s %s\n", display.Grouped(tokens), t.say(text)) }
	fact(c.Tokens.Estimated, "tokens sent, estimated")
	if u := c.Tokens.Reported; u != nil {
		fact(u.PromptTokens, "reported by the provider")
		fact(u.PromptTokenDetails.CachedTokens, "of that from its cache")
	}
	if c.Hidden.Tools > 0 {
		fact(c.Hidden.Tokens, t.say("not sent: %s", t.count(c.Hidden.Tools, "hidden tool")))
	}
	if out := c.OmittedTokens.Total(); out > 0 {
		fact(out, "not sent: taken out of results")
	}
	if c.Without != nil {
		fact(*c.Without, "without einolean")
	} else {
		fmt.Fprintf(t, "%9s %s\n", "–", t.say("without einolean: this call only searched or read back, and would not have been made"))
	}
	if c.Kept {
		t.line(2, t.color(bad, t.say("the provider keeps this conversation: the model saw more than what was sent")))
	}
	if t.before == nil {
		return
	}
	why := t.say("Everything that the call before sent is still the prefix: the cache can serve it.")
	if c.Prefix.Cause != "" && c.Prefix.Lost >= 8 {
		cause := causes[c.Prefix.Cause]
		if cause == "" {
			cause = "Something in front changed."
		}
		why = t.say(cause) + t.say(" Of the %s tokens that the call before sent, %s cannot come from its cache.", display.Grouped(t.before.Tokens.Estimated), display.Grouped(c.Prefix.Lost))
	}
	for _, l := range wrap(why, t.o.Width-2) {
		t.line(2, l)
	}
}

// wrap breaks a text at spaces, and within what is too long without one, as Chinese is.
func wrap(text string, columns int) (lines []string) {
	for _, word := range strings.Fields(text) {
		for columnsOf(word) > columns {
			at, used := 0, 0
			for i, r := range word {
				if used += columnsOfRune(r); used > columns {
					break
				}
				at = i + utf8.RuneLen(r)
			}
			lines, word = append(lines, word[:at]), word[at:]
		}
		if last := len(lines) - 1; last >= 0 && columnsOf(lines[last])+1+columnsOf(word) <= columns {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// events writes what happened since the previous call, and what searches found.
func (t detail) events() {
	if len(t.c.Events) == 0 {
		return
	}
	t.section("before it")
	for _, e := range t.c.Events {
		t.line(2, display.Line(e.String()))
		if e.Search == nil {
			continue
		}
		for i, h := range e.Search.Hits {
			t.line(4, t.dim(fmt.Sprintf("%d  %6.2f  ", i+1, h.Score))+display.Line(h.Name))
		}
	}
}

func (t detail) left() {
	left := t.c.Omissions()
	if len(left) == 0 {
		return
	}
	t.section("not whole in this window")
	for _, l := range left {
		if l.Rule == "program" {
			t.line(2, display.Line(t.programRead(&l)))
			for _, c := range l.Calls {
				failed := ""
				if c.Failed > 0 {
					failed = t.say(", %d failed", c.Failed)
				}
				t.line(4, display.Line(t.say("%s: %s", c.Tool, t.count(c.Calls, "call"))+failed))
			}
			continue
		}
		where := t.say("stored nowhere")
		switch {
		case l.Path != "":
			where = t.say("whole in %s", l.Path)
		case l.Stored:
			where = t.say("stored whole")
		}
		name := l.Tool
		if name == "" {
			name = l.CallID
		}
		t.line(2, display.Line(t.say("%s %s: %s → %s tokens, %s", name, t.say(l.Rule), display.Grouped(l.Before), display.Grouped(l.After), where)))
	}
}

func (t detail) did() {
	t.section("what the model did")
	c := t.c
	switch {
	case c.Error != "":
		t.line(2, t.color(bad, "!")+" "+t.say("it failed: ")+display.Line(c.Error))
	case c.Unfinished:
		t.line(2, t.color(bad, "!")+" "+t.say("its answer was not read to the end"))
	}
	for _, use := range c.Did {
		t.line(2, t.say("called %s", display.Line(use.Tool+" "+use.Arguments)))
	}
	if c.Answer != "" {
		t.line(2, t.say("answered: %s", display.Line(c.Answer)))
	} else if len(c.Did) == 0 && c.Error == "" && !c.Unfinished {
		t.line(2, t.dim(t.say("answered (its text was not kept)")))
	}
}
