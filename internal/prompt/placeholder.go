// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package prompt

import "slices"

// placeholders are those of package reduction in both languages, and Eino's.
var placeholders = []string{
	"[Earlier result removed. It was not saved.]", "[较早的结果已移除，未保存。]",
	"[Old tool result content cleared]", "[工具输出结果已清理]",
}

// IsPlaceholder reports whether a text stands in place of a cleared result that is in no store.
func IsPlaceholder(text string) bool { return slices.Contains(placeholders, text) }
