// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The configuration: its fields, defaults and validation, and the inputs and outputs of its
// callbacks.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	previews "github.com/einolean/einolean/internal/preview"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/store"
)

// TypedConfig configures the middleware for one message type. It is read once, by
// [NewTyped]; later changes to it, its lists or its maps have no effect. No number but
// StoreTimeout may be negative. Its functions may be called by any number of goroutines at once.
//
// The fields down to ToolConfig are those of Eino's package and mean the same.
// The fields after ToolConfig are additions. Their zero values keep Eino's behavior, with two
// exceptions: StoreTimeout defaults to 30 seconds, and a call with a bare notice as an argument is
// answered instead of run (see ResolveReferences).
type TypedConfig[M adk.MessageType] struct {
	// Backend stores the content that leaves the conversation. Required unless
	// SkipTruncation is set. Without it, a placeholder replaces old results, and their
	// content is lost.
	//
	// A Backend may implement more than Write; see [store.Reader], [store.RangeReader], [store.Creator]
	// and [store.Cleaner]. To truncate streamed results in bounded memory, it must take streams:
	// otherwise everything that a tool streams beyond MaxLengthForTrunc is held in
	// memory until its end. Only a readable one guarantees that a second process with
	// the same call ids overwrites nothing.
	Backend Backend

	// SkipTruncation leaves results alone when they return. A TruncHandler in
	// ToolConfig is still used for its tool.
	SkipTruncation bool

	// SkipClear leaves old results alone: no counting, no rewriting, no ClearPostProcess. It also
	// switches WindowTokens and Overflow off. A ClearHandler in ToolConfig is still used for its
	// tool: requests are then counted, from MaxTokensForClear on the handler decides on the old
	// results of that tool, and ClearPostProcess is called if any of them changes.
	SkipClear bool

	// ReadFileToolName is the name of the tool that reads stored content back. Notices
	// name it if the agent has it. Its pages are not truncated unless ToolConfig has a
	// handler for it. They are cleared like other results, but a page of a stored
	// result is not stored: its notice names the file that it came from. If empty,
	// defaults to "read_file". A tool of that name then counts as the read tool only if
	// it is one of [NewReadTool], or takes file_path, offset and limit like that of
	// Eino's filesystem middleware; otherwise its results are treated like those of
	// other tools.
	ReadFileToolName string

	// RootDir is the directory of the default paths in the Backend,
	// {RootDir}/trunc/{call id} and {RootDir}/clear/{call id}. An id that is not 1 to
	// 128 characters of [A-Za-z0-9_.:-] is escaped, and an id whose file holds other
	// content gets a suffix: no id leads out of RootDir, and no content overwrites
	// another. It must be one line of UTF-8. If empty, defaults to "/tmp".
	RootDir string

	// GenTruncOffloadFilePath names the file of a truncated result instead. It is
	// called once a result is known to be too long; for a stream, ToolResult holds what
	// has arrived by then. The path may get a suffix if it already holds other content.
	// If it is too long for MaxLengthForTrunc, or not one line of UTF-8, the default
	// path replaces it. Its error is returned as the tool's error. If nil, the default
	// path is used.
	GenTruncOffloadFilePath func(ctx context.Context, toolDetail *ToolDetail) (filePath string, err error)

	// GenClearOffloadFilePath names the file of a cleared result instead. Its
	// error ends the run. If nil, the default path is used.
	GenClearOffloadFilePath func(ctx context.Context, toolDetail *ToolDetail) (filePath string, err error)

	// MaxLengthForTrunc is how many bytes of text a result may have. A longer one is
	// truncated to at most this many, the notice included. A notice needs 400 plus the
	// lengths of RootDir and ReadFileToolName (413 with the defaults), and 80 more with
	// ResolveReferences: a smaller limit counts as that. With a Preview, a result that is at
	// most a quarter longer than the limit stays whole if truncating it would leave more than a
	// third of it: reading it back would cost more than that saves. If zero, defaults to 50,000.
	MaxLengthForTrunc int

	// TruncExcludeTools names tools whose results are never truncated, whatever
	// ToolConfig says. A trailing * matches any rest. A tool that runs through call_tool of
	// package toolsearch counts under its own name too.
	TruncExcludeTools []string

	// TokenCounter estimates the tokens of messages and tools. It decides when to clear
	// and how much. Its error ends the run. It must not keep or change what it gets. If
	// nil, tokens are estimated from the bytes of all texts and schemas, about as o200k
	// counts them, with 1,600 for each image, audio, video or file; from the second
	// answer on, the provider's own counts for this conversation's requests correct the
	// estimate.
	TokenCounter func(ctx context.Context, msg []M, tools []*schema.ToolInfo) (int64, error)

	// MaxTokensForClear is the estimate, in tokens, at which old results are cleared. If zero, defaults
	// to 160,000. Clearing is postponed in two cases, to protect the prompt cache: if the request would
	// stay above the threshold and the pass saves less than an eighth of it; and, unless
	// ClearTargetTokens is set, if the pass saves less than a sixth of the prompt that it rewrites, until
	// the estimate is an eighth above the threshold.
	MaxTokensForClear int64

	// ClearRetentionSuffixLimit is how many of the last rounds are kept whole. A
	// round is an assistant message with tool calls and the results of these
	// calls. If zero, defaults to 1.
	ClearRetentionSuffixLimit int

	// ClearAtLeastTokens is how many tokens clearing must save; if it would save less,
	// everything stays as it is and nothing is written. It avoids breaking the prompt
	// cache for little. If zero, any saving counts.
	ClearAtLeastTokens int64

	// ClearExcludeTools names tools whose calls and results are never cleared,
	// whatever ToolConfig says. A trailing * matches any rest, and call_tool counts as in
	// TruncExcludeTools.
	ClearExcludeTools []string

	// ClearMessageRewriter may replace a round before its results are cleared. It gets
	// copies of the assistant message and of the messages with its results, nil if
	// there are none, and returns their replacement; returning nothing removes the
	// round. It sees each round outside the retained ones once. Messages between those
	// of a round stay, and so do the other parts of an AgenticMessage with results,
	// such as the user's text. Its error ends the run. If nil, no round is rewritten.
	ClearMessageRewriter func(ctx context.Context, toolCallMsg M, toolResponseMsgs []M) (messagesAfterRewrite []M, err error)

	// ClearPostProcess is called after messages were changed, with the state that the
	// model call will see and that it may change. It returns the context for the rest
	// of the run; nil means the one it got.
	ClearPostProcess func(ctx context.Context, state *adk.TypedChatModelAgentState[M]) context.Context

	// ToolConfig overrides the configuration for single tools, by name. A nil entry is
	// an error.
	ToolConfig map[string]*ToolReductionConfig

	// ProvideReadTool adds the read tool of [NewReadTool], named ReadFileToolName. All
	// Backends must then be readable. If the agent has a tool of that name that takes
	// file_path, offset and limit, like that of Eino's filesystem middleware, or that
	// [NewReadTool] made, it is used instead; it must read the Backend. Any other of that
	// name ends the run at its start with an error that says what to set.
	//
	// The tool reads files below {RootDir}/trunc and {RootDir}/clear, and the catalogs
	// that package toolsearch stores in the same Backend. Instead of any other path of a
	// generator the default one is used; a handler's file elsewhere is not read. To allow
	// more, give the agent a tool of [NewReadTool]. Another middleware of the agent that
	// provides one of the same name is an error at the start of a run. If false, the agent
	// brings its own.
	ProvideReadTool bool

	// JSONQuery lets the model ask stored JSON for counts, filters and sums through the
	// tool of ProvideReadTool: set it to jq.Query of module reduction/jq. If nil, that tool
	// has no argument jq. [Recommended] leaves it nil, as the module adds 1.4 MB.
	JSONQuery JSONQuery

	// Preview writes the visible part of a truncated result, such as [PreviewByKind]. If nil,
	// its start and its end are shown.
	Preview Preview

	// ClearTargetTokens ends clearing, which goes from the oldest result to the newest,
	// as soon as the estimate is below it. A target well below MaxTokensForClear makes
	// clearing rare, which keeps the prompt cache. If zero, everything outside the
	// retained rounds is cleared. It must not be more than MaxTokensForClear.
	ClearTargetTokens int64

	// MinSavingBytes is how many bytes clearing a result must save; otherwise the
	// result stays. If zero, defaults to one.
	MinSavingBytes int

	// DedupeResults replaces a new result by a reference before the model is called if
	// the model still sees an equal one, from any tool. It is stored like any other,
	// and stays readable when the earlier one is gone. Messages that were sent before
	// do not change. It does not apply to tools whose old results are not cleared or
	// that have a ClearHandler. If false, repeats are sent whole.
	DedupeResults bool

	// MaxArgumentBytes is how many bytes a value in the arguments of a call may have,
	// as JSON, once its result is old: when results are cleared, a longer one becomes a
	// reference, a string that names the file it is stored in. The arguments stay valid
	// JSON. Values are replaced whole: strings, and also lists and objects that are too
	// long without a long string. A value stays if there is no Backend, if it does not
	// shrink, and if ToolConfig has a ClearHandler for the tool. If zero, arguments stay.
	MaxArgumentBytes int

	// CompactJSON writes the same value in fewer tokens when a result returns: an MCP result
	// that has nothing but one text becomes the text, and JSON loses its white space and
	// needless escapes. Numbers keep their digits, objects the order of their keys. What
	// would not get shorter by a twentieth stays, as do results of TruncExcludeTools and of
	// the read tool, and those of calls whose arguments name a file, which the model
	// may want to edit. A truncated result is stored as the tool returned it; of one that
	// was only compacted nothing is stored. A stream that begins like JSON is held back up
	// to four times MaxLengthForTrunc where it may be truncated; elsewhere it is compacted as it
	// comes, and an MCP result in it stays. If false, results stay as they are.
	CompactJSON bool

	// MaxTokensAtTurnStart takes the place of MaxTokensForClear in the first request of a user's turn. The
	// provider's prompt cache is cold then, or about to grow, so clearing costs less than inside a turn. Results of
	// the turn before stay, as the user may ask about them. A turn begins with a message of the user's; a run that is
	// resumed continues its turn. If zero, defaults to MaxTokensForClear, and no results are kept for their turn.
	MaxTokensAtTurnStart int64

	// ClearMedia offloads images, audio, video and files as well: when an old result is cleared, references take
	// the place of its media. The tool of ProvideReadTool returns a medium in its original form if the agent has a
	// tool that returns parts; any other read tool reads the stored JSON. If false, media stay, unless WindowTokens
	// is set, which implies ClearMedia.
	ClearMedia bool

	// ResolveReferences replaces references in the arguments of a call by the stored content before the
	// tool runs; the notices say so. A reference is a string that consists only of a notice of this
	// conversation or of the path in one. Content of a result is passed as a string, or as JSON if it is
	// a list or an object and the tool's schema does not demand a string in this place. Stored argument
	// values keep their original type. Only default paths below RootDir that notices of this conversation
	// show are resolved, up to 64 MiB each; media are not. A path stays a path in calls of the read tool
	// and in arguments whose name says that they take a file, such as path, file_path or uri.
	//
	// Handlers before this one in Handlers, such as an approval, see the reference; later ones see the
	// content. If the content cannot be read, the call does not run, and the model is told to pass the
	// content itself. If false, every call with a notice as an argument is answered like that, and a
	// path stays a path.
	ResolveReferences bool

	// WindowTokens is the size of the model's window, in tokens of the TokenCounter. If
	// set, results, arguments and media make no request larger than that:
	//
	//   - The results of one round share a quarter of the window. If they are longer,
	//     the largest are shortened, all to the same size, before the model sees them for the
	//     first time; of media, the last ones that fit in an eighth stay. Instead of a page
	//     that was read back, which is not shortened, a notice says how much the model may read.
	//   - Clearing an old result also replaces its media by references, as for ClearMedia.
	//   - If a request is still too long, everything outside the retained rounds is
	//     cleared, whatever ClearTargetTokens and ClearAtLeastTokens say. Then media become
	//     references, also the user's, oldest first; remaining results are shortened, down to
	//     1,000 bytes each; and long argument values become references.
	//
	// All content that leaves the prompt is stored and readable. Exceptions are excluded tools, answers that
	// load tools, results without a Backend or without a call, arguments that are not a
	// JSON object, and everything other than results: system and user texts, the model's
	// output, and tool definitions. Leave room for the answer: set it that much below the
	// model's limit. SkipClear switches this off as well, also for tools with a ClearHandler.
	//
	// With WindowTokens set, a zero MaxTokensForClear defaults to three quarters of the
	// window, at most 160,000, and a zero MaxArgumentBytes to 4,000. If WindowTokens
	// is zero, the window is unknown.
	WindowTokens int64

	// Overflow reports whether a model's error says that the request is too long, and the model's limit
	// in tokens, zero if the error does not name it. [ParseOverflow] recognizes the errors of most
	// providers. A request that is refused for this reason before any part of an answer came is shortened
	// as for WindowTokens and sent once more for each model call. If the retry is refused for the same
	// reason, or the request cannot be shortened, the first error is returned. Otherwise 90 % of that
	// limit, or of the refused request's size if the limit is unknown or larger, acts as WindowTokens for
	// the rest of the run, unless WindowTokens is smaller. Limits below 2 % of the request's size are
	// ignored.
	//
	// If Overflow is set, an error that says that a request has too many images or other media, or too
	// large ones in total, is handled in the same way: references replace media, the oldest first. If
	// one medium is too large or cannot be read, those of the newest tool results are replaced.
	//
	// A stream is passed on from its first chunk. SkipClear switches all of this off. If nil, such an
	// error ends the run.
	Overflow func(err error) (tokens int64, ok bool)

	// StoreTimeout bounds each call to a Backend that makes no progress. For content that is written or read piece
	// by piece, the time counts since the last byte. A result whose content is not stored in time stays in the
	// prompt, and until the next model call the Backend is not asked again. The context of a call that takes too
	// long is canceled; a Backend that ignores it keeps a goroutine until it returns. If zero,
	// defaults to 30 seconds; if negative, only the context of the run ends a call.
	StoreTimeout time.Duration

	// OnEvent receives an event for each result that is truncated, cleared for the first
	// time, read back or not stored, for each one that stays although it exceeds its
	// limit, and for each clearing pass, which starts once the history has grown to
	// MaxTokensForClear. The result waits for it, so it should be quick; it may keep the
	// event. Panics are recovered.
	//
	// Sizes of results are estimates at four bytes per token. Those of a pass come from TokenCounter;
	// with your own counter and no ClearAtLeastTokens, the size after a pass is the size before minus an
	// estimate of the saving. If nil, only warnings are reported: to slog.Default, at most one of a kind
	// a minute; einolean.Tee() switches those off as well.
	OnEvent func(ctx context.Context, event einolean.Event)
}

