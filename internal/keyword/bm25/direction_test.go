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
		hits := search(t, x, text, 5)
		require.GreaterOrEqual(t, hits[0].Score, hits[1].Score, text)
		require.InEpsilon(t, hits[0].Score, x.Explain(text, hits[0].Doc).Score, 1e-12, text)
	}
}

func TestSearch_ChineseDirectionDecidesBetweenOppositeNames(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "number__from_roman", Description: "Converts between a number and a roman numeral."},
		{Name: "number__to_roman", Description: "Converts between a number and a roman numeral."},
		{Name: "volume__turn_down", Description: "Changes the volume."},
		{Name: "volume__turn_up", Description: "Changes the volume."},
		{Name: "calendar__list_events_after", Description: "Lists events of a calendar."},
		{Name: "calendar__list_events_before", Description: "Lists events of a calendar."},
		{Name: "file__csv_to_json", Description: "Converts a file."},
		{Name: "file__json_to_csv", Description: "Converts a file."},
	})
	for text, first := range map[string]string{
		"把数字转成罗马数字":           "number__to_roman",
		"罗马数字转为数字":            "number__from_roman",
		"从罗马数字得到数字":           "number__from_roman",
		"把音量调高":               "volume__turn_up",
		"音量往下一点":              "volume__turn_down",
		"三点之前的日历事件":           "calendar__list_events_before",
		"三点以后的日历事件":           "calendar__list_events_after",
		"把 JSON 文件转成 CSV":     "file__json_to_csv",
		"从 CSV 到 JSON 转换文件":   "file__csv_to_json",
		"convert JSON to CSV": "file__json_to_csv",
		"convert CSV to JSON": "file__csv_to_json",
	} {
		require.Equal(t, first, answers(t, x, text, 5)[0], text)
	}
}

func TestSearch_DirectionDecidesBetweenChineseNames(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "数字转罗马数字", Description: "在数字和罗马数字之间转换。"},
		{Name: "罗马数字转数字", Description: "在数字和罗马数字之间转换。"},
		{Name: "图片转换为文字", Description: "识别图片。"},
		{Name: "文字转换为图片", Description: "识别图片。"},
	})
	for text, first := range map[string]string{
		"请转成罗马数字，原来是数字": "数字转罗马数字",
		"请转为数字，原来是罗马数字": "罗马数字转数字",
		"文字要转成图片":       "文字转换为图片",
		"图片要转成文字":       "图片转换为文字",
	} {
		require.Equal(t, first, answers(t, x, text, 5)[0], text)
	}
}
