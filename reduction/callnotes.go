// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// What the hooks tell the calls that a model has just made about the conversation: the files
// that it names, which they may read or must not write to, and the last user and model texts.

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/reduction/internal/seen"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// callNotes passes notes to calls as run-local values. It is immutable.
type callNotes[M adk.MessageType] struct{ *clearer[M] }

// note records everything for the calls of the last message.
func (n *callNotes[M]) note(ctx context.Context, msgs []M) {
	if len(msgs) == 0 {
		return
	}
	calls := n.codec.view(msgs[len(msgs)-1]).calls
	if len(calls) == 0 {
		return
	}
	n.noteNamedFiles(ctx, msgs, calls)
	if n.policy.previews {
		n.noteQuestion(ctx, msgs)
	}
	if n.names != nil {
		n.noteReadable(ctx, msgs, calls)
	}
}

// noteNamedFiles tells calls which of their future files the notices in the history already
// name. They must not write to these.
func (n *callNotes[M]) noteNamedFiles(ctx context.Context, msgs []M, calls []call) {
	shown := namedFiles(n.cfg, n.codec, msgs)
	n.files.Note(ctx, shown)
	wanted := make(map[string]bool, len(calls))
	for _, each := range calls {
		wanted[vault.Clean(vault.DefaultPath(n.cfg.RootDir, vault.TruncDir, each.id))] = true
	}
	var taken []string
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		// A generator may return any of the names next.
		if wanted[name] || n.cfg.GenTruncOffloadFilePath != nil {
			taken = append(taken, name)
		}
	}
	setRunNames(ctx, namedFilesKey, taken)
}

// maxQuestion is the most of a message that goes into a question, in bytes.
const maxQuestion = 1000

// noteQuestion records the last texts of the user and the model for the calls that the model
// has just made.
func (n *callNotes[M]) noteQuestion(ctx context.Context, msgs []M) {
	_, said := n.codec.said(msgs[len(msgs)-1])
	asked := ""
	for i := len(msgs) - 1; i >= 0 && asked == ""; i-- {
		asked, _ = n.codec.said(msgs[i])
	}
	setRunText(ctx, questionKey, lastBytes(asked, maxQuestion)+"\n"+lastBytes(said, maxQuestion))
}

// lastBytes returns the end of a text, starting at a whole character.
func lastBytes(s string, most int) string { return s[display.Ceil(s, len(s)-most):] }

// markUsed tells the stores, at the start of a run and each hour after, which files the
// history names.
func (n *callNotes[M]) markUsed(ctx context.Context, msgs []M) {
	b := n.policy.runOf(ctx)
	if b == nil || !slices.ContainsFunc(n.files.Stores(), (*vault.Store).Cleans) {
		return
	}
	now, last := time.Now().Unix(), b.markedAt.Load()
	if now-last < int64(backend.UseInterval/time.Second) || !b.markedAt.CompareAndSwap(last, now) {
		return
	}
	if names := n.everyName(msgs); len(names) > 0 {
		for _, s := range n.files.Stores() {
			s.MarkUsed(ctx, names)
		}
	}
}

// everyName lists all files that a history names in notices, for results, media and arguments.
// A name that a tool made up does no harm.
func (n *callNotes[M]) everyName(msgs []M) []string {
	names := make(map[string]bool)
	add := func(texts ...string) {
		for _, text := range texts {
			if at := recognise(text); at.path != "" {
				names[at.path] = true
			} else if isMovedMedium(text) {
				names[tryTemplates(mediumTemplates, text, clearedNotice).path] = true
			}
		}
	}
	for _, m := range msgs {
		v := n.codec.view(m)
		add(v.moved...)
		for _, r := range v.results {
			add(append(r.texts, r.moved...)...)
		}
		for _, each := range v.calls {
			for _, p := range vault.Mentions(n.cfg.RootDir, each.args) {
				names[p] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// noteReadable tells calls which of the files outside the default roots that they ask for are
// in the conversation's notices.
func (n *callNotes[M]) noteReadable(ctx context.Context, msgs []M, calls []call) {
	asked := make(map[string]bool)
	for _, each := range calls {
		textsInJSON(each.args, 0, func(s string) {
			if !n.names.roots(s) {
				asked[vault.Clean(s)] = true
			}
		})
	}
	var names []string
	if len(asked) > 0 && (n.cfg.GenClearOffloadFilePath != nil || n.cfg.GenTruncOffloadFilePath != nil || n.names.known.Any()) {
		names = n.readableAmong(ctx, roundsOf(n.codec, msgs), asked)
	}
	setRunNames(ctx, readableKey, names)
}

// readableAmong returns the asked names that results show, if they are files of the results'
// own calls: a tool can write any name.
func (n *callNotes[M]) readableAmong(ctx context.Context, rounds []round, asked map[string]bool) (out []string) {
	for _, r := range rounds {
		for _, p := range r.pairs {
			if !p.found || p.result.search {
				continue
			}
			if name := n.ownFile(ctx, p); asked[name] && !slices.Contains(out, name) {
				out = append(out, name)
			}
			for name := range asked {
				if n.names.known.Has(seen.Key(p.call.id, name)) && showsName(p.result.texts, name) && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// ownFile is the file that a notice in place of a result names, if a path generator returns it
// for the call; else it is empty.
func (n *callNotes[M]) ownFile(ctx context.Context, p pair) string {
	at := noticeIn(p.result.texts).path
	if at == "" || n.names.roots(at) {
		return ""
	}
	detail := detailOf(p.call, textResult(joined(p.result.texts)))
	for _, generate := range []pathGenerator{n.cfg.GenTruncOffloadFilePath, n.cfg.GenClearOffloadFilePath} {
		if generate == nil {
			continue
		}
		got, err := safe.Value("path generator", func() (string, error) { return generate(ctx, detail) })
		if rest, ok := strings.CutPrefix(at, got); ok && err == nil && got != "" && (rest == "" || vault.IsSuffix(rest)) {
			return vault.Clean(at)
		}
	}
	return ""
}

func showsName(texts []string, name string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, strings.TrimPrefix(name, "/")) })
}

// maxNesting bounds the walk through arguments, which a model writes.
const maxNesting = 8

// textsInJSON calls f with every text in arguments, including JSON inside of texts.
func textsInJSON(args string, depth int, f func(string)) {
	var v any
	if json.Unmarshal([]byte(args), &v) == nil {
		eachText(v, depth, f)
	}
}

func eachText(v any, depth int, f func(string)) {
	if depth > maxNesting {
		return
	}
	switch v := v.(type) {
	case string:
		f(v)
		if strings.HasPrefix(v, "{") {
			textsInJSON(v, depth+1, f)
		}
	case []any:
		for _, each := range v {
			eachText(each, depth+1, f)
		}
	case map[string]any:
		for _, each := range v {
			eachText(each, depth+1, f)
		}
	}
}
