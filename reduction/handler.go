// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// What a handler gets and what it answers.

import (
	"errors"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// UseDefault is returned by a TruncHandler or a ClearHandler as its error to leave
// the result to the middleware, which then does what it would do without the
// handler. Errors that wrap it count as well. Whatever else the handler returns is
// ignored.
//
//lint:ignore ST1012 it is an answer, as io.EOF is
var UseDefault = errors.New("use the default")

// ToolDetail is one result, as a handler or a path generator sees it. Exactly one
// of ToolResult and StreamToolResult is set. A handler must not change what it
// points to, and must not keep it.
type ToolDetail struct {
	// ToolContext names the tool and the call.
	ToolContext *adk.ToolContext

	// ToolArgument is what the tool was called with. It is nil if the tool got none.
	ToolArgument *schema.ToolArgument

	// ToolResult is what the tool returned. A tool that returns a string is one
	// part of text.
	ToolResult *schema.ToolResult

	// StreamToolResult is what the tool is returning, a copy of the handler's own:
	// the handler may read as much of it as it likes. It is closed for the handler
	// when TruncResult.NeedTrunc is false or the handler fails, and otherwise when
	// TruncResult.StreamToolResult has ended.
	StreamToolResult *schema.StreamReader[*schema.ToolResult]
}

// TruncResult is what a TruncHandler decided. If nil, it counts as the zero value.
type TruncResult struct {
	// NeedTrunc says that the result is to be replaced. If false, it goes on as it
	// is, and nothing else is looked at.
	NeedTrunc bool

	// ToolResult takes the place of ToolDetail.ToolResult. Without any part in it
	// the original goes on. Of a tool that returns a string, the first part does.
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

// ClearResult is what a ClearHandler decided. If nil, it counts as the zero value.
type ClearResult struct {
	// NeedClear says that the result is to be replaced. If false, it stays as it is,
	// and nothing else is looked at.
	NeedClear bool

	// ToolArgument takes the place of the call's arguments. If nil, they stay.
	ToolArgument *schema.ToolArgument

	// ToolResult takes the place of the result. Without any part in it the result
	// stays. Media that were in the result before keep what a ToolResult cannot
	// express, such as the name of a file.
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
