// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The configuration of one tool, and the inputs and outputs of its handlers and its Preview.

import (
	"context"
	"errors"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/language"
	previews "github.com/leanctx/leanctx/internal/preview"
	"github.com/leanctx/leanctx/internal/safe"
)

// ToolReductionConfig overrides the configuration for one tool. Zero fields come from
// the general configuration. The order of precedence is: the exclude lists, the Skip
// fields here, the handlers here, the limit here, the general Skip fields, the default
// handlers.
type ToolReductionConfig struct {
	// Backend stores this tool's content. If nil, defaults to the general Backend.
	Backend Backend

	// SkipTruncation leaves this tool's results alone when they return, even if
	// there is a TruncHandler.
	SkipTruncation bool

	// TruncHandler decides on each result when it returns. Its error is returned
	// as the tool's error, unless it is [UseDefault]. If nil, results longer than
	// MaxLengthForTrunc are cut.
	TruncHandler func(ctx context.Context, detail *ToolDetail) (*TruncResult, error)

	// SkipClear leaves this tool's old results alone, even if there is a
	// ClearHandler.
	SkipClear bool

	// ClearHandler decides on each old result. Its error ends the run, unless it is
	// [UseDefault]. If nil, the result is stored and replaced by a notice.
	ClearHandler func(ctx context.Context, detail *ToolDetail) (*ClearResult, error)

	// MaxLengthForTrunc is how many bytes of text this tool's results may have,
	// with the same least value as the general limit. If set, they are cut even if
	// the general SkipTruncation is set. If zero, the general limit holds.
	MaxLengthForTrunc int

	// Preview writes what this tool's results show when they are cut. If nil, the
	// general Preview does; [PreviewHeadTail] turns that off.
	Preview Preview
}

// UseDefault is returned by a TruncHandler or a ClearHandler as its error to leave the
// result to the middleware, which then does what it would do without the handler.
// Errors that wrap it count as well. The handler's other return values are ignored.
//
//lint:ignore ST1012 it is an answer, as io.EOF is
var UseDefault = errors.New("use the default")

// ToolDetail is one result, as a handler or a path generator sees it. Exactly one
// of ToolResult and StreamToolResult is set. A handler must not change what it
// points to, and must not keep it.
type ToolDetail struct {
	// ToolContext names the tool and the call.
	ToolContext *adk.ToolContext

	// ToolArgument holds the arguments of the call. It is nil if there are none.
	ToolArgument *schema.ToolArgument

	// ToolResult is what the tool returned. A tool that returns a string is one
	// part of text.
	ToolResult *schema.ToolResult

	// StreamToolResult is the stream that the tool is returning, in a copy for the
	// handler, which may read as much of it as it likes. It is closed for the handler
	// when TruncResult.NeedTrunc is false or the handler fails, and otherwise when
	// TruncResult.StreamToolResult has ended.
	StreamToolResult *schema.StreamReader[*schema.ToolResult]
}

// TruncResult is the decision of a TruncHandler. Nil means the zero value.
type TruncResult struct {
	// NeedTrunc says to replace the result. If false, the result passes unchanged, and
	// the other fields are ignored.
	NeedTrunc bool

	// ToolResult takes the place of ToolDetail.ToolResult. If it has no parts, the
	// original passes. If the tool returns a string, the first part is used.
	ToolResult *schema.ToolResult

	// StreamToolResult takes the place of ToolDetail.StreamToolResult. It belongs
	// to the middleware from then on. If it is nil, ToolResult is sent as one
	// chunk.
	StreamToolResult *schema.StreamReader[*schema.ToolResult]

	// NeedOffload says that OffloadContent is to be stored first. When that fails,
	// or when the file already holds something else, the original goes on. It is
	// an error if there is no Backend.
	NeedOffload bool

	// OffloadFilePath is where in the Backend.
	OffloadFilePath string

	// OffloadContent is what to store.
	OffloadContent string
}

// ClearResult is the decision of a ClearHandler. Nil means the zero value.
type ClearResult struct {
	// NeedClear says to replace the result. If false, the result stays as it is, and
	// the other fields are ignored.
	NeedClear bool

	// ToolArgument takes the place of the call's arguments. If nil, they stay.
	ToolArgument *schema.ToolArgument

	// ToolResult takes the place of the result. If it has no parts, the result stays.
	// Media that were in the result before keep properties that a ToolResult cannot
	// express, such as a file name.
	ToolResult *schema.ToolResult

	// NeedOffload says that OffloadContent is to be stored first. When that fails,
	// or when the file already holds something else, everything stays as it is. It
	// is an error if there is no Backend.
	NeedOffload bool

	// OffloadFilePath is where in the Backend.
	OffloadFilePath string

	// OffloadContent is what to store.
	OffloadContent string
}

// Preview writes the visible part of a cut result, in at most MaxBytes bytes. It must be
// deterministic and safe for concurrent use. If it panics, or returns nothing, more than
// MaxBytes, or text that is not UTF-8, the start and the end of the result are shown. It is
// not called for streams, whose start is sent before they are known to be too long; but if
// a Preview is set, their notice shows lines that look like errors.
type Preview func(PreviewRequest) string

// PreviewRequest is a result that is cut.
type PreviewRequest struct {
	// Text is all of the result's text, as the tool returned it. It need not be valid
	// UTF-8.
	Text string
	// MaxBytes is how long the preview may be.
	MaxBytes int
	// Tool is the name of the tool.
	Tool string
	// Arguments are those of the call.
	Arguments string
	// Question is the end of the user's last message and of the model's text beside the
	// call, at most 1,000 bytes of each. It is empty outside of an agent's run.
	Question string
}

// PreviewHeadTail shows the start and the end, as a nil Preview does.
func PreviewHeadTail(r PreviewRequest) string {
	return previews.HeadTail(request(r))
}

// PreviewByKind previews a text by its format: a list of JSON records as a table, in which
// common values appear once; the start of other JSON, closed so that it parses; the text of
// an HTML page or of a snapshot of one; the errors, the end and each kind of line once of
// tests and logs; the start and the end of other text, with lines between them that look
// like errors or fit Question. Inside an MCP result, it previews the text. Text of
// uncertain format keeps its start and end. One megabyte takes some milliseconds; JSON of
// more than four megabytes keeps its start and end.
func PreviewByKind(r PreviewRequest) string {
	shown, _ := previews.Make(request(r))
	return shown
}

func request(r PreviewRequest) previews.Request {
	return previews.Request{Text: r.Text, Room: r.MaxBytes, Arguments: r.Arguments, Question: r.Question, Chinese: language.Chinese()}
}

// contained is a Preview that recovers from a panic and then returns nothing.
func (p Preview) contained() Preview {
	if p == nil {
		return nil
	}
	return func(r PreviewRequest) string {
		shown, _ := safe.Value("Preview", func() (string, error) { return p(r), nil })
		return shown
	}
}
