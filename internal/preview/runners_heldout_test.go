// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Logs of runners that no rule was written for. They are a check, not a guide: a rule that names one
// of them, or was tried on them until it passed, would make them worthless.

import (
	"fmt"
	"strings"
	"testing"
)

// heldOut are the runners that were kept away while the rules were written.
var heldOut = []runner{
	{"mocha", writeMocha, testCase.plain},
	{"phpunit", writePHPUnit, func(c testCase) string { return "test" + c.camel() }},
	{"ctest", writeCTest, testCase.snake},
	{"XCTest", writeXCTest, func(c testCase) string { return "test" + c.camel() }},
	{"bats", writeBats, testCase.plain},
	{"unittest", writeUnittest, func(c testCase) string { return "test_" + c.snake() }},
	{"gtest", writeGoogleTest, testCase.camel},
	{"ExUnit", writeExUnit, testCase.plain},
	{"deno", writeDeno, testCase.plain},
}

func writeMocha(b *strings.Builder, run testRun) {
	all, failed := run.count()
	b.WriteString("\n> shop@1.0.0 test\n> mocha\n\n\n")
	n := 0
	for _, s := range run.suites {
		fmt.Fprintf(b, "  %s\n", s.camel())
		for _, c := range s.tests {
			if c.failed {
				n++
				fmt.Fprintf(b, "    %d) %s\n", n, c.plain())
			} else {
				fmt.Fprintf(b, "    ✔ %s (%dms)\n", c.plain(), run.ms())
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\n  %d passing (%dms)\n  %d failing\n\n", all-failed, run.ms(), failed)
	n = 0
	for _, s := range run.suites {
		for _, c := range s.failing() {
			n++
			fmt.Fprintf(b, "  %d) %s\n       %s:\n\n      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n%d !== %d\n\n      + expected - actual\n\n      -%d\n      +%d\n\n      at Context.<anonymous> (test/%s.js:%d:14)\n      at process.processImmediate (node:internal/timers:476:21)\n\n", n, s.camel(), c.plain(), c.got, c.want, c.got, c.want, s.snake(), c.line)
		}
	}
}

func writePHPUnit(b *strings.Builder, run testRun) {
	all, failed := run.count()
	b.WriteString("PHPUnit 10.5.5 by Sebastian Bergmann and contributors.\n\nRuntime:       PHP 8.2.10\nConfiguration: /home/user/shop/phpunit.xml\n\n")
	n := 0
	for _, s := range run.suites {
		for _, c := range s.tests {
			if n++; c.failed {
				b.WriteByte('F')
			} else {
				b.WriteByte('.')
			}
			if n%63 == 0 || n == all {
				fmt.Fprintf(b, " %4d / %d (%3d%%)\n", n, all, n*100/all)
			}
		}
	}
	fmt.Fprintf(b, "\nTime: 00:%02d.%03d, Memory: %d.00 MB\n\nThere were %d failures:\n\n", run.ms(), run.ms(), run.ms(), failed)
	n = 0
	for _, s := range run.suites {
		for _, c := range s.failing() {
			n++
			fmt.Fprintf(b, "%d) Shop\\Tests\\%sTest::test%s\nFailed asserting that %d matches expected %d.\n\n/home/user/shop/tests/%sTest.php:%d\n\n", n, s.camel(), c.camel(), c.got, c.want, s.camel(), c.line)
		}
	}
	fmt.Fprintf(b, "FAILURES!\nTests: %d, Assertions: %d, Failures: %d.\n", all, 3*all, failed)
}

func writeCTest(b *strings.Builder, run testRun) {
	all, failed := run.count()
	b.WriteString("Test project /home/user/shop/build\n")
	n := 0
	for _, s := range run.suites {
		for _, c := range s.tests {
			n++
			fmt.Fprintf(b, "        Start %3d: %s\n", n, c.snake())
			verdict := "   Passed"
			if c.failed {
				verdict = "***Failed"
			}
			fmt.Fprintf(b, "%3d/%d Test %*s: %s %s%s    0.%02d sec\n", n, all, 4, fmt.Sprintf("#%d", n), c.snake(), strings.Repeat(".", max(3, 50-len(c.snake()))), verdict, run.ms())
		}
	}
	fmt.Fprintf(b, "\n%d%% tests passed, %d tests failed out of %d\n\nTotal Test time (real) =  %d.%02d sec\n\nThe following tests FAILED:\n", (all-failed)*100/all, failed, all, run.ms(), run.ms())
	n = 0
	for _, s := range run.suites {
		for _, c := range s.tests {
			if n++; c.failed {
				fmt.Fprintf(b, "\t%3d - %s (Failed)\n", n, c.snake())
			}
		}
	}
	b.WriteString("Errors while running CTest\n")
}

func writeXCTest(b *strings.Builder, run testRun) {
	all, failed := run.count()
	stamp := func() string {
		return fmt.Sprintf("2026-03-02 10:%02d:%02d.%03d", run.ms(), run.ms(), run.random.IntN(1000))
	}
	fmt.Fprintf(b, "Build complete! (%d.%02ds)\nTest Suite 'All tests' started at %s\n", run.ms(), run.ms(), stamp())
	for _, s := range run.suites {
		class := s.camel() + "Tests"
		fmt.Fprintf(b, "Test Suite '%s' started at %s\n", class, stamp())
		for _, c := range s.tests {
			name := fmt.Sprintf("%s.test%s", class, c.camel())
			fmt.Fprintf(b, "Test Case '%s' started at %s\n", name, stamp())
			verdict := "passed"
			if c.failed {
				verdict = "failed"
				fmt.Fprintf(b, "/home/user/shop/Tests/ShopTests/%s.swift:%d: error: %s : XCTAssertEqual failed: (\"%d\") is not equal to (\"%d\") - \n", class, c.line, name, c.got, c.want)
			}
			fmt.Fprintf(b, "Test Case '%s' %s (0.%03d seconds)\n", name, verdict, run.ms())
		}
		verdict := "passed"
		if len(s.failing()) > 0 {
			verdict = "failed"
		}
		fmt.Fprintf(b, "Test Suite '%s' %s at %s\n\t Executed %d tests, with %d failures (0 unexpected) in 0.%03d (0.%03d) seconds\n", class, verdict, stamp(), len(s.tests), len(s.failing()), run.ms(), run.ms())
	}
	fmt.Fprintf(b, "Test Suite 'All tests' failed at %s\n\t Executed %d tests, with %d failures (0 unexpected) in %d.%03d (%d.%03d) seconds\n", stamp(), all, failed, run.ms(), run.ms(), run.ms(), run.ms())
}

func writeBats(b *strings.Builder, run testRun) {
	all, _ := run.count()
	fmt.Fprintf(b, "1..%d\n", all)
	n := 0
	for _, s := range run.suites {
		for _, c := range s.tests {
			if n++; !c.failed {
				fmt.Fprintf(b, "ok %d %s\n", n, c.plain())
				continue
			}
			fmt.Fprintf(b, "not ok %d %s\n# (in test file test/%s.bats, line %d)\n#   `[ \"$result\" -eq %d ]' failed\n# result: %d\n", n, c.plain(), s.snake(), c.line, c.want, c.got)
		}
	}
}

func writeUnittest(b *strings.Builder, run testRun) {
	all, failed := run.count()
	for _, s := range run.suites {
		for _, c := range s.tests {
			verdict := "ok"
			if c.failed {
				verdict = "FAIL"
			}
			fmt.Fprintf(b, "test_%s (tests.test_%s.%sTest.test_%s) ... %s\n", c.snake(), s.snake(), s.camel(), c.snake(), verdict)
		}
	}
	for _, s := range run.suites {
		for _, c := range s.failing() {
			fmt.Fprintf(b, "\n%s\nFAIL: test_%s (tests.test_%s.%sTest.test_%s)\n%s\nTraceback (most recent call last):\n  File \"/home/user/shop/tests/test_%s.py\", line %d, in test_%s\n    self.assertEqual(run(sample()), %d)\nAssertionError: %d != %d\n", strings.Repeat("=", 70), c.snake(), s.snake(), s.camel(), c.snake(), strings.Repeat("-", 70), s.snake(), c.line, c.snake(), c.want, c.got, c.want)
		}
	}
	fmt.Fprintf(b, "\n%s\nRan %d tests in %d.%03ds\n\nFAILED (failures=%d)\n", strings.Repeat("-", 70), all, run.ms(), run.ms(), failed)
}

func writeGoogleTest(b *strings.Builder, run testRun) {
	all, failed := run.count()
	fmt.Fprintf(b, "[==========] Running %d tests from %d test suites.\n[----------] Global test environment set-up.\n", all, len(run.suites))
	for _, s := range run.suites {
		suite := s.camel() + "Test"
		fmt.Fprintf(b, "[----------] %d tests from %s\n", len(s.tests), suite)
		for _, c := range s.tests {
			fmt.Fprintf(b, "[ RUN      ] %s.%s\n", suite, c.camel())
			verdict := "      OK"
			if c.failed {
				verdict = " FAILED "
				fmt.Fprintf(b, "/home/user/shop/%s_test.cc:%d: Failure\nExpected equality of these values:\n  Run(input)\n    Which is: %d\n  %d\n\n", s.snake(), c.line, c.got, c.want)
			}
			fmt.Fprintf(b, "[ %s ] %s.%s (%d ms)\n", verdict, suite, c.camel(), run.ms())
		}
		fmt.Fprintf(b, "[----------] %d tests from %s (%d ms total)\n\n", len(s.tests), suite, run.ms())
	}
	fmt.Fprintf(b, "[----------] Global test environment tear-down\n[==========] %d tests from %d test suites ran. (%d ms total)\n[  PASSED  ] %d tests.\n[  FAILED  ] %d tests, listed below:\n", all, len(run.suites), run.ms(), all-failed, failed)
	for _, s := range run.suites {
		for _, c := range s.failing() {
			fmt.Fprintf(b, "[  FAILED  ] %sTest.%s\n", s.camel(), c.camel())
		}
	}
	fmt.Fprintf(b, "\n %d FAILED TESTS\n", failed)
}

func writeExUnit(b *strings.Builder, run testRun) {
	all, failed := run.count()
	fmt.Fprintf(b, "Running ExUnit with seed: %d, max_cases: 8\n\n", run.random.IntN(900000))
	n := 0
	for _, s := range run.suites {
		fmt.Fprintf(b, "\n%sTest [test/%s_test.exs]\n", s.camel(), s.snake())
		for _, c := range s.tests {
			fmt.Fprintf(b, "  * test %s (%d.%dms) [L#%d]\n", c.plain(), run.ms(), run.ms()%10, c.line)
			if !c.failed {
				continue
			}
			n++
			fmt.Fprintf(b, "\n  %d) test %s (%sTest)\n     test/%s_test.exs:%d\n     Assertion with == failed\n     code:  assert run(input) == %d\n     left:  %d\n     right: %d\n     stacktrace:\n       test/%s_test.exs:%d: (test)\n\n", n, c.plain(), s.camel(), s.snake(), c.line, c.want, c.got, c.want, s.snake(), c.line+2)
		}
	}
	fmt.Fprintf(b, "\nFinished in %d.%d seconds (%d.%ds async, 0.00s sync)\n%d tests, %d failures\n", run.ms(), run.ms()%10, run.ms(), run.ms()%10, all, failed)
}

func writeDeno(b *strings.Builder, run testRun) {
	all, failed := run.count()
	for _, s := range run.suites {
		fmt.Fprintf(b, "running %d tests from ./%s_test.ts\n", len(s.tests), s.snake())
		for _, c := range s.tests {
			verdict := "ok"
			if c.failed {
				verdict = "FAILED"
			}
			fmt.Fprintf(b, "%s ... %s (%dms)\n", c.plain(), verdict, run.ms())
		}
	}
	b.WriteString("\n ERRORS \n\n")
	for _, s := range run.suites {
		for _, c := range s.failing() {
			fmt.Fprintf(b, "%s => ./%s_test.ts:%d:6\nerror: AssertionError: Values are not equal.\n\n\n    [Diff] Actual / Expected\n\n\n-   %d\n+   %d\n\n  throw new AssertionError(message);\n        ^\n    at assertEquals (https://jsr.io/@std/assert/1.0.6/equals.ts:64:9)\n    at file:///home/user/shop/%s_test.ts:%d:3\n\n", c.plain(), s.snake(), c.line, c.got, c.want, s.snake(), c.line+1)
		}
	}
	b.WriteString(" FAILURES \n\n")
	for _, s := range run.suites {
		for _, c := range s.failing() {
			fmt.Fprintf(b, "%s => ./%s_test.ts:%d:6\n", c.plain(), s.snake(), c.line)
		}
	}
	fmt.Fprintf(b, "\nFAILED | %d passed | %d failed (%dms)\n\nerror: Test failed\n", all-failed, failed, run.ms())
}

func TestPreview_NamesFailingTestsOfOtherRunners(t *testing.T) { testFailuresAreNamed(t, heldOut) }
