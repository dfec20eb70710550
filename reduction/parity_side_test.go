// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Eino's middleware and ours, made from one configuration, and what they return
// without the wording.

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	theirs "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/reduction"
)

// maker makes a middleware of one of the two packages.
type maker[M adk.MessageType] func(c *reduction.TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], error)

func ours[M adk.MessageType](c *reduction.TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], error) {
	return reduction.NewTyped(context.Background(), c)
}

// einos also shows that the two packages' types convert into each other.
func einos[M adk.MessageType](c *reduction.TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], error) {
	out := &theirs.TypedConfig[M]{
		Backend: c.Backend, SkipTruncation: c.SkipTruncation, SkipClear: c.SkipClear, ReadFileToolName: c.ReadFileToolName, RootDir: c.RootDir,
		MaxLengthForTrunc: c.MaxLengthForTrunc, TruncExcludeTools: c.TruncExcludeTools, TokenCounter: c.TokenCounter,
		MaxTokensForClear: c.MaxTokensForClear, ClearRetentionSuffixLimit: c.ClearRetentionSuffixLimit, ClearAtLeastTokens: c.ClearAtLeastTokens,
		ClearExcludeTools: c.ClearExcludeTools, ClearMessageRewriter: c.ClearMessageRewriter, ClearPostProcess: c.ClearPostProcess,
	}
	if f := c.GenTruncOffloadFilePath; f != nil {
		out.GenTruncOffloadFilePath = func(ctx context.Context, d *theirs.ToolDetail) (string, error) {
			return f(ctx, (*reduction.ToolDetail)(d))
		}
	}
	if f := c.GenClearOffloadFilePath; f != nil {
		out.GenClearOffloadFilePath = func(ctx context.Context, d *theirs.ToolDetail) (string, error) {
			return f(ctx, (*reduction.ToolDetail)(d))
		}
	}
	for name, own := range c.ToolConfig {
		if out.ToolConfig == nil {
			out.ToolConfig = map[string]*theirs.ToolReductionConfig{}
		}
		out.ToolConfig[name] = einosTool(own)
	}
	return theirs.NewTyped(context.Background(), out)
}

func einosTool(own *reduction.ToolReductionConfig) *theirs.ToolReductionConfig {
	if own == nil {
		return nil
	}
	out := &theirs.ToolReductionConfig{Backend: own.Backend, SkipTruncation: own.SkipTruncation, SkipClear: own.SkipClear}
	if f := own.TruncHandler; f != nil {
		out.TruncHandler = func(ctx context.Context, d *theirs.ToolDetail) (*theirs.TruncResult, error) {
			r, err := f(ctx, (*reduction.ToolDetail)(d))
			return (*theirs.TruncResult)(r), err
		}
	}
	if f := own.ClearHandler; f != nil {
		out.ClearHandler = func(ctx context.Context, d *theirs.ToolDetail) (*theirs.ClearResult, error) {
			r, err := f(ctx, (*reduction.ToolDetail)(d))
			return (*theirs.ClearResult)(r), err
		}
	}
	return out
}

var (
	anyNotice      = regexp.MustCompile(`(?s)\n?<persisted-output>.*?</persisted-output>`)
	anyPath        = regexp.MustCompile(`(?:saved to|saved in full to|Full output saved to): (/[^\s]*?)\.?(?:\s|$)`)
	anyPlaceholder = regexp.MustCompile(`\[(?:Old tool result content cleared|Earlier result removed\. It was not saved\.)\]`)
)

// plainly takes the wording out of notices: what stays is that there is one, the
// path in it and whether it names the read tool.
func plainly(s string) string {
	s = anyNotice.ReplaceAllStringFunc(s, func(n string) string {
		out := "[notice"
		if m := anyPath.FindStringSubmatch(n); m != nil {
			out += " " + m[1]
		}
		if strings.Contains(n, "read_file") {
			out += " read_file"
		}
		return out + "]"
	})
	return anyPlaceholder.ReplaceAllString(s, "[placeholder]")
}

// shownAs renders messages without the wording of notices.
func shownAs[M adk.MessageType](msgs []M) string {
	var b strings.Builder
	for i, m := range msgs {
		fmt.Fprintf(&b, "%d: %s", i, shapeOf[M]().rest(m))
		for _, a := range shapeOf[M]().answers(m) {
			fmt.Fprintf(&b, " | %s", a.others)
			for _, t := range a.texts {
				fmt.Fprintf(&b, " | %s", plainly(t))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// outcome runs f and says what came of it, an error or a panic included.
func outcome(f func() (string, error)) (out string) {
	defer func() {
		if p := recover(); p != nil {
			out = "panic"
		}
	}()
	s, err := f()
	if err != nil {
		return "error: " + err.Error()
	}
	return s
}

// listed are the ids of the section on reduction in docs/differences.md.
func listed(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../docs/differences.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(text), "\n## reduction\n")
	require.True(t, ok, "no section on reduction")
	section, _, _ = strings.Cut(section, "\n## ")
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ((?:R|X)-\d+) \|`).FindAllStringSubmatch(section, -1) {
		ids[m[1]] = true
	}
	return ids
}
