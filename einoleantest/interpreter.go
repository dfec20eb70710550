// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einoleantest

// The contract of an interpreter of programs.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/einolean/einolean/programs"
)

// TestInterpreter tests whether an interpreter of JavaScript meets the contract of
// [programs.Interpreter], one per subtest: calls and their results, what is printed and
// returned, errors, the same output for the same calls, and that a program reaches nothing else.
// Every subtest calls open. Run the tests with -race.
func TestInterpreter(t *testing.T, open func(t *testing.T) programs.Interpreter) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(t *testing.T, in programs.Interpreter)
	}{
		{"a program prints and returns", testOutput},
		{"calls are made in order and together", testCalls},
		{"a result is a value, or text", testValues},
		{"a number is the one that was written", testNumbers},
		{"a rounded number has an exponent", testRounded},
		{"a failed call rejects", testFailures},
		{"stored asks for a path", testStored},
		{"the same program prints the same", testDeterminism},
		{"a program reaches nothing", testReach},
		{"programs are apart from each other", testApart},
		{"the end of the context ends a program", testContext},
		{"results that nobody waits for are refused", testForeignResults},
		{"a closed program keeps its state", testClose},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// answering is a tool that answers a call, and whether it failed.
type answering func(c programs.Call) (text string, failed bool)

func always(text string) answering {
	return func(programs.Call) (string, bool) { return text, false }
}

// runProgram runs a program to its end, and returns its state and each batch of its calls.
func runProgram(t *testing.T, in programs.Interpreter, code string, answer answering) (programs.State, [][]programs.Call) {
	t.Helper()
	p, err := in.Start(t.Context(), programs.Program{Code: code, Seed: "call_1", Time: time.UnixMilli(1_700_000_000_000)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var batches [][]programs.Call
	for {
		s := p.State()
		if len(s.Calls) == 0 {
			return s, batches
		}
		batches = append(batches, s.Calls)
		if err := p.Resume(t.Context(), answers(s.Calls, answer)); err != nil {
			t.Fatal(err)
		}
	}
}

// answers are the results of calls, last call first: their order does not matter.
func answers(calls []programs.Call, answer answering) (results []programs.Result) {
	for _, c := range calls {
		text, failed := answer(c)
		results = append([]programs.Result{{Number: c.Number, Text: text, Failed: failed}}, results...)
	}
	return results
}

// wantState fails unless a program printed and returned exactly this, without an error.
func wantState(t *testing.T, s programs.State, printed, returned string) {
	t.Helper()
	if s.Error != "" || s.Printed != printed || s.Returned != returned {
		t.Errorf("printed %q, returned %q, error %q; want %q and %q", s.Printed, s.Returned, s.Error, printed, returned)
	}
}

func testOutput(t *testing.T, in programs.Interpreter) {
	for _, c := range []struct{ code, printed, returned string }{
		{`print("a", 1, {b: [2]}); console.log("c")`, "a 1 {\"b\":[2]}\nc\n", ""},
		{`return {a: 1}`, "", `{"a":1}`},
		{`return "text"`, "", "text"},
		{`print("é", "中文", "🙂")`, "é 中文 🙂\n", ""},
		{`const x = 1;`, "", ""},
		{`await 0; print(new Map([[1, 2]]), new Set([3]), 4n, undefined, null)`, "[[1,2]] [3] 4 undefined null\n", ""},
	} {
		s, _ := runProgram(t, in, c.code, always("{}"))
		wantState(t, s, c.printed, c.returned)
	}
	s, _ := runProgram(t, in, "print('before');\nthrow new Error('broken')", always("{}"))
	if s.Printed != "before\n" || !strings.Contains(s.Error, "broken") {
		t.Errorf("%+v: what was printed before an error is kept, and the error is told", s)
	}
	if s, _ := runProgram(t, in, "print('a'", always("{}")); s.Error == "" {
		t.Error("a program that cannot be read has no error")
	}
}

func testCalls(t *testing.T, in programs.Interpreter) {
	s, batches := runProgram(t, in, `
		const [a, b] = await Promise.all([tools.one({x: 1}), tools["two-b"]({y: "z"})]);
		const c = await tools.three();
		print(a.n + b.n + c.n)`,
		func(c programs.Call) (string, bool) { return fmt.Sprintf(`{"n":%d}`, c.Number), false })
	wantState(t, s, "6\n", "")
	got := fmt.Sprint(batches)
	want := fmt.Sprint([][]programs.Call{
		{{Number: 1, Tool: "one", Arguments: `{"x":1}`, Line: 2}, {Number: 2, Tool: "two-b", Arguments: `{"y":"z"}`, Line: 2}},
		{{Number: 3, Tool: "three", Arguments: `{}`, Line: 3}},
	})
	if got != want {
		t.Errorf("calls %s, want %s", got, want)
	}
}

func testValues(t *testing.T, in programs.Interpreter) {
	for _, c := range []struct{ result, printed string }{
		{`{"a":{"b":[1,"x"]}}`, `object {"a":{"b":[1,"x"]}}`},
		{`[1,2]`, `object [1,2]`},
		{`42`, `number 42`},
		{` false`, `boolean false`},
		{`null`, `object null`},
		{`"quoted"`, `string quoted`},
		{`9007199254740993`, `bigint 9007199254740993`},
		{`007`, `string 007`},
		{`plain text`, `string plain text`},
		{``, `string `},
		{`{broken`, `string {broken`},
		{"line\nline\ttab \\ \" ` ${x}", "string line\nline\ttab \\ \" ` ${x}"},
		{"\u2028 中 🙂 \x00", "string \u2028 中 🙂 \x00"},
	} {
		s, _ := runProgram(t, in, `const r = await tools.get({}); print(typeof r, r)`, always(c.result))
		wantState(t, s, c.printed+"\n", "")
	}
}

func testNumbers(t *testing.T, in programs.Interpreter) {
	for _, c := range []struct{ written, kind, read string }{
		{"0", "number", "0"}, {"-1", "number", "-1"}, {"1.50", "number", "1.5"}, {"1E5", "number", "100000"}, {"9007199254740991", "number", "9007199254740991"},
		{"9007199254740992", "bigint", "9007199254740992"}, {"9007199254740993", "bigint", "9007199254740993"}, {"-12345678901234567890", "bigint", "-12345678901234567890"},
		{"0.1234567890123456789", "number", "0.12345678901234568"}, {"36.6666666666666667", "number", "36.666666666666664"},
	} {
		s, batches := runProgram(t, in, `const r = await tools.get({}); await tools.put({n: r.n, all: [{n: r.n}]}); print(typeof r.n, String(r.n), r.s, JSON.stringify({n: r.n}), [r.n])`,
			always(fmt.Sprintf(`{"n":%s,"s":"%s"}`, c.written, c.written)))
		wantState(t, s, fmt.Sprintf("%s %s %s {\"n\":%[2]s} [%[2]s]\n", c.kind, c.read, c.written), "")
		if got, want := batches[1][0].Arguments, fmt.Sprintf(`{"n":%s,"all":[{"n":%[1]s}]}`, c.read); got != want {
			t.Errorf("%s goes out as %s, want %s", c.written, got, want)
		}
	}
}

func testRounded(t *testing.T, in programs.Interpreter) {
	_, batches := runProgram(t, in, `await tools.get({a: 2 ** 53, b: [-(2 ** 60)], c: 2 ** 53 - 1, d: 1e300, e: 2n ** 53n})`, always("{}"))
	if got, want := batches[0][0].Arguments, `{"a":9.007199254740992e+15,"b":[-1.152921504606847e+18],"c":9007199254740991,"d":1e+300,"e":9007199254740992}`; got != want {
		t.Errorf("arguments %s, want %s", got, want)
	}
}

func testFailures(t *testing.T, in programs.Interpreter) {
	fail := func(c programs.Call) (string, bool) { return "no " + c.Tool, c.Tool == "bad" }
	s, _ := runProgram(t, in, `try { await tools.bad({}) } catch (e) { print("caught", e.message) } print(await tools.good({}))`, fail)
	wantState(t, s, "caught no bad\nno good\n", "")
	s, _ = runProgram(t, in, "print(1);\nawait tools.bad({});\nprint(2)", fail)
	if s.Printed != "1\n" || !strings.Contains(s.Error, "no bad") || !strings.Contains(s.Error, "2") {
		t.Errorf("%+v: a failure that nobody catches ends the program, and its line is told", s)
	}
	s, _ = runProgram(t, in, `const r = await Promise.allSettled([tools.good({}), tools.bad({})]); print(r.map(x => x.status))`, fail)
	wantState(t, s, "[\"fulfilled\",\"rejected\"]\n", "")
}

func testStored(t *testing.T, in programs.Interpreter) {
	s, batches := runProgram(t, in, `print((await stored("/tmp/trunc/c1")).length)`, func(c programs.Call) (string, bool) {
		return `[1,2,3]`, c.Path != "/tmp/trunc/c1" || c.Tool != ""
	})
	wantState(t, s, "3\n", "")
	if len(batches) != 1 {
		t.Errorf("stored asked %d times", len(batches))
	}
}

func testDeterminism(t *testing.T, in programs.Interpreter) {
	const code = `print(Math.random(), Date.now(), new Date().toISOString());
		const r = await Promise.all([1, 2, 3].map(i => tools.get({i, at: Date.now(), chance: Math.random()})));
		print(r, Math.random(), Date.now())`
	first, _ := runProgram(t, in, code, func(c programs.Call) (string, bool) { return c.Arguments, false })
	if !strings.Contains(first.Printed, "2023-11-14") {
		t.Errorf("the clock does not begin with the program's time: %s", first.Printed)
	}
	for range 3 {
		again, _ := runProgram(t, in, code, func(c programs.Call) (string, bool) { return c.Arguments, false })
		wantState(t, again, first.Printed, first.Returned)
	}
	p, err := in.Start(t.Context(), programs.Program{Code: code, Seed: "call_2", Time: time.UnixMilli(1_700_000_000_000)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.State().Printed == first.Printed {
		t.Error("another seed gives the same random numbers")
	}
}

func testReach(t *testing.T, in programs.Interpreter) {
	s, _ := runProgram(t, in, `print(["std", "os", "bjson", "WebAssembly", "Worker", "scriptArgs", "gc", "Atomics", "SharedArrayBuffer"].map(n => typeof globalThis[n]).join())`, always(""))
	wantState(t, s, strings.TrimSuffix(strings.Repeat("undefined,", 9), ",")+"\n", "")
	for _, code := range []string{`require("fs")`, `await fetch("https://example.com")`, `setTimeout(() => {}, 1)`, `print(process.env.HOME)`, `await import("std")`, `await import("os")`} {
		if s, _ := runProgram(t, in, code, always("")); s.Error == "" {
			t.Errorf("%s has no error", code)
		}
	}
}

func testApart(t *testing.T, in programs.Interpreter) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s, _ := runProgram(t, in, fmt.Sprintf(`globalThis.mine = (globalThis.mine ?? 0) + %d; Array.prototype.mine = 1; await tools.get({}); print(globalThis.mine)`, i), always("{}"))
			wantState(t, s, fmt.Sprintf("%d\n", i), "")
		})
	}
	wg.Wait()
}

func testContext(t *testing.T, in programs.Interpreter) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := in.Start(ctx, programs.Program{Code: "print(1)"}); err == nil {
		t.Error("a program began after the end of its context")
	}
	ctx, cancel = context.WithCancel(t.Context())
	p, err := in.Start(ctx, programs.Program{Code: "await tools.get({})"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	cancel()
	if err := p.Resume(ctx, answers(p.State().Calls, always("{}"))); err == nil {
		t.Error("a program went on after the end of its context")
	}
}

func testForeignResults(t *testing.T, in programs.Interpreter) {
	p, err := in.Start(t.Context(), programs.Program{Code: "await tools.get({}); print('on')"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, results := range [][]programs.Result{nil, {{Number: 7}}, {{Number: 1}, {Number: 1}}} {
		if err := p.Resume(t.Context(), results); err == nil {
			t.Errorf("%v: accepted", results)
		}
	}
	if err := p.Resume(t.Context(), []programs.Result{{Number: 1}}); err != nil || p.State().Printed != "on\n" {
		t.Errorf("%v, %+v: refused results change nothing", err, p.State())
	}
	if err := p.Resume(t.Context(), nil); err == nil {
		t.Error("a program that has ended goes on")
	}
}

func testClose(t *testing.T, in programs.Interpreter) {
	p, err := in.Start(t.Context(), programs.Program{Code: "print('so far'); await tools.get({})"})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Close()
	if s := p.State(); s.Printed != "so far\n" || len(s.Calls) != 0 || s.Error == "" {
		t.Errorf("%+v: a program that was closed has ended, and what it printed is kept", s)
	}
}
