// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/formats"
)

func TestNoticesOfBothPackagesInBothLanguagesAreKnown(t *testing.T) {
	v := noticeData{bytes: 12345, headBytes: 100, tailBytes: 200, path: "/tmp/trunc/a.b:c-d", tool: "read_file", head: "{{.head}} </persisted", tail: "<tail>\n", shown: "{\"a\":1}"}
	for _, w := range []*notices{english, chinese} {
		for _, tool := range []string{"read_file", ""} {
			v.tool = tool
			require.Equal(t, notice{clearedNotice, v.path, v.bytes}, recognise(w.fill(w.cleared, v)))
			require.Equal(t, notice{truncatedNotice, v.path, v.bytes}, recognise(w.fill(w.truncated, v)))
			require.Equal(t, notice{truncatedNotice, v.path, v.bytes}, recognise(w.fill(w.previewed, v)))
			require.Equal(t, notice{truncatedNotice, v.path, v.bytes}, recognise("what was passed on"+w.fill(w.found, v)))
			require.Equal(t, notice{truncatedNotice, v.path, v.bytes}, recognise("what was passed on"+w.fill(w.stream, v)))
			require.Equal(t, noNotice, recognise("what was passed on"+w.fill(w.unsaved, v)).kind, "there is nothing to point at")
			require.NotContains(t, w.fill(w.unsaved, v), v.path)
			require.Equal(t, tool != "", strings.Contains(w.fill(w.cleared, v), "read_file"))
		}
		require.Equal(t, notice{kind: clearedNotice}, recognise(w.fill(w.placeholder, v)))
		for _, f := range []template{w.cleared, w.truncated, w.stream, w.previewed, w.found} {
			require.Equal(t, f.length(w.hinted(v)), len(w.fill(f, v)))
		}
	}
	for _, each := range einoNotices {
		require.Equal(t, each.is, recognise(each.text), each.text)
		head, tail, ok := excerptIn([]string{each.text})
		require.Equal(t, each.head != "", ok, each.text)
		require.Equal(t, []string{each.head, each.tail}, []string{head, tail})
	}
}

// einoNotices are what Eino's package writes about a file.
var einoNotices = []struct {
	text       string
	is         notice
	head, tail string
}{
	{"<persisted-output>Tool result saved to: /tmp/clear/c\nUse read_file to view</persisted-output>", notice{clearedNotice, "/tmp/clear/c", 0}, "", ""},
	{"<persisted-output>工具结果已保存至: /tmp/clear/c\n使用 read_file 进行查看</persisted-output>", notice{clearedNotice, "/tmp/clear/c", 0}, "", ""},
	{"<persisted-output>\nOutput too large (50). Full output saved to: /tmp/trunc/c\nPreview (first 3):\nab\n\n\nPreview (last 2):\nyz\n\nUse read_file to view\n</persisted-output>", notice{truncatedNotice, "/tmp/trunc/c", 50}, "ab\n", "yz"},
	{"<persisted-output>\n输出结果过大 (50). 完整输出保存到: /tmp/trunc/c\n预览 (前 3):\nabc\n\n预览 (后 2):\nyz\n\n使用 read_file 进行查看\n</persisted-output>", notice{truncatedNotice, "/tmp/trunc/c", 50}, "abc", "yz"},
	{"<persisted-output>\nOutput truncated after 30 bytes were streamed. Full output saved to: /tmp/a. b/c. Use read_file to view. \n</persisted-output>", notice{truncatedNotice, "/tmp/a. b/c", 30}, "", ""},
	{"<persisted-output>\n输出结果在流式传输 30 字节后被截断。完整输出保存到: /tmp/trunc/c。使用 read_file 进行查看。 \n</persisted-output>", notice{truncatedNotice, "/tmp/trunc/c", 30}, "", ""},
	{"[Old tool result content cleared]", notice{kind: clearedNotice}, "", ""},
	{"[工具输出结果已清理]", notice{kind: clearedNotice}, "", ""},
}

// withPath are the notices that name a file.
func (w *notices) withPath() []template {
	return []template{w.cleared, w.page, w.longPage, w.repeated, w.medium, w.truncated, w.previewed, w.stream, w.found}
}