// Backend is where content is kept: see [store.Backend], which has the whole contract.
type Backend = store.Backend

// Config configures the middleware for agents on *schema.Message.
type Config = TypedConfig[*schema.Message]

// A JSONQuery runs a jq query on a JSON document and returns at most maxBytes bytes; longer output is
// truncated. The document is the tool's result, or the JSON inside its MCP result. JSON Lines count as
// a list. If the document is incomplete, the readable part is used, and the answer says so. The model
// reads the text of an error; only an error of ctx ends the run. A JSONQuery must not change the
// document, must be safe for concurrent use, and must bound the time, memory and reach of a hostile
// query. A panic counts as an error.
type JSONQuery func(ctx context.Context, query string, document []byte, maxBytes int) ([]byte, error)

// Recommended returns a configuration that saves tokens. b must be able to read. It
//
//   - truncates results longer than 10,000 bytes, and shows a [PreviewByKind] of 3,300 bytes; results
//     of up to 12,500 bytes stay whole if that would leave more than a third of them;
//   - clears old results from 32,000 tokens on, if that saves at least 4,000, but no result whose
//     clearing would save less than 500 bytes;
//   - replaces duplicate results by references, and clears argument values over 4,000 bytes and the
//     media of cleared results;
//   - passes stored content on to tools (ResolveReferences), and compacts JSON;
//   - excludes the texts of skills (TruncExcludeTools, ClearExcludeTools);
//   - shortens a request that the model refuses as too long, and provides the read tool.
//
// For queries about stored JSON, set JSONQuery to jq.Query of module reduction/jq, and set WindowTokens
// to the size of your model's window, less its answer. For a window below 32,000 tokens, also set
// MaxTokensForClear to 0, which is three quarters of the window: above it, requests are only shortened
// at the window.
//
// Reading something back takes a model call, and sometimes the model misses a fact that it no longer
// sees. Longer conversations save more; below 32,000 tokens, long results are truncated,
// JSON is compacted and duplicates become references, but nothing is cleared. On 170
// recorded runs of 32,000 tokens or more that nobody tuned on, prompts cost .36 of the price without
// reduction, with Anthropic's cache (docs/benchmarks.md). A ClearRetentionSuffixLimit of 3 or 5 shows
// the model more, and costs more.
//
// The preset may change in any minor version.
func Recommended(b Backend) *Config { return RecommendedTyped[*schema.Message](b) }

