// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// How a history that another model or another adapter wrote is made to fit this run, and a
// provider that keeps the conversation on its server learns what changed.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/session"
	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

// historyEditor makes a history fit a run: results of searches in the
// form that the adapter takes, naming only tools that this call declares.
type historyEditor struct {
	rules    rules
	catalog  *catalog
	show     visibleSet
	pairs    wire.Pairs
	returned set               // by the results so far
	findable func(*entry) bool // the model may know of the tool
	declared func(string) bool // this call declares the tool
}

func (r *run) editor(ctx context.Context, show visibleSet, p wire.Pairs) wire.Editor {
	rules := r.group().rules
	if r.hiding.off {
		rules = plainRules // the provider is not told of a search
	}
	return &historyEditor{
		rules: rules, catalog: r.group().cat, show: show, pairs: p,
		findable: func(e *entry) bool { return r.turn().loadable(ctx, e) },
		declared: func(name string) bool {
			e := r.group().cat.lookup(name)
			return r.agent.own[name] && e == nil || e != nil && (show.has(name) || r.turn().defers(ctx, e))
		},
	}
}

// unmark keeps the marks of calls for adapters that need them, where the result fits.
func (h *historyEditor) Unmark(id string) bool {
	needed := h.rules.pairs || h.rules.name == "" && h.rules.acceptsNative
	return !needed || !h.pairs[id].Native
}

func (h *historyEditor) Hosted(tools []string) bool {
	for _, name := range tools {
		if !h.declared(name) {
			return false
		}
	}
	return h.rules.hosted
}

func (h *historyEditor) Result(id, name string, tools []*schema.ToolInfo) ([]*schema.ToolInfo, string) {
	if !h.rules.acceptsNative || h.rules.pairs && !h.pairs[id].Marked {
		return nil, h.words(tools)
	}
	if name == "" {
		name = h.pairs[id].Name
	}
	kept := []*schema.ToolInfo{}
	var again []string
	for _, t := range tools {
		if h.rules.newOnly && h.returned[t.Name] {
			again = append(again, t.Name)
			continue
		}
		if own := h.current(t, isMetaTool(name)); own != nil {
			kept = append(kept, own)
			h.returned.add(t.Name)
		}
	}
	if len(kept) > 0 || !h.rules.emptyAsText {
		return kept, ""
	}
	if len(again) > 0 {
		return nil, render("already-loaded", promptData{Words: again})
	}
	return nil, h.words(nil)
}

// current is the definition of a tool as of now; nil for one that this call may not show.
// What another search returned, of tools that are not ours, is not ours to judge.
func (h *historyEditor) current(t *schema.ToolInfo, ours bool) *schema.ToolInfo {
	e := h.catalog.lookup(t.Name)
	switch {
	case e == nil && ours:
		return nil
	case e == nil:
		return t
	case !h.show.has(t.Name):
		return nil
	case e.isCurrent(t):
		return t
	}
	own := e.native()
	own.ParamsOneOf = copyParams(own.ParamsOneOf)
	return own
}

func (e *entry) isCurrent(t *schema.ToolInfo) bool {
	return t.Desc == e.info.Desc && t.ParamsOneOf != nil && schemaText(t) == e.parameters()
}

// words is a result in the provider's form as text, without tools that the model may not
// know of.
func (h *historyEditor) words(tools []*schema.ToolInfo) string {
	names := []string{}
	for _, t := range tools {
		if e := h.catalog.lookup(t.Name); e == nil || h.findable(e) {
			names = append(names, t.Name)
		}
	}
	return h.Words(names)
}

// Words is the result of a search as text.
func (h *historyEditor) Words(names []string) string { return encode(matchesAnswer{Matches: names}) }

// sessionKey marks, in Extra, a response that the provider keeps: what its request
// said of hidden tools.
const sessionKey = "__leanctx_toolsearch_session__"

// sent is what a request says of hidden tools. The zero value is that of a request
// which this package had no part in.
type sent struct {
	reminder string
	tools    []string // names of those that it shows
}

func (s sent) mark() string { return digest(s.reminder) + "." + s.toolsMark() }

func (s sent) toolsMark() string {
	names := slices.Clone(s.tools)
	slices.Sort(names)
	return digest(strings.Join(names, "\n"))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// continued returns messages from which no model call builds on a response whose
// request had another reminder, or, where the provider keeps the tools as well, other
// hidden tools than this one.
func continued[M adk.MessageType](msgs []M, now sent) []M {
	if !session.Any(msgs) {
		return msgs
	}
	reminder, tools, _ := strings.Cut(now.mark(), ".")
	return session.Restart(msgs, func(i int, keepsTools bool) bool {
		was, with, _ := strings.Cut(session.MarkOf(msgs[i], sessionKey), ".")
		return was != reminder || keepsTools && with != tools
	})
}

// firstChange is where two lists of messages first differ; -1 if nowhere.
func firstChange[M adk.MessageType](before, after []M) int {
	if wire.SameList(before, after) {
		return -1
	}
	for i := range after {
		if i == len(before) || after[i] != before[i] {
			return i
		}
	}
	return -1
}

// restartedAt returns messages in which no response at or after a place can be built
// on, as a message at that place was changed. -1 is no place.
func restartedAt[M adk.MessageType](at int, msgs []M) []M {
	if at < 0 {
		return msgs
	}
	return session.Restart(msgs, func(i int, _ bool) bool { return i >= at })
}
