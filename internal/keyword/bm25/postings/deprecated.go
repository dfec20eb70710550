// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package postings

import (
	"strings"

	"github.com/einolean/einolean/internal/keyword/names"
)

const (
	maxOpeningBytes = 120 // of a description that may say that the tool is deprecated
	maxBefore       = 40  // bytes before the word
)

// deprecations are words that say that something should not be used any more.
var deprecations = [...]string{"deprecated", "obsolete", "已废弃", "已弃用", "已过时"}

// replacing words say that it is another tool.
var replacing = [...]string{"replac", "instead of", "successor", "supersede", "取代", "替代", "代替"}

// isDeprecated reports whether a description begins by saying that the tool itself is deprecated.
func isDeprecated(description string) bool {
	opening, _, _ := strings.Cut(strings.ToLower(names.Clip(strings.TrimSpace(description), maxOpeningBytes)), ". ")
	for _, word := range deprecations {
		at := strings.Index(opening, word)
		if at < 0 || at > maxBefore {
			continue
		}
		before := opening[:at]
		for _, other := range replacing {
			if strings.Contains(before, other) {
				return false
			}
		}
		return !strings.HasSuffix(before, "not ") && !strings.Contains(before, " a ") && !strings.Contains(before, "list")
	}
	return false
}
