// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package window

// This file makes a record of a request, and completes it with the answer.

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/readtool"
	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/internal/session"
	"github.com/leanctx/leanctx/internal/toolnames"
)

// request is a parsed request, before any comparison.
type request struct {
	parts []Part
	texts []string        // of the parts
	calls map[string]bool // call IDs that only leanctx needs
	shown map[string]bool // names of the tools in it
	kept  bool
	asked string
}

// toolsKey holds, in a context, an agent's hidden tools.
type toolsKey struct{ of *Collector }

// hidden are the tools of a run that package toolsearch hides: the tokens of their
// definitions by name.
type hidden map[string]int

// hiddenTool is the form that package toolsearch gives a hidden tool.
type hiddenTool interface{ HiddenTool() }

func hiddenAmong(ctx context.Context, tools []tool.BaseTool) hidden {
	var h hidden
	for _, t := range tools {
		if _, is := t.(hiddenTool); !is {
			continue
		}
		info, err := safe.Value("Info", func() (*schema.ToolInfo, error) { return t.Info(ctx) })
		if err != nil || info == nil {
			continue
		}
		if h == nil {
			h = hidden{}
		}
		h[info.Name] = estimate(definition(info))
	}
	return h
}

// observe records a request that is about to be sent.
func observe[M adk.MessageType](ctx context.Context, by *observer, in []M, opts []model.Option, stream bool) *recorded {
	c, at := by.c, time.Now()
	r := c.runOf(ctx)
	if r.conv == nil {
		return nil // the agent was built without BeforeAgent of this handler
	}
	hide, _ := ctx.Value(toolsKey{c}).(hidden)
	tell := func() {}
	defer func() { tell() }()
	c.mu.Lock()
	defer c.mu.Unlock()
	o := model.GetCommonOptions(&model.Options{}, opts...)
	q := read(c, r.conv, hide, in, o)
	call := &recorded{conv: r.conv, ctx: ctx, ModelCall: &ModelCall{
		N: len(r.conv.calls) + 1, Run: r.n, Conversation: r.conv.id, Attempt: 1, Start: at, Stream: stream, Kept: q.kept, Parts: q.parts, Events: r.conv.pending,
	}}
	if call.Agent = agentOf(ctx); o.Model != nil {
		call.Model = *o.Model
	}
	r.conv.pending = nil
	if r.n > 0 && r.conv.runs[r.n-1].Question == "" {
		r.conv.runs[r.n-1].Question = c.cfg.keep(start(q.asked, 1000))
	}
	call.measure(hide, q)
	if before := r.conv.previous[by]; call.follow(before) {
		tell = c.ended(before)
	}
	call.hold(c, q)
	r.conv.previous[by] = call
	r.conv.calls = append(r.conv.calls, call)
	c.add(call)
	return call
}

// agentOf is the name of the running agent, the innermost one.
func agentOf(ctx context.Context) string {
	for _, at := range slices.Backward(compose.GetCurrentAddress(ctx)) {
		if at.Type == adk.AddressSegmentAgent {
			return at.ID
		}
	}
	return ""
}

// read parses a request, in the order of the wire.
func read[M adk.MessageType](c *Collector, v *conversation, hide hidden, in []M, o *model.Options) *request {
	q := &request{calls: map[string]bool{}, shown: map[string]bool{}, kept: session.Any(in)}
	for _, t := range append(append(slices.Clip(o.Tools), o.DeferredTools...), o.ToolSearchTool) {
		if t != nil {
			q.tool(c, v, hide, t)
		}
	}
	names := map[string]string{} // of the calls, since results may lack names
	for _, m := range in {
		for _, p := range pieces(m) {
			switch p.kind {
			case callPiece:
				names[p.callID] = p.tool
				if searches(p.tool) || v.reads(p) {
					q.calls[p.callID] = true
				}
			case resultPiece:
				if p.tool == "" {
					p.tool = names[p.callID]
				}
			case userPiece:
				if !isReminder(p.text) && !isOffer(p.text) && p.text != "" {
					q.asked = p.text
				}
			}
			q.add(c, v.category(p, q.calls[p.callID]), p)
		}
	}
	return q
}

// tool adds the definition of a tool.
func (q *request) tool(c *Collector, v *conversation, hide hidden, t *schema.ToolInfo) {
	category := OwnTools
	_, hidden := hide[t.Name]
	switch {
	case searches(t.Name), t.Name == toolnames.Call, readtool.Made(t):
		category = HelpTools
	case hidden, v.loaded[t.Name]:
		category = LoadedTools
	}
	q.shown[t.Name] = true
	q.add(c, category, piece{tool: t.Name, text: definition(t)})
}

