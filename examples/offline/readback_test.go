// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/examples/library"
)

func anInteger() *schema.ParameterInfo { return &schema.ParameterInfo{Type: schema.Integer} }

// reader reads saved results back. It has the parameters given beside the path.
func reader(more ...string) *schema.ToolInfo {
	p := params{"file_path": text("the path of the saved result")}
	for _, name := range more {
		p[name] = optional(text(""))
		if name == "tail" || name == "offset" || name == "limit" {
			p[name] = anInteger()
		}
	}
	return &schema.ToolInfo{Name: "read_file", Desc: "Reads a result back that was saved.", ParamsOneOf: schema.NewParamsOneOfByParams(p)}
}

var (
	lister   = &schema.ToolInfo{Name: "list_files", Desc: "Lists the files of a folder.", ParamsOneOf: schema.NewParamsOneOfByParams(params{"folder": text("the folder's path")})}
	tester   = &schema.ToolInfo{Name: "run_tests", Desc: "Runs the tests of a package.", ParamsOneOf: schema.NewParamsOneOfByParams(params{"package": text("its name")})}
	everyWay = []string{"pattern", "query", "tail", "offset", "limit"}
)

const cleared = "<persisted-output>Old result (9 bytes), saved in full to: /tmp/clear/x1\nRead it with read_file.</persisted-output>"

// cutAway is a notice that shows a beginning and an end.
func cutAway(head, tail string) string {
	return fmt.Sprintf("<persisted-output>\nThis result has 99999 bytes, too many to show here. All of it is saved to: /tmp/trunc/x1\nRead it with read_file.\n\n"+
		"The first %d bytes:\n%s\n\nThe last %d bytes:\n%s\n</persisted-output>", len(head), head, len(tail), tail)
}

func TestNoticesAreReadInAnyLanguage(t *testing.T) {
	for name, c := range map[string]struct {
		text, path string
		shown      []string
	}{
		"cleared":            {cleared, "/tmp/clear/x1", nil},
		"truncated":          {cutAway("a.txt 1", "z.txt 2"), "/tmp/trunc/x1", []string{"a.txt 1\n", "z.txt 2"}},
		"cleared in Chinese": {"<persisted-output>旧结果（9 字节），完整内容已保存到: /tmp/clear/x1\n可用 read_file 读取。</persisted-output>", "/tmp/clear/x1", nil},
		"truncated in Chinese": {"<persisted-output>\n此结果有 99 字节，过长，无法全部显示。完整内容已保存到: /tmp/trunc/x1\n可用 read_file 读取。\n\n开头 7 字节:\na.txt 1\n\n结尾 7 字节:\nz.txt 2\n</persisted-output>",
			"/tmp/trunc/x1", []string{"a.txt 1\n", "z.txt 2"}},
		"the end of a stream": {"a.txt 1\n\n<persisted-output>\nCut here: this result went on to 99 bytes, of which the first 7 are above. All of it is saved to: /tmp/trunc/x1\nRead it with read_file.\n\nThe last 7 bytes:\nz.txt 2\n</persisted-output>",
			"/tmp/trunc/x1", []string{"a.txt 1\n\n", "z.txt 2"}},
		"Eino's of a truncated result": {"<persisted-output>\nOutput too large (99). Full output saved to: /tmp/trunc/x1\nPreview (first 7):\na.txt 1\n\nPreview (last 7):\nz.txt 2\n\nUse read_file to view\n</persisted-output>",
			"/tmp/trunc/x1", []string{"a.txt 1\n", "z.txt 2\n"}},
		"Eino's of a stream, in Chinese": {"a.txt 1\n<persisted-output>\n输出结果在流式传输 7 字节后被截断。完整输出保存到: /tmp/trunc/x1。使用 read_file 进行查看。 \n</persisted-output>", "/tmp/trunc/x1", []string{"a.txt 1\n"}},
		"in words of its own":            {"<persisted-output>Ausgelagert nach: store/x1, zu lesen mit read_file</persisted-output>", "store/x1", nil},
		"one that names no path":         {"<persisted-output>\nCut here. It was not saved.\n</persisted-output>", "", nil},
		"text that speaks of notices":    {"see <persisted-output> in: docs/a.md", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := understand(nil, []*schema.ToolInfo{lister, reader()})
			n, ok := s.notice(c.text)
			require.Equal(t, c.path != "", ok)
			if ok {
				require.Equal(t, c.path, n.path)
				require.Equal(t, "read_file", n.reader.name)
				require.Equal(t, c.shown, n.shown)
			}
		})
	}
}

// asked is what the model does next when list_files or run_tests has returned
// result to the request, and each further call an answer.
func asked(t *testing.T, request, result string, tools []*schema.ToolInfo, answers ...string) reply {
	t.Helper()
	turns := []Turn{{Role: "user", Text: request}}
	for _, answer := range append([]string{result}, answers...) {
		r := decide(understand(turns, tools))
		require.Len(t, r.calls, 1, "%q answers too early: %s", request, r.text)
		c := r.calls[0]
		turns = append(turns, Turn{Role: "assistant", Calls: r.calls}, Turn{Results: []Result{{c.ID, c.Name, answer}}})
	}
	return decide(understand(turns, tools))
}

