// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/programs/javascript"
)

// ways are what programs do with the id of a result; ID stands for the id in the program itself. What
// they print, and what they send, is the id, or an error says why not.
var ways = []string{
	`print(r.id)`, `print(r)`, `print([r.id], {a: r.id})`, "print(`order ${r.id}`)", `print("order " + r.id)`, `print(String(r.id), r.id.toString())`,
	`const id = r.id; let other = id; print(other)`, `const {id} = r; print(id)`, `const o = {...r}; print(o.id)`, `return r.id`, `return r`, `return [r]`,
	`print(JSON.stringify(r))`, `print(JSON.stringify([r.id], null, 2))`, `print(JSON.parse(JSON.stringify(r)).id)`, `print(JSON.parse(r.text).id)`, `print(JSON.parse(r.text, (k, v) => v).id)`,
	`print(JSON.parse(JSON.stringify(r, (k, v) => typeof v === "bigint" ? v.toString() : v)).id)`, `BigInt.prototype.toJSON = function () { return this.toString(); }; print(r)`,
	`await tools.put({id: r.id})`, `await tools.put({all: [{id: r.id}]})`, `await tools.put(r)`, `await tools.put({ids: [r].map(x => x.id)})`, `await tools.put({text: "id " + r.id})`,
	`print(r.id + 1n - 1n)`, `print((r.id * 3n) / 3n)`, `print(r.id + 0)`, `print(r.id - 0)`, `print(r.id * 1)`, `print(+r.id)`, `print(-(-r.id))`, `print(~~r.id)`, `print(r.id | 0)`, `print(r.id / 1)`,
	`print(Number(r.id))`, `print(new Number(r.id))`, `print(parseInt(r.id))`, `print(parseInt(r.id, 10))`, `print(parseFloat(r.id))`, `print(Number.parseInt(r.id))`, `print(Number(String(r.id)))`, `print([r.id].map(Number))`,
	`print(Math.max(r.id, 1))`, `print(Math.round(r.id))`, `print([r.id, 5n].sort((a, b) => b - a)[0])`, `print(Math.trunc(r.id))`,
	`print(new Map([[r.id, "x"]]).keys().next().value)`, `print([...new Set([r.id, r.id])])`, `print(Object.keys({[r.id]: 1}))`, `print(Object.keys(Object.groupBy([r], x => x.id)))`,
	`print(BigInt(r.id))`, `print(BigInt(r.text.match(/\d+/)[0]))`, `print(ID)`, `const mine = ID; await tools.put({id: mine})`, "print(`order ${ID}`)", `print([r].filter(x => x.id === ID).map(x => x.id))`,
	`print([{id: 5}, r].filter(x => x.id > 7).map(x => x.id))`, `const id = r.id; await tools.put({id: id ?? 0})`,
}

// An integer between 2^53 and 2^63 is what it was, or is refused; it is never another one.
//
//claim:security-37
func TestIntegers_StayExact(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	in := javascript.New(javascript.Limits{})
	for i := range race.Cases(1000) {
		id := strconv.FormatInt(1<<53+random.Int64N(1<<63-1<<53), 10)
		for _, way := range []string{ways[i%len(ways)], ways[random.IntN(len(ways))]} {
			code := "const r = await tools.get({});\n" + strings.ReplaceAll(way, "ID", id)
			s, sent, err := sending(t, in, code, fmt.Sprintf(`{"id":%s,"text":"{\"id\":%[1]s}"}`, id))
			require.NoError(t, err)
			said := s.Printed + s.Returned + sent
			if s.Error != "" {
				require.Regexp(t, "BigInt|bigint", s.Error, code)
				require.Contains(t, s.Error, "as it came", code)
				continue
			}
			require.Contains(t, said, id, code)
			require.NotRegexp(t, `\d{15}`, strings.ReplaceAll(said, id, ""), code)
		}
	}
}

