// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/dev/replay"
)

// invented are the invented runs of which that holds.
func invented(holds func(replay.Recorded) bool) (out []replay.Recorded) {
	_ = replay.Invent(func(r replay.Recorded) error {
		if holds(r) {
			out = append(out, r)
		}
		return nil
	})
	return out
}

// hair is how much dearer a run may be with the preset than with Eino's package.
const hair = 1.02

// printAgainst compares what each run of a half costs with the preset and with Eino's package.
func printAgainst(ctx context.Context, out io.Writer, trigger int64) error {
	for _, tuning := range []bool{true, false} {
		runs := invented(func(r replay.Recorded) bool { return r.Tuning() == tuning })
		for _, share := range []float64{0, .48} {
			fmt.Fprintf(out, "%s, %.0f %% of the cut results read back: ", map[bool]string{true: "tuning half", false: "held-out half"}[tuning], share*100)
			if err := printRuns(ctx, out, runs, replay.Options{Trigger: trigger, ReadBacks: share}); err != nil {
				return err
			}
		}
	}
	return nil
}

// printRuns prints the runs that are dearer with the preset, on the card on which it does worst.
func printRuns(ctx context.Context, out io.Writer, runs []replay.Recorded, o replay.Options) error {
	var policies []replay.Policy
	for _, p := range replay.Policies() {
		if p.Name == "no reduction" || p.Name == "Eino" || p.Name == "einolean, Recommended" {
			policies = append(policies, p)
		}
	}
	var dearer []string
	for _, r := range runs {
		bills, err := replay.Each(ctx, r.Conversation, policies, o)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		worst, card := 0., ""
		for _, c := range replay.Cards {
			if ratio := c.Cost(bills[2]) / c.Cost(bills[1]); ratio > worst {
				worst, card = ratio, c.Name
			}
		}
		if worst > hair {
			none := replay.Cards[0].Cost(bills[0])
			dearer = append(dearer, fmt.Sprintf("  %.2f %-14s %-10s %3d calls; of no reduction Eino %.2f, Recommended %.2f; lost %d and %d, read back %d and %d\n",
				worst, r.Name, card, r.Conversation.Calls(), replay.Cards[0].Cost(bills[1])/none, replay.Cards[0].Cost(bills[2])/none,
				bills[1].Lost, bills[2].Lost, bills[1].ReadBacks, bills[2].ReadBacks))
		}
	}
	slices.Sort(dearer)
	slices.Reverse(dearer)
	_, err := fmt.Fprintf(out, "%d of %d runs are dearer than with Eino's package by more than 2 %% on a card\n%s", len(dearer), len(runs), strings.Join(dearer, ""))
	return err
}
