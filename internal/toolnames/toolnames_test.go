// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolnames

import "testing"

func TestLoads_SearchAndLoadOnly(t *testing.T) {
	for name, want := range map[string]bool{
		"tool_search": true, "load_tool": true,
		"search_tools": false, "call_tool": false, "read_file": false, "Tool_Search": false, "": false,
	} {
		if got := Loads(name); got != want {
			t.Errorf("Loads(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestReminder_TextBetweenTags(t *testing.T) {
	for text, want := range map[string]string{
		" <available-deferred-tools>\na\n</available-deferred-tools>\n": "\na\n", "<available-deferred-tools></available-deferred-tools>": "",
	} {
		if list, ok := Reminder(text); !ok || list != want {
			t.Errorf("Reminder(%q) = %q, %v", text, list, ok)
		}
	}
	for _, text := range []string{"", "a", "<available-deferred-tools>a", "a</available-deferred-tools>", "see <available-deferred-tools></available-deferred-tools>"} {
		if _, ok := Reminder(text); ok {
			t.Errorf("%q is a reminder", text)
		}
	}
}
