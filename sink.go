// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einolean

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/safe"
)

// Slog returns a receiver that logs each event: its kind as the message, at its
// [Event.Level], with the parts that are set in a group named "einolean". If the logger
// is nil, it is slog.Default at the time of the event.
func Slog(l *slog.Logger) func(context.Context, Event) {
	return func(ctx context.Context, e Event) {
		to := l
		if to == nil {
			to = slog.Default()
		}
		if level := e.Level(); to.Enabled(ctx, level) {
			to.LogAttrs(ctx, level, string(e.Kind), slog.Attr{Key: "einolean", Value: slog.GroupValue(e.attrs()...)})
		}
	}
}

// JSONL returns a receiver that writes each event to w as one line of JSON. It is
// safe for concurrent use; errors of w are dropped, since a log must not end a run.
func JSONL(w io.Writer) func(context.Context, Event) {
	var mu sync.Mutex
	return func(_ context.Context, e Event) {
		line, err := json.Marshal(e)
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = w.Write(append(display.JSON(line), '\n'))
	}
}

// Tee returns a receiver that passes each event to all receivers, in order. Nil
// receivers are skipped, and a panic in one does not reach the others.
func Tee(receivers ...func(context.Context, Event)) func(context.Context, Event) {
	kept := make([]func(context.Context, Event), 0, len(receivers))
	for _, r := range receivers {
		if r != nil {
			kept = append(kept, r)
		}
	}
	return func(ctx context.Context, e Event) {
		for _, r := range kept {
			_ = safe.Call("OnEvent", func() error { r(ctx, e); return nil })
		}
	}
}

