// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package models

// The declaration of call_tool as each adapter sends it.

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/golden"
)

// No adapter drops "arguments", or closes the object, which would leave a model only {} to send.
func TestCallTool_AdapterDeclaresFreeArguments(t *testing.T) {
	eachWire(t, declaresFreeArguments[*schema.Message], declaresFreeArguments[*schema.AgenticMessage])
}

func declaresFreeArguments[M adk.MessageType](t *testing.T, f wireFormat, build func(given) setup[M], isStream bool) {
	_, bodies, _ := converse(t, f, build, []wireTurn{{"T0==", "", []wireCall{{"c", "own", `{"value":"x"}`}}}}, isStream, true)
	declaration := declarationOf(t, bodies[0], "call_tool")
	name := strings.Split(t.Name(), "/")[1]
	if name != "agenticopenai_continued" {
		golden.Check(t, "testdata/call_tool."+name+".golden.json", declaration)
	}
	require.NotContains(t, declaration, `"additionalProperties": false`)
}

// declarationOf returns a tool as a request declares it.
func declarationOf(t *testing.T, body, name string) string {
	t.Helper()
	var all struct{ Tools []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(body), &all))
	var inGroups []json.RawMessage
	for _, text := range all.Tools {
		var group struct{ FunctionDeclarations []json.RawMessage }
		require.NoError(t, json.Unmarshal(text, &group))
		inGroups = append(append(inGroups, group.FunctionDeclarations...), text)
	}
	for _, text := range inGroups {
		var o object
		require.NoError(t, json.Unmarshal(text, &o))
		if len(namesIn(o)) == 1 && namesIn(o)[0] == name {
			var b bytes.Buffer
			require.NoError(t, json.Indent(&b, []byte(mustJSON(o)), "", "  "))
			return b.String() + "\n"
		}
	}
	require.Fail(t, "no declaration", name)
	return ""
}
