// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/programs/javascript"
)

//claim:security-31
func TestInterpreter_KeepsContract(t *testing.T) {
	einoleantest.TestInterpreter(t, func(*testing.T) programs.Interpreter { return javascript.New(javascript.Limits{}) })
}

// finish runs a program to its end; a tool called fail fails, every other one answers result.
func finish(ctx context.Context, in programs.Interpreter, code, result string) (programs.State, error) {
	p, err := in.Start(ctx, programs.Program{Code: code, Seed: "call_1", Time: time.UnixMilli(0)})
	if err != nil {
		return programs.State{}, err
	}
	defer p.Close()
	for {
		s := p.State()
		if len(s.Calls) == 0 {
			return s, nil
		}
		var results []programs.Result
		for _, c := range s.Calls {
			results = append(results, programs.Result{Number: c.Number, Text: result, Failed: c.Tool == "fail"})
		}
		if err := p.Resume(ctx, results); err != nil {
			return programs.State{}, err
		}
	}
}

// end is how a program ended, with its limits small so that tests are quick.
func end(t *testing.T, limits javascript.Limits, code, result string) programs.State {
	t.Helper()
	s, err := finish(t.Context(), javascript.New(limits), code, result)
	require.NoError(t, err)
	return s
}

//claim:security-32
func TestLimits_EachIsNamedInError(t *testing.T) {
	for _, c := range []struct {
		name, code, error string
		limits            javascript.Limits
	}{
		{"time", `print("first"); for (;;) {}`, "computed for more than 100ms", javascript.Limits{Time: 100 * time.Millisecond}},
		{"memory", `print("first"); const a = []; for (;;) a.push(new Array(1000).fill(7))`, "more than 16 MB of memory", javascript.Limits{Memory: 16 << 20}},
		{"memory that is caught", `print("first"); const a = []; for (;;) { try { for (;;) a.push(new Array(1000).fill(7)) } catch {} }`, "stopped", javascript.Limits{Memory: 16 << 20, Time: 300 * time.Millisecond}},
		{"calls", `print("first"); for (let i = 0; i < 50; i++) tools.get({i}); await 0`, "more than 20 calls", javascript.Limits{Calls: 20}},
		{"rounds", `print("first"); for (;;) await tools.get({})`, "more than 3 times", javascript.Limits{MaxBatches: 3}},
		{"rounds of one call", `print("first"); for (;;) await tools.get({})`, "await Promise.all", javascript.Limits{MaxBatches: 3}},
		{"rounds of several calls", `print("first"); await Promise.all([1, 2].map(async x => { for (;;) await tools.get({x}) }))`, "Limits.MaxBatches", javascript.Limits{MaxBatches: 3}},
		{"calls of one Promise.all", `print("first"); await Promise.all(Array.from({length: 50}, (_, i) => tools.get({i})))`, "Limits.Calls", javascript.Limits{Calls: 20}},
		{"depth", `print("first"); const f = () => f() + 1; f()`, "too deeply", javascript.Limits{}},
		{"a promise that nobody keeps", `print("first"); await new Promise(() => {})`, "never happens", javascript.Limits{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := end(t, c.limits, c.code, "{}")
			require.Contains(t, s.Error, c.error)
			require.Equal(t, "first\n", s.Printed, "what was printed is kept")
			require.Empty(t, s.Calls)
		})
	}
}

// A program that makes its calls at once already is not told to do so.
func TestLimits_NoAdviceThatIsFollowedAlready(t *testing.T) {
	t.Cleanup(func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) })
	for _, language := range []adk.Language{adk.LanguageEnglish, adk.LanguageChinese} {
		require.NoError(t, adk.SetLanguage(language))
		s := end(t, javascript.Limits{MaxBatches: 3},
			`await Promise.all([1, 2].map(async x => { for (;;) await tools.get({x}) }))`, "{}")
		require.Contains(t, s.Error, "Limits.MaxBatches")
		require.NotContains(t, s.Error, "Promise.all")
	}
}

func TestOutput_IsCutAtLimit(t *testing.T) {
	s := end(t, javascript.Limits{Output: 100}, `for (let i = 0; i < 1000; i++) print("é".repeat(7)); return "x".repeat(500)`, "{}")
	kept, note, _ := strings.Cut(s.Printed, "\n[")
	require.LessOrEqual(t, len(kept), 100)
	require.Contains(t, note, "cut at 100 bytes")
	require.True(t, strings.HasPrefix(s.Returned, strings.Repeat("x", 100)+"\n["), s.Returned)
	require.Empty(t, s.Error, "too much output ends nothing")
}

// A program that throws has failed, whatever it throws and wherever.
func TestThrow_AnyValueIsAnError(t *testing.T) {
	in := javascript.New(javascript.Limits{})
	for _, thrown := range []string{
		`""`, `null`, `undefined`, `0`, `false`, `[]`, `{}`, `new String("")`, `new Error()`, `new Error("")`, `Object.create(null)`, `Symbol()`, `() => 1`,
		`{toString() { return "" }}`, `{toJSON() { return "" }}`, `Object.assign(new Error(""), {name: ""})`, `new Proxy({}, {get() { throw 1 }})`, `new Proxy(new Error("x"), {get() { throw "" }})`,
		`{get einoleanCall() { throw 1 }}`, `new (class extends Error { get message() { throw 1 } })`, `new Proxy(() => 1, {getPrototypeOf() { throw 1 }})`,
	} {
		for _, where := range []string{`throw %s`, `print("x"); if (1) return await Promise.reject(%s)`, `await (async () => { await tools.get({}); throw %s })()`, `await Promise.all([tools.get({}), Promise.reject(%s)])`} {
			code := fmt.Sprintf(where, "("+thrown+")")
			s, err := finish(t.Context(), in, code, "{}")
			require.NoError(t, err, code)
			require.NotEmpty(t, s.Error, code)
		}
	}
}

