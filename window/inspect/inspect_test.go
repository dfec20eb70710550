// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/inspect"
)

// hostile are texts that act where they are not escaped.
var hostile = []string{
	`</script><script>document.title="owned"</script>`, `<img src=x onerror="document.title='owned'">`, `<!--<script>`, "\u2028\u2029", `{{.Title}}`, `"><b>`,
	"\x1b]0;owned\a\x1b[2J", "a\u202eb", "javascript:alert(1)", "日本語テキスト", "\x00\ufffd",
}

// recorded is a conversation of n calls in which everything that can be a text is one
// of texts in turn.
func recorded(n int, texts []string) *window.Conversation { return rewritten(n, texts, nil) }

// line is a line of the format that package window reads.
type line map[string]any

// rewritten is recorded with parts, and the lines of calls, that change may change.
func rewritten(n int, texts []string, change func(call int, l line)) *window.Conversation {
	at := 0
	next := func() string { at++; return texts[at%len(texts)] }
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	name := next()
	var file bytes.Buffer
	write := func(call int, l line) {
		l["of"] = "c"
		if change != nil {
			change(call, l)
		}
		text, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		file.Write(append(text, '\n'))
	}
	write(0, line{"schema": "einolean.window/2", "conversation": window.Conversation{ID: name}})
	runs, id := 0, 0
	for i := range n {
		if i%3 == 0 {
			runs++
			write(i+1, line{"run": window.Run{N: runs, Start: start, Question: next()}})
		}
		without, first := 40_000+300*i, id+1
		call := window.ModelCall{N: i + 1, Run: runs, Conversation: name, Attempt: 1, Start: start, Took: time.Second, Hidden: window.Hidden{Tools: 400, Tokens: 36_000},
			Without: &without, Answer: next(), Prefix: window.Prefix{Part: -1}, By: map[window.Category]int{}, Did: []window.ToolUse{{Tool: next(), CallID: next(), Arguments: next()}}}
		left := &window.Omission{Rule: "cut", Tool: next(), CallID: fmt.Sprint(i), Before: 9000, After: 400,
			Path: next(), Stored: true, Text: id + 1}
		for j, category := range window.Categories() {
			id++
			part := window.Part{Category: category, Label: next(), CallID: next(), Tokens: 100 + 7*((i+j)%9), Bytes: 400, Text: id}
			if category == window.ResultTruncated && i%4 == 2 {
				part.Omission = left
			}
			call.By[category] = part.Tokens
			call.Tokens.Estimated += part.Tokens
			write(i+1, line{"slot": id, "part": part, "text": next()})
		}
		call.Tokens.Calibrated = call.Tokens.Estimated
		l := line{"call": &call, "slots": [][2]int{{first, id}}, "same": id + 1 - first}
		switch i % 4 {
		case 1:
			call.Without = nil
			call.Prefix = window.Prefix{Same: 500, Lost: 700, Cause: "tools_loaded", Part: 2}
			call.Events = []einolean.Event{
				{Kind: einolean.KindToolsSearched, Time: start, Search: &einolean.Search{Query: next(), Took: time.Millisecond, Hits: []einolean.Hit{{Name: next(), Score: 3.5, Confidence: .8, Terms: []einolean.Term{{Text: next(), Field: next(), Relation: next(), Score: 2}}}}}},
				{Kind: einolean.KindToolsLoaded, Time: start, Tools: &einolean.ToolChange{Added: []string{next()}, AddedCount: 1}},
			}
		case 2:
			call.OmittedTokens = window.OmittedTokens{Results: 1, Cut: 8600}
			call.Tokens.Reported = &schema.TokenUsage{PromptTokens: 1500, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 900}}
			call.Prefix = window.Prefix{Same: 900}
			l["new"] = [][2]int{{id - 1, id}, {first + 9, first + 9}}
			l["same"] = 9
		case 3:
			call.Error, call.Kept = next(), true
		}
		write(i+1, l)
	}
	all, err := window.ReadJSON(&file)
	if err != nil {
		panic(err)
	}
	return all[0]
}

func page(t *testing.T, c *window.Conversation) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, inspect.Write(&b, c))
	return b.String()
}

