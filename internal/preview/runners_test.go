// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Invented logs in the formats of test runners, and which of their failing tests a preview names.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// testRun is what a runner reports on: suites of tests, some of which failed.
type testRun struct {
	suites []testSuite
	random *rand.Rand
}

type testSuite struct {
	words []string // of its name
	tests []testCase
}

// testCase is one test. The runners write its name in their own way.
type testCase struct {
	words     []string // of its name
	failed    bool
	want, got int
	line      int
}

var (
	caseVerbs   = strings.Fields("adds removes rounds parses rejects keeps sorts merges encodes counts refunds locks")
	caseObjects = strings.Fields("items totals orders dates coupons headers tokens users pages prices rows retries")
	caseEnds    = strings.Fields("twice first last empty nested large unicode negative expired shared cached partial")
	suiteNames  = strings.Fields("cart order price parser session token ledger invoice search upload routing cache")
)

// newTestRun invents a run of about n tests, of which 1 to 12 failed. Names are unique, and have digits.
func newTestRun(random *rand.Rand, n int) testRun {
	run := testRun{random: random}
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	used, all := make(map[string]bool), 0
	for all < n {
		suite := testSuite{words: []string{pick(suiteNames), pick(caseObjects), fmt.Sprint(len(run.suites) + 1)}}
		for range 3 + random.IntN(20) {
			words := []string{pick(caseVerbs), pick(caseObjects), pick(caseEnds), fmt.Sprint(random.IntN(900))}
			if name := strings.Join(words, " "); used[name] {
				continue
			} else {
				used[name] = true
			}
			suite.tests = append(suite.tests, testCase{words: words, want: random.IntN(1000), got: random.IntN(1000), line: 10 + random.IntN(400)})
			all++
		}
		run.suites = append(run.suites, suite)
	}
	for range 1 + random.IntN(12) {
		suite := run.suites[random.IntN(len(run.suites))]
		suite.tests[random.IntN(len(suite.tests))].failed = true
	}
	return run
}

// count is the number of tests, and that of those that failed.
func (r testRun) count() (all, failed int) {
	for _, s := range r.suites {
		all += len(s.tests)
		failed += len(s.failing())
	}
	return all, failed
}

func (s testSuite) failing() (failing []testCase) {
	for _, c := range s.tests {
		if c.failed {
			failing = append(failing, c)
		}
	}
	return failing
}

// ms is a duration.
func (r testRun) ms() int { return 1 + r.random.IntN(40) }

func (s testSuite) camel() string { return camel(s.words) }
func (s testSuite) snake() string { return strings.Join(s.words, "_") }
func (c testCase) camel() string  { return camel(c.words) }
func (c testCase) snake() string  { return strings.Join(c.words, "_") }
func (c testCase) plain() string  { return strings.Join(c.words, " ") }

// method is the name of a method in lower camel case.
func (c testCase) method() string { return c.words[0] + camel(c.words[1:]) }

func camel(words []string) string {
	var b strings.Builder
	for _, w := range words {
		r, n := utf8.DecodeRuneInString(w)
		b.WriteRune(unicode.ToUpper(r))
		b.WriteString(w[n:])
	}
	return b.String()
}

// runner writes the log of a run.
type runner struct {
	name  string
	write func(b *strings.Builder, run testRun)
	id    func(c testCase) string // the name that it gives a test
}

// tuned are the runners that the rules were written for.
var tuned = []runner{
	{"jest", writeJest, testCase.plain},
	{"vitest", writeVitest, testCase.plain},
	{"pytest -v", writePytestVerbose, func(c testCase) string { return "test_" + c.snake() }},
	{"pytest -q", writePytestQuiet, func(c testCase) string { return "test_" + c.snake() }},
	{"go test -v", writeGoTest, func(c testCase) string { return c.snake() }},
	{"cargo", writeCargo, testCase.snake},
	{"gradle", writeGradle, testCase.method},
	{"maven", writeMaven, testCase.method},
	{"dotnet", writeDotnet, testCase.camel},
	{"rspec", writeRspec, testCase.plain},
}

