// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/keyword"
)

// A search leaves nothing behind in the scratch memory that the next one uses.
func TestASearchLeavesNoState(t *testing.T) {
	docs := []keyword.Doc{{Name: "a", Description: "的 foo"}, {Name: "b", Description: "mail"}, {Name: "linear", Description: "foo"}}
	queries := []string{"+的 mail", "+linear foo", "foo", "mail. Then foo the linear!", "+foo +的", "天 foo +不的"}
	for _, first := range queries {
		for _, second := range queries {
			x := New(docs)
			want := answers(t, New(docs), second, 0)
			for range 3 { // the pool may keep the memory of any of them
				answers(t, x, first, 0)
				require.Equal(t, want, answers(t, x, second, 0), "%q after %q", second, first)
			}
		}
	}
}
