// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file holds the command that bills recorded conversations.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/internal/replay"
	"github.com/leanctx/leanctx/reduction"
)

// replaySchema names what replayJSON is.
const replaySchema = "leanctx.replay/1"

// replayJSON is what --json writes.
type replayJSON struct {
	Schema        string       `json:"schema"`
	Trigger       int64        `json:"trigger_tokens"`
	ReadBacks     float64      `json:"read_backs"`
	Cards         []cardJSON   `json:"cards"`
	Conversations []billedJSON `json:"conversations"`
	Total         billedJSON   `json:"total"`
}

type cardJSON struct {
	Name   string  `json:"name"`
	Write  float64 `json:"write"`
	Cached float64 `json:"cached"`
}

// billedJSON is a conversation, or all of them, under each policy.
type billedJSON struct {
	Name     string       `json:"name"`
	Calls    int          `json:"model_calls"`
	Policies []policyJSON `json:"policies"`
}

type policyJSON struct {
	Policy     string             `json:"policy"`
	Calls      int                `json:"model_calls"`
	Written    int64              `json:"written_tokens"`
	Cached     int64              `json:"cached_tokens"`
	Largest    int64              `json:"largest_window_tokens"`
	Again      int                `json:"read_backs"` // the agent needed what it no longer saw
	Edited     int                `json:"edited_results"`
	Unreadable int                `json:"unreadable_results"` // of the edited ones
	Cost       map[string]float64 `json:"cost"`               // by card, in tokens at the full price
	Ratio      map[string]float64 `json:"ratio"`              // by card, to no reduction
	Cheapest   []string           `json:"cheapest,omitempty"` // cards on which no policy costs less
	Dearer     []string           `json:"dearer,omitempty"`   // cards on which doing nothing costs less
}

// bench says what to replay, and how.
type bench struct {
	policies []replay.Policy
	cards    []replay.Card
	options  replay.Options
	over     float64
	top      int
}

// list collects the values of a flag that may be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, ", ") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

func runReplay(ctx context.Context, s streams, args []string) error {
	var common options
	var names, configs list
	b := bench{}
	f := flags(s, "replay", &common)
	f.Var(&names, "policy", "a policy to replay, by all or part of its name; may be repeated; by default all")
	f.Var(&configs, "config", "a file with your own policy: a JSON object with fields of reduction.Config; may be repeated")
	prices := f.String("prices", "", `a file with your own price cards: JSON such as [{"name":"mine","write":1.25,"cached":0.1}], relative to a prompt token without a cache`)
	f.Int64Var(&b.options.Trigger, "trigger", 32_000, "the number of tokens at which policies start to clear, unless they set their own")
	f.Float64Var(&b.options.ReadBacks, "read-backs", 0, "share of the cut results, from 0 to 1, that the agent reads back at once")
	f.Float64Var(&b.over, "fail-over", 0, "exit with 1 if a policy costs more than this share of the cost without reduction on any card; 0 allows any cost")
	f.IntVar(&b.top, "top", 20, "how many cases to show in which a policy costs more than doing nothing")
	rest, err := parse(f, args)
	if err != nil {
		return err
	}
	if common.schema {
		return writeSchema[replayJSON](s.out, replaySchema)
	}
	if len(rest) == 0 || b.options.Trigger < 1 || b.options.ReadBacks < 0 || b.options.ReadBacks > 1 {
		return fail(exitUsage, "give files of conversations; --trigger must be at least 1, and --read-backs between 0 and 1")
	}
	color, err := common.colored(s.out)
	if err != nil {
		return err
	}
	if b.policies, err = chosen(s, names, configs); err != nil {
		return err
	}
	if b.cards, err = cards(s, *prices); err != nil {
		return err
	}
	var all []replay.Recorded
	for _, name := range rest {
		more, err := recordings(s, common, name)
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	report, err := b.replay(ctx, s, common, all)
	if err != nil {
		return err
	}
	if common.json {
		err = writeJSON(s.out, report)
	} else {
		b.show(s.out, painter(color), report)
	}
	if err != nil {
		return err
	}
	return b.judge(report.Total)
}

// chosen are the policies that are replayed. The first reduces nothing.
func chosen(s streams, names, configs list) ([]replay.Policy, error) {
	known := replay.Policies()
	picked := known
	if len(names)+len(configs) > 0 {
		picked = known[:1:1]
	}
	for _, name := range names {
		n := len(picked)
		for i, p := range known[1:] {
			if strings.EqualFold(p.Name, name) {
				picked = append(picked[:n:n], known[i+1])
				break
			}
			if strings.Contains(strings.ToLower(p.Name), strings.ToLower(name)) {
				picked = append(picked, p)
			}
		}
		if len(picked) == n && !strings.EqualFold(known[0].Name, name) {
			var all []string
			for _, p := range known {
				all = append(all, p.Name)
			}
			return nil, fail(exitUsage, "no policy has %q in its name. The policies are:\n  %s", name, strings.Join(all, "\n  "))
		}
	}
	for _, file := range configs {
		p, err := own(s, file)
		if err != nil {
			return nil, err
		}
		picked = append(picked, p)
	}
	return picked, nil
}

// own reads a policy from a file.
func own(s streams, file string) (p replay.Policy, err error) {
	text, err := readAll(s, file)
	if err != nil {
		return p, err
	}
	strict := func(c *reduction.Config) error {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		return d.Decode(c)
	}
	makeOne := func(ctx context.Context, store *reduction.MemoryBackend, trigger int64) (adk.ChatModelAgentMiddleware, error) {
		c := &reduction.Config{Backend: store, MaxTokensForClear: trigger}
		if err := strict(c); err != nil {
			return nil, err
		}
		return reduction.New(ctx, c)
	}
	if _, err := makeOne(context.Background(), reduction.NewMemoryBackend(1), 1); err != nil {
		return p, fail(exitInput, "%s: %w. It is a JSON object with fields of reduction.Config, such as {\"MaxLengthForTrunc\":12000}", file, err)
	}
	return replay.Policy{Name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), New: makeOne}, nil
}

