// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequestsAreCutIntoSteps(t *testing.T) {
	for name, c := range map[string]struct {
		request string
		steps   []string
	}{
		"one thing is one step":               {`Reverse "abc"`, []string{`Reverse "abc"`}},
		"sentences are steps":                 {"Sort 3, 1, 2. What is the MD5 of abc?", []string{"Sort 3, 1, 2", "What is the MD5 of abc"}},
		"and before a verb begins a step":     {`Reverse "abc" and take the MD5 of it`, []string{`Reverse "abc"`, "take the MD5 of it"}},
		"and between data does not":           {"Add 3 and 4", []string{"Add 3 and 4"}},
		"then always begins a step":           {"Write 12 in words, then uppercase it", []string{"Write 12 in words", "uppercase it"}},
		"what stands in quotes is not cut":    {`Count "one. Two and sort it; three"`, []string{`Count "one. Two and sort it; three"`}},
		"a path is not cut at its point":      {"Read notes/a.txt. Count it", []string{"Read notes/a.txt", "Count it"}},
		"JSON is not cut":                     {`Format {"a": "x. Then y"}`, []string{`Format {"a": "x. Then y"}`}},
		"politeness is left out":              {"Please tell me the MD5 of abc", []string{"the MD5 of abc"}},
		"the A and the B of Z are two":        {`Compute the SHA-1 and the MD5 of "abc"`, []string{`Compute the SHA-1 of "abc"`, `Compute the MD5 of "abc"`}},
		"one question about two places":       {"What time is it in Tokyo and in Lima?", []string{"What time is it in Tokyo", "What time is it in Lima"}},
		"Chinese is cut at its connectors":    {"把 12 写成中文，然后反转结果", []string{"把 12 写成中文", "反转结果"}},
		"Chinese commas cut before verbs":     {"统计字数，计算总和", []string{"统计字数", "计算总和"}},
		"Chinese commas do not cut elsewhere": {"算一算圆，半径是 3", []string{"算一算圆，半径是 3"}},
		"nothing is no step":                  {" ... ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []string
			for _, s := range split(c.request) {
				steps = append(steps, s.text)
			}
			require.Equal(t, c.steps, steps)
		})
	}
}

func TestStepsKnowWhatTheyDependOn(t *testing.T) {
	last := func(request string) step { all := split(request); return all[len(all)-1] }
	require.True(t, last(`Reverse "abc" and take the MD5 of the result`).refers)
	require.True(t, last(`Reverse "abc". Now hash it`).refers)
	require.False(t, last("What time is it in Tokyo?").refers)
	require.True(t, last("Write 3 to a.txt, then list the files").then)
	require.True(t, last("Write 3 to a.txt. Then list the files").then)
	require.False(t, last("Write 3 to a.txt and list the files").then)
	require.True(t, last("And what about 12 miles?").follows)
	require.True(t, last("and in London?").follows)
	require.False(t, last("And convert 12 miles to kilometres").follows)
}

func TestContentLeavesOutDataAndFillers(t *testing.T) {
	s := split(`Please convert 12.5 miles to kilometres for "Bob"`)[0]
	require.Equal(t, []string{"convert"}, s.words)
	require.Equal(t, []string{"miles", "kilometres"}, s.soft)
	require.Contains(t, s.hints, "length")
}
