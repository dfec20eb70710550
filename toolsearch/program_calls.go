// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What a program may call, and what the model reads of it.

import (
	"context"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/internal/virtual"
)

// OutputSchemaKey is the key of ToolInfo.Extra under which a tool may say, as the text of a JSON
// schema, what it returns. Under SearchCode the model reads it as a type.
const OutputSchemaKey = "output_schema"

// plainCall returns a call under the name that its tool has: what models write of call_tool is the
// call itself, and names are read as elsewhere.
func plainCall(ctx context.Context, r *run, c ProgramCall) ProgramCall {
	if c.Tool == toolnames.Call {
		a := lenient.Decode(c.Arguments)
		if name := toolnames.Called(a); name != "" {
			c.Tool, c.Arguments = name, a.Raw(argumentKeys...)
		}
		if strings.TrimSpace(c.Arguments) == "" {
			c.Arguments = "{}"
		}
	}
	if c.Tool != "" && r.own[c.Tool] == nil {
		if e := r.catalog().resolve(c.Tool, func(e *entry) bool { return r.allowsProgram(ctx, e) }); e != nil {
			c.Tool = e.info.Name
		}
	}
	return c
}

// answerCall answers a call that must not leave the program, or that needs no tool.
func answerCall(ctx context.Context, r *run, c ProgramCall) (result ProgramResult, answered bool) {
	if c.Path != "" || c.Tool == "" {
		return storedResult(ctx, c.Path), true
	}
	refuse := func(text string, d promptData) (ProgramResult, bool) {
		d.Name = c.Tool
		return ProgramResult{Text: render(text, d), Failed: true}, true
	}
	hidden := r.catalog()
	e := hidden.lookup(c.Tool)
	switch {
	case hidden.usesMetaName(c.Tool):
		return refuse("program-meta", promptData{})
	case r.direct[c.Tool], c.Tool == adk.TransferToAgentToolName, c.Tool == adk.ToolInfoExit.Name:
		return refuse("program-direct", promptData{})
	case e == nil && r.own[c.Tool] != nil:
		if !hidden.settings.inPrograms(r.own[c.Tool]) {
			return refuse("program-forbidden", promptData{})
		}
		if !isObject(c.Arguments) {
			return refuse("program-one-object", promptData{})
		}
		return ProgramResult{}, false
	case e == nil || !r.allowsProgram(ctx, e):
		return refuse("program-no-tool", promptData{Words: nearSignatures(ctx, r, c.Tool)})
	case !hidden.settings.inPrograms(e.info):
		return refuse("program-forbidden", promptData{})
	}
	if !isObject(c.Arguments) {
		return refuse("program-one-object", promptData{Schema: e.signature()})
	}
	if problem := e.checkProgram(c.Arguments); problem != "" {
		return refuse("program-bad-arguments", promptData{Reason: problem, Schema: e.signature()})
	}
	return ProgramResult{}, false
}

func isObject(arguments string) bool {
	return strings.HasPrefix(strings.TrimLeft(arguments, " \t\r\n"), "{")
}

// storedResult answers stored(path).
func storedResult(ctx context.Context, path string) ProgramResult {
	results := virtual.ResultsOf(ctx)
	if results == nil {
		return ProgramResult{Text: render("program-no-store", promptData{Name: path}), Failed: true}
	}
	text, err := results.Stored(ctx, path)
	if err != nil {
		return ProgramResult{Text: render("program-no-store", promptData{Name: path, Reason: safe.ErrorText(err)}), Failed: true}
	}
	return ProgramResult{Text: text}
}

// nearSignatures are the tools that a wrong name may have meant.
func nearSignatures(ctx context.Context, r *run, name string) (lines []string) {
	near := r.catalog().near(name, maxNearOnLoad, func(e *entry) bool {
		return e.info.Name != name && r.allows(ctx, e, PhaseList, PhaseSearch, PhaseLoad)
	})
	for _, n := range near {
		if e := r.catalog().lookup(n); e != nil {
			lines = append(lines, e.signature())
		}
	}
	return lines
}

// inPrograms reports whether programs may call a tool.
func (s *settings) inPrograms(info *schema.ToolInfo) bool {
	if s.cfg.InPrograms == nil {
		return true
	}
	ok, err := safe.Value("InPrograms", func() (bool, error) { return s.cfg.InPrograms(info), nil })
	return ok && err == nil
}

