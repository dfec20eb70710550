// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestOutline_ConvertsHTML(t *testing.T) {
	for name, c := range map[string]struct{ page, want string }{
		"a page": {`<!DOCTYPE html><html><head><title>The shop &amp; more</title><style>p{color:red}</style><meta content="x > y"></head>` +
			`<body class="a"><!-- no --><script>if (a < b) document.write("</p>")</script><h1>Chargers</h1><p>Two  of
			them,<br>cheap.</p><ul><li>One<li><a href="/two?a=1&amp;b=2">Two</a></ul></body></html>`,
			"# The shop & more\n## Chargers\nTwo of them,\ncheap.\n- One\n- Two (/two?a=1&b=2)"},
		"a table":           {"<table><tr><th>Name<th>Price</tr>\n<tr><td>Lamp</td>\n<td> 8.00 </td></tr></table>", "Name | Price\nLamp | 8.00"},
		"lines that count":  {"<pre>a\n  b\nc</pre>", "a\nb\nc"},
		"what is no tag":    {"1 < 2 <3 & 3 > 2", "1 < 2 <3 & 3 > 2"},
		"an image":          {`<p><img src=x alt="A lamp"> here`, "A lamp here"},
		"quoted brackets":   {`<a title="a>b" href='x'>y</a>z`, "y (x)z"},
		"an open script":    {"a<script>b", "a"},
		"an open comment":   {"a<!-- b", "a"},
		"an open tag":       {"a<b class=", "a"},
		"no address":        {`<a href="#top">up</a> <a href="javascript:x()">go</a>`, "up go"},
		"a head that stays": {"<head><title>T</title><body>x", "# T\nx"},
		"inline elements":   {"a<b>b</b><i>c</i> <span>d</span>", "abc d"},
		"text in an SVG":    {"<svg><text>x</text></svg>y", "y"},
		"capitals":          {"<P>a<SCRIPT>x</Script><H2>b</H2>", "a\n## b"},
	} {
		text, _ := outline(c.page)
		require.Equal(t, c.want, strings.TrimSpace(text), name)
	}
}

// shop is a page with n goods in a table, between navigation and scripts.
func shop(n int) string {
	var b strings.Builder
	b.WriteString(`<!doctype html><html><head><title>Shop</title><script>` + strings.Repeat("var a = {x: [1,2,3]};\n", 200) + "</script></head><body><nav>")
	for i := range 60 {
		fmt.Fprintf(&b, `<a class="nav-link menu__item" href="/category/%d"><span>Category %d</span></a>`, i, i)
	}
	b.WriteString(`</nav><h1>All chargers</h1><table class="goods">`)
	for i := range n {
		fmt.Fprintf(&b, `<tr class="goods__row" data-id="%d"><td class="goods__name"><a href="/p/%d">Charger model %s</a></td><td class="goods__price">%d.90 EUR</td></tr>`, i, i, string(rune('A'+i%26))+string(rune('a'+i/26%26)), 10+i)
	}
	return b.String() + "</table><footer><p>Call 0800 123 for returns within 30 days.</p></footer></body></html>"
}

func TestRender_PageShowsItsText(t *testing.T) {
	page := shop(60)
	shown, format := Render(Request{Text: page, Room: 4000, Question: "how do I send something back? returns"})
	require.Equal(t, HTML, format)
	require.LessOrEqual(t, len(shown), 4000)
	for _, want := range []string{"# Shop", "## All chargers", "Charger model Aa (/p/0) | 10.90 EUR", "returns within 30 days"} {
		require.Contains(t, shown, want)
	}
	require.NotContains(t, shown, "var a")
	require.NotContains(t, shown, "class=")
}

func TestRender_PageWithoutTextShowsItsSource(t *testing.T) {
	page := "<!doctype html><html><body><div id=root></div><script>window.state = {\"price\": 19.9, " + strings.Repeat(`"filler": "words",`, 900) + "}</script></body></html>"
	shown, format := Render(Request{Text: page, Room: 4000, Question: "what is the price?"})
	require.Equal(t, HTML, format)
	require.Contains(t, shown, `window.state = {"price": 19.9`)
	require.LessOrEqual(t, len(shown), 4000)
}

func TestRender_SnapshotKeepsUsableElements(t *testing.T) {
	var b strings.Builder
	b.WriteString("- Page URL: http://shop.example/\n- generic [active] [ref=e1]:\n  - banner [ref=e2]:\n")
	for i := range 100 {
		fmt.Fprintf(&b, "    - listitem [ref=e%d]:\n      - generic [ref=e%d]:\n        - link \"Lamp %d\" [ref=e%d] [cursor=pointer]:\n          - /url: /lamp/%d\n        - generic [ref=e%d]: %d.00 EUR\n", 6*i, 6*i+1, i, 6*i+2, i, 6*i+3, i)
	}
	b.WriteString("    - textbox \"Search\" [ref=e999]\n")
	shown, format := Render(Request{Text: b.String(), Room: 3000})
	require.Equal(t, Page, format)
	require.LessOrEqual(t, len(shown), 3000)
	require.Contains(t, shown, "link \"Lamp 0\" [ref=e2]\n/url: /lamp/0\n")
	require.NotContains(t, shown, "listitem")
	require.Contains(t, shown, "\n0.00 EUR\n")
	require.Contains(t, shortenSnapshot(b.String()), `textbox "Search" [ref=e999]`)
}