// RecommendedTyped is [Recommended] for messages of type M.
func RecommendedTyped[M adk.MessageType](b Backend) *TypedConfig[M] {
	return &TypedConfig[M]{
		Backend:            b,
		MaxLengthForTrunc:  10_000,
		MaxTokensForClear:  32_000,
		ClearAtLeastTokens: 4_000,
		MinSavingBytes:     500,
		DedupeResults:      true,
		MaxArgumentBytes:   4_000,
		CompactJSON:        true,
		ProvideReadTool:    true,
		Preview:            shortPreview,
		ClearMedia:         true,
		ResolveReferences:  true,
		Overflow:           ParseOverflow,
		TruncExcludeTools:  slices.Clone(skillTools),
		ClearExcludeTools:  slices.Clone(skillTools),
	}
}

// skillTools are the tools whose results are skills: Eino's, and those of package
// toolsearch/skills. A model follows the text of a skill until its task is done.
var skillTools = []string{"skill", toolnames.SkillPrefix + "*"}

// shortPreview is PreviewByKind in at most a third of the limit: reading a truncated result back at once then costs
// no more than keeping it whole.
func shortPreview(r PreviewRequest) string {
	const maxBytes = 3_300
	r.MaxBytes = min(r.MaxBytes, maxBytes)
	return PreviewByKind(r)
}

