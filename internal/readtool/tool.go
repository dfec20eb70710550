// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package readtool is the tool with which a model reads stored results back.
//
// A result that was too long for the conversation is in a store, and the model knows
// its path. The model can read it page by page (by lines, or by bytes where a line is
// longer than a page), read its end, search it with a regular expression, or have its
// passages ranked for a few words. Every answer is bounded in lines and bytes, and
// gives the exact arguments for the next page.
//
// # Exactness
//
// A page says which bytes of the content it holds, and holds exactly those, as
// they were stored: following the pages from the first to the last yields the
// content byte for byte. A page neither begins nor ends inside a character; bytes
// that are not UTF-8 are passed on as they are, and what sends the answer to a
// model may replace them, which the page says. The content stands between two
// equal lines that do not occur in it, so nothing in it can be taken for the
// frame.
//
// # What it costs
//
// From a store that is a store.RangeReader a page reads what it shows, and
// finding a line, a pattern or a passage streams through the content; lines of up to
// 8 MiB are searched as a whole. From one that is only a store.Reader every answer
// reads the whole content into memory, as there is no other exact way to read it.
//
// # What a model cannot do
//
// It cannot make the tool fail: whatever the arguments are, the answer says what
// to do instead. The only error is that of a context that has ended. It cannot
// read what Options.MayRead does not allow, and never sees the text of a store's
// error.
//
// The flow: arguments → request; store → source; request and source → a page of
// lines, bytes, matches or passages → the text of the answer.
package readtool

// The tool: its options, and how a call is answered.

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/safe"
)

const (
	// DefaultName is the name of a tool for which none is given.
	DefaultName = "read_file"
	// DefaultMaxLines is the most lines of content in an answer.
	DefaultMaxLines = 2000
	// DefaultMaxBytes is the most bytes in an answer: about 6,000 tokens, and less
	// than half of what package reduction leaves uncut.
	DefaultMaxBytes = 24_000
	// MinMaxBytes is the least that MaxBytes may be.
	MinMaxBytes = 4096
)

// Options configure a tool.
type Options struct {
	// Name is the tool's name. If empty, defaults to DefaultName.
	Name string
	// Ranges and Lines read from the store, by ranges of bytes and by lines. One is required; the
	// first is used where there are both.
	Ranges RangeReader
	Lines  Reader
	// MayRead reports whether a path may be read. It gets the path that would be read, with a
	// slash at its start and without "." and "..". A path that may not is answered like one
	// that does not exist. If nil, every path that the store knows may be read. It is
	// required if the store holds more than results, as a file system of the machine does.
	// It must be safe for concurrent use.
	MayRead func(filePath string) bool
	// MaxLines is the most lines of content in an answer. If zero, defaults to
	// DefaultMaxLines.
	MaxLines int
	// MaxBytes is the most bytes in an answer, frame included; at least 4,096.
	// If zero, defaults to DefaultMaxBytes.
	MaxBytes int
	// OnError is told why a read failed, with the store's own error, which the
	// model does not see. A missing file is not a failure. If nil, errors are dropped.
	// It must be safe for concurrent use.
	OnError func(ctx context.Context, filePath string, err error)
	// JSONQuery answers the argument jq. If nil, the tool has no such argument.
	JSONQuery JSONQuery
}

// AllowBelow returns an Options.MayRead that allows the paths below the given ones. A path with an element ".." is
// never allowed. Without roots, none is.
func AllowBelow(roots ...string) func(filePath string) bool {
	prefixes := make([]string, len(roots))
	for i, root := range roots {
		prefixes[i] = strings.TrimSuffix(path.Clean("/"+root), "/") + "/"
	}
	return func(filePath string) bool {
		if slices.Contains(strings.Split(filePath, "/"), "..") {
			return false
		}
		clean := path.Clean("/" + filePath)
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(clean, p) })
	}
}

// readTool implements [tool.InvokableTool]. It is immutable.
type readTool struct{ Options }

var _ tool.InvokableTool = (*readTool)(nil)

// New returns the tool. It is safe for concurrent use. The options must be valid.
func New(opts Options) tool.InvokableTool {
	opts.Name = cmp.Or(opts.Name, DefaultName)
	opts.MaxLines = cmp.Or(opts.MaxLines, DefaultMaxLines)
	opts.MaxBytes = cmp.Or(opts.MaxBytes, DefaultMaxBytes)
	return &readTool{opts}
}

// Info implements [tool.BaseTool], in the language that is set at the time. The
// value is the caller's.
func (t *readTool) Info(context.Context) (*schema.ToolInfo, error) {
	return t.texts().info(t.MaxLines, t.MaxBytes, t.JSONQuery != nil), nil
}

// InvokableRun implements [tool.InvokableTool]. The only error is that of ctx.
func (t *readTool) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	texts := t.texts()
	req, ok := parseRequest(arguments)
	if !ok {
		return texts.plainAnswer("usage"), ctx.Err()
	}
	// A store may panic, end its goroutine, or not return when the context ends.
	answer, err := safe.Wait(ctx, "the store", func() (string, error) { return t.answer(ctx, texts, req) })
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		return answer, nil
	case errors.Is(err, fs.ErrNotExist):
		return texts.aboutPath("gone", req.path), nil
	}
	if t.OnError != nil {
		t.OnError(ctx, req.path, err)
	}
	return texts.aboutPath("failed", req.path), nil
}

// answer reads what req asks for. Its errors are those of the store.
func (t *readTool) answer(ctx context.Context, texts replyTexts, req request) (string, error) {
	name := req.path
	if t.MayRead != nil {
		name = path.Clean("/" + name) // what is read is what was asked about
	}
	if len(display.Quoted(req.path)) > t.MaxBytes/8 || t.MayRead != nil && !t.MayRead(name) {
		return "", fs.ErrNotExist
	}
	if req.longestTerm() > t.MaxBytes/8 { // no room for an answer
		return texts.plainAnswer("too_long"), nil
	}
	src, err := openSource(ctx, t.Ranges, t.Lines, name)
	if err != nil {
		return "", err
	}
	v := readCall{
		ctx:      ctx,
		texts:    texts,
		src:      src,
		req:      req,
		maxLines: int64(t.MaxLines),
		maxBytes: int64(t.MaxBytes - frameBytes - 2*req.quotedBytes()),
	}
	switch {
	case req.jq != "" && t.JSONQuery != nil:
		return runJSONQuery(v, t.JSONQuery)
	case req.pattern != "":
		return findMatches(v)
	case req.query != "":
		return findPassages(v)
	case req.tail > 0:
		return lastLines(v)
	case req.byteOffset > 0 || req.byteLimit > 0:
		return byteWindow(v)
	default:
		return lineWindow(v)
	}
}

// frameBytes is more than everything in an answer besides content and arguments, which an answer may repeat twice.
const frameBytes = 1200

func (t *readTool) texts() replyTexts { return replyTexts{sentences.Current(), t.Name} }
