// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/internal/dev/race"
)

func TestTool_ReadsEinosInMemoryBackend(t *testing.T) {
	files := filesystem.NewInMemoryBackend()
	content := strings.Repeat("line\n", 10_000)
	require.NoError(t, files.Write(t.Context(), &filesystem.WriteRequest{FilePath: testPath, Content: content}))
	opts := from(files, Options{MaxBytes: DefaultMaxBytes, MaxLines: DefaultMaxLines})
	require.Equal(t, content, followed(t, opts, testPath, content))
	require.Contains(t, ask(t, New(from(files, Options{})), "/tmp/trunc/other"), "could not be read just now",
		"its error has no type, so nothing is promised about what is there")
}

func TestInfo_DescribesTheTool(t *testing.T) {
	opts := from(backend.NewMemory(0), Options{Name: "recall", MaxBytes: 5000})
	plain, err := New(opts).Info(t.Context())
	require.NoError(t, err)
	schema, err := plain.ParamsOneOf.ToJSONSchema()
	require.NoError(t, err)
	require.Equal(t, len(argumentNames)-1, schema.Properties.Len(), "nothing answers jq")
	require.NotContains(t, plain.Desc, "jq")
	opts.JSONQuery = func(context.Context, string, []byte, int) ([]byte, error) { return nil, nil }
	read := New(opts)
	for _, isChinese := range []bool{false, true} {
		if isChinese {
			speakChinese(t)
		}
		info, err := read.Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, "recall", info.Name)
		require.Contains(t, info.Desc, "2000")
		require.Contains(t, info.Desc, "5000")
		require.Contains(t, info.Desc, "jq")
		require.Equal(t, isChinese, strings.ContainsFunc(info.Desc, func(r rune) bool { return unicode.Is(unicode.Han, r) }))
		params, err := info.ParamsOneOf.ToJSONSchema()
		require.NoError(t, err)
		require.Equal(t, []string{"file_path"}, params.Required)
		text, err := json.Marshal(params)
		require.NoError(t, err)
		for argument := range argumentNames {
			property, ok := params.Properties.Get(argument)
			require.True(t, ok, argument)
			require.NotEmpty(t, property.Description)
			require.Equal(t, isChinese, strings.ContainsFunc(property.Description, func(r rune) bool { return unicode.Is(unicode.Han, r) }))
		}
		require.Equal(t, len(argumentNames), params.Properties.Len(), string(text))
	}
}

// renderings returns a sentence with nothing in it, and with all that it may say.
func renderings(w replyTexts, name string) (texts []string) {
	some := answerHeader{Tool: "read_file", Path: `"p"`, EndByte: 9, Size: 9, NextCall: "{}", InvalidUTF8: true}
	for _, d := range []any{
		pageAnswer{}, pageAnswer{answerHeader: some, FirstLine: 1, LastLine: 2, IsLineCut: true, PreviousCall: "{}"}, pageAnswer{answerHeader: some},
		matchAnswer{}, matchAnswer{answerHeader: some, Count: 2, HasContext: true, HasPieces: true}, matchAnswer{answerHeader: some, Count: 1},
		passageAnswer{}, passageAnswer{answerHeader: some, Count: 2, IsJSON: true, HasMore: true}, passageAnswer{answerHeader: some, Count: 1},
		passageHeading{}, passageHeading{FirstLine: 1, LastLine: 2, Head: "a"}, jqAnswer{}, jqAnswer{answerHeader: some, IsIncomplete: true, HasMore: true, Reason: "why"},
		struct{ Tool, Path, ID, Reason string }{"read_file", "p", "p", "why"},
		struct {
			MaxLines, MaxBytes int
			HasJQ              bool
		}{1, 2, true},
	} {
		func() { // each sentence has its own data
			defer func() { _ = recover() }()
			texts = append(texts, w.Render(name, d))
		}()
	}
	return texts
}

