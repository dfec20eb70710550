// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSeverity_RecognizesErrorLines(t *testing.T) {
	for _, l := range []string{
		"E       assert 3 == 4", "FAILED tests/a.py::test_b - AssertionError", "FAIL: TestX", "    --- FAIL: TestY (0.00s)",
		"FAIL\texample.com/x\t0.01s", "ERROR: no such table", "2024-01-02T03:04:05 [ERROR] broken", "10:11:12 ERROR worker: lost",
		"panic: runtime error: index out of range", "goroutine 1 fatal error: all goroutines are asleep", "fatal: not a git repository",
		"Traceback (most recent call last):", "ValueError: bad value", "java.io.IOException: closed", "Error: cannot find module",
		"main.c:3:4: error: expected ';'", "error[E0425]: cannot find value", "./x.go:3:14: undefined: y", "12:00 FATAL out of memory",
		"CRITICAL disk", "exit status 2", "process exited with code 137", "<returncode>1", "[INFO] BUILD FAILURE", "not ok 3 - adds",
		"    Error:      \tNot equal:", "thread 'main' panicked at src/main.rs:2:5: error: x",
	} {
		require.Equal(t, severityError, severity(l), l)
	}
	for _, l := range []string{
		"0 errors, 3 warnings", "no errors", "found 0 error: none", `"error": null,`, "errors.go", "error_test.py", "an ordinary line", "exit status 0",
		"exit code: 0", "ERRORS=0", "the error of measurement", "handleError(err)", "http.Error(w)", "import errors", "panics", "err != nil", "errors: 0", "ERROR: 0",
		"std::error_code err = io::Error::none;", "class ErrorHandler extends Handler {", "onErrorCallback(fatalErrors)", "throwIfFailed(result)", "FailedLogins 17",
		"Mar  3 10:11:12 host kernel: usb 1-1: new device", "<6>1 2024-01-02T03:04:05Z host app - - - started", "PANIC_BUTTON=off", "erroneous", "isFatal = false", "exit status: 0", "returncode>0",
		"--- PASS: TestFail (0.00s)", "ok  \texample.com/x\t0.01s", "Tracebacks", "type Error struct", "errorHandler: on",
	} {
		require.NotEqual(t, severityError, severity(l), l)
	}
}

func TestKindOfLine_IgnoresVaryingParts(t *testing.T) {
	same := []string{"GET /item/12 took 13 ms id=deadbeef01", "GET /item/4711 took 1 ms id=0123abcd99"}
	require.Equal(t, string(kindOfLine(nil, same[0])), string(kindOfLine(nil, same[1])))
	require.NotEqual(t, string(kindOfLine(nil, "cannot open a")), string(kindOfLine(nil, "cannot open b")))
}

// log is n lines of a service.
func log(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "2025-03-01T10:%02d:%02d INFO handled request id=%d in %d ms\n", i/60%60, i%60, i*7919, i%90)
	}
	return b.String()
}

func TestRender_KeepsErrors(t *testing.T) {
	const planted = "worker 7: ERROR: payment 4711 was refused by the bank"
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog, and nothing is wrong with it at all.\n", 1500)
	var code strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&code, "func f%d(x int) int {\n\treturn x + %d\n}\n\n", i, i)
	}
	for name, text := range map[string]string{
		"log": log(2000), "long log": log(30_000), "prose": prose, "long prose": strings.Repeat(prose, 6), "code": code.String(),
		"one kind of line": strings.Repeat("x\n", 50_000), "empty lines": strings.Repeat("\n", 50_000),
	} {
		for _, at := range []int{10, 50, 90} {
			cut := toLineEnd(text, len(text)*at/100)
			shown := of(text[:cut]+planted+"\n"+text[cut:], 2000)
			require.Contains(t, shown, planted, "%s, at %d %%", name, at)
			require.LessOrEqual(t, len(shown), 2000)
		}
	}
}

func TestRender_KeepsEndOfOutput(t *testing.T) {
	shown := of(log(3000)+strings.Repeat("ERROR: again and again\n", 200)+"3 of 4 done\nexit status 3\n", 2000)
	require.True(t, strings.HasSuffix(shown, "3 of 4 done\nexit status 3"), shown)
	require.Contains(t, shown, "ERROR: again and again\n")
	require.LessOrEqual(t, strings.Count(shown, "again and again"), perTemplate+lastLines)
	require.Contains(t, shown, "(×3000)")
}