func TestPage_EmbedsHostileTextsAsData(t *testing.T) {
	html := page(t, recorded(12, hostile))
	require.Equal(t, 2, strings.Count(strings.ToLower(html), "<script"), "one with the data, and its own")
	require.False(t, strings.Contains(html, "<img"))
	_, rest, found := strings.Cut(html, `<script type="application/json" id="data">`)
	require.True(t, found)
	data, _, _ := strings.Cut(rest, "</script>")
	require.False(t, strings.Contains(data, "<"))
	require.True(t, json.Valid([]byte(data)))
	for _, outside := range []string{"http://www.w3.org/2000/svg"} {
		html = strings.ReplaceAll(html, outside, "")
	}
	require.NotRegexp(t, regexp.MustCompile(`(?i)(https?:)?//[a-z]`), strings.ReplaceAll(html, "// ", ""), "it asks nobody")
}

func TestPage_SecurityPolicyAllowsItsScript(t *testing.T) {
	html := page(t, recorded(4, []string{"a plain text"}))
	require.Regexp(t, `script-src &#39;sha256-[A-Za-z0-9&#;/=]{40,80}&#39;`, html)
	require.Contains(t, html, "default-src &#39;none&#39;")
}

//claim:security-71
func TestPage_ManyCallsAreShortened(t *testing.T) {
	c := recorded(60, []string{"short"})
	for id := range c.Texts {
		c.Texts[id] = strings.Repeat("é", 100_000)
	}
	html := page(t, c)
	require.Less(t, len(html), 5<<20)
	require.Contains(t, html, `"shortened":2048`)
	require.Len(t, c.Texts[1], 200_000, "the conversation is not changed")
}

func TestWriteFile_IsAtomicAndPrivate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "window.html")
	for range 2 {
		require.NoError(t, inspect.WriteFile(name, recorded(4, hostile)))
	}
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Error(t, inspect.WriteFile(name, nil))
	require.Error(t, inspect.WriteFile(filepath.Join(t.TempDir(), "no", "such"), recorded(1, hostile)))
	left, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestWriteText_HasNoControlCharacters(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, inspect.WriteText(&b, recorded(12, hostile), inspect.TextOptions{}))
	require.NotRegexp(t, "[\x00-\x09\x0b-\x1f\x7f\u202e\u2028]", b.String())
	b.Reset()
	require.NoError(t, inspect.WriteText(&b, recorded(12, hostile), inspect.TextOptions{Color: true}))
	plain := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(b.String(), "")
	require.NotContains(t, plain, "\x1b")
	require.Error(t, inspect.WriteText(io.Discard, nil, inspect.TextOptions{}))
}

func TestWriteText_PrintsOneLinePerCall(t *testing.T) {
	var b bytes.Buffer
	c := recorded(4, []string{"Wie viele Zeilen hat access.log?"})
	require.NoError(t, inspect.WriteText(&b, c, inspect.TextOptions{Width: 120}))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Equal(t, "sent 6,544 tokens; without einolean 121,500: 18.6x fewer", lines[1])
	require.Len(t, lines, 9+2+4, b.String())
	require.Equal(t, "in money: Claude 9.2x cheaper · Claude 5.5, GPT-6 8.6x cheaper · GPT-5, Gemini 9.4x cheaper · Doubao, Qwen, GLM 10.7x cheaper · DeepSeek 8.4x cheaper", lines[2]+" "+lines[3])
	require.Contains(t, lines[11], "⌕ Wie viele Zeilen")
	require.Contains(t, lines[12], "cut 9,000 → 400")
	for _, line := range lines {
		require.LessOrEqual(t, len([]rune(line)), 120)
	}
}

func TestHandler_ServesOnlyLocalhost(t *testing.T) {
	see := window.New(window.Config{Conversation: func(context.Context) (string, error) { return "acme/42 <u>", nil }})
	_, _, err := see.Handler().BeforeAgent(context.Background(), nil)
	require.NoError(t, err)
	for _, c := range []struct {
		path, host, from string
		want             int
	}{
		{"/", "localhost:8080", "127.0.0.1:5", 200},
		{"/", "[::1]:8080", "[::1]:5", 200},
		{"/c/_acme%2F42%20%3Cu%3E/", "127.0.0.1", "127.0.0.1:5", 200},
		{"/c/other/", "127.0.0.1", "127.0.0.1:5", 404},
		{"/", "127.0.0.1", "192.168.1.7:5", 403},
		{"/", "evil.example", "127.0.0.1:5", 403},
		{"/", "localhost.evil.example:80", "127.0.0.1:5", 403},
		{"/", "127.0.0.1", "", 403},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		r.Host, r.RemoteAddr = c.host, c.from
		w := httptest.NewRecorder()
		inspect.Handler(see).ServeHTTP(w, r)
		require.Equal(t, c.want, w.Code, "%+v", c)
		if c.want == http.StatusOK {
			for header, want := range map[string]string{"X-Frame-Options": "DENY", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"} {
				require.Equal(t, want, w.Header().Get(header))
			}
		}
		require.False(t, strings.Contains(w.Body.String(), "<u>"))
	}
	post := httptest.NewRequest(http.MethodPost, "/", nil)
	post.Host, post.RemoteAddr = "localhost", "127.0.0.1:1"
	w := httptest.NewRecorder()
	inspect.Handler(see).ServeHTTP(w, post)
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
}

