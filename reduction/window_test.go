// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The Config field WindowTokens.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// window is one conversation of an agent that calls many tools at once.
type window[M adk.MessageType] struct {
	*testing.T
	*gen[M]
	seed        uint64
	memory      *backend.Memory
	cfg         *reduction.TypedConfig[M]
	mw          adk.TypedChatModelAgentMiddleware[M]
	msgs, whole []M
	brief       bool // arguments are short
}

// next makes the conversation go on.
func (w *window[M]) next() {
	more := w.parallel()
	if w.chance(30) {
		more = append([]M{sentPicture[M](strings.Repeat(fmt.Sprint(w.seed), 10_000))}, more...)
	}
	w.msgs = append(w.msgs[:len(w.msgs):len(w.msgs)], more...)
	w.whole = append(w.whole, copyAll(more)...)
}

// parallel is a round of up to 20 calls, which may bring 20 MB of media.
func (w *window[M]) parallel() []M {
	var calls []adktest.ToolCall
	var results []M
	size := 5000
	if w.seed == 7 {
		size = 1 << 20
	}
	for i := range 1 + w.IntN(20) {
		id := fmt.Sprint("call_", w.ids, "_", i)
		args := map[string]any{"n": i}
		if n := w.IntN(2) * w.IntN(1200); !w.brief {
			args["content"] = strings.Repeat("a line to write\n", n)
		}
		calls = append(calls, adktest.ToolCall{ID: id, Name: "shell", Args: render(args)})
		parts := []part{text(strings.Repeat(fmt.Sprintf("%d: some words of result %s\n", w.IntN(9), id), w.IntN(400)))}
		switch w.IntN(10) {
		case 0:
			parts[0].text = w.content()
		case 1, 2:
			parts[0].text = strings.Repeat(fmt.Sprint(w.Uint64(), ","), w.IntN(500))
		case 3:
			parts = append(parts, part{medium: "image", data: strings.Repeat(fmt.Sprint(w.IntN(10)), size)}, part{medium: "file"}, text("and more"))
		case 4:
			parts = []part{{medium: "image", data: strings.Repeat(fmt.Sprint(i, "/"), size/2)}}
		}
		results = append(results, w.shape.result(id, "shell", parts...))
	}
	w.ids++
	if merged, ok := w.shape.merge(results...); ok && w.chance(30) {
		results = []M{merged}
	}
	return append([]M{adktest.Assistant[M]("", calls...)}, results...)
}

// count is the default estimate.
func (w *window[M]) count(msgs []M) (n int64) {
	for _, m := range msgs {
		n += 4 + 1600*int64(len(mediaIn(m)))
		for _, c := range adktest.Calls(m) {
			n += int64(tokens.Estimate(c.Args)+tokens.Estimate(c.Name)) + 4
		}
		answers := w.shape.answers(m)
		for _, a := range answers {
			if _, agentic := any(m).(*schema.AgenticMessage); agentic {
				n += int64(tokens.Estimate(a.name))
			}
			for _, text := range a.texts {
				n += int64(tokens.Estimate(text))
			}
		}
		if len(answers) == 0 {
			n += int64(tokens.Estimate(adktest.Text(m)))
		}
	}
	return n
}

// onlyTheRest requires that nothing is left that could be shorter.
func (w *window[M]) onlyTheRest(msgs []M) {
	longest := max(w.cfg.MaxArgumentBytes, 1000)
	if w.cfg.MaxArgumentBytes == 0 {
		longest = 4000
	}
	for i, m := range msgs {
		require.Empty(w.T, mediaIn(m), "seed %d, message %d", w.seed, i)
		for _, a := range w.shape.answers(m) {
			for _, text := range a.texts {
				require.LessOrEqual(w.T, len(text), 1000, "seed %d, message %d", w.seed, i)
			}
		}
		for _, c := range adktest.Calls(m) {
			require.LessOrEqual(w.T, len(c.Args), longest+40, "seed %d, message %d", w.seed, i)
		}
	}
}