// The format is what every stored conversation is read by: no wording may leave it.
func TestEachNoticeKeepsToTheFormat(t *testing.T) {
	v := noticeData{bytes: 1000001, headBytes: 30, tailBytes: 20, path: "/a path: /b. c", head: strings.Repeat("h", 30), tail: strings.Repeat("t", 20), shown: "preview", call: "tool 2 (call 3)", medium: "image/png"}
	for _, w := range []*notices{english, chinese} {
		for _, tool := range []string{"", "read_file_2"} {
			v.tool = tool
			for i, f := range w.withPath() {
				text := w.fill(f, v)
				n, words, _ := parse(text[strings.Index(text, openTag):])
				require.Equal(t, v.path, n.path, text)
				require.Equal(t, v.bytes, n.bytes, text)
				require.NotContains(t, words, ": ", text)
				whole := i < 5
				require.Equal(t, whole, n.kind == clearedNotice, "%d %s", i, text)
				require.Equal(t, !whole, strings.Contains(text, "\n\n"), text)
			}
			head, tail, ok := excerptIn([]string{w.fill(w.truncated, v)})
			require.True(t, ok)
			require.Equal(t, []string{v.head, v.tail}, []string{head, tail})
			shown, ok := shownIn([]string{w.fill(w.previewed, v)})
			require.True(t, ok)
			require.Equal(t, v.shown, shown)
			for _, f := range []template{w.stream, w.found} {
				before, ok := beforeNotice([]string{v.head, w.fill(f, v)})
				require.True(t, ok)
				require.Equal(t, v.head, before)
				_, ok = beforeNotice([]string{v.head[9:], w.fill(f, v)})
				require.False(t, ok)
			}
			require.Empty(t, recognise(v.head+w.fill(w.unsaved, v)))
			argument := v
			argument.path = "/tmp/clear/c" + argMark + "2"
			require.True(t, isReference(display.Quoted(w.fill(w.argument, argument))))
		}
		require.True(t, isPlaceholder(w.fill(w.placeholder, v)), "one more in the list, and none less")
	}
}

// sampleNotice is a notice that some build has written, and what it says.
type sampleNotice struct {
	Texts            []string
	Whole            bool // it stands for the whole result
	Path             string
	Bytes            int
	Before           string // of a stream
	Head, Tail, Show string
	Argument         bool
}

func TestStoredNoticesAreReadInOtherWords(t *testing.T) {
	for _, other := range []bool{false, true} {
		if other {
			OtherWords(t)
		}
		names, err := fs.Glob(formats.Files(), "*/notices.json")
		require.NoError(t, err)
		for _, name := range names {
			text, err := fs.ReadFile(formats.Files(), name)
			require.NoError(t, err)
			var all []sampleNotice
			require.NoError(t, json.Unmarshal(text, &all))
			require.NotEmpty(t, all)
			for _, each := range all {
				require.Equal(t, each, readNotice(each.Texts), "%s: %s", name, each.Texts)
			}
		}
	}
}

// readNotice is all that this package reads in a text.
func readNotice(texts []string) sampleNotice {
	n := noticeIn(texts)
	out := sampleNotice{Texts: texts, Whole: n.kind == clearedNotice, Path: n.path, Bytes: n.bytes}
	out.Before, _ = beforeNotice(texts)
	out.Head, out.Tail, _ = excerptIn(texts)
	out.Show, _ = shownIn(texts)
	out.Argument = isReference(display.Quoted(texts[0]))
	return out
}

