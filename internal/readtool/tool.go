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
// read what Options.Allowed does not allow, and never sees the text of a store's
// error.
//
// The flow: arguments → request; store → source; request and source → a page of
// lines, bytes, matches or passages → the text of the answer.
package readtool

// The tool itself: its options, the way from a call to an answer, the arguments of a call and of
// the next one, and the sentences, which are in text/.

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/texts"
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

// RangeReader is a store.RangeReader.
type RangeReader interface {
	ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error)
}

// Reader is a store.Reader.
type Reader interface {
	Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error)
}

// Options configure a tool.
type Options struct {
	// Name is the tool's name. If empty, defaults to DefaultName.
	Name string
	// Ranges and Lines read from the store, by ranges of bytes and by lines. One is required; the
	// first is used where there are both.
	Ranges RangeReader
	Lines  Reader
	// Allowed reports whether a path may be read. It gets the path that would be read, with a
	// slash at its start and without "." and "..". A path that may not is answered like one that does not exist. If nil, every path that the store knows may be read. It
	// is required if the store holds more than results, as a file system of the
	// machine does. It must be safe for concurrent use.
	Allowed func(filePath string) bool
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

// JSONQuery answers a query about a JSON document with at most maxBytes bytes. An error is
// a text for the model.
type JSONQuery = func(ctx context.Context, query string, document []byte, maxBytes int) ([]byte, error)

// Under returns an Options.Allowed that allows the paths below the given ones.
// One with an element ".." is never allowed. Without roots nothing is.
func Under(roots ...string) func(filePath string) bool {
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
	return t.words().info(t.MaxLines, t.MaxBytes, t.JSONQuery != nil), nil
}

// InvokableRun implements [tool.InvokableTool]. The only error is that of ctx.
func (t *readTool) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	say := t.words()
	req, ok := parse(arguments)
	if !ok {
		return say.plain("usage"), ctx.Err()
	}
	// A store may panic, end its goroutine, or not return when the context ends.
	answer, err := safe.Wait(ctx, "the store", func() (string, error) { return t.answer(ctx, say, req) })
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		return answer, nil
	case errors.Is(err, fs.ErrNotExist):
		return say.about("gone", req.path), nil
	}
	if t.OnError != nil {
		t.OnError(ctx, req.path, err)
	}
	return say.about("failed", req.path), nil
}