func TestSentences_ExistInBothLanguages(t *testing.T) {
	var lists [2][]string
	for i, w := range []replyTexts{{sentences.English(), "read_file"}, {sentences.Chinese(), "read_file"}} {
		lists[i] = w.Names()
		for _, name := range lists[i] {
			texts := renderings(w, name)
			require.NotEmpty(t, texts, name)
			for _, text := range texts {
				require.NotContains(t, text, "<no value>")
				require.LessOrEqual(t, len(text), 2000, name)
			}
		}
	}
	require.Equal(t, lists[0], lists[1])
	require.Contains(t, lists[0], "page")
}

func TestTool_AnswersInChinese(t *testing.T) {
	speakChinese(t)
	content := strings.Repeat("第一行\nFAIL 第二行\n", 400) + strings.Repeat("长", 9000)
	opts := from(stored(t, content), Options{MaxBytes: MinMaxBytes, MaxLines: 100})
	require.Equal(t, content, followed(t, opts, testPath, content))
	read := New(opts)
	for _, rest := range []string{
		``, `,"tail":3`, `,"offset":99999`, `,"pattern":"FAIL","context":1`, `,"pattern":"none"`, `,"pattern":"("`, `,"pattern":"长"`,
		`,"query":"第二行"`, `,"query":"none"`, `x`,
	} {
		answer := ask(t, read, `{"file_path":"`+testPath+`"`+rest+`}`)
		require.True(t, strings.ContainsFunc(answer, func(r rune) bool { return unicode.Is(unicode.Han, r) }), answer)
		require.NotRegexp(t, `bytes|lines|match|Next|saved`, strings.ReplaceAll(answer, "RE2", ""))
		require.LessOrEqual(t, len(answer), MinMaxBytes)
	}
}

//claim:store-24
func TestTool_MissingFileNamesTheCallToRepeat(t *testing.T) {
	m := stored(t, "secret")
	for name, opts := range map[string]Options{
		"missing":     from(backend.NewMemory(0), Options{}),
		"not allowed": from(m, Options{MayRead: AllowBelow("/other")}),
	} {
		answer := ask(t, New(opts), testPath)
		require.Contains(t, answer, `No saved result is at "/tmp/trunc/call_1"`, name)
		require.Contains(t, answer, `repeat the tool call`)
		require.Contains(t, answer, `"call_1", comes from the id of that call`)
	}
	long := ask(t, New(from(m, Options{})), "/"+strings.Repeat("长", 100_000))
	require.Less(t, len(long), 2000)
	require.True(t, strings.Contains(long, "…"))
}

//claim:security-15
func TestAllowBelow_AllowsOnlyPathsBelowRoots(t *testing.T) {
	allowed := AllowBelow("/tmp/trunc", "offload/", "/srv/a/../b")
	for filePath, want := range map[string]bool{
		"/tmp/trunc/x": true, "/tmp/trunc/a/b": true, "/tmp//trunc/x": true, "offload/x": true, "./offload/x": true, "/srv/b/x": true,
		"tmp/trunc/x": true, "/offload/x": true,
		"/tmp/trunc": false, "/tmp/trunc2/x": false, "/tmp/trunc/../x": false, "/tmp/trunc/a/../x": false,
		"/etc/passwd": false, "": false, "/srv/a/x": false, "..": false,
	} {
		require.Equal(t, want, allowed(filePath), filePath)
	}
	require.True(t, AllowBelow("/")("/anything"))
	require.False(t, AllowBelow()("/anything"))
}

