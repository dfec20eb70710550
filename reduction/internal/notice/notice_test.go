// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package notice

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/formats"
)

func TestParse_FindsNoticesOfAllLanguagesAndEino(t *testing.T) {
	v := Data{Bytes: 12345, HeadBytes: 100, TailBytes: 200, Path: "/tmp/trunc/a.b:c-d", Tool: "read_file", head: "{{.head}} </persisted", tail: "<tail>\n", Preview: "{\"a\":1}"}
	for _, w := range []*Texts{english, chinese} {
		for _, tool := range []string{"read_file", ""} {
			v.Tool = tool
			require.Equal(t, Notice{clearedNotice, v.Path, v.Bytes}, Parse(w.Fill(w.Cleared, v)))
			require.Equal(t, Notice{truncatedNotice, v.Path, v.Bytes}, Parse(w.Fill(w.Truncated, v)))
			require.Equal(t, Notice{truncatedNotice, v.Path, v.Bytes}, Parse(w.Fill(w.Previewed, v)))
			require.Equal(t, Notice{truncatedNotice, v.Path, v.Bytes}, Parse("what was passed on"+w.Fill(w.StreamWithErrors, v)))
			require.Equal(t, Notice{truncatedNotice, v.Path, v.Bytes}, Parse("what was passed on"+w.Fill(w.Stream, v)))
			require.Equal(t, noNotice, Parse("what was passed on"+w.Fill(w.Unsaved, v)).kind, "there is nothing to point at")
			require.NotContains(t, w.Fill(w.Unsaved, v), v.Path)
			require.Equal(t, tool != "", strings.Contains(w.Fill(w.Cleared, v), "read_file"))
		}
		require.Equal(t, Notice{kind: clearedNotice}, Parse(w.Fill(w.Placeholder, v)))
		for _, f := range []template{w.Cleared, w.Truncated, w.Stream, w.Previewed, w.StreamWithErrors} {
			require.Equal(t, f.Length(w.WithHint(v)), len(w.Fill(f, v)))
		}
	}
	for _, each := range einoNotices {
		require.Equal(t, each.is, Parse(each.text), each.text)
		head, tail, ok := Excerpt([]string{each.text})
		require.Equal(t, each.head != "", ok, each.text)
		require.Equal(t, []string{each.head, each.tail}, []string{head, tail})
	}
}

// einoNotices are what Eino's package writes about a file.
var einoNotices = []struct {
	text       string
	is         Notice
	head, tail string
}{
	{"<persisted-output>Tool result saved to: /tmp/clear/c\nUse read_file to view</persisted-output>", Notice{clearedNotice, "/tmp/clear/c", 0}, "", ""},
	{"<persisted-output>工具结果已保存至: /tmp/clear/c\n使用 read_file 进行查看</persisted-output>", Notice{clearedNotice, "/tmp/clear/c", 0}, "", ""},
	{"<persisted-output>\nOutput too large (50). Full output saved to: /tmp/trunc/c\nPreview (first 3):\nab\n\n\nPreview (last 2):\nyz\n\nUse read_file to view\n</persisted-output>", Notice{truncatedNotice, "/tmp/trunc/c", 50}, "ab\n", "yz"},
	{"<persisted-output>\n输出结果过大 (50). 完整输出保存到: /tmp/trunc/c\n预览 (前 3):\nabc\n\n预览 (后 2):\nyz\n\n使用 read_file 进行查看\n</persisted-output>", Notice{truncatedNotice, "/tmp/trunc/c", 50}, "abc", "yz"},
	{"<persisted-output>\nOutput truncated after 30 bytes were streamed. Full output saved to: /tmp/a. b/c. Use read_file to view. \n</persisted-output>", Notice{truncatedNotice, "/tmp/a. b/c", 30}, "", ""},
	{"<persisted-output>\n输出结果在流式传输 30 字节后被截断。完整输出保存到: /tmp/trunc/c。使用 read_file 进行查看。 \n</persisted-output>", Notice{truncatedNotice, "/tmp/trunc/c", 30}, "", ""},
	{"[Old tool result content cleared]", Notice{kind: clearedNotice}, "", ""},
	{"[工具输出结果已清理]", Notice{kind: clearedNotice}, "", ""},
}

// withPath are the notices that name a file.
func (t *Texts) withPath() []template {
	return []template{
		t.Cleared, t.Page, t.LongPage, t.Duplicate, t.Medium, t.Truncated, t.Previewed, t.Stream, t.StreamWithErrors,
	}
}

