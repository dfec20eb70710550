// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Conversations that earlier versions stored.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	eino "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/formats"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/store"
)

var tmpPath = regexp.MustCompile(`/tmp/(trunc|clear)/[A-Za-z0-9_.:=-]+`)

// sampleTools return what their arguments ask for.
func sampleTools() (out []tool.BaseTool) {
	run := func(_ context.Context, args string) (string, error) {
		var a struct {
			Lines int
			Word  string
		}
		err := json.Unmarshal([]byte(args), &a)
		var b strings.Builder
		for i := range a.Lines {
			fmt.Fprintf(&b, "%s %d\n", a.Word, i)
		}
		return b.String(), err
	}
	for name, form := range map[string]adktest.Form{"shell": adktest.Invokable, "tail": adktest.Streamable, "fetch": adktest.Enhanced, "follow": adktest.EnhancedStreamable} {
		out = append(out, adktest.Tool(form, &schema.ToolInfo{Name: name, Desc: "returns lines"}, run))
	}
	return out
}

func TestFormats_StoredConversationsContinue(t *testing.T) {
	adktest.EachType(t, testFormatsStoredConversationsContinue[*schema.Message], testFormatsStoredConversationsContinue[*schema.AgenticMessage])
}

func testFormatsStoredConversationsContinue[M adk.MessageType](t *testing.T) {
	names, err := fs.Glob(formats.Files(), "*/conversation-"+kindOf[M]()+"-*.json")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		text, err := fs.ReadFile(formats.Files(), name)
		require.NoError(t, err)
		for _, words := range []string{"the same words", "other words"} {
			for _, lang := range []adk.Language{adk.LanguageEnglish, adk.LanguageChinese} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, words, lang), func(t *testing.T) {
					require.NoError(t, adk.SetLanguage(lang))
					if words == "other words" {
						formats.OtherWords(t, notice.Current())
					}
					defer func() { _ = adk.SetLanguage(adk.LanguageEnglish) }()
					var c sample[M]
					require.NoError(t, json.Unmarshal(text, &c))
					c.goesOn(t)
				})
			}
		}
	}
}

// sample is a stored conversation: the messages that a user stored, and the files of the store.
type sample[M adk.MessageType] struct {
	Scope    string
	Messages []M
	Files    map[string]string
}

// goesOn runs the conversation on, and looks at what became of its notices and files.
func (c sample[M]) goesOn(t *testing.T) {
	dir := t.TempDir()
	past := time.Now().Add(-60 * 24 * time.Hour)
	for name, content := range c.Files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		require.NoError(t, os.Chtimes(file, past, past))
	}
	files, err := store.NewDir(dir)
	require.NoError(t, err)
	defer files.Close()
	scoped := c.scoped(files)
	cfg := sampleConfig[M](scoped)
	if c.Scope == "eino" {
		cfg.MaxArgumentBytes = 0 // as there
	}
	if len(c.Files) == 0 {
		cfg.ClearRetentionSuffixLimit = 9 // what is left of these was never stored
	}
	model := adktest.Script[M]()
	history := append(copyAll(c.Messages), adktest.User[M]("go on"))
	given := shapeTexts(history)
	for range 2 {
		agent := adktest.Agent[M]{Model: model, Tools: sampleTools(), Handlers: adktest.Handlers[M](typed(t, &cfg))}
		require.NoError(t, agent.Run(t.Context(), history).Err)
	}
	requests := model.Wires()
	require.Equal(t, requests[0].MessagesDump, requests[1].MessagesDump, "what is decided again is decided the same")

	require.Equal(t, c.Files, filesIn(t, dir), "nothing is stored twice")
	_, _, err = files.DeleteUnused(t.Context(), "", time.Now().Add(-30*24*time.Hour))
	require.NoError(t, err)
	left, all := filesIn(t, dir), strings.Join(given, "\n")
	for name := range c.Files {
		_, kept := left[name]
		require.True(t, kept || !strings.Contains(all, name[strings.Index(name, "tmp/"):]+"\n"), "%s belongs to a living conversation", name)
	}

	reader := readTool(t, scoped)
	got := shapeTexts(requests[0].Messages)
	require.Equal(t, len(given), len(got))
	for i := range got {
		if given[i] == got[i] {
			continue
		}
		require.Contains(t, given[i], "persisted-output>\n", "only a notice that shows something is cleared: %s", got[i])
		require.Less(t, len(got[i]), len(given[i]))
		path := tmpPath.FindString(got[i])
		require.Contains(t, given[i], path, "it keeps its file")
		require.NotEmpty(t, readBack(t, reader, path))
	}
}

