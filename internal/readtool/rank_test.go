// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

var passageHead = regexp.MustCompile(`^lines (\d+) to (\d+), bytes (\d+) to (\d+)(, in part)?(?:, under (.*))?:$`)

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
		p := passage{firstLine: int64(atoi(m[1])), lastLine: int64(atoi(m[2])), start: int64(atoi(m[3])), heading: m[6]}
		require.True(t, strings.HasPrefix(after, fence))
		after = after[len(fence):]
		if p.text = after[:max(0, strings.Index(after, fence)-1)]; m[5] == "" {
			p.text = after[:atoi(m[4])-atoi(m[3])]
		}
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

func TestQuery_BestPassageComesFirst(t *testing.T) {
	content := manual()
	for _, store := range readers(stored(t, content)) {
		read := New(from(store, Options{}))
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
				require.EqualValues(t, strings.Count(content[:p.start], "\n")+1, p.firstLine)
			}
		}
	}
}

func TestQuery_PassagesAreExactForAnyContent(t *testing.T) {
	r := random(t)
	for range race.Cases(100) {
		content := hardContent(r)
		opts := from(stored(t, content), Options{MaxBytes: MinMaxBytes + r.IntN(20_000)})
		answer := ask(t, New(opts), fmt.Sprintf(`{"file_path":%q,"query":"word 日本 id -----","limit":%d}`, testPath, r.IntN(30)))
		require.LessOrEqual(t, len(answer), opts.MaxBytes)
		seen := make(map[int64]bool)
		for _, p := range readPassages(t, answer) {
			for at, rest := 0, content[p.start:]; at < len(p.text); { // pieces in their order
				piece, _, _ := strings.Cut(p.text[at:], leftOut)
				i := strings.Index(rest, strings.TrimSuffix(piece, "\n"))
				require.GreaterOrEqual(t, i, 0, "%q", piece)
				rest = rest[i:]
				at += len(piece) + len(leftOut)
			}
			require.False(t, seen[p.start])
			seen[p.start] = true
		}
	}
}

func TestSplitter_LosesNothing(t *testing.T) {
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
			require.EqualValues(t, strings.Count(b.String(), "\n")+1, p.firstLine)
			require.LessOrEqual(t, len(p.text), recordBytes)
			require.False(t, splits(content, int(p.start)))
			b.WriteString(p.text)
		}
		require.Equal(t, content, b.String())
	}
}

func TestRankPassages_ContinuesInAnotherCall(t *testing.T) {
	content := manual()
	v := readCall{ctx: t.Context(), req: request{query: "rotate"}}
	calls := 0
	var best []candidate
	for ; len(best) == 0; calls++ {
		s := newSplitter(strings.NewReader(content))
		var found rankedPassages
		var err error
		found, v.req.byteOffset, err = rankPassages(v, s, 5, 10_000)
		best = found.best
		require.NoError(t, err)
	}
	require.Greater(t, calls, 3)
	require.Contains(t, best[0].text, "rotate")
}

func TestQuery_SaysThatNothingMatches(t *testing.T) {
	read := New(from(stored(t, "one\ntwo\n"), Options{}))
	require.Contains(t, ask(t, read, `{"file_path":"`+testPath+`","query":"three"}`), `No passage has a word of "three". Use`)
	require.Contains(t, ask(t, read, `{"file_path":"`+testPath+`","query":"one two three"}`), `the passage that fits`)
}

// Rare words count more than common ones, several more than one, whole words more than parts; short passages rank
// above long ones, and neighbors of a good one above others.
func TestRanker_RanksPassagesByWords(t *testing.T) {
	filler := "nothing of the kind is said about this here "
	for query, texts := range map[string][]string{ // the best first
		"rotate key":  {"rotate a key", "rotate it", "the key", "the key and all that is said of it, which is " + filler},
		"key":         {"key key key", "key key", "key", "keyboard"},
		"weather":     {"Weather: rain", "sweathers"},
		"天气":          {"今天天气好", "天空"},
		"+rain sun":   {"rain", "heavy rain and much else of which nobody ever speaks"},
		"failed runs": {"RUN FAIL", "run", "runway"},
	} {
		var passages []passage
		for i := range texts { // apart from each other, in the opposite order
			passages = append(passages, passage{text: filler}, passage{text: texts[len(texts)-1-i]}, passage{text: "key the sun " + filler}, passage{text: filler}, passage{text: filler})
		}
		r := newRanker(query)
		for _, p := range passages {
			r.add(p)
		}
		var got []string
		for _, p := range r.sortedCandidates() {
			if slices.Contains(texts, p.text) {
				got = append(got, p.text)
			}
		}
		for i, each := range got {
			require.Equal(t, texts[i], each, "%s: %q", query, got)
		}
		require.Contains(t, got, texts[0])
	}
	r := newRanker("needle hay")
	for _, text := range []string{"hay 1", "x", "x", "hay 2", "needle needle", "x", "hay 3"} {
		r.add(passage{text: text})
	}
	best := r.sortedCandidates()
	require.Equal(t, []string{"needle needle", "hay 2", "hay 1"}, []string{best[0].text, best[1].text, best[2].text})
}

