// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file holds the configuration.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
)

// TypedConfig configures the middleware for one message type. It is read once, by
// [NewTyped]; later changes to it, its lists or its maps have no effect. All its
// functions may be called by any number of goroutines at once, unless they say
// otherwise.
//
// The fields down to ToolConfig are those of Eino's package and mean the same.
// Those below it are additions, and their zero values change nothing.
type TypedConfig[M adk.MessageType] struct {
	// Backend is where content goes that is taken out of the conversation.
	// Required unless SkipTruncation is set. Without it old results are replaced
	// by a placeholder, and what they said is gone.
	//
	// A Backend may be able to do more than Write; see [Reader], [RangeReader],
	// [Creator] and [Cleaner]. One that takes streams is needed for streamed
	// results to be cut with bounded memory: for one that cannot, everything that
	// a tool streams beyond MaxLengthForTrunc is held in memory until its end.
	// One that can be read is needed for the promise that no content is written
	// over another by a second process that uses the same call ids.
	Backend Backend

	// SkipTruncation leaves results alone when they return. A TruncHandler in
	// ToolConfig is still used for its tool.
	SkipTruncation bool

	// SkipClear leaves old results alone: no counting, no rewriting, no
	// ClearPostProcess. A ClearHandler in ToolConfig is still used for its tool.
	SkipClear bool

	// ReadFileToolName is the name of the tool that reads stored content back.
	// Notices name it where the agent has it, and its own results are neither
	// truncated nor cleared unless ToolConfig has a handler for it. If empty,
	// defaults to "read_file", and then a tool of that name is taken for the read
	// tool only if it is one of [NewReadTool], or takes file_path, offset and limit
	// as that of Eino's filesystem middleware does: the results of any other are
	// treated like those of other tools.
	ReadFileToolName string

	// RootDir is the directory of the default paths in the Backend,
	// {RootDir}/trunc/{call id} and {RootDir}/clear/{call id}. An id that is not
	// made of 1 to 128 characters out of [A-Za-z0-9_.:-] is escaped, and an id
	// whose file holds something else gets a suffix, so that no id leaves RootDir
	// and no content is written over another. Empty: "/tmp".
	RootDir string

	// GenTruncOffloadFilePath names the file of a truncated result instead. It is
	// called once a result is known to be too long; for a stream, ToolResult then
	// holds what had arrived. The path may get a suffix when it already holds
	// something else. A path that is too long for MaxLengthForTrunc, or is not one
	// line of UTF-8, gives way to the default one. Its error is returned as the tool's error. Nil: RootDir.
	GenTruncOffloadFilePath func(ctx context.Context, toolDetail *ToolDetail) (filePath string, err error)

	// GenClearOffloadFilePath names the file of a cleared result instead. Its
	// error ends the run. Nil: RootDir.
	GenClearOffloadFilePath func(ctx context.Context, toolDetail *ToolDetail) (filePath string, err error)

	// MaxLengthForTrunc is how many bytes of text a result may have. A longer one
	// is cut to at most this many, the notice included. It must be at least 400
	// plus the lengths of RootDir and ReadFileToolName, 413 with the defaults: less
	// has no room for a notice. If zero, defaults to 50,000.
	MaxLengthForTrunc int

	// TruncExcludeTools names tools whose results are never truncated, whatever
	// ToolConfig says.
	TruncExcludeTools []string

	// TokenCounter estimates the tokens of messages and tools. It decides when
	// to clear and how much. Its error ends the run. It must not keep or change
	// what it gets. Nil: four bytes of text to a token, schemas included, and
	// 1,600 tokens for each image, sound, film or file.
	TokenCounter func(ctx context.Context, msg []M, tools []*schema.ToolInfo) (int64, error)

	// MaxTokensForClear is the estimate from which on old results are cleared.
	// Zero: 160,000. Negative: an error.
	MaxTokensForClear int64

	// ClearRetentionSuffixLimit is how many of the last rounds are kept whole. A
	// round is an assistant message with tool calls and the results of these
	// calls. Zero: 1. Negative: an error.
	ClearRetentionSuffixLimit int

	// ClearAtLeastTokens is how many tokens clearing must save; if it would save
	// less, everything stays as it is and nothing is written. It keeps a prompt
	// cache from being broken for little. Zero: any saving. Negative: an error.
	ClearAtLeastTokens int64

	// ClearExcludeTools names tools whose calls and results are never cleared,
	// whatever ToolConfig says.
	ClearExcludeTools []string

	// ClearMessageRewriter may replace a round before its results are cleared. It
	// gets copies of the assistant message and of the messages with its results,
	// nil if there are none, and returns what takes their place; nothing removes
	// the round. It sees each round outside the retained ones once. Messages that
	// stand between those of a round stay, and so does what else an AgenticMessage
	// with results holds, such as what the user said. Its error ends the run. Nil:
	// no rewriting.
	ClearMessageRewriter func(ctx context.Context, toolCallMsg M, toolResponseMsgs []M) (messagesAfterRewrite []M, err error)

	// ClearPostProcess is called after messages were changed, with the state that
	// the model call will see and that it may change. It returns the context to
	// go on with; nil means the one it got.
	ClearPostProcess func(ctx context.Context, state *adk.TypedChatModelAgentState[M]) context.Context

	// ToolConfig holds what differs for single tools, by name. A nil entry is an
	// error.
	ToolConfig map[string]*ToolReductionConfig

	// ProvideReadTool adds the read tool of [NewReadTool], named ReadFileToolName.
	// All Backends must be able to read then. If the agent has another tool of
	// that name, hidden or added by another handler, the run ends at its start
	// with an error that says what to set; one that [NewReadTool] made is used.
	//
	// The tool reads what lies below {RootDir}/trunc and {RootDir}/clear, the
	// catalogues that package toolsearch stores in the same Backend, and files that
	// notices of the conversation show. Files outside of RootDir, which a path
	// generator or a handler has named, count as shown where this process stored
	// them, or where the generator gives the same path for the call once more. For
	// more, give the agent a tool of [NewReadTool]. False: the agent brings its own.
	ProvideReadTool bool

	// ClearTargetTokens ends clearing, which goes from the oldest result to the
	// newest, as soon as the estimate is below it. A target well below
	// MaxTokensForClear makes clearing rare, and so keeps the prompt cache. Zero:
	// everything outside the retained rounds is cleared. Negative, or more than
	// MaxTokensForClear: an error.
	ClearTargetTokens int64

	// MinSavingBytes is how many bytes clearing a result must save; a result that
	// would save less is left. Zero: one. Negative: an error.
	MinSavingBytes int

	// OnEvent receives an event for each result that is cut, cleared for the first
	// time, read back or not stored, for each one that stays although it is longer
	// than its limit, and for each look through the history once it has grown to
	// MaxTokensForClear. It is called before the result goes on, so it should be
	// quick; it may keep the event. Panics are recovered.
	//
	// The tokens of a result are those of its text at four bytes each. Those of a
	// look are the TokenCounter's; with a counter of your own, what the clearing
	// saved is the default estimate unless ClearAtLeastTokens is set. If nil, nobody
	// is told.
	OnEvent func(ctx context.Context, event leanctx.Event)
}

