// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A Number of 2^53 and more is refused where a schema asks for an integer, and nowhere else: a decimal
// of a result can be passed on.
func TestRounded_OnlyWhereSchemaAsksForInteger(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"id":{"type":"integer"},"any":{},"price":{"type":"number"},"either":{"type":["integer","null"]},"name":{"type":"string"},
		"ids":{"type":"array","items":{"$ref":"#/$defs/id"}},"union":{"anyOf":[{"type":"string"},{"type":"integer"}]},
		"inner":{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":{"type":"number"}},"self":{"$ref":"#"}
	},"$defs":{"id":{"type":"integer"}}}`
	for _, c := range []struct{ args, path string }{
		{`{"id":9.007199254740992e+15}`, "id"}, {`{"id":-9.007199254740992e+15}`, "id"}, {`{"id":1e+300}`, "id"},
		{`{"id":9007199254740993}`, ""}, {`{"id":9.007199254740992e15}`, ""}, {`{"id":5}`, ""}, {`{"id":1e+3}`, ""},
		{`{"any":1e+18}`, ""}, {`{"other":{"deep":[1e+20]}}`, ""}, {`{"any":6.022e+23}`, ""},
		{`{"price":1e+18}`, ""}, {`{"either":1e+18}`, "either"}, {`{"name":1e+18}`, ""},
		{`{"ids":[1,1e+18]}`, "ids[1]"}, {`{"union":1e+18}`, "union"}, {`{"inner":{"id":1e+18}}`, "inner.id"}, {`{"inner":{"x":1e+18}}`, ""},
		{`{"self":{"self":{"id":1e+18}}}`, "self.self.id"}, {`{"name":"1e+18"}`, ""}, {`{"id":1e+18`, ""},
		{`{"any":[1e+999]}`, "any[0]"}, {`{"price":-1e+999}`, "price"},
	} {
		require.Equal(t, c.path, Compile(schema).Rounded(c.args), c.args)
	}
	require.Empty(t, (*Check)(nil).Rounded(`{"id":1e+18}`), "without a schema, nothing asks for an integer")
	require.Empty(t, Compile(`{"$ref":"#"}`).Rounded(`{"id":{"a":1e+3}}`), "a schema that is part of itself comes to an end")
}
