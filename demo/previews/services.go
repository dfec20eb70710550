// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// person is made up.
type person struct{ name, city, phone, email string }

var (
	firstNames = strings.Fields("Amara Bruno Chen Dalia Emeka Freya Goran Hana Idris Juno Kavi Lena Marek Noor Otis Petra Quinn Rosa Sami Tove Uma Viktor Wanda Xenia Yusuf Zora")
	lastNames  = strings.Fields("Abara Bergström Castellano Drummond Eriksen Fontaine Grigoryan Holloway Iwasaki Jankowski Kowalczyk Lindqvist Mwangi Nakamura Okonkwo Petrov Quispe Rasmussen Santoro Tanaka")
	cities     = strings.Fields("Aarhus Bilbao Cusco Dakar Essen Fukuoka Graz Haifa Izmir Jena Kyoto Lagos Malmö Nairobi Oslo Porto")
	things     = strings.Fields("lamp desk charger kettle backpack keyboard monitor bicycle helmet tent stove notebook camera speaker drill ladder")
	adjectives = strings.Fields("small folding solar quiet steel wooden wireless heavy spare blue red portable electric waterproof")
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func newPerson(r *rand.Rand) person {
	first, last := pick(r, firstNames), pick(r, lastNames)
	return person{
		name: first + " " + last, city: pick(r, cities), phone: fmt.Sprintf("+%d %d %d", 30+r.IntN(60), 100+r.IntN(900), 100_000+r.IntN(900_000)),
		email: strings.ToLower(first) + "." + fmt.Sprint(r.IntN(1000)) + "@example.com",
	}
}

func sentence(r *rand.Rand, words int) string {
	var out []string
	for range words {
		out = append(out, pick(r, []string{pick(r, things), pick(r, adjectives), "the", "a", "with", "that", "was", "sent", "to", "from", pick(r, cities), "and", "is", "not", "late", "order", "again"}))
	}
	return strings.ToUpper(out[0][:1]) + strings.Join(out, " ")[1:] + "."
}

// object keeps the order of its members.
type object []any

func (o object) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i := 0; i+1 < len(o); i += 2 {
		fmt.Fprintf(&b, ",%s:%s", encode(o[i]), encode(o[i+1]))
	}
	return []byte("{" + strings.TrimPrefix(b.String(), ",") + "}"), nil
}

// list is a list of records and, of each, what a later step may need.
type list struct {
	records []any
	values  [][]string
}

func (l *list) add(record object, values ...string) {
	l.records = append(l.records, record)
	l.values = append(l.values, values)
}

// facts are one value each of twelve records: half of them among the first ten, as
// those are read most, half anywhere. Where a record has several values that count, the
// first ones count more often.
func (l *list) facts(r *rand.Rand) (out []string) {
	for i := range 12 {
		at := r.IntN(len(l.values))
		if i%2 == 0 {
			at = r.IntN(min(10, len(l.values)))
		}
		v := l.values[at]
		out = append(out, v[min(r.IntN(len(v)), r.IntN(len(v)))])
	}
	return out
}

// services are the answers of ten services.
func services(r *rand.Rand) (out []result) {
	add := func(kind, name string, v any, facts []string) {
		text := encode(v)
		if r.IntN(2) == 0 && name != "events" {
			b, _ := json.MarshalIndent(v, "", "  ")
			text = string(b)
		}
		out = append(out, result{kind: kind, name: name, text: text, facts: facts})
	}
	orders, issues, series, keyed, hits, edges := orders(r), issues(r), series(r), keyed(r), hits(r), edges(r)
	add("JSON list", "orders", object{"page", 1, "total", len(orders.records), "next", nil, "items", orders.records}, orders.facts(r))
	add("JSON list", "issues", issues.records, issues.facts(r))
	add("JSON list", "series", object{"station", "EDDB", "unit", "metric", "columns", []string{"time", "temperature", "wind", "note"}, "rows", series.records}, series.facts(r))
	add("JSON list", "search", object{"query", "folding lamp", "results", hits.records}, hits.facts(r))
	add("JSON list", "edges", object{"data", object{"repository", object{"name", "shop", "pulls", object{"totalCount", len(edges.records), "edges", edges.records, "pageInfo", object{"hasNextPage", true, "endCursor", "Y3Vyc29y"}}}}}, edges.facts(r))
	byKey := make(object, 0, 2*len(keyed.records))
	for i, rec := range keyed.records {
		byKey = append(byKey, fmt.Sprintf("dev-%04d", 17*i), rec)
	}
	add("JSON list", "keyed", byKey, keyed.facts(r))
	var lines strings.Builder
	events := events(r)
	for _, e := range events.records {
		lines.WriteString(encode(e) + "\n")
	}
	out = append(out, result{kind: "JSON list", name: "events", text: lines.String(), facts: events.facts(r)})
	return append(out, documents(r)...)
}

