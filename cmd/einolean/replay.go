// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// einolean replay computes what recorded conversations cost.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/advice"
	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/prices"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// replaySchema names what replayJSON is.
const replaySchema = "einolean.replay/1"

// replayJSON is what --json writes.
type replayJSON struct {
	Schema        string        `json:"schema"`
	Trigger       int64         `json:"trigger_tokens"`
	ReadBacks     float64       `json:"read_backs"`
	Cards         []replay.Card `json:"cards"`
	Conversations []billedJSON  `json:"conversations"`
	Total         billedJSON    `json:"total"`
	Advice        string        `json:"advice"` // what to set, in one sentence
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
	Tokens     int64              `json:"tokens"`      // of all prompts
	Defined    int64              `json:"tool_tokens"` // of these, those of tool definitions
	Written    int64              `json:"written_tokens"`
	Cached     int64              `json:"cached_tokens"`
	Largest    int64              `json:"largest_window_tokens"`
	ReadBacks  int                `json:"read_backs"` // the agent needed content that was no longer visible
	Edited     int                `json:"edited_results"`
	Unreadable int                `json:"unreadable_results"` // of the edited ones
	Cost       map[string]float64 `json:"cost"`               // by card, in tokens at the full price
	Ratio      map[string]float64 `json:"ratio"`              // by card, to no reduction
	Dollars    map[string]float64 `json:"dollars"`            // by card, where its price of a token is known
	Cheapest   []string           `json:"cheapest,omitempty"` // cards on which no policy costs less
	Dearer     []string           `json:"dearer,omitempty"`   // cards on which doing nothing costs less
}

// bench holds the policies, price tables and limits of a replay.
type bench struct {
	policies      []choice
	cards         []replay.Card
	options       replay.Options
	failOver      float64
	top           int
	otherPolicies int // how many more policies --all replays
}

// check validates flags and files.
func (b bench) check(files []string) error {
	switch {
	case len(files) == 0:
		return fail(exitUsage, "give a file of a conversation, such as the body of a request. See einolean replay --help")
	case b.options.Trigger < 1:
		return fail(exitUsage, "--trigger is at least 1, not %d", b.options.Trigger)
	case !isShare(b.options.ReadBacks):
		return fail(exitUsage, "--read-backs is between 0 and 1, not %v", b.options.ReadBacks)
	case b.failOver < 0 || math.IsNaN(b.failOver): // no cost is above that
		return fail(exitUsage, "--fail-over is at least 0, not %v", b.failOver)
	}
	return nil
}

// choice is a row of the table: a policy for results and one for tools.
type choice struct {
	replay.Policy
	hide replay.Hiding
	set  string // the setting to write; empty for policies that only serve as a comparison
}

// chosenBetween lists the rows that are shown by default.
var chosenBetween = []string{"no reduction", "Eino", "einolean", "einolean, Recommended", "toolsearch, Recommended", bothRecommended}

const bothRecommended = "toolsearch and einolean, Recommended"

// choices returns all rows. The first one changes nothing.
func choices(tools bool) (all []choice) {
	settings := map[string]string{
		"einolean, Recommended": advice.RecommendedResults, "toolsearch, Recommended": advice.RecommendedTools,
		"toolsearch, SearchCall": "toolsearch.Config{Protocol: toolsearch.SearchCall}",
	}
	hidings := replay.Hidings()
	for _, p := range replay.Policies() {
		all = append(all, choice{p, hidings[0], settings[p.Name]})
	}
	if !tools {
		return all
	}
	baseline := all[0].Policy
	for _, h := range hidings[1:] {
		all = append(all, choice{replay.Policy{Name: h.Name, New: baseline.New}, h, settings[h.Name]})
	}
	both := slices.IndexFunc(all, func(c choice) bool { return c.Name == "einolean, Recommended" })
	return append(all, choice{replay.Policy{Name: bothRecommended, New: all[both].New}, hidings[len(hidings)-1],
		settings["toolsearch, Recommended"] + " and " + settings["einolean, Recommended"]})
}

