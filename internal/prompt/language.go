// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package prompt

import (
	"context"
	"sync"
	"unicode"

	"github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/einorun"
)

// Chinese reports whether adk.SetLanguage has selected Chinese. It follows later changes and is
// safe for concurrent use.
//
// Eino has a setter but no getter. So this reads a text that Eino localizes, the description of its
// own tool_search, and checks it for Han characters. It does not depend on Eino's wording.
func Chinese() bool {
	p := probe()
	if p == nil {
		return false
	}
	info, err := p.Info(context.Background())
	return err == nil && info != nil && hasHan(info.Desc)
}

// probe is Eino's own tool_search, whose Info is localized at every call. It is nil if Eino no
// longer has it.
var probe = sync.OnceValue(func() tool.BaseTool {
	ctx := context.Background()
	mw, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: []tool.BaseTool{stub{}}})
	if err != nil {
		return nil
	}
	var run einorun.RunContext
	if _, err := einorun.Begin(ctx, mw, &run); err != nil || len(run.Tools) == 0 {
		return nil
	}
	return run.Tools[0]
})

// stub is a tool, because Eino's constructor requires one.
type stub struct{}

func (stub) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "language_probe"}, nil
}

func hasHan(s string) bool {
	for _, r := range s {
		if r >= 0x2E80 && unicode.Is(unicode.Han, r) {
			return true
		}
	}
	return false
}
