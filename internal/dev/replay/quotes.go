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

	// quoteStep is at which bytes of a result quotations are looked for: one that is
	// this much longer is always found.
	quoteStep = 4

	// minTextBytes is how many bytes of a quotation are neither blank nor a rule at least.
	minTextBytes = 16
)

// quotation is a quotation of what a call returned.
type quotation struct{ call, quote string }

// findQuotations finds them, by assistant message, one for each call.
func findQuotations(msgs []*schema.Message) map[int][]quotation {
	out, at := make(map[int][]quotation), make(map[string]string) // the newest call with a piece
	for i, m := range msgs {
		switch m.Role {
		case schema.Tool:
			text := textOf(m)
			for k := 0; k+quoteBytes <= len(text); k += quoteStep {
				if piece := text[k : k+quoteBytes]; isDistinctive(piece) {
					at[piece] = m.ToolCallID
				}
			}
		case schema.Assistant:
			texts := []string{textOf(m)}
			for _, tc := range m.ToolCalls {
				texts = append(texts, tc.Function.Arguments)
			}
			if found := quotationsIn(texts, at); len(found) > 0 {
				out[i] = found
			}
		}
	}
	return out
}

func quotationsIn(texts []string, at map[string]string) (out []quotation) {
	seen := make(map[string]bool)
	for _, text := range texts {
		for k := 0; k+quoteBytes <= len(text); k++ {
			piece := text[k : k+quoteBytes]
			if call, ok := at[piece]; ok && !seen[call] {
				seen[call] = true
				out = append(out, quotation{call, piece})
			}
		}
	}
	return out
}

// isDistinctive reports whether a piece is worth matching: it is not mostly blanks and rules.
func isDistinctive(piece string) bool {
	n := 0
	for i := range len(piece) {
		if strings.IndexByte(" \t\n-=_*#.", piece[i]) < 0 {
			n++
		}
	}
	return n >= minTextBytes
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