func TestLimits_InvalidOnesAreAllReported(t *testing.T) {
	_, err := javascript.New(javascript.Limits{Memory: 1, Time: -1, Calls: -1, MaxBatches: -1, Output: -1,
		MaxConcurrentCalls: -1, MaxTotalMemory: -1}).Start(t.Context(), programs.Program{})
	for _, field := range []string{"Memory", "Time", "Calls", "MaxBatches", "Output", "MaxConcurrentCalls", "MaxTotalMemory"} {
		require.ErrorContains(t, err, "Limits."+field)
	}
	var field *einolean.FieldError
	require.ErrorAs(t, err, &field)
}

// A program waits for the others of the process without its time running.
func TestTime_WaitingForProcessorDoesNotCount(t *testing.T) {
	in := javascript.New(javascript.Limits{})
	_, err := finish(t.Context(), in, "print(1)", "") // compiles
	require.NoError(t, err)
	start := time.Now()
	const work = `let n = 0; for (let i = 0; i < 60000; i++) n += i % 7; print(n)`
	s, err := finish(t.Context(), in, work, "")
	require.NoError(t, err)
	one := time.Since(start)
	in = javascript.New(javascript.Limits{Time: 8*one + 200*time.Millisecond})
	var wg sync.WaitGroup
	for range max(8, race.Cases(32)) {
		wg.Go(func() {
			again, err := finish(t.Context(), in, work, "")
			require.NoError(t, err)
			require.Equal(t, s, again)
		})
	}
	wg.Wait()
}

func TestCancel_StopsProgram(t *testing.T) {
	in := javascript.New(javascript.Limits{Time: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := finish(ctx, in, "for (;;) {}", "")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestClose_FreesEverything(t *testing.T) {
	in := javascript.New(javascript.Limits{Memory: 16 << 20})
	_, err := finish(t.Context(), in, "print(1)", "")
	require.NoError(t, err)
	heap, routines := inUse(), runtime.NumGoroutine()
	for range race.Cases(50) {
		p, err := in.Start(t.Context(), programs.Program{Code: `const a = "x".repeat(1 << 20); await tools.get({}); print(a.length)`})
		require.NoError(t, err)
		p.Close()
	}
	require.Less(t, inUse()-heap, int64(20<<20))
	requireGoroutines(t, routines+1)
}

// inUse is how many bytes of memory are in use.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// requireGoroutines waits until no more than so many run: what has ended is counted until it
// had a processor for its last step.
func requireGoroutines(t *testing.T, most int) {
	t.Helper()
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= most+1 }, time.Minute, time.Millisecond) // itself
}

func TestTexts_CompleteInBothLanguages(t *testing.T) {
	require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
	t.Cleanup(func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) })
	s := end(t, javascript.Limits{}, "const r = tools.get({});\nprint(r.total)", "{}")
	require.Contains(t, s.Error, "缺少 await：请写 (await tools.get(...)).total")
	s = end(t, javascript.Limits{MaxBatches: 1}, "for (;;) await tools.get({})", "{}")
	require.Contains(t, s.Error, "程序已被停止")
}

// FuzzResult: a result is what it was: strings byte for byte, integers digit by digit, decimals as
// the nearest double.
func FuzzResult(f *testing.F) {
	for _, s := range []string{`{"a":1.50,"b":[12345678901234567890]}`, `"x"`, `[1e40,-0,1E5,0.1]`, `{"a":"\"12345678901234567890\"}`, "", "[", "{}", "12", "9007199254740993", "null"} {
		f.Add(s)
	}
	in := javascript.New(javascript.Limits{})
	f.Fuzz(func(t *testing.T, result string) {
		if len(result) > 2000 || strings.ContainsRune(result, '\uFFFD') {
			return
		}
		s, err := finish(t.Context(), in, `const r = await tools.get({}); print(typeof r === "string" ? r : JSON.stringify(r))`, result)
		require.NoError(t, err)
		require.Empty(t, s.Error)
		printed := strings.TrimSuffix(s.Printed, "\n")
		var want, got any
		if !asValue(result, &want) {
			require.Equal(t, strings.ToValidUTF8(result, "\uFFFD"), strings.ToValidUTF8(printed, "\uFFFD"))
			return
		}
		if text, isText := want.(string); isText {
			require.Equal(t, text, printed)
			return
		}
		require.True(t, asValue(printed, &got), printed)
		require.Equal(t, numbers(want), numbers(got))
	})
}

func asValue(s string, v *any) bool {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	return json.Valid([]byte(s)) && d.Decode(v) == nil
}

// numbers makes of each number that is no long integer the nearest double: 1.50 and 1.5 are one number.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case json.Number:
		f, err := v.Float64()
		switch {
		case err != nil:
			return nil // as JSON writes what is infinite
		case len(v) >= 16 && !strings.ContainsAny(v.String(), ".eE"):
			return v.String()
		}
		return f + 0 // minus zero is zero
	}
	return v
}