// cards are the prices of a file, or those of common providers.
func cards(s streams, file string) (all []replay.Card, err error) {
	if file == "" {
		return replay.Cards, nil
	}
	text, err := readAll(s, file)
	if err != nil {
		return nil, err
	}
	var read []cardJSON
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fail(exitInput, "%s: %w", file, err)
	}
	for _, c := range read {
		if c.Name == "" || c.Write <= 0 || c.Cached < 0 {
			return nil, fail(exitInput, `%s: a card has a name, "write" above 0 and "cached" of at least 0`, file)
		}
		all = append(all, replay.Card(c))
	}
	if len(all) == 0 {
		return nil, fail(exitInput, "%s holds no card", file)
	}
	return all, nil
}

// replay bills each conversation under each policy.
func (b bench) replay(ctx context.Context, s streams, common options, all []replay.Recorded) (replayJSON, error) {
	out := replayJSON{Schema: replaySchema, Trigger: b.options.Trigger, ReadBacks: b.options.ReadBacks}
	for _, c := range b.cards {
		out.Cards = append(out.Cards, cardJSON(c))
	}
	sums := make([]replay.Bill, len(b.policies))
	calls := 0
	wait := common.progress(s, "replaying", len(all)*len(b.policies))
	defer wait.stop()
	for _, r := range all {
		bills := make([]replay.Bill, 0, len(b.policies))
		for i, p := range b.policies {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			bill, err := r.Conversation.Run(ctx, p, b.options)
			if err != nil {
				return out, fail(exitInput, "%s: %w", r.Name, err)
			}
			bills = append(bills, bill)
			sums[i].Add(bill)
			wait.step()
		}
		calls += r.Conversation.Calls()
		out.Conversations = append(out.Conversations, b.billed(r.Name, r.Conversation.Calls(), bills))
	}
	out.Total = b.billed("all", calls, sums)
	return out, nil
}

// billed is what the bills say, one for each policy.
func (b bench) billed(name string, calls int, bills []replay.Bill) billedJSON {
	out := billedJSON{Name: name, Calls: calls}
	for i, bill := range bills {
		p := policyJSON{Policy: b.policies[i].Name, Calls: bill.Calls, Written: bill.Written, Cached: bill.Cached, Largest: bill.Largest,
			Again: bill.Lost + bill.ReadBacks, Edited: bill.Edited, Unreadable: bill.Unreadable, Cost: map[string]float64{}, Ratio: map[string]float64{}}
		for _, c := range b.cards {
			cost, nothing := c.Cost(bill), c.Cost(bills[0])
			p.Cost[c.Name] = cost
			p.Ratio[c.Name] = 1
			if nothing > 0 {
				p.Ratio[c.Name] = cost / nothing
			}
			if !slices.ContainsFunc(bills, func(other replay.Bill) bool { return c.Cost(other) < cost }) {
				p.Cheapest = append(p.Cheapest, c.Name)
			}
			if cost > nothing {
				p.Dearer = append(p.Dearer, c.Name)
			}
		}
		out.Policies = append(out.Policies, p)
	}
	return out
}

