// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// Whatever is left out between them, for texts longer and shorter than what is read, and lines around every limit.
func TestRender_KeepsStartAndEndOfLongTexts(t *testing.T) {
	for _, size := range []int{5_000, 256<<10 - 1, 256 << 10, 320<<10 - 1, 320 << 10, 320<<10 + 1, 400_000, 1 << 20} {
		for _, line := range []int{10, 79, 1000, 8<<10 - 1, 8 << 10, 8<<10 + 1, 20_000} {
			var b strings.Builder
			for i := 0; b.Len() < size; i++ {
				word := fmt.Sprintf("w%d ", i)
				b.WriteString(word + strings.Repeat("x", max(0, min(line-len(word)-1, size-b.Len()-len(word)-1))) + "\n")
			}
			text := b.String()
			for _, room := range []int{2_000, 4_000, 16_000} {
				shown, _ := Render(Request{Text: text, Room: room})
				require.LessOrEqual(t, len(shown), room)
				if len(text) > room {
					shown = unframed(t, shown)
				}
				require.True(t, strings.HasPrefix(shown, text[:min(100, line)-1]), "the first bytes of %d, lines of %d: %.150q", size, line, shown)
				end := text[len(text)-min(60, line/2):]
				require.Contains(t, shown, strings.TrimSuffix(end, "\n"), "the last bytes of %d, lines of %d", size, line)
				for each := range strings.Lines(shown) {
					if each = strings.TrimSuffix(each, "\n"); len(each) > 20 && strings.HasPrefix(each, "w") && !strings.Contains(each, "…") && !strings.Contains(each, "[") {
						require.Contains(t, text, each[:20])
					}
				}
			}
		}
	}
}

// The lines of prose, code and logs are in order, with or without a question, and only gaps are between them.
func TestRender_EveryLineIsFromTheText(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 1))
	kinds := map[string]func(i int) string{
		"prose": func(i int) string {
			return fmt.Sprintf("Sentence %d speaks of %s and “%s”.", i, pickOf(random), pickOf(random))
		},
		"中文": func(i int) string { return fmt.Sprintf("第%d句说的是%s和河上的船。", i, pickOf(random)) },
		"code": func(i int) string {
			return fmt.Sprintf("\tif x%d := call(%q); x%d != nil { return %d }", i, pickOf(random), i, i)
		},
		"log": func(i int) string {
			return fmt.Sprintf("2026-03-10T14:%02d:%02d.%03dZ INFO worker-%d %s %s-%d", i/60%60, i%60, i%1000, i%7, pickOf(random), pickOf(random), i)
		},
	}
	for name, line := range kinds {
		for range race.Cases(60) {
			end, lines := []string{"\n", "\r\n"}[random.IntN(2)], []string(nil)
			for i := range 100 + random.IntN(900) {
				lines = append(lines, line(i))
			}
			text := strings.Join(lines, end) + []string{"", end}[random.IntN(2)]
			question := []string{"", "What is said of the ferryman?"}[random.IntN(2)]
			room := 1_500 + random.IntN(6_000)
			shown, _ := Render(Request{Text: text, Room: room, Question: question, Chinese: name == "中文"})
			at, gaps := 0, 0
			if len(text) > room { // a text that fits is shown whole, without a label
				shown = unframed(t, shown)
			}
			for each := range strings.Lines(shown) {
				each = repeated.ReplaceAllString(strings.TrimRight(each, "\r\n"), "")
				if strings.HasPrefix(each, "[…") || missing.MatchString(each) {
					gaps++
					continue
				}
				next := slices.Index(lines[at:], each)
				require.GreaterOrEqual(t, next, 0, "%s: %q is no line behind line %d of:\n%s", name, each, at, shown)
				at += next + 1
			}
			require.Equal(t, len(text) > room, gaps > 0)
			require.Greater(t, len(shown), min(len(text), room)/2, "%s: the room is used", name)
		}
	}
}

// missing is a gap that says which lines are missing.
var missing = regexp.MustCompile(`^\[(?:lines \d+ to \d+ left out|略去第 \d+ 至 \d+ 行)\]$`)

// unframed is a preview without the line that says what it shows.
func unframed(t *testing.T, shown string) string {
	first, rest, ok := strings.Cut(shown, "\n")
	require.True(t, ok && (strings.HasSuffix(first, ":") || strings.HasSuffix(first, "：")), "no label: %.200q", shown)
	return rest
}

// repeated is what a line says of others like it.
var repeated = regexp.MustCompile(` \(×\d+\)$`)

func pickOf(random *rand.Rand) string {
	words := []string{"a river", "the boats", "ferryman Okafor", "request handled", "cache filled", "日落", "naïve café", "\ufffd"}
	return words[random.IntN(len(words))]
}

// Whatever is escaped in it. Truncated strings end in "…".
func TestRender_EveryStringIsFromTheDocument(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	pieces := []string{`\`, `\\`, `"`, "/", "\n", "\t", "\x01", "é", "日本", "🙂", "\u2028", "\ufffd", "<b>", "&", "plain words ", "0", " "}
	word := func() string {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	for range race.Cases(300) {
		known := map[string]bool{}
		var records []map[string]any
		for i := range 20 + random.IntN(60) {
			record := map[string]any{"id": i}
			for _, key := range []string{"name", "path", "note"} {
				value := word()
				record[key], known[value] = value, true
			}
			records = append(records, record)
		}
		source, err := json.Marshal(map[string]any{"items": records})
		require.NoError(t, err)
		room := min(500+random.IntN(2000), len(source)-1)
		shown, format := Render(Request{Text: string(source), Room: room})
		require.Equal(t, JSON, format)
		var value any
		require.NoError(t, json.Unmarshal([]byte(shown), &value), "%s", shown)
		rows, _ := value.(map[string]any)["rows"].([]any)
		for _, row := range rows {
			cells, ok := row.([]any)
			if !ok {
				continue // "… 12 rows"
			}
			for _, cell := range cells {
				text, ok := cell.(string)
				if !ok || known[text] {
					continue
				}
				start, cut := strings.CutSuffix(text, "…")
				require.True(t, cut, "%q is in no record: %s", text, shown)
				found := false
				for each := range known {
					found = found || strings.HasPrefix(each, start)
				}
				require.True(t, found, "%q begins no value", start)
			}
		}
	}
}

// It ends for empty attributes, unclosed tags and unclosed quotes.
func TestRender_EndsForAnyMarkup(t *testing.T) {
	for _, part := range []string{
		`<img alt="">`, `<img alt=>`, `<img alt= >`, `<img alt`, `<a href="">x</a>`, `<a href=''></a>`, `<a href=>`, `<input value="" title="" />`, `<p class="`, `<p class='x`,
		`<`, `</`, `<!`, `<!--`, `<!-- -- -->`, `<![CDATA[`, `<script>`, `<style></style`, `<svg><svg>`, `<td><td>`, `<li>`, `&`, `&amp`, `&#`, `&#x;`, "<\x00>", `<a b=c=d>`, `<= >`, `< a>`,
	} {
		for _, head := range []string{"<!doctype html><html><body>", "<html><div>"} {
			text := head + strings.Repeat(part+"text of it\n", 3000)
			done := make(chan string, 1)
			go func() {
				shown, _ := Render(Request{Text: text, Room: 4000})
				done <- shown
			}()
			select {
			case shown := <-done:
				require.LessOrEqual(t, len(shown), 4000)
				require.True(t, utf8.ValidString(shown))
				require.NotEmpty(t, shown)
			case <-time.After(time.Minute):
				t.Fatalf("%q is read for ever", part)
			}
		}
	}
}