// readable requires that every path gives what the tool returned.
func (w *window[M]) readable() {
	for i, m := range w.msgs {
		kept, moved := map[string]bool{}, 0
		for _, data := range mediaIn(m) {
			kept[data] = true
		}
		for j, a := range w.shape.answers(m) {
			was := w.shape.answers(w.whole[i])[j].joined()
			own := answer{}
			for _, text := range a.texts {
				if !strings.Contains(text, "Attachment (") {
					own.texts = append(own.texts, text)
				} else {
					moved++
					kept[w.medium(pathIn(text))] = true
				}
			}
			if own.joined() != was {
				require.Less(w.T, len(own.joined()), len(was), "seed %d", w.seed)
				require.Equal(w.T, was, stored(w.T, w.memory, pathIn(own.joined())), "seed %d, message %d: %s", w.seed, i, own.joined())
			}
		}
		if text := adktest.Text(m); adktest.Role(m) == "user" && strings.Contains(text, "Attachment (") {
			kept[w.medium(pathIn(text))] = true
		}
		for _, data := range mediaIn(w.whole[i]) {
			require.True(w.T, kept[data], "seed %d, message %d: a medium is lost", w.seed, i)
		}
	}
}

// medium is the data of a stored medium.
func (w *window[M]) medium(path string) string {
	var p schema.ToolOutputPart
	require.NoError(w.T, json.Unmarshal([]byte(stored(w.T, w.memory, path)), &p))
	switch {
	case p.Image != nil:
		return *p.Image.Base64Data
	case p.File != nil:
		return *p.File.Base64Data
	}
	return ""
}

func newWindow[M adk.MessageType](t *testing.T, seed uint64) *window[M] {
	w := &window[M]{T: t, gen: newGen[M](seed), seed: seed, memory: backend.NewMemory(1 << 30)}
	w.cfg = &reduction.TypedConfig[M]{Backend: w.memory, WindowTokens: int64([]int{2000, 8000, 30_000}[w.IntN(3)]),
		DedupeResults: w.chance(50), MinSavingBytes: w.IntN(2) * 2000, ClearRetentionSuffixLimit: w.IntN(3)}
	if w.chance(50) {
		w.cfg.ClearAtLeastTokens, w.cfg.MaxArgumentBytes = 4000, 1000
	}
	if w.chance(30) {
		w.cfg.TokenCounter = func(_ context.Context, msgs []M, _ []*schema.ToolInfo) (int64, error) { return w.count(msgs), nil }
	}
	w.mw = typed(t, w.cfg)
	w.msgs = []M{adktest.User[M](strings.Repeat("a question ", w.IntN(200)))}
	w.whole = copyAll(w.msgs)
	return w
}

// sentPicture is a message of the user with a picture.
func sentPicture[M adk.MessageType](data string) M {
	return shapeOf[M]().of(func() *schema.Message {
		m := schema.UserMessage("")
		m.UserInputMultiContent = []schema.MessageInputPart{inputPart(part{text: "look"}, 0), inputPart(part{medium: "image", data: data}, 1)}
		return m
	}, func() *schema.AgenticMessage {
		return blocks(schema.NewContentBlock(&schema.UserInputText{Text: "look"}), schema.NewContentBlock(&schema.UserInputImage{Base64Data: data, MIMEType: "image/png"}))
	})
}

// mediaIn lists the data of a message's media.
func mediaIn[M adk.MessageType](m M) (out []string) {
	add := func(p message.Part) {
		if of := p.Output(); p.Kind == message.Medium {
			out = append(out, *message.MediumOf(&of).Base64Data)
		}
	}
	for p := message.Parts(m); p.Next(); {
		add(p.Part)
		for item := p.Parts(); item.Next(); {
			add(item.Part)
		}
	}
	return out
}

func TestWindowTokens_OnlyUserAndModelTextExceedWindow(t *testing.T) {
	race.Skip(t, "estimates the tokens of many long histories")
	adktest.EachType(t, testWindowTokensOnlyUserAndModelTextExceedWindow[*schema.Message], testWindowTokensOnlyUserAndModelTextExceedWindow[*schema.AgenticMessage])
}

