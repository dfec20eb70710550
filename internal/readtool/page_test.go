// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// The pages add up to the exact content, for any start and any content.
func TestPage_FollowingPagesGivesExactContent(t *testing.T) {
	r := random(t)
	for range race.Cases(30) {
		content := hardContent(r)
		if content == "" {
			continue
		}
		for kind, store := range readers(stored(t, content)) {
			opts := from(store, Options{MaxBytes: MinMaxBytes + r.IntN(3000), MaxLines: 20 + r.IntN(200)})
			for _, start := range []string{
				`{"file_path":"` + testPath + `"}`,
				fmt.Sprintf(`{"file_path":%q,"limit":%d}`, testPath, 1+strings.Count(content, "\n")/100+r.IntN(300)*r.IntN(2)),
				fmt.Sprintf(`{"file_path":%q,"byte_limit":%d}`, testPath, 1+len(content)/300+r.IntN(9000)*r.IntN(2)),
			} {
				require.Equal(t, content, followed(t, opts, start, content), "%s from %s", kind, start)
			}
		}
	}
}

// followed reads pages until none is named, and checks each.
func followed(t *testing.T, opts Options, arguments, content string) string {
	t.Helper()
	read := New(opts)
	var b strings.Builder
	for calls := 0; arguments != ""; calls++ {
		require.LessOrEqual(t, calls, 2*len(content)+1, "the pages do not end")
		answer := ask(t, read, arguments)
		p := readPage(t, answer)
		checkPage(t, opts, p, content)
		require.LessOrEqual(t, len(answer), opts.MaxBytes)
		require.Equal(t, b.Len(), p.from, "pages leave something out or repeat it")
		b.WriteString(p.content)
		if arguments = p.next; arguments == "" && p.to < len(content) { // the part that was asked for
			require.Contains(t, answer, "the part you asked for")
			if arguments = fmt.Sprintf(`{"file_path":%q,"byte_offset":%d,"byte_limit":%d}`, testPath, p.to, p.to-p.from); p.first > 0 {
				arguments = fmt.Sprintf(`{"file_path":%q,"offset":%d,"limit":%d}`, testPath, p.last+1, p.last-p.first+1)
			}
		}
	}
	return b.String()
}

func checkPage(t *testing.T, opts Options, p answered, content string) {
	t.Helper()
	require.Equal(t, len(content), p.size)
	require.Equal(t, content[p.from:p.to], p.content)
	require.False(t, splits(content, p.from) || splits(content, p.to), "a page begins or ends inside a character")
	if p.first > 0 {
		require.Equal(t, strings.Count(content[:p.from], "\n")+1, p.first)
		require.LessOrEqual(t, p.last-p.first+1, opts.MaxLines)
		lines := strings.SplitAfter(content[p.from:], "\n")[:p.last-p.first+1]
		require.True(t, strings.HasPrefix(strings.Join(lines, ""), p.content))
	}
}

// splits reports whether cutting s at i cuts a character in two.
func splits(s string, i int) bool {
	for start := max(i-utf8.UTFMax+1, 0); start < i; start++ {
		if r, size := utf8.DecodeRuneInString(s[start:]); start+size > i && (r != utf8.RuneError || size > 1) {
			return true
		}
	}
	return false
}

func TestTail_WithEarlierPagesGivesExactContent(t *testing.T) {
	r := random(t)
	for range race.Cases(30) {
		content := hardContent(r)
		if content == "" {
			continue
		}
		for _, store := range readers(stored(t, content)) {
			opts := from(store, Options{MaxBytes: MinMaxBytes + r.IntN(3000), MaxLines: 1 + r.IntN(200)})
			read := New(opts)
			arguments := fmt.Sprintf(`{"file_path":%q,"tail":%d}`, testPath, 1+r.IntN(100))
			got := ""
			for arguments != "" {
				answer := ask(t, read, arguments)
				p := readPage(t, answer)
				checkPage(t, opts, p, content)
				require.LessOrEqual(t, len(answer), opts.MaxBytes)
				require.Equal(t, len(content)-len(got), p.to)
				got = p.content + got
				if arguments = p.before; p.before == "" && p.from > 0 {
					// A page of bytes names what follows; what precedes ends where it begins.
					before := max(p.from-1000, 0)
					arguments = fmt.Sprintf(`{"file_path":%q,"byte_offset":%d,"byte_limit":%d}`, testPath, before, p.from-before)
				}
			}
			require.Equal(t, content, got)
		}
	}
}