// Much else may follow the summary: coverage, slow tests, advice.
func TestRender_ShowsSummaryOfTests(t *testing.T) {
	for name, c := range map[string]struct{ each, sum, below string }{
		"pytest":      {"tests/test_a.py::test_%d PASSED [ 10%%]", "==== 2 failed, 3998 passed, 3 warnings in 12.30s ====", "src/mod_%d.py    120    %d    93%%"},
		"pytest -q":   {"tests/test_a.py::test_%d PASSED", "1 failed, 399 passed, 2 errors in 1.52s", "0.%02ds call     tests/test_a.py::test_%d"},
		"unittest":    {"test_%d (tests.test_a.TestA) ... ok", "Ran 4000 tests in 10.002s", "Destroying test database %d of alias 'default_%d'"},
		"maven":       {"[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.%03d s -- in org.example.ATest", "[ERROR] Tests run: 1602, Failures: 2, Errors: 1, Skipped: 7", "[INFO] module-%d ................ SKIPPED [  0.%d s]"},
		"gradle":      {"[INFO] ATest > case%d PASSED", "1602 tests completed, 3 failed, 7 skipped", "> Task :module%d:check UP-TO-DATE %d"},
		"cargo":       {"test tests::case_%d ... ok", "test result: FAILED. 398 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out", "warning: unused variable in case %d of %d"},
		"jest":        {" PASS  src/a%d.test.js", "Tests:       2 failed, 1 skipped, 398 passed, 401 total", "  file%d.js      |   90.12 |    %d.5 |"},
		"mocha":       {"[INFO]     ✓ handles case %d", "  398 passing (3s)", "  file%d.js      |   90.12 |    %d.5 |"},
		"rspec":       {"[INFO] handles case %d", "400 examples, 2 failures, 1 pending", "Coverage of part %d: %d.5%%"},
		"ctest":       {"[INFO] Test #%d: case ......... Passed", "99% tests passed, 2 tests failed out of 400", "label%d  =  0.%d sec*proc"},
		"phpunit":     {"[INFO] ok case %d", "Tests: 400, Assertions: 1200, Failures: 2, Skipped: 1.", "  Lines of part %d: 80.%d%%"},
		"dotnet":      {"[INFO]   Passed Case%d [1 ms]", "Failed!  - Failed:     2, Passed:   398, Skipped:     0, Total:   400, Duration: 3 s", "Attachment %d: /tmp/%d.xml"},
		"go test":     {"=== RUN   TestCase/%d", "FAIL\texample.com/bank\t12.300s", "ok  \texample.com/p%d\t0.0%ds"},
		"nothing odd": {"=== RUN   TestCase/%d", "coverage: 81.2% of statements", ""},
	} {
		var b strings.Builder
		for i := range 900 {
			fmt.Fprintf(&b, c.each+"\n", i)
			if i%300 == 7 {
				fmt.Fprintf(&b, "E   AssertionError: %d is not %d\nERROR: case %d: the value differs from what was wanted\n", i, i+1, i)
			}
		}
		b.WriteString(c.sum + "\n")
		for i := range 60 {
			if c.below != "" {
				fmt.Fprintf(&b, c.below+"\n", i, i%10)
			}
		}
		for _, room := range []int{2000, 4000} {
			assert.Contains(t, of(b.String(), room), strings.TrimSpace(c.sum), "%s in %d", name, room)
		}
	}
}

func TestExtract_MarksGaps(t *testing.T) {
	text := log(40)
	m := options{labels: english}
	x := newExtract(text, 700, english, Log)
	x.choose(3)
	x.choose(4)
	x.choose(39)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	require.Equal(t, "[… 3 lines]\n"+lines[3]+"\n"+lines[4]+"\n[… 34 lines]\n"+lines[39], x.render())
	require.LessOrEqual(t, len(previewLog(m, text, 700)), 700)
}

func TestRender_ProseKeepsStartAndEnd(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "This is sentence number %d of a long story about a river and its boats.\n", i)
	}
	text := b.String()[:20_000] + "The ferryman's name was Anselm Okafor.\n" + b.String()[20_000:]
	plain := of(text, 4000)
	require.True(t, strings.HasPrefix(unframed(t, plain), "This is sentence number 0 "))
	require.True(t, strings.HasSuffix(plain, "number 499 of a long story about a river and its boats.\n"))
	require.NotContains(t, plain, "Anselm")
	asked, _ := Render(Request{Text: text, Room: 4000, Question: "Who was the ferryman?"})
	require.Equal(t, plain, asked, "a question chooses nothing of prose")
	var river strings.Builder
	for i := range 2000 {
		river.WriteString("这条河很长，" + spelled(i) + "河上有很多船。\n")
	}
	chinese := river.String() + "船夫在河上唱歌。\n"
	shown, format := Render(Request{Text: chinese, Room: 2000, Question: "摆渡人叫什么名字?", Chinese: true})
	require.Equal(t, Text, format)
	require.True(t, strings.HasSuffix(shown, "船夫在河上唱歌。\n"))
	require.Regexp(t, `\[略去第 \d+ 至 \d+ 行\]`, shown)
}