// manual is a page of many paragraphs, with words of errors in most of the later ones, as
// documentation has them.
func manual(navigation int) string {
	var b strings.Builder
	b.WriteString("<!doctype html><html><head><title>Manual</title></head><body class=\"manual manual--wide\"><nav class=\"sidebar\"><h2>Sections</h2><ul>")
	for i := range navigation {
		fmt.Fprintf(&b, "<li><h3 class=\"toc\"><a class=\"toc__link\" href=\"#s%d\">Section %d</a></h3></li>", i, i)
	}
	b.WriteString("</ul></nav><main>")
	for i := range 300 {
		fmt.Fprintf(&b, "<div class=\"section section--open\"><h2 id=\"s%d\" class=\"section__title\">Part %d</h2><p class=\"section__text\">Paragraph %s says what is done with a value of this kind.</p>", i, i, spelled(i))
		if i > 60 {
			fmt.Fprintf(&b, "<p class=\"section__text\">Error: a value of kind %s cannot be used here; the exception says what failed.</p>", spelled(i))
		}
		b.WriteString("</div>\n")
	}
	return b.String() + "</main></body></html>"
}

// spelled is a number without digits, so that lines with other numbers are not of one kind.
func spelled(n int) string {
	return string([]byte{'a' + byte(n/26%26), 'k' + byte(n%7), 'a' + byte(n%26)})
}

func TestRender_PageErrorsAreNotRankedLikeLogs(t *testing.T) {
	shown, format := Render(Request{Text: manual(0), Room: 4000})
	require.Equal(t, HTML, format)
	for i := range 15 {
		require.Contains(t, shown, "Paragraph "+spelled(i)+" says")
	}
	require.Less(t, strings.Count(shown, "Error: "), 5)
}

func TestRender_NavigationComesAfterText(t *testing.T) {
	shown, _ := Render(Request{Text: manual(400), Room: 2000})
	require.Contains(t, shown, "Paragraph "+spelled(3)+" says")
	require.NotContains(t, shown, "Section 9\n")
	onlyLinks := "<!doctype html><nav>" + strings.Repeat("<p class=\"entry entry--first entry--open\"><a href=\"/x\">a place to go to</a></p>", 500) + "</nav>"
	for page, want := range map[string][]string{
		"<nav>a<aside>b</aside>c</nav>some text<footer>d</footer>": {"a\nb\nc\n", "d\n"},
		"<p>some text</p></nav><nav>a</nav>":                       {"a\n"},
		"<nav>a<p>some text that is in none":                       nil, // it has no end
		onlyLinks:                                                  nil,
	} {
		text, sides := outline(page)
		var got []string
		for _, s := range sides {
			got = append(got, text[s.start:s.end])
		}
		require.Equal(t, want, got)
	}
}

func TestRender_PageOfLittleMarkupShowsStartAndEnd(t *testing.T) {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<title>Specification</title>\n")
	for i := range 400 {
		fmt.Fprintf(&b, "<p>\nSentence %d describes how the parts of the whole relate to one another.\n</p>\n", i)
	}
	shown, format := Render(Request{Text: b.String(), Room: 4000})
	require.Equal(t, HTML, format)
	for _, i := range []int{0, 1, 8, 390, 398, 399} {
		require.Contains(t, shown, fmt.Sprintf("Sentence %d describes", i))
	}
	require.NotContains(t, shown, "<p>")
}

// Browsers read no markup in these elements. If one is never closed, the outline still has no markup.
func TestOutline_UnclosedElementLeavesNoMarkup(t *testing.T) {
	for _, name := range []string{"plaintext", "textarea", "xmp", "title", "noembed", "noframes"} {
		text, _ := outline("<!doctype html><html><body><" + name + "><div class='x'><p>What it says.</p><a href='/next'>Next</a></div>")
		require.NotContains(t, text, "<", name)
		require.Contains(t, text, "What it says.", name)
		require.Contains(t, text, "Next (/next)", name)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add("<p>a</p><a href='x>y'>b</a><!-- c --><script>d</script>", "e")
	f.Add("<table><tr><td>1<td>2&amp;&lt;</table><pre>\n a", "")
	f.Fuzz(func(t *testing.T, page, question string) {
		if text, _ := outline(page); len(text) > 4*len(page)+100 {
			t.Fatalf("an outline of %d bytes of %d", len(text), len(page))
		}
		for _, room := range []int{0, 40, 333} {
			if shown, _ := Render(Request{Text: "<!doctype html>" + page, Room: room, Question: question}); len(shown) > room || !utf8.ValidString(shown) {
				t.Fatalf("%d bytes in a room of %d: %q", len(shown), room, shown)
			}
		}
	})
}

func BenchmarkHTML(b *testing.B) {
	page := shop(6000)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		Render(Request{Text: page, Room: 8000, Question: "how do I send something back?"})
	}
}