// scoped is the store of the conversation's user.
func (c sample[M]) scoped(b reduction.Backend) reduction.Backend {
	if c.Scope == "" {
		return b
	}
	return store.Scoped(b, as(c.Scope))
}

func (c *sample[M]) write(t *testing.T, lang string, handler func(reduction.Backend) adk.TypedChatModelAgentMiddleware[M]) {
	c.play(t, sampleTurns("/tmp/trunc/call_1"), sampleTools(), handler)
	text, err := json.MarshalIndent(c, "", " ")
	require.NoError(t, err)
	name := fmt.Sprintf("conversation-%s-%s-%s.json", kindOf[M](), strings.ReplaceAll(cmp.Or(c.Scope, "own"), "/", "-"), lang)
	require.NoError(t, os.WriteFile(filepath.Join(os.Getenv("EINOLEAN_SAMPLES"), name), append(text, '\n'), 0o644))
}

// play makes the conversation: the model takes turns, in an agent with a handler and a store.
func (c *sample[M]) play(t *testing.T, turns []adktest.Turn, tools []tool.BaseTool, handler func(reduction.Backend) adk.TypedChatModelAgentMiddleware[M]) {
	dir := t.TempDir()
	files, err := store.NewDir(dir)
	require.NoError(t, err)
	defer files.Close()
	model, inner := adktest.Script[M](turns...), c.scoped(files)
	if c.Scope == "eino" || c.Scope == "none" {
		tools = append(tools, readTool(t, inner))
	}
	agent := adktest.Agent[M]{Model: model, Tools: tools, Handlers: adktest.Handlers[M](handler(inner))}
	require.NoError(t, agent.Run(t.Context(), []M{adktest.System[M]("Help."), adktest.User[M]("begin")}).Err)
	wires := model.Wires()
	c.Messages = append(wires[len(wires)-1].Messages, adktest.Assistant[M]("done"))
	c.Files = filesIn(t, dir)
}

func kindOf[M adk.MessageType]() string {
	if _, plain := any(*new(M)).(*schema.Message); plain {
		return "plain"
	}
	return "agentic"
}

// shapeTexts are all texts of messages, one for each message.
func shapeTexts[M adk.MessageType](msgs []M) (out []string) {
	for _, m := range msgs {
		var all []string
		for _, r := range adktest.Results(m) {
			all = append(all, r.Args)
		}
		for _, c := range adktest.Calls(m) {
			all = append(all, c.Args)
		}
		out = append(out, adktest.Text(m)+strings.Join(all, "\n"))
	}
	return out
}

func filesIn(t *testing.T, dir string) map[string]string {
	out := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		rel, _ := filepath.Rel(dir, file)
		out[filepath.ToSlash(rel)] = string(text)
		return err
	}))
	return out
}

func sampleConfig[M adk.MessageType](b reduction.Backend) reduction.TypedConfig[M] {
	return reduction.TypedConfig[M]{Backend: b, MaxLengthForTrunc: 900, MaxTokensForClear: 1, ClearRetentionSuffixLimit: 3,
		MaxArgumentBytes: 600, DedupeResults: true, ProvideReadTool: true, WindowTokens: 100_000}
}

// sampleTurns are what the model of a sample says.
func sampleTurns(read string) []adktest.Turn {
	call := func(id, name, format string, args ...any) adktest.ToolCall {
		return adktest.ToolCall{ID: id, Name: name, Args: fmt.Sprintf(format, args...)}
	}
	return []adktest.Turn{
		adktest.Do(call("call_1", "shell", `{"lines":150,"word":"first","note":%q}`, strings.Repeat("a long note ", 90))),
		adktest.Do(call("call_2", "tail", `{"lines":150,"word":"zweite Zeile: ü"}`), call("call_3", "fetch", `{"lines":40,"word":"short"}`)),
		adktest.Do(call("call_4", "follow", `{"lines":150,"word":"第三"}`)),
		adktest.Do(call("call_5", "fetch", `{"lines":40,"word":"short"}`)),
		adktest.Do(call("call_6", "read_file", `{"file_path":%q,"offset":1,"limit":20}`, read)),
		adktest.Do(call("call_7", "shell", `{"lines":200,"word":"seventh"}`), call("a/b:8", "tail", `{"lines":200,"word":"eighth"}`)),
		adktest.Do(call("call_9", "fetch", `{"lines":200,"word":"ninth, {\"a\":1}"}`)),
		adktest.Do(call("call_10", "follow", `{"lines":200,"word":"zehnte"}`), call("call_11", "shell", `{"lines":2,"word":"little"}`)),
	}
}

