// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// What all passes over a history share: the messages, the changes so far, and the user's callbacks.

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/reduction/internal/clearing"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// pass changes a history. The given messages stay as they are; the changes are made in copies.
type pass[M adk.MessageType] struct {
	settings     *settings[M]
	saver        *clearing.Saver
	input        *adk.TypedChatModelAgentState[M]
	msgs         []M               // those of the input, or what a rewriter has made of them
	rounds       []rounds.Round    // of msgs; nil: not split yet
	changes      []clearing.Change // the oldest first
	isRepeat     bool              // an earlier run has made the pass: what it did is reported already
	window       int64             // tokens; zero: unknown
	clearsMedia  bool              // references may replace media of results
	mustFitMedia bool              // and of the user's messages, as the provider has refused them
	hasReadTool  bool              // the tool named ReadFileToolName is a read tool
}

func newPass[M adk.MessageType](ctx context.Context, s *settings[M], state *adk.TypedChatModelAgentState[M]) *pass[M] {
	p := &pass[M]{
		settings: s, input: state, msgs: state.Messages,
		window: s.window(ctx), hasReadTool: s.reader.IsReadTool(ctx, s.cfg.ReadFileToolName),
	}
	p.clearsMedia = s.cfg.ClearMedia || p.window > 0 // known, or learned from a refusal
	readTool, _ := s.reader.Of(ctx)
	p.saver = &clearing.Saver{Decider: s.decider.ForRun(readTool, p), Files: s.files}
	return p
}

func (p *pass[M]) decider() *clearing.Decider { return p.saver.Decider }

// history returns the rounds of the messages.
func (p *pass[M]) history() []rounds.Round {
	if p.rounds == nil {
		p.rounds = rounds.Split(p.msgs)
	}
	return p.rounds
}

// candidate is what is known of a result of a round.
func (p *pass[M]) candidate(round rounds.Round, pair *rounds.Pair) clearing.Candidate {
	return clearing.NewCandidate(round, pair, p.policyFor(pair.Call))
}

// policyFor is the policy for the old result of a call.
func (p *pass[M]) policyFor(c rounds.Call) toolpolicy.ToolPolicy {
	return p.settings.policies.ForClearing(c.Name, c.Args, p.isReadTool(c))
}

func (p *pass[M]) isReadTool(c rounds.Call) bool {
	return p.hasReadTool && c.Name == p.settings.cfg.ReadFileToolName
}

// replaceableMedia are the media of a result that references may replace.
func (p *pass[M]) replaceableMedia(c *clearing.Candidate) (media []*rounds.Medium) {
	if !p.clearsMedia || !c.Policy.MayReplaceParts() {
		return nil
	}
	for _, m := range rounds.Media(p.msgs[c.MessageIndex]) {
		if m.Result == c.Result.Index {
			media = append(media, m)
		}
	}
	return media
}

// reserveFiles keeps files that the history names from being overwritten.
func (p *pass[M]) reserveFiles(ctx context.Context) {
	if p.isRepeat {
		return // repeatPasses has done it for the whole history
	}
	p.saver.Files.ReservePaths(ctx, p.settings.noticeFiles(resultsWithNotices(p.msgs)))
}

// messages returns the messages with all changes, in copies.
func (p *pass[M]) messages() []M {
	out := slices.Clone(p.msgs)
	p.applyTo(out)
	return out
}

// applyTo makes the changes in a list of the messages, and returns the indexes of those that changed. The marked ones
// have a new mark and the same content.
func (p *pass[M]) applyTo(msgs []M) (changed, marked []int) {
	edits := make(map[int]*rounds.Edit, 2*len(p.changes))
	editOf := func(i int) *rounds.Edit {
		if edits[i] == nil {
			edits[i] = new(rounds.Edit)
		}
		return edits[i]
	}
	for i := range p.changes {
		result, call := p.changes[i].Messages()
		p.changes[i].AddTo(editOf(result), editOf(call))
	}
	for i, e := range edits {
		switch {
		case e.Args != nil || e.Results != nil || e.Media != nil:
			changed = append(changed, i)
		case e.Mark:
			marked = append(marked, i)
		default:
			continue
		}
		msgs[i] = rounds.Apply(msgs[i], *e)
	}
	return changed, marked
}

// changedState is the input with the messages of the pass.
func (p *pass[M]) changedState() *adk.TypedChatModelAgentState[M] {
	next := *p.input
	next.Messages = p.messages()
	return &next
}

// detail is a result for a user's callback, which may write to it.
func (p *pass[M]) detail(c *clearing.Candidate) *ToolDetail {
	return &ToolDetail{
		ToolContext:  &adk.ToolContext{Name: c.Call.Name, CallID: c.Call.ID},
		ToolArgument: &schema.ToolArgument{Text: c.Call.Args},
		ToolResult:   rounds.DeepCopy(rounds.ResultAt(p.msgs[c.MessageIndex], c.Result.Index)),
	}
}

// OffloadPath implements [clearing.Callbacks].
func (p *pass[M]) OffloadPath(ctx context.Context, c *clearing.Candidate, defaultPath string) (string, error) {
	if generate := p.settings.cfg.GenClearOffloadFilePath; generate != nil {
		return generate(ctx, p.detail(c))
	}
	return defaultPath, nil
}

// HandleResult implements [clearing.Callbacks].
func (p *pass[M]) HandleResult(ctx context.Context, c *clearing.Candidate) (clearing.Answer, error) {
	return p.settings.callClearHandler(ctx, p.detail(c))
}

// ReportFailure implements [clearing.Callbacks].
func (p *pass[M]) ReportFailure(ctx context.Context, c *clearing.Candidate, err error) {
	p.settings.reporter.Result(ctx, c.Call.Name, c.Call.ID, report.Outcome{
		Kind: einolean.KindStoreFailed, Before: c.Size, After: c.Size, Err: err,
	})
}

// reportResult reports the change of a result.
func (p *pass[M]) reportResult(ctx context.Context, c *clearing.Change, kind einolean.Kind, rule string) {
	if !p.isRepeat || c.StoresContent() && c.RecordFirst(&p.settings.clearedKeys) {
		p.sendResult(ctx, c, kind, rule)
	}
}

// sendResult reports the change of a result, whoever has reported it before.
func (p *pass[M]) sendResult(ctx context.Context, c *clearing.Change, kind einolean.Kind, rule string) {
	o := c.Outcome()
	o.Kind, o.Rule = kind, rule
	call := c.Plan.Candidate.Call
	p.settings.reporter.Result(ctx, call.Name, call.ID, o)
}
