// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jq

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/cloudwego/eino/adk"
	"github.com/itchyny/gojq"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/preview"
	"github.com/einolean/einolean/reduction"
)

var _ reduction.JSONQuery = Query

// orders is a document of n records.
func orders(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"total":1.0,"items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"big":12345678901234567890,"name":"Customer %d","city":%q,"price":%d.5,"tags":["a","b%d"],"none":null}`, i, i, []string{"Oslo", "Lagos", "Kyoto"}[i%3], i%10, i%2)
	}
	return []byte(b.String() + "]}")
}

func TestQuery_ReturnsResults(t *testing.T) {
	for query, want := range map[string]string{
		`.items | length`: "30\n",
		`.items[] | select(.city == "Oslo" and .price > 8) | .name`:          "\"Customer 9\"\n\"Customer 18\"\n",
		`[.items[].price] | add`:                                             "150\n",
		`add(.items[].price)`:                                                "150\n",
		`.items | group_by(.city) | map({city: .[0].city, n: length}) | .[]`: `{"city":"Kyoto","n":10}` + "\n" + `{"city":"Lagos","n":10}` + "\n" + `{"city":"Oslo","n":10}` + "\n",
		`.items[0].big`:                        "12345678901234567890\n",
		`.total`:                               "1.0\n",
		`keys`:                                 `["items","total"]` + "\n",
		`.items[0].name | test("custom"; "i")`: "true\n",
		`.items[:2] | map(del(.big, .none, .tags))[]`: `{"city":"Oslo","id":0,"name":"Customer 0","price":0.5}` + "\n" + `{"city":"Lagos","id":1,"name":"Customer 1","price":1.5}` + "\n",
		`reduce .items[] as $i ({}; .[$i.city] += 1)`: `{"Kyoto":10,"Lagos":10,"Oslo":10}` + "\n",
	} {
		got, err := Query(t.Context(), query, orders(30), 1000)
		require.NoError(t, err, query)
		require.Equal(t, want, string(got), query)
	}
	got, err := Query(t.Context(), "length", []byte("{\"a\":1}\n{\"a\":2}\n"), 100)
	require.NoError(t, err)
	require.Equal(t, "2\n", string(got), "JSON lines are a list")
}

