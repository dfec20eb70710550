// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/inspect"
)

var (
	light = view{name: "light", width: 1280, height: 1500}
	dark  = view{name: "dark", width: 1280, height: 1500, dark: true}
	phone = view{name: "phone", width: 390, height: 1400, touch: true}
	views = []view{light, dark, phone, {name: "dark phone", width: 390, height: 1400, dark: true, touch: true}, {name: "tablet", width: 820, height: 1180, touch: true}, {name: "narrow", width: 320, height: 900, touch: true}}
)

// plain is a conversation of what agents do.
func plain(calls int) *window.Conversation {
	return recorded(calls, []string{"Read the file stock.txt. How many are left?", "files__read", "units__convert_length"})
}

func written(t *testing.T, c *window.Conversation) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, inspect.WriteFile(file, c))
	return file
}

func TestPage_DrawsAndRunsNothingHostile(t *testing.T) {
	b := launch(t)
	b.open(light, written(t, recorded(12, hostile)))
	var title, html string
	b.eval("document.title", &title)
	b.eval("document.documentElement.outerHTML", &html)
	require.Contains(t, title, "· einolean", "no script has changed it")
	require.Equal(t, 12, strings.Count(html, `role="option"`), "a bar for each call")
	require.Contains(t, html, "fewer tokens</span> with einolean")
	require.NotContains(t, html, "<img")
	b.eval(everything, nil)
	require.Empty(t, b.complaints(), "no message in the console, and no request")
}

// everything opens what can be opened, and chooses each call in turn.
const everything = `(() => {
	document.querySelectorAll("details").forEach(d => { d.open = true; });
	for (const bar of [...document.querySelectorAll(".bar")].keys()) {
		document.querySelectorAll(".bar")[bar].dispatchEvent(new MouseEvent("click", {bubbles: true}));
		for (let seen = new Set(), press; (press = [...document.querySelectorAll("#detail .part, .taken button, .hit-row")].find(b => !seen.has(b)));) {
			seen.add(press);
			press.click();
			if (seen.size > 40) break;
		}
	}
	document.querySelectorAll("#legend button").forEach(b => { b.click(); b.click(); });
	return true;
})()`

// audit is what audit.js found.
type audit struct {
	Texts, Scrolls, Skips                       int
	Worst                                       float64
	Low, Faint, Outside, Overlaps, Small, Twice []string
	Lang, Title                                 string
}

func (b *devtools) audit() (a audit) {
	b.t.Helper()
	script, err := os.ReadFile("testdata/audit.js")
	require.NoError(b.t, err)
	b.eval(string(script), &a)
	return a
}

// states are what a user can make of the page.
var states = []struct{ name, script string }{
	{"as it opens", `true`},
	{"with what was left out", `document.getElementById("left").click()`},
	{"a call that searched", `document.querySelectorAll(".bar")[1].dispatchEvent(new MouseEvent("click", {bubbles: true}))`},
	{"why a tool was found", `document.querySelectorAll(".hit-row").forEach(b => b.click())`},
	{"a call with a cut result", `document.querySelectorAll(".bar")[2].dispatchEvent(new MouseEvent("click", {bubbles: true}))`},
	{"its texts", `document.querySelectorAll("#detail .part, .taken button").forEach(b => b.click())`},
	{"a call that failed", `document.querySelectorAll(".bar")[3].dispatchEvent(new MouseEvent("click", {bubbles: true}))`},
	{"one category", `document.querySelector("#legend button").click()`},
	{"all that is folded", `document.querySelectorAll("details").forEach(d => { d.open = true; })`},
	{"own prices", `(() => { const s = document.querySelector("#bill input"); s.value = ".02"; s.dispatchEvent(new Event("input")); })()`},
}