// No other notation of a path gets around MayRead, even in a store that takes paths as they are.
func TestMayRead_SeesThePathThatIsRead(t *testing.T) {
	m := literal{"/ok/x": "fine", "/ok/../secret/x": "hidden", "/secret/x": "hidden", "ok/x": "hidden", "/ok/./x": "hidden", "secret/../ok/x": "hidden"}
	read := New(from(m, Options{MayRead: func(p string) bool { return strings.HasPrefix(p, "/ok/") }}))
	for _, p := range []string{"/ok/../secret/x", "/ok/..//secret/x", "/secret/x", "../secret/x", "ok/../../secret/x", "/okay/x", "", "/ok/..", "/ok", "ok/.."} {
		require.NotContains(t, ask(t, read, fmt.Sprintf(`{"file_path":%q}`, p)), "hidden", p)
	}
	for _, p := range []string{"/ok/x", "ok/x", "/ok/./x", "//ok//x", "/secret/../ok/x", "secret/../ok/x"} {
		answer := ask(t, read, fmt.Sprintf(`{"file_path":%q}`, p))
		require.Contains(t, answer, "fine", p)
		require.NotContains(t, answer, "hidden", p)
	}
}

// literal is a store that takes paths as they are.
type literal map[string]string

func (literal) Write(context.Context, *filesystem.WriteRequest) error { return nil }

func (l literal) Read(_ context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	content, ok := l[req.FilePath]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return &filesystem.FileContent{Content: content}, nil
}

//claim:security-39
func TestTool_DoesNotQuoteStoreErrors(t *testing.T) {
	m := stored(t, strings.Repeat("some content\n", 5000))
	for name, fault := range map[string]backendtest.Fault{
		"fails":           {Mode: backendtest.Fail},
		"panics":          {Mode: backendtest.Panic},
		"ends":            {Mode: backendtest.Exit},
		"ends early":      {Mode: backendtest.Short, After: 100},
		"ends early, lie": {Mode: backendtest.Torn, After: 100},
	} {
		for kind, only := range map[string]func(*backendtest.Faulty) writer{
			"by ranges":  func(f *backendtest.Faulty) writer { return f },
			"whole only": func(f *backendtest.Faulty) writer { return f.ReadWrite() },
		} {
			if kind == "whole only" && fault.Mode == backendtest.Torn {
				continue // nothing tells such content from a short one
			}
			var told []error
			read := New(from(only(backendtest.NewFaulty(m, backendtest.Every(fault))), Options{
				OnError: func(_ context.Context, filePath string, err error) {
					require.Equal(t, testPath, filePath)
					told = append(told, err)
				},
			}))
			asked := []string{``, `,"tail":3`, `,"byte_offset":30000`, `,"pattern":"x"`, `,"query":"x"`, `,"offset":4000`}
			for _, rest := range asked {
				answer := ask(t, read, `{"file_path":"`+testPath+`"`+rest+`}`)
				require.Contains(t, answer, "could not be read just now", "%s, %s, %s", name, kind, rest)
				require.NotContains(t, answer, "secret")
				require.NotContains(t, answer, "panic")
			}
			require.Len(t, told, len(asked))
		}
	}
}

func TestTool_OnlyEndOfContextIsError(t *testing.T) {
	m := stored(t, "content")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := New(from(m, Options{})).InvokableRun(ended, testPath)
	require.ErrorIs(t, err, context.Canceled)
	_, err = New(from(m, Options{})).InvokableRun(ended, "")
	require.ErrorIs(t, err, context.Canceled)

	hanging := New(from(backendtest.NewFaulty(m, backendtest.Every(backendtest.Fault{Mode: backendtest.Hang})), Options{}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := hanging.InvokableRun(ctx, testPath)
		done <- err
	}()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

// endless is a store of one very long content that is nowhere. It ends a context
// when it has been read for long enough.
type endless struct {
	writer
	line   string
	size   int64
	cancel context.CancelFunc
}

func (e endless) ReadRange(_ context.Context, _ string, offset, length int64) (io.ReadCloser, int64, error) {
	if length < 0 || length > e.size-offset {
		length = e.size - offset
	}
	return io.NopCloser(io.LimitReader(&repeated{e, offset}, max(length, 0))), e.size, nil
}

type repeated struct {
	endless
	at int64
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.line[r.at%int64(len(r.line)):])
	if r.at += int64(n); r.cancel != nil && r.at > r.size/2 {
		r.cancel()
	}
	return n, nil
}

func TestTool_ReadsHugeContentInLittleMemory(t *testing.T) {
	race.Skip(t, "sync.Pool drops values at random, so that regexp allocates anew")
	line := strings.Repeat("x", 99) + "\n"
	read := New(from(endless{line: strings.Repeat(line, 1000), size: 64 << 20}, Options{}))
	for arguments, most := range map[string]uint64{
		``:                                1 << 20,
		`,"tail":100`:                     1 << 20,
		`,"offset":600000`:                1 << 20,
		`,"byte_offset":60000000`:         1 << 20,
		`,"pattern":"needle","context":5`: 1 << 20,
	} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ask(t, read, `{"file_path":"x"`+arguments+`}`)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, most, "allocated for %s", arguments)
	}
}