// judge reports a price above what --fail-over allows.
func (b bench) judge(total billedJSON) error {
	for _, p := range total.Policies[1:] {
		for _, c := range b.cards {
			if b.over > 0 && p.Ratio[c.Name] > b.over {
				return fail(exitMissed, "%s costs %.2f of the cost without reduction (%s), more than %.2f", p.Policy, p.Ratio[c.Name], c.Name, b.over)
			}
		}
	}
	return nil
}

// show writes the table of all conversations, and the losing cases.
func (b bench) show(w io.Writer, p painter, r replayJSON) {
	widest := len("policy")
	for _, policy := range r.Total.Policies {
		widest = max(widest, utf8.RuneCountInString(display.Line(policy.Policy)))
	}
	row := func(paint func(string) string, name string, columns ...string) {
		text := name + strings.Repeat(" ", max(0, widest-utf8.RuneCountInString(name)))
		fmt.Fprintf(w, "%s%s\n", paint(text), strings.Join(columns, ""))
	}
	head := []string{"  calls", " largest", " cached", "  again", "   lost"}
	for _, c := range b.cards {
		head = append(head, fmt.Sprintf("  %8s", clip(display.Line(c.Name), 10)))
	}
	fmt.Fprintf(w, "%s of %s, policies clear from %s tokens on\n\n", plural(r.Total.Calls, "model call"), plural(len(r.Conversations), "conversation"), display.Grouped(r.Trigger))
	row(p.dim, "policy", p.dim(strings.Join(head, "")))
	for _, policy := range r.Total.Policies {
		cells := []string{
			fmt.Sprintf("%7s", display.Grouped(policy.Calls)), fmt.Sprintf("%8s", display.Grouped(policy.Largest)),
			fmt.Sprintf("%5.0f %%", 100*float64(policy.Cached)/float64(max(1, policy.Cached+policy.Written))), fmt.Sprintf("%7s", display.Grouped(policy.Again)),
			lost(p, policy.Unreadable),
		}
		for _, c := range b.cards {
			cells = append(cells, price(p, c.Name, policy, max(8, min(10, utf8.RuneCountInString(display.Line(c.Name))))))
		}
		row(p.bold, display.Line(policy.Policy), cells...)
	}
	fmt.Fprint(w, "\n", p.dim("Costs are relative to no reduction, for each price card; * is the lowest, ! is higher than doing nothing.\n"+
		"again: results that the agent still needed after they were removed, and had to read again; lost: results\n"+
		"that no path gives back byte for byte. Losing results does not count as saving."), "\n")
	b.losses(w, p, r)
}

// lost is a cell: results that can no longer be read.
func lost(p painter, n int) string {
	text := fmt.Sprintf("%7s", display.Grouped(n))
	if n > 0 {
		return p.red(text)
	}
	return text
}

// price is a cell: a ratio with its mark, which needs no colour.
func price(p painter, card string, policy policyJSON, width int) string {
	text := fmt.Sprintf("%.2f", policy.Ratio[card])
	switch {
	case slices.Contains(policy.Dearer, card):
		return "  " + p.red(fmt.Sprintf("%*s", width, "!"+text))
	case slices.Contains(policy.Cheapest, card):
		return "  " + p.green(fmt.Sprintf("%*s", width, "*"+text))
	}
	return fmt.Sprintf("  %*s", width, text)
}

// losses lists where doing nothing would have been cheaper, the worst first.
func (b bench) losses(w io.Writer, p painter, r replayJSON) {
	type loss struct {
		text  string
		ratio float64
	}
	var all []loss
	for _, c := range r.Conversations {
		for _, policy := range c.Policies {
			if len(policy.Dearer) == 0 {
				continue
			}
			worst := slices.MaxFunc(policy.Dearer, func(x, y string) int { return compare(policy.Ratio[x], policy.Ratio[y]) })
			all = append(all, loss{fmt.Sprintf("%.2f  %s: %s (%s)", policy.Ratio[worst], display.Line(c.Name), display.Line(policy.Policy), display.Line(worst)), policy.Ratio[worst]})
		}
	}
	bills := len(r.Conversations) * (len(r.Total.Policies) - 1)
	if len(all) == 0 {
		fmt.Fprintf(w, "\n%s\n", p.green("No policy costs more than doing nothing, in any conversation."))
		return
	}
	slices.SortStableFunc(all, func(x, y loss) int { return compare(y.ratio, x.ratio) })
	fmt.Fprintf(w, "\n%s\n", p.bold(fmt.Sprintf("%d of %d times a policy cost more than doing nothing:", len(all), bills)))
	for i, l := range all {
		if i == b.top {
			fmt.Fprintf(w, "%s\n", p.dim(fmt.Sprintf("… and %d more; --top shows more, --json all", len(all)-b.top)))
			break
		}
		fmt.Fprintln(w, "  "+l.text)
	}
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
