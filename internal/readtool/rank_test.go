// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/race"
)

var passageHead = regexp.MustCompile(`^lines (\d+) to (\d+), bytes (\d+) to (\d+):$`)

// readPassages takes an answer to a query apart.
func readPassages(t *testing.T, answer string) (found []passage) {
	t.Helper()
	head, rest, _ := strings.Cut(answer, "\n")
	fence := head[strings.LastIndexByte(head, ' ')+1:] + "\n"
	for {
		head, after, _ := strings.Cut(rest, "\n")
		m := passageHead.FindStringSubmatch(head)
		if m == nil {
			return found
		}
		p := passage{first: int64(atoi(m[1])), last: int64(atoi(m[2])), start: int64(atoi(m[3]))}
		require.True(t, strings.HasPrefix(after, fence))
		after = after[len(fence):]
		p.text = after[:atoi(m[4])-atoi(m[3])]
		after = strings.TrimPrefix(after[len(p.text):], "\n")
		require.True(t, strings.HasPrefix(after, fence), "%.100q", after)
		rest = after[len(fence):]
		found = append(found, p)
	}
}

func manual() string {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "Section %d is about nothing in particular.\n", i)
		switch i {
		case 1200:
			b.WriteString("To rotate the signing keys, stop the gateway first.\n")
		case 2100:
			b.WriteString("The signing algorithm is fixed.\n")
		case 2500:
			b.WriteString("如何轮换签名密钥：先停止网关。\n")
		}
	}
	return b.String()
}

func TestTheBestPassageComesFirst(t *testing.T) {
	content := manual()
	for _, store := range readers(stored(t, content)) {
		read := New(Options{Backend: store})
		for query, want := range map[string]string{
			"rotate signing keys":       "To rotate the signing keys",
			"signing +algorithm":        "The signing algorithm",
			"怎么轮换密钥":                    "如何轮换签名密钥",
			"SECTION 2999 +particular.": "Section 2999 ",
		} {
			answer := ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":%q}`, testPath, query))
			found := readPassages(t, answer)
			require.NotEmpty(t, found, answer)
			require.Contains(t, found[0].text, want, query)
			require.LessOrEqual(t, len(found), maxPassages)
			for _, p := range found {
				require.Equal(t, content[p.start:p.end()], p.text)
				require.EqualValues(t, strings.Count(content[:p.start], "\n")+1, p.first)
			}
		}
	}
}

func TestPassagesAreExactForAnyContent(t *testing.T) {
	r := random(t)
	for range race.Cases(100) {
		content := hardContent(r)
		opts := Options{Backend: stored(t, content), MaxBytes: MinMaxBytes + r.IntN(20_000)}
		answer := ask(t, New(opts), fmt.Sprintf(`{"file_path":%q,"query":"word 日本 id -----","limit":%d}`, testPath, r.IntN(30)))
		require.LessOrEqual(t, len(answer), opts.MaxBytes)
		seen := make(map[int64]bool)
		for _, p := range readPassages(t, answer) {
			require.Equal(t, content[p.start:p.end()], p.text)
			require.False(t, seen[p.start])
			seen[p.start] = true
		}
	}
}

func TestASplitterLosesNothing(t *testing.T) {
	r := random(t)
	for range race.Cases(200) {
		content := hardContent(r)
		s := newSplitter(strings.NewReader(content))
		var b strings.Builder
		for {
			p, err := s.next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			require.EqualValues(t, b.Len(), p.start)
			require.EqualValues(t, strings.Count(b.String(), "\n")+1, p.first)
			require.LessOrEqual(t, len(p.text), passageBytes)
			require.LessOrEqual(t, strings.Count(p.text, "\n"), passageLines)
			require.False(t, splits(content, int(p.start)))
			b.WriteString(p.text)
		}
		require.Equal(t, content, b.String())
	}
}