// TestQuery_GuardsChangeNoResult compares every function and form of the language with and without guards.
//
//claim:jq-08
func TestQuery_GuardsChangeNoResult(t *testing.T) {
	document := []byte(`{"a":[{"k":"x","n":1,"t":["p","q"]},{"k":"y","n":2.5,"t":[]},{"k":"x","n":-3,"o":{"z":null}}],"s":"Some text, with words","d":"2024-01-05T10:00:00Z","m":{"one":1,"two":2},"e":[],"j":"[1,{\"b\":2}]","l":[3,1,[2,[5]],1]}`)
	for _, query := range strings.Split(strings.TrimSpace(`
.a[0].k, .a[-1].n, .a[1:], .a[:1][0].t[1], .["s"], ."s", .a[.l[1]].k?, .s[0:4], .s[5:], .missing.deep, .a[7]
.a[] | .k
.a[]?.t[]?, .s[]?
.. | numbers
[..] | length
[.a[] | .n] | add, min, max, sort, reverse, unique
add(.a[].n), (.m | add), (.a | map(.t // []) | add), ([.a[].k] | add), (.m | [., .] | add)
.a | map(.n + 1), map(.n * 2), map(.n - 1), map(.n / 2), map(.k + "!"), map(.k * 2)
(1, 2) + (10, 20), (1, 2) * (3, 4), 7 % 4, "a,b" / ",", {a: 1} + {b: 2}, {a: {b: 1}} * {a: {c: 2}}, [1, 2, 3] - [2], null + 1
.a[0] == .a[2], .a[0].k == .a[2].k, (.l < .e), .s >= "A", (.m != {one: 1, two: 2})
.a | group_by(.k), unique_by(.k), sort_by(.n), sort_by(.k, -.n), min_by(.n), max_by(.n), any(.n > 2), all(.n > 2), any(.[]; .n > 2)
.m | to_entries, with_entries(.value += 1), keys, has("one"), map_values(. + 1), map_values(empty), del(.one), to_entries[0].key, (to_entries | from_entries)
.a | map(has("o")), map(select(.n > 0 and (.k | startswith("x")))), map(.t | length), first, last, nth(1), first(.[]), last(.[]), limit(2; .[]), [skip(1; .[])], nth(1; .[])
.s | length, utf8bytelength, ascii_downcase, ascii_upcase, split(" "), (split(" ") | join("-")), test("TEXT"; "i"), [match("t"; "g").offset], [scan("[a-z]+")], sub("t"; "T"), gsub("(?<x>[aeiou])"; "<\(.x)>"), capture("(?<first>\\w+)"), [splits(", *")], split(", *"; null), explode, (explode | implode), ltrimstr("Some"), rtrimstr("words"), trim, contains("text"), index("t"), rindex("t"), indices("t"), endswith("s"), inside("Some text, with words!"), match(["T", "gi"]).offset, tojson, @json, @base64, (@base64 | @base64d), @uri, @html, @sh
.a[] | "\(.k): \(.n)", @csv "\([.k, .n])", @tsv "\([.k, .n])", ([.k, .n] | @csv)
.j | fromjson, (fromjson | tojson), (fromjson[1].b)
.l | flatten, flatten(1), contains([1]), index(1), indices([1]), inside([3, 1, [2, [5]], 1, 9]), sort, tojson, map(tostring), IN([1], [3, 1, [2, [5]], 1]), any(.[]; IN(1, 5))
[1, 3, 5] | bsearch(3), bsearch(4), map(floor), map(sqrt | round), (map(pow(.; 2)) | add), map(log | exp | round)
.d | fromdate, (fromdate | todate), fromdateiso8601
path(..), [paths], [paths(type == "number")], getpath(["a", 0, "k"]), (getpath(["a", 0, "k"]) |= "new"), setpath(["a", 0, "k"]; 1), setpath(["n", 2]; 1), delpaths([["a"], ["m", "one"]]), del(.a[0, 2]), del(.a[] | select(.n > 1)), pick(.a[1].k), del(.a[1:]), del(..|select(. == 1)?)
.a[0].n = 7, .a[].n |= . + 1, .a[0].t += ["r"], .m.one -= 1, .m.two *= 3, .m.two /= 2, .m.two %= 2, .missing //= 5, (.a[] | select(.k == "x") | .n) |= 0, .a[1].t[2] = 1, (.a, .e) |= length, .a[(1, 2)].n = 0, .m["o" + "ne"] = 9
reduce .a[] as $x (0; . + $x.n), reduce .a[] as {k: $k, n: $n} ({}; .[$k] += $n), [foreach .a[] as $x (0; . + 1; [., $x.k])], [foreach (1, 2, 3) as $x (0; . + $x)]
. as {a: [$f, {k: $g}]} | $f.n, $g
.a[] as {k: $k} ?// [$k] | $k
if .s == "x" then 1 elif (.a | length) == 3 then "three" else 2 end, (if .e then "yes" end), (.a | if length > 5 then 1 else empty end)
try error("bad") catch ., (try (.a | .k) catch "no key"), ([.a[] | .o?.z?]), (.missing // "default"), (.a[0] | .zzz // .k), [.a[] | (.n | tonumber)? // 0], try error({a: 1}) catch .a
label $out | foreach .a[] as $x (0; . + 1; if . > 1 then ., break $out else . end)
[range(3)], [range(1; 4)], [range(0; 10; 3)], [limit(3; repeat(1))], [1 | while(. < 50; . * 2)], (1 | until(. > 50; . * 2)), [2 | recurse(if . < 20 then . * . else empty end)], [.l | recurse | numbers], [{a: [1]} | recurse(.a?; . != null)] , isempty(.a[]), isempty(empty)
.a | walk(if type == "number" then . + 1 else . end), map(to_entries | map("\(.key)=\(.value | tojson)") | join("&")), INDEX(.k), INDEX(.[]; .n), map(with_entries(select(.value != null)))
{s, "m": .m.one, (.a[0].k): 1, "x\(.a[1].k)": 2, "two words": 3}
.a[0] as $x | {$x, n: $x.n}, -(.m.one), -1, [.a[] | -.n]
.m | [.[] | tostring], (tostring | fromjson), map(type), [.one, .two] == [1, 2], (.one | tostring | tonumber), not, isnan?, ([1, null] | map(isnormal?))
[splits("a")?], ([1e1000, -1e1000] | map(isinfinite)), nan < 1, infinite, ("1,2" | split(",") | map(tonumber)), ([{a: 1, b: 2}, {a: 3}] | map(.a, .b)), ("x" | ascii_downcase | @text)
`), "\n") {
		parsed, err := gojq.Parse(query)
		require.NoError(t, err, query)
		value, _, ok := preview.Decode(string(document))
		require.True(t, ok)
		var want bytes.Buffer
		plain, err := gojq.Compile(parsed)
		require.NoError(t, err, query)
		values := plain.Run(value)
		for v, ok := values.Next(); ok; v, ok = values.Next() {
			line, err := gojq.Marshal(v)
			require.NoError(t, err, "%s: %v", query, v)
			want.Write(append(line, '\n'))
		}
		got, err := Query(t.Context(), query, document, 100_000)
		require.NoError(t, err, query)
		text, _, _ := strings.Cut(string(got), "… nothing was found")
		require.Equal(t, want.String(), text, query)
	}
}