func testWindowTokensOnlyUserAndModelTextExceedWindow[M adk.MessageType](t *testing.T) {
	over, tight := 0, 0
	for seed := range 3 * histories() {
		w := newWindow[M](t, seed)
		for range 1 + w.IntN(4) {
			w.next()
			given := copyAll(w.msgs)
			out := before(t, w.mw, w.msgs)
			require.Equal(t, given, w.msgs, "seed %d: what was handed over has changed", seed)
			require.Len(t, out, len(given), "seed %d", seed)
			if w.count(given) > w.cfg.WindowTokens {
				over++
			}
			if w.count(out) > w.cfg.WindowTokens {
				tight++
				w.onlyTheRest(out)
			}
			w.msgs = out
			w.readable()
			require.Equal(t, out, before(t, typed(t, w.cfg), out), "seed %d: a second pass changed something", seed)
			later := resumed(t, out)
			require.Equal(t, later, before(t, typed(t, w.cfg), later), "seed %d: resumed", seed)
		}
	}
	require.Greater(t, over, 20, "hardly anything was too long")
	require.Greater(t, tight, 0, "nothing was tight")
	require.Less(t, tight, over)
}

func TestWindowTokens_KeepsWhatItMust(t *testing.T) {
	long := strings.Repeat("a line of it\n", 2000)
	for name, c := range map[string]struct {
		tool   string
		window int64
		cfg    reduction.Config
	}{
		"excluded":   {"shell", 1000, reduction.Config{TruncExcludeTools: []string{"shell"}}},
		"not old":    {"shell", 1000, reduction.Config{ClearExcludeTools: []string{"shell"}}},
		"loads":      {"tool_search", 1000, reduction.Config{}},
		"lone page":  {"read_file", 14_000, reduction.Config{}},
		"off":        {"shell", 1000, reduction.Config{SkipClear: true}},
		"no backend": {"shell", 1000, reduction.Config{SkipTruncation: true}},
	} {
		c.cfg.WindowTokens = c.window
		if name != "no backend" {
			c.cfg.Backend = backend.NewMemory(0)
		}
		msgs := []*schema.Message{adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: "a", Name: c.tool, Args: `{}`}), adktest.Result[*schema.Message]("a", c.tool, long)}
		require.Equal(t, msgs, before(t, typed(t, &c.cfg), msgs), name)
	}
	_, err := reduction.New(context.Background(), &reduction.Config{Backend: backend.NewMemory(0), WindowTokens: -1})
	require.ErrorContains(t, err, "WindowTokens: is -1")
}

// With SkipClear, the handler of a tool is all that may change its results. They are not shortened to the window, neither
// in a new round nor in one of an earlier run.
func TestWindowTokens_SkipClearWinsOverClearHandler(t *testing.T) {
	adktest.EachType(t, testWindowTokensSkipClearWinsOverClearHandler[*schema.Message],
		testWindowTokensSkipClearWinsOverClearHandler[*schema.AgenticMessage])
}

func testWindowTokensSkipClearWinsOverClearHandler[M adk.MessageType](t *testing.T) {
	asked := 0
	handler := func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) {
		asked++
		return nil, nil
	}
	long := strings.Repeat("a line of it\n", 4000) // more than a quarter of the window
	msgs := []M{
		adktest.User[M]("look"),
		adktest.Assistant[M]("", adktest.ToolCall{ID: "a", Name: "shell", Args: `{}`}), adktest.Result[M]("a", "shell", long),
	}
	later := append(slices.Clone(msgs), adktest.Assistant[M]("seen"), adktest.User[M]("go on"))
	for name, history := range map[string][]M{"new": msgs, "of an earlier run": later} {
		for _, skips := range []bool{false, true} {
			mw := typed(t, &reduction.TypedConfig[M]{
				Backend: backend.NewMemory(0), SkipClear: skips, WindowTokens: 40_000,
				ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {ClearHandler: handler}},
			})
			out := before(t, mw, history)
			if skips {
				require.Equal(t, history, out, name)
			} else {
				require.NotEqual(t, history, out, "%s: the window is in force otherwise", name)
			}
		}
	}
	require.Zero(t, asked, "the request is below MaxTokensForClear")
}

func TestWindowTokens_ImagesReturnAsImages(t *testing.T) {
	adktest.Both(t, testWindowTokensImagesReturnAsImages[*schema.Message], testWindowTokensImagesReturnAsImages[*schema.AgenticMessage])
}

