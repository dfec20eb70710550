// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wordsOf are n words.
func wordsOf(r *rand.Rand, n int) string {
	all := strings.Fields("barley crane ferry gauge harbour kiln lantern meadow orchard pump quarry relay summit turbine valve winch")
	out := make([]string, n)
	for i := range out {
		out[i] = all[r.IntN(len(all))]
	}
	return strings.Join(out, " ")
}

func quotedText(s string) string {
	out, _ := json.Marshal(s) // a string can always be written
	return string(out)
}

// named is a record with what tells it apart and what it is about.
type named struct{ text, id, title string }

const service = "https://api.forge.example/repos/a/b"

// person is somebody as services of repositories write them.
func person(r *rand.Rand) string {
	login, id := fmt.Sprintf("%s%d", wordsOf(r, 1), r.IntN(99)), r.IntN(9_999_999)
	return fmt.Sprintf(`{"login":"%s","id":%d,"avatar_url":"https://avatars.forge.example/u/%[2]d?v=4","url":"https://api.forge.example/users/%[1]s","html_url":"https://forge.example/%[1]s","repos_url":"https://api.forge.example/users/%[1]s/repos","type":"User","site_admin":false}`, login, id)
}

func issueRecord(r *rand.Rand, i int) named {
	number, title := 9000-3*i, wordsOf(r, 5+r.IntN(9))
	url := fmt.Sprintf("%s/issues/%d", service, number)
	return named{fmt.Sprintf(`{"url":"%s","labels_url":"%[1]s/labels{/name}","html_url":"https://forge.example/a/b/issues/%d","id":%[3]d,"number":%[2]d,"title":%[4]s,"user":%[5]s,"state":"open","assignee":null,"comments":%[6]d,"created_at":"2026-03-%02[7]dT10:00:00Z","body":%[8]s,"reactions":{"url":"%[1]s/reactions","total_count":%[6]d}}`,
		url, number, 2_000_000_000+r.IntN(99_999_999), quotedText(title), person(r), r.IntN(30), 1+i%28, quotedText(wordsOf(r, 80+r.IntN(100))+"\n\n"+wordsOf(r, 20))), fmt.Sprint(number), title}
}

func commitRecord(r *rand.Rand, i int) named {
	hash := func() string { return fmt.Sprintf("%016x%016x%08x", r.Uint64(), r.Uint64(), r.Uint32()) }
	sha, tree, parent, title, who := hash(), hash(), hash(), wordsOf(r, 6), person(r)
	return named{fmt.Sprintf(`{"sha":"%s","node_id":"%s","commit":{"author":{"name":"%s","email":"%d@forge.example","date":"2026-03-%02dT10:00:00Z"},"message":%s,"tree":{"sha":"%s","url":"%s/git/trees/%[7]s"},"url":"%[8]s/git/commits/%[1]s","verification":{"verified":true,"signature":"%[2]s%[2]s%[2]s"}},"url":"%[8]s/commits/%[1]s","html_url":"https://forge.example/a/b/commit/%[1]s","author":%[9]s,"committer":%[9]s,"parents":[{"sha":"%[10]s","url":"%[8]s/commits/%[10]s"}]}`,
		sha, hash(), wordsOf(r, 2), r.IntN(9999), 28-i%28, quotedText(title+"\n\n"+wordsOf(r, 40+r.IntN(60))), tree, service, who, parent), sha, title}
}

// Of 30 issues and commits as services return them, a small preview shows the numbers or hashes and titles of many,
// instead of bodies and derived values.
//
//claim:bench-07
func TestTable_NamesManyRecordsBeforeFewWhole(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for name, form := range map[string]struct {
		record func(*rand.Rand, int) named
		least  [2]int // with 2,000 and 3,300 bytes
	}{"issues": {issueRecord, [2]int{13, 24}}, "commits": {commitRecord, [2]int{7, 13}}} {
		for range 20 {
			var texts []string
			var records []named
			for i := range 30 {
				records = append(records, form.record(r, i))
				texts = append(texts, records[i].text)
			}
			for i, room := range []int{2000, 3300} {
				shown, _ := Render(Request{Text: "[" + strings.Join(texts, ",") + "]", Room: room})
				ids, titles := 0, 0
				for _, each := range records {
					if strings.Contains(shown, each.id) {
						ids++
					}
					if strings.Contains(shown, each.title[:min(len(each.title), 36)]) {
						titles++
					}
				}
				require.GreaterOrEqual(t, min(ids, titles), form.least[i], "%s, %d bytes: %s", name, room, shown)
			}
		}
	}
}

// A URL that is not made of other values keeps its place.
func TestTable_DerivedColumnsComeLast(t *testing.T) {
	list := func(url func(i int) string) string {
		var all []string
		for i := range 40 {
			all = append(all, fmt.Sprintf(`{"url":%q,"number":%d,"title":"the title of item %[2]d","note":%q}`, url(i), 1000+i, strings.Repeat("x", 30+i)))
		}
		shown, _ := Render(Request{Text: "[" + strings.Join(all, ",") + "]", Room: 3000})
		_, columns, _ := strings.Cut(shown, `"columns":[`)
		columns, _, _ = strings.Cut(columns, "]")
		return columns
	}
	require.NotContains(t, list(func(i int) string { return fmt.Sprintf("https://a.example/items/%d/show", 1000+i) }), "url")
	require.Contains(t, list(func(i int) string { return fmt.Sprintf("https://a.example/%x/%d", i*i, 1000+i) }), "url")
	require.NotContains(t, list(func(i int) string { return fmt.Sprint(1000 + i) }), "url,", "equal values are said once")
}