func TestPage_TextsAreReadableAndInPlace(t *testing.T) {
	b := launch(t)
	file := written(t, plain(28))
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			b.t = t
			b.open(v, file)
			for _, s := range states {
				b.eval("("+s.script+", true)", nil)
				a := b.audit()
				require.Greater(t, a.Texts, 40, s.name)
				require.Empty(t, a.Low, "%s: contrast below WCAG AA", s.name)
				require.Empty(t, a.Faint, "%s: graphics below 3:1", s.name)
				require.LessOrEqual(t, a.Scrolls, 0, "%s: the page scrolls sideways", s.name)
				require.Empty(t, a.Outside, "%s: texts outside of the page", s.name)
				require.Empty(t, a.Overlaps, "%s: texts or cards over one another", s.name)
				require.Empty(t, a.Small, "%s: too small to press", s.name)
				require.Empty(t, a.Twice, "%s: ids that stand twice", s.name)
				require.Zero(t, a.Skips, "%s: headings skip a level", s.name)
				require.Equal(t, "en", a.Lang)
				require.NotEmpty(t, a.Title)
				t.Logf("%s, %s: %d texts, lowest contrast %.2f", v.name, s.name, a.Texts, a.Worst)
			}
			require.Empty(t, b.complaints())
		})
	}
	b.t = t
}

func TestAudit_FindsFaults(t *testing.T) {
	b := launch(t)
	file := filepath.Join(t.TempDir(), "bad.html")
	require.NoError(t, os.WriteFile(file, []byte(`<!doctype html><title></title><body style="margin:0;background:#fff">
<p style="color:#999">grey</p><div style="background:#000;opacity:1"><span style="color:#333">dark on dark</span></div><h3>skipped</h3>
<div style="position:absolute;left:0;top:200px">under another text</div><div style="position:absolute;left:4px;top:202px">over it</div>
<div style="position:absolute;left:3000px;top:300px">far</div><button style="height:10px;padding:0">x</button><i id=a></i><i id=a></i>`), 0o600))
	b.open(light, file)
	a := b.audit()
	require.Len(t, a.Low, 2, "%+v", a)
	require.Len(t, a.Overlaps, 1)
	require.Len(t, a.Outside, 1)
	require.Len(t, a.Small, 1)
	require.Len(t, a.Twice, 1)
	require.Equal(t, 1, a.Skips)
	require.Positive(t, a.Scrolls)
	require.Empty(t, a.Lang+a.Title)
	b.eval(`(console.warn("here"), fetch("https://example.invalid/").catch(() => 0), true)`, nil)
	complaints := fmt.Sprint(b.complaints()) // on a quick machine also that the request failed
	require.Contains(t, complaints, "consoleAPICalled")
	require.Contains(t, complaints, "requestWillBeSent Fetch https://example.invalid/")
}

func TestPage_EveryControlHasAccessibleName(t *testing.T) {
	b := launch(t)
	b.open(light, written(t, plain(28)))
	b.eval(everything, nil)
	needs := map[string]bool{"button": true, "option": true, "listbox": true, "combobox": true, "spinbutton": true, "textbox": true, "link": true, "region": true, "group": false, "heading": true, "image": true, "table": false}
	count := map[string]int{}
	for _, n := range b.spoken() {
		count[n.Role]++
		if needs[n.Role] {
			require.NotEmpty(t, strings.TrimSpace(n.Name), "a %s has no name", n.Role)
		}
	}
	require.GreaterOrEqual(t, count["option"], 28)
	require.Equal(t, 1, count["listbox"])
	require.Zero(t, count["image"], "no picture says what no text says")
	var names []string
	b.eval(`[...document.querySelectorAll(".bar")].map(b => b.getAttribute("aria-label"))`, &names)
	require.Len(t, names, 28)
	for _, name := range names {
		require.Regexp(t, `^Call \d+: [\d,]+ tokens\. .+`, name)
	}
	var region string
	b.eval(`document.querySelector("#detail").getAttribute("aria-live")`, &region)
	require.Equal(t, "polite", region)
}

// focused is where the keyboard is, and whether it shows.
type focused struct {
	ID, Class, Role, Label, Text string
	Shows                        bool
}

func (b *devtools) focused() (f focused) {
	b.t.Helper()
	b.eval(`(() => { const e = document.activeElement, hit = e.querySelector && e.querySelector(".hit"), s = getComputedStyle(hit || e);
		return {id: e.id, class: e.getAttribute("class") || "", role: e.getAttribute("role") || e.tagName.toLowerCase(), label: e.getAttribute("aria-label") || "", text: e.textContent.slice(0, 60),
			shows: hit ? s.stroke !== "none" : s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2}; })()`, &f)
	return f
}

