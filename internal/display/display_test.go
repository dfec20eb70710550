// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package display

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWhatCouldActOnATerminalIsEscaped(t *testing.T) {
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

func TestNumbersHaveGroupsOfThreeDigits(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -100: "-100", math.MinInt64: "-9,223,372,036,854,775,808"} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestAStartEndsAtACharacter(t *testing.T) {
	text := "aé日🎉b"
	for n := range len(text) + 3 {
		got := Start(text, n)
		if len(got) > n || !utf8.ValidString(got) || !strings.HasPrefix(text, got) || len(got) < min(n, len(text))-3 {
			t.Errorf("Start(%q, %d) = %q", text, n, got)
		}
	}
}
