// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/texts"
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
		require.Equal(t, clearedNotice, recognise(w.fill(w.placeholder, v)).kind)
		for _, f := range []template{w.cleared, w.truncated, w.stream, w.previewed, w.found} {
			require.Equal(t, f.length(w.hinted(v)), len(w.fill(f, v)))
		}
	}
	for name, kind := range map[string]noticeKind{"cleared": clearedNotice, "truncated": truncatedNotice, "stream": truncatedNotice, "placeholder": clearedNotice} {
		for i, lang := range []*texts.Texts{noticeTexts.English(), noticeTexts.Chinese()} {
			n := recognise(template(lang.Pieces("eino/" + name)).fill(v))
			require.Equal(t, kind, n.kind, name, i)
			require.Equal(t, kind == clearedNotice && name == "placeholder", n.path == "", name, i)
		}
	}
}

func TestTextThatOnlyLooksLikeANoticeIsNotOne(t *testing.T) {
	for _, text := range []string{
		"", "x", openTag, closeTag, openTag + closeTag,
		openTag + "Old result (5 bytes), saved in full to: /a\nRead it." + closeTag + " and more",
		"and before " + openTag + "Old result (5 bytes), saved in full to: /a\nRead it." + closeTag,
		openTag + "Old result (five bytes), saved in full to: /a\nRead it." + closeTag,
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