func TestPage_KeyboardReachesEverything(t *testing.T) {
	b := launch(t)
	b.open(light, written(t, plain(28)))
	reached, bars := map[string]bool{}, 0
	for range 120 {
		b.press("Tab")
		f := b.focused()
		if f.Role == "body" {
			break
		}
		require.True(t, f.Shows, "the focus does not show: %+v", f)
		reached[f.Role+" "+f.ID] = true
		if f.Class == "bar" {
			bars++
		}
	}
	require.Equal(t, 1, bars, "the chart is one stop")
	for _, want := range []string{"button theme", "button sent", "button left", "option ", "summary "} {
		require.True(t, reached[want], "%s in %v", want, reached)
	}
	var at string
	chosen := func() string {
		b.eval(`document.querySelector(".bar[aria-selected=true]").getAttribute("aria-label").split(":")[0] + " " + location.hash`, &at)
		return at
	}
	b.eval(`(document.querySelector(".bar").focus(), true)`, nil)
	for _, step := range [][2]string{{"ArrowRight", "Call 2 #call-2"}, {"ArrowRight", "Call 3 #call-3"}, {"ArrowLeft", "Call 2 #call-2"}, {"End", "Call 28 #call-28"}, {"ArrowRight", "Call 28 #call-28"}, {"Home", "Call 1 #call-1"}} {
		b.press(step[0])
		require.Equal(t, step[1], chosen(), step[0])
		require.Equal(t, "bar", b.focused().Class, "the focus stays on the chart")
	}
	var pressed bool
	b.press("g")
	b.eval(`document.getElementById("left").getAttribute("aria-pressed") === "true"`, &pressed)
	require.True(t, pressed, "g shows what was left out")
	var theme string
	b.press("t")
	b.eval("document.documentElement.dataset.theme", &theme)
	require.Equal(t, "dark", theme)
	b.eval(`(document.querySelector("#legend button").focus(), true)`, nil)
	b.press("Enter")
	b.eval(`document.querySelector("#legend button").getAttribute("aria-pressed") === "true"`, &pressed)
	require.True(t, pressed)
}

func TestPage_OpensTwoThousandCalls(t *testing.T) {
	b := launch(t)
	drawn := map[int]time.Duration{}
	for _, calls := range []int{500, 2000} {
		c := recorded(calls, []string{"files__read"})
		for id := range c.Texts {
			c.Texts[id] = strings.Repeat("A text of ten kilobytes. ", 400)
		}
		file := written(t, c)
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Greater(t, info.Size(), int64(3<<20))
		require.Less(t, info.Size(), int64(10<<20))
		fastest := time.Hour
		for range 4 {
			b.open(light, file)
			fastest = min(fastest, b.drawn)
		}
		drawn[calls] = fastest
		t.Logf("%d calls and %.1f MB: drawn after %d ms, the fastest of four", calls, float64(info.Size())/(1<<20), fastest.Milliseconds())
		require.Less(t, fastest, bound)
		var bars, coloured int
		b.eval(`document.querySelectorAll(".bar").length`, &bars)
		require.Equal(t, calls, bars)
		b.eval(`Math.min(...[...document.querySelectorAll(".piece")].map(p => p.getAttribute("d").split("M").length - 1))`, &coloured)
		require.Equal(t, calls, coloured, "every bar has all its colours")
		require.Empty(t, b.complaints())
	}
	require.Less(t, drawn[2000], 5*drawn[500], "4 times the calls")
}

// bound is how long a page may take on a machine that does much other work as well. Alone
// it is less than a second; what looks at every call for each call takes minutes.
const bound = 20 * time.Second

func TestPage_ChartFollowsSelectedCall(t *testing.T) {
	b := launch(t)
	long, short := written(t, plain(300)), written(t, plain(28))
	for _, c := range []struct {
		v     view
		file  string
		calls int
		more  bool
	}{{light, long, 300, true}, {phone, long, 300, true}, {phone, short, 28, false}, {light, short, 28, false}} {
		b.open(c.v, c.file)
		var seen bool
		inView := `(() => { const bar = document.querySelector(".bar[aria-selected=true]").getBoundingClientRect(), box = document.getElementById("chart").getBoundingClientRect(); return bar.left >= box.left && bar.right <= box.right; })()`
		b.eval(`(document.querySelector(".bar").focus(), true)`, nil)
		for _, key := range []string{"End", "ArrowLeft", "ArrowLeft", "Home", "ArrowRight"} {
			b.press(key)
			b.eval(inView, &seen)
			require.True(t, seen, "%s, %d calls, %s", c.v.name, c.calls, key)
		}
		for range 40 {
			b.press("ArrowRight")
		}
		b.eval(inView, &seen)
		require.True(t, seen, "%s: after many steps", c.v.name)
		var hint bool
		b.eval(`!document.getElementById("more").hidden`, &hint)
		require.Equal(t, c.more, hint, "%s: it says that it scrolls", c.v.name)
		b.open(c.v, c.file+"?x#call-25")
		b.eval(inView, &seen)
		require.True(t, seen, "%s: the call of the address", c.v.name)
	}
}

