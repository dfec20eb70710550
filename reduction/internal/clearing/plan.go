// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

// Plans, and the changes of messages that follow from them.

import (
	"cmp"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
)

// Plan is what is to become of a result and of its call.
type Plan struct {
	Candidate    *Candidate
	keepResult   bool        // the result stays, except for its media
	maxTokens    int         // tokens that may stay of the result; zero: only a notice that names its file
	duplicateOf  string      // the earlier call with the same result; empty: none
	file         file        // where the content is, or will be
	argumentRefs []reference // references in place of long values in the call's arguments
	mediaRefs    []reference // references in place of media
	markCall     bool        // set this package's mark on the call's message
	answer       *Answer     // the decision of the user's handler; nil: it did not decide
}

// KeepPlan is the plan that a result stays as it is.
func KeepPlan(c *Candidate) Plan { return Plan{Candidate: c, keepResult: true} }

// Answer is the decision of a user's handler on a result.
type Answer struct {
	ByDefault bool // do what would be done without a handler

	Replaces bool                    // otherwise the result stays, and the fields below are ignored
	Args     *string                 // new arguments of the call; nil: they stay
	Parts    []schema.ToolOutputPart // the new result; none: it stays

	Stores        bool // store Content under Path
	Path, Content string
}

// file is where content is, or will be.
type file struct {
	path          string       // empty: nowhere
	statedBytes   int          // the size that the notice states
	isPage        bool         // the result is a page of the file
	item          offload.Item // what to store; its Store is nil if there is nothing to store
	pathCertain   bool         // the store will not choose another path
	alreadyStored bool         // storing has shown that the content was there before
}

// Change is what the messages say after a plan.
type Change struct {
	Plan        Plan
	replacement rounds.Replacement // of the result
	newArgs     *string            // new arguments of the call; nil: they stay
	bytesAfter  int                // bytes of the result's text after the change
}

// candidate is the result that changes.
func (c *Change) candidate() *Candidate { return c.Plan.Candidate }

// Replaces reports whether the result, its media or the arguments are replaced. Otherwise at most a mark is set.
func (c *Change) Replaces() bool {
	return !c.replacement.KeepContent || c.newArgs != nil || len(c.Plan.mediaRefs) > 0
}

// MarksResult reports whether a mark on the result keeps the user's handler from being called again.
func (c *Change) MarksResult() bool { return c.replacement.Mark }

// applyAnswer makes the change that the user's handler wants.
func (c *Change) applyAnswer(answer *Answer) {
	c.replacement.Mark = true
	if parts := answer.Parts; len(parts) > 0 {
		c.replacement.KeepContent, c.replacement.Parts, c.bytesAfter = false, parts, rounds.Bytes(parts)
	}
	if args := answer.Args; args != nil && *args != c.candidate().Call.Args {
		c.newArgs = args
	}
}

// roughTokens is the size of the result, the replaced arguments and the replaced media, at four bytes a token.
// What a pass rewrites is measured in the same way.
func (c *Change) roughTokens() int64 {
	bytes := 0
	if !c.candidate().Notice.IsPlaceholder() {
		bytes = c.candidate().Size
	}
	for _, ref := range c.Plan.argumentRefs {
		bytes += ref.end - ref.start
	}
	return tokencount.OfBytes(bytes) + int64(tokencount.OfMedia(len(c.Plan.mediaRefs)))
}

// roughSaving is how many of the rough tokens the change saves.
func (c *Change) roughSaving() int64 { return c.roughTokens() - tokencount.OfBytes(c.bytesAfter) }

// tokenSaving estimates the tokens that the change saves.
func (c *Change) tokenSaving() int64 {
	n := int64(len(c.Plan.mediaRefs) * mediaSaving())
	if !c.replacement.KeepContent {
		n += int64(TextTokens(c.candidate().Result.Texts)) - tokencount.OfBytes(c.bytesAfter)
	}
	if c.newArgs != nil {
		n += int64(tokens.Of(c.candidate().Call.Args) - tokens.Of(*c.newArgs))
	}
	return n
}

// resultTokens is how many tokens the result has after the change.
func (c *Change) resultTokens() int {
	if c.replacement.KeepContent {
		return c.candidate().Tokens
	}
	return tokens.Of(c.replacement.Text)
}

// AddTo adds the change to the edits of the messages with the result and with the call.
func (c *Change) AddTo(result, call *rounds.Edit) {
	for _, ref := range c.Plan.mediaRefs {
		medium := *ref.medium
		medium.Text = ref.text
		result.Media = append(result.Media, &medium)
	}
	if !c.replacement.KeepContent || c.replacement.Mark {
		result.Results = append(result.Results, c.replacement)
	}
	call.Mark = call.Mark || c.Plan.markCall
	if c.newArgs != nil {
		if call.Args == nil {
			call.Args = make(map[int]string)
		}
		call.Args[c.candidate().Call.Index] = *c.newArgs
	}
}

// Outcome reports the change of the result, its arguments and its media.
func (c *Change) Outcome() report.Outcome {
	o := report.Outcome{Before: c.candidate().Size, After: c.bytesAfter, Path: c.Plan.file.path}
	if c.newArgs != nil && len(c.Plan.argumentRefs) > 0 {
		o.Before += len(c.candidate().Call.Args)
		o.After += len(*c.newArgs)
		o.Path = cmp.Or(o.Path, c.Plan.argumentRefs[0].path)
	}
	for _, ref := range c.Plan.mediaRefs {
		o.Before += len(ref.item.Content)
		o.After += len(ref.text)
		o.Path = cmp.Or(o.Path, ref.path)
	}
	return o
}

// RecordFirst adds the change to seen. It returns whether it is made for the first time: seen did not have it, and its
// content was not in the store before.
func (c *Change) RecordFirst(seen *report.RecentKeys) bool {
	call := c.candidate().Call
	key := report.KeyOf(append([]string{call.ID, c.Plan.file.path, call.Args}, c.candidate().Result.Texts...)...)
	return seen.Add(key) && !c.wasStored()
}

// StoresContent reports whether the change stores anything, so that the store tells whether it was made before.
func (c *Change) StoresContent() bool {
	return c.Plan.file.item.Store != nil || len(c.Plan.argumentRefs)+len(c.Plan.mediaRefs) > 0
}

// wasStored reports whether storing has shown that the content was there before.
func (c *Change) wasStored() bool {
	if c.Plan.file.alreadyStored || c.Plan.file.path != "" {
		return c.Plan.file.alreadyStored
	}
	values, media := c.Plan.argumentRefs, c.Plan.mediaRefs
	return len(values) > 0 && values[0].alreadyStored || len(media) > 0 && media[0].alreadyStored
}

// Messages are the indexes of the messages with the result and with the call.
func (c *Change) Messages() (result, call int) {
	return c.candidate().MessageIndex, c.candidate().CallMessageIndex
}