func writeJest(b *strings.Builder, run testRun) {
	details := func(s testSuite) {
		for _, c := range s.failing() {
			fmt.Fprintf(b, "  ● %s › %s\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: %d\n    Received: %d\n\n", s.camel(), c.plain(), c.want, c.got)
			fmt.Fprintf(b, "      %d |     const result = run(input);\n    > %d |     expect(result).toBe(%d);\n         |                    ^\n      %d |   });\n\n", c.line-1, c.line, c.want, c.line+1)
			fmt.Fprintf(b, "      at Object.toBe (src/%s.test.js:%d:20)\n\n", s.snake(), c.line)
		}
	}
	all, failed := run.count()
	broken := 0
	for _, s := range run.suites {
		verdict := "PASS"
		if len(s.failing()) > 0 {
			verdict = "FAIL"
			broken++
		}
		fmt.Fprintf(b, "%s src/%s.test.js\n  %s\n", verdict, s.snake(), s.camel())
		for _, c := range s.tests {
			if c.failed {
				fmt.Fprintf(b, "    ✕ %s (%d ms)\n", c.plain(), run.ms())
			} else {
				fmt.Fprintf(b, "    ✓ %s (%d ms)\n", c.plain(), run.ms())
			}
		}
		b.WriteString("\n")
		details(s)
	}
	if len(run.suites) > 20 { // jest repeats failures only behind many suites
		b.WriteString("Summary of all failing tests\n")
		for _, s := range run.suites {
			if len(s.failing()) > 0 {
				fmt.Fprintf(b, "FAIL src/%s.test.js\n", s.snake())
				details(s)
			}
		}
	}
	fmt.Fprintf(b, "\nTest Suites: %d failed, %d passed, %d total\nTests:       %d failed, %d passed, %d total\nSnapshots:   0 total\nTime:        %d.%d s\nRan all test suites.\n",
		broken, len(run.suites)-broken, len(run.suites), failed, all-failed, all, run.ms(), run.ms())
}

func writeVitest(b *strings.Builder, run testRun) {
	all, failed := run.count()
	broken, n := 0, 0
	b.WriteString("\n RUN  v1.6.0 /home/user/shop\n\n")
	for _, s := range run.suites {
		if f := s.failing(); len(f) > 0 {
			broken++
			fmt.Fprintf(b, " ❯ src/%s.test.ts (%d tests | %d failed) %dms\n", s.snake(), len(s.tests), len(f), run.ms())
		}
		for _, c := range s.tests {
			if c.failed {
				fmt.Fprintf(b, "   × %s > %s %dms\n     → expected %d to be %d // Object.is equality\n", s.camel(), c.plain(), run.ms(), c.got, c.want)
			} else {
				fmt.Fprintf(b, "   ✓ %s > %s %dms\n", s.camel(), c.plain(), run.ms())
			}
		}
	}
	bar := strings.Repeat("⎯", 27)
	fmt.Fprintf(b, "\n%s Failed Tests %d %s\n\n", bar[:21], failed, bar[:21])
	for _, s := range run.suites {
		for _, c := range s.failing() {
			n++
			fmt.Fprintf(b, " FAIL  src/%s.test.ts > %s > %s\nAssertionError: expected %d to be %d // Object.is equality\n\n- Expected\n+ Received\n\n- %d\n+ %d\n\n", s.snake(), s.camel(), c.plain(), c.got, c.want, c.want, c.got)
			fmt.Fprintf(b, " ❯ src/%s.test.ts:%d:20\n     %d|     const result = run(input);\n     %d|     expect(result).toBe(%d);\n       |                    ^\n     %d|   });\n\n%s[%d/%d]%s\n\n", s.snake(), c.line, c.line-1, c.line, c.want, c.line+1, bar, n, failed, bar[:3])
		}
	}
	fmt.Fprintf(b, " Test Files  %d failed | %d passed (%d)\n      Tests  %d failed | %d passed (%d)\n   Start at  10:12:13\n   Duration  %d.%ds (transform 80ms, setup 0ms, collect 120ms, tests %dms)\n\n",
		broken, len(run.suites)-broken, len(run.suites), failed, all-failed, all, run.ms(), run.ms(), run.ms())
}