// A conversation of nine calls fits without scrolling.
func TestPage_ShortConversationFitsPhone(t *testing.T) {
	b := launch(t)
	file := written(t, plain(9))
	for _, v := range []view{phone, {name: "narrow", width: 320, height: 900, touch: true}, {name: "tablet", width: 820, height: 1180, touch: true}, light} {
		b.open(v, file)
		var seen int
		b.eval(`(() => { const box = document.getElementById("chart").getBoundingClientRect(); return [...document.querySelectorAll(".bar")].filter(bar => { const at = bar.getBoundingClientRect(); return at.left >= box.left && at.right <= box.right && at.right <= innerWidth && at.width > 8; }).length; })()`, &seen)
		require.Equal(t, 9, seen, v.name)
	}
}

func TestPage_BillIsVisibleAtOnce(t *testing.T) {
	b := launch(t)
	b.open(light, written(t, plain(28)))
	var text string
	b.eval(`document.querySelector("h1").textContent + " | " + document.getElementById("bill").innerText`, &text)
	require.Regexp(t, `or [\d.]+x fewer, and [\d.]+x to [\d.]+x cheaper\. \|`, text)
	for _, name := range []string{"Claude", "GPT-5, Gemini", "Doubao, Qwen, GLM", "DeepSeek", "no cache", "x cheaper",
		"favors doing nothing"} {
		require.Contains(t, text, name)
	}
	b.open(light, written(t, plain(1200))) // the later calls would have been huge
	b.eval(`document.getElementById("meta").innerText`, &text)
	require.Regexp(t, `\d+ of 900 calls without einolean would not have fitted into a window of 200,000 tokens`, text)
}

func TestPage_PrintsInColorAndWhole(t *testing.T) {
	b := launch(t)
	for _, calls := range []int{28, 300, 2000} {
		b.open(view{name: "A4", width: 703, height: 1000, dark: true}, written(t, plain(calls)))
		b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
		var got struct {
			Colour, Ground string
			Wide, Chart    float64
			Edge, Tall     float64
			Cut            []string
		}
		b.eval(`(() => { const box = document.documentElement, all = [...document.querySelectorAll("main *")].filter(e => e.getClientRects().length);
			return {colour: getComputedStyle(document.querySelector(".strip i")).printColorAdjust, ground: getComputedStyle(document.body).backgroundColor,
				wide: box.scrollWidth - box.clientWidth, chart: document.querySelector("svg.chart").getBoundingClientRect().right - box.clientWidth,
				edge: box.clientWidth - document.querySelector(".bill").getBoundingClientRect().right, tall: document.querySelector("svg.chart").getBoundingClientRect().height,
				cut: all.filter(e => { const s = getComputedStyle(e); return /auto|scroll|hidden/.test(s.overflowX) && s.textOverflow !== "ellipsis" && e.scrollWidth > e.clientWidth + 1; }).map(e => e.tagName + " " + e.className)}; })()`, &got)
		require.Equal(t, "exact", got.Colour)
		require.Equal(t, "rgb(255, 255, 255)", got.Ground)
		require.LessOrEqual(t, got.Wide, 0.0)
		require.LessOrEqual(t, got.Chart, 0.0, "the whole chart is on the paper")
		require.Empty(t, got.Cut)
		require.Positive(t, got.Edge, "borders are on the paper")
		require.Greater(t, got.Tall, 90.0, "%d calls: bars can be told apart by their height", calls)
		b.call("Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
	}
}

func TestPage_KindNamesAreNotTruncated(t *testing.T) {
	b := launch(t)
	b.open(light, written(t, plain(28)))
	var cut []string
	b.eval(`[...document.querySelectorAll(".part .kind")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)`, &cut)
	require.Empty(t, cut)
}
