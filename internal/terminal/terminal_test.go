// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestStrip_ShowsWhatATerminalShows(t *testing.T) {
	for text, want := range map[string]string{
		"plain\r\ntext\n":                               "plain\r\ntext\n",
		"\x1b[31mERROR\x1b[0m: disk\n":                  "ERROR: disk\n",
		"\x1b[1;38;5;196mFAIL\x1b[m src/a.test.js":      "FAIL src/a.test.js",
		"\x1b]0;a title\aprompt$ ls\n":                  "prompt$ ls\n",
		"\x1b]8;;https://a.example\x1b\\here\x1b]8;;\a": "here",
		"\x1b(B\x1b[?25lspinner\x1b[?25h\x1b7\x1b8":     "spinner",
		" 10 %\r 50 %\r100 %\r\ndone\n":                 "100 %\r\ndone\n",
		"working\r\x1b[Kerror: lost\n":                  "error: lost\n",
		"kept\r   \r\nnext\n":                           "kept\r\nnext\n",
		"N\bNA\bAM\bME\bE\n":                            "NAME\n",
		"é\bx\b\b\by\n":                                 "y\n",
		"old\rmac\rline ends":                           "old\rmac\rline ends",
		"open \x1b[31":                                  "open ",
		"open \x1b]0;title\nnext\n":                     "open 0;title\nnext\n",
		"a \x1b\n":                                      "a \n",
		"\x1b[31\x01mstays":                             "\x01mstays",
		"\x1b日本":                                        "日本",
	} {
		require.Equal(t, want, Strip(text), "%q", text)
	}
}

func FuzzStrip(f *testing.F) {
	f.Add("\x1b[31mERROR\x1b[0m\r\n 10 %\r 50 %\n")
	f.Add("\x1b]0;t\a\b\b\x1b(B\x1b")
	f.Fuzz(func(t *testing.T, text string) {
		got := Strip(text)
		if len(got) > len(text) || strings.Count(got, "\n") != strings.Count(text, "\n") || strings.Contains(got, "\x1b") {
			t.Fatalf("%q became %q", text, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q became %q, which is no UTF-8", text, got)
		}
	})
}
