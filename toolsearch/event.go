// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The events for OnEvent: changes and totals, never what stayed the same.

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// maxEventNames is the most names in an event.
const maxEventNames = 20

// emitCatalog reports the catalogue at the start of a run, and what changed in it since. listed are its
// tools as they were reported last; it returns them as they are now.
func emitCatalog(ctx context.Context, r *run, listed []string) []string {
	c := r.catalog()
	names := c.names()
	tokens, sum := c.measure()
	if !r.IsNew(ctx, catalogLine+sum) {
		return listed
	}
	r.Update(ctx, func(last *turn.Record) {
		last.Reported = slices.DeleteFunc(slices.Clone(last.Reported), func(line string) bool {
			return strings.HasPrefix(line, catalogLine) && line != catalogLine+sum
		})
	})
	added, removed := turn.Difference(names, listed), turn.Difference(listed, names)
	if len(listed) > 0 {
		tokens = c.tokensOf(added)
	}
	c.emit(ctx, einolean.Event{Kind: einolean.KindCatalogChanged, Tools: &einolean.ToolChange{
		Added: head(added), AddedCount: len(added), Removed: head(removed), RemovedCount: len(removed), Tokens: tokens,
	}})
	return names
}

// emitVisible reports tools that became visible or hidden since the last model call. If there was
// none, a run begins with the tools of an earlier one.
func (c *catalog) emitVisible(ctx context.Context, last turn.Record, out turn.Turn) {
	before, now, repeat := last.Visible, out.Record.Visible, !last.Began
	if added := turn.Difference(now, before); len(added) > 0 {
		change := &einolean.ToolChange{Added: head(added), AddedCount: len(added), Tokens: c.tokensOf(added)}
		if repeat {
			change.Reason = "history"
		}
		c.emit(ctx, einolean.Event{Kind: einolean.KindToolsLoaded, Repeat: repeat, Tools: change})
	}
	if unloaded := turn.Difference(before, now); len(unloaded) > 0 {
		change := &einolean.ToolChange{Removed: head(unloaded), RemovedCount: len(unloaded), Tokens: c.tokensOf(unloaded)}
		if len(turn.Difference(unloaded, out.Unused)) == 0 {
			change.Reason = "unused"
		}
		c.emit(ctx, einolean.Event{Kind: einolean.KindToolsUnloaded, Tools: change})
	}
}

// emitSearched reports a search that was answered.
func emitSearched(ctx context.Context, r *run, what einolean.Search, failed []error) {
	id := callID(ctx)
	if len(failed) > 0 {
		r.emit(ctx, einolean.Event{Kind: einolean.KindIndexFailed, CallID: id, Err: errors.Join(failed...)})
	}
	r.emit(ctx, einolean.Event{Kind: einolean.KindToolsSearched, CallID: id, Search: &what})
}

// emitNotHidden reports at the first model call of a run, by a flag in the context that the settings
// are the key of, that later handlers added tools which are marked to be hidden. r is nil where there
// is nothing to hide.
func emitNotHidden(ctx context.Context, s *settings, r *run, infos []*schema.ToolInfo) {
	by := s
	if r != nil {
		by = r.catalog().settings
	}
	done, _ := ctx.Value(s).(*atomic.Bool)
	if done == nil || done.Swap(true) || r != nil && !r.IsNew(ctx, "not hidden") {
		return
	}
	var names []string
	var tokens int64
	for _, t := range infos {
		if t != nil && isMarked(t) && (r == nil || r.catalog().Lookup(t.Name) == nil) {
			names = append(names, t.Name)
			tokens += (&hidden.Tool{Info: t}).Tokens()
		}
	}
	if len(names) == 0 {
		return
	}
	by.emit(ctx, einolean.Event{
		Kind: einolean.KindToolsNotHidden, Tools: &einolean.ToolChange{Added: head(names), AddedCount: len(names), Tokens: tokens},
		Err: errors.New("toolsearch: DeferMarkedTools: handlers after this one added tools that are marked defer_loading, which stay visible: put this one after them"),
	})
}

// head is a copy of the first names, for an event; nil for none.
func head(names []string) []string {
	return append([]string(nil), names[:min(len(names), maxEventNames)]...)
}