//claim:jq-01 jq-02 jq-07
func TestQuery_ErrorsSuggestFixes(t *testing.T) {
	for query, want := range map[string][]string{
		`.items[`:            {"not valid jq", "at byte 7", `".items["`},
		`.items | map(.id`:   {"not valid jq", "select(.price > 10)"},
		`.items.name`:        {".items[].name", `"items": [100 × {`, `"name": string`},
		`.total[]`:           {"cannot iterate over", `"total": number`},
		`nope(1)`:            {"nope/1 is not available"},
		`input`:              {"input/0 is not available"},
		`$ENV.PATH`:          {"$ENV is not available"},
		`{$__loc__}`:         {"$__loc__ is not available"},
		`env`:                {"env/0"},
		`now`:                {"now/0"},
		`halt`:               {"halt/0"},
		`halt_error`:         {"halt_error/0"},
		`debug`:              {"debug/0"},
		`builtins`:           {"builtins/0"},
		`input_line_number`:  {"input_line_number/0"},
		`$undefined`:         {"$undefined"},
		`def f: 1; f`:        {"def is not available"},
		`import "a" as a; .`: {"import is not available"},
		`@base32d`:           {"@base32d"},
		`.`:                  {"fewer fields", "1000 bytes", `"items"`},
		`error("no")`:        {`"no"`},
		`error("` + strings.Repeat("x", 2000) + `")`: {"…"},
		strings.Repeat(" ", 5000):                    {"at most 4000"},
		`.items[0] | test("a{999}{999}")`:            {"regular expression"},
	} {
		_, err := Query(t.Context(), query, orders(100), 1000)
		require.Error(t, err, query)
		for _, part := range want {
			require.Contains(t, err.Error(), part, query)
		}
		require.Less(t, len(err.Error()), 1000, query)
	}
	for query, text := range map[string]string{".": "no JSON", "length": "", ".a": strings.Repeat("[", 5000)} {
		_, err := Query(t.Context(), query, []byte(text), 1000)
		require.ErrorContains(t, err, "not JSON")
	}
	for _, query := range []string{".item", ".items[] | select(.city == \"oslo\")", ".items[].nmae"} {
		got, err := Query(t.Context(), query, orders(10), 2000)
		require.NoError(t, err)
		require.Contains(t, string(got), `The document holds {"items": [10 × {`, query)
	}
	got, err := Query(t.Context(), ".items[].name", orders(1000), 500)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(got), ".[a:b]"), "there are more: %s", got)
}

func TestTexts_InBothLanguages(t *testing.T) {
	require.Equal(t, sentences.English().Names(), sentences.Chinese().Names())
	require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
	t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
	for _, query := range []string{"[", "now", ".items.name", ".total[]", ".", "last(range(1e12))", "reduce range(1e5) as $i (0; [.]) | tojson", "1 + {}", "error(1)"} {
		_, err := Query(t.Context(), query, orders(100), 500)
		require.Error(t, err, query)
		require.True(t, strings.ContainsFunc(err.Error(), func(r rune) bool { return unicode.Is(unicode.Han, r) }), "%s: %v", query, err)
	}
	got, err := Query(t.Context(), ".nothing", orders(2), 1000)
	require.NoError(t, err)
	require.Contains(t, string(got), "没有找到")
}