func writePytestVerbose(b *strings.Builder, run testRun) {
	all, failed := run.count()
	fmt.Fprintf(b, "============================= test session starts ==============================\nplatform linux -- Python 3.11.4, pytest-7.4.0, pluggy-1.2.0 -- /usr/bin/python3\ncachedir: .pytest_cache\nrootdir: /home/user/shop\ncollecting ... collected %d items\n\n", all)
	n := 0
	for _, s := range run.suites {
		for _, c := range s.tests {
			n++
			verdict := "PASSED"
			if c.failed {
				verdict = "FAILED"
			}
			fmt.Fprintf(b, "tests/test_%s.py::test_%s %s %*s\n", s.snake(), c.snake(), verdict, 10, fmt.Sprintf("[%3d%%]", n*100/all))
		}
	}
	pytestFailures(b, run)
	fmt.Fprintf(b, "======================== %d failed, %d passed in %d.%02ds =========================\n", failed, all-failed, run.ms(), run.ms())
}

func pytestFailures(b *strings.Builder, run testRun) {
	b.WriteString("\n=================================== FAILURES ===================================\n")
	for _, s := range run.suites {
		for _, c := range s.failing() {
			fmt.Fprintf(b, "%s test_%s %s\n\n", strings.Repeat("_", 20), c.snake(), strings.Repeat("_", 20))
			fmt.Fprintf(b, "    def test_%s():\n        result = run(sample())\n>       assert result == %d\nE       assert %d == %d\n\ntests/test_%s.py:%d: AssertionError\n", c.snake(), c.want, c.got, c.want, s.snake(), c.line)
			if c.line%3 == 0 {
				fmt.Fprintf(b, "----------------------------- Captured stdout call -----------------------------\nloading sample %d\nran in %d ms\n", c.line, run.ms())
			}
		}
	}
	b.WriteString("=========================== short test summary info ============================\n")
	for _, s := range run.suites {
		for _, c := range s.failing() {
			fmt.Fprintf(b, "FAILED tests/test_%s.py::test_%s - assert %d == %d\n", s.snake(), c.snake(), c.got, c.want)
		}
	}
}

func writePytestQuiet(b *strings.Builder, run testRun) {
	all, failed := run.count()
	n := 0
	for _, s := range run.suites {
		for _, c := range s.tests {
			if n++; c.failed {
				b.WriteByte('F')
			} else {
				b.WriteByte('.')
			}
			if n%72 == 0 || n == all {
				fmt.Fprintf(b, " [%3d%%]\n", n*100/all)
			}
		}
	}
	pytestFailures(b, run)
	fmt.Fprintf(b, "%d failed, %d passed in %d.%02ds\n", failed, all-failed, run.ms(), run.ms())
}

func writeGoTest(b *strings.Builder, run testRun) {
	for _, s := range run.suites {
		test := "Test" + s.camel()
		fmt.Fprintf(b, "=== RUN   %s\n", test)
		for _, c := range s.tests {
			fmt.Fprintf(b, "=== RUN   %s/%s\n", test, c.snake())
			if c.failed {
				fmt.Fprintf(b, "    %s_test.go:%d: got %d, want %d\n", s.words[0], c.line, c.got, c.want)
			}
		}
		verdict := "PASS"
		if len(s.failing()) > 0 {
			verdict = "FAIL"
		}
		fmt.Fprintf(b, "--- %s: %s (0.%02ds)\n", verdict, test, run.ms())
		for _, c := range s.tests {
			verdict := "PASS"
			if c.failed {
				verdict = "FAIL"
			}
			fmt.Fprintf(b, "    --- %s: %s/%s (0.%02ds)\n", verdict, test, c.snake(), run.ms())
		}
	}
	fmt.Fprintf(b, "FAIL\nFAIL\texample.com/shop\t%d.%03ds\nFAIL\n", run.ms(), run.ms())
}

