// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/cases"
)

// Letters outside of ASCII are folded; a word that folding does not change is not copied.
func TestStemInPlace_FoldsNonASCIILetters(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			continue
		}
		word := "Aé" + string(r) + "x"
		require.Equal(t, cases.Fold().String(word), string(StemInPlace([]byte(word))), "%q", word)
	}
	word := []byte("查询天气预报")
	require.Zero(t, testing.AllocsPerRun(20, func() { StemInPlace(word) }))
	require.Equal(t, "v2beta", string(StemInPlace([]byte("V2Beta"))), "a word with digits keeps its ending")
}

// A run of digits ends where another character begins, whichever digits they are.
func TestIsDigit_ASCIIOnly(t *testing.T) {
	for c := range 256 {
		require.Equal(t, strings.ContainsRune("0123456789", rune(c)), IsDigit(byte(c)), "%q", rune(c))
	}
}

// Characters are of scripts without spaces, parts of words, or neither.
func TestIsUnspaced_ClassifiesCharacters(t *testing.T) {
	for _, r := range "天あカー한ไລកက" {
		require.True(t, isUnspaced(r) && isWordRune(r), "%c", r)
	}
	for _, r := range "azAZ09éßя٣" {
		require.True(t, !isUnspaced(r) && isWordRune(r), "%c", r)
	}
	for _, r := range "`{@[/:_-. 。\u3000€" {
		require.True(t, !isUnspaced(r) && !isWordRune(r), "%c", r)
	}
	require.True(t, StartsUnspaced("天x") && !StartsUnspaced("x天") && !StartsUnspaced(""))
}

func TestIDOf_StripsIDSuffix(t *testing.T) {
	for name, want := range map[string]string{
		"channel_id": "channel", "channelId": "channel", "channelID": "channel", "source_channel_ids": "channel", "user-uuid": "user",
		"id": "", "paid": "", "channel": "", "idea": "", "": "", "_id": "", strings.Repeat("x", 99) + "_id": "",
	} {
		require.Equal(t, want, IDOf(name), name)
	}
}

func TestLeadingIdentifier_ReadsSnakeCase(t *testing.T) {
	for text, want := range map[string]string{
		"due_date": "due_date", "a_b c": "a_b", "max2_n,": "max2_n", "": "", "plain": "", "_x": "", "x_": "", "a b_c": "", "日_期": "",
	} {
		require.Equal(t, want, LeadingIdentifier(text), "%q", text)
	}
	id := strings.Repeat("x", MaxWordBytes-2) + "_y"
	require.Equal(t, id, LeadingIdentifier(id))
	require.Empty(t, LeadingIdentifier("x"+id))
}

// Whatever a text is: its runs stand in it in order and hold nothing but characters of words, all
// of one kind, and no character of a word is outside of them but those after an apostrophe; the parts
// of a run make it up, and so do the single characters among its tokens.
func FuzzRuns(f *testing.F) {
	for _, text := range []string{"", "get_weather-forecast", "parseURL2JSON", "the user's don’t", "查天气 now", "ＡＢＣ①資料庫データ", "a\xffb", "e\u0301x́'s"} {
		f.Add(text)
	}
	letters := []rune("aZ9 _'’.é\u0301\u0e48天気データ한ก\n+")
	seed := uint64(time.Now().UnixNano())
	f.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		text := make([]rune, random.IntN(24))
		for i := range text {
			text[i] = letters[random.IntN(len(letters))]
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		normal := Normalize(text)
		require.True(t, utf8.ValidString(normal))
		last := 0
		EachRun(normal, func(r Run) {
			require.GreaterOrEqual(t, r.Start, last)
			require.Equal(t, r.Text, normal[r.Start:r.Start+len(r.Text)])
			require.True(t, isBetween(normal[last:r.Start]), "%q", normal[last:r.Start])
			last = r.Start + len(r.Text)
			requireOneKind(t, r)
		})
		require.True(t, isBetween(normal[last:]), "%q", normal[last:])
	})
}

// isBetween reports whether text has no character of a word but after an apostrophe.
func isBetween(text string) bool {
	at := strings.IndexFunc(text, isWordRune)
	return at < 0 || strings.ContainsAny(text[:at], "'’")
}

func requireOneKind(t *testing.T, r Run) {
	for _, c := range r.Text {
		require.True(t, isWordRune(c) && (isUnspaced(c) == r.Unspaced || unicode.IsMark(c)), "%q", r.Text)
	}
	parts, single := "", ""
	EachPart(r.Text, func(part string) { parts += part })
	EachCharacter(r.Text, func(token string) {
		require.Contains(t, r.Text, token)
		if utf8.RuneCountInString(token) == 1 {
			single += token
		}
	})
	require.Equal(t, []string{r.Text, r.Text}, []string{parts, single})
}