// sending runs a program to its end, and returns the arguments of its calls of put as well.
func sending(t *testing.T, in programs.Interpreter, code, result string) (s programs.State, sent string, err error) {
	p, err := in.Start(t.Context(), programs.Program{Code: code})
	if err != nil {
		return s, "", err
	}
	defer p.Close()
	for {
		if s = p.State(); len(s.Calls) == 0 {
			return s, sent, nil
		}
		var results []programs.Result
		for _, c := range s.Calls {
			if c.Tool == "put" {
				sent += c.Arguments
			}
			results = append(results, programs.Result{Number: c.Number, Text: result})
		}
		if err := p.Resume(t.Context(), results); err != nil {
			return s, "", err
		}
	}
}

func TestDecimals_AddUp(t *testing.T) {
	s := end(t, javascript.Limits{}, `const r = await tools.get({}); print(r.reduce((sum, x) => sum + x.avg, 0))`, `[{"avg":36.6666666666666667},{"avg":1.3333333333333333}]`)
	require.Equal(t, "38\n", s.Printed)
}

func TestResult_BareBooleanIsCondition(t *testing.T) {
	s := end(t, javascript.Limits{}, `if (await tools.is_open({})) print("open"); else print("closed")`, "false")
	require.Equal(t, "closed\n", s.Printed)
}

// A literal of a program that is text, part of a name or of a decimal stays what it is.
func TestExactIntegers_OnlyCodeLiterals(t *testing.T) {
	s := end(t, javascript.Limits{}, "const a9007199254740993 = 7; // 9007199254740993\nprint(a9007199254740993, '9007199254740993', 0.9007199254740993, 9007199254740993n, 0x20000000000001, 1e20, 9_007_199_254_740_993)", "")
	require.Equal(t, "7 9007199254740993 0.9007199254740993 9007199254740993 9007199254740993 100000000000000000000 9007199254740993\n", s.Printed)
}

// A number beyond all doubles is Infinity in a program. Its author is told, however it is printed.
func TestInfinity_IsNeverSilentlyNull(t *testing.T) {
	in := javascript.New(javascript.Limits{})
	for _, result := range []string{`{"n":1e400,"text":"1e400"}`, `{"n":-1E+0400}`, `{"n":123456789e307}`,
		`{"n":1` + strings.Repeat("0", 400) + `}`} {
		for _, code := range []string{`print(r)`, `print(JSON.stringify(r))`, `print(r.n)`, `return r`, `print(Math.min(5, r.n))`} {
			s, _, err := sending(t, in, "const r = await tools.get({});\n"+code, result)
			require.NoError(t, err)
			require.Empty(t, s.Error)
			require.Len(t, s.Notes, 1, "%s: %s", result, code)
			require.Contains(t, s.Notes[0], "Infinity", code)
		}
		s, sent, err := sending(t, in, "const r = await tools.get({});\nprint([r.n]); await tools.put({n: r.n})", result)
		require.NoError(t, err)
		require.Regexp(t, `^\["-?Infinity"\]\n$`, s.Printed)
		require.Regexp(t, `^\{"n":-?1e\+999\}$`, sent, "which is refused as no number")
	}
	s, sent, err := sending(t, in, `print({n: 1 / 0}); await tools.put({n: -1 / 0})`, "")
	require.NoError(t, err)
	require.Equal(t, "{\"n\":\"Infinity\"}\n", s.Printed)
	require.Equal(t, `{"n":-1e+999}`, sent)
	s, _, err = sending(t, in, `const r = await tools.get({}); print(r); print(JSON.parse('{"n":1e308}'))`,
		`{"n":1e308,"text":"1e400"}`)
	require.NoError(t, err)
	require.Empty(t, s.Notes)
	s, _, err = sending(t, in, `print(JSON.parse('{"n":1e309}').n)`, ``)
	require.NoError(t, err)
	require.Len(t, s.Notes, 1)
}