// Whatever the text and the question are, a preview of half the size of the text has its first seventh.
func TestRender_HalfSizePreviewShowsTheStart(t *testing.T) {
	var prose, page, snap strings.Builder
	page.WriteString("<!doctype html><html><body><nav><a href=\"/x\">elsewhere</a></nav>")
	for i := range 400 {
		fmt.Fprintf(&prose, "Sentence %s of it is about a river, and number %d of all.\n\n", spelled(i), i)
		fmt.Fprintf(&page, "<h2 class=\"title\">Part %s</h2><p class=\"text\">Paragraph %d of %s says ERROR: no such thing.</p>", spelled(i), i, spelled(i))
		fmt.Fprintf(&snap, "- heading \"Part %s\" [level=2] [ref=e%d]\n- paragraph [ref=f%d]: what part %d of %s says\n", spelled(i), i, i, i, spelled(i))
	}
	outlined, _ := outline(page.String())
	for text, whole := range map[string]string{prose.String(): prose.String(), page.String(): outlined, snap.String(): shortenSnapshot(snap.String())} {
		for _, question := range []string{"", "where is part 390 of " + spelled(390) + " with river thing", "ERROR"} {
			shown, _ := Render(Request{Text: text, Room: len(whole) / 2, Question: question})
			for line := range strings.Lines(whole[:len(whole)/7]) {
				if strings.HasSuffix(line, "\n") && !strings.Contains(line, "elsewhere") {
					require.Contains(t, shown, line, question)
				}
			}
		}
	}
}

// In 2 kB, the first commits are shown with their hashes and titles.
func TestRender_HistoryShowsManyCommits(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "commit %040x\nAuthor: Ada Li <ada@example.com>\nDate:   Mon Jan 2 15:04:05 2026 +0000\n\n    Mend the %s\n\n    What was wrong with the %s is told here at some length, in more than a line.\n\n", i*7919+1, spelled(i), spelled(i))
	}
	for _, text := range []string{b.String(), `{"content":[{"type":"text","text":` + quoted(b.String()) + `}]}`} {
		shown, format := Render(Request{Text: text, Room: 2000})
		require.Equal(t, Text, format)
		for i := range 12 {
			require.Contains(t, shown, fmt.Sprintf("%040x, Ada Li, Mon Jan 2 15:04:05 2026 +0000 Mend the %s", i*7919+1, spelled(i)))
		}
	}
	require.Empty(t, commits("commit 1234567\nand nothing of the kind\n"))
}

func TestLabels_NeverClaimAbsenceOfErrors(t *testing.T) {
	for _, l := range []labels{english, chinese} {
		for name, words := range l {
			for _, never := range []string{"no error", "0 errors", "without error", "没有错误", "无错误", "0 个错误"} {
				require.NotContains(t, strings.ToLower(words), never, name)
			}
		}
	}
	require.Len(t, english, len(chinese))
	for name := range english {
		require.Contains(t, chinese, name)
	}
}

func FuzzText(f *testing.F) {
	f.Add(log(30), 300, "request")
	f.Add("=== RUN TestA\n--- FAIL: TestA (0.00s)\n    a_test.go:1: no\nFAIL\nexit status 1\n", 60, "")
	f.Add("<html><body><p>Hello &amp; <a href=x>you</a></p><table><tr><td>1<td>2</table></body>", 30, "you")
	f.Add("- button \"Go\" [ref=e1]\n- link \"A\" [ref=e2]:\n- text: x [ref=e3]\n- list [ref=e4]\n- row [ref=e5]\n", 40, "")
	f.Add("\xff\xfe"+strings.Repeat("ab\x00\n", 40), 50, "ab")
	f.Add(strings.Repeat("错误：无法打开文件\n", 20), 77, "文件")
	f.Fuzz(func(t *testing.T, text string, room int, question string) {
		room = min(max(room, -1), 1<<15)
		for _, r := range []Request{{text, room, question, "", false}, {text, room, "", question, true}} {
			shown, _ := Render(r)
			if len(shown) > max(room, 0) || !utf8.ValidString(shown) {
				t.Fatalf("%d bytes in a room of %d: %q", len(shown), room, shown)
			}
			if again, _ := Render(r); again != shown {
				t.Fatal("not the same again")
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	for name, text := range map[string]string{"log_1MB": log(17_000), "log_4MB": log(68_000), "prose_1MB": strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 23_000), "one_line_1MB": strings.Repeat("word ", 200_000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Render(Request{Text: text, Room: 8000, Question: "which request took the longest?"})
			}
		})
	}
}