// answer reads what req asks for. Its errors are those of the store.
func (t *readTool) answer(ctx context.Context, say words, req request) (string, error) {
	name := req.path
	if t.Allowed != nil {
		name = path.Clean("/" + name) // what is read is what was asked about
	}
	if len(display.Quoted(req.path)) > t.MaxBytes/8 || t.Allowed != nil && !t.Allowed(name) {
		return "", fs.ErrNotExist
	}
	if t.tooLong(req) {
		return say.plain("too_long"), nil
	}
	src, err := t.open(ctx, name)
	if err != nil {
		return "", err
	}
	v := visit{ctx: ctx, say: say, src: src, req: req, lines: int64(t.MaxLines), bytes: t.room(req)}
	switch {
	case req.jq != "" && t.JSONQuery != nil:
		return askJSON(v, t.JSONQuery)
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

// tooLong reports whether the arguments leave no room for an answer.
func (t *readTool) tooLong(req request) bool {
	return max(len(display.Quoted(req.pattern)), len(display.Quoted(req.query)), len(display.Quoted(req.jq))/2) > t.MaxBytes/8
}

// frame is more than everything in an answer that is neither content nor the
// arguments of a call.
const frame = 1200

// room is how many bytes of content fit into an answer beside its frame, which
// may repeat the arguments twice.
func (t *readTool) room(req request) int64 {
	return int64(t.MaxBytes - frame - 2*len(display.Quoted(req.path)) - 2*len(display.Quoted(req.pattern)) - 2*len(display.Quoted(req.query)))
}

// visit is one call: what it asks for, of what, and how much may be answered.
type visit struct {
	ctx   context.Context
	say   words
	src   func(ctx context.Context, offset, length int64) (content io.ReadCloser, size int64, err error) // negative length: to the end
	req   request
	lines int64 // the most lines of content
	bytes int64 // the most bytes of content
}

// part reads the bytes from offset on, at most length of them, into memory.
func (v visit) part(offset, length int64) (part []byte, size int64, err error) {
	content, size, err := v.src(v.ctx, offset, length)
	if err != nil {
		return nil, 0, err
	}
	defer content.Close()
	part, err = take(content, min(length, max(size-offset, 0)))
	return part, size, err
}

// request is what a call asks for. Numbers are never negative; zero means that the
// argument is absent.
type request struct {
	path       string
	offset     int64 // first line, from 1
	limit      int64 // lines, matches or passages
	byteOffset int64
	byteLimit  int64
	tail       int64 // lines from the end
	pattern    string
	context    int64 // lines around a match
	query      string
	jq         string
}

// names lists the names of each argument: first its own, then those that models use
// instead. The first one that has a value wins.
var names = map[string][]string{
	"file_path":   {"file_path", "path", "file", "filename", "uri", "url", "input"},
	"offset":      {"offset", "line", "start_line", "line_offset", "line_number", "start"},
	"limit":       {"limit", "max_lines", "line_limit", "num_lines", "lines", "max_results", "count"},
	"byte_offset": {"byte_offset", "offset_bytes", "start_byte", "byte_start"},
	"byte_limit":  {"byte_limit", "limit_bytes", "max_bytes", "bytes", "length"},
	"tail":        {"tail", "last", "last_lines", "from_end"},
	"pattern":     {"pattern", "regex", "regexp", "regex_pattern", "grep"},
	"context":     {"context", "context_lines"},
	"query":       {"query", "search", "keywords", "question", "q"},
	"jq":          {"jq", "jq_query", "json_query", "jq_filter"},
}

// Path returns the path that the arguments of a call name, empty if they name none.
func Path(arguments string) string {
	req, _ := parse(arguments)
	return req.path
}

// parse reads arguments. It returns false if they name no path. Arguments that are not
// an object are a path.
func parse(arguments string) (req request, ok bool) {
	given := lenient.Decode(arguments)
	paths := append(given.Texts(names["file_path"]...), given.Bare()...)
	if len(paths) == 0 {
		return request{}, false
	}
	number := func(argument string) int64 { return max(0, given.Number(names[argument]...)) }
	tail := given.Number(names["tail"]...)
	req = request{
		path:       cleanPath(paths[0]),
		offset:     number("offset"),
		limit:      number("limit"),
		byteOffset: number("byte_offset"),
		byteLimit:  number("byte_limit"),
		tail:       max(tail, -tail), // "tail": -20 asks for the last 20 lines
		pattern:    strings.Join(given.Texts(names["pattern"]...), "|"),
		context:    number("context"),
		query:      strings.TrimSpace(strings.Join(given.Texts(names["query"]...), " ")),
		jq:         strings.TrimSpace(strings.Join(given.Texts(names["jq"]...), ", ")),
	}
	return req, req.path != ""
}

// cleanPath removes the quotes and the like that models put around a path.
func cleanPath(filePath string) string {
	filePath = strings.Trim(filePath, " \t\r\n\"'`<>")
	return strings.TrimPrefix(filePath, "file://")
}

// follow writes the arguments of the next call for the same path: names and values in turn. It
// leaves out empty texts, and numbers that are zero or less.
func (r request) follow(arguments ...any) string {
	call := `{"file_path":` + display.Quoted(r.path)
	for i := 0; i < len(arguments); i += 2 {
		value := ""
		switch v := arguments[i+1].(type) {
		case string:
			if v != "" {
				value = display.Quoted(v)
			}
		case int64:
			if v > 0 {
				value = strconv.FormatInt(v, 10)
			}
		}
		if value != "" {
			call += "," + display.Quoted(arguments[i].(string)) + ":" + value
		}
	}
	return call + "}"
}

//go:embed text
var files embed.FS

var sentences = texts.Load(files, "text")

// words are the sentences in one language, for a tool of one name.
type words struct {
	*texts.Texts
	tool string
}

func (t *readTool) words() words { return words{sentences.Current(), t.Name} }

// facts are the data of the sentences.
type facts struct {
	Tool               string
	MaxLines, MaxBytes int
	Path, ID           string // quoted path, and what the model knows its end as
	Reason             string // why a pattern is refused

	From, To, Size int64 // bytes
	First, Last    int64 // lines; zero: not known
	Fence          string
	Content        string
	Garbled        bool   // not all of it is UTF-8
	Cut            bool   // the last line goes on after To
	Records        bool   // passages are JSON records without the white space between values
	Count          int    // matches or passages
	Head           string // what a passage stands under
	Others         string // lines of passages that did not fit
	Asks           bool   // there is an argument jq
	Missing        bool   // the end of the document is missing
	More           bool   // there is more of the answer
	Around, Pieces bool   // lines around matches, and pieces of long lines, are shown

	Next, Before string // the arguments of a following call; empty: nothing follows
}

// say renders one of the sentences.
func (w words) say(name string, f facts) string {
	f.Tool = w.tool
	return w.Say(name, f)
}

func (w words) plain(name string) string { return w.say(name, facts{}) }

// about is a sentence about a path. What a model made up may be long.
func (w words) about(name, filePath string) string {
	const shown = 300
	if len(filePath) > shown {
		filePath = strings.ToValidUTF8(filePath[:shown], "") + "…"
	}
	return w.say(name, facts{
		Path: display.Quoted(filePath),
		ID:   display.Quoted(filePath[strings.LastIndexByte(filePath, '/')+1:]),
	})
}

// info describes the tool and its arguments.
func (w words) info(maxLines, maxBytes int, asks bool) *schema.ToolInfo {
	f := facts{MaxLines: maxLines, MaxBytes: maxBytes, Asks: asks}
	argument := func(name string, kind schema.DataType) *schema.ParameterInfo {
		return &schema.ParameterInfo{Type: kind, Desc: w.say(name, f), Required: name == "file_path"}
	}
	params := map[string]*schema.ParameterInfo{
		"file_path": argument("file_path", schema.String),
		"pattern":   argument("pattern", schema.String),
		"query":     argument("query", schema.String),
	}
	if asks {
		params["jq"] = argument("jq", schema.String)
	}
	for _, name := range []string{"offset", "limit", "byte_offset", "byte_limit", "tail", "context"} {
		params[name] = argument(name, schema.Integer)
	}
	return &schema.ToolInfo{
		Name:        w.tool,
		Desc:        w.say("description", f),
		ParamsOneOf: schema.NewParamsOneOfByParams(params),
		Extra:       map[string]any{madeKey: true},
	}
}

// madeKey marks, in the Extra of its info, a tool of this package, so that it is
// recognised through any wrapper.
const madeKey = "__einolean_read_tool__"

// Made reports whether an info is that of a tool of this package.
func Made(info *schema.ToolInfo) bool {
	made, _ := info.Extra[madeKey].(bool)
	return made
}

// Page reports whether an answer of the tool holds content of a file. Other answers
// are one line.
func Page(answer string) bool { return strings.Contains(answer, "\n") }

// fence is a line that does not occur in any of the contents that it encloses.
func fence(contents ...string) string {
	line := "-----"
	within := func(content string) bool { return strings.Contains(content, line) }
	for n := 1; slices.ContainsFunc(contents, within); n++ {
		line = "-----" + strconv.Itoa(n) + "-----"
	}
	return line
}
