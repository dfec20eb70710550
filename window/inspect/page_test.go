// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/window"
)

// dearer is a conversation in which einolean costs more than it saves: nothing is hidden, and nothing
// is left out.
func dearer(calls int) *window.Conversation {
	return rewritten(calls, []string{"How far is it?"}, func(_ int, l line) {
		if call, ok := l["call"].(*window.ModelCall); ok {
			without := call.Tokens.Estimated - call.By[window.HelpTools]
			call.Hidden, call.OmittedTokens, call.Without, call.Events = window.Hidden{}, window.OmittedTokens{}, &without, nil
		}
		if part, ok := l["part"].(window.Part); ok {
			part.Omission = nil
			l["part"] = part
		}
	})
}

func TestHeadline_SaysWhetherMoreOrFewerTokens(t *testing.T) {
	b := launch(t)
	var text string
	for _, c := range []struct {
		conversation *window.Conversation
		want         string
	}{
		{plain(9), `^This agent sent [\d,]+ fewer tokens with einolean: [\d,]+ instead of [\d,]+, or \d+\.\dx fewer, and \d+\.\dx to \d+\.\dx cheaper\.$`},
		{dearer(9), `^This agent sent [\d,]+ more tokens with einolean: [\d,]+ instead of [\d,]+, or 1\.\d+x as many, and [\d.]+x to [\d.]+x dearer\.$`},
	} {
		b.open(light, written(t, c.conversation))
		b.eval(`document.querySelector("h1").textContent`, &text)
		require.Regexp(t, c.want, text)
	}
}

func TestBars_AreNotGreenWhereEinoleanCostsMore(t *testing.T) {
	b := launch(t)
	sent := `getComputedStyle(document.querySelector(".tile .meter i")).backgroundColor`
	var cheap, dear, headline string
	b.open(light, written(t, plain(9)))
	b.eval(sent, &cheap)
	b.open(light, written(t, dearer(9)))
	b.eval(sent, &dear)
	b.eval(`getComputedStyle(document.querySelector("h1 span")).color`, &headline)
	require.NotEqual(t, cheap, dear)
	require.Equal(t, headline, dear, "the color of what is bad")
}

func TestBill_FactorsAreLargeAndStandInOneLine(t *testing.T) {
	b := launch(t)
	for name, c := range map[string]*window.Conversation{"cheaper": plain(28), "dearer": dearer(9)} {
		for _, v := range views {
			b.open(v, written(t, c))
			var words []string
			b.eval(`[...document.querySelectorAll(".cards strong")].map(e => e.textContent)`, &words)
			require.Len(t, words, 6)
			for _, word := range words {
				require.Regexp(t, `^\d+\.\d+x `+name+`$`, word)
			}
			var wrapped []string
			b.eval(`[...document.querySelectorAll(".cards h3, .cards strong, .cards span")].filter(e => {
				const lines = new Set([...e.childNodes].flatMap(n => { const r = document.createRange(); r.selectNodeContents(n); return [...r.getClientRects()].map(b => Math.round(b.bottom / 12)); }));
				return e.scrollWidth > e.parentElement.clientWidth ||
					e.getBoundingClientRect().height > 1.7 * parseFloat(getComputedStyle(e).fontSize);
			}).map(e => e.textContent)`, &wrapped)
			require.Empty(t, wrapped, "%s, %s", name, v.name)
			var size float64
			b.eval(`parseFloat(getComputedStyle(document.querySelector(".cards strong")).fontSize)`, &size)
			require.Greater(t, size, 20.0)
		}
	}
}

func TestChart_NamesItsRowsAndFourColors(t *testing.T) {
	b := launch(t)
	b.open(light, written(t, plain(28)))
	var rows, groups []string
	b.eval(`[...document.querySelectorAll("svg.chart > text")].map(e => e.textContent).slice(-2)`, &rows)
	require.Equal(t, []string{"from cache", "events"}, rows)
	b.eval(`[...document.querySelectorAll("#legend button")].map(e => e.textContent)`, &groups)
	require.Equal(t, []string{"Tools", "Instructions and names", "Talk", "Results"}, groups)
	var colors int
	b.eval(`new Set([...document.querySelectorAll("svg.chart .piece, .swatch:not(.hatch)")].map(e => getComputedStyle(e)[e.closest("svg") ? "fill" : "backgroundColor"])).size`, &colors)
	require.Equal(t, 4, colors)
	var head string
	b.eval(`(document.querySelector("#table").closest("details").open = true, new Promise(done => setTimeout(() => done(document.querySelector("#table thead").innerText))))`, &head)
	for _, category := range []string{"Loaded tools", "Names of hidden tools", "Search answers", "Results, cleared",
		"Pages read back"} {
		require.Contains(t, head, category, "the table has every category")
	}
}

func TestChart_FewCallsHaveWideBars(t *testing.T) {
	b := launch(t)
	for calls, least := range map[int]float64{1: 100, 3: 100, 9: 70, 28: 20} {
		b.open(light, written(t, plain(calls)))
		var wide float64
		b.eval(`document.querySelector(".piece").getBoundingClientRect().width / (document.querySelector(".piece").getAttribute("d").split("M").length - 1)`, &wide)
		b.eval(`parseFloat(/h([\d.]+)v/.exec(document.querySelector(".piece").getAttribute("d"))[1])`, &wide)
		require.Greater(t, wide, least, "%d calls", calls)
	}
}