func TestPage_ReadsWindowsOfLines(t *testing.T) {
	content := "one\ntwo\r\n\nfour\nfive"
	read := New(from(stored(t, content), Options{}))
	for _, c := range []struct{ arguments, want string }{
		{`{"offset":1,"limit":2}`, "one\ntwo\r\n"},
		{`{"offset":2,"limit":2}`, "two\r\n\n"},
		{`{"offset":3,"limit":1}`, "\n"},
		{`{"offset":4}`, "four\nfive"},
		{`{"offset":5,"limit":100}`, "five"},
		{`{"offset":-3,"limit":-3}`, content},
		{`{"offset":0,"limit":0,"byte_offset":0,"byte_limit":0,"tail":0,"pattern":"","query":"","context":0}`, content},
		{`{"tail":1}`, "five"},
		{`{"tail":3}`, "\nfour\nfive"},
		{`{"tail":99}`, content},
		{`{"tail":-2}`, "four\nfive"},
		{`{"byte_offset":4,"byte_limit":5}`, "two\r\n"},
		{`{"byte_offset":16}`, "ive"},
	} {
		arguments := strings.Replace(c.arguments, "{", `{"file_path":"`+testPath+`",`, 1)
		require.Equal(t, c.want, readPage(t, ask(t, read, arguments)).content, c.arguments)
	}
}

func TestTail_OfLongLineIsItsEnd(t *testing.T) {
	content := "first\n" + strings.Repeat("长", 5000)
	read := New(from(stored(t, content), Options{MaxBytes: MinMaxBytes}))
	p := readPage(t, ask(t, read, `{"file_path":"`+testPath+`","tail":1}`))
	require.Equal(t, len(content), p.to)
	require.True(t, utf8.ValidString(p.content))
	require.Greater(t, len(p.content), 2000)
}

func TestPage_PastEndNamesTheSize(t *testing.T) {
	for _, store := range readers(stored(t, "one\ntwo\n")) {
		read := New(from(store, Options{}))
		for arguments, want := range map[string]string{
			`"offset":3`:                   "2 lines, 8 bytes",
			`"offset":9223372036854775807`: "2 lines, 8 bytes",
			`"offset":1e300`:               "2 lines, 8 bytes",
			`"byte_offset":8`:              "has 8 bytes",
			`"byte_offset":1e300`:          "has 8 bytes",
		} {
			answer := ask(t, read, `{"file_path":"`+testPath+`",`+arguments+`}`)
			require.Contains(t, answer, want)
			require.Contains(t, answer, `{"file_path":"/tmp/trunc/call_1","tail":20}`)
		}
	}
}

func TestPage_SaysThatContentIsEmpty(t *testing.T) {
	for _, store := range readers(stored(t, "")) {
		read := New(from(store, Options{}))
		for _, rest := range []string{"", `,"tail":5`, `,"byte_offset":5`, `,"offset":5`} {
			require.Contains(t, ask(t, read, `{"file_path":"`+testPath+`"`+rest+`}`), "is empty")
		}
	}
}

func TestPage_AnnouncesInvalidUTF8(t *testing.T) {
	read := New(from(stored(t, "ok\n\xff\n"), Options{}))
	require.Contains(t, ask(t, read, `{"file_path":"`+testPath+`"}`), "not UTF-8")
	require.NotContains(t, ask(t, read, `{"file_path":"`+testPath+`","limit":1}`), "not UTF-8")
}

//claim:security-27
func TestFence_IsNeverInContent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range race.Cases(200) {
		var b strings.Builder
		for range r.IntN(300) {
			fmt.Fprintf(&b, "-----%d-----", r.IntN(40))
		}
		require.NotContains(t, b.String(), fence(b.String()))
	}
}