// Reason is why a result was left as it is.
type Reason string

const (
	// ReasonExcluded: the tool is in TruncExcludeTools or ClearExcludeTools.
	ReasonExcluded Reason = "excluded"

	// ReasonSkipped: the configuration skips the phase for its tool.
	ReasonSkipped Reason = "skipped"

	// ReasonExempt: its answers load tools, or the model is still reading it. A file counts as being
	// read if the read tool was called for it in the last three rounds of the user's turn, and
	// WindowTokens or Overflow is set. Its pages in this turn stay, and so does the truncated result that names it.
	ReasonExempt Reason = "exempt"

	// ReasonNotSmaller: its replacement is not smaller by MinSavingBytes, or does not
	// fit in MaxLengthForTrunc. Or the result is at most a quarter longer than that limit, and
	// its Preview would leave more than a third of it.
	ReasonNotSmaller Reason = "not_smaller"

	// ReasonHandler: the handler of its tool said so.
	ReasonHandler Reason = "handler"

	// ReasonNotStored: the store did not take it.
	ReasonNotStored Reason = "not_stored"

	// ReasonTooFewTokens: the pass would not have saved enough: less than ClearAtLeastTokens, or
	// less than it costs.
	ReasonTooFewTokens Reason = "too_few_tokens"
)

