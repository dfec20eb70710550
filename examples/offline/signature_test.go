// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/toolschema"
)

func TestASignatureSaysWhatTheSchemaDid(t *testing.T) {
	params := `{"type":"object","required":["city"],"properties":{
		"city":{"type":"string","description":"where: a town (or \"*\"), as people write it"},
		"unit":{"enum":["C","F"]},"level":{"enum":[1,2]},
		"days":{"type":"array","items":{"type":"number"}},
		"marks":{"type":"array","items":{"enum":["a","b"]}},
		"from":{"type":"object","required":["x"],"properties":{"x":{"type":"number"},"a-b":{"type":"boolean"}}},
		"any":{}}}`
	tool := signedTool("weather", toolschema.Signature("weather", "Tells the weather (of a week).", params, `{"type":"object","properties":{"t":{"type":"number"}}}`))
	require.Equal(t, "Tells the weather (of a week).", tool.Desc)
	got, err := tool.ToJSONSchema()
	require.NoError(t, err)
	byName := map[string]param{}
	for _, p := range viewTool(tool).params {
		byName[p.name] = p
	}
	require.Len(t, byName, 7)
	require.Equal(t, []string{"city"}, got.Required)
	require.Equal(t, []string{"C", "F"}, byName["unit"].choices)
	require.Equal(t, []string{"1", "2"}, byName["level"].choices)
	require.Equal(t, "number", byName["days"].item)
	require.Equal(t, "array", byName["marks"].kind)
	require.Equal(t, "object", byName["from"].kind)
	require.Contains(t, byName["city"].about, "town")
}

func TestAProgramOfOneCallIsReadAsThatCall(t *testing.T) {
	c := Call{"call_1", `weather__"now"`, `{"city":"](","code":"try { print(1) }"}`}
	got, ok := callIn("call_1", programOf(c))
	require.True(t, ok)
	require.Equal(t, c, got)
	_, ok = callIn("call_1", "print(1)")
	require.False(t, ok)
	require.Equal(t, "a\n(b) c", printed("a\n(b) c\n(1 call of x, none failed)"))
	require.Equal(t, "", printed("（没有调用）"))
}
