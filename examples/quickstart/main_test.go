// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
)

func TestRun_ReturnsTheErrorOfTheModel(t *testing.T) {
	failure := errors.New("the model is overloaded")
	err := run(context.Background(), einoleantest.Script[*schema.Message](einoleantest.Fail(failure)))
	require.ErrorIs(t, err, failure)
}

// The model finds the hidden tool, its result is cut, and the model reads back the day
// that was cut out.
func Example() {
	main()
	// Output:
	// => tool_search {"query":"weather forecast"}
	// {"matches":["weather__forecast"]}
	// => weather__forecast {"City":"Turin"}
	// <persisted-output>
	// This result has 263136 bytes, too many to show here. All of it is saved to: /tmp/trunc/call_2
	// => read_file {"file_path":"/tmp/trunc/call_2","pattern":"day 180, 12:00"}
	// [read_file] 1 match of "day 180, 12:00" in bytes 0 to 263136 of 263136, each as "line number:text"
	// 4309:day 180, 12:00 in Turin: rain
	// Yes, it will rain at noon.
	//
	// einolean  quickstart  1 question, 4 calls
	// sent 8,671 tokens; without einolean 127,360: 14.7 times as many
	// in money, cheaper by a factor of: Claude 32.5 · Claude 5.5, GPT-6 34.3 · GPT-5, Gemini 31.6 ·
	// Doubao, Qwen, GLM 27.9 · DeepSeek 35.4
	//
	// T tools  L loaded tools  N names  t talk  R results  X cut  C cleared  P programs
	//
	// call    tokens  window                                     cache  what happened
	// > Will it rain in Turin on day 180?
	//    1     1,317  TTTTTTTTTTTTTNNNN                            0 %
	//    2     1,384  TTTTTTTTTTTTTLNNNN                          72 %
	//    3     2,941  TTTTTTTTTTTTTLNNNNXXXXXXXXXXXXXXXXXXXXX     47 %  ✂ weather__forecast cut 117,269 →…
	//    4     3,029  TTTTTTTTTTTTTLNNNNtRXXXXXXXXXXXXXXXXXXXX    97 %  ↩ read back 62 tokens
}
