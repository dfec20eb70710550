// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package samples makes results such as tools return, in many formats, and facts to look for in
// them. Every word in them is the project's own, and the same seed makes the same text.
package samples

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Fact is something that a result says once, and a question as an agent asks for it: the words
// of a task, without the answer.
type Fact struct{ Query, Answer string }

// Sample is a result and what can be looked for in it.
type Sample struct {
	Kind, Text string
	Facts      []Fact
}

// item is one thing that a result is about: a commit, an order, an incident.
type item struct {
	n                      int
	hash, code             string
	person, mail, city     string
	title, state, area     string
	amount, version, place string
	time                   time.Time
	body                   []string
	detail                 string // a sentence that only this one has
	subject                string // what detail is about, in other words
}

func list(words string) []string { return strings.Fields(words) }

var (
	nouns = list(`parser gateway ledger invoice queue worker cache index session token ticket schema report harbour pump valve turbine orchard
 barley vessel tariff bridge tunnel signal battery furnace archive library garden quarry kiln loom printer scanner router switch antenna
 beacon ferry convoy depot warehouse crate pallet crane winch anchor rudder compass lantern mirror prism lens shutter engine piston boiler
 meter gauge filter membrane sensor relay fuse socket cable conduit panel ceiling corridor lobby elevator stairway basement roof gutter
 chimney fence hedge meadow creek marsh ridge glacier canyon dune reef lagoon estuary delta plateau valley summit trail`)
	verbs = list(`rejects delays rotates drains refills merges splits rounds forgets repeats skips reorders truncates validates retries closes
 reopens measures inspects replaces repairs paints inflates cools heats aligns calibrates records publishes withdraws renames migrates
 compresses expands duplicates discards escapes quotes schedules cancels approves refunds audits balances`)
	adjectives = list(`stale empty nested frozen spare hollow narrow brittle amber crimson silent distant partial hourly nightly seasonal northern
 southern coastal remote shared private temporary permanent orphaned duplicate invalid expired pending secondary primary idle noisy damp
 rusty polished unsigned signed legacy upstream downstream`)
	firsts = list(`Ada Bruno Chiara Dmitri Elif Farid Greta Hiro Ines Jonas Katya Leon Mara Nils Oksana Pavel Quentin Rosa Sven Tala Umar Vera
 Wanda Xenia Yusuf Zora Amina Boris Celia Diego`)
	lasts = list(`Almqvist Barros Castel Dahl Eriksen Fontana Grieg Hallam Ibsen Jansky Kowal Lindgren Moreau Navarro Okafor Petrov Quiroga
 Rossi Sato Tanaka Ueda Varga Weiss Xu Yilmaz Zeman Brandt Cole Duarte Engel`)
	cities = list(`Lisbon Turin Ghent Oslo Cork Graz Lyon Porto Riga Tartu Malmo Bergen Leuven Bari Split Varna Brno Lodz Gdynia Nantes`)
	states = list(`open closed pending merged failed running archived blocked`)
	areas  = list(`billing storage network search export import login mobile console scheduler`)
	links  = list(`because although while after before unless whenever until since so`)
)

func pick(r *rand.Rand, words []string) string {
	f := r.Float64()
	return words[int(f*f*float64(len(words)))] // some words are common, others are rare
}

// sentence is one in which nothing is remarkable.
func sentence(r *rand.Rand) string {
	a := fmt.Sprintf("the %s %s %s the %s", pick(r, adjectives), pick(r, nouns), pick(r, verbs), pick(r, nouns))
	switch r.IntN(3) {
	case 0:
		a += fmt.Sprintf(" %s a %s %s the %s %s", pick(r, links), pick(r, nouns), pick(r, verbs), pick(r, adjectives), pick(r, nouns))
	case 1:
		a += fmt.Sprintf(" near the %s of the %s", pick(r, nouns), pick(r, nouns))
	}
	return strings.ToUpper(a[:1]) + a[1:] + "."
}

func hexes(r *rand.Rand, n int) string {
	const digits = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[r.IntN(len(digits))]
	}
	return string(b)
}

