// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"context"
	"io"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/store"
)

const (
	// quoteBytes is the least length of a quotation.
	quoteBytes = 24

	// everyByte is at which bytes of a result quotations are looked for: one that is
	// this much longer is always found.
	everyByte = 4

	// plainBytes is how many bytes of a quotation are neither blank nor a rule at least.
	plainBytes = 16
)

// use is a quotation of what a call returned.
type use struct{ call, quote string }

// quotations finds them, by assistant message, one for each call.
func quotations(msgs []*schema.Message) map[int][]use {
	out, at := make(map[int][]use), make(map[string]string) // the newest call with a piece
	for i, m := range msgs {
		switch m.Role {
		case schema.Tool:
			text := said(m)
			for k := 0; k+quoteBytes <= len(text); k += everyByte {
				if piece := text[k : k+quoteBytes]; telling(piece) {
					at[piece] = m.ToolCallID
				}
			}
		case schema.Assistant:
			texts := []string{said(m)}
			for _, tc := range m.ToolCalls {
				texts = append(texts, tc.Function.Arguments)
			}
			if found := quoted(texts, at); len(found) > 0 {
				out[i] = found
			}
		}
	}
	return out
}

func quoted(texts []string, at map[string]string) (out []use) {
	seen := make(map[string]bool)
	for _, text := range texts {
		for k := 0; k+quoteBytes <= len(text); k++ {
			piece := text[k : k+quoteBytes]
			if call, ok := at[piece]; ok && !seen[call] {
				seen[call] = true
				out = append(out, use{call, piece})
			}
		}
	}
	return out
}

// telling reports whether a piece is worth matching: it is not mostly blanks and rules.
func telling(piece string) bool {
	n := 0
	for i := range len(piece) {
		if strings.IndexByte(" \t\n-=_*#.", piece[i]) < 0 {
			n++
		}
	}
	return n >= plainBytes
}

// readAll reads a whole file of a store.
func readAll(ctx context.Context, files *store.Memory, path string) (string, error) {
	content, _, err := files.ReadRange(ctx, path, 0, 1<<40)
	if err != nil {
		return "", err
	}
	defer content.Close()
	data, err := io.ReadAll(content)
	return string(data), err
}