func testWindowTokensImagesReturnAsImages[M adk.MessageType](t *testing.T, streaming bool) {
	mw := typed(t, &reduction.TypedConfig[M]{Backend: store.NewMemory(0), WindowTokens: 30_000, ProvideReadTool: true})
	var calls []adktest.ToolCall
	for i := range 12 {
		calls = append(calls, adktest.ToolCall{ID: fmt.Sprint("c", i), Name: "photo", Args: fmt.Sprintf(`{"n":%d}`, i)})
	}
	wanted := ""
	m := &adktest.Model[M]{Respond: func(n int, w adktest.Wire[M]) adktest.Turn {
		switch n {
		case 0:
			return adktest.Do(calls...)
		case 1:
			for _, msg := range w.Messages {
				for _, a := range shapeOf[M]().answers(msg) {
					if path := pathIn(a.joined()); path != "" {
						wanted = picture(fmt.Sprintf(`{"n":%s}`, strings.TrimPrefix(a.id, "c")))
						return adktest.Do(adktest.ToolCall{ID: "back", Name: "read_file", Args: fmt.Sprintf(`{"file_path":%q}`, path)})
					}
				}
			}
		case 2:
			return adktest.Do(adktest.ToolCall{ID: "text", Name: "read_file", Args: `{"file_path":"/tmp/clear/none"}`})
		}
		return adktest.Say("done")
	}}
	out := adktest.Agent[M]{Model: m, Streaming: streaming, Max: 10, Handlers: adktest.Handlers(mw), Tools: []tool.BaseTool{camera{}}}.Run(context.Background(), []M{adktest.User[M]("look around")})
	require.NoError(t, out.Err)
	wires := m.Wires()
	require.Len(t, wires, 4)
	seen := func(wire int) (out []string) {
		for _, msg := range wires[wire].Messages {
			out = append(out, mediaIn(msg)...)
		}
		return out
	}
	require.Len(t, seen(1), 2)
	require.NotContains(t, seen(1), wanted)
	require.Len(t, wanted, len(picture(`{"n":0}`)))
	require.True(t, slices.Equal(append(seen(1), wanted), seen(2)), "the picture is back, and nothing else has changed")
	last := wires[3].Messages
	require.Contains(t, shapeOf[M]().answers(last[len(last)-1])[0].joined(), "/tmp/clear/none", "what is not a medium is read as text")
}

// camera is a tool that returns pictures.
type camera struct{}

func (camera) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "photo", Desc: "Takes a picture."}, nil
}

func (camera) InvokableRun(_ context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	data := picture(args.Text)
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{
		MessagePartCommon: schema.MessagePartCommon{Base64Data: &data, MIMEType: "image/png"}}}}}, nil
}

func picture(args string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(args, 1000)))
}

func TestWindowTokens_TruncatesResultsOfRoundOnce(t *testing.T) {
	race.Skip(t, "estimates the tokens of many long histories")
	adktest.EachType(t, testWindowTokensTruncatesResultsOfRoundOnce[*schema.Message], testWindowTokensTruncatesResultsOfRoundOnce[*schema.AgenticMessage])
}

func testWindowTokensTruncatesResultsOfRoundOnce[M adk.MessageType](t *testing.T) {
	cut := 0
	for seed := range 3 * histories() {
		w := newWindow[M](t, seed)
		w.cfg.WindowTokens, w.cfg.MaxTokensForClear, w.cfg.MaxArgumentBytes, w.cfg.DedupeResults = 60_000, 1<<40, 0, false
		w.brief, w.mw = true, typed(t, w.cfg)
		for range 2 {
			earlier := w.msgs
			w.next()
			w.msgs = before(t, w.mw, w.msgs)
			require.Equal(t, earlier, w.msgs[:len(earlier)], "seed %d: a decision has changed", seed)
			sum := 0
			for _, m := range w.msgs[len(earlier):] {
				for _, a := range w.shape.answers(m) {
					sum += tokens.Estimate(a.joined())
					if pathIn(a.joined()) != "" {
						cut++
					}
				}
			}
			require.LessOrEqual(t, sum, 15_000, "seed %d", seed)
			w.readable()
			require.Equal(t, w.msgs, before(t, typed(t, w.cfg), w.whole), "seed %d: a history that was kept whole", seed)
		}
	}
	require.Greater(t, cut, 20)
}
