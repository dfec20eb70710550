// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// How often the prompt cache is broken, and what the model's window holds.

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

func TestTheCacheIsNotBrokenAtEveryCallWhereTextAloneExceedsTheThreshold(t *testing.T) {
	adktest.EachType(t, longText[*schema.Message], longText[*schema.AgenticMessage])
}

func longText[M adk.MessageType](t *testing.T) {
	configs := map[string]reduction.TypedConfig[M]{
		"zero":      {},
		"target":    {Savings: reduction.Savings{ClearTargetTokens: 4000}},
		"retention": {ClearRetentionSuffixLimit: 3},
		"small":     {Savings: reduction.Savings{MinSavingBytes: 1}},
		"thrifty":   {Savings: reduction.Savings{ReferToRepeats: true, ClearArgumentsOver: 500}},
	}
	for name, cfg := range configs {
		cfg.Backend, cfg.MaxTokensForClear = backend.NewMemory(0), 8000
		mw := typed(t, &cfg)
		msgs := []M{adktest.User[M](strings.Repeat("what a user may paste, word by word; ", 1200))} // about 10,000 tokens
		broken, cleared := 0, 0
		const calls = 40
		for i := range calls {
			id := fmt.Sprintf("call_%d", i)
			msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}),
				adktest.Result[M](id, "shell", strings.Repeat(fmt.Sprintf("result %d\n", i), 60)))
			out := before(t, mw, msgs)
			if fmt.Sprint(adkDump(msgs)) != fmt.Sprint(adkDump(out)) {
				broken++
			}
			msgs = out
		}
		for _, m := range msgs {
			for _, a := range shapeOf[M]().answers(m) {
				if pathIn(a.joined()) != "" {
					cleared++
				}
			}
		}
		require.Greater(t, cleared, calls/2, "%s: old results are cleared all the same", name)
		require.LessOrEqual(t, broken, calls/4, name)
	}
}

func adkDump[M adk.MessageType](msgs []M) (out []string) {
	for _, m := range msgs {
		out = append(out, adktest.Dump(m))
	}
	return out
}

//claim:bench-06
func TestARunThatEndsAtOnceCostsAFifthMoreAtMost(t *testing.T) {
	race.Skip(t, "estimates the tokens of many long histories")
	adktest.EachType(t, costsLittle[*schema.Message], costsLittle[*schema.AgenticMessage])
}

// costsLittle lets conversations of any make grow, and ends each after every call: so far it may
// cost a fifth more than without reduction at most, whatever a cached token costs.
func costsLittle[M adk.MessageType](t *testing.T) {
	prices := []struct{ write, cached float64 }{{1.25, .1}, {1, .1}, {1, .02}, {1, .2}, {1, .5}, {1, 1}}
	passes := 0
	for seed := range uint64(30) {
		g := newGen[M](seed)
		mw := typed(t, reduction.RecommendedTyped[M](backend.NewMemory(0)))
		large, words := []int{300, 3000, 12_000}[g.IntN(3)], g.IntN(60)
		msgs := []M{adktest.User[M](strings.Repeat("a question ", g.IntN(900)))}
		whole := msgs
		var sent, would bill
		for i := range 40 {
			var calls []adktest.ToolCall
			var results []M
			for k := range 1 + max(0, g.IntN(6)-4) {
				id := fmt.Sprintf("call_%d_%d", i, k)
				calls = append(calls, adktest.ToolCall{ID: id, Name: "shell", Args: render(map[string]any{"n": i, "text": strings.Repeat("note ", g.IntN(40))})})
				results = append(results, adktest.Result[M](id, "shell", strings.Repeat(fmt.Sprintf("line %d of it\n", g.Uint64()), 1+g.IntN(large)/30)))
			}
			more := append([]M{adktest.Assistant[M](strings.Repeat("so it is ", g.IntN(words+1)), calls...)}, results...)
			msgs, whole = append(msgs[:len(msgs):len(msgs)], more...), append(whole[:len(whole):len(whole)], copyAll(more)...)
			if msgs = before(t, mw, msgs); sent.add(adkDump(msgs)) {
				passes++
			}
			would.add(adkDump(whole))
			for _, p := range prices {
				require.LessOrEqual(t, p.write*sent.written+p.cached*sent.read, 1.2*(p.write*would.written+p.cached*would.read), "seed %d, call %d, %v", seed, i, p)
			}
		}
	}
	require.Greater(t, passes, 10)
}

// bill is what the requests of a conversation cost, in bytes.
type bill struct {
	before        []string // the request before
	written, read float64
}

// add adds a request, and reports whether it does not begin like the one before.
func (b *bill) add(request []string) (broken bool) {
	same := 0
	for same < min(len(b.before), len(request)) && b.before[same] == request[same] {
		same++
	}
	broken = same < len(b.before)
	b.read += float64(len(strings.Join(request[:same], "")))
	b.written += float64(len(strings.Join(request[same:], "")))
	b.before = request
	return broken
}

func TestTheRecommendedConfigurationWorksAsItIs(t *testing.T) {
	adktest.Both(t, recommendedWorks[*schema.Message], recommendedWorks[*schema.AgenticMessage])
}