func TestPhone_ButtonSharesARowAndSignsDoNotOverlap(t *testing.T) {
	b := launch(t)
	for _, calls := range []int{3, 9, 14, 20, 28} {
		file := written(t, rewritten(calls, []string{"files__read"}, func(_ int, l line) {
			if call, ok := l["call"].(*window.ModelCall); ok && call.N%4 == 3 {
				call.Events = busy(call.Start)
			}
		}))
		for _, v := range []view{phone, {name: "narrow", width: 320, height: 900, touch: true}, light} {
			b.open(v, file)
			var overlaps []string
			b.eval(`(() => { const all = [...document.querySelectorAll(".bar path")].map(e => e.getBoundingClientRect()), found = [];
				for (let i = 0; i < all.length; i++) for (let j = 0; j < i; j++) {
					const a = all[i], b = all[j];
					if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > .5 &&
						Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > .5) found.push(j + " and " + i);
				}
				return found; })()`, &overlaps)
			require.Empty(t, overlaps, "%s, %d calls", v.name, calls)
			var beside bool
			b.eval(`(() => { const button = document.getElementById("theme").getBoundingClientRect(), brand = document.querySelector(".brand").getBoundingClientRect(), title = document.querySelector("h1").getBoundingClientRect();
				return button.top < brand.bottom && button.bottom > brand.top && button.bottom <= title.top && button.left >= brand.right; })()`, &beside)
			require.True(t, beside, "%s: the button stands beside the name", v.name)
		}
	}
}

func TestTiles_EmptyOnesAreHidden(t *testing.T) {
	b := launch(t)
	titles := func(c *window.Conversation) (all []string) {
		b.open(light, written(t, c))
		b.eval(`[...document.querySelectorAll(".tile h2")].map(e => e.textContent)`, &all)
		return all
	}
	require.Equal(t, []string{"Sent", "Largest window", "Came from the cache", "Taken out, all readable"}, titles(plain(9)))
	require.Equal(t, []string{"Sent"}, titles(dearer(1)))
	var seen string
	b.open(light, written(t, &window.Conversation{ID: "nothing"}))
	b.eval(`document.querySelector("main").innerText`, &seen)
	require.Contains(t, seen, "No model call was recorded.")
	require.NotContains(t, seen, "Sent", "nothing is shown that has no value")
}

func TestQuestions_AreShortenedInTheMiddle(t *testing.T) {
	b := launch(t)
	question := "Read the file " + strings.Repeat("and the next one, then ", 40) + "say on which line part-0417 stands."
	for _, v := range []view{light, phone} {
		b.open(v, written(t, recorded(3, []string{question})))
		var inChart, below string
		b.eval(`[...document.querySelectorAll("svg.chart tspan")].map(e => e.textContent).join(" ")`, &inChart)
		b.eval(`document.querySelector("#detail .sub").textContent`, &below)
		for _, text := range []string{inChart, below} {
			require.Contains(t, text, "Read the", v.name)
			require.Contains(t, text, "…", v.name)
			require.True(t, strings.HasSuffix(text, "stands."), "%s: %s", v.name, text)
		}
		require.Less(t, len(below), 300)
	}
}

func TestAdvice_StandsBelowTheTotal(t *testing.T) {
	b := launch(t)
	var text string
	b.open(light, written(t, dearer(9)))
	b.eval(`document.querySelector("h1 + .advice").textContent`, &text)
	require.Regexp(t, `^(Set|Raise|Leave|Change) .*\.$`, text)
}

// TestDocs_Pictures draws the pictures of docs/img from the page that EINOLEAN_PAGE names:
//
//	(cd examples && go run ./both -page /tmp/both.html) && EINOLEAN_PAGE=/tmp/both.html go test -run Docs_Pictures ./window/inspect
func TestDocs_Pictures(t *testing.T) {
	page := os.Getenv("EINOLEAN_PAGE")
	if page == "" {
		t.Skip("EINOLEAN_PAGE names no page")
	}
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	b := launch(t)
	for folder, language := range map[string]string{".": "en", "zh": "zh"} {
		file := filepath.Join(t.TempDir(), "page.html")
		require.NoError(t, os.WriteFile(file, bytes.Replace(html, []byte(`"labels":`),
			[]byte(`"language":"`+language+`","labels":`), 1), 0o600))
		for _, v := range []view{{name: "light", width: 1280, height: 1240}, {name: "dark", width: 1280, height: 1240, dark: true}} {
			b.open(v, file)
			picture := filepath.Join("../../docs/img", folder, "window-"+v.name+".png")
			require.NoError(t, os.WriteFile(picture, encoded(t, b.screenshot()), 0o644))
		}
	}
}

// TestPage_SavesPictures saves pictures of the page to the folder that EINOLEAN_PICTURES names, for manual review.
func TestPage_SavesPictures(t *testing.T) {
	folder := os.Getenv("EINOLEAN_PICTURES")
	if folder == "" {
		t.Skip("EINOLEAN_PICTURES names no folder")
	}
	b := launch(t)
	for name, c := range map[string]*window.Conversation{"cheaper": plain(28), "dearer": dearer(9), "three": plain(3)} {
		file := written(t, c)
		for _, v := range views {
			b.open(v, file)
			picture := filepath.Join(folder, fmt.Sprintf("%s-%s.png", name, strings.ReplaceAll(v.name, " ", "-")))
			require.NoError(t, os.WriteFile(picture, encoded(t, b.screenshot()), 0o600))
		}
	}
}

// busy are events with which a call has many signs.
func busy(at time.Time) []einolean.Event {
	return []einolean.Event{
		{Kind: einolean.KindToolsSearched, Time: at, Search: &einolean.Search{Query: "read"}},
		{Kind: einolean.KindToolsLoaded, Time: at, Tools: &einolean.ToolChange{Added: []string{"files__read"}, AddedCount: 1}},
	}
}
