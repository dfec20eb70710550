// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// The tool is hidden until the model finds it, its result is cut, and the model reads
// back the day that was cut out.
func Example() {
	main()
	// Output:
	// the model gets 0.0 KB from the user and sees tool_search read_file
	//   it calls tool_search {"query":"weather forecast"}
	// the model gets 0.0 KB from tool_search and sees tool_search read_file weather__forecast
	//   it calls weather__forecast {"city":"Turin"}
	//   the tool returns 263.1 KB
	// the model gets 50.0 KB from weather__forecast and sees tool_search read_file weather__forecast
	//   it calls read_file {"file_path":"/tmp/trunc/call_weather__forecast","pattern":"day 180, 12:00"}
	// the model gets 0.2 KB from read_file and sees tool_search read_file weather__forecast
	//   it answers: day 180, 12:00 in Turin: rain
}
