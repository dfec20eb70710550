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

// hair is how much dearer a run may be with the preset than with Eino's package.
const hair = 1.02

// printAgainst compares what each run of a half costs with the preset and with Eino's package.
func printAgainst(ctx context.Context, out io.Writer, trigger int64) error {
	for _, h := range halves(inventedRuns()) {
		fmt.Fprintf(out, "%s, %.0f %% of the cut results read back: ", h.name, h.share*100)
		if err := printRuns(ctx, out, h.runs, replay.Options{Trigger: trigger, ReadBacks: h.share}); err != nil {
			return err
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