// The best passages are kept, in whatever order they come.
func TestRanker_HoldsBoundedNumberOfPassages(t *testing.T) {
	r := newRanker("needle hay")
	for i := range 5 * maxHeld {
		text := "hay and much else"
		if i%9999 == 500 {
			text = "needle in the hay"
		}
		r.add(passage{text: text, start: int64(i)})
		require.LessOrEqual(t, len(r.candidates), maxHeld)
	}
	best := r.sortedCandidates()
	require.GreaterOrEqual(t, len(best), maxHeld/2)
	for _, p := range best[:10] {
		require.Equal(t, "needle in the hay", p.text)
		require.EqualValues(t, 500, p.start%9999)
	}
}

// The calls that the answers name show every passage with a word of the query exactly once. Each answer has a size
// that a model can use.
func TestQuery_ContinuesWithNextPassages(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "Line %d of the report about %s.\n", i, []string{"signing keys", "gateways", "nothing"}[i/20%3])
	}
	want := 0
	for s := newSplitter(strings.NewReader(b.String())); ; want++ {
		p, err := s.next()
		if err != nil {
			break
		}
		if !strings.Contains(p.text, "signing") && !strings.Contains(p.text, "gateway") {
			want--
		}
	}
	read := New(from(stored(t, b.String()), Options{}))
	seen := map[int64]bool{}
	calls := 0
	for arguments := fmt.Sprintf(`{"file_path":%q,"query":"signing key gateway"}`, testPath); arguments != ""; calls++ {
		answer := ask(t, read, arguments)
		require.LessOrEqual(t, len(answer), nextAnswerMost)
		found := readPassages(t, answer)
		for _, p := range found {
			require.False(t, seen[p.start], "shown twice")
			seen[p.start] = true
		}
		next := regexp.MustCompile(`The next passages: read_file (\{.*\})$`).FindStringSubmatch(answer)
		if arguments = ""; next != nil {
			arguments = next[1]
			require.GreaterOrEqual(t, len(answer), 1000)
		}
	}
	require.Len(t, seen, want)
	require.Greater(t, calls, 4)
	require.Contains(t, ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":"signing key gateway","offset":700}`, testPath)), "No other passage")
}

func TestQuery_FindsOtherFormsOfWords(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "=== RUN   TestCase%d\n--- PASS: TestCase%d (0.00s)\n", i, i)
		if i == 1400 {
			b.WriteString("--- FAIL: TestRefund (0.02s)\n    refund_test.go:41: got 3, want 4\n")
		}
	}
	read := New(from(stored(t, b.String()), Options{}))
	for _, query := range []string{"which tests failed?", "failed", "fails", "failing tests"} {
		found := readPassages(t, ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":%q}`, testPath, query)))
		require.NotEmpty(t, found, query)
		require.Contains(t, found[0].text, "--- FAIL: TestRefund", query)
	}
	found := readPassages(t, ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":"efund"}`, testPath)))
	require.Contains(t, found[0].text, "TestRefund", "a piece of a word")
}

func TestQuery_JSONPassagesAreWholeRecords(t *testing.T) {
	var records []string
	for i := range 500 {
		records = append(records, fmt.Sprintf("{\n  \"id\": %d,\n  \"customer\": \"Customer %d\",\n  \"note\": \"a \\\"quoted\\\" word\"\n}", i, i*7))
	}
	plain := "{\"total\": 500, \"items\": [" + strings.Join(records, ",\n") + "]}"
	escaped, err := json.Marshal(plain)
	require.NoError(t, err)
	for name, content := range map[string]string{"plain": plain, "in an MCP result": `{"content":[{"type":"text","text":` + string(escaped) + `}]}`} {
		for _, store := range readers(stored(t, content)) {
			read := New(from(store, Options{}))
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