// turnsLeft is how many model calls the run may still make after this one.
func turnsLeft(ctx context.Context, r *run) int {
	now, _ := r.now(ctx)
	return r.catalog().settings.maxTurns() - now.Turns - 1
}

func (s *settings) maxTurns() int {
	const einos = 20
	if s.cfg.MaxIterations > 0 {
		return s.cfg.MaxIterations
	}
	return einos
}

// outcome is what the model reads of a program, which ends here, after so many rounds of calls.
func outcome(ctx context.Context, r *run, pr *program, rounds int) string {
	end := pr.end()
	counts, last, failed := pr.counts()
	lines := []string{strings.TrimSuffix(end.Printed, "\n"), end.Returned}
	switch {
	case pr.noTurns:
		lines = append(lines, render("program-turns", promptData{Limit: r.catalog().settings.maxTurns()}))
	case end.Error != "":
		lines = append(lines, render("program-error", promptData{Reason: end.Error}))
	case end.Printed == "" && end.Returned == "":
		shape := ""
		if last != "" {
			shape = toolschema.Shape(last)
		}
		lines = append(lines, render("program-silent", promptData{Name: failed.Tool, Schema: clipped(failed.Text), Reason: shape}))
	}
	for _, note := range end.Notes {
		lines = append(lines, render("program-note", promptData{Reason: note}))
	}
	lines = append(lines, countsText(counts))
	text := strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
	emitProgram(ctx, r.catalog().settings, pr.call.ID, text, einolean.Program{Calls: counts, Rounds: rounds, Failed: end.Error != "" || pr.noTurns})
	return text
}

// emitProgram tells OnEvent of a program that has ended.
func emitProgram(ctx context.Context, s *settings, callID, text string, did einolean.Program) {
	const most, bytesPerToken = 20, 4
	bytes := 0
	for _, c := range did.Calls {
		bytes += c.Bytes
	}
	did.Calls = did.Calls[:min(len(did.Calls), most)]
	s.emit(ctx, einolean.Event{Kind: einolean.KindProgramEnded, Tool: toolnames.Run, CallID: callID, Program: &did, Output: &einolean.OutputChange{
		Before: einolean.Size{Bytes: bytes, Tokens: int64(bytes / bytesPerToken)},
		After:  einolean.Size{Bytes: len(text), Tokens: int64(len(text) / bytesPerToken)},
		Rule:   "program",
	}})
}

// countsText says which calls ran.
func countsText(counts []einolean.ProgramCalls) string {
	var words []string
	for _, c := range counts {
		if c.Tool != "" {
			words = append(words, render("program-count", promptData{Name: c.Tool, Total: c.Calls, Limit: c.Failed}))
		}
	}
	if len(words) == 0 {
		return render("program-none", promptData{})
	}
	return render("program-calls", promptData{Words: words})
}

// searchCodeTools are the search tools of SearchCode.
func searchCodeTools() []*metaTool {
	tools := searchCallTools()
	tools[0].text, tools[0].answer = "tool_search_code", signTools
	return append(tools, &metaTool{
		name: toolnames.Run, text: "run_code", answer: runProgram,
		params: func() map[string]*schema.ParameterInfo {
			return map[string]*schema.ParameterInfo{"code": {Type: schema.String, Required: true}}
		},
	})
}

// runProgram answers a program that waits for no calls.
func runProgram(ctx context.Context, r *run, a lenient.Arguments) (string, error) {
	code := codeIn(a)
	if strings.TrimSpace(code) == "" {
		return render("no-code", promptData{}), nil
	}
	return r.runAlone(ctx, callID(ctx), code)
}

// signedSize is the bytes of a tool in an answer.
func signedSize(e *entry) int {
	return len(`{"name":"","call":""},`) + jsonSize(e.info.Name) + jsonSize(e.signature())
}

// signed are tools as their signatures, for an answer.
func signed(tools []foundTool) []describedTool {
	out := make([]describedTool, len(tools))
	for i, x := range tools {
		out[i] = describedTool{Name: x.entry.info.Name, Call: x.entry.signature()}
	}
	return out
}

func signTools(ctx context.Context, r *run, a lenient.Arguments) (string, error) {
	f, err := newSearcher(r, PhaseSearch, PhaseLoad).find(ctx, queriesOf(a), limitOf(a), signedSize)
	return encode(answer{Tools: signed(f.found), Hint: f.hint()}), err
}
