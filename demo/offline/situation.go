// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// situation holds everything that the rules know.
type situation struct {
	request   string
	number    int // number of the request in this conversation, from 1
	steps     []*progress
	visible   []toolView // what can be called, without the search tool
	search    bool       // there is a search tool
	way       protocol   // how it is called
	hidden    []toolView // by name only: deferred tools that were announced and are not visible
	readers   []toolView // what reads stored results back
	common    map[string]int
	past      attempt   // the last call that worked before this request
	history   []attempt // all calls before this request that worked
	readBacks []attempt // all calls that read a stored result back
}

// progress records what was done for a step.
type progress struct {
	step
	index     int
	searches  []searchAttempt
	calls     []attempt
	hidden    []fit // cache of rankHidden; nil before the first call
	readBacks int   // number of calls that read stored results
	looked    bool  // a later step answers from this result
	// What the rules decided, for the steps after it.
	done, failed bool
	result       string
}

type searchAttempt struct {
	query string
	found []string
}

type attempt struct{ tool, args, result string }

const searchTool = "tool_search"

var (
	isName   = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)
	isCallID = regexp.MustCompile(`^call_(\d+)_(\d+)_\d+$`)
)

// understand builds the situation from the conversation.
func understand(turns []Turn, tools []*schema.ToolInfo) *situation {
	s := &situation{common: map[string]int{}}
	var names []string
	for _, t := range turns {
		for _, rest := range strings.Split(t.Text, "<available-deferred-tools>")[1:] {
			list, _, _ := strings.Cut(rest, "</available-deferred-tools>")
			names = append(names, strings.Split(list, "\n")...)
		}
		if isRequest(t) {
			s.request, s.number = t.Text, s.number+1
		}
	}
	s.seeTools(viewTools(tools), names)
	for i, st := range split(s.request) {
		s.steps = append(s.steps, &progress{step: st, index: i})
	}
	s.replay(turns)
	return s
}

// isRequest distinguishes a user's words from reminders, which come in tags.
func isRequest(t Turn) bool {
	text := strings.TrimSpace(t.Text)
	return t.Role == string(schema.User) && text != "" && len(t.Results) == 0 && !(strings.HasPrefix(text, "<") && strings.HasSuffix(text, ">"))
}

// seeTools sorts tools into visible and hidden, and counts how common each word
// of a name is.
func (s *situation) seeTools(tools []toolView, names []string) {
	visible := map[string]bool{}
	count := func(t toolView) {
		for _, w := range unique(append(append([]string(nil), t.server...), t.nameWords...)) {
			s.common[stem(w)]++
		}
	}
	for _, t := range tools {
		visible[t.name] = true
		if t.name == searchTool {
			s.search = true
			continue
		}
		if t.readsBack {
			s.readers = append(s.readers, t)
			continue
		}
		s.visible = append(s.visible, t)
		count(t)
	}
	for _, name := range names {
		name = strings.TrimSpace(name)
		if !visible[name] && isName.MatchString(name) {
			visible[name] = true
			t := nameOnly(name)
			s.hidden = append(s.hidden, t)
			count(t)
		}
	}
}

// replay assigns the model's earlier calls to steps, by call ID.
func (s *situation) replay(turns []Turn) {
	results := map[string]string{}
	for _, t := range turns {
		for _, r := range t.Results {
			results[r.ID] = r.Text
		}
	}
	for _, t := range turns {
		for _, c := range t.Calls {
			result, answered := results[c.ID]
			if answered {
				s.note(c, result, s.isRead(c))
			}
		}
	}
}

func (s *situation) note(c Call, result string, isReadBack bool) {
	a := attempt{c.Name, c.Args, result}
	if isReadBack {
		s.readBacks = append(s.readBacks, a)
	}
	m := isCallID.FindStringSubmatch(c.ID)
	if m == nil || m[1] != fmt.Sprint(s.number) {
		if c.Name != searchTool && !isReadBack && !isError(result) {
			s.past, s.history = a, append(s.history, a)
		}
		return
	}
	for _, p := range s.steps {
		switch {
		case m[2] != fmt.Sprint(p.index+1):
		case c.Name == searchTool:
			p.searches = append(p.searches, searchAttempt{queryOf(c.Args), namesIn(result)})
		case isReadBack:
			p.readBacks++
		default:
			p.calls = append(p.calls, a)
		}
	}
}

func queryOf(args string) string {
	var a struct{ Query string }
	_ = json.Unmarshal([]byte(args), &a)
	return a.Query
}

// namesIn are the names that a search found.
func namesIn(result string) []string {
	var r struct{ Matches, SelectedTools []string }
	_ = json.Unmarshal([]byte(result), &r)
	return append(r.Matches, r.SelectedTools...)
}

// callID encodes request, step and attempt in a call ID.
func (s *situation) callID(p *progress) string {
	return fmt.Sprintf("call_%d_%d_%d", s.number, p.index+1, len(p.searches)+len(p.calls)+p.readBacks+1)
}

// earlier returns the result that a step mentions, and whether it has arrived.
func (s *situation) earlier(p *progress) (result string, ok, failed bool) {
	if p.index > 0 {
		before := s.steps[p.index-1]
		return before.result, before.done, before.failed
	}
	return s.past.result, s.past.tool != "", false
}

var errorStart = regexp.MustCompile(`(?i)^\s*(?:\{\s*"error"|\[?error\b|错误|失败)`)

// isError reports whether a tool answered that it could not.
func isError(result string) bool { return errorStart.MatchString(result) }
