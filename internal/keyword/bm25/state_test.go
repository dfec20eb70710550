// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

// A search leaves no state in the scratch memory that the next one uses.
func TestSearch_LeavesNoState(t *testing.T) {
	docs := []keyword.Doc{{Name: "a", Description: "的 foo"}, {Name: "b", Description: "mail"}, {Name: "linear", Description: "foo"}}
	queries := []string{"+的 mail", "+linear foo", "foo", "mail. Then foo the linear!", "+foo +的", "天 foo +不的"}
	for _, first := range queries {
		for _, second := range queries {
			x := New(allWords(), docs)
			want := answers(t, New(allWords(), docs), second, 0)
			for range 3 { // the pool may keep the memory of any of them
				answers(t, x, first, 0)
				require.Equal(t, want, answers(t, x, second, 0), "%q after %q", second, first)
			}
		}
	}
}

// textsIn collects the texts that a value holds, also those beyond the lengths of slices.
func textsIn(v reflect.Value, found *[]string) {
	switch v.Kind() {
	case reflect.String:
		*found = append(*found, v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			textsIn(v.Field(i), found)
		}
	case reflect.Slice:
		for i := range v.Cap() {
			textsIn(v.Slice(0, v.Cap()).Index(i), found)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			textsIn(entries.Key(), found)
			textsIn(entries.Value(), found)
		}
	}
}

// The scratch memory outlives a search and must not keep its text alive.
func TestSearch_ScratchMemoryKeepsNoText(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "create_meeting", Description: "mail weather 天气"}})
	for _, text := range []string{
		"qqq mail Qqqs qqqing, +qqq mailqqq. Then set qqq up with qqq_qqq; \"qqq mail\" create_meeting",
		"天气qqq的天气。然后查询qqq鱻鱻，并且+鱻qqq", "qqq", "+qqq", "the qqqmail weaqqqther",
	} {
		acc := x.accumulator()
		q := acc.parser.parse(text)
		require.NoError(t, acc.scoreWhole(t.Context(), q))
		_, err := acc.scoreClauses(t.Context(), q)
		require.NoError(t, err)
		acc.release()
		var left []string
		textsIn(reflect.ValueOf(*acc), &left)
		for _, kept := range left {
			require.False(t, strings.Contains(strings.ToLower(kept), "qqq") || strings.Contains(kept, "鱻"), "%q of %q", kept, text)
		}
	}
}