func TestRankingThatTakesTooLongGoesOnInAnotherCall(t *testing.T) {
	content := manual()
	v := visit{ctx: t.Context(), req: request{query: "rotate"}}
	calls := 0
	var best []passage
	for ; len(best) == 0; calls++ {
		s := newSplitter(strings.NewReader(content))
		s.many = 7
		var err error
		best, v.req.byteOffset, err = v.rank(s, 5, 10_000)
		require.NoError(t, err)
	}
	require.Greater(t, calls, 3)
	require.Contains(t, best[0].text, "rotate")
}

func TestAQueryWithoutAHitSaysSo(t *testing.T) {
	read := New(Options{Backend: stored(t, "one\ntwo\n")})
	require.Contains(t, ask(t, read, `{"file_path":"`+testPath+`","query":"three"}`), `No passage has a word of "three" in bytes 0 to 8 of 8.`)
	require.Contains(t, ask(t, read, `{"file_path":"`+testPath+`","query":"one two three"}`), `the passage that fits`)
}

func TestSentencesWithoutSpacesAreTakenInPairs(t *testing.T) {
	var got []string
	for _, term := range queryTerms("查询天气 +必须有 go语言 ok 天气").Terms {
		require.True(t, utf8.ValidString(term.Text))
		got = append(got, term.Text)
	}
	require.Equal(t, []string{"查询", "询天", "天气", "查询天气", "必须", "须有", "必须有", "语言", "go语言", "ok", "天气"}, got)
}

func TestAQueryFindsOtherFormsOfItsWords(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "=== RUN   TestCase%d\n--- PASS: TestCase%d (0.00s)\n", i, i)
		if i == 1400 {
			b.WriteString("--- FAIL: TestRefund (0.02s)\n    refund_test.go:41: got 3, want 4\n")
		}
	}
	read := New(Options{Backend: stored(t, b.String())})
	for _, query := range []string{"which tests failed?", "failed", "fails", "failing tests"} {
		found := readPassages(t, ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":%q}`, testPath, query)))
		require.NotEmpty(t, found, query)
		require.Contains(t, found[0].text, "--- FAIL: TestRefund", query)
	}
	found := readPassages(t, ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":"efund"}`, testPath)))
	require.Contains(t, found[0].text, "TestRefund", "a piece of a word")
}

func TestPassagesOfJSONAreWholeRecords(t *testing.T) {
	var records []string
	for i := range 500 {
		records = append(records, fmt.Sprintf("{\n  \"id\": %d,\n  \"customer\": \"Customer %d\",\n  \"note\": \"a \\\"quoted\\\" word\"\n}", i, i*7))
	}
	plain := "{\"total\": 500, \"items\": [" + strings.Join(records, ",\n") + "]}"
	escaped, err := json.Marshal(plain)
	require.NoError(t, err)
	for name, content := range map[string]string{"plain": plain, "in an MCP result": `{"content":[{"type":"text","text":` + string(escaped) + `}]}`} {
		for _, store := range readers(stored(t, content)) {
			read := New(Options{Backend: store})
			answer := ask(t, read, `{"file_path":"`+testPath+`","query":"\"Customer 2317\""}`)
			require.Contains(t, answer, "as JSON without spaces", name)
			require.Contains(t, answer, `{"id":331,"customer":"Customer 2317","note":"a \"quoted\" word"}`+"\n", name)
			first := passageHead.FindStringSubmatch(strings.Split(answer, "\n")[1])
			require.NotNil(t, first, answer)
			source := content[atoi(first[3]):atoi(first[4])]
			require.Contains(t, source, "Customer 2317", "the place in the file")
			require.NotContains(t, source, "Customer 2324")
			require.Contains(t, ask(t, read, `{"file_path":"`+testPath+`","query":"nowhere"}`), "No passage has a word")
			require.NotContains(t, ask(t, read, fmt.Sprintf(`{"file_path":"`+testPath+`","query":"2317","byte_offset":%s}`, first[4])), "2317\",\"note", "what lies before is not searched")
		}
	}
}
