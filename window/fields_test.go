// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/formats"
)

// Every field of a written log is read. The samples are those of package formats: a log with a value in every
// field.
func TestReadJSON_ReadsEveryField(t *testing.T) {
	for name, text := range formats.Samples(t, "log", ".jsonl", func() string { return everyField(t) }) {
		all, err := ReadJSON(strings.NewReader(text))
		require.ErrorContains(t, err, "lost 1 calls", name)
		require.Len(t, all, 1, name)
		c, kinds := all[0], map[string]bool{}
		for said := range strings.Lines(text) {
			var l map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(said), &l), name)
			for kind, read := range map[string]any{"conversation": c, "run": c.Runs[len(c.Runs)-1], "call": c.Calls[0], "part": c.Calls[0].Parts()[0]} {
				if l[kind] == nil {
					continue
				}
				kinds[kind] = true
				again, err := json.Marshal(read)
				require.NoError(t, err, name)
				within(t, l[kind], again, name+": "+kind)
			}
		}
		require.Len(t, kinds, 4, name)
		require.Equal(t, "x", c.Texts[c.Calls[0].Parts()[0].Text], name)
	}
}

// everyField is a log of one call.
func everyField(t *testing.T) string {
	var b strings.Builder
	text := "x"
	for _, l := range []line{
		{Schema: schemaName, Of: "x", Conversation: filled[Conversation]()},
		{Of: "x", Run: filled[Run]()},
		{Of: "x", slotLine: slotLine{Slot: 1, Part: filled[Part](), Text: &text}},
		{Of: "x", modelLine: modelLine{Call: filled[ModelCall](), Slots: [][2]int32{{1, 1}}, Same: 1, New: [][2]int32{{1, 1}}}},
		{Of: "x", Lost: 1},
	} {
		out, err := json.Marshal(l)
		require.NoError(t, err)
		b.Write(append(out, '\n'))
	}
	return b.String()
}

// filled is a value all of whose fields say something.
func filled[T any]() *T {
	v := new(T)
	fill(reflect.ValueOf(v).Elem(), 0)
	return v
}

func fill(v reflect.Value, depth int) {
	if depth > 9 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		if of := v.Type().Elem(); of.Kind() == reflect.Struct && !strings.Contains(of.PkgPath(), "einolean") {
			return // what Eino's types hold is Eino's
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	}
}

// within fails unless everything that one JSON value says stands in another.
func within(t *testing.T, said, read []byte, where string) {
	var a, b any
	require.NoError(t, json.Unmarshal(said, &a), where)
	require.NoError(t, json.Unmarshal(read, &b), where)
	require.Empty(t, missing(a, b, ""), where)
}

func missing(said, read any, at string) (list []string) {
	switch said := said.(type) {
	case map[string]any:
		other, _ := read.(map[string]any)
		for name, value := range said {
			list = append(list, missing(value, other[name], at+"/"+name)...)
		}
		return list
	case []any:
		other, _ := read.([]any)
		if len(said) != len(other) {
			return []string{at}
		}
		for i := range said {
			list = append(list, missing(said[i], other[i], fmt.Sprint(at, "/", i))...)
		}
		return list
	}
	if said != read {
		return []string{fmt.Sprintf("%s: %v was read as %v", at, said, read)}
	}
	return nil
}