// things are n different items.
func things(r *rand.Rand, n int) []item {
	at := time.Date(2023, 1, 1, 8, 0, 0, 0, time.UTC)
	out := make([]item, n)
	for i := range out {
		at = at.Add(time.Duration(1+r.IntN(4000)) * time.Second)
		first, last := pick(r, firsts), pick(r, lasts)
		a, b := pick(r, adjectives), pick(r, nouns)
		x := item{
			n: 1000 + i*3 + r.IntN(3), hash: hexes(r, 40), code: fmt.Sprintf("%c%c-%05d", 'A'+r.IntN(26), 'A'+r.IntN(26), r.IntN(100_000)),
			person: first + " " + last, city: pick(r, cities), title: fmt.Sprintf("%s %s %s the %s", a, b, pick(r, verbs), pick(r, nouns)),
			state: pick(r, states), area: pick(r, areas), amount: fmt.Sprintf("%d.%02d", 10+r.IntN(9000), r.IntN(100)),
			version: fmt.Sprintf("%d.%d.%d", r.IntN(5), r.IntN(30), r.IntN(60)), time: at,
		}
		x.mail = strings.ToLower(first+"."+last) + fmt.Sprintf("%d@%s.example", r.IntN(1000), strings.ToLower(x.city))
		x.place = fmt.Sprintf("src/%s/%s_%s.go", x.area, b, pick(r, nouns))
		for range 1 + r.IntN(5) {
			x.body = append(x.body, sentence(r))
		}
		odd, where := pick(r, nouns), pick(r, nouns)
		x.detail = fmt.Sprintf("The %s beside the %s takes %d.%d litres in %d seconds.", odd, where, 10+r.IntN(900), r.IntN(10), 100+r.IntN(9000))
		x.subject = fmt.Sprintf("%s beside %s", odd, where)
		x.body = append(x.body[:len(x.body)/2], append([]string{x.detail}, x.body[len(x.body)/2:]...)...)
		out[i] = x
	}
	return out
}

func (x item) text() string { return strings.Join(x.body, " ") }

// fillers stand around the words of a question, as a model writes them.
var fillers = []string{"%s", "find %s", "what is the %s", "%s details", "which %s was it", "look up %s please"}

// Some words are of the task, and not of what is looked for.
func asked(r *rand.Rand, words ...string) string {
	for range r.IntN(4) {
		words = append(words, pick(r, [][]string{nouns, areas, adjectives, cities}[r.IntN(4)]))
	}
	return fmt.Sprintf(fillers[r.IntN(len(fillers))], strings.Join(words, " "))
}

// factsAbout makes questions about some items. What a format shows of an item is what answers may be
// about: field names to values.
func factsAbout(r *rand.Rand, items []item, text string, fields func(x item) map[string]string) (facts []Fact) {
	known := list("hash code number title who mail title place subject title")
	for range 40 {
		shown := fields(items[r.IntN(len(items))])
		from := known[r.IntN(len(known))]
		to := askable(shown, from, text)
		if shown[from] == "" || len(to) == 0 {
			continue
		}
		name := to[r.IntN(len(to))]
		words := shown[from]
		switch {
		case from == "hash" && r.IntN(2) == 0:
			words = words[:min(len(words), 12)]
		case from == "title" && r.IntN(2) == 0:
			words = halfOf(r, words) + " " + shown["who"]
		case from == "who": // there are several of a name
			words += " " + firstWords(shown["title"], 2)
		}
		said, ok := labels[name]
		if !ok {
			said = name
		}
		facts = append(facts, Fact{asked(r, words, said), shown[name]})
	}
	return facts
}

// labels are the words for fields whose names are not said.
var labels = map[string]string{"who": "author", "mail": "email", "when": "date", "detail": "", "place": "file"}

// askable are the fields that a question with another one can be about: the text has their value once.
func askable(shown map[string]string, from, text string) (to []string) {
	const least = 6
	for _, name := range list("mail amount hash code detail version when who place") {
		tells := name != from && (from != "subject" || name == "detail") && (name != "detail" || from != "mail")
		if tells && len(shown[name]) >= least && strings.Count(text, shown[name]) == 1 {
			to = append(to, name)
		}
	}
	return to
}

// halfOf is half of the words of a text.
func halfOf(r *rand.Rand, s string) string {
	f := strings.Fields(s)
	r.Shuffle(len(f), func(i, j int) { f[i], f[j] = f[j], f[i] })
	return strings.Join(f[:(len(f)+1)/2], " ")
}

func firstWords(s string, n int) string {
	f := strings.Fields(s)
	return strings.Join(f[:min(n, len(f))], " ")
}
