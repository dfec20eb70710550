// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file finds out which files a conversation names. What they hold must stay.

import (
	"context"
	"maps"
	"slices"
)

// shown lists the names of the files that notices in a history name. A notice
// about a file that cannot be its call's was made up by a tool.
func (c *clearer[M]) shown(msgs []M) map[string]bool {
	out := make(map[string]bool)
	c.codec.eachNoticed(msgs, func(r result) {
		n := noticeIn(r.texts)
		if n.path != "" && (n.kind == clearedNotice || c.cfg.GenTruncOffloadFilePath != nil || madeFor(n.path, r.id)) {
			out[nameKey(n.path)] = true
		}
	})
	return out
}

// noteShown tells the calls of the last message which of the files that they
// would be given a notice in the history names. They must not be written to.
func (c *clearer[M]) noteShown(ctx context.Context, msgs []M) {
	if len(msgs) == 0 {
		return
	}
	calls := c.codec.view(msgs[len(msgs)-1]).calls
	if len(calls) == 0 {
		return
	}
	shown := c.shown(msgs)
	c.files.note(ctx, shown)
	wanted := make(map[string]bool, len(calls))
	for _, each := range calls {
		wanted[nameKey(defaultPath(c.root, truncDir, each.id))] = true
	}
	var taken []string
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		// Where a generator makes the names, any of them may be next.
		if wanted[name] || c.cfg.GenTruncOffloadFilePath != nil {
			taken = append(taken, name)
		}
	}
	show(ctx, taken)
}
