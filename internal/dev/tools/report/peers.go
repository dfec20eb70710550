// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Policies of other projects, reimplemented in a few lines after their documentation: what each
// decides, and nothing of how it is built.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/toolsearch/index"
)

// words are those of a text, in lower case, each once; names are taken apart.
func words(text string) (all []string) {
	var b strings.Builder
	for i, r := range text {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	for _, w := range strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// overlap ranks tools by the words that they share with a query: a word of the name
// counts name, one of the description desc.
type overlap struct {
	name, desc float64
	tools      []*schema.ToolInfo
}

func overlapIndex(name, desc float64) index.Func {
	return func(_ context.Context, tools []*schema.ToolInfo) (index.Index, error) {
		return &overlap{name, desc, tools}, nil
	}
}

// Search ranks the tools.
func (o *overlap) Search(_ context.Context, q index.Query) (found []index.Result, err error) {
	for _, t := range o.tools {
		names, descs, score := words(t.Name), words(t.Desc), 0.
		for _, w := range words(q.Text) {
			if slices.Contains(names, w) {
				score += o.name
			} else if slices.Contains(descs, w) {
				score += o.desc
			}
		}
		if score > 0 {
			found = append(found, index.Result{Name: t.Name, Score: score})
		}
	}
	slices.SortStableFunc(found, func(a, b index.Result) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
	return found[:min(len(found), q.Limit)], nil
}

// chosen lists the tools that are the best for the user's last message, and no search
// tool: what is not listed cannot be called.
type chosen struct {
	adk.BaseChatModelAgentMiddleware
	index index.Index
	all   map[string]*schema.ToolInfo
	most  int
}

func newChosen(ctx context.Context, tools []tool.BaseTool, most int) (*chosen, error) {
	infos, all := make([]*schema.ToolInfo, 0, len(tools)), map[string]*schema.ToolInfo{}
	for _, t := range tools {
		info, err := t.Info(ctx)
		if err != nil {
			return nil, err
		}
		infos, all[info.Name] = append(infos, info), info
	}
	x, err := index.BM25(ctx, infos)
	return &chosen{index: x, all: all, most: most}, err
}

// BeforeModelRewriteState sets the tools of the model call.
func (c *chosen) BeforeModelRewriteState(ctx context.Context, state *adk.ChatModelAgentState, _ *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	question := ""
	for _, m := range state.Messages {
		if m.Role == schema.User {
			question = m.Content
		}
	}
	found, err := c.index.Search(ctx, index.Query{Text: question, Limit: c.most})
	if err != nil {
		return ctx, nil, err
	}
	infos := []*schema.ToolInfo{}
	for _, r := range found {
		infos = append(infos, c.all[r.Name])
	}
	return ctx, &adk.ChatModelAgentState{Messages: state.Messages, ToolInfos: infos}, nil
}

// firstTools lists the first tools and no others, as hosts with a limit do.
type firstTools struct {
	adk.BaseChatModelAgentMiddleware
	most int
}

// BeforeModelRewriteState sets the tools of the model call.
func (f *firstTools) BeforeModelRewriteState(ctx context.Context, state *adk.ChatModelAgentState, _ *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	return ctx, &adk.ChatModelAgentState{Messages: state.Messages, ToolInfos: state.ToolInfos[:min(f.most, len(state.ToolInfos))]}, nil
}

// middleOut takes the middle out of long results and keeps it nowhere.
type middleOut struct {
	adk.BaseChatModelAgentMiddleware
	most int // bytes
}

// WrapInvokableToolCall cuts the result.
func (m *middleOut) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, _ *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		text, err := next(ctx, args, opts...)
		if err != nil || len(text) <= m.most {
			return text, err
		}
		half := m.most / 2
		return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", text[:half], len(text)-2*half, text[len(text)-half:]), nil
	}, nil
}
