// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/width"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/window"
)

// TextOptions are the options of WriteText.
type TextOptions struct {
	// Color uses 24-bit ANSI colours. If false, the groups of a bar are letters.
	Color bool
	// Width is that of the terminal in columns. If zero, defaults to 100.
	Width int
}

// WriteText writes one line for each model call, under the question that it belongs to.
// Control characters that users, models and tools wrote are escaped. It fails if c is
// nil or w fails.
func WriteText(w io.Writer, c *window.Conversation, o TextOptions) error {
	if c == nil {
		return errNoConversation
	}
	t := newTerminal(o)
	totals := c.Totals()
	t.scale = totals.Largest
	t.verdict(c, totals)
	t.WriteByte('\n')
	t.head()
	run := 0
	for _, call := range c.Calls {
		if call.Run != run {
			run = call.Run
			t.question(c, run)
		}
		t.call(call)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// Follow returns a function that writes the lines of [WriteText] as conversations grow:
// each time it is called with a conversation, it writes the calls that are new. A call
// without an answer waits until it has one, or until another call follows. It fails if
// c is nil or w fails, and is not safe for concurrent use.
func Follow(w io.Writer, o TextOptions) func(c *window.Conversation) error {
	f := follower{terminal: newTerminal(o), shown: map[string]*shownCalls{}}
	return func(c *window.Conversation) error {
		if c == nil {
			return errNoConversation
		}
		f.show(c)
		_, err := io.WriteString(w, f.String())
		f.Reset()
		return err
	}
}

// follower writes lines as they come.
type follower struct {
	*terminal
	now   string // the conversation of the line above
	run   int
	shown map[string]*shownCalls
}

// shownCalls are the calls of one conversation that have their lines.
type shownCalls struct {
	first time.Time // when the first of them was sent, to distinguish conversations of the same name
	n     map[int]bool
}

func (f *follower) show(c *window.Conversation) {
	if len(c.Calls) == 0 {
		return
	}
	shown := f.shown[c.ID]
	if shown == nil || !shown.first.Equal(c.Calls[0].Start) {
		shown = &shownCalls{c.Calls[0].Start, map[int]bool{}}
		f.shown[c.ID] = shown
	}
	for i, call := range c.Calls {
		if shown.n[call.N] || call.Unfinished && i == len(c.Calls)-1 {
			continue
		}
		shown.n[call.N] = true
		if f.scale == 0 {
			f.head()
		}
		f.grow(call)
		if f.now != c.ID {
			f.now, f.run = c.ID, 0
			fmt.Fprintf(f, "%s  %s\n", f.bold("einolean"), f.dim(fit(display.Line(c.ID), f.o.Width-9)))
		}
		if f.run != call.Run {
			f.run = call.Run
			f.question(c, f.run)
		}
		f.call(call)
	}
}

// grow widens the scale of the bars to the next step that a call fits in: the largest
// call is unknown until the end.
func (f *follower) grow(call *window.ModelCall) {
	if call.Tokens.Estimated <= f.scale {
		return
	}
	f.scale = max(f.scale, 1000)
	for f.scale < call.Tokens.Estimated {
		f.scale *= 2
		if first := strconv.Itoa(f.scale)[0]; first == '4' {
			f.scale = f.scale / 4 * 5
		}
	}
	fmt.Fprintf(f, "%s\n", f.dim(fmt.Sprintf("%*s ", 4+1+9+1, "")+f.say("a full bar is %s tokens", display.Grouped(f.scale))))
}

// group is the part of a bar in one colour.
type group struct {
	name   string
	letter byte
	rgb    string
	of     []window.Category
}

var groups = []group{
	{"tools", 'T', "113;132;222", []window.Category{window.OwnTools, window.HelpTools}},
	{"loaded tools", 'L', "111;151;255", []window.Category{window.LoadedTools}},
	{"names", 'N', "120;132;150", []window.Category{window.System, window.Reminder}},
	{"talk", 't', "47;181;134", []window.Category{window.User, window.Assistant, window.Found}},
	{"results", 'R', "240;178;74", []window.Category{window.Result, window.Page}},
	{"cut", 'X', "255;138;92", []window.Category{window.ResultTruncated}},
	{"cleared", 'C', "228;121;180", []window.Category{window.ResultCleared}},
	{"programs", 'P', "76;195;221", []window.Category{window.Program}},
}

const (
	purple   = "180;147;255"
	bad      = "255;143;120"
	question = "80;190;210"
)

type terminal struct {
	strings.Builder
	texts
	o     TextOptions
	bars  int // columns of a bar
	scale int // tokens of a full one
}

func newTerminal(o TextOptions) *terminal {
	if o.Width <= 0 {
		o.Width = 100
	}
	return &terminal{texts: terminalLanguage(), o: o, bars: min(40, max(10, o.Width-60))}
}

// verdict sums up in a few lines what the conversation cost.
func (t *terminal) verdict(c *window.Conversation, s window.Totals) {
	verdict, sent, without := t.bold(t.say("the same")), float64(s.Sent), float64(s.Without)
	switch {
	case s.Sent == 0 || s.Without == 0 || isSame(sent, without):
	case sent < without:
		verdict = t.bold(t.say("%s fewer", factor(without, sent)))
	default:
		verdict = t.color(bad, t.say("%s as many", factor(sent, without)))
	}
	fmt.Fprintf(t, "%s  %s\n", t.bold("einolean"), t.dim(t.say("%s  %s, %s", fit(display.Line(c.ID), 40), t.count(len(c.Runs), "question"), t.count(s.Calls, "call"))))
	t.WriteString(t.say("sent %s tokens; without einolean %s: %s", t.bold(display.Grouped(s.Sent)), display.Grouped(s.Without), verdict) + "\n")
	if money := inMoney(t.texts, s); money != "" {
		for _, l := range wrap(money, t.o.Width) {
			t.WriteString(l + "\n")
		}
	}
	if s.TooLarge > 0 {
		t.WriteString(t.say("%s without einolean would not have fitted into a window of 200,000 tokens", t.bold(t.say("%s of %s", display.Grouped(s.TooLarge), t.count(s.Calls-s.Helped, "call")))) + "\n")
	}
	if s.Unknown > 0 {
		for _, l := range wrap(t.say("what %d of %s read is not known: without einolean, more would have been sent than that", s.Unknown, t.count(s.Programs, "program")), t.o.Width) {
			t.WriteString(t.bold(l) + "\n")
		}
	}
	if s.Kept {
		t.WriteString(t.color(bad, t.say("the provider keeps this conversation: the model saw more than was sent")) + "\n")
	}
}

// head explains the colours, or the letters, and the columns.
func (t *terminal) head() {
	for i, g := range groups {
		if i > 0 {
			t.WriteString("  ")
		}
		t.WriteString(t.sign(g, 1) + " " + t.dim(t.say(g.name)))
	}
	fmt.Fprintf(t, "\n\n%s\n", t.dim(right(t.say("call"), 4)+" "+right(t.say("tokens"), 9)+"  "+left(t.say("window"), t.bars)+"  "+right(t.say("cache"), 6)+"  "+t.say("what happened")))
}

func (t *terminal) question(c *window.Conversation, run int) {
	fmt.Fprintf(t, "%s %s\n", t.color(question, ">"), fit(display.Line(c.Run(run).Question), t.o.Width-3))
}

func (t *terminal) call(c *window.ModelCall) {
	cache := 0.0
	if u := c.Tokens.Reported; u != nil && u.PromptTokens > 0 {
		cache = float64(u.PromptTokenDetails.CachedTokens) / float64(u.PromptTokens)
	} else if c.Tokens.Estimated > 0 {
		cache = float64(c.Prefix.Same) / float64(c.Tokens.Estimated)
	}
	share := fmt.Sprintf("%4.0f %%", 100*cache)
	if cache < .5 {
		share = t.color(bad, share)
	}
	used := 4 + 1 + 9 + 2 + t.bars + 2 + 6 + 2
	line := fmt.Sprintf("%4d %9s  %s  %s  %s", c.N, display.Grouped(c.Tokens.Estimated), t.bar(c), share, t.happened(c, max(20, t.o.Width-used)))
	t.WriteString(strings.TrimRight(line, " ") + "\n")
}

// bar draws the groups to the scale of the largest window.
func (t *terminal) bar(c *window.ModelCall) string {
	var b strings.Builder
	by, drawn, sum := c.By, 0, 0
	for _, g := range groups {
		for _, category := range g.of {
			sum += by[category]
		}
		if n := (sum*t.bars+t.scale/2)/max(1, t.scale) - drawn; n > 0 {
			b.WriteString(t.sign(g, n))
			drawn += n
		}
	}
	return b.String() + strings.Repeat(" ", max(0, t.bars-drawn))
}

func (t *terminal) sign(g group, n int) string {
	if t.o.Color {
		return t.color(g.rgb, strings.Repeat("█", n))
	}
	return strings.Repeat(string(g.letter), n)
}

// happened describes what happened before and in the call, in at most columns columns.
func (t *terminal) happened(c *window.ModelCall, columns int) string {
	type item struct{ rgb, mark, text string }
	var all []item
	for _, e := range c.Events {
		if e.Search != nil {
			all = append(all, item{purple, "⌕", e.Search.Query + " → " + t.first(e.Search.Hits)})
		}
	}
	fresh := c.NewParts()
	for _, p := range fresh {
		l := p.Omission
		if l == nil {
			continue
		}
		mark, rgb := "≡", groups[6].rgb
		if l.Rule == "cut" {
			mark, rgb = "✂", groups[5].rgb
		}
		what := t.say("%s %s %s → %s", l.Tool, t.say(l.Rule), display.Grouped(l.Before), display.Grouped(l.After))
		if l.Rule == "program" {
			mark, rgb, what = "ƒ", groups[7].rgb, t.programRead(l)
		}
		all = append(all, item{rgb, mark, what})
	}
	for _, p := range fresh {
		if p.Category == window.Page {
			all = append(all, item{groups[4].rgb, "↩", t.say("read back %s tokens", display.Grouped(p.Tokens))})
		}
	}
	switch {
	case c.Error != "":
		all = append(all, item{bad, "!", c.Error})
	case c.Unfinished:
		all = append(all, item{bad, "!", t.say("not read to the end")})
	}
	var b strings.Builder
	for i, it := range all {
		if i > 0 {
			b.WriteString(t.dim(" · "))
			columns -= 3
		}
		text := fit(display.Line(it.text), max(0, columns-2))
		b.WriteString(t.color(it.rgb, it.mark) + " " + text)
		if columns -= 2 + columnsOf(text); columns < 8 {
			break
		}
	}
	return b.String()
}

// programRead is what a program read in the model's place.
func (t *terminal) programRead(l *window.Omission) string {
	if l.Unknown {
		return t.say("a program printed %s; what it read is not known", t.count(l.After, "token"))
	}
	calls := 0
	for _, c := range l.Calls {
		calls += c.Calls
	}
	return t.say("a program read %s in %s → %s", display.Grouped(l.Before), t.count(calls, "call"), display.Grouped(l.After))
}

func (t *terminal) first(hits []einolean.Hit) string {
	if len(hits) == 0 {
		return t.say("nothing")
	}
	return hits[0].Name
}

func (t *terminal) color(rgb, text string) string {
	if !t.o.Color {
		return text
	}
	return "\x1b[38;2;" + rgb + "m" + text + "\x1b[0m"
}

func (t *terminal) style(code, text string) string {
	if !t.o.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (t *terminal) bold(text string) string { return t.style("1", text) }
func (t *terminal) dim(text string) string  { return t.style("2", text) }

// fit cuts a text to a number of columns.
func fit(text string, columns int) string {
	if columnsOf(text) <= columns {
		return text
	}
	used := 0
	for i, r := range text {
		if used += columnsOfRune(r); used > columns-1 {
			return text[:i] + "…"
		}
	}
	return text
}

func columnsOf(text string) (n int) {
	for _, r := range text {
		n += columnsOfRune(r)
	}
	return n
}

func columnsOfRune(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