func writeCargo(b *strings.Builder, run testRun) {
	all, failed := run.count()
	fmt.Fprintf(b, "   Compiling shop v0.1.0 (/home/user/shop)\n    Finished test [unoptimized + debuginfo] target(s) in 3.%02ds\n     Running unittests src/lib.rs (target/debug/deps/shop-4f1c2d3e5a6b7c8d)\n\nrunning %d tests\n", run.ms(), all)
	for _, s := range run.suites {
		for _, c := range s.tests {
			verdict := "ok"
			if c.failed {
				verdict = "FAILED"
			}
			fmt.Fprintf(b, "test %s::tests::%s ... %s\n", s.snake(), c.snake(), verdict)
		}
	}
	b.WriteString("\nfailures:\n\n")
	for _, s := range run.suites {
		for _, c := range s.failing() {
			fmt.Fprintf(b, "---- %s::tests::%s stdout ----\nthread '%s::tests::%s' panicked at src/%s.rs:%d:9:\nassertion `left == right` failed\n  left: %d\n right: %d\n", s.snake(), c.snake(), s.snake(), c.snake(), s.snake(), c.line, c.got, c.want)
			if c.line%2 == 0 {
				b.WriteString("note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n")
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\nfailures:\n")
	for _, s := range run.suites {
		for _, c := range s.failing() {
			fmt.Fprintf(b, "    %s::tests::%s\n", s.snake(), c.snake())
		}
	}
	fmt.Fprintf(b, "\ntest result: FAILED. %d passed; %d failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.%02ds\n\nerror: test failed, to rerun pass `--lib`\n", all-failed, failed, run.ms())
}

func writeGradle(b *strings.Builder, run testRun) {
	all, failed := run.count()
	b.WriteString("> Task :compileJava UP-TO-DATE\n> Task :processResources NO-SOURCE\n> Task :classes UP-TO-DATE\n> Task :compileTestJava\n> Task :testClasses\n\n> Task :test FAILED\n\n")
	for _, s := range run.suites {
		for _, c := range s.tests {
			name := fmt.Sprintf("com.example.shop.%sTest > %s()", s.camel(), c.method())
			if !c.failed {
				fmt.Fprintf(b, "%s PASSED\n\n", name)
				continue
			}
			fmt.Fprintf(b, "%s FAILED\n    org.opentest4j.AssertionFailedError: expected: <%d> but was: <%d>\n", name, c.want, c.got)
			fmt.Fprintf(b, "        at app//org.junit.jupiter.api.AssertionFailureBuilder.build(AssertionFailureBuilder.java:151)\n        at app//org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:527)\n        at app//com.example.shop.%sTest.%s(%sTest.java:%d)\n\n", s.camel(), c.method(), s.camel(), c.line)
		}
	}
	fmt.Fprintf(b, "%d tests completed, %d failed\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':test'.\n> There were failing tests. See the report at: file:///home/user/shop/build/reports/tests/test/index.html\n\n* Try:\n> Run with --scan to get full insights.\n\nBUILD FAILED in %ds\n4 actionable tasks: 2 executed, 2 up-to-date\n", all, failed, run.ms())
}

func writeMaven(b *strings.Builder, run testRun) {
	all, failed := run.count()
	b.WriteString("[INFO] Scanning for projects...\n[INFO] \n[INFO] --------------------------< com.example:shop >--------------------------\n[INFO] Building shop 1.0-SNAPSHOT\n[INFO] --- surefire:3.2.5:test (default-test) @ shop ---\n[INFO] \n[INFO] -------------------------------------------------------\n[INFO]  T E S T S\n[INFO] -------------------------------------------------------\n")
	for _, s := range run.suites {
		class := "com.example.shop." + s.camel() + "Test"
		fmt.Fprintf(b, "[INFO] Running %s\n", class)
		for i := range s.tests {
			fmt.Fprintf(b, "10:%02d:%02d.%03d [main] DEBUG c.e.s.%s -- loaded fixture %d in %d ms\n", i%60, run.ms(), run.random.IntN(1000), s.camel(), i, run.ms())
		}
		f := s.failing()
		if len(f) == 0 {
			fmt.Fprintf(b, "[INFO] Tests run: %d, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.%03d s -- in %s\n", len(s.tests), run.ms(), class)
			continue
		}
		fmt.Fprintf(b, "[ERROR] Tests run: %d, Failures: %d, Errors: 0, Skipped: 0, Time elapsed: 0.%03d s <<< FAILURE! -- in %s\n", len(s.tests), len(f), run.ms(), class)
		for _, c := range f {
			fmt.Fprintf(b, "[ERROR] %s.%s -- Time elapsed: 0.%03d s <<< FAILURE!\norg.opentest4j.AssertionFailedError: expected: <%d> but was: <%d>\n\tat org.junit.jupiter.api.AssertionFailureBuilder.build(AssertionFailureBuilder.java:151)\n\tat org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:527)\n\tat %s.%s(%sTest.java:%d)\n\n", class, c.method(), run.ms(), c.want, c.got, class, c.method(), s.camel(), c.line)
		}
	}
	b.WriteString("[INFO] \n[INFO] Results:\n[INFO] \n[ERROR] Failures: \n")
	for _, s := range run.suites {
		for _, c := range s.failing() {
			fmt.Fprintf(b, "[ERROR]   %sTest.%s:%d expected: <%d> but was: <%d>\n", s.camel(), c.method(), c.line, c.want, c.got)
		}
	}
	rule := "[INFO] " + strings.Repeat("-", 72) + "\n"
	fmt.Fprintf(b, "[INFO] \n[ERROR] Tests run: %d, Failures: %d, Errors: 0, Skipped: 0\n[INFO] \n%s[INFO] BUILD FAILURE\n%s[INFO] Total time:  %d.%03d s\n[INFO] Finished at: 2026-03-02T10:12:13Z\n%s", all, failed, rule, rule, run.ms(), run.ms(), rule)
	b.WriteString("[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project shop: There are test failures.\n[ERROR] \n[ERROR] See /home/user/shop/target/surefire-reports for the individual test results.\n[ERROR] -> [Help 1]\n[ERROR] \n[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.\n[ERROR] Re-run Maven using the -X switch to enable full debug logging.\n[ERROR] \n[ERROR] For more information about the errors and possible solutions, please read the following articles:\n[ERROR] [Help 1] http://cwiki.apache.org/confluence/display/MAVEN/MojoFailureException\n")
}

func writeDotnet(b *strings.Builder, run testRun) {
	all, failed := run.count()
	b.WriteString("  Determining projects to restore...\n  All projects are up-to-date for restore.\n  Shop.Tests -> /home/user/shop/Shop.Tests/bin/Debug/net8.0/Shop.Tests.dll\nTest run for /home/user/shop/Shop.Tests/bin/Debug/net8.0/Shop.Tests.dll (.NETCoreApp,Version=v8.0)\nMicrosoft (R) Test Execution Command Line Tool Version 17.8.0 (x64)\n\nStarting test execution, please wait...\nA total of 1 test files matched the specified pattern.\n")
	for _, s := range run.suites {
		for _, c := range s.tests {
			name := fmt.Sprintf("Shop.Tests.%sTests.%s", s.camel(), c.camel())
			if !c.failed {
				fmt.Fprintf(b, "  Passed %s [%d ms]\n", name, run.ms())
				continue
			}
			if c.line%2 == 0 {
				fmt.Fprintf(b, "[xUnit.net 00:00:%02d.%02d]     %s [FAIL]\n", run.ms(), run.ms(), name)
			}
			fmt.Fprintf(b, "  Failed %s [%d ms]\n  Error Message:\n   Assert.Equal() Failure: Values differ\nExpected: %d\nActual:   %d\n  Stack Trace:\n     at %s() in /home/user/shop/Shop.Tests/%sTests.cs:line %d\n   at System.RuntimeMethodHandle.InvokeMethod(Object target, Void** arguments, Signature sig, Boolean isConstructor)\n", name, run.ms(), c.want, c.got, name, s.camel(), c.line)
		}
	}
	fmt.Fprintf(b, "\nTest Run Failed.\nTotal tests: %d\n     Passed: %d\n     Failed: %d\n Total time: %d.%04d Seconds\n", all, all-failed, failed, run.ms(), run.ms())
}

func writeRspec(b *strings.Builder, run testRun) {
	all, failed := run.count()
	n := 0
	for _, s := range run.suites {
		fmt.Fprintf(b, "\n%s\n", s.camel())
		for _, c := range s.tests {
			if c.failed {
				n++
				fmt.Fprintf(b, "  %s (FAILED - %d)\n", c.plain(), n)
			} else {
				fmt.Fprintf(b, "  %s\n", c.plain())
			}
		}
	}
	b.WriteString("\nFailures:\n\n")
	n = 0
	for _, s := range run.suites {
		for _, c := range s.failing() {
			n++
			fmt.Fprintf(b, "  %d) %s %s\n     Failure/Error: expect(result).to eq(%d)\n\n       expected: %d\n            got: %d\n\n       (compared using ==)\n     # ./spec/%s_spec.rb:%d:in `block (2 levels) in <top (required)>'\n\n", n, s.camel(), c.plain(), c.want, c.want, c.got, s.snake(), c.line)
		}
	}
	fmt.Fprintf(b, "Finished in %d.%02d seconds (files took 0.%d seconds to load)\n%d examples, %d failures\n\nFailed examples:\n\n", run.ms(), run.ms(), run.ms(), all, failed)
	for _, s := range run.suites {
		for _, c := range s.failing() {
			fmt.Fprintf(b, "rspec ./spec/%s_spec.rb:%d # %s %s\n", s.snake(), c.line, s.camel(), c.plain())
		}
	}
}

// namedIn reports whether a text has a name that no longer name goes on from.
func namedIn(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(name):])
		if !unicode.IsLetter(before) && !unicode.IsDigit(after) && !unicode.IsLetter(after) {
			return true
		}
		at += len(name)
	}
}