func orders(r *rand.Rand) *list {
	l := new(list)
	for i := range 60 + r.IntN(200) {
		p := newPerson(r)
		title := pick(r, adjectives) + " " + pick(r, things) + fmt.Sprintf(" mk%d", r.IntN(99))
		total := fmt.Sprintf("%d.%02d", r.IntN(900), r.IntN(100))
		l.add(object{"id", 41_000 + i, "uuid", fmt.Sprintf("%08x-%04x-4%03x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.Uint64()>>16), "status", pick(r, []string{"open", "paid", "sent"}), "currency", "EUR",
			"customer", object{"name", p.name, "email", p.email, "address", object{"city", p.city, "country", "DE", "phone", p.phone}},
			"lines", []any{object{"title", title, "sku", fmt.Sprintf("SKU-%05d", r.IntN(99_999)), "quantity", 1 + r.IntN(5)}}, "total", total, "coupon", nil, "gift", false, "tags", []string{},
			"created_at", fmt.Sprintf("2025-%02d-%02dT%02d:00:00Z", 1+r.IntN(12), 1+r.IntN(28), r.IntN(24)), "invoice_url", fmt.Sprintf("https://shop.example/invoices/%d.pdf", 41_000+i)},
			p.name, title, p.email, total, fmt.Sprint(41_000+i))
	}
	return l
}

func issues(r *rand.Rand) *list {
	l := new(list)
	for i := range 30 + r.IntN(40) {
		p := newPerson(r)
		login, title := strings.ToLower(strings.Fields(p.name)[0])+fmt.Sprint(r.IntN(99)), sentence(r, 7)
		base := fmt.Sprintf("https://api.example.com/repos/shop/web/issues/%d", 900+i)
		l.add(object{"url", base, "repository_url", "https://api.example.com/repos/shop/web", "labels_url", base + "/labels{/name}", "comments_url", base + "/comments", "html_url", strings.Replace(base, "api.", "", 1),
			"id", 2_000_000_000 + i*7919, "node_id", fmt.Sprintf("I_kw%010x", r.Uint64()>>24), "number", 900 + i, "title", title,
			"user", object{"login", login, "id", r.IntN(1 << 30), "avatar_url", "https://avatars.example.com/u/" + fmt.Sprint(r.IntN(1<<30)), "gravatar_id", "", "type", "User", "site_admin", false},
			"labels", []any{object{"name", pick(r, []string{"bug", "docs", "slow", "help wanted"}), "color", fmt.Sprintf("%06x", r.IntN(1<<24))}}, "state", "open", "locked", false, "assignee", nil, "comments", r.IntN(30),
			"created_at", fmt.Sprintf("2025-03-%02dT10:00:00Z", 1+r.IntN(28)), "updated_at", fmt.Sprintf("2025-04-%02dT10:00:00Z", 1+r.IntN(28)), "body", sentence(r, 40+r.IntN(150)), "reactions", object{"total_count", 0, "+1", 0, "-1", 0}},
			title, login, fmt.Sprint(900+i))
	}
	return l
}

func series(r *rand.Rand) *list {
	l := new(list)
	for i := range 200 + r.IntN(400) {
		at := fmt.Sprintf("2025-05-%02dT%02d:%02d", 1+i/96%28, i/4%24, i%4*15)
		temperature := fmt.Sprintf("%d.%d%d", r.IntN(30), r.IntN(10), 1+r.IntN(9))
		l.records = append(l.records, []any{at, json.Number(temperature), r.IntN(40), ""})
		l.values = append(l.values, []string{at, `"` + at + `",` + temperature})
	}
	return l
}

func keyed(r *rand.Rand) *list {
	l := new(list)
	for range 40 + r.IntN(100) {
		p := newPerson(r)
		host := pick(r, things) + fmt.Sprint(r.IntN(9000)) + ".lan"
		l.add(object{"hostname", host, "owner", p.name, "os", object{"name", "Linux", "version", fmt.Sprintf("6.%d.%d", r.IntN(12), r.IntN(40))}, "online", r.IntN(2) == 0, "ip", fmt.Sprintf("10.0.%d.%d", r.IntN(250), r.IntN(250)), "checks", []int{r.IntN(9), r.IntN(9), r.IntN(9)}}, host, p.name)
	}
	return l
}

func hits(r *rand.Rand) *list {
	l := new(list)
	for i := range 12 + r.IntN(10) {
		title, link := sentence(r, 6), fmt.Sprintf("https://%s.example/%s/%d", pick(r, cities), pick(r, things), i)
		l.add(object{"position", i + 1, "title", title, "link", link, "displayed_link", link, "snippet", sentence(r, 40), "content", sentence(r, 300+r.IntN(400)), "score", fmt.Sprintf("0.%04d", r.IntN(9999))}, title, link)
	}
	return l
}

func edges(r *rand.Rand) *list {
	l := new(list)
	for i := range 50 + r.IntN(50) {
		p, title := newPerson(r), sentence(r, 8)
		l.add(object{"cursor", fmt.Sprintf("Y3Vyc29yOnYyOpHO%08x", r.Uint32()), "node", object{"number", 300 + i, "title", title, "author", object{"login", p.email[:strings.Index(p.email, "@")]}, "mergeable", "MERGEABLE",
			"commits", object{"totalCount", r.IntN(20)}, "files", []string{pick(r, things) + ".go", pick(r, things) + "_test.go"}}}, title, p.email[:strings.Index(p.email, "@")])
	}
	return l
}

func events(r *rand.Rand) *list {
	l := new(list)
	for i := range 150 + r.IntN(150) {
		id, msg := fmt.Sprintf("req-%06x", r.IntN(1<<24)), sentence(r, 6)
		l.add(object{"time", fmt.Sprintf("2025-06-01T10:%02d:%02d.%03dZ", i/60%60, i%60, r.IntN(1000)), "level", "info", "service", "checkout", "msg", msg, "request_id", id, "ms", r.IntN(900)}, msg, id)
	}
	return l
}

// documents are JSON without a list of records that it is about.
func documents(r *rand.Rand) (out []result) {
	var settings object
	var facts []string
	for i := range 40 + r.IntN(40) {
		value := sentence(r, 3+r.IntN(20))
		settings = append(settings, fmt.Sprintf("%s_%d", pick(r, things), i), object{"enabled", r.IntN(2) == 0, "limit", r.IntN(5000), "comment", value, pick(r, adjectives), []int{r.IntN(9), r.IntN(99)}})
		if i < 8 || r.IntN(8) == 0 {
			facts = append(facts, value)
		}
	}
	out = append(out, result{kind: "JSON, no list", name: "settings", text: encode(object{"version", 3, "region", "eu", "settings", settings, "checksum", fmt.Sprintf("%x", r.Uint64())}), facts: facts})
	p := newPerson(r)
	var body strings.Builder
	facts = []string{p.name, p.phone}
	for i := range 120 {
		s := sentence(r, 14)
		body.WriteString(s + "\n")
		if i < 4 || i > 115 {
			facts = append(facts, s)
		}
	}
	return append(out, result{kind: "JSON, no list", name: "letter", text: encode(object{"from", p.name, "status", 200, "body", body.String(), "phone", p.phone}), facts: facts})
}
