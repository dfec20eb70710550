// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pages are a shop, an article and a snapshot of a shop.
func pages(r *rand.Rand) []result {
	return []result{shop(r), article(r), snapshot(r)}
}

// frame is a page around a body: scripts, styles, and navigation.
func frame(r *rand.Rand, title, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n<style>\n", html.EscapeString(title))
	for i := range 120 {
		fmt.Fprintf(&b, ".c-%d > .item:hover { margin: %dpx; color: #%06x }\n", i, r.IntN(40), r.IntN(1<<24))
	}
	b.WriteString("</style><script>window.dataLayer=window.dataLayer||[];")
	for range 80 {
		fmt.Fprintf(&b, "dataLayer.push({event:%q,v:%d});", pick(r, things), r.IntN(1e6))
	}
	b.WriteString("</script></head>\n<body class=\"page page--wide\"><header><nav class=\"menu\"><ul>")
	for i := range 50 {
		fmt.Fprintf(&b, `<li class="menu__item"><a class="menu__link" href="/c/%d?ref=nav">%s</a></li>`, i, pick(r, things))
	}
	return b.String() + "</ul></nav></header>\n<main>" + body + "</main>\n<footer><p>Opening hours: Monday to Friday, 9:00 to 17:00.</p><p>Phone 0800 555 014</p></footer></body></html>"
}

func shop(r *rand.Rand) result {
	var b strings.Builder
	var facts []string
	b.WriteString("<h1>All offers</h1><div class=\"grid\">")
	for i := range 60 + r.IntN(60) {
		name, price := pick(r, adjectives)+" "+pick(r, things)+fmt.Sprintf(" no. %d", 100+i), fmt.Sprintf("%d.%02d EUR", r.IntN(900), r.IntN(100))
		fmt.Fprintf(&b, "<div class=\"card card--offer\" data-sku=\"%08x\"><a class=\"card__link\" href=\"/p/%d\"><img src=\"/img/%d.webp\" loading=\"lazy\"><h3 class=\"card__title\">%s</h3></a>\n<p class=\"card__price\"><span>%s</span></p><button class=\"btn\">Add to cart</button></div>\n", r.Uint32(), i, i, name, price)
		if i < 6 || r.IntN(12) == 0 {
			facts = append(facts, name, price)
		}
	}
	return result{kind: "HTML", name: "shop", text: frame(r, "Offers of the week", b.String()+"</div>"), question: "When does the shop open, and what is its phone number?", facts: append(facts, "Monday to Friday, 9:00 to 17:00", "0800 555 014")}
}

func article(r *rand.Rand) result {
	var b strings.Builder
	var facts []string
	b.WriteString("<article><h1>A history of small machines</h1>")
	for i := range 40 {
		heading := sentence(r, 4)
		fmt.Fprintf(&b, "<h2 id=\"s%d\">%s</h2>", i, heading)
		for j := range 3 {
			s := sentence(r, 9)
			fmt.Fprintf(&b, "<p class=\"text\">%s <em>%s</em> %s</p>\n", sentence(r, 25), s, sentence(r, 25))
			if i < 4 && j == 0 || r.IntN(20) == 0 {
				facts = append(facts, s)
			}
		}
		if i < 6 || i%8 == 0 {
			facts = append(facts, heading)
		}
	}
	p := newPerson(r)
	fmt.Fprintf(&b, "<p>The maker of the quiet kettle was %s, of %s.</p></article>", p.name, p.city)
	return result{kind: "HTML", name: "article", text: frame(r, "Small machines", b.String()), question: "Who was the maker of the quiet kettle?", facts: append(facts, p.name)}
}

func snapshot(r *rand.Rand) result {
	var b strings.Builder
	var facts []string
	b.WriteString("- Page URL: https://shop.example/offers\n- Page Title: Offers\n- generic [active] [ref=e1]:\n  - banner [ref=e2]:\n    - searchbox \"Search the shop\" [ref=e3]\n    - button \"Go\" [ref=e4] [cursor=pointer]\n")
	for i := range 80 {
		name, price := pick(r, adjectives)+" "+pick(r, things)+fmt.Sprintf(" %d", 100+i), fmt.Sprintf("%d.%02d EUR", r.IntN(900), r.IntN(100))
		fmt.Fprintf(&b, "  - listitem [ref=e%d]:\n    - generic [ref=e%d]:\n      - link %q [ref=e%d] [cursor=pointer]:\n        - /url: /p/%d\n      - generic [ref=e%d]: %s\n      - button \"Add to cart\" [ref=e%d] [cursor=pointer]\n", 10*i+5, 10*i+6, name, 10*i+7, i, 10*i+8, price, 10*i+9)
		if i < 6 || r.IntN(12) == 0 {
			facts = append(facts, fmt.Sprintf("link %q [ref=e%d]", name, 10*i+7), price)
		}
	}
	return result{kind: "snapshots", name: "snapshot", text: b.String(), question: "Put the cheapest lamp into the cart.", facts: facts}
}

// prose is a long text with a few facts in it, and a question about two of them.
func prose(r *rand.Rand) []result {
	var b, han strings.Builder
	var facts []string
	for i := range 260 {
		s := sentence(r, 18)
		b.WriteString(s + "\n")
		if i < 6 || i > 254 || r.IntN(40) == 0 {
			facts = append(facts, s)
		}
		switch i {
		case 120:
			b.WriteString("The warranty of the solar charger lasts thirty-one months.\n")
		case 180:
			b.WriteString("Repairs are done by Okonkwo and Sons at the harbour.\n")
		}
		fmt.Fprintf(&han, "第%d段：货物从港口运到仓库，再由仓库送到各家商店。\n", i)
		if i == 130 {
			han.WriteString("太阳能充电器的保修期是三十一个月。\n")
		}
	}
	return []result{
		{kind: "prose", name: "manual", text: b.String(), question: "How long is the warranty of the solar charger, and who does repairs?", facts: append(facts, "lasts thirty-one months", "Okonkwo and Sons")},
		{kind: "Chinese prose", name: "manual", text: han.String(), question: "太阳能充电器的保修期多长？", facts: []string{"第0段：", "第3段：", "第9段：", "第120段：", "第250段：", "第259段：", "三十一个月"}},
	}
}

// pagesOfGo are pages of Go's own documentation, where this Go has it. They differ from
// version to version.
func pagesOfGo() (out []result, err error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "doc", "*.html"))
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(9, 9))
	for _, name := range names {
		page, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var facts []string
		for _, p := range strings.Split(string(page), "<p>") {
			text := strings.Join(strings.Fields(p), " ")
			if end := strings.IndexAny(text, "<&"); end > 40 && r.IntN(3) == 0 {
				facts = append(facts, text[:40])
			}
		}
		out = append(out, result{kind: "pages of Go", name: filepath.Base(name), text: string(page), question: "How do goroutines synchronize?", facts: facts})
	}
	return out, nil
}