// add appends a part. Parts that would differ on the wire have different hashes.
func (q *request) add(c *Collector, category Category, p piece) {
	var h maphash.Hash
	h.SetSeed(c.seed)
	_ = h.WriteByte(byte(p.kind))
	for _, s := range []string{p.tool, p.callID, p.label} {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	_, _ = h.WriteString(p.text)
	tokens := estimate(p.text)
	if p.kind == callPiece {
		tokens += estimate(p.tool)
	}
	if p.media > 0 {
		tokens = mediaTokens
	}
	q.parts = append(q.parts, Part{Category: category, Label: cmp.Or(p.tool, p.label), CallID: p.callID, Bytes: len(p.text) + p.media, Tokens: tokens, hash: h.Sum64()})
	q.texts = append(q.texts, p.text)
}

// mediaTokens is the estimate for one image or file: about what providers bill for an
// image of a million pixels.
const mediaTokens = 1000

// estimate returns about how many tokens a text has.
func estimate(text string) int { return (len(text) + 3) / 4 }

// reads reports whether a call reads stored content back: an event said so, or the call
// names a path from a notice.
func (v *conversation) reads(p piece) bool {
	if v.outputs[p.callID].rule == "read" {
		return true
	}
	for path := range v.paths {
		if strings.Contains(p.text, path) {
			return true
		}
	}
	return false
}

// category returns the category of a part; help is true for calls that only leanctx
// needs and for their results.
func (v *conversation) category(p piece, help bool) Category {
	switch p.kind {
	case systemPiece:
		return System
	case assistantPiece, callPiece:
		return Assistant
	case userPiece:
		if isReminder(p.text) {
			return Reminder
		}
		if isOffer(p.text) {
			return Found
		}
		return User
	}
	n := readNotice(p.text)
	if n.path != "" && len(v.paths) < most {
		v.paths[n.path] = true
	}
	o := v.outputs[p.callID]
	switch {
	case o.rule == "cleared" && n.category == ResultCleared, o.rule == "referred":
		return ResultCleared
	case n.category != "":
		return n.category
	case help && searches(p.tool):
		return Found
	case help, o.rule == "read":
		return Page
	}
	return Result
}

// measure counts the request, the hidden tools, what is left out, and the size of the
// request without leanctx.
func (r *recorded) measure(hide hidden, q *request) {
	v := r.conv
	for i, p := range r.Parts {
		r.Tokens.Estimated += p.Tokens
		switch p.Category {
		case HelpTools, Reminder, Found, Page:
			r.help += p.Tokens
		case Assistant:
			if q.calls[p.CallID] {
				r.help += p.Tokens
			}
		case Result:
			if p.CallID != "" {
				o := v.outputs[p.CallID]
				o.tokens = max(o.tokens, p.Tokens)
				v.remember(p.CallID, o)
			}
		case ResultCut, ResultCleared:
			r.leave(p, q.texts[i])
		}
	}
	r.Tokens.Calibrated = v.fit.correct(r.Tokens.Estimated, len(r.Parts))
	r.Hidden = r.stillHidden(hide, q)
	without := r.Tokens.Estimated - r.help + r.Hidden.Tokens
	for _, l := range r.Left {
		without += l.Before - l.After
	}
	r.Without = &without
}

// stillHidden counts the hidden tools that the request does not show.
func (r *recorded) stillHidden(hide hidden, q *request) (h Hidden) {
	if hide == nil { // they are known only from events
		h = r.conv.hidden
		for _, p := range r.Parts {
			if p.Category == LoadedTools {
				h.Tools, h.Tokens = max(0, h.Tools-1), max(0, h.Tokens-p.Tokens)
			}
		}
		return h
	}
	for name, tokens := range hide {
		if !q.shown[name] {
			h.Tools++
			h.Tokens += tokens
		}
	}
	return h
}

func (v *conversation) remember(callID string, o output) {
	if _, known := v.outputs[callID]; known || len(v.outputs) < most {
		v.outputs[callID] = o
	}
}

// leave lists a result that is not whole.
func (r *recorded) leave(p Part, text string) {
	o, n := r.conv.outputs[p.CallID], readNotice(text)
	l := Left{Rule: o.rule, Tool: p.Label, CallID: p.CallID, Before: o.before, After: p.Tokens, Path: o.path, Text: o.whole}
	if o.rule == "" || o.rule == "read" {
		l.Rule, l.Before, l.Path = "cleared", n.bytes/4, n.path
		if p.Category == ResultCut {
			l.Rule = "cut"
		}
	}
	if o.tokens > 0 {
		l.Before = max(o.tokens, l.Before)
	}
	l.Before = max(l.Before, l.After)
	if !o.told {
		o.told, l.Now = true, true
		r.conv.remember(p.CallID, o)
	}
	r.Left = append(r.Left, l)
}

// follow compares the request with the previous one, and reports whether that one's
// answer is now known never to be read to the end.
func (r *recorded) follow(before *recorded) (left bool) {
	r.Prefix.Part = -1
	var then []Part
	if before != nil {
		then = before.Parts
		if left = !before.ended && before.Run == r.Run; left {
			next := *before.ModelCall // snapshots may share the old one's slices, never its fields
			next.Unfinished = true
			before.ModelCall = &next
		}
	}
	same := r.equalUpTo(then)
	known := make(map[uint64]bool, len(then)-same)
	for _, p := range then[same:] {
		known[p.hash] = true
		r.Prefix.Lost += p.Tokens
	}
	for i := same; i < len(r.Parts); i++ {
		p := &r.Parts[i]
		if p.State, p.Since = StateNew, r.N; known[p.hash] {
			p.State = StateMoved
		}
	}
	switch {
	case same < len(then) && same < len(r.Parts):
		r.Prefix.Part, r.Prefix.Cause = same, cause(r.Parts[same], then[same])
	case before != nil && same == len(then) && same == len(r.Parts) && before.Error != "" && before.Run == r.Run:
		r.Attempt = before.Attempt + 1
	}
	return left
}

// equalUpTo marks and counts the parts that are equal from the start on.
func (r *recorded) equalUpTo(then []Part) (same int) {
	for same < len(r.Parts) && same < len(then) && r.Parts[same].hash == then[same].hash {
		p := &r.Parts[same]
		p.State, p.Since = StateSame, then[same].Since
		r.Prefix.Same += p.Tokens
		same++
	}
	return same
}

// cause names the part that ended an equal prefix: the new one there, or the old one.
func cause(now, then Part) string {
	isTool := func(p Part) bool {
		return p.Category == OwnTools || p.Category == HelpTools || p.Category == LoadedTools
	}
	switch {
	case now.Category == LoadedTools:
		return "tools_loaded"
	case isTool(then):
		return "tools_unloaded"
	case now.Category == Reminder || then.Category == Reminder:
		return "reminder"
	case now.Category == ResultCleared:
		return "result_cleared"
	case now.Category == ResultCut:
		return "result_cut"
	}
	return "other"
}

// hold keeps the texts of the parts.
func (r *recorded) hold(c *Collector, q *request) {
	v := r.conv
	r.texts = make([]int, 0, len(r.Parts))
	for i := range r.Parts {
		p := &r.Parts[i]
		id, grown := v.texts.hold(&c.cfg, p.hash, q.texts[i], p.Tokens)
		if c.kept += grown; id == 0 {
			continue
		}
		p.Text = id
		r.texts = append(r.texts, id)
		if p.Category == Result || p.Category == ResultCut {
			if o, known := v.outputs[p.CallID]; known && (o.whole == 0 || p.Category == Result) {
				o.whole = id
				v.outputs[p.CallID] = o
			}
		}
	}
	for i := range r.Left { // a whole result stays in memory while an earlier call has it
		if v.texts.byID[r.Left[i].Text] == nil {
			r.Left[i].Text = 0
		}
	}
}

// finish completes a record with the answer, or with the reason that there is none.
func finish[M adk.MessageType](c *Collector, r *recorded, out []M, first time.Time, err error) {
	if r == nil {
		return
	}
	var whole M
	if err == nil && len(out) > 0 {
		if whole = out[0]; len(out) > 1 { // the arguments of calls and the usage come in pieces
			whole, err = safe.Value("joining the answer", func() (M, error) { return join(out) })
		}
	}
	text, calls, usage := answer(whole)
	c.mu.Lock()
	if r.ended {
		c.mu.Unlock()
		return
	}
	r.end(c, first, err)
	if err == nil {
		r.answered(c, text, calls, usage)
	}
	tell := c.ended(r)
	c.mu.Unlock()
	tell()
}

// ended returns a function that reports the end of a call. It must run after the
// collector's mutex, which is held, is released.
func (c *Collector) ended(r *recorded) (tell func()) {
	c.logCall(r)
	ctx, done, first := r.ctx, *r.ModelCall, !r.told
	r.told, r.ctx = true, nil
	return func() {
		c.flush()
		if first && c.cfg.OnCall != nil {
			_ = safe.Call("OnCall", func() error { c.cfg.OnCall(ctx, &done); return nil })
		}
	}
}

func (r *recorded) end(c *Collector, first time.Time, err error) {
	next := *r.ModelCall // snapshots may share the old one's slices, never its fields
	r.ModelCall, r.ended = &next, true
	r.Took = time.Since(r.Start)
	r.First, r.Unfinished = r.Took, false
	if !first.IsZero() {
		r.First = first.Sub(r.Start)
	}
	if err != nil {
		r.Error = "the call failed"
		if c.cfg.Texts == TextsAll {
			r.Error = safe.ErrorText(err)
		}
	}
}

func (r *recorded) answered(c *Collector, text string, calls []piece, usage *schema.TokenUsage) {
	r.Answer = c.cfg.keep(text)
	help := 0
	grown := int64(len(r.Answer))
	for _, p := range calls {
		use := ToolUse{Tool: p.tool, CallID: p.callID, Arguments: c.cfg.keep(p.text)}
		r.Did = append(r.Did, use)
		grown += int64(len(use.Arguments)) + partCost
		if searches(p.tool) || r.conv.reads(p) {
			help++
		}
	}
	if help > 0 && help == len(calls) {
		r.Without = nil
	}
	if !r.slim {
		r.size += grown
		c.kept += grown
	}
	if usage != nil {
		reported := *usage
		r.Tokens.Reported = &reported
		if !r.Kept {
			r.conv.fit.learn(r.Tokens.Estimated, len(r.Parts), usage.PromptTokens)
		}
	}
}
