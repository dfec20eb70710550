// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/window"
)

// conversationOf returns a conversation of calls that all have the same parts.
func conversationOf(t *testing.T, calls int, parts []window.Part, change func(*window.ModelCall)) *window.Conversation {
	t.Helper()
	var file bytes.Buffer
	write := func(line map[string]any) {
		line["of"] = "c"
		text, err := json.Marshal(line)
		require.NoError(t, err)
		file.Write(append(text, '\n'))
	}
	write(map[string]any{"schema": "einolean.window/2", "conversation": window.Conversation{ID: "c"}})
	write(map[string]any{"run": window.Run{N: 1}})
	for n := range calls {
		call := window.ModelCall{N: n + 1, Run: 1, Attempt: 1, Start: time.Unix(0, 0), Prefix: window.Prefix{Part: -1}, By: map[window.Category]int{}}
		for i, p := range parts {
			call.By[p.Category] += p.Tokens
			call.Tokens.Estimated += p.Tokens
			if n == 0 {
				write(map[string]any{"slot": i + 1, "part": p, "text": fmt.Sprint(i)})
			}
		}
		without := call.Tokens.Estimated
		call.Without = &without
		if change != nil {
			change(&call)
		}
		same := len(parts)
		if n == 0 {
			same = 0
		}
		line := map[string]any{"call": &call, "slots": [][2]int{{1, len(parts)}}, "same": same}
		if n == 0 {
			line["new"] = [][2]int{{1, len(parts)}}
		}
		write(line)
	}
	all, err := window.ReadJSON(&file)
	require.NoError(t, err)
	return all[0]
}

func TestAdvice_NamesWhatSavesMost(t *testing.T) {
	talk := window.Part{Category: window.User, Tokens: 1000, Bytes: 4000}
	hidden := func(tokens, without int) func(*window.ModelCall) {
		return func(c *window.ModelCall) { c.Hidden, c.Without = window.Hidden{Tools: 10, Tokens: tokens}, &without }
	}
	for name, c := range map[string]struct {
		parts  []window.Part
		change func(*window.ModelCall)
		want   *advice
	}{
		"nothing to save": {[]window.Part{talk}, nil, &advice{Kind: "nothing", Of: 4000}},
		"few tools":       {[]window.Part{talk, {Category: window.OwnTools, Tokens: 2900}}, nil, &advice{Kind: "nothing", Of: 15_600}},
		"many tools": {[]window.Part{talk, {Category: window.OwnTools, Tokens: 9000}}, nil,
			&advice{Kind: "tools", Setting: "toolsearch.Recommended(tools)", Tokens: 36_000, Of: 40_000}},
		"many tools, hidden": {[]window.Part{talk, {Category: window.OwnTools, Tokens: 9000}}, hidden(20_000, 30_000), &advice{Kind: "nothing", Of: 40_000}},
		"short results":      {[]window.Part{talk, {Category: window.Result, Tokens: 2000, Bytes: 8000}}, nil, &advice{Kind: "nothing", Of: 12_000}},
		"long results": {[]window.Part{talk, {Category: window.Result, Tokens: 8000, Bytes: 32_000}}, nil,
			&advice{Kind: "results", Setting: "reduction.Recommended(store)", Tokens: 32_000, Of: 36_000}},
		"many results": {append([]window.Part{talk}, many(40, window.Part{Category: window.Result, Tokens: 1000, Bytes: 4000})...), nil,
			&advice{Kind: "results", Setting: "reduction.Recommended(store)", Tokens: 120_000, Of: 164_000}},
		"hiding costs more": {[]window.Part{talk, {Category: window.HelpTools, Tokens: 900}}, hidden(400, 1400),
			&advice{Kind: "hide_above", Setting: "toolsearch.Config.MinTokensToHide", Tokens: 3600, Of: 7600}},
		"much is read back": {[]window.Part{talk, {Category: window.Page, Tokens: 500}}, nil,
			&advice{Kind: "read_back", Setting: "reduction.Config.MaxTokensForClear", Tokens: 2000, Of: 6000}},
		"much of what was truncated is read back": {[]window.Part{talk, {Category: window.Page, Tokens: 500}}, func(c *window.ModelCall) { c.OmittedTokens.Cut = 900 },
			&advice{Kind: "read_back", Setting: "reduction.Config.MaxLengthForTrunc", Tokens: 2000, Of: 6000}},
		"dearer for no reason that is known": {[]window.Part{talk}, func(c *window.ModelCall) { *c.Without-- }, &advice{Kind: "leave_out", Of: 4000}},
	} {
		got := adviceFor(conversationOf(t, 4, c.parts, c.change))
		require.NotNil(t, got, name)
		got.saving = 0
		require.Equal(t, c.want, got, name)
	}
	require.Nil(t, adviceFor(&window.Conversation{}))
}

func many(n int, p window.Part) (all []window.Part) {
	for range n {
		all = append(all, p)
	}
	return all
}

func TestAdvice_LimitsAreThoseOfThePresets(t *testing.T) {
	require.Equal(t, toolsearch.Recommended(nil).MinTokensToHide, minTokensToHide)
	preset := reduction.Recommended(store.NewMemory(1 << 20))
	require.EqualValues(t, preset.MaxLengthForTrunc, maxLengthForTrunc)
	require.EqualValues(t, preset.MaxTokensForClear, maxTokensForClear)
}

func TestWriteText_SaysWhetherMoreOrFewer(t *testing.T) {
	for want, without := range map[string]int{"1.3x as many": 3000, "the same": 4000, "2.5x fewer": 10_000, "1.05x fewer": 4200} {
		c := conversationOf(t, 1, []window.Part{{Category: window.User, Tokens: 4000}}, func(c *window.ModelCall) { *c.Without = without })
		var b bytes.Buffer
		require.NoError(t, WriteText(&b, c, TextOptions{}))
		require.Contains(t, b.String(), "sent 4,000 tokens; without einolean "+display.Grouped(without)+": "+want+"\n")
		require.NotContains(t, b.String(), " 0.")
		for _, word := range []string{"cheaper", "dearer"} {
			require.Equal(t, without > 4000 == (word == "cheaper") && without != 4000, bytes.Contains(b.Bytes(), []byte(word)), "%s: %s", want, b.String())
		}
	}
}
