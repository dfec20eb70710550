// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReportOf_FindsVerdictAndName(t *testing.T) {
	for line, want := range map[string]report{
		"--- FAIL: TestA/b_1 (0.00s)":                                           {verdictFailed, "TestA/b_1 (0.00s)"},
		"    ✕ adds item 3 (5 ms)":                                              {verdictFailed, "adds item 3 (5 ms)"},
		"FAILED tests/test_a.py::test_b[3] - assert 1 == 2":                     {verdictFailed, "tests/test_a.py::test_b[3] - assert 1 == 2"},
		"tests/test_a.py::test_b[3] FAILED        [ 12%]":                       {verdictFailed, "tests/test_a.py::test_b[3"},
		"com.example.ATest > adds3() FAILED":                                    {verdictFailed, "com.example.ATest > adds3"},
		"[ERROR] com.example.ATest.adds3 -- Time elapsed: 0.005 s <<< FAILURE!": {verdictFailed, "com.example.ATest.adds3 -- Time elapsed: 0.005 s"},
		"  adds item 3 (FAILED - 1)":                                            {verdictFailed, "adds item 3"},
		"Cart adds item 3 FAILED":                                               {verdictFailed, "Cart adds item 3"},
		"  3) Cart adds item 3":                                                 {verdictFailed, "Cart adds item 3"},
		"[  FAILED  ] CartTest.Adds3 (5 ms)":                                    {verdictFailed, "CartTest.Adds3 (5 ms)"},
		"test cart::adds_3 ... FAILED":                                          {verdictFailed, "test cart::adds_3"},
		"ERROR: test_b (tests.test_a.ATest.test_b)":                             {verdictFailed, "test_b (tests.test_a.ATest.test_b)"},
		"//cart:cart_test   FAILED in 1.2s":                                     {verdictFailed, "//cart:cart_test in 1.2s"},
		"not ok 3 - adds item 3":                                                {verdictFailed, "3 - adds item 3"},
		"  ✓ adds item 3 (2 ms)":                                                {verdictPassed, "adds item 3 (2 ms)"},
		"ok 4 adds item 4":                                                      {verdictPassed, "4 adds item 4"},
		"test cart::adds_4 ... ok":                                              {verdictPassed, "test cart::adds_4"},
		"com.example.ATest > adds4() PASSED":                                    {verdictPassed, "com.example.ATest > adds4"},
		"=== RUN   TestA/b_1":                                                   {verdictPassed, "TestA/b_1"},
		"42 tests completed, 2 failed":                                          {},
		"Tests:       2 failed, 40 passed, 42 total":                            {},
		" ❯ src/a.test.ts (10 tests | 2 failed) 12ms":                           {},
		"[ERROR] Failed to execute goal of the build":                           {},
		"failed: connection reset":                                              {},
		"an ordinary line":                                                      {},
		"":                                                                      {},
		"---":                                                                   {},
	} {
		require.Equal(t, want, reportOf(line), line)
	}
}

func FuzzReportOf(f *testing.F) {
	f.Add("--- FAIL: TestA (0.00s)")
	f.Add("[  FAILED  ] a.b.....***Failed 0.1 sec")
	f.Fuzz(func(t *testing.T, line string) {
		if r := reportOf(line); len(r.subject) > len(line) {
			t.Fatalf("%q of %q", r.subject, line)
		}
	})
}

// A test log whose program prints hundreds of lines that read like failures still names the tests.
func TestShowTests_FloodDoesNotHideFailures(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "=== RUN   TestPart%d\nrequest %d failed\n", i, i)
		verdict := "PASS"
		if i%200 == 33 {
			verdict = "FAIL"
		}
		fmt.Fprintf(&b, "--- %s: TestPart%d (0.00s)\n", verdict, i)
	}
	shown, format := Render(Request{Text: b.String() + "FAIL\n", Room: noticeRoom})
	require.Equal(t, Test, format)
	for _, i := range []int{33, 233, 433, 633, 833} {
		require.True(t, namedIn(shown, fmt.Sprintf("TestPart%d", i)), "%d in\n%s", i, shown)
	}
}

func TestShowTests_PassingTestsComeLast(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "  ✓ handles %s (%d ms)\n", spelled(i), i%7)
		if i%100 == 50 {
			fmt.Fprintf(&b, "  ✕ rejects %s 7 (%d ms)\n    context of it: %s\n    Error: the value %s is wrong\n", spelled(i), i%7, spelled(i), spelled(i))
		}
	}
	shown := of(b.String()+"\nTests:       3 failed, 300 passed, 303 total\n", 1200)
	for _, i := range []int{50, 150, 250} {
		for _, want := range []string{"✕ rejects %s 7", "context of it: %s", "the value %s is wrong"} {
			require.Contains(t, shown, fmt.Sprintf(want, spelled(i)))
		}
	}
	require.LessOrEqual(t, strings.Count(shown, "✓"), maxPassed+lastLines)
}

func TestRender_ShowsPassingTestsOnlyIfNoneFails(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "tests/test_%c.py::test_passing_%c PASSED [ %d%%]\n", 'a'+i%26, 'a'+i/26, i/3)
	}
	end := strings.Repeat("one of the last lines, which are always shown\n", 9) + "=== 300 passed in 2.1s ===\n"
	shown, _ := Render(Request{Text: b.String() + end, Room: 3000})
	require.Contains(t, shown, "test_passing")
	shown, format := Render(Request{Text: "tests/test_z.py::test_refund FAILED [ 1%]\n" + b.String() + end, Room: 3000})
	require.Equal(t, Test, format)
	require.Contains(t, shown, "test_refund")
	require.NotContains(t, shown, "test_passing")
}