// recommendedWorks runs a whole agent that writes and reads files for longer than its
// threshold, and has it read everything back.
func recommendedWorks[M adk.MessageType](t *testing.T, streaming bool) {
	memory := store.NewMemory(0)
	mw, err := reduction.NewTyped(context.Background(), reduction.RecommendedTyped[M](memory))
	require.NoError(t, err)
	page := func(i int) string { return strings.Repeat(fmt.Sprintf("line of the file %d, as it was\n", i), 300) }
	var turns []adktest.Turn
	for i := range 30 {
		turns = append(turns, adktest.Do(
			adktest.ToolCall{ID: fmt.Sprint("w", i), Name: "write", Args: render(map[string]any{"content": page(i)})},
			adktest.ToolCall{ID: fmt.Sprint("r", i), Name: "read", Args: fmt.Sprintf(`{"file":%d}`, i)},
			adktest.ToolCall{ID: fmt.Sprint("again", i), Name: "read", Args: fmt.Sprintf(`{"file":%d}`, i)}))
	}
	turns = append(turns, adktest.Do(adktest.ToolCall{ID: "back", Name: "read_file", Args: `{"file_path":"/tmp/clear/w0-arg1","byte_offset":0}`}), adktest.Say("done"))
	m := adktest.Script[M](turns...)
	out := adktest.Agent[M]{Model: m, Streaming: streaming, Max: 40, Handlers: adktest.Handlers(mw), Tools: []tool.BaseTool{
		adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "write"}, func(context.Context, string) (string, error) { return "ok", nil }),
		adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "read"}, func(_ context.Context, args string) (string, error) {
			n := 0
			_, err := fmt.Sscanf(args, `{"file":%d}`, &n)
			return page(n), err
		})}}.Run(context.Background(), []M{adktest.User[M]("go on")})
	require.NoError(t, out.Err)
	kinds := map[string]int{}
	wires := m.Wires()
	last := wires[len(wires)-1].Messages
	for _, msg := range last {
		for _, call := range adktest.Calls(msg) {
			if strings.Contains(call.Args, "saved in full to: /tmp/clear/"+call.ID+"-arg1") {
				kinds["argument"]++
			}
		}
		for _, a := range shapeOf[M]().answers(msg) {
			text := a.joined()
			switch {
			case strings.Contains(text, "Same result again"):
				kinds["repeat"]++
			case strings.Contains(text, "Old result"):
				kinds["cleared"]++
			default:
				continue
			}
			var n int
			_, err := fmt.Sscanf(strings.TrimLeft(a.id, "rwagin"), "%d", &n)
			require.NoError(t, err)
			require.Equal(t, page(n), stored(t, memory, pathIn(text)))
		}
	}
	require.Equal(t, 30, kinds["repeat"])
	require.Greater(t, kinds["cleared"], 20)
	require.Greater(t, kinds["argument"], 20)
	require.Contains(t, adktest.Text(last[len(last)-1]), "line of the file 0, as it was")
	size := func(msgs []M) (n int) {
		for _, msg := range msgs {
			n += len(adktest.Dump(msg))
		}
		return n
	}
	require.Less(t, size(last), 200_000, "of 900,000 bytes")
}

func TestARequestNeverExceedsTheWindowButByWhatUsersAndTheModelSay(t *testing.T) {
	race.Skip(t, "estimates the tokens of many long histories")
	adktest.EachType(t, keepsToTheWindow[*schema.Message], keepsToTheWindow[*schema.AgenticMessage])
}

func keepsToTheWindow[M adk.MessageType](t *testing.T) {
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

func newWindow[M adk.MessageType](t *testing.T, seed uint64) *window[M] {
	w := &window[M]{T: t, gen: newGen[M](seed), seed: seed, memory: backend.NewMemory(1 << 30)}
	w.cfg = &reduction.TypedConfig[M]{Backend: w.memory, WindowTokens: int64([]int{2000, 8000, 30_000}[w.IntN(3)]),
		Savings: reduction.Savings{ReferToRepeats: w.chance(50), MinSavingBytes: w.IntN(2) * 2000}, ClearRetentionSuffixLimit: w.IntN(3)}
	if w.chance(50) {
		w.cfg.ClearAtLeastTokens, w.cfg.ClearArgumentsOver = 4000, 1000
	}
	if w.chance(30) {
		w.cfg.TokenCounter = func(_ context.Context, msgs []M, _ []*schema.ToolInfo) (int64, error) { return w.count(msgs), nil }
	}
	w.mw = typed(t, w.cfg)
	w.msgs = []M{adktest.User[M](strings.Repeat("a question ", w.IntN(200)))}
	w.whole = copyAll(w.msgs)
	return w
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
	longest := max(w.cfg.ClearArgumentsOver, 1000)
	if w.cfg.ClearArgumentsOver == 0 {
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

func TestTheResultsOfARoundAreCutOnceAndForAll(t *testing.T) {
	race.Skip(t, "estimates the tokens of many long histories")
	adktest.EachType(t, cutOnce[*schema.Message], cutOnce[*schema.AgenticMessage])
}

func cutOnce[M adk.MessageType](t *testing.T) {
	cut := 0
	for seed := range 3 * histories() {
		w := newWindow[M](t, seed)
		w.cfg.WindowTokens, w.cfg.MaxTokensForClear, w.cfg.ClearArgumentsOver, w.cfg.ReferToRepeats = 60_000, 1<<40, 0, false
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

func TestTheWindowLeavesAloneWhatItMust(t *testing.T) {
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

func TestImagesThatTheWindowCannotHoldComeBackAsImages(t *testing.T) {
	adktest.Both(t, imagesComeBack[*schema.Message], imagesComeBack[*schema.AgenticMessage])
}

func imagesComeBack[M adk.MessageType](t *testing.T, streaming bool) {
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
