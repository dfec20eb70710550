// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

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
	// sent 10,351 tokens; without einolean 130,724: 12.6 times as many
	// in money, cheaper by a factor of: Claude 26.9 · Claude 5.5, GPT-6 28.3 · GPT-5, Gemini 26.2 ·
	// Doubao, Qwen, GLM 23.3 · DeepSeek 29.1
	//
	// T tools  L loaded tools  N names  t talk  R results  X cut  C cleared  P programs
	//
	// call    tokens  window                                     cache  what happened
	// > Will it rain in Turin on day 180?
	//    1     1,313  TTTTTTTTTTNNNt                               0 %
	//    2     1,380  TTTTTTTTTTLNNN                              71 %
	//    3     3,785  TTTTTTTTTTLNNNXXXXXXXXXXXXXXXXXXXXXXXXX     36 %  ✂ weather__forecast cut 120,633 →…
	//    4     3,873  TTTTTTTTTTLNNNtXXXXXXXXXXXXXXXXXXXXXXXXX    98 %  ↩ read back 62 tokens
}