// Images and texts of one result, stored and cut, go on as well. formats.Samples writes a sample.
func TestFormats_StoredMediaContinue(t *testing.T) {
	adktest.EachType(t, testFormatsStoredMediaContinue[*schema.Message], testFormatsStoredMediaContinue[*schema.AgenticMessage])
}

func testFormatsStoredMediaContinue[M adk.MessageType](t *testing.T) {
	for name, text := range formats.Samples(t, "conversation-media-"+kindOf[M](), ".json", func() string { return withMedia[M](t) }) {
		for _, words := range []string{"the same words", "other words"} {
			t.Run(name+"/"+words, func(t *testing.T) {
				if words == "other words" {
					formats.OtherWords(t, notice.Current())
				}
				var c sample[M]
				require.NoError(t, json.Unmarshal([]byte(text), &c))
				stored := 0
				for _, content := range c.Files {
					if strings.Contains(content, stamp) {
						stored++
					}
				}
				require.NotZero(t, stored, "an image is in the store")
				c.goesOn(t)
			})
		}
	}
}

// stamp is the beginning of an image.
const stamp = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"

// polaroid is a tool that returns an image and what it shows.
type polaroid struct{}

func (polaroid) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "camera", Desc: "takes a picture"}, nil
}

func (polaroid) InvokableRun(_ context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	data, lines := stamp+strings.Repeat("A", 4000), strings.Repeat("what "+args.Text+" shows\n", 150)
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{
		{Type: schema.ToolPartTypeText, Text: lines},
		{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: &data, MIMEType: "image/png"}}},
	}}, nil
}

func withMedia[M adk.MessageType](t *testing.T) string {
	var turns []adktest.Turn
	for i := range 6 {
		turns = append(turns, adktest.Do(adktest.ToolCall{ID: fmt.Sprint("call_", i), Name: "camera", Args: fmt.Sprintf(`{"n":%d}`, i)}))
	}
	var c sample[M]
	c.play(t, turns, []tool.BaseTool{polaroid{}}, func(b reduction.Backend) adk.TypedChatModelAgentMiddleware[M] {
		cfg := sampleConfig[M](b)
		return typed(t, &cfg)
	})
	text, err := json.MarshalIndent(c, "", " ")
	require.NoError(t, err)
	return string(text) + "\n"
}

// TestFormats_Samples writes the samples of a version that does not have them yet.
func TestFormats_Samples(t *testing.T) {
	if os.Getenv("EINOLEAN_SAMPLES") == "" {
		t.Log("EINOLEAN_SAMPLES names no directory to write new samples to")
		return
	}
	for lang, name := range map[adk.Language]string{adk.LanguageEnglish: "en", adk.LanguageChinese: "zh"} {
		require.NoError(t, adk.SetLanguage(lang))
		testFormatsSamples[*schema.Message](t, name)
		testFormatsSamples[*schema.AgenticMessage](t, name)
	}
	require.NoError(t, adk.SetLanguage(adk.LanguageEnglish))
}

func testFormatsSamples[M adk.MessageType](t *testing.T, lang string) {
	for _, scope := range []string{"", "acme/42"} {
		c := sample[M]{Scope: scope}
		c.write(t, lang, func(b reduction.Backend) adk.TypedChatModelAgentMiddleware[M] {
			cfg := sampleConfig[M](b)
			return typed(t, &cfg)
		})
	}
	none := sample[M]{Scope: "none"}
	none.write(t, lang, func(reduction.Backend) adk.TypedChatModelAgentMiddleware[M] {
		return typed(t, &reduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 1, ClearRetentionSuffixLimit: 1})
	})
	c := sample[M]{Scope: "eino"}
	c.write(t, lang, func(b reduction.Backend) adk.TypedChatModelAgentMiddleware[M] {
		h, err := eino.NewTyped(t.Context(), &eino.TypedConfig[M]{Backend: plainStore{b}, MaxLengthForTrunc: 900, MaxTokensForClear: 1, ClearRetentionSuffixLimit: 3})
		require.NoError(t, err)
		return h
	})
}

