// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/tokens"
)

// printAll replays every invented run under every policy and prints a table for each half, and
// one for agents that read half of the cut results back.
func printAll(ctx context.Context, out io.Writer, trigger int64) error {
	runs := inventedRuns()
	fmt.Fprintf(out, "%d runs. Costs relative to no reduction, from %d tokens on.\n", len(runs), trigger)
	for _, h := range halves(runs) {
		fmt.Fprintf(out, "\n%s, %.0f %% of the cut results read back\n", h.name, h.share*100)
		t, err := tabulate(ctx, h.runs, replay.Policies(), replay.Options{Trigger: trigger, ReadBacks: h.share})
		if err != nil {
			return err
		}
		fmt.Fprint(out, t)
	}
	return printCompact(out, runs)
}

// compacted are tokens of results: as tools returned them and compacted, also in the envelope in
// which eino-ext's MCP tools return a text.
type compacted struct{ before, after, enveloped, unwrapped int }

func (c *compacted) add(o compacted) {
	c.before, c.after, c.enveloped, c.unwrapped = c.before+o.before, c.after+o.after, c.enveloped+o.enveloped, c.unwrapped+o.unwrapped
}

func compactedOf(text string) (c compacted, err error) {
	envelope, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
	if err != nil {
		return c, err
	}
	of := func(text string) (before, after int) {
		short, _ := jsontext.Compact(text)
		return tokens.Of(text), tokens.Of(short)
	}
	c.before, c.after = of(text)
	c.enveloped, c.unwrapped = of(string(envelope))
	return c, nil
}

// printCompact prints what CompactJSON alone leaves of the tokens of results that are not cut.
func printCompact(out io.Writer, runs []replay.Recorded) error {
	const most = 50_000
	kinds := map[string]*compacted{}
	add := func(kind string, c compacted) {
		if kinds[kind] == nil {
			kinds[kind] = &compacted{}
		}
		kinds[kind].add(c)
	}
	for _, r := range runs {
		for _, m := range r.Conversation.Messages() {
			if m.Role != schema.Tool || len(m.Content) > most {
				continue
			}
			c, err := compactedOf(m.Content)
			if err != nil {
				return err
			}
			add(r.Kind, c)
			add("all", c)
		}
	}
	fmt.Fprintf(out, "\nResult tokens with CompactJSON, relative to those without\n%-12s %10s %22s\n", "", "recorded", "in an MCP envelope")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		c := kinds[kind]
		fmt.Fprintf(out, "%-12s %10.2f %22.2f\n", kind, float64(c.after)/float64(c.before), float64(c.unwrapped)/float64(c.enveloped))
	}
	return nil
}

// printOne replays a conversation of the user's own.
func printOne(ctx context.Context, out io.Writer, file string, trigger int64) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	c, err := replay.Read(data)
	if err != nil {
		return err
	}
	t, err := tabulate(ctx, []replay.Recorded{{Name: file, Kind: "conversation", Conversation: c}}, replay.Policies(), replay.Options{Trigger: trigger})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(out, t)
	return err
}