// Level returns Warn if something failed or was refused. It returns Debug for repeats, catalog
// changes, server listings, results that stay and passes that cleared nothing, and Info for everything
// else.
func (e Event) Level() slog.Level {
	switch e.Kind {
	case KindToolsNotHidden, KindReadToolNotAdded, KindOverflow, KindSourceFailed, KindIndexFailed, KindStoreFailed, KindSessionRestarted, KindServerDown, KindToolRefused, KindToolsDenied:
		return slog.LevelWarn
	case KindServerListed:
		if e.Err != nil {
			return slog.LevelWarn
		}
		return slog.LevelDebug
	case KindCatalogChanged, KindResultKept:
		return slog.LevelDebug
	case KindClearDone:
		if e.Pass == nil || e.Pass.Cleared == 0 {
			return slog.LevelDebug
		}
	}
	if e.Repeat {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// LogValue returns the parts that are set, as a group with the keys of the JSON form.
func (e Event) LogValue() slog.Value {
	return slog.GroupValue(append([]slog.Attr{slog.String("kind", string(e.Kind))}, e.attrs()...)...)
}

// attrs are the parts that are set, except the time and the kind.
func (e Event) attrs() []slog.Attr {
	var g group
	g.text("tool", e.Tool)
	g.text("call_id", e.CallID)
	g.text("server", e.Server)
	g.flag("repeat", e.Repeat)
	if s := e.Search; s != nil {
		var in group
		in.text("query", s.Query)
		in.text("index", s.Index)
		in = append(in, slog.Duration("took", s.Took))
		in.flag("fallback", s.Fallback)
		in = append(in, slog.Any("hits", hitNames(s.Hits)))
		g.nest("search", in)
	}
	if t := e.Tools; t != nil {
		var in group
		in.names("added", t.Added)
		in.names("removed", t.Removed)
		in.number("added_count", int64(t.AddedCount))
		in.number("removed_count", int64(t.RemovedCount))
		in.number("tokens", t.Tokens)
		in.text("phase", t.Phase)
		in.text("reason", t.Reason)
		g.nest("tools", in)
	}
	if o := e.Output; o != nil {
		g.nest("output", o.attrs())
	}
	if p := e.Pass; p != nil {
		g.nest("pass", p.attrs())
	}
	if p := e.Program; p != nil {
		var in group
		in = append(in, slog.Any("calls", p.Calls), slog.Int("rounds", p.Rounds))
		in.flag("failed", p.Failed)
		g.nest("program", in)
	}
	g.text("error", safe.ErrorText(e.Err))
	return g
}

func (o *OutputChange) attrs() (g group) {
	g = append(g, slog.Int("before_bytes", o.Before.Bytes), slog.Int64("before_tokens", o.Before.Tokens),
		slog.Int("after_bytes", o.After.Bytes), slog.Int64("after_tokens", o.After.Tokens))
	g.text("path", o.Path)
	g.text("rule", o.Rule)
	g.text("reason", o.Reason)
	g.flag("stream", o.Stream)
	return g
}

func (p *Pass) attrs() (g group) {
	g = append(g, slog.Int("looked", p.Looked), slog.Int("cleared", p.Cleared))
	g.number("repeated", int64(p.Repeated))
	if len(p.Kept) > 0 {
		g = append(g, slog.Any("kept", p.Kept))
	}
	g = append(g, slog.Int64("before", p.Before), slog.Int64("after", p.After), slog.Int64("threshold", p.Threshold))
	g.number("target", p.Target)
	return g
}

// group collects attributes and leaves out what is not set.
type group []slog.Attr

func (g *group) text(key, value string) {
	if value != "" {
		*g = append(*g, slog.String(key, value))
	}
}

func (g *group) flag(key string, value bool) {
	if value {
		*g = append(*g, slog.Bool(key, true))
	}
}

func (g *group) number(key string, value int64) {
	if value != 0 {
		*g = append(*g, slog.Int64(key, value))
	}
}

func (g *group) names(key string, value []string) {
	if len(value) > 0 {
		*g = append(*g, slog.Any(key, value))
	}
}

func (g *group) nest(key string, in group) {
	*g = append(*g, slog.Attr{Key: key, Value: slog.GroupValue(in...)})
}

func hitNames(hits []Hit) []string {
	names := make([]string, len(hits))
	for i, h := range hits {
		names[i] = h.Name
	}
	return names
}

// String returns one line for people. Control characters that a model or a server
// wrote are escaped.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(string(e.Kind), "_", " "))
	for _, name := range []string{e.Server, e.Tool} {
		if name != "" {
			b.WriteString(" " + display.Printable(name))
		}
	}
	if s := e.Search; s != nil {
		fmt.Fprintf(&b, " %q: %s in %s", s.Query, listed(hitNames(s.Hits), len(s.Hits)), s.Took.Round(time.Microsecond))
	}
	if t := e.Tools; t != nil {
		b.WriteString(t.line())
	}
	if o := e.Output; o != nil {
		b.WriteString(o.line())
	}
	if p := e.Pass; p != nil {
		fmt.Fprintf(&b, ": %s → %s tokens, %d of %d results", display.Grouped(p.Before), display.Grouped(p.After), p.Cleared, p.Looked)
	}
	if text := safe.ErrorText(e.Err); text != "" {
		b.WriteString(": " + display.Printable(text))
	}
	return b.String()
}

func (t *ToolChange) line() (text string) {
	if t.AddedCount > 0 {
		text += " + " + listed(t.Added, t.AddedCount)
	}
	if t.RemovedCount > 0 {
		text += " − " + listed(t.Removed, t.RemovedCount)
	}
	if t.Tokens > 0 {
		text += " (" + display.Grouped(t.Tokens) + " tokens)"
	}
	for _, word := range []string{t.Phase, t.Reason} {
		if word != "" {
			text += ", " + display.Printable(word)
		}
	}
	return text
}

func (o *OutputChange) line() string {
	text := ": " + display.Grouped(o.Before.Tokens) + " tokens"
	if o.After != o.Before {
		text = ": " + display.Grouped(o.Before.Tokens) + " → " + display.Grouped(o.After.Tokens) + " tokens"
	}
	if o.Path != "" {
		text += ", whole in " + display.Printable(o.Path)
	}
	if o.Reason != "" {
		text += ", " + display.Printable(o.Reason)
	}
	return text
}

// listed is up to five names and how many more there are.
func listed(names []string, count int) string {
	const most = 5
	if count == 0 {
		return "nothing"
	}
	shown := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, display.Printable(name))
	}
	text := strings.Join(shown, ", ")
	if rest := count - len(shown); rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}