const (
	defaultReadTool  = "read_file"
	defaultRootDir   = "/tmp"
	defaultMaxLength = 50_000  // bytes
	defaultMaxTokens = 160_000 // tokens
	defaultRetention = 1       // rounds

	defaultMaxArgument = 4000 // bytes, where the window is known

	defaultStoreTimeout = 30 * time.Second
)

// withDefaults returns an independent copy with defaults, or a [einolean.FieldError] for each
// invalid field, joined.
func (t *TypedConfig[M]) withDefaults() (*TypedConfig[M], error) {
	if t == nil {
		return nil, &einolean.FieldError{Package: "reduction", Err: errors.New(
			"the configuration is nil: pass reduction.Recommended(backend) or a &reduction.Config{Backend: ...}")}
	}
	if errs := t.validate(); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	c := *t
	c.ReadFileToolName = cmp.Or(c.ReadFileToolName, defaultReadTool)
	c.RootDir = cmp.Or(c.RootDir, defaultRootDir)
	c.MaxLengthForTrunc = c.withNoticeRoom(cmp.Or(c.MaxLengthForTrunc, defaultMaxLength))
	c.MaxTokensForClear = c.clearThreshold()
	if c.WindowTokens > 0 {
		c.ClearMedia = true
		c.MaxArgumentBytes = cmp.Or(c.MaxArgumentBytes, defaultMaxArgument)
	}
	if c.SkipClear { // also for tools with a ClearHandler
		c.WindowTokens, c.Overflow = 0, nil
	}
	c.ClearRetentionSuffixLimit = cmp.Or(c.ClearRetentionSuffixLimit, defaultRetention)
	c.MinSavingBytes = cmp.Or(c.MinSavingBytes, 1)
	c.StoreTimeout = cmp.Or(c.StoreTimeout, defaultStoreTimeout)
	c.TruncExcludeTools = slices.Clone(c.TruncExcludeTools)
	c.ClearExcludeTools = slices.Clone(c.ClearExcludeTools)
	c.ToolConfig = make(map[string]*ToolReductionConfig, len(t.ToolConfig))
	for name, entry := range t.ToolConfig {
		dup := *entry
		dup.MaxLengthForTrunc = c.withNoticeRoom(dup.MaxLengthForTrunc)
		c.ToolConfig[name] = &dup
	}
	return &c, nil
}