// Config configures the middleware for agents on *schema.Message.
type Config = TypedConfig[*schema.Message]

// ToolReductionConfig is what differs for one tool. What it leaves at its zero
// value is taken from the general configuration. The order of precedence is:
// the exclude lists, the Skip fields here, the handlers here, the limit here, the
// general Skip fields, the default handlers.
type ToolReductionConfig struct {
	// Backend is where this tool's content goes. Nil: the general Backend.
	Backend Backend

	// SkipTruncation leaves this tool's results alone when they return, even if
	// there is a TruncHandler.
	SkipTruncation bool

	// TruncHandler decides on each result when it returns. Its error is returned
	// as the tool's error, unless it is [UseDefault]. Nil: results longer than
	// MaxLengthForTrunc are cut.
	TruncHandler func(ctx context.Context, detail *ToolDetail) (*TruncResult, error)

	// SkipClear leaves this tool's old results alone, even if there is a
	// ClearHandler.
	SkipClear bool

	// ClearHandler decides on each old result. Its error ends the run, unless it is
	// [UseDefault]. Nil: the result is stored and replaced by a notice.
	ClearHandler func(ctx context.Context, detail *ToolDetail) (*ClearResult, error)

	// MaxLengthForTrunc is how many bytes of text this tool's results may have,
	// with the same least value as the general limit. If set, they are cut even if
	// the general SkipTruncation is set. If zero, the general limit holds.
	MaxLengthForTrunc int
}
