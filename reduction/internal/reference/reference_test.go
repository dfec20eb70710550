// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const known = "/tmp/trunc/c1"

func resolver(content string) Resolver {
	return Resolver{
		Targets: Targets{known: 0},
		Read: func(_ context.Context, filePath string) (string, error) {
			if filePath != known {
				return "", errors.New("another file was read")
			}
			return content, nil
		},
	}
}

// In random arguments, each string that is the path becomes the content, and every other byte stays.
func TestResolve_ChangesOnlyReferences(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("EINOLEAN_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	content := "a \"text\" of \\ <tags>\n\u2028 and 数据"
	quoted := `"a \"text\" of \\ <tags>\n\u2028 and 数据"`
	for range 2000 {
		args, want := "", ""
		write := func(s string) { args, want = args+s, want+s }
		space := func() { write([]string{"", "", " ", "\n\t"}[r.IntN(4)]) }
		var value func(depth int)
		value = func(depth int) {
			space()
			defer space()
			switch kind := r.IntN(8); {
			case kind < 2 && depth < 5:
				write("{")
				for i := range r.IntN(4) {
					if i > 0 {
						write(",")
					}
					space()
					write([]string{`"a"`, `"/tmp/trunc/c1"`, `"\u002f,:"`}[r.IntN(3)])
					space()
					write(":")
					value(depth + 1)
				}
				write("}")
			case kind < 4 && depth < 5:
				write("[")
				for i := range r.IntN(4) {
					if i > 0 {
						write(",")
					}
					value(depth + 1)
				}
				write("]")
			case kind < 6:
				args, want = args+[]string{`"/tmp/trunc/c1"`, `"\/tmp\/trunc/c1"`, `"\u002ftmp/trunc/c1"`}[r.IntN(3)], want+quoted
			default:
				write([]string{`1.50`, `true`, `null`, `"see /tmp/trunc/c1"`, `"/tmp/trunc/c2"`, `"\ud800"`, `""`,
					`" ,:"`, `1e999`}[r.IntN(9)])
			}
		}
		value(0)
		require.True(t, json.Valid([]byte(args)), args)
		got, refusal := resolver(content).Resolve(context.Background(), args)
		require.Nil(t, refusal)
		require.Equal(t, want, got, args)
	}
}

// Arguments that are not JSON stay as they are, unless they are a notice.
func TestResolve_ArgumentsThatAreNotJSON(t *testing.T) {
	notice := "<persisted-output>Old result (9 bytes), saved in full to: " + known + "</persisted-output>"
	for _, args := range []string{"", "/", known, `{"a": "/tmp/trunc/c1"`, notice + "!"} {
		got, refusal := resolver("x").Resolve(context.Background(), args)
		require.Nil(t, refusal, args)
		require.Equal(t, args, got)
	}
	_, refusal := resolver("x").Resolve(context.Background(), notice)
	require.Equal(t, &Refusal{Path: known}, refusal)
}

// Hostile depth and notices in escaped JSON.
func TestResolve_DeepAndEscapedArguments(t *testing.T) {
	const depth = 9000
	args := strings.Repeat("[", depth) + `"/tmp/trunc/c1"` + strings.Repeat("]", depth)
	got, refusal := resolver("x").Resolve(context.Background(), args)
	require.Nil(t, refusal)
	require.Equal(t, strings.Repeat("[", depth)+`"x"`+strings.Repeat("]", depth), got)

	escaped := `{"a":"\u003cpersisted-output\u003eOld result (9 bytes), saved in full to: \/x\u003c\/persisted-output\u003e"}`
	_, refusal = Resolver{}.Resolve(context.Background(), escaped)
	require.Equal(t, &Refusal{Path: "/x"}, refusal)
}

func TestTakesOnlyString_FollowsSchema(t *testing.T) {
	schema := `{"properties":{"s":{"type":"string"},"n":{"type":["string","null"]},"o":{"type":"object","properties":{"in":{"type":"string"}},
		"additionalProperties":{"type":"integer"}},"l":{"type":"array","items":{"type":"string"}},"e":{},"r":{"$ref":"#/x"},"t":true,
		"any":{"anyOf":[{"type":"string"},{"type":"null"}]},"mixed":{"oneOf":[{"type":"string"},{"type":"object"}]}}}`
	for place, want := range map[string]string{
		"s": "true true", "n": "true true", "o": "false true", "o in": "true true", "o other": "false true", "l": "false true", "l []": "true true",
		"e": "false true", "r": "false false", "t": "false false", "any": "true true", "mixed": "false true", "none": "false false", "s in": "false false",
	} {
		onlyString, ok := TakesOnlyString(schema, strings.Fields(place))
		require.Equal(t, want, fmt.Sprint(onlyString, ok), place)
	}
	_, ok := TakesOnlyString("", []string{"s"})
	require.False(t, ok)
}

func TestTargets_SurviveStorage(t *testing.T) {
	targets := Targets{"/tmp/trunc/c1": 0, "/tmp/clear/a b-arg1": 5000}
	require.Equal(t, targets, ParseTargets(targets.Lines()))
	require.Empty(t, ParseTargets([]string{"", "x"}))
}

// Servers written with Pydantic describe nested models in $defs, and optional ones by anyOf.
func TestTakesOnlyString_FollowsReferences(t *testing.T) {
	schema := `{"$defs":{"Body":{"type":"object","properties":{"text":{"type":"string"},"next":{"$ref":"#/$defs/Body"}}},
		"Name":{"type":"string"},"Loop":{"$ref":"#/$defs/Loop"}},
		"properties":{"body":{"$ref":"#/$defs/Body"},"maybe":{"anyOf":[{"$ref":"#/$defs/Body"},{"type":"null"}]},
		"name":{"allOf":[{"$ref":"#/$defs/Name"}]},"names":{"items":{"anyOf":[{"$ref":"#/$defs/Name"},{"type":"null"}]}},
		"loop":{"$ref":"#/$defs/Loop"},"away":{"$ref":"https://example.com/x"}}}`
	for place, want := range map[string]string{
		"body": "false true", "body text": "true true", "body next next text": "true true", "maybe": "false true",
		"maybe text": "true true", "name": "true true", "names []": "true true", "loop": "false false", "loop x": "false false",
		"away": "false false", "body none": "false false",
	} {
		onlyString, ok := TakesOnlyString(schema, strings.Fields(place))
		require.Equal(t, want, fmt.Sprint(onlyString, ok), place)
	}
}
