// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/programs/javascript"
)

// hostile are programs that want too much, by what they want too much of.
var hostile = map[string][]string{
	"memory": {
		`let s = "x".repeat(1000); for (let i = 0; i < 40; i++) s += s`,
		`const a = []; for (;;) a.push(new Array(1000).fill(7))`,
		`const a = []; for (;;) { try { for (;;) a.push(new Array(1000).fill(7)) } catch {} }`,
		`const a = []; for (;;) a.push(new Uint8Array(1 << 20))`,
		`const a = []; for (;;) a.push(new ArrayBuffer(1 << 20))`,
		`new ArrayBuffer(2 ** 31 - 1)`, `new Uint8Array(2 ** 32)`, `"x".repeat(2 ** 30)`, `new Array(2 ** 28).join("abcd")`,
		`const m = new Map(); for (let i = 0;; i++) m.set(i, {i})`,
		`const m = new Set(); for (let i = 0;; i++) m.add({i})`,
		`let o = {}; for (let i = 0;; i++) o["k" + i] = i`,
		`const a = []; for (;;) a.push(() => a)`, `const a = []; for (;;) a.push(Symbol())`,
		`const a = []; for (let i = 0; i < 1e6; i++) a.push(new Promise(() => {})); await Promise.all(a)`,
		`class A { x = new Array(1e5).fill(0) } const a = []; for (;;) a.push(new A())`,
		`const a = []; for (;;) a.push(new RegExp("a".repeat(10000)))`,
		`const a = []; for (let i = 0;; i++) a.push(new Function("return " + i))`,
		`let e = new Error("x"); for (;;) e = new Error("y", {cause: e})`,
		`let s = "a"; for (;;) s = s.split("").concat(s.split("")).join("")`,
		`await tools.get({a: "x".repeat(8 << 20)})`,
		`[...new Array(3e7)].length`, `Math.max(...new Array(5e6).fill(1))`, `Array.from({length: 1e9})`,
		`new Array(2 ** 32 - 2).fill(1)`, `Object.fromEntries(Array.from({length: 1e6}, (_, i) => [i, i]))`,
		`"a".repeat(1 << 20).replaceAll("a", "b".repeat(1000))`, `structuredClone?.(new Array(1e7).fill({}))`,
		`JSON.parse("[" + "[],".repeat(4e6) + "[]]")`, `(2n ** 4000000n).toString().length`, `let x = 3n; for (;;) x = x * x`,
		`const a = new Array(1e6).fill("x"); for (;;) a.push(...a)`, `throw new Error("x".repeat(8 << 20))`, `throw "x".repeat(8 << 20)`,
		`return "x".repeat(8 << 20)`, `return new Array(1e6).fill("long")`,
	},
	"time": {
		`for (;;) {}`, `for (;;) { try { for (;;) {} } catch {} finally { continue } }`, `while (true) await 0`,
		`new Promise(() => { for (;;) {} }).catch(() => {}); await tools.get({})`, `await tools.get({}); for (;;) {}`,
		`tools.get({}).then(() => { for (;;) {} }); return 1`, `const f = () => Promise.resolve().then(f); f(); await new Promise(() => {})`,
		`async function* g() { for (;;) yield 1 } for await (const x of g()) {}`, `function* g() { for (;;) yield 1 } for (const x of g()) {}`,
		`/^(a+)+$/.test("a".repeat(40) + "b")`, `/(x+x+)+y/.exec("x".repeat(50))`, `"a".repeat(50).match(/^(([a-z])+.)+[A-Z]([a-z])+$/)`,
		`const s = JSON.stringify(Array(50000).fill({a: 1})); for (;;) JSON.parse(s)`, `const a = new Float64Array(1e6); for (;;) a.sort()`,
		`const a = Array.from({length: 1e5}, () => Math.random()); for (;;) a.sort()`, `const s = "a".repeat(1 << 20); for (;;) s.indexOf("a".repeat(1000) + "b")`,
		`for (;;) "ab".repeat(1 << 18).split("")`, `let s = "a b ".repeat(200000); while (s.includes(" ")) s = s.replace(" ", "_")`,
		`await tools.get({get a() { for (;;) {} }})`, `throw {toString() { for (;;) {} }}`, `print({toJSON() { for (;;) {} }})`,
		`const e = new Error("x"); Object.defineProperty(e, "message", {get() { for (;;) {} }}); throw e`,
		`const e = new Error("x"); Object.defineProperty(e, "stack", {get() { for (;;) {} }}); throw e`,
		`Error.prepareStackTrace = () => { for (;;) {} }; throw new Error("x")`, `Object.prototype.toString = () => { for (;;) {} }; print({} + "")`,
		`for (;;) print("x")`, `const s = "x".repeat(1 << 20); for (let i = 0; i < 100; i++) print(s)`, `for (;;) new Date()`, `for (;;) Math.random()`,
		`for (let i = 0;; i++) eval("1 + " + i)`, `for (;;) encodeURIComponent("é".repeat(1e5))`, `for (;;) "é".repeat(1e5).normalize("NFKD")`,
		`let p = new Proxy({}, {get: (_, k, r) => r[k]}); p.x`, `let o = {get x() { return this.x }}; o.x`, `Reflect.ownKeys(new Proxy({}, {ownKeys() { for (;;) {} }}))`,
		`try { await tools.get({}) } finally { while (true) await tools.get({}) }`, `for (;;) await tools.fail({}).catch(() => {})`,
		`label: for (;;) { continue label }`, `do {} while (true)`, `Array.prototype[Symbol.iterator] = function* () { for (;;) yield 1 }; [...[1]]`,
		`const d = Object.getOwnPropertyDescriptor; Object.defineProperty(Array.prototype, 0, {set(v) { for (;;) {} }}); await tools.get({}); [].push(1)`,
	},
	"depth": {
		`const f = () => f() + 1; f()`, `const f = () => { try { return f() + 1 } catch { return f() } }; f()`, `function* g() { yield* g() } [...g()]`,
		`let a = []; a[0] = a; for (let i = 0; i < 100000; i++) a = [a]; print(a.toString())`, `let a = {}; for (let i = 0; i < 300000; i++) a = {a}; print(JSON.stringify(a).length)`,
		`JSON.parse("[".repeat(300000))`, `new RegExp("(".repeat(100000) + ")".repeat(100000))`, `eval("(".repeat(1000000))`, `eval("[".repeat(200000) + "]".repeat(200000))`,
		`let p = {}; for (let i = 0; i < 200000; i++) p = new Proxy(p, {}); p.x`, `let f = () => 1; for (let i = 0; i < 200000; i++) f = f.bind(null); f()`,
		`const f = async () => { await f() }; await f()`, `class A { constructor() { new A() } } new A()`, `const o = {toString() { return "" + o }}; "" + o`,
		`let f = "1"; for (let i = 0; i < 20000; i++) f = "(" + f + ")"; eval(f)`, `eval("-".repeat(100000) + "1")`, `eval("a" + "?.a".repeat(200000))`, `eval("x=>".repeat(100000) + "1")`,
	},
	"calls": {
		`for (let i = 0; i < 1e6; i++) tools.get({i}); await 0`, `const a = []; for (let i = 0; i < 1e6; i++) a.push(tools.get({i})); await Promise.all(a)`,
		`for (let i = 0; i < 1e6; i++) { try { tools.get({i}).catch(() => {}) } catch {} }`, `for (;;) await tools.get({})`, `for (;;) stored("/a")`,
		`const f = () => tools.get({}).then(f); await f()`, `let n = 0; await tools.get({get a() { n++; return tools.get({inner: n}) }}); print(n)`,
	},
	"the world": {
		`tools.__proto__.x = 1`, `tools.get = () => 1`, `Object.setPrototypeOf(tools, {})`, `delete globalThis.tools; await tools.get({})`, `globalThis.print = 1`,
		`JSON.parse = () => ({x: 666}); JSON.stringify = () => "taken"; Object.prototype.toJSON = () => "taken"; await tools.get({a: 1})`,
		`Promise.prototype.then = () => { throw 1 }; Promise = 1; String = 1; Error = 1; Reflect.apply = null; await tools.get({})`,
		`Object.prototype.get = () => { throw 7 }; Object.prototype.set = Object.prototype.value = 1; await tools.get({})`,
		`Function.prototype.call = Function.prototype.apply = () => { throw 1 }; await tools.get({})`, `Uint8Array.prototype.set = null; print("x")`,
		`String.prototype.charCodeAt = () => 7; String.prototype.slice = () => "taken"; print("x")`, `WeakMap.prototype.get = () => { throw 1 }; print({})`,
		`Object.freeze = Object.create = Object.defineProperty = null; await tools.get({})`, `const a = {}; a.a = a; await tools.get(a)`, `const a = {}; a.a = a; return a`,
		`throw null`, `throw undefined`, `throw Symbol("x")`, `throw {toString() { throw 1 }}`, `return Symbol("x")`, `return () => 1`, `return new Proxy({}, {ownKeys() { throw 1 }})`,
		`}); print("escaped"); (async function() {`, `*/ print(1) /*`, "`${tools.get({})}`", `debugger; a: for (;;) { break a }`, `"use strict"; undeclared = 1`, `with ({a: 1}) print(a)`,
		`print("\u0000", "\ud800", "\u2028")`, `await tools.get({s: "\u0000\ud800"})`, `await tools["\ud800"]({})`, `await tools[""]({})`, `await tools["a".repeat(1e6)]({})`,
		`const m = await import("os"); print(m)`, `new Function("return this")().print("x")`, `(0, eval)("this").print("x")`, `print(new Error().stack)`, `globalThis.__proto__ = null; print(1)`,
		`Promise.reject(new Error("nobody")); print("on")`, `tools.fail({}); print("on")`, `await new Promise(() => {})`, `await {then() {}}`, `await {then(f) { f(this) }}`,
	},
}