// namedBy is how many failing tests a preview names, and how many start and end do.
func (r runner) namedBy(run testRun, room int) (log, shown string, all, preview, ends int) {
	var b strings.Builder
	r.write(&b, run)
	log = b.String()
	shown, _ = Render(Request{Text: log, Room: room})
	start := HeadTail(Request{Text: log, Room: room})
	for _, s := range run.suites {
		for _, c := range s.failing() {
			all++
			if namedIn(shown, r.id(c)) {
				preview++
			}
			if namedIn(start, r.id(c)) {
				ends++
			}
		}
	}
	return log, shown, all, preview, ends
}

// noticeRoom is about what the preset shows of a result.
const noticeRoom = 3300

// testFailuresAreNamed checks that a preview names nearly all failing tests, and no fewer than the
// start and the end do.
func testFailuresAreNamed(t *testing.T, runners []runner) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, r := range runners {
		t.Run(r.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			all, named, inEnds, fewer := 0, 0, 0, 0
			cases := race.Cases(60)
			for i := range cases {
				run := newTestRun(random, 70+random.IntN(1+3000*(i+1)/cases))
				log, shown, n, preview, ends := r.namedBy(run, noticeRoom)
				require.LessOrEqual(t, len(shown), noticeRoom)
				if len(log) <= noticeRoom {
					continue
				}
				all, named, inEnds = all+n, named+preview, inEnds+ends
				if preview < ends {
					fewer++
					t.Logf("%d of %d named, %d by start and end: %d lines", preview, n, ends, strings.Count(log, "\n"))
				}
			}
			if all == 0 {
				t.Skip("all logs fit")
			}
			t.Logf("%-12s %3d failing tests, named by the preview: %5.1f %%, by start and end: %5.1f %%", r.name, all, 100*float64(named)/float64(all), 100*float64(inEnds)/float64(all))
			require.Zero(t, fewer)
			require.GreaterOrEqual(t, named*100, all*95)
		})
	}
}

func TestPreview_NamesFailingTests(t *testing.T) { testFailuresAreNamed(t, tuned) }

// TestRunners_NamesAreUnique keeps the measure honest: no name is part of another one's line by chance.
func TestRunners_NamesAreUnique(t *testing.T) {
	run := newTestRun(rand.New(rand.NewPCG(1, 2)), 500)
	var names []string
	for _, s := range run.suites {
		for _, c := range s.tests {
			names = append(names, c.snake())
		}
	}
	slices.Sort(names)
	require.Len(t, slices.Compact(names), len(names))
	require.True(t, namedIn("a b_1 c", "b_1"))
	require.False(t, namedIn("a b_12 c", "b_1"))
}
