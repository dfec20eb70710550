// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file prints what the runs cost.

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/leanctx/leanctx/internal/replay"
)

// printAll replays every run under every policy and prints a table for each half, and
// one for agents that read half of the cut results back.
func printAll(ctx context.Context, out io.Writer, file string, trigger int64) error {
	var runs []replay.Recorded
	if err := read(file, func(r replay.Recorded) error { runs = append(runs, r); return nil }); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d runs. Costs relative to no reduction, from %d tokens on.\n", len(runs), trigger)
	for _, half := range []struct {
		name string
		of   func(replay.Recorded) bool
	}{{"tuning half", replay.Recorded.Tuning}, {"held-out half", func(r replay.Recorded) bool { return !r.Tuning() }}} {
		for _, share := range []float64{0, .48} {
			fmt.Fprintf(out, "\n%s, %.0f %% of the cut results read back\n", half.name, share*100)
			var chosen []replay.Recorded
			for _, r := range runs {
				if half.of(r) {
					chosen = append(chosen, r)
				}
			}
			t, err := compare(ctx, chosen, replay.Options{Trigger: trigger, ReadBacks: share})
			if err != nil {
				return err
			}
			fmt.Fprint(out, t)
		}
	}
	return nil
}

// compare replays runs, some at a time.
func compare(ctx context.Context, runs []replay.Recorded, o replay.Options) (*replay.Table, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	t, failed := replay.NewTable(replay.Policies()), error(nil)
	todo := make(chan replay.Recorded)
	for range 2 {
		wg.Go(func() {
			for r := range todo {
				bills, err := replay.Each(ctx, r.Conversation, replay.Policies(), o)
				mu.Lock()
				if err != nil {
					failed = fmt.Errorf("%s: %w", r.Name, err)
				} else {
					t.Add(r, bills)
				}
				mu.Unlock()
			}
		})
	}
	for _, r := range runs {
		todo <- r
	}
	close(todo)
	wg.Wait()
	return t, failed
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
	t, err := compare(ctx, []replay.Recorded{{Name: file, Kind: "conversation", Conversation: c}}, replay.Options{Trigger: trigger})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(out, t)
	return err
}