func runReplay(ctx context.Context, s streams, args []string) error {
	var common options
	var names, configs []string
	b := bench{}
	f := flags(s, "replay", &common)
	repeated(f, &names, "policy", "a policy to replay, by all or part of its name; may be repeated; by default those that most choose between")
	allPolicies := f.Bool("all", false, "replay all policies, those of peers and single fields among them")
	repeated(f, &configs, "config", "a file with your own policy: a JSON object with fields of reduction.Config; may be repeated")
	priceSource := f.String("prices", "",
		`a model of docs/models.md, such as gpt-6.2-sol, or a file of your own, either like `+
			`internal/prices/prices.json, in dollars for each model, or with price cards: JSON such as `+
			`[{"name":"mine","write":1.25,"cached":0.1,"million":3}]: writing and reading the cache relative to `+
			`a prompt token without one, and dollars for a million of those. By default the prices of the model `+
			`that a request's body names, or those of common providers`)
	f.Int64Var(&b.options.Trigger, "trigger", 32_000, "the number of tokens at which policies start to clear, unless they set their own")
	f.Float64Var(&b.options.ReadBacks, "read-backs", 0, "share of the cut results, from 0 to 1, that the agent reads back at once")
	f.Float64Var(&b.failOver, "fail-over", 0,
		"exit with 1 if a policy costs more than this share of the cost without reduction on any card; 0 allows any cost")
	f.IntVar(&b.top, "top", 20, "how many cases to show in which a policy costs more than doing nothing")
	rest, err := parse(f, args)
	if err != nil {
		return err
	}
	if common.schema {
		return writeSchema[replayJSON](s.out, replaySchema)
	}
	if err := b.check(rest); err != nil {
		return err
	}
	color, err := common.colored(s.out)
	if err != nil {
		return err
	}
	all, err := recordingsOf(s, common, rest)
	if err != nil {
		return err
	}
	if b.cards, err = cards(s, *priceSource, commonModel(all)); err != nil {
		return err
	}
	tools := slices.ContainsFunc(all, func(r loaded) bool { return len(r.Conversation.Tools()) > 0 })
	if b.policies, err = choosePolicies(s, tools, *allPolicies, names, configs); err != nil {
		return err
	}
	if len(names)+len(configs) == 0 {
		b.otherPolicies = len(choices(tools)) - len(b.policies)
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

// recordingsOf reads the conversations of all files.
func recordingsOf(s streams, common options, files []string) (all []loaded, err error) {
	for _, name := range files {
		loadedFile, err := recordings(s, common, name)
		if err != nil {
			return nil, err
		}
		all = append(all, loadedFile...)
	}
	if skipped := unreadOf(all); skipped.bytes > 0 {
		common.note(s, "%s", skipped.String())
	}
	return all, nil
}

// unreadOf sums up what was not understood in all conversations.
func unreadOf(all []loaded) (sum unread) {
	sum.parts = map[string]int{}
	for _, r := range all {
		sum.bytes += r.unread.bytes
		sum.total += r.unread.total
		for name, n := range r.unread.parts {
			sum.parts[name] += n
		}
	}
	return sum
}

// choosePolicies returns the policies to replay. The first one reduces nothing.
func choosePolicies(s streams, tools, allPolicies bool, names, configs []string) ([]choice, error) {
	available := choices(tools)
	picked := slices.Clone(available)
	switch {
	case allPolicies:
		names = nil
	case len(names)+len(configs) > 0:
		picked = available[:1:1]
	default:
		picked = slices.DeleteFunc(picked, func(c choice) bool { return !slices.Contains(chosenBetween, c.Name) })
	}
	for _, name := range names {
		n := len(picked)
		for i, p := range available[1:] {
			if strings.EqualFold(p.Name, name) {
				picked = append(picked[:n:n], available[i+1])
				break
			}
			if strings.Contains(strings.ToLower(p.Name), strings.ToLower(name)) {
				picked = append(picked, p)
			}
		}
		if len(picked) == n && !strings.Contains(strings.ToLower(available[0].Name), strings.ToLower(name)) {
			var all []string
			for _, p := range available {
				all = append(all, p.Name)
			}
			return nil, fail(exitUsage, "no policy has %q in its name. The policies are:\n  %s", name, all)
		}
	}
	for _, file := range configs {
		p, err := readPolicy(s, file)
		if err != nil {
			return nil, err
		}
		picked = append(picked, choice{p, replay.Hidings()[0], "what " + file + " says"})
	}
	return picked, nil
}

// readPolicy reads a policy from a file.
func readPolicy(s streams, file string) (p replay.Policy, err error) {
	text, err := readAll(s, file)
	if err != nil {
		return p, err
	}
	strict := func(c *reduction.Config) error {
		if err := decode(text, &json.RawMessage{}); err != nil { // a decoder stops after the first value
			return err
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		return describeJSONError(d.Decode(c), int64(len(text)))
	}
	makeOne := func(ctx context.Context, files *store.Memory, trigger int64) (adk.ChatModelAgentMiddleware, error) {
		c := &reduction.Config{Backend: files, MaxTokensForClear: trigger}
		if err := strict(c); err != nil {
			return nil, err
		}
		return reduction.New(ctx, c)
	}
	if _, err := makeOne(context.Background(), store.NewMemory(1), 1); err != nil {
		return p, fail(exitInput, "%s: %w. It is a JSON object with fields of reduction.Config, such as {\"MaxLengthForTrunc\":12000}", file, err)
	}
	return replay.Policy{Name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), New: makeOne}, nil
}

// commonModel returns the model that all conversations name, or "".
func commonModel(all []loaded) string {
	model := all[0].Model
	for _, r := range all {
		if r.Model != model {
			return ""
		}
	}
	return model
}

// cards returns the price tables that --prices selects; without it those of the model, or of common providers.
func cards(s streams, priceSource, model string) ([]replay.Card, error) {
	if c, ok := replay.CardOf(cmp.Or(priceSource, model)); ok {
		return []replay.Card{c}, nil
	}
	if priceSource == "" {
		return replay.Cards, nil
	}
	text, err := readAll(s, priceSource)
	if err != nil {
		return nil, err
	}
	read, err := cardsIn(text, model)
	if err != nil {
		return nil, fail(exitInput, "%s: %w", priceSource, err)
	}
	for _, c := range read {
		if c.Name == "" || c.Write <= 0 || c.Cached < 0 || c.Million < 0 || c.Output < 0 {
			return nil, fail(exitInput, `%s: a card has a name, "write" above 0, "cached" of at least 0, `+
				`and perhaps "million" and "output"`, priceSource)
		}
	}
	if len(read) == 0 {
		return nil, fail(exitInput, "%s holds no card", priceSource)
	}
	return read, nil
}

// cardsIn reads the price tables of a file. In a file like internal/prices/prices.json, in dollars for each
// model, it selects the entry of the model.
func cardsIn(text []byte, model string) (all []replay.Card, err error) {
	var file prices.File
	if err := decode(text, &file); err != nil || file.Prices == nil {
		return all, decode(text, &all)
	}
	for _, p := range file.Prices {
		if p.Input <= 0 {
			return nil, fmt.Errorf("%q: a model has a price of input above 0", p.Model)
		}
		c := replay.NewCard(p.Model, p)
		if p.Model == model {
			return []replay.Card{c}, nil
		}
		all = append(all, c)
	}
	return all, nil
}

// replay computes the cost of each conversation under each policy.
func (b bench) replay(ctx context.Context, s streams, common options, all []loaded) (replayJSON, error) {
	out := replayJSON{Schema: replaySchema, Trigger: b.options.Trigger, ReadBacks: b.options.ReadBacks, Cards: b.cards}
	sums := make([]replay.Bill, len(b.policies))
	calls := 0
	wait := newProgress(s, common, "replaying", len(all)*len(b.policies))
	defer wait.stop()
	for _, r := range all {
		bills := make([]replay.Bill, 0, len(b.policies))
		for i, p := range b.policies {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			bill, err := b.bill(ctx, r.Conversation, p)
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
	if skipped := unreadOf(all); skipped.share() > mostUnread {
		out.Advice = fmt.Sprintf("No advice: %s.", skipped)
	} else {
		out.Advice = b.advice(out.Total)
	}
	return out, nil
}

// bill returns the cost of a conversation with a choice.
func (b bench) bill(ctx context.Context, c *replay.Conversation, p choice) (replay.Bill, error) {
	c, err := c.Hide(ctx, p.hide)
	if err != nil {
		return replay.Bill{}, err
	}
	return c.Run(ctx, p.Policy, b.options)
}

// advice recommends the setting that costs least among those that lose nothing. It is empty if no such policy
// was replayed.
func (b bench) advice(total billedJSON) string {
	mean := func(p policyJSON) (m float64) {
		for _, c := range b.cards {
			m += p.Ratio[c.Name] / float64(len(b.cards))
		}
		return m
	}
	if !slices.ContainsFunc(b.policies, func(c choice) bool { return c.set != "" }) {
		return ""
	}
	best := 0
	for i, p := range total.Policies {
		if b.policies[i].set != "" && p.Unreadable == 0 && mean(p) < mean(total.Policies[best]) {
			best = i
		}
	}
	nothing, p := total.Policies[0], total.Policies[best]
	if !advice.IsWorthwhile(mean(p)) {
		return fmt.Sprintf("Change nothing: no setting saves a twentieth of these %s tokens.", display.Grouped(nothing.Tokens))
	}
	text := fmt.Sprintf("Set %s: %s tokens instead of %s", b.policies[best].set, display.Grouped(p.Tokens),
		display.Grouped(nothing.Tokens))
	for _, c := range b.cards {
		if c.Million > 0 {
			return fmt.Sprintf("%s, and $%.2f instead of $%.2f at the prices of %s.", text, p.Dollars[c.Name],
				nothing.Dollars[c.Name], c.Name) + b.dearer(p) + b.hiding(total, best)
		}
	}
	return fmt.Sprintf("%s, and %.0f %% of the price (%s).", text, 100*p.Ratio[b.cards[0].Name], b.cards[0].Name) +
		b.dearer(p) + b.hiding(total, best)
}

// dearer names the price tables on which the advice costs more than doing nothing.
func (b bench) dearer(p policyJSON) string {
	var all []string
	for _, name := range p.Dearer {
		if extra := 100 * (p.Ratio[name] - 1); extra >= .5 {
			all = append(all, fmt.Sprintf("%.0f %% dearer on %s", extra, name))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " But " + strings.Join(all, ", ") + "."
}

// hiding states what hiding tools saves alone, if the advice includes more than that.
func (b bench) hiding(total billedJSON, best int) string {
	hidingOnly := slices.IndexFunc(b.policies, func(c choice) bool { return c.Name == b.policies[best].hide.Name })
	if hidingOnly <= 0 || hidingOnly == best {
		return ""
	}
	nothing, p := total.Policies[0], total.Policies[hidingOnly]
	if p.Tokens >= nothing.Tokens {
		return fmt.Sprintf(" Hiding tools alone would send %s tokens more, since each search sends these results once more.", display.Grouped(p.Tokens-nothing.Tokens))
	}
	text := fmt.Sprintf(" Hiding tools alone saves %s tokens", display.Grouped(nothing.Tokens-p.Tokens))
	for _, c := range b.cards {
		if c.Million > 0 {
			return fmt.Sprintf("%s and $%.2f: %s.", text, nothing.Dollars[c.Name]-p.Dollars[c.Name], b.policies[hidingOnly].set)
		}
	}
	return text + ": " + b.policies[hidingOnly].set + "."
}

// billed converts bills to rows, one for each policy.
func (b bench) billed(name string, calls int, bills []replay.Bill) billedJSON {
	out := billedJSON{Name: name, Calls: calls}
	for i, bill := range bills {
		p := policyJSON{Policy: b.policies[i].Name, Calls: bill.Calls, Tokens: bill.Written + bill.Cached, Defined: bill.Definitions, Written: bill.Written, Cached: bill.Cached, Largest: bill.Largest,
			ReadBacks: bill.Lost + bill.ReadBacks, Edited: bill.Edited, Unreadable: bill.Unreadable,
			Cost: map[string]float64{}, Ratio: map[string]float64{}, Dollars: map[string]float64{}}
		for _, c := range b.cards {
			cost, nothing := c.Cost(bill), c.Cost(bills[0])
			if p.Cost[c.Name] = cost; c.Million > 0 {
				p.Dollars[c.Name] = cost * c.Million / 1e6
			}
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
			if b.failOver > 0 && p.Ratio[c.Name] > b.failOver {
				return fail(exitMissed, "%s costs %.2f of the cost without reduction (%s), more than %.2f", p.Policy,
					p.Ratio[c.Name], c.Name, b.failOver)
			}
		}
	}
	return nil
}

// show writes what to set, the table of all conversations, and the losing cases.
func (b bench) show(w io.Writer, p painter, r replayJSON) {
	if r.Advice != "" {
		fmt.Fprintf(w, "%s\n\n", p.bold(display.Line(r.Advice)))
	}
	b.heading(w, r)
	if r.Total.Policies[0].Tokens < r.Trigger && !slices.ContainsFunc(r.Total.Policies, differs) {
		fmt.Fprintln(w, p.dim("All policies cost the same: this is too short for any of them to change it."))
		return
	}
	widest := len("policy")
	for _, policy := range r.Total.Policies {
		widest = max(widest, utf8.RuneCountInString(display.Line(policy.Policy)))
	}
	row := func(paint func(string) string, name string, columns ...string) {
		text := name + strings.Repeat(" ", max(0, widest-utf8.RuneCountInString(name)))
		fmt.Fprintf(w, "%s%s\n", paint(text), strings.Join(columns, ""))
	}
	head := []string{"  calls", "       tokens", "   largest", " cached", "  again", "   lost"}
	for _, c := range b.cards {
		head = append(head, fmt.Sprintf("  %8s", clip(display.Line(c.Name), 10)))
	}
	row(p.dim, "policy", p.dim(strings.Join(head, "")))
	for _, policy := range r.Total.Policies {
		cells := []string{
			fmt.Sprintf("%7s", display.Grouped(policy.Calls)), fmt.Sprintf("%13s", display.Grouped(policy.Tokens)), fmt.Sprintf("%10s", display.Grouped(policy.Largest)),
			fmt.Sprintf("%5.0f %%", 100*float64(policy.Cached)/float64(max(1, policy.Tokens))),
			fmt.Sprintf("%7s", display.Grouped(policy.ReadBacks)),
			unreadableCell(p, policy.Unreadable),
		}
		for _, c := range b.cards {
			cells = append(cells, price(p, c.Name, policy, max(8, min(10, utf8.RuneCountInString(display.Line(c.Name))))))
		}
		row(p.bold, display.Line(policy.Policy), cells...)
	}
	fmt.Fprint(w, "\n", p.dim("Costs are relative to no reduction, for each price card; * is the lowest, ! is higher than doing nothing.\n"+
		"again: results that the agent still needed after they were removed, and had to read again; lost: results\n"+
		"that no path gives back byte for byte. Losing results does not count as saving."), "\n")
	if b.otherPolicies > 0 {
		fmt.Fprintln(w, p.dim(fmt.Sprintf("--all replays %d more policies, --policy one by its name.", b.otherPolicies)))
	}
	b.losses(w, p, r)
}

// differs reports whether a policy costs more or less than doing nothing.
func differs(p policyJSON) bool {
	for _, ratio := range p.Ratio {
		if math.Abs(ratio-1) >= .005 {
			return true
		}
	}
	return p.Unreadable+p.Edited > 0
}

// heading describes what was replayed and its cost without any policy.
func (b bench) heading(w io.Writer, r replayJSON) {
	nothing := r.Total.Policies[0]
	fmt.Fprintf(w, "%s of %s, policies clear from %s tokens on\n", plural(r.Total.Calls, "model call"), plural(len(r.Conversations), "conversation"), display.Grouped(r.Trigger))
	if nothing.Defined > 0 {
		fmt.Fprintf(w, "definitions of tools are %s of %s tokens, %.0f %%\n", display.Grouped(nothing.Defined), display.Grouped(nothing.Tokens), 100*float64(nothing.Defined)/float64(nothing.Tokens))
	}
	var money []string
	for _, c := range b.cards {
		if c.Million > 0 {
			money = append(money, fmt.Sprintf("%s $%.2f", display.Line(c.Name), nothing.Dollars[c.Name]))
		}
	}
	if len(money) > 0 {
		fmt.Fprintf(w, "as it is, prompts cost: %s\n", strings.Join(money, ", "))
	}
	fmt.Fprintln(w)
}

// unreadableCell formats the number of results that can no longer be read.
func unreadableCell(p painter, n int) string {
	text := fmt.Sprintf("%7s", display.Grouped(n))
	if n > 0 {
		return p.red(text)
	}
	return text
}

// price formats a ratio. Its mark is visible without color.
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
			worst := slices.MaxFunc(policy.Dearer, func(x, y string) int { return cmp.Compare(policy.Ratio[x], policy.Ratio[y]) })
			all = append(all, loss{fmt.Sprintf("%.2f  %s: %s (%s)", policy.Ratio[worst], display.Line(c.Name), display.Line(policy.Policy), display.Line(worst)), policy.Ratio[worst]})
		}
	}
	bills := len(r.Conversations) * (len(r.Total.Policies) - 1)
	if len(all) == 0 {
		fmt.Fprintf(w, "\n%s\n", p.green("No policy costs more than doing nothing, in any conversation."))
		return
	}
	slices.SortStableFunc(all, func(x, y loss) int { return cmp.Compare(y.ratio, x.ratio) })
	fmt.Fprintf(w, "\n%s\n", p.bold(fmt.Sprintf("%d of %d times a policy cost more than doing nothing:", len(all), bills)))
	for i, l := range all {
		if i == b.top {
			fmt.Fprintf(w, "%s\n", p.dim(fmt.Sprintf("… and %d more; --top shows more, --json all", len(all)-b.top)))
			break
		}
		fmt.Fprintln(w, "  "+l.text)
	}
}