func TestTool_LongCallsEndWithContext(t *testing.T) {
	for _, arguments := range []string{`"pattern":"needle"`, `"offset":99999999`, `"query":"needle"`} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		read := New(from(endless{line: "hay hay\n", size: 1 << 20, cancel: cancel}, Options{}))
		_, err := read.InvokableRun(ctx, `{"file_path":"x",`+arguments+`}`)
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestTool_ServesConcurrentCalls(t *testing.T) {
	content := strings.Repeat("some line\n", 5000)
	read := New(from(stored(t, content), Options{}))
	asked := []string{``, `,"tail":3`, `,"byte_offset":30000`, `,"pattern":"some","limit":3`, `,"query":"some"`, `,"offset":4000`}
	want := make([]string, len(asked))
	for i, rest := range asked {
		want[i] = ask(t, read, `{"file_path":"`+testPath+`"`+rest+`}`)
	}
	var wg sync.WaitGroup
	for worker := range 12 {
		wg.Go(func() {
			for i, rest := range asked {
				got, err := read.InvokableRun(t.Context(), `{"file_path":"`+testPath+`"`+rest+`}`)
				if err != nil || got != want[i] {
					t.Errorf("worker %d: the answer to %s is another one: %v", worker, rest, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestTool_RejectsLongArguments(t *testing.T) {
	read := New(from(stored(t, "x"), Options{MaxBytes: MinMaxBytes}))
	for _, argument := range []string{"pattern", "query"} {
		answer := ask(t, read, fmt.Sprintf(`{"file_path":%q,%q:%q}`, testPath, argument, strings.Repeat("x", 600)))
		require.Contains(t, answer, "too long")
	}
}

// FuzzArguments holds that no arguments lead to an error or to an answer that is
// too long, and that what an answer names can be asked.
//
//claim:security-12
func FuzzArguments(f *testing.F) {
	for _, arguments := range []string{
		`{"file_path":"/tmp/trunc/call_1"}`, `{"file_path":"/tmp/trunc/call_1","offset":5,"limit":3}`, `{"file_path":"/tmp/trunc/call_1","tail":9}`,
		`{"file_path":"/tmp/trunc/call_1","pattern":"l.*e","context":3,"limit":1}`, `{"file_path":"/tmp/trunc/call_1","query":"line 日本"}`,
		`{"file_path":"/tmp/trunc/call_1","byte_offset":100,"byte_limit":2}`, `{`, `"/tmp/trunc/call_1"`, `{"file_path":"\u0000"}`,
	} {
		f.Add(arguments)
	}
	content := strings.Repeat("a line of text\n日本語 \xff\n-----\n", 200) + strings.Repeat("long ", 3000)
	files := stored(f, content)
	f.Fuzz(func(t *testing.T, arguments string) {
		read := New(from(files, Options{MaxBytes: MinMaxBytes}))
		answer := ask(t, read, arguments)
		require.NotEmpty(t, answer)
		require.LessOrEqual(t, len(answer), MinMaxBytes)
		footer := answer[strings.LastIndexByte(answer, '\n')+1:]
		if n := nextIn.FindStringSubmatch(footer); n != nil {
			require.LessOrEqual(t, len(ask(t, read, n[1])), MinMaxBytes)
		}
	})
}

func TestJSONQuery_IsAnswered(t *testing.T) {
	type asked struct {
		query, document string
		most            int
	}
	var got asked
	answer, failure := "", error(nil)
	query := func(_ context.Context, query string, document []byte, most int) ([]byte, error) {
		got = asked{query, string(document), most}
		if answer == "panic" {
			panic(answer)
		}
		return []byte(answer), failure
	}
	ctx := t.Context()
	for name, c := range map[string]struct {
		content, answer string
		failure         error
		document        string
		want            []string
	}{
		"document":        {content: `{"a": 1}`, answer: "1\n", document: `{"a": 1}`, want: []string{`".a"`, "8 bytes", "-----\n1\n-----"}},
		"MCP result":      {content: `{"content":[{"type":"text","text":"{\"a\":1}"}],"isError":false}`, answer: "1", document: `{"a":1}`, want: []string{"-----\n1\n-----"}},
		"cut":             {content: `[{"a":"xxxxxxxxxxxxxxxxxxxxxxxxx"},{"a":`, answer: "1", document: `[{"a":"xxxxxxxxxxxxxxxxxxxxxxxxx"},{}]`, want: []string{"the end of this result is missing"}},
		"lines":           {content: "{\"a\":1}\n{\"a\":2}\n{\"a\":3}", answer: "1", document: `[{"a":1},{"a":2},{"a":3}]`},
		"words":           {content: "no JSON", want: []string{"not JSON", "query"}},
		"long":            {content: `{"a":"` + strings.Repeat("x", 16<<20) + `"}`, want: []string{"too many for jq"}},
		"nothing":         {content: `{}`, answer: "\n", document: `{}`, want: []string{"gives nothing"}},
		"error":           {content: `{}`, failure: errors.New("Write it\nlike .b" + strings.Repeat("x", 2000)), document: `{}`, want: []string{"was not answered. Write it like .b", "…"}},
		"panic":           {content: `{}`, answer: "panic", document: `{}`, want: []string{"was not answered. JSONQuery panicked"}},
		"more than asked": {content: `{}`, answer: strings.Repeat("\"a line\"\n", 5000), document: `{}`, want: []string{"\"a line\"\n-----\n", "does not fit"}},
		"one long line":   {content: `{}`, answer: strings.Repeat("字", 5000), document: `{}`, want: []string{"字\n-----\n", "does not fit"}},
	} {
		for kind, files := range readers(stored(t, c.content)) {
			got, answer, failure = asked{}, c.answer, c.failure
			read := New(from(files, Options{MaxBytes: 5000, JSONQuery: query}))
			text := ask(t, read, `{"file_path":"`+testPath+`","jq":".a"}`)
			require.Equal(t, c.document, got.document, name+kind)
			if c.document != "" {
				require.Equal(t, ".a", got.query)
				require.Less(t, got.most, 5000)
			}
			for _, part := range c.want {
				require.Contains(t, text, part, name+kind)
			}
			require.LessOrEqual(t, len(text), 5000, name+kind)
			require.True(t, utf8.ValidString(text), name+kind)
			require.Equal(t, strings.Contains(text, "\n"), HasContent(text))
		}
	}
	long := ask(t, New(from(stored(t, "{}"), Options{JSONQuery: query})), `{"file_path":"`+testPath+`","jq":"`+strings.Repeat("x", 7000)+`"}`)
	require.Contains(t, long, "too long")
	without := ask(t, New(from(stored(t, "{}"), Options{})), `{"file_path":"`+testPath+`","jq":"."}`)
	require.Contains(t, without, "{}", "where nothing answers it, it is read")
	ended, cancel := context.WithCancel(ctx)
	read := New(from(stored(t, "{}"), Options{JSONQuery: func(context.Context, string, []byte, int) ([]byte, error) { cancel(); return nil, errors.New("ended") }}))
	_, err := read.InvokableRun(ended, `{"file_path":"`+testPath+`","jq":"."}`)
	require.ErrorIs(t, err, context.Canceled)
}
