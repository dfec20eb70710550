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
	// {"tools":[{"name":"weather__forecast","description":"Forecasts the weather of a city for a year.","parameters":{"properties":{"City":{"type":"string"}},"additionalProperties":false,"required":["City"],"type":"object"}}]}
	// => weather__forecast {"City":"Turin"}
	// <persisted-output>
	// This result has 263136 bytes, too many to show here. All of it is saved to: /tmp/trunc/call_2
	// => read_file {"file_path":"/tmp/trunc/call_2","pattern":"day 180, 12:00"}
	// [read_file] 1 match of "day 180, 12:00", each as "line number:text"
	// 4309:day 180, 12:00 in Turin: rain
	// Yes, it will rain at noon.
	//
	// einolean  quickstart  1 question, 4 calls
	// sent 8,230 tokens; without einolean 126,344: 15.4x fewer
	// in money: Claude 36.4x cheaper · Claude 5.5, GPT-6 38.8x cheaper · GPT-5, Gemini 35.3x cheaper ·
	// Doubao, Qwen, GLM 30.7x cheaper · DeepSeek 40.1x cheaper
	//
	// T tools  L loaded tools  N names  t talk  R results  X cut  C cleared  P programs
	//
	// call    tokens  window                                     cache  what happened
	// > Will it rain in Turin on day 180?
	//    1     1,202  TTTTTTTTTTTTNNNN                             0 %
	//    2     1,264  TTTTTTTTTTTTNNNNt                           95 %
	//    3     2,845  TTTTTTTTTTTTNNNNttXXXXXXXXXXXXXXXXXXXXX     44 %  ✂ weather__forecast cut 116,246 →…
	//    4     2,919  TTTTTTTTTTTTNNNNttRXXXXXXXXXXXXXXXXXXXXX    97 %  ↩ read back 48 tokens
}