func TestOmittedPartsAreReadBack(t *testing.T) {
	const (
		size   = `List the files in src. How long is "m.txt"?`
		failed = `Run the tests of "store". Which test failed?`
	)
	head, tail := "a.txt 1\nb.txt 2", "x.txt 8\ny.txt 9\nz.txt 10"
	all := []*schema.ToolInfo{lister, tester, reader(everyWay...)}
	for name, c := range map[string]struct {
		request, result string
		tools           []*schema.ToolInfo
		answers         []string
		args, text      string // of the next call, or the final answer
	}{
		"quoted data by a pattern":       {size, cutAway(head, tail), all, nil, `{"file_path":"/tmp/trunc/x1","pattern":"m\\.txt"}`, ""},
		"a cleared result":               {size, cleared, all, nil, `{"file_path":"/tmp/clear/x1","pattern":"m\\.txt"}`, ""},
		"the answer is the line":         {size, cutAway(head, tail), all, []string{"[read_file] 1 match of \"m\\\\.txt\" in bytes 0 to 9 of 9, each as \"line number:text\"\n500:m.txt 77\nThere are no more matches."}, "", "500:m.txt 77"},
		"what is shown is not read":      {`List the files in src. How long is "z.txt"?`, cutAway(head, tail), all, nil, "", "z.txt 10"},
		"a part of a name is not it":     {`List the files in src. How long is "y.tx"?`, cutAway(head, tail), all, nil, `{"file_path":"/tmp/trunc/x1","pattern":"y\\.tx"}`, ""},
		"the next page is followed":      {size, cutAway(head, tail), all, []string{"[read_file] 1 match of \"m\\\\.txt\"\n9:m.txt.bak 1\nThere is more to search. Next: read_file {\"file_path\":\"/tmp/trunc/x1\",\"pattern\":\"m\\\\.txt\",\"byte_offset\":512}"}, `{"byte_offset":512,"file_path":"/tmp/trunc/x1","pattern":"m\\.txt"}`, ""},
		"words by a query":               {failed, cutAway("=== RUN TestA", "FAIL"), all, nil, `{"file_path":"/tmp/trunc/x1","query":"test failed"}`, ""},
		"a line with all words is it":    {failed, cutAway("=== RUN TestA", "FAIL"), all, []string{"[read_file] the passage that fits \"test failed\" best, each between two lines -----\nlines 1 to 2:\n-----\n--- PASS: TestA\n--- FAIL: TestB\n-----\nRead around a passage with offset and limit."}, "", "--- FAIL: TestB"},
		"other words when there is none": {failed, cutAway("=== RUN TestA", "FAIL"), all, []string{"[read_file] the passage that fits\n--- PASS: TestA\n."}, `{"file_path":"/tmp/trunc/x1","pattern":"(?i)fail"}`, ""},
		"the end is shown":               {`List the files in src. What are the last 2 lines?`, cutAway(head, tail), all, nil, "", "y.txt 9\nz.txt 10"},
		"more of the end than is shown":  {`List the files in src. What are the last 3 lines?`, cutAway(head, tail), all, nil, `{"file_path":"/tmp/trunc/x1","tail":3}`, ""},
		"lines by their number":          {`List the files in src. What does line 40 say?`, cutAway(head, tail), all, nil, `{"file_path":"/tmp/trunc/x1","limit":1,"offset":40}`, ""},
		"a reader that only pages":       {size, cleared, []*schema.ToolInfo{lister, reader()}, nil, `{"file_path":"/tmp/clear/x1"}`, ""},
		"its pages": {size, cleared, []*schema.ToolInfo{lister, reader()}, []string{"     1\ta.txt 1\nMore: read_file {\"file_path\": \"/tmp/clear/x1\", \"offset\": 2}"},
			`{"file_path":"/tmp/clear/x1","offset":2}`, ""},
		"nothing is found":               {size, cleared, []*schema.ToolInfo{lister, reader()}, []string{"a.txt 1"}, "", "I found nothing of that in the result."},
		"nothing can be read":            {size, cleared, []*schema.ToolInfo{lister}, nil, "", "I found nothing of that in the result."},
		"nobody asks for anything in it": {"List the files in src", cutAway("a 1\nb 2\nc 3\nd 4", "e 5"), all, nil, "", "That is done; all of the result is in /tmp/trunc/x1.\na 1\nb 2\nc 3\n…"},
	} {
		t.Run(name, func(t *testing.T) {
			r := asked(t, c.request, c.result, c.tools, c.answers...)
			if c.args == "" {
				require.Empty(t, r.calls)
				require.Equal(t, c.text, r.text)
				return
			}
			require.Len(t, r.calls, 1, r.text)
			require.Equal(t, "read_file", r.calls[0].Name)
			require.JSONEq(t, c.args, r.calls[0].Args)
		})
	}
}

