// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package display

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestQuoted_WritesReadableJSON(t *testing.T) {
	for text, want := range map[string]string{
		"":           `""`,
		`say "hi"`:   `"say \"hi\""`,
		"<a> & 日本\n": `"<a> & 日本\n"`,
	} {
		if got := Quoted(text); got != want {
			t.Errorf("Quoted(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestPrintable_EscapesControlCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"":               "",
		`say "hi"`:       `say "hi"`,
		"日本 é":           "日本 é",
		"\x1b[2J":        `\x1b[2J`,
		"a\u202eb\u2028": `a\u202eb\u2028`,
		"a\n\tb":         `a\n\tb`,
		"\xff":           `\xff`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("Printable(%q) = %q, want %q", text, got, want)
		}
	}
	if got := Line(" a\n\t b\x1b "); got != `a b\x1b` {
		t.Errorf("Line: %q", got)
	}
}

func TestPrintable_IsGraphicAndIdempotent(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	odd := []rune{0, 7, '\n', '\t', 0x1b, 0x7f, 0x80, 0x9b, 0xad, 0x61c, 0x200b, 0x200e, 0x2028, 0x202e, 0x2066, 0xfeff, 0xe0001, 0x10ffff, 'a', '\\', '"', '日', ' '}
	for range 10_000 {
		var b strings.Builder
		for range random.IntN(12) {
			if random.IntN(9) == 0 {
				b.WriteByte(byte(random.Uint32()))
				continue
			}
			b.WriteRune(odd[random.IntN(len(odd))])
		}
		text := b.String()
		once := Printable(text)
		if strings.ContainsFunc(once, func(r rune) bool { return !unicode.IsGraphic(r) }) || Printable(once) != once {
			t.Fatalf("Printable(%q) = %q, and again %q", text, once, Printable(once))
		}
		written, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		var was, is map[string]string
		shown := JSON(written)
		if json.Unmarshal(written, &was) != nil || json.Unmarshal(shown, &is) != nil || !maps.Equal(was, is) {
			t.Fatalf("%s became %s", written, shown)
		}
		if strings.ContainsFunc(string(shown), func(r rune) bool { return !unicode.IsGraphic(r) }) {
			t.Fatalf("JSON: %q", shown)
		}
	}
}

func TestGrouped_GroupsThreeDigits(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -100: "-100", math.MinInt64: "-9,223,372,036,854,775,808"} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestStart_EndsAtCharacter(t *testing.T) {
	text := "aé日🎉b"
	for n := range len(text) + 3 {
		got := Start(text, n)
		if len(got) > n || !utf8.ValidString(got) || !strings.HasPrefix(text, got) || len(got) < min(n, len(text))-3 {
			t.Errorf("Start(%q, %d) = %q", text, n, got)
		}
		if short := Short(text, n); short != text && (short != got+"…" || n >= len(text)) {
			t.Errorf("Short(%q, %d) = %q", text, n, short)
		}
	}
}

// A text is cut only between characters. Invalid bytes count as characters.
func TestFloorCeil_CutBetweenCharacters(t *testing.T) {
	for _, text := range []string{"aé天😀b", "\xffa\x80\x80\x80\x80b", "\xe4\xb8", "\xf0\x9f\x98", "天", ""} {
		between := map[int]bool{0: true}
		for at := 0; at < len(text); between[at] = true {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
		for n := -1; n < len(text)+3; n++ {
			floor := min(max(n, 0), len(text))
			ceil := floor
			for ; !between[floor]; floor-- {
			}
			for ; !between[ceil]; ceil++ {
			}
			if got := Floor(text, n); got != floor || Floor([]byte(text), n) != floor {
				t.Errorf("Floor(%q, %d) = %d, want %d", text, n, got, floor)
			}
			if got := Ceil(text, n); got != ceil || Ceil([]byte(text), n) != ceil {
				t.Errorf("Ceil(%q, %d) = %d, want %d", text, n, got, ceil)
			}
		}
	}
}

func TestValid_KeepsLength(t *testing.T) {
	for text, want := range map[string]string{"": "", "aé": "aé", "\xffa\xe4\xb8": "?a??", "\uFFFD": "\uFFFD"} {
		if got := Valid(text); got != want {
			t.Errorf("Valid(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestClip_CutsAfterWholeCharacters(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""}, {"a", 0, "…"}, {"a", -1, "…"}, {"üöä", 3, "üöä"}, {"üöäß", 3, "üöä…"}, {"日本語", 2, "日本…"}, {"a\xffb", 2, "a\uFFFD…"}, {"a\xff", 2, "a\uFFFD"},
	} {
		if got := Clip(c.text, c.most); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
