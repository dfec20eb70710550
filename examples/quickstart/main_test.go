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
	// sent 8,189 tokens; without einolean 76,359: 9.3 times as many
	// in money, times as dear without: Claude 20.5 · Claude 5.5, GPT-6 21.7 · GPT-5, Gemini 19.9 · Doubao,
	// Qwen, GLM 17.6 · DeepSeek 22.4
	//
	// T tools  L loaded tools  N names  t talk  R results  X cut  C cleared
	//
	// call    tokens  window                                     cache  what happened
	// > Will it rain in Turin on day 180?
	//    1     1,322  TTTTTTTTTTTTTTTNNNN                          0 %
	//    2     1,393  TTTTTTTTTTTTTTTNNNNN                        72 %
	//    3     2,708  TTTTTTTTTTTTTTTNNNNNXXXXXXXXXXXXXXXXXXX     51 %  ✂ weather__forecast cut 65,784 → …
	//    4     2,766  TTTTTTTTTTTTTTTNNNNNtXXXXXXXXXXXXXXXXXXX    98 %  ↩ read back 40 tokens
}
