// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package refusal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOverflow_ReadsUnitsAndDigitGroups(t *testing.T) {
	for written, want := range map[string]int64{
		"131072": 131072, "131,072": 131072, "131 072": 131072, "131.072": 131072, "131'072": 131072, "131_072": 131072,
		"131\u202f072": 131072, "131\u00a0072": 131072, "1,048,576": 1048576, "1.048.576": 1048576,
		"16k": 16000, "128K": 128000, "128 k": 128000, "8.192k": 8192, "1M": 1000000, "1.5 million": 1500000,
		"12.8万": 128000, "20 thousand": 20000,
	} {
		for _, text := range []string{
			"This model's maximum context length is %s tokens. However, your messages resulted in 9,999,999 tokens.",
			"Input length (9999999) exceeds model's maximum context length (%s).",
			"Range of input length should be [1, %s]",
			"prompt is too long: 9999999 tokens > %s maximum",
		} {
			text = strings.ReplaceAll(text, "%s", written)
			tokens, ok := Overflow(text)
			require.True(t, ok, text)
			require.Equal(t, want, tokens, text)
		}
	}
}

func TestOverflow_IgnoresNumbersThatAreNoWindow(t *testing.T) {
	for _, text := range []string{
		"invalid params, context window exceeds limit (2013)",
		`400 {"type":"error","error":{"message":"invalid params, context window exceeds limit (2013)"}}`,
		"context window exceeded by 1027 tokens",
		"Input is too long: the maximum is 100000 characters",
		"Request payload size exceeds the limit: 20971520 bytes.",
		"Request payload size exceeds the limit: 20000 kilobytes.",
		"too many tokens: the request exceeds the limit of 20000 kilobytes",
		"gpt-4-32k: the prompt exceeds the limit of the model",
	} {
		tokens, ok := Overflow(text)
		require.True(t, ok, text)
		require.Zero(t, tokens, text)
	}
}

// Every text can be read, and always means the same.
func FuzzOverflow(f *testing.F) {
	for _, e := range overflowErrors {
		f.Add(e.text)
	}
	for _, e := range otherErrors {
		f.Add(e.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens, ok := Overflow(text)
		require.GreaterOrEqual(t, tokens, int64(0))
		require.True(t, ok || tokens == 0)
		again, same := Overflow(text)
		require.Equal(t, tokens, again)
		require.Equal(t, ok, same)
	})
}