// hostile are queries that would take all time or memory.
var hostile = []string{
	`range(1e18)`, `[range(1e9)] | length`, `repeat(1)`, `[repeat(1)]`, `[limit(1e9; repeat(0))]`, `last(range(1e12))`, `until(false; .)`,
	`[recurse(.)]`, `[recurse([.])]`, `last(recurse([.]))`, `reduce range(1e7) as $i (0; [.]) | tojson`, `reduce range(1e5) as $i (0; [.]) | . == .`,
	`reduce range(60) as $i ("x"; . + .)`, `reduce range(60) as $i ([0]; . + .)`, `reduce range(60) as $i ("x"; . * 2)`, `reduce range(60) as $i ({a: "x"}; .a += .a)`,
	`reduce range(60) as $i ([0]; [., .]) | tojson`, `reduce range(60) as $i ([0]; [., .]) | flatten`, `reduce range(60) as $i ([0]; [., .])`,
	`reduce range(60) as $i ([0]; [., .]) | . == .`, `reduce range(60) as $i ([0]; [., .]) as $x | [$x, $x] | unique`, `reduce range(60) as $i ([0]; [., .]) | [.., .] | length`,
	`reduce range(60) as $i ([0]; [., .]) | contains([[0]])`, `reduce range(60) as $i ([0]; [., .]) | "\(.)"`, `reduce range(60) as $i ([0]; [., .]) | error`,
	`reduce range(60) as $i ({}; {a: ., b: .}) | . * .`, `reduce range(60) as $i ([0]; [., .]) | .[0] |= 1 | tojson`, `reduce range(60) as $i ([0]; [., .]) | sort_by(.)`, `[1] | sort_by(reduce range(60) as $i ([0]; [., .]))`,
	`"x" * 1e9`, `1e9 * "x"`, `"x" * 1e18 | length`, `[limit(1000; repeat("x" * 1000000))] | add | length`, `[limit(100000; repeat("x"))] | join("x" * 1000000)`,
	`reduce range(64) as $i (3; . * .)`, `2 | ` + strings.Repeat(`. * . | `, 60) + `.`, `[limit(200; repeat("9"))] | add | [limit(100; repeat(.))] | add | tonumber`, `"[" + ("9" * 1000000) + "]" | fromjson`,
	`.[1e12] = 1`, `null | .[5e8] = 1`, `[range(100) | null | .[1e6 + .] = 1] | length`, `null | setpath([5e8]; 1)`, `null | getpath([5e8]) = 1`, `null | pick(.[5e8])`, `null | .[5e8] += 1`, `null | (.[] , .[5e8]) = 1`, `null | (last(limit(1e6; recurse(.[0])))) = 1`, `null | to_entries`,
	`[.items[] | .. ] | [.[] as $a | .[] as $b | $a]`, `.items as $i | $i[] as $a | $i[] as $b | $i[] as $c | 1`, strings.Repeat(`.items[0:] | map(`, 30) + `.` + strings.Repeat(`)`, 30),
	`.items as $x | [range(1e6) | $x | .[5] = 1]`, `[.items[] | tojson] | [limit(10000; repeat(.))] | tojson`, `del(.items[])`, `del(.items[].id)`, `.items - .items`, `.items | indices(.)`, `.items | contains(.)`, `.items | index(["a"])`,
	`tojson | [splits("")] | length`, `tojson | [match(""; "g")] | length`, `tojson | [scan(".")] | length`, `tojson | gsub("";"x") | length`, `tojson * 100 | test("(a+)+$")`, `tojson | explode | length`, `[range(1000)] | map("x" * 100000 | explode) | length`, `tojson | split("") | length`,
	`tojson | test("(((((((((a*)*)*)*)*)*)*)*)*)*b")`, `"x" | test("((a{100}){100}){100}")`, `[range(1e5) | tostring | . as $p | "x" | test($p)] | length`,
	`tojson | [range(length) as $i | .[$i:$i+1]] | length`, `[range(1e5)] | map([range(1e5)]) | length`, `[range(3e6)] | sort_by(-.) | length`, `[range(1e6) | tostring] | join(",") | length`,
	`"` + strings.Repeat("(a+)+", 300) + `"`, `[paths] | length`, `[.. | tojson] | length`, `[..] | group_by(tojson) | length`, `walk([., .])`, `walk([.]) | walk([.]) | length`, `[limit(1e5; repeat(.items))] | length`, `[limit(1e5; repeat(.items))] | add | length`,
	`label $f | range(1e12) | ., break $f`, `try (last(range(1e12))) catch "caught"`, `(reduce range(60) as $i ([0]; [., .]) | tojson)? // "caught"`, `[limit(1e6; repeat(try ("x" * 1e9) catch "caught"))]`, `[range(1e6)] | [.[] | [.]] | add | length`, `reduce range(1e6) as $i ({}; .["k\($i)"] = $i) | length`, `[1e999999999] | add`, `1e18 | todate`, `[1e300, 0, 0, 0, 0, 0, 0, 0] | mktime`, `nan | todate`,
}