// postProcess calls ClearPostProcess, which has no error of its own.
func (c *TypedConfig[M]) postProcess(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (context.Context, error) {
	next, err := safe.Wait(context.Background(), "ClearPostProcess", func() (context.Context, error) {
		return c.ClearPostProcess(ctx, state), nil
	})
	if err != nil || next == nil {
		return ctx, err
	}
	return next, nil
}

// clearThreshold is MaxTokensForClear with its default.
func (t *TypedConfig[M]) clearThreshold() int64 {
	threshold := int64(defaultMaxTokens)
	if t.WindowTokens > 0 {
		threshold = min(threshold, max(1, t.WindowTokens/4*3))
	}
	return cmp.Or(t.MaxTokensForClear, threshold)
}

func fieldError(field, format string, args ...any) error {
	return &einolean.FieldError{Package: "reduction", Field: field, Err: fmt.Errorf(format, args...)}
}

// validate checks the fields, with one error for each invalid one.
func (t *TypedConfig[M]) validate() (out []error) {
	switch {
	case t.Backend == nil && !t.SkipTruncation:
		out = append(out, fieldError("Backend", "is required unless SkipTruncation is set: pass a store, such as that of store.NewDir"))
	case t.Backend != nil && safe.IsNil(t.Backend):
		out = append(out, fieldError("Backend", "is nil inside an interface"))
	}
	limits := []struct {
		field string
		value int64
	}{
		{"MaxLengthForTrunc", int64(t.MaxLengthForTrunc)},
		{"MaxTokensForClear", t.MaxTokensForClear},
		{"ClearRetentionSuffixLimit", int64(t.ClearRetentionSuffixLimit)},
		{"ClearAtLeastTokens", t.ClearAtLeastTokens},
		{"MaxTokensAtTurnStart", t.MaxTokensAtTurnStart},
		{"ClearTargetTokens", t.ClearTargetTokens},
		{"MinSavingBytes", int64(t.MinSavingBytes)},
		{"MaxArgumentBytes", int64(t.MaxArgumentBytes)},
		{"WindowTokens", t.WindowTokens},
	}
	for _, l := range limits {
		if l.value < 0 {
			out = append(out, fieldError(l.field, "is %d, and must not be negative", l.value))
		}
	}
	if limit := notice.MaxPath - maxNoticeBytes; t.RootDir != "" && (len(t.RootDir) > limit || !notice.Showable(t.RootDir)) {
		out = append(out, fieldError("RootDir", "is %.80q, and must be one line of UTF-8 of at most %d bytes: "+
			"no other path can be shown to a model", t.RootDir, limit))
	}
	if threshold := t.clearThreshold(); threshold > 0 && t.ClearTargetTokens > threshold {
		out = append(out, fieldError("ClearTargetTokens",
			"is %d, and must not be above MaxTokensForClear, %d", t.ClearTargetTokens, threshold))
	} else if start := t.MaxTokensAtTurnStart; start > 0 && t.ClearTargetTokens > start {
		out = append(out, fieldError("ClearTargetTokens",
			"is %d, and must not be above MaxTokensAtTurnStart, %d", t.ClearTargetTokens, start))
	}
	return append(append(out, t.validateTools()...), t.validateReadTool()...)
}

// maxNoticeBytes is the size of the longest notice in bytes, without RootDir and ReadFileToolName.
const maxNoticeBytes = 400

// maxPassBytes is how much longer a notice is that says how to pass the content on.
const maxPassBytes = 80

// withNoticeRoom raises a limit so that a notice fits: nothing could be truncated to a smaller one. Zero stays.
func (t *TypedConfig[M]) withNoticeRoom(limit int) int {
	if limit == 0 {
		return 0
	}
	least := maxNoticeBytes + len(t.RootDir) + len(t.ReadFileToolName)
	if t.ResolveReferences {
		least += maxPassBytes
	}
	return max(limit, least)
}

// validateReadTool checks that ProvideReadTool can read everything back.
func (t *TypedConfig[M]) validateReadTool() (out []error) {
	if !t.ProvideReadTool {
		return nil
	}
	stores := map[string]Backend{"Backend": t.Backend}
	for name, entry := range t.ToolConfig {
		if entry != nil {
			stores[toolField(name, "Backend")] = entry.Backend
		}
	}
	none := true
	for _, field := range slices.Sorted(maps.Keys(stores)) {
		b := stores[field]
		_, reads := store.As[store.Reader](b)
		_, ranges := store.As[store.RangeReader](b)
		if b != nil && !reads && !ranges {
			out = append(out, fieldError(field,
				"is a %T, and must implement store.Reader or store.RangeReader if ProvideReadTool is set", b))
		}
		none = none && b == nil
	}
	if none {
		out = append(out, fieldError("ProvideReadTool", "is set, but there is no Backend"))
	}
	return out
}

func toolField(tool, field string) string { return fmt.Sprintf("ToolConfig[%q].%s", tool, field) }

// validateTools checks ToolConfig.
func (t *TypedConfig[M]) validateTools() (out []error) {
	for _, name := range slices.Sorted(maps.Keys(t.ToolConfig)) {
		entry, limit := t.ToolConfig[name], toolField(name, "MaxLengthForTrunc")
		if entry == nil {
			out = append(out, fieldError(fmt.Sprintf("ToolConfig[%q]", name), "is nil"))
			continue
		}
		if entry.Backend != nil && safe.IsNil(entry.Backend) {
			out = append(out, fieldError(toolField(name, "Backend"), "is nil inside an interface"))
		}
		switch {
		case entry.MaxLengthForTrunc < 0:
			out = append(out, fieldError(limit, "is %d, and must not be negative", entry.MaxLengthForTrunc))
		case entry.MaxLengthForTrunc > 0 && entry.Backend == nil && t.Backend == nil:
			out = append(out, fieldError(limit, "is set, but there is no Backend"))
		}
	}
	return out
}

// recoverCallbacks has the callbacks of c, which is a copy of the user's configuration, recover from panics. Each
// runs on a goroutine of its own, which it may end. OnEvent is the reporter's.
func (c *TypedConfig[M]) recoverCallbacks() {
	c.GenTruncOffloadFilePath = recoverHandler("GenTruncOffloadFilePath", c.GenTruncOffloadFilePath)
	c.GenClearOffloadFilePath = recoverHandler("GenClearOffloadFilePath", c.GenClearOffloadFilePath)
	if count := c.TokenCounter; count != nil {
		c.TokenCounter = func(ctx context.Context, msgs []M, tools []*schema.ToolInfo) (int64, error) {
			return safe.Wait(context.Background(), "TokenCounter", func() (int64, error) { return count(ctx, msgs, tools) })
		}
	}
	if rewrite := c.ClearMessageRewriter; rewrite != nil {
		c.ClearMessageRewriter = func(ctx context.Context, call M, responses []M) ([]M, error) {
			return safe.Wait(context.Background(), "ClearMessageRewriter", func() ([]M, error) { return rewrite(ctx, call, responses) })
		}
	}
	if query := c.JSONQuery; query != nil {
		c.JSONQuery = func(ctx context.Context, q string, document []byte, maxBytes int) ([]byte, error) {
			return safe.Wait(context.Background(), "JSONQuery", func() ([]byte, error) { return query(ctx, q, document, maxBytes) })
		}
	}
	if overflow := c.Overflow; overflow != nil {
		c.Overflow = func(err error) (tokens int64, ok bool) {
			type answer struct {
				tokens int64
				ok     bool
			}
			a, failure := safe.Wait(context.Background(), "Overflow", func() (a answer, _ error) {
				a.tokens, a.ok = overflow(err)
				return a, nil
			})
			return a.tokens, failure == nil && a.ok
		}
	}
	c.Preview = c.Preview.withRecover()
	for _, entry := range c.ToolConfig {
		entry.Preview = entry.Preview.withRecover()
		entry.TruncHandler = recoverHandler("TruncHandler", entry.TruncHandler)
		entry.ClearHandler = recoverHandler("ClearHandler", entry.ClearHandler)
	}
}

// recoverHandler has a callback that decides on one call of a tool recover from panics.
func recoverHandler[T any](name string, f func(context.Context, *ToolDetail) (T, error)) func(context.Context, *ToolDetail) (T, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, detail *ToolDetail) (T, error) {
		return safe.Wait(context.Background(), name, func() (T, error) { return f(ctx, detail) })
	}
}

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
	// MaxLengthForTrunc are truncated.
	TruncHandler func(ctx context.Context, detail *ToolDetail) (*TruncResult, error)

	// SkipClear leaves this tool's old results alone, even if there is a
	// ClearHandler.
	SkipClear bool

	// ClearHandler decides on each old result. Its error ends the run, unless it is
	// [UseDefault]. If nil, the result is stored and replaced by a notice.
	ClearHandler func(ctx context.Context, detail *ToolDetail) (*ClearResult, error)

	// MaxLengthForTrunc is how many bytes of text this tool's results may have,
	// with the same least as the general limit. If set, they are truncated even if
	// the general SkipTruncation is set. If zero, the general limit holds.
	MaxLengthForTrunc int

	// Preview writes what this tool's results show when they are truncated. If nil, the
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

	// OffloadFilePath is the file path in the Backend that OffloadContent is stored under. It is used
	// only if NeedOffload is set. ToolResult should name it, so that the model can read the file.
	OffloadFilePath string

	// OffloadContent is the content to store. It may differ from the result.
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

	// OffloadFilePath is the file path in the Backend that OffloadContent is stored under. It is used
	// only if NeedOffload is set. ToolResult should name it, so that the model can read the file.
	OffloadFilePath string

	// OffloadContent is the content to store. It may differ from the result.
	OffloadContent string
}

