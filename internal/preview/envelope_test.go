// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recordedTests is what go test -json writes about two packages at once: of one test in the
// middle that fails, and one at the end.
func recordedTests(tests int) string {
	var b strings.Builder
	record := func(pkg, action, output string) {
		fmt.Fprintf(&b, `{"Time":"2026-01-05T10:00:%02d.123456789Z","Action":%q,"Package":"example.com/%s","Test":"TestAll"`, b.Len()%60, action, pkg)
		if output != "" {
			fmt.Fprintf(&b, `,"Output":%s`, quoted(output))
		}
		b.WriteString("}\n")
	}
	for i := range tests {
		for _, pkg := range []string{"bank", "shop"} {
			record(pkg, "run", "")
			record(pkg, "output", fmt.Sprintf("=== RUN   TestAll/case_%d\n", i))
			record(pkg, "output", fmt.Sprintf("    all_test.go:11: computing %d\n", i))
			if i == tests/2 {
				record(pkg, "output", fmt.Sprintf("    all_test.go:14: Rate(%d) of the %s is 28, ", i, pkg)) // no line's end
				record(pkg, "output", "it must be 29\n")
				record(pkg, "output", fmt.Sprintf("    --- FAIL: TestAll/case_%d (0.01s)\n", i))
			}
		}
	}
	for _, pkg := range []string{"bank", "shop"} {
		record(pkg, "output", "FAIL\n")
		record(pkg, "output", "FAIL\texample.com/"+pkg+"\t0.099s\n")
		record(pkg, "fail", "")
	}
	return b.String()
}

func TestRender_RecordedLogIsShownAsLog(t *testing.T) {
	containers := ""
	for i := range 500 {
		line := fmt.Sprintf("2026-01-05T10:00:00Z INFO request %d\n", i)
		if i == 250 {
			line = "2026-01-05T10:00:00Z ERROR: the disk is full\n"
		}
		containers += fmt.Sprintf(`{"log":%s,"stream":"stdout","time":"2026-01-05T10:00:00.5Z"}`+"\n", quoted(line))
	}
	for name, c := range map[string]struct {
		text   string
		format Format
		want   []string
	}{
		"go test -json": {recordedTests(300), Test, []string{
			"all_test.go:14: Rate(150) of the bank is 28, it must be 29\n", "all_test.go:14: Rate(150) of the shop is 28, it must be 29\n",
			"--- FAIL: TestAll/case_150", "FAIL\texample.com/bank\t0.099s", "FAIL\texample.com/shop\t0.099s"}},
		"containers": {containers, Log, []string{"ERROR: the disk is full\n"}},
	} {
		for _, chinese := range []bool{false, true} {
			shown, format := Render(Request{Text: c.text, Room: 2000, Chinese: chinese})
			require.Equal(t, c.format, format, name)
			for _, want := range c.want {
				require.Contains(t, shown, want, name)
			}
			require.NotContains(t, shown, `"Action"`)
			require.NotContains(t, shown, `"stream"`)
		}
		wrapped, _ := Render(Request{Text: `{"content":[{"type":"text","text":` + quoted(c.text) + `}]}`, Room: 2000})
		cut, _ := Render(Request{Text: c.text[:len(c.text)*9/10], Room: 2000})
		for _, want := range c.want[:1] {
			require.Contains(t, wrapped, want, name)
			require.Contains(t, cut, want, name)
		}
	}
}

func TestRender_OtherRecordsStayTable(t *testing.T) {
	for _, record := range []string{
		`{"Output":"%d","Package":"a"}`, `{"log":"line %d\n","size":1}`, `{"Action":"buy","Output":{"n":%d}}`, `{"Action":"run","Test":"T%d"}`, `{"Action":"output","Output":"no end of a line %d"}`,
	} {
		text := ""
		for i := range 200 {
			text += fmt.Sprintf(record, i) + "\n"
		}
		shown, format := Render(Request{Text: text, Room: 1000})
		require.Equal(t, JSON, format, record)
		require.Contains(t, shown, `"count":200`)
	}
}

func TestParts_OfRecordedLogAreItsLines(t *testing.T) {
	text := recordedTests(100)
	parts, ok := Parts(text, cutInto(600))
	require.True(t, ok)
	all, end := "", 0
	for _, p := range parts {
		require.LessOrEqual(t, len(p.Text), 600)
		require.GreaterOrEqual(t, p.Start, end, "parts do not overlap")
		require.True(t, strings.HasPrefix(text[p.Start:], `{"Time"`) && text[p.End-1] == '}', "whole records")
		end = p.End
		all += p.Text
	}
	require.Contains(t, all, "    all_test.go:14: Rate(50) of the bank is 28, it must be 29\n    --- FAIL")
	require.NotContains(t, all, `"Action"`)

	long := `{"Action":"output","Output":"` + strings.Repeat("one and two ", 400) + `\n"}` + "\n"
	parts, ok = Parts(strings.Repeat(long, 4), cutInto(600))
	require.True(t, ok)
	require.Len(t, parts, 4*9)
	for i, p := range parts[1:] {
		require.LessOrEqual(t, len(p.Text), 600)
		require.GreaterOrEqual(t, p.Start, parts[i].End)
	}
}
