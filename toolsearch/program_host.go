// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What a program may call, and what the model reads of it.

import (
	"context"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/lenient"
	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/internal/toolschema"
	"github.com/leanctx/leanctx/internal/virtual"
)

// OutputSchemaKey is the key of ToolInfo.Extra under which a tool may say, as the text of a JSON
// schema, what it returns. Under SearchCode the model reads it as a type.
const OutputSchemaKey = "output_schema"

// checkPrograms checks what concerns programs.
func checkPrograms(c *Config, wrong *problems) {
	if safe.IsNil(c.Interpreter) {
		c.Interpreter = nil
	}
	switch {
	case c.Protocol == SearchCode && c.Interpreter == nil:
		wrong.add("Interpreter", "it is nil, but the SearchCode protocol runs programs: set it to javascript.New(javascript.Limits{}) of the module toolsearch/javascript")
	case c.Protocol == SearchCode:
		if in, ok := c.Interpreter.(interface{ Check() error }); ok {
			if err := in.Check(); err != nil {
				wrong.add("Interpreter", "%w", err)
			}
		}
	default:
		for _, f := range []struct {
			name  string
			isSet bool
		}{{"Interpreter", c.Interpreter != nil}, {"InPrograms", c.InPrograms != nil}, {"MaxIterations", c.MaxIterations > 0}} {
			if f.isSet {
				wrong.add(f.name, "it is set, but only the SearchCode protocol runs programs")
			}
		}
	}
}

// hostOfRun is the run that programs are part of.
type hostOfRun struct{ run *run }

// plain implements programHost: what models write of call_tool is the call itself, and names are
// read as elsewhere.
func (h hostOfRun) plain(ctx context.Context, c ProgramCall) ProgramCall {
	if c.Tool == toolnames.Call {
		a := lenient.Decode(c.Arguments)
		if name := calledName(a); name != "" {
			c.Tool, c.Arguments = name, a.Raw(argumentKeys...)
		}
		if strings.TrimSpace(c.Arguments) == "" {
			c.Arguments = "{}"
		}
	}
	if c.Tool != "" && h.run.own[c.Tool] == nil {
		if e := h.run.catalog().resolve(c.Tool, func(e *entry) bool { return h.run.allowsProgram(ctx, e) }); e != nil {
			c.Tool = e.info.Name
		}
	}
	return c
}

