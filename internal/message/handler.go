// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package message

import "strings"

// idKey is the key of the id that Eino gives to every message.
const idKey = "_eino_msg_id"

// IsFromHandler reports whether the Extra map of a message has a key with which a handler marks the messages that it
// inserts. The keys of Eino's handlers and of this module's begin with an underscore.
func IsFromHandler(extra map[string]any) bool {
	for key := range extra {
		if strings.HasPrefix(key, "_") && key != idKey {
			return true
		}
	}
	return false
}
