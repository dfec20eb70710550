// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// What a cut result shows.

import (
	"context"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx/internal/language"
	previews "github.com/leanctx/leanctx/internal/preview"
	"github.com/leanctx/leanctx/internal/safe"
)

// Preview writes what a cut result shows, in at most MaxBytes bytes. It must be
// deterministic and safe for concurrent use. If it panics, or returns nothing, more than
// MaxBytes, or text that is not UTF-8, the start and the end of the result are shown. It is
// not called for streams, of which the start is out before they are known to be too long;
// of those the notice shows what looks like errors if a Preview is set.
type Preview func(PreviewRequest) string

// PreviewRequest is a result that is cut.
type PreviewRequest struct {
	// Text is all of the result's text, as the tool returned it. It may be no UTF-8.
	Text string
	// MaxBytes is how long the preview may be.
	MaxBytes int
	// Tool is the name of the tool.
	Tool string
	// Arguments are those of the call.
	Arguments string
	// Question is the end of the last message of the user, and of what the model said with
	// the call, at most 1,000 bytes of each. It is empty outside of an agent's run.
	Question string
}

// PreviewHeadTail shows the start and the end, which is what a nil Preview shows.
func PreviewHeadTail(r PreviewRequest) string {
	return previews.HeadTail(request(r))
}

// PreviewByKind shows what the text is, by its format: a list of JSON records as a table,
// with what all records share said once; other JSON closed, so that it parses; the text of
// an HTML page or of a snapshot of one; of tests and logs the errors, the end, and each
// kind of line once; of other text the start and the end, with lines between them that
// look like errors, and lines that fit Question. An MCP result is looked through. Text of
// no certain format keeps its start and end. One megabyte takes some milliseconds; JSON of
// more than four keeps its start and end.
func PreviewByKind(r PreviewRequest) string {
	shown, _ := previews.Make(request(r))
	return shown
}

func request(r PreviewRequest) previews.Request {
	return previews.Request{Text: r.Text, Room: r.MaxBytes, Arguments: r.Arguments, Question: r.Question, Chinese: language.Chinese()}
}

// shortened is what a Preview makes of a result in at most room bytes, empty if that
// cannot be shown.
func (c callInfo) shortened(ctx context.Context, content string, room int) string {
	if c.rule.preview == nil || room < minExcerpt {
		return ""
	}
	question, _ := runText(ctx, questionKey)
	shown := c.rule.preview(PreviewRequest{Text: content, MaxBytes: room, Tool: c.tool.Name, Arguments: c.argText(), Question: question})
	if len(shown) > room || !utf8.ValidString(shown) {
		return ""
	}
	return shown
}

// contained is a Preview that returns nothing in place of a panic.
func (p Preview) contained() Preview {
	if p == nil {
		return nil
	}
	return func(r PreviewRequest) string {
		shown, _ := safe.Value("Preview", func() (string, error) { return p(r), nil })
		return shown
	}
}

// maxQuestion is how much of a message goes into a question, in bytes.
const maxQuestion = 1000

// noteQuestion keeps what the user and the model said last for the calls that the model
// has just made.
func (c *clearPhase[M]) noteQuestion(ctx context.Context, msgs []M) {
	if len(msgs) == 0 || len(c.codec.view(msgs[len(msgs)-1]).calls) == 0 {
		return
	}
	_, said := c.codec.said(msgs[len(msgs)-1])
	asked := ""
	for i := len(msgs) - 1; i >= 0 && asked == ""; i-- {
		asked, _ = c.codec.said(msgs[i])
	}
	setRunText(ctx, questionKey, lastBytes(asked, maxQuestion)+"\n"+lastBytes(said, maxQuestion))
}

// lastBytes is the end of a text, from the start of a character on.
func lastBytes(s string, n int) string { return s[ceil(s, len(s)-n):] }

// previewsAny reports whether results of any tool have a Preview.
func previewsAny[M adk.MessageType](c *TypedConfig[M]) bool {
	if c.Preview != nil {
		return true
	}
	for _, own := range c.ToolConfig {
		if own != nil && own.Preview != nil {
			return true
		}
	}
	return false
}
