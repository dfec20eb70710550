// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

// JSON in fewer bytes: complete results, and JSON that arrives in a stream.

import (
	"context"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
)

// maxCompactRatio bounds how many times longer than its limit a result may be, if it is compacted in the hope that
// it then need not be truncated.
const maxCompactRatio = 4

// mayCompact reports whether JSON in the result may be compacted. The content of a file stays as it is: the model
// may quote its text to edit the file.
func (t truncation) mayCompact() bool { return t.policy.Compact && !namesFile(t.argsText) }

// compact returns a result whose JSON texts have fewer bytes. It returns nil if there is no JSON to compact, or if
// the result still has more than maxBytes.
func (t truncation) compact(
	ctx context.Context, result *schema.ToolResult, maxBytes int,
) (out *schema.ToolResult) {
	for i := range result.Parts {
		if result.Parts[i].Type != schema.ToolPartTypeText {
			continue
		}
		text, ok := jsontext.Compact(result.Parts[i].Text)
		if !ok {
			continue
		}
		if out == nil {
			out = copyResult(result)
		}
		out.Parts[i].Text = text
	}
	if out == nil {
		return nil
	}
	after := rounds.Bytes(out.Parts)
	if after > maxBytes {
		return nil
	}
	t.report(ctx, report.Outcome{
		Kind: einolean.KindResultCompacted, Before: rounds.Bytes(result.Parts), After: after,
	})
	return out
}

// compactor compacts JSON that arrives in pieces. Text that is not JSON comes out unchanged.
type compactor struct {
	writer     jsontext.CompactWriter
	output     []byte // not yet taken
	size       int    // bytes of all output
	hasNonJSON bool   // the text is no JSON document, or has something after it
}

// add takes the next piece of text.
func (c *compactor) add(text string) {
	n, before := 0, len(c.output)
	if !c.hasNonJSON {
		n = c.writer.Write(text)
		c.output = append(c.output, c.writer.Take()...)
		c.hasNonJSON = n < len(text) && !(c.writer.IsComplete() && strings.Trim(text[n:], " \t\r\n") == "")
	}
	if c.hasNonJSON {
		c.output = append(c.output, text[n:]...)
	}
	c.size += len(c.output) - before
}

// take returns the output since the last call.
func (c *compactor) take() string {
	out := string(c.output)
	c.output = c.output[:0]
	return out
}

// isDocument reports whether the text so far is one complete JSON document.
func (c *compactor) isDocument() bool { return c.writer.IsComplete() && !c.hasNonJSON }

// isWorthwhile reports whether the output is shorter than the input, of so many bytes, by at least a twentieth.
func (c *compactor) isWorthwhile(inputBytes int) bool {
	return inputBytes-c.size >= max(1, inputBytes/20)
}
