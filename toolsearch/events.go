// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The events that an instance emits.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/warn"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
	"github.com/einolean/einolean/toolsearch/internal/visibility"
)

// emit calls OnEvent. Without it, a warning goes to the log.
func (s *settings) emit(ctx context.Context, ev einolean.Event) {
	ev.Time = time.Now()
	if s.cfg.OnEvent == nil {
		if level := ev.Level(); level >= slog.LevelWarn { // only then: this copies the event
			warn.Send(ctx, level, string(ev.Kind), ev)
		}
		return
	}
	_ = safe.Call("OnEvent", func() error { s.cfg.OnEvent(ctx, ev); return nil })
}

// notHiddenKey is the key of a flag in a context: whether an instance has reported tools that it does not hide. The run
// cannot have it, since an agent without hidden tools has no run.
type notHiddenKey struct{ settings *settings }

// withNotHiddenReport returns the context of a run in which emitNotHidden reports once.
func withNotHiddenReport(ctx context.Context, s *settings) context.Context {
	return context.WithValue(ctx, notHiddenKey{s}, &atomic.Bool{})
}

// emitNotHidden reports, at the first model call of a run, tools that later handlers added and that are marked to be
// hidden. See Config.DeferMarkedTools.
func emitNotHidden(ctx context.Context, s *settings, infos []*schema.ToolInfo) {
	isReported, _ := ctx.Value(notHiddenKey{s}).(*atomic.Bool)
	if isReported == nil || isReported.Swap(true) {
		return
	}
	r := runFrom(ctx) // nil where nothing is hidden
	if r != nil && !r.state.MarkReported(ctx, "not hidden") {
		return
	}
	var names []string
	var tokens int64
	for _, t := range infos {
		if t != nil && isMarkedHidden(t) && (r == nil || !r.catalog().tools.Has(t.Name)) {
			names = append(names, t.Name)
			tokens += (&catalog.Tool{Info: t}).Tokens()
		}
	}
	if len(names) == 0 {
		return
	}
	s.emit(ctx, einolean.Event{
		Kind:  einolean.KindToolsNotHidden,
		Tools: &einolean.ToolChange{Added: firstNames(names), AddedCount: len(names), Tokens: tokens},
		Err: errors.New("toolsearch: DeferMarkedTools: handlers after this one added tools that are marked defer_loading, " +
			"which stay visible: put this one after them"),
	})
}

// catalogReportPrefix begins the key in runstate.State.Reported that says which catalog was reported.
const catalogReportPrefix = "catalog "

// emitCatalog reports the catalog at the start of a run, and each change of it later. It takes the names that were
// reported last, and returns those that are now.
func (c *toolCatalog) emitCatalog(ctx context.Context, state *runstate.SavedState, reportedNames []string) []string {
	names := c.summary.allNames()
	tokens, digest := c.summary.size()
	key := catalogReportPrefix + digest
	if !state.MarkReported(ctx, key) {
		return reportedNames
	}
	state.Update(ctx, func(last *runstate.State) {
		last.Reported = slices.DeleteFunc(slices.Clone(last.Reported), func(reported string) bool {
			return strings.HasPrefix(reported, catalogReportPrefix) && reported != key
		})
	})
	change := c.changeOf(toolnames.Difference(names, reportedNames), toolnames.Difference(reportedNames, names))
	if len(reportedNames) == 0 {
		change.Tokens = tokens
	}
	c.settings.emit(ctx, einolean.Event{Kind: einolean.KindCatalogChanged, Tools: change})
	return names
}

// emitVisible reports tools that became visible or hidden since the last model call. Before the first one, the tools
// that are visible already come from an earlier run.
func (c *toolCatalog) emitVisible(ctx context.Context, last runstate.State, selection visibility.Selection) {
	before, now, repeat := last.Visible, selection.State.Visible, !last.HadModelCall
	if added := toolnames.Difference(now, before); len(added) > 0 {
		change := c.changeOf(added, nil)
		if repeat {
			change.Reason = "history"
		}
		c.settings.emit(ctx, einolean.Event{Kind: einolean.KindToolsLoaded, Repeat: repeat, Tools: change})
	}
	if unloaded := toolnames.Difference(before, now); len(unloaded) > 0 {
		change := c.changeOf(nil, unloaded)
		if len(toolnames.Difference(unloaded, selection.Unused)) == 0 {
			change.Reason = "unused"
		}
		c.settings.emit(ctx, einolean.Event{Kind: einolean.KindToolsUnloaded, Tools: change})
	}
}

// emitRefused reports a Source's tool whose name is taken, once in a run.
func (c *toolCatalog) emitRefused(ctx context.Context, state *runstate.SavedState, name string) {
	if state.MarkReported(ctx, "refused "+name) {
		c.settings.emit(ctx, einolean.Event{
			Kind: einolean.KindToolRefused, Tool: name,
			Err: fmt.Errorf("toolsearch: Source: tool %q is left out: another tool has the name: rename one of them", name),
		})
	}
}

// emitNothingHidden reports, once for an instance, that a run shows all tools because of MinTokensToHide. Without OnEvent
// the log has it, once in a process.
func (s *settings) emitNothingHidden(ctx context.Context, tokens int64) {
	if s.reportedNothingHidden.Swap(true) {
		return
	}
	ev := einolean.Event{Kind: einolean.KindNothingHidden, Tools: &einolean.ToolChange{
		Tokens: tokens, Reason: fmt.Sprintf("MinTokensToHide is %d", s.cfg.MinTokensToHide),
	}}
	if s.cfg.OnEvent != nil {
		s.emit(ctx, ev)
		return
	}
	ev.Time = time.Now()
	warn.Once(ctx, string(ev.Kind), ev)
}

// changeOf describes tools that were added and removed, for an event. The tokens are of the added ones, if there are
// any.
func (c *toolCatalog) changeOf(added, removed []string) *einolean.ToolChange {
	sized := added
	if len(added) == 0 {
		sized = removed
	}
	return &einolean.ToolChange{
		Added: firstNames(added), AddedCount: len(added), Removed: firstNames(removed), RemovedCount: len(removed),
		Tokens: c.tokensOf(sized),
	}
}

// maxEventNames is how many names an event has.
const maxEventNames = 20

// firstNames returns a copy of the first names, for an event; nil for none.
func firstNames(names []string) []string {
	return append([]string(nil), names[:min(len(names), maxEventNames)]...)
}
