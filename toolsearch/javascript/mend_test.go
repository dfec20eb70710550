// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/toolsearch/javascript"
)

// Slips that models make: each program runs all the same (and prints this), or is told what to
// write instead.
func TestSlipsOfModelsAreMendedOrNamed(t *testing.T) {
	const rows = `[{"id":1,"total":10},{"id":2,"total":20}]`
	const forgotten = "write await before"
	for _, c := range []struct{ code, want string }{
		// runs
		{`const r = await tools.get({}); console.log("n:", r.length, r[0])`, "n: 2 {\"id\":1,\"total\":10}"},
		{"const r = await tools.get({});\nr.length", "2"},
		{"```js\nconst r = await tools.get({});\nprint(r.length)\n```", "2"},
		{"Here is the code:\n```javascript\nprint(1)\n```\nIt prints 1.", "1"},
		{"async () => {\n const r = await tools.get({});\n return r.length\n}", "2"},
		{"(async () => {\n const r = await tools.get({});\n print(r.length)\n})();", "2"},
		{"(async function main() {\n print((await tools.get({})).length)\n})()", "2"},
		{"async function main() {\n return (await tools.get({})).length\n}", "2"},
		{"export default async function main() {\n return 1\n}", "1"},
		{"async function main() { const r = await tools.get({}); print(r.length) }\nawait main()", "2"},
		{"async function main() { const r = await tools.get({}); print(r.length) }\nmain()", "2"},
		{`[1, 2].forEach(async i => { const r = await tools.get({i}); print(i, r.length) })`, "1 2\n2 2"},
		{`const r = await tools["get-it"]({}); print(r.length)`, "2"},
		{`const r = await tools.github.get({}); print(r.length)`, "2"},
		{`const r = await Promise.race([tools.get({}), tools.get({})]); print(r.length)`, "2"},
		{`const f = tools.get; print((await f({})).length)`, "2"},
		{`const {get} = tools; print((await get({})).length)`, "2"},
		{`for await (const r of [tools.get({}), tools.get({})]) print(r.length)`, "2\n2"},
		{`let total = 0; for (const r of await tools.get({})) total += r.total; total`, "30"},
		{`const r = await tools.get(); print(r.length)`, "2"},
		{`tools.get({}).then(r => print(r.length))`, "2"},
		{`return await Promise.all([1, 2].map(async i => (await tools.get({i})).length))`, "[2,2]"},
		{`var r = await tools.get({}); console.table(r.map(x => x.id))`, "[1,2]"},
		{`print(JSON.stringify(await tools.get({}), null, 1).length > 20)`, "true"},
		{`const r = JSON.parse(await tools.get({})); print(r.length)`, "2"},
		{"const main = async () => {\n const r = await tools.get({});\n return r.length\n};\nmain()", "2"},
		{"const half = x => { return x / 2 };\nhalf((await tools.get({})).length)", "1"},
		// is named: a missing await, or one in a function that is not async
		{`const r = tools.get({}); print(r)`, forgotten},
		{"const r = tools.get({}); print(`got ${r}`)", "await is missing"},
		{`const r = tools.get({}); print("got " + r)`, "await is missing"},
		{`const r = tools.get({}); print(r.length)`, "write (await tools.get(...)).length"},
		{`const rs = [1, 2].map(i => tools.get({i})); print(rs.map(r => r.length))`, "await is missing"},
		{`const rs = [1, 2].map(i => tools.get({i})); print(rs)`, forgotten},
		{`return [1, 2].map(i => tools.get({i}))`, forgotten},
		{`const rs = [1, 2].map(async i => (await tools.get({i})).length); print(rs)`, forgotten},
		{`const [a] = tools.get({}); print(a)`, "await is missing"},
		{`const {id} = tools.get({}); print(id)`, "await is missing"},
		{`const all = [...tools.get({})]; print(all)`, "await is missing"},
		{`for (const x of tools.get({})) print(x)`, "await is missing"},
		{`print(Object.keys(tools.get({})))`, "await is missing"},
		{`await tools.get({id: tools.get({})})`, "await is missing"},
		{`const r = tools.get({}); r.x = 1`, "await is missing"},
		{`const rs = [1, 2].map(i => { const r = await tools.get({i}); return r.length }); print(rs)`, "write async x => {...}"},
		{"function f(i) {\n  return await tools.get({i})\n}\nprint(f(1))", "write async x => {...}"},
		{`[1, 2].forEach(i => { const r = await tools.get({i}); print(r) })`, "write async x => {...}"},
		// is named: another language, another world
		{"const r: any[] = await tools.get({}); print(r.length)", "without types"},
		{"interface Row { id: number }\nconst r = (await tools.get({})) as Row[];\nprint(r.length)", "without types"},
		{"r = tools.get()\nfor o in r:\n    print(o)", "const r = await tools.get({});"},
		{"import json\nr = tools.get(a=1, b=\"x\", c=True)\nprint(f\"{len(r)} rows\")", "const r = await tools.get({a: 1, b: \"x\", c: true});"},
		{"def main():\n    return 1", "This is Python"},
		{"result = await tools.get()\nif result:\n    print(result)", "const result = await tools.get({});"},
		{"import fs from 'fs';\nprint(1)", "no modules to import"},
		{"const fs = require('fs'); print(1)", "there are no modules"},
		{"const tools = require('tools'); print(1)", "no modules to import"},
		{"const tools = {};\nprint(1)", "there already"},
		{"const r = JSON.parse(await tools.text({}));\nif (r === \"None\") print(1)", "not a JSON object or list is a string"},
		{`throw {code: 5, why: "closed"}`, `{"code":5,"why":"closed"}`},
		{`const r = await fetch("https://example.com"); print(r)`, "there is no network"},
		{`await new Promise(r => setTimeout(r, 100)); print(1)`, "there are no timers"},
		{`await sleep(100); print(1)`, "there are no timers"},
		{`print(process.env.HOME)`, "no files and no environment"},
		{`const r = await get({}); print(r)`, "await tools.get({...})"},
		{`const r = await tools.get("x"); print(r)`, "takes one object"},
		{`const r = await tools.get(1, 2); print(r)`, "takes one object"},
		{`const r = await tools.get({a: 1}, {b: 2}); print(r)`, "takes one object"},
		{`const r = await tools.get([1]); print(r)`, "takes one object"},
		{`await stored()`, "stored takes the path"},
		{`const r = await tools.text({}); print(r.map(x => x.id))`, "not a JSON object or list is a string"},
		{"const r = 1;\nconst r = 2;", "declared once"},
		{`print(Object.keys(tools)); for (const k in tools) print(k)`, "tool_search"},
		{"const r = await tools.get({});\nprint(rr.length)", "rr is not defined"},
		{"const r = await tools.get({});\nprint(r.items.map(x => x.id))", "of undefined"},
		{`tools.fail({}); print("on")`, "did not wait for it"},
	} {
		in := javascript.New(javascript.Limits{})
		s, err := finishWith(t, in, c.code, rows)
		require.NoError(t, err)
		all := fmt.Sprintf("%s%s\n%s\n%v", s.Printed, s.Returned, s.Error, s.Notes)
		require.Contains(t, all, c.want, c.code)
	}
}