func TestHandler_RejectsProxiedRequests(t *testing.T) {
	see := window.New(window.Config{})
	for _, name := range []string{"", "Forwarded", "via", "X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Proto", "X-Real-IP", "X-Client-IP", "CF-Connecting-IP", "True-Client-IP"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host, r.RemoteAddr = "localhost", "127.0.0.1:5"
		want := http.StatusOK
		if name != "" {
			r.Header.Set(name, "203.0.113.9")
			want = http.StatusForbidden
		}
		w := httptest.NewRecorder()
		inspect.Handler(see).ServeHTTP(w, r)
		require.Equal(t, want, w.Code, name)
	}
}

func TestHandler_OpensConversationsOfAnyName(t *testing.T) {
	for _, name := range []string{".", "..", "/", "a/../b", "%2e", "_", "?", "#x", " ", "日本", "<u>"} {
		see := window.New(window.Config{Conversation: func(context.Context) (string, error) { return name, nil }})
		_, _, err := see.Handler().BeforeAgent(context.Background(), nil)
		require.NoError(t, err)
		server := httptest.NewServer(inspect.Handler(see))
		t.Cleanup(server.Close)
		text := func(path string) string {
			at, err := url.Parse(server.URL + "/")
			require.NoError(t, err)
			to, err := at.Parse(path) // as a browser does
			require.NoError(t, err)
			answer, err := http.Get(to.String())
			require.NoError(t, err)
			defer answer.Body.Close()
			require.Equal(t, http.StatusOK, answer.StatusCode, "%q: %s", name, to)
			body, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			return string(body)
		}
		link := regexp.MustCompile(`<a href="([^"]*)">`).FindStringSubmatch(text(""))
		require.NotNil(t, link, name)
		id, err := json.Marshal(name)
		require.NoError(t, err)
		require.Contains(t, text(html.UnescapeString(link[1])), `"id":`+string(id), name)
	}
}

func TestHandler_StreamsNewCalls(t *testing.T) {
	see := window.New(window.Config{Conversation: func(context.Context) (string, error) { return "c", nil }})
	h := see.Handler()
	ctx, _, err := h.BeforeAgent(context.Background(), nil)
	require.NoError(t, err)
	server := httptest.NewServer(inspect.Handler(see))
	defer server.Close()
	answer, err := http.Get(server.URL + "/c/_c/events")
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	one := make([]byte, 4)
	_, err = io.ReadFull(answer.Body, one)
	require.NoError(t, err)
	m, err := h.WrapModel(ctx, einoleantest.Script[*schema.Message](einoleantest.Say("hello")), nil)
	require.NoError(t, err)
	_, err = m.Generate(ctx, []*schema.Message{schema.UserMessage("hello")})
	require.NoError(t, err)
	var all []byte
	for !bytes.Contains(all, []byte("event: call")) {
		n, err := answer.Body.Read(one)
		require.NoError(t, err)
		all = append(all, one[:n]...)
	}
}