// The format is what every stored conversation is read by: no wording may leave it.
func TestTexts_KeepToTheFormat(t *testing.T) {
	v := Data{Bytes: 1000001, HeadBytes: 30, TailBytes: 20, Path: "/a path: /b. c", head: strings.Repeat("h", 30), tail: strings.Repeat("t", 20), Preview: "preview", Call: "tool 2 (call 3)", Medium: "image/png"}
	for _, w := range []*Texts{english, chinese} {
		for _, tool := range []string{"", "read_file_2"} {
			v.Tool = tool
			for i, f := range w.withPath() {
				text := w.Fill(f, v)
				n, words, _ := parse(text[strings.Index(text, openTag):])
				require.Equal(t, v.Path, n.Path, text)
				require.Equal(t, v.Bytes, n.Bytes, text)
				require.NotContains(t, words, ": ", text)
				whole := i < 5
				require.Equal(t, whole, n.kind == clearedNotice, "%d %s", i, text)
				require.Equal(t, !whole, strings.Contains(text, "\n\n"), text)
			}
			head, tail, ok := Excerpt([]string{w.Fill(w.Truncated, v)})
			require.True(t, ok)
			require.Equal(t, []string{v.head, v.tail}, []string{head, tail})
			shown, ok := previewIn([]string{w.Fill(w.Previewed, v)})
			require.True(t, ok)
			require.Equal(t, v.Preview, shown)
			for _, f := range []template{w.Stream, w.StreamWithErrors} {
				before, ok := StreamedText([]string{v.head, w.Fill(f, v)})
				require.True(t, ok)
				require.Equal(t, v.head, before)
				_, ok = StreamedText([]string{v.head[9:], w.Fill(f, v)})
				require.False(t, ok)
			}
			require.Empty(t, Parse(v.head+w.Fill(w.Unsaved, v)))
			argument := v
			argument.Path = "/tmp/clear/c" + ArgMark + "2"
			require.True(t, isReference(display.Quoted(w.Fill(w.Argument, argument))))
		}
		require.True(t, Parse(w.Fill(w.Placeholder, v)).IsPlaceholder(), "one more in the list, and none less")
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

func TestParse_ReadsStoredSamples(t *testing.T) {
	for _, other := range []bool{false, true} {
		if other {
			formats.OtherWords(t, english)
			formats.OtherWords(t, chinese)
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
	n := FromTexts(texts)
	out := sampleNotice{Texts: texts, Whole: n.kind == clearedNotice, Path: n.Path, Bytes: n.Bytes}
	out.Before, _ = StreamedText(texts)
	out.Head, out.Tail, _ = Excerpt(texts)
	out.Show, _ = previewIn(texts)
	out.Argument = isReference(display.Quoted(texts[0]))
	return out
}

// TestNotices_WriteMissingSamples writes the samples of a version that has none yet.
func TestNotices_WriteMissingSamples(t *testing.T) {
	dir := os.Getenv("EINOLEAN_SAMPLES")
	if dir == "" {
		t.Log("EINOLEAN_SAMPLES names no directory to write new samples to")
		return
	}
	v := Data{Bytes: 12345, HeadBytes: 34, TailBytes: 21, Path: "/tmp/trunc/call_1", head: "the first line\nthe second, 第二行\n", tail: "the last\nand its end\n", Preview: "{\"a\": [1, \"…3 more\"]}", Call: "shell (call_0)", Medium: "image/png"}
	v.HeadBytes, v.TailBytes = len(v.head), len(v.tail)
	var all []sampleNotice
	for _, w := range []*Texts{english, chinese} {
		for _, v.Tool = range []string{"", "read_file"} {
			for _, v.CanSearch = range []bool{false, true} {
				for _, f := range []template{w.Cleared, w.Page, w.LongPage, w.Duplicate, w.Truncated, w.Previewed, w.Placeholder} {
					all = append(all, readNotice([]string{w.Fill(f, v)}))
				}
				for _, f := range []template{w.Stream, w.StreamWithErrors, w.Unsaved} {
					all = append(all, readNotice([]string{v.head + w.Fill(f, v)}), readNotice([]string{v.head[:9], v.head[9:], w.Fill(f, v)}))
				}
				moved := v
				moved.Path = "/tmp/clear/media-jtxrmzujwlrgqp5jm7ppnymoyi"
				all = append(all, readNotice([]string{w.Fill(w.Medium, moved)}))
				moved.Path = "/tmp/clear/call_1-arg2"
				all = append(all, readNotice([]string{w.Fill(w.Argument, moved)}))
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

func TestParse_RejectsLookalikes(t *testing.T) {
	for _, text := range []string{
		"", "x", openTag, closeTag, openTag + closeTag,
		openTag + "Old result (5 bytes), saved in full to: /a\nRead it." + closeTag + " and more",
		"and before " + openTag + "Old result (5 bytes), saved in full to: /a\nRead it." + closeTag,
		openTag + "Old result (5 bytes), saved in full to: \nRead it." + closeTag,
		openTag + "Old result (5 bytes), saved in full to: /" + strings.Repeat("a", 5000) + "\nRead it." + closeTag,
		openTag + "Old result (5 bytes), saved in full to: /a\n" + strings.Repeat("Read it.", 100) + closeTag,
		"[Old tool result content cleared] ",
	} {
		require.Equal(t, Notice{}, Parse(text), text)
	}
	require.Equal(t, Notice{}, FromTexts([]string{"[Old tool result content cleared]", "text"}))
	require.Equal(t, Notice{}, FromTexts(nil))
	one, two := english.Fill(english.Truncated, Data{Path: "/1"}), english.Fill(english.Truncated, Data{Path: "/2"})
	require.Equal(t, Notice{}, FromTexts([]string{one, two}))
	require.Equal(t, "/1", FromTexts([]string{one, "caption", one}).Path)
}

func TestTexts_DoNotExpandToolOutput(t *testing.T) {
	out := english.Fill(english.Truncated, Data{Path: "/p", head: "{{.path}}", tail: "{{.bytes}}"})
	require.Contains(t, out, "{{.path}}")
	require.Contains(t, out, "{{.bytes}}")
}

func TestTexts_NeverDenyErrors(t *testing.T) {
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
