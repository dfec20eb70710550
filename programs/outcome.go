// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// What the model reads of a program.

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
)

// outcome ends a program, and says what the model reads of it.
func outcome(ctx context.Context, s *Config, p *program) string {
	end := p.end()
	counts, last, failed := countsOf(p)
	lines := []string{strings.TrimSuffix(end.Printed, "\n"), end.Returned}
	switch {
	case p.noTurns:
		lines = append(lines, say("turns", data{Limit: s.maxTurns()}))
	case end.Error != "":
		lines = append(lines, say("error", data{Reason: end.Error}))
	case end.Printed == "" && end.Returned == "":
		shape := ""
		if last != "" {
			shape = toolschema.Shape(last)
		}
		lines = append(lines, say("silent", data{Name: failed.Tool, Signature: clipped(failed.Text), Reason: shape}))
	}
	for _, note := range end.Notes {
		lines = append(lines, say("note", data{Reason: note}))
	}
	lines = append(lines, countsText(counts))
	text := strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
	ended(ctx, s, p, text, einolean.Program{Calls: counts, Rounds: p.Rounds, Failed: end.Error != "" || p.noTurns})
	return text
}

// countsOf are the calls of a program by tool, with the result of the last one that did not fail, and the last one
// that did.
func countsOf(p *program) (counts []einolean.ProgramCalls, last string, failed answer) {
	for _, n := range slices.Sorted(maps.Keys(p.answers)) {
		a := p.answers[n]
		i := slices.IndexFunc(counts, func(c einolean.ProgramCalls) bool { return c.Tool == a.Tool })
		if i < 0 {
			i, counts = len(counts), append(counts, einolean.ProgramCalls{Tool: a.Tool})
		}
		counts[i].Calls++
		counts[i].Bytes += len(a.Text)
		if a.Failed {
			counts[i].Failed++
			failed = a
		} else {
			last = a.Text
		}
	}
	return counts, last, failed
}

// countsText says which calls ran.
func countsText(counts []einolean.ProgramCalls) string {
	var words []string
	for _, c := range counts {
		if c.Tool != "" {
			words = append(words, say("count", data{Name: c.Tool, Total: c.Calls, Limit: c.Failed}))
		}
	}
	if len(words) == 0 {
		return say("none", data{})
	}
	return say("calls", data{Words: words})
}

// ended tells OnEvent of a program that has ended.
func ended(ctx context.Context, s *Config, p *program, text string, did einolean.Program) {
	const most = 20
	var read einolean.Size
	for _, a := range p.answers {
		read.Bytes += len(a.Text)
		read.Tokens += int64(tokens.Of(a.Text))
	}
	did.Calls = did.Calls[:min(len(did.Calls), most)]
	s.emit(ctx, einolean.Event{Kind: einolean.KindProgramEnded, Tool: toolnames.Run, CallID: p.ID, Program: &did, Output: &einolean.OutputChange{
		Before: read,
		After:  einolean.Size{Bytes: len(text), Tokens: int64(tokens.Of(text))},
		Rule:   "program",
	}})
}
