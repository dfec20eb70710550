// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/examples/offline"
	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/toolsearch"
)

func both(t *testing.T, plain, agentic func(*testing.T)) {
	t.Run("Message", plain)
	t.Run("AgenticMessage", agentic)
}

func infos(t *testing.T) []*schema.ToolInfo {
	t.Helper()
	var out []*schema.ToolInfo
	for _, tl := range tools(t) {
		info, err := tl.Info(context.Background())
		require.NoError(t, err)
		out = append(out, info)
	}
	return out
}

func generate[M adk.MessageType](t *testing.T, tools []*schema.ToolInfo, history ...M) M {
	t.Helper()
	m, err := offline.New[M]().Generate(context.Background(), history, model.WithTools(tools))
	require.NoError(t, err)
	return m
}

func TestStreamSaysWhatGenerateSays(t *testing.T) {
	both(t, streamsTheSame[*schema.Message](schema.ConcatMessages), streamsTheSame[*schema.AgenticMessage](schema.ConcatAgenticMessages))
}

func streamsTheSame[M adk.MessageType](concat func([]M) (M, error)) func(*testing.T) {
	return func(t *testing.T) {
		tools := infos(t)
		for _, p := range slices.Concat(worked[:8], []phrasing{{request: "Book a flight to Rome and play some jazz"}}) {
			history := []M{offline.User[M](p.request)}
			whole := generate(t, tools, history...)
			stream, err := offline.New[M]().Stream(context.Background(), history, model.WithTools(tools))
			require.NoError(t, err)
			var chunks []M
			for {
				chunk, err := stream.Recv()
				if err != nil {
					break
				}
				chunks = append(chunks, chunk)
			}
			require.Greater(t, len(chunks), 1, p.request)
			joined, err := concat(chunks)
			require.NoError(t, err)
			require.Equal(t, offline.Read(whole), offline.Read(joined), p.request)
		}
	}
}

func TestOnlyVisibleToolsAreCalled(t *testing.T) {
	both(t, callsVisible[*schema.Message], callsVisible[*schema.AgenticMessage])
}

func callsVisible[M adk.MessageType](t *testing.T) {
	all := infos(t)
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	calls := 0
	for round := range 60 {
		shown := slices.Clone(all)
		random.Shuffle(len(shown), func(i, j int) { shown[i], shown[j] = shown[j], shown[i] })
		shown = shown[:random.IntN(40)]
		p := worked[random.IntN(len(worked))]
		var names []string
		for _, hidden := range all {
			names = append(names, hidden.Name)
		}
		reminder := offline.User[M]("<available-deferred-tools>\n" + strings.Join(names, "\n") + "\n</available-deferred-tools>")
		for _, c := range offline.Read(generate(t, shown, reminder, offline.User[M](p.request))).Calls {
			calls++
			require.True(t, slices.ContainsFunc(shown, func(i *schema.ToolInfo) bool { return i.Name == c.Name }),
				"seed %d round %d: %q called %s, which it was not shown", seed, round, p.request, c.Name)
		}
	}
	require.Positive(t, calls)
}

func TestTheInputIsNotChanged(t *testing.T) {
	both(t, changesNothing[*schema.Message], changesNothing[*schema.AgenticMessage])
}

func changesNothing[M adk.MessageType](t *testing.T) {
	tools := infos(t)
	out := asker[M](t, toolsearch.Config{})(`Reverse "abc" and take the MD5 of the result.`)
	history := append([]M{offline.User[M]("hello")}, out.Messages...)
	before := dump(t, history, tools)
	generate(t, tools, history...)
	require.Equal(t, before, dump(t, history, tools))
}

func dump[M adk.MessageType](t *testing.T, history []M, tools []*schema.ToolInfo) string {
	t.Helper()
	b, err := json.Marshal([]any{history, tools})
	require.NoError(t, err)
	return string(b)
}

func TestWithoutToolsItSaysSo(t *testing.T) {
	both(t, admits[*schema.Message], admits[*schema.AgenticMessage])
}

