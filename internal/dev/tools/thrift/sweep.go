// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// preset is a choice of the settings that were swept. The others are those of Recommended.
type preset struct {
	limit, preview, saving int // bytes
	trigger                int64
}

var (
	currentPreset = preset{10_000, 3_300, 500, 32_000}
	formerPreset  = preset{16_000, 5_000, 500, 32_000}
)

// presets are the chosen one, the one before, and the chosen one with one setting changed. A preview has
// a third of the limit.
func presets() []preset {
	out := []preset{currentPreset, formerPreset}
	vary := func(set func(p *preset)) {
		p := currentPreset
		if set(&p); p != currentPreset {
			out = append(out, p)
		}
	}
	for _, limit := range []int{8_000, 9_000, 10_000, 12_000} {
		vary(func(p *preset) { p.limit, p.preview = limit, limit/300*100 })
	}
	for _, saving := range []int{200, 1_000, 2_000} {
		vary(func(p *preset) { p.saving = saving })
	}
	for _, trigger := range []int64{24_000, 40_000} {
		vary(func(p *preset) { p.trigger = trigger })
	}
	return out
}

func (p preset) policy() replay.Policy {
	return replay.Policy{Name: p.String(), New: func(ctx context.Context, files *store.Memory, _ int64) (adk.ChatModelAgentMiddleware, error) {
		c := reduction.Recommended(files)
		c.MaxLengthForTrunc, c.MinSavingBytes, c.MaxTokensForClear = p.limit, p.saving, p.trigger
		c.Preview = func(r reduction.PreviewRequest) string {
			r.MaxBytes = min(r.MaxBytes, p.preview)
			return reduction.PreviewByKind(r)
		}
		return reduction.New(ctx, c)
	}}
}

func (p preset) String() string {
	return fmt.Sprintf("cut %d, show %d, save %d, at %d", p.limit, p.preview, p.saving, p.trigger)
}

// sweep replays the tuning half of the invented runs under each preset, and the other half once,
// under the chosen one and Eino's handler, also with half of the cut results read back.
func sweep(ctx context.Context, out io.Writer) error {
	parts := halves(inventedRuns())
	tuning, held := parts[0], parts[2:]
	others := replay.Policies()[:3] // none, cutting, Eino's
	if err := tuning.print(ctx, out, policiesOf(others, presets())); err != nil {
		return err
	}
	for _, part := range held {
		if err := part.print(ctx, out, policiesOf(others, presets()[:2])); err != nil {
			return err
		}
	}
	return printCompact(out, held[0].runs)
}

func policiesOf(policies []replay.Policy, tried []preset) []replay.Policy {
	for _, p := range tried {
		policies = append(policies[:len(policies):len(policies)], p.policy())
	}
	return policies
}

// half is a half of the invented runs, of which a share of the cut results is read back.
type half struct {
	name  string
	runs  []replay.Recorded
	share float64
}

// inventedRuns are the invented runs.
func inventedRuns() (all []replay.Recorded) {
	_ = replay.Invent(func(r replay.Recorded) error { // which fails only if this does
		all = append(all, r)
		return nil
	})
	return all
}

// halves are the tuning half and the held-out half of runs, each of agents that read no cut result back
// and of those that do it with every second one.
func halves(runs []replay.Recorded) []half {
	of := make(map[bool][]replay.Recorded)
	for _, r := range runs {
		of[r.Tuning()] = append(of[r.Tuning()], r)
	}
	const tuning, held, some = "tuning half", "held-out half", .48
	return []half{{tuning, of[true], 0}, {tuning, of[true], some}, {held, of[false], 0}, {held, of[false], some}}
}

// print prints the runs of one task, and those of several.
func (h half) print(ctx context.Context, out io.Writer, policies []replay.Policy) error {
	parts := make(map[bool][]replay.Recorded)
	for _, r := range h.runs {
		parts[r.Kind == replay.Days] = append(parts[r.Kind == replay.Days], r)
	}
	for _, several := range []bool{false, true} {
		t, err := tabulate(ctx, parts[several], policies, replay.Options{ReadBacks: h.share})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s of the invented runs, %.0f %% of the cut results read back: %d\n%s\n", h.name, h.share*100, len(parts[several]), t)
	}
	return nil
}

// tabulate replays runs under policies, some at a time.
func tabulate(ctx context.Context, runs []replay.Recorded, policies []replay.Policy, o replay.Options) (*replay.Table, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	t, failed := replay.NewTable(policies), error(nil)
	todo := make(chan replay.Recorded)
	for range 2 {
		wg.Go(func() {
			for r := range todo {
				bills, err := replay.Each(ctx, r.Conversation, policies, o)
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
