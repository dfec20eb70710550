// Copyright leanctx authors
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
}