// Preview writes the visible part of a truncated result, in at most MaxBytes bytes. It must be
// deterministic and safe for concurrent use. If it panics, or returns nothing, more than
// MaxBytes, or text that is not UTF-8, the start and the end of the result are shown. It is
// not called for streams, whose start is sent before they are known to be too long; but if
// a Preview is set, their notice shows lines that look like errors.
type Preview func(PreviewRequest) string

// PreviewRequest is a result that is truncated.
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
	return previews.HeadTail(toPreviewRequest(r))
}

// PreviewByKind previews a text by its format: a list of JSON records as a table, in which
// common values appear once; the start of other JSON, closed so that it parses; the text of
// an HTML page or of a snapshot of one; the errors, the end and each kind of line once of
// tests and logs; the start and the end of other text, with lines between them that look
// like errors, and of the output of git log a line for each commit. Inside an MCP result, it previews the text. Text of
// uncertain format keeps its start and end. One megabyte takes some milliseconds; JSON of
// more than four megabytes keeps its start and end.
func PreviewByKind(r PreviewRequest) string {
	shown, _ := previews.Render(toPreviewRequest(r))
	return shown
}

func toPreviewRequest(r PreviewRequest) previews.Request {
	return previews.Request{
		Text: r.Text, Room: r.MaxBytes, Arguments: r.Arguments, Question: r.Question, Chinese: prompt.Chinese(),
	}
}

// withRecover is a Preview that recovers from a panic and then returns nothing.
func (p Preview) withRecover() Preview {
	if p == nil {
		return nil
	}
	return func(r PreviewRequest) string {
		shown, _ := safe.Wait(context.Background(), "Preview", func() (string, error) { return p(r), nil })
		return shown
	}
}