func admits[M adk.MessageType](t *testing.T) {
	for request, want := range map[string]string{
		"What is 2 + 2?": "I have no tool for this: What is 2 + 2",
		"北京现在几点？":        "我没有能做这件事的工具：北京现在几点",
		"":               "What can I do for you?",
	} {
		require.Equal(t, want, offline.Read(generate(t, nil, offline.User[M](request))).Text)
	}
}

func TestOneModelServesManyRuns(t *testing.T) {
	ask := asker[*schema.Message](t, toolsearch.Config{})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			out := ask(`What is the MD5 of "abc"?`, leanctxtest.Streaming())
			require.Equal(t, "900150983cd24fb0d6963f7d28e17f72", out.Answer)
		})
	}
	wait.Wait()
}

func TestAnswersAreTheSameInEveryForm(t *testing.T) {
	plain, agentic := asker[*schema.Message](t, toolsearch.Config{}), asker[*schema.AgenticMessage](t, toolsearch.Config{})
	for _, p := range worked[:6] {
		answers := []string{
			plain(p.request).Answer, plain(p.request, leanctxtest.Streaming()).Answer,
			agentic(p.request).Answer, agentic(p.request, leanctxtest.Streaming()).Answer,
		}
		require.Equal(t, []string{answers[0]}, slices.Compact(answers), p.request)
	}
}

func TestASecondRequestBuildsOnTheFirst(t *testing.T) {
	both(t, goesOn[*schema.Message], goesOn[*schema.AgenticMessage])
}

func goesOn[M adk.MessageType](t *testing.T) {
	ask := asker[M](t, toolsearch.Config{})
	for _, c := range []struct{ first, second, want string }{
		{"Convert 26.2 miles to kilometres.", "And what about 13.1 miles?", "13.1 miles = 21.0824064 kilometres"},
		{`What is the SHA-1 of "abc"?`, `What about "abd"?`, "cb4cc28df0fdbe0ecf9d9662e294b118092a5735"},
		{`Reverse the text "abc"`, "Now take the MD5 of the result", "3944b025c9ca7eec3154b44666ae04a0"},
	} {
		first := ask(c.first, leanctxtest.Streaming())
		require.Equal(t, c.want, ask(c.second, leanctxtest.Streaming(), leanctxtest.After(first.Messages...)).Answer, c.second)
	}
}

func TestCostCountsMessagesAndDefinitions(t *testing.T) {
	tool := &schema.ToolInfo{Name: "tool", Desc: "does it"}
	text, definitions := offline.Cost([]*schema.Message{
		schema.UserMessage("12345678"),
		schema.AssistantMessage("", []schema.ToolCall{{Function: schema.FunctionCall{Name: "tool", Arguments: "1234"}}}),
		schema.ToolMessage("1234", "id"),
	}, []*schema.ToolInfo{tool})
	require.Equal(t, (8+8+4)/4, text)
	require.Equal(t, len(`{"description":"does it","name":"tool","parameters":null}`)/4, definitions)
}

func FuzzAnyRequestIsAnswered(f *testing.F) {
	for _, p := range slices.Concat(worked, unseen) {
		f.Add(p.request)
	}
	f.Add("\x00 \"“ [ { ``` 3,,4 and and then 1e999 --- /[/ of it")
	var tools []*schema.ToolInfo
	for _, name := range []string{"text__reverse", "math__add", "time__now"} {
		tools = append(tools, &schema.ToolInfo{Name: name, ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"text": {Type: schema.String, Required: true}, "numbers": {Type: schema.Array, ElemInfo: &schema.ParameterInfo{Type: schema.Number}},
			"mode": {Type: schema.String, Enum: []string{"fast", "slow"}}, "deep": {Type: schema.Boolean},
		})})
	}
	f.Fuzz(func(t *testing.T, request string) {
		turn := offline.Read(generate(t, tools, schema.UserMessage(request)))
		require.NotEqual(t, turn.Text == "", len(turn.Calls) == 0, "either text or calls")
		for _, c := range turn.Calls {
			require.True(t, json.Valid([]byte(c.Args)), c.Args)
		}
	})
}
