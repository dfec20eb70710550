// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const secret = "SECRET42"

func TestText_HidesSecretsInURLs(t *testing.T) {
	for what, text := range map[string]string{
		"query":      "http://h/p?api_key=" + secret,
		"more":       `Post "https://h:1/p/q?a=1&k=` + secret + `#` + secret + `": dial`,
		"user":       "http://" + secret + "@h/p",
		"password":   "https://u:" + secret + "@h",
		"both":       "wss://u:" + secret + "@h/?" + secret,
		"two":        "http://a?k=" + secret + " and http://b?k=" + secret,
		"two at":     "http://u:p@" + secret + "@h",
		"in quotes":  `'http://a?` + secret + `'`,
		"relative":   `Get "/p?k=` + secret + `"`,
		"fragment":   "http://h/p#" + secret,
		"path":       `Post "https://h/api/mcp/s/` + secret + `/mcp": EOF`,
		"path's end": "https://h:1/" + secret,
	} {
		require.NotContains(t, Text(text), secret, what)
	}
	require.Equal(t, `Get "http://h:1/p?…": dial tcp`, Text(`Get "http://u:p@h:1/p?q=1": dial tcp`))
	require.Equal(t, "http://h/api/v2/streamable-http/sse/…/mcp?…", Text("http://h/api/v2/streamable-http/sse/abcdefghijklmnopqrstuvwx/mcp?q"))
	require.Equal(t, "see http://h/p, and mail a@b.c? #1", Text("see http://h/p, and mail a@b.c? #1"))
}

// Words that are no secrets stay, because readers of an error need them.
func TestText_KeepsOrdinaryWords(t *testing.T) {
	for _, text := range []string{
		"", "401 Unauthorized", "the token is expired", "invalid_token", "unknown tool: search_files",
		"the program ended with exit status 1: EOF (its last words: Error: Cannot find module '/usr/lib/node_modules/x/dist/index.js')",
		"dial tcp 127.0.0.1:8080: connect: connection refused", "basic auth is off", "令牌已过期", "session f47ac10b-58cc not found",
		`open C:\Users\me\file.txt: not found`, "request 123456789 took 3.5s",
	} {
		require.Equal(t, text, Text(text, "", "a", "1"))
	}
}

func TestText_HidesWhatLooksLikeKeys(t *testing.T) {
	for _, text := range []string{
		"invalid token: " + secret, `{"api_key":"` + secret + `"}`, `{\"access_token\": \"` + secret + `\"}`, "X-Api-Key=" + secret, "password = '" + secret + " with spaces'",
		"Authorization: Bearer " + secret, "bad header Bearer " + secret, "Basic U0VDUkVUNDI" + secret, "cookie: sid=" + secret,
		"Incorrect key provided: sk-proj-" + secret + "abcdefgh12", "ghp_" + secret + "0123456789abcdef", "eyJhbGciOiJIUzI1NiJ9." + secret + "." + secret,
		"client_secret=" + secret + "&x=1", "AKIA" + secret + "0123456789",
	} {
		require.NotContains(t, Text(text), secret, text)
	}
}

// A server may repeat what it received in any notation.
func TestText_HidesKnownSecretsInEveryNotation(t *testing.T) {
	for _, value := range []string{"plain", `qu"ote\s`, "sp ace/slash?&=", "日本 語", "tab\tline\n"} {
		quoted, err := json.Marshal(value)
		require.NoError(t, err)
		for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value), string(quoted), fmt.Sprintf("%q", value)} {
			require.Equal(t, "it says "+mask, strings.ReplaceAll(Text("it says "+form, value), `"`+mask+`"`, mask), form)
		}
	}
	require.Equal(t, "… and …", Text("longer and long", "long", "longer"), "the longer one first")
}

func TestInURL_AndOtherSourcesFindSecrets(t *testing.T) {
	text := func(values []string) string {
		return Text("key-one key-two key-tre u-name pass-word /usr/lib X", values...)
	}
	require.Equal(t, "… … … … … /usr/lib X", text(InURL("http://u-name:pass-word@h/p?a=key-one&b=key-two#key-tre")))
	require.Empty(t, InURL("http://\x00"))
	require.Contains(t, InURL("https://h/s/key12345/mcp"), "key12345")
	require.Equal(t, "… key-two key-tre u-name pass-word /usr/lib X", text(InHeader("Authorization", "Bearer key-one")))
	require.NotContains(t, Text("u:pass-word", InHeader("authorization", "Basic dTpwYXNzLXdvcmQ=")...), "pass-word")
	require.Empty(t, InHeader("Content-Type", "application/json"))
	require.Equal(t, "… key-two key-tre u-name pass-word /usr/lib X", text(InVariable("MY_KEY", "key-one")))
	require.Equal(t, "key-one key-two key-tre u-name … /usr/lib X", text(InVariable("DATABASE", "postgres://u:pass-word@h/db")))
	require.Empty(t, InVariable("LIB", "/usr/lib/node20"))
	require.Empty(t, InVariable("DEBUG", "1"))
	require.Equal(t, []string{"abcdef12"}, InVariable("X", "abcdef12"))
	require.Equal(t, "… … key-tre u-name pass-word /usr/lib X", text(InArguments([]string{"-y", "/usr/lib", "--api-key=key-one", "--token", "key-two", "X"})))
}

// If the pattern of a rule matches, its mayMatch is true. The texts are random, made of pieces that rules look for.
func TestRules_MayMatchCoversPattern(t *testing.T) {
	pieces := []string{"https", "://", "u:p", "@", "host", "/", "?", "#", "q=1", " ", "Bearer", "bAſic", "BASIC ", ":", "=", `"`, "'", `\`, "abcdef012345", "SECRET", "toKen", "api_\u212aey", "paſſword", "passphrase",
		"authorization", "credentials", "Cookie", "signature", "private-key", "sk-", "ghp_", "glpat", "xoxb-", "AKIA", "eyJ", ".", "0123456789abcdefghij", "日本"}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r, matched := rand.New(rand.NewPCG(seed, 0)), make([]int, len(rules))
	for range 50_000 {
		var text strings.Builder
		for range 1 + r.IntN(8) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		for i, rule := range rules {
			if rule.pattern.MatchString(text.String()) {
				matched[i]++
				require.True(t, rule.mayMatch(text.String(), foldCase(text.String())), "%s: %q", rule.pattern, text.String())
			}
		}
	}
	require.NotContains(t, matched, 0)
}

func BenchmarkText(b *testing.B) {
	for name, line := range map[string]string{"rule": strings.Repeat("=", 64<<10), "words": strings.Repeat("the task of 3.5s is done; ", 2500)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				Text(line)
			}
		})
	}
}
