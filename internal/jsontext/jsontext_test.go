// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// End stops where a decoder does, whatever the value and whatever follows it.
func TestEndIsWhereADecoderStops(t *testing.T) {
	for _, value := range []string{
		`{}`, `[]`, `""`, `0`, `-1.5e+3`, `true`, `false`, `null`, `"a, b: {c} [d] \" \\"`, `"\\"`, `"é\u00e9"`,
		`{"a":{"b":[1,"}",{}]},"c":"]"}`, "[ 1 ,\n { \"x\" : [ ] }\t, \"[\" ]", `[[[]],[]]`, `{"":""}`,
	} {
		require.Equal(t, len(value), End(value, 0), value)
		for _, follows := range []string{`,"x":1`, `]`, `}`, ` `, "\n", `:1`, `,`} {
			text := `[` + value + follows
			var raw json.RawMessage
			d := json.NewDecoder(strings.NewReader(text[1:]))
			require.NoError(t, d.Decode(&raw))
			require.Equal(t, 1+len(raw), End(text, 1), text)
		}
	}
}

func TestUnescape(t *testing.T) {
	for raw, want := range map[string]string{
		`plain`: "plain", `a\n\"\\\/\u00e9\ud83d\ude00z`: "a\n\"\\/é😀z", `\ud83d\u0041`: "\ufffdA", `\ud83d\ud83d\ude00`: "\ufffd😀",
		`\ude00\ud83d`: "\ufffd\ufffd", `\x\`: `\x`, `\u12`: `\u12`, `\u12g4`: `\u12g4`, "\\u123\x11": "\\u123\x11", `\ud83d\uzzzz`: "\ufffd\\uzzzz",
	} {
		require.Equal(t, want, Unescape(raw), raw)
	}
}
