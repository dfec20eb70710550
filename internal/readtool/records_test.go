// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bestPassage returns the first passage of the answer to a query.
func bestPassage(t *testing.T, content, query string) string {
	t.Helper()
	answer := ask(t, New(from(stored(t, content), Options{})), fmt.Sprintf(`{"file_path":%q,"query":%q}`, testPath, query))
	lines := strings.SplitN(answer, "\n", 4) // the answer's first line, the passage's, a fence, the rest
	require.Len(t, lines, 4, answer)
	passage, _, ok := strings.Cut(lines[3], lines[2]+"\n")
	require.True(t, ok, answer)
	return passage
}

func TestQuery_CountedRecordIsOnePassage(t *testing.T) {
	for name, ruler := range map[string]string{
		"psql":  "-[ RECORD %d ]-+----------",
		"mysql": "*************************** %d. row ***************************",
		"pages": "Page %d of 90",
	} {
		var b strings.Builder
		for n := range 90 {
			fmt.Fprintf(&b, ruler+"\nname  | item%d\ncity  | town%d\nphone | %d\n", n+1, n, n*7, 5000+n)
		}
		require.Equal(t, fmt.Sprintf(ruler+"\nname  | item40\ncity  | town280\nphone | 5040\n", 41), bestPassage(t, b.String(), "phone of item40"), name)
	}
}

func TestQuery_UnderlinedHeadingBeginsSection(t *testing.T) {
	var b strings.Builder
	b.WriteString("Guide\n=====\n\n")
	for n := range 60 {
		fmt.Fprintf(&b, "Topic word%c\n-----------\n\nSome words about this.\n\n   option = %d\n\n", 'A'+n%26, 100+n)
	}
	b.WriteString("Backups\n-------\n\nThey are made at night.\n\n   copies = 7\n")
	passage := bestPassage(t, b.String(), "how many backups")
	require.Equal(t, "Backups\n-------\n\nThey are made at night.\n\n   copies = 7\n", passage)
}

// The first words of a record say what it is about: one that is named by the query comes before those that only
// mention its words.
func TestQuery_RecordNamedByQueryComesFirst(t *testing.T) {
	var toml, json strings.Builder
	json.WriteString(`{"packages":{`)
	for n := range 80 {
		name, uses := fmt.Sprintf("other-%d", n), "net-client"
		if n == 63 {
			name, uses = "net-client", "other-7"
		}
		filler := strings.Repeat("a", 30)
		fmt.Fprintf(&toml, "[[package]]\nname = %q\nversion = \"1.%d.0\"\nsource = \"registry of packages at index.example\"\nchecksum = %q\nuses = [\n %q,\n \"%s-more\",\n]\n\n", name, n, filler, uses, uses)
		fmt.Fprintf(&json, `%q:{"version":"1.%d.0","checksum":%q,"license":"MIT","size":%d,"author":"someone else","uses":{%q:"^1","%s-more":"^2"}},`,
			name, n, filler, n*100, uses, uses)
	}
	json.WriteString(`"last":{}}}`)
	for name, content := range map[string]string{"TOML": toml.String(), "JSON": json.String()} {
		require.Contains(t, bestPassage(t, content, "version of net-client"), "1.63.0", name)
	}
}

// What an entry longer than a passage says of one subject is shown together, not a little of everything in it.
func TestQuery_LongBlockIsShownByParts(t *testing.T) {
	var b strings.Builder
	for class := range 30 {
		fmt.Fprintf(&b, "class Group%d:\n", class)
		for n := range 12 {
			fmt.Fprintf(&b, "    def step%d_%d(self, value):\n        limit = %d\n        for each in value[:limit]:\n"+
				"            self.log.info(each, 1)\n            self.count(each, 2)\n        return self.table(%q)\n\n", class, n, class*100+n, fmt.Sprint("t", class, "_", n))
		}
	}
	passage := bestPassage(t, b.String(), "table of step17_8")
	require.Contains(t, passage, "limit = 1708")
	require.Contains(t, passage, `self.table("t17_8")`)
	require.Less(t, len(passage), 1000)
}