// The names of the methods of arrays, of which each is asked to work on 2^53 - 1 elements.
const methods = `return Object.getOwnPropertyNames(Array.prototype).filter(n => typeof Array.prototype[n] === "function" && n !== "constructor")`

// hostilePrograms are all of them, in random order.
func hostilePrograms(t *testing.T) (list []string) {
	t.Helper()
	for _, kind := range hostile {
		list = append(list, kind...)
	}
	var names []string
	require.NoError(t, json.Unmarshal([]byte(end(t, javascript.Limits{}, methods, "").Returned), &names))
	require.Greater(t, len(names), 30)
	for _, name := range names {
		list = append(list, fmt.Sprintf("Array.prototype.%s.call({length: 2 ** 53 - 1}, x => x)", name),
			fmt.Sprintf("new Array(2 ** 32 - 2).%s(x => x)", name))
	}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// Every one of them ends within its limits, and 32 other programs of the process do not notice.
//
//claim:security-32
func TestLimits_StopHostilePrograms(t *testing.T) {
	const limit = 50 * time.Millisecond
	programs := hostilePrograms(t)
	require.GreaterOrEqual(t, len(programs), 200)
	programs = programs[:race.Cases(len(programs))]
	before, routines := inUse(), runtime.NumGoroutine()

	var others sync.WaitGroup
	var undisturbed atomic.Int64
	friendly := javascript.New(javascript.Limits{})
	rounds := race.Cases(10)
	for range 32 {
		others.Go(func() {
			for range rounds {
				s, err := finish(t.Context(), friendly, `const r = await Promise.all([1, 2, 3].map(i => tools.get({i}))); print(r.length)`, `{"x":1}`)
				if err != nil || s.Printed != "3\n" {
					t.Errorf("another program was disturbed: %+v, %v", s, err)
					return
				}
				undisturbed.Add(1)
			}
		})
	}
	in := javascript.New(javascript.Limits{Time: limit, Memory: 16 << 20})
	for _, code := range programs {
		s, err := finish(t.Context(), in, code, `{"x":7}`)
		require.NoError(t, err, code)
		require.Empty(t, s.Calls, code)
		require.Less(t, len(s.Printed)+len(s.Returned)+len(s.Error), 45_000, code)
	}
	others.Wait()
	require.EqualValues(t, 32*rounds, undisturbed.Load())

	require.Less(t, inUse()-before, int64(20<<20), "memory is given back")
	requireGoroutines(t, routines+2)
}

// What a program does to its own world does not change what it asks for, or what it is answered.
func TestProgram_CannotForgeCalls(t *testing.T) {
	in := javascript.New(javascript.Limits{})
	world := hostile["the world"]
	for _, code := range world[:race.Cases(len(world))] {
		p, err := in.Start(t.Context(), programs.Program{Code: code + "\n;await tools.get({honest: true})"})
		require.NoError(t, err, code)
		for _, c := range p.State().Calls {
			require.True(t, json.Valid([]byte(c.Arguments)), code)
			require.Positive(t, c.Number, code)
		}
		p.Close()
	}
}