// TestQuery_BoundsHostileQueries measures the memory of the process while the queries run, and so runs alone.
//
//claim:jq-03 jq-04 jq-05 jq-06
func TestQuery_BoundsHostileQueries(t *testing.T) {
	const mostTime, mostMemory = 30 * time.Second, 300 << 20 // the machine may be busy
	race.Skip(t, "measures time and memory")
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // garbage counts as well
	queries := hostile
	if testing.Short() {
		queries = hostile[:8]
	}
	document := orders(3000)
	for _, query := range queries {
		runtime.GC()
		peak, stop := watch()
		began := time.Now()
		got, err := Query(context.Background(), query, document, 2000)
		took := time.Since(began)
		stop()
		require.LessOrEqual(t, len(got), 2000, query)
		require.NotEqual(t, "\"caught\"\n", string(got), "a limit cannot be caught")
		if err != nil {
			require.Empty(t, got, query)
			require.NotContains(t, err.Error(), "not valid jq", query)
		}
		require.Less(t, took, mostTime, query)
		require.Less(t, peak.Load(), uint64(mostMemory), query)
	}
}

// watch follows how much memory is in use beyond what is now, and returns the most.
func watch() (peak *atomic.Uint64, stop func()) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	read := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64() + sample[1].Value.Uint64()
	}
	begin := read()
	peak = new(atomic.Uint64)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if now := read(); now > begin {
				peak.Store(max(peak.Load(), now-begin))
			}
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return peak, func() { close(done); <-ended }
}

func TestQuery_EndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Query(ctx, "last(range(1e12))", orders(1), 100)
	require.ErrorIs(t, err, context.Canceled)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	_, err = Query(&endsWhenAsked{ctx, cancel, 1000}, "last(range(1e12))", orders(1), 100)
	require.ErrorIs(t, err, context.Canceled)
}

// endsWhenAsked is a context that ends when it was asked often enough whether it has.
type endsWhenAsked struct {
	context.Context
	cancel context.CancelFunc
	left   int
}

func (e *endsWhenAsked) Err() error {
	if e.left--; e.left == 0 {
		e.cancel()
	}
	return e.Context.Err()
}

func FuzzQuery(f *testing.F) {
	f.Add(`.a[] | select(.b > 1)`, `{"a":[{"b":2}]}`)
	f.Add(`[..] | length`, `[1,[2,[3]]]`)
	for i := 7; i < len(hostile); i += 8 { // all of them take their time
		f.Add(hostile[i], `{"items":[{"id":1,"name":"x"},{"id":2,"name":"y"}]}`)
	}
	f.Fuzz(func(t *testing.T, query, document string) {
		began := time.Now()
		got, err := Query(context.Background(), query, []byte(document), 500)
		if len(got) > 500 || err != nil && got != nil || time.Since(began) > time.Minute {
			t.Fatalf("%q, %v", got, err)
		}
	})
}

func BenchmarkQuery(b *testing.B) {
	document := orders(40_000)
	for _, query := range []string{`.items | length`, `[.items[] | select(.city == "Oslo") | .price] | add`, `.items | group_by(.city) | map({city: .[0].city, n: length})`, `[.. | numbers] | length`} {
		b.Run(query, func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			for b.Loop() {
				if _, err := Query(context.Background(), query, document, 1000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