func TestFollow_WritesEachCallOnce(t *testing.T) {
	whole := recorded(9, []string{"How far is it?"})
	other := recorded(3, []string{"And back?"})
	var b bytes.Buffer
	show := inspect.Follow(&b, inspect.TextOptions{Width: 110})
	sofar := *whole
	for n := range whole.Calls {
		sofar.Calls = whole.Calls[:n+1]
		require.NoError(t, show(&sofar))
		require.NoError(t, show(&sofar), "nothing is new")
		if n == 4 {
			require.NoError(t, show(other))
		}
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	var calls []string
	for _, line := range lines {
		if number := regexp.MustCompile(`^ +(\d+) +[\d,]+  [A-Za-z]`).FindStringSubmatch(line); number != nil {
			calls = append(calls, number[1])
		}
		require.LessOrEqual(t, len([]rune(line)), 110)
	}
	require.Equal(t, []string{"1", "2", "3", "4", "5", "1", "2", "3", "6", "7", "8", "9"}, calls, b.String())
	require.Equal(t, 1, strings.Count(b.String(), "what happened"))
	require.Equal(t, 3, strings.Count(b.String(), "einolean  "), "where the conversation changes, it is named")
	require.Error(t, show(nil))
}

func TestFollow_WaitsForAnswersAndDetectsNewConversation(t *testing.T) {
	c := recorded(2, []string{"go"})
	c.Calls[1].Unfinished = true
	var b bytes.Buffer
	show := inspect.Follow(&b, inspect.TextOptions{})
	require.NoError(t, show(c))
	require.NotContains(t, b.String(), "\n   2 ")
	c.Calls[1].Unfinished = false
	require.NoError(t, show(c))
	require.Contains(t, b.String(), "\n   2 ")
	again := recorded(2, []string{"go"})
	again.Calls[0].Start = again.Calls[0].Start.Add(time.Hour)
	require.NoError(t, show(again))
	require.Equal(t, 2, strings.Count(b.String(), "\n   1 "))
}

func TestFollow_BarScaleGrows(t *testing.T) {
	var b bytes.Buffer
	show := inspect.Follow(&b, inspect.TextOptions{})
	c := recorded(3, []string{"go"})
	for i, tokens := range []int{900, 1001, 45_000} {
		c.Calls[i].By = map[window.Category]int{window.Result: tokens}
		c.Calls[i].Tokens.Estimated = tokens
	}
	require.NoError(t, show(c))
	var scales []string
	for _, m := range regexp.MustCompile(`a full bar is ([\d,]+) tokens`).FindAllStringSubmatch(b.String(), -1) {
		scales = append(scales, m[1])
	}
	require.Equal(t, []string{"1,000", "2,000", "50,000"}, scales)
}

func TestWriteCall_ShowsWindow(t *testing.T) {
	c := rewritten(3, []string{"How far is it?"}, func(call int, l line) {
		if call == 3 && l["call"] != nil {
			l["same"], l["new"] = 3, [][2]int{{29, 36}}
		}
	})
	call := c.Calls[2]
	call.Agent, call.Model, call.Attempt = "guide", "small-1", 2
	call.Prefix = window.Prefix{Same: 221, Lost: 900, Cause: "result_cleared", Part: 3}
	var b bytes.Buffer
	require.NoError(t, inspect.WriteCall(&b, c, 3, inspect.TextOptions{Width: 100}))
	for _, line := range []string{
		`call 3 of 3: 1,650 tokens  How far is it?, guide, small-1, attempt 2`,
		`> How far is it?`,
		`      114 T agent's tools`,
		`      135 N system`,
		`resent`,
		`     1,500 reported by the provider`,
		`   36,000 not sent: 400 hidden tools`,
		`An old result was cleared. Of the 1,622 tokens that the call before sent, 900 cannot come from its`,
		`How far is it? cut: 9,000 → 400 tokens, whole in How far is it?`,
		`  called How far is it? How far is it?`,
		`  answered: How far is it?`,
	} {
		require.Contains(t, b.String(), strings.TrimLeft(line, " "), b.String())
	}
	for _, line := range strings.Split(b.String(), "\n") {
		require.LessOrEqual(t, len([]rune(line)), 100, line)
	}
	b.Reset()
	require.NoError(t, inspect.WriteCall(&b, c, 2, inspect.TextOptions{}))
	require.Contains(t, b.String(), "would not have been made")
	require.Contains(t, b.String(), `tools searched "How far is it?"`)
	require.ErrorContains(t, inspect.WriteCall(&b, c, 4, inspect.TextOptions{}), "3 calls, and no call 4")
	require.Error(t, inspect.WriteCall(&b, nil, 1, inspect.TextOptions{}))
}

func TestWriteCall_StatesOutcomeWithoutTexts(t *testing.T) {
	for _, c := range []struct {
		change func(*window.ModelCall)
		want   string
	}{
		{func(*window.ModelCall) {}, "called hello hello"},
		{func(c *window.ModelCall) { c.Did = nil }, "answered (its text was not kept)"},
		{func(c *window.ModelCall) { c.Did, c.Error = nil, "too many requests" }, "it failed: too many requests"},
		{func(c *window.ModelCall) { c.Did, c.Unfinished = nil, true }, "its answer was not read to the end"},
		{func(c *window.ModelCall) { c.Did, c.Answer = nil, "yes" }, "answered: yes"},
	} {
		conversation := rewritten(1, []string{"hello"}, func(_ int, l line) {
			if part, ok := l["part"].(window.Part); ok {
				part.Tokens += 1000 // short ones share a line
				l["part"] = part
				delete(l, "text")
			}
		})
		call := conversation.Calls[0]
		call.Answer = ""
		c.change(call)
		var b bytes.Buffer
		require.NoError(t, inspect.WriteCall(&b, conversation, 1, inspect.TextOptions{Width: 120}))
		parts, did, _ := strings.Cut(b.String(), "what the model did")
		require.Contains(t, parts, "(its text was not kept)")
		require.Contains(t, did, c.want)
		require.Equal(t, strings.Contains(c.want, "not kept"), strings.Contains(did, "not kept"), did)
	}
}

// The cost is stated for every kind of call and every report of a provider.
func TestWriteCall_StatesCostForEveryReport(t *testing.T) {
	for _, c := range []struct {
		change func(*window.ModelCall)
		lines  []string // of the call
		share  string   // of its prompt that the cache had, in the overview
	}{
		{func(*window.ModelCall) {}, []string{"  Everything that the call before sent is still the prefix: the cache can serve it."}, " 60 %"},
		{func(c *window.ModelCall) { c.Kept = true }, []string{"  the provider keeps this conversation: the model saw more than what was sent"}, " 60 %"},
		{func(c *window.ModelCall) { c.Prefix = window.Prefix{Same: 10, Lost: 8, Cause: "other"} },
			[]string{"  Something in front changed. Of the 1,622 tokens that the call before sent, 8 cannot come from its cache."}, " 60 %"},
		{func(c *window.ModelCall) { c.Prefix = window.Prefix{Same: 10, Lost: 7, Cause: "other"} },
			[]string{"  Everything that the call before sent is still the prefix: the cache can serve it."}, " 60 %"},
		{func(c *window.ModelCall) { c.Tokens.Reported.PromptTokens, c.Prefix.Same = 0, c.Tokens.Estimated },
			[]string{"        0 reported by the provider"}, "100 %"},
		{func(c *window.ModelCall) { c.Tokens, c.Prefix.Same = window.Tokens{}, 0 }, []string{"        0 tokens sent, estimated"}, "  0 %"},
		{func(c *window.ModelCall) { c.Without = nil; c.Hidden.Tools, c.Hidden.Tokens = 1, 90 },
			[]string{"       90 not sent: 1 hidden tool", "        – without einolean: this call only searched or read back, and would not have been made"}, " 60 %"},
	} {
		conversation := recorded(3, []string{"hello"})
		c.change(conversation.Calls[2])
		var call, all bytes.Buffer
		require.NoError(t, inspect.WriteCall(&call, conversation, 3, inspect.TextOptions{Width: 120}))
		for _, want := range c.lines {
			require.Contains(t, strings.Split(call.String(), "\n"), want, call.String())
		}
		require.NoError(t, inspect.WriteText(&all, conversation, inspect.TextOptions{Width: 120}))
		require.Contains(t, all.String(), c.share)
		require.NotContains(t, all.String()+call.String(), "NaN")
	}
}

func TestWriteText_BarsAreLettersWithoutColor(t *testing.T) {
	for _, colour := range []bool{true, false} {
		var b bytes.Buffer
		require.NoError(t, inspect.WriteText(&b, recorded(3, []string{"hello"}), inspect.TextOptions{Width: 120, Color: colour}))
		require.Equal(t, colour, strings.Contains(b.String(), "███"))
		require.Equal(t, colour, strings.Contains(b.String(), "\x1b["))
		require.Equal(t, !colour, strings.Contains(b.String(), "NNN"), b.String())
	}
}

func TestWriteCall_HasNoControlCharacters(t *testing.T) {
	for n := range 12 {
		for _, width := range []int{40, 100, 200} {
			c := recorded(12, hostile)
			c.Calls[n].Agent, c.Calls[n].Model = hostile[6], hostile[7]
			var b bytes.Buffer
			require.NoError(t, inspect.WriteCall(&b, c, n+1, inspect.TextOptions{Width: width}))
			require.NotRegexp(t, "[\x00-\x09\x0b-\x1f\x7f\u202e\u2028]", b.String())
		}
	}
}

func TestWriteText_StatesWhereEinoleanCostMore(t *testing.T) {
	for without, want := range map[int]string{50: "2.0x as many", 100: "the same", 150: "1.5x fewer", 0: "the same"} {
		c := &window.Conversation{ID: "c", Calls: []*window.ModelCall{{N: 1, Tokens: window.Tokens{Estimated: 100}, Without: &without}}}
		var b bytes.Buffer
		require.NoError(t, inspect.WriteText(&b, c, inspect.TextOptions{}))
		require.Contains(t, b.String(), fmt.Sprintf("without einolean %d: %s\n", without, want))
	}
}
