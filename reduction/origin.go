// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Whose notices the notices in a history are: what may be said of the files that they name.

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// isOurNotice reports whether this package or Eino's wrote a notice in place of a result. A
// tool may return anything, such as a notice about somebody else's file, or quote one. The
// path must be possible for the call, and the file must contain the excerpt.
func isOurNotice[M adk.MessageType](ctx context.Context, cfg *TypedConfig[M], r *old) bool {
	n, s := r.notice, r.rule.store
	named := slices.Contains(vault.Mentions(cfg.RootDir, r.call.args), n.path)
	own := vault.MadeFor(n.path, r.call.id) || cfg.GenTruncOffloadFilePath != nil || named
	before, stated := beforeNotice(r.result.texts)
	switch {
	case !own, stated >= 0 && (len(before) > stated || len(before)+charSlack <= stated):
		return false
	case s == nil:
		return true
	case !s.Readable():
		size, used := s.Recorded(ctx, n.path)
		return vault.MadeFor(n.path, r.call.id) && (!used || size < 0 || size >= n.bytes)
	case !has(ctx, s, n, len(before)):
		return false
	case before != "":
		return s.Begins(ctx, n.path, before)
	}
	// A piece of a file that was read back may come from anywhere in it.
	return named || showsExcerpt(ctx, s, n, r.result.texts)
}

// showsExcerpt reports whether the head and the tail in a finished notice match its file.
func showsExcerpt(ctx context.Context, s *vault.Store, n notice, texts []string) bool {
	head, tail, ok := excerptIn(texts)
	return !ok || shows(ctx, s, n.path, 0, head) && shows(ctx, s, n.path, n.bytes-len(tail), tail)
}

// has reports whether the file of a notice has the stated size, or at least shown bytes.
func has(ctx context.Context, s *vault.Store, n notice, shown int) bool {
	size, err := s.Size(ctx, n.path)
	return err == nil && size >= int64(max(n.bytes, shown))
}

// shows reports whether text is what a notice shows of a file from an offset on.
func shows(ctx context.Context, s *vault.Store, filePath string, offset int, text string) bool {
	piece, err := s.Piece(ctx, filePath, int64(offset), len(text))
	return err == nil && (piece == text || defused(piece) == text)
}

// namedFiles lists the files that notices in a history name. A notice naming a file that its
// call could not have written is a forgery.
func namedFiles[M adk.MessageType](cfg *TypedConfig[M], codec codec[M], msgs []M) map[string]bool {
	out := make(map[string]bool)
	codec.eachNoticed(msgs, func(r result) {
		n := noticeIn(r.texts)
		if n.path != "" && (n.kind == clearedNotice || cfg.GenTruncOffloadFilePath != nil || vault.MadeFor(n.path, r.id)) {
			out[vault.Clean(n.path)] = true
		}
	})
	return out
}

// detailOf describes a call and its result for a handler or a path generator.
func detailOf(c call, result *schema.ToolResult) *ToolDetail {
	return &ToolDetail{
		ToolContext:  &adk.ToolContext{Name: c.name, CallID: c.id},
		ToolArgument: &schema.ToolArgument{Text: c.args},
		ToolResult:   result,
	}
}
