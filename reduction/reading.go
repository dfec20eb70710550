// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file finds out which tool of an agent reads stored content back. Only in a
// run can that be seen: handlers add tools, in any order.

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/readtool"
	"github.com/leanctx/leanctx/internal/toolschema"
)

// reading is what an agent has under the name of the read tool.
type reading string

const (
	noReader      reading = "none"
	foreignReader reading = "foreign" // some tool of that name
	pagesReader   reading = "pages"   // one that is made for reading page by page
	ownReader     reading = "own"     // one of this package's
)

// readerKey is the run-local value that says which reading was found among the
// tools of a model call. It survives an interrupt.
const readerKey = "__leanctx_reduction_reader__"

// begunKey holds, in the context of a run, what one middleware saw at its start.
type begunKey struct{ of *policy }

type begun struct {
	reader reading
	looked atomic.Bool // at the tools of the first model call
}

// readingOf says what a tool is. Eino's own read_file, which is the natural
// companion, gives its answers page by page, by offset and limit; a tool that
// takes the same arguments is taken for one like it. Nothing else is known about
// a tool of that name, and an answer of it may be anything.
func readingOf(info *schema.ToolInfo) reading {
	if readtool.Made(info) {
		return ownReader
	}
	have := toolschema.Names(info.ParamsOneOf)
	for _, want := range []string{"file_path", "offset", "limit"} {
		if !slices.Contains(have, want) {
			return foreignReader
		}
	}
	return pagesReader
}

// readerAmong looks for the tools of a name. Of several, the one that is least
// trusted counts. A tool that cannot say its name is not one of them; the agent
// itself will report it.
func readerAmong(ctx context.Context, tools []tool.BaseTool, name string) (found reading, at int) {
	found, at = noReader, -1
	for i, t := range tools {
		if t == nil {
			continue
		}
		info, err := t.Info(ctx)
		if err != nil || info == nil || info.Name != name {
			continue
		}
		if r := readingOf(info); at < 0 || found == ownReader || r == foreignReader {
			found, at = r, i
		}
	}
	return found, at
}

// BeforeAgent adds the read tool where it is wanted and missing. A tool of its name
// that is not this package's is an error then: notices would send the model to it.
func (m *middleware[M]) BeforeAgent(ctx context.Context, runCtx *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	if runCtx == nil {
		return ctx, runCtx, nil
	}
	p := m.truncator.policy
	found, at := readerAmong(ctx, runCtx.Tools, p.readTool)
	if m.reader == nil {
		return context.WithValue(ctx, begunKey{p}, &begun{reader: found}), runCtx, nil
	}
	out := *runCtx
	switch found {
	case noReader:
		out.Tools = append(slices.Clone(runCtx.Tools), m.reader)
	case ownReader:
		out.Tools = slices.Clone(runCtx.Tools)
		out.Tools[at] = joinReaders(runCtx.Tools[at], m.reader)
	default:
		return ctx, runCtx, m.clash(fmt.Sprintf("the agent has another tool of that name, a %T", runCtx.Tools[at]))
	}
	return context.WithValue(ctx, begunKey{p}, &begun{reader: ownReader}), &out, nil
}

// clash is the error of two tools that have the name of the read tool.
func (m *middleware[M]) clash(how string) error {
	return &leanctx.FieldError{Package: "reduction", Field: "ReadFileToolName", Err: fmt.Errorf(
		"ProvideReadTool adds a read tool named %q, but %s: set ReadFileToolName to a name that no other tool has, or, if the other tool reads the Backend, set ReadFileToolName to its name and leave ProvideReadTool out",
		m.truncator.policy.readTool, how)}
}

// look looks at the tools of a model call, where those that handlers behind this
// one added show up. Before the first one, two tools of one name end the run.
func (m *middleware[M]) look(ctx context.Context, lists ...[]*schema.ToolInfo) error {
	p := m.truncator.policy
	b := p.begun(ctx)
	if b == nil || b.reader != noReader && (m.reader == nil || b.looked.Swap(true)) {
		return nil
	}
	var named []*schema.ToolInfo
	for _, list := range lists {
		for _, info := range list {
			if info != nil && info.Name == p.readTool {
				named = append(named, info)
			}
		}
	}
	if m.reader != nil && len(named) > 1 {
		return m.clash(fmt.Sprintf("a handler behind this one added another tool of that name, described as %q", start(named[len(named)-1].Desc)))
	}
	if m.reader != nil {
		return nil
	}
	found := noReader
	for _, info := range named {
		if r := readingOf(info); found == noReader || r == foreignReader {
			found = r
		}
	}
	_ = adk.SetRunLocalValue(ctx, readerKey+p.readTool, string(found))
	return nil
}

// start is the start of a text that may be long.
func start(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:floor(s, most)] + "…"
}

func (p *policy) begun(ctx context.Context) *begun {
	b, _ := ctx.Value(begunKey{p}).(*begun)
	return b
}

// reader says what is known of the read tool. Outside of a run nothing is.
func (p *policy) reader(ctx context.Context) (r reading, known bool) {
	b := p.begun(ctx)
	if b == nil {
		return noReader, false
	}
	if b.reader != noReader {
		return b.reader, true
	}
	v, ok, err := adk.GetRunLocalValue(ctx, readerKey+p.readTool)
	late, text := v.(string)
	if err != nil || !ok || !text {
		return noReader, false
	}
	return reading(late), true
}

// readerName is the tool that a notice names, empty if the agent has none.
func (p *policy) readerName(ctx context.Context) string {
	if r, known := p.reader(ctx); known && r == noReader {
		return ""
	}
	return p.readTool
}

// ownPages reports whether the read tool is one of this package's.
func (p *policy) ownPages(ctx context.Context) bool {
	r, _ := p.reader(ctx)
	return r == ownReader
}

// readsPages reports whether a tool is the read tool. One that the configuration
// does not name is not, if nothing else speaks for it.
func (p *policy) readsPages(ctx context.Context, tool string) bool {
	if tool != p.readTool {
		return false
	}
	r, _ := p.reader(ctx)
	return p.named || r != foreignReader
}
