// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

func TestSearch_DirectionDecidesBetweenOppositeNames(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "number__from_roman", Description: "Converts between a number and a roman numeral."},
		{Name: "number__to_roman", Description: "Converts between a number and a roman numeral."},
		{Name: "volume__turn_down", Description: "Changes the volume."},
		{Name: "volume__turn_up", Description: "Changes the volume."},
		{Name: "text__fromBase", Description: "Text of another base."},
	})
	for text, first := range map[string]string{
		"number to roman numeral":       "number__to_roman",
		"roman to number":               "number__from_roman",
		"a number from a roman numeral": "number__from_roman",
		"to the roman numeral":          "number__to_roman",
		"turn up the volume":            "volume__turn_up",
		"turn the volume down":          "volume__turn_down",
	} {
		require.Equal(t, first, answers(t, x, text, 5)[0], text)
	}
}