// TestSampleNotices writes the samples of a version that does not have them yet.
func TestSampleNotices(t *testing.T) {
	dir := os.Getenv("EINOLEAN_SAMPLES")
	if dir == "" {
		t.Log("EINOLEAN_SAMPLES names no directory to write new samples to")
		return
	}
	v := noticeData{bytes: 12345, headBytes: 34, tailBytes: 21, path: "/tmp/trunc/call_1", head: "the first line\nthe second, 第二行\n", tail: "the last\nand its end\n", shown: "{\"a\": [1, \"…3 more\"]}", call: "shell (call_0)", medium: "image/png"}
	v.headBytes, v.tailBytes = len(v.head), len(v.tail)
	var all []sampleNotice
	for _, w := range []*notices{english, chinese} {
		for _, v.tool = range []string{"", "read_file"} {
			for _, v.finds = range []bool{false, true} {
				for _, f := range []template{w.cleared, w.page, w.longPage, w.repeated, w.truncated, w.previewed, w.placeholder} {
					all = append(all, readNotice([]string{w.fill(f, v)}))
				}
				for _, f := range []template{w.stream, w.found, w.unsaved} {
					all = append(all, readNotice([]string{v.head + w.fill(f, v)}), readNotice([]string{v.head[:9], v.head[9:], w.fill(f, v)}))
				}
				moved := v
				moved.path = "/tmp/clear/media-jtxrmzujwlrgqp5jm7ppnymoyi"
				all = append(all, readNotice([]string{w.fill(w.medium, moved)}))
				moved.path = "/tmp/clear/call_1-arg2"
				all = append(all, readNotice([]string{w.fill(w.argument, moved)}))
			}
		}
	}
	for _, each := range einoNotices {
		all = append(all, readNotice([]string{each.text}))
		if strings.Contains(each.text, " 30 ") {
			all = append(all, readNotice([]string{strings.Repeat("x", 30) + each.text}))
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notices.json"), append(text, '\n'), 0o644))
}

func TestTextThatOnlyLooksLikeANoticeIsNotOne(t *testing.T) {
	for _, text := range []string{
		"", "x", openTag, closeTag, openTag + closeTag,
		openTag + "Old result (5 bytes), saved in full to: /a\nRead it." + closeTag + " and more",
		"and before " + openTag + "Old result (5 bytes), saved in full to: /a\nRead it." + closeTag,
		openTag + "Old result (5 bytes), saved in full to: \nRead it." + closeTag,
		openTag + "Old result (5 bytes), saved in full to: /" + strings.Repeat("a", 5000) + "\nRead it." + closeTag,
		openTag + "Old result (5 bytes), saved in full to: /a\n" + strings.Repeat("Read it.", 100) + closeTag,
		"[Old tool result content cleared] ",
	} {
		require.Equal(t, notice{}, recognise(text), text)
	}
	require.Equal(t, notice{}, noticeIn([]string{"[Old tool result content cleared]", "text"}))
	require.Equal(t, notice{}, noticeIn(nil))
	one, two := english.fill(english.truncated, noticeData{path: "/1"}), english.fill(english.truncated, noticeData{path: "/2"})
	require.Equal(t, notice{}, noticeIn([]string{one, two}))
	require.Equal(t, "/1", noticeIn([]string{one, "caption", one}).path)
}

func TestTemplateFieldsInToolOutputAreNotExpanded(t *testing.T) {
	out := english.fill(english.truncated, noticeData{path: "/p", head: "{{.path}}", tail: "{{.bytes}}"})
	require.Contains(t, out, "{{.path}}")
	require.Contains(t, out, "{{.bytes}}")
}

func TestATailIsTheEndFromTheStartOfACharacter(t *testing.T) {
	for n := range 20 {
		end := &tail{max: n}
		all := ""
		for _, s := range []string{"häß", "lich ", "日本", "語", "", "a very long piece of text that is longer than the tail 語"} {
			end.add(s)
			all += s
			got := end.text()
			require.True(t, strings.HasSuffix(all, got))
			require.LessOrEqual(t, len(got), n)
			require.GreaterOrEqual(t, len(got), min(n, len(all))-3)
		}
	}
	end := &tail{max: 100}
	end.skip([]string{"abc", "def", "ghi"}, 4)
	require.Equal(t, "efghi", end.text())
}

func TestStreamReaderAnswersAfterItWasClosed(t *testing.T) {
	// What cutStream relies on: a copy of a stream can be closed twice and then be
	// read, without the source being asked.
	r, _ := schema.Pipe[string](0)
	one := oneOf(schema.StreamReaderWithConvert(r, func(s string) (string, error) { return s, nil }))
	one.Close()
	one.Close()
	_, err := one.Recv()
	require.ErrorIs(t, err, schema.ErrRecvAfterClosed)
	c := &streamCut[string]{ended: true, err: io.ErrNoProgress}
	require.Equal(t, io.ErrNoProgress, c.afterEnd(err))
	require.Equal(t, io.EOF, c.afterEnd(err))
	require.Equal(t, io.ErrShortWrite, c.afterEnd(io.ErrShortWrite))
}

func TestNoNoticeSaysThatThereAreNoErrors(t *testing.T) {
	files, err := noticeFiles.ReadDir("notice")
	require.NoError(t, err)
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		text, err := noticeFiles.ReadFile("notice/" + f.Name())
		require.NoError(t, err)
		for _, never := range []string{"no error", "0 errors", "without error", "没有错误", "无错误", "0 个错误"} {
			require.NotContains(t, strings.ToLower(string(text)), never, f.Name())
		}
	}
}