// plainStore is a store as Eino knows it.
type plainStore struct{ reduction.Backend }

func (s plainStore) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return s.Backend.Write(ctx, req)
}

// TestFormats_RollingUpgradeLosesNothing: the runs of one conversation fall on replicas of two
// builds in turn, of which one words its notices otherwise. Both read, mark and clear what the other
// wrote: nothing is stored twice, every path leads to what it stands for, and cleaning deletes nothing.
//
//claim:operations-03
func TestFormats_RollingUpgradeLosesNothing(t *testing.T) {
	adktest.EachType(t, testFormatsRollingUpgradeLosesNothing[*schema.Message], testFormatsRollingUpgradeLosesNothing[*schema.AgenticMessage])
}

func testFormatsRollingUpgradeLosesNothing[M adk.MessageType](t *testing.T) {
	dir := t.TempDir()
	files, err := store.NewDir(dir)
	require.NoError(t, err)
	defer files.Close()
	var history []M
	for run := range 8 {
		turn := func(t *testing.T) {
			cfg := sampleConfig[M](files)
			model := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: fmt.Sprintf("call_%d", run), Name: "shell", Args: fmt.Sprintf(`{"lines":200,"word":"of run %d"}`, run)}), adktest.Say("done"))
			history = append(history, adktest.User[M]("go on"))
			out := adktest.Agent[M]{Model: model, Tools: sampleTools(), Handlers: adktest.Handlers[M](typed(t, &cfg))}.Run(t.Context(), history)
			require.NoError(t, out.Err)
			wires := model.Wires()
			history = append(append([]M(nil), wires[len(wires)-1].Messages...), out.Messages[len(out.Messages)-1])
		}
		if run%2 == 0 {
			t.Run("the new build", func(t *testing.T) { formats.OtherWords(t, notice.Current()); turn(t) })
		} else {
			t.Run("the old build", turn)
		}
		stored := filesIn(t, dir)
		require.Len(t, stored, run+1, "nothing is stored twice")
		deleted, _, err := files.DeleteUnused(t.Context(), "", time.Now().Add(-30*24*time.Hour))
		require.NoError(t, err)
		require.Zero(t, deleted, "the run marked what its history names")
		past := time.Now().Add(-60 * 24 * time.Hour)
		for name := range stored {
			require.NoError(t, os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), past, past))
		}
	}
	n, path := 0, regexp.MustCompile(`/tmp/(?:trunc|clear)/\S+`)
	for _, m := range history {
		for _, r := range adktest.Results(m) {
			got, err := files.Read(t.Context(), &filesystem.ReadRequest{FilePath: path.FindString(r.Args)})
			require.NoError(t, err, r.Args)
			require.Equal(t, 200, strings.Count(got.Content, fmt.Sprintf("of run %d", n)), r.Args)
			n++
		}
	}
	require.Equal(t, 8, n)
}

// A conversation whose provider counts otherwise than the estimate remembers the factor, and a run that goes on with it
// changes nothing. formats.Samples writes a sample.
func TestFormats_RememberedFactorGoesOn(t *testing.T) {
	adktest.EachType(t, testFormatsRememberedFactorGoesOn[*schema.Message],
		testFormatsRememberedFactorGoesOn[*schema.AgenticMessage])
}

func testFormatsRememberedFactorGoesOn[M adk.MessageType](t *testing.T) {
	config := func(b reduction.Backend) *reduction.TypedConfig[M] {
		return &reduction.TypedConfig[M]{Backend: b, MaxTokensForClear: 3000}
	}
	for name, text := range formats.Samples(t, "conversation-factor-"+kindOf[M](), ".json", func() string {
		a := &application[M]{config: config, store: store.NewMemory(0), ratio: 1.3, stores: edited}
		for i := range 4 {
			id := fmt.Sprint("call_", i)
			result := adktest.Result[M](id, "shell", strings.Repeat(fmt.Sprintf("line %d of a result\n", i), 150))
			a.turn(t, plannedTurn[M]{question: "go on", answer: "done", rounds: []plannedRound[M]{{
				call: []M{adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`})}, results: []M{result}, page: -1,
			}}})
		}
		return dump(t, a.history)
	}) {
		require.Contains(t, text, "__einolean_reduction_factor__", name)
		var msgs []M
		require.NoError(t, json.Unmarshal([]byte(text), &msgs), name)
		require.Equal(t, msgs, before(t, typed(t, config(store.NewMemory(0))), msgs), name)
	}
}
