// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolnames

import "testing"

func TestWhichAnswersLoadTools(t *testing.T) {
	for name, want := range map[string]bool{
		"tool_search": true, "load_tool": true,
		"search_tools": false, "call_tool": false, "read_file": false, "Tool_Search": false, "": false,
	} {
		if got := Loads(name); got != want {
			t.Errorf("Loads(%q) = %v, want %v", name, got, want)
		}
	}
}