func TestReadingBackEnds(t *testing.T) {
	turns := []Turn{{Role: "user", Text: `List the files in src. How long is "m.txt"?`}}
	for n := 0; ; n++ {
		r := decide(understand(turns, []*schema.ToolInfo{lister, reader()}))
		if len(r.calls) == 0 {
			require.Equal(t, 1+maxReads, n)
			return
		}
		require.LessOrEqual(t, n, maxReads)
		answer := cleared
		if n > 0 {
			answer = fmt.Sprintf(`a.txt. Next: read_file {"file_path":"/tmp/clear/x1","offset":%d}`, n)
		}
		turns = append(turns, Turn{Role: "assistant", Calls: r.calls}, Turn{Results: []Result{{r.calls[0].ID, r.calls[0].Name, answer}}})
	}
}

func TestALongResultIsAnsweredByItsLines(t *testing.T) {
	long := strings.Repeat("a.txt 1\n", 400)
	tools := []*schema.ToolInfo{lister, reader(everyWay...)}
	for request, want := range map[string]string{
		`List the files in src. How long is "m.txt"?`:       "m.txt 77",
		`List the files in src. On which line is "m.txt"?`:  "401:m.txt 77",
		`List the files in src. What is in line 401?`:       "m.txt 77",
		`List the files in src. What are the last 2 lines?`: "m.txt 77\n" + strings.Repeat(`{"n":1},`, 50),
		`List the files in src. How long is "a.txt"?`:       "a.txt 1\na.txt 1\na.txt 1\n… (400)",
		`List the files in src. How long is "b.txt"?`:       "I found nothing of that in the result.",
		`List the files in src and find "n" there.`:         `{"n":1}`,
	} {
		r := asked(t, request, long+"m.txt 77\n"+strings.Repeat(`{"n":1},`, 50), tools)
		require.Empty(t, r.calls, request)
		require.Equal(t, want, r.text, request)
	}
}

// later are a conversation with two listings and a test log, and a new request.
func later(request string, results ...string) []Turn {
	turns := []Turn{}
	for i, c := range []Call{
		{"call_1_1_1", "list_files", `{"folder":"src"}`}, {"call_2_1_1", "run_tests", `{"package":"store"}`}, {"call_3_1_1", "list_files", `{"folder":"doc"}`},
	} {
		turns = append(turns, Turn{Role: "user", Text: "do it"}, Turn{Role: "assistant", Calls: []Call{c}}, Turn{Results: []Result{{c.ID, c.Name, results[i]}}}, Turn{Role: "assistant", Text: "done"})
	}
	return append(turns, Turn{Role: "user", Text: request})
}

func TestEarlierResultsAreSearched(t *testing.T) {
	at := func(path string) string { return strings.ReplaceAll(cleared, "/tmp/clear/x1", path) }
	tools := []*schema.ToolInfo{lister, tester, reader(everyWay...)}
	for request, args := range map[string]string{
		`In the first listing, how long is "m.txt"?`:          `{"file_path":"/a/1","pattern":"m\\.txt"}`,
		`How long is "m.txt" in the second listing?`:          `{"file_path":"/a/3","pattern":"m\\.txt"}`,
		`In the last listing, how long is "m.txt"?`:           `{"file_path":"/a/3","pattern":"m\\.txt"}`,
		`In the listing of src, how long is "m.txt"?`:         `{"file_path":"/a/1","pattern":"m\\.txt"}`,
		`In the results of the tests, which package failed?`:  `{"file_path":"/a/2","query":"package failed"}`,
		`And where is "m.txt"?`:                               `{"file_path":"/a/3","pattern":"m\\.txt"}`,
		`What does line 12 of the first listing say?`:         `{"file_path":"/a/1","limit":1,"offset":12}`,
		`In the first listing, what are the last five lines?`: `{"file_path":"/a/1","tail":5}`,
	} {
		r := decide(understand(later(request, at("/a/1"), at("/a/2"), at("/a/3")), tools))
		require.Len(t, r.calls, 1, "%s: %s", request, r.text)
		require.Equal(t, "call_4_1_1", r.calls[0].ID)
		require.JSONEq(t, args, r.calls[0].Args, request)
	}
}

func TestANewTaskDoesNotLookBack(t *testing.T) {
	tools := []*schema.ToolInfo{lister, tester, reader(everyWay...)}
	r := decide(understand(later("List the files in src/net", cleared, cleared, cleared), tools))
	require.Len(t, r.calls, 1)
	require.Equal(t, "list_files", r.calls[0].Name)
	r = decide(understand(later(`In the first listing, how long is "m.txt"?`, "m.txt 7", "ok", "n.txt 8"), tools))
	require.NotContains(t, fmt.Sprint(r.calls), "read_file", "short results are still there")
}

func TestNoToolOfTheLibraryIsTakenForAReader(t *testing.T) {
	tools, err := library.Tools(t.TempDir())
	require.NoError(t, err)
	for _, tool := range tools {
		info, err := tool.Info(t.Context())
		require.NoError(t, err)
		require.False(t, viewTool(info).readsBack, info.Name)
	}
	require.True(t, viewTool(reader()).readsBack)
}