// answer implements programHost: a call that must not leave the program is answered here.
func (h hostOfRun) answer(ctx context.Context, c ProgramCall) (ProgramResult, bool) {
	if c.Path != "" || c.Tool == "" {
		return storedResult(ctx, c.Path), true
	}
	refuse := func(text string, d promptData) (ProgramResult, bool) {
		d.Name = c.Tool
		return ProgramResult{Text: render(text, d), Failed: true}, true
	}
	hidden := h.run.catalog()
	e := hidden.lookup(c.Tool)
	switch {
	case hidden.usesMetaName(c.Tool):
		return refuse("program-meta", promptData{})
	case h.run.direct[c.Tool], c.Tool == adk.TransferToAgentToolName, c.Tool == adk.ToolInfoExit.Name:
		return refuse("program-direct", promptData{})
	case e == nil && h.run.own[c.Tool] != nil:
		if !hidden.settings.inPrograms(h.run.own[c.Tool]) {
			return refuse("program-forbidden", promptData{})
		}
		if !isObject(c.Arguments) {
			return refuse("program-one-object", promptData{})
		}
		return ProgramResult{}, false
	case e == nil || !h.run.allowsProgram(ctx, e):
		return refuse("program-no-tool", promptData{Words: h.nearSignatures(ctx, c.Tool)})
	case !hidden.settings.inPrograms(e.info):
		return refuse("program-forbidden", promptData{})
	}
	if !isObject(c.Arguments) {
		return refuse("program-one-object", promptData{Schema: e.signature()})
	}
	if _, problem := e.checkArguments(c.Arguments); problem != "" {
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
func (h hostOfRun) nearSignatures(ctx context.Context, name string) (lines []string) {
	near := h.run.catalog().near(name, maxNearOnLoad, func(e *entry) bool {
		return e.info.Name != name && h.run.allows(ctx, e, PhaseList, PhaseSearch, PhaseLoad)
	})
	for _, n := range near {
		if e := h.run.catalog().lookup(n); e != nil {
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

func (hostOfRun) failed(ctx context.Context, callID string) bool { return virtual.Failed(ctx, callID) }

func (hostOfRun) lost() string { return render("program-lost", promptData{}) }

func (hostOfRun) unfinished() string { return render("program-unfinished", promptData{}) }

func (hostOfRun) media(types []string) string {
	return render("program-media", promptData{Words: types})
}

func (h hostOfRun) countTurn(ctx context.Context) {
	h.run.update(ctx, func(next *record) { next.Turns++ })
}

func (h hostOfRun) turnsLeft(ctx context.Context) int {
	now, _ := h.run.now(ctx)
	return h.run.catalog().settings.maxTurns() - now.Turns - 1
}

func (s *settings) maxTurns() int {
	const einos = 20
	if s.cfg.MaxIterations > 0 {
		return s.cfg.MaxIterations
	}
	return einos
}

// outcome implements programHost.
func (h hostOfRun) outcome(ctx context.Context, end programEnd) string {
	lines := []string{strings.TrimSuffix(end.Printed, "\n"), end.Returned}
	switch {
	case end.NoTurns:
		lines = append(lines, render("program-turns", promptData{Limit: h.run.catalog().settings.maxTurns()}))
	case end.Error != "":
		lines = append(lines, render("program-error", promptData{Reason: end.Error}))
	case end.Printed == "" && end.Returned == "":
		shape := ""
		if end.Last != "" {
			shape = toolschema.Shape(end.Last)
		}
		lines = append(lines, render("program-silent", promptData{Name: end.Failed.Tool, Schema: clipped(end.Failed.Text), Reason: shape}))
	}
	for _, note := range end.Notes {
		lines = append(lines, render("program-note", promptData{Reason: note}))
	}
	lines = append(lines, countsText(end.Counts))
	text := strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
	h.report(ctx, end, text)
	return text
}

// report tells OnEvent of a program that has ended.
func (h hostOfRun) report(ctx context.Context, end programEnd, text string) {
	s := h.run.catalog().settings
	if s.cfg.OnEvent == nil {
		return
	}
	const most, bytesPerToken = 20, 4
	did, bytes := &leanctx.Program{Rounds: end.Rounds, Failed: end.Error != "" || end.NoTurns}, 0
	for _, c := range end.Counts {
		if bytes += c.Bytes; len(did.Calls) < most {
			did.Calls = append(did.Calls, leanctx.ProgramCalls{Tool: c.Tool, Calls: c.Calls, Failed: c.Failed, Bytes: c.Bytes})
		}
	}
	s.emit(ctx, leanctx.Event{Kind: leanctx.KindProgramEnded, Tool: toolnames.Run, CallID: end.CallID, Program: did, Output: &leanctx.OutputChange{
		Before: leanctx.Size{Bytes: bytes, Tokens: int64(bytes / bytesPerToken)},
		After:  leanctx.Size{Bytes: len(text), Tokens: int64(len(text) / bytesPerToken)},
		Rule:   "program",
	}})
}

// countsText says which calls ran.
func countsText(counts []programCount) string {
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

type signedTool struct {
	Name string `json:"name"`
	Call string `json:"call"`
}

type signedAnswer struct {
	Tools []signedTool `json:"tools"`
	Hint  string       `json:"hint,omitempty"`
}

// signedSize is the bytes of a tool in an answer.
func signedSize(e *entry) int {
	return len(`{"name":"","call":""},`) + jsonSize(e.info.Name) + jsonSize(e.signature())
}

// signed is an answer with the signatures of tools.
func signed(tools []foundTool, hint string) signedAnswer {
	answer := signedAnswer{Tools: []signedTool{}, Hint: hint}
	for _, x := range tools {
		answer.Tools = append(answer.Tools, signedTool{x.entry.info.Name, x.entry.signature()})
	}
	return answer
}

func signTools(ctx context.Context, r *run, a lenient.Arguments) (string, error) {
	f, err := newSearcher(r, PhaseSearch, PhaseLoad).find(ctx, queriesOf(a), limitOf(a), signedSize)
	return encode(signed(f.found, f.hint())), err
}
